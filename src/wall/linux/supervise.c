/* SPDX-License-Identifier: MIT */
/* wall/linux/supervise.c - init after the payload has started: reaps, forwards signals, reports denied calls,
 * samples. When the payload ends, or the keeper is gone, init ends, and the pid namespace ends with it. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/listens.h"
#include "base/str.h"
#include "base/wire/wire.h"
#include "wall/internal.h"
#include "wall/linux/observe/connector.h"
#include "wall/linux/observe/mover.h"
#include "wall/linux/observe/toucher.h"
#include "wall/linux/observe/watched_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

enum {
        SAMPLE_MS = 50,
        CLOSE_SAMPLE_MS = 10,
        CLOSEST_SAMPLE_MS = 2,
        FILL_PER_MS = 4 << 20, /* bytes that one processor can touch for the first time */
        FILL_AT_ONCE = 16,     /* processors that do, as far as there are tasks */
        SAMPLE_SHARE = 20,     /* sampling takes one part in so many of the time, at most */
        FILES_MS = 100,
        STILL_MS = 100,        /* a limit that is passed out of rest is seen within this */
        STILL_FILES_MS = 1000, /* only reported: the kernel enforces it */
        CALLS_MAX = 512,       /* reports of calls that have no path */
        LAST_MAX = 512,
        KEEPER_LATE_MS = 100,
        WAIT_MAX_MS = 3600000
};

struct watch {
        struct wall_init *w;
        int signals;
        struct watched_told told; /* paths */
        struct wall_untold untold;
        unsigned calls;
        bool told_call[SECCOMP_NR_END];
        bool alone;          /* the reaper was killed */
        bool over;           /* a limit was passed while the keeper was waited for */
        bool starts;         /* another program was started, or was to be */
        bool runs;           /* a payload has its order: until then nothing is sampled, and no time passes */
        uint64_t cpu_max_ns; /* its limit */
        uint64_t cpu_before; /* used by a warm interpreter before its run */
        struct wall_runs many; /* of a box with many */
        uint64_t sampled_ns, next_sample_ns, deadline_ns;
        struct wall_still still;
        bool is_still;
        uint64_t sample_ns; /* how long the last sample took */
        uint64_t memory_ms; /* how soon the rest of the memory can be used up */
        uint64_t cpu_seen,
                cpu_lost; /* in the last sample; of processes that ended since without being waited for */
        char room[sizeof((struct wall_denial *) 0)->path]; /* the newest directory in which names can be made
                                                            */
        struct wall_end end;
};

/* Behind root's process wall the payload has another uid than init, and its descriptors are open to their
 * owner alone. From here on init reads files with that uid, which owns nothing else. A change of ids clears
 * the parent-death signal: it is set again. */
static void look_as_payload(const struct wall_init *w)
{
        if (w->plan->wall != WALL_PROCESS || w->s->host_uid == w->s->caller_uid)
                return;

        pid_t reaper = getppid();
        (void) syscall(SYS_setfsuid, w->s->host_uid);
        (void) prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
        if (getppid() != reaper)
                (void) kill(getpid(), SIGTERM);
}

/* overlayfs copies up no file whose group is not mapped in its namespace; without root that is every group
 * but the caller's own. A file that was copied up already, or was created in the box, can be changed: only a
 * try shows that. It changes nothing. */
static bool refused_by_group(const struct watch *t, int at, const struct stat *st, const struct statfs *fs)
{
        enum { NOBODYS = 65534 };
        char own[32];
        if (st->st_gid != NOBODYS || fs->f_type != OVERLAYFS_SUPER_MAGIC ||
            !(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)))
                return false;

        (void) snprintf(own, sizeof own, "self/fd/%d", at);
        int flags = (S_ISDIR(st->st_mode) ? O_TMPFILE : 0) | O_WRONLY | O_CLOEXEC;
        AUTO_FD(tried, openat(t->w->tasks, own, flags, 0600));
        return tried < 0 && errno == EOVERFLOW;
}

