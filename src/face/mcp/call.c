/* SPDX-License-Identifier: MIT */
/* face/mcp/call.c - the life of a tools/call: begin, wait for its box, answer. */
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "face/mcp/answers.h"
#include "face/mcp/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_json(const struct json *v)
{
        AUTO_BUF(text);
        if (v)
                rpc_put(&text, v);
        return text.failed ? NULL : strdup(buf_str(&text));
}

/* ---- begin ---- */

static struct mcp_call *call_new(struct mcp_server *s, struct mcp_link *l, const struct rpc *m,
                                 const struct mcp_decision *d)
{
        size_t at = 0;
        while (at < MCP_CALLS_MAX && s->calls[at])
                at++;

        struct mcp_call *c = at < MCP_CALLS_MAX ? calloc(1, sizeof *c) : NULL;
        if (!c)
                return NULL;

        c->link = l;
        c->input = -1;
        c->tool = d->tool;
        c->modern = d->modern;
        c->elicits = d->elicits;
        c->id = copy_json(m->id);
        c->progress = d->progress ? copy_json(d->progress) : NULL;
        c->args = copy_json(d->args);
        s->calls[at] = c;
        if (c->id && c->args)
                return c;

        mcp_call_free(s, c);
        return NULL;
}

/* Over HTTP a session has several connections. */
static bool is_of(const struct mcp_call *c, const struct mcp_link *l)
{
        return c->link && c->link->peer == l->peer;
}

static struct mcp_call *find_call(const struct mcp_server *s, const struct mcp_link *l, const struct json *id)
{
        char *text = copy_json(id);
        struct mcp_call *found = NULL;
        for (size_t i = 0; text && i < MCP_CALLS_MAX; i++)
                if (s->calls[i] && is_of(s->calls[i], l) && strcmp(s->calls[i]->id, text) == 0)
                        found = s->calls[i];
        free(text);
        return found;
}

static int no_session(cordon_error *e)
{
        (void) err_set((struct err *) e, ERR_GONE, 0, "no such session: it has ended, or expired");
        return err_hint((struct err *) e, "start one with session_new");
}

/* The session that the arguments name. Returns 0 also if they name none. */
static int take_session(struct mcp_server *s, struct mcp_call *c, const struct json *args, cordon_error *e)
{
        const char *handle = json_str(args, "session");
        c->session = handle ? mcp_session_find(s, handle) : NULL;
        if (c->session)
                c->session->calls++;

        const char *left = handle && !c->session ? mcp_session_left(s, handle) : NULL;
        bool reviews = mcp_tool_id(c->tool) == TOOL_DIFF || mcp_tool_id(c->tool) == TOOL_PROPOSE_APPLY;
        if (left && reviews) {
                (void) snprintf(c->run, sizeof c->run, "%s", left);
                return 0;
        }
        return handle && !c->session ? no_session(e) : 0;
}

static int begin_call(struct mcp_server *s, struct mcp_call *c, const struct json *args, cordon_error *e)
{
        switch (mcp_tool_id(c->tool)) {
        case TOOL_SESSION_NEW:
                c->session = mcp_session_new(s, e);
                if (!c->session)
                        return -1;
                c->session->calls++;
                return 0;
        case TOOL_PROPOSE_APPLY:
                if (c->run[0]) {
                        mcp_propose_ask(s, c);
                        return 0;
                }
                /* fall through */
        case TOOL_SESSION_END:
                c->session->over = true;
                cordon_session_end(c->session->box);
                return 0;
        case TOOL_LIST_FILES:
        case TOOL_READ_FILE:
        case TOOL_RUN_COMMAND:
        case TOOL_RUN_JAVASCRIPT:
        case TOOL_RUN_PYTHON:
        case TOOL_WRITE_FILE:
                return mcp_call_start_run(s, c, args, e);
        case TOOL_DIFF:
        case TOOL_DOORS:
        case TOOL_WHY:
                return mcp_answer_now(s, c, args, e);
        case TOOL__COUNT:
                break;
        }
        return err_set((struct err *) e, ERR_INTERNAL, 0, "unknown tool");
}

