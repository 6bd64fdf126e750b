/* SPDX-License-Identifier: MIT */
/* face/mcp/wrap_client.c - messages of the client: calls are judged and recorded before the server sees them.
 */
#include "base/clock.h"
#include "face/mcp/mcp_http.h"
#include "face/mcp/wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t SECOND_NS = 1000000000u;

void wrap_say(const struct wrap *w, const char *fmt, ...)
{
        char text[1024];
        va_list ap;
        va_start(ap, fmt);
        (void) vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        w->o->say(text);
}

/* ---- requests under way ---- */

void wrap_forget(struct wrap_pending *p)
{
        free(p->id);
        free(p->method);
        free(p->held);
        free(p->sent);
        free(p->token);
        *p = (struct wrap_pending){ 0 };
}

static const char *id_for_server(const struct wrap_pending *p) { return p->sent ? p->sent : p->id; }

struct wrap_pending *wrap_find(struct wrap *w, const struct json *id)
{
        AUTO_BUF(text);
        rpc_put_id(&text, id);
        for (size_t i = 0; i < WRAP_PENDING_MAX; i++)
                if (w->pending[i].id && strcmp(id_for_server(&w->pending[i]), buf_str(&text)) == 0)
                        return &w->pending[i];
        return NULL;
}

/* Finds a call by the id that this client knows. */
static struct wrap_pending *find_own(struct wrap *w, const struct mcp_link *l, const struct json *id)
{
        AUTO_BUF(text);
        rpc_put_id(&text, id);
        for (size_t i = 0; i < WRAP_PENDING_MAX; i++) {
                struct wrap_pending *p = &w->pending[i];
                bool same = p->id && strcmp(p->id, buf_str(&text)) == 0;
                if (same && (p->link == l || (p->link && l->session && p->link->session == l->session)))
                        return p;
        }
        return NULL;
}

/* Ids and progress tokens of clients over HTTP may be the same: the server sees one of ours. */
static bool give_id(struct wrap *w, struct wrap_pending *p, const struct rpc *m)
{
        AUTO_BUF(text);
        const struct json *token = json_get(json_of(m->params, "_meta", JSON_OBJECT), "progressToken");
        if (!w->front)
                return true;

        if (rpc_is_id(token)) {
                rpc_put_id(&text, token);
                p->token = strdup(buf_str(&text));
                text.n = 0;
        }
        buf_printf(&text, "%u", ++w->sent);
        p->sent = strdup(buf_str(&text));
        return p->sent && (!rpc_is_id(token) || p->token);
}

static struct wrap_pending *pending_new(struct wrap *w, struct mcp_link *l, const struct rpc *m)
{
        AUTO_BUF(id);
        size_t at = 0;
        while (at < WRAP_PENDING_MAX && w->pending[at].id)
                at++;
        if (at == WRAP_PENDING_MAX)
                return NULL;

        struct wrap_pending *p = &w->pending[at];
        rpc_put_id(&id, m->id);
        p->id = strdup(buf_str(&id));
        p->method = strdup(m->method);
        p->link = l;
        p->modern = mcp_version_of(m) != NULL;
        p->deadline_ns = clock_mono_ns() + w->o->seconds * SECOND_NS;
        if (p->id && p->method && give_id(w, p, m))
                return p;

        wrap_forget(p);
        return NULL;
}

/* ---- answers of ours ---- */

/* A refused call is a result that the model reads. */
static void send_refusal(const struct wrap_pending *p, const char *why)
{
        AUTO_BUF(line);
        AUTO_BUF(text);
        buf_printf(&text, "cordon: %s", why);
        mcp_put_result(&line, p->id, p->modern, "complete");
        buf_puts(&line, ",\"content\":[{\"type\":\"text\",\"text\":");
        buf_json(&line, buf_span(&text));
        buf_puts(&line, "}],\"isError\":true");
        mcp_put_end(&line);
        mcp_link_send(p->link, &line);
}

void wrap_give_up(struct wrap_pending *p, const char *why)
{
        if (p->tool[0])
                send_refusal(p, why);
        else {
                AUTO_BUF(line);
                buf_printf(&line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d", p->id,
                           RPC_INTERNAL);
                buf_member(&line, "message", why);
                buf_puts(&line, "}}");
                mcp_link_send(p->link, &line);
        }
        wrap_forget(p);
}

void wrap_cancel(struct wrap *w, const struct wrap_pending *p)
{
        AUTO_BUF(line);
        buf_printf(
                &line,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s}}",
                id_for_server(p));
        if (!p->held)
                mcp_link_send(&w->server, &line);
}

/* ---- calls ---- */

