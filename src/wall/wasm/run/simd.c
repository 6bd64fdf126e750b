/* SPDX-License-Identifier: MIT */
/* wall/wasm/run/simd.c - the vector instructions, lane by lane; the compiler makes vector code of the
 * loops. The result may be where an operand is, so operands are copied first. */
#include "wall/wasm/run/helpers.h"
#include "wall/wasm/run/numeric.h"

#define CLAMP(v, least, most) ((v) < (least) ? (least) : (v) > (most) ? (most) : (v))
#define LANES(T)              (16 / sizeof(T))
#define DEFINE(name)                                                                                         \
        static void simd_##name(void *d, const void *px, const void *py, const void *pz, unsigned lane)
#define UNUSED_XYZ ((void) px, (void) py, (void) pz, (void) lane)
#define EACH(N)    for (size_t i = 0; i < (N); i++)

/* Lane by lane, as many as both forms have; the rest of the result is zero. */
#define LANEWISE(name, T, U, e)                                                                              \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T a[LANES(T)], b[LANES(T)];                                                                  \
                U r[LANES(U)] = { 0 };                                                                       \
                UNUSED_XYZ;                                                                                  \
                memcpy(a, px, 16);                                                                           \
                memcpy(b, py, 16);                                                                           \
                EACH(LANES(T) < LANES(U) ? LANES(T) : LANES(U))                                              \
                {                                                                                            \
                        T x = a[i], y = b[i];                                                                \
                        (void) y;                                                                            \
                        r[i] = (e);                                                                          \
                }                                                                                            \
                memcpy(d, r, 16);                                                                            \
        }
#define UNARY(name, T, e)      LANEWISE(name, T, T, e) /* its second operand is the first */
#define CONVERT(name, T, U, e) LANEWISE(name, T, U, e)
#define BINARY(name, T, e)     LANEWISE(name, T, T, e)
#define CMP(name, T, M, e)     LANEWISE(name, T, M, (e) ? -1 : 0)
#define SHIFT(name, T, e)                                                                                    \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T a[LANES(T)];                                                                               \
                uint32_t n;                                                                                  \
                UNUSED_XYZ;                                                                                  \
                memcpy(a, px, 16);                                                                           \
                memcpy(&n, py, sizeof n);                                                                    \
                n &= 8 * sizeof(T) - 1;                                                                      \
                EACH(LANES(T))                                                                               \
                {                                                                                            \
                        T x = a[i];                                                                          \
                        a[i] = (e);                                                                          \
                }                                                                                            \
                memcpy(d, a, 16);                                                                            \
        }
#define ALL_TRUE(name, T)                                                                                    \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T a[LANES(T)];                                                                               \
                uint64_t all = 1;                                                                            \
                UNUSED_XYZ;                                                                                  \
                memcpy(a, px, 16);                                                                           \
                EACH(LANES(T))                                                                               \
                all &= a[i] != 0;                                                                            \
                memcpy(d, &all, sizeof all);                                                                 \
        }
#define BITMASK(name, T)                                                                                     \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T a[LANES(T)];                                                                               \
                uint64_t mask = 0;                                                                           \
                UNUSED_XYZ;                                                                                  \
                memcpy(a, px, 16);                                                                           \
                EACH(LANES(T))                                                                               \
                mask |= (uint64_t) (a[i] < 0) << i;                                                          \
                memcpy(d, &mask, sizeof mask);                                                               \
        }
#define SPLAT(name, T)                                                                                       \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T a[LANES(T)], v;                                                                            \
                UNUSED_XYZ;                                                                                  \
                memcpy(&v, px, sizeof v);                                                                    \
                EACH(LANES(T))                                                                               \
                a[i] = v;                                                                                    \
                memcpy(d, a, 16);                                                                            \
        }
#define REPLACE(name, T)                                                                                     \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T a[LANES(T)];                                                                               \
                UNUSED_XYZ;                                                                                  \
                memcpy(a, px, 16);                                                                           \
                memcpy(&a[lane], py, sizeof(T));                                                             \
                memcpy(d, a, 16);                                                                            \
        }
#define EXTRACT(name, T, e)                                                                                  \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T v;                                                                                         \
                UNUSED_XYZ;                                                                                  \
                memcpy(&v, (const uint8_t *) px + lane * sizeof(T), sizeof v);                               \
                uint64_t slot = (e);                                                                         \
                memcpy(d, &slot, sizeof slot);                                                               \
        }
#define LOAD_LANE(name, T)                                                                                   \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T a[LANES(T)];                                                                               \
                UNUSED_XYZ;                                                                                  \
                memcpy(a, py, 16);                                                                           \
                memcpy(&a[lane], px, sizeof(T));                                                             \
                memcpy(d, a, 16);                                                                            \
        }
