/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_internal.h - declarations shared by the files behind http.h. No other file includes
 * it. */
#pragma once
#include "base/arena.h"
#include "base/grant.h"
#include "base/limits.h"
#include "base/secret_words.h"
#include "broker/egress/http/http.h"
#include "broker/egress/http/http2.h"
#include "broker/egress/http/unpack.h"
#include "broker/http1/http1.h"
#include "output/output.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum {
        HTTP_PATH_MAX = 4096,
        HTTP_BUFFER = 64 * 1024,   /* how far one side may be ahead of the other */
        HTTP_UNREAD = 256 * 1024,  /* a side that leaves so much unread is not read either */
        HTTP_RECORD_MAX = 1 << 20, /* body of a recorded answer */
        HTTP_HELD_MAX = 64 * 1024, /* body of a request whose parameters are checked */
        HTTP_SIGNED_MAX = 4 << 20, /* body of a request that is signed with its hash */
};

/* ---- http_fifo.c: bytes in, bytes out; wiped when they move or go ---- */
struct fifo {
        uint8_t *p;
        size_t at, n, cap; /* n bytes from p + at */
        bool failed;       /* an allocation failed: the content is incomplete */
};
void fifo_add(struct fifo *q, const void *p, size_t n);
uint8_t *fifo_room(struct fifo *q, size_t n); /* room for n bytes; NULL: failed */
void fifo_grew(struct fifo *q, size_t n);     /* that many were */
void fifo_text(struct fifo *q, const char *s);
void fifo_span(struct fifo *q, struct span s);
void fifo_base64(struct fifo *q, struct span bytes);
void fifo_printf(struct fifo *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fifo_drop(struct fifo *q, size_t n);
size_t fifo_take(struct fifo *q, void *to, size_t cap); /* how many bytes were taken out */
void fifo_done(struct fifo *q);
static inline struct span fifo_all(const struct fifo *q) { return span_of(q->n ? q->p + q->at : NULL, q->n); }

/* ---- http_target.c ---- */
struct http_url {                 /* the target of a request */
        char path[HTTP_PATH_MAX]; /* canonical */
        struct span query;        /* behind the '?', as written; p NULL: no '?' */
        const char *fault;        /* REASON_PATH_MALFORMED: the detail */
        uint64_t escaped; /* slashes of the path that were written %2F: a bit for each, from its end */
};
/* Host, authority and target must all mean the peer. 0 or -1 and why. */
int http_target_read(const struct http_head *h, const struct http_peer *peer, bool tls, struct http_url *ret,
                     enum effect_reason *ret_why);

/* The same of one path or URL, as a target or a header holds it. */
int http_target_url(struct span t, const struct http_peer *peer, bool tls, struct http_url *ret,
                    enum effect_reason *ret_why);

/* "host[:port]", apart; without a port the usual one. */
int http_target_authority(struct span a, bool tls, struct span *ret_host, uint16_t *ret_port);

/* The path as it is sent on: slashes that came escaped go escaped. */
void http_put_path(const char *path, uint64_t escaped, struct fifo *out);
size_t http_slashes(const char *path);

/* ---- http_override.c ---- */
/* Why this request has another effect than its request line; REASON_NONE: it does not. */
struct http_flow;
enum effect_reason http_override(struct http_flow *f);
bool http_names_other_host(struct span name);
/* The byte at *at without its escape; *at moves behind it. */
uint8_t http_plain_byte(struct span s, size_t *at);
/* The next byte of a parameter's name, without its escape; -1: it is over. */
int http_param_byte(struct span param, size_t *at);
/* The next parameter of a query; *at moves behind it. */
bool http_next_param(struct span query, size_t *at, struct span *ret);
/* The name of a parameter without its escapes, cut at `cap`. */
struct span http_param_name(struct span param, uint8_t *to, size_t cap);

/* ---- http_frames.c: the frames of a WebSocket ---- */
struct http_frames {
        uint8_t head[14]; /* of the frame being read */
        uint8_t have;
        uint64_t left, at; /* of its payload: what follows, what came */
};
struct http_frame {
        size_t n;          /* bytes that belong to one frame; at least 1 if there are any */
        bool ends, packed; /* its last one is among them; it says that it is compressed, or what else */
};
/* `plain`: gets the payload without its mask, or NULL. */
struct http_frame http_frames_next(struct http_frames *w, struct span data, struct fifo *plain);

/* ---- scrub.c: stars secrets out, across any cut ---- */
/* Most words of a set: a credential as it is and as it is sent, or its parts; most bytes of one: it escaped.
 */
enum { SCRUB_WORDS_MAX = GRANT_WORDS * GRANTS_MAX, SCRUB_WORD_MAX = 3 * GRANT_SECRET_MAX };
/* As secret_words_new(); NULL also if they are too many, too short or too long. */
struct secret_words *scrub_set_of(const struct span *words, const uint8_t *owner, size_t count);
struct scrub {
        const struct secret_words *set;
        struct fifo held;
        bool verbatim;  /* only search: nothing is starred out */
        uint64_t found; /* a bit for each word */
};
/* Adds `in` to `out` with every word starred out; may keep the last bytes until more comes or `end`. */
void scrub_pass(struct scrub *s, struct span in, bool end, struct fifo *out);
void scrub_done(struct scrub *s);

/* ---- http_sight.c: what of a message a search can see ---- */
enum sight_form { SIGHT_BYTES = 0, SIGHT_MESSAGES, SIGHT_PARTS, SIGHT_HEAD, SIGHT_NEVER };
struct http_sight {
        enum sight_form form;
        bool in_head, head_follows; /* of a part */
        uint8_t have;
        uint8_t line[80]; /* the beginning of this one */
        uint64_t length;  /* of a message, as far as it is known */
        uint32_t left;    /* of it */
};
/* Begins for the head of a request or an answer; false: the head says that its bytes cannot be seen. The
 * coding of the whole body is http_unpack_kind()'s matter. */
bool http_sight_begin(struct http_sight *s, const struct http_head *h);
bool http_sight_pass(struct http_sight *s, struct span in); /* false: what follows is packed */
bool http_sight_query(struct span query);
bool http_asks_packed(struct span name); /* a field that asks the server for packed bytes */

/* ---- http_search.c: canaries and misplaced placeholders in what leaves ---- */
struct http_search {
        const struct http_rules *r; /* NULL: there is nothing to search for */
        uint64_t fine;              /* credentials whose placeholders may stand there */
        struct scrub look, watch;
        struct http_sight sight;
        struct unpack *unpack; /* or NULL */
        uint64_t in, out;      /* of it */
        uint64_t abused;
        const char *fault; /* REASON_BODY_PACKED: the detail */
};
/* For a request to `host`; `shown`: a person will read it, which is a search. */
enum effect_reason http_search_begin(struct http_search *s, const struct http_flow *f, bool shown);
/* Why these bytes must not leave; if they may, `out`, which may be NULL, gets those that were decided. */
enum effect_reason http_search_pass(struct http_search *s, struct span in, bool end, struct fifo *out);
void http_search_done(struct http_search *s);

/* ---- swap.c ---- */
enum swap_field { SWAP_AS_IT_IS = 0, SWAP_IN_FORM, SWAP_IN_JSON };
struct swap { /* placeholder -> secret in a body, across any cut, spelled as a form or JSON may */
        struct span from, to; /* of one length */
        enum swap_field field;
        struct fifo held;
};
/* How such a body escapes characters that are not letters. */
enum swap_field swap_field_of(const struct http_head *h);
/* A secret with punctuation in place of its placeholder's letters is longer if that is escaped: so is the
 * body. */
bool swap_grows(const struct swap *s);
void swap_pass(struct swap *s, struct span in, bool end, struct fifo *out);
void swap_done(struct swap *s);
bool swap_is_credential_query(struct span name);
bool swap_is_presigned(struct span query); /* a parameter of it is a signature of AWS, or says who signed */
/* The query with its '?', or nothing: the client's credentials are removed, and ours added if `inject`.
 * Without a credential all passes. */
void swap_query(struct span query, const struct http_credential *cred, bool inject, struct fifo *out);
/* Is this a field that the client must not send through a door with this credential? */
bool swap_strips(struct span name, const struct http_credential *cred);
/* The form that a server sees, if that is not the secret itself: base64 with its user, or escaped. Else
 * nothing. */
void swap_as_sent(const struct http_credential *cred, struct fifo *out);
/* The header line of a credential, with its CRLF. */
void swap_header(const struct http_credential *cred, struct fifo *out);
/* The credentials whose placeholders are in a wrong position: a bit for each. */
uint64_t swap_misplaced(const struct http_rules *r, const struct http_head *h, const struct http_url *u,
                        const struct http_credential *bound);

/* ---- http_rules.c ---- */
struct http_rules {
        struct http_rules_in in;
        struct secret_words *secrets, *placeholders;
        uint64_t uses[GRANTS_MAX];
        int64_t now;
        bool bounds; /* a door has `where` */
};

/* ---- http_judge.c ---- */
struct http_verdict_in {
        const struct http_peer *peer;
        bool tls;
        const char *method; /* WEBSOCKET for an upgrade */
        const char *path;
        const struct params *params; /* NULL: not known yet */
};
struct http_judgement {
        bool allowed;
        bool bounded;   /* a door could permit it by its parameters, which are not known yet */
        bool by_policy; /* not allowed: no door covers it */
        bool asks;      /* allowed, if a person approves */
        enum effect_reason reason;
        const struct door *door;
        const struct http_credential *credential;
        size_t tail; /* slashes of the path that lie in the part that the door leaves open */
        /* The destination: */
        bool is_address, tls;
        uint16_t port;
        char host[256];
        char path[2 * HTTP_PATH_MAX];
        char fault[250], permit[500]; /* REASON_PARAMETER: the detail, and the line that would allow it */
};
void http_judgement_none(struct http_judgement *j); /* not requested yet */
void http_judge(const struct http_rules *r, const struct http_verdict_in *in, struct http_judgement *ret);
/* http_rules.c: false and *ret_why: expired or used up. No credential (NULL) is always usable. */
bool http_rules_usable(const struct http_rules *r, const struct http_credential *c,
                       enum effect_reason *ret_why);
/* The same, and counts one use. */
bool http_rules_use(struct http_rules *r, const struct http_credential *c, enum effect_reason *ret_why);

/* The credentials that doors put into requests to this host, a bit for each. */
uint64_t http_rules_credentials_at(const struct http_rules *r, const char *host);

/* ---- fixture.c ---- */
struct fixture_key {
        const char *method;
        struct span url; /* https://host/path?query */
};
struct fixture {
        const char *method, *url;
        unsigned status;
        struct span headers; /* lines with CRLF */
        struct span body;
        bool used;
};
struct fixture *fixture_find(struct http_fixtures *x, const struct fixture_key *key);
/* The same through a door with a credential, which may be in a parameter: it is not in the fixture, and in
 * the stage mock its name is unknown. */
struct fixture *fixture_find_bound(struct http_fixtures *x, const struct fixture_key *key);
/* One line of a fixtures file, with its newline. */
void fixture_print(const struct fixture_key *key, unsigned status, struct span headers, struct span body,
                   struct fifo *out);

/* ---- places ---- */
struct http_moved { /* a place that leads elsewhere in this stage: the URL that the box requests, and the real
                       one; or NULL */
        const struct policy_place_url *asked, *target;
};
struct http_moved http_moved(const struct http_rules *r, const struct http_peer *peer, bool tls,
                             const struct http_judgement *to);
/* A URL or path that the server named, as the box would. */
void http_put_moved(const struct http_moved *m, struct span value, struct fifo *out);

/* ---- http_head_out.c: heads as they are sent on ---- */
struct http_sent {
        const struct http_head *head;
        const struct http_url *url;
        const struct http_judgement *to;
        bool websocket;
        bool identity; /* request no compression: secrets must stay visible to the scrubber */
        bool whole;    /* request no range: a secret could be cut into pieces too small to recognise */
        bool chunked;  /* also if it came with a length, which will not be the length */
        bool close;    /* the server is to read no second request from this connection */
};
void http_put_request(const struct http_sent *s, struct fifo *out);
void http_put_length(uint64_t n, struct fifo *out);
struct http_answered {
        const struct http_head *head;
        const struct http_rules *rules;
        struct http_moved moved;
        bool with_credential, websocket;
        bool unpacked; /* the box gets it plain: fields that described it compressed do not hold */
};
/* The fields of an answer that may go on, scrubbed; framing is the caller's. */
void http_put_answer_fields(const struct http_answered *a, struct fifo *out, uint64_t *found);
/* An answer of our own; one sentence. */
void http_put_error(unsigned status, const char *text, bool close, bool head_only, struct fifo *out);
const char *http_reason(unsigned status);

/* ---- http_flow.c, http_side.c, http_link.c, http_end.c, http_request.c, http_answer.c ---- */
struct http_side {
        struct tls_end *tls;         /* NULL: plain */
        struct fifo in, plain, wire; /* read from it; to be sent; as it goes over the wire */
        bool closed;
        bool offers_h2;         /* and what the other side makes of it is not known before TLS is up */
        struct http2_link *h2;  /* it speaks HTTP/2; NULL: HTTP/1.1 */
        struct fifo got, given; /* frames of HTTP/2, both ways */
};
/* It has not taken the bytes that it was sent: no more are made for it. */
static inline bool http_side_is_full(const struct http_side *s)
{
        return s->plain.n + s->given.n + s->wire.n >= HTTP_BUFFER;
}

/* GATHER: its body is read, to be checked with it. HELD: checked, and nothing of it has left. */
enum http_request_state {
        REQUEST_HEAD = 0,
        REQUEST_GATHER,
        REQUEST_HELD,
        REQUEST_BODY,
        REQUEST_SENT,
        REQUEST_TUNNEL
};
/* CHECK: all of it was given to the check, whose verdict is waited for. */
enum http_answer_state {
        ANSWER_NONE = 0,
        ANSWER_HEAD,
        ANSWER_BODY,
        ANSWER_TUNNEL,
        ANSWER_MOCK,
        ANSWER_CHECK
};
enum http_link_state { LINK_NONE = 0, LINK_WANTED, LINK_CONNECTING, LINK_OPEN };

/* ---- http_check.c: answers that a door gives a form ---- */
struct http_check {
        struct fifo to; /* bytes that it has not taken */
        bool ended;     /* no more come */
        bool redirects; /* the body is dropped, and nothing is checked */
};
struct http_flow;
bool http_check_wanted(const struct http_flow *f);
/* The answer's status is known; false: it cannot be checked. */
bool http_check_begin(struct http_flow *f, unsigned status);
void http_check_give(struct http_check *k, struct span data, bool end);
bool http_check_is_full(const struct http_check *k); /* NULL: never */
bool http_check_waits(const struct http_check *k);   /* a verdict follows the end */
void http_check_end(struct http_flow *f);

/* ---- sigv4.c ---- */
enum { SIGV4_SCOPE = 64, SIGV4_PAYLOAD = 72 };
struct sigv4 {
        char region[SIGV4_SCOPE], service[SIGV4_SCOPE];
        char payload[SIGV4_PAYLOAD]; /* the hash of the body, or the word that stands for it */
        bool sends_payload;          /* in a header of its own, as S3 wants it */
};
/* Signs a head as it is sent on, which ends with an empty line and has no signature. */
void sigv4_sign(const struct sigv4 *s, const struct grant_key *key, int64_t now, struct fifo *head);

/* ---- http_sign.c: requests through a door whose credential is a key of AWS ---- */
/* Its body has to be read first, for its hash. */
bool http_sign_holds(const struct http_flow *f);
/* Reads what the client's own signature says. Why it cannot be signed anew; REASON_NONE: it can. */
enum effect_reason http_sign_read(struct http_flow *f);
void http_sign(struct http_flow *f); /* the head that leaves next */

struct http_exchange { /* one request and its answer; all zero between two */
        char method[40];
        struct http_body request, answer;
        bool chunked, websocket, mock, head_only, http10, close, grpc;
        bool left;           /* bytes of it went to the server */
        bool answered;       /* the head of an answer has gone to the client */
        bool answer_chunked; /* the client gets it in chunks */
        bool answer_by_end;  /* nothing but the end of the connection ends it */
        bool may_retry;
        bool has_body;
        bool last;         /* its link serves no other request */
        unsigned informal; /* 1xx answers that came */
        unsigned status;
        uint64_t sent, received;
        uint64_t abused, scrubbed; /* a bit for each credential */
        struct http_search search; /* of the request */
        struct http_sight sight;   /* of the answer */
        struct scrub clean;
        struct http_frames frames, sent_frames; /* the server's, the client's */
        struct swap swap;
        struct fifo head;  /* as sent, while it could have to be sent again */
        struct fifo asked; /* the URL, for fixtures */
        struct fifo record_fields, record_body;
        struct buf trailers; /* lines of the answer's, for a stream of HTTP/2 */
        bool recording;
        struct span recorded; /* the stage mock: the rest of the answer */
        /* An answer that comes compressed: */
        struct unpack *unpack;    /* or NULL */
        struct http_check *check; /* or NULL */
        struct fifo late;         /* its head: it goes with the first bytes that could be read */
        struct fifo packed;       /* bytes that are not decompressed yet */
        bool packed_rest;         /* more may come out without more going in */
        uint64_t packed_bytes, unpacked_bytes, grown; /* the last: by the most, so far */
        /* If parameters are checked: */
        bool gathered, whole; /* its body was read before it; to its end */
        bool params_known;
        struct params params;
        struct arena params_mem;
        struct fifo line, held; /* the request's head as it came; the body so far */
        size_t most;            /* bytes of a body that is read first */
        struct sigv4 sign;      /* service "": it is not signed */
        size_t unpaid;          /* bytes of the request that were read before its door was known */
};

struct http_flow {
        struct http_rules *r;
        struct http_callbacks cb;
        char peer_host[256];
        struct http_peer peer;
        struct http_side client, upstream;
        bool known, tls;           /* the client spoke; in TLS */
        bool versed;               /* which version of HTTP it speaks is known */
        bool is_stream;            /* of HTTP/2; what comes and goes is HTTP/1.1 all the same */
        struct http2_front *front; /* the client speaks HTTP/2: all its requests are streams; or NULL */
        struct fifo hello;         /* its first bytes, until they are a whole hello */
        bool greeted;
        bool done;
        enum http_request_state request;
        enum http_answer_state answer;
        enum http_link_state link;
        char link_host[256];
        uint16_t link_port;
        bool link_tls, link_address;
        const struct http_credential *link_credential; /* of every request over it, or NULL */
        bool link_stale;                               /* not for another request */
        bool link_used;                                /* an answer came over it */
        bool cut;        /* it has half a request, which must not look complete */
        bool client_cut; /* the same of the client and an answer */
        struct http_exchange x;
        struct http_head head; /* of the message being read */
        size_t judged;         /* its bytes, during the check: they are taken, and still lie in `client.in` */
        struct http_url url;
        struct http_judgement to;
        char detail[200]; /* of the reason that is reported next */
        struct fifo scratch;
};

/* http_side.c */
void http_side_done(struct http_side *s, const struct tls_ops *ops);
void http_side_take(struct http_side *s, const struct tls_ops *ops);
/* Plain bytes become bytes of the wire; -1: TLS is broken. */
int http_side_pump(struct http_side *s, const struct tls_ops *ops);
int http_side_feed(struct http_side *s, const struct tls_ops *ops, struct span bytes);
/* Its other end speaks HTTP/1.1, and that is known. */
bool http_side_is_http1(const struct http_side *s, const struct tls_ops *ops);
/* http_end.c */
struct http_event http_event_of(const struct http_flow *f, enum http_verdict verdict, enum effect_reason why);
void http_tell(struct http_flow *f, enum http_verdict verdict, enum effect_reason why);
void http_refuse(struct http_flow *f, unsigned status, enum effect_reason why,
                 bool close); /* answers, reports, goes on */
void http_broken(struct http_flow *f,
                 enum effect_reason why); /* 502 if nothing was answered; ends the flow */
void http_exchange_end(struct http_flow *f);
/* Reports the request, and ends the flow with it. */
void http_over(struct http_flow *f, enum http_verdict verdict, enum effect_reason why);
void http_finish(struct http_flow *f); /* nothing more from this flow */
/* http_link.c */
void http_leave(struct http_flow *f); /* its head is complete: it goes, waits or stays */
void http_let_go(struct http_flow *f, bool leaves, enum effect_reason why);
/* The detail of the reason that the request, or its connection, ends for. Copied. */
void http_detail(struct http_flow *f, const char *text);
void http_link_to(struct http_flow *f); /* an upstream for f->to: the open one, or a new one */
void http_link_want(struct http_flow *f);
/* http_request.c */
bool http_request_step(struct http_flow *f);
/* http_hold.c */
bool http_asks(const struct http_flow *f); /* a person must approve it: all of it is read first */
/* True: the body is read first. False: all is known that will be. */
bool http_hold_begin(struct http_flow *f);
/* True: something was read. *ret_known is set when all is known that will be. */
bool http_hold_step(struct http_flow *f, bool *ret_known);
/* http_params.c: those of the head's query and of this body; `unread`: why the body is not looked into */
void http_params_read(struct http_flow *f, struct span body, const char *unread);
void http_params_done(struct http_exchange *x);
/* http_unpack.c: what a compressed body is, in memory of `mem`. NULL; or why it is not looked into. */
const char *http_packed_read(const struct http_head *h, struct arena *mem, struct span *body);
/* http_unpack.c */
/* How the body of this answer is compressed; false: in a way that is not read. */
bool http_unpack_kind(const struct http_head *h, enum unpack_kind *ret);
bool http_unpack_waits(const struct http_exchange *x); /* some of it may come out without more going in */
/* The next output, perhaps empty; false: the data is damaged. */
bool http_unpack_next(struct http_exchange *x, struct span *ret_data);
/* How many more bytes came out than went in, since the last call. */
size_t http_unpack_grown(struct http_exchange *x);
void http_unpack_end(struct http_exchange *x);
/* http_answer.c */
bool http_answer_step(struct http_flow *f);
void http_answer_mock(struct http_flow *f);
void http_answer_passed(struct http_flow *f, struct span data); /* by its check */
void http_answer_good(struct http_flow *f);                     /* all of it did */
void http_answer_refuse(struct http_flow *f, const char *why);
