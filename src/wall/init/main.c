/* SPDX-License-Identifier: MIT */
/* wall/init/main.c - cordon-init: pid 1 of a box that a program with libcordon starts, and under another name
 * its janitor. The program `cordon` is its own (self.c). It links the walls and what they stand on, and has
 * the memory of no caller. */
#include "wall/init/enter.h"

int main(int argc, char **argv)
{
        init_enter(argc > 0 ? argv[0] : "");
        wall_init_enter();
}
