/* SPDX-License-Identifier: MIT */
/* egress/http/unpack.c - gzip and deflate by zlib. All of zlib's memory lies in the state itself: an answer
 * takes as much as any other, and nothing of it is left behind when it is over. The only file that sees zlib.
 */
#include "egress/http/unpack.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

/* zlib takes 40 KiB: its tables and a window of 32. */
enum { POOL = 48 * 1024, WINDOW_BITS = 15, GZIP_ONLY = 16, HEAD_BYTES = 2 };

struct unpack {
        z_stream z;
        enum unpack_kind kind;
        bool begun; /* zlib knows the form */
        bool fed;   /* a byte came */
        bool ended; /* at the end of a member, and nothing came after it */
        bool again; /* this is not the first member */
        enum effect_reason why;
        uint8_t head[HEAD_BYTES]; /* deflate: the bytes that distinguish its two forms */
        size_t head_have, head_used;
        size_t pool_used;
        alignas(max_align_t) uint8_t pool[POOL];
        uint8_t out[UNPACK_OUT];
};

static voidpf pool_take(voidpf ctx, uInt items, uInt size)
{
        struct unpack *u = ctx;
        size_t room = POOL - u->pool_used, n;
        if (__builtin_mul_overflow((size_t) items, (size_t) size, &n) || n > room)
                return Z_NULL;

        voidpf p = u->pool + u->pool_used;
        n = (n + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
        u->pool_used += n < room ? n : room;
        return p;
}

/* It goes with the whole. */
static void pool_give(voidpf ctx, voidpf p)
{
        (void) ctx;
        (void) p;
}

struct unpack *unpack_new(enum unpack_kind kind)
{
        struct unpack *u = kind == UNPACK_NONE ? NULL : calloc(1, sizeof *u);
        if (!u)
                return NULL;

        u->kind = kind;
        u->z.zalloc = pool_take;
        u->z.zfree = pool_give;
        u->z.opaque = u;
        return u;
}

void unpack_free(struct unpack *u)
{
        if (!u)
                return;
        explicit_bzero(u, sizeof *u);
        free(u);
}

static enum unpack_state bad(struct unpack *u, enum effect_reason why)
{
        u->why = why;
        return UNPACK_BAD;
}

static bool begin(struct unpack *u, int bits)
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
static bool know(struct unpack *u, struct span in, size_t *used)
{
        if (u->begun)
                return true;

        if (u->kind == UNPACK_GZIP)
                return begin(u, WINDOW_BITS + GZIP_ONLY);

        while (u->head_have < HEAD_BYTES && *used < in.n)
                u->head[u->head_have++] = in.p[(*used)++];

        return u->head_have == HEAD_BYTES && begin(u, deflate_bits(u->head));
}

/* One step of zlib over these bytes. */
static int step(struct unpack *u, const uint8_t *p, size_t n, size_t *ret_used)
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
static bool go_on(struct unpack *u)
{
        u->ended = false;
        u->again = true;
        return u->kind == UNPACK_GZIP && inflateReset(&u->z) == Z_OK;
}

/* The bytes that identified the form are read first, then `in`, until the output is full or all is read. */
static enum unpack_state read_on(struct unpack *u, struct span in, size_t *used)
{
        for (;;) {
                bool early = u->head_used < u->head_have;
                const uint8_t *from = early ? u->head + u->head_used : in.n > *used ? in.p + *used : NULL;
                size_t n = early ? u->head_have - u->head_used : in.n - *used, took;
                if (u->ended && n == 0)
                        return UNPACK_MORE;
                if (u->ended && !go_on(u))
                        return bad(u, REASON_ANSWER_TAIL);
                int r = step(u, from, n, &took);
                *(early ? &u->head_used : used) += took;
                if (r == Z_STREAM_END)
                        u->ended = true;
                else if (r != Z_OK && r != Z_BUF_ERROR) /* the second: nothing to do */
                        return bad(u, u->again && u->z.total_out == 0 ? REASON_ANSWER_TAIL
                                                                      : REASON_ANSWER_DAMAGED);
                if (u->z.avail_out == 0)
                        return UNPACK_FULL;
                if (r == Z_BUF_ERROR)
                        return UNPACK_MORE;
        }
}

enum unpack_state unpack_pass(struct unpack *u, struct span in, size_t *ret_used, struct span *ret_out)
{
        *ret_used = 0;
        *ret_out = (struct span){ 0 };
        if (u->why)
                return UNPACK_BAD;

        u->fed = u->fed || in.n;
        if (!know(u, in, ret_used))
                return u->kind == UNPACK_GZIP || u->head_have == HEAD_BYTES ? bad(u, REASON_NO_MEMORY)
                                                                            : UNPACK_MORE;

        u->z.next_out = u->out;
        u->z.avail_out = UNPACK_OUT;
        enum unpack_state s = read_on(u, in, ret_used);
        if (s != UNPACK_BAD)
                *ret_out = span_of(u->out, UNPACK_OUT - u->z.avail_out);

        return s;
}

bool unpack_whole(const struct unpack *u) { return !u->why && (u->ended || !u->fed); }

enum effect_reason unpack_why(const struct unpack *u) { return u->why; }
