/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/fuse_root.h - a root directory that reports lookups of names that do not exist in it.
 *
 * A hidden path fails with ENOENT because the box's root does not have it, and no layer sees the lookup. So,
 * if reports are requested, the few directories that are the box's own (/, /etc, /dev ...) are served through
 * FUSE by a process of ours, the observer. It serves a tree that is built from the plan before the box
 * exists; doors are mounted on it as they are on the tmpfs that it replaces. A lookup of any other name fails
 * with ENOENT, as ever, and is reported. No request can change the observer's answers.
 *
 * Files behind doors never pass through here: only the first lookup of a name in a directory of our own does.
 */
#pragma once
#include "wall/plan/plan.h"
#include "wall/wall.h"

#include <sys/stat.h>

/* One entry of the tree. Index 0 is unused, 1 is the root: the indexes are FUSE's node ids. */
struct fuse_node {
        const char *name;
        uint32_t name_len;
        uint32_t parent, child, next;
        mode_t mode;
        const char *text; /* a link's target, a file's content; or NULL */
        bool ours;        /* only init finds it: the cover of an `except` */
};

struct fuse_tree {
        struct fuse_node *node;
        uint32_t count, cap;
};

enum { FRONT_LIST_BYTES = 8192 }; /* of entries that one answer lists */

#define FRONT_MASK_DIR   ".mask-dir"
#define FRONT_MASK_FILE  ".mask-file"
#define FRONT_EDIT_BELOW ".edit-below"
#define FRONT_EDIT_ABOVE ".edit-above"

/* The first file that every dynamically linked program looks up. */
#define FRONT_LOADER_ASKS "/etc/ld.so.preload"

/* How many nodes a plan can need. */
uint32_t fuse_tree_room(const struct plan *p);
/* Fills the buffers given in `t`. Returns 0, or -1 if a step's path leads through a file that is not a
 * directory. */
int fuse_tree_build(struct fuse_tree *t, const struct plan *p);
/* A child by name; 0: none. `by_init`: also those that are ours alone. */
uint32_t fuse_tree_find(const struct fuse_tree *t, uint32_t dir, const char *name, size_t len, bool by_init);
/* The path of a child of `dir` that may not exist, absolute. False: it does not fit. */
bool fuse_tree_path(const struct fuse_tree *t, uint32_t dir, const char *name, char *ret, size_t cap);

/* The observer's inputs; init creates all of them. */
struct front {
        struct fuse_tree tree;
        int fuse;                     /* /dev/fuse, connected to the mount */
        int control;                  /* to the keeper */
        int proc;                     /* of the box's processes */
        const struct wall_told *told; /* shared with init */
        int64_t born;                 /* seconds: the age of everything here */
};

/* The observer's main loop: answers until the mount is gone. */
_Noreturn void fuse_serve(struct front *f);
