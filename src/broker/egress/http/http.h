/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http.h - one client connection under rules that see requests: decides, rewrites and
 * answers them.
 *
 * Sans-IO: nothing here opens, reads, waits or logs. The broker moves bytes between a socket and the flow and
 * does what the flow requests; TLS, if used, happens inside. One thread.
 *
 *   f = http_flow_new(rules, &peer, &callbacks, &e)
 *   on bytes from the box         http_flow_from_client(f, bytes)     at most http_flow_client_room(f) bytes
 *   on bytes from the server      http_flow_from_upstream(f, bytes)   at most http_flow_upstream_room(f)
 *   after every call on f:
 *     while (http_flow_to_client(f).n)    send, then http_flow_client_took(f, n)
 *     while (http_flow_to_upstream(f).n)  send, then http_flow_upstream_took(f, n)
 *     if (http_flow_take_connect(f, &t))  close the old upstream, resolve and connect to t.host:t.port (plain
 *                                         TCP; TLS is inside), then http_flow_upstream_connected(f), or
 *                                         http_flow_upstream_closed(f) when that fails or is not allowed
 *     while (http_flow_to_check(f, &end).n)  give it to the check that was asked for, then
 *                                         http_flow_check_took(f, n); `end` and nothing left: no more comes
 *     if (http_flow_done(f))              send the rest to the client, close both, http_flow_free(f)
 *   on bytes that passed the check        http_flow_from_check(f, bytes), while http_flow_check_room(f)
 *   on its verdict, or its death          http_flow_checked(f, good, why)
 *   on end of file or reset               http_flow_client_closed(f), http_flow_upstream_closed(f)
 *
 * A denied request is answered (403, or 400, 421, 501, 502, 508 with one sentence of text) and reported
 * through on_request(); the broker does not have to answer anything itself. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "base/grant.h"
#include "base/span.h"
#include "policy/policy.h"

#include <sys/types.h>

/* ---- credentials ---- */

/* One credential of this run. All memory is the caller's, lives as long as the rules and is wiped by it. */
struct http_credential {
        const char *name; /* as in `with NAME` */
        enum grant_where where;
        const char *field;
        const char *before, *after; /* around the secret: "Bearer " and "" */
        struct span secret;
        struct span placeholder; /* same length as the secret */
        enum policy_stage class; /* live or test; a live one is denied outside the stage live */
        int64_t expires;         /* unix seconds; 0: does not */
        uint64_t max_uses;       /* requests of this run; 0: no bound */
};

/* The credentials of this run, from the vault's pipe: read to EOF, before the broker closes its files and
 * forks no more. The result stays valid until http_grants_free(), which wipes it. */
struct http_grants;
struct http_grants *http_grants_read(int fd, struct err *e);
const struct http_credential *http_grants_get(const struct http_grants *x, size_t *ret_count);
/* Is each door of this policy that names one among the doors it was handed out for? */
int http_grants_hold(const struct http_grants *x, const struct checked_policy *c, struct err *e);
void http_grants_free(struct http_grants *x);

/* ---- fixtures ---- */

/* Recorded exchanges, one JSON object a line (the format is in cordon.places(5)). */
struct http_fixtures;
struct http_fixtures *http_fixtures_parse(const char *file, struct span text, struct err *e);
void http_fixtures_free(struct http_fixtures *x);

/* ---- TLS, as the flow sees it; broker/egress/tls/tls.h makes one ---- */

enum tls_protocol { TLS_PROTOCOL_UNKNOWN = 0, TLS_HTTP1, TLS_HTTP2 };
struct tls_end;
struct tls_ops {
        /* The side that faces the box: presents a leaf for `name`, takes no other SNI. NULL: cannot. */
        struct tls_end *(*server)(void *ctx, const char *name, bool is_address);
        /* The side that faces the server: verifies it against the host's trust store for `name`. `http2`:
         * offers it. */
        struct tls_end *(*client)(void *ctx, const char *name, bool is_address, bool http2);
        /* The protocol that both agreed on, unknown before that. NULL: HTTP/1.1. */
        enum tls_protocol (*protocol)(const struct tls_end *t);
        void (*free)(struct tls_end *t);
        /* Feeds bytes from the wire; returns 0 or -1. */
        int (*feed)(struct tls_end *t, struct span wire);
        ssize_t (*read)(struct tls_end *t, void *plain, size_t cap); /* 0: nothing now; -1: broken */
        ssize_t (*write)(struct tls_end *t, struct span plain);      /* how much it took; 0: not yet; -1 */
        size_t (*take)(struct tls_end *t, void *wire, size_t cap);   /* bytes for the wire; 0: none */
        void (*close)(struct tls_end *t);                            /* sends close_notify */
        bool (*ended)(const struct tls_end *t);                      /* the peer sent close_notify */
        const char *(*why)(const struct tls_end *t);                 /* of a failure; never NULL */
};

