/* SPDX-License-Identifier: MIT */
/* files/image/unpack/tar_reader.c - the entries of a tar archive with their long names (pax and GNU). Bounds
 * every length that the archive states; never allocates by one. libarchive (3.6.2) is no replacement: it cuts
 * a name at a NUL, takes an entry of an unknown type for a file, and one of GNU's old sparse form for an
 * empty one, all of which are refused here. */
#include "files/image/unpack/image_unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int bad_archive(struct err *e, const char *why)
{
        return err_set(e, ERR_DOOR, 0, "the archive is broken: %s", why);
}

static int get_all(struct tar_reader *t, void *p, size_t n, struct err *e)
{
        ssize_t k = t->in.get(t->in.ctx, p, n, e);
        if (k < 0)
                return -1;
        return (size_t) k == n ? 0 : bad_archive(e, "it ends in the middle");
}

static int skip_bytes(struct tar_reader *t, uint64_t n, struct err *e)
{
        static char drop[65536];
        if (t->in.skip && n > 0)
                return t->in.skip(t->in.ctx, n, e);

        while (n > 0) {
                size_t k = n < sizeof drop ? (size_t) n : sizeof drop;
                if (get_all(t, drop, k, e) < 0)
                        return -1;
                n -= k;
        }

        return 0;
}

