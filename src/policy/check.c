/* SPDX-License-Identifier: MIT */
/* policy/check.c - the only maker of a struct checked_policy: expands, unites, expires, sorts, holds the
 * expectations, lints, and takes the digest. */
#include "base/hash.h"
#include "policy/internal.h"

#include <stdlib.h>

/* ---- one door ---- */

static const char *copy_file(struct gather *g, const char *file)
{
        if (!g->last_file || strcmp(g->last_file, file) != 0)
                g->last_file = arena_str(g->scope.mem, file);
        return g->last_file;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *) a, *(char *const *) b); }

/* Sorted, and without what lies below another exception already. */
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
                        return err_hint(s->e, "write one line for each path with exceptions of its own");
                }
                d->except[i] = p;
        }
        tidy_except(d->except, n);
        return 0;
}

static int expand_file(const struct scope *s, struct door *d, const struct door *raw)
{
        d->path = path_expand(s, &d->at, raw->path);
        if (!d->path)
                return -1;
        if (strcmp(d->path, "/") == 0) {
                (void) fail_at(s->e, &d->at, "`%s /` would open everything and is refused",
                               policy_door_word(d->kind));
                return err_hint(
                        s->e,
                        "name the directories that are needed; `use base/system` gives this host's programs");
        }
        return raw->except ? expand_except(s, d, raw->except) : 0;
}

static char *copy(const struct scope *s, const char *text, bool *failed)
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
        to->host = copy(s, from->host, &failed);
        to->path = copy(s, from->path, &failed);
        to->credential = copy(s, from->credential, &failed);
        if (from->methods) {
                while (from->methods[n])
                        n++;
                to->methods = arena_alloc(s->mem, (n + 1) * sizeof *to->methods);
                for (size_t i = 0; to->methods && i < n; i++)
                        to->methods[i] = copy(s, from->methods[i], &failed);
                failed = failed || !to->methods;
        }
        return failed ? fail_memory(s->e) : bounds_copy(s, to, from);
}

static int copy_named(const struct scope *s, struct door *d, const struct door *raw)
{
        bool failed = false;
        d->name = copy(s, raw->name, &failed);
        if (failed)
                return fail_memory(s->e);
        if (!raw->value)
                return 0;
        d->value = path_roots_in_text(s, &raw->at, raw->value);
        return d->value ? 0 : -1;
}

static int expand_program(const struct scope *s, struct door *d, const struct door *raw)
{
        d->path = path_program(s, &d->at, raw->path); /* `run any` is "*", which is a bare name there */
        return d->path ? 0 : -1;
}

static int expand(const struct scope *s, struct door *d, const struct door *raw)
{
        switch (raw->kind) {
        case DOOR_READ:
        case DOOR_EDIT:
        case DOOR_WRITE:
        case DOOR_SOCK:
                return expand_file(s, d, raw);
        case DOOR_RUN:
                return expand_program(s, d, raw);
        case DOOR_ENV:
        case DOOR_IN:
        case DOOR_OUT:
                return copy_named(s, d, raw);
        case DOOR_NET:
                return copy_net(s, &d->net, &raw->net);
        case DOOR_NONE:
        case DOOR_KIND__COUNT:
                break;
        }
        return err_set(s->e, ERR_INTERNAL, 0, "a door of no kind");
}

/* What cannot be written as one line again would have no canonical text. Twice: every byte may need a
 * backslash. */
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

int gather_door(struct gather *g, const struct door *raw, bool stock)
{
        struct door d = { .kind = raw->kind, .at = raw->at, .optional = raw->optional, .from_stock = stock };
        int64_t now = g->scope.ctx->now;
        if (is_no_op(raw))
                return 0;
        d.until = raw->until;
        d.max = raw->max;
        d.max_stated = raw->max_stated;
        d.type = raw->type;
        d.at.file = copy_file(g, raw->at.file);
        if (!d.at.file)
                return fail_memory(g->scope.e);
        if (expand(&g->scope, &d, raw) < 0 || check_length(&g->scope, &d) < 0)
                return -1;
        d.libraries = d.kind == DOOR_READ && stock_reads(d.path);
        return door_set_add(d.until != 0 && now >= d.until ? &g->c->closed : &g->c->live, &d, g->scope.e);
}

