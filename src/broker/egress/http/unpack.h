/* SPDX-License-Identifier: MIT */
/* broker/egress/http/unpack.h - decompresses an answer as it streams, so that it can be searched. The bytes
 * are a server's: whatever they are, the output of each call is bounded, and so is the memory. */
#pragma once
#include "base/span.h"
#include "effect/effect.h"

enum unpack_kind {
        UNPACK_NONE = 0,
        UNPACK_GZIP,    /* RFC 1952, one member or several */
        UNPACK_DEFLATE, /* RFC 1950; or RFC 1951 alone, as many servers have it */
        UNPACK_BROTLI,
        UNPACK_ZSTD,
        UNPACK__COUNT
};
enum unpack_state {
        UNPACK_BAD = 0, /* damaged, and stays so; nothing came out of this call */
        UNPACK_MORE,    /* all that can come out of these bytes has */
        UNPACK_FULL,    /* there may be more: call again */
};
enum { UNPACK_OUT = 16384 }; /* at most the output of one call */

struct unpack;
/* NULL: no memory, or this build cannot. */
struct unpack *unpack_new(enum unpack_kind kind);
void unpack_free(struct unpack *u); /* wipes it */
/* Takes *ret_used bytes of `in`; the output lies in *ret_out until the next call. */
enum unpack_state unpack_pass(struct unpack *u, struct span in, size_t *ret_used, struct span *ret_out);
/* Could the data end here? True before the first byte: nothing is nothing, compressed or not. */
bool unpack_whole(const struct unpack *u);
enum effect_reason unpack_why(const struct unpack *u); /* of UNPACK_BAD */
