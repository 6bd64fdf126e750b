/* SPDX-License-Identifier: MIT */
/* output/order.c - the order to cordon-output, as one JSON object. Pure. */
#include "base/base64.h"
#include "base/grant.h"
#include "base/json.h"
#include "output/process.h"

#include <stdlib.h>
#include <string.h>

static const char *bool_text(bool b) { return b ? "true" : "false"; }

static void put_form(const struct pipeline_config *c, struct buf *out)
{
        buf_printf(out, "{\"as\":%d,\"max\":%llu,\"verbatim\":%s,\"links\":%s", (int) c->form,
                   (unsigned long long) c->max, bool_text(c->verbatim), bool_text(c->keep_links));
        buf_member(out, "name", c->schema_name ? c->schema_name : OUTPUT_NO_SCHEMA);
        buf_puts(out, ",\"schema\":\"");
        base64_put(c->schema, out);
        buf_puts(out, "\"}");
}

void output_order_put(const struct pipeline_config *c, const struct output_order_more *more, struct buf *out)
{
        buf_printf(out, "{\"become\":%u,\"vault\":%s,\"serves\":%s,\"forms\":[", more->become,
                   bool_text(more->vault), bool_text(more->serves));
        put_form(c, out);
        for (size_t i = 0; i < more->n_others; i++) {
                buf_putc(out, ',');
                put_form(&more->others[i], out);
        }

        buf_puts(out, "],\"words\":[");
        for (size_t i = 0; i < c->n_words; i++) {
                buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
                buf_json(out, span_str(c->words[i].name));
                buf_printf(out, ",\"canary\":%s,\"word\":\"", bool_text(c->words[i].canary));
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
        struct pipeline_config *forms;
        size_t count;             /* of the forms */
        struct pipeline_config c; /* the words and hosts of each */
        struct known_word words[KNOWN_MAX];
        const char **hosts;
        struct output_order_more more;
        char names[GRANTS_MAX * GRANT_WORDS][GRANT_NAME]; /* of the vault's secrets */
        uint8_t secrets[GRANTS_MAX * GRANT_WORDS][sizeof((struct grant_word *) 0)->secret];
        size_t from_vault; /* the last of the words */
};

static struct span decode_text(const struct json *text)
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
                o->words[o->c.n_words++] = (struct known_word){ name->str, decode_text(json_get(x, "word")),
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

static int64_t read_number(const struct json *root, const char *key)
{
        const struct json *v = json_get(root, key);
        return v && v->type == JSON_INT ? v->integer : -1;
}

static int read_form(const struct json *x, struct pipeline_config *ret)
{
        const struct json *name = json_get(x, "name");
        int64_t form = read_number(x, "as"), max = read_number(x, "max");
        if (form < 0 || form >= HANDLE_TYPE__COUNT || max < 0 || !name || name->type != JSON_STRING)
                return -1;

        *ret = (struct pipeline_config){ .form = (enum handle_type) form,
                                         .max = (uint64_t) max,
                                         .verbatim = json_is_true(x, "verbatim"),
                                         .keep_links = json_is_true(x, "links"),
                                         .schema_name = name->str,
                                         .schema = decode_text(json_get(x, "schema")) };
        return 0;
}

static int read_forms(struct output_order *o, const struct json *list)
{
        size_t n = 0;
        for (const struct json *x = list ? list->child : NULL; x; x = x->next)
                n++;

        o->forms = n ? calloc(n, sizeof *o->forms) : NULL;
        for (const struct json *x = o->forms ? list->child : NULL; x; x = x->next)
                if (read_form(x, &o->forms[o->count++]) < 0)
                        return -1;
        return o->forms ? 0 : -1;
}

void output_order_free(struct output_order *o)
{
        if (!o)
                return;
        for (size_t i = 0; i + o->from_vault < o->c.n_words; i++)
                free((void *) (uintptr_t) o->words[i].word.p);
        for (size_t i = 0; i < o->count; i++)
                free((void *) (uintptr_t) o->forms[i].schema.p);
        free(o->forms);
        free(o->hosts);
        json_free(o->doc);
        free(o);
}

/* The words may grow later: each form points to all. */
static void share_words(struct output_order *o)
{
        for (size_t i = 0; i < o->count; i++) {
                o->forms[i].words = o->words;
                o->forms[i].n_words = o->c.n_words;
                o->forms[i].hosts = o->hosts;
                o->forms[i].n_hosts = o->c.n_hosts;
        }
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

        const struct json *root = json_root(o->doc);
        int64_t become = read_number(root, "become");
        if (become < 0 || read_words(o, json_get(root, "words")) < 0 ||
            read_hosts(o, json_get(root, "hosts")) < 0 || read_forms(o, json_get(root, "forms")) < 0) {
                (void) err_set(e, ERR_INTERNAL, 0, "the order is broken");
                output_order_free(o);
                return NULL;
        }

        share_words(o);
        o->more.become = (uint32_t) become;
        o->more.vault = json_is_true(root, "vault");
        o->more.serves = json_is_true(root, "serves");
        return o;
}

size_t output_order_count(const struct output_order *o) { return o->count; }
const struct pipeline_config *output_order_config(const struct output_order *o, size_t i)
{
        return &o->forms[i];
}
const struct output_order_more *output_order_more(const struct output_order *o) { return &o->more; }

int output_order_words(struct output_order *o, struct span records)
{
        size_t count = records.n / sizeof(struct grant_word);
        if (records.n % sizeof(struct grant_word) != 0 || count > (size_t) GRANTS_MAX * GRANT_WORDS)
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
        share_words(o);
        return 0;
}
