/* SPDX-License-Identifier: MIT */
/* face/serve/internal.h - the state of a server: clients, runs, sessions and questions, all driven by one
 * loop. */
#pragma once
#include "base/buf.h"
#include "base/json.h"
#include "base/random.h"
#include "face/front/front.h"
#include "face/serve/budget.h"
#include "face/serve/serve.h"
#include "face/serve/tenant.h"
#include "face/serve/tenant_canary.h"
#include "face/serve/token_file.h"

#include <stdint.h>
#include <sys/types.h>

enum {
        CLIENTS_MAX = 256,
        RUNS_MAX = 256,
        SESSIONS_MAX = 64,
        ASIDES_MAX = 8,
        QUESTIONS_MAX = 32,
        OUTPUT_MAX = 256 * 1024, /* bytes of each stream that an answer contains */
        EVENTS_MAX = 1 << 20,    /* bytes of events that are kept for those who come late */
        KEPT_MAX = 64,           /* ended runs of a tenant that are kept in memory if the disk has no room */
        KEPT_RUNS = 10000,       /* and on the disk */
        ARGUMENTS_MAX = 1024,
        ASIDE_S = 60,
        ASIDE_BYTES_MAX = 32 << 20
};

struct job;
struct own;
struct session;
struct client;

/* ---- figures.c ---- */
enum { HISTOGRAM_BUCKETS = 14, ENDS_MAX = 8, STARTS_MAX = 5 };
struct histogram {
        uint64_t n[HISTOGRAM_BUCKETS], sum_ns;
};
void histogram_add(struct histogram *h, uint64_t ns);
void histogram_put(struct buf *out, const char *name, const char *labels, const struct histogram *h);
extern const char *const serve_ends[], *const serve_starts[];

/* ---- tenant_usage.c ---- */
enum { USAGE_COUNT = 9 };
struct usage_hour {
        uint64_t hour_s, n[USAGE_COUNT]; /* as usage_names has them */
};
struct usage {
        struct usage_hour *v;
        size_t n;
};
extern const char *const usage_names[USAGE_COUNT + 1];

/* What a tenant has under way, and counters. */
struct tenant_book {
        struct job *jobs;         /* newest first */
        struct job *first, *last; /* those that wait, in order */
        struct session *sessions;
        uint64_t seq;        /* of the newest run */
        uint64_t kept_bytes; /* of ended runs on the disk */
        unsigned unkept;     /* ends since the last look at what is kept */
        uint64_t asked;      /* rises with each change of what waits for an approval */
        uint64_t started, ended, failed, refused_effects, rejected, output_bytes;
        uint64_t faults, cpu_ns, net_bytes, by_end[ENDS_MAX], by_start[STARTS_MAX];
        struct histogram waits, starts, takes;
        struct usage usage;
        uint64_t headed; /* `ended` when its head was last recorded */
};

/* To this hour; -1 with errno: it is in memory only. */
int usage_add(struct tenant *t, struct usage_hour *more);
const struct usage_hour *usage_at(struct tenant *t, size_t i);
void usage_load(struct tenant *t);

/* ---- heads of tenants' ledgers: head_records.c ---- */

struct heads_writer {
        cordon_context *host; /* whose ledger has them */
        pid_t pid;            /* of the process that writes some; 0: none */
        uint64_t runs;        /* that ended since the last ones */
        uint64_t due_ns;
};

/* What keeps the server from working as it should, for its health, metrics and log. */
struct trouble {
        int sys;          /* of the last write that failed, or 0 */
        uint64_t since_s; /* wall clock */
        uint64_t again_ns, failed;
        char what[160];
};
struct disk {
        uint64_t size, left, again_ns;
        bool low, files; /* files: there is no room for one more */
};

