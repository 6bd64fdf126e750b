/* SPDX-License-Identifier: MIT */
/* run/api/host_hint.c - what to do when this host denies a wall: the command that allows it, as `cordon
 * doctor` finds it, or a wall that holds the same doors here. Called only after a start has failed. */
#include "run/api/internal.h"
#include "wall/wall.h"

#include <errno.h>
#include <string.h>

static void hint_of_namespaces(const struct cordon_box *b, bool next_holds, struct err *e)
{
        struct host_finding f;
        if (host_missing(b->policy->cx, &f) && f.mend[0])
                (void) err_hint(e, "%s%s", f.mend, next_holds ? "; `--wall process` needs no namespace" : "");
        else if (next_holds)
                (void) err_hint(e, "`cordon doctor` shows why; `--wall process` needs no namespace");
}

static void hint_of_broker(const struct cordon_box *b, struct err *e)
{
        struct host_finding f;
        if (host_look_at(b->policy->cx, "net broker", &f) && f.state != HOST_YES)
                (void) err_hint(e, "%s%s%s", f.detail, f.mend[0] ? ": " : "", f.mend);
}

void api_host_hint(const struct cordon_box *b, bool next_holds, struct err *e)
{
        const struct host_facts *f = &b->facts;
        bool of_host = e->code == ERR_HOST || e->code == ERR_WALL || e->code == ERR_DOOR;
        if (of_host && e->sys == ENOSYS && wall_is_nested())
                (void) err_hint(e, "%s", WALL_NOT_NESTED);
        else if (of_host && e->sys == ENOSYS && host_is_old(f))
                (void) err_hint(e, "cordon needs Linux %s or newer; this is %u.%u", HOST_KERNEL_TEXT,
                                f->kernel_major, f->kernel_minor);
        else if (strcmp(e->hint, WALL_ASK_DOCTOR) == 0)
                hint_of_namespaces(b, next_holds, e);
        else if (strcmp(e->hint, BROKER_ASK_DOCTOR) == 0)
                hint_of_broker(b, e);
}
