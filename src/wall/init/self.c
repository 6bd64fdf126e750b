/* SPDX-License-Identifier: MIT */
/* wall/init/self.c - linked into a program, it makes that program its own init and janitor where the small
 * program of its version is missing: /proc/self/exe is executed for them, so that one file can be copied
 * alone. Before main(): nothing of the program runs there. */
#include "wall/init/enter.h"

#include <errno.h>

#ifdef CORDON_HOOKS
const char host_is_own_init[] = "with hooks"; /* no installed program has them */
#else
const char host_is_own_init[] = HOST_INIT_MARK;
#endif

__attribute__((constructor)) static void enter_if_started_so(void) { init_enter(program_invocation_name); }
