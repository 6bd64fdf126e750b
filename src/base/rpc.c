/* SPDX-License-Identifier: MIT */
/* base/rpc.c - one line of JSON-RPC 2.0. Batches do not exist in MCP; members that JSON-RPC does not have are
 * ignored. */
#include "base/rpc.h"

#include <string.h>

bool rpc_is_id(const struct json *v)
{
        return v && (v->type == JSON_STRING || v->type == JSON_INT) && v->len <= RPC_ID_MAX / 8;
}

static void invalid_message(struct rpc *m, int code, const char *why)
{
        m->kind = RPC_INVALID;
        m->code = code;
        m->why = why;
}

/* Keys are compared as C strings: one with a NUL would be two things to two readers. */
static bool has_odd_key(const struct json_doc *d)
{
        const struct json *v = json_root(d);
        for (size_t i = 0; i < json_count(d); i++)
                if (v[i].key && strlen(v[i].key) != v[i].key_len)
                        return true;
        return false;
}

static void read_response(struct rpc *m, const struct json *root)
{
        m->result = json_get(root, "result");
        m->error = json_get(root, "error");
        if (!m->result == !m->error) {
                invalid_message(m, RPC_INVALID_REQUEST, "a message has a method, a result or an error");
                return;
        }

        if (m->error && m->error->type != JSON_OBJECT) {
                invalid_message(m, RPC_INVALID_REQUEST, "error is an object");
                return;
        }

        if (!m->id) {
                invalid_message(m, RPC_INVALID_REQUEST, "a response has an id");
                return;
        }

        m->kind = RPC_RESPONSE;
}

static void read_object(struct rpc *m, const struct json *root)
{
        const char *version = json_str(root, "jsonrpc");
        const struct json *id = json_get(root, "id"), *params = json_get(root, "params");
        if (!version || strcmp(version, "2.0") != 0) {
                invalid_message(m, RPC_INVALID_REQUEST, "jsonrpc is \"2.0\"");
                return;
        }

        if (id && !rpc_is_id(id)) {
                invalid_message(m, RPC_INVALID_REQUEST, "id is a short string or an integer");
                return;
        }

        m->id = id;
        if (!json_get(root, "method")) {
                read_response(m, root);
                return;
        }

        m->method = json_str(root, "method");
        if (!m->method) {
                invalid_message(m, RPC_INVALID_REQUEST, "method is a string");
                return;
        }

        if (params && params->type != JSON_OBJECT) {
                invalid_message(m, RPC_INVALID_REQUEST, "params is an object");
                return;
        }

        m->params = params;
        m->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
}

void rpc_read(struct span line, struct rpc *ret)
{
        struct err e;
        *ret = (struct rpc){ .method = "" };
        if (line.n > RPC_LINE_MAX) {
                invalid_message(ret, RPC_PARSE_ERROR, "the message is too long");
                return;
        }

        ret->doc = json_parse_data("message", line, &e);
        if (!ret->doc) {
                invalid_message(ret, RPC_PARSE_ERROR, "the message is not JSON");
                return;
        }

        const struct json *root = json_root(ret->doc);
        if (root->type != JSON_OBJECT || has_odd_key(ret->doc)) {
                invalid_message(ret, RPC_INVALID_REQUEST, "a message is one object");
                return;
        }

        read_object(ret, root);
        if (!ret->method)
                ret->method = "";
}

void rpc_done(struct rpc *m)
{
        json_free(m->doc);
        m->doc = NULL;
}

static void put_scalar(struct buf *out, const struct json *v)
{
        switch (v->type) {
        case JSON_NULL:
                buf_puts(out, "null");
                return;
        case JSON_FALSE:
                buf_puts(out, "false");
                return;
        case JSON_TRUE:
                buf_puts(out, "true");
                return;
        case JSON_INT:
        case JSON_NUMBER:
                buf_add(out, v->str, v->len);
                return;
        case JSON_STRING:
                buf_json(out, span_of(v->str, v->len));
                return;
        case JSON_ARRAY:
        case JSON_OBJECT:
                return;
        }
}

/* The depth is bounded by the reader. */
void rpc_put(struct buf *out, const struct json *v)
{
        bool object = v->type == JSON_OBJECT;
        if (!object && v->type != JSON_ARRAY) {
                put_scalar(out, v);
                return;
        }

        buf_putc(out, object ? '{' : '[');
        for (const struct json *c = v->child; c; c = c->next) {
                if (object) {
                        buf_json(out, span_of(c->key, c->key_len));
                        buf_putc(out, ':');
                }
                rpc_put(out, c);
                if (c->next)
                        buf_putc(out, ',');
        }
        buf_putc(out, object ? '}' : ']');
}

void rpc_put_id(struct buf *out, const struct json *id)
{
        if (id)
                rpc_put(out, id);
        else
                buf_puts(out, "null");
}
