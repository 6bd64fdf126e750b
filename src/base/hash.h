/* SPDX-License-Identifier: MIT */
/* base/hash.h - SHA-256 (FIPS 180-4). Implemented here so that the start path links no library. */
#pragma once
#include "base/span.h"

struct sha256 {
        uint32_t h[8];
        uint64_t bytes;
        uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_end(struct sha256 *s, uint8_t ret_digest[32]);
/* The same as 64 hex digits and a NUL. */
void sha256_end_hex(struct sha256 *s, char ret_hex[65]);
/* The digest of `data` as 64 hex digits and a NUL. */
void sha256_hex(struct span data, char ret_hex[65]);
/* Makes SHA-256 use the processor's SHA instructions from here on; returns false if it has none. Do not call
 * it on the start path: on a virtual machine, CPUID costs more than it saves. */
bool hash_use_hardware(void);
