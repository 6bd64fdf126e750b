/* SPDX-License-Identifier: MIT */
/* selftest/probe/probe_internal.h - the reports of probes, and the tables of probes. */
#pragma once
#include "base/fd.h"
#include "selftest/probe/probe.h"

#include <errno.h>
#include <sys/types.h>

/* Each returns the outcome, so that `return held(...)` reads well. */
int held(struct probe_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int escaped(struct probe_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int cannot_tell(struct probe_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "EPERM" and the like. */
const char *errno_name(int sys);

/* Held with errno: "CALL: EPERM". */
int refused(struct probe_result *r, const char *call);
/* Judges the reply of a call whose success is the escape. Any error is a refusal. */
int by_reply(struct probe_result *r, long reply, const char *call);
/* The same, but only EPERM, EACCES and ENOSYS (and `also`) are refusals: any other error comes from the code
 * behind the wall, which has then been reached. */
int by_reach(struct probe_result *r, long reply, const char *call, int also);
/* Opens `path`; success is an escape, with the path as evidence. */
int by_open(struct probe_result *r, const char *path, int flags);
/* The same for writing, without a byte written. */
int by_write_open(struct probe_result *r, const char *path);
/* Joins all results: an escape, else a `cannot-tell`, else held. */
int by_write_opens(struct probe_result *r, const char *const *paths, size_t n);

/* The status of a probe's child from waitpid(); -1: it could not be created. */
int child_status(void (*fn)(void *), void *arg);

/* A new file in the first directory that this box may write, with its path; -1 with errno set if none exists.
 */
int make_file(char path[static 128], const char *name, mode_t mode);
/* The first directory this box may write; NULL with errno. */
const char *writable_dir(void);
/* Is this path on the same file as `st` of the host's canary would be? Reads the canary's mark. */
bool holds_mark(int fd);

/* A directory that the wall created on its own root, as a parent of a door or of the program: no file of the
 * host. */
bool is_way(const char *path);

/* The target that was reached is the canary. */
void says_canary(struct probe_result *r);

/* "DIR/NAME" of the host's canary directory, in a buffer that the next call overwrites. */
const char *canary(const struct probe_result *r, const char *name);

/* The mark that the canary files begin with. */
#define PROBE_MARK "cordon canary: "

/* A row of a table, in the order of struct probe. */
#define CLAIM(claim, class, means, by, fn, kept)                                                             \
        {                                                                                                    \
                .name = claim, .cls = class, .success = means, .layers = by, .run = fn, .promise = kept      \
        }
/* The same of CLASS, which a file defines, and PROMISED. */
#define ROW(claim, means, by, fn) CLAIM(claim, CLASS, means, by, fn, PROMISED)
/* An attempt that is one system call, whose success or answer by the kernel itself is the escape. */
#define CALL(claim, means, by, words, ...)                                                                   \
        {                                                                                                    \
                .name = claim, .cls = CLASS, .success = means, .layers = by, .run = by_call, .what = words,  \
                .call = {                                                                                    \
                        __VA_ARGS__                                                                          \
                }                                                                                            \
        }
int by_call(struct probe_result *r);

struct probe_list {
        const struct probe *rows;
        size_t count;
};
#define PROBE_LIST(rows)                                                                                     \
        {                                                                                                    \
                rows, sizeof(rows) / sizeof *(rows)                                                          \
        }

extern const struct probe_list probes_files, probes_files_more, probes_mounts, probes_processes,
        probes_namespaces, probes_kernel, probes_abi, probes_sockets, probes_terminal, probes_execution,
        probes_privilege, probes_secrets, probes_dumps, probes_machine, probes_devices, probes_channels,
        probes_limits, probes_races, probes_landlock, probes_netlink;
