/* SPDX-License-Identifier: MIT */
/* face/mcp/gate_ask.c - an effect that waits for an approval while a tool runs: the client's user is asked by
 * a form, about exactly that effect. The model sees no form: it has no tool that answers one, and the state
 * of a question is a random name between server and client. */
#include "base/clock.h"
#include "base/err.h"
#include "face/mcp/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cordon_person person = { .name = "mcp:client" };

void mcp_gate_open(const struct mcp_options *o, cordon_box *b)
{
        cordon_error ignored;
        if (!o->outside)
                (void) cordon_box_asked_by(b, "mcp:model",
                                           &ignored); /* it has not started: nothing can fail */
}

void mcp_gate_held(void *ctx, const char *id, const char *effect, unsigned within_s)
{
        (void) id;
        (void) effect;
        (void) within_s;
        *(bool *) ctx = true;
}

static struct json_doc *put_request(const struct mcp_call *c, const struct buf *line)
{
        cordon_error e = { 0 };
        char *text = cordon_box_gate(c->session ? c->session->box : c->box, &person, buf_str(line), &e);
        struct json_doc *d = text ? json_parse_data("answer", span_str(text), (struct err *) &e) : NULL;
        cordon_free(text);
        return d;
}

/* ---- the question ---- */

/* The first that waits; false: none does. */
static bool find_held(const struct mcp_call *c, char ret[MCP_GATE_ID])
{
        AUTO_BUF(line);
        buf_puts(&line, "{\"op\":\"list\"}");
        struct json_doc *d = put_request(c, &line);
        const struct json *items = d ? json_of(json_root(d), "items", JSON_ARRAY) : NULL;
        const char *id = items && items->child ? json_str(items->child, "id") : NULL;
        bool found = id && strlen(id) == MCP_GATE_ID - 1;
        if (found)
                memcpy(ret, id, MCP_GATE_ID);
        json_free(d);
        return found;
}

static void put_schema(bool high, struct buf *out)
{
        buf_puts(
                out,
                ",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"approve\":{\"type\":\"boolean\","
                "\"title\":\"Let exactly this happen, once\",\"default\":false},"
                "\"reason\":{\"type\":\"string\",\"title\":\"Why\"}");
        if (high)
                buf_puts(out,
                         ",\"digits\":{\"type\":\"string\",\"title\":\"The last 4 digits of the digest\"}");
        buf_printf(out, "},\"required\":[\"approve\"%s]}}", high ? ",\"digits\"" : "");
}

/* All of the text is inert: the desk made it so. */
static bool put_form(const struct mcp_call *c, struct buf *out)
{
        AUTO_BUF(line);
        AUTO_BUF(message);
        buf_printf(&line, "{\"op\":\"show\",\"id\":\"%s\"}", c->gate);
        struct json_doc *d = put_request(c, &line);
        const struct json *o = d ? json_root(d) : NULL, *item = o ? json_of(o, "item", JSON_OBJECT) : NULL;
        const char *text = o ? json_str(o, "text") : NULL, *door = item ? json_str(item, "door") : NULL,
                   *risk = item ? json_str(item, "risk") : NULL,
                   *group = item ? json_str(item, "group") : NULL;
        bool asks = text && door && risk && !(group && group[0]); /* a group's members answer elsewhere */
        if (asks) {
                buf_printf(&message, "A program in a box asks for this:\n%s\nIts door: %s\nDigest: %s", text,
                           door, c->gate);
                buf_puts(out, "{\"mode\":\"form\",\"message\":");
                buf_json(out, buf_span(&message));
                put_schema(strcmp(risk, "high") == 0, out);
        }
        json_free(d);
        return asks;
}

bool mcp_park(struct mcp_call *c, const struct buf *form)
{
        char *none = strdup("");
        if (!none || random_name("cs", c->state) < 0) {
                free(none);
                return false;
        }

        mcp_require_input(c, form, c->state);
        free(c->id);
        c->id = none;
        c->parked = true;
        c->parked_until_ns = clock_mono_ns() + MCP_QUESTION_S * 1000000000ull;
        if (c->link->http || !c->box) /* this request has its answer */
                c->link = NULL;
        return true;
}

static void tell_outside(struct mcp_call *c)
{
        AUTO_BUF(line);
        AUTO_BUF(message);
        buf_printf(&message, "waits for an approval: cordon approve %.12s", c->gate);
        if (!c->progress)
                return;

        mcp_put_progress(&line, c->progress, ++c->told, buf_str(&message));
        mcp_link_send(c->link, &line);
}

static void give_up(struct mcp_call *c)
{
        c->parked = false;
        c->link = NULL;
        cordon_box_kill(c->box);
}

void mcp_gate_step(struct mcp_server *s, struct mcp_call *c)
{
        AUTO_BUF(form);
        if (c->session && c->session->held) {
                c->session->held = false;
                c->held = true;
        }

        if (c->parked && clock_mono_ns() >= c->parked_until_ns) /* nobody came again */
                give_up(c);

        if (!c->held || c->asked || c->parked || !c->link)
                return;

        c->held = false;
        if (!find_held(c, c->gate))
                return;

        if (!c->elicits || s->o->outside || c->gate_outside || !put_form(c, &form))
                tell_outside(c);
        else if (c->modern)
                c->gate_outside |= !mcp_park(c, &form);
        else
                mcp_elicit(s, c, &form);
}

/* ---- the answer ---- */

/* An answer that the desk does not take leaves the effect to `cordon approve`. */
static void give_vote(struct mcp_call *c, const struct json *answer)
{
        AUTO_BUF(line);
        const char *action = json_str(answer, "action");
        const struct json *content = json_of(answer, "content", JSON_OBJECT);
        bool accepted = action && strcmp(action, "accept") == 0;
        bool yes = accepted && json_of(content, "approve", JSON_TRUE);
        const char *reason = accepted ? json_str(content, "reason") : NULL,
                   *digits = accepted ? json_str(content, "digits") : NULL;
        buf_printf(&line, "{\"op\":\"answer\",\"id\":\"%s\",\"yes\":%s", c->gate, yes ? "true" : "false");
        if (reason)
                buf_member(&line, "reason", reason);
        if (digits)
                buf_member(&line, "challenge", digits);
        buf_putc(&line, '}');
        struct json_doc *d = put_request(c, &line);
        const struct json *ok = d ? json_get(json_root(d), "ok") : NULL;
        c->gate_outside = c->gate_outside || !ok || ok->type != JSON_TRUE;
        c->held = true; /* is there another? */
        json_free(d);
}

void mcp_gate_answer(struct mcp_call *c, const struct json *result)
{
        c->asked = 0;
        give_vote(c, result);
}

/* A state is for its own call, and used up by a wrong one. */
struct mcp_call *mcp_gate_retry(struct mcp_server *s, struct mcp_call *c, const struct mcp_decision *d)
{
        for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
                struct mcp_call *p = s->calls[i];
                if (!p || p == c || !p->parked || !p->box || !random_is(p->state, d->state))
                        continue;

                if (p->tool != c->tool || strcmp(p->args, c->args) != 0) {
                        give_up(p);
                        return NULL;
                }

                char *id = p->id, *progress = p->progress;
                p->id = c->id;
                p->progress = c->progress;
                c->id = id;
                c->progress = progress;
                p->link = c->link;
                p->parked = false;
                p->state[0] = '\0';
                mcp_call_free(s, c);
                give_vote(p, json_of(d->responses, "approve", JSON_OBJECT));
                return p;
        }
        return NULL;
}
