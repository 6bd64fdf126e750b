/* SPDX-License-Identifier: MIT */
/* policy/decide/decide.c - the compiled evaluator: binary search in the sorted doors. For a path it looks
 * up each of its ancestors, deepest first; for a host the name and each of its parents. Cost grows with
 * the depth of the effect and the logarithm of the doors. decide_ref.c implements the same in plain loops;
 * a test compares them.
 *
 * The rules, which both implement:
 *   Union: an effect is allowed if one live door covers it. `except` belongs to its own door.
 *   A `run` line also lets its program be read, because a process that starts a program can read it.
 *   The builtin files of every box (builtin.c) decide for their paths, unless a door lies at or below it.
 *   The door that is named is the deepest for files, else the first in canonical order.
 *   If denied: an expired door that would have covered it is named first (REASON_EXPIRED), then the
 *   nearest miss. */
#include "policy/internal.h"

/* The first door of a range, or `best` if that comes earlier. */
static const struct door *first_door(const struct door_set *s, enum door_kind kind, struct span key,
                                     const struct door *best)
{
        size_t lo, hi;
        if (!door_set_find(s, kind, key, &lo, &hi))
                return best;
        return !best || &s->v[lo] < best ? &s->v[lo] : best;
}

/* ---- files ---- */

struct file_view {                             /* the deepest door of each sort */
        const struct door *read, *write;       /* covers reading, writing */
        const struct door *no_read, *no_write; /* covers, but excepts it */
};

static bool path_excepted(const struct door *d, const char *path)
{
        for (char **x = d->except; x && *x; x++)
                if (path_inside(*x, path))
                        return true;
        return false;
}

static void keep_nearest(const struct door **slot, const struct door *d)
{
        if (!*slot)
                *slot = d;
}

static void view_door(struct file_view *v, const struct door *d, const char *path)
{
        bool out = path_excepted(d, path);
        if (d->kind == DOOR_READ) {
                keep_nearest(out ? &v->no_read : &v->read, d);
                return;
        }

        keep_nearest(&v->read, d);
        keep_nearest(out ? &v->no_write : &v->write, d);
}

/* All ancestors of `path` that are at least `floor` bytes long, deepest first. */
static struct file_view find_file_doors(const struct door_set *s, const char *path, size_t floor)
{
        struct file_view v = { 0 };
        for (size_t n = strlen(path); n >= floor && n > 0;) {
                for (enum door_kind k = DOOR_READ; k <= DOOR_WRITE; k++) {
                        size_t lo, hi;
                        for (door_set_find(s, k, span_of(path, n), &lo, &hi); lo < hi; lo++)
                                view_door(&v, &s->v[lo], path);
                }
                n = str_parent(path, n);
        }

        return v;
}

static const struct builtin_file *builtin_of(const struct checked_policy *c, const char *path)
{
        if ((c->work[0] && path_inside(c->work, path)) || (c->home[0] && path_inside(c->home, path)))
                return NULL; /* the question is about the host's file */

        size_t count;
        const struct builtin_file *b = builtin_files(&count);
        for (size_t i = 0; i < count; i++)
                if ((b[i].process || wall_has(c->wall, WALL_OWN_ROOT)) && !(b[i].local & ~c->local) &&
                    (b[i].tree ? path_inside(b[i].path, path) : strcmp(b[i].path, path) == 0))
                        return &b[i];

        return NULL;
}

static struct decision decision_allow(const struct door *d)
{
        return (struct decision){ .answer = ANSWER_ALLOW, .door = d };
}
static struct decision allow_builtin(const char *name)
{
        return (struct decision){ .answer = ANSWER_ALLOW, .built_in = name };
}
static struct decision decision_deny(enum effect_reason reason, const struct door *nearest)
{
        return (struct decision){ .reason = reason, .nearest = nearest };
}

static struct decision write_gap(const struct file_view *v)
{
        if (v->no_write)
                return decision_deny(REASON_EXCEPTED, v->no_write);
        if (v->read)
                return decision_deny(REASON_READ_ONLY, v->read);
        return v->no_read ? decision_deny(REASON_EXCEPTED, v->no_read) : decision_deny(REASON_NO_DOOR, NULL);
}

