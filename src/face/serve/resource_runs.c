/* SPDX-License-Identifier: MIT */
/* face/serve/resource_runs.c - runs: start, list, show, follow, end. */
#include "face/serve/own.h"
#include "face/serve/resources.h"

#include "base/base64.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- start ---- */

static void begin(struct serve_call *c, struct job *j, bool later, struct reply *r)
{
        if (!later) {
                job_watch(c->client, j, c->r->events, 0);
                return;
        }

        job_put(j, true, &r->body);
        reply_json(r, j->state == JOB_ENDED ? 200 : 202);
        job_rest(j);
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

        if (strcmp(j->digest, digest) == 0 && !store_recall(j))
                reply_problem(r, 500, "io", "the result of the run cannot be read", NULL);
        else if (strcmp(j->digest, digest) != 0)
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

void post_run(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        char digest[65];
        bool later = (c->r->async || json_of(c->json, "wait", JSON_FALSE)) && !c->r->events;
        sha256_hex(c->body, digest);
        if (is_repeated(c, digest, later, r) || !has_room(c, r))
                return;

        struct job *j = job_new(c->tenant);
        if (!j || job_take_order(j, c->json, &e) < 0) {
                budget_give(tenant_budget(c->tenant), BUDGET_QUEUE, 1);
                if (!j) {
                        reply_error(r, 503, &e);
                        return;
                }
                reply_failed(c, r, &e);
                job_forget(j);
                return;
        }

        (void) snprintf(j->key, sizeof j->key, "%.64s", c->r->key);
        memcpy(j->digest, digest, sizeof j->digest);
        memcpy(j->person, c->client->admitted.person, sizeof j->person);
        j->stays = later || j->key[0];
        if (j->stays && store_put_run(j, c->body) < 0) { /* it could be lost */
                int sys = errno;
                trouble_tell(c->s, "a run that was sent", sys);
                (void) err_set((struct err *) &e, ERR_IO, sys,
                               "the run is not accepted: it cannot be stored");
                budget_give(tenant_budget(c->tenant), BUDGET_QUEUE, 1);
                job_forget(j);
                reply_error(r, status_of(&e), &e);
                return;
        }
        job_enqueue(j);
        begin(c, j, later, r);
}

/* ---- the others ---- */

struct runs_filter {
        char state[32], policy[TOKEN_NAME_MAX], person[PERSON_MAX], session[RANDOM_NAME], label[340],
                before[RANDOM_NAME];
        uint64_t limit, since, until;
};

static bool take_filter(const struct serve_call *c, struct runs_filter *f)
{
        char limit[24] = "2000", since[24] = "0", until[24] = "9223372036854775807", label[330] = "";
        const struct {
                const char *name;
                char *to;
                size_t cap;
        } rows[] = { { "state", f->state, sizeof f->state },    { "policy", f->policy, sizeof f->policy },
                     { "person", f->person, sizeof f->person }, { "session", f->session, sizeof f->session },
                     { "before", f->before, sizeof f->before }, { "label", label, sizeof label },
                     { "limit", limit, sizeof limit },          { "since", since, sizeof since },
                     { "until", until, sizeof until } };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (request_has(c->r, rows[i].name) &&
                    !request_param(c->r, rows[i].name, rows[i].to, rows[i].cap))
                        return false;
        if (label[0])
                (void) snprintf(f->label, sizeof f->label, "\n%s%s", label, strchr(label, '=') ? "\n" : "=");
        return str_to_u64(span_str(limit), &f->limit) == 0 && f->limit >= 1 && f->limit <= KEPT_RUNS &&
               str_to_u64(span_str(since), &f->since) == 0 && str_to_u64(span_str(until), &f->until) == 0;
}

/* `state` is that of the run, how it ended, or `blocked`. */
static bool is_wanted(const struct runs_filter *f, const struct job *j)
{
        static const char *const states[] = { "queued", "running", "ended" };
        bool blocked = strcmp(f->state, "blocked") == 0 && j->blocked > 0;
        return (!f->state[0] || blocked || strcmp(f->state, states[j->state]) == 0 ||
                (j->end && strcmp(f->state, j->end) == 0)) &&
               (!f->policy[0] || strcmp(f->policy, j->policy_name) == 0) &&
               (!f->person[0] || strcmp(f->person, j->person) == 0) &&
               (!f->session[0] || strcmp(f->session, j->session_id) == 0) &&
               (!f->label[0] || strstr(buf_str(&j->labels), f->label)) &&
               (uint64_t) j->created_s >= f->since && (uint64_t) j->created_s <= f->until;
}

static struct job *named(struct serve_call *c, struct reply *r)
{
        struct job *j = job_find(c->tenant, c->arg);
        if (!j)
                reply_problem(r, 404, "run", "run not found, or it ended long ago",
                              "GET /v1/ledger has the records of all runs");
        return j;
}

void get_runs(struct serve_call *c, struct reply *r)
{
        struct runs_filter f = { 0 };
        const struct job *j = tenant_book(c->tenant)->jobs;
        uint64_t n = 0;
        if (c->s->own) {
                own_runs(c, r);
                return;
        }

        if (!take_filter(c, &f)) {
                reply_problem(r, 400, "parameter",
                              "`limit` is 1 to 10000; `since` and `until` are seconds since 1970", NULL);
                return;
        }

        while (f.before[0] && j && strcmp(j->id, f.before) != 0)
                j = j->next;
        if (f.before[0] && j)
                j = j->next;
        const char *last = "";
        buf_puts(&r->body, "{\"runs\":[");
        for (; j && n < f.limit; j = j->next) {
                if (!is_wanted(&f, j))
                        continue;
                n++;
                last = j->id;
                buf_key(&r->body, NULL);
                job_put(j, false, &r->body);
        }
        while (j && !is_wanted(&f, j))
                j = j->next;
        buf_puts(&r->body, "]");
        if (j)
                buf_member(&r->body, "next", last);
        buf_puts(&r->body, "}");
        reply_json(r, 200);
}

/* ---- the whole output ---- */

/* "bytes=A-B", "bytes=A-" or "bytes=-N" of `size`; false: it is something else, and ignored. */
static bool take_range(const char *text, uint64_t size, uint64_t *ret_from, uint64_t *ret_end)
{
        uint64_t a = 0, b = UINT64_MAX;
        const char *dash = strncmp(text, "bytes=", 6) == 0 ? strchr(text, '-') : NULL;
        if (!dash || strchr(text, ','))
                return false;

        struct span first = span_of(text + 6, (size_t) (dash - text) - 6), last = span_str(dash + 1);
        if ((first.n && str_to_u64(first, &a) < 0) || (last.n && str_to_u64(last, &b) < 0) ||
            (!first.n && !last.n) || a > b)
                return false;
        *ret_from = first.n ? a : size - (b < size ? b : size);
        *ret_end = !first.n || b >= size ? size : b + 1;
        return true;
}

static void give_output(struct serve_call *c, unsigned stream, struct reply *r)
{
        enum { PART_MAX = 16 << 20 };
        const struct job *j = named(c, r);
        if (!j)
                return;

        const struct buf *held = &j->text[stream - 1]; /* of one that runs, and has not said more than this */
        bool in_memory = j->state != JOB_ENDED && j->spill[stream - 1] < 0;
        uint64_t size = in_memory ? held->n : j->out_bytes[stream - 1], from = 0, end = size;
        bool part = c->r->range[0] && take_range(c->r->range, size, &from, &end);
        if (part && from >= size) {
                reply_problem(r, 416, "range", "the output ends before this range", NULL);
                (void) snprintf(r->extra, sizeof r->extra, "Content-Range: bytes */%llu\r\n",
                                (unsigned long long) size);
                return;
        }
        if (!part && size > PART_MAX) {
                reply_problem(r, 413, "range", "the output is too long for one answer",
                              "Range: bytes=0-16777215");
                return;
        }

        end = end - from > PART_MAX ? from + PART_MAX : end;
        AUTO_FD(fd, in_memory || !size ? -1 : store_open_output(j, stream, false));
        char *room = in_memory ? NULL : buf_room(&r->body, (size_t) (end - from));
        if (in_memory)
                buf_add(&r->body, buf_str(held) + from, (size_t) (end - from));
        else if (size && (fd < 0 || !room ||
                          pread(fd, room, (size_t) (end - from), (off_t) from) != (ssize_t) (end - from))) {
                reply_problem(r, 500, "io", "the output of the run cannot be read", NULL);
                return;
        }

        r->status = part ? 206 : 200;
        r->type = "application/octet-stream";
        int n = snprintf(r->extra, sizeof r->extra,
                         "Accept-Ranges: bytes\r\nContent-Disposition: attachment\r\n");
        if (part)
                (void) snprintf(r->extra + n, sizeof r->extra - (size_t) n,
                                "Content-Range: bytes %llu-%llu/%llu\r\n", (unsigned long long) from,
                                (unsigned long long) end - 1, (unsigned long long) size);
}

void get_stdout(struct serve_call *c, struct reply *r) { give_output(c, 1, r); }
void get_stderr(struct serve_call *c, struct reply *r) { give_output(c, 2, r); }

void get_run(struct serve_call *c, struct reply *r)
{
        if (c->s->own) {
                own_run(c, r);
                return;
        }

        struct job *j = named(c, r);
        if (!j)
                return;

        if (!store_recall(j)) {
                reply_problem(r, 500, "io", "the result of the run cannot be read", NULL);
                return;
        }
        job_put(j, true, &r->body);
        job_rest(j);
        reply_json(r, 200);
}

void delete_run(struct serve_call *c, struct reply *r)
{
        if (c->s->own) {
                own_stop(c, r);
                return;
        }

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

        (void) store_recall(j);
        if (!take_after(c, j, &from)) {
                reply_problem(r, 400, "event", "Last-Event-ID is not the id of an event of this run", NULL);
                job_rest(j);
                return;
        }
        j->stays |= j->state == JOB_ENDED;
        job_watch(c->client, j, true, from);
}