/* Would the mounts deny it? The observer reports names that are not visible at all. */
static bool refused_by_mount(struct watch *t, struct wall_denial *d)
{
        char path[sizeof d->path];
        memcpy(path, d->path, sizeof path);
        AUTO_FD(at, fd_open2(AT_FDCWD, path, O_PATH, RESOLVE_NO_MAGICLINKS));
        char *slash = strrchr(path, '/');
        bool made = at < 0 && errno == ENOENT && slash;
        if (made) {
                slash[slash == path] = '\0';
                if (strcmp(path, t->room) == 0)
                        return false; /* many files in one directory are the usual case */
                at = fd_open2(AT_FDCWD, path, O_PATH, RESOLVE_NO_MAGICLINKS);
        }

        struct statfs fs;
        struct stat st;
        if (at < 0 || fstatfs(at, &fs) < 0 || fs.f_type == PROC_SUPER_MAGIC)
                return false; /* /dev/fd/1 and the like lead to something of the task's own */

        if (fstat(at, &st) < 0 || S_ISCHR(st.st_mode))
                return false; /* a device accepts writes even on a read-only mount */

        if (!(fs.f_flags & ST_RDONLY) && refused_by_group(t, at, &st, &fs))
                d->reason = REASON_GROUP;
        else if (made && !(fs.f_flags & ST_RDONLY))
                memcpy(t->room, path, sizeof path);

        return fs.f_flags & ST_RDONLY || d->reason == REASON_GROUP;
}

static bool is_inside(const struct wall_denial *d)
{
        AUTO_FD(at, fd_open2(AT_FDCWD, d->path, O_PATH, RESOLVE_NO_MAGICLINKS));
        return at >= 0;
}

/* The process wall has no mounts of its own: a path is denied if no rule of Landlock covers it, or if an
 * `except` takes it out of one. */
static bool refused_by_rules(const struct wall_init *w, const struct wall_denial *d)
{
        const struct plan *p = w->plan;
        if (w->s->own_dir && path_under(d->path, w->s->own_dir))
                return false;

        unsigned right = d->kind == EFFECT_WRITE ? RIGHT_WRITE | RIGHT_DEVICE : RIGHT_READ | RIGHT_LIST;
        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_MASK && path_under(d->path, p->steps[i].path))
                        return true;

        for (size_t i = 0; i < p->rule_count; i++)
                if (p->rules[i].rights & right && path_under(d->path, p->rules[i].path))
                        return false;

        return true;
}

/* A call that creates an existing file fails with EEXIST on any mount: `mkdir -p` tries each directory of its
 * path. That is a lookup, and is never denied. */
static bool finds_it_there(const struct watch *t, const struct wall_denial *d)
{
        if (!wall_has(t->w->plan->wall, WALL_OWN_ROOT) || !watched_makes(&d->call))
                return false;
        AUTO_FD(at, fd_open2(AT_FDCWD, d->path, O_PATH | O_NOFOLLOW, RESOLVE_NO_MAGICLINKS));
        return at >= 0;
}

static bool is_refused(struct watch *t, struct wall_denial *d)
{
        if (t->w->plan->wall == WALL_PROCESS)
                return refused_by_rules(t->w, d);
        return d->kind == EFFECT_WRITE && refused_by_mount(t, d);
}

static bool sample_limits(struct watch *t);
static bool over_time(struct watch *t);

/* The requester of all of it waits for it; but limits are enforced meanwhile, also when the keeper is
 * stopped. */
static void say_in_time(struct watch *t, const struct wall_message *m)
{
        struct pollfd keeper = { .fd = t->w->keeper, .events = POLLIN };
        while (!t->over && !wall_offer(t->w->control, m) && errno == EAGAIN && poll(&keeper, 1, 0) == 0)
                t->over = sample_limits(t) || over_time(t);
}

static void offer_message(struct watch *t, struct wall_message *m, uint32_t task, enum wall_report report)
{
        if (report == REPORT_KNOWN)
                return;

        m->run = watched_session(task);
        watched_program(t->w->tasks, task, m->denial.program, sizeof m->denial.program);
        if (t->w->s->watch_all && report == REPORT_NEW)
                say_in_time(t, m);
        else
                wall_offer_denial(t->w->control, m, report, &t->untold);
}

