/* SPDX-License-Identifier: MIT */
/* bench/wasm/kernels.c - seven kernels, compiled once for this machine and once to WebAssembly. Each takes a
 * size and returns a checksum, which must be the same on both. No libc. */
#include <stdint.h>

#ifdef __wasm__
#define KERNEL(name) __attribute__((export_name(#name))) uint32_t name(uint32_t n)
#else
#define KERNEL(name) __attribute__((noinline)) uint32_t name(uint32_t n)
#endif

KERNEL(sha256);
KERNEL(mandelbrot);
KERNEL(matmul);
KERNEL(sieve);
KERNEL(chase);
KERNEL(indirect);
KERNEL(fib);

static uint32_t ror(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static void sha_block(uint32_t h[8], const uint8_t *p)
{
        uint32_t w[64], v[8];

        for (int i = 0; i < 16; i++)
                w[i] = (uint32_t) p[4 * i] << 24 | (uint32_t) p[4 * i + 1] << 16 |
                       (uint32_t) p[4 * i + 2] << 8 | p[4 * i + 3];
        for (int i = 16; i < 64; i++)
                w[i] = w[i - 16] + w[i - 7] + (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) +
                       (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
        for (int i = 0; i < 8; i++)
                v[i] = h[i];
        for (int i = 0; i < 64; i++) {
                uint32_t a = v[7] + (ror(v[4], 6) ^ ror(v[4], 11) ^ ror(v[4], 25)) +
                             ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
                uint32_t b = (ror(v[0], 2) ^ ror(v[0], 13) ^ ror(v[0], 22)) +
                             ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
                v[7] = v[6], v[6] = v[5], v[5] = v[4], v[4] = v[3] + a;
                v[3] = v[2], v[2] = v[1], v[1] = v[0], v[0] = a + b;
        }
        for (int i = 0; i < 8; i++)
                h[i] += v[i];
}

KERNEL(sha256) /* n blocks */
{
        static uint8_t block[64];
        uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

        for (uint32_t i = 0; i < n; i++) {
                block[i & 63] ^= (uint8_t) i;
                sha_block(h, block);
        }
        return h[0] ^ h[7];
}

KERNEL(mandelbrot) /* n by n points */
{
        uint32_t sum = 0;

        for (uint32_t y = 0; y < n; y++)
                for (uint32_t x = 0; x < n; x++) {
                        double cr = 3.0 * x / n - 2.0, ci = 2.0 * y / n - 1.0, r = 0, i = 0;
                        uint32_t t = 0;
                        for (; t < 256 && r * r + i * i < 4.0; t++) {
                                double next = r * r - i * i + cr;
                                i = 2.0 * r * i + ci;
                                r = next;
                        }
                        sum += t;
                }
        return sum;
}

KERNEL(matmul) /* n products of 64 by 64 */
{
        static double a[64][64], b[64][64], c[64][64];
        double sum = 0;

        for (int i = 0; i < 64; i++)
                for (int j = 0; j < 64; j++)
                        a[i][j] = i - j, b[i][j] = i + j, c[i][j] = 0;
        for (uint32_t round = 0; round < n; round++)
                for (int i = 0; i < 64; i++)
                        for (int j = 0; j < 64; j++) {
                                double s = c[j][i];
                                for (int x = 0; x < 64; x++)
                                        s += a[i][x] * b[x][j];
                                c[i][j] = s * 0.5;
                        }
        for (int i = 0; i < 64; i++)
                sum += c[i][63 - i];
        return (uint32_t) (int32_t) sum;
}

KERNEL(sieve) /* n rounds up to 65536 */
{
        static uint8_t composite[65536];
        uint32_t count = 0;

        for (uint32_t round = 0; round < n; round++) {
                for (uint32_t i = 0; i < sizeof composite; i++)
                        composite[i] = 0;
                for (uint32_t i = 2; i < sizeof composite; i++) {
                        if (composite[i])
                                continue;
                        count++;
                        for (uint32_t j = 2 * i; j < sizeof composite; j += i)
                                composite[j] = 1;
                }
        }
        return count;
}

KERNEL(chase) /* n steps through a ring of 512 KiB; indices, so that it is as large on both */
{
        static struct {
                uint32_t next, value;
        } ring[65536];
        uint32_t at = 0, sum = 0;

        for (uint32_t i = 0; i < 65536; i++) {
                uint32_t to = (at + 40503) & 65535;
                ring[at].next = to;
                ring[at].value = i;
                at = to;
        }
        for (at = 0; n--; at = ring[at].next)
                sum += ring[at].value;
        return sum;
}

static uint32_t add(uint32_t x) { return x + 7; }
static uint32_t mul(uint32_t x) { return x * 13; }
static uint32_t flip(uint32_t x) { return ~x; }
static uint32_t mix(uint32_t x) { return x ^ x >> 15; }

KERNEL(indirect) /* n calls through a table */
{
        static uint32_t (*const table[])(uint32_t) = { add, mul, flip, mix };
        uint32_t x = 1;

        while (n--)
                x = table[(x ^ n) & 3](x);
        return x;
}

KERNEL(fib) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
