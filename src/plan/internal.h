/* SPDX-License-Identifier: MIT */
/* plan/internal.h - the builder that plan.c, view.c and payload.c share. */
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "plan/plan.h"

/* names.c: at most as many names as were asked for; half of the table is always free. */
struct name_slot;
struct names {
        struct name_slot *slots;
        size_t mask;
};
int names_init(struct names *t, struct arena *a, size_t most); /* -1: no memory */
bool names_find(const struct names *t, const char *name, size_t *ret_number);
void names_add(struct names *t, const char *name, size_t number); /* one that is not in it */

struct builder {
        struct arena *a;       /* the plan's */
        struct arena *scratch; /* gone when the plan is made */
        struct plan *p;
        const struct checked_policy *c;
        const struct plan_request *r;
        const struct door *doors;
        size_t door_count;
        size_t step_cap, rule_cap;
        struct names rules, binds; /* paths that have a rule, and those that have a bind */
        bool run_any;              /* `run any`: whatever the box sees may start, unless it can write it */
        struct plan_step lost;     /* a step that has no room: written, never read, and the plan is refused */
};

/* steps.c */
struct plan_step *build_step(struct builder *b, enum step_kind kind, const char *path, const char *text,
                             unsigned flags);
struct plan_rule *build_rule(struct builder *b, const char *path, unsigned rights, bool optional);
void build_pin(const struct builder *b, struct plan_rule *r, uint64_t dev, uint64_t ino);

/* view.c: the file tree that the doors make. */
int build_view(struct builder *b, struct err *e);
/* net.c: the ports and literal addresses that the doors name. */
int build_net(struct builder *b, struct err *e);
/* payload.c: arguments, variables, working directory, handles. */
int build_payload(struct builder *b, struct err *e);
