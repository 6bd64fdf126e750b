/* SPDX-License-Identifier: MIT */
/* base/random.h - names and secrets that cannot be guessed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Writes so many random bytes (at most 32) as hex digits and a NUL. Returns -1 if the kernel has none. */
int random_hex(char *ret, size_t bytes);
enum { RANDOM_NAME = 36 };
/* "PREFIX-" and 128 random bits; the prefix has at most two letters. */
int random_name(const char *prefix, char ret[RANDOM_NAME]);
/* Takes as long for any text of this length: nobody learns how much of a guess is right. False: the secret is
 * empty.
 */
bool random_is(const char *secret, const char *guess);
