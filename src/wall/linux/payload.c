/* SPDX-License-Identifier: MIT */
/* wall/linux/payload.c - from init to the payload's first instruction.
 *
 * The payload's process shares init's memory until exec (CLONE_VM: no page tables are copied) and init's
 * descriptors until it has handed over the seccomp listener. It lives in a user namespace nested in the one
 * that owns the mounts and the network, so it owns neither.
 *
 * Early or late. If init is not moved into other control groups after its birth and the box has no `net`
 * door, the process is created before the root: it creates the network namespace, drops its privileges and
 * loads the filter on one core while init mounts on another, and waits at three gates: until ids are mapped,
 * until the filter exists and init has joined its network, and until the root exists and limits are in force.
 * Else it is created when all that is done, and init sleeps meanwhile (CLONE_VFORK).
 *
 * DANGER: an early payload runs beside init with the same errno. Up to its last gate it makes no call that is
 * expected to fail, and reads errno only to report that the start failed. From then on init sleeps until it
 * is gone. */
#include "wall/linux/payload.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Box id -> the one id of the outer namespace. Written by ourselves: one range of our own id needs no helper.
 */
static int map_nested(const struct wall_init *w, struct err *e)
{
        char map[64];
        (void) snprintf(map, sizeof map, "%u 0 1", w->plan->uid);
        if (fd_put(w->host_proc, "self/setgroups", "deny") < 0 ||
            fd_put(w->host_proc, "self/uid_map", map) < 0)
                return wall_fail(e, STAGE_IDS, "mapping the box's user");

        (void) snprintf(map, sizeof map, "%u 0 1", w->plan->gid);
        if (fd_put(w->host_proc, "self/gid_map", map) < 0)
                return wall_fail(e, STAGE_IDS, "mapping the box's group");

        return 0;
}

/* Raw system calls: libc's would signal other threads, and this process has init's libc state. */
static int become_box_user(const struct wall_init *w, struct err *e)
{
        bool mapped = wall_has(w->plan->wall, WALL_OWN_ROOT);
        uid_t uid = mapped ? w->plan->uid : w->s->host_uid;
        gid_t gid = mapped ? w->plan->gid : w->s->host_gid;

        if (mapped && wall_left_out(LAYER_NESTED_USER))
                uid = gid = 0; /* as the outer namespace calls the box's user */
        else if (mapped && map_nested(w, e) < 0)
                return -1;

        if (!mapped && w->s->host_uid != geteuid() && syscall(SYS_setgroups, 0, NULL) < 0)
                return wall_fail(e, STAGE_IDS, "leaving the caller's groups");

        if (syscall(SYS_setresgid, gid, gid, gid) == 0 && syscall(SYS_setresuid, uid, uid, uid) == 0)
                return 0;

        (void) wall_fail(e, STAGE_IDS, "becoming the box's user");
        return e->sys == EINVAL ? err_hint(e, "the user namespace around cordon has no number for your id: "
                                              "map it (`unshare -r`)")
                                : -1;
}

/* Past libc, which refuses the signals that it keeps for itself. */
void wall_signals_reset(void)
{
        static const unsigned long default_action[8]; /* the kernel's struct sigaction, or more */
        for (int s = 1; s < NSIG; s++)
                if (s != SIGKILL && s != SIGSTOP)
                        (void) syscall(SYS_rt_sigaction, s, default_action, NULL, (NSIG - 1) / 8);
}

static void unblock_signals(void)
{
        sigset_t none;
        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
}

static int close_walls(struct wall_init *w, struct err *e)
{
        if (w->landlock >= 0 && syscall(SYS_landlock_restrict_self, w->landlock, 0) < 0)
                return wall_fail(e, STAGE_LANDLOCK, "closing the Landlock wall");
        /* From here on a table of our own, with the granted descriptors and nothing else. */
        if (syscall(SYS_close_range, 3 + w->s->io->handle_count, ~0U, CLOSE_RANGE_UNSHARE) < 0)
                return wall_fail(e, STAGE_EXEC, "closing descriptors");
        return 0;
}

/* Behind the process wall the box's private directory has another name in each box: it is no part of a plan.
 */
static void name_own_dir(const struct wall_init *w)
{
        static char home[PATH_MAX_BYTES], temporary[PATH_MAX_BYTES];
        if (!w->s->own_dir)
                return;

        (void) snprintf(home, sizeof home, "HOME=%s", w->s->own_dir);
        (void) snprintf(temporary, sizeof temporary, "TMPDIR=%s/tmp", w->s->own_dir);
        for (const char **v = w->order->envp; *v; v++)
                *v = strcmp(*v, "HOME=" BOX_NO_HOME) == 0            ? home
                     : strcmp(*v, "TMPDIR=" BOX_NO_HOME "/tmp") == 0 ? temporary
                                                                     : *v;
}

/* As execvp: the first that exists and is executable; EACCES is remembered, because it is more specific than
 * ENOENT. */
