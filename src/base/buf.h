/* SPDX-License-Identifier: MIT */
/* base/buf.h - a growing byte string. A failed allocation is remembered and told once, at the end. */
#pragma once
#include "base/span.h"

struct buf {
        char *p; /* NUL-terminated when not NULL */
        size_t n;
        size_t cap;
        bool failed; /* an allocation failed: what is here is not whole */
};

#define AUTO_BUF(name) __attribute__((cleanup(buf_done))) struct buf name = { 0 }

void buf_done(struct buf *b);
void buf_add(struct buf *b, const void *p, size_t n);
/* So many zeroed bytes more, to be written by the caller at once; NULL: no memory. */
char *buf_room(struct buf *b, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "12.345" for 12345 and 3 digits: printf() would take the point from the caller's locale, which no JSON
 * does.
 */
void buf_fixed(struct buf *b, uint64_t value, unsigned digits);
/* "text" with quotes and JSON escapes, also for what str_is_tricky(); bytes that are not UTF-8 become U+FFFD.
 */
void buf_json(struct buf *b, struct span s);
/* `,"KEY":"text"`: a member of a JSON object that is not its first. NULL: null. */
void buf_member(struct buf *b, const char *key, const char *text);

static inline struct span buf_span(const struct buf *b)
{
        return (struct span){ (const uint8_t *) b->p, b->n };
}
/* The text so far, never NULL. */
static inline const char *buf_str(const struct buf *b) { return b->p ? b->p : ""; }
