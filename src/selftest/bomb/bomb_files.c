/* SPDX-License-Identifier: MIT */
/* selftest/bomb/bomb_files.c - descriptors, inodes, disk space, names without end, and output. */
#include "base/fd.h"
#include "selftest/bomb/bomb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KIB = 1 << 10, MIB = 1 << 20, OPEN = 100000, ANSWERS = 500, ZIP_DEPTH = 6, ZIP_FAN = 16 };

static char block[BOMB_BLOCK];

int bomb_descriptors(size_t i)
{
        (void) i;
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* An account has 128 of them outside, for all its programs. */
int bomb_watches(size_t i)
{
        (void) i;
        return inotify_init1(IN_CLOEXEC);
}

/* Two files change in turn, because equal events become one. Nobody reads them. */
int bomb_events(void)
{
        int bytes = 0;
        AUTO_FD(watch, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
        AUTO_FD(one, open("/tmp/one", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        AUTO_FD(two, open("/tmp/two", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        if (inotify_add_watch(watch, "/tmp/one", IN_MODIFY) < 0 ||
            inotify_add_watch(watch, "/tmp/two", IN_MODIFY) < 0)
                return bomb_stopped(errno, 0);

        for (size_t i = 0; i < OPEN; i++)
                if (pwrite(i % 2 ? one : two, "x", 1, 0) != 1)
                        return bomb_stopped(errno, i);

        (void) ioctl(watch, FIONREAD, &bytes);
        size_t kept = (size_t) bytes / sizeof(struct inotify_event);
        return kept < OPEN ? bomb_stopped(EOVERFLOW, kept) : bomb_through(kept);
}

/* Each with answers that nobody reads. */
int bomb_interfaces(size_t i)
{
        const struct {
                struct nlmsghdr head;
                struct rtgenmsg body;
        } r = { .head = { .nlmsg_len = sizeof r,
                          .nlmsg_type = RTM_GETLINK,
                          .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };

        (void) i;
        int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        for (unsigned k = 0; fd >= 0 && k < ANSWERS; k++)
                (void) send(fd, &r, sizeof r, MSG_DONTWAIT | MSG_NOSIGNAL);
        return fd;
}

int bomb_inodes(size_t i)
{
        char name[32];
        (void) snprintf(name, sizeof name, "/tmp/%zu", i);
        int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        return fd < 0 ? -1 : close(fd);
}

static int bomb_file(void) { return open("/tmp/bomb", O_WRONLY | O_CREAT | O_CLOEXEC, 0600); }

int bomb_disk(size_t i)
{
        static int fd = -1;
        if (i == 0 && (fd = bomb_file()) < 0)
                return -1;
        return fd_write_all(fd, block, sizeof block);
}

/* A sparse file with a size of a terabyte, and a byte in every 64th KiB of it. */
int bomb_sparse(size_t i)
{
        static int fd = -1;
        if (i == 0 && ((fd = bomb_file()) < 0 || ftruncate(fd, (off_t) 1 << 40) < 0))
                return -1;
        return pwrite(fd, "x", 1, (off_t) i * 64 * KIB) == 1 ? 0 : -1;
}

int bomb_output(void)
{
        memset(block, 'x', sizeof block);
        for (size_t i = 0; i < (size_t) BOMB_DISK_MIB * MIB / sizeof block; i++)
                if (fd_write_all(i % 2 ? 2 : 1, block, sizeof block) < 0)
                        return 1;
        return 0;
}

int bomb_deep(size_t i) { return (i == 0 && chdir("/tmp") < 0) || mkdir("d", 0700) < 0 ? -1 : chdir("d"); }

/* A few bytes that expand to 16 blocks, each of which expands to 16 ...: unpacked, 16 GiB, if they fit. */
static int unpack_bomb(int fd, unsigned depth, size_t *n)
{
        if (depth > 0) {
                for (unsigned i = 0; i < ZIP_FAN; i++)
                        if (unpack_bomb(fd, depth - 1, n) < 0)
                                return -1;
                return 0;
        }

        if (*n >= BOMB_DISK_MIB * (size_t) (MIB / KIB))
                return 0;

        ++*n;
        return fd_write_all(fd, block, KIB);
}

int bomb_zip(void)
{
        size_t n = 0;
        AUTO_FD(fd, bomb_file());
        return unpack_bomb(fd, ZIP_DEPTH, &n) < 0 ? bomb_stopped(errno, n) : bomb_through(n);
}
