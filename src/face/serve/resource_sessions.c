/* SPDX-License-Identifier: MIT */
/* face/serve/resource_sessions.c - boxes that stay: files and processes last from run to run. */
#include "face/serve/resources.h"

#include "base/clock.h"
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENDED_KEPT = 16 };

struct session *session_find(struct tenant *t, const char *id)
{
        struct session *x = tenant_book(t)->sessions;
        while (x && strcmp(x->id, id) != 0)
                x = x->next;
        return x;
}

static void session_free(struct session *x)
{
        cordon_box_free(x->box);
        held_policy_release(x->policy);
        free(x);
}

static void put_session(const struct session *x, struct buf *out)
{
        buf_member_json(out, NULL, "{");
        buf_member(out, "id", x->id);
        buf_member(out, "state",
                   x->ended                   ? "ended"
                   : x->over                  ? "ending"
                   : cordon_box_is_up(x->box) ? "up"
                                              : "starting");
        buf_member(out, "policy", x->policy_name);
        buf_member_int(out, "created", x->created_s);
        buf_member_int(out, "runs", x->jobs);
        if (x->run[0])
                buf_member(out, "run", x->run);
        if (x->work[0])
                buf_member(out, "changes", x->work);
        buf_putc(out, '}');
}

static int keep_session(const struct session *x)
{
        AUTO_BUF(text);
        put_session(x, &text);
        buf_putc(&text, '\n');
        return store_put(x->tenant, x->id, buf_span(&text), true);
}

/* ---- under way ---- */

/* The newest that have ended can still be asked for what they left. */
static void forget_old(struct tenant *t)
{
        unsigned kept = 0;
        for (struct session **at = &tenant_book(t)->sessions; *at;) {
                struct session *x = *at;
                if (!x->ended || x->jobs || ++kept <= ENDED_KEPT) { /* the newest first */
                        at = &x->next;
                        continue;
                }
                *at = x->next;
                store_drop(t, x->id);
                session_free(x);
        }
}

void sessions_step(struct server *s, size_t index)
{
        struct session *x = s->sessions[index];
        if (!x->ended && cordon_box_step(x->box) == 0)
                return;

        if (!x->ended) {
                (void) snprintf(x->work, sizeof x->work, "%s", cordon_box_result(x->box)->work);
                x->over = x->ended = true;
        }
        if (x->jobs)
                return;

        s->sessions[index] = NULL;
        cordon_box_free(x->box);
        x->box = NULL;
        if (keep_session(x) < 0)
                trouble_tell(s, "the end of a session", errno);
        budget_give(tenant_budget(x->tenant), BUDGET_SESSIONS, 1);
        budget_give(tenant_budget(x->tenant), BUDGET_GPUS, x->gpu);
        forget_old(x->tenant);
}

void sessions_free(struct server *s)
{
        for (struct tenant *t; (t = tenants_at(s->tenants, s->turn)); s->turn++)
                for (struct session *x = tenant_book(t)->sessions, *next; x; x = next) {
                        next = x->next;
                        session_free(x);
                }
}

/* ---- requests ---- */

static void on_held(void *ctx, const char *id, const char *effect, unsigned within_s)
{
        (void) id;
        (void) effect;
        (void) within_s;
        tenant_book(ctx)->asked++;
}

