/* SPDX-License-Identifier: MIT */
/* base/variable.h - what the name of an environment variable says about its value. One decider for the lint
 * that warns of it, for the record that hides the value, and for the probe that looks for it in a box. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Would a person who reads this name expect a password, key or token behind it? `name` need not end in NUL,
 * so that "NAME=value" can be asked about in place. */
bool variable_looks_secret(const char *name, size_t len);
