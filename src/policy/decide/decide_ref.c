/* SPDX-License-Identifier: MIT */
/* policy/decide/decide_ref.c - the reference evaluator: one plain loop over all doors for each question,
 * straight from the definition (the comment on top of decide.c). Slow and obvious on purpose; shares nothing
 * with decide.c but the facts of builtin.c, not even the test whether a path lies in a directory. */
#include "policy/internal.h"

#include <stdlib.h>

/* Component by component: is every component of `dir` the same in `path`? */
static bool below_or_same(const char *dir, const char *path)
{
        while (*dir) {
                size_t a, b;
                dir += strspn(dir, "/");
                path += strspn(path, "/");
                a = strcspn(dir, "/");
                b = strcspn(path, "/");
                if (a == 0)
                        return true;
                if (a != b || strncmp(dir, path, a) != 0)
                        return false;
                dir += a;
                path += b;
        }

        return true;
}

static bool except_hits(const struct door *d, const char *path)
{
        if (d->except)
                for (size_t i = 0; d->except[i]; i++)
                        if (below_or_same(d->except[i], path))
                                return true;
        return false;
}

enum power { POWER_READ, POWER_WRITE, POWER_NO_READ, POWER_NO_WRITE };

/* Does this door have this relation to the path? */
static bool file_relation(const struct door *d, const char *path, enum power p)
{
        if (d->kind != DOOR_READ && d->kind != DOOR_EDIT && d->kind != DOOR_WRITE)
                return false;

        if (!below_or_same(d->path, path))
                return false;

        bool hit = except_hits(d, path);
        switch (p) {
        case POWER_READ:
                return d->kind != DOOR_READ || !hit;
        case POWER_WRITE:
                return d->kind == DOOR_WRITE || (d->kind == DOOR_EDIT && !hit);
        case POWER_NO_READ:
                return d->kind == DOOR_READ && hit;
        case POWER_NO_WRITE:
                return d->kind == DOOR_EDIT && hit;
        }
        return false;
}

/* The deepest such door (the first of equals) at or below `floor`. */
static const struct door *file_door(const struct door_set *s, const char *path, enum power p,
                                    const char *floor)
{
        const struct door *best = NULL;
        for (size_t i = 0; i < s->n; i++) {
                const struct door *d = &s->v[i];
                if (!file_relation(d, path, p) || (floor && !below_or_same(floor, d->path)))
                        continue;
                if (!best || strlen(d->path) > strlen(best->path))
                        best = d;
        }

        return best;
}

static const struct builtin_file *file_builtin(const struct checked_policy *c, const char *path)
{
        bool of_host =
                (c->home[0] && below_or_same(c->home, path)) || (c->work[0] && below_or_same(c->work, path));
        size_t count;
        const struct builtin_file *all = builtin_files(&count);
        const struct builtin_file *hit = NULL;

        for (size_t i = count; i > 0; i--) {
                const struct builtin_file *b = &all[i - 1];
                if (!wall_has(c->wall, WALL_OWN_ROOT) && !b->process)
                        continue;
                if (b->local && !(c->local & b->local))
                        continue;
                if (strcmp(b->path, path) == 0 || (b->tree && below_or_same(b->path, path)))
                        hit = b;
        }

        return of_host ? NULL : hit;
}

static const struct door *program_door(const struct door_set *s, const char *program, bool writable);

/* A live door allows the effect; one that only an expired door covers is denied for that reason. */
static struct decision ref_answer(const struct door *live, const struct door *expired)
{
        if (live)
                return (struct decision){ .answer = ANSWER_ALLOW, .door = live };

        return (struct decision){ .reason = expired ? REASON_EXPIRED : REASON_NO_DOOR, .nearest = expired };
}

