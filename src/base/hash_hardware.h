/* SPDX-License-Identifier: MIT */
/* base/hash_hardware.h - SHA-256 with the processor's SHA instructions, for base/hash.c only. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef void sha256_blocks(uint32_t h[8], const uint8_t *p, size_t blocks);
extern const uint32_t sha256_k[64];
/* Returns NULL if this processor has none. */
sha256_blocks *sha256_hardware(void);
