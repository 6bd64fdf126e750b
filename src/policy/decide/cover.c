/* SPDX-License-Identifier: MIT */
/* policy/decide/cover.c - is everything that one door grants granted by a set of doors? Used by the diff
 * and by the lint "implied by another". Exact for subtrees: a region is covered if a door covers its top,
 * and others in turn cover its exceptions. Doors are looked up by key, never scanned: a diff or a lint of
 * n doors takes n log n steps. */
#include "policy/internal.h"

enum power { POWER_READ, POWER_WRITE, POWER_WRITE_HOST }; /* the last: for real, at once */

struct cover {
        const struct door_set *s;
        const struct door *skip; /* not asked: the door itself */
        enum power power;
        int64_t until;
        const struct door *of; /* the door that is to be covered */
        char *const *free_of;  /* parts that need no cover */
};

static bool door_lasts(const struct door *s, int64_t until)
{
        return s->until == 0 || (until != 0 && s->until >= until);
}

/* A question less, or a label less, is more power. */
static bool terms_cover(const struct door *s, const struct door *d)
{
        return ask_covers(&s->ask, &d->ask) && flow_covers(&s->flow, &d->flow);
}

static bool inside_any(char *const *list, const char *path)
{
        for (; list && *list; list++)
                if (path_inside(*list, path))
                        return true;
        return false;
}

/* Which exceptions of `d` take this power away. */
static char *const *taken(const struct door *d, enum power power)
{
        bool applies = d->kind == DOOR_READ || (d->kind == DOOR_EDIT && power != POWER_READ);
        return applies ? d->except : NULL;
}

static bool has_power(const struct door *d, enum power power)
{
        if (power == POWER_WRITE_HOST)
                return d->kind == DOOR_WRITE;
        if (power == POWER_WRITE)
                return d->kind == DOOR_EDIT || d->kind == DOOR_WRITE;
        return d->kind == DOOR_READ || d->kind == DOOR_EDIT || d->kind == DOOR_WRITE;
}

static bool covers_top(const struct cover *c, const struct door *d, const char *top)
{
        return d != c->skip && has_power(d, c->power) && door_lasts(d, c->until) && terms_cover(d, c->of) &&
               !inside_any(taken(d, c->power), top);
}

/* A door at `top` or above it that covers it. */
static const struct door *is_over(const struct cover *c, const char *top)
{
        for (size_t n = strlen(top); n > 0; n = str_parent(top, n))
                for (enum door_kind k = DOOR_READ; k <= DOOR_WRITE; k++) {
                        size_t lo, hi;
                        for (door_set_find(c->s, k, span_of(top, n), &lo, &hi); lo < hi; lo++)
                                if (covers_top(c, &c->s->v[lo], top))
                                        return &c->s->v[lo];
                }

        return NULL;
}

/* Each step goes to a strictly deeper path, so it ends. Any door that covers the top will do, because its
 * exceptions are checked against all doors again. */
static bool covers_region(const struct cover *c, const char *top)
{
        if (inside_any(c->free_of, top))
                return true;

        const struct door *d = is_over(c, top);
        if (!d)
                return false;

        for (char *const *x = taken(d, c->power); x && *x; x++)
                if (path_inside(top, *x) && !covers_region(c, *x))
                        return false;

        return true;
}

static bool cover_file(const struct door_set *s, const struct door *d, const struct door *skip)
{
        static const struct {
                enum door_kind kind;
                enum power power;
        } grants[] = {
                { DOOR_READ, POWER_READ },  { DOOR_EDIT, POWER_READ },   { DOOR_EDIT, POWER_WRITE },
                { DOOR_WRITE, POWER_READ }, { DOOR_WRITE, POWER_WRITE }, { DOOR_WRITE, POWER_WRITE_HOST },
        };

        for (size_t i = 0; i < COUNT(grants); i++) {
                struct cover c = {
                        .s = s, .skip = skip, .power = grants[i].power, .until = d->until, .of = d
                };
                c.free_of = taken(d, c.power);
                if (grants[i].kind == d->kind && !covers_region(&c, d->path))
                        return false;
        }

        return true;
}

/* ---- programs ---- */

static bool is_tree(const char *path) { return path[0] == '/' && path[strlen(path) - 1] == '/'; }

/* A read door at DIR/ or above it shows all of it. */
static bool is_shown_whole(const struct door_set *s, const char *tree)
{
        for (size_t n = strlen(tree) - 1; n > 0; n = str_parent(tree, n)) {
                size_t lo, hi;
                for (door_set_find(s, DOOR_READ, span_of(tree, n), &lo, &hi); lo < hi; lo++)
                        if (!s->v[lo].except)
                                return true;
        }

        return false;
}

/* Does `run any` reach all of this? Only files that the box sees. */
static bool any_covers(const struct checked_policy *c, const struct door *d)
{
        if (is_tree(d->path))
                return is_shown_whole(&c->live, d->path);
        struct effect f = { .kind = EFFECT_RUN, .target = d->path };
        struct decision w = policy_decide(c, &f);
        return d->path[0] != '/' || (w.answer == ANSWER_ALLOW && strcmp(w.door->path, "*") == 0);
}

static bool in_bin_dir(const char *path)
{
        size_t count;
        const char *const *dirs = builtin_bin_dirs(&count);
        const char *slash = strrchr(path, '/');

        for (size_t i = 0; i < count; i++)
                if (strlen(dirs[i]) == (size_t) (slash - path) &&
                    strncmp(dirs[i], path, (size_t) (slash - path)) == 0)
                        return true;

        return false;
}

struct asked { /* one door, and the one that is skipped: itself */
        const struct door *d, *skip;
};