static const struct door *explicit_run(const struct door_set *s, const char *path, bool own);

static struct decision file_live(const struct checked_policy *c, const char *path, bool writing)
{
        const struct builtin_file *b = builtin_of(c, path);
        struct file_view v = find_file_doors(&c->live, path, b ? strlen(b->path) : 1);
        if (b && !v.read && !v.no_read) /* every door that covers it shows in one of the two */
                return writing && !b->writable ? decision_deny(REASON_READ_ONLY, NULL)
                                               : allow_builtin(b->name);

        if (writing)
                return v.write ? decision_allow(v.write) : write_gap(&v);

        const struct door *seen = v.read ? v.read : explicit_run(&c->live, path, false);
        if (seen)
                return decision_allow(seen);

        return v.no_read ? decision_deny(REASON_EXCEPTED, v.no_read) : decision_deny(REASON_NO_DOOR, NULL);
}

static struct decision file_decide(const struct checked_policy *c, const char *path, bool writing)
{
        struct decision d = file_live(c, path, writing);
        if (d.answer == ANSWER_ALLOW)
                return d;

        struct file_view old = find_file_doors(&c->closed, path, 1);
        const struct door *was = writing ? old.write : old.read;
        if (!was && !writing)
                was = explicit_run(&c->closed, path, false);

        return was ? decision_deny(REASON_EXPIRED, was) : d;
}

/* ---- programs ---- A bare name means that file in each directory that is searched for programs; a path
 * itself; DIR/ everything below. `run any` covers every program that the box can see (or that is searched
 * by name), also files it wrote. Without it, a file that the box can write runs only if a line of its own
 * policy names it, not one of a stock policy. */

static const char *const any_key = "*";

static bool in_bin_dir(const char *path)
{
        size_t count, n = (size_t) (strrchr(path, '/') - path);
        const char *const *dirs = builtin_bin_dirs(&count);
        for (size_t i = 0; i < count; i++)
                if (strlen(dirs[i]) == n && memcmp(dirs[i], path, n) == 0)
                        return true;
        return false;
}

/* The first `run` line of a range, or `best` if that comes earlier; own: no line of a stock policy. */
static const struct door *first_run(const struct door_set *s, struct span key, bool own,
                                    const struct door *best)
{
        size_t lo, hi;
        for (door_set_find(s, DOOR_RUN, key, &lo, &hi); lo < hi; lo++)
                if (!own || !s->v[lo].from_stock)
                        return !best || &s->v[lo] < best ? &s->v[lo] : best;
        return best;
}

/* DIR/ for each directory above the file that ends at path[n]. */
static const struct door *tree_above(const struct door_set *s, struct span path, bool own,
                                     const struct door *best)
{
        for (size_t n = path.n; n > 1;)
                if (path.p[--n] == '/')
                        best = first_run(s, span_of(path.p, n + 1), own, best);
        return best;
}

static const struct door *explicit_bare(const struct door_set *s, const char *name)
{
        size_t count;
        const char *const *dirs = builtin_bin_dirs(&count);
        const struct door *best = first_door(s, DOOR_RUN, span_str(name), NULL);

        for (size_t i = 0; i < count; i++) {
                char path[PATH_MAX_BYTES];
                size_t d = strlen(dirs[i]), n = strlen(name);
                if (d + 1 + n >= sizeof path)
                        continue;
                memcpy(path, dirs[i], d);
                path[d] = '/';
                memcpy(path + d + 1, name, n + 1);
                best = first_door(s, DOOR_RUN, span_str(path), best);
                best = tree_above(s, span_of(path, d + 1 + n), false, best);
        }

        return best;
}

static const struct door *explicit_run(const struct door_set *s, const char *path, bool own)
{
        if (strcmp(path, any_key) == 0)
                return NULL;

        if (path[0] != '/')
                return explicit_bare(s, path);

        const struct door *best = first_run(s, span_str(path), own, NULL);
        best = tree_above(s, span_str(path), own, best);
        const char *base = strrchr(path, '/') + 1;
        if (in_bin_dir(path) && strcmp(base, any_key) != 0 && *base)
                best = first_run(s, span_str(base), own, best);

        return best;
}

