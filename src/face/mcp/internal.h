/* SPDX-License-Identifier: MIT */
/* face/mcp/internal.h - the state of a server: connections, calls and sessions, all driven by one loop. */
#pragma once
#include "base/buf.h"
#include "base/random.h"
#include "face/front/front.h"
#include "face/mcp/mcp.h"
#include "face/mcp/methods.h"

#include <stdint.h>

enum {
        MCP_LINKS_MAX = 64,
        MCP_CALLS_MAX = 32,      /* under way at once */
        MCP_OUTPUT_MAX = 262144, /* bytes of each stream that an answer contains */
        MCP_DIFF_MAX = 262144,
        MCP_QUEUE_MAX = 64 << 20, /* bytes that a client has not read */
        MCP_TOKEN_MAX = 128,
        MCP_HTTP_SESSIONS = 64,
        MCP_GATE_ID = 65, /* 64 digits and NUL */
        MCP_QUESTION_S = 600,
        MCP_PROGRESS_MS = 250
};

struct mcp_http_session;
struct wrap;

struct mcp_link {
        struct http_conn
                c; /* first: mcp_http_client.c finds the link by it; lines use what is sent, and `gone` */
        int in;    /* of lines */
        struct mcp_peer own, *peer; /* peer: its own, or that of a session over HTTP */
        struct buf got;             /* the beginning of a line */
        bool too_long;              /* the current line is dropped */

        bool http;                        /* not lines: */
        struct mcp_http_session *session; /* of the request, or NULL */
        bool fresh;                       /* the answer names the session */
        bool modern;                      /* the era of the request */
        bool streams;                     /* by events */
        bool listens;                     /* the stream of a GET */
        uint64_t alive_ns;                /* when the stream says a word at least */
};

struct mcp_session {
        char handle[RANDOM_NAME];
        cordon_box *box;
        bool over;  /* takes no more runs */
        bool ended; /* its result is final */
        bool held;  /* something new waits for an approval */
        unsigned calls;
};

/* The overlay that an ended session left, for review. */
struct mcp_closed {
        char handle[RANDOM_NAME];
        char run[64];
};

/* One tools/call. */
struct mcp_call {
        struct mcp_link *link; /* NULL: the client is gone or has cancelled it */
        const struct mcp_tool *tool;
        char *id, *progress; /* JSON; progress may be NULL */
        char *args;          /* JSON, of a question */
        bool modern, elicits;
        cordon_box *box;             /* a run; NULL: the call waits for its session */
        struct mcp_session *session; /* or NULL */
        struct buf text[2];          /* standard output and error */
        int input;                   /* a file in memory, or -1 */
        bool cut;                    /* not all of them */
        bool timed_out;
        uint64_t deadline_ns; /* 0: none */
        unsigned told;        /* progress notifications */
        uint64_t told_ns, bytes;
        unsigned asked;         /* the number of our request to the client; 0: none */
        char run[64];           /* an overlay, of diff and propose_apply; "": none yet */
        bool held;              /* something of the run waits for an approval: gate_ask.c */
        bool gate_outside;      /* a form was of no use: `cordon approve` answers */
        bool parked;            /* until the client comes again with `state` */
        bool over;              /* the run has ended */
        char gate[MCP_GATE_ID]; /* what was asked about */
        char state[RANDOM_NAME];
        uint64_t parked_until_ns;
};

struct mcp_server {
        const struct mcp_options *o;
        /* A message over HTTP. */
        void (*take)(struct mcp_server *s, struct mcp_link *l, const struct rpc *m);
        struct wrap *wrap; /* of a wrapped server; or NULL */
        int listener, signals;
        struct mcp_link *links[MCP_LINKS_MAX];
        struct mcp_call *calls[MCP_CALLS_MAX];
        struct mcp_session *sessions[MCP_CALLS_MAX];
        struct mcp_closed closed[MCP_CALLS_MAX]; /* a ring */
        unsigned closed_count;
        unsigned asked;
        bool stop;
        cordon_checks *checks; /* of the results of all its runs */

        char http_token[MCP_TOKEN_MAX];
        uint16_t http_port;
        struct mcp_http_session *http_sessions[MCP_HTTP_SESSIONS];
        uint64_t http_window_ns; /* of the rate */
        unsigned http_requests;  /* in it */
};

