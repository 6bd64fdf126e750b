/* SPDX-License-Identifier: MIT */
/* face/serve/resource_approvals.c - approvals: list, show, answer, take back, follow. Never: approves by
 * itself, or for the person who asked. */
#include "face/serve/resources.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS = 64, USES_MAX = 100, FOR_S_MAX = 3600 };

void get_approvals(struct serve_call *c, struct reply *r)
{
        AUTO_BUF(items);
        AUTO_BUF(grants);
        approvals_put(c->s, &c->client->admitted, &items, &grants);
        buf_putc(&r->body, '{');
        buf_member(&r->body, "person", c->client->admitted.person);
        buf_printf(&r->body, ",\"approvals\":[%s],\"grants\":[%s]}", buf_str(&items), buf_str(&grants));
        r->body.failed |= items.failed || grants.failed;
        reply_json(r, 200);
}

void get_approval_events(struct serve_call *c, struct reply *r)
{
        if (approvals_stream_begin(c->client) < 0) {
                reply_later(r, 503, 1, "no memory for a stream");
                return;
        }
        client_begin_events(c->client);
        c->client->h.busy = true;
}

/* ---- one of them ---- */

/* By its whole id: 64 digits. */
static bool is_id(const char *text)
{
        return strlen(text) == ID_DIGITS && strspn(text, "0123456789abcdef") == ID_DIGITS;
}

struct asked { /* one request to whichever run has the effect */
        const struct admitted *who;
        const char *request;
        struct asker of; /* who answered */
        struct json_doc *answer;
        char *text;
};

/* Of all askers, one that knows the id. */
static bool ask_one(void *ctx, const struct asker *a)
{
        struct asked *q = ctx;
        q->answer = asker_ask(a, q->who, q->request, &q->text);
        const char *code = q->answer ? json_str(json_root(q->answer), "code") : NULL;
        q->of = *a;
        if (q->answer && !(code && strcmp(code, "not-pending") == 0))
                return true;

        json_free(q->answer);
        cordon_free(q->text);
        q->answer = NULL;
        q->text = NULL;
        return false;
}

static bool ask_all(struct serve_call *c, const char *request, struct asked *ret, struct reply *r)
{
        *ret = (struct asked){ .who = &c->client->admitted, .request = request };
        if (is_id(c->arg) && askers_each(c->s, c->tenant, ask_one, ret))
                return true;

        reply_problem(r, 404, "not-pending", "no such effect waits for an approval",
                      "GET /v1/approvals lists what waits");
        return false;
}

static void asked_done(struct asked *q)
{
        json_free(q->answer);
        cordon_free(q->text);
}

static bool is_good(const struct asked *q) { return json_is_true(json_root(q->answer), "ok"); }

static void refuse(const struct asked *q, struct reply *r)
{
        static const struct {
                const char *code; /* of docs/approve-protocol.md */
                unsigned status;
                const char *hint;
        } rows[] = {
                { "other-effect", 409, "show it again" },
                { "expired", 409, "it was denied; what asks may ask again" },
                { "not-approver", 403,
                  "another person approves: not the one who asked, and where the door names a group, its "
                  "members" },
                { "voted", 409, "another person approves, too" },
                { "not-shown", 409, "GET it first: what is approved has been read" },
                { "too-fast", 429, "wait for `reading_ms` after the first GET" },
                { "challenge", 422, "`challenge`: the last 4 digits of the id" },
                { "reason", 422, "`reason`: why it is approved" },
                { "scope", 422, "`uses`: 1 to 100; `for_s`: 1 to 3600" },
                { "closed", 403, "cordon approve stats says why" },
        };
        const struct json *o = json_root(q->answer);
        const char *code = json_str(o, "code"), *text = json_str(o, "error");
        for (size_t i = 0; code && i < sizeof rows / sizeof *rows; i++)
                if (strcmp(code, rows[i].code) == 0) {
                        reply_problem(r, rows[i].status, code, text ? text : code, rows[i].hint);
                        return;
                }
        reply_problem(r, 422, code ? code : "approval", text ? text : "the answer was not taken", NULL);
}

/* ---- show ---- */

/* Why it asks: the line, and who wanted what. */
static void put_why(const struct asked *q, struct buf *out)
{
        const struct json *item = json_of(json_root(q->answer), "item", JSON_OBJECT);
        const char *door = item ? json_str(item, "door") : NULL;
        buf_member_json(out, "why", "{");
        buf_member(out, "door", door ? door : "");
        if (q->of.job) {
                buf_member(out, "asked_by", q->of.job->person);
                buf_member(out, "policy", q->of.job->policy_name);
                job_put_argv(q->of.job, out);
        } else if (q->of.gate[0])
                buf_member(out, "policy", item ? json_text(item, "box") : "");
        else if (q->of.session)
                buf_member(out, "policy", q->of.session->policy_name);
        else
                buf_member(out, "asked_by", q->of.question->client->admitted.person);
        buf_putc(out, '}');
}

