/* SPDX-License-Identifier: MIT */
/* face/serve/apply_question.c - an apply whose `edit` door has `ask`: the client waits until a person has
 * approved exactly these entries. When it leaves, the question is withdrawn. */
#include "base/err.h"
#include "face/serve/internal.h"

#include <stdlib.h>
#include <string.h>

static size_t find(const struct server *s, const struct client *c)
{
        size_t i = 0;
        while (i < QUESTIONS_MAX && (!s->questions[i] || (c && s->questions[i]->client != c)))
                i++;
        return i;
}

static void question_free(struct server *s, size_t index)
{
        struct question *q = s->questions[index];
        tenant_book(q->tenant)->asked++;
        cordon_question_free(q->q);
        free(q);
        s->questions[index] = NULL;
}

void question_drop(struct server *s, const struct client *c)
{
        size_t i = find(s, c);
        if (i < QUESTIONS_MAX)
                question_free(s, i);
}

const char *question_digest(struct server *s, const struct client *c)
{
        size_t i = find(s, c);
        return i < QUESTIONS_MAX ? cordon_question_digest(s->questions[i]->q) : NULL;
}

/* No tenant takes all places. */
static size_t place_for(const struct server *s, const struct tenant *t)
{
        size_t mine = 0, place = QUESTIONS_MAX;
        for (size_t i = 0; i < QUESTIONS_MAX; i++) {
                mine += s->questions[i] && s->questions[i]->tenant == t;
                if (!s->questions[i])
                        place = i;
        }
        return mine < QUESTIONS_MAX / 4 ? place : QUESTIONS_MAX;
}

void question_begin(struct server *s, struct client *c, struct span text)
{
        struct reply r = { 0 };
        cordon_error e = { 0 };
        AUTO_BUF(copy);
        buf_add(&copy, text.p, text.n);
        size_t at = place_for(s, c->admitted.tenant);
        const char *const people[] = { c->admitted.person, NULL }; /* beside those whom the overlay has */
        struct question *q = at < QUESTIONS_MAX && !copy.failed ? calloc(1, sizeof *q) : NULL;
        if (!q) {
                reply_later(&r, 429, 10, "too many applies wait for an approval");
                client_answer(c, &r);
                return;
        }

        *q = (struct question){ .s = s, .client = c, .tenant = c->admitted.tenant };
        q->q = cordon_question_open(tenant_context(q->tenant), buf_str(&copy), people, &e);
        if (q->q) {
                s->questions[at] = q;
                tenant_book(q->tenant)->asked++;
                return;
        }

        free(q);
        reply_error(&r, status_of(&e), &e);
        client_answer(c, &r);
}

/* It is approved: the apply itself, in a process of its own. Without room for that it is tried again. */
static bool go_on(struct server *s, struct client *c)
{
        struct reply r = { 0 };
        struct serve_call call = client_call(s, c);
        aside_begin(&call, &r);
        buf_done(&r.body);
        return r.status == 0;
}

void questions_step(struct server *s)
{
        for (size_t i = 0; i < QUESTIONS_MAX; i++) {
                cordon_error e = { 0 };
                struct question *q = s->questions[i];
                int got = q ? cordon_question_step(q->q, &e) : 0;
                if (got == 0 || (got > 0 && !go_on(s, q->client)))
                        continue;

                if (got < 0) {
                        struct reply r = { 0 };
                        reply_problem(&r, 403, "approval", e.what,
                                      "the changes are kept; the same request asks again");
                        client_answer(q->client, &r);
                }
                question_free(s, i);
        }
}
