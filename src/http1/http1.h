/* SPDX-License-Identifier: MIT */
/* http1/http1.h - strict, sans-IO parsers of HTTP/1.1: heads and the ends of bodies. For the broker, whose
 * clients are boxes, and for `cordon serve`. Pure. */
#pragma once
#include "base/span.h"
#include "effect/effect.h"

enum {
        HTTP_HEAD_MAX = 32 * 1024, /* bytes of a head */
        HTTP_FIELDS_MAX = 256,     /* header fields of a head */
        HTTP_TRAILER_MAX = 8192,   /* bytes behind the last chunk */
        HTTP_EXTENSION_MAX = 256,  /* bytes behind the size of one */
};

/* ---- http_head.c ---- */
enum http_read { HTTP_BAD = 0, HTTP_MORE, HTTP_WHOLE };
struct http_field {
        struct span name, value;
};
struct http_head { /* spans point into the bytes that were read */
        struct span method, target;
        unsigned status;
        struct span reason;
        bool http10;
        struct http_field field[HTTP_FIELDS_MAX];
        size_t field_count;
        size_t bytes; /* of the whole head */
        bool chunked, has_length, close, upgrade, expect_continue;
        uint64_t length;
        enum effect_reason why; /* when bad */
        unsigned answer;        /* status of the error */
};
enum http_read http_head_request(struct span in, struct http_head *h);
enum http_read http_head_response(struct span in, struct http_head *h);
/* Compares names as careless servers do: any case, - for every character that is not a letter. */
bool http_name_same(struct span name, const char *want); /* as long as it, at least */
/* Called dozens of times for each request: the length, which mostly differs, is compared inline. */
static inline bool http_name_is(struct span name, const char *want)
{
        return name.n == strlen(want) && http_name_same(name, want);
}
struct http_word {
        uint8_t n;
        const char *text;
};
#define HTTP_WORD(s)                                                                                         \
        {                                                                                                    \
                sizeof(s) - 1, s                                                                             \
        }
bool http_name_in(struct span name, const struct http_word *list, size_t count);
/* Without blanks around it; one element of a comma-separated list; *at moves behind it. */
struct span http_trim(struct span s);
bool http_next_element(struct span list, size_t *at, struct span *ret);
const struct http_field *http_field_find(const struct http_head *h, const char *name,
                                         const struct http_field *after);
bool http_has_token(const struct http_head *h, const char *name, const char *token);
bool http_is_hop(const struct http_head *h, struct span name); /* ends at this hop: never passed on */

/* ---- http_body.c ---- */
enum body_kind { BODY_NONE = 0, BODY_LENGTH, BODY_CHUNKED, BODY_UNTIL_CLOSE };
enum body_state { BODY_BAD = 0, BODY_MORE, BODY_DATA, BODY_END };
struct http_body {
        enum body_kind kind;
        uint64_t left;      /* of the length or of the chunk */
        uint8_t step;       /* of the chunked form */
        uint8_t digits;     /* of the chunk's size, so far */
        bool line_empty;    /* the trailer line so far */
        bool extensions;    /* an answer's: chunk extensions are dropped, not rejected */
        uint16_t extension; /* its bytes, so far */
        size_t trailer;     /* its bytes */
        enum effect_reason why;
};
void http_body_init(struct http_body *b, enum body_kind kind, uint64_t length);
void http_body_of(const struct http_head *h, struct http_body *ret); /* of a request */
/* Takes some of `in`: *ret_used bytes. DATA: *ret_data is part of the body. */
enum body_state http_body_next(struct http_body *b, struct span in, size_t *ret_used, struct span *ret_data);
