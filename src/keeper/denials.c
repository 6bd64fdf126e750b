/* SPDX-License-Identifier: MIT */
/* keeper/denials.c - what the box was refused, in words, with the line that would permit it. A report:
 * nothing here is an input to any wall. Paths come from the payload; the host is asked only whether they
 * exist. */
#include "base/fd.h"
#include "base/listens.h"
#include "base/str.h"
#include "keeper/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
        const char *word;
        enum effect_kind effect;
} tried[] = {
        [TRIED_CALL] = { "call", EFFECT_NONE },    [TRIED_READ] = { "read", EFFECT_READ },
        [TRIED_WRITE] = { "write", EFFECT_WRITE }, [TRIED_RUN] = { "run", EFFECT_RUN },
        [TRIED_SOCK] = { "sock", EFFECT_SOCK },
};
_Static_assert(sizeof tried / sizeof *tried == TRIED__COUNT, "a word for each kind");

/* Where programs look for settings of the system, and go on without them. */
static const char *const minor_roots[] = { "/etc", "/run", "/sys", "/proc", "/var/run" };

/* What the C library and shells look for in every program, whatever it does. */
static const char *const habits[] = {
        "/etc/ld.so.preload",
        "/etc/locale.alias",
        "/etc/nsswitch.conf",
        "/etc/localtime",
        "/etc/gai.conf",
        "/etc/host.conf",
        "/etc/inputrc",
        "/etc/terminfo",
        "/etc/bash.bashrc",
        "/etc/profile",
        "/etc/selinux",
        "/var/run",
        "/proc",
        "/dev/tty", /* bash opens it whenever it starts */
        "/run/nscd",
        "/run/systemd",
        "/sys/devices",
        "/sys/kernel",
        "/sys/fs",
};

/* And what interpreters and tools do, with numbers of versions behind it. */
static const char *const habit_stems[] = {
        "/etc/python", "/etc/perl", "/etc/ruby",   "/etc/gitconfig", "/etc/npmrc",
        "/etc/wgetrc", "/etc/php",  "/etc/curlrc", "/etc/pip.conf",
};

static bool any_begins(const char *const *stems, size_t count, const char *path)
{
        for (size_t i = 0; i < count; i++)
                if (strncmp(path, stems[i], strlen(stems[i])) == 0)
                        return true;
        return false;
}

static bool any_covers(const char *const *roots, size_t count, const char *path)
{
        for (size_t i = 0; i < count; i++)
                if (path_under(path, roots[i]))
                        return true;
        return false;
}

static bool any_equals(const char *const *roots, size_t count, const char *path)
{
        for (size_t i = 0; i < count; i++)
                if (strcmp(path, roots[i]) == 0)
                        return true;
        return false;
}

/* Sockets that the C library and loggers try, and do without. Every other one is somebody's wish. */
static const char *const tried_sockets[] = { "/run/nscd", "/var/run/nscd", "/run/systemd", "/var/run/systemd",
                                             "/dev/log" };

static enum box_weight weight_of(const char *path, enum wall_tried kind)
{
        if (kind == TRIED_SOCK)
                return any_covers(tried_sockets, sizeof tried_sockets / sizeof *tried_sockets, path)
                               ? BOX_HABIT
                               : BOX_PLAIN;

        if (any_covers(habits, sizeof habits / sizeof *habits, path) ||
            any_begins(habit_stems, sizeof habit_stems / sizeof *habit_stems, path))
                return BOX_HABIT;

        bool setting = any_covers(minor_roots, sizeof minor_roots / sizeof *minor_roots, path);
        return setting ? BOX_SETTING : BOX_PLAIN;
}

/* What is not there outside either was not refused, but for a new file in a directory that is there: then
 * the door would be to the directory. Shortens `path` to what a door can name. */
static bool is_on_host(struct box *b, char *path, enum wall_tried kind)
{
        if (outside_has(b, path))
                return true;

        char *slash = strrchr(path, '/');
        if (kind != TRIED_WRITE || !slash || slash == path)
                return false;

        *slash = '\0';
        return outside_has(b, path);
}

static bool is_terminal(const char *path)
{
        return strcmp(path, "/dev/ptmx") == 0 || path_under(path, "/dev/pts");
}

