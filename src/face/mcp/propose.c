/* SPDX-License-Identifier: MIT */
/* face/mcp/propose.c - changes of a session that a person applies, or does not. Asked by a form of the client
 * if it has one and the server permits it; flagged files always need `cordon apply`. */
#include "base/clock.h"
#include "base/err.h"
#include "face/mcp/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 4000 };

static void collect_text(void *ctx, const void *data, size_t len)
{
        struct buf *b = ctx;
        size_t room = b->n <= SHOWN_MAX ? SHOWN_MAX + 1 - b->n : 0;
        buf_add(b, data, len < room ? len : room);
}

static void put_outside(const char *run, struct buf *out)
{
        AUTO_BUF(step);
        buf_printf(&step, "a person reviews with `cordon diff %s` and applies with `cordon apply %s`", run,
                   run);
        buf_json(out, buf_span(&step));
}

static void not_applied(struct mcp_server *s, struct mcp_call *c, const char *run, const char *why)
{
        AUTO_BUF(out);
        buf_puts(&out, "{\"applied\":false");
        buf_member(&out, "run", run);
        buf_puts(&out, ",\"error\":{\"code\":\"approval\"");
        buf_member(&out, "message", why);
        buf_puts(&out, "},\"next_steps\":[");
        put_outside(run, &out);
        buf_puts(&out, "]}");
        mcp_call_end(s, c, true, &out);
}

static void apply_run(struct mcp_server *s, struct mcp_call *c, const char *run)
{
        AUTO_BUF(out);
        cordon_error e = { 0 };
        cordon_work_outcome done = { 0 };
        cordon_work_apply_options o = { .run = run };
        if (cordon_work_apply(s->o->cx, &o, &done, &e) < 0) {
                mcp_call_fail(s, c, &e);
                return;
        }

        if (done.conflicts) {
                not_applied(s, c, run, "the host changed the same files; nothing was applied");
                return;
        }

        buf_printf(&out, "{\"applied\":true,\"files\":%zu,\"held\":%zu", done.applied, done.held);
        buf_member(&out, "run", run);
        buf_puts(&out, ",\"next_steps\":[");
        if (done.held)
                put_outside(run, &out);
        buf_puts(&out, "]}");
        mcp_call_end(s, c, false, &out);
}

/* ---- the question ---- */

/* The person reads this text: all of it is inert. 1: it is more than a form shows. */
static int put_form(struct mcp_server *s, struct mcp_call *c, const char *run, struct buf *out,
                    cordon_error *e)
{
        AUTO_BUF(stat);
        AUTO_BUF(message);
        struct err ignored;
        size_t entries, n = 0;
        uint64_t cuts;
        cordon_work_diff_options o = {
                .run = run, .form = CORDON_WORK_STAT, .out = collect_text, .out_ctx = &stat
        };
        if (cordon_work_diff(s->o->cx, &o, &entries, e) < 0)
                return -1;
        if (stat.n > SHOWN_MAX)
                return 1;

        struct json_doc *args = json_parse_data("arguments", span_str(c->args), &ignored);
        const char *reason = args ? json_str(json_root(args), "reason") : NULL;
        buf_printf(&message, "Apply %zu changes of box %s to this computer?\n%s", entries, run,
                   buf_str(&stat));
        if (reason)
                buf_printf(&message, "\nThe model's reason: %s", reason);
        char *inert = cordon_inert(message.p, message.n, &n, &cuts);
        buf_puts(out, "{\"mode\":\"form\",\"message\":");
        buf_json(out, span_of(inert ? inert : "", n));
        buf_puts(out,
                 ",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"apply\":{\"type\":\"boolean\","
                 "\"title\":\"Apply these changes\",\"default\":false}},\"required\":[\"apply\"]}}");
        cordon_free(inert);
        json_free(args);
        return 0;
}

/* The call rests without its session. */
static void ask_modern(struct mcp_server *s, struct mcp_call *c, const struct buf *form)
{
        if (!mcp_park(c, form)) {
                not_applied(s, c, c->run, "no memory for a question");
                return;
        }

        if (c->session)
                c->session->calls--;
        c->session = NULL;
}

/* The session has ended: its changes are final. */
void mcp_propose_ask(struct mcp_server *s, struct mcp_call *c)
{
        AUTO_BUF(form);
        cordon_error e = { 0 };
        const char *run = c->run;
        if (!c->link) {
                mcp_call_free(s, c);
                return;
        }

        if (!run[0]) {
                (void) err_set((struct err *) &e, ERR_GONE, 0,
                               "the session changed nothing behind an edit door");
                mcp_call_fail(s, c, &e);
                return;
        }

        if (!c->elicits || s->o->outside) {
                not_applied(s, c, run, "a person decides, outside of this connection");
                return;
        }

        int more = put_form(s, c, run, &form, &e);
        if (more < 0) {
                mcp_call_fail(s, c, &e);
                return;
        }

        if (more > 0) {
                not_applied(s, c, run, "these are more changes than a form shows: a person decides outside");
                return;
        }

        if (c->modern)
                ask_modern(s, c, &form);
        else
                mcp_elicit(s, c, &form);
}

/* ---- the answer ---- */

static bool is_yes(const struct json *answer)
{
        const char *action = json_str(answer, "action");
        return action && strcmp(action, "accept") == 0 &&
               json_of(json_of(answer, "content", JSON_OBJECT), "apply", JSON_TRUE);
}

static void decide_run(struct mcp_server *s, struct mcp_call *c, const char *run, const struct json *answer)
{
        if (is_yes(answer))
                apply_run(s, c, run);
        else
                not_applied(s, c, run, "the person did not agree");
}

void mcp_propose_answer(struct mcp_server *s, struct mcp_call *c, const struct json *result)
{
        char run[64];
        memcpy(run, c->run, sizeof run);
        decide_run(s, c, run, result);
}

void mcp_propose_retry(struct mcp_server *s, struct mcp_call *c, const struct mcp_decision *d)
{
        cordon_error e = { 0 };
        for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
                struct mcp_call *p = s->calls[i];
                if (!p || p->box || !p->parked || !random_is(p->state, d->state))
                        continue;

                bool good = strcmp(p->args, c->args) == 0 && clock_mono_ns() < p->parked_until_ns;
                char run[64];
                memcpy(run, p->run, sizeof run);
                mcp_call_free(s, p); /* a state is used once */
                if (good) {
                        decide_run(s, c, run, json_of(d->responses, "approve", JSON_OBJECT));
                        return;
                }
        }

        (void) err_set((struct err *) &e, ERR_GONE, 0,
                       "no such question: it was answered, has expired, or was about another call");
        mcp_call_fail(s, c, &e);
}
