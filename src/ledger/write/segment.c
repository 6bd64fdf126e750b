/* SPDX-License-Identifier: MIT */
/* ledger/write/segment.c - opens and begins segment files. */
#include "base/fd.h"
#include "base/store/store.h"
#include "ledger/write/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ledger_cannot(struct err *e, const char *doing)
{
        int sys = errno;
        (void) err_set(e, ERR_IO, sys, "the ledger cannot be written: %s: %s", doing, strerror(sys));
        return err_hint(e, sys == ENOSPC ? "make room, or `cordon ledger prune`"
                                         : "look at the directory that CORDON_STATE names, or at its disk");
}

/* A writer that began a segment and was killed before it updated the head left the head at the previous one.
 * A record appended there would precede the first of the next, which counts from where that one ended. */
bool segment_is_last(const struct ledger *l, uint32_t seq)
{
        char path[32];
        struct stat st;
        segment_path(seq + 1, path);
        return fstatat(l->dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

int segment_open(struct ledger *l, uint32_t seq, struct err *e)
{
        char path[32];
        if (l->segment >= 0 && l->segment_seq == seq)
                return 0;

        fd_close(&l->segment);
        segment_path(seq, path);
        l->segment = openat(l->dir, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        l->segment_seq = seq;
        return l->segment < 0 ? ledger_cannot(e, path) : 0;
}

/* The file is linked to its name after its head is written: a segment without a head never exists. */
int segment_make(struct ledger *l, struct head *h, struct err *e)
{
        uint8_t bytes[SEGMENT_HEAD];
        char name[16];
        struct segment_head s = { .seq = h->seq + 1, .first = h->count, .clock = h->clock };
        AUTO_FD(dir, store_dir(l->dir, "segments", e));
        if (dir < 0)
                return -1;

        segment_head_put(bytes, &s);
        segment_name(s.seq, name);
        AUTO_FD(fd, openat(dir, "new", O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || fd_write_all(fd, bytes, sizeof bytes) < 0 || fdatasync(fd) < 0 ||
            renameat(dir, "new", dir, name) < 0 || fsync(dir) < 0)
                return ledger_cannot(e, "making a segment");

        fd_close(&l->segment);
        l->segment = TAKE_FD(fd);
        l->segment_seq = s.seq;
        h->seq = s.seq;
        h->end = SEGMENT_HEAD;
        return 0;
}
