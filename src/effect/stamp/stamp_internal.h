/* SPDX-License-Identifier: MIT */
/* effect/stamp/stamp_internal.h - shared by the files of this folder. */
#pragma once
#include "effect/stamp/stamp.h"

#define stamp_pipe_prefix "pipe:"

/* The label in the index for this file, by path or inode. */
struct label stamp_indexed(const struct stamp_index *x, const char *path);
struct label stamp_same_file(const struct stamp_index *x, const char *path); /* by its number */
struct label stamp_attribute(const char *path);
void stamp_identify(const char *path, struct stamp *s); /* 0: it does not exist */
bool stamp_is_same_file(const struct stamp *a, const struct stamp *b);
