/* SPDX-License-Identifier: MIT */
/* effect/effect.h - the effect: an action, done or attempted, of a subject on something outside its box.
 *
 * Policy decides about effects, walls and the broker report them, the ledger records them. A denial has a
 * reason: a stable code, never parsed from text, with one text in one table (reason.c).
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum effect_kind {
        EFFECT_NONE = 0,
        EFFECT_READ, /* a policy decides about the kinds up to TOOL */
        EFFECT_WRITE,
        EFFECT_RUN,
        EFFECT_NET,
        EFFECT_ENV,
        EFFECT_SOCK,
        EFFECT_SIGN, /* with a key of an agent outside */
        EFFECT_DECRYPT,
        EFFECT_DEV,
        EFFECT_TOOL, /* a call of a tool that an MCP server in the box has */
        EFFECT_CALL, /* a system call that no line allows, or only a `local` line */
        EFFECT_RENAME,
        EFFECT_LIMIT,
        EFFECT_CREDENTIAL, /* of the network: the use of a credential was denied */
        EFFECT_KIND__COUNT
};
/* "read", "write", ...: stable. "none" for an invalid kind. */
const char *effect_kind_name(enum effect_kind k);
/* Returns EFFECT_NONE if no kind has this name. */
enum effect_kind effect_kind_find(struct span name);
/* Whether its target is a path of the host. */
static inline bool effect_kind_has_path(enum effect_kind k)
{
        return k == EFFECT_READ || k == EFFECT_WRITE || k == EFFECT_RUN || k == EFFECT_SOCK ||
               k == EFFECT_DEV || k == EFFECT_RENAME;
}

/* Why an effect was denied, failed, or is never proposed. */
enum effect_reason {
        REASON_NONE = 0,

        /* No door covers it: policy_decide(). */
        REASON_NO_DOOR,   /* no door comes near */
        REASON_READ_ONLY, /* visible, but not writable */
        REASON_EXCEPTED,  /* inside the door, but under an `except` */
        REASON_NOT_RUN,   /* visible, but no `run` line covers it */
        REASON_WRITABLE,  /* the box can write it, so it cannot run */
        REASON_HOST,
        REASON_PORT,
        REASON_METHOD,
        REASON_URL_PATH,
        REASON_SCHEME,
        REASON_PARAMETER, /* only a value differs: policy_difference() names it */
        REASON_EXPIRED,
        REASON_DECIDED__LAST = REASON_EXPIRED,

        /* No line is proposed for it. */
        REASON_KEYS,
        REASON_TOKENS,
        REASON_PASSWORDS,
        REASON_HISTORY,
        REASON_START,
        REASON_AGENT,
        REASON_HOST_FILES,
        REASON_KERNEL,
        REASON_HOME,
        REASON_SYSTEM,
        REASON_METADATA,
        REASON_PRIVATE,
        REASON_TUNNEL,
        REASON_PROTOCOL,
        REASON_ODD_NAME,
        REASON_DEVICE,
        REASON_DOT_PATH,
        REASON_LINK_OUT,
        REASON_TOO_WIDE,
        REASON_NO_LINE,
        REASON_NETWORK, /* a socket was denied; its destination is unknown */
        REASON_UNKNOWN,

        /* Found by a wall or the keeper. */
        REASON_CALL,
        REASON_NAMESPACE, /* the calls with which programs set up a sandbox of their own */
        REASON_LOCAL,     /* a `local` line allows it */
        REASON_SOCKET,
        REASON_LOOPBACK, /* no process listens there on the box's own loopback, but one does on the host's */
        REASON_OWN_PROGRAM,
        REASON_TOO_LARGE, /* a directory of an edit door was not renamed: it is too large */
        REASON_MOUNTED,   /* a mount point is in it: an `except`, or another door */
        REASON_NOT_OWNED, /* the box does not own all of it */
        REASON_GROUP,    /* of an edit door: its group is not the caller's own, and others cannot be mapped */
        REASON_COUNTERS, /* perf_event_open() */
        REASON_WATCH,    /* a watch that would show more than changes behind a read door */
        REASON_NAME,     /* of the network: only the name was looked up; the port is unknown */
        REASON_BROKER_DIED,
        REASON_AGENT_REQUEST, /* of an agent: anything but the use of a key */
        REASON_INIT_MESSAGE,  /* of init: in a phase of the box that has no such message */

        /* The broker, about a connection. */
        REASON_MALFORMED_NAME,
        REASON_UNRESOLVED,
        REASON_RESOLVER_BUSY,
        REASON_RESOLVER_GONE,
        REASON_TOO_MANY_NAMES,
        REASON_GUARDED_ADDRESS,
        REASON_NO_ANSWER,
        REASON_NO_ANSWER_IN_TIME,
        REASON_NO_ROUTE,
        REASON_NO_PORTS,
        REASON_NO_ROOM,
        REASON_BACK_OFF,
        REASON_TOO_MANY_FLOWS,
        REASON_NO_MEMORY,
        REASON_MOCK_BYTES,
        REASON_MOCK_NOTHING,
        REASON_BOX_ENDED,

