/* SPDX-License-Identifier: MIT */
/* lib/internal.h - the bodies behind cordon.h's handles. */
#pragma once
#include "box/box.h"
#include "cordon.h"
#include "policy/policy.h"

_Static_assert(sizeof(cordon_error) == sizeof(struct err),
               "cordon_error is struct err under its public name");

struct cordon_policy {
        struct policy *lines;
        struct checked_policy *checked; /* made on demand, dropped when a line is added */
        char work[4096], home[4096];
        bool from_file; /* a file was given: nothing is opened by default */
};

struct cordon_box {
        cordon_policy *policy;
        char **argv;
        char name[NAME_MAX_BYTES];
        char cwd[4096];
        char term[64];
        bool as_root; /* the box gets an id of its own outside */
        bool tty, root_inside, cwd_made, require_groups, single_thread;
        enum box_observe observe;
        struct box_stdio io;
        struct box_handle handles[HANDLES_MAX];
        char handle_names[HANDLES_MAX][NAME_MAX_BYTES];
        unsigned handle_count;
        struct plan *plan;
        struct box *box;
        bool over;
        unsigned short rows, columns;
        volatile uint64_t early_signals; /* came before there was a box; set by signal handlers */
        char limits_hit[128];
        cordon_result result;
        cordon_denial denials[DENIALS_MAX];
};

static inline struct err *to_err(cordon_error *e) { return (struct err *) (void *) e; }

/* policy.c: what a policy's roots and the clock say now; `use` of own files is not in it. */
struct policy_context lib_context(const cordon_policy *p);
/* policy.c: the text, which is the caller's from now on, or NULL with e (which may be NULL) when it is not
 * whole. */
char *lib_give(struct buf *b, struct err *e);

/* start.c: gathers host facts and makes the plan for one wall. */
struct plan *lib_plan(const struct cordon_box *b, enum wall_kind wall, struct err *e);

/* explain.c: a hint for a command that could not be started. */
void lib_explain_exec(const struct cordon_box *b);

/* look.c: what the host has at the paths that doors and programs name. */
struct look;
struct look *look_at_doors(const struct door *doors, size_t n, const char *const *argv, const char *cwd,
                           struct err *e);
void look_fill(const struct look *l, struct plan_request *r);
void look_free(struct look *l);
