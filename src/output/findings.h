/* SPDX-License-Identifier: MIT */
/* output/findings.h - what the stages noticed: a kind, a name, how often, where first. Findings may only deny
 * or raise a label: no code may permit anything because one is missing. */
#pragma once
#include "base/buf.h"

enum finding_kind {
        FINDING_SECRET = 0, /* a secret that cordon holds, in any encoding; replaced */
        FINDING_CANARY,     /* one that exists only to be found; replaced, and the box is stopped */
        FINDING_PATTERN,    /* something of the form of a secret; replaced */
        FINDING_INJECTION,  /* text that addresses a model: advisory */
        FINDING_LINK,       /* a link or image that leads nowhere a door leads; made inert */
        FINDING_FORMULA,    /* a cell that a spreadsheet would execute; made inert */
        FINDING_HIDDEN,     /* text that only a model reads, decoded */
        FINDING_ACTIVE,     /* a file that runs something when it is opened */
        FINDING__COUNT
};

enum { FINDINGS_MAX = 64, FINDING_NAME = 64 };
struct output_finding {
        enum finding_kind kind;
        char name[FINDING_NAME];
        uint64_t count, line; /* of the first one, from 1 */
};
struct findings {
        struct output_finding v[FINDINGS_MAX];
        size_t n;
        uint64_t lost; /* distinct ones beyond FINDINGS_MAX */
};

void findings_add(struct findings *f, enum finding_kind kind, struct span name, uint64_t line);
uint64_t findings_count(const struct findings *f, enum finding_kind kind);
/* The names of the kinds, and NULL. */
const char *const *findings_kinds(void);
/* The name of the first of a kind, or NULL. */
const char *findings_first(const struct findings *f, enum finding_kind kind);
/* As a JSON array. */
void findings_json(const struct findings *f, struct buf *out);
