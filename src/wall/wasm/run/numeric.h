/* SPDX-License-Identifier: MIT */
/* wall/wasm/run/numeric.h - arithmetic where WebAssembly and C differ: no undefined behaviour, and NaN as
 * specified. A NaN that an operation makes is quiet; its sign and payload are those of the processor. */
#pragma once
#include "wall/wasm/wasm.h"

#include <math.h>

static inline float wasm_f32(uint32_t v)
{
        float f;
        memcpy(&f, &v, sizeof f);
        return f;
}

static inline double wasm_f64(uint64_t v)
{
        double f;
        memcpy(&f, &v, sizeof f);
        return f;
}

static inline uint32_t wasm_bits32(float f)
{
        uint32_t v;
        memcpy(&v, &f, sizeof v);
        return v;
}

static inline uint64_t wasm_bits64(double f)
{
        uint64_t v;
        memcpy(&v, &f, sizeof v);
        return v;
}

static inline uint32_t wasm_rotl32(uint32_t x, uint32_t n) { return x << (n & 31) | x >> (-n & 31); }
static inline uint64_t wasm_rotl64(uint64_t x, uint64_t n) { return x << (n & 63) | x >> (-n & 63); }

static inline float wasm_quiet32(float x) { return wasm_f32(wasm_bits32(x) | 0x400000); }
static inline double wasm_quiet64(double x) { return wasm_f64(wasm_bits64(x) | 0x8000000000000); }

#define WASM_FLOAT(T, n, bits, sign)                                                                         \
        static inline T wasm_min##n(T x, T y)                                                                \
        {                                                                                                    \
                if (x != x)                                                                                  \
                        return wasm_quiet##n(x);                                                             \
                if (y != y)                                                                                  \
                        return wasm_quiet##n(y);                                                             \
                if (x == y)                                                                                  \
                        return wasm_f##n(wasm_bits##n(x) | wasm_bits##n(y));                                 \
                return x < y ? x : y;                                                                        \
        }                                                                                                    \
        static inline T wasm_max##n(T x, T y)                                                                \
        {                                                                                                    \
                if (x != x)                                                                                  \
                        return wasm_quiet##n(x);                                                             \
                if (y != y)                                                                                  \
                        return wasm_quiet##n(y);                                                             \
                if (x == y)                                                                                  \
                        return wasm_f##n(wasm_bits##n(x) & wasm_bits##n(y));                                 \
                return x > y ? x : y;                                                                        \
        }                                                                                                    \
        static inline T wasm_abs##n(T x) { return wasm_f##n(wasm_bits##n(x) & ~(sign)); }                    \
        static inline T wasm_neg##n(T x) { return wasm_f##n(wasm_bits##n(x) ^ (sign)); }                     \
        static inline T wasm_copysign##n(T x, T y)                                                           \
        {                                                                                                    \
                return wasm_f##n((wasm_bits##n(x) & ~(sign)) | (wasm_bits##n(y) & (sign)));                  \
        }
WASM_FLOAT(float, 32, uint32_t, 0x80000000u)
WASM_FLOAT(double, 64, uint64_t, 0x8000000000000000u)

static inline float wasm_ceil32(float x) { return x != x ? wasm_quiet32(x) : ceilf(x); }
static inline float wasm_floor32(float x) { return x != x ? wasm_quiet32(x) : floorf(x); }
static inline float wasm_trunc32(float x) { return x != x ? wasm_quiet32(x) : truncf(x); }
static inline float wasm_nearest32(float x) { return x != x ? wasm_quiet32(x) : rintf(x); }
static inline float wasm_sqrt32(float x) { return x != x ? wasm_quiet32(x) : sqrtf(x); }
static inline double wasm_ceil64(double x) { return x != x ? wasm_quiet64(x) : ceil(x); }
static inline double wasm_floor64(double x) { return x != x ? wasm_quiet64(x) : floor(x); }
static inline double wasm_trunc64(double x) { return x != x ? wasm_quiet64(x) : trunc(x); }
static inline double wasm_nearest64(double x) { return x != x ? wasm_quiet64(x) : rint(x); }
static inline double wasm_sqrt64(double x) { return x != x ? wasm_quiet64(x) : sqrt(x); }
static inline float wasm_demote(double x) { return x != x ? wasm_quiet32((float) x) : (float) x; }
static inline double wasm_promote(float x) { return x != x ? wasm_quiet64((double) x) : (double) x; }

/* Float to integer: wasm_to_NAME() traps, wasm_sat_NAME() saturates. */
#define WASM_TO_INT(name, F, I, U, low, high, least, most)                                                   \
        static inline enum wasm_trap wasm_to_##name(F x, U *ret)                                             \
        {                                                                                                    \
                if (x != x)                                                                                  \
                        return WASM_TRAP_CONVERT;                                                            \
                if (!(low) || !(x < (high)))                                                                 \
                        return WASM_TRAP_OVERFLOW;                                                           \
                *ret = (U) (I) x;                                                                            \
                return WASM_OK;                                                                              \
        }                                                                                                    \
        static inline U wasm_sat_##name(F x)                                                                 \
        {                                                                                                    \
                if (x != x)                                                                                  \
                        return 0;                                                                            \
                if (!(low))                                                                                  \
                        return (U) (least);                                                                  \
                return x < (high) ? (U) (I) x : (U) (most);                                                  \
        }
WASM_TO_INT(i32_f32_s, float, int32_t, uint32_t, x >= -0x1p31f, 0x1p31f, INT32_MIN, INT32_MAX)
WASM_TO_INT(i32_f32_u, float, uint32_t, uint32_t, x > -1.0f, 0x1p32f, 0, UINT32_MAX)
WASM_TO_INT(i32_f64_s, double, int32_t, uint32_t, x > -0x1.00000002p31, 0x1p31, INT32_MIN, INT32_MAX)
WASM_TO_INT(i32_f64_u, double, uint32_t, uint32_t, x > -1.0, 0x1p32, 0, UINT32_MAX)
WASM_TO_INT(i64_f32_s, float, int64_t, uint64_t, x >= -0x1p63f, 0x1p63f, INT64_MIN, INT64_MAX)
WASM_TO_INT(i64_f32_u, float, uint64_t, uint64_t, x > -1.0f, 0x1p64f, 0, UINT64_MAX)
WASM_TO_INT(i64_f64_s, double, int64_t, uint64_t, x >= -0x1p63, 0x1p63, INT64_MIN, INT64_MAX)
WASM_TO_INT(i64_f64_u, double, uint64_t, uint64_t, x > -1.0, 0x1p64, 0, UINT64_MAX)
