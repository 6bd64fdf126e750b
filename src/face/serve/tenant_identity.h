/* SPDX-License-Identifier: MIT */
/* face/serve/tenant_identity.h - what tells a tenant from all others on this host: a secret for the keys of
 * what is kept, and a range of ids for its boxes outside. Made once, in DIR/tenants/NAME/identity. */
#pragma once
#include "base/err.h"
#include "base/span.h"
#include "cordon.h"

enum { TENANT_IDS = 65536, TENANT_IDS_FIRST = 2040000000 }; /* above those of other boxes, below 2^31 */

/* Reads it; makes one that is missing. `config` is the operator's directory. Returns 0, or -1 with *e set. */
int tenant_identity(int config, const char *name, cordon_tenant *ret, struct err *e);
/* A digest of its secret, by which a token names the tenant that it was made for: one that is made anew under
 * the name of another has another. False: the tenant has no identity. Never makes one. */
bool tenant_mark(int config, const char *name, char ret[65]);
/* "SECRET FIRST\n": 64 hex digits and a number. Pure. */
bool tenant_identity_read(struct span text, cordon_tenant *ret);