static void fill_permit(const struct box *b, struct box_denial *n, char *path, enum effect_kind kind)
{
        AUTO_BUF(line);
        if (is_terminal(path) && wall_has(b->r.wall, WALL_OWN_ROOT)) { /* a door would be to the host's */
                (void) snprintf(n->reason, sizeof n->reason, "local");
                (void) snprintf(n->permit, sizeof n->permit, "local pty");
                return;
        }

        struct effect f = { .kind = kind, .path = path }, asked = { .kind = kind, .path = n->path };
        struct decision d = policy_decide(b->c.policy, &f);
        const char *never = policy_never_hinted(&asked, b->c.home);
        never = never ? never : policy_never_hinted(&f, b->c.home);
        (void) snprintf(n->reason, sizeof n->reason, "%s", never ? never : policy_gap_name(d.gap));
        if (!never)
                policy_smallest_line(&f, &d, &line);

        if (!line.failed && line.n < sizeof n->permit)
                (void) snprintf(n->permit, sizeof n->permit, "%s", buf_str(&line));
}

/* The command itself, and what a `run` line leads to by a link, have no line of their own and may start. */
static bool is_program_of(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->rule_count; i++)
                if (p->rules[i].rights & RIGHT_EXEC && strcmp(p->rules[i].path, path) == 0)
                        return true;
        return false;
}

static bool has_door(const struct box *b, char *path, enum effect_kind kind)
{
        struct effect f = { .kind = kind, .path = path };
        return policy_decide(b->c.policy, &f).answer == ANSWER_ALLOW;
}

/* The process wall hides no names: what a door shows by a link is there by where the link leads, too. */
static bool has_linked_door(const struct box *b, const char *path, enum effect_kind kind)
{
        for (size_t i = 0; !wall_has(b->r.wall, WALL_OWN_ROOT) && i < b->c.plan->rule_count; i++) {
                const struct plan_rule *r = &b->c.plan->rules[i];
                char named[PATH_MAX_BYTES];
                if (!r->real || !path_under(path, r->real))
                        continue;
                int n = snprintf(named, sizeof named, "%s%s", r->path, path + strlen(r->real));
                if (n > 0 && (size_t) n < sizeof named && has_door(b, named, kind))
                        return true;
        }

        return false;
}

/* Does a door cover it after all? Every program that is started is told of, and most may. */
static bool is_allowed(const struct box *b, char *path, enum effect_kind kind)
{
        return (kind == EFFECT_RUN && is_program_of(b->c.plan, path)) || has_door(b, path, kind) ||
               has_linked_door(b, path, kind);
}

/* A `run DIR/?` that named nothing when the box started opened nothing, also if the box has made it since. */
static bool came_too_late(const struct box *b, const struct wall_denial *start, char *path)
{
        if (!start->inside && wall_has(b->r.wall, WALL_OWN_ROOT))
                return false;

        struct effect f = { .kind = EFFECT_RUN, .path = path };
        struct decision d = policy_decide(b->c.policy, &f);
        for (size_t i = 0; i < b->c.plan->rule_count; i++)
                if (b->c.plan->rules[i].rights & RIGHT_EXEC && path_under(path, b->c.plan->rules[i].path))
                        return false;

        return d.door && d.door->optional;
}

/* One directory of PATH after the other is asked for a program; that the first has none is no news if another
 * does. */
static bool is_found_elsewhere(struct box *b, const char *path)
{
        const char *name = strrchr(path, '/');
        bool asked = false, found = false;
        for (const char *at = BOX_PATH, *end; *at; at = end + (*end == ':')) {
                char other[PATH_MAX_BYTES];
                end = at + strcspn(at, ":");
                asked |= (size_t) (name - path) == (size_t) (end - at) &&
                         strncmp(path, at, (size_t) (end - at)) == 0;
                int n = snprintf(other, sizeof other, "%.*s%s", (int) (end - at), at, name);
                found |= n > 0 && (size_t) n < sizeof other && outside_has(b, other);
        }

        return asked && found;
}

/* Not there for anybody: no door would help. Told apart, so that nobody looks for one. */
static void note_absent(struct box *b, const char *path, enum wall_tried kind)
{
        char shown[sizeof b->r.absent[0]];
        if (kind == TRIED_RUN && is_found_elsewhere(b, path))
                return;

        (void) str_inert(span_str(path), shown, sizeof shown);
        for (unsigned i = 0; i < b->r.absent_count; i++)
                if (strcmp(b->r.absent[i], shown) == 0)
                        return;

        if (b->r.absent_count < ABSENT_MAX && weight_of(path, kind) == BOX_PLAIN)
                memcpy(b->r.absent[b->r.absent_count++], shown, sizeof shown);
}

