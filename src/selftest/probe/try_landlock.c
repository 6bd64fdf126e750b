/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_landlock.c - operations that Landlock does not cover by itself: lookups, modes, owners,
 * times, attributes, watches, sockets. Each is tried on the host's canary, so these succeed if only Landlock
 * stands. */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Success is on the canary: a door may have granted it, so the path is reported to the host. */
static int with_effect(struct probe_result *r, long reply, const char *call, const char *effect)
{
        if (reply >= 0)
                (void) snprintf(r->effect, sizeof r->effect, "%s %s", effect, canary(r, "secret"));
        return by_reply(r, reply, call);
}

static int changed_canary(struct probe_result *r, long reply, const char *call)
{
        return with_effect(r, reply, call, "write");
}

static int gap_chmod_fd(struct probe_result *r)
{
        AUTO_FD(fd, open(canary(r, "secret"), O_PATH | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open with O_PATH outside");
        return changed_canary(r, syscall(452 /* fchmodat2 */, fd, "", 0644, AT_EMPTY_PATH),
                              "fchmodat2 outside");
}

static int gap_chown(struct probe_result *r)
{
        return changed_canary(r, chown(canary(r, "secret"), getuid(), getgid()), "chown outside");
}

static int gap_setxattr(struct probe_result *r)
{
        long reply = setxattr(canary(r, "secret"), "user.cordon-probe", "x", 1, 0);
        if (reply == 0)
                (void) removexattr(canary(r, "secret"), "user.cordon-probe");
        return changed_canary(r, reply, "setxattr outside");
}

static int gap_inotify(struct probe_result *r)
{
        AUTO_FD(fd, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
        if (fd < 0)
                return refused(r, "inotify_init1");
        return with_effect(r, inotify_add_watch(fd, canary(r, ""), IN_CREATE | IN_OPEN | IN_ACCESS),
                           "inotify_add_watch outside", "read");
}

/* Opens no byte of the file, yet holds it, and every later *at() call may start there. */
static int gap_o_path(struct probe_result *r)
{
        AUTO_FD(fd, open(canary(r, "secret"), O_PATH | O_CLOEXEC));
        return with_effect(r, fd, "open with O_PATH outside", "read");
}

static int gap_list(struct probe_result *r) { return by_open(r, canary(r, ""), O_RDONLY | O_DIRECTORY); }
static int gap_fifo(struct probe_result *r) { return by_write_open(r, canary(r, "fifo")); }

static int gap_mknod(struct probe_result *r)
{
        long reply = mknod(canary(r, "made"), S_IFIFO | 0600, 0);
        if (reply == 0)
                (void) unlink(canary(r, "made"));
        return changed_canary(r, reply, "mkfifo outside");
}

static int gap_symlink(struct probe_result *r)
{
        long reply = symlink("/etc/shadow", canary(r, "planted"));
        if (reply == 0)
                (void) unlink(canary(r, "planted"));
        return changed_canary(r, reply, "symlink outside");
}

static int gap_exec(struct probe_result *r)
{
        AUTO_FD(fd, open(canary(r, "program"), O_PATH | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open with O_PATH outside");

        char *const argv[] = { (char[]){ "x" }, NULL };
        (void) snprintf(r->effect, sizeof r->effect, "run %s", canary(r, "program"));
        (void) escaped(r,
                       "a program outside was run by execveat"); /* stands if the next call does not return */
        (void) syscall(SYS_execveat, fd, "", argv, argv + 1, AT_EMPTY_PATH);
        return refused(r, "execveat of a program outside");
}

/* To the mode, the length and the owner that it has: harmless, and still a change that needs the right to
 * make it. */
#define LOOK(claim, means, words, name, ...)                                                                 \
        WITH(claim, PROBE_FILES, means, "mount", by_canary, NOT_BY_PROCESS_WALL, .what = words,              \
             .paths = (const char *const[]){ name, "read" }, .call = { __VA_ARGS__ })
#define CHANGE(claim, means, by, words, name, ...)                                                           \
        WITH(claim, PROBE_FILES, means, by, by_canary, PROMISED, .what = words,                              \
             .paths = (const char *const[]){ name, "write" }, .call = { __VA_ARGS__ })
#define CLASS PROBE_FILES
static char answer[256]; /* room for what a call returns; nobody reads it */
static const struct probe rows[] = {
        LOOK("no directory outside can be entered", "chdir tells what exists", "chdir outside", "", SYS_chdir,
             OF_CANARY),
        LOOK("no file outside can be looked at", "names, sizes and times of host files", "stat outside",
             "secret", BY_PATH(stat, newfstatat), OF_CANARY, PROBE_PTR(answer)),
        LOOK("no file outside can be asked for", "access tells what exists", "access outside", "secret",
             BY_PATH(access, faccessat), OF_CANARY, F_OK),
        LOOK("no link outside can be read", "readlink tells the host's layout", "readlink outside", "link",
             BY_PATH(readlink, readlinkat), OF_CANARY, PROBE_PTR(answer), sizeof answer),
        LOOK("no filesystem outside can be measured", "statfs tells of host disks", "statfs outside",
             "secret", SYS_statfs, OF_CANARY, PROBE_PTR(answer)),
        CLAIM("no file outside can be held by O_PATH", PROBE_FILES, "a descriptor of a host file", "mount",
              gap_o_path, NOT_BY_PROCESS_WALL),
        LOOK("no attribute outside can be read", "labels and tags of host files", "listxattr outside",
             "secret", SYS_listxattr, OF_CANARY, PROBE_PTR(answer), sizeof answer),
        ROW("no directory outside can be listed", "names of host files", "mount,landlock", gap_list),
        CHANGE("no mode outside can be changed", "the caller's files are opened to all, or shut",
               "mount,seccomp", "chmod outside", "secret", BY_PATH(chmod, fchmodat), OF_CANARY, 0644),
        CHANGE("no directory's mode outside can be changed", "the caller's home is opened to all",
               "mount,seccomp", "chmod of a directory outside", "", BY_PATH(chmod, fchmodat), OF_CANARY,
               0755),
        ROW("no mode outside can be changed by descriptor", "the caller's files are opened to all",
            "mount,seccomp", gap_chmod_fd),
        ROW("no owner outside can be changed", "host files change hands", "mount,user", gap_chown),
        CHANGE("no time outside can be changed", "build tools and backups are misled", "mount",
               "utimensat outside", "secret", SYS_utimensat, AT_FDCWD, OF_CANARY, 0, 0),
        ROW("no attribute outside can be set", "tags and ACLs of host files change", "mount", gap_setxattr),
        CHANGE("no file outside can be truncated", "host files are emptied", "mount,landlock",
               "truncate outside", "long", SYS_truncate, OF_CANARY, 4096),
        ROW("nothing outside can be watched", "the caller's work is observed", "mount", gap_inotify),
        ROW("no fifo outside can be written", "a host program is fed", "mount,landlock", gap_fifo),
        CHANGE("nothing outside can be removed", "host files vanish", "mount,landlock", "unlink outside",
               "spare", BY_PATH(unlink, unlinkat), OF_CANARY),
        ROW("no node can be made outside", "host readers are trapped", "mount,landlock", gap_mknod),
        ROW("no link can be planted outside", "host tools write through it", "mount,landlock", gap_symlink),
        CLAIM("no program outside can be run", PROBE_EXECUTION, "programs that no door names",
              "mount,landlock", gap_exec, PROMISED),
};
const struct probe_list probes_landlock = PROBE_LIST(rows);
