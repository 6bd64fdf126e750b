/* SPDX-License-Identifier: MIT */
/* policy/cover.c - is all that one door grants granted by a set of doors? Used by the diff and by the lint
 * "implied by another". Exact for subtrees: a region is covered when a door covers its top, and what that
 * door excepts is covered in turn by others. */
#include "policy/internal.h"

enum power { POWER_READ, POWER_WRITE, POWER_WRITE_HOST }; /* the last: for real, at once */

struct cover {
        const struct door_set *s;
        const struct door *skip; /* not asked: the door itself */
        enum power power;
        int64_t until;
        char *const *free_of; /* parts that need no cover */
};

static bool lasts(const struct door *s, int64_t until)
{
        return s->until == 0 || (until != 0 && s->until >= until);
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

/* Each step goes to a strictly deeper path, so it ends; any door that covers the top will do, because what it
 * leaves open is asked of all doors again. */
static bool region(const struct cover *c, const char *top)
{
        if (inside_any(c->free_of, top))
                return true;
        for (size_t i = 0; i < c->s->n; i++) {
                const struct door *d = &c->s->v[i];
                if (d == c->skip || !has_power(d, c->power) || !lasts(d, c->until) ||
                    !path_inside(d->path, top) || inside_any(taken(d, c->power), top))
                        continue;
                for (char *const *x = taken(d, c->power); x && *x; x++)
                        if (path_inside(top, *x) && !region(c, *x))
                                return false;
                return true;
        }
        return false;
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
                struct cover c = { .s = s, .skip = skip, .power = grants[i].power, .until = d->until };
                c.free_of = taken(d, c.power);
                if (grants[i].kind == d->kind && !region(&c, d->path))
                        return false;
        }
        return true;
}

/* ---- programs ---- */

static bool is_tree(const char *path) { return path[0] == '/' && path[strlen(path) - 1] == '/'; }

/* Without the slash that marks a subtree. */
static struct span tree_dir(const char *path) { return span_of(path, strlen(path) - 1); }

static bool touches(struct span tree, const char *path)
{
        size_t n = strlen(path);
        size_t k = n < tree.n ? n : tree.n;
        return memcmp(tree.p, path, k) == 0 && (n == tree.n || (n > k ? path[k] == '/' : tree.p[k] == '/'));
}

/* Does `run any` reach all of this? Only what the box sees and can nowhere write. */
static bool any_covers(const struct checked_policy *c, const struct door *d)
{
        size_t count;
        const struct builtin_file *b = builtin_files(&count);
        if (!is_tree(d->path)) {
                struct effect f = { .kind = EFFECT_RUN, .path = d->path };
                struct decision w = policy_decide(c, &f);
                return d->path[0] != '/' || (w.answer == ANSWER_ALLOW && strcmp(w.door->path, "*") == 0);
        }
        struct span dir = tree_dir(d->path);
        for (size_t i = 0; i < count; i++)
                if (b[i].writable && touches(dir, b[i].path))
                        return false;
        bool seen = false;
        for (size_t i = 0; i < c->live.n; i++) {
                const struct door *x = &c->live.v[i];
                if ((x->kind == DOOR_EDIT || x->kind == DOOR_WRITE) && touches(dir, x->path))
                        return false;
                seen = seen || (x->kind == DOOR_READ && !x->except && touches(dir, x->path) &&
                                strlen(x->path) <= dir.n);
        }
        return seen;
}

static bool in_bin_dir_named(const char *path, const char *name)
{
        size_t count;
        const char *const *dirs = builtin_bin_dirs(&count);
        const char *slash = strrchr(path, '/');
        if (strcmp(slash + 1, name) != 0)
                return false;
        for (size_t i = 0; i < count; i++)
                if (strlen(dirs[i]) == (size_t) (slash - path) &&
                    strncmp(dirs[i], path, (size_t) (slash - path)) == 0)
                        return true;
        return false;
}

