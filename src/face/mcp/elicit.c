/* SPDX-License-Identifier: MIT */
/* face/mcp/elicit.c - a form for the client's user, in both eras. */
#include "face/mcp/internal.h"
#include "face/mcp/methods.h"

/* The result of the call is the question; the client comes again with `state` and the answer. */
void mcp_require_input(const struct mcp_call *c, const struct buf *form, const char *state)
{
        AUTO_BUF(line);
        mcp_put_result(&line, c->id, true, "input_required");
        buf_printf(&line,
                   ",\"inputRequests\":{\"approve\":{\"method\":\"elicitation/create\",\"params\":%s}}",
                   buf_str(form));
        buf_member(&line, "requestState", state);
        mcp_put_end(&line);
        mcp_link_send(c->link, &line);
}

/* A request of ours, while the call goes on. */
void mcp_elicit(struct mcp_server *s, struct mcp_call *c, const struct buf *form)
{
        AUTO_BUF(line);
        c->asked = ++s->asked;
        buf_printf(&line, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"elicitation/create\",\"params\":%s}",
                   c->asked, buf_str(form));
        mcp_link_send(c->link, &line);
}
