/* SPDX-License-Identifier: MIT */
/* wall/wall_check.c - whether a host can raise a wall. */
#include "wall/wall.h"

/* The first ABI that denies TCP. Files that can only be read are cut off by none since the third; before the
 * sixth init sends signals, and no socket is made that would have an abstract name. */
enum { PROCESS_WALL_ABI = 4 };

static int check_ids(const struct host_facts *f, struct err *e)
{
        if (f->uid != 0 || !f->maps_all || f->has_setid)
                return 0;

        (void) err_set(e, ERR_HOST, 0,
                       "cordon runs as root but may not change ids, so the box would be root outside");
        return err_hint(e, "run it as another user (docker run --user 1000 ...), or let it have the "
                           "capabilities SETUID and SETGID");
}

static int check_process(const struct host_facts *f, struct err *e)
{
        if (f->landlock_abi >= PROCESS_WALL_ABI)
                return check_ids(f, e);

        (void) err_set(e, ERR_HOST, 0, "the process wall needs Landlock ABI %d; this kernel has %d",
                       PROCESS_WALL_ABI, f->landlock_abi);
        return err_hint(e, "Linux 6.7 or newer has it; or let user namespaces be made: see `cordon doctor`");
}

int wall_check_host(enum wall_kind k, const struct host_facts *f, struct err *e)
{
        if (!wall_traits(k)->built || k == WALL_AUTO)
                return 0;

        return k == WALL_PROCESS ? check_process(f, e) : check_ids(f, e);
}
