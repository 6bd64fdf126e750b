/* SPDX-License-Identifier: MIT */
/* output/value.c - when two JSON values are equal: numbers by what they are, objects in any order. Documents
 * are not nested deeper than JSON_DATA_DEPTH, so that neither are these functions. Pure. */
#include "output/decimal.h"
#include "output/schema_internal.h"

static bool is_number(const struct json *v) { return v->type == JSON_INT || v->type == JSON_NUMBER; }

size_t value_count(const struct json *v)
{
        size_t n = 0;
        for (const struct json *x = v->child; x; x = x->next)
                n++;
        return n;
}

static bool numbers_equal(const struct json *a, const struct json *b)
{
        struct decimal x = decimal_of(a), y = decimal_of(b);
        return decimal_compare(&x, &y) == 0;
}

static bool arrays_equal(const struct value_pair *in, const struct json *a, const struct json *b)
{
        const struct json *x = a->child, *y = b->child;
        for (; x && y; x = x->next, y = y->next)
                if (!value_equal(in, x, y))
                        return false;
        return !x && !y;
}

static bool objects_equal(const struct value_pair *in, const struct json *a, const struct json *b)
{
        size_t n = 0;
        for (const struct json *x = a->child; x; x = x->next, n++) {
                const struct json *y = json_member(in->b, b, span_of(x->key, x->key_len));
                if (!y || !value_equal(in, x, y))
                        return false;
        }
        return n == value_count(b);
}

bool value_equal(const struct value_pair *in, const struct json *a, const struct json *b)
{
        if (*in->steps == 0)
                return false;
        --*in->steps;

        if (is_number(a) && is_number(b))
                return numbers_equal(a, b);

        if (a->type != b->type)
                return false;

        if (a->type == JSON_STRING)
                return span_eq(span_of(a->str, a->len), span_of(b->str, b->len));

        if (a->type == JSON_ARRAY)
                return arrays_equal(in, a, b);

        return a->type == JSON_OBJECT ? objects_equal(in, a, b) : true;
}

static uint64_t mix(uint64_t h) { return (h ^ h >> 31) * 0x9e3779b97f4a7c15u; }

static uint64_t hash_bytes(const char *p, size_t n)
{
        uint64_t h = 14695981039346656037u;
        for (size_t i = 0; i < n; i++)
                h = (h ^ (uint8_t) p[i]) * 1099511628211u;
        return h;
}

/* Equal values have equal hashes: that of an object is a sum, in which the order does not count. */
uint64_t value_hash(const struct json *v, uint64_t *steps)
{
        *steps -= *steps > 0;
        if (is_number(v)) {
                struct decimal d = decimal_of(v);
                return decimal_hash(&d);
        }

        uint64_t h = mix((uint64_t) v->type + 1);
        if (v->type == JSON_STRING)
                return h ^ hash_bytes(v->str, v->len);

        for (const struct json *x = v->child; x && *steps > 0; x = x->next)
                h = v->type == JSON_OBJECT
                            ? h + mix(hash_bytes(x->key, x->key_len) ^ mix(value_hash(x, steps)))
                            : mix(h ^ value_hash(x, steps));
        return h;
}
