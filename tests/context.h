/* SPDX-License-Identifier: MIT */
/* tests/context.h - the context of a test: the environment of its process as it is now. */
#pragma once
#include <cordon.h>
#include <pthread.h>
#include <unistd.h>

static inline const cordon_context *test_context(void)
{
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* threads ask for their first at once */
        static cordon_context *made[64]; /* what was made with an earlier one may live on */
        static char **of;
        static unsigned n;

        (void) pthread_mutex_lock(&lock);
        if (n == 0 || (of != environ && n < sizeof made / sizeof *made)) { /* setenv() moves it */
                of = environ;
                made[n++] = cordon_context_new(environ);
        }

        const cordon_context *now = made[n - 1];
        (void) pthread_mutex_unlock(&lock);
        return now;
}
