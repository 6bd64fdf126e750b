/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_files_more.c - changes files that the box may only read: program files, its own view,
 * /dev, the prober itself. */
#include "selftest/probe/probe_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int create_in(struct probe_result *r, const char *dir)
{
        char path[PATH_MAX];
        (void) snprintf(path, sizeof path, "%s/.cordon-probe", dir);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return refused(r, dir);

        (void) close(fd);
        (void) unlink(path);
        (void) snprintf(r->effect, sizeof r->effect, "write %s", dir);
        return escaped(r, "a file was made in %s", dir);
}

static int create_each(struct probe_result *r)
{
        for (const char *const *dir = r->probe->paths; *dir; dir++)
                if (create_in(r, *dir) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;

        return PROBE_HELD;
}

static int create_outside(struct probe_result *r) { return create_in(r, canary(r, "")); }
static int create_in_home(struct probe_result *r)
{
        const char *home = r->world->home;
        if (!home[0] || strcmp(home, "/nonexistent") == 0)
                return cannot_tell(r, "the caller has no home directory");
        return create_in(r, home);
}

/* runc CVE-2019-5736: the runtime's own binary, through every process that runs it. */
static int overwrite_exes(struct probe_result *r)
{
        enum { PIDS = 400 };
        static char names[PIDS][24];
        const char *paths[PIDS] = { "/proc/self/exe" };

        for (int pid = 1; pid < PIDS; pid++) {
                (void) snprintf(names[pid], sizeof names[pid], "/proc/%d/exe", pid);
                paths[pid] = names[pid];
        }

        return by_write_opens(r, paths, PIDS);
}

static int overwrite_self(struct probe_result *r)
{
        if (!r->world->self[0])
                return cannot_tell(r, "the prober does not know its own file");
        return by_write_open(r, r->world->self);
}

/* ETXTBSY guards a running program only against open(2); truncate and rename do not ask. */
static int truncate_self(struct probe_result *r)
{
        struct stat st;
        const char *self = r->world->self;
        if (!self[0] || stat(self, &st) < 0)
                return refused(r, "stat of the prober's own file");

        if (truncate(self, st.st_size) == 0)
                return escaped(r, "%.150s could be truncated", self);

        return refused(r, "truncate of the prober's own file");
}

static int rename_self(struct probe_result *r)
{
        char away[300];
        const char *self = r->world->self;
        if (!self[0])
                return cannot_tell(r, "the prober does not know its own file");

        (void) snprintf(away, sizeof away, "%s.moved", self);
        if (rename(self, away) < 0)
                return refused(r, "rename of the prober's own file");

        (void) rename(away, self);
        (void) snprintf(r->effect, sizeof r->effect, "write %s", self);
        return escaped(r, "%.150s could be moved aside", self);
}

/* MAP_SHARED of a read-only descriptor, then mprotect: the oldest way to write a file that was opened for
 * reading. */
static int map_readonly(struct probe_result *r)
{
        AUTO_FD(fd, open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open /proc/self/exe");

        void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED)
                return refused(r, "mmap");

        return by_reply(r, mprotect(p, 4096, PROT_READ | PROT_WRITE),
                        "mprotect of a shared read-only mapping");
}

/* Dirty Pipe's shape: a page of a read-only file spliced into a pipe, then written to the pipe. */
static int splice_readonly(struct probe_result *r)
{
        int ends[2];
        char before[8], after[8];
        AUTO_FD(fd, open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
        if (fd < 0 || pipe2(ends, O_CLOEXEC) < 0)
                return refused(r, "opening /proc/self/exe");

        char fill[4096] = { 0 };
        for (int i = 0; i < 16; i++) /* every slot of the ring is used once, so that its flags are stale */
                (void) !write(ends[1], fill, sizeof fill);

        for (int i = 0; i < 16; i++)
                (void) !read(ends[0], fill, sizeof fill);

        loff_t at = 3;
        if (pread(fd, before, sizeof before, 4) != sizeof before)
                return cannot_tell(r, "the program file cannot be read");

        if (splice(fd, &at, ends[1], NULL, 1, 0) != 1)
                return refused(r, "splice");

        (void) !write(ends[1], before,
                      1); /* the byte that is there already, off by none: harmless either way */
        char flipped = (char) ~before[0];
        (void) !write(ends[1], &flipped, 1);
        if (pread(fd, after, sizeof after, 4) == sizeof after && memcmp(before, after, sizeof after) != 0)
                return escaped(r, "the page cache of a read-only file changed");

        return held(r, "the page cache of the file is unchanged");
}

static bool null_is_null(void)
{
        struct stat st;
        return lstat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

/* runc CVE-2025-31133: a /dev/null that is a symlink makes the runtime mount something else. */
static int replace_null(struct probe_result *r)
{
        if (!null_is_null())
                return cannot_tell(r, "/dev/null is no device here");

        int a = unlink("/dev/null"), sys = errno;
        int b = rename("/dev/null", "/dev/nul");
        int c = symlink("/proc/self/mem", "/dev/null.link");
        if (a == 0 || b == 0 || c == 0 || !null_is_null())
                return escaped(r, "/dev could be changed");

        errno = sys;
        return refused(r, "unlink /dev/null");
}

/* srt: move the parent of a protected path away, make it anew. */
static int rename_parents(struct probe_result *r)
{
        static const char *const parents[] = { "/usr", "/etc",  "/home", "/home/box",
                                               "/dev", "/proc", "/tmp",  "/var" };
        char away[64];
        for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
                (void) snprintf(away, sizeof away, "%s.moved", parents[i]);
                if (rename(parents[i], away) == 0) {
                        (void) rename(away, parents[i]);
                        return escaped(r, "%s was moved away", parents[i]);
                }
        }

        return refused(r, "rename of /usr, /etc, /home, /tmp ...");
}

/* Names that no box shows by itself. A door may: the host side then reports that. */
static int tell_existence(struct probe_result *r)
{
        static const char *const names[] = { "/root", "/boot",       "/sys",     "/run",       "/mnt",
                                             "/srv",  "/lost+found", "/var/lib", "/etc/shadow" };
        struct stat st;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if ((stat(names[i], &st) == 0 || errno == EACCES) && !is_way(names[i])) {
                        (void) snprintf(r->effect, sizeof r->effect, "read %s", names[i]);
                        return escaped(r, "%s exists, as stat tells", names[i]);
                }

        return refused(r, "stat of /root, /boot, /sys, /run ...");
}

/* A name at the top that a door or the program lies below is a door's, not the host's. */
static bool leads_to_mount(const char *name)
{
        static char text[65536];
        char below[300], itself[300];
        AUTO_FD(fd, open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
        ssize_t n = fd < 0 ? 0 : fd_read_all(fd, text, sizeof text - 1);

        text[n > 0 ? n : 0] = '\0';
        (void) snprintf(below, sizeof below, " /%s/", name);
        (void) snprintf(itself, sizeof itself, " /%s ", name);
        return strstr(text, below) || strstr(text, itself);
}

static bool is_own_name(const char *name)
{
        static const char *const own[] = { ".",     "..",     "bin",  "dev",  "etc", "home", "lib", "lib32",
                                           "lib64", "libx32", "proc", "sbin", "tmp", "usr",  "var" };
        char path[300];

        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
                if (strcmp(own[i], name) == 0)
                        return true;

        (void) snprintf(path, sizeof path, "/%s", name);
        return is_way(path) || leads_to_mount(name); /* the box's own directory, as its /sys is */
}

static int list_root(struct probe_result *r)
{
        DIR *d = opendir("/");
        if (!d)
                return refused(r, "opendir /");

        for (struct dirent *e; (e = readdir(d));) {
                if (is_own_name(e->d_name))
                        continue;
                (void) snprintf(r->effect, sizeof r->effect, "read /%s", e->d_name);
                (void) closedir(d);
                return escaped(r, "/ lists %.100s", r->effect + 5);
        }

        (void) closedir(d);
        return held(r, "/ lists only the box's own names and doors");
}

#define CLASS PROBE_FILES
static const struct probe rows[] = {
        WRITES("program files cannot be written", "the host's programs can be replaced",
               "mount,landlock,user", "/usr/bin/env", "/bin/sh", "/usr/lib/os-release", "/etc/passwd",
               "/etc/ld.so.cache", "/lib64/ld-linux-x86-64.so.2"),
        STRINGS("nothing can be made beside program files", "the box plants programs on the host",
                "mount,landlock,user", create_each, "/usr/bin", "/usr/lib", "/usr/local/bin", "/etc",
                "/etc/ssl/certs", "/", "/dev", "/proc", "/var"),
        ROW("nothing can be made in a directory outside", "the box plants files on the host",
            "mount,landlock", create_outside),
        ROW("nothing can be made in the caller's home", "the box plants rc files and hooks", "mount,landlock",
            create_in_home),
        ROW("no running program is overwritten through /proc",
            "the runtime itself is replaced (CVE-2019-5736)", "proc,landlock,mount,pid", overwrite_exes),
        ROW("the prober's own file cannot be written", "the entry program is replaced on the host",
            "mount,landlock", overwrite_self),
        ROW("the prober's own file cannot be truncated", "the entry program is emptied on the host",
            "mount,landlock", truncate_self),
        ROW("the prober's own file cannot be moved", "another program takes its name", "mount,landlock",
            rename_self),
        ROW("a read-only file cannot be mapped for writing", "read-only is not kept by memory", "mount",
            map_readonly),
        ROW("a pipe does not write through to a read-only file",
            "read-only is not kept by splice (CVE-2022-0847)", "mount", splice_readonly),
        ROW("/dev/null cannot be replaced", "masked paths become writable (CVE-2025-31133)", "mount,landlock",
            replace_null),
        ANSWER("the modes of /dev/null cannot be set", "a device of the host changes for all", "mount,user",
               "chmod /dev/null", BY_PATH(chmod, fchmodat), PROBE_PTR("/dev/null"), 0666),
        ROW("a door's parent cannot be moved", "a path is rebuilt under a protected name", "mount,landlock",
            rename_parents),
        ROW("the root lists nothing of the host", "the host's layout is visible", "mount,landlock",
            list_root),
        CLAIM("what no door names does not exist", PROBE_FILES, "the host's files can be told by stat",
              "mount", tell_existence, NOT_BY_PROCESS_WALL),
};
const struct probe_list probes_files_more = PROBE_LIST(rows);
