/* SPDX-License-Identifier: MIT */
/* ledger/tree/tiles.c - the tree's hashes on disk. File L holds level L: hash i is the root of the whole
 * subtree over leaves i*256^L .. (i+1)*256^L - 1, and 256 of them are one tile of 8 KiB. Only the sealer
 * writes; everything here can be rebuilt from the segments. */
#include "base/fd.h"
#include "base/store/store.h"
#include "ledger/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

enum { LEVELS = 8 };

static int cannot_read(struct err *e)
{
        return err_set(e, ERR_IO, errno, "the ledger's tiles cannot be written: %s", strerror(errno));
}

int tiles_open(int ledger_dir, bool write, struct tiles *ret, struct err *e)
{
        struct tiles t = { .dir = write ? store_dir(ledger_dir, "tiles", e)
                                        : openat(ledger_dir, "tiles",
                                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) };
        bool bad = t.dir < 0;
        for (int i = 0; i < LEVELS; i++) {
                char name[4];
                (void) snprintf(name, sizeof name, "%d", i);
                t.fd[i] = t.dir < 0 ? -1
                                    : openat(t.dir, name,
                                             (write ? O_RDWR | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC,
                                             0600);
                bad = bad || (write && t.fd[i] < 0);
        }

        *ret = t;
        if (!bad)
                return 0;

        (void) cannot_read(e);
        tiles_close(ret);
        return -1;
}

void tiles_close(struct tiles *t)
{
        for (int i = 0; i < LEVELS; i++)
                fd_close(&t->fd[i]);
        fd_close(&t->dir);
}

int tiles_read(void *ctx, unsigned level, uint64_t index, uint8_t ret[LEDGER_HASH])
{
        const struct tiles *t = ctx;
        if (level >= LEVELS || t->fd[level] < 0)
                return -1;
        return pread(t->fd[level], ret, LEDGER_HASH, (off_t) (index * LEDGER_HASH)) == LEDGER_HASH ? 0 : -1;
}

/* The root of one full tile. */
static int fold_tile(const struct tiles *t, int level, uint64_t tile, uint8_t ret[LEDGER_HASH])
{
        uint8_t h[256][LEDGER_HASH];
        if (pread(t->fd[level], h, sizeof h, (off_t) (tile * sizeof h)) != (ssize_t) sizeof h)
                return -1;

        for (int n = 256; n > 1; n /= 2)
                for (int i = 0; i < n / 2; i++)
                        ledger_node_hash(h[2 * i], h[2 * i + 1], h[i]);

        memcpy(ret, h[0], LEDGER_HASH);
        return 0;
}

int tiles_add(struct tiles *t, uint64_t index, const uint8_t leaf[LEDGER_HASH], struct err *e)
{
        uint8_t h[LEDGER_HASH];
        memcpy(h, leaf, sizeof h);
        for (int level = 0; level < LEVELS; level++, index /= 256) {
                if (pwrite(t->fd[level], h, LEDGER_HASH, (off_t) (index * LEDGER_HASH)) != LEDGER_HASH)
                        return cannot_read(e);
                if (index % 256 != 255)
                        return 0;
                if (fold_tile(t, level, index / 256, h) < 0)
                        return cannot_read(e);
        }

        return 0;
}

int tiles_cut(struct tiles *t, uint64_t size, struct err *e)
{
        for (int level = 0; level < LEVELS; level++, size /= 256)
                if (ftruncate(t->fd[level], (off_t) (size * LEDGER_HASH)) < 0)
                        return cannot_read(e);
        return 0;
}

int tiles_flush(struct tiles *t, struct err *e)
{
        for (int level = 0; level < LEVELS; level++)
                if (fdatasync(t->fd[level]) < 0)
                        return cannot_read(e);
        return 0;
}

int tiles_edge(struct tiles *t, uint64_t size, struct ledger_tree *ret)
{
        uint64_t begin = 0;
        ret->size = size;
        for (int k = 63; k >= 0; k--) {
                uint64_t n = UINT64_C(1) << k;
                if (!(size & n))
                        continue;
                if (ledger_range_hash(tiles_read, t, begin, begin + n, ret->edge[k]) < 0)
                        return -1;
                begin += n;
        }

        return 0;
}
