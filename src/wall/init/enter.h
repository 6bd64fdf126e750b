/* SPDX-License-Identifier: MIT */
/* wall/init/enter.h - what a program that is executed as one of ours does instead of its own work. */
#pragma once
#include "wall/limit/limit.h"
#include "wall/wall.h"

#include <string.h>

/* Returns if the name is neither. */
static inline void init_enter(const char *name)
{
        if (strcmp(name, HOST_INIT_PROGRAM) == 0)
                wall_init_enter();
        if (strcmp(name, LIMIT_JANITOR_NAME) == 0)
                limit_janitor_enter();
}
