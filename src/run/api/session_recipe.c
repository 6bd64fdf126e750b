/* SPDX-License-Identifier: MIT */
/* run/api/session_recipe.c - what a process has to know to run something in a session of another process: the
 * policy, the options that runs inherit, and the placeholders of credentials (never those themselves). One
 * JSON object, from one process of a user to another of the same. */
#include "base/json.h"
#include "run/api/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 3 };

/* ---- texts of a placeholder ---- */

static const struct {
        const char *key;
        size_t at, cap;
} told_texts[] = {
#define TEXT(m)                                                                                              \
        {                                                                                                    \
#m, offsetof(struct vault_told, m), sizeof(((struct vault_told *) 0)->m)                     \
        }
        TEXT(name), TEXT(env), TEXT(file), TEXT(form), TEXT(user), TEXT(placeholder),
};
enum { TOLD_TEXTS = sizeof told_texts / sizeof *told_texts };

static void put_text(struct buf *out, const char *key, const char *value)
{
        buf_printf(out, ",\"%s\":", key);
        buf_json(out, span_str(value));
}

static void put_told(struct buf *out, const struct vault_told *t)
{
        buf_puts(out, "{\"n\":0");
        for (size_t i = 0; i < TOLD_TEXTS; i++)
                put_text(out, told_texts[i].key, (const char *) t + told_texts[i].at);
        buf_putc(out, '}');
}

int api_recipe_make(struct cordon_box *b, struct err *e)
{
        AUTO_BUF(policy);
        AUTO_BUF(stock);
        struct buf *out = &b->recipe;
        policy_canonical_json(b->policy->checked, &policy);
        policy_stock_mask(b->policy->checked, &stock);
        out->n = 0;
        buf_printf(out,
                   "{\"format\":%d,\"observe\":%d,\"trip\":%u,\"stage\":%d,\"ledger\":%d,\"root\":%d,"
                   "\"words\":%d",
                   FORMAT, b->c.observe, b->c.trip, b->c.stage, b->c.ledger, b->root_inside,
                   b->c.words != NULL);
        put_text(out, "policy", buf_str(&policy));
        put_text(out, "stock", buf_str(&stock));
        put_text(out, "work", b->policy->work);
        put_text(out, "home", b->policy->home);
        put_text(out, "name", b->c.name);
        buf_puts(out, ",\"told\":[");
        for (size_t i = 0; i < b->told_count; i++) {
                buf_puts(out, i ? "," : "");
                put_told(out, &b->told[i]);
        }

        buf_puts(out, "],\"canaries\":[");
        for (unsigned i = 0; i < b->c.canary_count; i++) {
                buf_puts(out, i ? ",{\"n\":0" : "{\"n\":0");
                put_text(out, "name", b->canaries[i].name);
                put_text(out, "value", b->canaries[i].value);
                buf_printf(out, ",\"form\":%zu}", b->canaries[i].form);
        }

        buf_puts(out, "]}");
        b->c.recipe = buf_span(out);
        return out->failed || policy.failed || stock.failed
                       ? err_set(e, ERR_MEMORY, 0, "no memory for a session")
                       : 0;
}

/* ---- reading ---- */

static unsigned number_of(const struct json *o, const char *key)
{
        const struct json *v = json_get(o, key);
        return v && v->type == JSON_INT && v->integer >= 0 && v->integer < 1000 ? (unsigned) v->integer : 0;
}

static int read_told(struct cordon_box *b, const struct json *list)
{
        size_t n = 0;
        for (const struct json *t = list ? list->child : NULL; t; t = t->next)
                n++;

        if (n == 0)
                return 0;

        b->told = n <= GRANTS_MAX ? calloc(n, sizeof *b->told) : NULL;
        if (!b->told)
                return -1;

        for (const struct json *t = list->child; t; t = t->next) {
                char *to = (char *) &b->told[b->told_count++];
                for (size_t i = 0; i < TOLD_TEXTS; i++)
                        (void) snprintf(to + told_texts[i].at, told_texts[i].cap, "%s",
                                        json_text(t, told_texts[i].key));
        }

        return 0;
}

/* Returns -1 for a form that is not ours. */
static int read_canaries(struct cordon_box *b, const struct json *list)
{
        for (const struct json *c = list ? list->child : NULL; c && b->c.canary_count < API_CANARIES_MAX;
             c = c->next) {
                struct api_canary *to = &b->canaries[b->c.canary_count];
                (void) snprintf(to->name, sizeof to->name, "%s", json_text(c, "name"));
                (void) snprintf(to->value, sizeof to->value, "%s", json_text(c, "value"));
                to->form = number_of(c, "form");
                if (to->form > API_CANARIES_OWN)
                        return -1;

                b->canary_words[b->c.canary_count++] = (struct box_canary){ to->name, to->value };
        }

        return 0;
}

static int read_all(struct cordon_box *b, const struct json *o, struct err *e)
{
        const char *policy = json_text(o, "policy"), *work = json_text(o, "work"),
                   *home = json_text(o, "home");
        unsigned observe = number_of(o, "observe"), stage = number_of(o, "stage");
        if (number_of(o, "format") != FORMAT || observe > BOX_OBSERVE_ALL || stage >= POLICY_STAGE__COUNT ||
            read_canaries(b, json_get(o, "canaries")) < 0)
                return err_set(e, ERR_USAGE, 0, "the session belongs to another version of cordon");

        b->c.observe = (enum box_observe) observe;
        b->c.stage = (enum policy_stage) stage;
        b->c.trip = number_of(o, "trip");
        b->root_inside = number_of(o, "root");
        b->c.ledger = number_of(o, "ledger") == BOX_LEDGER_OFF ? BOX_LEDGER_OFF : BOX_LEDGER_ON;
        b->has_words = number_of(o, "words");
        (void) snprintf(b->c.name, sizeof b->c.name, "%s", json_text(o, "name"));
        if (api_stock_set(b->policy, json_text(o, "stock")) < 0 || read_told(b, json_get(o, "told")) < 0)
                return err_set(e, ERR_MEMORY, 0, "no memory for a session");

        cordon_error *pe = (cordon_error *) (void *) e;
        return cordon_policy_roots(b->policy, work[0] ? work : NULL, home[0] ? home : NULL, pe) < 0
                       ? -1
                       : cordon_policy_add_text(b->policy, "session", policy, strlen(policy), pe);
}

int api_recipe_read(struct cordon_box *b, struct span text, struct err *e)
{
        struct json_doc *d = json_parse("session", text, e);
        int r = d ? read_all(b, json_root(d), e) : -1;
        json_free(d);
        return r;
}
