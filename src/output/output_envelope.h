/* SPDX-License-Identifier: MIT */
/* output/output_envelope.h - output with its origin: which box, run and record it came from, its digest, what
 * was found, and the content marked as data. Pure.
 *
 *   {"v":1,"box":..,"run":..,"effect":ID,"door":..,"time":..,"source":"box","labels":["untrusted"],"sha256":..,
 *    "bytes":..,"truncated":..,"as":..,"cut":{"escape":1},"findings":[{"kind":..,"count":..}],
 *    "mark":{"kind":..,"with":..},"content":".."}
 *
 * Everything but the mark and the content is what the ledger has: one that differs in any member is not
 * genuine. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

/* How the content is marked, for a model that reads it: none of these is a boundary. */
enum envelope_mark {
        ENVELOPE_DELIMITER = 0, /* between two lines with a random word that does not occur in it */
        ENVELOPE_DATAMARK,      /* a sign that does not occur in it stands for each blank */
        ENVELOPE_BASE64,
        ENVELOPE__COUNT
};
int envelope_mark_find(const char *name);

struct envelope {
        const char *box, *run, *effect, *door;
        int64_t time_us;
        const char *labels;         /* with blanks between them; NULL: "untrusted" */
        const char *as;             /* the form that it was checked for, as json(FILE); NULL: it was not */
        const char *cut, *findings; /* "escape=1 bidi=2"; or NULL */
        bool truncated;
        enum envelope_mark mark;
        const char *random; /* 32 hexadecimal digits */
        struct span content;
};
/* -1: no sign is left to mark with. */
int envelope_put(const struct envelope *v, struct buf *out, struct err *e);

/* The members of an envelope, and its content without the mark, whose digest was compared. */
struct envelope_read {
        char run[64], effect[96], sha256[65], with[40];
        enum envelope_mark mark;
        struct buf content; /* the caller's to free, also after a failure */
};
int envelope_read(struct span text, struct envelope_read *ret, struct err *e);
/* Is `text` the envelope `v`, member for member? */
int envelope_compare(struct span text, const struct envelope *v, struct err *e);