static int start(struct session *x, const char *policy, const char *person, cordon_error *e)
{
        x->policy = tenant_policy(x->tenant, policy, e);
        if (!x->policy)
                return -1;

        x->gpu = held_policy_gpu(x->policy) && budget_take(tenant_budget(x->tenant), BUDGET_GPUS, 1);
        if (held_policy_gpu(x->policy) && !x->gpu)
                return err_set((struct err *) e, ERR_LIMIT, 0,
                               "as many boxes have a GPU as this tenant or this host may have at once");

        (void) snprintf(x->policy_name, sizeof x->policy_name, "%.64s", policy);
        x->box = cordon_box_new(held_policy(x->policy));
        if (!x->box || !job_set_up(x->box, held_policy_directory(x->policy), NULL) ||
            random_name("s", x->id) < 0)
                return err_set((struct err *) e, ERR_MEMORY, 0, "no memory for a session");
        cordon_box_on_held(x->box, on_held, x->tenant);
        if (cordon_box_asked_by(x->box, person, e) < 0 || cordon_session_start(x->box, e) < 0)
                return -1;

        (void) snprintf(x->run, sizeof x->run, "%s", cordon_session_id(x->box));
        x->created_s = clock_wall_s();
        return keep_session(x) == 0 ? 0
                                    : err_set((struct err *) e, ERR_IO, errno,
                                              "the session is not stored: %s", strerror(errno));
}

static void begin(struct serve_call *c, const char *policy, struct reply *r)
{
        cordon_error e = { 0 };
        size_t at = 0;
        while (at < SESSIONS_MAX && c->s->sessions[at])
                at++;

        if (c->s->draining || at == SESSIONS_MAX ||
            !budget_take(tenant_budget(c->tenant), BUDGET_SESSIONS, 1)) {
                reply_later(r, c->s->draining ? 503 : 429, 10, "no further session can start");
                return;
        }

        if (!jobs_leave_room(c->s, c->tenant)) {
                budget_give(tenant_budget(c->tenant), BUDGET_SESSIONS, 1);
                reply_later(r, 429, 10, "a run with exclusive use of the machine is active; try again later");
                return;
        }

        struct session *x = calloc(1, sizeof *x);
        if (x) {
                x->tenant = c->tenant;
                x->budget.above = tenant_budget(c->tenant);
                x->budget.limit[BUDGET_RUNS] = tenant_box_runs(c->tenant);
        }
        if (!x || start(x, policy, c->client->admitted.person, &e) < 0) {
                budget_give(tenant_budget(c->tenant), BUDGET_SESSIONS, 1);
                reply_error(r, status_of(&e), &e);
                if (status_of(&e) == 507)
                        trouble_tell(c->s, "the start of a session", e.sys);
                if (x) {
                        budget_give(tenant_budget(x->tenant), BUDGET_GPUS, x->gpu);
                        session_free(x);
                }
                return;
        }

        x->next = tenant_book(c->tenant)->sessions;
        tenant_book(c->tenant)->sessions = x;
        c->s->sessions[at] = x;
        put_session(x, &r->body);
        reply_json(r, 201);
        (void) snprintf(r->extra, sizeof r->extra, "Location: /v1/sessions/%s\r\n", x->id);
}

void post_session(struct serve_call *c, struct reply *r)
{
        const char *policy = json_str(c->json, "policy");
        begin(c, policy ? policy : "default", r);
}

void get_sessions(struct serve_call *c, struct reply *r)
{
        buf_puts(&r->body, "{\"sessions\":[");
        for (const struct session *x = tenant_book(c->tenant)->sessions; x; x = x->next)
                put_session(x, &r->body);
        buf_puts(&r->body, "]}");
        reply_json(r, 200);
}

static struct session *named(struct serve_call *c, struct reply *r)
{
        struct session *x = session_find(c->tenant, c->arg);
        if (!x)
                reply_problem(r, 404, "session", "session not found", "GET /v1/sessions lists them");
        return x;
}

void get_session(struct serve_call *c, struct reply *r)
{
        struct session *x = named(c, r);
        if (!x)
                return;
        put_session(x, &r->body);
        reply_json(r, 200);
}

/* Its processes end, and its changes stay for review: GET shows where. */
void delete_session(struct serve_call *c, struct reply *r)
{
        struct session *x = named(c, r);
        if (!x)
                return;

        if (!x->over)
                cordon_session_end(x->box);
        x->over = true;
        put_session(x, &r->body);
        reply_json(r, 202);
}
