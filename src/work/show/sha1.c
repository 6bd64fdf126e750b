/* SPDX-License-Identifier: MIT */
/* work/show/sha1.c - SHA-1 (FIPS 180-4), for one thing only: the name that git gives to a content, without
 * which it takes no binary patch. Nothing of ours trusts it. */
#include "work/internal.h"

#include <stdio.h>
#include <string.h>

struct sha1 {
        uint32_t h[5];
        uint8_t block[64];
        uint64_t bytes;
};

static uint32_t left(uint32_t x, unsigned n) { return x << n | x >> (32 - n); }

static void one_block(struct sha1 *s)
{
        uint32_t w[80], a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3], e = s->h[4];
        for (unsigned i = 0; i < 16; i++)
                w[i] = (uint32_t) s->block[4 * i] << 24 | (uint32_t) s->block[4 * i + 1] << 16 |
                       (uint32_t) s->block[4 * i + 2] << 8 | s->block[4 * i + 3];

        for (unsigned i = 16; i < 80; i++)
                w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);

        for (unsigned i = 0; i < 80; i++) {
                static const uint32_t k[] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
                uint32_t f = i < 20              ? (b & c) | (~b & d)
                             : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
                                                 : b ^ c ^ d;
                uint32_t t = left(a, 5) + f + e + k[i / 20] + w[i];
                e = d;
                d = c;
                c = left(b, 30);
                b = a;
                a = t;
        }

        s->h[0] += a;
        s->h[1] += b;
        s->h[2] += c;
        s->h[3] += d;
        s->h[4] += e;
}

static void add(struct sha1 *s, const uint8_t *p, size_t n)
{
        while (n > 0) {
                size_t at = s->bytes % 64, k = 64 - at < n ? 64 - at : n;
                memcpy(s->block + at, p, k);
                s->bytes += k;
                p += k;
                n -= k;
                if (s->bytes % 64 == 0)
                        one_block(s);
        }
}

void blob_id(struct span content, char ret_hex[41])
{
        struct sha1 s = { { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 }, { 0 }, 0 };
        char head[32];
        int n = snprintf(head, sizeof head, "blob %zu", content.n);

        add(&s, (const uint8_t *) head, (size_t) n + 1); /* with its NUL */
        add(&s, content.p, content.n);
        uint64_t bits = s.bytes * 8;
        uint8_t end[8], one = 0x80, zero = 0;
        for (unsigned i = 0; i < 8; i++)
                end[i] = (uint8_t) (bits >> (56 - 8 * i));

        add(&s, &one, 1);
        while (s.bytes % 64 != 56)
                add(&s, &zero, 1);

        add(&s, end, 8);
        for (unsigned i = 0; i < 20; i++)
                (void) snprintf(ret_hex + 2 * i, 3, "%02x",
                                (unsigned) (s.h[i / 4] >> (24 - 8 * (i % 4)) & 0xff));
}
