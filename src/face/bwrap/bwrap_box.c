/* SPDX-License-Identifier: MIT */
/* face/bwrap/bwrap_box.c - the processes of a box: the monitor, which stays outside, and the first process
 * inside, which sets everything up and becomes the command, or the reaper beside it. */
#include "base/buf.h"
#include "base/fd.h"
#include "face/bwrap/bwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { EXIT_SIGNALLED = 128, FD_FIRST = 3 };

struct box {
        struct bwrap_order *o;
        uid_t uid; /* the caller's */
        gid_t gid;
        int go;       /* the first process waits for it; -1: it does not */
        int event;    /* the reaper writes the command's status plus one; -1: none */
        int began[2]; /* one byte before the command is executed, another if that fails; -1: not asked for */
        int proc;
        bool terminal; /* the caller has a controlling terminal */
        mode_t mask;
        char cwd[PATH_MAX];
        struct bwrap_filters filters;
};

static int fail(struct err *e, const char *what) { return err_set(e, ERR_WALL, errno, "%s", what); }

static void die_with_parent(const struct bwrap_order *o)
{
        if (o->die_with_parent)
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static int status_of(int status)
{
        return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNALLED + WTERMSIG(status);
}

/* Closes all descriptors but the standard streams and those of `keep`. */
static void close_others(const int *keep, size_t count)
{
        unsigned from = FD_FIRST;
        for (;;) {
                unsigned next = UINT_MAX;
                for (size_t i = 0; i < count; i++)
                        if (keep[i] >= (int) from && (unsigned) keep[i] < next)
                                next = (unsigned) keep[i];

                if (next > from)
                        (void) syscall(SYS_close_range, from, next == UINT_MAX ? next : next - 1, 0);
                if (next == UINT_MAX)
                        return;
                from = next + 1;
        }
}

/* ---- the monitor ---- */

/* The namespaces that the box does not share with the caller. */
static void add_namespaces(const struct bwrap_order *o, int proc, pid_t pid, const char *between,
                           struct buf *out)
{
        const struct {
                const char *name;
                bool own;
        } spaces[] = { { "cgroup", o->cgroup }, { "ipc", o->ipc }, { "mnt", true },
                       { "net", o->net },       { "pid", o->pid }, { "uts", o->uts } };
        for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
                char path[48];
                struct stat st;
                (void) snprintf(path, sizeof path, "%d/ns/%s", (int) pid, spaces[i].name);
                if (spaces[i].own && fstatat(proc, path, &st, 0) == 0)
                        buf_printf(out, ",%s\"%s-namespace\": %ju", between, spaces[i].name,
                                   (uintmax_t) st.st_ino);
        }
}

static int write_info(const struct box *b, pid_t pid, struct err *e)
{
        const struct bwrap_order *o = b->o;
        AUTO_BUF(info);
        AUTO_BUF(line);
        buf_printf(&info, "{\n    \"child-pid\": %d", (int) pid);
        buf_printf(&line, "{ \"child-pid\": %d", (int) pid);
        add_namespaces(o, b->proc, pid, "\n    ", &info);
        add_namespaces(o, b->proc, pid, " ", &line);
        buf_puts(&info, "\n}\n");
        buf_puts(&line, " }\n");
        if (o->info_fd >= 0 && (info.failed || fd_write_all(o->info_fd, info.p, info.n) < 0))
                return fail(e, "Write to info_fd");
        if (o->status_fd >= 0 && (line.failed || fd_write_all(o->status_fd, line.p, line.n) < 0))
                return fail(e, "Write to json_status_fd");
        if (o->info_fd >= 0)
                (void) close(o->info_fd);
        return 0;
}

/* Only of a command that was executed. */
static void write_exit(const struct box *b, int code)
{
        char bytes[2], line[40];
        if (b->o->status_fd < 0 || read(b->began[0], bytes, sizeof bytes) != 1)
                return;

        int n = snprintf(line, sizeof line, "{ \"exit-code\": %d }\n", code);
        (void) fd_write_all(b->o->status_fd, line, (size_t) n);
}

/* The command's status if the reaper wrote it, which comes before the end of the reaper itself. */
static bool take_event(int event, int *ret)
{
        uint64_t value = 0;
        if (event < 0 || read(event, &value, sizeof value) != sizeof value)
                return false;
        *ret = (int) value - 1;
        return true;
}

