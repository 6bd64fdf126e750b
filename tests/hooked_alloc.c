/* SPDX-License-Identifier: MIT */
/* tests/hooked_alloc.c - in a program with hooks the allocation with the number in CORDON_ALLOC fails, and no
 * other. The linker puts these before libc's (--wrap). */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t n);

static unsigned long asked, refused;

static bool is_refused(void)
{
        if (++asked != refused)
                return false;

        errno = ENOMEM;
        return true;
}

/* Counted from here on: what libc takes before main() is not ours to survive. */
__attribute__((constructor)) static void begin_to_count(void)
{
        const char *number = getenv("CORDON_ALLOC");

        asked = 0;
        refused = number ? strtoul(number, NULL, 10) : 0;
}

void *__wrap_malloc(size_t n) { return is_refused() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t count, size_t size) { return is_refused() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *p, size_t n) { return is_refused() ? NULL : __real_realloc(p, n); }
