/* SPDX-License-Identifier: MIT */
/* face/mcp/wrap_server.c - messages of the server in the box. Each is hostile: it answers a request that is
 * under way, is a notification that exists, or is dropped. */
#include "base/str.h"
#include "face/mcp/checked.h"
#include "face/mcp/wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void deny_result(struct wrap *w, const char *what, const char *reason, struct span bytes)
{
        char id[64];
        const cordon_tool_effect x = { .tool = what,
                                       .result = "denied",
                                       .reason = reason,
                                       .bytes = bytes.p,
                                       .len = bytes.n,
                                       .phase = 2 };
        cordon_box_tool(w->box, &x, id);
}

/* ---- descriptions ---- */

static void remember_tool(struct wrap *w, const struct json *tool, const char *name)
{
        buf_key(&w->seen, NULL);
        wrap_put_sorted(&w->seen, tool);
        buf_add(&w->seen_names, name, strlen(name) + 1);
}

/* The file of what was seen, to be accepted or pinned. */
static void put_seen(const struct wrap *w, struct buf *out)
{
        buf_puts(out, "{\"instructions\":");
        buf_json(out, span_str(w->instructions ? w->instructions : ""));
        buf_printf(out, ",\"tools\":[%s]}", buf_str(&w->seen));
}

static void keep_seen(struct wrap *w, bool accepted)
{
        AUTO_BUF(text);
        cordon_error e = { 0 };
        char name[80];
        (void) snprintf(name, sizeof name, "%s%s", w->o->name, accepted ? "" : ".new");
        put_seen(w, &text);
        if (text.failed || cordon_pins_write(w->o->cx, name, buf_str(&text), &e) < 0) {
                wrap_say(w, "the descriptions of the tools could not be kept: %s", e.what);
                return;
        }
        if (accepted) {
                wrap_pins_done(&w->pins);
                (void) wrap_pins_load(&w->pins, buf_str(&text));
        }
}

bool wrap_commands_model(const cordon_context *cx, const char *text)
{
        char *out = NULL, *report = NULL;
        size_t n;
        cordon_error e = { 0 };
        const cordon_check as_text = { .as = "text" };
        bool found = cordon_check_bytes(cx, &as_text, text, strlen(text), &out, &n, &report, &e) == 0 &&
                     strstr(report, "\"injection");
        cordon_free(out);
        cordon_free(report);
        return found;
}

/* Text that a description hides, or that tells a model what to do, is shown to the person. */
static void show_description(const struct wrap *w, const struct json *tool, const char *name)
{
        AUTO_BUF(inert);
        struct wrap_copied done = { 0 };
        const char *text = json_str(tool, "description");
        wrap_put_inert(&inert, tool, &done);
        if (done.cuts)
                wrap_say(w, "tool %s: %llu hidden characters in its description, made visible", name,
                         (unsigned long long) done.cuts);

        if (text && wrap_commands_model(w->o->cx, text))
                wrap_say(w, "tool %s: its description tells the model what to do: %s", name, text);
}

/* True if the client may see it. */
static bool judge_tool(struct wrap *w, const struct json *tool, bool *changed)
{
        const char *name = json_str(tool, "name");
        enum pin_verdict v = wrap_pins_judge(&w->pins, tool);
        if (v == PIN_BAD_NAME || wrap_has_name(&w->seen_names, name) ||
            w->seen_names.n > WRAP_TOOLS_MAX * (size_t) WRAP_TOOL_NAME) {
                wrap_say(w, "a tool is left out: %s",
                         v == PIN_BAD_NAME ? "its name" : "its name is used twice");
                deny_result(w, v == PIN_BAD_NAME ? "?" : name, "tool-name", (struct span){ 0 });
                return false;
        }

        remember_tool(w, tool, name);
        if (w->first_sight) {
                show_description(w, tool, name);
                return true;
        }
        if (v == PIN_SAME)
                return true;

        *changed = true;
        buf_add(&w->refused, name, strlen(name) + 1);
        wrap_say(w, "tool %s is %s since it was accepted, and left out; to accept it: cordon mcp accept %s",
                 name, v == PIN_NEW ? "new" : "changed", w->o->name);
        deny_result(w, name, "tool-changed", (struct span){ 0 });
        return false;
}

/* With some arguments. */
static bool may_be_called(const struct wrap *w, const char *name)
{
        char why[256];
        return cordon_box_tool_judge(w->box, name, NULL, 0, why) != CORDON_TOOL_DENIED;
}