/* What a box made itself, it cannot start: not because it were not there. No line makes it a program of the
 * host. */
static bool is_own_program(const struct wall_denial *d) { return d->kind == TRIED_RUN && d->inside; }

/* False: nothing was refused. */
static bool describe_path(struct box *b, const struct wall_denial *d, struct box_denial *n)
{
        char path[sizeof d->path];
        enum wall_tried kind = (enum wall_tried) d->kind;
        memcpy(path, d->path, sizeof path);
        path[sizeof path - 1] = '\0';
        if (path[0] != '/')
                return false;

        (void) snprintf(n->path, sizeof n->path, "%s", path);
        n->on_host = is_on_host(b, path, kind);
        if (!n->on_host && !is_own_program(d)) {
                if (kind == TRIED_SOCK && keeper_is_private(path))
                        return false; /* a server of its own that the box looks for */
                note_absent(b, n->path, kind);
                return false;
        }

        /* init asks that itself where it looks at a tree of the box's own. */
        if (!wall_has(b->r.wall, WALL_OWN_ROOT) && wall_denial_makes(d) && strcmp(path, n->path) == 0)
                return false; /* `mkdir -p` heard that it is there, by whatever rule */

        if (kind == TRIED_RUN && outside_is_directory(b, path)) {
                kind = TRIED_READ; /* a link leads through it to the program: it is none itself */
                (void) snprintf(n->code, sizeof n->code, "%s", tried[kind].word);
        }

        bool late = kind == TRIED_RUN && came_too_late(b, d, path);
        if (!late && is_allowed(b, path, tried[kind].effect))
                return false;

        n->weight = weight_of(n->path, kind);
        char shown[sizeof n->what - 16];
        (void) str_inert(span_str(n->path), shown, sizeof shown);
        (void) snprintf(n->what, sizeof n->what, "%s %s", tried[kind].word, shown);
        n->on_host = n->on_host && !late; /* the host has it by now, from this box */
        if (n->on_host &&
            strcmp(shown, n->path) == 0) /* no line can name what has bytes that must not be shown */
                fill_permit(b, n, path, tried[kind].effect);
        else
                (void) snprintf(n->reason, sizeof n->reason, "%s", n->on_host ? "odd-name" : "own-program");

        bool seen = kind == TRIED_SOCK && d->inside; /* who connects for the box did not */
        (void) snprintf(n->layer, sizeof n->layer, "%s",
                        !wall_has(b->r.wall, WALL_OWN_ROOT) ? "landlock"
                        : seen                              ? "seccomp"
                                                            : "mount");
        return true;
}

/* A socket that was refused is an effect of the network, and so is a connection that found nobody: its
 * destination stands where others have a path. */
static void describe_call(const struct box *b, const struct wall_denial *d, struct box_denial *n)
{
        const char *permit = wall_denial_words(d, n->what, sizeof n->what);
        bool net = wall_denial_is_net(d), known = net && d->path[0];
        if (net)
                (void) snprintf(n->code, sizeof n->code, "net");

        if (!known)
                (void) snprintf(n->reason, sizeof n->reason, "%s",
                                net                   ? "socket"
                                : wall_denial_runs(d) ? "not-run"
                                : permit              ? "local"
                                                      : "call");

        if (!net && !wall_has(b->r.wall, WALL_OWN_ROOT) && !wall_denial_runs(d))
                permit = NULL; /* it has nothing of its own */

        if (known)
                (void) snprintf(n->permit, sizeof n->permit, "net %s", d->path);
        else
                (void) snprintf(n->permit, sizeof n->permit, "%s", permit ? permit : "");

        (void) snprintf(n->layer, sizeof n->layer, wall_denial_connects(d) ? "net" : "seccomp");
}

/* Reasons that init gives, as codes. */
static const char *const reasons[WALL_REASON__COUNT] = {
        [REASON_MOVE_SIZE] = "too-large",
        [REASON_MOVE_MOUNT] = "mounted",
        [REASON_MOVE_RIGHTS] = "not-owned",
        [REASON_GROUP] = "group",
};

/* A directory of an edit door that was not renamed, or a file of a group that has no number in the box. No
 * line would help: it is a matter of what lies there. */
