/* SPDX-License-Identifier: MIT */
/* output/output_envelope.h - output with its origin: which box, run and record it came from, its digest, what
 * was found, and the content marked as data. Pure.
 *
 *   {"v":1,"box":..,"run":..,"effect":ID,"door":..,"source":"box","labels":["untrusted"],"sha256":..,"bytes":..,
 *    "truncated":..,"cut":{..},"findings":[..],"schema":..,"mark":{"kind":..,"with":..},"content":".."} */
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
        const char *box, *run, *effect, *door, *schema; /* schema: or NULL */
        const char *report; /* the members of a pipeline's report, from "truncated" on; or NULL */
        enum envelope_mark mark;
        const char *random; /* 32 hexadecimal digits */
        struct span content;
};
/* -1: no sign is left to mark with. */
int envelope_put(const struct envelope *v, struct buf *out, struct err *e);

/* What an envelope says, and its content without the mark, whose digest was compared. */
struct envelope_read {
        char run[64], effect[96], sha256[65];
        struct buf content;
};
int envelope_read(struct span text, struct envelope_read *ret, struct err *e);
