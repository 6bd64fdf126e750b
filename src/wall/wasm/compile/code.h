/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/code.h - code in the making. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Writing past its end only sets `full`. In front of `base`, `data_bytes` long, are the words that the code
 * reads (enum data): it has no address in it, and runs wherever it is mapped. */
struct code {
        uint8_t *base;
        uint32_t at, room, restart, data_bytes;
        bool full;
        bool is_far;    /* jumps of this function may be long */
        bool too_short; /* one is, and `is_far` is not set: the function has to be written again */
};

static inline void put(struct code *k, const void *p, uint32_t n)
{
        if (k->at + n > k->room) {
                k->full = true;
                k->at = k->restart;
        }
        memcpy(k->base + k->at, p, n);
        k->at += n;
}
static inline void put8(struct code *k, unsigned v)
{
        uint8_t b = (uint8_t) v;
        put(k, &b, 1);
}
static inline void put32(struct code *k, uint32_t v) { put(k, &v, 4); }
static inline void put64(struct code *k, uint64_t v) { put(k, &v, 8); }

/* Where word `index` is, seen from the base. */
static inline int64_t data_at(const struct code *k, uint32_t index)
{
        return (int64_t) index * 8 - k->data_bytes;
}
