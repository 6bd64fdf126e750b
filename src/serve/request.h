/* SPDX-License-Identifier: MIT */
/* serve/request.h - one HTTP/1.1 request after the other, from any peer. Sans-IO and pure: bytes in, a
 * request or an error out. */
#pragma once
#include "base/buf.h"
#include "http1/http1.h"

enum {
        REQUEST_PATH_MAX = 2048,
        REQUEST_QUERY_MAX = 2048,
        REQUEST_TEXT_MAX = 256, /* a header field that we read */
        REQUEST_BODY_MAX = 16 << 20
};

enum serve_method { METHOD_OTHER = 0, METHOD_GET, METHOD_POST, METHOD_PUT, METHOD_DELETE, METHOD__COUNT };

struct serve_request {
        enum serve_method method;
        char path[REQUEST_PATH_MAX];   /* decoded: absolute, no empty, "." or ".." segment, UTF-8 */
        char query[REQUEST_QUERY_MAX]; /* as written, without '?' */
        char host[REQUEST_TEXT_MAX], origin[REQUEST_TEXT_MAX], token[REQUEST_TEXT_MAX];
        char key[REQUEST_TEXT_MAX];   /* Idempotency-Key */
        char id[REQUEST_TEXT_MAX];    /* X-Request-Id */
        char after[REQUEST_TEXT_MAX]; /* Last-Event-ID */
        char trace[REQUEST_TEXT_MAX]; /* traceparent */
        bool events;                  /* Accept: text/event-stream */
        bool async;                   /* Prefer: respond-async */
        bool json;                    /* Content-Type: application/json */
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
        struct serve_request r;
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
bool request_param(const struct serve_request *r, const char *name, char *ret, size_t cap);
/* Letters, digits and ._- only, at least one and at most `max`. */
bool request_is_word(const char *text, size_t max);
