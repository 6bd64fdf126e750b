/* SPDX-License-Identifier: MIT */
/* ledger/read/ledger_place.c - the ledger's directory: its path, its segments, its sealed size. Reads only,
 * except to create it. */
#include "base/fd.h"
#include "base/store/store.h"
#include "ledger/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number at the end of the head's first eight bytes is the version of the directory's format. A program
 * that does not know it neither reads nor appends: it would report newer data as damage. */
int ledger_dir_check(int dir, struct err *e)
{
        char magic[8];
        AUTO_FD(head, openat(dir, "head", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (head < 0 || pread(head, magic, sizeof magic, 0) != sizeof magic ||
            memcmp(magic, "cordonH", 7) != 0 || magic[7] == '1')
                return 0;

        (void) err_set(e, ERR_IO, EPROTONOSUPPORT,
                       "the ledger was written by a later cordon: its format is %c, and this one knows 1",
                       magic[7] > ' ' && magic[7] < 0x7f ? magic[7] : '?');
        return err_hint(e, "use the later cordon, or another directory (CORDON_STATE), or put it aside with "
                           "`cordon ledger restart`");
}

static int check_dir(int dir, struct err *e)
{
        AUTO_FD(fd, dir);
        return fd < 0 || ledger_dir_check(fd, e) < 0 ? -1 : TAKE_FD(fd);
}

int ledger_dir_open(const struct cordon_context *cx, bool make, struct err *e)
{
        char path[STORE_PATH_MAX];
        if (!make) {
                if (store_path(cx, path, e) < 0)
                        return -1;
                AUTO_FD(state, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
                int dir = state < 0
                                  ? -1
                                  : openat(state, "ledger", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (dir >= 0)
                        return check_dir(dir, e);
                if (errno != ENOENT)
                        return err_set(e, ERR_IO, errno, "the ledger in %s cannot be read: %s", path,
                                       strerror(errno));
                (void) err_set(e, ERR_GONE, ENOENT, "%s has no ledger yet", path);
                return err_hint(e, "`cordon run` writes it; CORDON_STATE names another place");
        }

        AUTO_FD(state, store_open(cx, e));
        return state < 0 ? -1 : check_dir(store_dir(state, "ledger", e), e);
}

int64_t ledger_last_segment(int dir)
{
        AUTO_FD(fd, openat(dir, "segments", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d)
                return errno == ENOENT ? 0 : -1;

        (void) TAKE_FD(fd);
        int64_t last = 0;
        for (struct dirent *x; (x = readdir(d));) {
                char *end;
                long n = strtol(x->d_name, &end, 10);
                if (end == x->d_name + 8 && strcmp(end, ".seg") == 0 && n > last)
                        last = n;
        }

        (void) closedir(d);
        return last;
}

void ledger_boot_id(char ret[40])
{
        if (fd_get(AT_FDCWD, "/proc/sys/kernel/random/boot_id", ret, 40) < 0)
                ret[0] = '\0';
}

int ledger_slurp(int dir, const char *name, struct buf *out)
{
        enum { MOST = 512 << 20 };
        AUTO_FD(fd, openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (fd < 0)
                return errno == ENOENT ? 0 : -1;

        char chunk[65536];
        for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) != 0;) {
                if (n < 0)
                        return -1;
                if (out->n > MOST) { /* a foreign ledger must not exhaust our memory */
                        errno = EFBIG;
                        return -1;
                }
                buf_add(out, chunk, (size_t) n);
        }

        return out->failed ? -1 : 0;
}

int ledger_note_last(int dir, struct buf *text, struct ledger_note *ret)
{
        struct ledger_note n;
        struct span rest;
        int found = 0;

        if (ledger_slurp(dir, "checkpoints", text) < 0)
                return -1;

        for (rest = buf_span(text); ledger_note_next(rest, &n, &rest) == 1; found = 1)
                *ret = n;

        return found;
}

int ledger_sealed_size(int dir, uint64_t *ret)
{
        AUTO_FD(fd, openat(dir, "checkpoints", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        struct stat st;
        char tail[4096];

        *ret = 0;

        if (fd < 0 && errno == ENOENT)
                return 0;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -1;

        off_t from = st.st_size > (off_t) sizeof tail ? st.st_size - (off_t) sizeof tail : 0;
        ssize_t n = pread(fd, tail, sizeof tail, from);
        if (n < 0)
                return -1;

        struct span rest = span_of(tail, (size_t) n);
        while (rest.n > 0) {
                struct ledger_note note;
                if (ledger_note_next(rest, &note, &rest) == 1)
                        *ret = note.size > *ret ? note.size : *ret;
                else
                        rest = span_of(rest.p + 1, rest.n - 1); /* cut inside a note: search on */
        }

        return 0;
}
