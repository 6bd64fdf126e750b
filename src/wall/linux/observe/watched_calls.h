/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/watched_calls.h - the target of a call of the payload, read from its arguments. Only for
 * reports, and to know when to ask: the payload can change the memory that they point to at any moment, so no
 * permission comes of it. */
#pragma once
#include "wall/internal.h"

/* A task that waits in a call found `missing` not to be there. Fills kind, path and program: the path that
 * its call names, if that leads to `missing` (or `anywhere`: a covered place, whose name we do not know),
 * else `missing` itself. */
void watched_missing(int proc, uint32_t task, const char *missing, bool anywhere, struct wall_denial *ret);
/* Kind and path of a known call. `in_box`: we have the root of that task, so that symlinks resolve for us as
 * for it, and a changed file is reported by its target's name. */
enum watched_what {
        SAW_NOTHING = 0, /* the call has no path, or none that can be reported */
        SAW_PATH,
        SAW_OWN /* it leads to a file of the task's own, as /dev/stdout does: never denied */
};
enum watched_what watched_call(int proc, uint32_t task, const struct seccomp_data *call, bool in_box,
                               struct wall_denial *ret);
/* The path of a known call as it is, after the directory that it starts from. */
enum { WATCHED_RAW = 8192 };
bool watched_path(int proc, uint32_t task, const struct seccomp_data *call, char ret[WATCHED_RAW]);
/* Copies a string of a task; false: it is longer, or not mapped. */
bool watched_text(uint32_t task, uint64_t at, char *ret, size_t cap);
/* A connect() that leads out of the box's own loopback, or to the port of a name server: "the destination",
 * HOST:PORT or "" for a name. Returns false for any other call. */
bool watched_connect(uint32_t task, const struct seccomp_data *call, char *ret, size_t cap);
/* The same of one to the box's own loopback: the port, or 0. */
unsigned watched_own_loopback(uint32_t task, const struct seccomp_data *call, char *ret, size_t cap);
/* The name of a task; "" if it is gone. */
void watched_program(int proc, uint32_t task, char *ret, size_t cap);
/* The effect of a call on its path: read, write or execute. */
enum effect_kind watched_kind(const struct seccomp_data *call);
bool watched_makes(const struct seccomp_data *call); /* would it make a name, and touch none that is there */
/* Does it have a path to report? An empty one, or none, names the descriptor beside it, or nothing. */
bool watched_names_path(uint32_t task, const struct seccomp_data *call);

/* From here on the two processes at a call share a processor, where the kernel can. */
void watched_take_turns(int listener);
/* Does the task of this call still wait for an answer? */
bool watched_is_waiting(int listener, uint64_t id);
/* Answers it with a descriptor of the file that `fd` is, whole or not at all. Returns 0, or -1 with errno. */
int watched_give(int listener, uint64_t id, int fd, bool cloexec);
/* Answers it: an errno, or 0, with the flags of seccomp_unotify(2). */
void watched_answer(int listener, uint64_t id, int error, uint32_t flags);

/* Paths that were reported already: a path of a loop is reported once. Zero is empty. What was denied and
 * what was merely seen have room of their own; names of secrets have some that nothing else can fill. */
enum { SAW_MAX = 4096, SECRETS_MAX = 512, TOLD_PLACES = 4 * SAW_MAX };
struct watched_told {
        uint64_t of[TOLD_PLACES]; /* hashes; 0: a free place */
        uint64_t key[2]; /* unknown inside the box: else a path could be chosen that hides another (hash
                            collision) */
        unsigned denied, seen, secrets;
};
/* Everything is new again. */
void watched_forget(struct watched_told *t);
/* The leader of the task's session; 0: unknown. */
uint32_t watched_session(uint32_t task);
/* Is it new, and is there room? Then it counts as reported. */
enum wall_report watched_news(struct watched_told *t, const struct wall_message *m);
