/* SPDX-License-Identifier: MIT */
/* face/cli/approve_line.c - requests to boxes that wait for approvals, and their lists. What a box sends is
 * shown as inert text only. */
#include "face/cli/approve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json_doc *ask_box(const char *run, unsigned uid, const char *request)
{
        cordon_error ignored = { 0 };
        char *text = cordon_gate_ask(run, uid, request, &ignored);
        struct json_doc *d = text ? json_parse("keeper", span_str(text), (struct err *) &ignored) : NULL;
        cordon_free(text);
        return d;
}

struct json_doc *approve_ask(const struct approve_item *it, const struct buf *request)
{
        return request->failed ? NULL : ask_box(it->run, it->uid, buf_str(request));
}

/* ---- lists ---- */

static void copy_text(char *to, size_t cap, const char *from) { (void) snprintf(to, cap, "%s", from); }

static void take_item(struct approve_list *l, const struct json *o, const char *run, unsigned uid)
{
        const struct json *expires = json_get(o, "expires_s");
        if (l->n == APPROVE_ITEMS_MAX)
                return;

        struct approve_item *it = &l->v[l->n++];
        *it = (struct approve_item){ .uid = uid,
                                     .effect = strdup(json_text(o, "effect")),
                                     .door = strdup(json_text(o, "door")),
                                     .group = strdup(json_text(o, "group")),
                                     .high = strcmp(json_text(o, "risk"), "high") == 0,
                                     .expires_s = expires ? expires->integer : 0 };
        copy_text(it->run, sizeof it->run, run);
        copy_text(it->id, sizeof it->id, json_text(o, "id"));
        copy_text(it->template, sizeof it->template, json_text(o, "template"));
        if (!it->effect || !it->door || !it->group)
                l->json.failed = true;
}

static void item_json(const struct approve_item *it, struct buf *out)
{
        buf_puts(out, out->n ? ",{\"id\":" : "{\"id\":");
        buf_json(out, span_str(it->id));
        buf_member(out, "run", it->run);
        buf_member(out, "effect", it->effect);
        buf_member(out, "door", it->door);
        buf_member(out, "template", it->template);
        buf_member(out, "group", it->group);
        buf_printf(out, ",\"uid\":%u,\"risk\":\"%s\",\"expires_s\":%lld", it->uid,
                   it->high ? "high" : "normal", it->expires_s);
        buf_printf(out, ",\"next_steps\":[\"cordon approve %.12s\"]}", it->id);
}

static void each_box(void *ctx, const char *run, unsigned uid)
{
        struct approve_list *l = ctx;
        struct json_doc *d = ask_box(run, uid, "{\"op\":\"list\"}");
        const struct json *o = d ? json_root(d) : NULL, *items = o ? json_get(o, "items") : NULL;
        for (const struct json *v = items ? items->child : NULL; v; v = v->next) {
                size_t before = l->n;
                take_item(l, v, run, uid);
                if (l->n > before)
                        item_json(&l->v[before], &l->json);
        }

        if (items) {
                copy_text(l->step, sizeof l->step, json_text(o, "step"));
                l->over_budget = json_is_true(o, "over_budget");
        }

        json_free(d);
}

void approve_list_read(struct approve_list *ret, cordon_error *e)
{
        memset(ret, 0, sizeof *ret);
        (void) cordon_gates(each_box, ret, e);
}

void approve_list_done(struct approve_list *l)
{
        for (size_t i = 0; i < l->n; i++) {
                free(l->v[i].effect);
                free(l->v[i].door);
                free(l->v[i].group);
        }
        buf_done(&l->json);
}
