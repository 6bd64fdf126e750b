/* SPDX-License-Identifier: MIT */
/* broker/egress/egress.h - the protocol between the keeper and the broker of one box. The broker,
 * cordon-egress, is a program of its own: it holds the listeners of the box's gateway, decides by the policy,
 * connects from the host's side and moves the bytes. How they are encoded: broker_forms.c, base/wire/wire.h.
 *
 *   keeper: GRANTS (with the vault's pipe), if a door names a credential
 *   keeper: CHECKS (with a line to cordon-output, output/process.h), if a door gives answers a form
 *   keeper: PLACES, ANSWERS, CANARIES (with sealed files), if there are any
 *   keeper: LABEL, TOUCH (with sealed files), if the run begins with one, or may touch what has one
 *   keeper: LEDGER (with a line to the ledger's writer), if the run is recorded
 *   keeper: GATES (with a line for held effects), if a door has `ask` or the run may have a label
 *   keeper: RECORD (with a file that has no name yet), if exchanges are to be recorded
 *   keeper: POLICY (with a sealed file of canonical JSON)        broker: READY, or ERROR
 *           (READY comes with a file of the certificates that the box is to trust, if a door intercepts TLS)
 *   keeper: LISTENER (with a socket of the gateway), any time    broker: ROW, when one of its rows changed
 *           (of a session: WHOSE among them)                     broker: PART, for each group with denials
 *   keeper: RAISE, when the run touched a labelled place         broker: LABEL
 *   keeper: FINISH                                               broker: the last rows, then DONE
 *
 * It ends when its socket closes, and with it every connection of the box. */
#pragma once
#include "base/err.h"
#include "base/limits.h"
#include "base/wire/wire.h"
#include "effect/effect.h"
#include "effect/label/label.h"
#include "ledger/ledger.h"

#include <stdbool.h>
#include <stdint.h>

enum { EGRESS_CONTROL = 3 }; /* the broker's only descriptor at its start */
#define EGRESS_PROGRAM "cordon-egress"

enum egress_command {
        EGRESS_NOTHING = 0,
        EGRESS_GRANTS,
        EGRESS_PLACES,
        EGRESS_ANSWERS,
        EGRESS_CANARIES, /* a line for each spelling, in base64 */
        EGRESS_LABEL,    /* also later, when what the box is handed has got another */
        EGRESS_TOUCH,    /* the label of a place that is shut; one order for each */
        EGRESS_CHECKS,
        EGRESS_LEDGER,
        EGRESS_GATES,
        EGRESS_RECORD,
        EGRESS_POLICY,
        EGRESS_LISTENER,
        EGRESS_RAISE,  /* kind: which of them the run has touched */
        EGRESS_SETTLE, /* all rows now, then SETTLED */
        EGRESS_FINISH
};
struct egress_order {
        uint32_t command; /* enum egress_command */
        uint32_t kind;    /* RAISE: which; LISTENER: enum plan_listener; POLICY: enum policy_stage */
        uint32_t port;    /* LISTENER */
        uint32_t become; /* POLICY: an id that owns nothing, for a broker that was started by root; 0: stay */
};

enum egress_word {
        EGRESS_SAYS_NOTHING = 0,
        EGRESS_SAYS_READY,
        EGRESS_SAYS_ERROR,
        EGRESS_SAYS_ROW,
        EGRESS_SAYS_PART,  /* denials of one row, by the control group of who made the socket */
        EGRESS_SAYS_LABEL, /* it has risen */
        EGRESS_SAYS_SETTLED,
        EGRESS_SAYS_DONE
};

/* The line for held effects. The broker sends the text of each in parts: its envelope (effect/gate/gate.h), a
 * newline, and what a person is shown, inert. It keeps the bytes, and sends them when they still have the
 * approved id. The keeper's first message has number 0 and the run's id. */
enum egress_held_word {
        EGRESS_HELD_NOTHING = 0,
        EGRESS_HELD_PART,
        EGRESS_HELD_LAST,
        EGRESS_HELD_WITHDRAWN, /* the box gave it up */
        EGRESS_HELD_CONSUMED,
        EGRESS_HELD_DRIFTED,
};
enum { EGRESS_HELD_MAX = 64, EGRESS_HELD_TEXT = 3600 };
struct egress_held {
        uint32_t number; /* from 1 on */
        uint32_t word;   /* enum egress_held_word */
        uint64_t group;  /* of a part: as of struct egress_part */
        char text[EGRESS_HELD_TEXT];
};
struct egress_gate_answer {
        uint32_t number;
        uint32_t yes;
        uint32_t reason; /* enum effect_reason, of a no */
        char id[80];     /* that was approved */
};