void wall_payload_exec(struct wall_init *w, struct err *e)
{
        int sys = ENOENT;
        const char *path = w->order->exec[0];
        w->at_exec = true;
        name_own_dir(w);
        if (w->order->exec_denied) {
                (void) err_set(e, ERR_EXEC, EACCES, "blocked: run %s (no `run` line covers it)",
                               w->order->argv[0]);
                (void) err_hint(e, "--run %s", w->order->argv[0]);
                e->step = STAGE_EXEC;
                return;
        }

        for (const char **x = w->order->exec; *x; x++) {
                /* Not watched, by our own number: init waits for us and could not answer. */
                (void) syscall(SYS_execveat, AT_FDCWD, *x, w->order->launch, w->order->envp, 0, w->own);
                if (errno != ENOENT && errno != ENOTDIR) {
                        sys = errno;
                        path = *x;
                }
                if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
                        break;
        }

        (void) err_set(e, ERR_EXEC, sys, "cannot start %s: %s", sys == ENOENT ? w->order->argv[0] : path,
                       strerror(sys));
        e->step = STAGE_EXEC;
        if (sys == ENOENT)
                (void) err_hint(e, "the box does not see such a program; `cordon doors` shows what it sees");
        else if (sys == EACCES)
                (void) err_hint(e, "no `run` door covers it, or it is not executable");
}

/* SAFETY: after close_walls(): while other descriptors than the granted ones are open, a path through
 * /proc/self/fd leads out of the box (CVE-2024-21626). */
int wall_payload_enter_directory(const struct wall_init *w, struct err *e)
{
        const char *cwd = wall_left_out(LAYER_MOUNT) ? "/" : w->order->cwd;
        if (syscall(SYS_chdir, cwd, 0, 0, 0, 0, w->own) == 0) /* not shown: see wall_payload_exec() */
                return 0;
        /* An error of a door: files in a door may come from earlier boxes, and must not choose the wall. */
        (void) wall_fail(e, STAGE_DOORS, "entering the directory %s", w->order->cwd);
        if (e->sys == EACCES && w->s->host_uid != w->s->caller_uid && w->plan->wall == WALL_PROCESS)
                return err_hint(e,
                                "behind the process wall root's box is another user: open the directory to "
                                "all, or run cordon as the owner of the files, not as root");
        return err_hint(e, "open a door to it (`read`, `edit` or `write`), or choose another with --cwd");
}

/* The part that needs no root and no limit. */
int wall_payload_become(struct wall_init *w, struct err *e)
{
        (void) umask(w->mask);
        return become_box_user(w, e) < 0 ? -1 : wall_privileges_drop(w->last_cap, e);
}

int wall_payload_lead_session(struct err *e)
{
        return setsid() < 0 ? wall_fail(e, STAGE_IDS, "making a session") : 0;
}

/* After the handlers of the caller are gone: from here on a signal ends this process. */
int wall_payload_load_filter(struct wall_init *w, struct err *e)
{
        unblock_signals();
        if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) { /* the filter denies that to every process */
                (void) wall_fail(e, STAGE_CAPS, "closing the process to others");
                return err_hint(e, WALL_NOT_NESTED);
        }
        return wall_filter_load(w, e);
}

int wall_payload_take_terminal(struct err *e)
{
        return ioctl(0, TIOCSCTTY, 0) < 0 ? wall_fail(e, STAGE_IDS, "taking the terminal") : 0;
}

/* The part that needs root and limits. */
static int enter_box(struct wall_init *w, struct err *e)
{
        if (w->tty_slave >= 0 && wall_payload_take_terminal(e) < 0)
                return -1;
        if (wall_rlimits(w, e) < 0 || close_walls(w, e) < 0 || wall_payload_enter_directory(w, e) < 0)
                return -1;
        return wall_attest(w, e);
}

static int late_main(void *arg)
{
        struct wall_init *w = arg;
        w->last_cap = wall_last_cap();
        wall_signals_reset();
        if (wall_payload_lead_session(&w->error) == 0 && wall_payload_become(w, &w->error) == 0 &&
            wall_payload_load_filter(w, &w->error) == 0 && enter_box(w, &w->error) == 0)
                wall_payload_exec(w, &w->error);

        w->payload_failed = true;
        _exit(127);
}

/* ---- early ---- */

static void signal_event(int fd) { (void) eventfd_write(fd, 1); }

/* A gate that cannot be waited at is not passed. */
static void await_event(int fd)
{
        eventfd_t one;
        if (eventfd_read(fd, &one) < 0)
                _exit(127);
}

static int make_network(struct err *e)
{
        int hide = wall_left_out(LAYER_CGROUP_NS) ? 0 : CLONE_NEWCGROUP;
        /* A directory of the old root, held by us, would keep that busy. */
        if (chdir("/") < 0 || unshare(CLONE_NEWNET | hide) < 0)
                return wall_fail_namespace(e, STAGE_NET, "making the network namespace");
        return 0;
}

/* init has the mapped ids by now, and no longer changes them: a change would close /proc/self to us. And it
 * is still in the old root: in the middle of leaving it all are called chrooted, and may make no user
 * namespace.
 */
