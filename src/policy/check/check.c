/* SPDX-License-Identifier: MIT */
/* policy/check/check.c - the only maker of a struct checked_policy: gathers doors, seals them, checks the
 * expectations, lints. */
#include "policy/internal.h"

#include <stdlib.h>

/* A framework on a GPU starts a worker for each processor, and has a context of gigabytes beside its data. */
static uint64_t limit_fallback(const struct checked_policy *c, enum limit_key k)
{
        bool gpu = false;
        for (size_t i = c->live.start[DOOR_DEV]; i < c->live.start[DOOR_DEV + 1]; i++)
                gpu |= policy_gpu(c->live.v[i].path) != NULL;

        if (gpu && k == LIMIT_MEMORY)
                return (uint64_t) 16 << 30;
        return gpu && k == LIMIT_PROCS ? 1024 : limit_row(k)->fallback;
}

static int take_singletons(struct checked_policy *c, const struct policy *p)
{
        c->box.text = arena_str(&c->mem, p->box.text ? p->box.text : "box");
        c->doc.text = arena_str(&c->mem, p->doc.text ? p->doc.text : "");
        c->wall = p->wall.kind;
        c->without = p->wall.without;
        for (int k = 0; k < LIMIT_KEY__COUNT; k++) {
                uint64_t used = c->limits.value[k]; /* stated by a used policy, or 0 */
                bool own = p->limits.stated[k];
                c->limits.value[k] = own    ? p->limits.value[k]
                                     : used ? used
                                            : limit_fallback(c, (enum limit_key) k);
                c->limits.stated[k] = own || used;
        }

        c->limits.renew_asks |= p->limits.renew_asks;
        if (p->limits.stated[LIMIT_TIME] &&
            !p->limits.stated[LIMIT_RENEW]) /* a used policy's is of its time */
                c->limits.value[LIMIT_RENEW] = c->limits.stated[LIMIT_RENEW] = 0;

        for (int i = 0; i < WARM__COUNT; i++) {
                c->warm[i].text = p->warm[i].text ? arena_str(&c->mem, p->warm[i].text) : NULL;
                if (p->warm[i].text && !c->warm[i].text)
                        return -1;
        }

        return c->box.text && c->doc.text ? 0 : -1;
}

static bool is_image_name(const char *s)
{
        static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@+";
        return strlen(s) < 256 && s[strspn(s, chars)] == '\0' && !strchr("-/:@+", s[0]);
}

/* A path begins with / . ~ or {work}; everything else is the name of an image. */
static int take_root(struct gather *g, const struct policy *p)
{
        struct checked_policy *c = g->c;
        const char *raw = p->root.text;
        if (!raw)
                return 0;

        c->root.at = p->root.at;
        c->root.at.file = arena_str(&c->mem, p->root.at.file);
        if (strchr("/.~{", raw[0])) {
                c->root.text = path_expand(&g->scope, &p->root.at, raw);
                return c->root.text && c->root.at.file ? 0 : -1;
        }

        if (!is_image_name(raw)) {
                (void) fail_at(g->scope.e, &p->root.at, "\"%s\" does not name an image", show_text(raw).text);
                return err_hint(g->scope.e, "a path begins with / or ./; a name is like debian:12");
        }

        c->root.text = arena_str(&c->mem, raw);
        return c->root.text && c->root.at.file ? 0 : fail_memory(g->scope.e);
}

/* An image has its own programs and libraries: those of the host, which stock policies show, stay out. */
static int drop_host_doors(struct gather *g)
{
        struct door_set *s = &g->c->live;
        size_t kept = 0;
        for (size_t i = 0; i < s->n; i++) {
                const struct door *d = &s->v[i];
                bool any = d->kind == DOOR_RUN && strcmp(d->path, "*") == 0;
                if (d->kind == DOOR_RUN && !any && !d->from_stock) {
                        (void) fail_at(g->scope.e, &d->at,
                                       "`run` lines cannot choose among an image's programs");
                        return err_hint(g->scope.e,
                                        "leave them out: all programs of a `root` may start; with `use "
                                        "base/strict`, none that the box wrote");
                }
                bool hosts = d->from_stock && !any && (d->kind == DOOR_READ || d->kind == DOOR_RUN);
                if (!hosts)
                        s->v[kept++] = s->v[i];
        }

        s->n = kept;
        return 0;
}

/* The command of a wall without programs is a module: it sees what own lines open, and nothing of the host's
 * programs, which stock policies show. */
static int keep_module_doors(struct gather *g, const struct policy *p)
{
        static const char *const why[DOOR_KIND__COUNT] = {
                [DOOR_RUN] = "a module starts no programs",
                [DOOR_NET] = "a module has no call that connects",
                [DOOR_SOCK] = "a module has no call that connects",
                [DOOR_SIGN] = "a module has no call that connects",
                [DOOR_DECRYPT] = "a module has no call that connects",
                [DOOR_DEV] = "a module has no call for devices",
                [DOOR_LISTEN] = "a module has no call that listens",
                [DOOR_TOOL] = "a module serves no tools",
        };
        struct door_set *s = &g->c->live;
        const char *wall = wall_name(p->wall.kind);
        size_t kept = 0;
        for (size_t i = 0; i < s->n; i++) {
                const struct door *d = &s->v[i];
                if (d->from_stock)
                        continue;
                if (why[d->kind])
                        return fail_at(g->scope.e, &d->at, "the %s wall cannot hold a `%s` door: %s", wall,
                                       policy_door_word(d->kind), why[d->kind]);
                s->v[kept++] = s->v[i];
        }

        if (g->c->local_own)
                return fail_at(g->scope.e, &g->c->local_at, "the %s wall has nothing local", wall);

        if (g->c->root.text)
                return fail_at(g->scope.e, &g->c->root.at, "the %s wall cannot hold an image", wall);

        for (int i = 0; i < WARM__COUNT; i++)
                if (p->warm[i].text)
                        return fail_at(g->scope.e, &p->warm[i].at, "the %s wall holds no interpreter", wall);

        g->c->local = 0;
        s->n = kept;
        return 0;
}

/* With no `use` at all a box still needs the loader and libraries that nearly every program is linked to. */
static int take_default(struct gather *g)
{
        static char system_name[] = "base/system", loader_name[] = "base/loader", image_name[] = "base/image";
        bool system = g->scope.ctx->default_system;
        struct use_line u = { .name = g->c->root.text ? image_name
                                      : system        ? system_name
                                                      : loader_name,
                              .at = { .file = "cordon" } };
        struct policy p = { .uses = &u, .n_uses = 1 };
        return gather_policy(g, &p, true, NULL);
}

static int check_into(struct gather *g, const struct policy *p)
{
        struct checked_policy *c = g->c;
        struct err *e = g->scope.e;
        if (take_root(g, p) < 0 || (p->n_uses == 0 && take_default(g) < 0))
                return -1;

        bool programs = wall_has(p->wall.kind, WALL_PROGRAMS);
        if (gather_policy(g, p, false, NULL) < 0 || (!programs && keep_module_doors(g, p) < 0) ||
            (c->root.text && drop_host_doors(g) < 0) || gather_narrow(g) < 0 ||
            door_set_seal(&c->live, e) < 0 || door_set_seal(&c->closed, e) < 0)
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
