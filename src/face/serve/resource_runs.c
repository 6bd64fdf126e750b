/* SPDX-License-Identifier: MIT */
/* face/serve/resource_runs.c - runs: start, list, show, follow, end. */
#include "face/serve/resources.h"

#include "base/base64.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order ---- */

static int refuse(cordon_error *e, const char *what)
{
        return err_set((struct err *) e, ERR_USAGE, 0, "%s", what);
}

static int take_argv(struct job *j, const struct json *o, cordon_error *e)
{
        const struct json *list = json_of(o, "argv", JSON_ARRAY);
        size_t n = 0;
        for (const struct json *w = list->child; w; w = w->next)
                n++;
        if (n == 0 || n > ARGUMENTS_MAX || list->child->len == 0)
                return refuse(e, "`argv` is the command: a list of 1 to 1024 strings");

        j->argv = calloc(n + 1, sizeof *j->argv);
        n = 0;
        for (const struct json *w = list->child; j->argv && w; w = w->next) {
                AUTO_BUF(word);
                buf_add(&word, w->str, w->len + 1);
                if (word.failed)
                        return refuse(e, "no memory for the command");
                j->argv[n++] = word.p;
                word.p = NULL;
        }
        return j->argv ? 0 : refuse(e, "no memory for the command");
}

static int take_input(struct job *j, const struct json *o, cordon_error *e)
{
        const struct json *text = json_get(o, "stdin"), *raw = json_get(o, "stdin_base64");
        if (text && raw)
                return refuse(e, "a run has one of `stdin` and `stdin_base64`");

        if (text)
                buf_add(&j->input, text->str, text->len);
        if (!raw || raw->len == 0)
                return 0;

        char *room = buf_room(&j->input, raw->len);
        ssize_t n = room ? base64_read(span_of(raw->str, raw->len), (uint8_t *) room, raw->len) : -1;
        j->input.n = n < 0 ? 0 : (size_t) n;
        return n < 0 ? refuse(e, "`stdin_base64` is not base64") : 0;
}

static int take_policy(struct job *j, const struct json *o, cordon_error *e)
{
        const struct json *lines = json_get(o, "lines"), *named = json_get(o, "policy");
        const struct json *session = json_get(o, "session");
        const char *name = named ? named->str : "default";
        if ((lines != NULL) + (named != NULL) + (session != NULL) > 1)
                return refuse(e, "a run has one of `policy`, `lines` and `session`");

        if (session) {
                j->session = session_find(j->tenant, session->str);
                if (!j->session)
                        return err_set((struct err *) e, ERR_GONE, 0, "session not found");
                j->session->jobs++;
                (void) snprintf(j->policy_name, sizeof j->policy_name, "%s", j->session->policy_name);
                return 0;
        }

        (void) snprintf(j->policy_name, sizeof j->policy_name, "%.64s", lines ? "request" : name);
        j->registered = !lines;
        j->policy = lines ? tenant_lines(j->tenant, lines->str, lines->len, e)
                          : tenant_policy(j->tenant, name, e);
        if (j->policy && held_policy_gpu(j->policy) && tenant_budget(j->tenant)->limit[BUDGET_GPUS] == 0)
                return err_set((struct err *) e, ERR_POLICY, EPERM,
                               "this tenant starts no box with a GPU: its gpu_boxes is 0");
        return j->policy ? 0 : -1;
}

static int take_output(struct job *j, const struct json *o, cordon_error *e)
{
        const char *form = json_str(o, "output");
        j->raw = form && strcmp(form, "base64") == 0;
        return !form || j->raw || strcmp(form, "text") == 0 ? 0 : refuse(e, "`output` is text or base64");
}

static int take_order(struct job *j, const struct json *o, cordon_error *e)
{
        j->timeout_ns = (uint64_t) json_int_or(o, "timeout", 0) * 1000000000u;
        return take_argv(j, o, e) < 0 || take_input(j, o, e) < 0 || take_output(j, o, e) < 0 ||
                               take_policy(j, o, e) < 0
                       ? -1
                       : 0;
}

/* ---- start ---- */

static void begin(struct serve_call *c, struct job *j, bool later, struct reply *r)
{
        if (!later) {
                job_watch(c->client, j, c->r->events, 0);
                return;
        }

        job_put(j, true, &r->body);
        reply_json(r, j->state == JOB_ENDED ? 200 : 202);
        (void) snprintf(r->extra, sizeof r->extra, "Location: /v1/runs/%s\r\n", j->id);
}

