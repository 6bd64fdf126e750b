/* SPDX-License-Identifier: MIT */
/* run/api/ledger.c - the ledger behind cordon.h: questions to the record. */
#include "ledger/ledger.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static bool has_record(const struct ledger_log *l, const char *id)
{
        struct ledger_view v;
        for (struct ledger_walk w = { .log = l, .at = ledger_log_count(l) }; ledger_prev(&w, &v);)
                if (span_is(v.id, id))
                        return true;
        return false;
}

struct ledger_filter api_log_filter(const cordon_log_filter *f)
{
        struct ledger_filter all = { 0 };
        if (f)
                all = (struct ledger_filter){ .box = f->box,
                                              .run = f->run,
                                              .kind = f->kind,
                                              .target = f->target,
                                              .since_us = f->since_us,
                                              .job = f->job };
        return all;
}

/* The start of the newest `last` matches. */
static uint64_t begin_of_last(const struct ledger_log *l, const struct ledger_filter *f, uint64_t last)
{
        struct ledger_view v;
        struct ledger_walk w = { .log = l, .at = ledger_log_count(l), .filter = f };
        while (last > 0 && ledger_prev(&w, &v))
                last--;
        return w.at;
}

static void each_from(const struct ledger_log *l, const struct ledger_filter *f, uint64_t *cursor,
                      void (*each)(void *ctx, const char *json, const char *line), void *ctx)
{
        struct ledger_view v;
        struct ledger_walk w = { .log = l, .at = *cursor, .filter = f };
        for (; ledger_next(&w, &v); *cursor = w.at) {
                AUTO_BUF(json);
                AUTO_BUF(line);
                ledger_json(&v, &json);
                ledger_line(&v, &line);
                each(ctx, buf_str(&json), buf_str(&line));
        }
        *cursor = w.at;
}

static void note_list(const struct cordon_context *cx, const cordon_log_filter *f)
{
        api_log_viewed(cx, "log", f && f->run ? f->run : f && f->target ? f->target : NULL);
}

int cordon_log_each(const cordon_context *cx, const cordon_log_filter *f, uint64_t *cursor,
                    void (*each)(void *ctx, const char *json, const char *line), void *ctx, cordon_error *pe)
{
        struct ledger_filter filter = api_log_filter(f);
        struct ledger_log *l = api_log_open(cx, NULL, to_err(pe));
        if (!l || ledger_filter_job(l, &filter, to_err(pe)) < 0) {
                ledger_filter_free(&filter);
                ledger_log_free(l);
                return -1;
        }

        bool first = *cursor == 0;
        if (first && f && f->last)
                *cursor = begin_of_last(l, &filter, f->last);

        each_from(l, &filter, cursor, each, ctx);
        ledger_filter_free(&filter);
        ledger_log_free(l);
        if (first)
                note_list(cx, f);

        return 0;
}

static int no_seal(const char *what, struct err *e)
{
        (void) err_set(e, ERR_GONE, 0, "no %s exists yet", what);
        return err_hint(e, "the sealer makes it within a second of a run; is cordon-ledger installed?");
}

static int newest_checkpoint(int dir, struct buf *out, struct err *e)
{
        AUTO_BUF(text);
        struct ledger_note n, last = { 0 };
        if (ledger_slurp(dir, "checkpoints", &text) < 0)
                return err_set(e, ERR_IO, errno, "the checkpoints cannot be read");

        for (struct span rest = buf_span(&text); ledger_note_next(rest, &n, &rest) == 1;)
                last = n;

        if (last.whole.n == 0)
                return no_seal("checkpoint", e);

        buf_add(out, last.whole.p, last.whole.n);
        return 0;
}

/* Whether a keeper of this user's is there for the run. Asked after the records were read: what ended in
 * between is unknown once. */
static bool runs_here(const struct ledger_log *l, const char *which)
{
        struct err ignored;
        char run[LEDGER_ID_MAX];
        return ledger_find_run(l, which, run, &ignored) == 0 && box_runs(run);
}

