/* SPDX-License-Identifier: MIT */
/* cli/heap.c - the heap of the static program: size classes of powers of two, carved from one array. musl's
 * own gives memory back to the kernel at every free, and takes it again: twenty calls and as many page faults
 * in a program that lives three milliseconds. One thread only, which is what the program has. Not in the
 * library, not under sanitizers. */
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
        LARGEST_BITS = 15,
        CLASSES = LARGEST_BITS - SMALLEST_BITS + 1,
        ARENA_BYTES = 512 * 1024,
        FIRST_BYTES = 64 * 1024 /* what a run without many doors uses */
};

/* Sixteen bytes in front of every piece, so that what follows is aligned for anything. */
struct head {
        size_t room; /* bytes that follow */
        union {
                struct head *next; /* while free */
                size_t mapped;     /* a piece of its own, too large for the classes: bytes to unmap */
        };
};
_Static_assert(sizeof(struct head) == 16, "keeps pieces aligned");

static _Alignas(PAGE) unsigned char arena[ARENA_BYTES];
static size_t used;
static struct head *free_list[CLASSES];
/* Large pieces that were given back: the next one that fits has them, and a program that ends soon makes no
 * call for each. */
enum { SPARES = 4, SPARE_MAX = 128 * 1024 };
static struct head *spare[SPARES];

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

static struct head *take_spare(size_t n)
{
        for (unsigned i = 0; i < SPARES; i++)
                if (spare[i] && spare[i]->room >= n && spare[i]->room / 2 <= n) {
                        struct head *h = spare[i];
                        spare[i] = NULL;
                        return h;
                }

        return NULL;
}

static int keep_spare(struct head *h)
{
        bool fits =
                h->room > (size_t) 1 << LARGEST_BITS && h->mapped <= SPARE_MAX; /* others are not asked for */
        for (unsigned i = 0; i < SPARES && fits; i++)
                if (!spare[i]) {
                        spare[i] = h;
                        return 1;
                }

        return 0;
}

static struct head *carve(unsigned class)
{
        /* One call instead of a page fault for each of them. A kernel that has no such call (before 5.14), or
         * larger pages, refuses it, and the faults come one by one. */
        if (used == 0)
                (void) madvise(arena, FIRST_BYTES, MADV_POPULATE_WRITE);

        size_t room = (size_t) 1 << (class + SMALLEST_BITS);
        if (ARENA_BYTES - used < room + sizeof(struct head))
                return map_piece(room); /* given back by munmap, like any large piece */

        struct head *h = (struct head *) (void *) (arena + used);
        used += room + sizeof *h;
        *h = (struct head){ .room = room };
        return h;
}

#ifdef CORDON_HOOKS
/* For tests, with hooks only: the allocation with the number in CORDON_ALLOC fails, and none else.
 */
static unsigned long asked, refused;
static int is_refused(void) { return ++asked == refused; }

/* Counted from here on: what libc takes before main() is not ours to survive. */
__attribute__((constructor)) static void begin_to_count(void)
{
        const char *number = getenv("CORDON_ALLOC");
        asked = 0;
        refused = number ? strtoul(number, NULL, 10) : 0;
}
#else
static inline int is_refused(void) { return 0; }
#endif

/* *ret_fresh: nobody has written to it yet, so it is zero. */
static void *take(size_t n, int *ret_fresh)
{
        struct head *h;
        *ret_fresh = 1;
        if (n > SIZE_MAX / 2 || is_refused()) {
                errno = ENOMEM;
                return NULL;
        }

        if (n > (size_t) 1 << LARGEST_BITS) {
                h = take_spare(n);
                *ret_fresh = h == NULL;
                h = h ? h : map_piece(n);
        } else {
                unsigned class = class_of(n);
                h = free_list[class];
                if (h) {
                        free_list[class] = h->next;
                        h->mapped = 0;
                        *ret_fresh = 0;
                } else {
                        h = carve(class);
                }
        }

        return h ? h + 1 : NULL;
}

void *malloc(size_t n)
{
        int fresh;
        return take(n, &fresh);
}

void free(void *p)
{
        if (!p)
                return;

        struct head *h = (struct head *) p - 1;
        int kept = errno;
        if (h->mapped && !keep_spare(h)) {
                (void) munmap(h, h->mapped);
        } else if (!h->mapped) {
                unsigned class = class_of(h->room);
                h->next = free_list[class];
                free_list[class] = h;
        }

        errno = kept;
}

void *calloc(size_t count, size_t size)
{
        size_t n;
        if (__builtin_mul_overflow(count, size, &n)) {
                errno = ENOMEM;
                return NULL;
        }

        int fresh;
        void *p = take(n, &fresh);
        return p && !fresh ? memset(p, 0, n) : p;
}

void *realloc(void *p, size_t n)
{
        if (!p)
                return malloc(n);

        size_t room = ((struct head *) p - 1)->room;
        if (n <= room)
                return p;

        void *bigger = malloc(n);
        if (bigger) {
                memcpy(bigger, p, room);
                free(p);
        }

        return bigger;
}

/* Nobody in the program asks for more than natural alignment; musl wants the name defined beside the others.
 */
void *aligned_alloc(size_t align, size_t n)
{
        if (align > 16) {
                errno = EINVAL;
                return NULL;
        }
        return malloc(n);
}
