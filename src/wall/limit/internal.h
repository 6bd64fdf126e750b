/* SPDX-License-Identifier: MIT */
/* wall/limit/internal.h - shared by the files of limit/. */
#pragma once
#include "wall/limit/limit.h"

#include <fcntl.h>
#include <stddef.h>

enum { DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, WAIT_MS = 2000 };

/* `any_fs` is for tests, which use a tree of plain files; limit_group_open() always checks the filesystem. */

/* v1.c */
int limit_v1_open(struct limit_group *g, const struct host_cgroups *h, bool any_fs, struct err *e);

/* v2.c */
int limit_v2_open(struct limit_group *g, const struct host_cgroups *h, bool any_fs, struct err *e);
int limit_v2_parent(const struct host_cgroups *h, bool root, bool any_fs);
int limit_v2_hand_down(int parent, const char *controller, struct err *e);
int limit_v2_write(struct limit_group *g, bool memory, bool procs, struct err *e);

/* make.c */
int limit_make_dir(int parent, const char *name);
int limit_denied(struct err *e, int sys, bool v2, const char *what);

/* group.c: is it "cordon-" and a plain name? */
int limit_name_check(const char *name, struct err *e);

/* group_end.c */
void limit_end_within(struct limit_group *g, unsigned wait_ms);

/* sweep.c: opens a group by its name in every hierarchy, so that it is killed as a whole */
/* looks where a group is left in most cases: for every start */
void limit_sweep_quick(const struct host_cgroups *h);
void limit_group_adopt(struct limit_group *g, const struct host_cgroups *h, const char *name);

/* kernel_text.c */
int limit_put(int dir, const char *file, uint64_t n);
int limit_key(int dir, const char *file, const char *key, uint64_t *ret); /* "key N" lines */
uint64_t limit_start_time(pid_t pid);                                     /* 0: cannot be read */

/* sweep.c */
struct limit_owner {
        pid_t pid;
        uint64_t start;
        uint32_t pid_ns;
};
int limit_name_parse(const char *name, struct limit_owner *ret);
bool limit_owner_gone(const struct limit_owner *o);
