/* SPDX-License-Identifier: MIT */
/* selftest/bomb/bomb_memory.c - allocates memory in every way that a program has: its own, files in memory,
 * the page cache, and buffers of pipes and sockets in the kernel. */
#include "base/fd.h"
#include "selftest/bomb/bomb_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
        MIB = 1 << 20,
        PIPE_SIZE = MIB,
        MOST_KEPT = 64 * MIB, /* in sockets, under a limit of 32 */
        NOEXEC_SEAL = 8       /* MFD_NOEXEC_SEAL */
};

static char block[MIB];

int bomb_heap(size_t i)
{
        char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        (void) i;
        return p == MAP_FAILED ? -1 : (memset(p, 1, MIB), 0);
}

int bomb_tmpfs(size_t i)
{
        static int fd = -1;
        if (i == 0 && (fd = open("/dev/shm/bomb", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) < 0)
                return -1;
        return fd_write_all(fd, block, sizeof block);
}

/* Memory without a name, a file system or a mapping: in no process's account. */
int bomb_memfd(size_t i)
{
        int fd = memfd_create("bomb", MFD_CLOEXEC | NOEXEC_SEAL); /* kept open: that is the bomb */
        (void) i;
        return fd < 0 ? -1 : fd_write_all(fd, block, sizeof block);
}

int bomb_segments(size_t i)
{
        int id = shmget(IPC_PRIVATE, MIB, IPC_CREAT | 0600);
        char *p = id < 0 ? (void *) -1 : shmat(id, NULL, 0);
        (void) i;
        if (p == (void *) -1)
                return -1;
        memset(p, 1, MIB);
        return shmdt(p); /* it stays, in no process */
}

/* ---- the cache ---- */

static size_t read_file(int dir, const char *name)
{
        AUTO_FD(fd, openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        size_t n = 0;
        for (ssize_t k; fd >= 0 && (k = read(fd, block, sizeof block)) > 0;)
                n += (size_t) k;
        return n;
}

static size_t read_tree(int at, unsigned depth)
{
        DIR *d = at < 0 ? NULL : fdopendir(at);
        size_t n = 0;
        for (struct dirent *e; d && (e = readdir(d));) {
                if (e->d_type == DT_REG)
                        n += read_file(dirfd(d), e->d_name);
                else if (e->d_type == DT_DIR && e->d_name[0] != '.' && depth > 0)
                        n += read_tree(
                                openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                                depth - 1);
        }

        if (d)
                (void) closedir(d);

        return n;
}

/* Reads all program files again and again: the kernel can reclaim that memory, and no process may die of it.
 */
int bomb_cache(size_t i)
{
        (void) i;
        errno = EIO;
        return read_tree(open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 8) == 0 ? -1 : 0;
}

/* ---- kernel memory of descriptors ---- */

static void fill_handle(int fd)
{
        while (write(fd, block, sizeof block) > 0)
                ;
}

int bomb_pipes(size_t i)
{
        int p[2];
        (void) i;
        if (pipe2(p, O_CLOEXEC | O_NONBLOCK) < 0)
                return -1;
        (void) fcntl(p[1], F_SETPIPE_SZ, PIPE_SIZE);
        fill_handle(p[1]);
        return 0;
}

int bomb_sockets(size_t i)
{
        int p[2];
        (void) i;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, p) < 0)
                return -1;
        fill_handle(p[0]);
        fill_handle(p[1]);
        return 0;
}

/* The kernel's count for one socket, in bytes. */
static size_t kept_for(int fd)
{
        uint32_t m[SK_MEMINFO_VARS] = { 0 };
        socklen_t len = sizeof m;
        (void) getsockopt(fd, SOL_SOCKET, SO_MEMINFO, m, &len);
        return (size_t) m[SK_MEMINFO_RMEM_ALLOC] + m[SK_MEMINFO_WMEM_QUEUED] + m[SK_MEMINFO_FWD_ALLOC];
}

/* Where a control group bounds the buffers, they stay small: then the descriptors end it. */
int bomb_connections(void)
{
        static int held[BOMB_HANDLES];
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t len = sizeof at;
        size_t n = 0, kept = 0;
        int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (listener < 0 || bind(listener, (void *) &at, len) < 0 || listen(listener, 16) < 0 ||
            getsockname(listener, (void *) &at, &len) < 0)
                return bomb_stopped(errno, 0);

        while (n + 2 < BOMB_HANDLES && (held[n] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) >= 0 &&
               connect(held[n], (void *) &at, len) == 0 &&
               (held[n + 1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
                fill_handle(held[n + 1]);
                n += 2;
        }

        int sys = errno;
        for (size_t i = 0; i < n; i++)
                kept += kept_for(held[i]);

        return kept > MOST_KEPT ? bomb_through(kept / MIB) : bomb_stopped(sys, n);
}
