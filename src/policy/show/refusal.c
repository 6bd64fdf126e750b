/* SPDX-License-Identifier: MIT */
/* policy/show/refusal.c - what a program inside a box sees of a denied effect, and the layer that denies
 * it. Pure: facts about the host are in struct refusal_facts. tests/cli/t1002-why-probes.sh compares with
 * real boxes, with each layer left out in turn. */
#include "policy/internal.h"

struct question {
        const struct checked_policy *c;
        const struct effect *f;
        const struct decision *d;
        const struct refusal_facts *facts;
};

static const struct refusal hidden = { { "mount", "landlock" }, "ENOENT", NULL, NULL };
static const struct refusal hidden_directory = { { "mount" }, "ENOENT", NULL, NULL }; /* Landlock lists all */
static const struct refusal below_mask = { { "mount" }, "ENOENT", NULL, NULL };
static const struct refusal no_file_here = { { "mount", "landlock" }, "EROFS", NULL, NULL };
static const struct refusal empty_place = { { "mount" }, "empty", NULL, NULL };
static const struct refusal read_only = {
        { "mount", "landlock" }, "EROFS", "EACCES", "the file's mode denies it first"
};
static const struct refusal not_run = { { "mount", "landlock" }, "EACCES", NULL, NULL };
static const struct refusal not_run_stock = { { "landlock" }, "EACCES", NULL, NULL };
static const struct refusal masked_run = { { "mount" }, "EACCES", NULL, NULL };
static const struct refusal no_family = { { "seccomp", "net", "landlock" }, "EAFNOSUPPORT", NULL, NULL };
static const struct refusal own_loopback = { { "net" }, "ECONNREFUSED", NULL, NULL };
static const struct refusal no_route = { { "net" }, "ENETUNREACH", NULL, NULL };
static const struct refusal no_resolver = { { "net" }, "EAI_AGAIN", NULL, NULL };
static const struct refusal no_sockets = { { "seccomp" }, "EAFNOSUPPORT", NULL, NULL };
static const struct refusal no_sockets_nor_file = { { "seccomp", "mount" }, "EAFNOSUPPORT", NULL, NULL };
static const struct refusal not_ours = { { "seccomp" }, "EACCES", NULL, NULL };
static const struct refusal no_socket_nor_way = { { "mount", "seccomp" }, "ENOENT", NULL, NULL };
static const struct refusal no_socket_here = { { "mount" }, "ENOENT", NULL, NULL };
static const struct refusal no_port = { { "egress" }, "ECONNREFUSED", NULL, NULL };
static const struct refusal no_name = { { "egress" }, "NXDOMAIN", NULL, NULL };
static const struct refusal no_request = { { "egress" }, "403", NULL, NULL };
static const struct refusal not_passed = { { "environment" }, "unset", NULL, NULL };
static const struct refusal not_called = { { "mcp" }, "isError", NULL, NULL };
static const struct refusal no_agent = { { "signer" }, "refused", NULL, NULL };
static const struct refusal by_landlock = {
        { "landlock" }, "EACCES", "ENOENT", "the file does not exist: the process wall hides no names"
};

static const struct refusal no_preopen = { { "wasi", "mount", "landlock" }, "ENOTCAPABLE", NULL, NULL };
static const struct refusal not_writable = { { "wasi", "mount", "landlock" }, "EROFS", NULL, NULL };
static const struct refusal no_call = { { "wasi", "seccomp" }, "no such call", NULL, NULL };

static struct decision sees_path(const struct question *q, const char *path)
{
        struct effect f = { .kind = EFFECT_READ, .target = path };
        return policy_decide(q->c, &f);
}

static bool opens_path(const struct question *q, const struct door *d)
{
        return !d->optional || !q->facts->look || q->facts->look(d->path) != REFUSAL_NOTHING;
}

/* Is `path` a directory that only leads to an entry that the box has? */
static bool leads_somewhere(const struct question *q, const char *path)
{
        size_t count;
        const struct builtin_file *b = builtin_files(&count);
        if (strcmp(path, "/") == 0)
                return true;

        for (size_t i = 0; i < count; i++)
                if (!(b[i].local & ~q->c->local) && path_inside(path, b[i].path))
                        return true;

        if (strcmp(path, "/etc") == 0)
                return true; /* passwd and group of the box's own */

        for (size_t i = q->c->live.start[DOOR_READ]; i < q->c->live.start[DOOR_RUN + 1]; i++) {
                const struct door *d = &q->c->live.v[i];
                if (d->path[0] == '/' && path_inside(path, d->path) && opens_path(q, d))
                        return true;
        }

        return false;
}

