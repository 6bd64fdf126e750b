/* SPDX-License-Identifier: MIT */
/* output/uri.h - references in schemas, by RFC 3986. Pure. */
#pragma once
#include "base/arena.h"

/* Resolves `ref` against an absolute `base`. The result has no fragment; *ret_fragment is the one of `ref`,
 * percent-decoded, "" if it has none. NULL: out of memory, or a bad escape. */
const char *uri_resolve(struct arena *mem, const char *base, struct span ref, struct span *ret_fragment);
