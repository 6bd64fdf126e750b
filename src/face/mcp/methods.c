/* SPDX-License-Identifier: MIT */
/* face/mcp/methods.c - what a message of a client means. */
#include "face/mcp/methods.h"

#include <string.h>

static const char MODERN[] = "2026-07-28", LEGACY[] = "2025-11-25";
static const char META_VERSION[] = "io.modelcontextprotocol/protocolVersion",
                  META_CAPABILITIES[] = "io.modelcontextprotocol/clientCapabilities";
static const char INSTRUCTIONS[] =
        "Commands run in boxes: without the network, without the files of the host and without credentials, "
        "except "
        "as `doors` lists. Start with session_new if several commands belong together. A blocked effect is "
        "in "
        "`blocked`, with the line that the person who runs this server could add; no tool can. Changes of a "
        "session stay in its box until propose_apply is accepted by a person.";

const char *mcp_version_of(const struct rpc *m)
{
        return json_str(json_of(m->params, "_meta", JSON_OBJECT), META_VERSION);
}

static void reply_error(struct mcp_decision *d, struct buf *out, const struct rpc *m, int code,
                        const char *message)
{
        d->step = MCP_REPLY;
        mcp_put_error(out, m->id, code, message, NULL);
}

static void begin_result(struct mcp_decision *d, struct buf *out, const struct rpc *m)
{
        AUTO_BUF(id);
        d->step = MCP_REPLY;
        rpc_put_id(&id, m->id);
        mcp_put_result(out, buf_str(&id), d->modern, "complete");
}

/* ---- methods ---- */

/* An elicitation capability without a mode means forms. */
static bool can_elicit(const struct json *capabilities)
{
        const struct json *e = json_of(capabilities, "elicitation", JSON_OBJECT);
        return e && (!e->child || json_get(e, "form"));
}

static void on_initialize(const struct rpc *m, struct mcp_peer *peer, struct mcp_decision *d, struct buf *out)
{
        if (!json_str(m->params, "protocolVersion")) {
                reply_error(d, out, m, RPC_INVALID_PARAMS, "initialize needs protocolVersion");
                return;
        }

        peer->initialized = true;
        peer->elicits = can_elicit(json_get(m->params, "capabilities"));
        begin_result(d, out, m);
        buf_member(out, "protocolVersion", LEGACY);
        buf_puts(out, ",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"cordon\",\"version\":"
                      "\"" CORDON_VERSION "\"}");
        buf_member(out, "instructions", INSTRUCTIONS);
        mcp_put_end(out);
}

/* Its result is empty, without what other results carry. */
static void on_ping(const struct rpc *m, struct mcp_peer *peer, struct mcp_decision *d, struct buf *out)
{
        (void) peer;
        d->step = MCP_REPLY;
        buf_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":");
        rpc_put_id(out, m->id);
        buf_puts(out, ",\"result\":{}}");
}

static void put_cache(const struct mcp_decision *d, struct buf *out)
{
        if (d->modern)
                buf_puts(out, ",\"ttlMs\":3600000,\"cacheScope\":\"public\"");
}

static void on_discover(const struct rpc *m, struct mcp_peer *peer, struct mcp_decision *d, struct buf *out)
{
        (void) peer;
        begin_result(d, out, m);
        buf_printf(out, ",\"supportedVersions\":[\"%s\",\"%s\"],\"capabilities\":{\"tools\":{}}", MODERN,
                   LEGACY);
        buf_member(out, "instructions", INSTRUCTIONS);
        put_cache(d, out);
        mcp_put_end(out);
}

static void on_list(const struct rpc *m, struct mcp_peer *peer, struct mcp_decision *d, struct buf *out)
{
        (void) peer;
        if (m->params && json_get(m->params, "cursor")) {
                reply_error(d, out, m, RPC_INVALID_PARAMS, "the list has one page, and no cursor");
                return;
        }

        begin_result(d, out, m);
        buf_puts(out, ",\"tools\":");
        mcp_tools_put(out);
        put_cache(d, out);
        mcp_put_end(out);
}

/* Wrong arguments are an answer that the model can act on, not an error of the protocol. */
static void wrong_arguments(const struct rpc *m, struct mcp_decision *d, const struct buf *why,
                            struct buf *out)
{
        AUTO_BUF(id);
        AUTO_BUF(failure);
        d->step = MCP_REPLY;
        rpc_put_id(&id, m->id);
        mcp_put_failure(&failure, "usage", buf_str(why), "");
        mcp_put_tool_result(out, buf_str(&id), d->modern, true, buf_span(&failure));
}

