/* SPDX-License-Identifier: MIT */
/* effect/effect.h - the effect: what a subject does, or tries to do, to something outside its box.
 *
 * Policy decides about effects, walls and the broker report them, the ledger records them. What was denied
 * has a reason: a code that is stable and never read from words, with one text in one table (reason.c). */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum effect_kind {
        EFFECT_NONE = 0,
        EFFECT_READ, /* the kinds up to SOCK are those that a policy decides about */
        EFFECT_WRITE,
        EFFECT_RUN,
        EFFECT_NET,
        EFFECT_ENV,
        EFFECT_SOCK,
        EFFECT_CALL, /* a system call that no line permits, or only a `local` line */
        EFFECT_RENAME,
        EFFECT_LIMIT,
        EFFECT_CREDENTIAL, /* of the network: what was denied is the use of a credential */
        EFFECT_KIND__COUNT
};
/* "read", "write", ...: stable. "none" for what is no kind. */
const char *effect_kind_name(enum effect_kind k);
/* EFFECT_NONE: no kind has this name. */
enum effect_kind effect_kind_find(struct span name);
/* Its target is a path of the host. */
static inline bool effect_kind_has_path(enum effect_kind k)
{
        return k == EFFECT_READ || k == EFFECT_WRITE || k == EFFECT_RUN || k == EFFECT_SOCK ||
               k == EFFECT_RENAME;
}

/* Why an effect was denied, came to nothing, or is never proposed. */
enum effect_reason {
        REASON_NONE = 0,

        /* No door covers it: policy_decide(). */
        REASON_NO_DOOR,   /* nothing comes near */
        REASON_READ_ONLY, /* visible, but not writable */
        REASON_EXCEPTED,  /* inside the door, but under an `except` */
        REASON_NOT_RUN,   /* visible, but no `run` line covers it */
        REASON_WRITABLE,  /* the box can write it, so it cannot run */
        REASON_HOST,
        REASON_PORT,
        REASON_METHOD,
        REASON_URL_PATH,
        REASON_SCHEME,
        REASON_PARAMETER, /* all fits but a value: policy_difference() names it */
        REASON_EXPIRED,
        REASON_DECIDED__LAST = REASON_EXPIRED,

        /* No line is proposed for it. */
        REASON_KEYS,
        REASON_TOKENS,
        REASON_PASSWORDS,
        REASON_HISTORY,
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
        REASON_NETWORK, /* a socket was denied, and where it was to lead is not known */
        REASON_UNKNOWN,

        /* Found by a wall or the keeper. */
        REASON_CALL,
        REASON_NAMESPACE, /* what programs begin a sandbox of their own with */
        REASON_LOCAL,     /* a `local` line permits it */
        REASON_SOCKET,
        REASON_LOOPBACK, /* nobody listens there on the box's own loopback; the host's has somebody */
        REASON_OWN_PROGRAM,
        REASON_TOO_LARGE, /* a directory of an edit door was not renamed: there is too much in it */
        REASON_MOUNTED,   /* something is mounted in it: an `except`, or another door */
        REASON_NOT_OWNED, /* not all of it is the box's to move */
        REASON_GROUP,     /* of an edit door: its group is not the caller's own, and no other can be mapped */
        REASON_NAME,      /* of the network: the name alone was asked for, and nobody knows its port */
        REASON_BROKER_DIED,

        /* The broker, of a connection. */
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

        /* Its budgets. */
        REASON_LIMIT_EFFECTS,
        REASON_LIMIT_RATE,
        REASON_LIMIT_EGRESS,
        REASON_LIMIT_INGRESS,
        REASON_CAP_HOUR,
        REASON_CAP,
        REASON_CAP_OUT,
        REASON_CAP_IN,
        REASON_LEDGER,

        /* The TLS hello of a connection whose requests are not seen. */
        REASON_NOT_TLS,
        REASON_SNI_ENCRYPTED,
        REASON_SNI_EARLY_DATA,
        REASON_SNI_MISSING,
        REASON_SNI_OTHER,
        REASON_SNI_MALFORMED,
        REASON_SNI_NOT_FIRST,
        REASON_SNI_ENDLESS,

