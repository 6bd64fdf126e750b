/* SPDX-License-Identifier: MIT */
/* face/serve/approvals.c - what waits for an approval, of all runs, sessions and applies of one tenant.
 * Decides nothing: src/effect/gate does, behind the library. */
#include "base/rpc.h"
#include "face/serve/internal.h"
#include "face/serve/own.h"

#include <string.h>
#include <unistd.h>

bool askers_each(struct server *s, struct tenant *t, bool (*each)(void *ctx, const struct asker *a),
                 void *ctx)
{
        for (const struct job *j = tenant_book(t)->jobs; j; j = j->next) {
                const struct asker a = { .s = s, .tenant = t, .box = j->box, .job = j };
                if (j->box && !j->session && each(ctx, &a))
                        return true;
        }

        for (const struct session *x = tenant_book(t)->sessions; x; x = x->next) {
                const struct asker a = { .s = s, .tenant = t, .box = x->box, .session = x };
                if (x->box && !x->ended && each(ctx, &a))
                        return true;
        }

        for (size_t i = 0; i < QUESTIONS_MAX; i++) {
                struct question *q = s->questions[i];
                const struct asker a = { .s = s, .tenant = t, .question = q };
                if (q && q->tenant == t && each(ctx, &a))
                        return true;
        }
        return s->own && own_askers(s, each, ctx);
}

struct json_doc *asker_ask(const struct asker *a, const struct admitted *who, const char *request,
                           char **ret_text)
{
        cordon_error e = { 0 };
        const cordon_person person = { who->person, who->groups, who->own };
        char *text = a->box        ? cordon_box_gate(a->box, &person, request, &e)
                     : a->question ? cordon_question_gate(a->question->q, &person, request, &e)
                     : a->gate[0]  ? cordon_gate_ask(a->gate, geteuid(), request, &e)
                                   : NULL;
        struct json_doc *d = text ? json_parse_data("answer", span_str(text), (struct err *) &e) : NULL;
        if (ret_text)
                *ret_text = text;
        else
                cordon_free(text);
        return d;
}

/* Which run it is of, as this interface names it. */
void approvals_item(const struct asker *a, const struct json *item, struct buf *out)
{
        buf_member_json(out, NULL, "{");
        for (const struct json *m = item->child; m; m = m->next)
                if (m->type != JSON_ARRAY && m->type != JSON_OBJECT) {
                        buf_key(out, m->key);
                        rpc_put(out, m);
                }
        if (a->job)
                buf_member(out, "job", a->job->id);
        if (a->gate[0])
                buf_member(out, "job", a->gate);
        if (a->session)
                buf_member(out, "session", a->session->id);
        buf_putc(out, '}');
}

struct listing {
        const struct admitted *who;
        struct buf *items, *grants;
};

static bool list_one(void *ctx, const struct asker *a)
{
        struct listing *l = ctx;
        struct json_doc *d = asker_ask(a, l->who, "{\"op\":\"list\"}", NULL);
        const struct json *items = d ? json_of(json_root(d), "items", JSON_ARRAY) : NULL,
                          *grants = d ? json_of(json_root(d), "grants", JSON_ARRAY) : NULL;
        for (const struct json *i = items ? items->child : NULL; i; i = i->next)
                approvals_item(a, i, l->items);
        for (const struct json *i = grants ? grants->child : NULL; i; i = i->next)
                approvals_item(a, i, l->grants);

        json_free(d);
        return false;
}

void approvals_put(struct server *s, const struct admitted *who, struct buf *items, struct buf *grants)
{
        struct listing l = { who, items, grants };
        (void) askers_each(s, who->tenant, list_one, &l);
}
