/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_files.c - ways to a file of the host that no door names: by path, by link, by
 * descriptor, by handle.
 */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The row has a prefix for the path of the canary. */
static int by_prefix(struct probe_result *r)
{
        char path[PATH_MAX];
        (void) snprintf(path, sizeof path, "%s%s", r->probe->what, canary(r, "secret"));
        return by_open(r, path, O_RDONLY);
}

static int by_link(struct probe_result *r)
{
        char path[128], target[PATH_MAX];
        (void) snprintf(target, sizeof target, "%s%s", r->probe->what, canary(r, "secret"));
        AUTO_FD(fd, make_file(path, "link", 0600));
        if (fd < 0)
                return refused(r, "making a place for the link");

        (void) unlink(path);
        if (symlink(target, path) < 0)
                return refused(r, "symlink");

        int o = by_open(r, path, O_RDONLY);
        (void) unlink(path);
        return o;
}

/* Every process this box can name, and the two ways out of each that the kernel keeps. */
static int through_process(struct probe_result *r, long long pid, const char *door)
{
        char path[PATH_MAX];
        (void) snprintf(path, sizeof path, "/proc/%lld/%s/../../../../../../../..%s", pid, door,
                        canary(r, "secret"));
        return by_open(r, path, O_RDONLY);
}