        /* Requests: how they are written. */
        REASON_NOT_HTTP,
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
        REASON_METHOD_COOKIE,
        REASON_METHOD_PARAMETER,
        REASON_ESCAPED_SLASH,
        REASON_NO_PLACE,
        REASON_PLACE_NOWHERE,
        REASON_NOT_RECORDED,

        /* Credentials. The first three: a placeholder was sent where no door takes it. */
        REASON_PLACEHOLDER_IN_NAME,
        REASON_PLACEHOLDER_IN_BODY,
        REASON_PLACEHOLDER,
        REASON_OWN_PLACEHOLDER,
        REASON_CREDENTIAL_NOT_LOADED,
        REASON_CREDENTIAL_EXPIRED,
        REASON_CREDENTIAL_USED_UP,
        REASON_SECRET_REMOVED,

        /* Answers, and ends. */
        REASON_TLS_SERVER,
        REASON_TLS_CLIENT,
        REASON_TLS_NAME,
        REASON_TLS_BROKE,
        REASON_SERVER_CLOSED,
        REASON_SERVER_SILENT,
        REASON_ANSWER_CUT,
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
/* "no-door", "read-only", ...: stable, each once. */
const char *effect_reason_name(enum effect_reason r);
/* One clause without a full stop; "" for REASON_NONE. */
const char *effect_reason_text(enum effect_reason r);
/* The reason in words, with what else is known of it: "" or one clause. */
void effect_put_why(struct buf *out, enum effect_reason r, const char *detail);
/* REASON_NONE: no reason has this name. */
enum effect_reason effect_reason_find(struct span name);
/* What was denied is the use of a credential; or a placeholder of one was sent where no door takes it. */
bool effect_reason_is_credential(enum effect_reason r);
bool effect_reason_is_placeholder(enum effect_reason r);

/* On whose behalf. Session, tenant and labels will stand here. */
struct subject {
        const char *run; /* NULL: nobody in particular asks, as with `cordon why` */
};

struct door;
struct net_dest;
struct params;
struct effect {
        struct subject subject;
        enum effect_kind kind;
        enum effect_reason reason;
        const char *target;          /* a path, as in struct door; ENV: a variable. NET, where it is reported:
                                      * "host:port", "GET https://host/path", a name alone */
        const char *method;          /* NET, or NULL */
        const char *query;           /* NET: behind the '?', as written; NULL: none */
        const struct params *params; /* NET; NULL: not known, so that no door with `where` covers it */
        const struct net_dest *net;  /* NET, where it is decided */
        struct arena *mem;           /* owns the strings above; NULL: they are the caller's */
};

/* Of the network: a name alone was asked for; nobody knows which port is meant. */
static inline bool effect_is_name(const struct effect *f)
{
        return f->kind == EFFECT_NET && !f->method && f->target[0] && !strchr(f->target, ':');
}

/* How much a denial says. Programs look for settings of the system and do without them; some they look for
 * in whatever they do. */
enum effect_weight { EFFECT_PLAIN = 0, EFFECT_SETTING, EFFECT_HABIT };

/* An effect that was observed or denied, with how often that happened. Reported, never an input to anything.
 * No string is NULL. */
struct effect_row {
        struct effect effect;
        const char *what;         /* "socket(AF_INET, SOCK_STREAM)", "read /root/.ssh/id_rsa" */
        const char *why;          /* the reason in words, with what else is known of it */
        const char *layer;        /* "seccomp", "mount", "egress" */
        const char *permit;       /* the line that would permit it, or "" when none can */
        const char *argument;     /* of that line, as the command line takes it */
        const char *program;      /* who tried it, or "" */
        int8_t on_host;           /* its path exists outside: 1; 0: the box made it; -1: not a path */
        uint8_t weight;           /* enum effect_weight */
        uint32_t count, recorded; /* how often; how many of them the ledger has */
};

/* Copies a row with all its strings into `mem`. False: no memory. */
bool effect_row_copy(const struct effect_row *from, struct arena *mem, struct effect_row *ret);
/* The same thing, tried by the same program? */
bool effect_row_same(const struct effect_row *a, const struct effect_row *b);
/* The row as members of a JSON object that the caller opened and closes. */
void effect_row_json(const struct effect_row *r, struct buf *out);
