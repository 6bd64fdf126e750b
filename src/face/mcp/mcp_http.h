/* SPDX-License-Identifier: MIT */
/* face/mcp/mcp_http.h - MCP's Streamable HTTP, both eras, in front of the same server as lines.
 *
 *   mcp_http_judge.c   headers against the message (pure)
 *   mcp_http_answer.c  a message becomes a JSON answer or an event of a stream
 *   mcp_http_client.c  connections: requests in; token, site, rate and size; sessions of the older era
 *   mcp_http_token.c   the file with the bearer token
 */
#pragma once
#include "face/mcp/internal.h"

enum {
        HTTP_SESSIONS_MAX = MCP_HTTP_SESSIONS,
        HTTP_PER_S = 1000, /* requests */
        HTTP_ALIVE_S = 15, /* between comments of a stream */

        RPC_HEADER_MISMATCH = -32020
};

/* A session that `initialize` of 2025-11-25 began; 2026-07-28 has no sessions. */
struct mcp_http_session {
        char id[RANDOM_NAME];
        struct mcp_peer peer;
        uint64_t used_ns;
};

/* ---- mcp_http_judge.c ---- */

enum mcp_http_need { HTTP_NO_SESSION = 0, HTTP_NEW_SESSION, HTTP_A_SESSION };
struct mcp_http_verdict {
        unsigned status; /* 0: the message is taken; else the answer, with: */
        int code;
        const char *why;
        bool modern;
        enum mcp_http_need need;
};
void mcp_http_judge(const struct http_request *r, const struct rpc *m, struct mcp_http_verdict *ret);
/* The status of an answer of 2026-07-28 with this error; 0: a result. */
unsigned mcp_http_status(int code);

/* ---- mcp_http_answer.c ---- */

/* An answer without a message; `extra`: header lines, each with CRLF. */
void mcp_http_reply(struct mcp_link *l, unsigned status, const char *extra);
void mcp_http_unauthorized(struct mcp_link *l);
void mcp_http_error(struct mcp_link *l, unsigned status, int code, const char *why, const struct json *id);
void mcp_http_begin_stream(struct mcp_link *l);

/* ---- mcp_http_client.c ---- */

struct mcp_link *mcp_http_new(struct mcp_server *s, int fd);
void mcp_http_step(struct mcp_server *s); /* requests that have arrived, and connections that are late */
int mcp_http_next_ms(const struct mcp_server *s);
void mcp_http_free_sessions(struct mcp_server *s);

/* ---- mcp_http_token.c ---- */

/* Reads the token of a file that is this user's alone, or makes both. */
int mcp_token_load(const char *path, char ret[MCP_TOKEN_MAX], cordon_error *e);