static void put_tools(struct wrap *w, const struct json *tools, struct buf *out, bool *changed)
{
        struct wrap_copied done = { 0 };
        bool closed = false, any = false;
        buf_putc(out, '[');
        for (const struct json *t = tools->child; t; t = t->next) {
                if (!judge_tool(w, t, changed))
                        continue;
                if (!may_be_called(w, json_str(t, "name"))) {
                        closed = true;
                        continue;
                }
                buf_key(out, NULL);
                wrap_put_inert(out, t, &done);
                any = true;
        }
        buf_putc(out, ']');
        if (closed && !any)
                wrap_say(w, "no `tool` line names a tool of this server: --tool NAME, or --tool any");
}

/* A list of one or more pages; it begins anew with the first. */
static void put_list(struct wrap *w, const struct json *result, struct buf *out)
{
        struct wrap_copied done = { 0 };
        bool changed = false;
        if (w->seen_names.n == 0)
                w->refused.n = 0;
        buf_putc(out, '{');
        for (const struct json *c = result->child; c; c = c->next) {
                wrap_put_key(out, c);
                if (strcmp(c->key, "tools") == 0 && c->type == JSON_ARRAY)
                        put_tools(w, c, out, &changed);
                else
                        wrap_put_inert(out, c, &done);
        }
        buf_putc(out, '}');
        if (json_str(result, "nextCursor"))
                return;

        changed |= w->instructions && !wrap_pins_instructions(&w->pins, w->instructions);

        if (w->first_sight)
                keep_seen(w, true);
        else if (changed)
                keep_seen(w, false);
        w->first_sight = false;
        w->seen.n = w->seen_names.n = 0;
}

/* ---- responses ---- */

/* Instructions go to the model as descriptions do. */
static void check_instructions(struct wrap *w, const struct json *result)
{
        const char *text = json_str(result, "instructions");
        if (!text)
                return;

        free(w->instructions);
        w->instructions = strdup(text);
        if (!w->first_sight && !wrap_pins_instructions(&w->pins, text))
                wrap_say(w,
                         "the server's instructions have changed, and are left out; to accept: cordon mcp "
                         "accept %s",
                         w->o->name);
}

/* The server's own `_meta`, without the names that are ours, as the first member. */
static const char META_FIRST[] = "{\"_meta\":{", META_OURS[] = "cordon/";

static void put_meta(const struct json *meta, struct buf *out, struct wrap_copied *done)
{
        buf_puts(out, META_FIRST);
        for (const struct json *c = meta ? meta->child : NULL; c; c = c->next) {
                if (strncmp(c->key, META_OURS, sizeof META_OURS - 1) == 0)
                        continue;
                wrap_put_key(out, c);
                wrap_put_inert(out, c, done);
        }
        buf_putc(out, '}');
}

static void put_result(struct wrap *w, const struct json *result, struct buf *out, struct wrap_copied *done)
{
        const char *text = json_str(result, "instructions");
        bool drop = text && !w->first_sight && !wrap_pins_instructions(&w->pins, text);
        if (result->type != JSON_OBJECT) {
                wrap_put_inert(out, result, done);
                return;
        }

        put_meta(json_of(result, "_meta", JSON_OBJECT), out, done);
        for (const struct json *c = result->child; c; c = c->next) {
                if (strcmp(c->key, "_meta") == 0 || (drop && strcmp(c->key, "instructions") == 0))
                        continue;
                wrap_put_key(out, c);
                wrap_put_inert(out, c, done);
        }
        buf_putc(out, '}');
}

/* A result that asks the client for something: only what is permitted. */
static bool asks_too_much(const struct wrap *w, const struct json *result)
{
        const char *type = json_str(result, "resultType");
        const struct json *requests = json_of(result, "inputRequests", JSON_OBJECT);
        if (!type || strcmp(type, "complete") == 0)
                return false;

        for (const struct json *r = requests ? requests->child : NULL; r; r = r->next) {
                const char *method = json_str(r, "method");
                if (!method || !(w->o->permitted & wrap_method_bit(method)))
                        return true;
        }
        return strcmp(type, "input_required") != 0;
}

static void record_result(struct wrap *w, const struct wrap_pending *p, const struct rpc *m,
                          const struct buf *line)
{
        char id[64];
        bool failed = m->error || json_of(m->result, "isError", JSON_TRUE);
        const cordon_tool_effect x = { .tool = p->tool,
                                       .result = failed ? "error" : "done",
                                       .cause = p->record,
                                       .bytes = line->p,
                                       .len = line->n,
                                       .phase = 1 };
        cordon_box_tool(w->box, &x, id);
}

