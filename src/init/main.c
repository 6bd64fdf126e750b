/* SPDX-License-Identifier: MIT */
/* init/main.c - cordon-init: pid 1 of a box that a program with libcordon starts. The program `cordon` is its
 * own (self.c). It links the walls and what they stand on, and has the memory of no caller. */
#include "wall/wall.h"

int main(void) { wall_init_enter(); }
