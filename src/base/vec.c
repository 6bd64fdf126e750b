/* SPDX-License-Identifier: MIT */
/* base/vec.c - growing arrays. */
#include "base/vec.h"

#include <stdlib.h>

int vec_room(void **v, size_t n, size_t *cap, size_t size)
{
        if (n < *cap)
                return 0;

        size_t want = *cap ? *cap * 2 : 16;
        void *p = reallocarray(*v, want, size);
        if (!p)
                return -1;

        *v = p;
        *cap = want;
        return 0;
}
