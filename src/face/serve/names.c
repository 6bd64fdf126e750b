/* SPDX-License-Identifier: MIT */
/* face/serve/names.c - names that cannot be guessed. */
#include "face/serve/internal.h"

#include <stdio.h>
#include <sys/random.h>

int random_id(const char *prefix, char ret[ID_MAX])
{
        uint8_t bits[16];
        if (getrandom(bits, sizeof bits, 0) != sizeof bits)
                return -1;

        int n = snprintf(ret, ID_MAX, "%.2s-", prefix);
        for (size_t i = 0; i < sizeof bits && n > 0; i++)
                (void) snprintf(ret + (size_t) n + 2 * i, 3, "%02x", bits[i]);
        return 0;
}
