/* SPDX-License-Identifier: MIT */
/* face/mcp/methods.h - what a message of a client means for the server. Pure: the same message and peer give
 * the same decision. Both eras of MCP, per request: one with a version in its _meta is of 2026-07-28; after
 * `initialize` one without is of 2025-11-25. */
#pragma once
#include "base/rpc.h"
#include "face/mcp/tools.h"

/* The state of a connection: only the legacy era has state. */
struct mcp_peer {
        bool initialized;
        bool elicits; /* as its initialize says */
};

enum mcp_step {
        MCP_NOTHING = 0,
        MCP_REPLY,   /* the line is in `out` */
        MCP_CALL,    /* a tool, with checked arguments */
        MCP_CANCEL,  /* the request `target` */
        MCP_ANSWERED /* a response to a request of ours, `target` */
};

struct mcp_decision {
        enum mcp_step step;
        bool modern;
        bool elicits; /* the client can ask its user by a form */
        const struct mcp_tool *tool;
        const struct json *args;      /* an object, or NULL */
        const struct json *progress;  /* its token, or NULL */
        const struct json *target;    /* an id */
        const struct json *responses; /* inputResponses of a retry, or NULL */
        const char *state;            /* requestState of a retry, or NULL */
};

/* The version in its _meta, or NULL. */
const char *mcp_version_of(const struct rpc *m);
/* `out` receives the line to send for MCP_REPLY, without its newline. */
void mcp_decide(const struct rpc *m, struct mcp_peer *peer, struct mcp_decision *ret, struct buf *out);

/* ---- the lines of a server ---- */

/* An error response; `data`, if not NULL, is JSON. */
void mcp_put_error(struct buf *out, const struct json *id, int code, const char *message, const char *data);
/* A result up to its own members, each of which begins with a comma; mcp_put_end() follows. `id` is JSON. */
void mcp_put_result(struct buf *out, const char *id, bool modern, const char *type);
void mcp_put_end(struct buf *out);
/* The result of a tool: `structured` is a JSON object, and is also given as text. */
void mcp_put_tool_result(struct buf *out, const char *id, bool modern, bool failed, struct span structured);
/* The structured form of a failure. `hint` and `code` may be "". */
void mcp_put_failure(struct buf *out, const char *code, const char *message, const char *hint);
void mcp_put_progress(struct buf *out, const char *token, unsigned count, const char *message);
