/* SPDX-License-Identifier: MIT */
/* output/decimal.h - JSON numbers exactly, as they are written: 0.3 is three tenths, and 1e400 is finite.
 * Pure.
 */
#pragma once
#include "base/json.h"

/* 0.DIGITS x 10^exponent; the first and the last digit are not 0. */
struct decimal {
        const char *p; /* the first digit; a point may stand between the digits */
        size_t n;      /* digits; 0: the number is zero */
        int64_t exponent;
        bool negative;
};

struct decimal decimal_of(const struct json *number);
/* Less than, equal to or greater than 0, like strcmp(). */
int decimal_compare(const struct decimal *a, const struct decimal *b);
bool decimal_is_integer(const struct decimal *d);
uint64_t decimal_hash(const struct decimal *d);
/* A whole number from 0 on; too large a one is UINT64_MAX. -1: it is not one. */
int decimal_to_u64(const struct decimal *d, uint64_t *ret_value);

enum { DECIMAL_FACTOR_DIGITS = 18 }; /* of the divisor */
/* Is it a multiple of `unit`, which is above 0 and has at most DECIMAL_FACTOR_DIGITS digits? */
bool decimal_is_multiple(const struct decimal *d, const struct decimal *unit);
