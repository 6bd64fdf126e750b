/* SPDX-License-Identifier: MIT */
/* face/mcp/session.c - boxes that stay, each behind a handle. */
#include "base/err.h"
#include "face/mcp/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mcp_box_set_up(const struct mcp_options *o, cordon_box *b)
{
        const struct {
                cordon_option option;
                const char *value;
        } set[] = { { CORDON_SINGLE_THREAD, "1" },
                    { CORDON_CHECKS, "1" },
                    { CORDON_CWD_MADE, "1" },
                    { CORDON_OBSERVE, "denials" },
                    { CORDON_STAGE, o->stage },
                    { CORDON_PLACES, o->places },
                    { CORDON_LEDGER, o->ledger },
                    { CORDON_SESSION_TIME, o->session_time },
                    { CORDON_SESSION_IDLE, o->session_idle } };
        for (size_t i = 0; i < sizeof set / sizeof *set; i++)
                if (set[i].value && cordon_box_set(b, set[i].option, set[i].value) < 0)
                        return false;
        mcp_gate_open(o, b);
        return true;
}

static void session_free(struct mcp_session *x)
{
        if (x)
                cordon_box_free(x->box);
        free(x);
}

static int start_session(struct mcp_server *s, struct mcp_session *x, cordon_error *e)
{
        struct err *err = (struct err *) e;
        x->box = cordon_box_new(s->o->policy);
        if (!x->box || !mcp_box_set_up(s->o, x->box) || random_name("cs", x->handle) < 0)
                return err_set(err, ERR_MEMORY, 0, "no memory for a session");

        cordon_box_on_held(x->box, mcp_gate_held, &x->held);
        return cordon_session_start(x->box, e);
}

struct mcp_session *mcp_session_new(struct mcp_server *s, cordon_error *e)
{
        size_t at = 0;
        while (at < s->o->sessions && s->sessions[at])
                at++;

        if (at == s->o->sessions) {
                (void) err_set((struct err *) e, ERR_LIMIT, 0, "there are %u sessions already",
                               s->o->sessions);
                (void) err_hint((struct err *) e, "end one with session_end");
                return NULL;
        }

        struct mcp_session *x = calloc(1, sizeof *x);
        if (!x || start_session(s, x, e) < 0) {
                session_free(x);
                return NULL;
        }

        s->sessions[at] = x;
        return x;
}

struct mcp_session *mcp_session_find(struct mcp_server *s, const char *handle)
{
        struct mcp_session *found = NULL;
        for (size_t i = 0; i < s->o->sessions; i++)
                if (s->sessions[i] && !s->sessions[i]->over && random_is(s->sessions[i]->handle, handle))
                        found = s->sessions[i];
        return found;
}

const char *mcp_session_left(const struct mcp_server *s, const char *handle)
{
        const char *found = NULL;
        for (size_t i = 0; i < MCP_CALLS_MAX; i++)
                if (random_is(s->closed[i].handle, handle))
                        found = s->closed[i].run;
        return found;
}

static void take_end(struct mcp_server *s, struct mcp_session *x)
{
        const char *work = cordon_box_result(x->box)->work;
        x->over = x->ended = true;
        if (!work[0])
                return;

        struct mcp_closed *c = &s->closed[s->closed_count++ % MCP_CALLS_MAX];
        memcpy(c->handle, x->handle, sizeof c->handle);
        (void) snprintf(c->run, sizeof c->run, "%s", work);
}

void mcp_sessions_step(struct mcp_server *s)
{
        for (size_t i = 0; i < s->o->sessions; i++) {
                struct mcp_session *x = s->sessions[i];
                if (!x)
                        continue;

                if (!x->ended && cordon_box_step(x->box) != 0)
                        take_end(s, x);
                if (x->ended && x->calls == 0) {
                        session_free(x);
                        s->sessions[i] = NULL;
                }
        }
}
