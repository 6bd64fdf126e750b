/* SPDX-License-Identifier: MIT */
/* base/buf.h - a growing byte string. A failed allocation sets a flag that is checked once, at the end. */
#pragma once
#include "base/span.h"

struct buf {
        char *p; /* NUL-terminated when not NULL */
        size_t n;
        size_t cap;
        bool failed; /* an allocation failed: the contents are incomplete */
};

#define AUTO_BUF(name) __attribute__((cleanup(buf_done))) struct buf name = { 0 }

void buf_done(struct buf *b);
void buf_add(struct buf *b, const void *p, size_t n);
/* Appends n zeroed bytes for the caller to fill in at once; NULL if out of memory. */
char *buf_room(struct buf *b, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_drop(struct buf *b, size_t n); /* the first n bytes */
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "12.345" for 12345 and 3 digits. printf() would use the decimal point of the caller's locale, which is not
 * valid in JSON. */
void buf_fixed(struct buf *b, uint64_t value, unsigned digits);
/* Appends "text" with quotes and JSON escapes, also for str_is_tricky() characters; bytes that are not UTF-8
 * become U+FFFD. */
void buf_json(struct buf *b, struct span s);
/* A member of a JSON object: a comma if it is not the first, and `"KEY":`. The first follows a `{`: in an
 * empty buffer members come behind others. With the key NULL an element of a list, of which an empty buffer
 * has none. */
void buf_key(struct buf *b, const char *key);
void buf_member(struct buf *b, const char *key, const char *text); /* NULL: null */
void buf_member_int(struct buf *b, const char *key, long long n);
void buf_member_bool(struct buf *b, const char *key, bool is);
void buf_member_json(struct buf *b, const char *key, const char *json); /* as it is */

static inline struct span buf_span(const struct buf *b)
{
        return (struct span){ (const uint8_t *) b->p, b->n };
}
/* Returns the text so far, never NULL. */
static inline const char *buf_str(const struct buf *b) { return b->p ? b->p : ""; }