/* Does `run any` reach this program? */
static bool any_reaches(const struct checked_policy *c, const char *path)
{
        return path[0] != '/' || in_bin_dir(path) || file_live(c, path, false).answer == ANSWER_ALLOW;
}

static const struct door *run_in(const struct checked_policy *c, const struct door_set *s, const char *path)
{
        bool written = path[0] == '/' && file_live(c, path, true).answer == ANSWER_ALLOW;
        const struct door *d = explicit_run(s, path, written);
        if (d || !any_reaches(c, path))
                return d;
        return first_door(s, DOOR_RUN, span_str(any_key), NULL);
}

static struct decision run_decide(const struct checked_policy *c, const char *path)
{
        const struct door *d = run_in(c, &c->live, path);
        if (d)
                return decision_allow(d);

        if ((d = run_in(c, &c->closed, path)))
                return decision_deny(REASON_EXPIRED, d);

        if (path[0] != '/')
                return decision_deny(REASON_NO_DOOR, NULL);

        struct decision w = file_live(c, path, true), r = file_live(c, path, false);
        if (w.answer == ANSWER_ALLOW)
                return decision_deny(REASON_WRITABLE, w.door);

        return r.answer == ANSWER_ALLOW ? decision_deny(REASON_NOT_RUN, r.door)
                                        : decision_deny(REASON_NO_DOOR, NULL);
}

/* ---- network ---- */

enum stage { STAGE_HOST, STAGE_SCHEME, STAGE_PORT, STAGE_PATH, STAGE_METHOD, STAGE_PARAM, STAGE_COVERED };
static const enum effect_reason stage_gap[] = { REASON_HOST,   REASON_SCHEME,    REASON_PORT, REASON_URL_PATH,
                                                REASON_METHOD, REASON_PARAMETER, REASON_NONE };

static bool path_covered(const struct net_dest *d, const char *path)
{
        return d->path_tail ? strncmp(d->path, path, strlen(d->path)) == 0 : strcmp(d->path, path) == 0;
}

static bool method_listed(const struct net_dest *d, const char *method)
{
        if (!d->methods)
                return net_method_unnamed(method);
        for (char **m = d->methods; method && *m; m++)
                if (strcmp(*m, method) == 0)
                        return true;
        return false;
}

/* How far an effect comes at a door whose host fits already. */
static enum stage stage_of(const struct net_dest *d, const struct effect *f)
{
        bool l7 = d->form != NET_HOST_PORT;
        if ((d->form == NET_PLACE) != (f->net->form == NET_PLACE))
                return STAGE_HOST;

        if (d->form == NET_URL && f->net->form == NET_URL && d->tls != f->net->tls)
                return STAGE_SCHEME;

        if (d->form != NET_PLACE && d->port != f->net->port)
                return STAGE_PORT;

        if (l7 && (f->net->form == NET_HOST_PORT || !path_covered(d, f->net->path)))
                return STAGE_PATH; /* a raw connection asks for every path at once */

        if (l7 && !method_listed(d, f->method))
                return STAGE_METHOD;

        return d->bounds && bounds_judge(d, f->params).kind != FAULT_NONE ? STAGE_PARAM : STAGE_COVERED;
}

static bool host_fits(const struct door *d, const struct effect *f)
{
        if (!d->net.wildcard)
                return strcmp(d->net.host, f->net->host) == 0;
        for (const char *dot = strchr(f->net->host, '.'); dot; dot = strchr(dot + 1, '.'))
                if (!f->net->is_address && strcmp(dot + 1, d->net.host) == 0)
                        return true;
        return false;
}

bool policy_net_covers(const struct door *d, const struct effect *f)
{
        return d->kind == DOOR_NET && f->kind == EFFECT_NET && stage_of(&d->net, f) == STAGE_COVERED &&
               host_fits(d, f);
}

