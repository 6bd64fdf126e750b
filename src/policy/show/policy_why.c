/* SPDX-License-Identifier: MIT */
/* policy/show/policy_why.c - why an effect is denied: the smallest line that would permit it, the cost of
 * that line, the nearest door and the difference. refusal.c describes what a program inside sees of it. */
#include "policy/internal.h"

/* The powers that the door of each kind of effect gives a hostile payload: before and after the target's
 * name. */
static const struct {
        const char *cost, *after;
} openings[] = {
        [EFFECT_READ] = { "A hostile guest could read everything at and below ", "" },
        [EFFECT_WRITE] = { "A hostile guest could read ",
                           " and change, add or delete anything at and below it, in a private overlay that "
                           "reaches the host only when a person applies it" },
        [EFFECT_RUN] = { "A hostile guest could start ", " with any arguments" },
        [EFFECT_NET] = { "A hostile guest could send anything it can read to ",
                         " and take whatever comes back" },
        [EFFECT_ENV] = { "A hostile guest could read the value of ", "" },
        [EFFECT_SOCK] = { "A hostile guest could ask the program behind ", " for anything it does for you" },
        [EFFECT_SIGN] = { "A hostile guest could sign anything as you with ",
                          ": commits, and logins where that key is accepted" },
        [EFFECT_DECRYPT] = { "A hostile guest could read whatever it has that was encrypted to ", "" },
        [EFFECT_DEV] = { "A hostile guest could use ", ": " },
        [EFFECT_TOOL] = { "A client could call the tool ", " of the server in the box, with any arguments" },
        [EFFECT_KIND__COUNT] = { NULL, NULL },
};

/* A value out of bounds is permitted by wider bounds. For an ambiguous request only a door without bounds
 * would do: that is not a sensible next step, and is not suggested. Where the nearest door asks, so does the
 * line. */
static void line_with_bounds(const struct effect *f, const struct decision *d, struct buf *out)
{
        AUTO_BUF(rest);
        if (d->reason == REASON_PARAMETER && !bounds_widened(&d->nearest->net, f->params, &rest))
                return;

        if (d->nearest)
                ask_show(&d->nearest->ask, &rest);

        if (f->kind == EFFECT_TOOL) {
                buf_puts(out, "tool ");
                show_token(out, f->target);
        } else {
                buf_puts(out, "net ");
                net_print(f->net, out);
        }

        if (f->method)
                buf_printf(out, " %s", f->method);
        buf_puts(out, buf_str(&rest));
        out->failed = out->failed || rest.failed;
}

/* The root directory, files that only the kernel writes, and devices: a plan accepts none as a door. */
static bool no_line_can(const struct effect *f)
{
        if (!f->target || (f->kind == EFFECT_WRITE && policy_is_kernels(f->target)))
                return f->target != NULL;
        return strcmp(f->target, "/") == 0 || (f->kind == EFFECT_READ && strncmp(f->target, "/dev/", 5) == 0);
}

/* A GPU's driver is of use with all of its nodes only. */
static bool is_gpu(const struct effect *f)
{
        bool opens = f->kind == EFFECT_READ || f->kind == EFFECT_WRITE || f->kind == EFFECT_DEV;
        return opens && f->target && policy_gpu_covers("/dev/gpu", f->target);
}

/* Writes nothing if no line can permit it, also for parameters that could be read in two ways. */
void policy_smallest_line(const struct effect *f, const struct decision *d, struct buf *out)
{
        if (d->answer != ANSWER_ALLOW && is_gpu(f))
                buf_puts(out, "gpu");
        if (d->answer == ANSWER_ALLOW || is_gpu(f) || no_line_can(f))
                return;

        enum door_kind door = builtin_door_of(f->kind);
        bool excepted = door == DOOR_TOOL && d->reason == REASON_EXCEPTED; /* a `deny` line takes it out */
        if (door == DOOR_NONE || excepted)
                return;

        if (door == DOOR_NET || door == DOOR_TOOL) {
                line_with_bounds(f, d, out);
                return;
        }

        buf_printf(out, "%s ", policy_door_word(door));
        show_token(out, f->target);
}

/* The data that a line exposes besides the named path, judged by the name. */
static void secret_cost(const struct effect *f, struct buf *out)
{
        static const struct {
                enum effect_reason reason;
                const char *what;
        } costs[] = {
                { REASON_KEYS, "Keys are usually stored there" },
                { REASON_TOKENS, "Tokens or passwords of a service are usually stored there" },
                { REASON_PASSWORDS, "Passwords and private data of a person are stored there" },
                { REASON_HISTORY, "What a person typed is stored there" },
                { REASON_AGENT, "A process that talks to it acts for its owner" },
                { REASON_HOST_FILES, "It reveals this host and its users" },
                { REASON_KERNEL, "It is a kernel interface" },
        };

        bool file = f->kind == EFFECT_READ || f->kind == EFFECT_WRITE || f->kind == EFFECT_SOCK;
        enum effect_reason secret = file && f->target ? policy_secret_reason(f->target) : REASON_NONE;
        if (file && f->target && !secret && policy_is_start(f->target, f->kind == EFFECT_WRITE))
                buf_puts(out, " This host runs such files by itself.");

        for (size_t i = 0; i < COUNT(costs); i++)
                if (costs[i].reason == secret)
                        buf_printf(out, " %s.", costs[i].what);
}

void policy_line_cost(const struct effect *f, struct buf *out)
{
        if (builtin_door_of(f->kind) == DOOR_NONE)
                return;

        buf_puts(out, openings[f->kind].cost);
        if (f->kind == EFFECT_NET)
                net_print(f->net, out);
        else
                buf_puts(out, f->target);

        buf_puts(out, openings[f->kind].after);
        if (f->kind == EFFECT_DEV)
                buf_puts(out, policy_dev_cost(f->target));

        buf_putc(out, '.');
        secret_cost(f, out);
}