static struct decision ref_file(const struct checked_policy *c, const char *path, bool writing,
                                bool with_closed)
{
        const struct builtin_file *b = file_builtin(c, path);
        const char *floor = b ? b->path : NULL;
        const struct door *can_read = file_door(&c->live, path, POWER_READ, floor);
        const struct door *can_write = file_door(&c->live, path, POWER_WRITE, floor);
        const struct door *not_read = file_door(&c->live, path, POWER_NO_READ, floor);
        const struct door *not_write = file_door(&c->live, path, POWER_NO_WRITE, floor);
        const struct door *expired = file_door(&c->closed, path, writing ? POWER_WRITE : POWER_READ, NULL);
        const struct door *opens = writing ? can_write : can_read;
        bool own = b && !can_read && !can_write && !not_read && !not_write;
        if (own && (b->writable || !writing))
                return (struct decision){ .answer = ANSWER_ALLOW, .built_in = b->name };

        struct decision d = ref_answer(opens || writing ? opens : program_door(&c->live, path, false),
                                       !with_closed         ? NULL
                                       : expired || writing ? expired
                                                            : program_door(&c->closed, path, false));
        if (d.reason != REASON_NO_DOOR)
                return d;

        if (own)
                d.reason = REASON_READ_ONLY;
        else if (writing && not_write)
                d = (struct decision){ .reason = REASON_EXCEPTED, .nearest = not_write };
        else if (writing && can_read)
                d = (struct decision){ .reason = REASON_READ_ONLY, .nearest = can_read };
        else if (not_read)
                d = (struct decision){ .reason = REASON_EXCEPTED, .nearest = not_read };

        return d;
}

/* ---- programs ---- */

/* "/usr/bin/git" against the list of directories: "git", or NULL if it is in none of them. */
static const char *short_name(const char *path)
{
        size_t count;
        const char *const *dirs = builtin_bin_dirs(&count);
        for (size_t i = 0; i < count; i++) {
                size_t n = strlen(dirs[i]);
                if (strncmp(dirs[i], path, n) == 0 && path[n] == '/' && !strchr(path + n + 1, '/'))
                        return path + n + 1;
        }

        return NULL;
}

static bool tree_holds_a_bin_dir(const char *tree)
{
        size_t count;
        const char *const *dirs = builtin_bin_dirs(&count);
        for (size_t i = 0; i < count; i++)
                if (below_or_same(tree, dirs[i]))
                        return true;
        return false;
}

static bool names_program(const struct door *d, const char *program)
{
        if (d->kind != DOOR_RUN || strcmp(d->path, "*") == 0 || strcmp(program, "*") == 0)
                return false;

        bool door_tree = d->path[0] == '/' && d->path[strlen(d->path) - 1] == '/';
        bool program_bare = program[0] != '/';
        if (door_tree && program_bare)
                return tree_holds_a_bin_dir(d->path);

        if (door_tree)
                return strncmp(d->path, program, strlen(d->path)) == 0;

        if (strcmp(d->path, program) == 0)
                return true;

        const char *a = d->path[0] == '/' ? short_name(d->path) : d->path;
        const char *b = program_bare ? program : short_name(program);

        /* Two full paths in different directories are two programs, even with equal names. */
        return a && b && (d->path[0] != '/' || program_bare) && strcmp(a, b) == 0;
}

/* The first line that names this program, in any form. A stock policy's line never names a file that the
 * box can write. */
static const struct door *program_door(const struct door_set *s, const char *program, bool writable)
{
        for (size_t i = 0; i < s->n; i++)
                if (names_program(&s->v[i], program) && !(writable && s->v[i].from_stock))
                        return &s->v[i];
        return NULL;
}

static const struct door *ref_run_door(const struct checked_policy *c, const struct door_set *s,
                                       const char *program)
{
        bool writable = program[0] == '/' && ref_file(c, program, true, false).answer == ANSWER_ALLOW;
        const struct door *any = NULL, *named = program_door(s, program, writable);
        for (size_t i = 0; i < s->n && !any; i++)
                if (s->v[i].kind == DOOR_RUN && strcmp(s->v[i].path, "*") == 0)
                        any = &s->v[i];

        if (named)
                return named;

        if (program[0] != '/')
                return any;

        bool visible = short_name(program) || ref_file(c, program, false, false).answer == ANSWER_ALLOW;
        return visible ? any : NULL;
}

static struct decision ref_run(const struct checked_policy *c, const char *program)
{
        struct decision d =
                ref_answer(ref_run_door(c, &c->live, program), ref_run_door(c, &c->closed, program));
        if (d.reason != REASON_NO_DOOR || program[0] != '/')
                return d;

