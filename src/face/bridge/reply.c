/* SPDX-License-Identifier: MIT */
/* face/bridge/reply.c - messages of the server as lines. A stream answers its own request and no other. Pure.
 */
#include "face/bridge/bridge.h"

#include <string.h>

/* Line ends are blanks of JSON: inside of a string it has none. */
static void put_one_line(struct buf *out, struct span message)
{
        size_t at = out->n;
        buf_add(out, message.p, message.n);
        for (; at < out->n; at++)
                if (out->p[at] == '\n' || out->p[at] == '\r')
                        out->p[at] = ' ';
        buf_putc(out, '\n');
}

bool bridge_put_line(struct buf *out, struct span message, const char *id, bool *ret_answer)
{
        struct rpc m;
        AUTO_BUF(its);
        rpc_read(message, &m);
        rpc_put_id(&its, m.id);
        bool answers = m.kind == RPC_RESPONSE && id && strcmp(buf_str(&its), id) == 0;
        bool good = m.kind == RPC_REQUEST || m.kind == RPC_NOTIFICATION || answers;
        rpc_done(&m);
        *ret_answer |= answers;
        if (good)
                put_one_line(out, message);
        return good;
}

void bridge_put_failure(struct buf *out, const char *id, const char *why)
{
        buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d", id, RPC_INTERNAL);
        buf_member(out, "message", why);
        buf_puts(out, "}}\n");
}
