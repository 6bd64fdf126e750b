/* SPDX-License-Identifier: MIT */
/* output/order.c - the order to cordon-output, as one JSON object. Pure. */
#include "base/base64.h"
#include "base/grant.h"
#include "base/json.h"
#include "output/process.h"

#include <stdlib.h>
#include <string.h>

void output_order_put(const struct pipeline_config *c, const struct output_order_more *more, struct buf *out)
{
        buf_printf(out, "{\"as\":%d,\"max\":%llu,\"verbatim\":%s,\"become\":%u,\"vault\":%s", (int) c->form,
                   (unsigned long long) c->max, c->verbatim ? "true" : "false", more->become,
                   more->vault ? "true" : "false");
        buf_member(out, "name", c->schema_name ? c->schema_name : "output");
        buf_puts(out, ",\"schema\":\"");
        base64_put(c->schema, out);
        buf_puts(out, "\",\"words\":[");
        for (size_t i = 0; i < c->n_words; i++) {
                buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
                buf_json(out, span_str(c->words[i].name));
                buf_printf(out, ",\"canary\":%s,\"word\":\"", c->words[i].canary ? "true" : "false");
                base64_put(c->words[i].word, out);
                buf_puts(out, "\"}");
        }

        buf_puts(out, "],\"hosts\":[");
        for (size_t i = 0; i < c->n_hosts; i++) {
                buf_puts(out, i ? "," : "");
                buf_json(out, span_str(c->hosts[i]));
        }
        buf_puts(out, "]}");
}

struct output_order {
        struct json_doc *doc;
        struct pipeline_config c;
        struct known_word words[KNOWN_MAX];
        const char **hosts;
        struct output_order_more more;
        char names[GRANTS_MAX][GRANT_NAME]; /* of the vault's secrets */
        uint8_t secrets[GRANTS_MAX][sizeof((struct grant_word *) 0)->secret];
        size_t from_vault; /* the last of the words */
};

static struct span decode(const struct json *text)
{
        size_t cap = text && text->type == JSON_STRING ? text->len : 0;
        uint8_t *p = cap ? malloc(cap) : NULL;
        ssize_t n = p ? base64_read(span_of(text->str, text->len), p, cap) : -1;
        if (n < 0)
                return span_of(NULL, 0);

        return span_of(p, (size_t) n);
}

static int read_words(struct output_order *o, const struct json *list)
{
        for (const struct json *x = list ? list->child : NULL; x; x = x->next) {
                const struct json *name = json_get(x, "name"), *canary = json_get(x, "canary");
                if (!name || name->type != JSON_STRING || o->c.n_words == KNOWN_MAX)
                        return -1;
                o->words[o->c.n_words++] = (struct known_word){ name->str, decode(json_get(x, "word")),
                                                                canary && canary->type == JSON_TRUE };
        }
        o->c.words = o->words;
        return 0;
}

static int read_hosts(struct output_order *o, const struct json *list)
{
        size_t n = 0;
        for (const struct json *x = list ? list->child : NULL; x; x = x->next)
                n++;

        o->hosts = calloc(n + 1, sizeof *o->hosts);
        for (const struct json *x = o->hosts && list ? list->child : NULL; x; x = x->next)
                if (x->type == JSON_STRING)
                        o->hosts[o->c.n_hosts++] = x->str;
        o->c.hosts = o->hosts;
        return o->hosts ? 0 : -1;
}

static int64_t number(const struct json *root, const char *key)
{
        const struct json *v = json_get(root, key);
        return v && v->type == JSON_INT ? v->integer : -1;
}

void output_order_free(struct output_order *o)
{
        if (!o)
                return;
        for (size_t i = 0; i + o->from_vault < o->c.n_words; i++)
                free((void *) (uintptr_t) o->words[i].word.p);
        free((void *) (uintptr_t) o->c.schema.p);
        free(o->hosts);
        json_free(o->doc);
        free(o);
}

struct output_order *output_order_read(struct span text, struct err *e)
{
        struct output_order *o = calloc(1, sizeof *o);
        if (!o)
                return NULL;

        o->doc = json_parse_data("order", text, e);
        if (!o->doc) {
                output_order_free(o);
                return NULL;
        }

        const struct json *root = json_root(o->doc), *verbatim = json_get(root, "verbatim"),
                          *name = json_get(root, "name"), *vault = json_get(root, "vault");
        int64_t form = number(root, "as"), max = number(root, "max"), become = number(root, "become");
        if (form < 0 || form >= HANDLE_TYPE__COUNT || max < 0 || become < 0 || !name ||
            read_words(o, json_get(root, "words")) < 0 || read_hosts(o, json_get(root, "hosts")) < 0) {
                (void) err_set(e, ERR_INTERNAL, 0, "the order is broken");
                output_order_free(o);
                return NULL;
        }

        o->c.form = (enum handle_type) form;
        o->c.max = (uint64_t) max;
        o->c.verbatim = verbatim && verbatim->type == JSON_TRUE;
        o->c.schema_name = name->str;
        o->c.schema = decode(json_get(root, "schema"));
        o->more.become = (uint32_t) become;
        o->more.vault = vault && vault->type == JSON_TRUE;
        return o;
}

const struct pipeline_config *output_order_config(const struct output_order *o) { return &o->c; }
const struct output_order_more *output_order_more(const struct output_order *o) { return &o->more; }

int output_order_words(struct output_order *o, struct span records)
{
        size_t count = records.n / sizeof(struct grant_word);
        if (records.n % sizeof(struct grant_word) != 0 || count > GRANTS_MAX)
                return -1;

        for (size_t i = 0; i < count; i++) {
                struct grant_word w;
                memcpy(&w, records.p + i * sizeof w, sizeof w);
                if (w.size != sizeof w || w.length > sizeof w.secret || w.length == 0 ||
                    o->c.n_words >= KNOWN_MAX)
                        return -1;

                memcpy(o->secrets[i], w.secret, w.length);
                memcpy(o->names[i], w.name, sizeof w.name - 1);
                o->words[o->c.n_words++] =
                        (struct known_word){ o->names[i], span_of(o->secrets[i], w.length), false };
                o->from_vault++;
        }
        return 0;
}
