/* SPDX-License-Identifier: MIT */
/* face/serve/resource_changes.c - overlays of edit doors: what a run changed, until someone applies it. */
#include "base/err.h"
#include "face/serve/resources.h"

#include <string.h>

static void add(void *ctx, const void *data, size_t len) { buf_add(ctx, data, len); }

/* By the whole id of a run: no name, no beginning, no default. */
static const char *run_of(struct serve_call *c, struct reply *r)
{
        if (request_is_word(c->arg, 63))
                return c->arg;
        reply_problem(r, 404, "changes", "there are no such changes", "GET /v1/changes lists them");
        return NULL;
}

void get_changes(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        reply_done(r, 200, cordon_work_list(tenant_context(c->tenant), 1, add, &r->body, &e), &e);
}

void get_change(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        char form[16] = "json";
        size_t entries = 0;
        cordon_work_diff_options o = {
                .run = run_of(c, r), .form = CORDON_WORK_JSON, .out = add, .out_ctx = &r->body
        };
        if (!o.run)
                return;

        (void) request_param(c->r, "form", form, sizeof form);
        bool text = strcmp(form, "text") == 0;
        if (text)
                o.form = CORDON_WORK_TEXT;
        reply_done(r, 200, cordon_work_diff(tenant_context(c->tenant), &o, &entries, &e), &e);
        if (text && r->status == 200)
                r->type = "text/plain; charset=utf-8";
}

/* {"flagged": true} includes what the host would execute or trust; such a file is otherwise held back. */
void post_apply(struct serve_call *c, struct reply *r)
{
        const char *approved = question_digest(c->s, c->client); /* else a door with `ask` asks first */
        cordon_error e = { 0 };
        cordon_work_outcome done = { 0 };
        cordon_work_apply_options o = { .run = run_of(c, r), .json = 1, .out = add, .out_ctx = &r->body };
        if (!o.run)
                return;

        o.include_flagged = json_is_true(c->json, "flagged");
        o.approved = approved;
        char *question = approved ? NULL : cordon_work_question(tenant_context(c->tenant), &o, &e);
        if (question && question[0]) {
                buf_puts(&r->body, question);
                r->status = STATUS_ASKS;
        } else {
                int failed = cordon_work_apply(tenant_context(c->tenant), &o, &done, &e);
                reply_done(r, done.conflicts ? 409 : 200, failed, &e);
        }
        cordon_free(question);
}

void post_undo(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        cordon_work_outcome done = { 0 };
        cordon_work_undo_options o = { .run = run_of(c, r), .json = 1, .out = add, .out_ctx = &r->body };
        if (!o.run)
                return;

        int failed = cordon_work_undo(tenant_context(c->tenant), &o, &done, &e);
        reply_done(r, done.conflicts ? 409 : 200, failed, &e);
}

void delete_change(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        char run[64];
        const char *which = run_of(c, r);
        if (which)
                reply_done(r, 200,
                           cordon_work_discard(tenant_context(c->tenant), which, 1, add, &r->body, run, &e),
                           &e);
}