static int through_processes(struct probe_result *r)
{
        const char *door = r->probe->what;
        for (int pid = 1; pid < 400; pid++)
                if (through_process(r, pid, door) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;
        if (through_process(r, r->world->keeper, door) == PROBE_ESCAPED)
                return PROBE_ESCAPED;
        return through_process(r, r->world->bystander, door);
}

static int proc_fds(struct probe_result *r)
{
        char path[PATH_MAX];
        for (int fd = 0; fd < 256; fd++) {
                (void) snprintf(path, sizeof path, "/proc/self/fd/%d/../../../..%s", fd, canary(r, "secret"));
                if (by_open(r, path, O_RDONLY) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;
        }

        return PROBE_HELD;
}

static int proc_map_files(struct probe_result *r)
{
        AUTO_FD(fd, open("/proc/1/map_files", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (fd >= 0)
                return escaped(r, "the mapped files of pid 1 can be listed");

        return refused(r, "open /proc/1/map_files");
}

/* Standard streams and named handles are all a box may start with. Our own prober opens none. */
static int descriptors_leaked(struct probe_result *r)
{
        char link[64], target[200];
        for (int fd = 3; fd < 4096; fd++) {
                if (fcntl(fd, F_GETFD) < 0)
                        continue;
                (void) snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
                ssize_t n = readlink(link, target, sizeof target - 1);
                target[n > 0 ? n : 0] = '\0';
                if (strncmp(target, "/memfd:", 7) == 0)
                        continue; /* an `in` or `out` handle of the policy */
                return escaped(r, "descriptor %d is open: %s", fd, target);
        }

        return held(r, "no descriptor above 2 but handles");
}

static int descriptor_secret(struct probe_result *r)
{
        if (r->world->leaked <= 0)
                return cannot_tell(r, "the caller left none open");
        if (holds_mark((int) r->world->leaked))
                return escaped(r, "the caller's descriptor %d reads the canary", (int) r->world->leaked);
        return refused(r, "pread of the caller's descriptor");
}

static int descriptor_directory(struct probe_result *r)
{
        if (r->world->leaked <= 0)
                return cannot_tell(r, "the caller left none open");
        AUTO_FD(fd, openat((int) r->world->leaked + 1, "secret", O_RDONLY | O_CLOEXEC));
        return by_reply(r, fd, "openat below the caller's descriptor");
}

static int descriptor_cwd(struct probe_result *r)
{
        char path[64];
        for (int fd = 3; fd < 64; fd++) {
                (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
                if (chdir(path) == 0)
                        return escaped(r, "chdir %s led somewhere", path);
        }

        return refused(r, "chdir /proc/self/fd/3..63");
}

static int cwd_reachable(struct probe_result *r)
{
        char cwd[PATH_MAX];

        /* The raw call: libc's hides unreachable paths. */
        long n = syscall(SYS_getcwd, cwd, sizeof cwd);
        if (n <= 0)
                return refused(r, "getcwd");

        if (cwd[0] != '/')
                return escaped(r, "the working directory lies outside the root: %.150s", cwd);

        AUTO_FD(up, open("../../../../../../../..", O_PATH | O_CLOEXEC));
        struct stat top, root;
        if (up >= 0 && fstat(up, &top) == 0 && stat("/", &root) == 0 &&
            (top.st_ino != root.st_ino || top.st_dev != root.st_dev))
                return escaped(r, "the way up from the working directory does not end at the root");

        return held(r, "the way up from %.100s ends at the box's root", cwd);
}

struct handle { /* struct file_handle with room */
        uint32_t bytes;
        int32_t type;
        unsigned char data[64];
};

/* "Shocker": the handle of a filesystem's root directory is not secret. */
static int handle_of_root(struct probe_result *r)
{
        static const uint32_t roots[] = { 2, 128, 256, 64 };
        AUTO_FD(at, open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
                struct handle h = { .bytes = 8, .type = 1 };
                memcpy(h.data, &roots[i], sizeof roots[i]);
                AUTO_FD(fd, (int) syscall(SYS_open_by_handle_at, at, &h, O_RDONLY | O_CLOEXEC));
                if (fd >= 0)
                        return escaped(r, "open_by_handle_at opened inode %u", roots[i]);
        }

        return refused(r, "open_by_handle_at");
}

static int hard_link_out(struct probe_result *r)
{
        char path[128];
        AUTO_FD(fd, make_file(path, "hard", 0600));
        if (fd < 0)
                return refused(r, "making a place for the link");

        (void) unlink(path);
        long reply = link(canary(r, "secret"), path);
        if (reply == 0)
                (void) unlink(path);

        return by_reply(r, reply, "link to the canary");
}

/* A hard link of a read-only file in a writable place would be writable there. */
static int hard_link_door(struct probe_result *r)
{
        char path[128];
        AUTO_FD(fd, make_file(path, "hard", 0600));
        if (fd < 0)
                return refused(r, "making a place for the link");

        (void) unlink(path);
        static const char *const files[] = { "/etc/passwd", "/usr/bin/env", "/proc/self/exe" };
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
                if (linkat(AT_FDCWD, files[i], AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0) {
                        (void) unlink(path);
                        return escaped(r, "%s was linked into a writable place", files[i]);
                }

        return refused(r, "linkat");
}

static int rename_out(struct probe_result *r)
{
        char path[128];
        AUTO_FD(fd, make_file(path, "move", 0600));
        if (fd < 0)
                return refused(r, "making a file to move");

        long reply = rename(path, canary(r, "moved"));
        int sys = errno;
        (void) unlink(path);
        errno = sys;
        return by_reply(r, reply, "rename into the canary directory");
}

static struct handle named = { .bytes = sizeof named.data };
static int named_mount;

#define CLASS                              PROBE_FILES
#define LEADS(claim, means, by, fn, first) NUMBERS(claim, means, by, fn, first, 0)
static const struct probe rows[] = {
        LEADS("no path leads to a file outside", "any file of the host can be read", "mount,landlock",
              by_prefix, ""),
        LEADS("dot-dot does not climb out", "the root is no root", "mount,landlock", by_prefix,
              "/usr/../../../../proc/../.."),
        LEADS("an absolute link leads nowhere outside", "a planted link reads host files", "mount,landlock",
              by_link, ""),
        LEADS("a relative link leads nowhere outside", "a planted link reads host files", "mount,landlock",
              by_link, "../../../../../.."),
        LEADS("a link to a magic link leads nowhere outside", "magic links leave the root", "mount,landlock",
              by_link, "/proc/self/root/proc/self/root"),
        LEADS("/proc/self/root stays inside", "the old root is still there", "mount,landlock", by_prefix,
              "/proc/self/root/.."),
        LEADS("/proc/1/root is closed", "init's root is the host's", "proc,mount,landlock,pid", by_prefix,
              "/proc/1/root"),
        LEADS("no process's root leads out", "another process stands outside", "proc,mount,landlock,pid",
              through_processes, "root"),
        LEADS("no process's cwd leads out", "another process stands outside", "proc,mount,landlock,pid",
              through_processes, "cwd"),
        ROW("no descriptor in /proc leads out", "an open directory is a way out", "stdio,mount,landlock",
            proc_fds),
        ROW("the mapped files of init are hidden", "files can be opened through init's memory",
            "proc,pid,landlock", proc_map_files),
        ROW("no descriptor of the caller came along", "whatever the caller had open is open inside", "stdio",
            descriptors_leaked),
        ROW("a file that the caller held open is not inherited", "the caller's open files can be read",
            "stdio", descriptor_secret),
        ROW("a directory that the caller held open is not inherited", "openat climbs out of the box", "stdio",
            descriptor_directory),
        ROW("chdir through /proc/self/fd leads nowhere",
            "a leaked directory becomes the cwd (CVE-2024-21626)", "stdio,proc", descriptor_cwd),
        ROW("the working directory lies under the root", "a forgotten cwd stands outside", "mount",
            cwd_reachable),
        ANSWER("no file handle is given for a name", "handles go around paths", "seccomp",
               "name_to_handle_at", SYS_name_to_handle_at, AT_FDCWD, PROBE_PTR("/usr"), PROBE_PTR(&named),
               PROBE_PTR(&named_mount), 0),
        ROW("no file handle is opened", "any inode of the disk can be opened", "seccomp,capabilities",
            handle_of_root),
        ROW("no hard link to a file outside", "host files get a name inside", "mount,landlock",
            hard_link_out),
        ROW("no hard link of a read-only file in a writable place", "read-only files become writable",
            "mount,landlock", hard_link_door),
        ROW("nothing can be moved outside", "the box leaves files on the host", "mount,landlock", rename_out),
};
const struct probe_list probes_files = PROBE_LIST(rows);
