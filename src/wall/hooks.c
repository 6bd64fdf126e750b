/* SPDX-License-Identifier: MIT */
/* wall/hooks.c - see hooks.h. Compiled into tests/hooked only. */
#include "wall/hooks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* True when `list`, separated by commas, holds `name`. */
static bool lists_name(const char *list, const char *name)
{
        size_t n = strlen(name);
        for (const char *at = list; at && *at; at = strchr(at, ','), at = at ? at + 1 : NULL)
                if (strncmp(at, name, n) == 0 && (at[n] == '\0' || at[n] == ','))
                        return true;
        return false;
}

bool wall_excused(enum wall_layer l) { return lists_name(getenv("CORDON_KNOCKOUT"), wall_layer_name(l)); }
bool wall_unscoped(void) { return lists_name(getenv("CORDON_KNOCKOUT"), "scopes"); }
bool wall_left_out(enum wall_layer l)
{
        return wall_excused(l) || lists_name(getenv("CORDON_SABOTAGE"), wall_layer_name(l));
}

/* The name is printed for the process that waits for it: the time that a start takes to get here depends on
 * the load. */
static void hold_at(const char *name)
{
        char was[16] = "", here[16];
        const struct timespec a_while = { 2, 0 };
        (void) snprintf(here, sizeof here, "at-%s", name);
        (void) prctl(PR_GET_NAME, was);
        (void) prctl(PR_SET_NAME, here);
        errno = 0; /* shared with a payload that is born early, which must leave it alone */
        (void) nanosleep(&a_while, NULL);
        if (errno != 0)
                _exit(1);

        (void) prctl(PR_SET_NAME, was);
}

char **wall_init_environment(void) { return environ; }

void wall_step(const char *name)
{
        const char *want = getenv("CORDON_STEP");
        size_t n = strlen(name);
        if (!want || strncmp(want, name, n) != 0)
                return;

        if (want[n] == '\0')
                hold_at(name);

        if (strcmp(want + n, ":kill") != 0)
                return;

        (void) kill(getpid(), SIGKILL);
        _exit(1); /* pid 1 of a namespace cannot kill itself; this is as sudden */
}
