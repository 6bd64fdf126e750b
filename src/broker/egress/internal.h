/* SPDX-License-Identifier: MIT */
/* broker/egress/internal.h - the broker's state, shared by its files. One thread, one epoll, no blocking
 * call. */
#pragma once
#include "broker/egress/egress.h"
#include "effect/label/label.h"
#include "policy/policy.h"

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

enum {
        PARTS_MAX = 64,       /* denials of one row and one run of a session that wait to be sent */
        FLOWS_MAX = 512,      /* connections of one box at once */
        HALF_OPEN_MAX = 64,   /* of them, those that are still being connected outside */
        NAMES_MAX = 1024,     /* names that got an address; never used twice within a box's life */
        ADDRESSES_MAX = 16,   /* kept of one name */
        DNS_CLIENTS_MAX = 16, /* questions over TCP at once */
        DNS_WAITS_MAX = 128,  /* questions over UDP that wait for the outside */
        RELAY_BUFFER = 65536,
        BULK_MAX = 64,     /* directions that have a pipe, whose pages are the kernel's memory: 16 MB */
        WATCH_BURST = 256, /* rejected packets that are read between two ticks */
};

/* The sources of epoll events. */
enum source_kind {
        SOURCE_NONE = 0,
        SOURCE_CONTROL,
        SOURCE_LISTENER,
        SOURCE_DNS_UDP,
        SOURCE_DNS_TCP,
        SOURCE_DNS_CLIENT,
        SOURCE_WATCH,
        SOURCE_RESOLVER,
        SOURCE_LEDGER,
        SOURCE_GATE,
        SOURCE_CHECKS, /* the line to cordon-output */
        SOURCE_CLIENT, /* from here on of a flow: the box's end */
        SOURCE_SERVER, /* the other end */
        SOURCE_TRY,    /* a connection in progress */
        SOURCE_CHECK,  /* the check of an answer */
        SOURCE__COUNT
};
struct source {
        enum source_kind kind;
        int fd; /* -1: none */
        void *owner;
};

union endpoint {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
};

/* ---- name_addresses.c: names and the addresses that stand for them in the box ---- */
enum name_state { NAME_UNKNOWN = 0, NAME_ASKED, NAME_KNOWN, NAME_FAILED };
struct name {
        char host[256];
        enum name_state state;
        uint64_t good_until_ns;
        bool temporary;            /* NAME_FAILED: another time it may do */
        bool crowded_out;          /* not looked up: too many lookups are pending */
        enum effect_reason unpaid; /* not looked up: the budget that had no room for the name */
        uint16_t failed_port;      /* the port that was last connected to in vain, */
        unsigned fails;            /* how often in a row, */
        uint64_t rest_ns;          /* and until when it is left alone */
        bool settled;              /* is in the list of names whose waiters are notified next */
        struct name *next_settled;
        bool told; /* the lookup is in the accounts, in this row, if there was room */
        struct egress_row *row;
        struct egress_address address[ADDRESSES_MAX];
        unsigned count;
};
struct names {
        struct name *at[NAMES_MAX];
        unsigned count;
};
/* The name's entry, created if missing; NULL: the table is full. */
struct name *names_get(struct names *n, const char *host);
struct egress_address names_address(const struct names *n, const struct name *name, bool v6);
/* The name that an address of the box stands for, or NULL. */
struct name *names_find(const struct names *n, const struct egress_address *a);

/* ---- flows ---- */
struct half { /* one direction */
        struct source *from, *to;
        struct buf rest; /* read, but not taken by `to` yet */
        size_t held, rest_at;
        int pipe[2];
        bool bulk, ended, shut, is_out; /* is_out: from the box */
        struct buf seen;                /* the last bytes that went, if they are searched for canaries */
};

struct dial { /* one connection to the outside in progress: RFC 8305 */
        struct egress_address list[ADDRESSES_MAX];
        struct source attempt[ADDRESSES_MAX];
        unsigned count, next, open;
        int error; /* of the attempt that failed last */
        uint64_t next_ns;
        bool active;
        char refused[64]; /* an address that the guard turned away */
        enum egress_reach refused_reach;
};

