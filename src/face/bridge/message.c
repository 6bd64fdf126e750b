/* SPDX-License-Identifier: MIT */
/* face/bridge/message.c - messages of the client as requests of MCP's Streamable HTTP. Pure. */
#include "base/base64.h"
#include "face/bridge/bridge.h"

#include <stdio.h>
#include <string.h>

static const char META_VERSION[] = "io.modelcontextprotocol/protocolVersion";

static bool copy_text(char *to, size_t cap, const char *p, size_t n)
{
        if (n == 0 || n >= cap)
                return false;
        memcpy(to, p, n);
        to[n] = '\0';
        return true;
}

static bool read_authority(const char *p, size_t n, struct bridge_url *u)
{
        size_t host = n;
        const char *inside = p;
        if (n > 0 && p[0] == '[') {
                const char *end = memchr(p, ']', n);
                host = end ? (size_t) (end - p) + 1 : 0;
                inside++;
        } else if (memchr(p, ':', n))
                host = (size_t) ((const char *) memchr(p, ':', n) - p);

        bool port = host > 0 && host < n && p[host] == ':';
        if (memchr(p, '@', n) || (host < n && !port))
                return false;

        (void) snprintf(u->port, sizeof u->port, "%s", u->tls ? "443" : "80");
        return copy_text(u->host, sizeof u->host, inside, inside > p && host > 1 ? host - 2 : host) &&
               (!port || copy_text(u->port, sizeof u->port, p + host + 1, n - host - 1)) &&
               strspn(u->port, "0123456789") == strlen(u->port);
}

int bridge_url_read(const char *text, struct bridge_url *u)
{
        static const char http[] = "http://", https[] = "https://";
        *u = (struct bridge_url){ 0 };
        u->tls = strncmp(text, https, sizeof https - 1) == 0;
        if (!u->tls && strncmp(text, http, sizeof http - 1) != 0)
                return -1;

        const char *p = text + (u->tls ? sizeof https : sizeof http) - 1;
        size_t n = strcspn(p, "/?#");
        for (const char *c = text; *c; c++)
                if (*c <= ' ' || *c > '~' || *c == '#')
                        return -1;
        if (!read_authority(p, n, u))
                return -1;

        int len = snprintf(u->path, sizeof u->path, "%s%s", p[n] == '/' ? "" : "/", p + n);
        return len > 0 && (size_t) len < sizeof u->path ? 0 : -1;
}

/* ---- heads ---- */

static const char *version_of(const struct rpc *m)
{
        return m ? json_str(json_of(m->params, "_meta", JSON_OBJECT), META_VERSION) : NULL;
}

bool bridge_is_modern(const struct rpc *m) { return version_of(m) != NULL; }

/* A value that a header cannot carry goes as =?base64?...?= */
static void put_field(struct buf *out, const char *name, const char *value)
{
        size_t n = strlen(value);
        bool plain = n > 0 && value[0] != ' ' && value[n - 1] != ' ' && strncmp(value, "=?base64?", 9) != 0;
        for (const char *c = value; plain && *c; c++)
                plain = *c >= ' ' && *c <= '~';

        buf_printf(out, "%s: ", name);
        if (plain)
                buf_puts(out, value);
        else {
                buf_puts(out, "=?base64?");
                base64_put(span_str(value), out);
                buf_puts(out, "?=");
        }
        buf_puts(out, "\r\n");
}

static void put_modern(struct buf *out, const struct rpc *m)
{
        bool by_name = strcmp(m->method, "tools/call") == 0 || strcmp(m->method, "prompts/get") == 0;
        bool by_uri = strcmp(m->method, "resources/read") == 0;
        const char *name = by_name ? json_str(m->params, "name") : by_uri ? json_str(m->params, "uri") : NULL;
        put_field(out, "MCP-Protocol-Version", version_of(m));
        put_field(out, "Mcp-Method", m->method);
        if (name)
                put_field(out, "Mcp-Name", name);
}

void bridge_put_head(struct buf *out, const struct bridge_url *u, const char *method,
                     const struct bridge_session *s, const struct rpc *m, size_t length)
{
        bool v6 = strchr(u->host, ':') != NULL, opens = m && strcmp(m->method, "initialize") == 0;
        bool usual = strcmp(u->port, u->tls ? "443" : "80") == 0;
        buf_printf(out, "%s %s HTTP/1.1\r\nHost: %s%s%s%s%s\r\n", method, u->path, v6 ? "[" : "", u->host,
                   v6 ? "]" : "", usual ? "" : ":", usual ? "" : u->port);
        buf_puts(out, "User-Agent: cordon\r\nAccept: application/json, text/event-stream\r\n");
        if (m)
                buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", length);
        if (bridge_is_modern(m))
                put_modern(out, m);
        else if (!opens) {
                if (s->version[0])
                        put_field(out, "MCP-Protocol-Version", s->version);
                if (s->id[0])
                        buf_printf(out, "Mcp-Session-Id: %s\r\n", s->id);
        }
        buf_puts(out, "\r\n");
}

bool bridge_is_session_id(struct span s)
{
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] <= ' ' || s.p[i] > '~')
                        return false;
        return s.n > 0 && s.n < BRIDGE_TEXT;
}
