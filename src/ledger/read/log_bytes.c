/* SPDX-License-Identifier: MIT */
/* ledger/read/log_bytes.c - the bytes of each record by index. Segments are mapped at once and scanned when
 * one of their records is requested, so a query for the newest records reads only the last segment. */
#include "ledger/internal.h"

#include <stdlib.h>

/* The shortest frame has one byte of payload. */
static uint64_t frames_at_most(struct span all)
{
        return all.n > SEGMENT_HEAD ? (all.n - SEGMENT_HEAD) / (FRAME_HEAD + 1) : 0;
}

/* Scans one segment from its first record on, up to index `end`. Returns the index after its last frame. */
static uint64_t walk_segment(const struct ledger_log *l, struct log_segment *s, uint64_t end)
{
        struct frame f;
        uint64_t index = s->first;
        size_t at = SEGMENT_HEAD;

        while (index < end && frame_next(span_of(s->bytes.p + at, s->bytes.n - at), &f) == FRAME_WHOLE) {
                l->at[index++] = f.pruned ? span_of(NULL, 0) : f.payload;
                at += f.size;
        }

        s->walked = true;
        return index;
}

/* Segments are sorted by their first index. */
static void ensure_record(const struct ledger_log *l, uint64_t index)
{
        size_t k = l->segment_count;
        while (k > 0 && l->segments[k - 1].first > index)
                k--;

        if (k == 0 || l->segments[k - 1].walked)
                return;

        uint64_t end = k < l->segment_count ? l->segments[k].first : l->count;
        (void) walk_segment(l, &l->segments[k - 1], end);
}

void log_load_all(const struct ledger_log *l)
{
        for (size_t k = 0; k < l->segment_count; k++)
                ensure_record(l, l->segments[k].first);
}

struct span log_bytes(const struct ledger_log *l, uint64_t index)
{
        if (index >= l->count)
                return span_of(NULL, 0);
        ensure_record(l, index);
        return l->at[index];
}

/* The head of a damaged or foreign ledger may contain any index: one that its bytes cannot hold is not used,
 * and the records are counted instead. */
static void place_segments(struct ledger_log *l)
{
        uint64_t most = 0, least = 0;

        for (size_t k = 0; k < l->segment_count; k++) {
                struct log_segment *s = &l->segments[k];
                if (s->first > most || s->first < least)
                        s->first = most;
                least = s->first;
                most = s->first + frames_at_most(s->bytes);
        }

        l->count = most;
}

int log_map(struct ledger_log *l, int dir, uint32_t last)
{
        for (uint32_t seq = 1; seq <= last; seq++) {
                struct log_segment *s = &l->segments[l->segment_count];
                struct segment_head h;
                if (segment_map(dir, seq, seq == last, 0, &s->bytes) < 0)
                        continue; /* `cordon ledger verify` reports it */
                if (segment_head_get(s->bytes, &h) < 0) {
                        segment_unmap(s->bytes);
                        continue;
                }
                s->first = h.first;
                l->segment_count++;
        }

        place_segments(l);
        l->at = calloc(l->count + 1, sizeof *l->at);
        if (!l->at)
                return -1;

        if (l->segment_count > 0) /* the number of records is known after the last segment was scanned */
                l->count = walk_segment(l, &l->segments[l->segment_count - 1], l->count);

        return 0;
}