struct server {
        const struct serve_options *o;
        int config, signals;
        int listeners[SERVE_LISTEN_MAX];
        struct tls_front {
                pid_t pid; /* of its cordon-tls; 0: none */
                int channel;
                uint64_t again_ns;
        } tls[SERVE_LISTEN_MAX];
        uint16_t ports[SERVE_LISTEN_MAX]; /* 0: a Unix socket */
        size_t listener_count;
        struct tokens tokens;
        struct timespec tokens_changed;
        struct budget host;
        struct tenants *tenants;
        struct client *clients[CLIENTS_MAX];
        struct job *running[RUNS_MAX];
        struct session *sessions[SESSIONS_MAX];
        struct aside *asides[ASIDES_MAX];
        struct question *questions[QUESTIONS_MAX];
        void (*ask)(struct server *s, struct client *c, struct span text); /* question_begin() */
        size_t turn;                                                       /* of fair_next() */
        struct heads_writer heads;
        struct own *own; /* the page of one person; or NULL */
        char once[65];   /* of its address, until it was used */
        uint64_t started_ns, requests, server_errors, log_lost;
        struct histogram request_time;
        uint64_t alive_ns;       /* when the watchdog is told next */
        int log_journal;         /* 1: standard error is the journal; -1: it is not */
        uint64_t drain_until_ns; /* while it drains: when the rest is ended */
        uint64_t hold_until_ns;  /* the host had no room for a box: none starts until then */
        uint64_t held_back;      /* how often */
        struct trouble trouble;
        struct disk disk;
        void (*follow)(struct client *c); /* client_follow(): runs know no client */
        bool draining, stop;
};

int heads_start(struct server *s, cordon_error *e); /* records those of all tenants */
void heads_step(struct server *s);                  /* each turn: those of tenants that had runs, if due */
void heads_end(struct server *s);                   /* the same at the end; waits for it */

/* ---- answers ---- */

/* serve_loop.c: no new runs; the server ends with the last, or at that time. */

struct reply {
        unsigned status; /* 0: the answer follows later */
        const char *type;
        struct buf body;
        char extra[640]; /* header lines, each with CRLF */
};

/* One request that has a valid token for its route. */
struct serve_call {
        struct server *s;
        struct client *client;
        const struct http_request *r;
        struct span body;
        const struct json *json; /* the same, checked by the route's form; NULL: it is empty or not JSON */
        struct tenant *tenant;   /* NULL: a route of the host */
        const char *arg;         /* what stands for {} in the route's path; or "" */
};

typedef void serve_handler(struct serve_call *c, struct reply *r);
enum route_time {
        ROUTE_AT_ONCE = 0,
        ROUTE_ASIDE, /* in a process of its own: it may wait for disks or other processes */
        ROUTE_WAITS  /* as long as a run */
};
/* What a body is. */
enum form_kind {
        BODY_JSON = 0,    /* an object, or nothing */
        BODY_TYPED,       /* an object, and Content-Type says so */
        BODY_SECRET,      /* an object of which no message shows a part */
        BODY_RAW_OR_JSON, /* an object if Content-Type says so */
        BODY_RAW          /* the handler reads it */
};
enum body_type { BODY_TEXT, BODY_BYTES, BODY_BOOL, BODY_INT, BODY_WORDS, BODY_TEXTS };
struct body_row {
        const char *key;
        enum body_type type;
        bool needed;
        int64_t least, most; /* INT */
};
struct body_form {
        enum form_kind is;
        size_t most; /* bytes */
        const struct body_row *rows;
        size_t count;
};

struct route {
        enum http_method method;
        const char *path; /* {id}: one segment; {path}: all that is left */
        enum serve_scope scope;
        const struct body_form *body; /* NULL: it has none */
        enum route_time time;
        serve_handler *handle;
        const char *name;   /* the handler's, and that of the operation in the description */
        const char *params; /* of its query, a space between them; with a capital: headers */
        const char *gives;  /* STATUS KIND, ...: openapi.c has the kinds */
        const char *does;
};

/* serve_answer.c: checks the body by the route's form, and calls its handler. */
serve_handler serve_handle;

static inline size_t route_body_max(const struct route *r) { return r->body ? r->body->most : 0; }

/* routes.c: pure */
const struct route *routes(size_t *ret_count);
/* The route of a request, with its argument; NULL with *ret_status 404 or 405. */
const struct route *route_find(enum http_method m, const char *path, char ret_arg[REQUEST_PATH_MAX],
                               unsigned *ret_status);
