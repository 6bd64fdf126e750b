/* SPDX-License-Identifier: MIT */
/* base/vec.h - growing arrays on the heap. */
#pragma once
#include <stddef.h>

/* Makes room for one more element of `size` bytes. Returns 0 on success, -1 if memory runs out. */
int vec_room(void **v, size_t n, size_t *cap, size_t size);