static bool run_covers(const struct checked_policy *c, const struct door *s, const struct door *d)
{
        if (strcmp(s->path, d->path) == 0)
                return true;
        if (strcmp(d->path, "*") == 0)
                return false;
        if (strcmp(s->path, "*") == 0)
                return any_covers(c, d);
        if (d->path[0] != '/')
                return false; /* a bare name is looked for in many directories */
        if (is_tree(s->path))
                return strncmp(s->path, d->path, strlen(s->path)) == 0;
        return s->path[0] != '/' && !is_tree(d->path) && in_bin_dir_named(d->path, s->path);
}

/* ---- network ---- */

static bool host_covers(const struct net_dest *s, const struct net_dest *d)
{
        if (s->wildcard == d->wildcard && strcmp(s->host, d->host) == 0)
                return true;
        size_t n = strlen(s->host), k = strlen(d->host);
        return s->wildcard && !d->is_address && k > n && d->host[k - n - 1] == '.' &&
               strcmp(d->host + k - n, s->host) == 0;
}

static bool url_covers(const struct net_dest *s, const struct net_dest *d)
{
        if (s->form == NET_HOST_PORT)
                return true;
        if (d->form == NET_HOST_PORT || s->tls != d->tls)
                return false;
        if (s->path_tail)
                return strncmp(s->path, d->path, strlen(s->path)) == 0;
        return !d->path_tail && strcmp(s->path, d->path) == 0;
}

static bool cap_covers(uint64_t s, uint64_t d) { return s == 0 || (d != 0 && d <= s); }

static bool net_covers(const struct door *a, const struct door *b, const char *method)
{
        const struct net_dest *s = &a->net, *d = &b->net;
        bool listed = !s->methods && net_method_unnamed(method);
        for (char **m = s->methods; method && m && *m; m++)
                listed = listed || strcmp(*m, method) == 0;
        bool credential = !d->credential || (s->credential && strcmp(s->credential, d->credential) == 0);
        return listed && credential && (s->form == NET_PLACE) == (d->form == NET_PLACE) &&
               host_covers(s, d) && s->port == d->port && url_covers(s, d) &&
               cap_covers(s->cap_bytes, d->cap_bytes) && cap_covers(s->cap_per_hour, d->cap_per_hour);
}

/* NULL asks for every method at once. */
static bool cover_method(const struct door_set *s, const struct door *d, const struct door *skip,
                         const char *method)
{
        for (size_t i = s->start[DOOR_NET]; i < s->start[DOOR_NET + 1]; i++)
                if (&s->v[i] != skip && lasts(&s->v[i], d->until) && net_covers(&s->v[i], d, method))
                        return true;
        return false;
}

static bool cover_net(const struct door_set *s, const struct door *d, const struct door *skip)
{
        if (!d->net.methods)
                return cover_method(s, d, skip, NULL);
        for (char **m = d->net.methods; *m; m++)
                if (!cover_method(s, d, skip, *m))
                        return false;
        return true;
}

/* ---- the rest ---- */

static bool simple_covers(const struct door *s, const struct door *d)
{
        if (strcmp(door_key(s), door_key(d)) != 0)
                return false;
        if (d->kind == DOOR_ENV)
                return s->value && d->value ? strcmp(s->value, d->value) == 0 : s->value == d->value;
        return s->max >= d->max && (s->type == d->type || s->type == HANDLE_BINARY);
}

bool cover_door(const struct checked_policy *c, const struct door *d, const struct door *skip)
{
        const struct door_set *s = &c->live;
        if (d->kind == DOOR_READ || d->kind == DOOR_EDIT || d->kind == DOOR_WRITE)
                return cover_file(s, d, skip);
        if (d->kind == DOOR_NET)
                return cover_net(s, d, skip);
        for (size_t i = s->start[d->kind]; i < s->start[d->kind + 1]; i++) {
                const struct door *x = &s->v[i];
                if (x != skip && lasts(x, d->until) &&
                    (d->kind == DOOR_RUN ? run_covers(c, x, d) : simple_covers(x, d)))
                        return true;
        }
        return false;
}