/* A call that continues whatever we find: only a denial is reported. The keeper knows whether a program may
 * run. */
static void tell_of_path(struct watch *t, const struct seccomp_notif *n)
{
        struct wall_message m = { .word = WALL_SAYS_DENIED };
        bool in_box = wall_has(t->w->plan->wall, WALL_OWN_ROOT);
        enum watched_what what = t->w->tasks < 0
                                         ? SAW_NOTHING
                                         : watched_call(t->w->tasks, n->pid, &n->data, in_box, &m.denial);

        if (what == SAW_NOTHING) {
                m.denial.kind = watched_kind(&n->data);
                if (watched_names_path(n->pid, &n->data) && watched_is_waiting(t->w->listener, n->id))
                        offer_message(t, &m, n->pid, REPORT_LOST); /* hidden from us on purpose, maybe */
                return;
        }

        if (finds_it_there(t, &m.denial))
                m.denial.kind = EFFECT_READ;

        if (m.denial.kind != EFFECT_RUN && (what == SAW_OWN || !is_refused(t, &m.denial)))
                m.word = WALL_SAYS_SAW;

        if (m.word == WALL_SAYS_SAW && !t->w->s->watch_all)
                return;

        enum wall_report report = watched_news(&t->told, &m);

        /* Not on the host's own tree, which may not answer: limits would not be enforced meanwhile. */
        if (report == REPORT_NEW)
                m.denial.inside = in_box && m.denial.kind == EFFECT_RUN && is_inside(&m.denial);

        offer_message(t, &m, n->pid, report);
}

static void tell_of_call(struct watch *t, const struct seccomp_notif *n)
{
        bool *told = n->data.nr >= 0 && n->data.nr < SECCOMP_NR_END ? &t->told_call[n->data.nr] : NULL;
        bool full = t->calls++ >= CALLS_MAX && (!told || *told); /* a new kind is reported all the same */
        if (told)
                *told = true;

        struct wall_message m = { .word = WALL_SAYS_DENIED,
                                  .denial = { .call = n->data, .kind = EFFECT_CALL } };
        offer_message(t, &m, n->pid, full ? REPORT_LOST : REPORT_NEW);
}

/* The connector adds it. Behind an edit door a box sees its own copy: what changes outside is not seen. */
static bool answer_watch(struct watch *t, const struct seccomp_notif *n, struct seccomp_notif_resp *r)
{
        char raw[WATCHED_RAW], path[WATCHED_RAW];
        bool named = t->w->tasks >= 0 && watched_path(t->w->tasks, n->pid, &n->data, raw) &&
                     path_join("", raw, path, sizeof path);
        for (size_t i = 0; named && i < t->w->plan->step_count; i++) {
                const struct plan_step *s = &t->w->plan->steps[i];
                t->end.edit_watched |= s->kind == STEP_EDIT && path_under(path, s->path);
        }

        r->error = -EAGAIN;
        return !connector_take(t->w, n);
}

/* A library on a noexec mount: the kernel returns EPERM, and the loader gives up. */
static void tell_of_mapping(struct watch *t, const struct seccomp_notif *n)
{
        struct wall_message m = { .word = WALL_SAYS_DENIED,
                                  .denial = { .call = n->data, .kind = EFFECT_RUN, .inside = true } };
        char name[48];
        struct statfs fs;

        (void) snprintf(name, sizeof name, "%u/fd/%d", n->pid, (int) n->data.args[seccomp_maps(&n->data)]);
        AUTO_FD(file, openat(t->w->tasks, name, O_PATH | O_CLOEXEC));
        if (file < 0 || fstatfs(file, &fs) < 0 || !(fs.f_flags & ST_NOEXEC))
                return;

        ssize_t len = readlinkat(t->w->tasks, name, m.denial.path, sizeof m.denial.path - 1);
        if (len > 0 && m.denial.path[0] == '/')
                offer_message(t, &m, n->pid, watched_news(&t->told, &m));
}

