/* SPDX-License-Identifier: MIT */
/* face/front/front.h - what `cordon serve` and `cordon mcp` have in common: connections of a loop that drives
 * boxes, and therefore never waits for a client. Each server decides about heads and bodies, and sends. */
#pragma once
#include "broker/http1/http1.h"
#include "cordon.h"

enum {
        HTTP_READ_S = 20,  /* for a whole request */
        HTTP_WRITE_S = 30, /* without a byte taken */
        HTTP_UNREAD_S = 2, /* an answer that is not read, while others wait for the place */
        HTTP_LINGER_S = 2,
        HTTP_IDLE_S = 75
};

/* One request at a time. */
struct http_conn {
        int fd;
        uint16_t port; /* of the listener; 0: a Unix socket */
        struct request_reader in;
        struct buf out;
        size_t sent;
        bool gone;    /* to be freed */
        bool last;    /* ends when all is sent */
        bool busy;    /* a request is read or answered */
        bool lingers; /* all is sent; what comes is dropped */
        bool again;   /* a further request has arrived already */
        uint64_t deadline_ns;
        uint64_t unread_ns; /* since when its answer waits to be read; 0: it does not */
};

void http_conn_begin(struct http_conn *c, int fd, uint16_t port);
void http_conn_done(struct http_conn *c);
/* When it is late. Answering is not timed, a run takes as long as it may: then UINT64_MAX. */
uint64_t http_conn_until(const struct http_conn *c);
/* A place for one more: a free one, or that of a link that says or reads nothing; `n`: none. `at`: the link
 * at a place, or NULL. */
size_t http_conn_place(struct http_conn *(*at)(void *ctx, size_t i), size_t n, void *ctx);

/* ---- in ---- */

void http_conn_read(struct http_conn *c);
struct http_handler {
        /* The head is read: http_conn_take() or an answer must follow. */
        void (*head)(void *ctx, struct http_conn *c);
        void (*whole)(void *ctx, struct http_conn *c);
        void (*bad)(void *ctx, struct http_conn *c); /* c->in.status and c->in.why; it is the last */
};
void http_conn_parse(struct http_conn *c, const struct http_handler *h, void *ctx);
/* The body is taken, at most so many bytes of it. */
void http_conn_take(struct http_conn *c, size_t body_max);

/* ---- out ---- */

const char *http_status_text(unsigned status);
/* `extra`: header lines, each with CRLF. */
void http_conn_answer(struct http_conn *c, unsigned status, const char *type, const char *extra,
                      struct span body);
/* The same in two steps: the bytes, and what follows when they are whole. */
void http_conn_put(struct http_conn *c, unsigned status, const char *type, const char *extra,
                   struct span body);
void http_conn_answered(struct http_conn *c);
void http_conn_stream(struct http_conn *c, const char *extra); /* events follow, and it is the last */
void http_conn_flush(struct http_conn *c);

/* ---- result.c: a run as JSON, for whoever is not the operator ---- */

struct http_told {
        bool timed_out, cancelled; /* by the server, for its client */
        const char *clock;         /* the limit that it reached then */
        bool raw, cut;             /* output as base64; not all of it */
        int minor;                 /* denials up to this one of cordon_denial */
        size_t most;               /* of them */
        const char *hint;          /* of its error; or "" */
};
const char *http_end(const cordon_result *r, const struct http_told *t);
/* Not what the host has where no door of the run leads. */
bool http_tells(const cordon_denial *d, int minor);
/* Members of an object; output of a box is inert. */
void http_put_result(const cordon_result *r, const struct buf text[2], const struct http_told *t,
                     struct buf *out);
void http_put_error(const cordon_error *e, const char *hint, struct buf *out);
