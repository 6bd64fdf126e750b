/* SPDX-License-Identifier: MIT */
/* learn/collect.c - what was seen, each thing once, with the runs that saw it; and what is never learned. */
#include "base/str.h"
#include "learn/internal.h"
#include "policy/policy.h"

#include <stdlib.h>

struct learn *learn_new(const struct learn_context *c)
{
        struct learn *l = calloc(1, sizeof *l);
        if (!l)
                return NULL;

        l->c = *c;
        l->c.work = arena_str(&l->mem, c->work);
        l->c.home = arena_str(&l->mem, c->home);
        l->c.name = arena_str(&l->mem, c->name);
        l->c.command = arena_str(&l->mem, c->command);
        l->c.entry = arena_str(&l->mem, c->entry);
        if (!l->mem.failed)
                return l;

        learn_free(l);
        return NULL;
}

void learn_free(struct learn *l)
{
        if (!l)
                return;
        arena_done(&l->mem);
        free(l->v);
        free(l);
}

/* What a box may never change, whoever asks: the host's programs, its configuration, the kernel's files. */
static bool is_system_place(const char *path)
{
        static const char *const trees[] = { "/usr", "/bin",  "/sbin", "/lib",     "/lib64",
                                             "/etc", "/boot", "/opt",  "/var/lib", "/run" };
        for (size_t i = 0; i < COUNT(trees); i++)
                if (fold_inside(trees[i], path))
                        return true;
        return strcmp(path, "/") == 0;
}

const char *learn_is_sensitive(const struct learn_access *a)
{
        switch (a->kind) {
        case LEARN_READ:
        case LEARN_RUN:
                return policy_secret_kind(a->path);
        case LEARN_WRITE:
                if (policy_secret_kind(a->path))
                        return policy_secret_kind(a->path);
                return is_system_place(a->path) ? "system" : NULL;
        case LEARN_NET:
                return net_sensitive(a->path);
        case LEARN_CALL:
                return a->internet ? "network"
                                   : "call"; /* tracing, mounts, modules, keys: no door opens them */
        case LEARN_NONE:
        case LEARN_KIND__COUNT:
                break;
        }
        return "unknown";
}

static struct item *find(struct learn *l, const struct learn_access *a)
{
        for (size_t i = 0; i < l->n; i++) {
                const struct learn_access *b = &l->v[i].a;
                if (b->kind == a->kind && strcmp(b->path, a->path) == 0 &&
                    strcmp(b->method, a->method ? a->method : "") == 0)
                        return &l->v[i];
        }

        return NULL;
}

/* No line can name it: a newline in a file's name must not become a line of a policy, and what nobody sees
 * stops the load of one. */
bool learn_has_odd_bytes(const char *path)
{
        char shown[4 * LEARN_PATH_MAX];
        return strcmp(str_inert(span_str(path), shown, sizeof shown), path) != 0;
}

/* Who talks to a socket of the host acts as whoever listens there; a device is the host's. By what they are,
 * whatever their names say. */
static const char *special(const struct learn *l, const struct learn_access *a)
{
        bool path = a->kind == LEARN_READ || a->kind == LEARN_WRITE || a->kind == LEARN_RUN;
        enum learn_look k = path && l->c.look ? l->c.look(l->c.look_ctx, a->path) : LEARN_NOTHING;
        return k == LEARN_SOCKET ? "agent" : k == LEARN_DEVICE ? "device" : NULL;
}

static bool leads(const struct learn *l, const char *path, char ret[LEARN_PATH_MAX])
{
        return l->c.real && l->c.real(l->c.look_ctx, path, ret);
}

/* Below {home}, names that begin with a dot hold what programs keep of a person: without consent none of it
 * is learned. What lies in the project is the project's. */
static bool is_dot_path(const struct learn *l, const struct learn_access *a)
{
        const char *home = l->c.home, *work = l->c.work;
        bool path = a->kind == LEARN_READ || a->kind == LEARN_WRITE || a->kind == LEARN_RUN;
        bool project = strcmp(work, home) != 0 && fold_inside(work, a->path);
        if (!path || strcmp(home, "/") == 0 || !fold_inside(home, a->path) || project)
                return false;
        return strstr(a->path + strlen(home), "/.") && !(l->c.agreed && l->c.agreed(l->c.look_ctx, a->path));
}

