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

static bool grow(struct buf *b, size_t more)
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
        if (!grow(b, n))
                return;
        if (n > 0)
                memcpy(b->p + b->n, p, n);
        b->n += n;
        b->p[b->n] = '\0';
}

void buf_puts(struct buf *b, const char *s) { buf_add(b, s, strlen(s)); }
void buf_putc(struct buf *b, char c) { buf_add(b, &c, 1); }

void buf_printf(struct buf *b, const char *fmt, ...)
{
        va_list ap, again;
        va_start(ap, fmt);
        va_copy(again, ap);
        int n = vsnprintf(NULL, 0, fmt, ap);
        va_end(ap);
        if (n >= 0 && grow(b, (size_t) n)) {
                (void) vsnprintf(b->p + b->n, (size_t) n + 1, fmt, again);
                b->n += (size_t) n;
        }
        va_end(again);
}

/* How many bytes at `p` are one well-formed character; 0: none are. */
static size_t char_len(const uint8_t *p, size_t n)
{
        size_t want = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
        return want <= n && str_is_utf8(span_of(p, want)) ? want : 0;
}

/* U+0080 to U+009F: terminals obey them as they do an escape. */
static bool is_high_control(const uint8_t *p, size_t n)
{
        return n >= 2 && p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;
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
                size_t len = 1;
                if (k)
                        buf_printf(b, "\\%c", letter[k - named]);
                else if (s.p[i] < 0x20 || s.p[i] == 0x7f)
                        buf_printf(b, "\\u%04x", s.p[i]);
                else if (is_high_control(s.p + i, s.n - i)) {
                        buf_printf(b, "\\u%04x", s.p[i + 1]);
                        len = 2;
                } else if ((len = char_len(s.p + i, s.n - i)) > 0)
                        buf_add(b, s.p + i, len);
                else
                        buf_puts(b, "\xef\xbf\xbd");
                i += len ? len : 1;
        }
        buf_putc(b, '"');
}
