/* SPDX-License-Identifier: MIT */
/* selftest/probe/probe_result.c - the reports of a probe, and a few operations that many probes share. */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((format(printf, 3, 0))) static int say(struct probe_result *r, enum probe_outcome o,
                                                     const char *fmt, va_list ap)
{
        r->outcome = o;
        (void) vsnprintf(r->why, sizeof r->why, fmt, ap);
        return (int) o;
}

#define SAYS(name, outcome)                                                                                  \
        int name(struct probe_result *r, const char *fmt, ...)                                               \
        {                                                                                                    \
                va_list ap;                                                                                  \
                va_start(ap, fmt);                                                                           \
                int o = say(r, outcome, fmt, ap);                                                            \
                va_end(ap);                                                                                  \
                return o;                                                                                    \
        }
SAYS(held, PROBE_HELD)
SAYS(escaped, PROBE_ESCAPED)
SAYS(cannot_tell, PROBE_CANNOT_TELL)

/* People search for the name. libc's own function is not in every libc. */
const char *errno_name(int sys)
{
        static const struct {
                int sys;
                const char *name;
        } known[] = {
#define E(x) { x, #x }
                E(EPERM),        E(ENOENT),          E(ESRCH),           E(EINTR),
                E(EIO),          E(ENXIO),           E(E2BIG),           E(ENOEXEC),
                E(EBADF),        E(ECHILD),          E(EAGAIN),          E(ENOMEM),
                E(EACCES),       E(EFAULT),          E(EBUSY),           E(EEXIST),
                E(EXDEV),        E(ENODEV),          E(ENOTDIR),         E(EISDIR),
                E(EINVAL),       E(ENFILE),          E(EMFILE),          E(ENOBUFS),
                E(ENOTTY),       E(ETXTBSY),         E(EFBIG),           E(ENOSPC),
                E(ESPIPE),       E(EROFS),           E(EMLINK),          E(EPIPE),
                E(EDOM),         E(ERANGE),          E(ENAMETOOLONG),    E(ENOSYS),
                E(ENOTEMPTY),    E(ELOOP),           E(ENOKEY),          E(EUSERS),
                E(ENOTSOCK),     E(EPROTONOSUPPORT), E(ESOCKTNOSUPPORT), E(EOPNOTSUPP),
                E(EAFNOSUPPORT), E(EADDRINUSE),      E(ENETDOWN),        E(ENETUNREACH),
                E(ECONNREFUSED), E(ENOTCONN),        E(EHOSTUNREACH),    E(ESTALE),
                E(EPROTOTYPE),   E(EOVERFLOW),       E(ENODATA),
#undef E
        };

        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (known[i].sys == sys)
                        return known[i].name;

        return sys == 0 ? "no error" : "another error";
}

int refused(struct probe_result *r, const char *call)
{
        r->sys = errno;
        return held(r, "%s: %s", call, errno_name(r->sys));
}

int by_reply(struct probe_result *r, long reply, const char *call)
{
        return reply < 0 ? refused(r, call) : escaped(r, "%s succeeded", call);
}

int by_reach(struct probe_result *r, long reply, const char *call, int also)
{
        if (reply >= 0)
                return escaped(r, "%s succeeded", call);
        if (errno == EPERM || errno == EACCES || errno == ENOSYS || (also && errno == also))
                return refused(r, call);
        return escaped(r, "%s was answered by the kernel itself: %s", call, errno_name(errno));
}

void says_canary(struct probe_result *r)
{
        (void) snprintf(r->effect, sizeof r->effect, "read %s", canary(r, "secret"));
}

