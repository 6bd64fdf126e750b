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

/* ---- the order ---- */

static int refuse(cordon_error *e, const char *what)
{
        return err_set((struct err *) e, ERR_USAGE, 0, "%s", what);
}

int job_take_argv(struct job *j, const struct json *o, cordon_error *e)
{
        const struct json *list = json_of(o, "argv", JSON_ARRAY);
        size_t n = 0;
        for (const struct json *w = list ? list->child : NULL; w; w = w->next)
                n++;
        if (n == 0 || n > ARGUMENTS_MAX || list->child->len == 0)
                return refuse(e, "`argv` is the command: a list of 1 to 1024 strings");

        for (char **w = j->argv; w && *w; w++) /* those of its record */
                free(*w);
        free(j->argv);
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
                (void) snprintf(j->session_id, sizeof j->session_id, "%s", j->session->id);
                (void) snprintf(j->policy_name, sizeof j->policy_name, "%s", j->session->policy_name);
                return 0;
        }

        (void) snprintf(j->policy_name, sizeof j->policy_name, "%.64s", lines ? "request" : name);
        bool own = j->env.n > 0; /* its policy is no other's */
        j->registered = !lines && !own;
        j->policy = lines ? tenant_lines(j->tenant, lines->str, lines->len, e)
                    : own ? tenant_policy_own(j->tenant, name, e)
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

/* KEY=VALUE: for whoever looks for the run later. */
int job_take_labels(struct job *j, const struct json *o, cordon_error *e)
{
        enum { LABELS_MAX = 32, VALUE_MAX = 256 };
        const struct json *list = json_of(o, "labels", JSON_OBJECT);
        unsigned n = 0;
        j->labels.n = 0;
        for (const struct json *v = list ? list->child : NULL; v; v = v->next) {
                bool plain = v->type == JSON_STRING && v->len <= VALUE_MAX && request_is_word(v->key, 64);
                for (size_t i = 0; plain && i < v->len; i++)
                        plain = (unsigned char) v->str[i] >= 0x20 && v->str[i] != 0x7f;
                if (!plain || ++n > LABELS_MAX)
                        return refuse(e, "`labels` has at most 32 members: keys of 64 letters, digits and "
                                         "._-, values of "
                                         "256 bytes in one line");
                buf_printf(&j->labels, "\n%s=%s", v->key, v->str);
        }
        if (n)
                buf_putc(&j->labels, '\n');
        return j->labels.failed ? refuse(e, "no memory for the labels") : 0;
}

/* Variables are no more than a command could set by itself: where the policy lets it run `env`. */
static int take_env(struct job *j, const struct json *o, cordon_error *e)
{
        enum { ENV_MAX = 64, VALUE_MAX = 32768 };
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
        const struct json *list = json_of(o, "env", JSON_OBJECT);
        unsigned n = 0;
        for (const struct json *v = list ? list->child : NULL; v; v = v->next) {
                if (v->type != JSON_STRING || strlen(v->str) != v->len || v->len > VALUE_MAX ||
                    ++n > ENV_MAX || v->key_len > 128 || strspn(v->key, letters) != v->key_len ||
                    !v->key_len || (v->key[0] >= '0' && v->key[0] <= '9') || strpbrk(v->str, "\n\r"))
                        return refuse(e, "`env` has at most 64 members: names of letters, digits and _, and "
                                         "strings of one "
                                         "line");
                buf_printf(&j->env, "%s=%s", v->key, v->str);
                buf_putc(&j->env, '\0');
        }
        return n && json_get(o, "session")
                       ? refuse(e, "`env` is not for runs of a session: argv can begin with env")
                       : 0;
}

static int apply_env(struct job *j, cordon_error *e)
{
        return j->env.n ? held_policy_env(j->tenant, j->policy, span_of(j->env.p, j->env.n), e) : 0;
}

/* Below {work}, as the box sees it. */
static int take_cwd(struct job *j, const struct json *o, cordon_error *e)
{
        const char *cwd = json_str(o, "cwd");
        if (!cwd)
                return 0;

        const struct held_policy *h = j->session ? j->session->policy : j->policy;
        const char *work = held_policy_directory(h);
        bool up = strcmp(cwd, "..") == 0 || strncmp(cwd, "../", 3) == 0 || strstr(cwd, "/../") ||
                  (strlen(cwd) > 3 && strcmp(cwd + strlen(cwd) - 3, "/..") == 0);
        if (cwd[0] == '/' || up || !work)
                return refuse(e, work ? "`cwd` is a directory below {work}, without .."
                                      : "`cwd` is for policies with a door to {work}");
        return asprintf(&j->cwd, "%s/%s", work, cwd) < 0 ? refuse(e, "no memory for `cwd`") : 0;
}

int job_take_order(struct job *j, const struct json *o, cordon_error *e)
{
        j->timeout_ns = (uint64_t) json_int_or(o, "timeout", 0) * 1000000000u;
        return job_take_argv(j, o, e) < 0 || take_input(j, o, e) < 0 || take_output(j, o, e) < 0 ||
                               job_take_labels(j, o, e) < 0 || take_env(j, o, e) < 0 ||
                               take_policy(j, o, e) < 0 || apply_env(j, e) < 0 || take_cwd(j, o, e) < 0
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
