/* SPDX-License-Identifier: MIT */
/* wall/linux/wall_fail.c - a wall that cannot be raised, as an error with its stage. */
#include "wall/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int wall_fail(struct err *e, enum wall_step step, const char *fmt, ...)
{
        int sys = errno;
        char what[256];
        va_list ap;

        va_start(ap, fmt);
        (void) vsnprintf(what, sizeof what, fmt, ap);
        va_end(ap);
        (void) err_set(e, step == STAGE_DOORS ? ERR_DOOR : ERR_WALL, sys, "%s: %s", what, strerror(sys));
        e->step = (uint16_t) step;
        return -1;
}

int wall_fail_namespace(struct err *e, enum wall_step step, const char *what)
{
        (void) wall_fail(e, step, "%s", what);
        return err_hint(e, WALL_ASK_DOCTOR);
}
