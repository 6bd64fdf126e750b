/* SPDX-License-Identifier: MIT */
/* ledger/read/segment_read.c - maps segments and scans their frames. Takes no lock: whole frames do not
 * change, and incomplete ones are not read. */
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
                        return -1; /* else it was truncated meanwhile */
        }
}

/* SAFETY: copies the last segment, from the byte `from` on. A writer truncates what another left torn in it,
 * or what it could not write completely; a page that disappears from a mapping kills the reader (SIGBUS).
 * Earlier segments never shrink. A segment larger than any writer makes is foreign, and must not exhaust our
 * memory. */
int segment_map(int dir, uint32_t seq, bool last, size_t from, struct span *ret)
{
        char path[32];
        struct stat st;
        segment_path(seq, path);
        AUTO_FD(fd, openat(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (fd < 0 || fstat(fd, &st) < 0)
                return -1;

        if (!S_ISREG(st.st_mode)) { /* of a foreign ledger: never block on its FIFO */
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

void segment_unmap(struct span all)
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
                if (segment_map(dir, at->seq, at->seq == (uint32_t) last, at->offset, &all) < 0)
                        return errno == ENOENT ? SCAN_HEAD : SCAN_UNREADABLE;
                enum scan_end e = scan_segment(all, at->seq == (uint32_t) last, at, each, ctx);
                segment_unmap(all);
                if (e != SCAN_WHOLE || (int64_t) at->seq == last)
                        return e;
        }
}