        struct decision w = ref_file(c, program, true, false), r = ref_file(c, program, false, false);
        if (w.answer == ANSWER_ALLOW)
                return (struct decision){ .reason = REASON_WRITABLE, .nearest = w.door };

        return r.answer == ANSWER_ALLOW ? (struct decision){ .reason = REASON_NOT_RUN, .nearest = r.door }
                                        : d;
}

/* ---- network ---- */

static bool host_fits(const struct net_dest *d, const struct net_dest *f)
{
        if ((d->form == NET_PLACE) != (f->form == NET_PLACE))
                return false;

        if (!d->wildcard)
                return strcmp(d->host, f->host) == 0;

        size_t n = strlen(d->host), k = strlen(f->host);
        return !f->is_address && k > n + 1 && f->host[k - n - 1] == '.' &&
               strcmp(f->host + k - n, d->host) == 0;
}

/* Two folded names, with any parts. */
static bool ref_same_letters(const char *a, const char *b)
{
        while (*a == '.')
                a++;

        while (*b == '.')
                b++;

        if (!*a || !*b)
                return *a == *b;

        return *a == *b && ref_same_letters(a + 1, b + 1);
}

static bool ref_below(const char *fold, const char *top)
{
        const char *rest = strstr(fold, top) == fold ? fold + strlen(top) : "";
        return *top && *rest == '.';
}

/* -?(0|[1-9][0-9]*), within 64 bits, between the two. Digit by digit, downward: INT64_MIN has no positive. */
static bool ref_integer(const char *s, int64_t least, int64_t most)
{
        bool minus = *s == '-';
        int64_t v = 0;
        s += minus;
        if (!*s || (*s == '0' && (s[1] || minus)))
                return false;

        for (; *s; s++) {
                if (*s < '0' || *s > '9' || __builtin_mul_overflow(v, 10, &v) ||
                    __builtin_sub_overflow(v, *s - '0', &v))
                        return false;
        }

        if (!minus && v == INT64_MIN)
                return false;

        v = minus ? v : -v;
        return least <= v && v <= most;
}

/* -?(0|[1-9][0-9]{0,10})([.][0-9]{1,4})?, and not minus nothing; between the two, in 1/10000. */
static bool ref_decimal(const char *s, int64_t least, int64_t most)
{
        static const char digits[] = "0123456789";
        bool minus = *s == '-';
        s += minus;
        size_t whole = strspn(s, digits), after = s[whole] == '.' ? strspn(s + whole + 1, digits) : 0;
        const char *end = s + whole + (after ? after + 1 : 0);
        char padded[32];
        if (whole < 1 || whole > 11 || after > 4 || *end || (*s == '0' && whole > 1))
                return false;

        memcpy(padded, s, whole);
        memset(padded + whole, '0', 4);
        memcpy(padded + whole, s + whole + (after ? 1 : 0), after);
        padded[whole + 4] = '\0';
        int64_t v = (int64_t) strtoll(padded, NULL, 10);
        return !(minus && v == 0) && least <= (minus ? -v : v) && (minus ? -v : v) <= most;
}

static bool ref_has_control(const char *s, bool lines)
{
        uint8_t before = 0;
        for (; *s; before = (uint8_t) *s++) {
                uint8_t c = (uint8_t) *s;
                bool parts = c == '\t' || c == '\n' || (c == '\r' && s[1] == '\n');
                if (lines && parts)
                        continue;
                if (c < ' ' || c == 0x7f || (before == 0xc2 && c <= 0x9f))
                        return true;
        }

        return false;
}

static bool ref_value(const struct net_bound *b, const struct param *x)
{
        bool text = x->kind == PARAM_TEXT, string = text || x->kind == PARAM_STRING;
        size_t listed = 0;
        for (size_t i = 0; b->one && b->one[i]; i++)
                listed += strcmp(b->one[i], x->value) == 0;

        switch (b->type) {
        case BOUND_INT:
                return (text || x->kind == PARAM_INT) && ref_integer(x->value, b->least, b->most);
        case BOUND_NUM:
                return (text || x->kind == PARAM_INT || x->kind == PARAM_NUMBER) &&
                       ref_decimal(x->value, b->least, b->most);
        case BOUND_ONE:
                return string && listed == 1;
        case BOUND_TEXT:
        case BOUND_LINES:
                return string && !ref_has_control(x->value, b->type == BOUND_LINES) &&
                       strlen(x->value) <= (uint64_t) b->most;
        case BOUND_BOOL:
                return x->kind == PARAM_BOOL ||
                       (text && (strcmp(x->value, "true") == 0 || strcmp(x->value, "false") == 0));
        case BOUND_NONE:
        case BOUND_ABSENT:
        case BOUND_TYPE__COUNT:
                break;
        }
        return false;
}