static void describe_reason(const struct wall_denial *d, struct box_denial *n)
{
        char shown[sizeof n->what - 16];
        (void) snprintf(n->code, sizeof n->code, d->reason == REASON_GROUP ? "write" : "rename");
        (void) snprintf(n->reason, sizeof n->reason, "%s", reasons[d->reason]);
        (void) snprintf(n->layer, sizeof n->layer, "mount");
        (void) snprintf(n->path, sizeof n->path, "%.*s", (int) sizeof d->path - 1, d->path);
        (void) snprintf(n->what, sizeof n->what, "%s %s", n->code,
                        str_inert(span_str(n->path), shown, sizeof shown));
}

static bool host_listens(const char *to)
{
        const char *colon = strrchr(to, ':');
        AUTO_FD(proc, open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
        return proc >= 0 && colon && listens_on_loopback(proc, (uint16_t) strtoul(colon + 1, NULL, 10));
}

/* A box has a loopback of its own. That nobody listens there is news only if somebody does on the host's. */
static bool describe_loopback(const struct wall_denial *d, struct box_denial *n)
{
        char to[64];
        (void) snprintf(to, sizeof to, "%.*s", (int) sizeof to - 1, d->path);
        if (!host_listens(to))
                return false;

        (void) snprintf(n->code, sizeof n->code, "net");
        (void) snprintf(n->reason, sizeof n->reason, "loopback");
        (void) snprintf(n->layer, sizeof n->layer, "net");
        (void) snprintf(n->what, sizeof n->what, "connect to %s", to);
        (void) snprintf(n->path, sizeof n->path, "%s", to);
        (void) snprintf(n->permit, sizeof n->permit, "net %s", to);
        return true;
}

void keeper_add_denial(struct box *b, const struct box_denial *n)
{
        if (b->r.denial_count == DENIALS_MAX) {
                b->r.denials_lost++;
                return;
        }
        b->r.denials[b->r.denial_count] = *n;
        record_denial(b, &b->r.denials[b->r.denial_count++]);
}

void keeper_command_name(const struct box *b, char *ret, size_t cap)
{
        const char *name = b->c.plan->order->argv[0], *slash = strrchr(name, '/');
        (void) str_inert(span_str(slash ? slash + 1 : name), ret, cap);
}

/* Who kept a limit. */
static const char *limit_layer(const struct box *b, enum limit_key k)
{
        bool group = k == LIMIT_MEMORY  ? b->r.memory_by_group
                     : k == LIMIT_PROCS ? b->r.procs_by_group
                                        : k == LIMIT_CPU && b->r.cpu_by_group;
        static const char *const others[LIMIT_KEY__COUNT] = {
                [LIMIT_TIME] = "keeper",    [LIMIT_CPU] = "rlimit",    [LIMIT_MEMORY] = "sampling",
                [LIMIT_PROCS] = "rlimit",   [LIMIT_FILES] = "rlimit",  [LIMIT_DISK] = "mount",
                [LIMIT_OUTPUT] = "keeper",  [LIMIT_EGRESS] = "egress", [LIMIT_INGRESS] = "egress",
                [LIMIT_EFFECTS] = "egress", [LIMIT_RATE] = "egress",
        };

        return group ? "cgroup" : others[k];
}

/* Twice as much is the smallest line that is worth trying: how much would have been enough, nobody knows. */
void keeper_note_limits(struct box *b)
{
        const struct policy_limits *l = policy_limits(b->c.policy);
        for (unsigned k = 0; k < LIMIT_KEY__COUNT; k++) {
                if (!(b->r.limits_hit & (1u << k)))
                        continue;
                struct box_denial n = { .code = "limit", .count = 1, .on_host = -1 };
                AUTO_BUF(what);
                AUTO_BUF(permit);
                policy_limit_line((enum limit_key) k, l->value[k], &what);
                policy_limit_line((enum limit_key) k, 2 * l->value[k], &permit);
                (void) snprintf(n.what, sizeof n.what, "%s", buf_str(&what));
                (void) snprintf(n.permit, sizeof n.permit, "%s", buf_str(&permit));
                (void) snprintf(n.layer, sizeof n.layer, "%s", limit_layer(b, (enum limit_key) k));
                keeper_add_denial(b, &n);
        }
}

static bool add_up(struct box_result *r, const struct box_denial *n)
{
        for (unsigned i = 0; i < r->denial_count; i++)
                if (strcmp(r->denials[i].what, n->what) == 0 &&
                    strcmp(r->denials[i].program, n->program) == 0) {
                        r->denials[i].count++;
                        return true;
                }

        return false;
}

static bool wrote(const struct box_result *r, const char *path)
{
        for (unsigned i = 0; i < r->effect_count; i++)
                if (r->effects[i].kind == TRIED_WRITE && strcmp(r->effects[i].path, path) == 0)
                        return true;
        return false;
}

bool keeper_is_private(const char *path)
{
        static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm", "/home/box" };
        return any_covers(places, sizeof places / sizeof *places, path) &&
               !any_equals(places, sizeof places / sizeof *places, path);
}

void keeper_fill_read(struct box_denial *n, const char *path, const char *home, const struct buf *line)
{
        AUTO_BUF(own);
        char shown[sizeof n->what - 16];
        (void) snprintf(n->path, sizeof n->path, "%s", path);
        (void) snprintf(n->what, sizeof n->what, "read %s", str_inert(span_str(path), shown, sizeof shown));
        buf_puts(&own, "read ");
        policy_put_token(&own, path); /* a name with a blank in it is one path, not two */
        line = line ? line : &own;
        struct effect f = { .kind = EFFECT_READ, .path = n->path };
        const char *never = policy_never_hinted(&f, home);
        (void) snprintf(n->reason, sizeof n->reason, "%s", never ? never : policy_gap_name(GAP_NO_DOOR));
        if (!never && strcmp(shown, path) == 0 && !line->failed && line->n < sizeof n->permit)
                (void) snprintf(n->permit, sizeof n->permit, "%s", buf_str(line));
}

/* A box has a /tmp and a home of its own. What it looks for there and did not make, and the host has, is
 * hidden from it: seen only where every open is. */
static void note_hidden(struct box *b, const struct wall_denial *d)
{
        char path[sizeof d->path];
        memcpy(path, d->path, sizeof path);
        path[sizeof path - 1] = '\0';
        struct effect f = { .kind = EFFECT_READ, .path = path };
        if (d->kind != TRIED_READ || !(keeper_is_private(path) || keeper_is_beside_copy(b, path)) ||
            !outside_has(b, path) || wrote(&b->r, path) || policy_decide(b->c.policy, &f).door)
                return;

        struct box_denial n = {
                .code = "read", .layer = "mount", .count = 1, .on_host = 1, .weight = BOX_SETTING
        };

        keeper_fill_read(&n, path, b->c.home, NULL);
        (void) str_inert(span_of(d->program, strnlen(d->program, sizeof d->program)), n.program,
                         sizeof n.program);
        if (!add_up(&b->r, &n))
                keeper_add_denial(b, &n);
}

/* With BOX_OBSERVE_ALL: what was done and nothing refused. */
void keeper_note_effect(struct box *b, const struct wall_denial *d)
{
        struct box_result *r = &b->r;
        if (b->c.observe != BOX_OBSERVE_ALL || d->kind >= TRIED__COUNT)
                return;

        note_hidden(b, d);
        if (!r->effects)
                r->effects = calloc(EFFECTS_MAX, sizeof *r->effects);

        if (!r->effects || r->effect_count == EFFECTS_MAX) {
                r->effects_lost++;
                return;
        }

        struct box_effect *e = &r->effects[r->effect_count++];
        e->kind = (enum wall_tried) d->kind;
        (void) snprintf(e->path, sizeof e->path, "%.*s", (int) sizeof d->path - 1, d->path);
        (void) str_inert(span_of(d->program, strnlen(d->program, sizeof d->program)), e->program,
                         sizeof e->program);
}

const char *box_tried_word(enum wall_tried kind) { return kind < TRIED__COUNT ? tried[kind].word : "?"; }

void keeper_note_denial(struct box *b, const struct wall_denial *d)
{
        struct box_denial n = { .count = 1, .on_host = -1 };
        if (d->kind >= TRIED__COUNT)
                return;

        (void) snprintf(n.code, sizeof n.code, "%s", tried[d->kind].word);
        (void) str_inert(span_of(d->program, strnlen(d->program, sizeof d->program)), n.program,
                         sizeof n.program);
        if (d->reason == REASON_LOOPBACK && !describe_loopback(d, &n))
                return;

        if (d->reason < WALL_REASON__COUNT && reasons[d->reason])
                describe_reason(d, &n);
        else if (d->kind == TRIED_CALL && d->reason != REASON_LOOPBACK)
                describe_call(b, d, &n);
        else if (d->kind != TRIED_CALL && !describe_path(b, d, &n)) {
                if (d->kind == TRIED_RUN)
                        keeper_note_effect(b, d); /* a program that may start */
                return;
        }

        if (add_up(&b->r, &n))
                return;

        keeper_add_denial(b, &n);
}
