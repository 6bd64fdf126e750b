/* SPDX-License-Identifier: MIT */
/* face/mcp/wrap.h - somebody else's server in a box: the state of `cordon mcp wrap`, and its parts.
 *
 *   wrap.c         the loop: client, box, time
 *   wrap_http.c    clients over HTTP in place of one on standard input and output
 *   wrap_client.c  messages of the client: judged, recorded, passed on
 *   wrap_server.c  messages of the server, which is hostile
 *   wrap_copy.c    a message written anew: hidden characters made visible, capabilities left out (pure)
 *   wrap_pins.c    descriptions of tools against those that were accepted (pure)
 */
#pragma once
#include "base/buf.h"
#include "face/mcp/internal.h"

#include "base/rpc.h"
#include <poll.h>

enum { WRAP_PENDING_MAX = 64, WRAP_BACK_MAX = 16, WRAP_TOOLS_MAX = 512, WRAP_TOOL_NAME = 129 };

/* ---- wrap_pins.c ---- */

enum pin_verdict { PIN_CHANGED = 0, PIN_NEW, PIN_BAD_NAME, PIN_SAME };
struct wrap_pins {
        struct json_doc *doc; /* NULL: nothing is pinned yet */
};
/* Text of cordon_pins_read(); "": none. Returns 0, or -1 if it cannot be read. */
int wrap_pins_load(struct wrap_pins *p, const char *text);
void wrap_pins_done(struct wrap_pins *p);
/* A tool as a server describes it now. */
enum pin_verdict wrap_pins_judge(const struct wrap_pins *p, const struct json *tool);
const struct json *wrap_pins_find(const struct wrap_pins *p, const char *name); /* NULL: it is not accepted */
/* The server's instructions: the same as those that were pinned? */
bool wrap_pins_instructions(const struct wrap_pins *p, const char *text);
/* Writes a value with its keys sorted, so that equal descriptions have equal bytes. */
void wrap_put_sorted(struct buf *out, const struct json *v);
bool wrap_tool_name_ok(const char *name);

/* ---- wrap_copy.c ---- */

struct wrap_copied {
        uint64_t cuts; /* hidden characters and escape sequences that became visible */
};
/* `"KEY":` of this member, with a comma if it is not the first. */
void wrap_put_key(struct buf *out, const struct json *c);
/* Writes a value of the server with every text made inert. */
void wrap_put_inert(struct buf *out, const struct json *v, struct wrap_copied *done);
/* How a message of the client goes to the server: without the capabilities that it must not use; `id`, or
 * NULL, in place of its id, its progress token and the id that a cancellation names: clients over HTTP choose
 * the same. */
struct wrap_sent {
        unsigned permitted;
        const char *id;
};
void wrap_put_request(struct buf *out, const struct json *message, const struct wrap_sent *how);
/* The parameters of a progress notification, for the client that chose this token. */
void wrap_put_progress(struct buf *out, const struct json *params, const char *token,
                       struct wrap_copied *done);
/* The bit of a method that a server may ask of a client ("sampling/createMessage"); 0: none of them. */
unsigned wrap_method_bit(const char *method);

/* ---- state ---- */

struct wrap_pending { /* a request of the client that the server has not answered */
        char *id, *method;
        struct mcp_link *link; /* of the client */
        char *sent;            /* its id for the server, or NULL: the same */
        char *token;           /* its progress token, if it is sent with another one; or NULL */
        char tool[WRAP_TOOL_NAME];
        char record[64];
        bool modern;
        uint64_t deadline_ns;
        char *held;     /* the line for the server, while the call waits or a person is asked; or NULL */
        unsigned asked; /* the number of a question to a person; 0: none */
        unsigned waits; /* its place among the calls that wait; 0: it does not */
        bool agreed;    /* the person said yes */
};

struct wrap {
        const struct mcp_wrap_options *o;
        struct mcp_link client, server; /* server.in is unused: its output arrives by callback */
        struct mcp_server *front;       /* clients over HTTP, and `client` is unused; or NULL */
        unsigned sent;                  /* ids of ours for them */
        cordon_box *box;
        int into; /* the end of the pipe that the box reads */
        struct wrap_pending pending[WRAP_PENDING_MAX];
        char *back[WRAP_BACK_MAX]; /* ids of requests of the server that were passed on */
        struct wrap_pins pins;
        bool first_sight;      /* nothing was pinned when this began */
        char failure[256];     /* the server's last error that was not of a call, inert; "": none */
        struct buf seen;       /* tools of this process, with commas: what would be accepted */
        struct buf seen_names; /* "NAME\0" */
        struct buf refused;    /* the same, of those that are not as they were accepted */
        char *instructions;    /* sorted JSON, or NULL */
        uint64_t window_ns;    /* of the rate */
        unsigned calls;        /* in it */
        unsigned waited;       /* calls that had to wait so far */
        bool stop;
};

/* wrap_client.c */
/* One line to the person. */
void wrap_say(const struct wrap *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void wrap_from_client(struct wrap *w, struct span line);
void wrap_take(struct wrap *w, struct mcp_link *l, const struct rpc *m);
/* Cancels a request at the server. */
void wrap_cancel(struct wrap *w, const struct wrap_pending *p);
/* The answer of a person to a call that was held. */
void wrap_answered(struct wrap *w, unsigned number, bool yes);
/* Judges the calls that waited for a list or for the box. */
void wrap_release(struct wrap *w);
/* Answers a request with a failed result or an error, and forgets it. */
void wrap_give_up(struct wrap_pending *p, const char *why);
void wrap_forget(struct wrap_pending *p);
/* Finds a call by the id that the server knows. */
struct wrap_pending *wrap_find(struct wrap *w, const struct json *id);
/* Is it in a list of "NAME\0"? */
bool wrap_has_name(const struct buf *names, const char *name);
/* wrap_http.c */
int wrap_http_open(struct wrap *w, struct mcp_server *front, cordon_error *e);
void wrap_http_done(struct wrap *w);
enum { WRAP_HTTP_POLLED = 2 * MCP_LINKS_MAX + 2 };
void wrap_http_watch(const struct wrap *w, struct pollfd v[WRAP_HTTP_POLLED]);
/* True: a signal ends it. */
bool wrap_http_step(struct wrap *w, const struct pollfd v[WRAP_HTTP_POLLED]);
/* A notification or request of the server that no request of a client names. */
void wrap_http_tell(struct wrap *w, const struct buf *line);
/* wrap_server.c */
/* Does a description read like an order to a model? */
bool wrap_commands_model(const cordon_context *cx, const char *text);
void wrap_from_server(struct wrap *w, struct span line);