/* link.c */
struct mcp_link *mcp_link_new(struct mcp_server *s, int in, int out);
void mcp_link_free(struct mcp_link *l);
/* Reads once, after poll(). */
void mcp_link_read(struct mcp_link *l);
/* The next whole line, or false. It is valid until the next call. *ret_too_long: it was dropped. */
bool mcp_link_line(struct mcp_link *l, struct buf *ret, bool *ret_too_long);
void mcp_link_send(struct mcp_link *l, const struct buf *line);
void mcp_link_error(struct mcp_link *l, const struct json *id, int code, const char *why);
void mcp_link_flush(struct mcp_link *l);
int mcp_link_accept(int listener, bool local);

/* mcp_http_answer.c: a message as an answer over HTTP; it goes to the queue. */
void mcp_http_put(struct mcp_link *l, const struct buf *line);

/* server.c */
int mcp_http_open(struct mcp_server *s, cordon_error *e);
void mcp_accept_all(struct mcp_server *s);

/* take.c: a message of a client. */
void mcp_take(struct mcp_server *s, struct mcp_link *l, const struct rpc *m);

/* session.c */
struct mcp_session *mcp_session_new(struct mcp_server *s, cordon_error *e);
struct mcp_session *mcp_session_find(struct mcp_server *s, const char *handle);
/* The overlay that an ended session left; NULL: none. */
const char *mcp_session_left(const struct mcp_server *s, const char *handle);
/* Drives them, and frees those that have ended and have no call. */
void mcp_sessions_step(struct mcp_server *s);
bool mcp_box_set_up(const struct mcp_options *o, cordon_box *b);

/* call.c */
void mcp_call_begin(struct mcp_server *s, struct mcp_link *l, const struct rpc *m,
                    const struct mcp_decision *d);
void mcp_calls_step(struct mcp_server *s);
void mcp_call_cancel(struct mcp_server *s, const struct mcp_link *l, const struct json *id);
void mcp_call_answered(struct mcp_server *s, const struct mcp_link *l, const struct rpc *m);
void mcp_calls_drop(struct mcp_server *s, const struct mcp_link *l); /* NULL: all */
int mcp_calls_next_ms(const struct mcp_server *s);
/* call_end.c: sends the result and frees the call. `structured` is a JSON object. */
void mcp_call_end(struct mcp_server *s, struct mcp_call *c, bool failed, const struct buf *structured);
/* The same for words of a box: they pass cordon-output first, or an error is the result. */
void mcp_call_end_checked(struct mcp_server *s, struct mcp_call *c, bool failed,
                          const struct buf *structured);
void mcp_call_fail(struct mcp_server *s, struct mcp_call *c, const cordon_error *e);
void mcp_call_free(struct mcp_server *s, struct mcp_call *c);

/* start_run.c: starts the run of a tool. -1 with *e set. */
int mcp_call_start_run(struct mcp_server *s, struct mcp_call *c, const struct json *args, cordon_error *e);
/* ran.c: its result as JSON. Returns true if it failed. */
bool mcp_ran(struct mcp_call *c, struct buf *out);

/* elicit.c */
void mcp_require_input(const struct mcp_call *c, const struct buf *form, const char *state);
void mcp_elicit(struct mcp_server *s, struct mcp_call *c, const struct buf *form);

/* gate_ask.c: the call rests until the client comes again with the answer to a form. False: it cannot. */
bool mcp_park(struct mcp_call *c, const struct buf *form);
/* Questions of a run. */
void mcp_gate_open(const struct mcp_options *o, cordon_box *b);
void mcp_gate_held(void *ctx, const char *id, const char *effect, unsigned within_s); /* sets a bool */
void mcp_gate_step(struct mcp_server *s, struct mcp_call *c);
void mcp_gate_answer(struct mcp_call *c, const struct json *result);
/* The call that waits for this answer goes on, in place of the new one; NULL: none does. */
struct mcp_call *mcp_gate_retry(struct mcp_server *s, struct mcp_call *c, const struct mcp_decision *d);

/* propose.c */
void mcp_propose_ask(struct mcp_server *s, struct mcp_call *c);
void mcp_propose_retry(struct mcp_server *s, struct mcp_call *c, const struct mcp_decision *d);
void mcp_propose_answer(struct mcp_server *s, struct mcp_call *c, const struct json *result);
