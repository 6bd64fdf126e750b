/* SPDX-License-Identifier: MIT */
/* output/json_inert.h - JSON text whose strings hide nothing behind escapes. Pure. */
#pragma once
#include "base/buf.h"

/* Appends JSON (that json_check() accepted) to `out`: \uXXXX of printable characters becomes the character,
 * for the neutralizer to see; controls, which a reader would decode, become marks: <U+001B>. Returns how
 * many. */
uint64_t json_inert(struct span text, struct buf *out);