/* The number of values that one parameter adds to its bound, or more than any bound permits. */
static unsigned ref_values(const struct net_bound *b, const struct param *x)
{
        enum { TOO_MANY = 1000 };
        unsigned n = 0;
        if (!b->list || x->kind == PARAM_TEXT)
                return ref_value(b, x) ? 1 : TOO_MANY;

        if (x->kind != PARAM_ARRAY)
                return TOO_MANY;

        for (const struct param *item = x->items; item; item = item->next)
                n += ref_value(b, item) ? 1 : TOO_MANY;
        return n;
}

static bool ref_place(const struct net_bound *b, const struct param *x)
{
        return b->place != (x->in_body ? BOUND_IN_QUERY : BOUND_IN_BODY);
}

/* Each parameter is checked: does it belong to a bound, does it resemble one, is it allowed at all? Then
 * each bound: was it present, exactly once? */
static bool ref_params(const struct net_dest *d, const struct params *p)
{
        unsigned seen[BOUNDS_MAX] = { 0 };
        const struct param *one[BOUNDS_MAX] = { NULL };
        bool good = p && !p->unread;
        for (const struct param *x = good ? p->first : NULL; x; x = x->next) {
                bool named = false;
                for (size_t i = 0; i < d->bound_count; i++) {
                        const struct net_bound *b = &d->bounds[i];
                        bool own = !x->odd && strcmp(b->name, x->name) == 0;
                        bool near = ref_same_letters(b->fold, x->fold) || ref_below(b->fold, x->fold) ||
                                    ref_below(x->fold, b->fold);
                        bool again = own && one[i];
                        bool list = b->list && again && x->kind == PARAM_TEXT && one[i]->kind == PARAM_TEXT &&
                                    x->in_body == one[i]->in_body;
                        good = good && (own ? ref_place(b, x) && (!again || list) : !near);
                        seen[i] += own ? ref_values(b, x) : 0;
                        one[i] = own ? x : one[i];
                        named = named || own;
                }
                good = good && (named || x->shadow || !d->only);
        }

        for (size_t i = 0; good && i < d->bound_count; i++)
                good = seen[i] == 0 ? d->bounds[i].optional
                                    : seen[i] <= (d->bounds[i].list ? d->bounds[i].list : 1);

        return good;
}

/* The first mismatch, REASON_NONE if none. */
static enum effect_reason net_gap(const struct net_dest *d, const struct effect *f)
{
        const struct net_dest *n = f->net;
        bool listed = d->methods == NULL && (!f->method || strcmp(f->method, "WEBSOCKET") != 0);
        if (!host_fits(d, n))
                return REASON_HOST;

        if (d->form == NET_URL && n->form == NET_URL && d->tls != n->tls)
                return REASON_SCHEME;

        if (d->form != NET_PLACE && d->port != n->port)
                return REASON_PORT;

        if (d->form == NET_HOST_PORT)
                return REASON_NONE;

        if (n->form == NET_HOST_PORT)
                return REASON_URL_PATH;

        if (strcmp(d->path, n->path) != 0 && !(d->path_tail && strstr(n->path, d->path) == n->path))
                return REASON_URL_PATH;

        for (size_t i = 0; d->methods && d->methods[i]; i++)
                listed = listed || (f->method && strcmp(d->methods[i], f->method) == 0);

        if (!listed)
                return REASON_METHOD;

        return d->bound_count == 0 || ref_params(d, f->params) ? REASON_NONE : REASON_PARAMETER;
}

/* The first net door with this mismatch. */
static const struct door *ref_net_in(const struct door_set *s, const struct effect *f, enum effect_reason gap)
{
        for (size_t i = 0; i < s->n; i++)
                if (s->v[i].kind == DOOR_NET && net_gap(&s->v[i].net, f) == gap)
                        return &s->v[i];
        return NULL;
}