/* The caller may have had children before it became this program. */
static bool take_child(pid_t child, int *ret)
{
        int status = 0;
        pid_t pid = 0;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
                if (pid == child) {
                        *ret = status_of(status);
                        return true;
                }
        return false;
}

static int watch_child(const struct box *b, pid_t child, int signals)
{
        int code = 0;
        for (;;) {
                struct pollfd fds[] = { { .fd = signals, .events = POLLIN },
                                        { .fd = b->event, .events = POLLIN } };
                struct signalfd_siginfo info;
                (void) poll(fds, 2, -1);
                if (take_event(b->event, &code))
                        return code;

                (void) !read(signals, &info, sizeof info);
                if (take_child(child, &code)) {
                        (void) take_event(b->event, &code);
                        return code;
                }
        }
}

static void wait_for_byte(int fd)
{
        char byte;
        while (read(fd, &byte, 1) < 0 && errno == EINTR)
                ;
        (void) close(fd);
}

static int monitor_box(struct box *b, pid_t child, const sigset_t *chld, struct err *e)
{
        struct bwrap_order *o = b->o;
        die_with_parent(o); /* before the caller knows of the box */
        if (b->began[1] >= 0)
                fd_close(&b->began[1]);
        if ((o->info_fd >= 0 || o->status_fd >= 0) && write_info(b, child, e) < 0)
                return -1;
        if (o->userns2_fd >= 0 && setns(o->userns2_fd, CLONE_NEWUSER) < 0)
                return fail(e, "Setting userns2 failed");
        if (bwrap_caps_set(0, e) < 0)
                return -1;

        die_with_parent(o); /* --userns2 took it away */
        (void) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
        if (o->userns_block_fd >= 0)
                wait_for_byte(o->userns_block_fd);
        if (b->go >= 0) {
                uint64_t one = 1;
                (void) !write(b->go, &one, sizeof one);
        }

        const int keep[] = { b->event, o->status_fd, b->began[0] };
        close_others(keep, sizeof keep / sizeof *keep);
        AUTO_FD(signals, signalfd(-1, chld, SFD_CLOEXEC | SFD_NONBLOCK));
        if (signals < 0)
                return fail(e, "Can't create signalfd");

        int code = watch_child(b, child, signals);
        write_exit(b, code);
        return code;
}

/* ---- inside ---- */

/* A user namespace maps one id. */
static int write_maps(const struct box *b, int64_t uid, uid_t outer_uid, int64_t gid, gid_t outer_gid,
                      bool deny, struct err *e)
{
        char map[48];
        (void) snprintf(map, sizeof map, "%lld %u 1\n", (long long) uid, (unsigned) outer_uid);
        if (fd_put(b->proc, "self/uid_map", map) < 0)
                return fail(e, "setting up uid map");
        if (deny && fd_put(b->proc, "self/setgroups", "deny\n") < 0 && errno != ENOENT)
                return fail(e, "error writing to setgroups");

        (void) snprintf(map, sizeof map, "%lld %u 1\n", (long long) gid, (unsigned) outer_gid);
        return fd_put(b->proc, "self/gid_map", map) < 0 ? fail(e, "setting up gid map") : 0;
}

/* devpts needs a uid 0 in the namespace that mounts it; a second one maps back. */
static bool is_root_first(const struct bwrap_order *o) { return o->user && o->userns_block_fd < 0 && o->dev; }

static int take_ids(const struct box *b, struct err *e)
{
        const struct bwrap_order *o = b->o;
        if ((o->user || o->userns_fd >= 0) && bwrap_caps_bound(o->caps, e) < 0)
                return -1;
        if (o->userns_fd >= 0 && ((o->gid != b->gid && setgid((gid_t) o->gid) < 0) ||
                                  (o->uid != b->uid && setuid((uid_t) o->uid) < 0)))
                return fail(e, "unable to switch to the ids of --uid and --gid");
        if (!o->user || o->userns_block_fd >= 0)
                return 0;

        bool root = is_root_first(o);
        return write_maps(b, root ? 0 : o->uid, b->uid, root ? 0 : o->gid, b->gid, true, e);
}