static uint64_t padding(uint64_t size) { return (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK; }

/* The text behind a GNU header. */
static int long_text(struct tar_reader *t, uint64_t size, char to[UNPACK_PATH], struct err *e)
{
        if (size == 0 || size > UNPACK_PATH)
                return bad_archive(e, "a name is too long");

        if (get_all(t, to, (size_t) size, e) < 0 || skip_bytes(t, padding(size), e) < 0)
                return -1;

        if (size == UNPACK_PATH && to[size - 1])
                return bad_archive(e, "a name is too long");

        if (size < UNPACK_PATH)
                to[size] = '\0';

        return 0;
}

static bool parse_decimal(const char *p, size_t n, uint64_t *ret)
{
        uint64_t v = 0;
        size_t i = 0;
        for (; i < n && p[i] >= '0' && p[i] <= '9'; i++) {
                if (v > UINT64_MAX / 10 - 1)
                        return false;
                v = v * 10 + (uint64_t) (p[i] - '0');
        }

        *ret = v;
        return i > 0 && (i == n || p[i] == '.'); /* of a time the fraction is dropped */
}

static int pax_text(char to[UNPACK_PATH], const char *value, size_t n, struct err *e)
{
        if (n == 0 || n >= UNPACK_PATH || memchr(value, '\0', n))
                return bad_archive(e, "a name is empty, too long, or has a NUL");
        memcpy(to, value, n);
        to[n] = '\0';
        return 0;
}

static bool key_is(const char *key, size_t n, const char *want)
{
        return strlen(want) == n && memcmp(key, want, n) == 0;
}

static bool key_begins(const char *key, size_t n, const char *want)
{
        return n >= strlen(want) && memcmp(key, want, strlen(want)) == 0;
}

/* One record: only what an entry here can have; the rest is dropped, as owners are. */
static int pax_record(struct tar_reader *t, const char *key, size_t k, const char *value, size_t n,
                      struct err *e)
{
        uint64_t number;
        if (key_is(key, k, "path")) {
                t->has_name = true;
                return pax_text(t->name, value, n, e);
        }

        if (key_is(key, k, "linkpath")) {
                t->has_link = true;
                return pax_text(t->link, value, n, e);
        }

        if (key_is(key, k, "size")) {
                t->has_size = parse_decimal(value, n, &t->pax_size) && !(t->pax_size >> 62);
                return t->has_size ? 0 : bad_archive(e, "a size is no number");
        }

        if (key_is(key, k, "mtime"))
                t->has_mtime = parse_decimal(value, n, &t->pax_mtime);

        if ((key_is(key, k, "uid") || key_is(key, k, "gid")) && parse_decimal(value, n, &number) && number)
                t->has_owner = true;

        t->sparse = t->sparse || key_begins(key, k, "GNU.sparse.");
        t->entry.xattrs += key_begins(key, k, "SCHILY.xattr.") || key_begins(key, k, "LIBARCHIVE.xattr.");
        return 0;
}

/* "LENGTH KEY=VALUE\n" each. */
static int pax_records(struct tar_reader *t, const char *p, size_t n, struct err *e)
{
        while (n > 0) {
                uint64_t length;
                const char *blank = memchr(p, ' ', n < 20 ? n : 20);
                if (!blank || !parse_decimal(p, (size_t) (blank - p), &length) || length > n ||
                    length <= (size_t) (blank - p) + 1 || p[length - 1] != '\n')
                        return bad_archive(e, "an extended header has a wrong length");
                const char *key = blank + 1, *end = p + length - 1;
                const char *equals = memchr(key, '=', (size_t) (end - key));
                if (!equals)
                        return bad_archive(e, "an extended header has no value");
                if (pax_record(t, key, (size_t) (equals - key), equals + 1, (size_t) (end - equals - 1), e) <
                    0)
                        return -1;
                p += length;
                n -= length;
        }

        return 0;
}

static int read_pax(struct tar_reader *t, uint64_t size, struct err *e)
{
        if (size > UNPACK_EXTENDED)
                return bad_archive(e, "an extended header is too long");

        char *text = malloc((size_t) size + 1);
        if (!text)
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for an extended header");

        int r = get_all(t, text, (size_t) size, e);
        if (r == 0)
                r = pax_records(t, text, (size_t) size, e);

        free(text);
        return r < 0 ? -1 : skip_bytes(t, padding(size), e);
}

/* Headers that say something about the next one. 1: it was one; 0: it was not. */
static int read_extended(struct tar_reader *t, const struct tar_header *h, struct err *e)
{
        int r = -1;
        switch (h->type) {
        case TAR_PAX:
                r = read_pax(t, h->size, e);
                break;
        case TAR_PAX_GLOBAL:
                r = h->size > UNPACK_EXTENDED ? bad_archive(e, "an extended header is too long")
                                              : skip_bytes(t, h->size + padding(h->size), e);
                break;
        case TAR_LONG_NAME:
                t->has_name = true;
                r = long_text(t, h->size, t->name, e);
                break;
        case TAR_LONG_LINK:
                t->has_link = true;
                r = long_text(t, h->size, t->link, e);
                break;
        case TAR_SPARSE:
                return bad_archive(e, "it has sparse entries, which are not supported");
        case TAR_UNKNOWN:
                return bad_archive(e, "it has an entry of an unknown type");
        case TAR_NONE:
        case TAR_FILE:
        case TAR_HARD_LINK:
        case TAR_SYMLINK:
        case TAR_DIRECTORY:
        case TAR_DEVICE:
        case TAR_FIFO:
                return 0;
        }
        return r < 0 ? -1 : 1;
}

static int finish_entry(struct tar_reader *t, const struct tar_header *h, struct err *e)
{
        bool file = h->type == TAR_FILE;
        uint64_t size = t->has_size ? t->pax_size : h->size;
        if (t->sparse)
                return bad_archive(e, "it has sparse entries, which are not supported");

        if (!t->has_name)
                memcpy(t->name, h->name, sizeof h->name);

        if (!t->has_link)
                memcpy(t->link, h->link, sizeof h->link);

        if (file) {
                t->left = size;
                t->pad = padding(size);
        } else if (size > 0 && skip_bytes(t, size + padding(size), e) < 0) {
                return -1; /* data that no such entry has */
        }

        t->entry.type = h->type;
        t->entry.name = t->name;
        t->entry.link = t->link;
        t->entry.size = file ? size : 0;
        t->entry.mtime = t->has_mtime ? t->pax_mtime : h->mtime;
        t->entry.mode = h->mode;
        t->entry.owned = t->has_owner || h->uid != 0 || h->gid != 0;
        return 1;
}

/* 1: a header; 0: the end. */
static int next_header(struct tar_reader *t, struct tar_header *h, struct err *e)
{
        uint8_t block[TAR_BLOCK];
        const char *why = "";
        ssize_t n = t->in.get(t->in.ctx, block, sizeof block, e);
        if (n < 0)
                return -1;

        if (n == 0)
                return 0;

        if (n < (ssize_t) sizeof block)
                return bad_archive(e, "it ends in the middle");

        if (++t->headers > UNPACK_ENTRIES)
                return err_set(e, ERR_LIMIT, 0, "the archive has more than %d entries", UNPACK_ENTRIES);

        return tar_header_parse(block, h, &why) < 0 ? bad_archive(e, why) : h->type != TAR_NONE;
}

int tar_next(struct tar_reader *t, struct tar_entry *ret, struct err *e)
{
        struct tar_header h;
        if (skip_bytes(t, t->left + t->pad, e) < 0)
                return -1;

        t->left = t->pad = 0;
        t->has_name = t->has_link = t->has_size = t->has_mtime = t->sparse = t->has_owner = false;
        t->entry = (struct tar_entry){ 0 };
        for (bool more = false;; more = true) {
                int r = next_header(t, &h, e);
                if (r < 0)
                        return -1;
                if (r == 0)
                        return more && (t->has_name || t->has_link || t->has_size)
                                       ? bad_archive(e, "an extended header has no entry")
                                       : 0;
                r = read_extended(t, &h, e);
                if (r < 0)
                        return -1;
                if (r == 0)
                        break;
        }

        if (finish_entry(t, &h, e) < 0)
                return -1;

        *ret = t->entry;
        return 1;
}

ssize_t tar_data(struct tar_reader *t, void *p, size_t n, struct err *e)
{
        size_t k = t->left < n ? (size_t) t->left : n;
        if (k > 0 && get_all(t, p, k, e) < 0)
                return -1;
        t->left -= k;
        return (ssize_t) k;
}
