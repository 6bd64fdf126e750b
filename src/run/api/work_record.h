/* SPDX-License-Identifier: MIT */
/* run/api/work_record.h - the records of an apply: its intent, its effects, what became of them. */
#pragma once
#include "run/api/internal.h"

struct work_effects {
        const struct cordon_context *cx;
        void (*each)(void *ctx, const cordon_work_effect *effect);
        void *ctx;
        struct ledger *ledger; /* NULL: not yet, or not wanted */
        bool off;
        bool late;    /* found out by a later command: a file may have been replaced by now */
        char name[8]; /* the end of its intent's id */
        char intent[LEDGER_ID_MAX];
        struct api_label_apply label;
};

int api_effects_name(struct work_effects *f, struct err *e);
/* The host's files are changed only after the intent is on the disk. */
int api_effects_intent(void *ctx, const struct work_effect *first, size_t count, struct err *e);
void api_effects_add(struct work_effects *f, const struct work_effect *x);
bool api_effects_close(struct work_effects *f);
/* A person took it back. */
bool api_effects_undone(const struct cordon_context *cx, const char *run, size_t count);
/* One record of a run that has ended; not delayed by a ledger that cannot be written. Returns true if it is
 * written, or not wanted. */
struct ledger_record;
bool api_record_after(const struct cordon_context *cx, const char *run, struct ledger_record *r);
