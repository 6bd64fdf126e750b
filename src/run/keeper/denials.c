/* SPDX-License-Identifier: MIT */
/* run/keeper/denials.c - the denials of a box as text, with the line that would allow each. A report: nothing
 * here is an input to any wall. Paths come from the payload; on the host only their existence is checked. */
#include "base/fd.h"
#include "base/listens.h"
#include "base/str.h"
#include "run/keeper/internal.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *keeper_text(struct run *run, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        const char *text = arena_vprintf(&run->draft, fmt, ap);
        va_end(ap);
        return text ? text : "";
}

static const char *inert_text(struct run *run, struct span raw)
{
        char shown[4 * WALL_PATH];
        return keeper_text(run, "%s", str_inert(raw, shown, sizeof shown));
}

bool keeper_is_inert(struct run *run, const char *text)
{
        return strcmp(inert_text(run, span_str(text)), text) == 0;
}

/* Where programs look for settings of the system, and go on without them. */
static const char *const minor_roots[] = { "/etc", "/run", "/sys", "/proc", "/var/run" };

/* Paths that the C library and shells look up in every program. */
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
        "/selinux",
        "/var/run",
        "/proc",
        "/dev/tty", /* bash opens it whenever it starts */
        "/run/nscd",
        "/run/systemd",
        "/sys/devices",
        "/sys/kernel",
        "/sys/fs",
};

/* Paths that interpreters and tools look up, with version numbers after them. */
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

/* Sockets that the C library and loggers try, and do without. Every other socket is a real request. */
static const char *const tried_sockets[] = { "/run/nscd", "/var/run/nscd", "/run/systemd", "/var/run/systemd",
                                             "/dev/log" };

static enum effect_weight weight_of(const char *path, enum effect_kind kind)
{
        if (kind == EFFECT_SOCK)
                return any_covers(tried_sockets, sizeof tried_sockets / sizeof *tried_sockets, path)
                               ? EFFECT_HABIT
                               : EFFECT_PLAIN;

        if (any_covers(habits, sizeof habits / sizeof *habits, path) ||
            any_begins(habit_stems, sizeof habit_stems / sizeof *habit_stems, path))
                return EFFECT_HABIT;

        bool setting = any_covers(minor_roots, sizeof minor_roots / sizeof *minor_roots, path);
        return setting ? EFFECT_SETTING : EFFECT_PLAIN;
}

/* A path that does not exist outside either was not denied, except a new file in an existing directory: then
 * the door would be to the directory. Shortens `path` to one that a door can name. */
static bool is_on_host(struct run *run, char *path, enum effect_kind kind)
{
        if (outside_has(run, path))
                return true;

        char *slash = strrchr(path, '/');
        if (kind != EFFECT_WRITE || !slash || slash == path)
                return false;

        *slash = '\0';
        return outside_has(run, path);
}

static bool is_terminal(const char *path)
{
        return strcmp(path, "/dev/ptmx") == 0 || path_under(path, "/dev/pts");
}

/* The reason, and the line that would permit it, if it can be proposed. */
static void fill_permit(struct run *run, struct effect_row *n, const char *path, enum effect_kind kind)
{
        AUTO_BUF(line);
        if (is_terminal(path) && wall_has(run->r.wall, WALL_OWN_ROOT)) { /* a door would be to the host's */
                n->effect.reason = REASON_LOCAL;
                n->permit = "local pty";
                return;
        }

        struct effect f = { .kind = kind, .target = path },
                      asked = { .kind = kind, .target = n->effect.target };
        struct decision d = policy_decide(run->c->policy, &f);
        enum effect_reason never = policy_never_hinted(&asked, run->c->home);
        never = never ? never : policy_never_hinted(&f, run->c->home);
        n->effect.reason = never && d.reason != REASON_EXCEPTED ? never : d.reason;
        if (never)
                return;

        policy_smallest_line(&f, &d, &line);
        n->permit = keeper_text(run, "%s", buf_str(&line));
}