/* ---- expectations ---- */

static int keep_expect(struct checked_policy *c, const struct expect_line *x, const struct effect *f,
                       struct err *e)
{
        AUTO_BUF(b);
        buf_printf(&b, "expect %s ", x->want == ANSWER_ALLOW ? "allow" : "deny");
        effect_print(f, &b);
        if (b.n > POLICY_MAX_LINE)
                return fail_at(e, &x->at, "this effect is too long for one line");
        char *line = b.failed ? NULL : arena_copy(&c->mem, buf_span(&b));
        if (!line || vec_room((void **) &c->expects, c->n_expects, &c->cap_expects, sizeof *c->expects) < 0)
                return fail_memory(e);
        c->expects[c->n_expects++] = line;
        return 0;
}

static int unmet(const struct expect_line *x, const struct effect *f, const struct decision *d, struct err *e)
{
        AUTO_BUF(effect);
        AUTO_BUF(line);
        effect_print(f, &effect);
        if (x->want == ANSWER_ALLOW) {
                policy_smallest_line(f, d, &line);
                (void) fail_at(e, &x->at, "expected to be allowed, but no door covers it: %s (%s)",
                               show_text(buf_str(&effect)).text, policy_gap_name(d->gap));
                return line.n ? err_hint(e, "the line `%s` would allow it", buf_str(&line)) : -1;
        }
        if (d->door)
                show_door(d->door, &line);
        else
                buf_puts(&line, d->built_in ? d->built_in : "");
        (void) fail_at(e, &x->at, "expected to be denied, but it is allowed: %s",
                       show_text(buf_str(&effect)).text);
        return err_hint(e, "it is allowed by `%s`%s%s", show_text(buf_str(&line)).text, d->door ? " of " : "",
                        d->door ? d->door->at.file : "");
}

static bool same(const struct decision *a, const struct decision *b)
{
        return a->answer == b->answer && a->gap == b->gap && a->door == b->door && a->nearest == b->nearest &&
               a->built_in == b->built_in;
}

static int check_expect(struct checked_policy *c, const struct expect_line *x, const struct scope *s,
                        bool keep)
{
        struct effect f;
        if (effect_from_tokens(s, x->tok, x->n, &f) < 0)
                return -1;
        struct decision d = policy_decide(c, &f), ref = policy_decide_ref(c, &f);
        if (!same(&d, &ref))
                return err_set(s->e, ERR_INTERNAL, 0,
                               "%s:%u:%u: the two evaluators disagree here: a bug of cordon", x->at.file,
                               x->at.line, x->at.column);
        if (d.answer != x->want)
                return unmet(x, &f, &d, s->e);
        return keep ? keep_expect(c, x, &f, s->e) : 0;
}

int check_expects(struct checked_policy *c, const struct policy *p, const struct scope *s, bool keep)
{
        for (size_t i = 0; i < p->n_expects; i++)
                if (check_expect(c, &p->expects[i], s, keep) < 0)
                        return -1;
        return 0;
}

/* ---- the whole ---- */

static int take_singletons(struct checked_policy *c, const struct policy *p)
{
        bool failed = false;
        struct scope s = { .mem = &c->mem };
        c->box.text = copy(&s, p->box.text ? p->box.text : "box", &failed);
        c->doc.text = copy(&s, p->doc.text ? p->doc.text : "", &failed);
        c->wall = p->wall.kind;
        c->without = p->wall.without;
        for (int k = 0; k < LIMIT_KEY__COUNT; k++) {
                uint64_t used = c->limits.value[k]; /* what a used policy stated, or 0 */
                bool own = p->limits.stated[k];
                c->limits.value[k] = own    ? p->limits.value[k]
                                     : used ? used
                                            : limit_row((enum limit_key) k)->fallback;
                c->limits.stated[k] = own || used;
        }
        return failed ? -1 : 0;
}

