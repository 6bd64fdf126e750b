/* SPDX-License-Identifier: MIT */
/* broker/egress/http/unpack_memory.c - memory for libraries that take an allocator. Each piece knows its
 * size, so that it can be wiped. */
#include "broker/egress/http/unpack_ops.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = alignof(max_align_t) };

void *unpack_take(void *ctx, size_t n)
{
        (void) ctx;
        size_t all;
        uint8_t *p = __builtin_add_overflow(n, (size_t) HEAD, &all) ? NULL : malloc(all);
        if (!p)
                return NULL;

        memcpy(p, &all, sizeof all);
        return p + HEAD;
}

void unpack_give(void *ctx, void *p)
{
        (void) ctx;
        if (!p)
                return;

        uint8_t *from = (uint8_t *) p - HEAD;
        size_t all;
        memcpy(&all, from, sizeof all);
        explicit_bzero(from, all);
        free(from);
}
