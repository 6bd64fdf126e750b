/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_io.c - reads, writes and positions of open files. */
#include "wall/wasm/wasi/wasi_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

typedef ssize_t transfer(int fd, const struct iovec *v, int n);
typedef ssize_t transfer_at(int fd, const struct iovec *v, int n, off_t at);

/* One of the two moves the bytes. Their number goes where the last argument says. */
static enum wasi_errno move_bytes(const struct wasi_call *c, transfer *go, transfer_at *go_at)
{
        struct iovec v[WASI_IOVS];
        uint32_t n = wasi_u32(c, 2);
        enum wasi_errno r = wasi_iovs(c, wasi_u32(c, 1), n, v);
        if (r)
                return r;

        if (go_at && c->a[3] > INT64_MAX)
                return WASI_INVAL;

        ssize_t moved = go ? go(c->file->fd, v, (int) n) : go_at(c->file->fd, v, (int) n, (off_t) c->a[3]);
        return moved < 0 ? wasi_errno(errno) : wasi_store(c, wasi_u32(c, go ? 3 : 4), 4, (uint64_t) moved);
}

WASI_CALL(fd_read) { return move_bytes(c, readv, NULL); }
WASI_CALL(fd_write) { return move_bytes(c, writev, NULL); }
WASI_CALL(fd_pread) { return move_bytes(c, NULL, preadv); }
WASI_CALL(fd_pwrite) { return move_bytes(c, NULL, pwritev); }

static enum wasi_errno seek_file(const struct wasi_call *c, int64_t by, int whence, uint32_t ret)
{
        off_t at = lseek(c->file->fd, by, whence);
        return at < 0 ? wasi_errno(errno) : wasi_store(c, ret, 8, (uint64_t) at);
}

WASI_CALL(fd_seek)
{
        static const int whences[] = { SEEK_SET, SEEK_CUR, SEEK_END };
        uint32_t whence = wasi_u32(c, 2);
        if (whence >= sizeof whences / sizeof *whences)
                return WASI_INVAL;

        bool tells = whence == 1 && c->a[1] == 0;
        uint64_t enough = tells ? WASI_RIGHT(FD_TELL) | WASI_RIGHT(FD_SEEK) : WASI_RIGHT(FD_SEEK);
        if (!(c->file->rights & enough))
                return c->file->type == WASI_REGULAR_FILE ? WASI_NOTCAPABLE : wasi_errno(ESPIPE);

        return seek_file(c, (int64_t) c->a[1], whences[whence], wasi_u32(c, 3));
}

WASI_CALL(fd_tell) { return seek_file(c, 0, SEEK_CUR, wasi_u32(c, 1)); }
WASI_CALL(fd_sync) { return wasi_result(fsync(c->file->fd)); }
WASI_CALL(fd_datasync) { return wasi_result(fdatasync(c->file->fd)); }

WASI_CALL(fd_advise)
{
        static const int advices[] = { POSIX_FADV_NORMAL,   POSIX_FADV_SEQUENTIAL, POSIX_FADV_RANDOM,
                                       POSIX_FADV_WILLNEED, POSIX_FADV_DONTNEED,   POSIX_FADV_NOREUSE };
        uint32_t advice = wasi_u32(c, 3);
        if (advice >= sizeof advices / sizeof *advices || c->a[1] > INT64_MAX || c->a[2] > INT64_MAX)
                return WASI_INVAL;

        int sys = posix_fadvise(c->file->fd, (off_t) c->a[1], (off_t) c->a[2], advices[advice]);
        return sys ? wasi_errno(sys) : WASI_SUCCESS;
}

WASI_CALL(fd_allocate)
{
        if (c->a[1] > INT64_MAX || c->a[2] > INT64_MAX)
                return WASI_INVAL;

        return wasi_result(fallocate(c->file->fd, 0, (off_t) c->a[1], (off_t) c->a[2]));
}

/* ---- the table of descriptors ---- */

WASI_CALL(fd_close)
{
        struct wasi_file was = *c->file;
        *c->file = (struct wasi_file){ 0 };
        return wasi_result(close(was.fd));
}

WASI_CALL(fd_renumber)
{
        struct wasi_file *to = wasi_file(c->w, wasi_u32(c, 1));
        if (!to)
                return WASI_BADF;

        if (to == c->file)
                return WASI_SUCCESS;

        (void) close(to->fd);
        *to = *c->file;
        *c->file = (struct wasi_file){ 0 };
        return WASI_SUCCESS;
}