/* No destination is reachable; the kernel answers. With `net` doors the broker reports all but the box's own
 * loopback. */
static void tell_of_connect(struct watch *t, const struct seccomp_notif *n)
{
        struct wall_message m = { .word = WALL_SAYS_DENIED,
                                  .denial = { .call = n->data, .kind = EFFECT_CALL } };
        char *to = m.denial.path;
        bool out = !t->w->plan->net && watched_connect(n->pid, &n->data, to, sizeof m.denial.path);
        unsigned port = out ? 0 : watched_own_loopback(n->pid, &n->data, to, sizeof m.denial.path);
        if (!out && !port)
                return;

        enum wall_report report = watched_news(&t->told, &m);
        if (report == REPORT_KNOWN || (port && listens_on_loopback(t->w->tasks, (uint16_t) port)))
                return;

        m.denial.reason = port ? REASON_LOOPBACK : REASON_NONE;
        offer_message(t, &m, n->pid, report);
}

/* SAFETY: the connector answers the calls that it serves. Any other call continues only if the filter itself,
 * without `watch`, would have allowed it; that is decided by the copy of number and arguments which the
 * kernel made. All others are answered with an error. */
static void answer_notification(struct watch *t)
{
        struct seccomp_notif n = { 0 };
        if (syscall(SYS_ioctl, t->w->listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
                return;

        struct seccomp_notif_resp r = { .id = n.id };
        if (seccomp_served(&n.data) && t->w->plan->sockets == PLAN_SOCKETS_SERVED) {
                if (t->w->plan->local & LOCAL_LOOPBACK && t->w->s->tell)
                        tell_of_connect(t, &n);
                if (connector_take(t->w, &n))
                        return;
                r.error = -EAGAIN;
        } else if (seccomp_served(
                           &n.data)) { /* shown by `connects`; not served, every filter lets it through */
                tell_of_connect(t, &n);
                r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        } else if (seccomp_signals(&n.data)) {
                if (wall_signal_call(t->w, &n, &r))
                        return;
        } else if (seccomp_link(&n.data)) {
                if (connector_link(t->w, &n, &r))
                        return;
        } else if (seccomp_maps(&n.data) && seccomp_lets_through(&n.data)) {
                tell_of_mapping(t, &n);
                r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        } else if (seccomp_lets_through(&n.data)) {
                t->starts |= watched_kind(&n.data) == EFFECT_RUN;
                if (wall_thread_name(t->w, &n))
                        return;
                if (touch_take(t->w, &n))
                        return;
                if (t->w->s->watch && !touch_only(t->w, &n))
                        tell_of_path(t, &n);
                if (t->w->serves_moves && seccomp_renames(&n.data) && mover_take(t->w, &n))
                        return;
                r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        } else if (seccomp_sets_gid(&n.data)) {
                r.error = wall_setgid(t->w, &n);
                if (r.error == -EPERM && t->w->s->tell)
                        tell_of_call(t, &n);
        } else if (seccomp_on_behalf(&n.data)) {
                if (!answer_watch(t, &n, &r))
                        return;
        } else {
                tell_of_call(t, &n);
                r.error = -seccomp_errno(&n.data);
        }

        (void) syscall(SYS_ioctl, t->w->listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

/* CPU time of live processes, and of dead ones that were waited for. */
static int sample_all(const struct watch *t, struct wall_sample *s)
{
        struct rusage done = { 0 };
        if (wall_sample(t->w, s) < 0)
                return -1;
        (void) getrusage(RUSAGE_CHILDREN, &done);
        s->cpu_ns += wall_cpu_ns(&done);
        return 0;
}

/* A payload whose fork failed often exits at once, before the next sample. Its processes still exist, and
 * together they were as many as the limit allows. */
static void look_at_those_left(struct watch *t)
{
        struct wall_sample s;
        if (t->end.status != 0 && t->w->held & WALL_SAMPLES && sample_all(t, &s) == 0 && s.tasks > 0)
                t->end.procs_full |= s.tasks + 1 >= t->w->plan->limits.value[LIMIT_PROCS];
}

/* A box loses time only on purpose, with short-lived processes: those are sampled more often. */
static int sample_ms(const struct watch *t)
{
        if (t->w->held & WALL_SAMPLES) {
                if (t->is_still)
                        return STILL_MS;
                uint64_t ms = t->cpu_lost ? CLOSE_SAMPLE_MS : SAMPLE_MS;
                uint64_t least = t->sample_ns * SAMPLE_SHARE / 1000000u;
                least = least < CLOSEST_SAMPLE_MS ? CLOSEST_SAMPLE_MS : least;
                uint64_t soon = t->memory_ms > least ? t->memory_ms : least;
                return (int) (soon < ms ? soon : ms);
        }

        if (t->w->tasks < 0 || (t->end.files_full && !t->w->plan->edits && !wall_watches_sockets(t->w)))
                return WAIT_MAX_MS;

        return t->is_still ? STILL_FILES_MS : FILES_MS;
}

/* Nothing has changed since the last sample, and that was complete: shared memory has its own time. */
static bool has_rested(struct watch *t)
{
        bool whole = !(t->w->held & WALL_SAMPLES) || t->w->shared.looked_ns >= t->sampled_ns;
        return t->w->tasks >= 0 && whole && !t->w->disk.hiding && wall_is_still(&t->still);
}

/* Not after each reported call: a sample reads all processes. */
static bool sample_is_due(struct watch *t)
{
        uint64_t now = clock_mono_ns();
        if (now < t->next_sample_ns)
                return false;

        t->is_still = has_rested(t);
        t->next_sample_ns = now + (uint64_t) sample_ms(t) * 1000000u;
        if (t->is_still)
                return false;

        t->sampled_ns = now;
        wall_still_note(&t->still, t->w);
        return true;
}

/* The time of a child goes to its parent, and is lost with a parent that ignores SIGCHLD. Then the sum falls:
 * the difference was used. It also seems to fall when a child ends between the samples of its parent and of
 * itself, so a second sample has to confirm it. */
static uint64_t sum_of_cpu(struct watch *t, struct wall_sample *s)
{
        struct wall_sample again;
        if (s->cpu_ns < t->cpu_seen && sample_all(t, &again) == 0 && again.cpu_ns > s->cpu_ns)
                s->cpu_ns = again.cpu_ns;

        if (s->cpu_ns < t->cpu_seen)
                t->cpu_lost += t->cpu_seen - s->cpu_ns;

        t->cpu_seen = s->cpu_ns;
        uint64_t sum = t->cpu_seen + t->cpu_lost;
        return sum > t->cpu_before ? sum - t->cpu_before : 0;
}

/* No rlimit denies the excess, so the nearer the limit is, the sooner is the next sample. */
static void note_memory_left(struct watch *t, const struct wall_sample *s, uint64_t memory)
{
        uint64_t most = t->w->plan->limits.value[LIMIT_MEMORY];
        uint64_t at_once = s->tasks < FILL_AT_ONCE ? s->tasks + 1 : FILL_AT_ONCE;
        t->memory_ms = memory < most ? (most - memory) / (FILL_PER_MS * at_once) : 0;
}

/* True: a limit is passed and the box must end. */
static bool over_budget(struct watch *t)
{
        const uint64_t *v = t->w->plan->limits.value;
        struct wall_sample s;
        if (sample_all(t, &s) < 0)
                return false;

        uint64_t cpu = sum_of_cpu(t, &s);
        if (cpu > t->end.cpu_ns)
                t->end.cpu_ns = cpu;

        /* Shared memory counts once, mapped or not; pages that several processes have mapped, once for each.
         */
        uint64_t shared = wall_sample_shared(t->w), sockets = t->w->sockets.inet + t->w->sockets.local,
                 memory = s.rss + (shared > s.shmem ? shared - s.shmem : 0) + sockets;
        if (memory > t->end.max_rss)
                t->end.max_rss = memory;

        t->end.procs_full |= s.tasks >= v[LIMIT_PROCS];
        t->end.cpu_over = cpu > t->cpu_max_ns;
        t->end.memory_over = memory > v[LIMIT_MEMORY];
        note_memory_left(t, &s, memory);
        return t->end.cpu_over || t->end.memory_over;
}

/* init samples first: only init knows the use until then. */
static uint64_t deadline_after(const struct watch *t, uint64_t now, uint64_t time_ms)
{
        unsigned late_ms = t->w->held & WALL_SAMPLES ? 0 : KEEPER_LATE_MS;
        return now + (time_ms + late_ms) * 1000000u;
}

static bool is_warm(const struct watch *t) { return wall_is_warm(t->w->s->spare, t->w->plan); }

/* Each run has its own reports: a second attempt is reported again. */
static void forget_reports(struct watch *t)
{
        watched_forget(&t->told);
        memset(t->told_call, 0, sizeof t->told_call);
        t->calls = 0;
        t->untold = (struct wall_untold){ 0 };
        if (t->w->observer_knows)
                (void) atomic_fetch_add(&t->w->observer_knows->runs, 1);
}

/* The use and the denials of its interpreter before that are not the run's. */
static void begin_warm_run(struct watch *t)
{
        struct wall_sample s;
        if (sample_all(t, &s) == 0)
                t->cpu_before = s.cpu_ns;

        t->end.cpu_ns = 0;
        t->starts = false;
        forget_reports(t);
}

/* A spare gets its order. */
static void begin_run(struct watch *t, const struct wall_order *o)
{
        uint64_t now = clock_mono_ns(), until = deadline_after(t, now, o->time_ms);
        if (!t->runs)
                t->next_sample_ns = now + (uint64_t) sample_ms(t) * 1000000u;

        t->runs = true;
        if (t->w->s->spare == WALL_SPARE_MANY) {
                forget_reports(t);
                wall_runs_add(&t->many, o->arg, o->id, until);
                return;
        }

        if (is_warm(t))
                begin_warm_run(t);

        t->cpu_max_ns = o->cpu_ms * 1000000u;
        t->deadline_ns = until;
}

/* False: the keeper is gone. */
static bool obey_order(struct watch *t, bool *ret_over)
{
        struct wall_order o;
        if (wire_take(t->w->control, &wall_order_form, &o, NULL) != 1)
                return false;

        bool many = t->w->s->spare == WALL_SPARE_MANY;
        pid_t group = many ? wall_runs_find(&t->many, o.id) : t->w->payload;
        if (o.command == COMMAND_SIGNAL && group > 0 && o.arg > 0 && o.arg < NSIG)
                (void) kill(-group, o.arg);

        if (o.command == COMMAND_RUN)
                begin_run(t, &o);

        if (o.command == COMMAND_OPEN)
                touch_open(t->w, (unsigned) o.arg);

        if (o.command == COMMAND_RENEW)
                wall_runs_renew(&t->many, &o, many ? NULL : &t->deadline_ns);

        if (o.command == COMMAND_TTY)
                wall_tty_make(t->w, (unsigned) o.arg >> 16, (unsigned) o.arg & 0xffff);

        if (o.command == COMMAND_CONNECT)
                wall_inbound_connect(t->w, o.arg, o.id);

        if (o.command == COMMAND_END) {
                *ret_over = true;
                t->end.status = SIGKILL; /* which the payload gets when we end */
                /* The last sample: live processes are not waited for, and counted nowhere else. */
                (void) over_budget(t);
        }

        return true;
}

/* All that have come. The order of a run comes before its process can end. */
static bool obey_all(struct watch *t, bool *ret_over)
{
        struct pollfd p = { .fd = t->w->control, .events = POLLIN };
        while (poll(&p, 1, 0) > 0)
                if (!obey_order(t, ret_over))
                        return false;

        return true;
}

/* No process of the box is left. Only a child that ends with SIGCHLD is looked for: all of the box end so,
 * when init has become their parent, and the observer does not. */
static bool is_empty(void)
{
        siginfo_t any;
        return waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

/* True: the payload itself has ended, or the reaper behind us has. */
static bool reap_dead(struct watch *t)
{
        struct signalfd_siginfo got;
        while (read(t->signals, &got, sizeof got) == sizeof got)
                t->alone |= got.ssi_signo == SIGTERM && getppid() != t->w->reaper; /* not one for all of us */

        int status;
        pid_t pid;
        bool over = t->alone;
        struct rusage used;
        while ((pid = wait4(-1, &status, WNOHANG | __WALL, &used)) > 0)
                if (pid != t->w->payload) {
                        if (!obey_all(t, &over))
                                over = true;

                        connector_ended(t->w, pid);
                        mover_ended(t->w, pid);
                        wall_runs_ended(&t->many, t->w, pid, status, &used);
                } else {
                        t->end.status = status;
                        over = true;
                }

        if (over && pid == 0)
                look_at_those_left(t);

        t->end.empty = over && is_empty();
        return over;
}

/* The kernel does not report EMFILE to other processes. As with processes: one that is seen with all
 * descriptors in use is at the limit. */
static bool sample_limits(struct watch *t)
{
        if (!sample_is_due(t))
                return false;

        if (!t->end.files_full)
                t->end.files_full = wall_sample_files(t->w) >= t->w->plan->limits.value[LIMIT_FILES];

        bool sockets = wall_over_sockets(t->w); /* before the sum of all memory, of which they are a part */
        bool over = t->w->held & WALL_SAMPLES && over_budget(t);
        t->end.memory_over |= sockets;
        over |= sockets;
        t->sample_ns = clock_mono_ns() - t->sampled_ns;
        t->next_sample_ns = t->sampled_ns + t->sample_ns + (uint64_t) sample_ms(t) * 1000000u;
        t->end.disk_over = wall_over_disk(t->w);
        return over || t->end.disk_over;
}

/* The keeper keeps the time, unless it is stopped, or a program that uses the library does not come round to
 * it. */
static bool over_time(struct watch *t)
{
        t->end.time_over = clock_mono_ns() >= t->deadline_ns;
        return t->end.time_over;
}

static int wait_ms(const struct watch *t)
{
        uint64_t now = clock_mono_ns(), next = wall_runs_next(&t->many, t->deadline_ns),
                 left = next > now ? (next - now) / 1000000u + 1 : 0;
        if (!t->runs)
                return -1;

        int ms = left < WAIT_MAX_MS ? (int) left : WAIT_MAX_MS;
        return sample_ms(t) < ms ? sample_ms(t) : ms;
}

static void fill_end(struct watch *t)
{
        struct rusage u;
        if (getrusage(RUSAGE_CHILDREN, &u) == 0) {
                uint64_t all = wall_cpu_ns(&u), ns = all > t->cpu_before ? all - t->cpu_before : 0;
                if (ns > t->end.cpu_ns)
                        t->end.cpu_ns = ns;
                /* The kernel counts the memory of a child before exec, which was a copy of the caller's: only
                 * an amount above our own was used by the payload. */
                struct rusage own;
                uint64_t peak = (uint64_t) u.ru_maxrss * 1024;
                (void) getrusage(RUSAGE_SELF, &own);
                if (u.ru_maxrss > own.ru_maxrss && peak > t->end.max_rss)
                        t->end.max_rss = peak;
                t->end.memory_passed =
                        t->w->held & WALL_SAMPLES && t->end.max_rss > t->w->plan->limits.value[LIMIT_MEMORY];
        }

        struct statfs fs;
        t->end.disk_full = t->w->scratch >= 0 && fstatfs(t->w->scratch, &fs) == 0 &&
                           (fs.f_bfree == 0 || fs.f_ffree == 0);
}

static bool step_watch(struct watch *t, bool *ret_over)
{
        struct wall_init *w = t->w;
        struct pollfd p[] = { { .fd = w->control, .events = POLLIN },
                              { .fd = t->signals, .events = POLLIN },
                              { .fd = w->listener, .events = POLLIN },
                              { .fd = w->keeper, .events = POLLIN },
                              { .fd = w->toucher, .events = POLLIN } };
        int n = poll(p, sizeof p / sizeof *p, wait_ms(t));
        if (n < 0 && errno != EINTR)
                return false;

        if (p[3].revents || (p[0].revents && !obey_order(t, ret_over)))
                return false;

        if (p[2].revents & POLLIN)
                answer_notification(t);
        else if (p[2].revents)
                fd_close(&w->listener); /* no filtered task is left */

        if (p[4].revents)
                touch_hear(w);

        if ((p[1].revents && reap_dead(t)) || t->over || (t->runs && (sample_limits(t) || over_time(t))))
                *ret_over = true;

        wall_runs_end_late(&t->many, clock_mono_ns());

        return true;
}

/* Denials just before the end are reported as well. Not for ever: processes that the payload leaves behind
 * may make calls as fast as we answer. */
static void tell_the_last(struct watch *t)
{
        for (unsigned i = 0; i < LAST_MAX && t->w->listener >= 0; i++) {
                struct pollfd p = { .fd = t->w->listener, .events = POLLIN };
                if (poll(&p, 1, 0) <= 0 || !(p.revents & POLLIN))
                        break;
                answer_notification(t);
        }
}

/* No process waits for the observer and the connector any more: so they need not end after us, and its mount
 * with it. */
static int tell_end(struct watch *t)
{
        const pid_t helpers[] = { t->w->observer, t->w->connector, t->w->mover };
        tell_the_last(t);
        for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
                if (helpers[i])
                        (void) kill(helpers[i], SIGKILL);

        fill_end(t);
        const struct plan_order *order = t->w->s->spare ? wall_spare_order(t->w) : t->w->order;
        if (t->w->scratch >= 0 && order && strcmp(order->cwd, BOX_HOME) == 0)
                wall_left(t->w, order, &t->end);

        t->end.blind = wall_is_blind(t->w);
        t->end.one_program = t->w->s->watch && !t->starts;
        struct wall_message m = { .word = WALL_SAYS_END, .end = t->end };
        return wall_say(t->w, &m);
}

int wall_supervise(struct wall_init *w)
{
        static struct watch t; /* zero, and too large for a stack that is a guest's */
        t.w = w;
        sigset_t child;
        (void) sigemptyset(&child);
        (void) sigaddset(&child, SIGCHLD);
        if (!wall_has(w->plan->wall, WALL_OWN_ROOT))
                (void) sigaddset(&child, SIGTERM);

        t.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
        if (t.signals < 0)
                return -1;

        watched_take_turns(w->listener);
        look_as_payload(w);

        /* SAFETY: the setgid bit of a directory whose group root's box is not in; init sets no other. */
        uint32_t group = w->s->host_uid != w->s->caller_uid ? 1u << CAP_FSETID : 0;
        uint32_t served = w->plan->sockets == PLAN_SOCKETS_SERVED ? 1u << CAP_NET_ADMIN : 0;

        /* Over its children and, for the connector, their network; over nothing else. */
        if (toucher_begin(w) < 0 ||
            wall_powers_keep(1u << CAP_SYS_PTRACE | 1u << CAP_KILL | group | served) < 0)
                return -1;

        wall_disk_begin(w);
        note_memory_left(&t, &(struct wall_sample){ 0 }, 0);
        uint64_t now = clock_mono_ns();
        t.next_sample_ns = now + (uint64_t) sample_ms(&t) * 1000000u;

        /* An interpreter runs already: what no group holds, sampling does. */
        t.runs = !w->s->spare || (is_warm(&t) && w->held & WALL_SAMPLES);
        t.cpu_max_ns = w->s->spare ? UINT64_MAX : w->order->limits.value[LIMIT_CPU] * 1000000u;
        t.deadline_ns =
                w->s->spare ? UINT64_MAX : deadline_after(&t, now, w->order->limits.value[LIMIT_TIME]);
        bool over = reap_dead(&t);
        while (!over)
                if (!step_watch(&t, &over))
                        break;

        bool orderly = over && !t.alone;
        if (!wall_has(w->plan->wall, WALL_OWN_ROOT))
                wall_kill_stragglers(w->children);

        if (!orderly || wall_handles_hand_over(w) < 0)
                return -1;

        return tell_end(&t);
}