/* The clock of this person's answer starts here. */
void get_approval(struct serve_call *c, struct reply *r)
{
        static const char ok[] = "{\"ok\":true,";
        struct asked q;
        AUTO_BUF(request);
        buf_printf(&request, "{\"op\":\"show\",\"id\":\"%.64s\"}", is_id(c->arg) ? c->arg : "");
        if (!ask_all(c, buf_str(&request), &q, r))
                return;

        size_t n = strcspn(q.text, "\n");
        if (is_good(&q) && strncmp(q.text, ok, sizeof ok - 1) == 0) {
                buf_printf(&r->body, "{\"digest\":\"%s\",\"scopes\":{\"uses_max\":%d,\"for_s_max\":%d}",
                           c->arg, USES_MAX, FOR_S_MAX);
                put_why(&q, &r->body);
                buf_putc(&r->body, ',');
                buf_add(&r->body, q.text + sizeof ok - 1, n - (sizeof ok - 1));
                reply_json(r, 200);
        } else
                refuse(&q, r);
        asked_done(&q);
}

/* ---- answer ---- */

/* The body as a request of the protocol. */
static bool read_answer(struct serve_call *c, struct buf *ret, struct reply *r)
{
        const struct json *o = c->json;
        const char *answer = json_str(o, "answer"), *digest = json_str(o, "digest");
        if (strcmp(answer, "yes") != 0 && strcmp(answer, "no") != 0) {
                reply_problem(r, 422, "usage", "`answer` is yes or no", NULL);
                return false;
        }

        if (strcmp(digest, c->arg) != 0) {
                reply_problem(r, 409, "other-effect",
                              "the digest is not that of the effect: what was read is not what waits",
                              "GET it again and answer about what it shows");
                return false;
        }

        buf_printf(ret, "{\"op\":\"answer\",\"id\":\"%.64s\",\"yes\":%s", digest,
                   strcmp(answer, "yes") == 0 ? "true" : "false");
        for (const struct json *m = o->child; m; m = m->next)
                if (m->type == JSON_INT)
                        buf_printf(ret, ",\"%s\":%lld", m->key, (long long) m->integer);
                else if (strcmp(m->key, "reason") == 0 || strcmp(m->key, "challenge") == 0)
                        buf_member(ret, m->key, m->str);
        buf_putc(ret, '}');
        return true;
}

void post_approval(struct serve_call *c, struct reply *r)
{
        struct asked q;
        AUTO_BUF(request);
        if (!read_answer(c, &request, r) || !ask_all(c, buf_str(&request), &q, r))
                return;

        const char *state = json_str(json_root(q.answer), "state");
        if (is_good(&q) && state) {
                buf_putc(&r->body, '{');
                buf_member(&r->body, "state", state);
                buf_member_bool(&r->body, "decoy", json_is_true(json_root(q.answer), "decoy"));
                buf_putc(&r->body, '}');
                reply_json(r, 200);
                tenant_book(c->tenant)->asked++;
        } else
                refuse(&q, r);
        asked_done(&q);
}

/* ---- take back ---- */

struct taken {
        const struct admitted *who;
        const char *request;
        int64_t revoked;
};

static bool revoke_one(void *ctx, const struct asker *a)
{
        struct taken *t = ctx;
        struct json_doc *d = asker_ask(a, t->who, t->request, NULL);
        t->revoked += d ? json_int_or(json_root(d), "revoked", 0) : 0;
        json_free(d);
        return false;
}

/* {id}: the template of an approval that is left for like effects. */
void delete_approval(struct serve_call *c, struct reply *r)
{
        AUTO_BUF(request);
        buf_printf(&request, "{\"op\":\"revoke\",\"template\":\"%.64s\"}", is_id(c->arg) ? c->arg : "");
        struct taken t = { .who = &c->client->admitted, .request = buf_str(&request) };
        if (is_id(c->arg))
                (void) askers_each(c->s, c->tenant, revoke_one, &t);
        if (t.revoked == 0) {
                reply_problem(r, 404, "approval", "no approval of this template is left",
                              "GET /v1/approvals lists them as `grants`");
                return;
        }

        buf_printf(&r->body, "{\"revoked\":%lld}", (long long) t.revoked);
        reply_json(r, 200);
}