bool policy_net_asks_params(const struct door *d, const struct effect *f)
{
        struct effect blind = *f;
        blind.params = NULL;
        return d->kind == DOOR_NET && d->net.bounds && f->kind == EFFECT_NET &&
               stage_of(&d->net, &blind) == STAGE_PARAM && host_fits(d, f);
}

struct net_best {
        enum stage stage;
        const struct door *door;
};

static void net_key(const struct door_set *s, const struct effect *f, const char *key, bool wild,
                    struct net_best *best)
{
        size_t lo, hi;
        for (door_set_find(s, DOOR_NET, span_str(key), &lo, &hi); lo < hi; lo++) {
                const struct door *d = &s->v[lo];
                if (d->net.wildcard != wild)
                        continue;
                enum stage at = stage_of(&d->net, f);
                if (at == STAGE_HOST || at < best->stage ||
                    (at == best->stage && best->door && best->door < d))
                        continue;
                *best = (struct net_best){ at, d };
        }
}

static struct net_best net_look(const struct door_set *s, const struct effect *f)
{
        struct net_best best = { STAGE_HOST, NULL };
        net_key(s, f, f->net->host, false, &best);
        if (f->net->form == NET_PLACE || f->net->is_address)
                return best;

        for (const char *dot = strchr(f->net->host, '.'); dot; dot = strchr(dot + 1, '.'))
                net_key(s, f, dot + 1, true, &best);

        return best;
}

static struct decision net_decide(const struct checked_policy *c, const struct effect *f)
{
        struct net_best live = net_look(&c->live, f);
        if (live.stage == STAGE_COVERED)
                return decision_allow(live.door);

        struct net_best old = net_look(&c->closed, f);
        if (old.stage == STAGE_COVERED)
                return decision_deny(REASON_EXPIRED, old.door);

        if (c->live.start[DOOR_NET] == c->live.start[DOOR_NET + 1])
                return decision_deny(REASON_NO_DOOR, NULL);

        return decision_deny(stage_gap[live.stage], live.door);
}

/* ---- the rest ---- */

/* A `gpu` door is one of many nodes. */
static const struct door *gpu_door(const struct door_set *s, enum door_kind kind, const char *key)
{
        for (size_t i = s->start[DOOR_DEV]; kind == DOOR_DEV && i < s->start[DOOR_DEV + 1]; i++)
                if (policy_gpu_covers(s->v[i].path, key))
                        return &s->v[i];
        return NULL;
}

static struct decision keyed_decide(const struct checked_policy *c, enum door_kind kind, const char *key)
{
        const struct door *d = first_door(&c->live, kind, span_str(key), NULL);
        if (d || (d = gpu_door(&c->live, kind, key)))
                return decision_allow(d);

        size_t count;
        const char *const *vars = builtin_vars(&count);
        for (size_t i = 0; kind == DOOR_ENV && i < count; i++)
                if (strcmp(vars[i], key) == 0)
                        return allow_builtin(builtin_var_name);

        d = first_door(&c->closed, kind, span_str(key), NULL);
        if (!d)
                d = gpu_door(&c->closed, kind, key);
        return d ? decision_deny(REASON_EXPIRED, d) : decision_deny(REASON_NO_DOOR, NULL);
}

/* Behind an `edit` door the apply asks, later; what the box does in its overlay waits for nobody. */
bool policy_asks(const struct decision *d)
{
        return d->answer == ANSWER_ALLOW && d->door && d->door->ask.on && !d->door->ask.labelled &&
               d->door->kind != DOOR_EDIT;
}

struct decision policy_decide(const struct checked_policy *c, const struct effect *f)
{
        enum door_kind kind = builtin_door_of(f->kind);
        if (f->kind == EFFECT_READ || f->kind == EFFECT_WRITE)
                return file_decide(c, f->target, f->kind == EFFECT_WRITE);

        if (kind == DOOR_RUN)
                return run_decide(c, f->target);

        if (kind == DOOR_NET)
                return net_decide(c, f);

        if (kind == DOOR_TOOL)
                return tool_decide(c, f);

        return kind ? keyed_decide(c, kind, f->target) : decision_deny(REASON_NO_DOOR, NULL);
}
