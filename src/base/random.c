/* SPDX-License-Identifier: MIT */
/* base/random.c - random names, and their comparison. */
#include "base/random.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

int random_hex(char *ret, size_t bytes)
{
        uint8_t bits[32];
        if (bytes > sizeof bits || getrandom(bits, bytes, 0) != (ssize_t) bytes)
                return -1;

        for (size_t i = 0; i < bytes; i++)
                (void) snprintf(ret + 2 * i, 3, "%02x", bits[i]);
        explicit_bzero(bits, sizeof bits);
        return 0;
}

int random_name(const char *prefix, char ret[RANDOM_NAME])
{
        int n = snprintf(ret, RANDOM_NAME, "%.2s-", prefix);
        return random_hex(ret + n, 16);
}

bool random_is(const char *secret, const char *guess)
{
        size_t n = strlen(secret);
        unsigned char differs = 0;
        if (strlen(guess) != n)
                return false;

        for (size_t i = 0; i < n; i++)
                differs |= (unsigned char) (secret[i] ^ guess[i]);
        return differs == 0 && n > 0;
}
