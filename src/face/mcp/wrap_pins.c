/* SPDX-License-Identifier: MIT */
/* face/mcp/wrap_pins.c - descriptions of tools, compared with those that were accepted. Pure. The file is
 * {"instructions":TEXT,"tools":[TOOL,...]}, keys sorted. */
#include "face/mcp/wrap.h"

#include <stdlib.h>
#include <string.h>

int wrap_pins_load(struct wrap_pins *p, const char *text)
{
        struct err e;
        *p = (struct wrap_pins){ 0 };
        if (text[0] == '\0')
                return 0;

        p->doc = json_parse_data("pins", span_str(text), &e);
        return p->doc && json_of(json_root(p->doc), "tools", JSON_ARRAY) ? 0 : -1;
}

void wrap_pins_done(struct wrap_pins *p)
{
        json_free(p->doc);
        p->doc = NULL;
}

static int by_key(const void *a, const void *b)
{
        const struct json *x = *(const struct json *const *) a, *y = *(const struct json *const *) b;
        return strcmp(x->key, y->key);
}

static void put_members(struct buf *out, const struct json *v)
{
        size_t n = 0;
        for (const struct json *c = v->child; c; c = c->next)
                n++;

        const struct json **members = calloc(n + 1, sizeof(void *));
        out->failed |= !members;
        n = 0;
        for (const struct json *c = members ? v->child : NULL; c; c = c->next)
                members[n++] = c;
        if (members)
                qsort(members, n, sizeof(void *), by_key);

        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        buf_putc(out, ',');
                buf_json(out, span_of(members[i]->key, members[i]->key_len));
                buf_putc(out, ':');
                wrap_put_sorted(out, members[i]);
        }
        free(members);
}

/* The depth is bounded by the reader. */
void wrap_put_sorted(struct buf *out, const struct json *v)
{
        if (v->type == JSON_OBJECT) {
                buf_putc(out, '{');
                put_members(out, v);
                buf_putc(out, '}');
        } else if (v->type == JSON_ARRAY) {
                buf_putc(out, '[');
                for (const struct json *c = v->child; c; c = c->next) {
                        wrap_put_sorted(out, c);
                        if (c->next)
                                buf_putc(out, ',');
                }
                buf_putc(out, ']');
        } else {
                rpc_put(out, v);
        }
}

bool wrap_tool_name_ok(const char *name)
{
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/";
        size_t n = name ? strspn(name, allowed) : 0;
        return n > 0 && n < WRAP_TOOL_NAME && name[n] == '\0';
}

const struct json *wrap_pins_find(const struct wrap_pins *p, const char *name)
{
        const struct json *tools = p->doc ? json_of(json_root(p->doc), "tools", JSON_ARRAY) : NULL;
        for (const struct json *t = tools ? tools->child : NULL; t; t = t->next) {
                const char *its = json_str(t, "name");
                if (its && strcmp(its, name) == 0)
                        return t;
        }
        return NULL;
}

static bool is_same(const struct json *a, const struct json *b)
{
        AUTO_BUF(x);
        AUTO_BUF(y);
        wrap_put_sorted(&x, a);
        wrap_put_sorted(&y, b);
        return !x.failed && !y.failed && span_eq(buf_span(&x), buf_span(&y));
}

enum pin_verdict wrap_pins_judge(const struct wrap_pins *p, const struct json *tool)
{
        const char *name = json_str(tool, "name");
        if (!wrap_tool_name_ok(name))
                return PIN_BAD_NAME;

        const struct json *pinned = wrap_pins_find(p, name);
        if (!pinned)
                return PIN_NEW;

        return is_same(pinned, tool) ? PIN_SAME : PIN_CHANGED;
}

bool wrap_pins_instructions(const struct wrap_pins *p, const char *text)
{
        const char *pinned = p->doc ? json_str(json_root(p->doc), "instructions") : NULL;
        return strcmp(pinned ? pinned : "", text) == 0;
}