/* The states of a flow, and its events: flow.c has the table. */
enum flow_state {
        FLOW_RECORDING = 0, /* until its intent is recorded */
        FLOW_RESOLVING,     /* until the name of its server is resolved */
        FLOW_DIALING,       /* until a server answers */
        FLOW_OPEN,          /* bytes move */
        FLOW_LINGERING,     /* answered, and the client may still send */
        FLOW_OVER,
        FLOW_STATE__COUNT
};
enum flow_event {
        EVENT_NONE = 0,     /* it waits */
        EVENT_ACCEPTED,     /* the box connected, and a door covers it */
        EVENT_RECORDED,     /* the ledger has its intent, or a request's; or will not: f->recorded */
        EVENT_WANTS_SERVER, /* a request is to go to f->to_host */
        EVENT_RESOLVED,     /* f->name is known, or failed */
        EVENT_CONNECTED,    /* f->server is */
        EVENT_FAILED,       /* the server cannot be reached: f->why */
        EVENT_IO,           /* one of its sockets is ready: f->io, f->io_events */
        EVENT_TICK,
        EVENT_ANSWERED, /* the last answer is out */
        EVENT_DONE,     /* EOF from both sides */
        EVENT_CUT,      /* pending bytes are cut off */
        EVENT__COUNT
};
struct http_flow;
struct http2_stream;
struct http_rules;
struct http_grants;
struct http_fixtures;
struct ahead;
struct ahead_cover;
struct held;
struct flow {
        struct flow *next, *prev, *next_dead, *next_again, *next_recorded;
        struct broker *b;
        uint64_t group; /* in which the box made its socket */
        enum flow_state state;
        struct source client, server;
        char host[256]; /* whom the box believes it talks to */
        bool is_address;
        uint16_t port;
        char to_host[256]; /* whom we are to connect to; for a relay the same */
        bool to_is_address;
        uint16_t to_port;
        struct egress_address literal;
        struct name *name;
        const struct door *door; /* NULL: each request has its own */
        struct egress_row *row;
        struct held *held;                 /* it waits for an approval; or NULL */
        struct ahead *ahead;               /* its intent in the ledger, or NULL */
        uint64_t sent, received;           /* bytes, so far */
        uint64_t streamed, expanded;       /* of HTTP/2: bytes of its requests; those beyond what came */
        uint64_t sent_told, received_told; /* of them, those of effects that are over */
        uint64_t sent_last, received_last; /* of the effect that was over last; sent_last: if it left */
        uint64_t sent_over;                /* those of completed requests, whatever their result */
        struct dial dial;
        struct half half[2];
        struct http_flow *http; /* requests are decided one by one; NULL: bytes are moved */
        struct flow *parent;    /* the connection whose streams of HTTP/2 it serves; or NULL */
        struct flow *streams;   /* those flows, of such a connection */
        struct flow *next_stream;
        struct http2_stream *stream; /* the one under way, or NULL: it is idle */
        struct source check;         /* of the answer under way, or -1 */
        uint32_t check_number;       /* as it was asked for; 0: none */
        bool check_failed, check_shut;
        bool client_readable, server_readable, client_gone;
        bool client_hup, server_hup; /* the end is near: read on until it comes */
        bool client_left;            /* and its peer is gone */
        uint64_t give_up_ns, linger_until_ns;
        const struct source *io;       /* EVENT_IO: which, */
        uint32_t io_events;            /* and the events of epoll; 0: it goes on from the last round */
        enum effect_reason why;        /* EVENT_FAILED */
        bool recorded;                 /* EVENT_RECORDED: it may leave; else */
        enum effect_reason record_why; /* why not, */
        char record_detail[200];       /* with its detail */
        bool again, counted_half_open;
        enum egress_seen seen;
        bool greeted;             /* a relay: the client's first bytes fit the door */
        bool hello_passed;        /* and the bytes after them must as well, */
        size_t hello_left;        /* when so many have left, */
        bool hello_last;          /* unless the server has answered to them */
        const char *guard_permit; /* while a request is denied for its address: the line that permits it */
        char row_to[320], address[48];     /* address: that it is connected to, or "" */
        uint32_t label_judged, label_seen; /* b->label_rises at its departure; at its last event */
};

