/* SPDX-License-Identifier: MIT */
/* ledger/write/head_watch.c - notifies the sealer of writes: they change the head. Uses inotify as long as
 * this account has a watch left (they are counted over all its programs), else polls the head. */
#include "base/fd.h"
#include "ledger/write/sealer.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

static void read_head(int dir, uint8_t ret[HEAD_BYTES])
{
        AUTO_FD(fd, openat(dir, "head", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        memset(ret, 0, HEAD_BYTES);
        if (fd >= 0)
                (void) !pread(fd, ret, HEAD_BYTES, 0);
}

struct news news_begin(int dir)
{
        struct news n = { .dir = dir, .events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK) };
        char head[32];
        (void) snprintf(head, sizeof head, "/proc/self/fd/%d/head", dir);
        if (n.events >= 0 && inotify_add_watch(n.events, head, IN_MODIFY) < 0)
                fd_close(&n.events);

        news_take(&n);
        return n;
}

void news_end(struct news *n) { fd_close(&n->events); }

void news_take(struct news *n)
{
        char events[4096];
        if (n->events < 0)
                read_head(n->dir, n->head);
        else
                (void) !read(n->events, events, sizeof events);
}

void news_pause(void)
{
        const struct timespec t = { 0, NEWS_PAUSE_MS * 1000000L };
        (void) nanosleep(&t, NULL);
}

bool news_wait(const struct news *n, int wait_ms)
{
        struct pollfd p = { .fd = n->events, .events = POLLIN };
        if (n->events >= 0)
                return poll(&p, 1, wait_ms) > 0;

        for (;; wait_ms -= NEWS_PAUSE_MS) {
                uint8_t now[HEAD_BYTES];
                read_head(n->dir, now);
                if (memcmp(now, n->head, sizeof now) != 0)
                        return true;
                if (wait_ms <= 0)
                        return false;
                news_pause();
        }
}