/* The same key again: the same run, whatever became of the first answer. */
static bool is_repeated(struct serve_call *c, const char *digest, bool later, struct reply *r)
{
        struct job *j = c->r->key[0] ? job_by_key(c->tenant, c->r->key) : NULL;
        if (c->r->key[0] && !request_is_word(c->r->key, 64)) {
                reply_problem(r, 400, "key",
                              "Idempotency-Key is a word of at most 64 letters, digits and ._-", NULL);
                return true;
        }
        if (!j)
                return false;

        if (strcmp(j->digest, digest) != 0)
                reply_problem(r, 422, "key", "this Idempotency-Key was used for another request", NULL);
        else
                begin(c, j, later, r);
        return true;
}

static bool has_room(struct serve_call *c, struct reply *r)
{
        if (c->s->draining) {
                reply_later(r, 503, 30, "the server is shutting down and starts no new runs");
                return false;
        }

        if (budget_take(tenant_budget(c->tenant), BUDGET_QUEUE, 1))
                return true;
        tenant_book(c->tenant)->rejected++;
        reply_later(r, 429, 1, "too many runs of this tenant wait already");
        return false;
}

static void drop_new(struct job *j)
{
        tenant_book(j->tenant)->jobs = j->next;
        j->next = NULL;
        job_discard(j);
}

void post_run(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        char digest[65];
        bool later = (c->r->async || json_of(c->json, "wait", JSON_FALSE)) && !c->r->events;
        sha256_hex(c->body, digest);
        if (is_repeated(c, digest, later, r) || !has_room(c, r))
                return;

        struct job *j = job_new(c->tenant);
        if (!j || take_order(j, c->json, &e) < 0) {
                budget_give(tenant_budget(c->tenant), BUDGET_QUEUE, 1);
                if (!j) {
                        reply_error(r, 503, &e);
                        return;
                }
                reply_failed(c, r, &e);
                drop_new(j);
                return;
        }

        (void) snprintf(j->key, sizeof j->key, "%.64s", c->r->key);
        memcpy(j->digest, digest, sizeof j->digest);
        memcpy(j->person, c->client->admitted.person, sizeof j->person);
        j->stays = later || j->key[0];
        job_enqueue(j);
        begin(c, j, later, r);
}

/* ---- the others ---- */

void get_runs(struct serve_call *c, struct reply *r)
{
        buf_puts(&r->body, "{\"runs\":[");
        for (const struct job *j = tenant_book(c->tenant)->jobs; j; j = j->next) {
                buf_key(&r->body, NULL);
                job_put(j, false, &r->body);
        }
        buf_puts(&r->body, "]}");
        reply_json(r, 200);
}

static struct job *named(struct serve_call *c, struct reply *r)
{
        struct job *j = job_find(c->tenant, c->arg);
        if (!j)
                reply_problem(r, 404, "run", "run not found, or it ended long ago",
                              "GET /v1/ledger has the records of all runs");
        return j;
}

void get_run(struct serve_call *c, struct reply *r)
{
        struct job *j = named(c, r);
        if (!j)
                return;

        job_put(j, true, &r->body);
        reply_json(r, 200);
}

void delete_run(struct serve_call *c, struct reply *r)
{
        struct job *j = named(c, r);
        if (!j)
                return;

        j->watchers++; /* an old one is forgotten as it ends, and is still to be told of */
        job_kill(c->s, j);
        j->watchers--;
        job_put(j, false, &r->body);
        reply_json(r, 202);
}

/* A client that comes back names the last event that it has. */
static bool take_after(const struct serve_call *c, const struct job *j, size_t *ret)
{
        uint64_t at = 0;
        if (c->r->after[0] && str_to_u64(span_str(c->r->after), &at) < 0)
                return false;

        *ret = (size_t) at;
        return at <= j->events.n && (at == 0 || j->events.p[at - 1] == '\n');
}

void get_run_events(struct serve_call *c, struct reply *r)
{
        size_t from = 0;
        struct job *j = named(c, r);
        if (!j)
                return;

        if (!take_after(c, j, &from)) {
                reply_problem(r, 400, "event", "Last-Event-ID is not the id of an event of this run", NULL);
                return;
        }
        j->stays |= j->state == JOB_ENDED;
        job_watch(c->client, j, true, from);
}
