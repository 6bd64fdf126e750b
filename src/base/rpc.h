/* SPDX-License-Identifier: MIT */
/* base/rpc.h - one line of JSON-RPC 2.0, from any peer. Pure: bytes in, a message or an error out. */
#pragma once
#include "base/buf.h"
#include "base/json.h"

enum {
        RPC_LINE_MAX = 8 << 20, /* bytes of one message */
        RPC_ID_MAX = 512,       /* bytes of an id or a progress token, as JSON */

        RPC_PARSE_ERROR = -32700,
        RPC_INVALID_REQUEST = -32600,
        RPC_NO_METHOD = -32601,
        RPC_INVALID_PARAMS = -32602,
        RPC_INTERNAL = -32603,
        RPC_NO_CAPABILITY = -32021,
        RPC_NO_VERSION = -32022
};

enum rpc_kind { RPC_INVALID = 0, RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE };

struct rpc {
        enum rpc_kind kind;
        struct json_doc *doc;
        const struct json *id;             /* a string or an integer; NULL: none */
        const char *method;                /* "" of a response */
        const struct json *params;         /* an object, or NULL */
        const struct json *result, *error; /* of a response: exactly one of them */
        int code;                          /* RPC_INVALID: why, for the answer */
        const char *why;
};

/* Reads a line without its newline. It always fills *ret; rpc_done() frees it. */
void rpc_read(struct span line, struct rpc *ret);
void rpc_done(struct rpc *m);

/* A value of a message, as JSON in one line. */
void rpc_put(struct buf *out, const struct json *v);
/* An id; NULL: null. */
void rpc_put_id(struct buf *out, const struct json *id);
/* True if it can be an id or a progress token: a string or an integer of bounded length. */
bool rpc_is_id(const struct json *v);
