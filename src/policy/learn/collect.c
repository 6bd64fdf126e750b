/* SPDX-License-Identifier: MIT */
/* policy/learn/collect.c - the accesses that were seen, each once, with the runs that saw it; and those never
 * learned. */
#include "base/str.h"
#include "policy/learn/internal.h"
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

/* Paths that a box may never change: the host's programs, its configuration, the kernel's files. */
static bool is_system_place(const char *path)
{
        static const char *const trees[] = { "/usr", "/bin",  "/sbin", "/lib",     "/lib64",
                                             "/etc", "/boot", "/opt",  "/var/lib", "/run" };
        for (size_t i = 0; i < COUNT(trees); i++)
                if (fold_inside(trees[i], path))
                        return true;
        return strcmp(path, "/") == 0;
}

enum effect_reason learn_is_sensitive(const struct learn_access *a)
{
        enum effect_reason secret =
                effect_kind_has_path(a->kind) ? policy_secret_reason(a->path) : REASON_NONE;
        if (a->kind == EFFECT_WRITE && !secret && is_system_place(a->path))
                return REASON_SYSTEM;

        if (a->kind == EFFECT_WRITE && !secret && policy_is_start(a->path, true))
                return REASON_START;

        if (effect_kind_has_path(a->kind))
                return secret;

        if (a->kind == EFFECT_NET)
                return net_sensitive(a->path);

        if (a->kind == EFFECT_CALL) /* tracing, mounts, modules, keys: no door opens them */
                return a->internet ? REASON_NETWORK : REASON_CALL;

        return REASON_UNKNOWN;
}

static struct item *find_item(struct learn *l, const struct learn_access *a)
{
        for (size_t i = 0; i < l->n; i++) {
                const struct learn_access *b = &l->v[i].a;
                if (b->kind == a->kind && strcmp(b->path, a->path) == 0 &&
                    strcmp(b->method, a->method ? a->method : "") == 0)
                        return &l->v[i];
        }

        return NULL;
}

/* No line can name it: a newline in a file's name must not become a line of a policy, and an invisible
 * character stops the load of one. */
bool learn_has_odd_bytes(const char *path)
{
        char shown[4 * LEARN_PATH_MAX];
        return strcmp(str_inert(span_str(path), shown, sizeof shown), path) != 0;
}

/* A client of a host socket acts with the rights of its server; a device is the host's. By file type,
 * whatever their names. */
static enum effect_reason is_special(const struct learn *l, const struct learn_access *a)
{
        bool path = effect_kind_has_path(a->kind);
        enum learn_look k = path && l->c.look ? l->c.look(l->c.look_ctx, a->path) : LEARN_NOTHING;
        bool device = k == LEARN_DEVICE && !policy_gpu_covers("/dev/gpu", a->path);
        return k == LEARN_SOCKET ? REASON_AGENT : device ? REASON_DEVICE : REASON_NONE;
}

static bool leads_to(const struct learn *l, const char *path, char ret[LEARN_PATH_MAX])
{
        return l->c.real && l->c.real(l->c.look_ctx, path, ret);
}

/* Below {home}, names that begin with a dot hold personal data of programs: without consent none of it is
 * learned. Files in the project belong to the project. */
static bool is_dot_path(const struct learn *l, const struct learn_access *a)
{
        const char *home = l->c.home, *work = l->c.work;
        bool path = effect_kind_has_path(a->kind);
        bool project = strcmp(work, home) != 0 && fold_inside(work, a->path);
        if (!path || strcmp(home, "/") == 0 || !fold_inside(home, a->path) || project)
                return false;
        return strstr(a->path + strlen(home), "/.") && !(l->c.agreed && l->c.agreed(l->c.look_ctx, a->path));
}

/* A door follows symlinks, so their targets are also checked: the author of a project made its symlinks,
 * and must not choose which files of the host are shown. Program files may be targets. */
static enum effect_reason behind_links(const struct learn *l, const struct learn_access *a)
{
        char real[LEARN_PATH_MAX], work[LEARN_PATH_MAX];
        struct learn_access there = *a;
        bool path = effect_kind_has_path(a->kind);
        if (!path || !leads_to(l, a->path, real) || strcmp(real, a->path) == 0)
                return REASON_NONE;

        there.path = real;
        enum effect_reason kind = learn_is_sensitive(&there);
        if (kind || is_dot_path(l, &there))
                return kind ? kind : REASON_DOT_PATH;

        bool ours = fold_inside(l->c.work, a->path) && leads_to(l, l->c.work, work);
        return ours && !fold_inside(work, real) && !group_is_system(real) ? REASON_LINK_OUT : REASON_NONE;
}

/* The content decides: a private key has no fixed name. */
static bool is_key(const struct learn *l, const struct learn_access *a)
{
        return a->kind == EFFECT_READ && a->on_host && l->c.holds_key &&
               l->c.holds_key(l->c.look_ctx, a->path);
}

static enum effect_reason never_learned(const struct learn *l, const struct learn_access *a)
{
        enum effect_reason kind = learn_is_sensitive(a);
        if (!kind)
                kind = is_special(l, a);
        if (!kind)
                kind = is_key(l, a) ? REASON_KEYS : is_dot_path(l, a) ? REASON_DOT_PATH : REASON_NONE;
        return kind;
}

static struct item *append_item(struct learn *l, const struct learn_access *a)
{
        if (l->n == LEARN_ITEMS_MAX)
                return NULL;

        if (vec_room((void **) &l->v, l->n, &l->cap, sizeof *l->v) < 0) {
                l->failed = true;
                return NULL;
        }

        struct item *it = &l->v[l->n];
        *it = (struct item){ .a = *a, .sensitive = never_learned(l, a), .odd = learn_has_odd_bytes(a->path) };
        if (!it->sensitive) {
                it->sensitive = behind_links(l, a);
                it->behind = it->sensitive != REASON_NONE;
        }

        if (it->odd && !it->sensitive)
                it->sensitive = REASON_ODD_NAME;

        it->a.path = arena_str(&l->mem, a->path);
        it->a.method = arena_str(&l->mem, a->method ? a->method : "");
        it->a.program = arena_str(&l->mem, a->program ? a->program : "");
        it->a.with = NULL;
        if (l->mem.failed)
                return NULL;

        l->n++;
        return it;
}

/* Merges the known and the new facts: the user may have agreed by now, or it was seen to carry a
 * credential. */
static bool merge_access(struct learn *l, struct item *it, const struct learn_access *a)
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

/* The target of a symlink was also tried, under its own name. */
static void add_real(struct learn *l, const struct learn_access *a, unsigned run)
{
        char real[LEARN_PATH_MAX];
        struct learn_access there = *a;
        there.path = real;
        if (leads_to(l, a->path, real) && strcmp(real, a->path) != 0 && learn_is_sensitive(&there))
                (void) learn_add(l, &there, run);
}

bool learn_add(struct learn *l, const struct learn_access *a, unsigned run)
{
        if (run >= LEARN_RUNS_MAX || !a->path || (a->kind <= EFFECT_RUN && a->path[0] != '/'))
                return false;

        struct item *it = find_item(l, a);
        if (!it)
                it = append_item(l, a);

        if (!it)
                return false;

        bool news = merge_access(l, it, a) || !(it->runs & (UINT64_C(1) << run));
        it->runs |= UINT64_C(1) << run;
        if (it->behind) {
                add_real(l, a, run); /* `it` may have moved */
                return false;
        }

        return news && !it->sensitive &&
               (it->a.on_host || a->kind == EFFECT_WRITE || (a->kind == EFFECT_NET && it->a.agreed));
}
