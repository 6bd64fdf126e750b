/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/decisions.h - the file of past decisions, STATE/gate/decisions: one JSON object a line. */
#pragma once
#include "base/arena.h"
#include "base/context/context.h"
#include "base/err.h"
#include "effect/gate/gate.h"

struct past_decision {
        struct gate_decided d;
        uint64_t uid;
        const char *id, *door, *reason, *effect;
        const char *by; /* the name of a person of a face; "": a user */
};
struct past_decisions {
        struct arena mem;
        struct past_decision *v; /* oldest first */
        size_t n, cap;
};
/* The newest of them, as far as they can be read; none if there is no file. */
void decisions_read(const struct cordon_context *cx, struct past_decisions *ret);
/* Questions that nobody answered in time: of each `at`, `id`, door and effect. In a file of their own: a box
 * that asks in vain must not push out what persons did. */
void decisions_read_unanswered(const struct cordon_context *cx, struct past_decisions *ret);
void decisions_add_unanswered(const struct cordon_context *cx, const struct past_decision *d);
void decisions_done(struct past_decisions *p);
/* Appends one. Best effort: the ledger has it too. */
void decisions_add(const struct cordon_context *cx, const struct past_decision *d);
/* A later fact about a decision: "incident", "reversed". Returns 0, or -1 with *e set. */
int decisions_mark(const struct cordon_context *cx, const char *what, const char *id, const char *text,
                   struct err *e);
struct gate_fatigue decisions_fatigue(const struct past_decisions *p, uint64_t uid, int64_t now_ms);
/* Decoys are shown: the user asked for it. */
bool decisions_decoys(const struct cordon_context *cx);
int decisions_set_decoys(const struct cordon_context *cx, bool on, struct err *e);
