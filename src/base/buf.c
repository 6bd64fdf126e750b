/* SPDX-License-Identifier: MIT */
/* base/buf.c - the growing byte string. */
#include "base/buf.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_done(struct buf *b)
{
        free(b->p);
        *b = (struct buf){ 0 };
}

static bool grow_buf(struct buf *b, size_t more)
{
        if (b->failed || more > SIZE_MAX / 2 - b->n - 1)
                return !(b->failed = true);

        size_t need = b->n + more + 1;
        if (need <= b->cap)
                return true;

        size_t cap = b->cap ? b->cap : 128;
        while (cap < need)
                cap *= 2;

        char *p = realloc(b->p, cap);
        if (!p)
                return !(b->failed = true);

        b->p = p;
        b->cap = cap;
        return true;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
        if (!grow_buf(b, n))
                return;
        if (n > 0)
                memcpy(b->p + b->n, p, n);
        b->n += n;
        b->p[b->n] = '\0';
}

char *buf_room(struct buf *b, size_t n)
{
        if (!grow_buf(b, n))
                return NULL;

        char *room = memset(b->p + b->n, 0, n + 1);
        b->n += n;
        return room;
}

void buf_puts(struct buf *b, const char *s) { buf_add(b, s, strlen(s)); }
void buf_putc(struct buf *b, char c) { buf_add(b, &c, 1); }

void buf_drop(struct buf *b, size_t n)
{
        if (n > 0)
                memmove(b->p, b->p + n, b->n - n);
        b->n -= n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
        va_list ap, again;
        va_start(ap, fmt);
        va_copy(again, ap);
        int n = vsnprintf(NULL, 0, fmt, ap);
        va_end(ap);
        if (n >= 0 && grow_buf(b, (size_t) n)) {
                (void) vsnprintf(b->p + b->n, (size_t) n + 1, fmt, again);
                b->n += (size_t) n;
        }

        va_end(again);
}

void buf_fixed(struct buf *b, uint64_t value, unsigned digits)
{
        uint64_t whole = 1;
        for (unsigned i = 0; i < digits; i++)
                whole *= 10;
        buf_printf(b, "%llu", (unsigned long long) (value / whole));
        if (digits > 0)
                buf_printf(b, ".%0*llu", (int) digits, (unsigned long long) (value % whole));
}

/* Above the basic plane JSON uses a surrogate pair. */
static void put_json_escape(struct buf *b, uint32_t point)
{
        if (point > 0xffff) {
                buf_printf(b, "\\u%04x", (unsigned) (0xd7c0 + (point >> 10)));
                point = 0xdc00 | (point & 0x3ff);
        }
        buf_printf(b, "\\u%04x", (unsigned) point);
}

void buf_json(struct buf *b, struct span s)
{
        static const char named[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
        buf_putc(b, '"');
        for (size_t i = 0; i < s.n;) {
                size_t plain = i;
                while (plain < s.n && s.p[plain] >= ' ' && s.p[plain] <= '~' && s.p[plain] != '"' &&
                       s.p[plain] != '\\')
                        plain++;
                if (plain > i) {
                        buf_add(b, s.p + i, plain - i);
                        i = plain;
                        continue;
                }
                const char *k = s.p[i] ? strchr(named, s.p[i]) : NULL;
                uint32_t point = 0;
                size_t len = str_char(span_of(s.p + i, s.n - i), &point);
                if (k)
                        buf_printf(b, "\\%c", letter[k - named]);
                else if (len == 0)
                        buf_puts(b, "\xef\xbf\xbd");
                else if (str_is_tricky(point)) /* a user may read it as well */
                        put_json_escape(b, point);
                else
                        buf_add(b, s.p + i, len);
                i += len ? len : 1;
        }

        buf_putc(b, '"');
}

void buf_key(struct buf *b, const char *key)
{
        if (b->n ? b->p[b->n - 1] != '{' && b->p[b->n - 1] != '[' : key != NULL)
                buf_putc(b, ',');
        if (key)
                buf_printf(b, "\"%s\":", key);
}

void buf_member(struct buf *b, const char *key, const char *text)
{
        if (!text) {
                buf_member_json(b, key, "null");
                return;
        }
        buf_key(b, key);
        buf_json(b, span_str(text));
}

void buf_member_int(struct buf *b, const char *key, long long n)
{
        buf_key(b, key);
        buf_printf(b, "%lld", n);
}

void buf_member_bool(struct buf *b, const char *key, bool is)
{
        buf_member_json(b, key, is ? "true" : "false");
}

void buf_member_json(struct buf *b, const char *key, const char *json)
{
        buf_key(b, key);
        buf_puts(b, json);
}
