/* SPDX-License-Identifier: MIT */
/* broker/http1/http1.h - strict, sans-IO parsers of HTTP/1.1: heads and the ends of bodies. For the broker,
 * whose clients are boxes, and for `cordon serve`. Pure. */
#pragma once
#include "base/buf.h"
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
/* The fields of trailer lines, each with CR LF; false: malformed. */
bool http_trailer_read(struct span lines, struct http_head *h);
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
        struct buf *keep;   /* its lines, each with CR LF; NULL: they are dropped */
        enum effect_reason why;
};
void http_body_init(struct http_body *b, enum body_kind kind, uint64_t length);
void http_body_of(const struct http_head *h, struct http_body *ret); /* of a request */
/* Takes some of `in`: *ret_used bytes. DATA: *ret_data is part of the body. */
enum body_state http_body_next(struct http_body *b, struct span in, size_t *ret_used, struct span *ret_data);

/* ---- request_reader.c: one request after the other, from any peer: bytes in, a request or an error out ----
 */
enum {
        REQUEST_PATH_MAX = 2048,
        REQUEST_QUERY_MAX = 2048,
        REQUEST_TEXT_MAX = 256, /* a header field that we read */
        REQUEST_BODY_MAX = 16 << 20
};

enum http_method { METHOD_OTHER = 0, METHOD_GET, METHOD_POST, METHOD_PUT, METHOD_DELETE, METHOD__COUNT };

struct http_request {
        enum http_method method;
        char path[REQUEST_PATH_MAX];   /* decoded: absolute, no empty, "." or ".." segment, UTF-8 */
        char query[REQUEST_QUERY_MAX]; /* as written, without '?' */
        char host[REQUEST_TEXT_MAX], origin[REQUEST_TEXT_MAX], token[REQUEST_TEXT_MAX];
        char key[REQUEST_TEXT_MAX];   /* Idempotency-Key */
        char id[REQUEST_TEXT_MAX];    /* X-Request-Id */
        char after[REQUEST_TEXT_MAX]; /* Last-Event-ID */
        char range[REQUEST_TEXT_MAX]; /* Range */
        char trace[REQUEST_TEXT_MAX]; /* traceparent */
        char mcp_version[REQUEST_TEXT_MAX], mcp_method[REQUEST_TEXT_MAX], mcp_name[REQUEST_TEXT_MAX];
        char mcp_session[REQUEST_TEXT_MAX]; /* headers of MCP's transport */
        bool events;                        /* Accept: text/event-stream */
        bool async;                         /* Prefer: respond-async */
        bool json;                          /* Content-Type: application/json */
        bool close;
        uint64_t length; /* of the body, as announced; UINT64_MAX: chunked */
};

enum request_state {
        REQUEST_BAD = 0, /* `status` and `why` for the answer, after which the connection ends */
        REQUEST_MORE,    /* more bytes are needed */
        REQUEST_HEADED,  /* once: the head is read, and request_accept() or an error answer must follow */
        REQUEST_WHOLE    /* head and body; request_next() goes on to what follows */
};

struct request_reader {
        struct buf in; /* not parsed yet */
        struct buf body;
        struct http_request r;
        struct http_body left;
        enum { READ_HEAD = 0, READ_ACCEPT, READ_BODY, READ_DONE, READ_FAILED } stage;
        size_t body_max;
        bool expects; /* the client waits for 100 Continue */
        unsigned status;
        const char *why;
};

void request_add(struct request_reader *q, const void *p, size_t n);
enum request_state request_step(struct request_reader *q);
/* After REQUEST_HEADED: takes a body of at most so many bytes. */
void request_accept(struct request_reader *q, size_t body_max);
void request_next(struct request_reader *q); /* after REQUEST_WHOLE */
void request_done(struct request_reader *q);

/* The value of a parameter of the query, decoded; false: absent, malformed or too long. */
bool request_param(const struct http_request *r, const char *name, char *ret, size_t cap);
/* Is there one, whatever it says? */
bool request_has(const struct http_request *r, const char *name);
/* Letters, digits and ._- only, at least one and at most `max`. */
bool request_is_word(const char *text, size_t max);

/* ---- http_site.c: a page of another site that a browser shows, or a name that was bound to 127.0.0.1 ----
 */

/* Is it a name of this server at `port` (0: a Unix socket), or one of `others`? */
bool host_is_ours(const char *host, uint16_t port, const char *const *others);
/* Origin is absent, or a page of `host`. */
bool origin_is_ours(const char *origin, const char *host);