/* The command itself, and the target of a `run` line's symlink, have no line of their own and may start. */
static bool is_program_of(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->rule_count; i++)
                if (p->rules[i].rights & RIGHT_EXEC && strcmp(p->rules[i].path, path) == 0)
                        return true;
        return false;
}

static bool has_door(const struct run *run, char *path, enum effect_kind kind)
{
        struct effect f = { .kind = kind, .target = path };
        return policy_decide(run->c->policy, &f).answer == ANSWER_ALLOW;
}

/* The process wall hides no names: a file that a door shows by a symlink is also visible by its target's
 * name. */
static bool has_linked_door(const struct run *run, const char *path, enum effect_kind kind)
{
        for (size_t i = 0; !wall_has(run->r.wall, WALL_OWN_ROOT) && i < run->c->plan->rule_count; i++) {
                const struct plan_rule *r = &run->c->plan->rules[i];
                char named[PATH_MAX_BYTES];
                if (!r->real || !path_under(path, r->real))
                        continue;
                int n = snprintf(named, sizeof named, "%s%s", r->path, path + strlen(r->real));
                if (n > 0 && (size_t) n < sizeof named && has_door(run, named, kind))
                        return true;
        }

        return false;
}

/* Does a door cover it after all? Every started program is reported, and most are allowed. */
static bool is_allowed(const struct run *run, char *path, enum effect_kind kind)
{
        return (kind == EFFECT_RUN && is_program_of(run->c->plan, path)) || has_door(run, path, kind) ||
               has_linked_door(run, path, kind);
}

/* A `run DIR/?` that named nothing when the box started opened nothing, also if the box has made it since. */
static bool came_too_late(const struct run *run, const struct wall_denial *start, char *path)
{
        if (!start->inside && wall_has(run->r.wall, WALL_OWN_ROOT))
                return false;

        struct effect f = { .kind = EFFECT_RUN, .target = path };
        struct decision d = policy_decide(run->c->policy, &f);
        for (size_t i = 0; i < run->c->plan->rule_count; i++)
                if (run->c->plan->rules[i].rights & RIGHT_EXEC &&
                    path_under(path, run->c->plan->rules[i].path))
                        return false;

        return d.door && d.door->optional;
}

/* A program is looked up in one directory of PATH after the other; a miss in the first is not reported if
 * another has it. */
static bool is_found_elsewhere(struct run *run, const char *path)
{
        const char *name = strrchr(path, '/');
        bool asked = false, found = false;
        for (const char *at = BOX_PATH, *end; *at; at = end + (*end == ':')) {
                char other[PATH_MAX_BYTES];
                end = at + strcspn(at, ":");
                asked |= (size_t) (name - path) == (size_t) (end - at) &&
                         strncmp(path, at, (size_t) (end - at)) == 0;
                int n = snprintf(other, sizeof other, "%.*s%s", (int) (end - at), at, name);
                found |= n > 0 && (size_t) n < sizeof other && outside_has(run, other);
        }

        return asked && found;
}

/* Does not exist on the host either: no door would help. Reported separately, so that the user does not look
 * for one. */
static void note_absent(struct run *run, const char *path, enum effect_kind kind)
{
        if (kind == EFFECT_RUN && is_found_elsewhere(run, path))
                return;

        const char *shown = inert_text(run, span_str(path));
        for (unsigned i = 0; i < run->r.absent_count; i++)
                if (strcmp(run->r.absent[i], shown) == 0)
                        return;

        if (plan_image_step(run->c->plan) || weight_of(path, kind) != EFFECT_PLAIN)
                return;

        const char *kept = run->r.absent_count < ABSENT_MAX ? arena_str(&run->texts, shown) : NULL;
        if (kept)
                run->r.absent[run->r.absent_count++] = kept;
        else
                run->r.absent_lost++;
}

/* A box cannot execute a file that it created itself, although it exists. No line makes it a program of the
 * host. */