#define STORE_LANE(name, T)                                                                                  \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                UNUSED_XYZ;                                                                                  \
                memcpy(d, (const uint8_t *) py + lane * sizeof(T), sizeof(T));                               \
        }
#define LOAD_ZERO(name, T)                                                                                   \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                uint8_t a[16] = { 0 };                                                                       \
                UNUSED_XYZ;                                                                                  \
                memcpy(a, px, sizeof(T));                                                                    \
                memcpy(d, a, 16);                                                                            \
        }
#define WIDEN(name, T, W, from)                                                                              \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T a[LANES(W)];                                                                               \
                W r[LANES(W)];                                                                               \
                UNUSED_XYZ;                                                                                  \
                memcpy(a, (const uint8_t *) px + (from) * sizeof(T), 8);                                     \
                EACH(LANES(W))                                                                               \
                r[i] = a[i];                                                                                 \
                memcpy(d, r, 16);                                                                            \
        }
#define EXTEND(name, T, W, from) WIDEN(name, T, W, from)
#define EXTMUL(name, T, W, from)                                                                             \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T a[LANES(T)], b[LANES(T)];                                                                  \
                W r[LANES(W)];                                                                               \
                UNUSED_XYZ;                                                                                  \
                memcpy(a, px, 16);                                                                           \
                memcpy(b, py, 16);                                                                           \
                EACH(LANES(W))                                                                               \
                r[i] = (W) ((W) a[i + (from)] * (int64_t) (W) b[i + (from)]);                                \
                memcpy(d, r, 16);                                                                            \
        }
#define PAIRWISE(name, T, W)                                                                                 \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T a[LANES(T)];                                                                               \
                W r[LANES(W)];                                                                               \
                UNUSED_XYZ;                                                                                  \
                memcpy(a, px, 16);                                                                           \
                EACH(LANES(W))                                                                               \
                r[i] = (W) ((W) a[2 * i] + (W) a[2 * i + 1]);                                                \
                memcpy(d, r, 16);                                                                            \
        }
#define NARROW(name, T, N, least, most)                                                                      \
        DEFINE(name)                                                                                         \
        {                                                                                                    \
                T a[2 * LANES(T)];                                                                           \
                N r[LANES(N)];                                                                               \
                UNUSED_XYZ;                                                                                  \
                memcpy(a, px, 16);                                                                           \
                memcpy(a + LANES(T), py, 16);                                                                \
                EACH(LANES(N))                                                                               \
                r[i] = (N) CLAMP(a[i], least, most);                                                         \
                memcpy(d, r, 16);                                                                            \
        }
#define OWN(name, none)

DEFINE(V128_LOAD)
{
        UNUSED_XYZ;
        memcpy(d, px, 16);
}

DEFINE(V128_STORE)
{
        UNUSED_XYZ;
        memcpy(d, py, 16);
}

DEFINE(V128_BITSELECT)
{
        uint64_t x[2], y[2], z[2];
        UNUSED_XYZ;

        memcpy(x, px, 16);
        memcpy(y, py, 16);
        memcpy(z, pz, 16);
        EACH(2)
        x[i] = (x[i] & z[i]) | (y[i] & ~z[i]);
        memcpy(d, x, 16);
}

DEFINE(V128_ANY_TRUE)
{
        uint64_t x[2];
        UNUSED_XYZ;

        memcpy(x, px, 16);
        x[0] = (x[0] | x[1]) != 0;
        memcpy(d, x, 8);
}

DEFINE(I8X16_SWIZZLE)
{
        uint8_t x[16], y[16], r[16];
        UNUSED_XYZ;

        memcpy(x, px, 16);
        memcpy(y, py, 16);
        EACH(16)
        r[i] = y[i] < 16 ? x[y[i]] : 0;
        memcpy(d, r, 16);
}

DEFINE(I32X4_DOT_I16X8_S)
{
        int16_t x[8], y[8];
        uint32_t r[4];
        UNUSED_XYZ;

        memcpy(x, px, 16);
        memcpy(y, py, 16);
        EACH(4)
        r[i] = (uint32_t) (x[2 * i] * y[2 * i]) + (uint32_t) (x[2 * i + 1] * y[2 * i + 1]);
        memcpy(d, r, 16);
}

void wasm_shuffle(void *d, const void *px, const void *py, const void *lanes)
{
        uint8_t from[32], which[16], r[16];

        memcpy(from, px, 16);
        memcpy(from + 16, py, 16);
        memcpy(which, lanes, 16);
        EACH(16)
        r[i] = from[which[i] & 31];
        memcpy(d, r, 16);
}

#define SIMD(family, ...) family(__VA_ARGS__)
#include "wall/wasm/run/simd_ops.inc"

wasm_simd_fn *const wasm_simd[256] = {
#define SIMD(family, name, ...) [WASM_##name & 0xff] = simd_##name,
#include "wall/wasm/run/simd_ops.inc"
};
