/* SPDX-License-Identifier: MIT */
/* base/arena.c - a list of blocks; allocations come from the newest. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK_BYTES = 4096 };

struct arena_block {
        struct arena_block *next;
        size_t used, size;
        max_align_t data[];
};

void *arena_alloc(struct arena *a, size_t n)
{
        size_t align = sizeof(max_align_t);
        if (n > SIZE_MAX / 2) {
                a->failed = true;
                return NULL;
        }

        n = (n + align - 1) / align * align;
        if (!a->head || a->head->size - a->head->used < n) {
                size_t size = n > BLOCK_BYTES ? n : BLOCK_BYTES;
                struct arena_block *b = calloc(1, sizeof *b + size);
                if (!b) {
                        a->failed = true;
                        return NULL;
                }
                b->size = size;
                b->next = a->head;
                a->head = b;
        }

        char *p = (char *) a->head->data + a->head->used;
        a->head->used += n;
        return p;
}

char *arena_copy(struct arena *a, struct span s)
{
        char *p = arena_alloc(a, s.n + 1);
        if (p && s.n > 0)
                memcpy(p, s.p, s.n);
        return p;
}

char *arena_str(struct arena *a, const char *s) { return arena_copy(a, span_str(s)); }

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
        va_list again;
        va_copy(again, ap);
        int n = vsnprintf(NULL, 0, fmt, again);
        va_end(again);
        char *p = n < 0 ? NULL : arena_alloc(a, (size_t) n + 1);
        if (p)
                (void) vsnprintf(p, (size_t) n + 1, fmt, ap);

        return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        char *p = arena_vprintf(a, fmt, ap);
        va_end(ap);
        return p;
}

void arena_join(struct arena *a, struct arena *other)
{
        struct arena_block **end = &other->head; /* the other list is usually the short one */
        while (*end)
                end = &(*end)->next;

        if (a->head) { /* after the newest block, which stays in use */
                *end = a->head->next;
                a->head->next = other->head;
        } else {
                a->head = other->head;
        }

        other->head = NULL;
        a->failed |= other->failed;
}

void arena_done(struct arena *a)
{
        while (a->head) {
                struct arena_block *next = a->head->next;
                free(a->head);
                a->head = next;
        }
}