static int raise_loopback(struct err *e)
{
        struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
        AUTO_FD(s, socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        if (s < 0 || ioctl(s, SIOCSIFFLAGS, &request) < 0)
                return fail(e, "loopback: setting it up failed");
        return 0;
}

/* The second user namespace: with the caller's ids, or because the first one forbids others. */
static int nest_user(const struct box *b, struct err *e)
{
        const struct bwrap_order *o = b->o;
        bool root = is_root_first(o);
        if (o->userns2_fd >= 0 && setns(o->userns2_fd, CLONE_NEWUSER) < 0)
                return fail(e, "Setting userns2 failed");

        bool differs = root && (o->uid != 0 || o->gid != 0);
        if (differs || o->disable_userns) {
                if (o->disable_userns && fd_put(b->proc, "sys/user/max_user_namespaces", "1") < 0)
                        return fail(e, "sysctl user.max_user_namespaces = 1");
                if (unshare(CLONE_NEWUSER) < 0)
                        return fail(e, "unshare user ns");

                if (bwrap_caps_bound(o->caps, e) < 0 ||
                    write_maps(b, o->uid, root ? 0 : (uid_t) o->uid, o->gid, root ? 0 : (gid_t) o->gid, false,
                               e) < 0)
                        return -1;
        }

        if ((o->disable_userns || o->assert_userns_disabled) && unshare(CLONE_NEWUSER) == 0)
                return err_set(e, ERR_WALL, 0,
                               "creation of new user namespaces was not disabled as requested");
        return 0;
}

/* Root without a user namespace and without an option about them keeps what it has. */
static int drop_caps(const struct box *b, struct err *e)
{
        bool keeps = b->uid == 0 && !b->o->caps_named;
        if (!keeps && bwrap_caps_set(b->o->caps, e) < 0)
                return -1;
        return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ? fail(e, "can't set dumpable") : 0;
}

static int enter_cwd(const struct box *b, struct err *e)
{
        const char *home = getenv("HOME"), *at = "/";
        if (b->o->chdir && chdir(b->o->chdir) < 0)
                return err_set(e, ERR_WALL, errno, "Can't chdir to %.256s", b->o->chdir);

        if (b->o->chdir)
                at = b->o->chdir;
        else if (*b->cwd && chdir(b->cwd) == 0)
                at = b->cwd;
        else if (home && chdir(home) == 0)
                at = home;
        return setenv("PWD", at, 1) < 0 ? fail(e, "setting PWD") : 0;
}

static int hold_locks(const struct bwrap_order *o, struct err *e)
{
        for (size_t i = 0; i < o->lock_count; i++) {
                struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
                int fd = open(o->locks[i], O_RDONLY | O_CLOEXEC);
                if (fd < 0)
                        return err_set(e, ERR_WALL, errno, "Unable to open lock file %.256s", o->locks[i]);
                if (fcntl(fd, F_SETLK, &lock) < 0)
                        return err_set(e, ERR_WALL, errno, "Unable to lock file %.256s", o->locks[i]);
        }

        return 0;
}

/* Process 1, or the holder of locks: until the last process of the box has ended. */
static int reap_children(const struct box *b, pid_t command, struct err *e)
{
        const struct bwrap_order *o = b->o;
        const int keep[] = { b->event, o->sync_fd };
        if (bwrap_caps_set(0, e) < 0)
                return -1;

        close_others(keep, sizeof keep / sizeof *keep);
        if (hold_locks(o, e) < 0)
                return -1;

        die_with_parent(o);
        if (bwrap_filters_load(&b->filters, e) < 0)
                return -1;

        int code = 1;
        for (;;) {
                int status = 0;
                pid_t pid = wait(&status);
                if (pid == command) {
                        uint64_t value = (uint64_t) (code = status_of(status)) + 1;
                        if (b->event >= 0)
                                (void) !write(b->event, &value, sizeof value);
                }

                if (pid < 0 && errno != EINTR)
                        return code;
        }
}

static int execute_command(struct box *b, struct err *e)
{
        struct bwrap_order *o = b->o;
        sigset_t none;
        (void) sigemptyset(&none);
        (void) sigaddset(&none, SIGCHLD);
        (void) sigprocmask(SIG_UNBLOCK, &none, NULL);
        if (!o->as_pid_1 && o->sync_fd >= 0)
                (void) close(o->sync_fd);

        die_with_parent(o);
        if (bwrap_caps_ambient(o->caps, e) < 0 || bwrap_filters_load(&b->filters, e) < 0)
                return -1;

        const char *program = o->argv[0];
        size_t count = 0;
        while (o->argv[count])
                count++;

        const char **argv = calloc(count + 1, sizeof *argv);
        if (!argv)
                return fail(e, "out of memory");

        memcpy(argv, o->argv, count * sizeof *argv);
        if (o->argv0)
                argv[0] = o->argv0;

        (void) !write(b->began[1], "", 1);
        (void) execvp(program, (char *const *) (uintptr_t) argv);
        int sys = errno;
        (void) !write(b->began[1], "", 1);
        free(argv);
        return err_set(e, ERR_EXEC, sys, "execvp %.256s", program);
}

static int build_view(struct box *b, struct err *e)
{
        const struct bwrap_order *o = b->o;
        char tty[64];
        struct bwrap_root root = { .top = -1, .aside = -1, .base = -1, .proc = b->proc };
        root.own_proc = o->pid || o->pidns_fd >= 0;
        root.tty = isatty(1) && ttyname_r(1, tty, sizeof tty) == 0 ? tty : NULL;
        root.old = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (root.old < 0)
                return fail(e, "can't open /");
        if (!getcwd(b->cwd, sizeof b->cwd) || *b->cwd != '/')
                *b->cwd = '\0';

        b->mask = umask(0);
        if (bwrap_root_build(b->o, &root, e) < 0 || bwrap_root_enter(&root, e) < 0)
                return -1;

        (void) umask(b->mask);
        return 0;
}

static int set_up(struct box *b, struct err *e)
{
        const struct bwrap_order *o = b->o;
        if (o->info_fd >= 0)
                (void) close(o->info_fd);
        if (o->status_fd >= 0)
                (void) close(o->status_fd);
        if (b->go >= 0) {
                uint64_t value = 0;
                (void) !read(b->go, &value, sizeof value);
        }

        if (take_ids(b, e) < 0 || (o->net && raise_loopback(e) < 0))
                return -1;
        if (o->hostname && sethostname(o->hostname, strlen(o->hostname)) < 0)
                return err_set(e, ERR_WALL, errno, "Can't set hostname to %.64s", o->hostname);
        if (build_view(b, e) < 0 || nest_user(b, e) < 0 || drop_caps(b, e) < 0)
                return -1;
        if (o->block_fd >= 0)
                wait_for_byte(o->block_fd);
        if (bwrap_filters_read(o, b->terminal, &b->filters, e) < 0 || enter_cwd(b, e) < 0)
                return -1;
        return o->new_session && setsid() < 0 ? fail(e, "setsid") : 0;
}

/* The first process of the box. */
static int run_inside(struct box *b, struct err *e)
{
        const struct bwrap_order *o = b->o;
        die_with_parent(o); /* and again later: a new user namespace takes it away */
        if (b->began[0] >= 0)
                fd_close(&b->began[0]);
        if (set_up(b, e) < 0)
                return -1;
        if (o->as_pid_1 || (!o->pid && o->lock_count == 0 && o->sync_fd < 0))
                return execute_command(b, e);

        pid_t command = fork();
        if (command < 0)
                return fail(e, "Can't fork for pid 1");
        return command == 0 ? execute_command(b, e) : reap_children(b, command, e);
}

/* ---- the clone ---- */

static unsigned long clone_flags(const struct bwrap_order *o)
{
        unsigned long flags = SIGCHLD | CLONE_NEWNS;
        flags |= o->user ? CLONE_NEWUSER : 0;
        flags |= o->pid ? CLONE_NEWPID : 0;
        flags |= o->net ? CLONE_NEWNET : 0;
        flags |= o->ipc ? CLONE_NEWIPC : 0;
        flags |= o->uts ? CLONE_NEWUTS : 0;
        flags |= o->cgroup ? CLONE_NEWCGROUP : 0;
        return flags;
}

static pid_t clone_self(unsigned long flags)
{
        return (pid_t) syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
}

static int clone_failed(const struct bwrap_order *o, struct err *e)
{
        int sys = errno;
        if (sys == ENOSPC)
                return err_set(e, ERR_HOST, 0,
                               "Creating new namespace failed: nesting depth or "
                               "/proc/sys/user/max_*_namespaces exceeded (ENOSPC)");

        (void) err_set(e, ERR_HOST, sys, "Creating new namespace failed");
        if (sys == EPERM && o->user)
                (void) err_hint(e,
                                "the host does not allow unprivileged user namespaces: `cordon doctor` shows "
                                "which setting forbids them");
        return -1;
}

/* In a given pid namespace that is to have another below it: the process in between passes the pid on, as the
 * monitor sees it, and ends. *ret is 0 in the box. */
static int clone_between(unsigned long flags, pid_t *ret, struct err *e)
{
        int line[2], on = 1;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) < 0 ||
            setsockopt(line[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0)
                return fail(e, "Can't create a socket pair");

        AUTO_FD(here, line[0]);
        AUTO_FD(there, line[1]);
        pid_t between = clone_self(SIGCHLD);
        if (between < 0)
                return fail(e, "Can't fork into the pid namespace");
        if (between == 0) {
                pid_t child = clone_self(flags | CLONE_PARENT);
                if (child != 0)
                        _exit(child < 0);
                (void) send(there, "", 1, MSG_NOSIGNAL);
                *ret = 0;
                return 0;
        }

        fd_close(&there);
        char byte, control[CMSG_SPACE(sizeof(struct ucred))] __attribute__((aligned(8)));
        struct iovec io = { &byte, 1 };
        struct msghdr m = {
                .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
        };
        ssize_t n = recvmsg(here, &m, 0);
        struct cmsghdr *c = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;
        if (!c || c->cmsg_type != SCM_CREDENTIALS)
                return err_set(e, ERR_HOST, 0, "Creating new namespace failed");

        struct ucred from;
        memcpy(&from, CMSG_DATA(c), sizeof from);
        *ret = from.pid;
        return 0;
}

/* Only the controlling terminal takes input by TIOCSTI. ENXIO: the process has no terminal. */
static bool has_terminal(void)
{
        AUTO_FD(tty, open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC));
        return tty >= 0 || errno != ENXIO;
}

