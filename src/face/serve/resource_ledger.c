/* SPDX-License-Identifier: MIT */
/* face/serve/resource_ledger.c - the tenant's own ledger: records, causes, proofs. */
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "face/serve/resources.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { RECORDS_MAX = 1000, ROOM_MAX = 16 << 20, RUN_BYTES = 65 };

static void put_record(void *ctx, const char *json, const char *line)
{
        struct buf *out = ctx;
        (void) line;
        if (out->n <= ROOM_MAX)
                buf_member_json(out, NULL, json);
}

/* A parameter that is there has to be a number: one that is ignored would answer another question. */
static bool take_number(const struct serve_call *c, const char *name, uint64_t most, uint64_t *ret,
                        struct reply *r)
{
        char text[24];
        AUTO_BUF(what);
        if (!request_has(c->r, name))
                return true;

        if (request_param(c->r, name, text, sizeof text) && str_to_u64(span_str(text), ret) == 0 &&
            *ret < most)
                return true;

        buf_printf(&what, "`%s` is not a number%s", name, most == UINT64_MAX ? "" : " of seconds since 1970");
        reply_problem(r, 400, "usage", buf_str(&what), NULL);
        return false;
}

struct text_param {
        const char *name;
        char *text;
        size_t cap;
        const char **ret; /* NULL in it: absent */
};

static bool take_text(const struct serve_call *c, const struct text_param *t, struct reply *r)
{
        AUTO_BUF(what);
        bool is = request_has(c->r, t->name);
        if (is && !request_param(c->r, t->name, t->text, t->cap)) {
                buf_printf(&what, "`%s` is malformed or too long", t->name);
                reply_problem(r, 400, "usage", buf_str(&what), NULL);
                return false;
        }

        *t->ret = is ? t->text : NULL;
        return true;
}

/* A run of this interface is in the ledger under its box's id. False: it is not known any more. */
static bool take_run(const struct serve_call *c, char run[RUN_BYTES], struct reply *r)
{
        if (strncmp(run, "r-", 2) != 0)
                return true;

        const struct job *j = job_find(c->tenant, run);
        if (!j) {
                reply_problem(r, 404, "run", "run not found, or no longer remembered",
                              "its member `run` names it in the ledger for good");
                return false;
        }

        /* One that has not started has no record: a name that no run has. */
        (void) snprintf(run, RUN_BYTES, "%s", j->run[0] ? j->run : "-");
        return true;
}

/* ?box= &run= &kind= &target= &since=SECONDS &last=N */
void get_ledger(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        cordon_log_filter f = { .last = 100 };
        char box[65], run[RUN_BYTES], kind[65], target[1024];
        struct text_param texts[] = { { "box", box, sizeof box, &f.box },
                                      { "run", run, sizeof run, &f.run },
                                      { "kind", kind, sizeof kind, &f.kind },
                                      { "target", target, sizeof target, &f.target } };
        uint64_t cursor = 0, n = 0;
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                if (!take_text(c, &texts[i], r))
                        return;
        if (f.run && !take_run(c, run, r))
                return;
        if (!take_number(c, "since", 1ull << 40, &n, r))
                return;
        f.since_us = (int64_t) n * 1000000;
        n = f.last;
        if (!take_number(c, "last", UINT64_MAX, &n, r))
                return;
        f.last = n > 0 && n < RECORDS_MAX ? n : RECORDS_MAX;

        buf_puts(&r->body, "{\"records\":[");
        if (cordon_log_each(tenant_context(c->tenant), &f, &cursor, put_record, &r->body, &e) < 0 &&
            e.sys != ENOENT) {
                reply_error(r, status_of(&e), &e);
                return;
        }
        buf_puts(&r->body, "]}");
        reply_json(r, 200);
}

static void give(char *text, const char *type, const cordon_error *e, struct reply *r)
{
        if (!text) {
                reply_error(r, e->sys == ENOENT ? 404 : status_of(e), e);
                return;
        }
        buf_puts(&r->body, text);
        cordon_free(text);
        r->status = 200;
        r->type = type;
}

static void give_view(struct serve_call *c, cordon_log_view view, const char *arg, struct reply *r)
{
        cordon_error e = { 0 };
        give(cordon_log(tenant_context(c->tenant), view, arg, &e), "text/plain; charset=utf-8", &e, r);
}

void get_checkpoint(struct serve_call *c, struct reply *r) { give_view(c, CORDON_LOG_CHECKPOINT, NULL, r); }
void get_keys(struct serve_call *c, struct reply *r) { give_view(c, CORDON_LOG_KEYS, NULL, r); }

void get_verify(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        int good = 0;
        give(cordon_verify(tenant_context(c->tenant), NULL, 1, &good, &e), "application/json", &e, r);
}

static bool is_id(struct serve_call *c, struct reply *r)
{
        if (request_is_word(c->arg, 63))
                return true;
        reply_problem(r, 404, "record", "record not found", NULL);
        return false;
}

void get_proof(struct serve_call *c, struct reply *r)
{
        if (is_id(c, r))
                give_view(c, CORDON_LOG_PROOF, c->arg, r);
}

void get_trace(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        if (is_id(c, r))
                give(cordon_trace(tenant_context(c->tenant), c->arg, 1, 1, 1, &e), "application/json", &e, r);
}