struct door_use {          /* the bytes of one door, or of all */
        uint64_t moved[2]; /* bytes that came in, and that went out */
        uint32_t minute_count[61];
        uint64_t minute; /* the newest minute of the ring */
};

struct broker {
        int control, epoll;
        struct source gate_source;   /* the line for held effects, or -1 */
        struct source checks_source; /* the line to cordon-output, or -1 */
        uint32_t checks_asked;
        struct held *helds;
        uint32_t held_number;
        unsigned held_count;
        char run[80];    /* its id */
        char tenant[80]; /* its name, or "" */
        int spare;       /* to refuse a connection with when no other is left */
        struct source control_source, resolver_source, ledger_source;
        bool ledger_on;       /* effects with consequences wait for their intents: write_ahead.c */
        char ledger_why[200]; /* why none may leave any more; "": they may */
        struct ahead *aheads;
        struct buf unsent;                  /* bytes that the line to the ledger did not take yet */
        uint32_t ahead_number, ahead_after; /* the last id; the newest effect whose outcome is recorded */
        unsigned aheads_waiting;
        struct ahead_cover *covers; /* destinations whose intent is durable */
        unsigned cover_count, connects_asked;
        uint32_t covered_number; /* of the outcomes under them */
        struct checked_policy *policy;
        const struct door *doors;
        size_t door_count;
        struct door_use *uses; /* parallel to doors */
        const struct policy_limits *limits;
        enum policy_stage stage;
        struct policy_places *places; /* or NULL */
        struct http_fixtures *answers;
        struct http_grants *grants;    /* credentials of this run, or NULL */
        struct http_rules *rules;      /* NULL: no door sees requests */
        struct secret_words *canaries; /* or NULL */
        int trust;                     /* the certificates that the box is to trust, or -1 */
        size_t bundle_bytes;           /* of it; the rest is a database of NSS */
        int record;                    /* exchanges are written here, or -1 */
        uint32_t recorded, answered, record_failed;
        uint64_t record_bytes;
        struct label touch[32]; /* of places that are shut, until RAISE */
        uint32_t touch_count;
        struct label label;   /* of the run: it only rises */
        uint32_t label_rises; /* how often it has */
        bool label_dirty;     /* the keeper does not know it yet */
        char label_words[LABEL_TEXT_MAX];
        struct names names;
        struct source *listeners[NET_PORTS_MAX + NET_LOCALS_MAX];
        unsigned listener_count;
        bool paused;
        struct source *watchers[2];
        unsigned watched; /* packets since the last tick */
        bool watch_paused;
        struct flow *flows, *dead, *again, *turn; /* again: from the next round on; turn: those of this one */
        struct flow *recorded_flows;              /* flows that are notified of their record next */
        struct name *settled;                     /* names whose waiters are notified next */
        unsigned flow_count, half_open, lingering, dns_clients, bulk_count;
        uint64_t sent, received; /* bytes from and to the box, all doors */
        uint64_t effects;
        struct door_use all; /* connections and requests of the last hour, all doors */
        uint32_t limits_hit;
        struct egress_row *rows;
        bool *dirty;
        unsigned row_count, reached_rows, denied_rows, alarm_rows;
        int whose;      /* asks the kernel for the group of a socket of the box; 0: none */
        uint64_t group; /* of the socket whose event is under way; 0: not known */
        struct egress_part parts[PARTS_MAX];
        unsigned part_count;
        uint32_t rows_lost, denied_lost; /* the second is part of the first */
        bool any_dirty, has_until, has_names;
        struct dns_client *dns_list, *dns_dead;
        struct dns_wait *dns_waits; /* questions whose name is being resolved outside */
        unsigned dns_wait_count;
        const struct name *dns_settled; /* the current answer is about this flow */
        uint64_t flush_ns;
        uint64_t now_ns;
        int64_t now_s;
        char buffer[RELAY_BUFFER];
};

