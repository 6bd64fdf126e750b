/* SPDX-License-Identifier: MIT */
/* base/fd.h - descriptors that close themselves. AUTO_FD takes the first value, so it cannot be forgotten
 * (a forgotten cleanup descriptor of 0 would close standard input); TAKE_FD is the only way out. */
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

/* openat2(), close-on-exec; -1 with errno. EAGAIN is what is left after many tries: the kernel says it where
 * a ".." is kept below `dirfd` and anything on this machine is renamed or mounted meanwhile. */
int fd_open2(int dirfd, const char *path, uint64_t flags, uint64_t resolve);

/* The file behind a descriptor once more, with other flags: what was looked at with O_PATH is what is opened.
 */
int fd_reopen(int fd, int flags);
/* Gives a file that was opened without a name (O_TMPFILE) one; never over another. */
int fd_link(int fd, int dir, const char *name);
/* The path that it has now, as the kernel tells it; -1 with errno. */
int fd_path(int fd, char *ret, size_t cap);

/* What somebody named, which a box may have put there. Waits for nobody at the other end of a pipe, and takes
 * none that has a name of its own: who holds it may never write, never read, or never end. /dev/stdin and
 * others that the kernel names are taken, and read and written as they are. -1 with errno. */
int fd_open_named(int dirfd, const char *path, int flags);
enum { FD_PIPE_REFUSED = ESTRPIPE }; /* that errno, which no open() has */

/* errno of a look that failed for want of descriptors or memory: nothing is known of what was looked for. */
bool fd_is_want(int sys);
/* As many descriptors as this process may have. The kernel also lets nobody pass one on while more are on
 * their way, of all the account's processes, than the sender may have: a box could stop us by that. */
void fd_use_limit(void);

/* All bytes or -1 with errno; retries on EINTR and short writes. */
int fd_write_all(int fd, const void *p, size_t n);

/* Makes the directories above the last part of `path`, as mkdir -p does. One that exists, or may not be made
 * (EROFS, EACCES), is no error: opening the path tells. -1 with errno. */
int fd_make_parents(int dir, const char *path);

/* Reads until end of file or `cap` bytes; returns the count or -1 with errno. */
ssize_t fd_read_all(int fd, void *p, size_t cap);

/* Waits until one of `events` (POLLIN ...), or the other side's end, has come. A signal that somebody handles
 * does not cut it short. False: it did not come within `timeout_ms`. */
bool fd_await(int fd, short events, unsigned timeout_ms);

/* Opens, writes once, closes. For control files of the kernel, where one write is one command. */
int fd_put(int dirfd, const char *name, const char *text);

/* Reads a small control file into `buf` (always NUL-terminated, trailing newlines removed);
 * returns its length or -1 with errno. */
ssize_t fd_get(int dirfd, const char *name, char *buf, size_t cap);

/* Every number above 0 that a control file lists, however many they are, until `each` says false. */
void fd_each_number(int fd, bool (*each)(void *ctx, uint64_t number), void *ctx);

/* The number that a control file holds; 0 on success, -1 with errno (EINVAL: not a number). */
int fd_get_u64(int dirfd, const char *name, uint64_t *ret_value);
