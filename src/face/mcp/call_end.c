/* SPDX-License-Identifier: MIT */
/* face/mcp/call_end.c - the end of a tools/call: its answer, if the client still wants one. */
#include "base/fd.h"
#include "face/mcp/checked.h"
#include "face/mcp/internal.h"

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

static void send_result(struct mcp_call *c, bool failed, struct span structured)
{
        AUTO_BUF(line);
        mcp_put_tool_result(&line, c->id, c->modern, failed, structured);
        mcp_link_send(c->link, &line);
}

void mcp_call_end(struct mcp_server *s, struct mcp_call *c, bool failed, const struct buf *structured)
{
        if (c->link)
                send_result(c, failed, buf_span(structured));
        if (c->box && c->over)
                mcp_check_ahead(c->box);
        mcp_call_free(s, c);
}

static void put_withheld(const struct mcp_checked *k, const char *run, struct buf *out)
{
        AUTO_BUF(why);
        buf_printf(&why, "%sthe result is withheld: %s", k->canary ? "tripwire: " : "", k->why);
        buf_putc(out, '{');
        buf_member(out, "run", run);
        buf_puts(out, ",\"error\":{\"code\":\"door\"");
        buf_member(out, "message", buf_str(&why));
        buf_puts(out, "},\"next_steps\":[]}");
}

/* A session whose run printed a canary is over. */
static void trip_wire(struct mcp_call *c)
{
        if (!c->session)
                return;
        c->session->over = true;
        cordon_session_end(c->session->box);
}

void mcp_call_end_checked(struct mcp_server *s, struct mcp_call *c, bool failed, const struct buf *structured)
{
        AUTO_BUF(out);
        struct mcp_checked k;
        const char *labels = c->box ? cordon_box_result(c->box)->labels : "";
        if (mcp_check(s->o->cx, c->box, buf_span(structured), &k) == 0) {
                buf_add(&out, k.json, k.len - 1); /* without its last brace */
                buf_putc(&out, ',');
                mcp_put_checked(&out, &k, labels);
                buf_putc(&out, '}');
        } else {
                put_withheld(&k, c->box ? cordon_box_run_id(c->box) : "", &out);
                failed = true;
                if (k.canary)
                        trip_wire(c);
        }

        mcp_checked_done(&k);
        mcp_call_end(s, c, failed, &out);
}

void mcp_call_fail(struct mcp_server *s, struct mcp_call *c, const cordon_error *e)
{
        AUTO_BUF(failure);
        mcp_put_failure(&failure, cordon_error_name(e->code), e->what, e->hint);
        mcp_call_end(s, c, true, &failure);
}
