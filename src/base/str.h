/* SPDX-License-Identifier: MIT */
/* base/str.h - numbers, sizes and durations as text, and making hostile text inert. */
#pragma once
#include "base/span.h"

/* Decimal digits only: no sign, no space, no leading zero but "0" itself, nothing left over. 0 or -1. */
int str_to_u64(struct span s, uint64_t *ret_value);

/* "64", "64K", "4M", "1G", "2T" (powers of 1024). 0 or -1. */
int str_to_size(struct span s, uint64_t *ret_bytes);

/* "500ms", "5s", "10m", "2h", "1d". A bare number is refused: its unit would be a guess. 0 or -1. */
int str_to_ms(struct span s, uint64_t *ret_ms);

/* The shortest exact spelling of a size or a duration, into `buf`; returns `buf`. */
char *str_from_size(uint64_t bytes, char buf[32]);
char *str_from_ms(uint64_t ms, char buf[32]);

/* Copies `s` so that a terminal shows it and does nothing else: controls, DEL, invalid UTF-8, bidi and
 * zero-width characters become \xNN or \u{NNNN}. Cuts with "..." when `cap` is too small. Returns `buf`. */
char *str_inert(struct span s, char *buf, size_t cap);
/* The character at the beginning of `s`: its length, 0 when the bytes are not UTF-8. */
size_t str_char(struct span s, uint32_t *ret_point);
/* One that is shown as nothing: Unicode calls it default-ignorable, and comparisons without case leave it
 * out. */
bool str_is_unseen(uint32_t point);
/* One that moves, hides or reorders what a person reads: those, and controls. */
bool str_is_tricky(uint32_t point);
/* Does `s` begin with one of those that belongs behind the sign before it, as in most emoji, or between a key
 * and its cap? Seen, and no place to hide a text. */
bool str_is_selector(uint32_t before, struct span s);

/* Valid UTF-8 with no NUL in it. */
bool str_is_utf8(struct span s);

/* How many of the first `n` bytes of an absolute path name its parent: 4 ("/a/b") gives 2, and 2 gives 0, the
 * top. */
size_t str_parent(const char *path, size_t n);

/* How far `word` is from what a person may have meant by `given`: less is nearer, STR_TOO_FAR is no guess at
 * all. A slip of one letter, then the beginning of a word, then an abbreviation ("rd" for "read"), then more
 * slips, but no more than a third of what was given: a far guess would mislead. */
enum { STR_TOO_FAR = 1000 };
unsigned str_far(const char *given, const char *word);
/* Makes `word` the guess when it is nearer than *best, which is NULL at first: of two that are as near, the
 * first. */
void str_nearer(const char *given, const char *word, const char **best);

/* The value of a hexadecimal digit, large or small; -1: it is none. */
static inline int str_hex(uint8_t c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
/* Edit distance, bounded to words of 32 bytes; used to name the nearest right word. */
unsigned str_distance(const char *a, const char *b);
/* Is `path` equal to `root` or below it? Both absolute and clean; everything is below "/". */
bool path_under(const char *path, const char *root);
/* Is it below a directory where the kernel makes the names, and no box can have put one? Doors may lie in
 * /dev/shm. */
bool path_is_kernels(const char *path);
/* "/a" and "b/../c" become "/a/c", as text: links are not followed. An absolute `path` stands for itself.
 * False: it does not fit. */
bool path_join(const char *start, const char *path, char *ret, size_t cap);
