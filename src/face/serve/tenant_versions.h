/* SPDX-License-Identifier: MIT */
/* face/serve/tenant_versions.h - versions of a tenant's policy, and the one that a share of the runs tries.
 *
 *     policies/NAME.cordon          what runs use; an operator may edit it
 *     versions/NAME/N.cordon        every text that was sent, the newest VERSIONS_MAX of them
 *     versions/NAME/used            their numbers in the order in which runs used them, one a line
 *     versions/NAME/canary.json     {"version":N,"share":PERCENT,"bound":RUNS}: tried by a share of the runs
 *
 * `dir` is the tenant's own directory. */
#pragma once
#include "base/err.h"
#include "base/span.h"

enum { VERSIONS_MAX = 32, VERSION_BYTES = 64 * 1024 };

struct canary_rule {
        unsigned version; /* 0: none is tried */
        unsigned share;   /* percent */
        unsigned bound;   /* bad runs, after which it is not tried any more */
};

struct versions {
        unsigned v[VERSIONS_MAX]; /* ascending */
        size_t n;
        unsigned current; /* the one that runs use; 0: a text that is none of them */
        struct canary_rule canary;
        unsigned used[VERSIONS_MAX]; /* that runs used, the last one last */
        size_t used_n;
};

/* Versions that cannot be read are none. */
void versions_read(int dir, const char *name, struct versions *ret);
/* As versions_read(), but only which is tried: for every run. */
struct canary_rule versions_canary(int dir, const char *name);

/* Each returns 0, or -1 with *e set; what runs use is replaced as a whole. */
int versions_put(int dir, const char *name, struct span text, const struct canary_rule *canary,
                 unsigned *ret_version, struct err *e);
/* The one that is tried becomes the one that runs use. */
int versions_promote(int dir, const char *name, struct err *e);
/* Nothing is tried any more; if nothing was, or `to` names a version, runs use that, or the last one that
 * they used before. */
int versions_roll_back(int dir, const char *name, unsigned to, struct err *e);

/* The version that runs used last before the present one; 0: none that is kept. Pure. */
unsigned versions_before(const struct versions *v);
/* canary.json. False: it is not one; nothing is tried. Pure. */
bool canary_rule_read(struct span text, struct canary_rule *ret);
