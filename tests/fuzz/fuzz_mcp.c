/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_mcp.c - any bytes as messages of a client, one a line: every reply is one line of JSON, and
 * a call has arguments that its tool declares. */
#include "face/mcp/methods.h"
#include "face/mcp/wrap.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reply(const struct buf *out)
{
        struct err e;
        struct json_doc *d = json_parse_data("reply", buf_span(out), &e);
        if (!d || memchr(out->p, '\n', out->n))
                abort();
        json_free(d);
}

static void check_call(const struct mcp_decision *d)
{
        AUTO_BUF(why);
        if (!d->tool || !mcp_tool_check(d->tool, d->args, &why))
                abort();
}

/* What `wrap` writes anew is a message again, and the same when it is written twice. */
static void check_copies(const struct rpc *m)
{
        AUTO_BUF(once);
        AUTO_BUF(request);
        AUTO_BUF(sorted);
        struct wrap_copied done = { 0 };
        if (m->kind == RPC_INVALID)
                return;

        wrap_put_inert(&once, json_root(m->doc), &done);
        const struct wrap_sent renamed = { .id = "4711" };
        wrap_put_request(&request, json_root(m->doc), &renamed);
        wrap_put_sorted(&sorted, json_root(m->doc));
        check_reply(&request);
        check_reply(&sorted);
        if (memchr(once.p, '\n', once.n))
                abort();
}

static void take(struct span line, struct mcp_peer *peer)
{
        AUTO_BUF(out);
        struct rpc m;
        struct mcp_decision d;
        rpc_read(line, &m);
        check_copies(&m);
        mcp_decide(&m, peer, &d, &out);
        if (d.step == MCP_REPLY)
                check_reply(&out);
        if (d.step == MCP_CALL)
                check_call(&d);
        rpc_done(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct mcp_peer peer = { 0 };
        while (size > 0) {
                const uint8_t *end = memchr(data, '\n', size);
                size_t n = end ? (size_t) (end - data) : size;
                take(span_of(data, n), &peer);
                n += end != NULL;
                data += n;
                size -= n;
        }

        return 0;
}