/* False: the query has a parameter that the route does not have; its name as it was sent. One that is ignored
 * would answer another question. Routes that need no token ignore them. */
bool route_takes(const struct route *route, const char *query, char *ret_unknown, size_t cap);

/* openapi.c: the description of these routes */
void put_openapi(struct buf *b, const struct route *rows, size_t count);

/* problem.c: errors as RFC 9457 has them. `hint` may be "" or NULL. */
void reply_problem(struct reply *r, unsigned status, const char *code, const char *detail, const char *hint);
void reply_error(struct reply *r, unsigned status, const cordon_error *e);
/* The same with the status that fits, and a line to the operator if it is a fault of the server's side. */
void reply_failed(const struct serve_call *c, struct reply *r, const cordon_error *e);
void put_hint(const char *hint, struct buf *out); /* in the terms of this interface */
/* The status that fits an error of the library. */
unsigned status_of(const cordon_error *e);
void reply_json(struct reply *r, unsigned status);
/* The one or the other. */
void reply_done(struct reply *r, unsigned status, int failed, const cordon_error *e);
/* 429 with Retry-After. */
void reply_later(struct reply *r, unsigned status, unsigned seconds, const char *detail);

/* ---- clients: serve_client.c ---- */

enum { PERSON_MAX = 80 };
struct admitted {
        const struct route *route;
        struct tenant *tenant;   /* NULL: the host's, or nobody's */
        char person[PERSON_MAX]; /* the token's, or "token:ID" */
        char groups[TOKEN_GROUPS_MAX];
        bool own; /* may approve what it asked for */
        unsigned scopes;
        int64_t expires;
        char arg[REQUEST_PATH_MAX];
};

struct client {
        struct http_conn h; /* first: serve_client.c finds the client by it */
        struct server *s;
        uint64_t begun_ns; /* its request */
        struct admitted admitted;
        char id[72];                     /* of the request */
        struct job *job;                 /* that it waits for, or NULL */
        bool events;                     /* as a stream of events: */
        size_t event_at;                 /* sent so far */
        struct approvals_stream *stream; /* of approvals; or NULL */
};
void client_accept(struct server *s, size_t listener);
void client_add(struct server *s, int fd, size_t listener); /* takes the descriptor */
void client_read(struct server *s, struct client *c);
void client_parse(struct server *s, struct client *c);
size_t clients_place(struct server *s); /* CLIENTS_MAX: none */
/* serve_answer.c */
struct serve_call client_call(struct server *s, struct client *c);
void client_put(struct client *c, struct reply *r); /* all but to send it */
void client_answer(struct client *c, struct reply *r);
void client_begin_events(struct client *c);
/* Sends what has happened to its run. */
void client_follow(struct client *c);
void client_free(struct server *s, struct client *c);
/* admit.c: the token, host, origin, route, rate and size of a request, from its head alone. Returns true, or
 * false with the answer in *r. */
bool admit(struct server *s, const struct client *c, struct admitted *ret, struct reply *r);

/* ---- tls_front.c ---- */

int tls_start(struct server *s, cordon_error *e);
void tls_take(struct server *s, size_t listener); /* a connection, or the end */
void tls_step(struct server *s);
void tls_end(struct server *s, size_t listener);

/* ---- runs: job.c, job_start.c, job_result.c ---- */

