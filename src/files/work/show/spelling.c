/* SPDX-License-Identifier: MIT */
/* files/work/show/spelling.c - one name, several spellings: a tree may be on, or be moved to, a filesystem
 * with other rules for equal names. HFS+, APFS and a case-folding ext4 ignore invisible characters and fold
 * more letters than ASCII; NTFS and FAT ignore trailing dots and spaces and the part after a colon, and
 * take a backslash for a slash. A lookup of `.git` there finds `.git.`, `.g<U+200C>it` and
 * `.git::$INDEX_ALLOCATION`. Pure. */
#include "base/str.h"
#include "files/work/internal.h"

#include <string.h>

/* The character that begins here; *ret_n: its bytes. An invalid UTF-8 byte is one character, and stays. */
static uint32_t next_character(const unsigned char *p, size_t *ret_n)
{
        size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 1;
        uint32_t c = n == 1 ? p[0] : p[0] & (0x7fu >> n);
        *ret_n = 1;
        for (size_t i = 1; i < n; i++) {
                if ((p[i] & 0xc0) != 0x80)
                        return p[0];
                c = c << 6 | (p[i] & 0x3f);
        }

        *ret_n = n;
        return c;
}

/* The ASCII letter that it equals in a case-insensitive comparison; 0: none. */
static char fold_letter(uint32_t c)
{
        if (c >= 0xff01 && c <= 0xff5e) /* of full width: some converters of names narrow them */
                return (char) (c - 0xff01 + '!');
        return c == 0x17f ? 's' : c == 0x212a ? 'k' : c == '\\' ? '/' : '\0';
}

/* The rest of a name that ends here. */
static size_t name_end(const char *path, size_t n)
{
        size_t first = n;
        while (first > 0 && path[first - 1] != '/')
                first--;

        const char *colon = n > first ? memchr(path + first, ':', n - first) : NULL;
        size_t end = colon ? (size_t) (colon - path) : n;
        while (end > first && (path[end - 1] == '.' || path[end - 1] == ' '))
                end--;

        return end > first ? end : n; /* nothing but dots: itself a name */
}

void spelling_plain(const char *path, char *ret, size_t cap)
{
        size_t n = 0, bytes;
        for (const char *at = path; *at && n + 5 < cap; at += bytes) {
                uint32_t c = next_character((const unsigned char *) at, &bytes);
                char letter = fold_letter(c);
                if (str_is_unseen(c) && bytes > 1)
                        continue;
                if (letter == '/' || (bytes == 1 && *at == '/')) {
                        n = name_end(ret, n);
                        ret[n++] = '/';
                } else if (letter) {
                        ret[n++] = letter;
                } else {
                        memcpy(ret + n, at, bytes);
                        n += bytes;
                }
        }

        ret[name_end(ret, n)] = '\0';
}
