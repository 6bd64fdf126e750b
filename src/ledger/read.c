/* SPDX-License-Identifier: MIT */
/* ledger/read.c - walks the frames of all segments, and keeps them in reach for questions. Takes no lock:
 * what is whole does not change, and what is not yet whole is not looked at. */
#include "base/fd.h"
#include "ledger/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

int ledger_copy(int fd, size_t from, struct span *ret)
{
        for (;;) {
                struct stat st;
                if (fstat(fd, &st) < 0)
                        return -1;
                size_t size = (size_t) st.st_size, done = from < size ? from : size;
                char *p = size ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                               : NULL;
                if (p == MAP_FAILED)
                        return -1;
                ssize_t n = 1;
                while (done < size && (n = pread(fd, p + done, size - done, (off_t) done)) > 0)
                        done += (size_t) n;
                if (done == size) {
                        *ret = span_of(p, size);
                        return 0;
                }
                int sys = errno;
                (void) munmap(p, size);
                errno = sys;
                if (n < 0 && errno != EINTR)
                        return -1; /* else it was cut meanwhile */
        }
}

/* SAFETY: the last segment is copied, from the byte `from` on. A writer cuts what another left torn in it, or
 * what it could not write whole itself; a page that goes from under a map ends the reader. Those before it
 * get no shorter. One that is larger than any writer makes it is a stranger's, and no way to our memory. */
static int map_segment(int dir, uint32_t seq, bool last, size_t from, struct span *ret)
{
        char path[32];
        struct stat st;
        segment_path(seq, path);
        AUTO_FD(fd, openat(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (fd < 0 || fstat(fd, &st) < 0)
                return -1;
        if (!S_ISREG(st.st_mode)) { /* of a stranger's ledger: nobody waits for his pipe */
                errno = EINVAL;
                return -1;
        }
        if (last && st.st_size <= 2 * (off_t) SEGMENT_MAX)
                return ledger_copy(fd, from, ret);
        void *p = st.st_size > 0 ? mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
        if (p == MAP_FAILED)
                return -1;
        *ret = span_of(p, (size_t) st.st_size);
        return 0;
}

static void unmap(struct span all)
{
        if (all.p)
                (void) munmap((void *) (uintptr_t) all.p, all.n);
}

static enum scan_end scan_segment(struct span all, bool last, struct scan_place *at, scan_each *each,
                                  void *ctx)
{
        struct segment_head h;
        struct frame f;
        enum frame_state s;
        if (at->offset == 0) {
                if (segment_head_get(all, &h) < 0 || h.seq != at->seq || h.first != at->index)
                        return SCAN_HEAD;
                at->offset = SEGMENT_HEAD;
        }
        if (at->offset > all.n)
                return SCAN_BAD;
        while ((s = frame_next(span_of(all.p + at->offset, all.n - at->offset), &f)) == FRAME_WHOLE) {
                if (each(ctx, at, &f) != 0)
                        return SCAN_STOPPED;
                at->offset += f.size;
                at->index++;
        }
        if (s == FRAME_TORN && last && !frame_anywhere(span_of(all.p + at->offset, all.n - at->offset)))
                return SCAN_TORN;
        return s == FRAME_END ? SCAN_WHOLE : SCAN_BAD;
}

enum scan_end ledger_scan(int dir, struct scan_place *at, scan_each *each, void *ctx)
{
        int64_t last = ledger_last_segment(dir);
        if (last < 0)
                return SCAN_UNREADABLE;
        if (at->seq == 0)
                at->seq = 1;
        for (;; at->seq++, at->offset = 0) {
                struct span all;
                if ((int64_t) at->seq > last)
                        return SCAN_WHOLE;
                if (map_segment(dir, at->seq, at->seq == (uint32_t) last, at->offset, &all) < 0)
                        return errno == ENOENT ? SCAN_HEAD : SCAN_UNREADABLE;
                enum scan_end e = scan_segment(all, at->seq == (uint32_t) last, at, each, ctx);
                unmap(all);
                if (e != SCAN_WHOLE || (int64_t) at->seq == last)
                        return e;
        }
}

/* ---- all records at once ---- */

static int log_add(struct ledger_log *l, struct span payload)
{
        if ((l->count & (l->count - 1)) == 0) {
                struct span *more = realloc(l->at, (l->count ? 2 * l->count : 1) * sizeof *more);
                if (!more)
                        return -1;
                l->at = more;
        }
        l->at[l->count++] = payload;
        return 0;
}

static int log_segment(struct ledger_log *l, struct span all)
{
        struct segment_head h;
        struct frame f;
        size_t at = SEGMENT_HEAD;
        if (segment_head_get(all, &h) < 0)
                return 0;
        while (frame_next(span_of(all.p + at, all.n - at), &f) == FRAME_WHOLE) {
                if (log_add(l, f.pruned ? span_of(NULL, 0) : f.payload) < 0)
                        return -1;
                at += f.size;
        }
        return 0;
}

struct ledger_log *ledger_log_open(int dir, struct err *e)
{
        struct ledger_log *l = calloc(1, sizeof *l);
        int64_t last = ledger_last_segment(dir);
        if (l)
                l->answered = answered_new();
        if (l && last > 0)
                l->maps = calloc((size_t) last, sizeof *l->maps);
        if (!l || !l->answered || last < 0 || (last > 0 && !l->maps)) {
                ledger_log_free(l);
                (void) err_set(e, ERR_IO, errno, "the ledger cannot be read: %s", strerror(errno));
                return NULL;
        }
        for (uint32_t seq = 1; seq <= last; seq++) {
                struct span all;
                if (map_segment(dir, seq, seq == last, 0, &all) < 0)
                        continue; /* `cordon verify` tells */
                l->maps[l->map_count++] = all;
                if (log_segment(l, all) < 0) {
                        ledger_log_free(l);
                        (void) err_set(e, ERR_MEMORY, 0, "no memory for the ledger's records");
                        return NULL;
                }
        }
        return l;
}

void ledger_log_free(struct ledger_log *l)
{
        if (!l)
                return;
        for (size_t i = 0; i < l->map_count; i++)
                unmap(l->maps[i]);
        answered_free(l->answered);
        free(l->maps);
        free(l->at);
        free(l->from);
        free(l->own_index);
        free(l->marks);
        free(l->edges);
        free(l);
}

uint64_t ledger_log_count(const struct ledger_log *l) { return l->count; }

int ledger_log_view(const struct ledger_log *l, uint64_t index, struct ledger_view *ret)
{
        if (index >= l->count || !l->at[index].p || ledger_view_parse(l->at[index], ret) < 0)
                return -1;
        ret->unknown = span_is(ret->phase, "intent") && !answered_has(l->answered, l->at, l->count, ret->id);
        if (l->ledgers) {
                ret->ledger = span_str(l->names[l->from[index]]);
                ret->lost_cause = l->marks[index] & RECORD_LOST_CAUSE;
                ret->in_circle = l->marks[index] & RECORD_IN_CIRCLE;
        }
        return 0;
}

bool ledger_log_has_gap(const struct ledger_log *l, const char *run)
{
        bool began = false, gap = false;
        for (uint64_t i = 0; i < l->count; i++) {
                struct ledger_view v;
                bool there = ledger_log_view(l, i, &v) == 0, own = there && span_is(v.run, run);
                if (own && began && gap)
                        return true;
                began |= own;
                gap |= began && !there;
        }
        return false;
}
