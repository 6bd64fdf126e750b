/* SPDX-License-Identifier: MIT */
/* policy/check/gather.c - turns a door as written into a checked door: paths expanded, texts copied. */
#include "policy/internal.h"

#include <stdlib.h>

static const char *copy_file(struct gather *g, const char *file)
{
        if (!g->last_file || strcmp(g->last_file, file) != 0)
                g->last_file = arena_str(g->scope.mem, file);
        return g->last_file;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *) a, *(char *const *) b); }

/* Sorted, and without paths below another exception. */
static void tidy_except(char **v, size_t n)
{
        size_t kept = 0;
        qsort(v, n, sizeof *v, by_name);
        for (size_t i = 0; i < n; i++) {
                size_t j = 0;
                while (j < kept && !path_inside(v[j], v[i]))
                        j++;
                if (j == kept)
                        v[kept++] = v[i];
        }

        v[kept] = NULL;
}

static bool is_rooted(const char *raw) { return raw[0] == '/' || raw[0] == '{' || raw[0] == '~'; }

static char *expand_sub(const struct scope *s, const struct door *d, const char *raw)
{
        if (is_rooted(raw))
                return path_expand(s, &d->at, raw);
        struct policy_context below = { .work = d->path };
        struct scope in = { .ctx = &below, .mem = s->mem, .e = s->e };
        return path_expand(&in, &d->at, raw);
}

static int expand_except(const struct scope *s, struct door *d, char *const *raw)
{
        size_t n = 0;
        while (raw[n])
                n++;

        d->except = arena_alloc(s->mem, (n + 1) * sizeof *d->except);
        if (!d->except)
                return fail_memory(s->e);

        for (size_t i = 0; i < n; i++) {
                char *p = expand_sub(s, d, raw[i]);
                if (!p)
                        return -1;
                if (!path_inside(d->path, p) || strcmp(d->path, p) == 0) {
                        (void) fail_at(s->e, &d->at, "the exception %s is not below %s", show_text(p).text,
                                       show_text(d->path).text);
                        return err_hint(s->e, "use one line for each path with its own exceptions");
                }
                d->except[i] = p;
        }

        tidy_except(d->except, n);
        return 0;
}

static int expand_file(const struct scope *s, struct door *d, const struct door *raw)
{
        char *path;
        int r = session_socket(s, raw, &path);
        d->path = r == 0 ? path_expand(s, &d->at, raw->path) : path;
        if (r < 0 || !d->path)
                return -1;

        if (strcmp(d->path, "/") == 0) {
                (void) fail_at(s->e, &d->at, "`%s /` would open everything and is refused",
                               policy_door_word(d->kind));
                return err_hint(
                        s->e,
                        "name the directories that are needed; `use base/system` gives this host's programs");
        }

        d->directory =
                (d->kind == DOOR_WRITE || d->kind == DOOR_EDIT) && raw->path[strlen(raw->path) - 1] == '/';
        return raw->except ? expand_except(s, d, raw->except) : 0;
}

static char *copied(const struct scope *s, const char *text, bool *failed)
{
        char *p = text ? arena_str(s->mem, text) : NULL;
        *failed = *failed || (text && !p);
        return p;
}

static int copy_net(const struct scope *s, struct net_dest *to, const struct net_dest *from)
{
        bool failed = false;
        size_t n = 0;
        *to = *from;
        to->host = copied(s, from->host, &failed);
        to->path = copied(s, from->path, &failed);
        to->credential = copied(s, from->credential, &failed);
        if (from->methods) {
                while (from->methods[n])
                        n++;
                to->methods = arena_alloc(s->mem, (n + 1) * sizeof *to->methods);
                for (size_t i = 0; to->methods && i < n; i++)
                        to->methods[i] = copied(s, from->methods[i], &failed);
                failed = failed || !to->methods;
        }

        return failed ? fail_memory(s->e) : bounds_copy(s, to, from);
}

static int copy_named(const struct scope *s, struct door *d, const struct door *raw)
{
        bool failed = false;
        d->name = copied(s, raw->name, &failed);
        if (failed)
                return fail_memory(s->e);

        if (!raw->value)
                return 0;

        bool schema = raw->kind == DOOR_IN || raw->kind == DOOR_OUT;
        d->value =
                schema ? path_expand(s, &raw->at, raw->value) : path_roots_in_text(s, &raw->at, raw->value);
        return d->value ? 0 : -1;
}

