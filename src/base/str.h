/* SPDX-License-Identifier: MIT */
/* base/str.h - numbers, sizes and durations as text, and neutralizing hostile text. */
#pragma once
#include "base/span.h"

/* Takes the next word of those that spaces separate; empty: none is left. */
struct span str_word(struct span *rest);
/* Decimal digits only: no sign, space, leading zero (except "0") or trailing bytes. Returns 0 or -1. */
int str_to_u64(struct span s, uint64_t *ret_value);

/* "64", "64K", "4M", "1G", "2T" (powers of 1024). Returns 0 or -1. */
int str_to_size(struct span s, uint64_t *ret_bytes);

/* "500ms", "5s", "10m", "2h", "1d". Rejects a number without a unit. Returns 0 or -1. */
int str_to_ms(struct span s, uint64_t *ret_ms);

/* Writes the shortest exact form of a size or a duration to `buf`; returns `buf`. */
char *str_from_size(uint64_t bytes, char buf[32]);
char *str_from_ms(uint64_t ms, char buf[32]);

/* Copies `s` so that it has no effect on a terminal: controls, DEL, invalid UTF-8, bidi and zero-width
 * characters become \xNN or \u{NNNN}. Truncates with "..." if `cap` is too small. Returns `buf`. */
char *str_inert(struct span s, char *buf, size_t cap);
/* Decodes the first character of `s`. Returns its length, 0 if the bytes are not UTF-8. */
size_t str_char(struct span s, uint32_t *ret_point);
/* Writes a character as UTF-8; returns its length. */
size_t str_from_char(uint32_t point, char ret[static 4]);
/* True for an invisible character: Unicode's default-ignorable ones, which caseless comparison skips. */
bool str_is_unseen(uint32_t point);
/* True for a character that moves, hides or reorders text on the screen: invisible ones, and controls. */
bool str_is_tricky(uint32_t point);
/* True if `s` begins with a variation selector that belongs to the character before it, as in most emoji, or
 * between a key and its keycap. It has a visible effect and cannot hide text. */
bool str_is_selector(uint32_t before, struct span s);

/* True for valid UTF-8 without NUL. */
bool str_is_utf8(struct span s);

/* The length of the parent of the first `n` bytes of an absolute path: 4 ("/a/b") gives 2, and 2 gives 0,
 * the root. */
size_t str_parent(const char *path, size_t n);
/* Is the last part of a path a name that people give to directories ("build"), or does it end in a slash? */
bool str_names_directory(const char *path);

/* Is it the whole id of a run, as limit_name() makes them: pid, start time and 16 digits, the last two
 * hexadecimal? Then only its own socket or file needs to be looked at. */
bool str_is_run(const char *id);
/* How much of an id a person is shown, for "%.*s": up to the first four of the digits at its end, which are
 * random. Wherever a run is named, a prefix that no other run has is enough. */
int str_run_shown(const char *id);

/* How far `word` is from `given`: less is nearer, STR_TOO_FAR is not a candidate. One typo ranks first, then
 * a prefix, then an abbreviation ("rd" for "read"), then more typos, up to a third of `given`: a far guess
 * would mislead. */
enum { STR_TOO_FAR = 1000 };
unsigned str_far(const char *given, const char *word);
/* Sets *best to `word` if it is nearer than *best, which is NULL at first. The first of equals wins. */
void str_nearer(const char *given, const char *word, const char **best);

/* The value of a hexadecimal digit of either case; -1 if it is not one. */
static inline int str_hex(uint8_t c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
/* Edit distance, bounded to words of 32 bytes; used to suggest the nearest word. */
unsigned str_distance(const char *a, const char *b);
/* True if `path` equals `root` or is below it. Both absolute and clean; everything is below "/". */
bool path_under(const char *path, const char *root);
/* True if it is below a directory whose names only the kernel makes, never a box. Doors may be in /dev/shm.
 */
bool path_is_kernels(const char *path);
/* "/a" and "b/../c" become "/a/c", lexically: symlinks are not followed. An absolute `path` replaces
 * `start`. Returns false if it does not fit. */
bool path_join(const char *start, const char *path, char *ret, size_t cap);

/* The index of the first row that begins with this word, or -1. A row may also be just a word, or begin with
 * NULL. */
#define str_row(rows, count, word) str_row_of(rows, count, sizeof *(rows), word)
int str_row_of(const void *rows, size_t count, size_t size, const char *word);
