/* SPDX-License-Identifier: MIT */
/* selftest/bomb/bomb_say.c - prints the error that stopped a bomb, in one line for the host side. */
#include "selftest/bomb/bomb_internal.h"
#include "selftest/probe/probe_internal.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_MS = 200 };

/* No buffers and no allocation: there may be no memory left. */
static int print_result(const char *word, const char *error, size_t count)
{
        static char line[128];
        int n = snprintf(line, sizeof line, "%s %s %zu\n", word, error, count);
        (void) !write(1, line, (size_t) n);
        const struct timespec hold = { 0, HOLD_MS * 1000000L };
        (void) nanosleep(&hold, NULL);
        return 3;
}

int bomb_stopped(int sys, size_t count) { return print_result("stopped", errno_name(sys), count); }

int bomb_through(size_t count) { return print_result("through", "-", count); }
