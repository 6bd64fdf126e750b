/* SPDX-License-Identifier: MIT */
/* init/self.c - linked into a program, it makes that program its own init: wall_start() then executes
 * /proc/self/exe, so that one file can be copied alone. Before main(): nothing of the program runs in a box.
 */
#include "wall/wall.h"

#include <errno.h>
#include <string.h>

const char wall_is_own_init[] = WALL_INIT_NAME;

__attribute__((constructor)) static void enter_if_started_as_init(void)
{
        if (strcmp(program_invocation_name, WALL_INIT_NAME) == 0)
                wall_init_enter();
}
