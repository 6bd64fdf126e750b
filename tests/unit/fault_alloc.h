/* SPDX-License-Identifier: MIT */
/* tests/unit/fault_alloc.h - the nth allocation fails. The linker's --wrap puts these in front of every
 * allocation of the library, also of its arenas, whose blocks would otherwise hide most of them. What was
 * given and not given back is counted. */
#pragma once
#include "base/arena.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long alloc_count, alloc_fail_at; /* 0: none fails */
static long alloc_held;                 /* pieces given and not given back */

/* True: this one fails. */
static bool alloc_fails(void)
{
        alloc_count++;
        if (alloc_count != alloc_fail_at)
                return false;
        errno = ENOMEM;
        return true;
}

#define REAL(type, name, ...) type __real_##name(__VA_ARGS__)
#define WRAPPED(type, name, ...)                                                                             \
        REAL(type, name, __VA_ARGS__);                                                                       \
        type __wrap_##name(__VA_ARGS__);                                                                     \
        type __wrap_##name(__VA_ARGS__)

static void *counted(void *p)
{
        alloc_held += p != NULL;
        return p;
}

WRAPPED(void *, malloc, size_t n) { return alloc_fails() ? NULL : counted(__real_malloc(n)); }
WRAPPED(void *, calloc, size_t n, size_t size)
{
        return alloc_fails() ? NULL : counted(__real_calloc(n, size));
}
WRAPPED(void *, realloc, void *p, size_t n)
{
        if (alloc_fails())
                return NULL;
        void *q = __real_realloc(p, n);
        alloc_held += !p && q;
        return q;
}
WRAPPED(void *, reallocarray, void *p, size_t n, size_t size)
{
        if (alloc_fails())
                return NULL;
        void *q = __real_reallocarray(p, n, size);
        alloc_held += !p && q;
        return q;
}
WRAPPED(void, free, void *p)
{
        alloc_held -= p != NULL;
        __real_free(p);
}
WRAPPED(char *, strdup, const char *s) { return alloc_fails() ? NULL : counted(__real_strdup(s)); }
WRAPPED(FILE *, fopen, const char *path, const char *mode)
{
        return alloc_fails() ? NULL : __real_fopen(path, mode);
}

/* gcc makes asprintf() a call of this one with _FORTIFY_SOURCE. */
__attribute__((format(printf, 2, 0))) static int counted_vasprintf(char **ret, const char *fmt, va_list ap)
{
        if (alloc_fails())
                return -1;
        int n = vasprintf(ret, fmt, ap);
        alloc_held += n >= 0;
        return n;
}
int __wrap_asprintf(char **ret, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **ret, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        int n = counted_vasprintf(ret, fmt, ap);
        va_end(ap);
        return n;
}
int __wrap___asprintf_chk(char **ret, int flag, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int __wrap___asprintf_chk(char **ret, int flag, const char *fmt, ...)
{
        (void) flag;
        va_list ap;
        va_start(ap, fmt);
        int n = counted_vasprintf(ret, fmt, ap);
        va_end(ap);
        return n;
}

static bool arena_fails(struct arena *a)
{
        bool fails = alloc_fails();
        a->failed |= fails;
        return fails;
}
WRAPPED(void *, arena_alloc, struct arena *a, size_t n)
{
        return arena_fails(a) ? NULL : __real_arena_alloc(a, n);
}
WRAPPED(char *, arena_copy, struct arena *a, struct span s)
{
        return arena_fails(a) ? NULL : __real_arena_copy(a, s);
}
WRAPPED(char *, arena_str, struct arena *a, const char *s)
{
        return arena_fails(a) ? NULL : __real_arena_str(a, s);
}