/* A `run` line with exactly this key that stays open long enough. */
static bool has_run(const struct door_set *s, const struct asked *q, struct span key)
{
        size_t lo, hi;
        for (door_set_find(s, DOOR_RUN, key, &lo, &hi); lo < hi; lo++)
                if (&s->v[lo] != q->skip && door_lasts(&s->v[lo], q->d->until) &&
                    terms_cover(&s->v[lo], q->d))
                        return true;
        return false;
}

static bool cover_run(const struct checked_policy *c, const struct asked *q)
{
        const struct door_set *s = &c->live;
        const char *path = q->d->path;
        if (has_run(s, q, span_str(path)))
                return true;

        if (strcmp(path, "*") == 0)
                return false;

        if (has_run(s, q, span_str("*")) && any_covers(c, q->d))
                return true;

        if (path[0] != '/')
                return false; /* a bare name is looked for in many directories */

        for (size_t n = str_parent(path, strlen(path)); n > 0; n = str_parent(path, n))
                if (has_run(s, q, span_of(path, n + 1))) /* DIR/ */
                        return true;

        return !is_tree(path) && in_bin_dir(path) && has_run(s, q, span_str(strrchr(path, '/') + 1));
}

/* ---- network ---- */

/* Bytes of any form contain those of one form, in a size that is no larger. */
static bool type_covers(const struct door *s, const struct door *d)
{
        if (s->type == HANDLE_BINARY && s->kind == DOOR_NET)
                return true; /* answers of any size */

        bool looser = s->type == HANDLE_BINARY || (s->type == d->type && !s->value);
        bool same = s->type == d->type && s->value && d->value && strcmp(s->value, d->value) == 0;
        return s->max >= d->max && (looser || same);
}

static bool has_net(const struct door_set *s, const struct asked *q, const char *host, const char *method)
{
        size_t lo, hi;
        for (door_set_find(s, DOOR_NET, span_str(host), &lo, &hi); lo < hi; lo++)
                if (&s->v[lo] != q->skip && door_lasts(&s->v[lo], q->d->until) &&
                    terms_cover(&s->v[lo], q->d) && net_covers(&s->v[lo].net, &q->d->net, method) &&
                    type_covers(&s->v[lo], q->d))
                        return true;
        return false;
}

/* NULL: every method at once. The host's own lines, then those of each parent domain. */
static bool cover_method(const struct door_set *s, const struct asked *q, const char *method)
{
        const char *host = q->d->net.host;
        while (host && !has_net(s, q, host, method)) {
                const char *dot = q->d->net.is_address ? NULL : strchr(host, '.');
                host = dot ? dot + 1 : NULL;
        }
        return host != NULL;
}

static bool cover_net(const struct door_set *s, const struct asked *q)
{
        if (!q->d->net.methods)
                return cover_method(s, q, NULL);
        for (char **m = q->d->net.methods; *m; m++)
                if (!cover_method(s, q, *m))
                        return false;
        return true;
}

/* ---- the rest ---- */

/* Both doors have the same key. */
static bool simple_covers(const struct door *s, const struct door *d)
{
        if (d->kind == DOOR_ENV || d->kind == DOOR_LISTEN)
                return s->value && d->value ? strcmp(s->value, d->value) == 0 : s->value == d->value;

        if (d->kind == DOOR_SIGN || d->kind == DOOR_DECRYPT)
                return s->max == 0 || (d->max != 0 && d->max <= s->max);

        return type_covers(s, d);
}

static bool tool_covers(const struct door_set *s, const char *name, const struct asked *q)
{
        size_t lo, hi;
        for (door_set_find(s, DOOR_TOOL, span_str(name), &lo, &hi); lo < hi; lo++)
                if (&s->v[lo] != q->skip && door_lasts(&s->v[lo], q->d->until) &&
                    terms_cover(&s->v[lo], q->d) &&
                    (strcmp(name, "*") == 0 || bounds_cover(&s->v[lo].net, &q->d->net)))
                        return true;
        return false;
}

static bool cover_tool(const struct door_set *s, const struct asked *q)
{
        return tool_covers(s, "*", q) || tool_covers(s, q->d->name, q);
}

/* `gpu` has each GPU and its nodes, `gpu 0` its nodes. */
static bool gpu_covers(const char *door, const char *path)
{
        const char *all = policy_gpu(door);
        return policy_gpu_covers(door, path) ||
               (all && !all[0] && policy_gpu(path) && strcmp(door, path) != 0);
}

bool cover_door(const struct checked_policy *c, const struct door *d, const struct door *skip)
{
        const struct door_set *s = &c->live;
        struct asked q = { d, skip };
        if (d->kind == DOOR_READ || d->kind == DOOR_EDIT || d->kind == DOOR_WRITE)
                return cover_file(s, d, skip);

        if (d->kind == DOOR_NET)
                return cover_net(s, &q);

        if (d->kind == DOOR_RUN)
                return cover_run(c, &q);

        if (d->kind == DOOR_TOOL)
                return cover_tool(s, &q);

        size_t lo, hi;
        for (door_set_find(s, d->kind, span_str(door_key(d)), &lo, &hi); lo < hi; lo++)
                if (&s->v[lo] != skip && door_lasts(&s->v[lo], d->until) && terms_cover(&s->v[lo], d) &&
                    simple_covers(&s->v[lo], d))
                        return true;

        for (size_t i = s->start[DOOR_DEV]; d->kind == DOOR_DEV && i < s->start[DOOR_DEV + 1]; i++)
                if (&s->v[i] != skip && door_lasts(&s->v[i], d->until) && gpu_covers(s->v[i].path, d->path))
                        return true;

        return false;
}
