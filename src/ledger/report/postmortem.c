/* SPDX-License-Identifier: MIT */
/* ledger/report/postmortem.c - `cordon ledger report --postmortem`: what the ledger knows of a run, as a
 * draft of a report that people finish. Markdown. Pure.
 *
 * All text of a record is between backticks, without backticks, angle brackets and controls: there it cannot
 * act as a link, image, heading, tag or mention. The report concludes nothing that the ledger does not
 * record.
 */
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINES_MAX = 500, ROWS_MAX = 200, REFUSALS_MAX = 50, CAUSES_MAX = 40 };

struct story {
        const struct ledger_log *log;
        struct ledger_graph *graph;
        char run[LEDGER_ID_MAX];
        struct log_run of;
        int64_t end_us; /* of its last record in the ledger that has its start */
        uint64_t refused, unknown, beyond, limits;
        struct buf *out;
};

/* ---- inert text ---- */

static void put_code(struct buf *out, const char *inert)
{
        buf_putc(out, '`');
        for (const char *c = *inert ? inert : "-"; *c; c++)
                if (*c == '`' || *c == '<' || *c == '>')
                        buf_printf(out, "\\x%02x", (unsigned) *c);
                else
                        buf_putc(out, *c);

        buf_putc(out, '`');
}

static void put_inert(struct buf *out, struct span escaped)
{
        char shown[512];
        put_code(out, text_inert(escaped, shown, sizeof shown));
}

static void put_named(struct buf *out, const char *before, struct span escaped)
{
        if (escaped.n == 0)
                return;
        buf_puts(out, before);
        put_inert(out, escaped);
}

static void put_moment(struct buf *out, int64_t us)
{
        char text[TEXT_TIME];
        if (text_time(us, ' ', text)[0])
                buf_printf(out, "`%s UTC`", text);
}

/* ---- records of the run ---- */

static bool next_record(const struct story *s, struct ledger_walk *w, struct ledger_view *ret)
{
        while (ledger_next(w, ret))
                if (!s->of.start.json.n || span_eq(ret->ledger, s->of.start.ledger))
                        return true;
        return false;
}

static bool is_effect(const struct ledger_view *v)
{
        return !span_is(v->kind, "start") && !span_is(v->kind, "end") && !span_is(v->kind, "view") &&
               !span_is(v->kind, "limit") && !span_is(v->phase, "claim");
}

static bool was_refused(const struct ledger_view *v) { return span_is(v->phase, "denied"); }
static bool got_through(const struct ledger_view *v)
{
        return is_effect(v) && !came_to_nothing(v) &&
               (span_is(v->phase, "outcome") || span_is(v->phase, "credential") || v->unknown);
}
static bool was_stopped(const struct ledger_view *v) { return was_refused(v) || came_to_nothing(v); }
static bool was_tried(const struct ledger_view *v)
{
        return is_effect(v) && (was_refused(v) || span_is(v->phase, "intent") || !answers_intent(v));
}
static bool was_door(const struct ledger_view *v) { return span_is(v->phase, "claim"); }
static bool was_limit(const struct ledger_view *v) { return span_is(v->kind, "limit"); }

static void gather_story(struct story *s)
{
        struct ledger_view v;
        log_run_gather(s->log, s->run, false, &s->of);
        s->of.end.json.n = 0;
        for (struct ledger_walk w = s->of.first; next_record(s, &w, &v);) {
                uint64_t times = v.count > 0 ? (uint64_t) v.count : 1;
                s->end_us = v.time_us;
                s->refused += was_refused(&v) ? times : 0;
                s->unknown += v.unknown;
                s->limits += was_limit(&v);
                s->beyond += got_through(&v) && v.reach.n > 0 && !span_is(v.reach, "self");
                if (span_is(v.kind, "end"))
                        s->of.end = v;
        }
}

/* ---- repeated effects as one line ---- */

struct row {
        struct ledger_view v;
        uint64_t times;
};

static bool same_record(const struct ledger_view *a, const struct ledger_view *b)
{
        return span_eq(a->kind, b->kind) && span_eq(a->target, b->target) && span_eq(a->door, b->door) &&
               span_eq(a->phase, b->phase) && span_eq(a->result, b->result) && a->unknown == b->unknown;
}

typedef bool choice(const struct ledger_view *v);

