/* SPDX-License-Identifier: MIT */
/* files/image/unpack/tar_header.c - one header block of a tar archive: ustar, GNU and old forms. Pure. */
#include "files/image/unpack/image_unpack.h"

#include <string.h>

enum { /* offset and length of the fields */
       NAME = 0,
       NAME_N = 100,
       MODE = 100,
       UID = 108,
       GID = 116,
       SIZE = 124,
       MTIME = 136,
       SUM = 148,
       TYPE = 156,
       LINK = 157,
       LINK_N = 100,
       MAGIC = 257,
       PREFIX = 345,
       PREFIX_N = 155,
       SHORT_N = 8,
       LONG_N = 12
};

/* Octal digits between blanks, or base 256 if the first bit is set. False: negative, too large, or neither.
 */
static bool parse_number(const uint8_t *p, size_t n, uint64_t *ret)
{
        uint64_t v = 0;
        size_t i = 0;
        if (p[0] & 0x80) {
                if (p[0] & 0x40)
                        return false; /* negative */
                for (v = p[0] & 0x3f, i = 1; i < n; i++) {
                        if (v >> 55)
                                return false;
                        v = v << 8 | p[i];
                }
                *ret = v;
                return true;
        }

        while (i < n && p[i] == ' ')
                i++;

        for (; i < n && p[i] >= '0' && p[i] <= '7'; i++) {
                if (v >> 60)
                        return false;
                v = v << 3 | (uint64_t) (p[i] - '0');
        }

        for (; i < n; i++)
                if (p[i] != ' ' && p[i] != '\0')
                        return false;

        *ret = v;
        return true;
}

/* Some old programs added signed characters. */
static bool sum_is_right(const uint8_t block[TAR_BLOCK])
{
        uint64_t told;
        uint64_t plain = 0;
        int64_t odd = 0;
        for (size_t i = 0; i < TAR_BLOCK; i++) {
                uint8_t c = i >= SUM && i < SUM + SHORT_N ? ' ' : block[i];
                plain += c;
                odd += (int8_t) c;
        }

        return parse_number(block + SUM, SHORT_N, &told) && (told == plain || (int64_t) told == odd);
}

static enum tar_type type_of(uint8_t c)
{
        static const struct {
                uint8_t flag;
                enum tar_type type;
        } types[] = { { '0', TAR_FILE },      { '\0', TAR_FILE },     { '7', TAR_FILE },
                      { '1', TAR_HARD_LINK }, { '2', TAR_SYMLINK },   { '3', TAR_DEVICE },
                      { '4', TAR_DEVICE },    { '5', TAR_DIRECTORY }, { '6', TAR_FIFO },
                      { 'x', TAR_PAX },       { 'X', TAR_PAX },       { 'g', TAR_PAX_GLOBAL },
                      { 'L', TAR_LONG_NAME }, { 'K', TAR_LONG_LINK }, { 'S', TAR_SPARSE } };
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
                if (types[i].flag == c)
                        return types[i].type;
        return TAR_UNKNOWN;
}

static void copy_text(const uint8_t *from, size_t n, char *to)
{
        size_t k = strnlen((const char *) from, n);
        memcpy(to, from, k);
        to[k] = '\0';
}

static void copy_name(const uint8_t block[TAR_BLOCK], char *to)
{
        char name[NAME_N + 1];
        copy_text(block + NAME, NAME_N, name);
        bool ustar = memcmp(block + MAGIC, "ustar\0", 6) == 0; /* GNU has a blank there, and no prefix */
        if (ustar && block[PREFIX]) {
                copy_text(block + PREFIX, PREFIX_N, to);
                to = stpcpy(to + strlen(to), "/");
        }

        (void) stpcpy(to, name);
}

static bool is_zero(const uint8_t block[TAR_BLOCK])
{
        for (size_t i = 0; i < TAR_BLOCK; i++)
                if (block[i])
                        return false;
        return true;
}

int tar_header_parse(const uint8_t block[TAR_BLOCK], struct tar_header *ret, const char **ret_why)
{
        uint64_t mode;
        *ret = (struct tar_header){ 0 };
        if (is_zero(block))
                return 0;

        if (!sum_is_right(block)) {
                *ret_why = "a header's checksum is wrong";
                return -1;
        }

        ret->type = type_of(block[TYPE]);
        if (!parse_number(block + MODE, SHORT_N, &mode) || !parse_number(block + SIZE, LONG_N, &ret->size) ||
            ret->size >> 62) {
                *ret_why = "a header has a number that is none";
                return -1;
        }

        if (!parse_number(block + UID, SHORT_N, &ret->uid) || !parse_number(block + GID, SHORT_N, &ret->gid))
                ret->uid = ret->gid = 1; /* no owner is kept */

        if (!parse_number(block + MTIME, LONG_N, &ret->mtime))
                ret->mtime = 0;

        ret->mode = (unsigned) (mode & 07777);
        copy_name(block, ret->name);
        copy_text(block + LINK, LINK_N, ret->link);

        /* Before there were types, a name with a slash at its end was a directory. */
        size_t n = strlen(ret->name);
        if (ret->type == TAR_FILE && n > 0 && ret->name[n - 1] == '/')
                ret->type = TAR_DIRECTORY;

        return 0;
}