bool wrap_has_name(const struct buf *names, const char *name)
{
        for (size_t i = 0; i < names->n; i += strlen(names->p + i) + 1)
                if (strcmp(names->p + i, name) == 0)
                        return true;
        return false;
}

static bool is_too_often(struct wrap *w)
{
        uint64_t now = clock_mono_ns();
        if (now - w->window_ns >= 60 * SECOND_NS) {
                w->window_ns = now;
                w->calls = 0;
        }
        return ++w->calls > w->o->rate;
}

static void record_call(struct wrap *w, struct wrap_pending *p, const struct rpc *m, const char *reason)
{
        AUTO_BUF(args);
        const struct json *v = json_get(m->params, "arguments");
        if (v)
                rpc_put(&args, v);
        const cordon_tool_effect x = { .tool = p->tool,
                                       .result = reason ? "denied" : NULL,
                                       .reason = reason,
                                       .bytes = args.p,
                                       .len = args.n,
                                       .phase = reason ? 2 : 0 };
        cordon_box_tool(w->box, &x, p->record);
}

/* Returns the stable reason of a refusal with `why`, or NULL: the call passes. */
static const char *judge_call(struct wrap *w, const struct wrap_pending *p, const char *name, struct buf *why)
{
        if (!wrap_tool_name_ok(name)) {
                buf_puts(why, "this cannot be the name of a tool");
                return "tool-name";
        }
        if (w->first_sight) {
                buf_printf(why, "no tool of %s is accepted yet, because its tools were not listed%s%s",
                           w->o->name, w->failure[0] ? ": " : "; list them first", w->failure);
                return "tool-changed";
        }
        if (!wrap_pins_find(&w->pins, name) || wrap_has_name(&w->refused, name)) {
                buf_printf(why,
                           "the tool %s is new or was changed since it was accepted; list the tools, then a "
                           "person "
                           "accepts it with: cordon mcp accept %s",
                           name, w->o->name);
                return "tool-changed";
        }
        if (!p->agreed && is_too_often(w)) {
                buf_printf(why, "more than %u calls in a minute", w->o->rate);
                return "tool-rate";
        }
        return NULL;
}

static void pass_on(struct wrap *w, const struct wrap_pending *p, const struct rpc *m)
{
        AUTO_BUF(line);
        const struct wrap_sent how = { w->o->permitted, p ? p->sent : NULL };
        wrap_put_request(&line, json_root(m->doc), &how);
        mcp_link_send(&w->server, &line);
}

/* The bytes of now are sent later, or NULL. */
static void hold_call(const struct wrap *w, struct wrap_pending *p, const struct rpc *m)
{
        AUTO_BUF(line);
        const struct wrap_sent how = { w->o->permitted, p->sent };
        wrap_put_request(&line, json_root(m->doc), &how);
        buf_putc(&line, '\0');
        free(p->held);
        p->held = line.failed ? NULL : line.p;
        if (p->held)
                line.p = NULL;
}

/* ---- what the policy says ---- */

/* The call waits for the answer, which arrives by wrap_answered(). */
static void ask_person(struct wrap *w, struct wrap_pending *p, const struct rpc *m, const struct buf *args)
{
        hold_call(w, p, m);
        p->asked = p->held ? cordon_box_tool_ask(w->box, p->tool, args->p, args->n) : 0;
        p->deadline_ns = UINT64_MAX; /* the question has its own */
        if (p->asked)
                return;

        record_call(w, p, m, "tool-ask");
        wrap_give_up(p, "a person has to agree to this call, and it cannot be shown");
}

/* False: it is refused or held. */
static bool passes_policy(struct wrap *w, struct wrap_pending *p, const struct rpc *m)
{
        AUTO_BUF(args);
        AUTO_BUF(text);
        char why[256];
        const struct json *v = json_get(m->params, "arguments");
        if (v)
                rpc_put(&args, v);
        else
                buf_puts(&args, "{}");
        switch (cordon_box_tool_judge(w->box, p->tool, args.p, args.n, why)) {
        case CORDON_TOOL_ALLOWED:
                return true;
        case CORDON_TOOL_ASKS:
                if (p->agreed)
                        return true;
                ask_person(w, p, m, &args);
                return false;
        default:
                buf_printf(&text, "the policy denies this call of the tool %s: %s", p->tool, why);
                record_call(w, p, m, "tool-rule");
                wrap_give_up(p, buf_str(&text));
                return false;
        }
}

/* ---- calls that wait ---- */

/* A list under way may show that a tool has changed; and the ledger begins when the box is up. */
static bool must_wait(const struct wrap *w)
{
        bool lists = false;
        for (size_t i = 0; i < WRAP_PENDING_MAX; i++)
                lists |= w->pending[i].id && strcmp(w->pending[i].method, "tools/list") == 0;
        return lists || !cordon_box_is_up(w->box);
}

