/* SPDX-License-Identifier: MIT */
/* ledger/write/crc.c - CRC-32C (Castagnoli, reflected). It detects torn and corrupt frames, not forged ones:
 * the tree does that. */
#include "ledger/internal.h"

/* The remainders of the sixteen values of four bits. */
static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t crc32c(uint32_t crc, const void *p, size_t n)
{
        crc = ~crc;
        for (const uint8_t *at = p; n > 0; n--, at++) {
                crc ^= *at;
                crc = table[crc & 15] ^ crc >> 4;
                crc = table[crc & 15] ^ crc >> 4;
        }
        return ~crc;
}
