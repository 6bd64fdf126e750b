/* SPDX-License-Identifier: MIT */
/* mcp/call_end.c - the end of a tools/call: its answer, if the client still wants one. */
#include "base/fd.h"
#include "mcp/internal.h"

#include <stdlib.h>

void mcp_call_free(struct mcp_server *s, struct mcp_call *c)
{
        for (size_t i = 0; i < MCP_CALLS_MAX; i++)
                if (s->calls[i] == c)
                        s->calls[i] = NULL;

        cordon_box_free(c->box);
        if (c->session)
                c->session->calls--;
        fd_close(&c->input);
        buf_done(&c->text[0]);
        buf_done(&c->text[1]);
        free(c->id);
        free(c->progress);
        free(c->args);
        free(c);
}

void mcp_call_end(struct mcp_server *s, struct mcp_call *c, bool failed, const struct buf *structured)
{
        AUTO_BUF(line);
        if (c->link) {
                mcp_put_tool_result(&line, c->id, c->modern, failed, buf_span(structured));
                mcp_link_send(c->link, &line);
        }
        mcp_call_free(s, c);
}

void mcp_call_fail(struct mcp_server *s, struct mcp_call *c, const cordon_error *e)
{
        AUTO_BUF(failure);
        mcp_put_failure(&failure, cordon_error_name(e->code), e->what, e->hint);
        mcp_call_end(s, c, true, &failure);
}
