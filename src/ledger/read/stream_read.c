/* SPDX-License-Identifier: MIT */
/* ledger/read/stream_read.c - reads one ledger, record after record, through a window of its bytes. */
#include "base/fd.h"
#include "ledger/read/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { WINDOW = 128 << 10, WINDOW_MAX = 16 << 20 };

int stream_open(struct stream *s, int dir)
{
        *s = (struct stream){ .dir = dir, .fd = -1, .cap = WINDOW };
        s->window = malloc(WINDOW);
        s->last = ledger_last_segment(dir);
        return s->window && s->last >= 0 ? 0 : -1;
}

void stream_close(struct stream *s)
{
        fd_close(&s->fd);
        fd_close(&s->dir);
        free(s->window);
        s->window = NULL;
}

/* Moves what is left to the beginning and reads on. Returns the bytes that were read. */
static ssize_t fill_window(struct stream *s)
{
        memmove(s->window, s->window + s->at, s->n - s->at);
        s->n -= s->at;
        s->at = 0;
        if (s->n == s->cap && s->cap < WINDOW_MAX) { /* a frame that is longer */
                uint8_t *more = realloc(s->window, s->cap * 2);
                if (!more)
                        return -1;
                s->window = more;
                s->cap *= 2;
        }

        ssize_t n = pread(s->fd, s->window + s->n, s->cap - s->n, (off_t) s->offset);
        if (n > 0) {
                s->n += (size_t) n;
                s->offset += (uint64_t) n;
        }

        return n;
}

static int open_segment(struct stream *s)
{
        char path[32];
        struct stat st;
        struct segment_head h;
        fd_close(&s->fd);
        segment_path(++s->seq, path);
        s->fd = openat(s->dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (s->fd < 0 || fstat(s->fd, &st) < 0 || !S_ISREG(st.st_mode))
                return -1;

        (void) posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        s->offset = s->at = s->n = 0;
        if (fill_window(s) < SEGMENT_HEAD || segment_head_get(span_of(s->window, s->n), &h) < 0 ||
            h.first != s->index)
                return -1;

        s->at = SEGMENT_HEAD;
        return 0;
}

int stream_next(struct stream *s, struct span *ret)
{
        for (;;) {
                struct frame f;
                enum frame_state is = frame_next(span_of(s->window + s->at, s->n - s->at), &f);
                if (is == FRAME_WHOLE) {
                        s->at += f.size;
                        s->index++;
                        *ret = f.pruned ? span_of(NULL, 0) : f.payload;
                        return 1;
                }

                if (is == FRAME_BAD)
                        return -1;

                ssize_t n = s->fd >= 0 ? fill_window(s) : 0;
                if (n < 0)
                        return -1;

                if (n > 0)
                        continue;

                if (s->seq >= s->last) /* a torn frame at the very end is one that is being written */
                        return 0;

                if (s->n > s->at || open_segment(s) < 0)
                        return -1;
        }
}