int by_open(struct probe_result *r, const char *path, int flags)
{
        AUTO_FD(fd, open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
        if (fd < 0) {
                r->sys = errno;
                return held(r, "open %.150s: %s", path, errno_name(r->sys));
        }

        (void) snprintf(r->effect, sizeof r->effect, "read %s", path);
        if (holds_mark(fd)) /* by whatever name: a door that shows the canary grants it */
                says_canary(r);

        return escaped(r, "%.200s was opened", path);
}

/* Only the namespace wall stands on a tmpfs that is read-only: of a host's root one of the two is not true,
 * also when the mounts were left out. */
enum { FUSE_MAGIC = 0x65735546 };

bool is_way(const char *path)
{
        struct stat root, st;
        struct statfs fs;
        /* The box's own root: a tmpfs, or the front that an observer serves. */
        return statfs("/", &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == FUSE_MAGIC) &&
               (fs.f_flags & ST_RDONLY) && stat("/", &root) == 0 && lstat(path, &st) == 0 &&
               S_ISDIR(st.st_mode) && st.st_dev == root.st_dev;
}

/* For a running program the kernel returns ETXTBSY before it checks Landlock, and only until the program
 * ends: so the right to write counts. access() checks the mode and the mount. Landlock can be checked for the
 * directory alone, with an unnamed file; a rule for the program's own file cannot be checked before the
 * program has ended. */
static int by_busy(struct probe_result *r, const char *path)
{
        char file[PATH_MAX], dir[PATH_MAX];
        r->sys = ETXTBSY;
        if (access(path, W_OK) < 0)
                return held(r, "open %.150s for writing: ETXTBSY", path);

        if (!realpath(path, file))
                return cannot_tell(r, "%.150s is busy, and where it lies is not to be seen", path);

        (void) snprintf(dir, sizeof dir, "%.*s", (int) (strrchr(file, '/') - file + 1), file);
        AUTO_FD(fd, open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
        if (fd < 0)
                return cannot_tell(r,
                                   "%.80s runs (ETXTBSY); beside it nothing can be written (%s), but of the "
                                   "file itself Landlock is not asked before it ends",
                                   path, errno_name(errno));

        (void) snprintf(r->effect, sizeof r->effect, "write %.340s", file);
        return escaped(r, "%.200s can be written as soon as it ends", path);
}

int by_write_open(struct probe_result *r, const char *path)
{
        AUTO_FD(fd, open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
        if (fd < 0 && errno == ETXTBSY)
                return by_busy(r, path);

        if (fd < 0) {
                r->sys = errno;
                return held(r, "open %.150s for writing: %s", path, errno_name(r->sys));
        }

        (void) snprintf(r->effect, sizeof r->effect, "write %s", path);
        return escaped(r, "%.200s was opened for writing", path);
}

int by_write_opens(struct probe_result *r, const char *const *paths, size_t n)
{
        struct probe_result unknown;
        bool any_unknown = false;
        for (size_t i = 0; i < n; i++) {
                int outcome = by_write_open(r, paths[i]);
                if (outcome == PROBE_ESCAPED)
                        return outcome;
                if (outcome == PROBE_CANNOT_TELL) {
                        unknown = *r;
                        any_unknown = true;
                }
        }

        if (any_unknown)
                *r = unknown;

        return (int) r->outcome;
}

int child_status(void (*fn)(void *), void *arg)
{
        int status = -1;
        pid_t pid = fork();
        if (pid == 0) {
                fn(arg);
                _exit(0);
        }

        if (pid < 0 || waitpid(pid, &status, 0) != pid)
                return -1;

        return status;
}

/* The usual writable directories of a box; the process wall without grants leaves none. */
const char *writable_dir(void)
{
        static char cwd[200];
        const char *home = getenv("HOME");
        const char *const places[] = { "/tmp", home ? home : "/nonexistent", "/dev/shm",
                                       getcwd(cwd, sizeof cwd) ? cwd : "/" };
        char path[256];

        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                (void) snprintf(path, sizeof path, "%s/.probe-%d", places[i], getpid());
                int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
                if (fd < 0)
                        continue;
                (void) close(fd);
                (void) unlink(path);
                return places[i];
        }

        return NULL;
}

int make_file(char path[static 128], const char *name, mode_t mode)
{
        const char *dir = writable_dir();
        if (!dir)
                return -1;

        if (snprintf(path, 128, "%s/probe-%d-%s", dir, getpid(), name) >= 128) {
                errno = ENAMETOOLONG;
                return -1;
        }

        (void) unlink(path);
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 && fchmod(fd, mode) < 0)
                fd_close(&fd);

        return fd;
}

bool holds_mark(int fd)
{
        char text[sizeof PROBE_MARK];
        ssize_t n = pread(fd, text, sizeof text - 1, 0);
        return n == (ssize_t) sizeof text - 1 && memcmp(text, PROBE_MARK, sizeof text - 1) == 0;
}

const char *canary(const struct probe_result *r, const char *name)
{
        static char path[320];
        (void) snprintf(path, sizeof path, "%s/%s", r->world->dir[0] ? r->world->dir : "/nonexistent", name);
        return path;
}