static bool is_own_file(const char *path)
{
        return strcmp(path, "/etc/passwd") == 0 || strcmp(path, "/etc/group") == 0;
}

/* Under an `except`: 0 no, 1 exactly its path, 2 below that. */
static int excepted_depth(const struct decision *d, const char *path)
{
        if (d->reason != REASON_EXCEPTED || !d->nearest || d->nearest->kind != DOOR_READ)
                return 0;
        for (char **x = d->nearest->except; x && *x; x++)
                if (strcmp(*x, path) == 0)
                        return 1;
        return 2;
}

/* Everything below a directory of the box's own has its rights. */
static bool is_below_own(const char *path)
{
        size_t count;
        const struct builtin_file *b = builtin_files(&count);
        for (size_t i = 0; i < count; i++)
                if (b[i].tree && b[i].writable && path_inside(b[i].path, path))
                        return true;
        return false;
}

/* Paths below an `except` have no Landlock right; directories can be listed without one. */
static struct refusal excepted_by(const struct question *q, struct refusal r)
{
        bool listed = q->facts->look && q->facts->look(q->f->target) == REFUSAL_DIRECTORY;
        if (!listed && !is_below_own(q->f->target))
                r.layers[1] = "landlock";
        return r;
}

static struct refusal refuse_read(const struct question *q)
{
        int depth = excepted_depth(q->d, q->f->target);
        if (depth)
                return excepted_by(q, depth == 1 ? empty_place : below_mask);
        if (is_own_file(q->f->target) || leads_somewhere(q, q->f->target))
                return empty_place;
        return q->facts->look && q->facts->look(q->f->target) == REFUSAL_DIRECTORY ? hidden_directory
                                                                                   : hidden;
}

static struct refusal refuse_write(const struct question *q)
{
        char parent[PATH_MAX_BYTES];
        const char *path = q->f->target, *slash = strrchr(path, '/');
        size_t n = slash > path ? (size_t) (slash - path) : 1;
        memcpy(parent, path, n);
        parent[n] = '\0';

        /* A cover is an empty file or directory of the box's own, on a read-only mount. */
        int depth = excepted_depth(q->d, path);
        if (depth)
                return depth == 1 || excepted_depth(q->d, parent) == 1 ? no_file_here : hidden;

        if (q->d->reason == REASON_READ_ONLY || is_own_file(path) ||
            sees_path(q, path).answer == ANSWER_ALLOW)
                return read_only;

        if (leads_somewhere(q, path))
                return no_file_here;

        return leads_somewhere(q, parent) ? no_file_here : hidden;
}

static struct refusal refuse_visible(const struct decision *seen)
{
        return seen->door && policy_shows_libraries(seen->door) ? not_run_stock : not_run;
}

static struct refusal refuse_run(const struct question *q)
{
        size_t count;
        const char *const *dirs = builtin_bin_dirs(&count);
        if (q->d->reason == REASON_NOT_RUN && !q->d->nearest && policy_root(q->c))
                return not_run_stock; /* of the image: its mount lets programs run */

        if (q->f->target[0] == '/') {
                struct decision seen = sees_path(q, q->f->target);
                int depth = excepted_depth(&seen, q->f->target);
                if (depth)
                        return excepted_by(q, depth == 1 ? masked_run : below_mask);
                return seen.answer == ANSWER_ALLOW ? refuse_visible(&seen) : hidden;
        }

        for (size_t i = 0; i < count; i++) {
                char path[PATH_MAX_BYTES];
                (void) stpcpy(stpcpy(stpcpy(path, dirs[i]), "/"),
                              q->f->target); /* a bare name has at most 255 bytes */
                bool there = !q->facts->look || q->facts->look(path) != REFUSAL_NOTHING;
                struct decision seen = there ? sees_path(q, path) : (struct decision){ 0 };
                if (seen.answer == ANSWER_ALLOW)
                        return refuse_visible(&seen);
        }

        return hidden;
}

static bool has_net(const struct checked_policy *c)
{
        return c->live.start[DOOR_NET] < c->live.start[DOOR_NET + 1];
}

/* The box has only its own loopback: the same port of the host is unreachable. */
static struct refusal refuse_beyond_loopback(const struct question *q)
{
        const char *host = q->f->net->host;
        if (!q->f->net->is_address)
                return strcmp(host, "localhost") == 0 ? own_loopback : no_resolver;
        return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ? own_loopback : no_route;
}