static bool is_own_program(const struct wall_denial *d) { return d->kind == EFFECT_RUN && d->inside; }

/* False: nothing was refused. */
static bool describe_path(struct run *run, const struct wall_denial *d, struct effect_row *n)
{
        char path[sizeof d->path];
        enum effect_kind kind = n->effect.kind;
        memcpy(path, d->path, sizeof path);
        path[sizeof path - 1] = '\0';
        if (path[0] != '/')
                return false;

        n->effect.target = keeper_text(run, "%s", path);
        n->on_host = is_on_host(run, path, kind);
        if (!n->on_host && !is_own_program(d)) {
                if (kind == EFFECT_SOCK && keeper_is_private(path))
                        return false; /* a server of its own that the box looks for */
                note_absent(run, n->effect.target, kind);
                return false;
        }

        /* init checks that itself on a tree of the box's own. */
        if (!wall_has(run->r.wall, WALL_OWN_ROOT) && wall_denial_makes(d) &&
            strcmp(path, n->effect.target) == 0)
                return false; /* `mkdir -p` got EEXIST, by whatever rule */

        if (kind == EFFECT_RUN && outside_is_directory(run, path))
                n->effect.kind = kind =
                        EFFECT_READ; /* a symlink leads through it to the program: it is not the program */

        bool late = kind == EFFECT_RUN && came_too_late(run, d, path);
        if (!late && is_allowed(run, path, kind))
                return false;

        bool search = kind == EFFECT_READ && keeper_looks_upward(run->c->plan->order->cwd, path);
        n->weight = (uint8_t) (search ? EFFECT_SETTING : weight_of(n->effect.target, kind));
        n->on_host = n->on_host && !late; /* the host has it by now, from this box */
        if (!n->on_host)
                n->effect.reason = REASON_OWN_PROGRAM;
        else if (!keeper_is_inert(run, n->effect.target)) /* no line can name a file that must not be shown */
                n->effect.reason = REASON_ODD_NAME;
        else
                fill_permit(run, n, path, kind);

        bool seen = kind == EFFECT_SOCK && d->inside; /* the connector did not */
        n->layer = !wall_has(run->r.wall, WALL_OWN_ROOT) ? "landlock" : seen ? "seccomp" : "mount";
        return true;
}

/* A denied socket is an effect of the network, and so is a connection without a listener: its destination
 * takes the place of the path. */
static void describe_call(struct run *run, const struct wall_denial *d, struct effect_row *n)
{
        char what[256];
        const char *permit = wall_denial_words(d, what, sizeof what);
        enum effect_reason reason = wall_denial_reason(d);

        n->what = keeper_text(run, "%s", what);
        n->call = wall_denial_call(d);
        n->layer = wall_denial_connects(d) ? "net" : "seccomp";
        n->effect.reason = reason;
        if (reason == REASON_NO_DOOR || reason == REASON_SOCKET)
                n->effect.kind = EFFECT_NET;

        if (reason == REASON_NO_DOOR) {
                n->effect.target = keeper_text(run, "%.*s", (int) sizeof d->path - 1, d->path);
                n->permit = keeper_text(run, "net %s", n->effect.target);
        } else if (permit && !(reason == REASON_LOCAL &&
                               !wall_has(run->r.wall, WALL_OWN_ROOT))) /* it has nothing local */
                n->permit = keeper_text(run, "%s", permit);
}

/* A directory of an edit door that was not renamed, a file of a group that is not mapped in the box, or a
 * watch. No line would help: it depends on the files there. */
static void describe_reason(struct run *run, const struct wall_denial *d, struct effect_row *n)
{
        bool watch = n->effect.reason == REASON_WATCH;
        n->effect.kind = watch                              ? EFFECT_READ
                         : n->effect.reason == REASON_GROUP ? EFFECT_WRITE
                                                            : EFFECT_RENAME;
        n->effect.target = keeper_text(run, "%.*s", (int) sizeof d->path - 1, d->path);
        n->layer = watch ? "seccomp" : "mount";
        if (watch)
                n->what = keeper_text(run, "watch %s", n->effect.target);
}