static int copy_tool(const struct scope *s, struct door *d, const struct door *raw)
{
        bool failed = false;
        d->name = copied(s, raw->name, &failed);
        return failed ? fail_memory(s->e) : copy_net(s, &d->net, &raw->net);
}

static int expand_program(const struct scope *s, struct door *d, const struct door *raw)
{
        d->path = path_program(s, &d->at, raw->path); /* `run any` is "*", which is a bare name there */
        return d->path ? 0 : -1;
}

static int expand_door(const struct scope *s, struct door *d, const struct door *raw)
{
        switch (raw->kind) {
        case DOOR_READ:
        case DOOR_EDIT:
        case DOOR_WRITE:
        case DOOR_SOCK:
        case DOOR_DEV:
                return expand_file(s, d, raw);
        case DOOR_RUN:
                return expand_program(s, d, raw);
        case DOOR_ENV:
        case DOOR_LISTEN:
        case DOOR_SIGN:
        case DOOR_DECRYPT:
        case DOOR_IN:
        case DOOR_OUT:
                return copy_named(s, d, raw);
        case DOOR_TOOL:
                return copy_tool(s, d, raw);
        case DOOR_NET:
                if (raw->value && !(d->value = path_expand(s, &raw->at, raw->value)))
                        return -1;
                return copy_net(s, &d->net, &raw->net);
        case DOOR_NONE:
        case DOOR_KIND__COUNT:
                break;
        }
        return err_set(s->e, ERR_INTERNAL, 0, "a door of no kind");
}

/* A door that cannot be written as one line would have no canonical text. Twice the size: every byte may
 * need a backslash. */
static int check_length(const struct scope *s, const struct door *d)
{
        size_t n = 128 + (d->path ? strlen(d->path) : 0) + (d->value ? strlen(d->value) : 0);
        for (char **x = d->except; x && *x; x++)
                n += strlen(*x) + 2;
        return 2 * n > 2 * 128 + POLICY_MAX_LINE ? fail_at(s->e, &d->at, "this door is too long for one line")
                                                 : 0;
}

/* {tmp} is the box's own: a file door into it opens nothing. */
static bool is_no_op(const struct door *raw)
{
        bool file = raw->kind == DOOR_READ || raw->kind == DOOR_EDIT || raw->kind == DOOR_WRITE ||
                    raw->kind == DOOR_SOCK;
        return file && path_in_box_tmp(raw->path);
}

static char *copy_text(struct gather *g, const char *text, bool *failed)
{
        char *copy = text ? arena_str(&g->c->mem, text) : NULL;
        *failed = *failed || (text && !copy);
        return copy;
}

static int copy_flow(struct gather *g, const struct door_flow *from, struct door_flow *to)
{
        bool failed = false;
        *to = (struct door_flow){ .label = copy_text(g, from->label, &failed),
                                  .accepts = copy_text(g, from->accepts, &failed),
                                  .declassify = copy_text(g, from->declassify, &failed),
                                  .endorse = from->endorse };
        return failed ? fail_memory(g->scope.e) : 0;
}

int gather_door(struct gather *g, const struct door *raw, bool stock)
{
        bool held = raw->kind == DOOR_WRITE && g->scope.ctx->hold_writes;
        enum door_kind kind = held ? DOOR_EDIT : raw->kind;
        struct door d = { .kind = kind, .at = raw->at, .optional = raw->optional, .from_stock = stock };
        int64_t now = g->scope.ctx->now;

        if (is_no_op(raw))
                return 0;

        d.until = raw->until;
        d.ask = raw->ask;
        if (d.ask.group && !(d.ask.group = arena_str(&g->c->mem, raw->ask.group)))
                return fail_memory(g->scope.e);

        if (copy_flow(g, &raw->flow, &d.flow) < 0)
                return -1;

        d.max = raw->max;
        d.max_stated = raw->max_stated;
        d.type = raw->type;
        d.at.file = copy_file(g, raw->at.file);
        if (!d.at.file)
                return fail_memory(g->scope.e);

        if (expand_door(&g->scope, &d, raw) < 0 || check_length(&g->scope, &d) < 0)
                return -1;

        if (d.flow.endorse && (d.type != HANDLE_JSON || !d.value)) {
                (void) fail_at(g->scope.e, &d.at, "`endorse` needs a schema");
                return err_hint(g->scope.e, "use `out NAME as json(FILE) endorse BITS`: the schema bounds "
                                            "what the output can say");
        }

        return door_set_add(d.until != 0 && now >= d.until ? &g->c->closed : &g->c->live, &d, g->scope.e);
}
