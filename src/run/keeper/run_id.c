/* SPDX-License-Identifier: MIT */
/* run/keeper/run_id.c - the id of a run. Made on demand, or when the box is on its way: it needs two files of
 * /proc, which must not delay a start. */
#include "run/keeper/internal.h"

#include <string.h>

const char *keeper_run(struct run *run)
{
        if (!run->r.run[0]) {
                char name[48] = "";
                limit_name(name);
                memcpy(run->r.run, name + strlen("cordon-"), sizeof run->r.run - 1);
        }
        return run->r.run;
}