/* A net door brings a broker: names without a door do not exist, ports without a door are closed, and an
 * invalid request gets an HTTP answer. */
/* With both local sockets and a directory of the host, cordon connects for the box, and only by sockets of
 * its own network. */
static bool is_served(const struct question *q)
{
        if (!policy_makes_sockets(q->c))
                return false;

        for (size_t i = q->c->live.start[DOOR_READ]; i < q->c->live.start[DOOR_RUN + 1]; i++) {
                const struct door *d = &q->c->live.v[i];
                if (!d->from_stock && q->facts->look && q->facts->look(d->path) == REFUSAL_DIRECTORY)
                        return true;
        }

        return false;
}

static struct refusal behind_connector(const struct question *q, struct refusal r)
{
        if (is_served(q))
                r.layers[1] = "seccomp";
        return r;
}

static struct refusal refuse_net(const struct question *q)
{
        if (!has_net(q->c) && q->c->local & LOCAL_LOOPBACK && wall_has(q->facts->wall, WALL_OWN_ROOT))
                return behind_connector(q, refuse_beyond_loopback(q));

        if (!has_net(q->c))
                return no_family;

        if (q->d->reason == REASON_METHOD || q->d->reason == REASON_URL_PATH ||
            q->d->reason == REASON_PARAMETER)
                return no_request;

        bool named = q->d->reason == REASON_PORT || q->d->reason == REASON_SCHEME || q->f->net->is_address;
        return named ? no_port : no_name;
}

static struct refusal refuse_sock(const struct question *q)
{
        bool seen = sees_path(q, q->f->target).answer == ANSWER_ALLOW;
        if (!policy_makes_sockets(q->c))
                return seen ? no_sockets : no_sockets_nor_file;
        if (seen)
                return not_ours;
        return is_served(q) ? no_socket_nor_way : no_socket_here;
}

static struct refusal in_namespaces(const struct question *q)
{
        static struct refusal (*const looks[EFFECT_KIND__COUNT])(const struct question *) = {
                [EFFECT_READ] = refuse_read, [EFFECT_WRITE] = refuse_write, [EFFECT_RUN] = refuse_run,
                [EFFECT_NET] = refuse_net,   [EFFECT_SOCK] = refuse_sock,
        };
        enum effect_kind kind = q->f->kind;
        return looks[kind]                                     ? looks[kind](q)
               : kind == EFFECT_ENV                            ? not_passed
               : kind == EFFECT_TOOL                           ? not_called
               : kind == EFFECT_SIGN || kind == EFFECT_DECRYPT ? no_agent
                                                               : hidden;
}

/* It has no view of its own, and cannot create Unix sockets. */
static struct refusal in_process(const struct question *q)
{
        struct refusal r = q->f->kind == EFFECT_SOCK ? no_sockets
                           : q->f->kind == EFFECT_ENV || q->f->kind == EFFECT_NET || q->f->kind == EFFECT_TOOL
                                   ? in_namespaces(q)
                                   : by_landlock;
        if (q->f->kind == EFFECT_NET && strcmp(r.layers[0], "seccomp") == 0)
                r = (struct refusal){ { "seccomp", "landlock" }, r.answer, NULL, NULL };
        return r;
}

/* A module calls functions of WASI and nothing else: they answer before the box around the engine does. */
static struct refusal in_module(const struct question *q)
{
        if (q->f->kind == EFFECT_ENV)
                return not_passed;
        if (q->f->kind != EFFECT_READ && q->f->kind != EFFECT_WRITE)
                return no_call;

        return q->d->reason == REASON_READ_ONLY ? not_writable : no_preopen;
}

static void leave_out(struct refusal *r, const char *layer)
{
        size_t n = 0;
        for (size_t i = 0; i < COUNT(r->layers) && r->layers[i]; i++)
                if (strcmp(r->layers[i], layer) != 0)
                        r->layers[n++] = r->layers[i];
        while (n < COUNT(r->layers))
                r->layers[n++] = NULL;
}

struct refusal policy_refusal(const struct checked_policy *c, const struct effect *f,
                              const struct decision *d, const struct refusal_facts *facts)
{
        struct question q = { c, f, d, facts };
        struct refusal r = !wall_has(facts->wall, WALL_PROGRAMS)   ? in_module(&q)
                           : !wall_has(facts->wall, WALL_OWN_ROOT) ? in_process(&q)
                                                                   : in_namespaces(&q);
        if (c->without & WITHOUT_LANDLOCK)
                leave_out(&r, "landlock");
        return r;
}
