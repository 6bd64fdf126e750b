/* SPDX-License-Identifier: MIT */
/* base/variable.h - decides whether the name of an environment variable suggests a secret. Used by the lint
 * that warns about it, the record that hides the value, and the probe that looks for it in a box. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* True if the name suggests a password, key or token. `name` need not be NUL-terminated, so that
 * "NAME=value" can be checked in place. */
bool variable_looks_secret(const char *name, size_t len);