static void take_call(struct wrap *w, struct wrap_pending *p, const struct rpc *m)
{
        AUTO_BUF(why);
        const char *name = json_str(m->params, "name");
        const size_t n = name ? strlen(name) : 0;
        memcpy(p->tool, name && n < sizeof p->tool ? name : "?", name && n < sizeof p->tool ? n + 1 : 2);
        if (must_wait(w)) {
                hold_call(w, p, m);
                p->waits = ++w->waited;
                return;
        }

        const char *reason = judge_call(w, p, name, &why);
        if (reason) {
                record_call(w, p, m, reason);
                wrap_give_up(p, buf_str(&why));
                return;
        }
        if (!passes_policy(w, p, m))
                return;

        record_call(w, p, m, NULL);
        pass_on(w, p, m);
}

static struct wrap_pending *first_waiting(struct wrap *w)
{
        struct wrap_pending *first = NULL;
        for (size_t i = 0; i < WRAP_PENDING_MAX; i++) {
                struct wrap_pending *p = &w->pending[i];
                if (p->waits && (!first || p->waits < first->waits))
                        first = p;
        }
        return first;
}

void wrap_release(struct wrap *w)
{
        struct wrap_pending *p;
        while (!must_wait(w) && (p = first_waiting(w))) {
                struct rpc m;
                char *held = p->held;
                p->held = NULL;
                p->waits = 0;
                if (!held) {
                        wrap_give_up(p, "no memory for this call");
                        continue;
                }

                rpc_read(span_str(held), &m);
                take_call(w, p, &m);
                rpc_done(&m);
                free(held);
        }
}

/* ---- answers of a person ---- */

void wrap_answered(struct wrap *w, unsigned number, bool yes)
{
        for (size_t i = 0; i < WRAP_PENDING_MAX; i++) {
                struct wrap_pending *p = &w->pending[i];
                struct rpc m;
                if (!p->id || p->asked != number)
                        continue;

                char *held = p->held;
                p->held = NULL;
                p->asked = 0;
                p->agreed = yes;
                p->deadline_ns = clock_mono_ns() + w->o->seconds * SECOND_NS;
                rpc_read(span_str(held), &m);
                if (yes)
                        take_call(w, p, &m);
                else {
                        record_call(w, p, &m, "tool-ask");
                        wrap_give_up(p, "no person agreed to this call");
                }
                rpc_done(&m);
                free(held);
                return;
        }
}

/* ---- all messages ---- */

static void take_request(struct wrap *w, struct mcp_link *l, const struct rpc *m)
{
        if (find_own(w, l, m->id)) {
                mcp_link_error(l, m->id, RPC_INVALID_REQUEST, "a request with this id is under way");
                return;
        }

        struct wrap_pending *p = pending_new(w, l, m);
        if (!p) {
                mcp_link_error(l, m->id, RPC_INTERNAL, "too many requests are under way");
                return;
        }

        if (strcmp(m->method, "tools/call") == 0)
                take_call(w, p, m);
        else
                pass_on(w, p, m);
}

/* An answer to a request of the server that was passed on. */
static void take_response(struct wrap *w, const struct rpc *m)
{
        AUTO_BUF(id);
        rpc_put_id(&id, m->id);
        for (size_t i = 0; i < WRAP_BACK_MAX; i++)
                if (w->back[i] && strcmp(w->back[i], buf_str(&id)) == 0) {
                        free(w->back[i]);
                        w->back[i] = NULL;
                        pass_on(w, NULL, m);
                        return;
                }
}

static void take_notification(struct wrap *w, const struct mcp_link *l, const struct rpc *m)
{
        bool cancels = strcmp(m->method, "notifications/cancelled") == 0;
        const struct json *id = cancels && m->params ? json_get(m->params, "requestId") : NULL;
        struct wrap_pending *p = rpc_is_id(id) ? find_own(w, l, id) : NULL;
        if (p || !cancels || !w->front)
                pass_on(w, p, m);
        if (p)
                wrap_forget(p);
}

void wrap_take(struct wrap *w, struct mcp_link *l, const struct rpc *m)
{
        switch (m->kind) {
        case RPC_INVALID:
                mcp_link_error(l, m->id, m->code, m->why);
                break;
        case RPC_REQUEST:
                take_request(w, l, m);
                break;
        case RPC_RESPONSE:
                take_response(w, m);
                break;
        case RPC_NOTIFICATION:
                take_notification(w, l, m);
                break;
        }
}

void wrap_from_client(struct wrap *w, struct span line)
{
        struct rpc m;
        rpc_read(line, &m);
        wrap_take(w, &w->client, &m);
        rpc_done(&m);
}