/* Selects and sums up; reports when the table is full. */
static size_t sum_up(struct story *s, choice *chosen, const char *reach, struct row *rows)
{
        struct ledger_view v;
        size_t n = 0;
        bool cut = false;

        for (struct ledger_walk w = s->of.first; next_record(s, &w, &v);) {
                size_t i = 0;
                if (!chosen(&v) || (reach && !span_is(v.reach, reach)))
                        continue;
                while (i < n && !same_record(&rows[i].v, &v))
                        i++;
                if (i == ROWS_MAX) {
                        cut = true;
                        continue;
                }
                if (i == n)
                        rows[n++] = (struct row){ .v = v };
                rows[i].times += v.count > 0 ? (uint64_t) v.count : 1;
        }

        if (cut)
                buf_printf(s->out, "There are more than %d of these; the first are:\n\n", ROWS_MAX);

        return n;
}

static void put_row(struct buf *out, const struct row *r)
{
        buf_puts(out, "- ");
        put_inert(out, r->v.kind);
        put_named(out, " ", r->v.target);
        put_named(out, " by ", r->v.door);
        put_named(out, ": ", r->v.result);
        if (r->times > 1)
                buf_printf(out, ", %llu times", (unsigned long long) r->times);

        buf_puts(out, r->v.unknown ? " (whether it happened is not known)\n" : "\n");
}

static bool put_rows(struct story *s, struct row *rows, choice *chosen, const char *reach)
{
        size_t n = sum_up(s, chosen, reach, rows);
        for (size_t i = 0; i < n; i++)
                put_row(s->out, &rows[i]);
        return n > 0;
}

/* Nothing is concluded from a missing record. */
static const char none_left[] = "Nothing of it is left.";

static void put_section(struct story *s, struct row *rows, const char *title, choice *chosen,
                        const char *none)
{
        buf_printf(s->out, "\n## %s\n\n", title);
        if (!put_rows(s, rows, chosen, NULL))
                buf_printf(s->out, "%s\n", s->of.has_gap ? none_left : none);
}

/* ---- sections ---- */

static void put_summary(struct story *s)
{
        struct buf *out = s->out;
        buf_puts(out, "# Postmortem of run ");
        put_inert(out, span_str(s->run));
        buf_puts(out, "\n\nBox ");
        put_inert(out, s->of.start.box);
        buf_puts(out, " ran ");
        put_inert(out, s->of.start.target);
        buf_puts(out, " at ");
        put_moment(out, s->of.start.time_us);
        if (s->of.end.json.n) {
                buf_printf(out, " for %.3f s and ended: ", (double) (s->end_us - s->of.start.time_us) / 1e6);
                put_inert(out, s->of.end.result);
        } else {
                buf_puts(out, " and has no end in the ledger: it runs, or its keeper was killed");
        }

        buf_printf(out,
                   ". Refused: %llu. Reached beyond itself: %llu. Outcome unknown: %llu. Limits: %llu.\n",
                   (unsigned long long) s->refused, (unsigned long long) s->beyond,
                   (unsigned long long) s->unknown, (unsigned long long) s->limits);
        if (s->of.has_gap)
                buf_puts(out,
                         "\nPayloads were pruned since: what stands here may not be all that happened.\n");

        buf_putc(out, '\n');
        put_named(out, "- Policy ", s->of.start.policy);
        put_named(out, "\n- Wall ", ledger_member(s->of.start.more, "wall"));
        put_named(out, "\n- Ledger ", s->of.start.ledger);
        buf_putc(out, '\n');
}

static void put_time_line(struct story *s)
{
        struct ledger_view v;
        unsigned n = 0;
        buf_puts(s->out, "\n## Time line\n\n");
        for (struct ledger_walk w = s->of.first; next_record(s, &w, &v); n++) {
                if (n >= LINES_MAX)
                        continue;
                buf_printf(s->out, "- %+.3f ms ", (double) (v.time_us - s->of.start.time_us) / 1e3);
                put_inert(s->out, v.kind);
                if (!span_eq(v.kind, v.phase))
                        put_named(s->out, " ", v.phase);
                put_named(s->out, " ", v.door);
                put_named(s->out, " ", v.target);
                put_named(s->out, ": ", v.result);
                if (v.bytes >= 0)
                        buf_printf(s->out, ", %lld bytes", (long long) v.bytes);
                put_named(s->out, ", id ", v.id);
                buf_putc(s->out, '\n');
        }

        if (n > LINES_MAX)
                buf_printf(s->out, "\nThere are %u more records, which are not listed.\n", n - LINES_MAX);
}

