/* SPDX-License-Identifier: MIT */
/* face/mcp/mcp_http_judge.c - the headers of a request against its message. A proxy may route by headers:
 * what differs from the message is refused. Pure. */
#include "base/base64.h"
#include "base/str.h"
#include "face/mcp/mcp_http.h"

#include <string.h>

static const char MODERN[] = "2026-07-28";

/* Revisions that have sessions; a client of an older one is served by the rules of the last. */
static bool is_legacy(const char *version)
{
        static const char *const known[] = { "2025-03-26", "2025-06-18", "2025-11-25" };
        return str_row(known, sizeof known / sizeof *known, version) >= 0;
}

/* A value that a header cannot carry is in it as =?base64?...?= */
static bool header_is(const char *header, const char *value)
{
        static const char first[] = "=?base64?", last[] = "?=";
        uint8_t bytes[REQUEST_TEXT_MAX];
        size_t n = strlen(header), around = sizeof first - 1 + sizeof last - 1;
        if (n < around || strncmp(header, first, sizeof first - 1) != 0 || strcmp(header + n - 2, last) != 0)
                return strcmp(header, value) == 0;

        ssize_t got = base64_read(span_of(header + sizeof first - 1, n - around), bytes, sizeof bytes);
        return got >= 0 && span_eq(span_of(bytes, (size_t) got), span_str(value));
}

/* The member that Mcp-Name repeats; NULL: none. */
static const char *name_of(const struct rpc *m)
{
        bool by_name = strcmp(m->method, "tools/call") == 0 || strcmp(m->method, "prompts/get") == 0;
        bool by_uri = strcmp(m->method, "resources/read") == 0;
        return by_name ? json_str(m->params, "name") : by_uri ? json_str(m->params, "uri") : NULL;
}

static const char *header_mismatch(const struct http_request *r, const struct rpc *m, const char *version)
{
        const char *name = name_of(m);
        if (!header_is(r->mcp_version, version))
                return "the header MCP-Protocol-Version is not that of the message";
        if (!header_is(r->mcp_method, m->method))
                return "the header Mcp-Method is not the method of the message";
        if (name ? !header_is(r->mcp_name, name) : r->mcp_name[0] != '\0')
                return "the header Mcp-Name is not that of the message";
        return NULL;
}

static void refuse_request(struct mcp_http_verdict *v, unsigned status, int code, const char *why)
{
        v->status = status;
        v->code = code;
        v->why = why;
}

static void judge_legacy(const struct http_request *r, bool opens, struct mcp_http_verdict *v)
{
        v->need = opens ? HTTP_NEW_SESSION : HTTP_A_SESSION;
        if (!opens && r->mcp_version[0] && !is_legacy(r->mcp_version))
                refuse_request(v, 400, RPC_INVALID_REQUEST,
                               "this revision is not served: MCP-Protocol-Version");
        else if (!opens && !r->mcp_session[0])
                refuse_request(v, 400, RPC_INVALID_REQUEST,
                               "initialize comes first, and its answer has the header Mcp-Session-Id");
}

void mcp_http_judge(const struct http_request *r, const struct rpc *m, struct mcp_http_verdict *ret)
{
        const char *version = mcp_version_of(m);
        bool opens = strcmp(m->method, "initialize") == 0;
        *ret = (struct mcp_http_verdict){ 0 };
        if (m->kind == RPC_INVALID) {
                refuse_request(ret, 400, m->code, m->why);
                return;
        }

        ret->modern = version || (strcmp(r->mcp_version, MODERN) >= 0 && !opens);
        if (!ret->modern) {
                judge_legacy(r, opens, ret);
                return;
        }

        const char *why = version && m->kind == RPC_REQUEST ? header_mismatch(r, m, version) : NULL;
        if (why)
                refuse_request(ret, 400, RPC_HEADER_MISMATCH, why);
}

unsigned mcp_http_status(int code)
{
        switch (code) {
        case RPC_NO_METHOD:
                return 404;
        case RPC_PARSE_ERROR:
        case RPC_INVALID_REQUEST:
        case RPC_INVALID_PARAMS:
        case RPC_NO_CAPABILITY:
        case RPC_NO_VERSION:
        case RPC_HEADER_MISMATCH:
                return 400;
        default:
                return 200;
        }
}