        /* The broker's limits. */
        REASON_LIMIT_EFFECTS,
        REASON_LIMIT_RATE,
        REASON_LIMIT_EGRESS,
        REASON_LIMIT_INGRESS,
        REASON_CAP_HOUR,
        REASON_CAP,
        REASON_CAP_OUT,
        REASON_CAP_IN,
        REASON_LEDGER,

        /* Gates: a person did not approve it. */
        REASON_GATE_DENIED,
        REASON_GATE_EXPIRED,
        REASON_GATE_WITHDRAWN, /* the box gave it up, or ended */
        REASON_GATE_DRIFTED,
        REASON_GATE_TOO_LONG,
        REASON_GATE_UNCLEAR,
        REASON_GATE_FULL,
        REASON_GATE_GONE, /* nobody can be asked */

        /* Labels: data that the run has read must not go there, or it must not act by itself. */
        REASON_LABEL_SECRECY,
        REASON_LABEL_TRIFECTA,
        REASON_LABEL_ACTION,
        REASON_LABEL_DECLASSIFY,

        /* The TLS ClientHello of a connection whose requests are not seen. */
        REASON_NOT_TLS,
        REASON_SNI_ENCRYPTED,
        REASON_SNI_EARLY_DATA,
        REASON_SNI_MISSING,
        REASON_SNI_OTHER,
        REASON_SNI_MALFORMED,
        REASON_SNI_NOT_FIRST,
        REASON_SNI_ENDLESS,

        /* Requests: syntax. */
        REASON_NOT_HTTP,
        REASON_HTTP2_MALFORMED,
        REASON_HEADER_FOLDED,
        REASON_HEADER_COUNT,
        REASON_HEADER_NAME,
        REASON_HEADER_BYTE,
        REASON_LINE_END,
        REASON_LENGTH_AND_CODING,
        REASON_LENGTH_TWICE,
        REASON_CODING,
        REASON_LENGTH,
        REASON_CONNECTION_NAMES,
        REASON_HEAD_TOO_LONG,
        REASON_REQUEST_LINE,
        REASON_HTTP_VERSION,
        REASON_BODY_UNCLEAR,
        REASON_HOST_COUNT,
        REASON_EXPECTATION,
        REASON_STATUS_LINE,
        REASON_STATUS_BYTE,
        REASON_METHOD_UNKNOWN,
        REASON_WEBSOCKET,
        REASON_QUERY_BYTE,
        REASON_QUERY_NUL,
        REASON_TARGET,
        REASON_TARGET_OTHER,
        REASON_TARGET_NO_PATH,
        REASON_PATH_TOO_LONG,
        REASON_PATH_SEGMENTS,
        REASON_PATH_MALFORMED,
        REASON_HOST_HEADER,
        REASON_CHUNK_SIZE,
        REASON_CHUNK_EXTENSION,
        REASON_CHUNK_TRAILER,
        REASON_CHUNK_LINE_END,
        REASON_CHUNK_LENGTH,
        REASON_TRAILER_LINE_END,
        REASON_CHUNKED,
        REASON_READ_TWICE,

        /* Requests: what they ask for. */
        REASON_DESTINATION,
        REASON_DESTINATION_DOOR,
        REASON_METHOD_HEADER,
        REASON_PATH_HEADER,
        REASON_SOURCE_HEADER,
        REASON_SOURCE_UNCLEAR,
        REASON_METHOD_COOKIE,
        REASON_METHOD_PARAMETER,
        REASON_ESCAPED_SLASH,
        REASON_NO_PLACE,
        REASON_PLACE_NOWHERE,
        REASON_NOT_RECORDED,

        /* Credentials. The first three: a placeholder was sent to a place that no door allows. */
        REASON_PLACEHOLDER_IN_NAME,
        REASON_PLACEHOLDER_IN_BODY,
        REASON_PLACEHOLDER,
        REASON_OWN_PLACEHOLDER,
        REASON_BODY_PACKED,
        REASON_CANARY,
        REASON_CREDENTIAL_NOT_LOADED,
        REASON_CREDENTIAL_EXPIRED,
        REASON_CREDENTIAL_USED_UP,
        REASON_SECRET_REMOVED,
        REASON_SIGV4_PRESIGNED,
        REASON_SIGV4_ALGORITHM,
        REASON_SIGV4_CHUNKS,
        REASON_SIGV4_SCOPE,
        REASON_SIGV4_LENGTH,

