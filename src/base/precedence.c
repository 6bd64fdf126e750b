/* SPDX-License-Identifier: MIT */
/* base/precedence.c - drops inherited scheduling priority. A box that inherits SCHED_FIFO can starve every
 * other process, including the one that enforces its time limit. Raw system calls: musl has no
 * sched_setscheduler(). */
#include "base/precedence.h"
#include "base/fd.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
        IO_WHO_PROCESS = 1,
        IO_CLASS_SHIFT = 13,
        IO_CLASS_REAL_TIME = 1,
        IO_CLASS_BEST_EFFORT = 2,
        IO_DEFAULT = 4
};

static int drop_class(void)
{
        static const struct sched_param none;
        long class = syscall(SYS_sched_getscheduler, 0);
        return class == SCHED_FIFO || class == SCHED_RR || class == SCHED_DEADLINE
                       ? (int) syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &none)
                       : 0;
}

static void drop_io(void)
{
        long now = syscall(SYS_ioprio_get, IO_WHO_PROCESS, 0);
        long class = now >> IO_CLASS_SHIFT, level = now & 7;
        if (now > 0 && (class == IO_CLASS_REAL_TIME || (class == IO_CLASS_BEST_EFFORT && level < IO_DEFAULT)))
                (void) syscall(SYS_ioprio_set, IO_WHO_PROCESS, 0,
                               IO_CLASS_BEST_EFFORT << IO_CLASS_SHIFT | IO_DEFAULT);
}

static void drop_oom_protection(void)
{
        static const char path[] = "/proc/self/oom_score_adj";
        char text[16];
        if (fd_get(AT_FDCWD, path, text, sizeof text) > 0 && strtol(text, NULL, 10) < 0)
                (void) fd_put(AT_FDCWD, path, "0");
}

int precedence_drop(void)
{
        if (getpriority(PRIO_PROCESS, 0) < 0)
                (void) setpriority(PRIO_PROCESS, 0, 0);
        drop_io();
        drop_oom_protection();
        return drop_class();
}