/* With no `use` at all a box still needs the loader and libraries that nearly every program is linked to. */
static int take_default(struct gather *g)
{
        static char system_name[] = "base/system", loader_name[] = "base/loader";
        bool system = g->scope.ctx->default_system;
        struct use_line u = { .name = system ? system_name : loader_name, .at = { .file = "cordon" } };
        struct policy p = { .uses = &u, .n_uses = 1 };
        return gather_policy(g, &p, true, NULL);
}

static int check_into(struct gather *g, const struct policy *p)
{
        struct checked_policy *c = g->c;
        struct err *e = g->scope.e;
        if (p->n_uses == 0 && take_default(g) < 0)
                return -1;
        if (gather_policy(g, p, false, NULL) < 0 || door_set_seal(&c->live, e) < 0 ||
            door_set_seal(&c->closed, e) < 0)
                return -1;
        if (take_singletons(c, p) < 0)
                return fail_memory(e);
        if (check_expects(c, p, &g->scope, true) < 0)
                return -1;
        return lint_run(c, p, g->scope.ctx, e);
}

struct checked_policy *policy_check(const struct policy *p, const struct policy_context *c, struct err *e)
{
        struct checked_policy *out = calloc(1, sizeof *out);
        if (!out) {
                (void) fail_memory(e);
                return NULL;
        }
        out->work = arena_str(&out->mem, c->work ? c->work : "");
        out->home = arena_str(&out->mem, c->home ? c->home : "");
        if (out->mem.failed) {
                policy_checked_free(out);
                (void) fail_memory(e);
                return NULL;
        }
        struct gather g = { .scope = { .ctx = c, .mem = &out->mem, .e = e }, .c = out };
        int r = check_into(&g, p);
        free(g.seen);
        if (r == 0)
                return out;
        policy_checked_free(out);
        return NULL;
}

void policy_checked_free(struct checked_policy *c)
{
        if (!c)
                return;
        free(c->live.v);
        free(c->closed.v);
        free(c->expects);
        free(c->notes);
        arena_done(&c->mem);
        free(c);
}

const char *policy_box(const struct checked_policy *c) { return c->box.text; }
const char *policy_doc(const struct checked_policy *c) { return c->doc.text; }
const struct policy_limits *policy_limits(const struct checked_policy *c) { return &c->limits; }
enum wall_kind policy_wall(const struct checked_policy *c) { return c->wall; }
unsigned policy_without(const struct checked_policy *c) { return c->without; }
/* Taken when first asked for, and kept: a start then takes it while the walls go up, not before. */
const char *policy_digest(const struct checked_policy *c)
{
        if (c->digest[0])
                return c->digest;
        AUTO_BUF(b);
        policy_canonical_json(c, &b);
        if (!b.failed)
                sha256_hex(buf_span(&b), ((struct checked_policy *) (uintptr_t) c)->digest);
        return c->digest;
}

const struct door *policy_doors(const struct checked_policy *c, size_t *ret_count)
{
        *ret_count = c->live.n;
        return c->live.v;
}

const struct door *policy_doors_closed(const struct checked_policy *c, size_t *ret_count)
{
        *ret_count = c->closed.n;
        return c->closed.v;
}

bool policy_doors_at(const struct checked_policy *c, enum door_kind kind, struct span key, size_t *ret_lo,
                     size_t *ret_hi)
{
        return door_set_find(&c->live, kind, key, ret_lo, ret_hi);
}

size_t policy_doors_from(const struct checked_policy *c, enum door_kind kind, struct span prefix)
{
        size_t i = door_set_from(&c->live, kind, prefix);
        bool hit = i < c->live.start[kind + 1] &&
                   strncmp(door_key(&c->live.v[i]), (const char *) prefix.p, prefix.n) == 0;
        return hit ? i : c->live.n;
}

const struct policy_note *policy_notes(const struct checked_policy *c, size_t *ret_count)
{
        *ret_count = c->n_notes;
        return c->notes;
}