/* ---- rules: one per box ---- */

struct http_rules_in {
        const struct checked_policy *policy; /* borrowed */
        const struct policy_places *places;  /* borrowed; may be NULL */
        enum policy_stage stage;
        const struct http_credential *credentials; /* borrowed */
        size_t credential_count;
        struct http_fixtures *fixtures;      /* borrowed; may be NULL */
        const struct secret_words *canaries; /* borrowed; may be NULL: a request with one ends the box */
        const struct label *label;           /* of the run, as it is now: borrowed; may be NULL */
        bool record;                         /* on_record() gets exchanges that may be kept as fixtures */
        const struct tls_ops *tls;           /* NULL: TLS of the box is denied */
        void *tls_ctx;
};
struct http_rules;
/* Fails on credentials that do not fit the stage, and on a door that needs one and has none. */
struct http_rules *http_rules_new(const struct http_rules_in *in, struct err *e);
void http_rules_free(struct http_rules *r);
/* The broker sets the time, now and then (at least once a second while flows live). */
void http_rules_clock(struct http_rules *r, int64_t now);
/* Must connections to this name and port be seen as requests? False: no such door, or host:port doors only.
 */
bool http_rules_cover(const struct http_rules *r, const char *host, uint16_t port);

/* ---- events ---- */

enum http_verdict {
        HTTP_DENIED = 0,
        HTTP_ALLOWED,
        HTTP_MOCKED,
        HTTP_BROKEN, /* allowed, but the server or the client broke it */
};

struct http_event { /* text is inert: no control bytes, never a secret */
        enum http_verdict verdict;
        const char *method; /* "" when it could not be read */
        const char *host;
        uint16_t port;
        bool tls;
        const char *path;          /* canonical if parsed; "" if it could not be parsed */
        const struct door *door;   /* the door that covers it, or NULL */
        const char *credential;    /* name of the injected credential, or NULL */
        enum effect_reason reason; /* if not allowed, or if the receiver did not take the whole */
        const char *detail;        /* the detail of the reason, or "" */
        bool by_policy;            /* no door covers it: another line would */
        const char *permit;  /* REASON_PARAMETER, _SOURCE_HEADER: the line that would permit it, or "" */
        const char *to_host; /* the real destination, if a place leads elsewhere */
        uint16_t to_port;
        bool to_is_address, websocket;
        bool placeholder_abused; /* a placeholder was in a wrong position */
        bool secret_scrubbed;    /* the server sent a secret back; it was starred out */
        unsigned status;         /* answered to the box; 0: none */
        uint64_t sent, received; /* body bytes each way */
        /* The bytes of a request that waits to leave, until the next call on the flow. */
        struct span head, query, body;
        bool whole; /* `head` and `body` are all of it */
};

enum http_leave { HTTP_STAYS = 0, HTTP_WAITS, HTTP_LEAVES };

struct http_callbacks {
        void *ctx;
        /* Once for each request, when it is over. May be NULL. */
        void (*on_request)(void *ctx, const struct http_event *event);
        /* May this request go on (rate and byte caps, effects)? NULL: yes. False denies it with `*ret_why`.
         */
        bool (*may)(void *ctx, const struct door *door, enum effect_reason *ret_why);
        /* So many bytes more of the request that may go on are about to. NULL: they may. False cuts it off
         * with `*ret_why`. */
        bool (*pay)(void *ctx, size_t n, enum effect_reason *ret_why);
        /* The request is allowed and goes out next: may it? WAITS: http_flow_leave() follows. STAYS: denied,
         * with `*ret_why` and the detail. NULL: yes. */
        enum http_leave (*leave)(void *ctx, const struct http_event *event, enum effect_reason *ret_why,
                                 const char **ret_detail);
        /* So many bytes more go to the box than came from the server, whose answer is compressed. NULL: they
         * may. False cuts the answer off with `*ret_why`. */
        bool (*grow)(void *ctx, size_t n, enum effect_reason *ret_why);
        /* One line of a fixtures file, with its newline, secrets removed. May be NULL. */
        void (*on_record)(void *ctx, struct span line);
        /* The answer has the form of this door: a check of its body begins. False, or NULL: it cannot be
         * checked, and does not pass. */
        bool (*check)(void *ctx, const struct door *door);
        /* That check is over, or given up. May be NULL. */
        void (*check_end)(void *ctx);
};

/* Does a secret of this box stand in it, in any clothing? */
bool http_rules_hold_secret(const struct http_rules *r, const char *text);
bool http_rules_hold_placeholder(const struct http_rules *r, struct span text);

/* "https://host": an IPv6 address has brackets, the usual port is not written. Returns ret. */
enum { HTTP_ORIGIN_MAX = 280 };
const char *http_origin(bool tls, const char *host, uint16_t port, char ret[static HTTP_ORIGIN_MAX]);

