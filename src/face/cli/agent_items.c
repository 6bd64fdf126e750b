/* SPDX-License-Identifier: MIT */
/* face/cli/agent_items.c - the values of parts: lists of them, and what a value says. Pure. */
#include "base/base64.h"
#include "base/str.h"
#include "base/vec.h"
#include "face/cli/agent_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

static size_t place_of(const struct cli_items *l, const char *key, bool *ret_there)
{
        size_t low = 0, high = l->n;
        *ret_there = false;
        while (low < high && !*ret_there) {
                size_t mid = (low + high) / 2;
                int order = strcmp(l->v[mid].key, key);
                *ret_there = order == 0;
                if (order < 0)
                        low = mid + 1;
                else
                        high = mid;
        }

        return high;
}

const char *cli_items_get(const struct cli_items *l, const char *key)
{
        bool there;
        size_t at = place_of(l, key, &there);
        return there ? l->v[at].value : NULL;
}

static void drop_item(struct cli_items *l, size_t at)
{
        l->bytes -= strlen(l->v[at].value);
        (void) memmove(l->v + at, l->v + at + 1, (--l->n - at) * sizeof *l->v);
}

/* An empty place among them; NULL: there is no room. */
static struct cli_item *make_room(struct cli_items *l, size_t at)
{
        if (l->n >= CLI_ITEMS_MAX || vec_room((void **) &l->v, l->n, &l->cap, sizeof *l->v) < 0)
                return NULL;

        (void) memmove(l->v + at + 1, l->v + at, (l->n++ - at) * sizeof *l->v);
        return &l->v[at];
}

void cli_items_set(struct cli_items *l, const char *key, const char *value)
{
        bool there;
        size_t at = place_of(l, key, &there);
        if (there)
                drop_item(l, at);
        if (!value)
                return;

        struct cli_item new = { arena_str(&l->mem, key), arena_str(&l->mem, value) };
        bool fits = l->bytes + strlen(value) <= CLI_ITEMS_BYTES && !l->mem.failed;
        struct cli_item *x = fits ? make_room(l, at) : NULL;
        if (!x) {
                l->failed = true;
                return;
        }

        *x = new;
        l->bytes += strlen(value);
}

void cli_items_done(struct cli_items *l)
{
        arena_done(&l->mem);
        free(l->v);
        *l = (struct cli_items){ 0 };
}

void cli_json_put(const struct json *v, struct buf *out)
{
        static const char *const words[] = {
                [JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true"
        };
        if (v->type < sizeof words / sizeof *words) {
                buf_puts(out, words[v->type]);
        } else if (v->type == JSON_INT || v->type == JSON_NUMBER) {
                buf_puts(out, v->str);
        } else if (v->type == JSON_STRING) {
                buf_json(out, span_of(v->str, v->len));
        } else {
                bool object = v->type == JSON_OBJECT;
                buf_putc(out, object ? '{' : '[');
                for (const struct json *m = v->child; m; m = m->next) {
                        buf_puts(out, m == v->child ? "" : ",");
                        if (object) {
                                buf_json(out, span_of(m->key, m->key_len));
                                buf_putc(out, ':');
                        }
                        cli_json_put(m, out);
                }
                buf_putc(out, object ? '}' : ']');
        }
}

void cli_items_put(const struct cli_items *l, struct buf *out)
{
        buf_putc(out, '{');
        for (size_t i = 0; i < l->n; i++) {
                buf_puts(out, i ? "," : "");
                buf_json(out, span_str(l->v[i].key));
                buf_printf(out, ":%s", l->v[i].value);
        }

        buf_putc(out, '}');
}

int cli_items_read(struct cli_items *l, const char *text)
{
        struct err ignored;
        struct json_doc *d = json_parse_data("list", span_str(text), &ignored);
        const struct json *root = d ? json_root(d) : NULL;
        bool good = root && root->type == JSON_OBJECT;
        for (const struct json *m = good ? root->child : NULL; m; m = m->next) {
                AUTO_BUF(value);
                cli_json_put(m, &value);
                cli_items_set(l, m->key, buf_str(&value));
        }

        json_free(d);
        return good && !l->failed ? 0 : -1;
}

/* ---- values ---- */

void cli_file_put(struct span bytes, struct cli_file is, struct buf *out)
{
        bool text = str_is_utf8(bytes);
        buf_puts(out, text ? "{\"file\":" : "{\"base64\":\"");
        if (text)
                buf_json(out, bytes);
        else
                base64_put(bytes, out);
        buf_printf(out, "%s%s%s}", text ? "" : "\"", is.run ? ",\"run\":true" : "",
                   is.linked ? ",\"linked\":true" : "");
}

int cli_file_read(const char *value, struct cli_file *ret, struct buf *bytes)
{
        struct err ignored;
        struct json_doc *d = json_parse_data("value", span_str(value), &ignored);
        const struct json *o = d ? json_root(d) : NULL, *text = NULL, *coded = NULL;
        if (o && o->type == JSON_OBJECT) {
                text = json_get(o, "file");
                coded = json_get(o, "base64");
                *ret = (struct cli_file){ json_is_true(o, "run"), json_is_true(o, "linked") };
        }

        ssize_t n = -1;
        if (text && text->type == JSON_STRING) {
                buf_add(bytes, text->str, text->len);
                n = (ssize_t) text->len;
        } else if (coded && coded->type == JSON_STRING) {
                uint8_t *room = malloc(coded->len + 1);
                n = room ? base64_read(span_of(coded->str, coded->len), room, coded->len) : -1;
                if (n > 0)
                        buf_add(bytes, room, (size_t) n);
                free(room);
        }

        json_free(d);
        return n < 0 || bytes->failed ? -1 : 0;
}

bool cli_link_read(const char *value, struct buf *target)
{
        struct err ignored;
        struct json_doc *d = json_parse_data("value", span_str(value), &ignored);
        const struct json *o = d ? json_root(d) : NULL;
        const struct json *t = o && o->type == JSON_OBJECT ? json_get(o, "link") : NULL;
        bool is = t && t->type == JSON_STRING && t->len > 0 && strlen(t->str) == t->len;
        if (is)
                buf_puts(target, t->str);
        json_free(d);
        return is && !target->failed;
}