/* The class of an address. A name may only lead to the first, unless the policy names the address. */
enum egress_reach {
        REACH_UNKNOWN = 0,
        REACH_PUBLIC,
        REACH_LOOPBACK,
        REACH_PRIVATE,
        REACH_SHARED, /* carrier-grade NAT */
        REACH_LINK,
        REACH_METADATA,
        REACH_MULTICAST,
        REACH_BROADCAST,
        REACH_DOCUMENTATION,
        REACH_TRANSLATED, /* an IPv4 address in IPv6 clothes: mapped, NAT64, 6to4, Teredo */
        REACH_RESERVED,
        REACH_HOST, /* an address of this host itself */
        REACH__COUNT
};

/* How much of the traffic was inspected; a higher value is less. TLS that begins later (STARTTLS) is bytes.
 */
enum egress_seen {
        LOOKED_AT_NOTHING = 0,
        LOOKED_AT_REQUESTS,
        LOOKED_AT_HELLO,
        LOOKED_AT_BYTES,
        LOOKED_AT__COUNT
};
const char *egress_seen_name(enum egress_seen s);

/* The subject of a row. */
enum egress_form {
        EGRESS_CONNECTION = 0, /* to "host:port" */
        EGRESS_REQUEST,        /* to a URL */
        EGRESS_NAME,           /* that was looked up, and never connected to: its port is unknown */
        EGRESS_PACKET          /* no TCP: `method` is its protocol */
};

/* One destination, or one kind of refusal, with all that happened so far. Text is inert. */
struct egress_row {
        uint32_t index;  /* a newer message with the same index replaces the older */
        uint8_t allowed; /* with a reason: a door leads there, but it came to nothing */
        uint8_t reach;   /* enum egress_reach, of the last destination */
        uint8_t seen;    /* enum egress_seen, the least of all its connections */
        uint8_t form;    /* enum egress_form */
        uint32_t connections, requests;
        uint64_t sent, received; /* bytes from and to the box */
        uint64_t told_bytes;     /* of them, those of effects that have records of their own */
        uint32_t told;           /* such effects, and those that failed: a row of failures has them */
        uint32_t reached;        /* connections to the outside; 0: nothing left the machine */
        uint32_t cut;            /* of the connections or requests, those that cordon ended in their middle */
        uint32_t reason;         /* enum effect_reason: denied or failed */
        char method[40];
        char to[320];
        char detail[200]; /* the detail of the reason, or "" */
        char permit[512]; /* denied: the smallest line that would allow it, or "" */
        char address[48]; /* reached last */
};

/* How many denials of a row since the last PART came from sockets of this group; 0: not known. */
struct egress_part {
        uint64_t group;
        uint32_t index, count;
};

/* "example.org:443", "GET https://example.org/path", "the name example.org". */
void egress_row_text(const struct egress_row *r, struct buf *out);
/* The reason in words, with its detail. */
void egress_row_why(const struct egress_row *r, struct buf *out);

struct egress_message {             /* fields that the message does not use are empty */
        uint32_t word;              /* enum egress_word */
        uint32_t limits;            /* ROW, DONE: bit per enum limit_key that was exceeded so far */
        uint32_t lost;              /* rows that found no room */
        uint32_t denied_lost;       /* of those, denials */
        uint32_t recorded;          /* exchanges in the RECORD file, each a whole line */
        uint32_t unrecorded;        /* exchanges that went through and are not in it: too long, broken off */
        uint32_t record_failed;     /* the file is not whole: errno of the write */
        uint32_t bundle_bytes;      /* READY: size of the file; the rest is an NSS database */
        uint32_t after;             /* the newest effect whose outcome is in the ledger */
        char label[LABEL_TEXT_MAX]; /* ROW, DONE: of the run, as it is now */
        struct err error;           /* ERROR */
        struct egress_row row;      /* ROW */
        struct egress_part part;    /* PART */
};

/* broker_forms.c: their encodings. */
extern const struct wire_form egress_order_form, egress_message_form, egress_held_form,
        egress_gate_answer_form;

enum { EGRESS_ROOTS_MAX = 2 << 20 }; /* the box's root has room for 4 MB */

/* address_guard.c: pure. */
struct egress_address {
        bool v6;
        bool own; /* this host has it */
        uint8_t bytes[16];
};
enum egress_reach egress_judge(const struct egress_address *a);
const char *egress_reach_name(enum egress_reach r);
/* The reach of an effect, for the ledger: by the host as it was requested (a name, or an address as text) and
 * the class of its address, as far as that is known. */
enum ledger_reach egress_reaches(struct span host, enum egress_reach where);
/* "192.0.2.1", "2001:db8::1"; returns buf. */
const char *egress_address_text(const struct egress_address *a, char *buf, unsigned cap);