enum job_state { JOB_QUEUED = 0, JOB_RUNNING, JOB_ENDED };
struct job {
        struct job *next;    /* of the tenant, older */
        struct job *waiting; /* the next that waits */
        struct tenant *tenant;
        char id[RANDOM_NAME], person[PERSON_MAX], session_id[RANDOM_NAME];
        uint64_t seq;             /* of its tenant: lists are in this order */
        char key[72], digest[65]; /* Idempotency-Key, and the digest of the request */
        enum job_state state;
        char **argv;
        struct buf input, env,
                labels; /* env: NAME=VALUE with NUL; labels: KEY=VALUE with LF before each, and at the end */
        char *cwd;      /* below {work}; or NULL */
        int input_fd, spill[2]; /* spill: files of output that is longer than text[] */
        uint64_t out_bytes[2];  /* of each stream that can be fetched */
        uint64_t on_disk;       /* bytes of its record; 0: it has none */
        unsigned fault;         /* the status of an answer that says the server failed, or 0 */
        unsigned asks;          /* effects that waited for an approval */
        unsigned held;          /* how often the host had no room for its box */
        struct held_policy *policy;
        char policy_name[TOKEN_NAME_MAX];
        bool registered;           /* it names a registered policy */
        struct canary_run *canary; /* that it tries a version of, or NULL */
        struct session *session;
        cordon_box *box;
        char run[64];
        struct buf text[2]; /* standard output and error */
        struct buf events;  /* as they are sent */
        bool cut, raw, timed_out, ended_by_client, interrupted;
        bool recalled; /* store_recall() read it */
        bool unstored; /* its end is in memory only */
        bool gpu;      /* its box has one, of the budget */
        bool stays;    /* goes on when its client is gone */
        unsigned watchers;
        uint64_t bytes, timeout_ns, deadline_ns, asked_ns, begun_ns, wait_ns, run_ns;
        int64_t created_s, started_s, ended_s;
        int status; /* of the command, at the end */
        const char *end;
        size_t blocked;
        struct buf result; /* further members of a JSON object */
        uint64_t charged;  /* bytes, of the budget */
};
struct job *job_find(struct tenant *t, const char *id);
struct job *job_by_key(struct tenant *t, const char *key);
struct job *job_new(struct tenant *t);
void job_forget(struct job *j); /* frees it */
/* What was read from the disk for an answer does not stay in memory. */
void job_rest(struct job *j);
/* Those whose time is over, or for which there is no room; tries to store what is not stored. */
void jobs_keep(struct server *s, struct tenant *t);
void jobs_drain(struct server *s, uint64_t until_ns);
/* Of a request, or of a record: -1 with *e set. */
int job_take_argv(struct job *j, const struct json *o, cordon_error *e);
int job_take_labels(struct job *j, const struct json *o, cordon_error *e);
int job_take_order(struct job *j, const struct json *o, cordon_error *e);
void job_enqueue(struct job *j);
void job_kill(struct server *s, struct job *j);
void job_watch(struct client *c, struct job *j, bool events, size_t from);
void job_unwatch(struct server *s, struct client *c);
/* May a box of the tenant start beside those that run? Not if one of them shares the machine with nobody. */
bool jobs_leave_room(struct server *s, const struct tenant *t);
void jobs_start(struct server *s); /* as many as the budgets allow */
void jobs_step(struct server *s, size_t index);
void jobs_free(struct server *s, struct tenant *t);
int job_start(struct job *j, cordon_error *e);
/* As boxes of tenants are; `work` and `pool` may be NULL. */
bool job_set_up(cordon_box *b, const char *work, const char *pool);
void job_event(struct job *j, const char *name, const struct buf *data);
/* The run as JSON: its state, and when it has ended its result. */
void job_put_argv(const struct job *j, struct buf *out);
void job_put(const struct job *j, bool whole, struct buf *out);
void job_finish(struct job *j, const cordon_error *failed);

/* ---- run_files.c, run_store.c: what a restart must not lose ---- */

/* 0, or -1 with errno. `sync`: it is on the disk when this returns. */
int store_put(const struct tenant *t, const char *id, struct span text, bool sync);
/* The three parts of a record; false: it is not one. */
bool store_read(const struct tenant *t, const char *id, struct buf *text, struct span ret[3]);
void store_drop(const struct tenant *t, const char *id);
int store_open_output(const struct job *j, unsigned stream, bool write);
/* `order`: of a run that waits. Returns -1 with errno. */
int store_put_run(struct job *j, struct span order); /* job_result.c */
/* The result and events of one that ended are in memory again; false: they are lost. */
bool store_recall(struct job *j);
/* Once, when the tenant is first used. *ret_unread: records that cannot be read. */
int store_load(struct tenant *t, unsigned *ret_unread, struct err *e);
/* trouble.c: a write that failed with errno, and one that worked. */
void trouble_tell(struct server *s, const char *what, int sys);
void trouble_over(struct server *s);
bool trouble_step(struct server *s);             /* true: what waits to be stored may be tried again */
const char *trouble_why(const struct server *s); /* NULL: it is well */

