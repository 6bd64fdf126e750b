/* SPDX-License-Identifier: MIT */
/* files/image/unpack/stream.c - a part of a file, decompressed and hashed on both sides. The only file that
 * sees zlib and libzstd. A stream that grows out of all proportion is refused while it grows. */
#include "files/image/unpack/image_unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum { WINDOW_LOG_MAX = 27 }; /* of zstd: 128 MB of memory */

struct stream {
        int fd;
        uint64_t at, end;
        enum stream_form form;
        bool over; /* of a compressed stream: no member is open */
        uint64_t packed_bytes, plain_bytes;
        struct sha256 packed, plain;
        z_stream z;
#ifdef HAVE_ZSTD
        ZSTD_DStream *zstd;
#endif
        const uint8_t *next;
        size_t have;
        uint8_t in[65536];
};

enum stream_form stream_form_of(const uint8_t *p, size_t n)
{
        if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b)
                return STREAM_GZIP;
        return n >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd ? STREAM_ZSTD
                                                                                      : STREAM_PLAIN;
}

static int zstd_begin(struct stream *s, struct err *e)
{
#ifdef HAVE_ZSTD
        s->zstd = ZSTD_createDStream();
        if (!s->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory to decompress");
        return 0;
#else
        (void) s;
        (void) WINDOW_LOG_MAX;
        (void) err_set(e, ERR_HOST, 0, "this cordon was built without zstd");
        return err_hint(e, "build it where libzstd-dev is installed, or save the image with gzip layers");
#endif
}

struct stream *stream_new(int fd, uint64_t offset, uint64_t size, enum stream_form form, struct err *e)
{
        struct stream *s = calloc(1, sizeof *s);
        if (!s) {
                (void) err_set(e, ERR_MEMORY, ENOMEM, "no memory to decompress");
                return NULL;
        }

        *s = (struct stream){ .fd = fd, .at = offset, .end = offset + size, .form = form };
        sha256_init(&s->packed);
        sha256_init(&s->plain);
        int r = 0;
        if (form == STREAM_GZIP && inflateInit2(&s->z, 15 + 16) != Z_OK)
                r = err_set(e, ERR_MEMORY, ENOMEM, "no memory to decompress");
        else if (form == STREAM_ZSTD)
                r = zstd_begin(s, e);

        if (r == 0)
                return s;

        s->form = form == STREAM_GZIP ? STREAM_PLAIN : form;
        stream_free(s);
        return NULL;
}

void stream_free(struct stream *s)
{
        if (!s)
                return;

        if (s->form == STREAM_GZIP)
                (void) inflateEnd(&s->z);

#ifdef HAVE_ZSTD
        if (s->form == STREAM_ZSTD)
                (void) ZSTD_freeDStream(s->zstd);
#endif
        free(s);
}

/* More packed bytes. 0: none are left. */
static ssize_t fill_input(struct stream *s, struct err *e)
{
        size_t want = s->end - s->at < sizeof s->in ? (size_t) (s->end - s->at) : sizeof s->in;
        ssize_t n = want ? pread(s->fd, s->in, want, (off_t) s->at) : 0;
        if (n < 0)
                return err_set(e, ERR_IO, errno, "reading the archive: %s", strerror(errno));

        if (n == 0 && want)
                return err_set(e, ERR_DOOR, 0, "the archive is broken: it ends in the middle");

        sha256_add(&s->packed, s->in, (size_t) n);
        s->at += (uint64_t) n;
        s->packed_bytes += (uint64_t) n;
        s->next = s->in;
        s->have = (size_t) n;
        return n;
}

static int stream_broken(struct err *e)
{
        return err_set(e, ERR_DOOR, 0, "the archive is broken: its compression is damaged");
}

static ssize_t from_gzip(struct stream *s, void *p, size_t n, struct err *e)
{
        s->z.next_in = (uint8_t *) (uintptr_t) s->next;
        s->z.avail_in = (unsigned) s->have;
        s->z.next_out = p;
        s->z.avail_out = (unsigned) n;
        int r = inflate(&s->z, Z_NO_FLUSH);
        s->next = s->z.next_in;
        s->have = s->z.avail_in;
        s->over = r == Z_STREAM_END;
        if (r == Z_STREAM_END && inflateReset(&s->z) != Z_OK) /* another member may follow */
                return stream_broken(e);

        if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
                return stream_broken(e);

        return (ssize_t) (n - s->z.avail_out);
}

static ssize_t from_zstd(struct stream *s, void *p, size_t n, struct err *e)
{
#ifdef HAVE_ZSTD
        ZSTD_inBuffer in = { s->next, s->have, 0 };
        ZSTD_outBuffer out = { p, n, 0 };
        size_t r = ZSTD_decompressStream(s->zstd, &out, &in);
        if (ZSTD_isError(r))
                return stream_broken(e);

        s->next += in.pos;
        s->have -= in.pos;
        s->over = r == 0;
        return (ssize_t) out.pos;
#else
        (void) s;
        (void) p;
        (void) n;
        return stream_broken(e);
#endif
}

static ssize_t from_plain(struct stream *s, void *p, size_t n)
{
        size_t k = s->have < n ? s->have : n;
        if (k > 0)
                memcpy(p, s->next, k);

        s->next += k;
        s->have -= k;
        s->over = true;
        return (ssize_t) k;
}

/* The bytes so far decide: a file of zeroes at the end of a large layer passes. */
static int judge_growth(const struct stream *s, struct err *e)
{
        if (s->plain_bytes > UNPACK_BYTES)
                return err_set(e, ERR_LIMIT, 0, "the archive unpacks to more than %llu GB",
                               (unsigned long long) (UNPACK_BYTES >> 30));

        if (s->plain_bytes > UNPACK_RATIO_FROM && s->plain_bytes / UNPACK_RATIO > s->packed_bytes)
                return err_set(e, ERR_LIMIT, 0,
                               "the archive unpacks to more than %d times its size: a decompression bomb",
                               UNPACK_RATIO);
        return 0;
}

static ssize_t inflate_step(struct stream *s, void *p, size_t n, struct err *e)
{
        if (s->form == STREAM_GZIP)
                return from_gzip(s, p, n, e);
        return s->form == STREAM_ZSTD ? from_zstd(s, p, n, e) : from_plain(s, p, n);
}

ssize_t stream_get(void *stream, void *p, size_t n, struct err *e)
{
        struct stream *s = stream;
        size_t got = 0;
        while (got < n) {
                if (s->have == 0) {
                        ssize_t more = fill_input(s, e);
                        if (more < 0)
                                return -1;
                        if (more == 0 && s->over)
                                break;
                }
                size_t had = s->have;
                ssize_t k = inflate_step(s, (char *) p + got, n - got, e);
                if (k < 0)
                        return -1;
                if (k == 0 && had == s->have && s->at == s->end) /* it wants what is not there */
                        return err_set(e, ERR_DOOR, 0, "the archive is broken: it ends in the middle");
                got += (size_t) k;
        }

        sha256_add(&s->plain, p, got);
        s->plain_bytes += got;
        return judge_growth(s, e) < 0 ? -1 : (ssize_t) got;
}

int stream_end(struct stream *s, char ret_packed[65], char ret_plain[65], struct err *e)
{
        static uint8_t rest[65536];
        for (ssize_t n = 1; n > 0;)
                if ((n = stream_get(s, rest, sizeof rest, e)) < 0)
                        return -1;

        sha256_end_hex(&s->packed, ret_packed);
        sha256_end_hex(&s->plain, ret_plain);
        return 0;
}