/* Before descriptors of our own take their numbers. */
static int check_given(const struct bwrap_order *o, struct err *e)
{
        for (size_t i = 0; i < o->op_count; i++)
                if (o->ops[i].fd >= 0 && fcntl(o->ops[i].fd, F_GETFD) < 0)
                        return err_set(e, ERR_USAGE, errno, "Can't use fd %d for %.200s", o->ops[i].fd,
                                       o->ops[i].dest);
        return 0;
}

static int open_lines(struct box *b, struct err *e)
{
        const struct bwrap_order *o = b->o;
        b->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (b->proc < 0)
                return fail(e, "Can't open /proc");
        b->terminal = has_terminal();
        if (o->pid && !o->as_pid_1 && (b->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
                return fail(e, "eventfd()");
        if ((o->info_fd >= 0 || o->status_fd >= 0) && (b->go = eventfd(0, EFD_CLOEXEC)) < 0)
                return fail(e, "eventfd()");
        if (o->status_fd >= 0 && pipe2(b->began, O_CLOEXEC) < 0)
                return fail(e, "pipe2()");
        return 0;
}

static int join_given(const struct bwrap_order *o, struct err *e)
{
        if (o->userns_fd >= 0 && setns(o->userns_fd, CLONE_NEWUSER) < 0)
                return fail(e, "Joining specified user namespace failed");
        if (o->pidns_fd >= 0 && setns(o->pidns_fd, CLONE_NEWPID) < 0)
                return fail(e, "Setting pidns failed");
        return 0;
}

int bwrap_run(struct bwrap_order *o, struct err *e)
{
        static struct box b;
        b = (struct box){ .o = o,
                          .uid = getuid(),
                          .gid = getgid(),
                          .go = -1,
                          .event = -1,
                          .began = { -1, -1 },
                          .proc = -1 };
        sigset_t chld;
        (void) sigemptyset(&chld);
        (void) sigaddset(&chld, SIGCHLD);
        (void) signal(SIGCHLD, SIG_DFL); /* a caller that ignores it would leave no status */
        (void) sigprocmask(SIG_BLOCK, &chld, NULL);
        if (check_given(o, e) < 0 || open_lines(&b, e) < 0 || join_given(o, e) < 0)
                return -1;

        pid_t child = -1;
        if (o->pidns_fd >= 0 && o->pid) {
                if (clone_between(clone_flags(o), &child, e) < 0)
                        return -1;
        } else if ((child = clone_self(clone_flags(o))) < 0) {
                return clone_failed(o, e);
        }

        return child == 0 ? run_inside(&b, e) : monitor_box(&b, child, &chld, e);
}
