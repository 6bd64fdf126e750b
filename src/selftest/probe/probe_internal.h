/* SPDX-License-Identifier: MIT */
/* selftest/probe/probe_internal.h - the reports of probes, and the tables of probes. */
#pragma once
#include "base/fd.h"
#include "selftest/probe/probe.h"

#include <errno.h>
#include <limits.h>
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
/* The same with more members: of struct probe, behind its `run`. */
#define WITH(claim, class, means, by, fn, kept, ...)                                                         \
        {                                                                                                    \
                .name = claim, .cls = class, .success = means, .layers = by, .run = fn, .promise = kept,     \
                __VA_ARGS__                                                                                  \
        }
/* An attempt that is one system call. CALL: an answer of the kernel itself is an escape, ANSWER: success is.
 */
#define CALL(claim, means, by, words, ...) CALL_OR(claim, means, by, words, 0, __VA_ARGS__)
#define CALL_OR(claim, means, by, words, errno_too, ...)                                                     \
        WITH(claim, CLASS, means, by, by_call, PROMISED, .what = words, .also = errno_too,                   \
             .call = { __VA_ARGS__ })
#define ANSWER(claim, means, by, words, ...) NUMBERS(claim, means, by, by_answer, words, __VA_ARGS__)
/* A function that several rows share, with its words and numbers, or with its strings. */
#define NUMBERS(claim, means, by, fn, words, ...)                                                            \
        WITH(claim, CLASS, means, by, fn, PROMISED, .what = words, .call = { __VA_ARGS__ })
#define STRINGS(claim, means, by, fn, ...)                                                                   \
        WITH(claim, CLASS, means, by, fn, PROMISED, .paths = (const char *const[]){ __VA_ARGS__, NULL })
/* An attempt to open each of some paths. */
#define OPENS(claim, means, by, flags, ...)                                                                  \
        WITH(claim, CLASS, means, by, by_opens, PROMISED, .call = { flags },                                 \
             .paths = (const char *const[]){ __VA_ARGS__, NULL })
#define READS(claim, means, by, ...)  STRINGS(claim, means, by, by_opens, __VA_ARGS__)
#define WRITES(claim, means, by, ...) STRINGS(claim, means, by, by_writes, __VA_ARGS__)

#define PROBE_PTR(p) ((long) (p))
/* In a call: values of the box. OF_CANARY: a file of the host's directory, named by the first string. */
enum {
        OF_CANARY = INT_MIN,
        OF_MADE_PATH,
        OF_MADE_FD,
        OF_BYSTANDER,
        OF_KEEPER,
        OF_KEY,
};
/* A call with a path, which some machines have only with a directory in front. */
#ifdef __x86_64__
#define BY_PATH(old, at) SYS_##old
#else
#define BY_PATH(old, at) SYS_##at, AT_FDCWD
#endif

struct probe_made {
        char path[128];
        int fd;
};
/* Makes a file in a place that the box may write. */
bool probe_make(struct probe_made *m, const char *name);
/* Makes the call of the row. `made`: NULL if it has no file that was made. */
long probe_call(const struct probe_result *r, const struct probe_made *made);
int by_call(struct probe_result *r);
int by_answer(struct probe_result *r);
int by_made(struct probe_result *r);   /* by_answer() on a file that was made */
int by_canary(struct probe_result *r); /* by_answer() on the canary; the second string is the effect's word */
int by_opens(struct probe_result *r);
int by_writes(struct probe_result *r);

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