/* sources.c */
int broker_watch(struct broker *b, struct source *s, uint32_t events);
/* A line that the keeper has given: a duplicate of it is kept. Returns 0 or -1. */
int broker_keep_line(struct source *s, enum source_kind kind, int fd);
/* Watches it from now on, if there is one. */
int broker_watch_line(struct broker *b, struct source *s, uint32_t events);
void broker_forget(struct source *s); /* out of epoll, closed */
void broker_clock(struct broker *b);
/* The flow is notified in this round: what waited to leave leaves, or is denied for this reason. */
void broker_recorded(struct flow *f, bool leaves, enum effect_reason why, const char *detail);
void broker_again(struct flow *f); /* more to do, but others first */
/* loop.c */
_Noreturn void broker_run(struct broker *b);

/* control.c */
int control_start(struct broker *b, struct err *e);
void control_serve(struct broker *b);
void control_flush(struct broker *b);
/* Never waits: a busy keeper gets it later. False: not now. */
bool control_send(struct broker *b, struct egress_message *m);
void control_label(struct broker *b); /* the label has risen */

/* accounting.c: events, and the rest of each budget */
void accounting_touch(struct broker *b, struct egress_row *r);
void accounting_seen(struct flow *f, enum egress_seen seen); /* of its row the least counts */
/* A name was looked up outside: that is egress, even without a connection. */
void accounting_looked_up(struct broker *b, struct name *n, const char *to);
/* The row of a connection; the row of its name (or NULL) becomes it, if it has had no connection yet. */
struct egress_row *accounting_connected(struct broker *b, const struct name *n, const char *to);
/* A connection or request of this flow is ended by us, and part of it has left. */
void accounting_cut(struct flow *f);
/* The content of a row. No string: "". */
struct accounting_entry {
        enum egress_form form;
        const char *method, *to;
        enum effect_reason reason;
        const char *detail;
        const char *permit; /* denied: the smallest line that would allow it */
};
void accounting_deny(struct broker *b, const struct accounting_entry *e);
void accounting_deny_flow(struct flow *f, enum effect_reason why, const char *detail);
struct egress_row *accounting_fail(struct broker *b, const struct accounting_entry *e);
/* `told`: its outcome is in the ledger already. */
void accounting_fail_flow(struct flow *f, enum effect_reason why, const char *detail, bool told);
/* Counts one connection or request through a door. Returns -1 with the reason if a budget denies it. `came`:
 * a request whose bytes are charged already. */
int accounting_enter(struct broker *b, const struct door *d, bool came, enum effect_reason *ret_why);
/* How many bytes may still pass, at most `want`. */
size_t accounting_room(const struct broker *b, const struct door *d, bool out, size_t want);
/* Bytes of a request, which the budgets of the box have already: why the door's cap has no room for them
 * (REASON_NONE: it has), and now it has them too. */
enum effect_reason accounting_cannot_pay(const struct broker *b, const struct door *d, size_t n);
void accounting_pay(struct broker *b, const struct door *d, size_t n);
void accounting_spend(struct broker *b, const struct door *d, bool out, size_t n);
/* The rest of the egress budget is too little for the request, and is spent. */
void accounting_drain(struct broker *b, const struct door *d);
/* Which budget is empty. */
enum effect_reason accounting_why(struct broker *b, const struct door *d, bool out);

/* ask_policy.c */
bool decide_closed(const struct broker *b, const struct door *d); /* its `until` has passed */
/* Does a person decide about what leaves through this door, of which its labels say this? */
bool decide_asks(const struct door *d, struct policy_flow flow);
/* A door that moves bytes to this host, and is open; NULL: none, or requests are seen there, or the
 * connection is to be approved first or denied: not even the name leaves before. */
const struct door *decide_raw_door(const struct broker *b, const char *host);
/* The door whose `*` this name stands for: the box chose it. NULL: the policy has the name itself. */
const struct door *decide_wildcard(const struct broker *b, const char *host);
bool decide_names_address(const struct broker *b, const struct egress_address *a, uint16_t port);
void decide_to_text(const char *host, bool is_address, uint16_t port, char *out, size_t cap);