static void put_through(struct story *s, struct row *rows)
{
        static const struct {
                const char *reach, *title;
        } reaches[] = { { "public", "The public" },
                        { "named", "A named third party" },
                        { "tenant", "A tenant" },
                        { "self", "Nobody but this user" } };

        buf_puts(s->out, "\n## What got through, by whom it reached\n");
        for (size_t i = 0; i < sizeof reaches / sizeof *reaches; i++) {
                buf_printf(s->out, "\n### %s\n\n", reaches[i].title);
                if (!put_rows(s, rows, got_through, reaches[i].reach))
                        buf_puts(s->out, "Nothing.\n");
        }
}

/* The output of `cordon ledger trace --back`, each of its lines as code. */
static void put_walk(struct story *s, const char *id, struct err *e)
{
        AUTO_BUF(walk);
        unsigned n = 0;
        if (ledger_trace_in(s->log, s->graph, id, LEDGER_BACK, &walk, e) < 0)
                return;

        const char *at = strchr(buf_str(&walk), '\n'); /* after the effect itself */
        for (at = at ? at + 1 : ""; *at; n++) {
                size_t len = strcspn(at, "\n"), skip = strspn(at, " ");
                skip += strncmp(at + skip, "<- ", 3) == 0 ? 3 : 0;
                char line[1024];
                if (n > 0 && n <= CAUSES_MAX) {
                        (void) snprintf(line, sizeof line, "%.*s", (int) (len - skip), at + skip);
                        buf_puts(s->out, "  - ");
                        put_code(s->out, line);
                        buf_putc(s->out, '\n');
                }
                at += len + (at[len] == '\n');
        }

        if (n > CAUSES_MAX + 1)
                buf_printf(s->out, "  - and %u more\n", n - CAUSES_MAX - 1);
}

static void put_causes(struct story *s, struct err *e)
{
        struct ledger_view v;
        unsigned n = 0;
        buf_puts(s->out, "\n## Causes of what was refused\n\n");
        for (struct ledger_walk w = s->of.first; next_record(s, &w, &v);) {
                char id[LEDGER_ID_MAX];
                if (!was_refused(&v) || ++n > REFUSALS_MAX)
                        continue;
                buf_puts(s->out, "- ");
                put_inert(s->out, v.kind);
                put_named(s->out, " ", v.target);
                put_named(s->out, ", id ", v.id);
                buf_puts(s->out, " because of\n");
                put_walk(s, ledger_plain(v.id, id, sizeof id), e);
        }

        if (n == 0)
                buf_printf(s->out, "%s\n", s->of.has_gap ? none_left : "Nothing was refused.");

        if (n > REFUSALS_MAX)
                buf_printf(s->out, "\nThe causes of %u more are not listed.\n", n - REFUSALS_MAX);
}

static void put_questions(struct buf *out)
{
        static const char *const questions[] = {
                "What did people notice, who, and when?",
                "Whom did it harm, and how is that known?",
                "What was believed that was not so?",
                "What went well, and what was luck?",
                "What was not in the ledger and should be?",
                "Which line of the policy is to be changed?",
                "What else will be changed, by whom, and by when?",
        };

        buf_puts(out,
                 "\n## Questions for people\n\nThe ledger knows what crossed and what was refused, not why "
                 "anybody wanted it.\n");
        for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
                buf_printf(out, "\n### %s\n", questions[i]);
}

static void put_sections(struct story *s, struct row *rows, struct err *e)
{
        put_summary(s);
        put_time_line(s);
        put_section(s, rows, "What was tried", was_tried, "Nothing that is recorded.");
        put_section(s, rows, "What refused it", was_stopped, "Nothing was refused.");
        put_through(s, rows);
        put_causes(s, e);
        put_section(s, rows, "Doors that were open", was_door, "None to files of the host.");
        put_section(s, rows, "Limits that were reached", was_limit, "None.");
        put_questions(s->out);
}

int ledger_postmortem(const struct ledger_log *l, const char *which, struct buf *out, struct err *e)
{
        struct story s = { .log = l, .out = out };
        struct row *rows = NULL;
        int r = ledger_find_run(l, which, s.run, e);
        if (r == 0) {
                rows = calloc(ROWS_MAX, sizeof *rows);
                r = rows ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for the report");
        }

        if (r == 0 && !(s.graph = ledger_graph_new(l, e)))
                r = -1;

        if (r == 0) {
                gather_story(&s);
                put_sections(&s, rows, e);
        }

        ledger_graph_free(s.graph);
        free(rows);
        return r;
}