/* ---- flows ---- */

struct http_peer {        /* the host that the box connects to, from its view */
        const char *host; /* canonical name or address, of a door */
        bool is_address;
        uint16_t port;
};

struct http_target {      /* the requested destination */
        const char *host; /* lives until the next call on the flow */
        bool is_address;
        uint16_t port;
};

struct http_flow;
/* Borrows rules and callbacks, copies the peer. TLS or plain: decided by the client's first byte. */
struct http_flow *http_flow_new(struct http_rules *r, const struct http_peer *peer,
                                const struct http_callbacks *cb);
/* One stream of a client that speaks HTTP/2 over such a connection: its request and answer, in HTTP/1.1. */
struct http_flow *http_flow_new_stream(struct http_rules *r, const struct http_flow *connection,
                                       const struct http_callbacks *cb);
/* The client's streams; NULL: it speaks HTTP/1.1, or has not spoken. */
struct http2_front *http_flow_front(const struct http_flow *f);
void http_flow_front_moved(struct http_flow *f);   /* after any call on one of its streams */
bool http_flow_is_idle(const struct http_flow *f); /* no request is under way */
void http_flow_free(struct http_flow *f);          /* wipes its buffers */

size_t http_flow_client_room(const struct http_flow *f);   /* 0: do not read from the client now */
size_t http_flow_upstream_room(const struct http_flow *f); /* 0: do not read from the server now */
void http_flow_from_client(struct http_flow *f, struct span bytes);
void http_flow_from_upstream(struct http_flow *f, struct span bytes);
struct span http_flow_to_client(const struct http_flow *f);
struct span http_flow_to_upstream(const struct http_flow *f);
void http_flow_client_took(struct http_flow *f, size_t n);
void http_flow_upstream_took(struct http_flow *f, size_t n);
void http_flow_client_closed(struct http_flow *f);
/* It closed both halves: it takes no more bytes. */
void http_flow_client_left(struct http_flow *f);
void http_flow_upstream_closed(struct http_flow *f);
/* The connection failed; the client gets the reason. */
void http_flow_upstream_failed(struct http_flow *f, enum effect_reason why);
/* It must not be connected to: the request is denied for this reason. */
void http_flow_upstream_refused(struct http_flow *f, enum effect_reason why, const char *detail);

/* Bytes of an answer for the check under way; *ret_end: no more come after these. */
struct span http_flow_to_check(const struct http_flow *f, bool *ret_end);
void http_flow_check_took(struct http_flow *f, size_t n);
/* False: the client has not taken what passed before. */
bool http_flow_check_room(const struct http_flow *f);
void http_flow_from_check(struct http_flow *f, struct span passed);
/* `why`: of a refusal; from cordon-output, whose text may be the server's. */
void http_flow_checked(struct http_flow *f, bool good, const char *why);

/* Bytes of a request, head and body, that were read before the decision: of the request that `may` is called
 * for. */
size_t http_flow_held(const struct http_flow *f);
/* The answer for a request that waits to leave; any other time it means nothing. */
void http_flow_leave(struct http_flow *f, bool leaves, enum effect_reason why, const char *detail);
/* The request that waits to leave; false: none does. */
bool http_flow_leaving(const struct http_flow *f, struct http_event *ret);
/* The header fields of a head, without those of framing, as one digest: "sha256:...". */
void http_fields_digest(struct span head, char ret[72]);
/* A whole body as the server will read it: 0 as it came, 1 with what is in it added to `out`, -1: that cannot
 * be told. */
int http_shown_body(struct span head, struct span body, struct buf *out);
/* True once for each connection that is wanted. */
bool http_flow_take_connect(struct http_flow *f, struct http_target *ret_target);
void http_flow_upstream_connected(struct http_flow *f);
/* Bytes of the request that is under way, or that is reported now, went to a server. */
bool http_flow_has_left(const struct http_flow *f);
/* Bytes of the box may still follow as part of a request that has left, or through a WebSocket. */
bool http_flow_is_sending(const struct http_flow *f);
/* The method of the request under way; NULL: a WebSocket. */
const char *http_flow_method(const struct http_flow *f);
/* Bytes of the client that no request has taken yet. */
size_t http_flow_waiting(const struct http_flow *f);
/* Nothing more will come of it except the rest in http_flow_to_client(). */
bool http_flow_done(const struct http_flow *f);
/* The server has half a request: reset it, so that the half is not taken for the whole. */
bool http_flow_upstream_cut(const struct http_flow *f);
/* The client has half an answer that would end with the connection: reset it, for the same reason. */
bool http_flow_client_cut(const struct http_flow *f);
/* Cuts it: the policy changed, a limit was hit. Answers 503 when nothing was answered yet. */
void http_flow_cut(struct http_flow *f, enum effect_reason why);
