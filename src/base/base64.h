/* SPDX-License-Identifier: MIT */
/* base/base64.h - RFC 4648 base64, with padding. */
#pragma once
#include "base/buf.h"

#include <sys/types.h>

/* Encodes the first `n` (1 to 3) bytes at `p`. */
void base64_block(const uint8_t *p, size_t n, char ret[static 4]);
void base64_put(struct span bytes, struct buf *out);

/* Decodes `text` into `ret`. Returns the number of bytes, or -1 if it is not base64, empty, or longer than
 * `cap`. */
ssize_t base64_read(struct span text, uint8_t *ret, size_t cap);
