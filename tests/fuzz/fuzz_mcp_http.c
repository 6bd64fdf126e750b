/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_mcp_http.c - any bytes as requests of MCP's HTTP transport: a message is taken only if its
 * headers agree with it, and every answer is one that a client can read. */
#include "face/mcp/mcp_http.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY = 4096, REQUESTS = 16 };

static void check_taken(const struct http_request *r, const struct rpc *m, const struct mcp_http_verdict *v)
{
        const struct json *meta = json_of(m->params, "_meta", JSON_OBJECT);
        const char *version = json_str(meta, "io.modelcontextprotocol/protocolVersion");
        if (m->kind == RPC_INVALID || (v->need == HTTP_A_SESSION && !r->mcp_session[0]))
                abort();
        if (version && m->kind == RPC_REQUEST && r->mcp_method[0] != '=' &&
            strcmp(r->mcp_method, m->method) != 0)
                abort();
        if (version && v->need != HTTP_NO_SESSION)
                abort();
}

/* The head has an end, and the length of what follows. */
static void check_answer(const struct buf *queue)
{
        struct http_head h;
        if (http_head_response(buf_span(queue), &h) != HTTP_WHOLE || h.status < 200 || h.status > 599)
                abort();
        if (h.has_length && queue->n - h.bytes != h.length)
                abort();
}

static void take(const struct request_reader *q)
{
        struct mcp_link l = { .http = true, .c = { .fd = -1, .in = { .r = q->r }, .busy = true } };
        struct mcp_http_verdict v;
        struct rpc m;
        rpc_read(span_of(q->body.p ? q->body.p : "", q->body.n), &m);
        mcp_http_judge(&q->r, &m, &v);
        if (v.status && (v.status < 400 || !v.why))
                abort();
        if (!v.status)
                check_taken(&q->r, &m, &v);

        mcp_http_error(&l, v.status ? v.status : 200, v.code, v.why ? v.why : "", m.id);
        check_answer(&l.c.out);
        buf_done(&l.c.out);
        rpc_done(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct request_reader q = { 0 };
        request_add(&q, data, size);
        for (unsigned i = 0; i < 3 * REQUESTS; i++) {
                enum request_state s = request_step(&q);
                if (s == REQUEST_MORE || s == REQUEST_BAD)
                        break;
                if (s == REQUEST_HEADED)
                        request_accept(&q, BODY);
                else {
                        take(&q);
                        request_next(&q);
                }
        }

        request_done(&q);
        return 0;
}
