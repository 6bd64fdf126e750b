/* SPDX-License-Identifier: MIT */
/* base/hash.c - SHA-256 (FIPS 180-4). Never: allocates, keeps state outside struct sha256. */
#include "base/hash.h"
#include "base/hash_hardware.h"

static uint32_t ror(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static void schedule_words(const uint8_t p[64], uint32_t w[64])
{
        for (int i = 0; i < 16; i++)
                w[i] = (uint32_t) p[4 * i] << 24 | (uint32_t) p[4 * i + 1] << 16 |
                       (uint32_t) p[4 * i + 2] << 8 | p[4 * i + 3];

        for (int i = 16; i < 64; i++) {
                uint32_t s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3;
                uint32_t s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10;
                w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
}

/* The eight variables rotate by name instead of by value; eight rounds restore the order. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                     \
        do {                                                                                                 \
                uint32_t t = (h) + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + (((e) & (f)) ^ (~(e) & (g))) +    \
                             sha256_k[i] + w[i];                                                             \
                (d) += t;                                                                                    \
                (h) = t + (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + (((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c))); \
        } while (0)

static void compress_one(uint32_t s[8], const uint8_t p[64])
{
        uint32_t w[64];
        uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
        schedule_words(p, w);
        for (int i = 0; i < 64; i += 8) {
                ROUND(a, b, c, d, e, f, g, h, i);
                ROUND(h, a, b, c, d, e, f, g, i + 1);
                ROUND(g, h, a, b, c, d, e, f, i + 2);
                ROUND(f, g, h, a, b, c, d, e, i + 3);
                ROUND(e, f, g, h, a, b, c, d, i + 4);
                ROUND(d, e, f, g, h, a, b, c, i + 5);
                ROUND(c, d, e, f, g, h, a, b, i + 6);
                ROUND(b, c, d, e, f, g, h, a, i + 7);
        }

        s[0] += a;
        s[1] += b;
        s[2] += c;
        s[3] += d;
        s[4] += e;
        s[5] += f;
        s[6] += g;
        s[7] += h;
}

/* One pointer for the process, set at most once and only to an equivalent function: a race on it affects
 * only the speed. */
static sha256_blocks *fast_blocks;

bool hash_use_hardware(void)
{
        sha256_blocks *found = sha256_hardware();
        __atomic_store_n(&fast_blocks, found, __ATOMIC_RELAXED);
        return found != NULL;
}

static void compress_blocks(uint32_t h[8], const uint8_t *p, size_t blocks)
{
        sha256_blocks *fast = __atomic_load_n(&fast_blocks, __ATOMIC_RELAXED);
        if (fast) {
                fast(h, p, blocks);
                return;
        }

        for (; blocks > 0; blocks--, p += 64)
                compress_one(h, p);
}

void sha256_init(struct sha256 *s)
{
        *s = (struct sha256){ .h = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                                     0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *s, const void *p, size_t n)
{
        const uint8_t *at = p;
        while (n > 0) {
                size_t have = s->bytes % 64;
                if (have == 0 && n >= 64) {
                        size_t whole = n / 64;
                        compress_blocks(s->h, at, whole);
                        s->bytes += whole * 64;
                        at += whole * 64;
                        n -= whole * 64;
                        continue;
                }
                size_t k = n < 64 - have ? n : 64 - have;
                memcpy(s->block + have, at, k);
                s->bytes += k;
                at += k;
                n -= k;
                if (s->bytes % 64 == 0)
                        compress_blocks(s->h, s->block, 1);
        }
}

void sha256_end(struct sha256 *s, uint8_t ret_digest[32])
{
        uint64_t bits = s->bytes * 8;
        static const uint8_t one = 0x80, zero[64];
        sha256_add(s, &one, 1);
        sha256_add(s, zero, (120 - s->bytes % 64) % 64);
        uint8_t length[8];
        for (int i = 0; i < 8; i++)
                length[i] = (uint8_t) (bits >> (56 - 8 * i));

        sha256_add(s, length, sizeof length);
        for (int i = 0; i < 32; i++)
                ret_digest[i] = (uint8_t) (s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_end_hex(struct sha256 *s, char ret_hex[65])
{
        static const char digits[] = "0123456789abcdef";
        uint8_t d[32];
        sha256_end(s, d);
        for (int i = 0; i < 32; i++) {
                ret_hex[2 * i] = digits[d[i] >> 4];
                ret_hex[2 * i + 1] = digits[d[i] & 15];
        }

        ret_hex[64] = '\0';
}

void sha256_hex(struct span data, char ret_hex[65])
{
        struct sha256 s;
        sha256_init(&s);
        sha256_add(&s, data.p, data.n);
        sha256_end_hex(&s, ret_hex);
}
