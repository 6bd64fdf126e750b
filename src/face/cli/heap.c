/* SPDX-License-Identifier: MIT */
/* face/cli/heap.c - the heap of the static program: size classes of powers of two, carved from one array.
 * musl's malloc returns memory to the kernel at every free() and maps it again: twenty system calls and as
 * many page faults in a program that lives three milliseconds, 5 to 7 % of a start. Single-threaded, as the
 * program is. Not in the library, not under sanitizers. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* newer than musl's headers */
#endif

enum {
        PAGE = 4096,
        SMALLEST_BITS = 5,
        LARGEST_BITS = 17, /* above this, a mapping of its own */
        CLASSES = LARGEST_BITS - SMALLEST_BITS + 1,
        ARENA_BYTES = 1024 * 1024,
        FIRST_BYTES = 64 * 1024 /* the use of a run without many doors */
};

/* Sixteen bytes in front of every block, so that the block is aligned for any type. */
struct head {
        size_t room; /* bytes that follow */
        union {
                struct head *next; /* while free */
                size_t mapped;     /* of a mapping of its own: bytes to unmap; 0: part of the array */
        };
};
_Static_assert(sizeof(struct head) == 16, "keeps pieces aligned");

static _Alignas(PAGE) unsigned char arena[ARENA_BYTES];
static size_t used;
static struct head *free_list[CLASSES];
static bool fresh; /* the last result of take() was never written to: it is zero */

static unsigned class_of(size_t room)
{
        unsigned bits = SMALLEST_BITS;

        while (((size_t) 1 << bits) < room)
                bits++;

        return bits - SMALLEST_BITS;
}

static struct head *map_piece(size_t room)
{
        size_t bytes = (room + sizeof(struct head) + PAGE - 1) & ~(size_t) (PAGE - 1);
        struct head *h = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (h == MAP_FAILED)
                return NULL;

        *h = (struct head){ .room = bytes - sizeof *h, .mapped = bytes };
        return h;
}

static struct head *carve(size_t room)
{
        /* One call instead of a page fault for each page. Kernels before 5.14 reject it, and the faults
         * come one by one. */
        if (used == 0)
                (void) madvise(arena, FIRST_BYTES, MADV_POPULATE_WRITE);

        if (ARENA_BYTES - used < room + sizeof(struct head))
                return map_piece(room);

        struct head *h = (struct head *) (void *) (arena + used);
        used += room + sizeof *h;
        *h = (struct head){ .room = room };
        return h;
}

/* Not malloc() by name: the compiler would make calloc() of it and the memset() in calloc(). */
static struct head *take(size_t n)
{
        if (n > SIZE_MAX / 2) {
                errno = ENOMEM;
                return NULL;
        }

        struct head *h;
        unsigned class = class_of(n);
        fresh = class >= CLASSES || !free_list[class];
        if (class >= CLASSES) {
                h = map_piece(n);
        } else if (!fresh) {
                h = free_list[class];
                free_list[class] = h->next;
                h->mapped = 0;
        } else {
                h = carve((size_t) 1 << (class + SMALLEST_BITS));
        }

        return h;
}

void *malloc(size_t n)
{
        struct head *h = take(n);
        return h ? h + 1 : NULL;
}

void free(void *p)
{
        if (!p)
                return;

        struct head *h = (struct head *) p - 1;
        if (h->mapped) {
                int kept = errno;
                (void) munmap(h, h->mapped);
                errno = kept;
                return;
        }

        unsigned class = class_of(h->room);
        h->next = free_list[class];
        free_list[class] = h;
}

void *calloc(size_t count, size_t size)
{
        size_t n;
        if (__builtin_mul_overflow(count, size, &n))
                n = SIZE_MAX;

        struct head *h = take(n);
        if (h && !fresh)
                (void) memset(h + 1, 0, n);

        return h ? h + 1 : NULL;
}

void *realloc(void *p, size_t n)
{
        size_t room = p ? ((struct head *) p - 1)->room : 0;
        if (p && n <= room)
                return p;

        void *bigger = malloc(n);
        if (bigger && p) {
                memcpy(bigger, p, room);
                free(p);
        }

        return bigger;
}

/* Nothing asks for more than natural alignment; musl wants the name defined beside the others. */
void *aligned_alloc(size_t align, size_t n)
{
        if (align > 16) {
                errno = EINVAL;
                return NULL;
        }

        return malloc(n);
}