static int put_answer(const struct cordon_context *cx, cordon_log_view view, const struct ledger_log *l,
                      int dir, const char *arg, struct buf *out, struct err *e)
{
        switch (view) {
        case CORDON_LOG_SHOW:
                return ledger_show(l, arg, runs_here(l, arg), out, e);
        case CORDON_LOG_FIELD:
        case CORDON_LOG_FIELD_JSON:
                return ledger_field(l, arg, view == CORDON_LOG_FIELD_JSON, out), 0;
        case CORDON_LOG_REACHED:
        case CORDON_LOG_REACHED_JSON:
                return ledger_reached(l, view == CORDON_LOG_REACHED_JSON, out), 0;
        case CORDON_LOG_PROOF:
                if (!has_record(l, arg))
                        return err_set(e, ERR_GONE, ENOENT, "the ledger has no record %.60s", arg);
                return ledger_proof_make(cx, dir, arg, out, e);
        case CORDON_LOG_CHECKPOINT:
                return newest_checkpoint(dir, out, e);
        case CORDON_LOG_KEYS:
                if (ledger_keys(cx, dir, out, e) < 0)
                        return -1;
                return out->n ? 0 : no_seal("key", e);
        case CORDON_LOG_HTML:
                return ledger_html(l, arg, runs_here(l, arg), out, e);
        case CORDON_LOG_POSTMORTEM:
                return ledger_postmortem(l, arg, out, e);
        case CORDON_LOG_TILES:
                return ledger_tiles_export(l, dir, arg, out, e);
        }
        return err_set(e, ERR_USAGE, 0, "unknown view of the ledger");
}

/* With a directory: of this user's own ledger. */
static char *answer_noted(const struct cordon_context *cx, cordon_log_view view, const struct ledger_log *l,
                          int dir, const char *arg, struct err *e)
{
        static const char *const names[] = { "show", "field", "field",  "reached", "reached", "proof",
                                             NULL,   NULL,    "report", "report",  "tiles" };
        AUTO_BUF(out);
        if (put_answer(cx, view, l, dir, arg ? arg : "", &out, e) < 0)
                return NULL;

        if (view <= CORDON_LOG_TILES && names[view])
                api_log_viewed(cx, names[view], arg);

        return api_give(&out, e);
}

char *cordon_log(const cordon_context *cx, cordon_log_view view, const char *arg, cordon_error *pe)
{
        AUTO_FD(dir, -1);
        struct ledger_log *l = api_log_open(cx, &dir, to_err(pe));
        char *text = l ? answer_noted(cx, view, l, dir, arg, to_err(pe)) : NULL;
        ledger_log_free(l);
        return text;
}

static char *trace_noted(const struct cordon_context *cx, const struct ledger_log *l, const char *id,
                         unsigned ways, bool json, struct err *e)
{
        AUTO_BUF(out);
        if (ledger_trace(l, id, ways, json, &out, e) < 0)
                return NULL;
        api_log_viewed(cx, "trace", id);
        return api_give(&out, e);
}

static unsigned ways_of(int back, int forward)
{
        return (back ? LEDGER_BACK : 0u) | (forward ? LEDGER_FORWARD : 0u);
}

char *cordon_trace(const cordon_context *cx, const char *id, int back, int forward, int json,
                   cordon_error *pe)
{
        struct ledger_log *l = api_log_open(cx, NULL, to_err(pe));
        char *text = l ? trace_noted(cx, l, id, ways_of(back, forward), json, to_err(pe)) : NULL;
        ledger_log_free(l);
        return text;
}

/* ---- several ledgers: queries are recorded in this user's own ---- */

struct cordon_ledgers {
        const struct cordon_context *cx;
        struct ledger_log *log;
};

cordon_ledgers *cordon_ledgers_open(const cordon_context *cx, const char *const *dirs, size_t count,
                                    cordon_error *pe)
{
        struct cordon_ledgers *l = calloc(1, sizeof *l);
        if (!l) {
                (void) err_set(to_err(pe), ERR_MEMORY, 0, "no memory for the ledgers");
                return NULL;
        }

        l->cx = cx;
        l->log = ledger_log_several(cx, dirs, count, to_err(pe));
        if (l->log)
                return l;

        free(l);
        return NULL;
}

void cordon_ledgers_free(cordon_ledgers *l)
{
        if (l)
                ledger_log_free(l->log);
        free(l);
}

int cordon_ledgers_each(const cordon_ledgers *l, const cordon_log_filter *f,
                        void (*each)(void *ctx, const char *json, const char *line), void *ctx,
                        cordon_error *pe)
{
        struct ledger_filter filter = api_log_filter(f);
        int r = ledger_filter_job(l->log, &filter, to_err(pe));
        uint64_t cursor = f && f->last ? begin_of_last(l->log, &filter, f->last) : 0;
        if (r == 0)
                each_from(l->log, &filter, &cursor, each, ctx);

        ledger_filter_free(&filter);
        if (r < 0)
                return -1;

        note_list(l->cx, f);
        return 0;
}

