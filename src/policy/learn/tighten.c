/* SPDX-License-Identifier: MIT */
/* policy/learn/tighten.c - finds the doors that a command needs: each is closed under replay, many at a time
 * first, and stays closed if the command ends as before. Delta debugging with a bound on the runs. */
#include "policy/learn/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void runner_tell(const struct learn_runner *r, const char *fmt, ...)
{
        char text[160];
        va_list args;
        va_start(args, fmt);
        (void) vsnprintf(text, sizeof text, fmt, args);
        va_end(args);
        if (r->tell)
                r->tell(r->ctx, text);
}

static bool run_once(struct trial *t, struct learn_outcome *ret)
{
        AUTO_BUF(text);
        unsigned most = t->r->budget ? t->r->budget : LEARN_BOXES_MAX;
        if (t->r->boxes >= most || t->result < 0) {
                t->exhausted = true;
                return false;
        }

        t->r->boxes++;
        learn_print(t->d, true, &text);
        *ret = (struct learn_outcome){ 0 };
        if (text.failed || t->r->run(t->r->ctx, buf_str(&text), NULL, 0, ret, t->e) < 0) {
                t->result = -1;
                return false;
        }

        return true;
}

/* A policy that does not load any more lacks a door that one of its `expect allow` lines needs: that door
 * is also needed. */
bool trial_passes(struct trial *t)
{
        struct learn_outcome o;
        if (!run_once(t, &o) || !o.started || o.status != t->r->want)
                return false;

        for (size_t i = 0; i < LEARN_STREAMS; i++)
                if (t->prints_same[i] ? memcmp(o.digest[i], t->base.digest[i], sizeof o.digest[i]) != 0
                                      : !learn_printed_fits(&t->base.printed[i], &o.printed[i]))
                        return false;

        return true;
}

static bool may_close(const struct learn_line *l) { return l->door && !l->closed && !l->keep; }

/* Tries `size` doors at a time. Returns true if some were closed. */
static bool close_chunks(struct trial *t, size_t size)
{
        bool any = false;
        for (size_t i = 0; i < t->d->n && !t->exhausted;) {
                size_t chunk[256], n = 0;
                for (; i < t->d->n && n < size && n < COUNT(chunk); i++)
                        if (may_close(&t->d->v[i]))
                                chunk[n++] = i;
                for (size_t k = 0; k < n; k++)
                        t->d->v[chunk[k]].closed = true;
                if (n > 0)
                        runner_tell(t->r, n == 1 ? "without `%.100s`" : "without `%.100s` and %zu more",
                                    t->d->v[chunk[0]].text, n - 1);
                if (n > 0 && trial_passes(t)) {
                        any = true;
                        continue;
                }
                for (size_t k = 0; k < n; k++)
                        t->d->v[chunk[k]].closed = false;
        }

        return any;
}

static size_t count_candidates(const struct learn_draft *d)
{
        size_t n = 0;
        for (size_t i = 0; i < d->n; i++)
                n += may_close(&d->v[i]);
        return n;
}

static void close_all_that_can(struct trial *t)
{
        size_t n = count_candidates(t->d);
        for (size_t size = n; size > 1 && !t->exhausted; size = (size + 1) / 2) {
                (void) close_chunks(t, size);
                if (size == 2)
                        break;
        }

        while (!t->exhausted && close_chunks(t, 1))
                ;
}

static void reopen_doors(struct learn_draft *d, const bool *was)
{
        for (size_t i = 0; i < d->n; i++)
                d->v[i].closed = was[i];
}

bool trial_base(struct trial *t)
{
        struct learn_outcome again = { 0 };
        runner_tell(t->r, "with all doors: %zu", learn_doors(t->d));
        if (!run_once(t, &t->base) || !t->base.started || t->base.status != t->r->want)
                return false;

        if (!run_once(t, &again) || !again.started || again.status != t->r->want)
                return false;

        for (size_t i = 0; i < LEARN_STREAMS; i++) {
                t->prints_same[i] = memcmp(again.digest[i], t->base.digest[i], sizeof again.digest[i]) == 0;
                learn_printed_common(&t->base.printed[i], &again.printed[i]);
        }

        return true;
}

void trial_close(struct trial *t, unsigned runs, struct learn_result *ret)
{
        struct learn_draft *d = t->d;
        bool *was = calloc(d->n + 1, sizeof *was);
        if (!was) {
                t->result = err_set(t->e, ERR_MEMORY, 0, "no memory");
                return;
        }

        for (size_t i = 0; i < d->n; i++)
                was[i] = d->v[i].closed;

        close_all_that_can(t);
        ret->complete = !t->exhausted;
        t->exhausted = false;
        t->r->budget =
                (t->r->budget ? t->r->budget : LEARN_BOXES_MAX) + runs; /* the proof is never skipped */
        ret->passed = true;
        for (unsigned i = 0; i < runs && ret->passed; i++) {
                runner_tell(t->r, "with what is left, %zu: proof %u of %u", learn_doors(d), i + 1, runs);
                ret->passed = trial_passes(t);
        }

        if (!ret->passed && t->result == 0) {
                reopen_doors(d, was); /* a door is needed only sometimes: none is closed */
                ret->complete = false;
                ret->passed = true;
        }

        free(was);
}

int learn_tighten(struct learn_draft *d, struct learn_runner *r, unsigned runs, struct learn_result *ret,
                  struct err *e)
{
        struct trial t = { .d = d, .r = r, .e = e };
        ret->passed = trial_base(&t);
        ret->last = t.base;
        if (ret->passed && r->spare)
                r->spare(r->ctx, d);
        if (ret->passed)
                trial_close(&t, runs, ret);
        return t.result;
}
