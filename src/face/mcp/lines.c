/* SPDX-License-Identifier: MIT */
/* face/mcp/lines.c - the lines that a server sends. Pure. */
#include "face/mcp/methods.h"

void mcp_put_error(struct buf *out, const struct json *id, int code, const char *message, const char *data)
{
        buf_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":");
        rpc_put_id(out, id);
        buf_printf(out, ",\"error\":{\"code\":%d", code);
        buf_member(out, "message", message);
        if (data)
                buf_printf(out, ",\"data\":%s", data);
        buf_puts(out, "}}");
}

void mcp_put_result(struct buf *out, const char *id, bool modern, const char *type)
{
        buf_printf(out,
                   "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"_meta\":{\"io.modelcontextprotocol/"
                   "serverInfo\":"
                   "{\"name\":\"cordon\",\"version\":\"" CORDON_VERSION "\"}}",
                   id);
        if (modern)
                buf_member(out, "resultType", type);
}

void mcp_put_end(struct buf *out) { buf_puts(out, "}}"); }

void mcp_put_tool_result(struct buf *out, const char *id, bool modern, bool failed, struct span structured)
{
        mcp_put_result(out, id, modern, "complete");
        buf_puts(out, ",\"content\":[{\"type\":\"text\",\"text\":");
        buf_json(out, structured);
        buf_puts(out, "}],\"structuredContent\":");
        buf_add(out, structured.p, structured.n);
        buf_printf(out, ",\"isError\":%s", failed ? "true" : "false");
        mcp_put_end(out);
}

void mcp_put_failure(struct buf *out, const char *code, const char *message, const char *hint)
{
        buf_puts(out, "{\"error\":{");
        buf_member(out, "code", code[0] ? code : "internal");
        buf_member(out, "message", message);
        if (hint[0])
                buf_member(out, "hint", hint);
        buf_puts(out, "},\"next_steps\":[");
        if (hint[0])
                buf_member(out, NULL, hint);
        buf_puts(out, "]}");
}

void mcp_put_progress(struct buf *out, const char *token, unsigned count, const char *message)
{
        buf_printf(
                out,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,"
                "\"progress\":%u",
                token, count);
        buf_member(out, "message", message);
        buf_puts(out, "}}");
}