/* A door that sees requests at this host and port; `raw_door`: another moves bytes there. */
bool decide_sees_requests(const struct broker *b, const char *host, uint16_t port, bool raw_door);
bool decide_names_place(const struct broker *b, const char *host); /* of a place that a door names */
/* The URL that the box requests at this door: its own, or the place's. NULL: bytes, or nowhere. */
const struct policy_place_url *decide_asked_at(const struct broker *b, const struct door *d,
                                               struct policy_place_url *own);

/* listen.c */
struct listen_asked { /* the purpose of one connection */
        struct effect effect;
        struct net_dest net; /* its */
        char host[256];
        char to[320], permit[336];
        struct egress_address literal;
};
int listen_read(const struct broker *b, int fd, struct listen_asked *q);
void listen_refuse(struct broker *b, int fd, const struct listen_asked *q, enum effect_reason why,
                   const char *permit);
int listen_accept(struct broker *b,
                  const struct source *s); /* -1: none; a name for which the table is full is denied */
void listen_spare(struct broker *b);
void listen_pause(struct broker *b, bool pause); /* leave new connections in the kernel's queue for now */

/* whose.c: the control group in which the box made this socket; 0: not known. `from` and `to`: its ends as
 * the broker has them. */
uint64_t whose_socket(const struct broker *b, uint8_t protocol, const union endpoint *from,
                      const union endpoint *to);
uint64_t whose_connection(const struct broker *b, int fd);

/* flow.c: the only file that decides the next state of a connection */
void flow_accept(struct broker *b, struct source *s);
void flow_io(struct flow *f, struct source *s, uint32_t events);
void flow_resolved(struct broker *b, const struct name *n);
void flow_recorded(struct broker *b);
void flow_tick(struct broker *b);
void flow_free_dead(struct broker *b);

/* dial.c, relay.c: each returns an event */
enum flow_event linger_begin(struct flow *f);
enum flow_event linger_event(struct flow *f);
enum flow_event linger_tick(struct flow *f);
enum flow_event dial_start(struct flow *f, const struct egress_address *list, unsigned n);
enum flow_event dial_event(struct flow *f, struct source *s, uint32_t events);
enum flow_event dial_tick(struct flow *f);
void dial_stop(struct flow *f);
enum flow_event relay_init(struct flow *f);
enum flow_event relay_event(struct flow *f, const struct source *s, uint32_t events);
void relay_done(struct flow *f);

/* resolve.c: between the broker and its resolver; the forms are in broker_forms.c */
struct resolve_ask {
        uint32_t id; /* the name's place */
        char name[256];
};
struct resolve_answer {
        uint32_t id;
        int32_t error; /* as from getaddrinfo() */
        uint32_t count;
        uint8_t v6[ADDRESSES_MAX], own[ADDRESSES_MAX];
        uint8_t bytes[ADDRESSES_MAX][16];
};
extern const struct wire_form resolve_ask_form, resolve_answer_form;
int resolver_start(struct err *e); /* forks; the socket to it, or -1 */
/* Looks the name up for what leaves through this door. */
void resolver_ask(struct broker *b, struct name *n, const struct door *d);
void resolver_serve(struct broker *b);
/* A name that was resolved, or failed, since the last call; NULL: none. */
struct name *resolver_settled(struct broker *b);
/* Why a name that was looked up has no address. */
enum effect_reason resolver_why(const struct broker *b, const struct name *n);
void resolver_leave_watchers(struct broker *b); /* the broker ends next */

/* dns_serve.c */
void dns_serve_udp(struct broker *b, struct source *s);
void dns_serve_tcp(struct broker *b, struct source *s);
void dns_serve_client(struct broker *b, struct source *s);
void dns_tick(struct broker *b, bool free_dead);
void dns_resolved(struct broker *b, struct name *n);
void dns_last_words(struct broker *b); /* names that are not answered yet */

/* record_fixture.c: exchanges become lines of a file that the keeper created and will name */
struct span;
void record_line(struct broker *b, struct span line);

/* refused_packets.c */
void watch_serve(struct broker *b, struct source *s);
void watch_pause(struct broker *b, bool pause);
