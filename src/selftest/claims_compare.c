/* SPDX-License-Identifier: MIT */
/* selftest/claims_compare.c - reads and compares claims that may come from anywhere. Pure. */
#include "selftest/claims_compare.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum { RECORD_MOST = 16384 };

bool claims_proof_names(const char *proof, struct span text)
{
        char want[100], record[RECORD_MOST + 1];
        char hex[65];
        const char *at = strstr(proof, "\nextra ");
        size_t n = at ? strcspn(at + 7, "\n") : 0;
        ssize_t got = at ? base64_read(span_of(at + 7, n), (uint8_t *) record, RECORD_MOST) : -1;
        if (got <= 0)
                return false;

        record[got] = '\0';
        sha256_hex(text, hex);
        (void) snprintf(want, sizeof want, "\"digest\":\"sha256:%s\"", hex);
        return strlen(record) == (size_t) got && strstr(record, want) && strstr(record, "\"kind\":\"audit\"");
}

struct json_doc *claims_parse(const char *name, struct span text)
{
        struct err ignored;
        struct json_doc *d = json_parse(name, text, &ignored);
        if (d && json_root(d)->type == JSON_OBJECT && json_get(json_root(d), "residual"))
                return d;

        json_free(d);
        return NULL;
}

/* ---- comparing ---- */

static const char *text_of(const struct json *o, const char *key)
{
        const struct json *j = o ? json_get(o, key) : NULL;
        return j && (j->type == JSON_STRING || j->type == JSON_INT) ? j->str : "";
}

static const struct json *list_of(const struct claims_text *c, const char *key)
{
        const struct json *j = json_get(json_root(c->doc), key);
        return j && j->type == JSON_ARRAY ? j->child : NULL;
}

static bool has_text(const struct json *list, const char *text)
{
        for (; list; list = list->next)
                if (list->type == JSON_STRING && strcmp(list->str, text) == 0)
                        return true;
        return false;
}

static void put_inert(struct buf *o, const char *text)
{
        char shown[600];
        buf_puts(o, str_inert(span_str(text), shown, sizeof shown));
}

/* Lines of one and not of the other, with a sign. */
static unsigned diff_list(const struct claims_text *a, const struct claims_text *b, const char *key,
                          char sign, struct buf *o)
{
        unsigned n = 0;
        for (const struct json *j = list_of(a, key); j; j = j->next)
                if (j->type == JSON_STRING && !has_text(list_of(b, key), j->str)) {
                        buf_printf(o, "%c %s: ", sign, key);
                        put_inert(o, j->str);
                        buf_putc(o, '\n');
                        n++;
                }
        return n;
}

static const struct json *class_of(const struct claims_text *c, const char *name)
{
        const struct json *j = list_of(c, "hardened_against");
        while (j && strcmp(text_of(j, "class"), name) != 0)
                j = j->next;
        return j;
}

static unsigned diff_classes(const struct claims_text *a, const struct claims_text *b, struct buf *o)
{
        static const char *const keys[] = { "held",         "total",       "escaped", "granted",
                                            "not_promised", "cannot_tell", "status" };
        unsigned n = 0;
        for (const struct json *y = list_of(b, "hardened_against"); y; y = y->next) {
                const struct json *x = class_of(a, text_of(y, "class"));
                for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
                        const char *was = text_of(x, keys[k]), *is = text_of(y, keys[k]);
                        if (strcmp(was, is) == 0)
                                continue;
                        buf_puts(o, "  ");
                        put_inert(o, text_of(y, "class"));
                        buf_printf(o, ": %s ", keys[k]);
                        put_inert(o, was[0] ? was : "missing");
                        buf_puts(o, " -> ");
                        put_inert(o, is[0] ? is : "missing");
                        buf_putc(o, '\n');
                        n++;
                }
        }
        return n;
}

static void put_head(const struct claims_text *c, char sign, const char *now, struct buf *o)
{
        static const char *const keys[] = { "host", "version", "kernel", "wall", "time" };
        const struct json *root = json_root(c->doc);
        buf_printf(o, "%c ", sign);
        put_inert(o, c->name);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                buf_puts(o, i ? ", " : ": ");
                put_inert(o, text_of(root, keys[i]));
        }
        const char *end = text_of(root, "valid_until");
        buf_printf(o, "; %s, %s\n", c->standing, !end[0] || strcmp(end, now) < 0 ? "expired" : "not expired");
}

unsigned claims_compare(const struct claims_text *a, const struct claims_text *b, const char *now,
                        struct buf *o)
{
        put_head(a, '-', now, o);
        put_head(b, '+', now, o);
        unsigned n = diff_classes(a, b, o);
        n += diff_list(a, b, "layers", '-', o) + diff_list(b, a, "layers", '+', o);
        n += diff_list(a, b, "residual", '-', o) + diff_list(b, a, "residual", '+', o);
        if (n == 0)
                buf_puts(o, "the same claims\n");
        return n;
}
