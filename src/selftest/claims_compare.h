/* SPDX-License-Identifier: MIT */
/* selftest/claims_compare.h - claims as text: hostile, if they come from elsewhere. */
#pragma once
#include "base/buf.h"
#include "base/json.h"

struct claims_text {
        const char *name;
        struct json_doc *doc;
        const char *standing; /* in words */
        bool bad;             /* a signature that does not fit */
};

/* Reads the output of `cordon selftest claims --json`; NULL: it is not that. */
struct json_doc *claims_parse(const char *name, struct span text);
/* Does the record that is proved name these bytes? */
bool claims_proof_names(const char *proof, struct span text);
/* Puts what differs, inert; returns how much. `now`: "2026-11-18T08:00:00Z". */
unsigned claims_compare(const struct claims_text *a, const struct claims_text *b, const char *now,
                        struct buf *o);
