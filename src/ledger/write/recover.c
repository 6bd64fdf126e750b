/* SPDX-License-Identifier: MIT */
/* ledger/write/recover.c - recovery by the next writer when the head and the segment disagree: a writer was
 * killed, the power failed, or the files were changed.
 *
 * - a killed writer: whole frames after the head are counted, a torn one is truncated, and a segment that it
 *   began is the last one;
 * - lost power: unflushed data may be missing or torn anywhere after the last flush. The segment is read from
 *   its start, and truncated at the first damage; the removed bytes are kept in lost/;
 * - anything else is damage: nothing is truncated or added, and `cordon ledger verify` reports where.
 *
 * Never: truncates below the last checkpoint.
 */
#include "base/fd.h"
#include "base/store/store.h"
#include "ledger/write/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

static int damaged_ledger(struct err *e, const char *how)
{
        (void) err_set(e, ERR_IO, EUCLEAN, "the ledger is damaged: %s", how);
        return err_hint(e, "`cordon ledger verify` shows where; `cordon ledger restart` puts it aside and "
                           "starts another");
}

static int in_vain(struct err *e)
{
        return err_set(e, ERR_IO, errno, "the ledger cannot be read: %s", strerror(errno));
}

/* The clock of the newest record that has one. */
static void note_clock(struct head *h, const struct frame *f)
{
        struct ledger_view v;
        if (!f->pruned && ledger_view_parse(f->payload, &v) == 0 && v.clock > 0 &&
            (uint64_t) v.clock > h->clock)
                h->clock = (uint64_t) v.clock;
}

static enum frame_state walk_frames(struct span all, struct head *h)
{
        struct frame f;
        enum frame_state s;
        while ((s = frame_next(span_of(all.p + h->end, all.n - h->end), &f)) == FRAME_WHOLE) {
                h->end += f.size;
                h->count++;
                h->clock++;
                note_clock(h, &f);
        }

        return s;
}

/* Saves the truncated bytes, under the segment's number and the offset. */
static int put_aside(struct ledger *l, const struct head *h, struct span tail, struct err *e)
{
        char name[48];
        AUTO_FD(dir, store_dir(l->dir, "lost", e));
        if (dir < 0)
                return -1;

        (void) snprintf(name, sizeof name, "%08u-%llu", h->seq, (unsigned long long) h->end);
        AUTO_FD(fd, openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || fd_write_all(fd, tail.p, tail.n) < 0 || fdatasync(fd) < 0 || fsync(dir) < 0)
                return ledger_cannot(e, "putting aside what is cut");

        return 0;
}

static int cut_tail(struct ledger *l, const struct head *known, struct head *h, struct span all,
                    struct err *e)
{
        struct span tail = span_of(all.p + h->end, all.n - h->end);
        bool same_boot = known && strncmp(known->boot, l->boot, sizeof known->boot) == 0;
        uint64_t sealed;
        if (ledger_sealed_size(l->dir, &sealed) < 0)
                return in_vain(e);

        if (h->count < sealed)
                return damaged_ledger(e, "records that a checkpoint covers are missing");

        if (known && same_boot && h->count < known->count)
                return damaged_ledger(e, "records are missing at its end");

        if (tail.n == 0)
                return 0;

        if (same_boot && frame_anywhere(tail))
                return damaged_ledger(e, "a record in its last segment is not what was written");

        if (!same_boot && put_aside(l, h, tail, e) < 0)
                return -1;

        if (ftruncate(l->segment, (off_t) h->end) < 0)
                return in_vain(e);

        l->lost += same_boot ? 0 : (int64_t) tail.n;
        return 0;
}

/* From the head's offset if the head is valid, else from the start of the segment. */
static int begin_at(const struct ledger *l, const struct head *known, struct span all, struct head *h,
                    struct err *e)
{
        struct segment_head s;
        if (segment_head_get(all, &s) < 0 || s.seq != h->seq)
                return damaged_ledger(e, "the head of its last segment is not what was written");

        bool believed = known && known->seq == h->seq &&
                        strncmp(known->boot, l->boot, sizeof known->boot) == 0 && known->end <= all.n;
        if (believed)
                *h = *known;
        else
                *h = (struct head){ .seq = h->seq, .count = s.first, .clock = s.clock, .end = SEGMENT_HEAD };

        return 0;
}

int ledger_recover(struct ledger *l, const struct head *known, struct head *ret, struct err *e)
{
        struct head h = { 0 };
        struct stat st;
        int64_t last = ledger_last_segment(l->dir);
        uint64_t sealed = 0;
        if (last < 0 || (last == 0 && ledger_sealed_size(l->dir, &sealed) < 0))
                return in_vain(e);

        if (last == 0 && (known || sealed > 0))
                return damaged_ledger(e, "its segments are missing");

        *ret = h;
        if (last == 0)
                return 0;

        h.seq = (uint32_t) last;
        if (known && known->seq > h.seq)
                return damaged_ledger(e, "its last segment is missing");

        if (segment_open(l, h.seq, e) < 0 || fstat(l->segment, &st) < 0)
                return in_vain(e);

        size_t n = (size_t) st.st_size;
        if (n == 0)
                return damaged_ledger(e, "its last segment is empty");

        void *p = mmap(NULL, n, PROT_READ, MAP_SHARED, l->segment, 0);
        if (p == MAP_FAILED)
                return in_vain(e);

        struct span all = span_of(p, n);
        int r = begin_at(l, known, all, &h, e);
        if (r == 0) {
                (void) walk_frames(all, &h);
                r = cut_tail(l, known, &h, all, e);
        }

        (void) munmap(p, n);
        *ret = h;
        return r;
}
