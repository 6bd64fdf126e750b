/* SPDX-License-Identifier: MIT */
/* wall/limit/limit.h - limits that the kernel enforces: control groups v1, v2 and hybrid, and rlimits.
 *
 * A group is one directory named "cordon-<run>" per hierarchy in use. As root it is at the top of each
 * hierarchy; without root, at the highest writable ancestor of our own group that delegates the controllers
 * (systemd delegation). This code does not decide the value of a limit.
 */
#pragma once
#include "base/child.h"
#include "base/err.h"
#include "base/host/host.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct limit_ask {
        char name[48];   /* "cordon-<run id>": unique */
        uint64_t memory; /* bytes; 0: unlimited */
        uint64_t procs;  /* tasks, including the box's own init: callers add it */
        bool late; /* the process exists already: v2 is used only for controllers that v1 does not have, */
        bool runs; /* or because limit_run_enter() wants a group for each run */
};

struct limit_usage {
        uint64_t memory_peak; /* bytes */
        uint64_t cpu_ns;
        uint64_t oom_kills;                  /* number of OOM kills */
        uint64_t procs_denied;               /* forks denied by the procs limit */
        bool has_memory, has_cpu, has_procs; /* which of these are valid */
        bool memory_sampled;                 /* this kernel keeps no peak: memory_peak is the current usage */
};

struct limit_group {
        struct limit_ask ask;
        int v1[CONTROLLER__COUNT];        /* directory descriptors, or -1 */
        int v1_parent[CONTROLLER__COUNT]; /* for rmdir; -1 also if two controllers share a directory */
        int v1_tasks[CONTROLLER__COUNT];  /* open for writing, for limit_group_enter() */
        int v2_procs;      /* the same of v2, if clone3() can no longer start a process in it */
        int v2, v2_parent; /* v2 directory, also for clone3(CLONE_INTO_CGROUP), or -1 */
        int oom_event;     /* becomes readable (v1 eventfd) or has POLLPRI (v2 memory.events) on OOM, or -1 */
        bool holds_memory, holds_procs, counts_cpu; /* what the groups enforce; rlimits do the rest */
        bool holds_sockets;    /* v1, which counts their buffers apart: an eighth of the memory on top */
        unsigned end_round;    /* attempts to end it so far */
        uint64_t end_until_ns; /* no attempts after this */
};

/* Initializes an empty group: no limits, all descriptors -1. It may be ended. */
void limit_group_init(struct limit_group *g);
/* Checks whether limit_group_open() can succeed, before a janitor is started for it. v1.c */
int limit_group_may(const struct host_cgroups *h, struct err *e);
/* Creates the directories and writes the limits. Returns -1 on error with *e set, leaving nothing behind:
 * ERR_LIMIT with a hint if this account lacks permission (the caller then decides between refusing and
 * rlimits). */
int limit_group_open(struct limit_group *g, const struct host_cgroups *h, const struct limit_ask *ask,
                     struct err *e);
/* Opens v2_procs of a group made for CLONE_INTO_CGROUP, for a process that could not be started in it. */
int limit_group_door(struct limit_group *g, struct err *e);
/* Moves a process into the group by writing its pid, unless clone3() put it there. This waits for the
 * kernel: 7 to 25 ms after an idle period. See limit_group_enter(). */
int limit_group_attach(struct limit_group *g, pid_t pid, bool born_in_v2, struct err *e);
/* The faster way on v1: the new process enters the group itself before it execs. Only for a process with a
 * single thread (a new child, also of clone(CLONE_VM)): then the kernel takes no global lock and does not
 * wait. Works from inside a new user namespace, because the files were opened outside. Async-signal-safe,
 * does not allocate; returns 0 or -errno. */
int limit_group_enter(const struct limit_group *g, bool born_in_v2);
int limit_group_usage(const struct limit_group *g, struct limit_usage *ret);
/* The group "run-N" below a v2 group, without limits of its own: the kernel knows a socket by the group of
 * the process that made it. Returns its cgroup.procs, open for writing, and the id that sock_diag gives its
 * sockets; -1 without one. */
int limit_run_open(const struct limit_group *g, uint32_t n, uint64_t *ret_id);
/* Removes it, unless processes are left in it: then it goes with the group above it. */
void limit_run_end(const struct limit_group *g, uint32_t n);
/* Kills every process in the groups (cgroup.kill, or pid by pid until empty), and thaws processes that a v1
 * freezer keeps from dying. */
void limit_group_kill(struct limit_group *g);
/* Kills the remaining processes, removes the directories (retrying while the kernel is busy), closes.
 * Idempotent. */
void limit_group_end(struct limit_group *g);
/* Only closes its descriptors: the group is another process's. */
void limit_group_close(struct limit_group *g);
/* One attempt at limit_group_end(), which never blocks. Returns 0 when done or after the last attempt; else
 * the microseconds after which to call it again. */
unsigned limit_group_end_try(struct limit_group *g);
/* Thaws the groups that freeze this process (v1 freezer group FROZEN, v2 cgroup.freeze), if permitted: a
 * frozen v1 task ignores SIGKILL. */
void limit_thaw(pid_t pid);

/* Makes a name for a group of the calling process: "cordon-<pid>-<start time>-<pid namespace and random>",
 * from which limit_sweep() determines whether its keeper still lives. */
void limit_name(char out[48]);

/* The janitor: a program (host_init_program()) that holds only a socket to the keeper. If the keeper dies
 * without sending that it is done, the janitor kills and removes the group of that name. It is started before
 * limit_group_open(), so that a keeper killed at any moment leaves no group behind. It is a
 * child of the caller: limit_janitor_dismiss() reaps it. */
struct limit_janitor {
        struct child child;
        int line;
};
#define LIMIT_JANITOR_NAME "cordon-janitor"
_Noreturn void limit_janitor_enter(void);
int limit_janitor_start(const struct cordon_context *cx, const char *group, struct limit_janitor *ret,
                        struct err *e);
#define LIMIT_NO_JANITOR ((struct limit_janitor){ .child = CHILD_NONE, .line = -1 })
/* Releases the janitor after the keeper has ended the group itself, or never had one (LIMIT_NO_JANITOR). It
 * ends soon, and its `child` must be reaped. */
void limit_janitor_release(struct limit_janitor *j);
/* Has it keep a descriptor open until its end: what the kernel tears down with the last one, it does there.
 */
void limit_janitor_hold(const struct limit_janitor *j, int fd);
/* Leaves the group to it: it ends and removes the group, as if the keeper had died. */
void limit_janitor_leave(struct limit_janitor *j);
/* Releases it, and waits until it is reaped. */
void limit_janitor_dismiss(struct limit_janitor *j);

/* Removes groups "cordon-*" whose keeper is gone (keeper and janitor killed at once). Cheap if none exist.
 * Not on the start path; each janitor does most of it beside a start. */
unsigned limit_sweep(const struct host_cgroups *h);
