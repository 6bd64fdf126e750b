/* SPDX-License-Identifier: MIT */
/* ledger/read/log_records.c - the records of a ledger by index, parsed, and those of one run. */
#include "base/hash.h"
#include "ledger/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct ledger_log *ledger_log_open(int dir, struct err *e)
{
        struct ledger_log *l = calloc(1, sizeof *l);
        int64_t last = ledger_last_segment(dir);

        (void) hash_use_hardware();
        if (l)
                l->answered = answered_new();

        if (l && last > 0)
                l->segments = calloc((size_t) last, sizeof *l->segments);

        if (!l || !l->answered || last < 0 || (last > 0 && !l->segments)) {
                ledger_log_free(l);
                (void) err_set(e, ERR_IO, errno, "the ledger cannot be read: %s", strerror(errno));
                return NULL;
        }

        if (log_map(l, dir, (uint32_t) last) < 0) {
                ledger_log_free(l);
                (void) err_set(e, ERR_MEMORY, 0, "out of memory for the ledger's records");
                return NULL;
        }

        return l;
}

void ledger_log_free(struct ledger_log *l)
{
        if (!l)
                return;

        for (size_t k = 0; k < l->segment_count; k++)
                segment_unmap(l->segments[k].bytes);

        answered_free(l->answered);
        free(l->segments);
        free(l->at);
        free(l->from);
        free(l->own_index);
        free(l->marks);
        free(l->edges);
        free(l);
}

uint64_t ledger_log_count(const struct ledger_log *l) { return l->count; }

void ledger_log_hide(struct ledger_log *l, bool (*hidden)(const struct ledger_view *v))
{
        l->hidden = hidden;
}

int ledger_log_view(const struct ledger_log *l, uint64_t index, struct ledger_view *ret)
{
        struct span bytes = log_bytes(l, index);
        if (!bytes.p || ledger_view_parse(bytes, ret) < 0)
                return -1;

        if (l->hidden && l->hidden(ret))
                return -1;

        ret->unknown = span_is(ret->phase, "intent") && !answered_has(l->answered, l, index, ret->id);
        if (l->ledgers) {
                ret->ledger = span_str(l->names[l->from[index]]);
                ret->lost_cause = l->marks[index] & RECORD_LOST_CAUSE;
                ret->in_circle = l->marks[index] & RECORD_IN_CIRCLE;
        }

        return 0;
}

/* ---- the records of one run ---- */

/* Cheaper than parsing: canonical JSON has no space between a key and its value. */
static bool mentions_member(struct span json, const char *member, const char *value)
{
        char text[2 * LEDGER_ID_MAX];
        int n = snprintf(text, sizeof text, "\"%s\":\"%s", member, value);
        return json.p && n > 0 && (size_t) n < sizeof text && memmem(json.p, json.n, text, (size_t) n);
}

static bool is_walked(const struct ledger_walk *w, uint64_t index, struct ledger_view *ret)
{
        const struct ledger_log *l = w->log;
        return (!w->kind || mentions_member(log_bytes(l, index), "kind", w->kind)) &&
               (!w->run || mentions_member(log_bytes(l, index), "run", w->run)) &&
               ledger_log_view(l, index, ret) == 0 && (!w->kind || span_is(ret->kind, w->kind)) &&
               (!w->run || span_is(ret->run, w->run)) && (!w->filter || ledger_matches(w->filter, ret));
}

bool ledger_next(struct ledger_walk *w, struct ledger_view *ret)
{
        while (w->at < w->log->count)
                if (is_walked(w, w->at++, ret))
                        return true;
        return false;
}

bool ledger_prev(struct ledger_walk *w, struct ledger_view *ret)
{
        while (w->at > 0)
                if (is_walked(w, --w->at, ret))
                        return true;
        return false;
}

/* A broker's first intent may be written shortly before the keeper's start record. */
enum { BEFORE_START = 4096 };

struct ledger_walk log_walk_run(const struct ledger_log *l, const char *run)
{
        struct ledger_view v;
        struct ledger_walk back = { .log = l, .at = l->count, .run = run, .kind = "start" };
        if (l->ledgers || !ledger_prev(&back, &v))
                return (struct ledger_walk){ .log = l, .run = run };

        uint64_t begin = back.at, least = begin > BEFORE_START ? begin - BEFORE_START : 0;
        back.kind = NULL;
        for (uint64_t i = back.at; i-- > least;)
                begin = is_walked(&back, i, &v) ? i : begin;
        return (struct ledger_walk){ .log = l, .at = begin, .run = run };
}

/* True if a payload is missing between the records of this run, which begin at index `first`. It may be one
 * of its own that was pruned: then the remaining records are not everything it did. */
static bool has_gap(const struct ledger_log *l, const char *run, uint64_t first)
{
        bool began = false, gap = false;
        const struct ledger_walk w = { .log = l, .run = run };
        for (uint64_t i = first; i < l->count; i++) {
                struct ledger_view v;
                bool own = is_walked(&w, i, &v);
                if (own && began && gap)
                        return true;
                began |= own;
                gap |= began && !own && ledger_log_view(l, i, &v) < 0;
        }

        return false;
}

void log_run_gather(const struct ledger_log *l, const char *run, bool runs, struct log_run *ret)
{
        struct ledger_view v;
        *ret = (struct log_run){ .first = log_walk_run(l, run), .runs = runs };
        ret->has_gap = has_gap(l, run, ret->first.at);
        for (struct ledger_walk w = ret->first; ledger_next(&w, &v);) {
                if (ret->begin_us == 0)
                        ret->begin_us = v.time_us;
                ret->end_us = v.time_us;
                if (span_is(v.kind, "start") && !ret->start.json.n)
                        ret->start = v;
                else if (span_is(v.kind, "end"))
                        ret->end = v;
        }
}