void policy_net_scope(const struct door *d, struct buf *out)
{
        struct door plain = { .kind = DOOR_NET, .net = d->net };
        AUTO_BUF(line);
        plain.net.credential = NULL;
        memset(plain.net.cap, 0, sizeof plain.net.cap);
        plain.net.reach = plain.net.touches = 0;
        show_door(&plain, &line);
        out->failed = out->failed || line.failed;
        buf_printf(out, "%s\n", buf_str(&line) + strlen("net "));
}

/* ---- the nearest door, if the decision names none ---- */

static size_t shared_components(const char *a, const char *b)
{
        size_t n = 0, i = 0;
        for (; a[i] && a[i] == b[i]; i++)
                n += a[i] == '/' && i > 0;
        bool ends = (!a[i] || a[i] == '/') && (!b[i] || b[i] == '/');
        return n + (ends && i > 1);
}

/* Two components or more in common: a door of /srv is not near /srv2, and all paths share the root. */
static const struct door *near_path(const struct checked_policy *c, const char *path)
{
        const struct door *best = NULL;
        size_t most = 1;
        for (size_t i = c->live.start[DOOR_READ]; i < c->live.start[DOOR_WRITE + 1]; i++) {
                const struct door *d = &c->live.v[i];
                size_t n = d->from_stock ? 0 : shared_components(d->path, path);
                if (n > most) {
                        most = n;
                        best = d;
                }
        }

        return best;
}

static bool same_parent(const char *a, const char *b)
{
        const char *x = strchr(a, '.'), *y = strchr(b, '.');
        return x && y && strchr(x + 1, '.') && strcmp(x, y) == 0;
}

static const struct door *near_name(const struct checked_policy *c, enum door_kind kind, const char *name)
{
        const struct door *best = NULL;
        unsigned least = 3;
        for (size_t i = c->live.start[kind]; i < c->live.start[kind + 1]; i++) {
                const struct door *d = &c->live.v[i];
                unsigned far = d->from_stock ? least : str_distance(door_key(d), name);
                if (kind == DOOR_NET && far >= least && same_parent(d->net.host, name))
                        far = least - 1;
                if (far < least) {
                        least = far;
                        best = d;
                }
        }

        return best;
}

const struct door *policy_nearest(const struct checked_policy *c, const struct effect *f,
                                  const struct decision *d)
{
        if (d->answer == ANSWER_ALLOW || d->nearest || d->reason == REASON_READ_ONLY)
                return d->nearest;

        enum door_kind door = builtin_door_of(f->kind);
        if (door == DOOR_READ || door == DOOR_EDIT)
                return near_path(c, f->target);

        return door == DOOR_NONE ? NULL : near_name(c, door, door == DOOR_NET ? f->net->host : f->target);
}

/* ---- the difference ---- */

static void methods_text(const struct net_dest *n, struct buf *out)
{
        for (char **m = n->methods; m && *m; m++)
                buf_printf(out, "%s%s", m == n->methods ? "" : " ", *m);
}

static void net_difference(const struct effect *f, const struct decision *d, struct buf *out)
{
        if (!d->nearest)
                return;

        const struct net_dest *n = &d->nearest->net;
        if (d->reason == REASON_PORT)
                buf_printf(out, "the door has port %u, not %u", n->port, f->net->port);
        else if (d->reason == REASON_SCHEME)
                buf_printf(out, "the door is %s, not %s", n->tls ? "https" : "http",
                           f->net->tls ? "https" : "http");
        else if (d->reason == REASON_URL_PATH)
                buf_printf(out, "the door covers %s%s, not %s", n->path ? n->path : "no path",
                           n->path_tail ? "**" : "", f->net->path ? f->net->path : "every path at once");
        else if (d->reason == REASON_METHOD && !n->methods)
                buf_printf(out, "the door permits all methods but %s", f->method ? f->method : "some");
        else if (d->reason == REASON_METHOD) {
                buf_puts(out, "the door permits ");
                methods_text(n, out);
                buf_printf(out, ", not %s", f->method ? f->method : "every method");
        }
}

void policy_difference(const struct checked_policy *c, const struct effect *f, const struct decision *d,
                       struct buf *out)
{
        static const char *const plain[REASON_DECIDED__LAST + 1] = {
                [REASON_READ_ONLY] = "the door lets it be read, not changed",
                [REASON_EXCEPTED] = "the door's own `except` takes it out",
                [REASON_NOT_RUN] = "it can be seen, but no `run` line names it",
                [REASON_WRITABLE] = "the box can write it, and what a box can write it cannot run",
        };

        char date[32];
        const struct door *near = policy_nearest(c, f, d);
        if (d->reason == REASON_NO_DOOR)
                buf_puts(out, near ? "the door is another" : "no door covers it");
        else if (d->reason == REASON_HOST)
                buf_printf(out, near ? "the door names the host %s" : "no door names the host",
                           near ? near->net.host : "");
        else if (d->reason == REASON_READ_ONLY && !near)
                buf_puts(out, "it is read-only in every box");
        else if (d->reason <= REASON_DECIDED__LAST && plain[d->reason])
                buf_puts(out, plain[d->reason]);
        else if (d->reason == REASON_PARAMETER)
                policy_bound_fault(d->nearest, f, out);
        else if (d->reason == REASON_EXPIRED && near)
                buf_printf(out, "the door closed on %s", date_print(near->until, date));
        else
                net_difference(f, d, out);
}
