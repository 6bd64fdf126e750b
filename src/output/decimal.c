/* SPDX-License-Identifier: MIT */
/* output/decimal.c - compares numbers by their digits, without rounding. Pure. */
#include "output/decimal.h"

static const int64_t FAR = INT64_C(1) << 48; /* exponents beyond it are as good as infinite */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static int64_t exponent_of(const char *p, const char *end)
{
        bool negative = p < end && *p == '-';
        int64_t v = 0;
        for (p += p < end && (*p == '-' || *p == '+'); p < end && v < FAR; p++)
                v = v * 10 + (*p - '0');
        return negative ? -v : v;
}

struct decimal decimal_of(const struct json *number)
{
        struct decimal d = { 0 };
        const char *p = number->str, *end = p + number->len;
        d.negative = p < end && *p == '-';
        p += d.negative;

        const char *stop = p;
        while (stop < end && (is_digit(*stop) || *stop == '.'))
                stop++;

        /* Digits before the point add to the exponent, zeros behind it take from it. */
        bool point = false;
        size_t pending = 0;
        for (const char *q = p; q < stop; q++) {
                if (*q == '.') {
                        point = true;
                        continue;
                }
                if (d.p || *q != '0') {
                        d.p = d.p ? d.p : q;
                        d.exponent += !point;
                        pending++;
                        if (*q != '0') { /* zeros count if a digit follows them */
                                d.n += pending;
                                pending = 0;
                        }
                } else if (point) {
                        d.exponent--;
                }
        }

        if (d.n == 0)
                return (struct decimal){ 0 };

        if (stop < end)
                d.exponent += exponent_of(stop + 1, end);
        return d;
}

/* The digit after *at, which moves on. */
static char next_digit(const char **at)
{
        *at += **at == '.';
        return *(*at)++;
}

static int compare_size(const struct decimal *a, const struct decimal *b)
{
        if (a->n == 0 || b->n == 0)
                return (a->n > 0) - (b->n > 0);

        if (a->exponent != b->exponent)
                return a->exponent < b->exponent ? -1 : 1;

        const char *p = a->p, *q = b->p;
        for (size_t i = 0; i < a->n && i < b->n; i++) {
                char x = next_digit(&p), y = next_digit(&q);
                if (x != y)
                        return x < y ? -1 : 1;
        }

        return (a->n > b->n) - (a->n < b->n);
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
        if (a->negative != b->negative)
                return a->negative ? -1 : 1;
        int size = compare_size(a, b);
        return a->negative ? -size : size;
}

bool decimal_is_integer(const struct decimal *d) { return d->n == 0 || d->exponent >= (int64_t) d->n; }

uint64_t decimal_hash(const struct decimal *d)
{
        uint64_t h = 14695981039346656037u ^ (uint64_t) d->exponent ^ (uint64_t) d->negative << 63;
        const char *p = d->p;
        for (size_t i = 0; i < d->n; i++)
                h = (h ^ (uint8_t) next_digit(&p)) * 1099511628211u;
        return h;
}

int decimal_to_u64(const struct decimal *d, uint64_t *ret_value)
{
        uint64_t v = 0;
        const char *p = d->p;
        if (d->negative || !decimal_is_integer(d))
                return -1;

        for (int64_t i = 0; i < d->exponent; i++) {
                uint64_t digit = i < (int64_t) d->n ? (uint64_t) (next_digit(&p) - '0') : 0;
                if (v > (UINT64_MAX - digit) / 10) {
                        v = UINT64_MAX;
                        break;
                }
                v = v * 10 + digit;
        }

        *ret_value = v;
        return 0;
}

static uint64_t multiply_mod(uint64_t a, uint64_t b, uint64_t modulus)
{
        __extension__ typedef unsigned __int128 wide;
        return (uint64_t) ((wide) a * b % modulus);
}

/* Neither number ends in 0 before its exponent, so that a unit with a larger exponent cannot fit. */
bool decimal_is_multiple(const struct decimal *d, const struct decimal *unit)
{
        if (d->n == 0)
                return true;

        int64_t more = (d->exponent - (int64_t) d->n) - (unit->exponent - (int64_t) unit->n);
        if (more < 0)
                return false;

        uint64_t modulus = 0, rest = 0, ten = 10;
        const char *p = unit->p;
        for (size_t i = 0; i < unit->n; i++)
                modulus = modulus * 10 + (uint64_t) (next_digit(&p) - '0');

        if (modulus == 0) /* the compiler of schemas refuses such a unit */
                return false;

        p = d->p;
        for (size_t i = 0; i < d->n; i++)
                rest = (multiply_mod(rest, 10, modulus) + (uint64_t) (next_digit(&p) - '0')) % modulus;

        for (ten %= modulus; more > 0; more >>= 1) {
                if (more & 1)
                        rest = multiply_mod(rest, ten, modulus);
                ten = multiply_mod(ten, ten, modulus);
        }

        return rest == 0;
}