static void on_call(const struct rpc *m, struct mcp_peer *peer, struct mcp_decision *d, struct buf *out)
{
        AUTO_BUF(why);
        const char *name = json_str(m->params, "name");
        const struct json *args = m->params ? json_get(m->params, "arguments") : NULL;
        (void) peer;
        d->tool = mcp_tool_find(name);
        if (!name || !d->tool) {
                reply_error(d, out, m, RPC_INVALID_PARAMS, name ? "unknown tool" : "tools/call needs name");
                return;
        }

        if (args && args->type != JSON_OBJECT) {
                reply_error(d, out, m, RPC_INVALID_PARAMS, "arguments is an object");
                return;
        }

        if (!mcp_tool_check(d->tool, args, &why)) {
                wrong_arguments(m, d, &why, out);
                return;
        }

        d->step = MCP_CALL;
        d->args = args;
        d->responses = json_of(m->params, "inputResponses", JSON_OBJECT);
        d->state = json_str(m->params, "requestState");
}

enum era { ERA_BOTH = 0, ERA_LEGACY, ERA_MODERN };
static const struct {
        const char *name;
        enum era era;
        void (*take)(const struct rpc *m, struct mcp_peer *peer, struct mcp_decision *d, struct buf *out);
} methods[] = {
        { "initialize", ERA_LEGACY, on_initialize },
        { "ping", ERA_LEGACY, on_ping },
        { "server/discover", ERA_MODERN, on_discover },
        { "tools/call", ERA_BOTH, on_call },
        { "tools/list", ERA_BOTH, on_list },
};

/* ---- eras ---- */

static void wrong_version(const struct rpc *m, const char *version, struct mcp_decision *d, struct buf *out)
{
        AUTO_BUF(data);
        d->step = MCP_REPLY;
        buf_printf(&data, "{\"supported\":[\"%s\",\"%s\"],\"requested\":", MODERN, LEGACY);
        buf_json(&data, span_str(version));
        buf_putc(&data, '}');
        mcp_put_error(out, m->id, RPC_NO_VERSION, "unsupported protocol version", buf_str(&data));
}

/* False: the reply is in `out`. */
static bool choose_era(const struct rpc *m, const struct mcp_peer *peer, struct mcp_decision *d,
                       struct buf *out)
{
        const struct json *meta = json_of(m->params, "_meta", JSON_OBJECT);
        const char *version = mcp_version_of(m);
        const struct json *capabilities = json_of(meta, META_CAPABILITIES, JSON_OBJECT);
        const struct json *token = meta ? json_get(meta, "progressToken") : NULL;
        d->progress = rpc_is_id(token) ? token : NULL;

        bool opens = strcmp(m->method, "initialize") == 0 || strcmp(m->method, "ping") == 0;
        if (!version && (peer->initialized || opens)) {
                d->elicits = peer->elicits;
                return true;
        }

        d->modern = true;
        if (version && strcmp(version, MODERN) != 0) {
                wrong_version(m, version, d, out);
                return false;
        }

        if (!version || !capabilities) {
                reply_error(d, out, m, RPC_INVALID_PARAMS,
                            version ? "_meta needs io.modelcontextprotocol/clientCapabilities"
                                    : "_meta needs io.modelcontextprotocol/protocolVersion, or initialize "
                                      "comes first");
                return false;
        }

        d->elicits = can_elicit(capabilities);
        return true;
}

static void decide_request(const struct rpc *m, struct mcp_peer *peer, struct mcp_decision *d,
                           struct buf *out)
{
        if (!choose_era(m, peer, d, out))
                return;

        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
                if (strcmp(methods[i].name, m->method) == 0 &&
                    (methods[i].era == ERA_BOTH || (methods[i].era == ERA_MODERN) == d->modern)) {
                        methods[i].take(m, peer, d, out);
                        return;
                }

        reply_error(d, out, m, RPC_NO_METHOD, "unknown method");
}

void mcp_decide(const struct rpc *m, struct mcp_peer *peer, struct mcp_decision *ret, struct buf *out)
{
        const struct json *target = m->params ? json_get(m->params, "requestId") : NULL;
        *ret = (struct mcp_decision){ 0 };
        switch (m->kind) {
        case RPC_INVALID:
                reply_error(ret, out, m, m->code, m->why);
                return;
        case RPC_REQUEST:
                decide_request(m, peer, ret, out);
                return;
        case RPC_RESPONSE:
                ret->step = MCP_ANSWERED;
                ret->target = m->id;
                return;
        case RPC_NOTIFICATION:
                if (strcmp(m->method, "notifications/cancelled") == 0 && rpc_is_id(target)) {
                        ret->step = MCP_CANCEL;
                        ret->target = target;
                }
                return;
        }
}
