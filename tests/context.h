/* SPDX-License-Identifier: MIT */
/* tests/context.h - the context of a test: the environment of its process as it is now. */
#pragma once
#include <cordon.h>
#include <unistd.h>

static inline const cordon_context *test_context(void)
{
        static cordon_context *made[64]; /* what was made with an earlier one may live on */
        static char **of;
        static unsigned n;
        if (n == 0 || (of != environ && n < sizeof made / sizeof *made)) { /* setenv() moves it */
                of = environ;
                made[n++] = cordon_context_new(environ);
        }
        return made[n - 1];
}
