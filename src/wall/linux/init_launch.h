/* SPDX-License-Identifier: MIT */
/* wall/linux/init_launch.h - how the keeper passes a start to the program that becomes init.
 *
 *   - The keeper (init_launch.c) clones a process that shares its memory, places descriptors and executes the
 *     program. Then it sends launch, box plan and run order through a socket.
 *   - That process, the launcher (init_enter.c), reads them (init_plan.c), clones init with its namespaces as
 *     a child of the keeper, reports the birth and ends.
 *   - init (init.c) raises the walls.
 *
 * Two steps, because a program that is executed inside a user namespace belongs to it: the user who created
 * the namespace could trace it, although it is not dumpable. init takes over the memory of the launcher,
 * which was executed outside and has nothing in it but the plan. */
#pragma once
#include "wall/internal.h"

/* Descriptors of the launcher and of init, beside 0 to 2 and the handles from 3 on. */
enum init_fd {
        INIT_CONTROL = 4 + HANDLES_MAX,
        INIT_HOST_PROC,
        INIT_PLAN,   /* the blocks are read from here, and the birth is reported here */
        INIT_KEEPER, /* its process; -1: the caller has one thread, whose end is reported by a signal */
        INIT_TRUST,  /* may be missing */
        INIT_CGROUP, /* the group that init is created in; may be missing */
        INIT_SPARE,  /* the line of the spare; may be missing */
        INIT_FD__END
};

/* The launcher's last message, sent with a pidfd of init. */
struct wall_birth {
        int32_t pid; /* -1: none */
        int32_t sys; /* then the error of clone() */
        uint32_t in_cgroup;
};
extern const struct wire_form wall_birth_form;

struct wall_launch {
        struct wall_start s; /* without its pointers and descriptors, but `edits` */
        size_t edit_count;
        unsigned handle_count;
        bool has_copies;
};
extern const struct block_type wall_launch_type; /* init_plan.c */

/* The new process gets these besides the fields of wall_start; borrowed. */
struct wall_descriptors {
        int control, keeper, host_proc, plan, spare;
};
/* The launcher, as the program that it executed; -1. */
pid_t wall_launch(const struct wall_start *s, const struct wall_descriptors *with, struct err *e);
int wall_send_plan(const struct wall_start *s, int to, struct err *e);
/* Whether init exists: 1 with *c filled, 0 not yet, -1 on error. */
int wall_take_birth(const struct wall_start *s, struct wall_child *c, struct err *e);
void wall_end_launcher(struct wall_child *c);