static int enter_nested(struct wall_init *w, struct err *e)
{
        if (!wall_left_out(LAYER_USER) && wall_become_root(w, e) < 0)
                return -1;
        if (!wall_left_out(LAYER_NESTED_USER) && unshare(CLONE_NEWUSER) < 0)
                return wall_fail_namespace(e, STAGE_IDS, "making the box's user namespace");
        return 0;
}

static int early_main(void *arg)
{
        struct wall_init *w = arg;
        wall_step("early-begin");
        bool ok = wall_payload_lead_session(&w->error) == 0 && make_network(&w->error) == 0;
        ok = ok && wall_net_loopback(w, &w->error) == 0;
        await_event(w->gate);
        ok = ok && enter_nested(w, &w->error) == 0;
        w->payload_failed = !ok;
        signal_event(w->news);
        ok = ok && wall_payload_become(w, &w->error) == 0;
        await_event(w->gate);
        ok = ok && wall_payload_load_filter(w, &w->error) == 0;
        wall_step("early-ready");
        await_event(w->gate);
        if (ok && enter_box(w, &w->error) == 0)
                wall_payload_exec(w, &w->error);

        w->payload_failed = true;
        _exit(127);
}

pid_t wall_payload_early(struct wall_init *w)
{
        w->gate = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
        w->news = eventfd(0, EFD_CLOEXEC);
        if (w->gate < 0 || w->news < 0)
                return -1;

        w->early = true;
        w->last_cap = wall_last_cap();

        /* The kernel clears `alive` and wakes its waiters when the child no longer shares our memory. */
        int flags =
                CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
        w->payload = clone(early_main, w->stack + sizeof w->stack, flags, w, &w->alive, NULL, &w->alive);
        return w->payload;
}

/* With a word, or killed. */
static int ended_early(const struct wall_init *w, struct err *e)
{
        if (w->payload_failed)
                *e = w->error;
        else
                (void) err_set(e, ERR_WALL, 0, "the payload's process ended before its program began");
        return -1;
}

/* Checks now and then: a killed process sends no message. */
int wall_payload_namespaces(struct wall_init *w, struct err *e)
{
        enum { LOOK_MS = 50 };
        struct pollfd news = { .fd = w->news, .events = POLLIN };
        while (poll(&news, 1, LOOK_MS) != 1 && atomic_load(&w->alive) != 0)
                ;

        if (w->payload_failed || atomic_load(&w->alive) == 0)
                return ended_early(w, e);

        /* The process names it: a file of /proc would have to be opened first. */
        if ((w->net_ns = (int) syscall(SYS_pidfd_open, w->payload, 0)) < 0)
                return wall_fail_namespace(e, STAGE_NET, "finding the network namespace");

        return 0;
}

void wall_payload_let_on(struct wall_init *w) { signal_event(w->gate); }

/* Nothing here can fail before the other is gone, so that its errno is its own. */
static void await_exec(struct wall_init *w)
{
        pid_t alive;
        while ((alive = atomic_load(&w->alive)) != 0)
                (void) syscall(SYS_futex, &w->alive, FUTEX_WAIT, alive, NULL, NULL, 0);
}

static void start_early(struct wall_init *w)
{
        wall_payload_let_on(w);
        await_exec(w);
        fd_close(&w->gate);
        fd_close(&w->news);
}

/* ---- late ---- */

static int start_late(struct wall_init *w, struct err *e)
{
        int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD;
        if (wall_has(w->plan->wall, WALL_OWN_ROOT) && !wall_left_out(LAYER_NESTED_USER))
                flags |= CLONE_NEWUSER;
        w->payload = clone(late_main, w->stack + sizeof w->stack, flags, w);
        return w->payload < 0 ? wall_fail(e, STAGE_EXEC, "making the payload's process") : 0;
}

/* Layers that the payload's own process raised; each was probed before exec. */
uint32_t wall_payload_layers(const struct wall_init *w)
{
        static const enum wall_layer always[] = { LAYER_CAPS, LAYER_NO_NEW_PRIVS, LAYER_SECCOMP,
                                                  LAYER_RLIMIT };
        uint32_t bits = 0;
        for (size_t i = 0; i < sizeof always / sizeof *always; i++)
                if (!wall_left_out(always[i]))
                        bits |= 1u << always[i];

        if (wall_has(w->plan->wall, WALL_OWN_ROOT) && !wall_left_out(LAYER_NESTED_USER))
                bits |= 1u << LAYER_NESTED_USER;

        if (w->landlock >= 0)
                bits |= 1u << LAYER_LANDLOCK;

        return bits;
}

int wall_payload_start(struct wall_init *w, struct err *e)
{
        if (w->early)
                start_early(w);
        else if (start_late(w, e) < 0)
                return -1;

        if (w->payload_failed || !w->at_exec)
                return ended_early(w, e);

        w->layers |= wall_payload_layers(w);
        return 0;
}