static bool host_listens(const char *to)
{
        const char *colon = strrchr(to, ':');
        AUTO_FD(proc, open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
        return proc >= 0 && colon && listens_on_loopback(proc, (uint16_t) strtoul(colon + 1, NULL, 10));
}

/* A box has a loopback of its own. A missing listener there is reported only if the host's loopback has one.
 */
static bool describe_loopback(struct run *run, const struct wall_denial *d, struct effect_row *n)
{
        const char *to = keeper_text(run, "%.63s", d->path);
        if (!host_listens(to))
                return false;

        n->effect.kind = EFFECT_NET;
        n->effect.target = to;
        n->layer = "net";
        n->what = keeper_text(run, "connect to %s", to);
        n->permit = keeper_text(run, "net %s", to);
        return true;
}

/* ---- rows ---- */

struct effect_row keeper_row(const struct run *run, enum effect_kind kind)
{
        return (struct effect_row){ .effect = { .subject.run = run->r.run, .kind = kind, .target = "" },
                                    .what = "",
                                    .why = "",
                                    .layer = "",
                                    .permit = "",
                                    .argument = "",
                                    .program = "",
                                    .on_host = -1,
                                    .count = 1 };
}

/* The text about a path, and the reason in words. */
static void fill_words(struct run *run, struct effect_row *n)
{
        const struct effect *f = &n->effect;
        const char *kind = effect_kind_name(f->kind);
        if (effect_kind_has_path(f->kind) && !n->what[0])
                n->what = keeper_text(run, "%s %s", kind, inert_text(run, span_str(f->target)));

        AUTO_BUF(argument);
        policy_put_argument(&argument, n->permit);
        n->argument = keeper_text(run, "%s", buf_str(&argument));

        bool none = f->reason == REASON_NO_DOOR || f->reason == REASON_ODD_NAME;
        if (!n->why[0])
                n->why = none ? keeper_text(run, "no %s door", kind) : effect_reason_text(f->reason);
}

static bool holds_secrets(const struct effect *f)
{
        return effect_kind_has_path(f->kind) && policy_holds_secrets(f->target);
}

/* Each has room that the others cannot fill. What matters most has that of the others as well. */
static bool has_room(struct run *run, const struct effect *f)
{
        static const unsigned most[ROOM__COUNT] = { [ROOM_FILES] = DENIALS_OF_FILES,
                                                    [ROOM_REST] = DENIALS_OF_REST,
                                                    [ROOM_ALARMS] = DENIALS_OF_ALARMS };
        enum denial_room k = effect_kind_has_path(f->kind) ? ROOM_FILES : ROOM_REST;
        bool alarm = f->kind == EFFECT_CREDENTIAL || f->kind == EFFECT_LIMIT || holds_secrets(f);
        if (run->kept[k] == most[k] && alarm)
                k = ROOM_ALARMS;

        bool room = run->kept[k] < most[k];
        run->kept[k] += room;
        return room;
}

/* Most runs have few denials: the rows double when they are full. */
static bool has_row(struct run *run)
{
        struct box_result *r = &run->r;
        if (r->denial_count < run->denial_rows)
                return true;

        unsigned rows = run->denial_rows ? 2 * run->denial_rows : 8;
        struct effect_row *more = arena_alloc(&run->texts, rows * sizeof *more);
        if (!more)
                return false;

        if (r->denial_count > 0)
                memcpy(more, r->denials, r->denial_count * sizeof *more);

        r->denials = more;
        run->denial_rows = rows;
        return true;
}

void keeper_add_denial(struct run *run, struct effect_row *n)
{
        struct box_result *r = &run->r;
        fill_words(run, n);
        if (has_row(run) && has_room(run, &n->effect) &&
            effect_row_copy(n, &run->texts, &r->denials[r->denial_count]))
                record_denial(run, &r->denials[r->denial_count++]);
        else
                r->lost[holds_secrets(&n->effect) ? EFFECT_NONE : n->effect.kind]++;

        tripwire_look(run, n);
}

void keeper_note_lost(struct run *run, uint32_t kind, uint32_t count)
{
        if (kind == WALL_LOST_SEEN)
                run->r.effects_lost += count;
        else if (kind < EFFECT_KIND__COUNT) {
                run->r.lost[kind] += count;
                tripwire_lost(run, (enum effect_kind) kind);
        }
}

/* Modules that Python did not keep compiled: one row for all, and no program misses them. */
static void fold_compiled(struct run *run, struct effect_row *n)
{
        size_t length = effect_compiled(&n->effect);
        if (length == 0 || holds_secrets(&n->effect))
                return;

        n->effect.target = keeper_text(run, "%.*s", (int) length, n->effect.target);
        for (unsigned i = 0; i < run->r.denial_count; i++)
                if (effect_compiled(&run->r.denials[i].effect) > 0)
                        n->effect.target = run->r.denials[i].effect.target;
        n->weight = EFFECT_SETTING;
        n->permit = "";
}

/* A repeated denial is counted. */
void keeper_count_denial(struct run *run, struct effect_row *n)
{
        fold_compiled(run, n);
        fill_words(run, n);
        for (unsigned i = 0; i < run->r.denial_count; i++)
                if (effect_row_same(&run->r.denials[i], n)) {
                        run->r.denials[i].count += n->count;
                        return;
                }

        keeper_add_denial(run, n);
}

const char *keeper_command_name(struct run *run)
{
        const char *name = run->c->plan->order->argv[0], *slash = strrchr(name, '/');
        return inert_text(run, span_str(slash ? slash + 1 : name));
}

/* The mechanism that enforced a limit. */
static const char *limit_layer(const struct run *run, enum limit_key k)
{
        bool group = k == LIMIT_MEMORY  ? run->r.memory_by_group
                     : k == LIMIT_PROCS ? run->r.procs_by_group
                                        : k == LIMIT_CPU && run->r.cpu_by_group;
        static const char *const others[LIMIT_KEY__COUNT] = {
                [LIMIT_TIME] = "keeper",    [LIMIT_CPU] = "rlimit",    [LIMIT_MEMORY] = "sampling",
                [LIMIT_PROCS] = "rlimit",   [LIMIT_FILES] = "rlimit",  [LIMIT_DISK] = "mount",
                [LIMIT_OUTPUT] = "keeper",  [LIMIT_EGRESS] = "egress", [LIMIT_INGRESS] = "egress",
                [LIMIT_EFFECTS] = "egress", [LIMIT_RATE] = "egress",
        };

        return group ? "cgroup" : others[k];
}

/* Twice as much is the smallest line that is worth trying: the amount that would have been enough is unknown.
 */
void keeper_note_limits(struct run *run)
{
        const struct policy_limits *l = policy_limits(run->c->policy);
        for (unsigned k = 0; k < LIMIT_KEY__COUNT; k++) {
                if (!(run->r.limits_hit & (1u << k)))
                        continue;
                struct effect_row n = keeper_row(run, EFFECT_LIMIT);
                AUTO_BUF(what);
                AUTO_BUF(permit);
                policy_limit_line((enum limit_key) k, l->value[k], &what);
                policy_limit_line((enum limit_key) k, 2 * l->value[k], &permit);
                n.what = buf_str(&what);
                n.permit = buf_str(&permit);
                n.layer = limit_layer(run, (enum limit_key) k);
                keeper_add_denial(run, &n);
        }
}

static bool wrote_path(const struct box_result *r, const char *path)
{
        for (unsigned i = 0; i < r->effect_count; i++)
                if (r->effects[i].effect.kind == EFFECT_WRITE &&
                    strcmp(r->effects[i].effect.target, path) == 0)
                        return true;
        return false;
}

bool keeper_is_private(const char *path)
{
        static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm", "/home/box" };
        return any_covers(places, sizeof places / sizeof *places, path) &&
               str_row(places, sizeof places / sizeof *places, path) < 0;
}

void keeper_fill_read(struct run *run, struct effect_row *n, const char *path, const struct buf *line)
{
        AUTO_BUF(own);
        buf_puts(&own, "read ");
        policy_put_token(&own, path); /* a name with a blank in it is one path, not two */

        n->effect.target = path;
        enum effect_reason never = policy_never_hinted(&n->effect, run->c->home);
        n->effect.reason = never ? never : REASON_NO_DOOR;
        if (!never && keeper_is_inert(run, path))
                n->permit = keeper_text(run, "%s", buf_str(line ? line : &own));
}

static const char *program_of(struct run *run, const struct wall_denial *d)
{
        return inert_text(run, span_of(d->program, strnlen(d->program, sizeof d->program)));
}

/* A box has a /tmp and a home of its own. A file there that it looks up and did not create, and the host has,
 * is hidden from it: seen only if every open is reported. */
static void note_hidden(struct run *run, const struct wall_denial *d)
{
        char path[sizeof d->path];
        memcpy(path, d->path, sizeof path);
        path[sizeof path - 1] = '\0';
        struct effect f = { .kind = EFFECT_READ, .target = path };
        if (d->kind != EFFECT_READ || !(keeper_is_private(path) || keeper_is_beside_copy(run->box, path)) ||
            !outside_has(run, path) || wrote_path(&run->r, path) || policy_decide(run->c->policy, &f).door)
                return;

        struct effect_row n = keeper_row(run, EFFECT_READ);
        n.layer = "mount";
        n.on_host = 1;
        n.weight = EFFECT_SETTING;
        n.program = program_of(run, d);
        keeper_fill_read(run, &n, path, NULL);
        keeper_count_denial(run, &n);
}

/* With BOX_OBSERVE_ALL: effects that were allowed. */
static void note_effect(struct run *run, const struct wall_denial *d)
{
        struct box_result *r = &run->r;
        if (run->c->observe != BOX_OBSERVE_ALL || d->kind >= EFFECT_KIND__COUNT)
                return;

        note_hidden(run, d);
        if (!r->effects)
                r->effects = calloc(EFFECTS_MAX, sizeof *r->effects);

        if (!r->effects || r->effect_count == EFFECTS_MAX) {
                r->effects_lost++;
                return;
        }

        struct effect_row n = keeper_row(run, (enum effect_kind) d->kind);
        n.effect.target = keeper_text(run, "%.*s", (int) sizeof d->path - 1, d->path);
        n.program = program_of(run, d);
        if (effect_row_copy(&n, &run->texts, &r->effects[r->effect_count]))
                r->effect_count++;
        else
                r->effects_lost++;
}

/* False: nothing was refused. */
static bool describe_denial(struct run *run, const struct wall_denial *d, struct effect_row *n)
{
        n->program = program_of(run, d);
        n->effect.reason = d->reason < REASON__COUNT ? (enum effect_reason) d->reason : REASON_NONE;
        if (n->effect.reason == REASON_LOOPBACK)
                return describe_loopback(run, d, n);

        if (n->effect.reason)
                describe_reason(run, d, n);
        else if (n->effect.kind == EFFECT_CALL)
                describe_call(run, d, n);
        else
                return describe_path(run, d, n);

        return true;
}

void keeper_note_denial(struct run *run, const struct wall_denial *d)
{
        struct effect_row n = keeper_row(run, (enum effect_kind) d->kind);
        if (d->kind != EFFECT_CALL && !effect_kind_has_path(n.effect.kind))
                return;

        if (describe_denial(run, d, &n))
                keeper_count_denial(run, &n);
        else if (d->kind == EFFECT_RUN)
                note_effect(run, d); /* a program that may start */

        arena_done(&run->draft);
}

void keeper_note_effect(struct run *run, const struct wall_denial *d)
{
        note_effect(run, d);
        arena_done(&run->draft);
}
