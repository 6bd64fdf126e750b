/* SPDX-License-Identifier: MIT */
/* oracle/oracle.h - what the product is held against in tests and by fuzzers. */
#pragma once
#include "policy/policy.h"

struct decision policy_decide_ref(const struct checked_policy *c, const struct effect *f);
