/* SPDX-License-Identifier: MIT */
/* files/image/tree_remove.h - removal of unpacked trees; used by the store and by cordon-unpack. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Removes an entry with all below it. Returns 0, also if it does not exist, or -1 with errno. */
int tree_remove(int dir, const char *name);
/* Removes the entries that `keep` does not want; a kept directory is looked through. */
int tree_remove_but(int dir, bool (*keep)(void *ctx, uint64_t ino), void *ctx);
