/* SPDX-License-Identifier: MIT */
/* wall/hooks.c - see hooks.h. Compiled into builds with -Dhooks=true only. */
#include "wall/hooks.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* True when `list`, separated by commas, holds `name`. */
static bool lists(const char *list, const char *name)
{
        size_t n = strlen(name);
        for (const char *at = list; at && *at; at = strchr(at, ','), at = at ? at + 1 : NULL)
                if (strncmp(at, name, n) == 0 && (at[n] == '\0' || at[n] == ','))
                        return true;
        return false;
}

bool wall_left_out(enum wall_layer l) { return lists(getenv("CORDON_KNOCKOUT"), wall_layer_name(l)); }

void wall_step(const char *name)
{
        const char *want = getenv("CORDON_STEP");
        size_t n = strlen(name);
        if (!want || strncmp(want, name, n) != 0)
                return;
        if (strcmp(want + n, ":kill") == 0)
                (void) kill(getpid(), SIGKILL);
        else if (want[n] == '\0')
                (void) kill(getpid(), SIGSTOP);
}