void mcp_call_begin(struct mcp_server *s, struct mcp_link *l, const struct rpc *m,
                    const struct mcp_decision *d)
{
        cordon_error e = { 0 };
        if (find_call(s, l, m->id)) {
                mcp_link_error(l, m->id, RPC_INVALID_REQUEST, "a request with this id is under way");
                return;
        }

        struct mcp_call *c = call_new(s, l, m, d);
        if (!c) {
                mcp_link_error(l, m->id, RPC_INTERNAL, "too many calls are under way");
                return;
        }

        if (mcp_tool_id(c->tool) == TOOL_PROPOSE_APPLY && d->state) {
                mcp_propose_retry(s, c, d);
                return;
        }

        struct mcp_call *waits = d->state ? mcp_gate_retry(s, c, d) : NULL;
        if (waits && waits->over)
                mcp_answer_run(s, waits);
        if (waits)
                return;

        if (d->state) {
                (void) err_set((struct err *) &e, ERR_GONE, 0,
                               "no such question: it was answered, has expired, or was about another call");
                mcp_call_fail(s, c, &e);
                return;
        }

        if (take_session(s, c, d->args, &e) < 0 || begin_call(s, c, d->args, &e) < 0)
                mcp_call_fail(s, c, &e);
}

/* ---- wait ---- */

static void stop_late(struct mcp_call *c)
{
        if (c->deadline_ns && !c->timed_out && clock_mono_ns() >= c->deadline_ns) {
                c->timed_out = true;
                cordon_box_kill(c->box);
        }
}

/* A call without a run waits for its session. */
static void step_session(struct mcp_server *s, struct mcp_call *c)
{
        const cordon_result *r = cordon_box_result(c->session->box);
        cordon_error gone = { 0 };
        if (mcp_tool_id(c->tool) == TOOL_SESSION_NEW && cordon_box_is_up(c->session->box)) {
                mcp_answer_session(s, c);
                return;
        }

        if (!c->session->ended)
                return;

        if (mcp_tool_id(c->tool) == TOOL_SESSION_NEW) {
                (void) no_session(&gone);
                mcp_call_fail(s, c, r->error ? r->error : &gone);
        } else if (mcp_tool_id(c->tool) == TOOL_SESSION_END)
                mcp_answer_ended(s, c);
        else if (!c->asked) {
                (void) snprintf(c->run, sizeof c->run, "%s", r->work);
                mcp_propose_ask(s, c);
        }
}

void mcp_calls_step(struct mcp_server *s)
{
        for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
                struct mcp_call *c = s->calls[i];
                if (!c)
                        continue;

                if (!c->box && c->session) {
                        step_session(s, c);
                        continue;
                }

                if (!c->box) {
                        if (c->parked && clock_mono_ns() >= c->parked_until_ns) /* nobody came again */
                                mcp_call_free(s, c);
                        continue;
                }

                stop_late(c);
                mcp_gate_step(s, c);
                c->over = c->over || cordon_box_step(c->box) != 0;
                if (c->over && !c->parked)
                        mcp_answer_run(s, c);
        }
}

int mcp_calls_next_ms(const struct mcp_server *s)
{
        uint64_t least = UINT64_MAX;
        for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
                const struct mcp_call *c = s->calls[i];
                if (c && c->deadline_ns && !c->timed_out && c->deadline_ns < least)
                        least = c->deadline_ns;
                if (c && c->over && !c->parked)
                        return 0;
                if (c && c->parked && c->parked_until_ns < least)
                        least = c->parked_until_ns;
        }

        return least == UINT64_MAX ? -1 : clock_left_ms(least);
}

/* ---- ends that the client wants ---- */

/* Its box goes on ending; no answer is sent. */
static void let_go(struct mcp_call *c)
{
        c->link = NULL;
        c->parked = false;
        if (c->box)
                cordon_box_kill(c->box);
}

void mcp_call_cancel(struct mcp_server *s, const struct mcp_link *l, const struct json *id)
{
        struct mcp_call *c = find_call(s, l, id);
        if (!c)
                return;

        c->link->c.gone |= c->link->http; /* its request ends without an answer */
        let_go(c);
        if (!c->box && (!c->session || c->asked))
                mcp_call_free(s, c);
}

void mcp_calls_drop(struct mcp_server *s, const struct mcp_link *l)
{
        for (size_t i = 0; i < MCP_CALLS_MAX; i++)
                if (s->calls[i] && (!l || s->calls[i]->link == l)) {
                        let_go(s->calls[i]);
                        if (!s->calls[i]->box && (!s->calls[i]->session || s->calls[i]->asked))
                                mcp_call_free(s, s->calls[i]);
                }
}

void mcp_call_answered(struct mcp_server *s, const struct mcp_link *l, const struct rpc *m)
{
        for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
                struct mcp_call *c = s->calls[i];
                if (c && is_of(c, l) && c->asked && m->id->type == JSON_INT && m->id->integer == c->asked) {
                        if (c->box)
                                mcp_gate_answer(c, m->result);
                        else
                                mcp_propose_answer(s, c, m->result);
                        return;
                }
        }
}