/* The members of an envelope of an output, for a result. One without a word, as of ping, needs none. */
static void put_checked_result(const struct wrap *w, const struct wrap_pending *p,
                               const struct mcp_checked *k, struct buf *out)
{
        size_t n = sizeof META_FIRST - 1;
        if (!p->tool[0] && k->len == n + 2 && memcmp(k->json, "{\"_meta\":{}}", n + 2) == 0) {
                buf_puts(out, "{}");
                return;
        }

        if (k->len <= n || memcmp(k->json, META_FIRST, n) != 0) { /* not an object */
                buf_add(out, k->json, k->len);
                return;
        }

        buf_puts(out, META_FIRST);
        buf_printf(out, "\"%soutput\":{\"source\":\"box\",\"run\":", META_OURS);
        buf_json(out, span_str(cordon_box_run_id(w->box)));
        buf_member(out, "effect", p->record);
        buf_putc(out, ',');
        mcp_put_checked(out, k, cordon_box_result(w->box)->labels);
        buf_puts(out, k->json[n] == '}' ? "}" : "},");
        buf_add(out, k->json + n, k->len - n);
}

/* It contains a canary: the server does what it must not. */
static void withhold_result(struct wrap *w, const char *what, const struct mcp_checked *k, struct span raw)
{
        wrap_say(w, "%s: withheld: %s%s", what, k->why, k->canary ? "; the server is stopped" : "");
        deny_result(w, what, k->canary ? "canary" : "answer-form", raw);
        if (k->canary)
                cordon_box_kill(w->box);
}

static void tell_found(const struct wrap *w, const char *what, const struct wrap_copied *done,
                       const struct mcp_checked *k)
{
        if (done->cuts)
                wrap_say(w, "%s: %llu hidden characters or escape sequences made visible", what,
                         (unsigned long long) done->cuts);
        if (k->found)
                wrap_say(w, "%s: found in it: %s", what, buf_str(&k->told));
}

/* Without a list no tool can be called, and the person learns why. */
static void keep_failure(struct wrap *w, const struct wrap_pending *p, const struct json *error)
{
        const char *text = json_str(error, "message");
        if (p->tool[0] || !text)
                return;

        (void) str_inert(span_str(text), w->failure, sizeof w->failure);
        if (strcmp(p->method, "tools/list") == 0)
                wrap_say(w, "the tools could not be listed: %s", w->failure);
}

static void put_value(struct wrap *w, const struct wrap_pending *p, const struct rpc *m, struct buf *out,
                      struct wrap_copied *done)
{
        if (m->error) {
                keep_failure(w, p, m->error);
                wrap_put_inert(out, m->error, done);
        } else {
                check_instructions(w, m->result);
                if (strcmp(p->method, "tools/list") == 0 && m->result->type == JSON_OBJECT)
                        put_list(w, m->result, out);
                else
                        put_result(w, m->result, out, done);
        }
}

static void take_response(struct wrap *w, const struct rpc *m, struct span raw)
{
        AUTO_BUF(value);
        AUTO_BUF(line);
        struct wrap_copied done = { 0 };
        struct mcp_checked k;
        struct wrap_pending *p = wrap_find(w, m->id);
        if (!p) {
                deny_result(w, "response", "unasked", raw);
                return;
        }

        const char *what = p->tool[0] ? p->tool : p->method;
        if (m->result && asks_too_much(w, m->result)) {
                deny_result(w, what, "asks-client", raw);
                wrap_give_up(p, "the server asked for something that is not permitted");
                return;
        }

        put_value(w, p, m, &value, &done);
        if (mcp_check(w->o->cx, w->box, buf_span(&value), &k) < 0) {
                withhold_result(w, what, &k, raw);
                wrap_give_up(p, k.canary ? "tripwire: the result has a canary" : "the result is withheld");
                mcp_checked_done(&k);
                return;
        }

        buf_printf(&line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"%s\":", p->id, m->error ? "error" : "result");
        put_checked_result(w, p, &k, &line);
        buf_putc(&line, '}');
        if (p->tool[0])
                record_result(w, p, m, &line);
        tell_found(w, what, &done, &k);
        mcp_checked_done(&k);
        mcp_link_send(p->link, &line);
        wrap_forget(p);
}

/* ---- requests and notifications ---- */

