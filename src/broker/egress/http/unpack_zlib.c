/* SPDX-License-Identifier: MIT */
/* broker/egress/http/unpack_zlib.c - gzip and deflate by zlib. The only file that sees zlib. */
#include "broker/egress/http/unpack_ops.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

enum { WINDOW_BITS = 15, GZIP_ONLY = 16, HEAD_BYTES = 2 };

struct zlib {
        struct unpack base;
        z_stream z;
        enum unpack_kind kind;
        bool begun;               /* zlib knows the form */
        bool again;               /* this is not the first member */
        uint8_t head[HEAD_BYTES]; /* deflate: the bytes that distinguish its two forms */
        size_t head_have, head_used;
};

static voidpf zlib_take(voidpf ctx, uInt items, uInt size)
{
        size_t n;
        return __builtin_mul_overflow((size_t) items, (size_t) size, &n) ? Z_NULL : unpack_take(ctx, n);
}

static struct unpack *zlib_make(enum unpack_kind kind)
{
        struct zlib *u = calloc(1, sizeof *u);
        if (!u)
                return NULL;

        u->kind = kind;
        u->z.zalloc = zlib_take;
        u->z.zfree = unpack_give;
        return (struct unpack *) u;
}

static void zlib_free(struct unpack *u)
{
        (void) inflateEnd(&((struct zlib *) u)->z); /* does nothing before inflateInit2() */
        explicit_bzero(u, sizeof(struct zlib));
        free(u);
}

static bool begin_zlib(struct zlib *u, int bits)
{
        u->begun = inflateInit2(&u->z, bits) == Z_OK;
        return u->begun;
}

/* RFC 1950 begins with a number that 31 divides, and whose lower half byte is 8. As the beginning of RFC 1951
 * that would be a stored block with garbage in its padding, which no encoder writes. */
static int deflate_bits(const uint8_t head[HEAD_BYTES])
{
        bool wrapped = (head[0] & 15) == 8 && (head[0] << 8 | head[1]) % 31 == 0;
        return wrapped ? WINDOW_BITS : -WINDOW_BITS;
}

/* True: zlib knows the format. */
static bool know_format(struct zlib *u, struct span in, size_t *used)
{
        if (u->begun)
                return true;

        if (u->kind == UNPACK_GZIP)
                return begin_zlib(u, WINDOW_BITS + GZIP_ONLY);

        while (u->head_have < HEAD_BYTES && *used < in.n)
                u->head[u->head_have++] = in.p[(*used)++];

        return u->head_have == HEAD_BYTES && begin_zlib(u, deflate_bits(u->head));
}

/* One step of zlib over these bytes. */
static int step_zlib(struct zlib *u, const uint8_t *p, size_t n, size_t *ret_used)
{
        u->z.next_in = p;
        u->z.avail_in = (uInt) (n < UNPACK_OUT ? n : UNPACK_OUT);
        uInt had = u->z.avail_in;
        int r = inflate(&u->z, Z_NO_FLUSH);
        *ret_used = had - u->z.avail_in;
        u->z.next_in = NULL; /* the caller's */
        return r;
}

/* Another member may follow, as gzip(1) has it; anything else may not. */
static bool go_on(struct zlib *u)
{
        u->base.ended = false;
        u->again = true;
        return u->kind == UNPACK_GZIP && inflateReset(&u->z) == Z_OK;
}

/* The bytes that identified the form are read first, then `in`, until the output is full or all is read. */
static enum unpack_state read_on(struct zlib *u, struct span in, size_t *used)
{
        for (;;) {
                bool early = u->head_used < u->head_have;
                const uint8_t *from = early ? u->head + u->head_used : in.n > *used ? in.p + *used : NULL;
                size_t n = early ? u->head_have - u->head_used : in.n - *used, took;
                if (u->base.ended && n == 0)
                        return UNPACK_MORE;
                if (u->base.ended && !go_on(u))
                        return unpack_bad(&u->base, REASON_ANSWER_TAIL);
                int r = step_zlib(u, from, n, &took);
                *(early ? &u->head_used : used) += took;
                if (r == Z_STREAM_END)
                        u->base.ended = true;
                else if (r != Z_OK && r != Z_BUF_ERROR) /* the second: nothing to do */
                        return unpack_bad(&u->base, u->again && u->z.total_out == 0 ? REASON_ANSWER_TAIL
                                                                                    : REASON_ANSWER_DAMAGED);
                if (u->z.avail_out == 0)
                        return UNPACK_FULL;
                if (r == Z_BUF_ERROR)
                        return UNPACK_MORE;
        }
}

static enum unpack_state zlib_pass(struct unpack *base, struct span in, size_t *used, size_t *ret_out)
{
        struct zlib *u = (struct zlib *) base;
        if (!know_format(u, in, used))
                return u->kind == UNPACK_GZIP || u->head_have == HEAD_BYTES
                               ? unpack_bad(base, REASON_NO_MEMORY)
                               : UNPACK_MORE;

        u->z.next_out = base->out;
        u->z.avail_out = UNPACK_OUT;
        enum unpack_state s = read_on(u, in, used);
        *ret_out = UNPACK_OUT - u->z.avail_out;
        return s;
}

const struct unpack_ops unpack_zlib = { zlib_make, zlib_pass, zlib_free };
