/* SPDX-License-Identifier: MIT */
/* face/serve/tenant_canary.h - a run that tries a new version of its policy. */
#pragma once
#include "base/buf.h"
#include "face/serve/tenant.h"
#include "face/serve/tenant_versions.h"

struct canary_run;
/* NULL: this run uses the policy as it is. Decided by the share of the version that is tried. */
struct canary_run *canary_run_new(struct tenant *t, const char *policy);
cordon_policy *canary_run_policy(const struct canary_run *c);
const char *canary_run_directory(const struct canary_run *c); /* where it starts, or NULL */
unsigned canary_run_version(const struct canary_run *c);
/* At the end of its box: one that went badly counts, and enough of them end the trial. */
void canary_run_end(struct canary_run *c, cordon_box *b);
void canary_run_free(struct canary_run *c); /* after the box; or NULL */
/* Went so many of its runs badly that none tries it any more? Then why is appended. */
bool canary_is_withdrawn(const struct tenant *t, const char *policy, const struct canary_rule *rule,
                         struct buf *ret_why);
