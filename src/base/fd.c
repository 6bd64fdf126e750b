/* SPDX-License-Identifier: MIT */
/* base/fd.c - complete reads and writes on descriptors. Does not allocate: usable between clone and exec. */
#include "base/fd.h"
#include "base/clock.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

int fd_open2(int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
        enum { TRIES = 64 }; /* a race spoils one attempt, but not this many in a row */
        const struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };
        int fd = -1;

        for (int i = 0; i < TRIES; i++) {
                fd = (int) syscall(SYS_openat2, dirfd, path, &how, sizeof how);
                if (fd >= 0 || errno != EAGAIN)
                        break;
        }

        return fd;
}

enum { OWN_NAME_MAX = sizeof "/proc/self/fd/-2147483648" };

static const char *own_name(int fd, char ret[static OWN_NAME_MAX])
{
        (void) snprintf(ret, OWN_NAME_MAX, "/proc/self/fd/%d", fd);
        return ret;
}

int fd_reopen(int fd, int flags)
{
        char own[OWN_NAME_MAX];
        return open(own_name(fd, own), flags | O_CLOEXEC);
}

int fd_link(int fd, int dir, const char *name)
{
        char own[OWN_NAME_MAX];
        return linkat(AT_FDCWD, own_name(fd, own), dir, name, AT_SYMLINK_FOLLOW);
}

int fd_path(int fd, char *ret, size_t cap)
{
        char own[OWN_NAME_MAX];
        ssize_t n = readlink(own_name(fd, own), ret, cap);
        if (n >= 0 && (size_t) n >= cap)
                errno = ENAMETOOLONG;

        if (n < 0 || (size_t) n >= cap)
                return -1;

        ret[n] = '\0';
        return 0;
}

int fd_open_named(int dirfd, const char *path, int flags)
{
        struct stat st;
        int follow = flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0;
        int fd = openat(dirfd, path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
        int sys = errno;
        bool looked = fd >= 0 ? fstat(fd, &st) == 0 /* ENXIO: no process has it open for reading */
                              : sys == ENXIO && fstatat(dirfd, path, &st, follow) == 0;
        bool pipe = looked && S_ISFIFO(st.st_mode) && !path_is_kernels(path);
        if (fd >= 0 && !pipe && fcntl(fd, F_SETFL, flags & O_APPEND) == 0)
                return fd;

        if (fd >= 0)
                (void) close(fd);

        errno = pipe ? FD_PIPE_REFUSED : sys;
        return -1;
}

bool fd_is_want(int sys) { return sys == EMFILE || sys == ENFILE || sys == ENOMEM; }

void fd_use_limit(void)
{
        struct rlimit r;
        if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur == r.rlim_max)
                return;
        r.rlim_cur = r.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &r);
}

int fd_write_all(int fd, const void *p, size_t n)
{
        const char *at = p;
        while (n > 0) {
                ssize_t k = write(fd, at, n);
                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -1;
                at += k;
                n -= (size_t) k;
        }

        return 0;
}

ssize_t fd_read_all(int fd, void *p, size_t cap)
{
        size_t n = 0;
        while (n < cap) {
                ssize_t k = read(fd, (char *) p + n, cap - n);
                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -1;
                if (k == 0)
                        break;
                n += (size_t) k;
        }

        return (ssize_t) n;
}

int fd_memory(const char *name, const void *p, size_t n)
{
        AUTO_FD(fd, (int) syscall(SYS_memfd_create, name, MFD_CLOEXEC));
        bool good = fd >= 0 && fd_write_all(fd, p, n) == 0 && lseek(fd, 0, SEEK_SET) == 0;
        return good ? TAKE_FD(fd) : -1;
}

bool fd_await(int fd, short events, unsigned timeout_ms)
{
        struct pollfd p = { .fd = fd, .events = events };
        uint64_t now = clock_mono_ns(), until = now + timeout_ms * UINT64_C(1000000);
        for (;; now = clock_mono_ns()) {
                uint64_t left = until > now ? until - now : 0;
                int n = poll(&p, 1, (int) ((left + 999999u) / 1000000u));
                if (n >= 0 || errno != EINTR || left == 0)
                        return n == 1;
        }
}

int fd_put(int dirfd, const char *name, const char *text)
{
        AUTO_FD(fd, openat(dirfd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
        if (fd < 0)
                return -1;

        size_t n = strlen(text);
        ssize_t k;
        do /* v1 fails with EINTR, without setting the limit, while a signal is pending */
                k = write(fd, text, n);

        while (k < 0 && errno == EINTR);
        if (k < 0)
                return -1;

        if ((size_t) k != n) {
                errno = EIO;
                return -1;
        }

        return 0;
}

ssize_t fd_get(int dirfd, const char *name, char *buf, size_t cap)
{
        AUTO_FD(fd, openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (fd < 0)
                return -1;

        ssize_t n = fd_read_all(fd, buf, cap - 1);
        if (n < 0)
                return -1;

        while (n > 0 && buf[n - 1] == '\n')
                n--;

        buf[n] = '\0';
        return n;
}

int fd_get_u64(int dirfd, const char *name, uint64_t *ret_value)
{
        char text[64];
        ssize_t n = fd_get(dirfd, name, text, sizeof text);
        if (n < 0)
                return -1;

        if (str_to_u64(span_of(text, (size_t) n), ret_value) < 0) {
                errno = EINVAL;
                return -1;
        }

        return 0;
}

void fd_each_number(int fd, bool (*each)(void *ctx, uint64_t number), void *ctx)
{
        char text[4096];
        uint64_t number = 0;
        for (ssize_t n; (n = read(fd, text, sizeof text)) > 0 || (n < 0 && errno == EINTR);)
                for (ssize_t i = 0; i < n; i++) {
                        if (text[i] >= '0' && text[i] <= '9') {
                                number = number * 10 + (uint64_t) (text[i] - '0');
                                continue;
                        }
                        if (number > 0 && !each(ctx, number))
                                return;
                        number = 0;
                }

        if (number > 0) /* no separator follows the last */
                (void) each(ctx, number);
}

int fd_make_parents(int dir, const char *path)
{
        char part[PATH_MAX];
        for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                if (snprintf(part, sizeof part, "%.*s", (int) (slash - path), path) >= (int) sizeof part)
                        return errno = ENAMETOOLONG, -1;
                if (mkdirat(dir, part, 0755) < 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
                        return -1;
        }

        return 0;
}
