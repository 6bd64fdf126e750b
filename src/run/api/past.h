/* SPDX-License-Identifier: MIT */
/* run/api/past.h - the runs in the ledger, for judging a policy by them. */
#pragma once
#include "base/arena.h"
#include "ledger/ledger.h"
#include "run/api/internal.h"

struct past_run {
        const struct ledger_run *of; /* if its payloads were pruned, its uses are not known */
        const char *box, *policy;    /* policy: its digest */
        bool passed, refused;
        size_t group; /* its owner, from 1 on; 0: none */
};
struct past {
        struct ledger_log *log; /* NULL: the ledger does not exist yet */
        struct ledger_runs runs;
        struct arena mem;
        struct past_run *v; /* in the order of the ledger */
        size_t n;
};
/* Reads the runs. `status`: the exit status that counts as passed. A ledger that does not exist has no
 * runs: returns 0, and *e reports that it does not exist. */
int past_open(const struct cordon_context *cx, struct past *p, int status, struct err *e);
void past_done(struct past *p);
struct past_run *past_find(const struct past *p, struct span run);
static inline int64_t past_day(int64_t time_us) { return time_us / (86400 * INT64_C(1000000)); }

/* uses.c: the uses of runs, each once. */
struct past_texts {
        const char **v;
        size_t n, cap;
};
struct past_uses {
        struct past_texts used, dests; /* lines of doors, and destinations of connections */
        struct arena mem;
        size_t most; /* of each; 0: no end */
        bool lost;   /* there were more */
};
/* Adds the use in this record, if it has one. `all`: also of doors that are not from the user's own lines. */
void past_uses_note(struct past_uses *u, const struct ledger_view *v, bool all);
void past_uses_done(struct past_uses *u);

/* widened.c: the doors of `p` that have an end or are wide, with the days that they were open. The caller
 * frees; texts are in `mem`. */
struct learn_widened;
int past_widened(const struct past *past, cordon_policy *p, struct arena *mem, struct learn_widened **ret,
                 size_t *ret_count, struct err *e);