static struct decision ref_net(const struct checked_policy *c, const struct effect *f)
{
        static const enum effect_reason farthest_first[] = { REASON_PARAMETER, REASON_METHOD, REASON_URL_PATH,
                                                             REASON_PORT, REASON_SCHEME };
        struct decision d =
                ref_answer(ref_net_in(&c->live, f, REASON_NONE), ref_net_in(&c->closed, f, REASON_NONE));
        for (size_t g = 0; d.reason == REASON_NO_DOOR && g < COUNT(farthest_first); g++)
                if ((d.nearest = ref_net_in(&c->live, f, farthest_first[g])))
                        d.reason = farthest_first[g];

        if (d.reason == REASON_NO_DOOR && ref_net_in(&c->live, f, REASON_HOST))
                d.reason = REASON_HOST;

        return d;
}

/* ---- variables, sockets, keys and devices ---- */

/* The door of this very name before a `gpu` door, which has many. */
static const struct door *ref_key_in(const struct door_set *s, enum door_kind kind, const char *key)
{
        const struct door *gpu = NULL;
        for (size_t i = 0; i < s->n; i++) {
                if (s->v[i].kind == kind && strcmp(door_key(&s->v[i]), key) == 0)
                        return &s->v[i];
                if (!gpu && s->v[i].kind == kind && kind == DOOR_DEV && policy_gpu_covers(s->v[i].path, key))
                        gpu = &s->v[i];
        }

        return gpu;
}

static struct decision ref_key(const struct checked_policy *c, enum door_kind kind, const char *key)
{
        const struct door *live = ref_key_in(&c->live, kind, key);
        size_t count;
        const char *const *vars = builtin_vars(&count);
        for (size_t i = 0; !live && kind == DOOR_ENV && i < count; i++)
                if (strcmp(vars[i], key) == 0)
                        return (struct decision){ .answer = ANSWER_ALLOW, .built_in = builtin_var_name };

        return ref_answer(live, ref_key_in(&c->closed, kind, key));
}

/* ---- tools ---- */

static bool ref_covers_tool(const struct door *d, const struct effect *f)
{
        return strcmp(d->name, "*") == 0 ||
               (strcmp(d->name, f->target) == 0 && (!d->net.bounds || ref_params(&d->net, f->params)));
}

/* The named doors before `any`, of equals one that does not ask. */
static const struct door *ref_tool_in(const struct door_set *s, const struct effect *f, bool covers)
{
        const struct door *found[4] = { NULL }; /* named, without and with `ask`; `any` */
        for (size_t i = s->n; i-- > 0;) {
                const struct door *d = &s->v[i];
                bool all = d->kind == DOOR_TOOL && strcmp(d->name, "*") == 0;
                if (d->kind == DOOR_TOOL && ref_covers_tool(d, f) == covers &&
                    (all || strcmp(d->name, f->target) == 0))
                        found[2 * all + (covers && d->ask.on)] = d;
        }
        return found[0] ? found[0] : found[1] ? found[1] : found[2] ? found[2] : found[3];
}

static struct decision ref_tool(const struct checked_policy *c, const struct effect *f)
{
        struct decision d = ref_answer(ref_tool_in(&c->live, f, true), ref_tool_in(&c->closed, f, true));
        if (d.reason == REASON_NO_DOOR && (d.nearest = ref_tool_in(&c->live, f, false)))
                d.reason = REASON_PARAMETER;
        return d;
}

struct decision policy_decide_ref(const struct checked_policy *c, const struct effect *f)
{
        enum door_kind kind = builtin_door_of(f->kind);
        if (f->kind == EFFECT_READ || f->kind == EFFECT_WRITE)
                return ref_file(c, f->target, f->kind == EFFECT_WRITE, true);

        return kind == DOOR_RUN    ? ref_run(c, f->target)
               : kind == DOOR_NET  ? ref_net(c, f)
               : kind == DOOR_TOOL ? ref_tool(c, f)
               : kind              ? ref_key(c, kind, f->target)
                                   : (struct decision){ .reason = REASON_NO_DOOR };
}
