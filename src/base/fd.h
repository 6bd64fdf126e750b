/* SPDX-License-Identifier: MIT */
/* base/fd.h - file descriptors that close themselves. AUTO_FD requires an initial value, so that it cannot
 * be forgotten (a zeroed cleanup variable would close standard input); TAKE_FD is the only way to keep one
 * open. */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* Not retried on EINTR: Linux has released the descriptor by then. */
static inline void auto_fd_end(int *fd)
{
        if (*fd >= 0)
                (void) close(*fd);
}

#define AUTO_FD(name, init) __attribute__((cleanup(auto_fd_end), unused)) int name = (init)
#define TAKE_FD(fd)                                                                                          \
        __extension__({                                                                                      \
                int *f_ = &(fd);                                                                             \
                int v_ = *f_;                                                                                \
                *f_ = -1;                                                                                    \
                v_;                                                                                          \
        })

/* Closes *fd if it is open and marks it closed. */
static inline void fd_close(int *fd)
{
        auto_fd_end(fd);
        *fd = -1;
}

/* openat2(), close-on-exec; returns -1 with errno. EAGAIN remains after many retries: the kernel returns it
 * if a ".." has to stay below `dirfd` while any rename or mount happens on this machine. */
int fd_open2(int dirfd, const char *path, uint64_t flags, uint64_t resolve);

/* Opens the file of a descriptor again with other flags, so that the file checked with O_PATH is the one
 * opened (no TOCTOU). */
int fd_reopen(int fd, int flags);
/* Links a file opened with O_TMPFILE to a name; never replaces an existing file. */
int fd_link(int fd, int dir, const char *name);
/* Reads the current path from /proc; returns -1 with errno. */
int fd_path(int fd, char *ret, size_t cap);

/* Opens a path given by the user, where a box may have put a file. Never blocks on the other end of a FIFO,
 * and refuses FIFOs: the process at the other end may never write, never read, or never close it. /dev/stdin
 * and other names made by the kernel are allowed, and read and written as they are. Returns -1 with errno. */
int fd_open_named(int dirfd, const char *path, int flags);
enum { FD_PIPE_REFUSED = ESTRPIPE }; /* that errno, which open() never returns */

/* True for the errno of a lookup that failed with EMFILE, ENFILE or ENOMEM: the target may or may not exist.
 */
bool fd_is_want(int sys);
/* Raises RLIMIT_NOFILE to its maximum. The kernel also refuses to send a descriptor while the account's
 * processes have more in flight than the sender's limit: a box could block us with that. */
void fd_use_limit(void);

/* Writes all bytes. Returns 0, or -1 with errno; retries on EINTR and short writes. */
int fd_write_all(int fd, const void *p, size_t n);

/* Makes the parent directories of `path`, like mkdir -p. Ignores those that exist or cannot be made (EROFS,
 * EACCES): opening the path reports it. Returns -1 with errno. */
int fd_make_parents(int dir, const char *path);

/* Reads until end of file or `cap` bytes; returns the count, or -1 with errno. */
ssize_t fd_read_all(int fd, void *p, size_t cap);

/* A file in memory with these bytes, at its beginning; -1 with errno. */
int fd_memory(const char *name, const void *p, size_t n);

/* Waits for one of `events` (POLLIN ...) or a hang-up. A handled signal does not interrupt it. Returns false
 * after `timeout_ms`. */
bool fd_await(int fd, short events, unsigned timeout_ms);

/* Opens, writes once, closes: for kernel control files, where one write is one command. */
int fd_put(int dirfd, const char *name, const char *text);

/* Reads a small control file into `buf` (always NUL-terminated, trailing newlines removed); returns its
 * length, or -1 with errno. */
ssize_t fd_get(int dirfd, const char *name, char *buf, size_t cap);

/* Calls `each` with every number above 0 in a control file of any length, until it returns false. */
void fd_each_number(int fd, bool (*each)(void *ctx, uint64_t number), void *ctx);

/* Reads a number from a control file. Returns 0, or -1 with errno (EINVAL: not a number). */
int fd_get_u64(int dirfd, const char *name, uint64_t *ret_value);
