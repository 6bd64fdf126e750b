/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_memory.c - values in the guest's memory, and errors in its numbers. */
#include "wall/wasm/wasi/wasi_internal.h"

#include <errno.h>
#include <sys/uio.h>

uint64_t wasi_get(const uint8_t *p, unsigned bytes)
{
        uint64_t v = 0;
        while (bytes-- > 0)
                v = v << 8 | p[bytes];
        return v;
}

void wasi_put(uint8_t *p, unsigned bytes, uint64_t value)
{
        for (unsigned i = 0; i < bytes; i++, value >>= 8)
                p[i] = (uint8_t) value;
}

enum wasi_errno wasi_store(const struct wasi_call *c, uint32_t addr, unsigned bytes, uint64_t value)
{
        uint8_t *p = wasi_at(c, addr, bytes);
        if (!p)
                return WASI_FAULT;

        wasi_put(p, bytes, value);
        return WASI_SUCCESS;
}

enum wasi_errno wasi_iovs(const struct wasi_call *c, uint32_t addr, uint32_t n, struct iovec *ret)
{
        if (n > WASI_IOVS)
                return WASI_INVAL;

        const uint8_t *p = wasi_at(c, addr, (uint64_t) n * WASI_IOVEC_SIZE);
        if (!p)
                return WASI_FAULT;

        for (uint32_t i = 0; i < n; i++, p += WASI_IOVEC_SIZE) {
                uint64_t len = wasi_get(p + 4, 4);
                void *base = wasi_at(c, (uint32_t) wasi_get(p, 4), len);
                if (!base && len)
                        return WASI_FAULT;
                ret[i] = (struct iovec){ base, len };
        }

        return WASI_SUCCESS;
}

enum wasi_errno wasi_errno(int sys)
{
        static const struct {
                int sys, wasi;
        } rows[] = {
                { E2BIG, 1 },         { EACCES, 2 },    { EADDRINUSE, 3 },    { EADDRNOTAVAIL, 4 },
                { EAFNOSUPPORT, 5 },  { EAGAIN, 6 },    { EALREADY, 7 },      { EBADF, 8 },
                { EBADMSG, 9 },       { EBUSY, 10 },    { ECONNABORTED, 13 }, { ECONNREFUSED, 14 },
                { ECONNRESET, 15 },   { EDEADLK, 16 },  { EDESTADDRREQ, 17 }, { EDOM, 18 },
                { EDQUOT, 19 },       { EEXIST, 20 },   { EFAULT, 21 },       { EFBIG, 22 },
                { EHOSTUNREACH, 23 }, { EILSEQ, 25 },   { EINPROGRESS, 26 },  { EINTR, 27 },
                { EINVAL, 28 },       { EIO, 29 },      { EISCONN, 30 },      { EISDIR, 31 },
                { ELOOP, 32 },        { EMFILE, 33 },   { EMLINK, 34 },       { EMSGSIZE, 35 },
                { ENAMETOOLONG, 37 }, { ENETDOWN, 38 }, { ENETRESET, 39 },    { ENETUNREACH, 40 },
                { ENFILE, 41 },       { ENOBUFS, 42 },  { ENODEV, 43 },       { ENOENT, 44 },
                { ENOLCK, 46 },       { ENOMEM, 48 },   { ENOSPC, 51 },       { ENOSYS, 52 },
                { ENOTCONN, 53 },     { ENOTDIR, 54 },  { ENOTEMPTY, 55 },    { ENOTSOCK, 57 },
                { EOPNOTSUPP, 58 },   { ENOTTY, 59 },   { ENXIO, 60 },        { EOVERFLOW, 61 },
                { EPERM, 63 },        { EPIPE, 64 },    { EPROTO, 65 },       { ERANGE, 68 },
                { EROFS, 69 },        { ESPIPE, 70 },   { ESTALE, 72 },       { ETIMEDOUT, 73 },
                { ETXTBSY, 74 },      { EXDEV, 75 },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (rows[i].sys == sys)
                        return (enum wasi_errno) rows[i].wasi;

        return WASI_IO;
}

enum wasi_errno wasi_result(long r) { return r < 0 ? wasi_errno(errno) : WASI_SUCCESS; }
