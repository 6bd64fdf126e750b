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

static int looked_at(struct probe_result *r, long reply, const char *call)
{
        return with_effect(r, reply, call, "read");
}
static int changed(struct probe_result *r, long reply, const char *call)
{
        return with_effect(r, reply, call, "write");
}

static int gap_chdir(struct probe_result *r) { return looked_at(r, chdir(canary(r, "")), "chdir outside"); }

static int gap_stat(struct probe_result *r)
{
        struct stat st;
        return looked_at(r, stat(canary(r, "secret"), &st), "stat outside");
}

static int gap_access(struct probe_result *r)
{
        return looked_at(r, access(canary(r, "secret"), F_OK), "access outside");
}

static int gap_readlink(struct probe_result *r)
{
        char text[64];
        return looked_at(r, readlink(canary(r, "link"), text, sizeof text), "readlink outside");
}

static int gap_statfs(struct probe_result *r)
{
        struct statfs fs;
        return looked_at(r, statfs(canary(r, "secret"), &fs), "statfs outside");
}

/* To the mode that it has: harmless, and still a change of ctime that needs the right to make it. */
static int gap_chmod(struct probe_result *r)
{
        return changed(r, chmod(canary(r, "secret"), 0644), "chmod outside");
}
static int gap_chmod_dir(struct probe_result *r)
{
        return changed(r, chmod(canary(r, ""), 0755), "chmod of a directory outside");
}

static int gap_chmod_fd(struct probe_result *r)
{
        AUTO_FD(fd, open(canary(r, "secret"), O_PATH | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open with O_PATH outside");
        return changed(r, syscall(452 /* fchmodat2 */, fd, "", 0644, AT_EMPTY_PATH), "fchmodat2 outside");
}

static int gap_chown(struct probe_result *r)
{
        return changed(r, chown(canary(r, "secret"), getuid(), getgid()), "chown outside");
}

static int gap_utime(struct probe_result *r)
{
        return changed(r, utimensat(AT_FDCWD, canary(r, "secret"), NULL, 0), "utimensat outside");
}

static int gap_setxattr(struct probe_result *r)
{
        long reply = setxattr(canary(r, "secret"), "user.cordon-probe", "x", 1, 0);
        if (reply == 0)
                (void) removexattr(canary(r, "secret"), "user.cordon-probe");
        return changed(r, reply, "setxattr outside");
}

static int gap_getxattr(struct probe_result *r)
{
        char list[256];
        return looked_at(r, listxattr(canary(r, "secret"), list, sizeof list), "listxattr outside");
}

static int gap_truncate(struct probe_result *r)
{
        return changed(r, truncate(canary(r, "long"), 4096), "truncate outside"); /* to the length it has */
}

static int gap_inotify(struct probe_result *r)
{
        AUTO_FD(fd, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
        if (fd < 0)
                return refused(r, "inotify_init1");
        return looked_at(r, inotify_add_watch(fd, canary(r, ""), IN_CREATE | IN_OPEN | IN_ACCESS),
                         "inotify_add_watch outside");
}

static int gap_list(struct probe_result *r) { return by_open(r, canary(r, ""), O_RDONLY | O_DIRECTORY); }

/* Opens no byte of the file, yet holds it, and every later *at() call may start there. */
static int gap_o_path(struct probe_result *r)
{
        AUTO_FD(fd, open(canary(r, "secret"), O_PATH | O_CLOEXEC));
        return looked_at(r, fd, "open with O_PATH outside");
}

static int gap_fifo(struct probe_result *r) { return by_write_open(r, canary(r, "fifo")); }

static int gap_unlink(struct probe_result *r)
{
        return changed(r, unlink(canary(r, "spare")), "unlink outside");
}

static int gap_mknod(struct probe_result *r)
{
        long reply = mknod(canary(r, "made"), S_IFIFO | 0600, 0);
        if (reply == 0)
                (void) unlink(canary(r, "made"));
        return changed(r, reply, "mkfifo outside");
}

static int gap_symlink(struct probe_result *r)
{
        long reply = symlink("/etc/shadow", canary(r, "planted"));
        if (reply == 0)
                (void) unlink(canary(r, "planted"));
        return changed(r, reply, "symlink outside");
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

#define CLASS PROBE_FILES
static const struct probe rows[] = {
        CLAIM("no directory outside can be entered", PROBE_FILES, "chdir tells what exists", "mount",
              gap_chdir, NOT_BY_PROCESS_WALL),
        CLAIM("no file outside can be looked at", PROBE_FILES, "names, sizes and times of host files",
              "mount", gap_stat, NOT_BY_PROCESS_WALL),
        CLAIM("no file outside can be asked for", PROBE_FILES, "access tells what exists", "mount",
              gap_access, NOT_BY_PROCESS_WALL),
        CLAIM("no link outside can be read", PROBE_FILES, "readlink tells the host's layout", "mount",
              gap_readlink, NOT_BY_PROCESS_WALL),
        CLAIM("no filesystem outside can be measured", PROBE_FILES, "statfs tells of host disks", "mount",
              gap_statfs, NOT_BY_PROCESS_WALL),
        CLAIM("no file outside can be held by O_PATH", PROBE_FILES, "a descriptor of a host file", "mount",
              gap_o_path, NOT_BY_PROCESS_WALL),
        CLAIM("no attribute outside can be read", PROBE_FILES, "labels and tags of host files", "mount",
              gap_getxattr, NOT_BY_PROCESS_WALL),
        ROW("no directory outside can be listed", "names of host files", "mount,landlock", gap_list),
        ROW("no mode outside can be changed", "the caller's files are opened to all, or shut",
            "mount,seccomp", gap_chmod),
        ROW("no directory's mode outside can be changed", "the caller's home is opened to all",
            "mount,seccomp", gap_chmod_dir),
        ROW("no mode outside can be changed by descriptor", "the caller's files are opened to all",
            "mount,seccomp", gap_chmod_fd),
        ROW("no owner outside can be changed", "host files change hands", "mount,user", gap_chown),
        ROW("no time outside can be changed", "build tools and backups are misled", "mount", gap_utime),
        ROW("no attribute outside can be set", "tags and ACLs of host files change", "mount", gap_setxattr),
        ROW("no file outside can be truncated", "host files are emptied", "mount,landlock", gap_truncate),
        ROW("nothing outside can be watched", "the caller's work is observed", "mount", gap_inotify),
        ROW("no fifo outside can be written", "a host program is fed", "mount,landlock", gap_fifo),
        ROW("nothing outside can be removed", "host files vanish", "mount,landlock", gap_unlink),
        ROW("no node can be made outside", "host readers are trapped", "mount,landlock", gap_mknod),
        ROW("no link can be planted outside", "host tools write through it", "mount,landlock", gap_symlink),
        CLAIM("no program outside can be run", PROBE_EXECUTION, "programs that no door names",
              "mount,landlock", gap_exec, PROMISED),
};
const struct probe_list probes_landlock = PROBE_LIST(rows);