/* ---- serve_log.c: one line per request, run and error ---- */

enum log_level { LOG_INFO = 0, LOG_WARN, LOG_ERROR };
void serve_log(struct server *s, enum log_level level, const char *text);
/* To systemd, if that waits for it (sd_notify(3)). */
void serve_notify(const char *state);
void serve_watchdog(struct server *s);
void log_request(struct client *c, unsigned status, size_t bytes);
void log_run(struct server *s, const struct job *j);

/* ---- sessions: resource_sessions.c ---- */

struct session {
        struct session *next;
        struct tenant *tenant;
        char id[RANDOM_NAME];
        cordon_box *box;
        struct held_policy *policy;
        char policy_name[TOKEN_NAME_MAX];
        char run[64];  /* its id in the ledger */
        char work[64]; /* the overlay that it left */
        bool over, ended, gpu;
        unsigned jobs;
        struct budget budget; /* of this box: runs at once in it */
        int64_t created_s;
};
struct session *session_find(struct tenant *t, const char *id);
void sessions_step(struct server *s, size_t index);
void sessions_free(struct server *s);

/* ---- aside.c: work that may wait, in a process of its own ---- */

struct aside {
        pid_t pid;
        int fd;
        struct buf got;
        struct client *client; /* NULL: gone */
        struct tenant *tenant; /* NULL: the host's */
        uint64_t deadline_ns;
};
void aside_begin(struct serve_call *c, struct reply *r);
void aside_read(struct server *s, size_t index);
/* In a child: closes every descriptor but these and the standard ones. `keep` is in ascending order; -1 is
 * none. */
void aside_close_others(const int *keep, size_t n);
void aside_drop(struct server *s, const struct client *c);
void asides_late(struct server *s);

/* ---- approvals: approvals.c, approvals_stream.c, question.c ---- */

/* What asks: a run, a session, an apply, or a box of this user that another process keeps. */
struct asker {
        struct server *s;
        struct tenant *tenant;
        cordon_box *box;
        struct question *question;
        const struct job *job;         /* or NULL */
        const struct session *session; /* or NULL */
        char gate[64];                 /* its run; or "" */
};
/* Calls `each` for every one of the tenant, until it returns true. */
bool askers_each(struct server *s, struct tenant *t, bool (*each)(void *ctx, const struct asker *a),
                 void *ctx);
/* One request of docs/approve-protocol.md, parsed; NULL: this one asks nothing. *ret_text: the answer itself,
 * to be freed. */
struct json_doc *asker_ask(const struct asker *a, const struct admitted *who, const char *request,
                           char **ret_text);
/* What waits, without the brackets of a list. */
void approvals_put(struct server *s, const struct admitted *who, struct buf *items, struct buf *grants);
void approvals_item(const struct asker *a, const struct json *item, struct buf *out);

int approvals_stream_begin(struct client *c);
void approvals_follow(struct server *s); /* each turn: streams get what is new */
void approvals_stream_free(struct client *c);

/* An apply that waits for an approval. */
struct question {
        struct server *s;
        struct client *client;
        struct tenant *tenant;
        cordon_question *q;
};
/* Status of an aside that must ask first: its body is the question. */
enum { STATUS_ASKS = 100 };
void question_begin(struct server *s, struct client *c, struct span text);
void questions_step(struct server *s);
void question_drop(struct server *s, const struct client *c);
const char *question_digest(struct server *s, const struct client *c); /* approved, or NULL */

/* ---- reading JSON bodies: json_body.c ---- */

/* A member that is unknown, mistyped or missing is an error. NULL: the empty object. */
int body_check(const struct json *object, const struct body_form *f, struct err *e);
