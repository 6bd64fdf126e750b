/* SPDX-License-Identifier: MIT */
/* face/bridge/bridge.h - cordon-bridge, the payload of `cordon mcp wrap --url`: lines of MCP on its standard
 * streams, Streamable HTTP to one server. It runs in the box and is no wall: what it reads is the server's,
 * what takes it over has the box's doors, and the lines it writes are judged as those of any server.
 *
 *   message.c     a line of the client becomes a request, both eras (pure)
 *   events.c      text/event-stream (pure)
 *   reply.c       an answer of the server becomes lines (pure)
 *   connection.c  TCP, and TLS with OpenSSL
 *   exchange.c    a request and its answer, each in a thread of its own
 *   main.c        lines in, one after the other */
#pragma once
#include "base/buf.h"
#include "base/rpc.h"
#include "broker/http1/http1.h"

#include <pthread.h>
#include <sys/types.h>

enum { BRIDGE_TEXT = 256, BRIDGE_URL = 2048, BRIDGE_SILENT_S = 600 };

/* ---- message.c ---- */

struct bridge_url {
        char host[BRIDGE_TEXT], port[6], path[BRIDGE_URL];
        bool tls;
};
/* Returns -1 if it is not one. */
int bridge_url_read(const char *text, struct bridge_url *ret);

/* The session that `initialize` of 2025-11-25 and earlier began; "": nothing. */
struct bridge_session {
        char id[BRIDGE_TEXT], version[32];
};
/* `method`: POST, GET or DELETE; `m`: the message of a POST, or NULL. */
void bridge_put_head(struct buf *out, const struct bridge_url *u, const char *method,
                     const struct bridge_session *s, const struct rpc *m, size_t length);
bool bridge_is_modern(const struct rpc *m);
/* A header that can be sent back: visible ASCII. */
bool bridge_is_session_id(struct span s);

/* ---- events.c ---- */

struct bridge_events {
        struct buf line, data;
        size_t max;
        bool after_cr, too_long;
};
/* Takes bytes; calls `fn` with the data of each whole event. False: an event is longer than `max`. */
bool bridge_events_add(struct bridge_events *v, struct span in, void (*fn)(void *ctx, struct span data),
                       void *ctx);
void bridge_events_done(struct bridge_events *v);

/* ---- reply.c ---- */

/* One message as one line, newline included. False: it is no message, or answers another request than `id`
 * (NULL: any). *ret_answer: it is the answer to it. */
bool bridge_put_line(struct buf *out, struct span message, const char *id, bool *ret_answer);
/* Our own answer to a request, when the server gives none. */
void bridge_put_failure(struct buf *out, const char *id, const char *why);

/* ---- connection.c ---- */

struct bridge_link;
struct bridge_tls;
struct bridge_tls *bridge_tls_new(void); /* NULL: it cannot */
/* NULL: *ret_why says what failed. `tls`: NULL of http. */
struct bridge_link *bridge_connect(const struct bridge_url *u, struct bridge_tls *tls, const char **ret_why);
int bridge_link_fd(const struct bridge_link *l);
bool bridge_link_write(struct bridge_link *l, struct span s);
ssize_t bridge_link_read(struct bridge_link *l, char *p, size_t cap); /* 0: the end; -1: an error */
bool bridge_link_is_quiet(const struct bridge_link *l);               /* open, and nothing has come */
void bridge_link_free(struct bridge_link *l);

/* ---- exchange.c ---- */

enum { BRIDGE_EXCHANGES = 96, BRIDGE_IDLE = 8 };

struct bridge;
struct bridge_exchange {
        struct bridge *b;
        char *line;     /* the message */
        const char *id; /* of a request, as JSON; else NULL */
        struct buf id_text;
        const char *method; /* POST, GET or DELETE */
        bool opens;         /* initialize */
        bool used;
        _Atomic bool given_up;
        int fd; /* to end it from outside; -1: none */
};

struct bridge {
        struct bridge_url url;
        struct bridge_tls *tls;
        size_t max; /* bytes of one message */
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct bridge_session session;
        struct bridge_exchange exchanges[BRIDGE_EXCHANGES];
        struct bridge_link *idle[BRIDGE_IDLE];
        bool listens; /* the stream of a GET was asked for */
};

/* Begins one; takes `line`, which is NULL unless `method` is POST. */
void bridge_begin(struct bridge *b, const char *method, char *line);
/* The client no longer wants an answer. */
void bridge_cancel(struct bridge *b, const char *id);
/* Waits until no exchange but a GET is under way, or for some seconds. */
void bridge_wait(struct bridge *b, unsigned seconds);
