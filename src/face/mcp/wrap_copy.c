/* SPDX-License-Identifier: MIT */
/* face/mcp/wrap_copy.c - messages written anew, so that both sides read what was judged. */
#include "base/str.h"
#include "face/mcp/wrap.h"

#include <string.h>

static const char META_CAPABILITIES[] = "io.modelcontextprotocol/clientCapabilities";

/* Methods that a server may ask of a client, if it is permitted. */
static const struct {
        const char *capability, *method;
} asks[] = {
        { "sampling", "sampling/createMessage" },
        { "elicitation", "elicitation/create" },
        { "roots", "roots/list" },
};

unsigned wrap_method_bit(const char *method)
{
        for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
                if (strcmp(asks[i].method, method) == 0)
                        return 1u << i;
        return 0;
}

static bool is_plain(const char *p, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if ((p[i] < ' ' && p[i] != '\n' && p[i] != '\t') || p[i] > '~')
                        return false;
        return true;
}

static void put_text(struct buf *out, const char *p, size_t n, struct wrap_copied *done)
{
        uint64_t cuts = 0;
        size_t len = 0;
        if (is_plain(p, n)) {
                buf_json(out, span_of(p, n));
                return;
        }

        char *inert = cordon_inert(p, n, &len, &cuts);
        buf_json(out, span_of(inert ? inert : "", inert ? len : 0));
        cordon_free(inert);
        done->cuts += cuts;
}

/* The depth is bounded by the reader. */
void wrap_put_inert(struct buf *out, const struct json *v, struct wrap_copied *done)
{
        bool object = v->type == JSON_OBJECT;
        if (v->type == JSON_STRING) {
                put_text(out, v->str, v->len, done);
                return;
        }
        if (!object && v->type != JSON_ARRAY) {
                rpc_put(out, v);
                return;
        }

        buf_putc(out, object ? '{' : '[');
        for (const struct json *c = v->child; c; c = c->next) {
                if (object) {
                        put_text(out, c->key, c->key_len, done);
                        buf_putc(out, ':');
                }
                wrap_put_inert(out, c, done);
                if (c->next)
                        buf_putc(out, ',');
        }
        buf_putc(out, object ? '}' : ']');
}

/* ---- of the client ---- */

void wrap_put_key(struct buf *out, const struct json *c)
{
        buf_key(out, NULL);
        buf_json(out, span_of(c->key, c->key_len));
        buf_putc(out, ':');
}

static bool is_left_out(const char *key, unsigned permitted)
{
        int i = str_row(asks, sizeof asks / sizeof *asks, key);
        return i < 0 ? false : !(permitted & 1u << i);
}

static void put_capabilities(struct buf *out, const struct json *v, unsigned permitted)
{
        buf_putc(out, '{');
        for (const struct json *c = v->child; c; c = c->next)
                if (!is_left_out(c->key, permitted)) {
                        wrap_put_key(out, c);
                        rpc_put(out, c);
                }
        buf_putc(out, '}');
}

/* Objects on the way to the capabilities: the message, its params, their _meta. */
static void put_level(struct buf *out, const struct json *v, const struct wrap_sent *how, unsigned level)
{
        static const char *const way[] = { "params", "_meta" }, *const ids[] = { "id", "requestId",
                                                                                 "progressToken" };
        buf_putc(out, '{');
        for (const struct json *c = v->child; c; c = c->next) {
                bool here = (level == 1 && strcmp(c->key, "capabilities") == 0) ||
                            (level == 2 && strcmp(c->key, META_CAPABILITIES) == 0);
                wrap_put_key(out, c);
                if (here && c->type == JSON_OBJECT)
                        put_capabilities(out, c, how->permitted);
                else if (level < 2 && c->type == JSON_OBJECT && strcmp(c->key, way[level]) == 0)
                        put_level(out, c, how, level + 1);
                else if (how->id && strcmp(c->key, ids[level]) == 0)
                        buf_puts(out, how->id);
                else
                        rpc_put(out, c);
        }
        buf_putc(out, '}');
}

void wrap_put_request(struct buf *out, const struct json *message, const struct wrap_sent *how)
{
        put_level(out, message, how, 0);
}

/* ---- of the server ---- */

void wrap_put_progress(struct buf *out, const struct json *params, const char *token,
                       struct wrap_copied *done)
{
        buf_putc(out, '{');
        for (const struct json *c = params->child; c; c = c->next) {
                put_text(out, c->key, c->key_len, done);
                buf_putc(out, ':');
                if (strcmp(c->key, "progressToken") == 0)
                        buf_puts(out, token);
                else
                        wrap_put_inert(out, c, done);
                if (c->next)
                        buf_putc(out, ',');
        }
        buf_putc(out, '}');
}
