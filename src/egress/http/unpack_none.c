/* SPDX-License-Identifier: MIT */
/* egress/http/unpack_none.c - replaces unpack.c if zlib is missing: nothing is decompressed, so compressed
 * answers are rejected. */
#include "egress/http/unpack.h"

struct unpack *unpack_new(enum unpack_kind kind)
{
        (void) kind;
        return NULL;
}

void unpack_free(struct unpack *u) { (void) u; }

enum unpack_state unpack_pass(struct unpack *u, struct span in, size_t *ret_used, struct span *ret_out)
{
        (void) u;
        (void) in;
        *ret_used = 0;
        *ret_out = (struct span){ 0 };
        return UNPACK_BAD;
}

bool unpack_whole(const struct unpack *u)
{
        (void) u;
        return false;
}

enum effect_reason unpack_why(const struct unpack *u)
{
        (void) u;
        return REASON_ANSWER_UNREAD;
}
