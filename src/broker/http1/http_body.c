/* SPDX-License-Identifier: MIT */
/* broker/http1/http_body.c - finds the end of a body: by length, by chunks, or by EOF. Every line end but CR
 * LF is rejected; trailers are dropped, or kept for whoever wants them. Chunk extensions are dropped in an
 * answer, where they are valid and we frame anew; in a request they are rejected: servers have parsed such
 * lines in two ways. Pure. */
#include "base/str.h"
#include "broker/http1/http1.h"

enum {
        STEP_SIZE = 0,
        STEP_EXTENSION,
        STEP_SIZE_LF,
        STEP_DATA,
        STEP_DATA_CR,
        STEP_DATA_LF,
        STEP_TRAILER,
        STEP_TRAILER_LF,
        STEP_END
};

void http_body_init(struct http_body *b, enum body_kind kind, uint64_t length)
{
        *b = (struct http_body){ .kind = kind, .left = kind == BODY_LENGTH ? length : 0, .line_empty = true };
}

void http_body_of(const struct http_head *h, struct http_body *ret)
{
        http_body_init(ret, h->chunked ? BODY_CHUNKED : h->has_length ? BODY_LENGTH : BODY_NONE, h->length);
}

static enum body_state bad_body(struct http_body *b, enum effect_reason why)
{
        b->why = why;
        b->kind = BODY_CHUNKED;
        b->step = UINT8_MAX; /* stays bad */
        return BODY_BAD;
}

static enum body_state size_byte(struct http_body *b, uint8_t c)
{
        int v = str_hex(c);
        if (v >= 0 && b->digits < 15) {
                b->left = b->left << 4 | (unsigned) v;
                b->digits++;
                return BODY_MORE;
        }

        bool behind = b->extensions && (c == ';' || c == ' ' || c == '\t');
        if ((c != '\r' && !behind) || b->digits == 0)
                return bad_body(b, REASON_CHUNK_SIZE);

        b->step = behind ? STEP_EXTENSION : STEP_SIZE_LF;
        b->extension = 0;
        return BODY_MORE;
}

static enum body_state extension_byte(struct http_body *b, uint8_t c)
{
        if (c == '\r')
                b->step = STEP_SIZE_LF;
        else if (++b->extension > HTTP_EXTENSION_MAX || (c < 0x20 && c != '\t') || c == 0x7f)
                return bad_body(b, REASON_CHUNK_EXTENSION);
        return BODY_MORE;
}

static enum body_state trailer_byte(struct http_body *b, uint8_t c)
{
        b->trailer += c == '\r' ? 2 : 1;
        if (b->keep && c != '\r')
                buf_putc(b->keep, (char) c);

        if (c == '\r' && b->trailer <= HTTP_TRAILER_MAX) {
                if (b->keep && !b->line_empty)
                        buf_puts(b->keep, "\r\n");
                b->step = STEP_TRAILER_LF;
                return BODY_MORE;
        }

        if (b->trailer > HTTP_TRAILER_MAX || (c < 0x20 && c != '\t') || c == 0x7f)
                return bad_body(b, REASON_CHUNK_TRAILER);

        b->line_empty = false;
        return BODY_MORE;
}

/* One byte that is not data. */
static enum body_state frame_byte(struct http_body *b, uint8_t c)
{
        switch (b->step) {
        case STEP_SIZE:
                return size_byte(b, c);
        case STEP_EXTENSION:
                return extension_byte(b, c);
        case STEP_SIZE_LF:
                b->digits = 0;
                b->step = b->left ? STEP_DATA : STEP_TRAILER;
                return c == '\n' ? BODY_MORE : bad_body(b, REASON_CHUNK_LINE_END);
        case STEP_DATA_CR:
                b->step = STEP_DATA_LF;
                return c == '\r' ? BODY_MORE : bad_body(b, REASON_CHUNK_LENGTH);
        case STEP_DATA_LF:
                b->step = STEP_SIZE;
                return c == '\n' ? BODY_MORE : bad_body(b, REASON_CHUNK_LENGTH);
        case STEP_TRAILER:
                return trailer_byte(b, c);
        case STEP_TRAILER_LF:
                if (c != '\n')
                        return bad_body(b, REASON_TRAILER_LINE_END);
                b->step = b->line_empty ? STEP_END : STEP_TRAILER;
                b->line_empty = true;
                return b->step == STEP_END ? BODY_END : BODY_MORE;
        default:
                return bad_body(b, b->why ? b->why : REASON_CHUNKED);
        }
}

static enum body_state chunked_next(struct http_body *b, struct span in, size_t *ret_used,
                                    struct span *ret_data)
{
        size_t i = 0;
        if (b->step == STEP_END)
                return BODY_END;

        while (i < in.n && b->step != STEP_DATA) {
                enum body_state s = frame_byte(b, in.p[i++]);
                *ret_used = i;
                if (s != BODY_MORE)
                        return s;
        }

        if (i == in.n || b->step != STEP_DATA)
                return BODY_MORE;

        size_t n = in.n - i < b->left ? in.n - i : (size_t) b->left;
        *ret_data = span_of(in.p + i, n);
        *ret_used = i + n;
        b->left -= n;
        if (b->left == 0)
                b->step = STEP_DATA_CR;

        return BODY_DATA;
}

enum body_state http_body_next(struct http_body *b, struct span in, size_t *ret_used, struct span *ret_data)
{
        *ret_used = 0;
        *ret_data = (struct span){ 0 };
        if (b->kind == BODY_CHUNKED)
                return chunked_next(b, in, ret_used, ret_data);

        if (b->kind == BODY_NONE || (b->kind == BODY_LENGTH && b->left == 0))
                return BODY_END;

        size_t n = b->kind == BODY_LENGTH && in.n > b->left ? (size_t) b->left : in.n;
        if (n == 0)
                return BODY_MORE;

        *ret_data = span_of(in.p, n);
        *ret_used = n;
        if (b->kind == BODY_LENGTH)
                b->left -= n;

        return BODY_DATA;
}
