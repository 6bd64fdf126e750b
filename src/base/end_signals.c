/* SPDX-License-Identifier: MIT */
/* base/end_signals.c - signals that end a server, as a descriptor of its loop. */
#include "base/end_signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

int end_signals_open(void)
{
        sigset_t set;
        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGTERM);
        (void) sigaddset(&set, SIGINT);
        (void) sigaddset(&set, SIGHUP);
        (void) sigprocmask(SIG_BLOCK, &set, NULL);
        return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
