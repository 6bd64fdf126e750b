/* SPDX-License-Identifier: MIT */
/* wall/payload.c - from init to the payload's first instruction.
 *
 * The payload's process shares init's memory until exec (CLONE_VM | CLONE_VFORK: no page tables are copied)
 * and init's descriptors until it has handed over the seccomp listener. It is born in a user namespace nested
 * in the one that owns the mounts and the network, so it owns neither. */
#include "base/fd.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/* Raw calls: libc's would tell other threads, and this process has init's libc state. */
static int become_box_user(const struct wall_init *w, struct err *e)
{
        bool mapped = w->plan->wall == WALL_NAMESPACE;
        uid_t uid = mapped ? w->plan->uid : w->s->host_uid;
        gid_t gid = mapped ? w->plan->gid : w->s->host_gid;
        if (mapped && wall_left_out(LAYER_NESTED_USER))
                uid = gid = 0; /* as the outer namespace calls the box's user */
        else if (mapped && map_nested(w, e) < 0)
                return -1;
        if (!mapped && w->s->host_uid != geteuid() && syscall(SYS_setgroups, 0, NULL) < 0)
                return wall_fail(e, STAGE_IDS, "leaving the caller's groups");
        if (syscall(SYS_setresgid, gid, gid, gid) < 0 || syscall(SYS_setresuid, uid, uid, uid) < 0)
                return wall_fail(e, STAGE_IDS, "becoming the box's user");
        return 0;
}

static int take_terminal(const struct wall_init *w, struct err *e)
{
        if (setsid() < 0)
                return wall_fail(e, STAGE_IDS, "making a session");
        if (w->tty_slave >= 0 && ioctl(0, TIOCSCTTY, 0) < 0)
                return wall_fail(e, STAGE_IDS, "taking the terminal");
        return 0;
}

static void reset_signals(void)
{
        for (int s = 1; s < NSIG; s++)
                if (s != SIGKILL && s != SIGSTOP)
                        (void) signal(s, SIG_DFL);
        sigset_t none;
        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The listener appears in init's table too: the two share it until close_range() below. */
int wall_filter_load(struct wall_init *w, struct err *e)
{
        if (wall_left_out(LAYER_SECCOMP))
                return 0;
        struct sock_fprog prog = { .len = w->filter_len, .filter = w->filter };
        unsigned flags = w->s->tell ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
        long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
        if (r < 0)
                return wall_fail(e, STAGE_SECCOMP, "loading the system-call filter");
        if (w->s->tell)
                w->listener = (int) r;
        return 0;
}

static int close_walls(struct wall_init *w, struct err *e)
{
        if (w->landlock >= 0 && syscall(SYS_landlock_restrict_self, w->landlock, 0) < 0)
                return wall_fail(e, STAGE_LANDLOCK, "closing the Landlock wall");
        if (wall_filter_load(w, e) < 0)
                return -1;
        /* From here on a table of our own, with the granted descriptors and nothing else. */
        if (syscall(SYS_close_range, 3 + w->s->io->handle_count, ~0U, CLOSE_RANGE_UNSHARE) < 0)
                return wall_fail(e, STAGE_EXEC, "closing descriptors");
        return 0;
}

/* As execvp: the first that is there and may run; EACCES is remembered, because it tells more than ENOENT. */
static void exec_payload(struct wall_init *w, struct err *e)
{
        int sys = ENOENT;
        const char *path = w->plan->exec[0];
        for (const char **x = w->plan->exec; *x; x++) {
                /* Not watched, by our own number: init waits for us and could not answer. */
                (void) syscall(SYS_execveat, AT_FDCWD, *x, w->plan->argv, w->plan->envp, 0, w->own);
                if (errno != ENOENT && errno != ENOTDIR) {
                        sys = errno;
                        path = *x;
                }
                if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
                        break;
        }
        (void) err_set(e, ERR_EXEC, sys, "cannot start %s: %s", sys == ENOENT ? w->plan->argv[0] : path,
                       strerror(sys));
        e->step = STAGE_EXEC;
        if (sys == ENOENT)
                (void) err_hint(e, "the box does not see such a program; `cordon doors` tells what it sees");
        else if (sys == EACCES)
                (void) err_hint(e, "no `run` door covers it, or it is not executable");
}

/* Not through /proc/self/fd: descriptors that are still open here lead out of the box (CVE-2024-21626). */
static int enter_directory(const char *path)
{
        AUTO_FD(dir, wall_open2(AT_FDCWD, path, O_PATH | O_DIRECTORY, RESOLVE_NO_MAGICLINKS));
        return dir < 0 ? -1 : fchdir(dir);
}

static int prepare(struct wall_init *w, struct err *e)
{
        reset_signals();
        if (become_box_user(w, e) < 0 || take_terminal(w, e) < 0)
                return -1;
        if (enter_directory(wall_left_out(LAYER_MOUNT) ? "/" : w->plan->cwd) < 0) {
                (void) wall_fail(e, STAGE_EXEC, "entering the directory %s", w->plan->cwd);
                return err_hint(
                        e, "open a door to it (`read`, `edit` or `write`), or choose another with --cwd");
        }
        if (wall_privileges_drop(e) < 0 || wall_rlimits(w, e) < 0 || close_walls(w, e) < 0)
                return -1;
        return wall_attest(w, e);
}

static int payload_main(void *arg)
{
        struct wall_init *w = arg;
        if (prepare(w, &w->error) == 0)
                exec_payload(w, &w->error);
        w->payload_failed = true;
        _exit(127);
}

/* Layers that the payload's own process raised; each was probed before exec. */
static uint32_t payload_layers(const struct wall_init *w)
{
        static const enum wall_layer always[] = { LAYER_CAPS, LAYER_NO_NEW_PRIVS, LAYER_SECCOMP,
                                                  LAYER_RLIMIT };
        uint32_t bits = 0;
        for (size_t i = 0; i < sizeof always / sizeof *always; i++)
                if (!wall_left_out(always[i]))
                        bits |= 1u << always[i];
        if (w->plan->wall == WALL_NAMESPACE && !wall_left_out(LAYER_NESTED_USER))
                bits |= 1u << LAYER_NESTED_USER;
        if (w->landlock >= 0)
                bits |= 1u << LAYER_LANDLOCK;
        return bits;
}

int wall_payload_start(struct wall_init *w, struct err *e)
{
        int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD;
        if (w->plan->wall == WALL_NAMESPACE && !wall_left_out(LAYER_NESTED_USER))
                flags |= CLONE_NEWUSER;
        w->payload = clone(payload_main, w->stack + sizeof w->stack, flags, w);
        if (w->payload < 0)
                return wall_fail(e, STAGE_EXEC, "making the payload's process");
        if (w->payload_failed) {
                *e = w->error;
                return -1;
        }
        w->layers |= payload_layers(w);
        return 0;
}