        /* Replies, and ends. */
        REASON_TLS_SERVER,
        REASON_TLS_CLIENT,
        REASON_TLS_NAME,
        REASON_TLS_BROKE,
        REASON_SERVER_CLOSED,
        REASON_SERVER_SILENT,
        REASON_SERVER_HTTP1,
        REASON_ANSWER_CUT,
        REASON_ANSWER_FORM,
        REASON_ANSWER_MALFORMED,
        REASON_ANSWER_UPGRADE,
        REASON_ANSWER_PROVISIONAL,
        REASON_ANSWER_COMPRESSED,
        REASON_ANSWER_DAMAGED,
        REASON_ANSWER_BREAKS_OFF,
        REASON_ANSWER_TAIL,
        REASON_ANSWER_UNREAD,
        REASON_CLIENT_CUT,
        REASON_CLIENT_LEFT,
        REASON_CLIENT_LEFT_EARLY,
        REASON__COUNT
};
/* "no-door", "read-only", ...: stable and unique. */
const char *effect_reason_name(enum effect_reason r);
/* One clause without a full stop; "" for REASON_NONE. */
const char *effect_reason_text(enum effect_reason r);
/* The reason in words and the known details: "" or one clause. */
void effect_put_why(struct buf *out, enum effect_reason r, const char *detail);
/* Returns REASON_NONE if no reason has this name. */
enum effect_reason effect_reason_find(struct span name);
/* True if the use of a credential was denied, or a placeholder was sent to a place that no door allows. */
bool effect_reason_is_credential(enum effect_reason r);
bool effect_reason_is_placeholder(enum effect_reason r);

/* The subject of an effect. Session and tenant will be added here. */
struct label;
struct subject {
        const char *run;           /* NULL: no particular box, as with `cordon why` */
        const struct label *label; /* what it has read; NULL: nothing that is labelled */
        bool rehearsal;            /* in a stage that is not live: nothing real changes */
};

struct door;
struct net_dest;
struct params;
struct effect {
        struct subject subject;
        enum effect_kind kind;
        enum effect_reason reason;
        const char *target; /* a path, as in struct door; ENV: a variable. NET, in reports: "host:port", "GET
                               https://host/path", a name alone */
        const char *method; /* NET, or NULL */
        const char *query;  /* NET: after the '?', as written; NULL: none */
        const char *body;   /* NET, of a question: as typed; NULL: none */
        const char *after;  /* of a question: the label of its subject as text; NULL: none */
        const struct params *params; /* NET; NULL: unknown, so no door with `where` covers it */
        const struct net_dest *net;  /* NET, for decisions */
        struct arena *mem;           /* owns the strings above; NULL: the caller owns them */
};

/* A network effect in which only a name was looked up: the port is unknown. */
static inline bool effect_is_name(const struct effect *f)
{
        return f->kind == EFFECT_NET && !f->method && f->target[0] && !strchr(f->target, ':');
}

/* The significance of a denial. Programs look for system settings and do without them; some they look for
 * whatever they do. */
enum effect_weight { EFFECT_PLAIN = 0, EFFECT_SETTING, EFFECT_HABIT };

/* An effect that was observed or denied, and its count. For reports, never an input to a decision. No string
 * is NULL. */
struct effect_row {
        struct effect effect;
        const char *what;         /* "socket(AF_INET, SOCK_STREAM)", "read /root/.ssh/id_rsa" */
        const char *why;          /* the reason in words and the known details */
        const char *layer;        /* "seccomp", "mount", "egress" */
        const char *permit;       /* the line that would allow it, or "" if none can */
        const char *argument;     /* of that line, as on the command line */
        const char *program;      /* the program that tried it, or "" */
        const char *call;         /* CALL: the name of the system call, a constant; or NULL */
        int8_t on_host;           /* 1: its path exists on the host; 0: the box made it; -1: not a path */
        uint8_t weight;           /* enum effect_weight */
        bool told;                /* the session of this run has it too, and counts it */
        uint32_t count, recorded; /* its count; how many of them are in the ledger */
};

/* Does a door of its run come near a denied effect? If not, its row tells what the host has: such rows are
 * for the operator, not for a tenant or a model. The one place that decides this. */
bool effect_is_near(enum effect_kind k, enum effect_reason why);

/* Copies a row with all its strings into `mem`. Returns false if out of memory. */
bool effect_row_copy(const struct effect_row *from, struct arena *mem, struct effect_row *ret);
/* The place where Python keeps modules that it compiled: /DIR/__pycache__ or a file in it. Returns the length
 * of that directory's path; 0: it is something else. */
size_t effect_compiled(const struct effect *f);
/* True for the same effect of the same program. */
bool effect_row_same(const struct effect_row *a, const struct effect_row *b);
/* Writes the row as members of a JSON object that the caller opened and closes. */
void effect_row_json(const struct effect_row *r, struct buf *out);
