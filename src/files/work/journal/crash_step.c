/* SPDX-License-Identifier: MIT */
/* files/work/journal/crash_step.c - ends this process at the step that CORDON_WORK_STEP numbers, as suddenly
 * as a power cut would. Compiled into tests/hooked only. */
#include "files/work/internal.h"

#ifdef CORDON_HOOKS
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void work_step(void)
{
        static unsigned long step;
        const char *at = getenv("CORDON_WORK_STEP");
        if (at && strtoul(at, NULL, 10) == ++step)
                (void) kill(getpid(), SIGKILL);
}
#endif
