/* SPDX-License-Identifier: MIT */
/* face/mcp/take.c - a message of a client: decided, then done. The same for every transport. */
#include "face/mcp/internal.h"

void mcp_take(struct mcp_server *s, struct mcp_link *l, const struct rpc *m)
{
        AUTO_BUF(out);
        struct mcp_decision d;
        mcp_decide(m, l->peer, &d, &out);
        switch (d.step) {
        case MCP_NOTHING:
                break;
        case MCP_REPLY:
                mcp_link_send(l, &out);
                break;
        case MCP_CALL:
                mcp_call_begin(s, l, m, &d);
                break;
        case MCP_CANCEL:
                mcp_call_cancel(s, l, d.target);
                break;
        case MCP_ANSWERED:
                mcp_call_answered(s, l, m);
                break;
        }
}