static void answer_server(struct wrap *w, const struct rpc *m)
{
        AUTO_BUF(line);
        if (strcmp(m->method, "ping") != 0) {
                mcp_link_error(&w->server, m->id, RPC_NO_METHOD, "not permitted");
                return;
        }

        buf_puts(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
        rpc_put_id(&line, m->id);
        buf_puts(&line, ",\"result\":{}}");
        mcp_link_send(&w->server, &line);
}

static bool remember_back(struct wrap *w, const struct json *id)
{
        AUTO_BUF(text);
        rpc_put_id(&text, id);
        for (size_t i = 0; i < WRAP_BACK_MAX; i++)
                if (!w->back[i])
                        return (w->back[i] = strdup(buf_str(&text))) != NULL;
        return false;
}

/* The request that a progress notification is about, if the server knows it by an id of ours. */
static const struct wrap_pending *progress_of(struct wrap *w, const struct rpc *m)
{
        const struct json *token = m->params ? json_get(m->params, "progressToken") : NULL;
        const struct wrap_pending *p = w->front && rpc_is_id(token) ? wrap_find(w, token) : NULL;
        return p && p->token ? p : NULL;
}

static void tell_client(struct wrap *w, const struct wrap_pending *p, const struct buf *line)
{
        if (!w->front)
                mcp_link_send(&w->client, line);
        else if (p)
                mcp_link_send(p->link, line);
        else
                wrap_http_tell(w, line);
}

/* A request or notification, with its parameters checked. */
static void pass_checked(struct wrap *w, const struct rpc *m, struct span raw)
{
        AUTO_BUF(params);
        AUTO_BUF(line);
        struct wrap_copied done = { 0 };
        struct mcp_checked k = { 0 };
        const bool progress = strcmp(m->method, "notifications/progress") == 0;
        const struct wrap_pending *p = progress ? progress_of(w, m) : NULL;
        if (progress && w->front && !p)
                return; /* of a request that is over */

        buf_puts(&line, "{\"jsonrpc\":\"2.0\"");
        if (m->id) {
                buf_puts(&line, ",\"id\":");
                rpc_put_id(&line, m->id);
        }
        buf_member(&line, "method", m->method);
        if (m->params) {
                if (p)
                        wrap_put_progress(&params, m->params, p->token, &done);
                else
                        wrap_put_inert(&params, m->params, &done);
                if (mcp_check(w->o->cx, w->box, buf_span(&params), &k) < 0) {
                        withhold_result(w, m->method, &k, raw);
                        mcp_checked_done(&k);
                        return;
                }
                buf_puts(&line, ",\"params\":");
                buf_add(&line, k.json, k.len);
        }
        buf_putc(&line, '}');
        mcp_checked_done(&k);
        tell_client(w, p, &line);
}

static void take_request(struct wrap *w, const struct rpc *m, struct span raw)
{
        bool permitted = w->o->permitted & wrap_method_bit(m->method);
        if (permitted && !wrap_find(w, m->id) && remember_back(w, m->id)) {
                pass_checked(w, m, raw);
                return;
        }

        if (strcmp(m->method, "ping") != 0) {
                wrap_say(w, "the server asked for %s, which is not permitted",
                         wrap_method_bit(m->method) ? m->method : "an unknown method");
                deny_result(w, "request", "asks-client", raw);
        }
        answer_server(w, m);
}

static void take_notification(struct wrap *w, const struct rpc *m, struct span raw)
{
        static const char *const passed[] = { "notifications/progress",
                                              "notifications/message",
                                              "notifications/cancelled",
                                              "notifications/tools/list_changed",
                                              "notifications/prompts/list_changed",
                                              "notifications/resources/list_changed",
                                              "notifications/resources/updated",
                                              "notifications/subscriptions/acknowledged" };
        for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
                if (strcmp(m->method, passed[i]) == 0) {
                        pass_checked(w, m, raw);
                        return;
                }
        deny_result(w, "notification", "unknown-method", raw);
}

void wrap_from_server(struct wrap *w, struct span raw)
{
        struct rpc m;
        rpc_read(raw, &m);
        switch (m.kind) {
        case RPC_INVALID:
                wrap_say(w, "the server wrote a line that is not a message; it is dropped");
                deny_result(w, "line", "malformed", raw);
                break;
        case RPC_REQUEST:
                take_request(w, &m, raw);
                break;
        case RPC_RESPONSE:
                take_response(w, &m, raw);
                break;
        case RPC_NOTIFICATION:
                take_notification(w, &m, raw);
                break;
        }
        rpc_done(&m);
}
