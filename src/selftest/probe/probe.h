/* SPDX-License-Identifier: MIT */
/* selftest/probe/probe.h - the attack table: small functions that each really try to break one claim, from
 * inside a box.
 *
 * The face starts a box whose program is cordon-selftest itself, with `__probe` and the arguments of the
 * world_* lines; probe_main() then runs every probe in a process of its own and prints one JSON object a
 * line. A probe that succeeds must be harmless: it proves that the wall is down and changes nothing that
 * lasts. Uses base/ only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum probe_class {
        PROBE_FILES = 0,
        PROBE_MOUNTS,
        PROBE_PROCESSES,
        PROBE_NAMESPACES,
        PROBE_KERNEL,
        PROBE_ABI,
        PROBE_SOCKETS,
        PROBE_TERMINAL,
        PROBE_EXECUTION,
        PROBE_PRIVILEGE,
        PROBE_SECRETS,
        PROBE_DUMPS,
        PROBE_MACHINE,
        PROBE_DEVICES,
        PROBE_CHANNELS,
        PROBE_LIMITS,
        PROBE_RACES,
        PROBE_CLASS__COUNT
};

/* Zero is the answer of a probe that did not run to its end: never counted as held. */
enum probe_outcome { PROBE_CANNOT_TELL = 0, PROBE_HELD, PROBE_ESCAPED, PROBE_OUTCOME__COUNT };

/* The targets that the host side created for the probes. Numbers are -1 and texts "" if a target does not
 * exist. */
struct probe_world {
        char dir[256]; /* a directory of the host, mode 0755, with `secret`, `fifo`, `socket`, `program` in it
                        */
        char home[256];     /* the caller's real home directory */
        char cwd[256];      /* the caller's working directory */
        char self[256];     /* the prober's own program file */
        char abstract[64];  /* name of a listening abstract socket, without the leading NUL */
        char resident[256]; /* where the socket of `cordon serve` is, or would be */
        char queue[64];     /* name of a POSIX message queue */
        char hostname[65];
        char token[64];    /* a value that stands in the caller's environment */
        int64_t port;      /* a listening TCP port on 127.0.0.1 */
        int64_t udp;       /* a UDP port on 127.0.0.1 */
        int64_t key;       /* SysV key of a segment, a queue and a semaphore set */
        int64_t bystander; /* pid outside, same user as the caller, that does nothing */
        int64_t keeper;    /* pid outside of the process that keeps this box */
        int64_t leaked;    /* number of the first of four descriptors that the caller left open */
        int64_t cwd_inode;
        int64_t core_pipe; /* the kind of the host's core_pattern: see below */
};
enum { PROBE_CORE_FILE = 0, PROBE_CORE_PROGRAM, PROBE_CORE_SOCKET };

struct probe_result {
        const struct probe *probe;
        const struct probe_world *world; /* read by the probe */
        uint32_t outcome;                /* enum probe_outcome */
        int32_t sys;                     /* errno of the refusal, or 0 */
        char layer[24];   /* the layer that answered, if the probe knows better than the table */
        char effect[360]; /* "read PATH": the target that was reached, as a door would name it */
        char why[256];    /* one sentence */
};

/* The walls that promise to stop it. An attack that no wall promises to stop is tried and reported all the
 * same. */
enum probe_promise {
        PROMISED = 0,
        NOT_BY_PROCESS_WALL,
        NOT_WITH_RUN_ANY, /* files that a box writes are executable there */
        BY_NO_WALL
};

struct probe {
        const char *name; /* the claim it tries to break */
        enum probe_class cls;
        const char *success; /* the meaning of success */
        const char
                *layers; /* layers expected to deny it, separated by commas, the first to answer in front */
        int (*run)(struct probe_result *r);
        enum probe_promise promise;
        /* Data for a function that several rows share. */
        const char *what;         /* in words */
        long call[7];             /* a system call and its arguments, or other numbers */
        int also;                 /* by_call(): another errno that is a refusal */
        const char *const *paths; /* ended by NULL */
};

/* All of them, in the order in which they run. */
const struct probe *const *probe_table(size_t *ret_count);
const char *probe_class_name(enum probe_class c);
const char *probe_outcome_name(enum probe_outcome o);
/* The layer that most likely denied with this error, out of the probe's own list. */
const char *probe_layer_of(const struct probe *p, int sys);

/* "key=value" for one member of the world; false: the key is unknown, or the value does not fit. */
bool probe_world_take(struct probe_world *w, const char *word);
/* Writes the world as words for probe_main(); returns how many (at most `cap`), each freed by the caller. */
size_t probe_world_words(const struct probe_world *w, char **ret_words, size_t cap);

/* The smallest program of this machine: it ends with status 77. Returns its length; `cap` of 256 suffices. */
size_t probe_tiny_program(unsigned char *buf, size_t cap);

/* Runs one probe in a child of its own for at most timeout_ms. */
void probe_run_one(const struct probe *p, const struct probe_world *w, unsigned timeout_ms,
                   struct probe_result *ret);
/* The prober: argv are words of the world, or `only=NAME`. One JSON line per probe on standard output. */
int probe_main(int argc, char **argv);