char *cordon_ledgers_log(const cordon_ledgers *l, cordon_log_view view, const char *arg, cordon_error *pe)
{
        if (view != CORDON_LOG_PROOF && view != CORDON_LOG_CHECKPOINT && view != CORDON_LOG_KEYS &&
            view != CORDON_LOG_TILES)
                return answer_noted(l->cx, view, l->log, -1, arg, to_err(pe));
        (void) err_set(to_err(pe), ERR_USAGE, 0, "proofs, checkpoints and keys are of one ledger");
        (void) err_hint(to_err(pe), "let CORDON_STATE name its directory");
        return NULL;
}

char *cordon_ledgers_trace(const cordon_ledgers *l, const char *id, int back, int forward, int json,
                           cordon_error *pe)
{
        return trace_noted(l->cx, l->log, id, ways_of(back, forward), json, to_err(pe));
}

char *cordon_verify(const cordon_context *cx, const char *checkpoints, int json, int *ret_ok,
                    cordon_error *pe)
{
        AUTO_FD(dir, ledger_dir_open(cx, false, to_err(pe)));
        AUTO_BUF(out);
        bool ok = false;

        if (dir < 0)
                return NULL;

        int r = ledger_verify_host(cx, dir, checkpoints ? checkpoints : "", json, &out, &ok, to_err(pe));
        *ret_ok = ok;
        return r == 0 ? api_give(&out, to_err(pe)) : NULL;
}

char *cordon_verify_proof(const cordon_context *cx, const char *proof, size_t len, const char *keyfile,
                          int *ret_ok, cordon_error *pe)
{
        AUTO_BUF(out);
        bool ok = false;
        int r = ledger_proof_check(cx, span_of(proof, len), keyfile, &out, &ok, to_err(pe));
        *ret_ok = ok;
        return r == 0 ? api_give(&out, to_err(pe)) : NULL;
}

int cordon_log_prune(const cordon_context *cx, const char *kind, int64_t before_us, uint64_t *ret_count,
                     cordon_error *pe)
{
        if (!kind || strcmp(kind, "output") == 0)
                (void) box_logs_prune(cx, before_us * 1000);

        AUTO_FD(there, ledger_dir_open(cx, false,
                                       to_err(pe))); /* none: nothing to prune, and none is created for it */
        struct ledger *l = there < 0 ? NULL : api_log_as(cx, "prune", to_err(pe));
        if (!l)
                return -1;

        int r = ledger_prune(l, kind, before_us, ret_count, to_err(pe));
        ledger_wake_sealer(l);
        ledger_close(l);
        return r;
}

int cordon_log_rotate(const cordon_context *cx, cordon_error *pe)
{
        char place[4096];
        AUTO_FD(dir, ledger_dir_open(cx, true, to_err(pe)));
        if (dir < 0 || ledger_place(cx, place, sizeof place, to_err(pe)) < 0)
                return -1;
        return ledger_helper_do(cx, "rotate", place, span_of("", 0), NULL, to_err(pe));
}

char *cordon_log_restart(const cordon_context *cx, cordon_error *pe)
{
        AUTO_BUF(out);
        return ledger_restart(cx, &out, to_err(pe)) == 0 ? api_give(&out, to_err(pe)) : NULL;
}

/* An intent with an unknown end gets its outcome this way; for any other record it is a claim. */
int cordon_react(const cordon_context *cx, const char *token, const char *from, const char *text,
                 char ret_id[64], cordon_error *pe)
{
        struct err *e = to_err(pe);
        struct ledger_log *log = api_log_open(cx, NULL, e);
        struct ledger_graph *g = log ? ledger_graph_new(log, e) : NULL;
        int64_t at = g ? ledger_graph_find(g, token, e) : -1;
        struct ledger_view v;
        struct ledger *l =
                at >= 0 && ledger_log_view(log, (uint64_t) at, &v) == 0 ? api_log_as(cx, "reply", e) : NULL;
        int r = -1;

        if (l) {
                char cause[LEDGER_ID_MAX], digest[72] = "sha256:";
                struct ledger_record reply = ledger_record_of(
                        LEDGER_REPLY, span_is(v.phase, "intent") ? LEDGER_OUTCOME : LEDGER_CLAIM);
                reply.parents[0] = ledger_plain(v.id, cause, sizeof cause);
                reply.parent_count = 1;
                reply.clock_seen = v.clock > 0 ? (uint64_t) v.clock : 0;
                reply.target = from;
                reply.result = text;
                reply.bytes = (int64_t) strlen(text);
                sha256_hex(span_str(text), digest + 7);
                reply.digest = digest;
                r = ledger_append(l, &reply, true, ret_id, e);
                ledger_wake_sealer(l);
                ledger_close(l);
        }

        ledger_graph_free(g);
        ledger_log_free(log);
        return r;
}
