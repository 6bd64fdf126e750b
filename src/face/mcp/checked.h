/* SPDX-License-Identifier: MIT */
/* face/mcp/checked.h - everything that a box or its server says passes the stages of cordon-output before a
 * client reads it: it goes on changed, with its findings, or not at all. */
#pragma once
#include "base/buf.h"
#include "cordon.h"

#include <stdbool.h>

struct mcp_checked {
        char *json; /* what passed; NULL: nothing */
        size_t len;
        char why[256];       /* nothing passed */
        bool canary;         /* because it has a canary */
        struct buf findings; /* JSON objects with commas */
        struct buf told;     /* the same for a person: "link (2 times), secret" */
        uint64_t found;
        char sha256[65];
};

/* Checks a value as JSON. `b` may be NULL: bytes of a box that is gone. Returns 0 if it passed, or -1. */
int mcp_check(const cordon_context *cx, const cordon_box *b, struct span json, struct mcp_checked *ret);
/* More follow: a process is ready for the next one. */
void mcp_check_ahead(cordon_box *b);
void mcp_checked_done(struct mcp_checked *c);
/* `"labels":[..],"findings":[..],"sha256":".."`; `labels`: of the run, or "". All of it is untrusted. */
void mcp_put_checked(struct buf *out, const struct mcp_checked *c, const char *labels);