/* A door follows links, so what is behind them is judged too: who wrote a project made its links, and must
 * not choose what of the host is shown. Program files are, that a project may well lead to. */
static const char *behind_links(const struct learn *l, const struct learn_access *a)
{
        char real[LEARN_PATH_MAX], work[LEARN_PATH_MAX];
        struct learn_access there = *a;
        bool path = a->kind == LEARN_READ || a->kind == LEARN_WRITE || a->kind == LEARN_RUN;
        if (!path || !leads(l, a->path, real) || strcmp(real, a->path) == 0)
                return NULL;

        there.path = real;
        const char *kind = learn_is_sensitive(&there);
        if (kind || is_dot_path(l, &there))
                return kind ? kind : "dot-path";

        bool ours = fold_inside(l->c.work, a->path) && leads(l, l->c.work, work);
        return ours && !fold_inside(work, real) && !group_is_system(real) ? "link-out" : NULL;
}

/* By what it holds: a private key has no name that is known. */
static bool is_key(const struct learn *l, const struct learn_access *a)
{
        return a->kind == LEARN_READ && a->on_host && l->c.holds_key &&
               l->c.holds_key(l->c.look_ctx, a->path);
}

static const char *never(const struct learn *l, const struct learn_access *a)
{
        const char *kind = learn_is_sensitive(a);
        if (!kind)
                kind = special(l, a);
        if (!kind)
                kind = is_key(l, a) ? "keys" : is_dot_path(l, a) ? "dot-path" : NULL;
        return kind;
}

static struct item *append(struct learn *l, const struct learn_access *a)
{
        if (l->n == l->cap) {
                size_t cap = l->cap ? 2 * l->cap : 64;
                if (cap > LEARN_ITEMS_MAX)
                        return NULL;
                struct item *v = realloc(l->v, cap * sizeof *v);
                if (!v) {
                        l->failed = true;
                        return NULL;
                }
                l->v = v;
                l->cap = cap;
        }

        struct item *it = &l->v[l->n];
        *it = (struct item){ .a = *a, .sensitive = never(l, a), .odd = learn_has_odd_bytes(a->path) };
        if (!it->sensitive) {
                it->sensitive = behind_links(l, a);
                it->behind = it->sensitive != NULL;
        }

        if (it->odd && !it->sensitive)
                it->sensitive = "odd-name";

        it->a.path = arena_str(&l->mem, a->path);
        it->a.method = arena_str(&l->mem, a->method ? a->method : "");
        it->a.program = arena_str(&l->mem, a->program ? a->program : "");
        it->a.with = NULL;
        if (l->mem.failed)
                return NULL;

        l->n++;
        return it;
}

/* What was known of it and what is new: a person has agreed by now, or it was seen to carry a credential. */
static bool merge(struct learn *l, struct item *it, const struct learn_access *a)
{
        bool news = (a->agreed && !it->a.agreed) || (a->with && !it->a.with);
        it->a.on_host |= a->on_host;
        it->a.listed |= a->listed;
        it->a.agreed |= a->agreed;
        if (a->with && (!it->a.with || strcmp(it->a.with, a->with) != 0)) {
                it->a.with = arena_str(&l->mem, a->with);
                l->failed |= !it->a.with;
        }

        return news;
}

/* What a link leads to was tried too, under its own name. */
static void add_real(struct learn *l, const struct learn_access *a, unsigned run)
{
        char real[LEARN_PATH_MAX];
        struct learn_access there = *a;
        there.path = real;
        if (leads(l, a->path, real) && strcmp(real, a->path) != 0 && learn_is_sensitive(&there))
                (void) learn_add(l, &there, run);
}

bool learn_add(struct learn *l, const struct learn_access *a, unsigned run)
{
        if (run >= LEARN_RUNS_MAX || !a->path || (a->kind <= LEARN_RUN && a->path[0] != '/'))
                return false;

        struct item *it = find(l, a);
        if (!it)
                it = append(l, a);

        if (!it)
                return false;

        bool news = merge(l, it, a) || !(it->runs & (UINT64_C(1) << run));
        it->runs |= UINT64_C(1) << run;
        if (it->behind) {
                add_real(l, a, run); /* `it` may have moved */
                return false;
        }

        return news && !it->sensitive &&
               (it->a.on_host || a->kind == LEARN_WRITE || (a->kind == LEARN_NET && it->a.agreed));
}
