/* SPDX-License-Identifier: MIT */
/* base/wire/wire_form.c - encodes and decodes messages by the list of their fields. Pure; does not allocate.
 * Decoding is all or nothing: the struct is changed only after the last byte was checked. */
#include "base/wire/wire.h"

static const uint8_t widths[] = { [WIRE_U8] = 1, [WIRE_U16] = 2, [WIRE_U32] = 4, [WIRE_U64] = 8 };

struct out {
        uint8_t *p;
        size_t n, cap;
};

static void put_number(struct out *o, uint64_t value, size_t width)
{
        for (size_t i = 0; i < width; i++, o->n++)
                if (o->n < o->cap)
                        o->p[o->n] = (uint8_t) (value >> 8 * i);
}

static uint64_t read_number(const uint8_t *at, size_t width)
{
        uint64_t value = 0;
        for (size_t i = width; i-- > 0;)
                value = value << 8 | at[i];
        return value;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a number in memory is as it is on the wire");

size_t wire_encode(const struct wire_form *f, const void *message, uint8_t *out, size_t cap)
{
        const uint8_t *m = message;
        struct out o = { out, 0, cap };
        put_number(&o, f->type, 2);
        put_number(&o, f->version, 2);
        put_number(&o, 0, 4); /* the length, once known */

        for (size_t i = 0; i < f->count; i++) {
                const struct wire_field *x = &f->fields[i];
                if (x->kind < WIRE_TEXT) {
                        put_number(&o, read_number(m + x->at, widths[x->kind]), widths[x->kind]);
                        continue;
                }

                size_t n = x->cap;
                if (x->kind == WIRE_TEXT) {
                        n = strnlen((const char *) m + x->at, x->cap - 1u);
                        put_number(&o, n, 2);
                }
                if (o.n + n <= o.cap)
                        memcpy(o.p + o.n, m + x->at, n);
                o.n += n;
        }

        if (o.n > cap)
                return 0;

        struct out length = { out, 4, cap };
        put_number(&length, o.n - WIRE_HEAD, 4);
        return o.n;
}

/* Bytes of its fixed part. */
static size_t width_of(const struct wire_field *x)
{
        return x->kind == WIRE_TEXT ? 2 : x->kind == WIRE_RAW ? x->cap : widths[x->kind];
}

/* Decodes one field; returns the start of the next, or NULL. `to` NULL: only checks. */
static const uint8_t *take_field(const struct wire_field *x, const uint8_t *at, const uint8_t *end,
                                 uint8_t *to)
{
        size_t left = (size_t) (end - at), width = width_of(x);
        if (left < width)
                return NULL;

        if (x->kind == WIRE_RAW) {
                if (to)
                        memcpy(to + x->at, at, width);
                return at + width;
        }

        uint64_t value = read_number(at, width);
        at += width;
        if (x->kind != WIRE_TEXT) {
                if (to)
                        memcpy(to + x->at, at - width, width);
                return at;
        }

        if (value >= x->cap || value > left - width || memchr(at, 0, value))
                return NULL;

        if (to) {
                memcpy(to + x->at, at, value);
                memset(to + x->at + value, 0, x->cap - value);
        }

        return at + value;
}

int wire_decode(const struct wire_form *f, struct span in, void *ret)
{
        if (in.n < WIRE_HEAD || read_number(in.p, 2) != f->type || read_number(in.p + 2, 2) != f->version ||
            read_number(in.p + 4, 4) != in.n - WIRE_HEAD)
                return -1;

        const uint8_t *end = in.p + in.n;
        for (int pass = 0; pass < 2; pass++) { /* checks everything before storing anything */
                const uint8_t *at = in.p + WIRE_HEAD;
                for (size_t i = 0; at && i < f->count; i++)
                        at = take_field(&f->fields[i], at, end, pass ? ret : NULL);
                if (at != end)
                        return -1;
        }

        return 0;
}

struct span wire_cut(struct span *in)
{
        uint64_t n = in->n < WIRE_HEAD ? 0 : WIRE_HEAD + read_number(in->p + 4, 4);
        if (n == 0 || n > in->n)
                return span_of(NULL, 0);

        struct span first = span_of(in->p, n);
        *in = span_of(in->p + n, in->n - n);
        return first;
}
