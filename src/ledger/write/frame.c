/* SPDX-License-Identifier: MIT */
/* ledger/write/frame.c - frames and the heads of segments, as bytes. Pure; trusts none of its input. */
#include "ledger/internal.h"

#include <stdio.h>

void put_u32(uint8_t *p, uint32_t v)
{
        for (int i = 0; i < 4; i++)
                p[i] = (uint8_t) (v >> (8 * i));
}

void put_u64(uint8_t *p, uint64_t v)
{
        put_u32(p, (uint32_t) v);
        put_u32(p + 4, (uint32_t) (v >> 32));
}

uint32_t get_u32(const uint8_t *p)
{
        return (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 | (uint32_t) p[3] << 24;
}

uint64_t get_u64(const uint8_t *p) { return get_u32(p) | (uint64_t) get_u32(p + 4) << 32; }

static uint32_t frame_sum(uint32_t length, const void *payload, size_t n)
{
        uint8_t word[4];
        put_u32(word, length);
        return crc32c(crc32c(0, word, sizeof word), payload, n);
}

void frame_head(uint8_t head[FRAME_HEAD], const void *payload, size_t n, bool pruned)
{
        uint32_t length = (uint32_t) n | (pruned ? FRAME_PRUNED : 0);
        put_u32(head, length);
        put_u32(head + 4, frame_sum(length, payload, n));
}

/* A length that no writer writes is damage, not the start of a long frame: else one flipped bit would make
 * everything after it look like a torn tail. */
static bool length_is_right(uint32_t length)
{
        uint32_t n = length & ~FRAME_PRUNED;
        return length & FRAME_PRUNED ? n == LEDGER_HASH : n > 0 && n <= LEDGER_RECORD_MAX;
}

enum frame_state frame_next(struct span rest, struct frame *ret)
{
        if (rest.n == 0)
                return FRAME_END;

        if (rest.n < FRAME_HEAD)
                return FRAME_TORN;

        uint32_t length = get_u32(rest.p), n = length & ~FRAME_PRUNED;
        if (!length_is_right(length))
                return FRAME_BAD;

        if (rest.n - FRAME_HEAD < n)
                return FRAME_TORN;

        if (get_u32(rest.p + 4) != frame_sum(length, rest.p + FRAME_HEAD, n))
                return FRAME_BAD;

        *ret = (struct frame){ .payload = span_of(rest.p + FRAME_HEAD, n),
                               .size = FRAME_HEAD + n,
                               .pruned = length & FRAME_PRUNED };

        return FRAME_WHOLE;
}

bool frame_anywhere(struct span rest)
{
        struct frame f;
        for (size_t i = 0; i + FRAME_HEAD < rest.n; i++)
                if (frame_next(span_of(rest.p + i, rest.n - i), &f) == FRAME_WHOLE)
                        return true;
        return false;
}

void frame_leaf(const struct frame *f, uint8_t ret[LEDGER_HASH])
{
        if (f->pruned)
                memcpy(ret, f->payload.p, LEDGER_HASH);
        else
                ledger_leaf_hash(f->payload, ret);
}

static const char magic[8] = { 'c', 'o', 'r', 'd', 'o', 'n', 'L', '1' };

void segment_head_put(uint8_t bytes[SEGMENT_HEAD], const struct segment_head *h)
{
        memset(bytes, 0, SEGMENT_HEAD);
        memcpy(bytes, magic, sizeof magic);
        put_u32(bytes + 8, h->seq);
        put_u64(bytes + 16, h->first);
        put_u64(bytes + 24, h->clock);
        put_u32(bytes + 36, crc32c(0, bytes, 36));
}

int segment_head_get(struct span bytes, struct segment_head *ret)
{
        if (bytes.n < SEGMENT_HEAD || memcmp(bytes.p, magic, sizeof magic) != 0 ||
            get_u32(bytes.p + 36) != crc32c(0, bytes.p, 36))
                return -1;

        *ret = (struct segment_head){ .seq = get_u32(bytes.p + 8),
                                      .first = get_u64(bytes.p + 16),
                                      .clock = get_u64(bytes.p + 24) };

        return 0;
}

void segment_name(uint32_t seq, char ret[16]) { (void) snprintf(ret, 16, "%08u.seg", seq % 100000000u); }

void segment_path(uint32_t seq, char ret[32])
{
        char name[16];
        segment_name(seq, name);
        (void) snprintf(ret, 32, "segments/%s", name);
}
