/* SPDX-License-Identifier: MIT */
/* limit/limit.h - budgets that the kernel keeps: control groups v1, v2 and hybrid, and rlimits.
 *
 * A group is one directory named "cordon-<run>" per hierarchy in use. As root it sits at the top of each
 * hierarchy; without root, at the highest writable ancestor of our own group that hands the controllers down
 * (systemd delegation). Nothing here decides what a limit should be. */
#pragma once
#include "base/child.h"
#include "base/err.h"
#include "host/host.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct limit_ask {
        char name[48];   /* "cordon-<run id>": unique */
        uint64_t memory; /* bytes; 0: do not limit */
        uint64_t procs;  /* tasks, counting the box's own init: callers add it */
        bool sockets;    /* the box has sockets that v1 does not count as memory */
        bool late;       /* who goes in is there already: then v2 is used only for what v1 does not have */
};

struct limit_usage {
        uint64_t memory_peak; /* bytes */
        uint64_t cpu_ns;
        uint64_t oom_kills;                  /* times the kernel killed for memory */
        uint64_t procs_denied;               /* forks refused by the procs limit */
        bool has_memory, has_cpu, has_procs; /* which of these are real */
        bool memory_sampled; /* no peak is kept by this kernel: memory_peak is what was in use just now */
};

struct limit_group {
        struct limit_ask ask;
        int v1[CONTROLLER__COUNT];        /* directory descriptors, or -1 */
        int v1_parent[CONTROLLER__COUNT]; /* for rmdir; -1 also where two controllers share a directory */
        int v1_tasks[CONTROLLER__COUNT];  /* open for writing, for limit_group_enter() */
        int v2_procs;                     /* the same of v2, where nobody can be born in it any more */
        int v2, v2_parent;                /* v2 directory, or -1: also what clone3(CLONE_INTO_CGROUP) takes */
        int oom_event; /* becomes readable (v1 eventfd) or has POLLPRI (v2 memory.events) on OOM, or -1 */
        bool holds_memory, holds_procs, counts_cpu; /* what the groups really hold: the rest is rlimits' */
        unsigned end_round;                         /* attempts to end it so far */
        uint64_t end_until_ns;                      /* no more attempts after this */
};

/* An empty group: holds nothing, all descriptors -1. May be ended. */
void limit_group_init(struct limit_group *g);
/* Whether limit_group_open() has a chance, asked before anybody is set to watch over it. v1.c */
int limit_group_may(const struct host_cgroups *h, struct err *e);
/* Makes the directories and writes the limits. With `e` set and -1, nothing is left behind. ERR_LIMIT with a
 * hint when this account may not (the caller then decides between refusing and rlimits). */
int limit_group_open(struct limit_group *g, const struct host_cgroups *h, const struct limit_ask *ask,
                     struct err *e);
/* Opens v2_procs of a group that was made to be born in, for who could not be. */
int limit_group_door(struct limit_group *g, struct err *e);
/* Moves a process in, by writing its pid where clone3() did not put it there. This waits for the kernel: 7 to
 * 25 ms after an idle moment. See limit_group_enter(). */
int limit_group_attach(struct limit_group *g, pid_t pid, bool born_in_v2, struct err *e);
/* The faster way on v1: the new process puts itself in, before it execs. Only for a process with a single
 * thread (a fresh child, also of clone(CLONE_VM)): then the kernel takes no global lock and nothing waits.
 * Works from inside a new user namespace, because the files were opened here. Async-signal-safe, allocates
 * nothing; 0 or -errno. */
int limit_group_enter(const struct limit_group *g, bool born_in_v2);
int limit_group_usage(const struct limit_group *g, struct limit_usage *ret);
/* Kills every process in the groups (cgroup.kill, or pid by pid until empty), and thaws what does not die of
 * it because a v1 freezer holds it. */
void limit_group_kill(struct limit_group *g);
/* Kills what is left, removes the directories (retrying while the kernel lets go), closes. Idempotent. */
void limit_group_end(struct limit_group *g);
/* One attempt at that, which never waits: 0 when nothing is left to do, or was for too long; else the
 * microseconds after which to call again. */
unsigned limit_group_end_try(struct limit_group *g);
/* Thaws whatever froze this process (v1 freezer group FROZEN, v2 cgroup.freeze), where we may: a frozen v1
 * task ignores SIGKILL. */
void limit_thaw(pid_t pid);

/* A name for a group of the calling process: "cordon-<pid>-<start time>-<pid namespace and random>", from
 * which limit_sweep() can tell whether its keeper still lives. */
void limit_name(char out[48]);

/* The janitor: a forked child that holds only one line to the keeper. When the keeper is gone without the
 * word that all is done, it kills and removes the group of that name. Started before limit_group_open(), so
 * that a keeper killed at any moment leaves none. The child raises no SIGCHLD and a plain wait() does not see
 * it: limit_janitor_dismiss() reaps it. */
struct limit_janitor {
        struct child child;
        int line;
};
int limit_janitor_start(const struct host_cgroups *h, const char *name, struct limit_janitor *ret,
                        struct err *e);
#define LIMIT_NO_JANITOR ((struct limit_janitor){ .child = CHILD_NONE, .line = -1 })
/* The keeper has ended the group itself, or never had one (LIMIT_NO_JANITOR): lets the janitor go. It ends
 * soon, and its `child` is to be reaped. */
void limit_janitor_release(struct limit_janitor *j);
/* The same, and waits until it is reaped. */
void limit_janitor_dismiss(struct limit_janitor *j);

/* Removes groups "cordon-*" whose keeper is gone (both killed at once). Cheap when there are none. Not on the
 * start path. */
unsigned limit_sweep(const struct host_cgroups *h);
