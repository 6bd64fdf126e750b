/* SPDX-License-Identifier: MIT */
/* ledger/tree/tiles_export.c - copies the sealed part of a ledger in the layout of C2SP tlog-tiles:
 *
 *     checkpoint           the newest signed note
 *     tile/L/N             256 hashes of level L; the last tile of a level, with W hashes, is tile/L/N.p/W
 *     tile/entries/N       the records of tile/0/N: big-endian u16 length, bytes
 *
 * N is written in groups of three digits, all but the last with an x before them: x001/234. A bundle with a
 * pruned entry is omitted.
 */
#include "base/fd.h"
#include "ledger/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { TILE = 256 };

static int cannot_write(struct err *e, const char *path)
{
        return err_set(e, ERR_IO, errno, "%.200s cannot be written: %s", path, strerror(errno));
}

/* "tile/0/x001/234" or, for a tile with fewer than 256 entries, "tile/0/x001/234.p/5". */
static void tile_path(char *ret, size_t cap, const char *level, uint64_t n, unsigned width)
{
        char number[48], longer[48];
        (void) snprintf(number, sizeof number, "%03u", (unsigned) (n % 1000));
        for (uint64_t rest = n / 1000; rest > 0; rest /= 1000) {
                (void) snprintf(longer, sizeof longer, "x%03u/%.40s", (unsigned) (rest % 1000), number);
                memcpy(number, longer, sizeof number);
        }

        int at = snprintf(ret, cap, "tile/%s/%s", level, number);
        if (width < TILE && at > 0 && (size_t) at < cap)
                (void) snprintf(ret + at, cap - (size_t) at, ".p/%u", width);
}

static int write_file(int dir, const char *path, const void *p, size_t n, struct err *e)
{
        if (fd_make_parents(dir, path) < 0)
                return cannot_write(e, path);
        AUTO_FD(fd, openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
        return fd < 0 || fd_write_all(fd, p, n) < 0 ? cannot_write(e, path) : 0;
}

static int export_level(struct tiles *t, int to, unsigned level, uint64_t hashes, struct err *e)
{
        uint8_t h[TILE][LEDGER_HASH];
        char path[96], name[4];
        (void) snprintf(name, sizeof name, "%u", level);

        for (uint64_t at = 0; at < hashes; at += TILE) {
                unsigned width = hashes - at < TILE ? (unsigned) (hashes - at) : TILE;
                for (unsigned i = 0; i < width; i++)
                        if (tiles_read(t, level, at + i, h[i]) < 0)
                                return err_set(e, ERR_IO, 0, "the ledger's tiles cannot be read");
                tile_path(path, sizeof path, name, at / TILE, width);
                if (write_file(to, path, h, (size_t) width * LEDGER_HASH, e) < 0)
                        return -1;
        }

        return 0;
}

/* Returns 1 if a record of the bundle was pruned. */
static int bundle_of(const struct ledger_log *l, uint64_t from, unsigned width, struct buf *out)
{
        for (unsigned i = 0; i < width; i++) {
                struct span record = log_bytes(l, from + i);
                if (!record.p)
                        return 1;
                buf_putc(out, (char) (record.n >> 8));
                buf_putc(out, (char) record.n);
                buf_add(out, record.p, record.n);
        }

        return 0;
}

static int export_entries(const struct ledger_log *l, int to, uint64_t size, uint64_t *ret_left_out,
                          struct err *e)
{
        char path[96];
        for (uint64_t at = 0; at < size; at += TILE) {
                unsigned width = size - at < TILE ? (unsigned) (size - at) : TILE;
                AUTO_BUF(bundle);
                if (bundle_of(l, at, width, &bundle) != 0) {
                        ++*ret_left_out;
                        continue;
                }
                tile_path(path, sizeof path, "entries", at / TILE, width);
                if (bundle.failed || write_file(to, path, bundle.p, bundle.n, e) < 0)
                        return bundle.failed ? err_set(e, ERR_MEMORY, 0, "out of memory") : -1;
        }

        return 0;
}

int ledger_tiles_export(const struct ledger_log *l, int dir, const char *to, struct buf *out, struct err *e)
{
        AUTO_BUF(text);
        struct ledger_note n;
        struct tiles t;
        uint64_t left_out = 0;

        if (ledger_note_last(dir, &text, &n) != 1)
                return err_set(e, ERR_GONE, 0, "the ledger has no checkpoint yet");

        if (mkdir(to, 0755) < 0 && errno != EEXIST)
                return cannot_write(e, to);

        AUTO_FD(into, open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (into < 0)
                return cannot_write(e, to);

        if (tiles_open(dir, false, &t, e) < 0)
                return -1;

        int r = 0;
        uint64_t hashes = n.size;
        for (unsigned level = 0; r == 0 && hashes > 0; level++, hashes /= TILE)
                r = export_level(&t, into, level, hashes, e);

        tiles_close(&t);

        if (r < 0 || export_entries(l, into, n.size, &left_out, e) < 0 ||
            write_file(into, "checkpoint", n.whole.p, n.whole.n, e) < 0)
                return -1;

        buf_printf(out, "%llu records\n", (unsigned long long) n.size);
        if (left_out)
                buf_printf(out, "%llu bundles of entries were left out: they hold pruned records\n",
                           (unsigned long long) left_out);

        return 0;
}
