/* SPDX-License-Identifier: MIT */
/* face/bwrap/bwrap.h - cordon-bwrap: the command line of bubblewrap. bwrap_options.c decides: it turns the
 * arguments into an order, which is a list of operations on the new root and the choice of namespaces. The
 * other files carry it out, in the order of bwrap_box.c. */
#pragma once
#include "base/err.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { BWRAP_ARGS_MAX = 9000, BWRAP_FILTERS_MAX = 64 };

enum bwrap_kind {
        BWRAP_BIND = 0,
        BWRAP_OVERLAY, /* of the `layers` sources from `layer` */
        BWRAP_PROC,
        BWRAP_DEV,
        BWRAP_TMPFS,
        BWRAP_MQUEUE,
        BWRAP_DIR,
        BWRAP_FILE,
        BWRAP_DATA,
        BWRAP_SYMLINK,
        BWRAP_REMOUNT,
        BWRAP_CHMOD,
        BWRAP_KIND__COUNT
};

enum {
        BWRAP_RO = 1 << 0,
        BWRAP_DEVICES = 1 << 1,
        BWRAP_TRY = 1 << 2,   /* skipped if the source does not exist */
        BWRAP_BY_FD = 1 << 3, /* the source is the directory or file that `fd` has open */
        BWRAP_TMP = 1 << 4,   /* OVERLAY: changes are kept in memory */
};

struct bwrap_op {
        uint8_t kind;  /* enum bwrap_kind */
        uint8_t flags; /* BWRAP_* */
        int perms;
        int fd;
        const char *source; /* SYMLINK: its target; OVERLAY: the directory that takes the changes, or NULL */
        const char *work;   /* OVERLAY */
        const char *dest;
        uint64_t size; /* TMPFS: 0: the kernel's default */
        unsigned layer, layers;
};

/* One change of the environment. Both NULL: it is emptied; no value: the variable is removed. */
struct bwrap_variable {
        const char *name, *value;
};

struct bwrap_order {
        const char *const *argv; /* the command; NULL-terminated */
        const char *argv0, *chdir, *hostname, *label;
        bool user, user_try, ipc, pid, net, uts, cgroup, cgroup_try;
        bool disable_userns, assert_userns_disabled, as_pid_1, new_session, die_with_parent, level_prefix;
        bool help, version, dev, lenient;
        int sync_fd, block_fd, userns_block_fd, info_fd, status_fd, seccomp_fd, userns_fd, userns2_fd,
                pidns_fd;
        int64_t uid, gid;               /* -1: the caller's */
        uint64_t caps, caps_added;      /* to keep; of these, those that an option names */
        bool caps_named;                /* an option changed them */
        int filters[BWRAP_FILTERS_MAX]; /* --add-seccomp-fd */
        size_t filter_count;
        struct bwrap_op ops[BWRAP_ARGS_MAX];
        size_t op_count;
        const char *layers[BWRAP_ARGS_MAX]; /* --overlay-src, the lowest first */
        size_t layer_count;
        const char *locks[BWRAP_ARGS_MAX];
        size_t lock_count;
        struct bwrap_variable variables[BWRAP_ARGS_MAX];
        size_t variable_count;
        const char *repeated[BWRAP_ARGS_MAX]; /* options of which only the last counts */
        size_t repeated_count;
};

/* The reader of options leaves these to main.c. */
struct bwrap_files {
        /* All bytes of a descriptor and a NUL after them, which stay. Returns 0, or -1 with errno. */
        int (*read)(int fd, char **ret, size_t *ret_length);
};

/* The caller, and what the host has. */
struct bwrap_caller {
        uid_t uid;
        gid_t gid;
        bool user_namespaces, cgroup_namespaces;
};

/* ---- bwrap_options.c: pure ---- */

/* Reads arguments after the program's name into *o, which must be zeroed. `caps`: those of the caller if it
 * is root, else 0. Returns 0, or -1 with *e set. */
int bwrap_read(struct bwrap_order *o, const char *const *argv, size_t argc, uint64_t caps,
               const struct bwrap_files *files, struct err *e);
/* Resolves what depends on the caller, and refuses options that do not go together. */
int bwrap_settle(struct bwrap_order *o, const struct bwrap_caller *c, struct err *e);
/* "  --bind SRC DEST    ..." for each option, in the order of the table; NULL after the last. */
const char *bwrap_option(size_t i, const char **ret_arguments, const char **ret_help);

/* ---- bwrap_caps.c ---- */
/* A name with or without "cap_", in any case, or a number. Returns -1 if no capability has it. */
int bwrap_cap(const char *name);
uint64_t bwrap_caps_held(void);
/* Drops from the bounding set what is not in `keep`. */
int bwrap_caps_bound(uint64_t keep, struct err *e);
int bwrap_caps_set(uint64_t keep, struct err *e);
int bwrap_caps_ambient(uint64_t keep, struct err *e);

/* ---- bwrap_filter.c ---- */
enum { BWRAP_FILTER_MAX = 256 };
/* The filters of the command, read before it starts. */
struct bwrap_filters {
        struct sock_fprog programs[BWRAP_FILTERS_MAX + 1];
        size_t count;
        struct sock_filter own[BWRAP_FILTER_MAX];
};
int bwrap_filters_read(const struct bwrap_order *o, bool terminal, struct bwrap_filters *ret, struct err *e);
/* Loads them, and a Landlock domain: signals and ptrace end at the box. */
int bwrap_filters_load(const struct bwrap_filters *f, struct err *e);

/* ---- bwrap_root.c ---- */
struct bwrap_root {
        int top;   /* of the new root: the last mount on "/" */
        int aside; /* a directory that no path of the box leads to */
        int base;  /* the root during the setup */
        int old;   /* the caller's root */
        int proc;  /* the caller's /proc */
        unsigned aside_count;
        bool own_proc;   /* the box has its own pid namespace */
        const char *tty; /* the terminal of standard output, or NULL */
};
/* Builds the root by the operations, and enters it. */
int bwrap_root_build(struct bwrap_order *o, struct bwrap_root *r, struct err *e);
int bwrap_root_enter(struct bwrap_root *r, struct err *e);

/* ---- bwrap_place.c: paths in the new root, in which symlinks lead nowhere else ---- */
int bwrap_place_find(const struct bwrap_root *r, const char *path);
/* The directory above `path`, created with `mode` like mkdir -p; *ret_last: the last part of the path. */
int bwrap_place_parent(const struct bwrap_root *r, const char *path, mode_t mode, char ret_last[256]);
/* Descriptor of `path`, which is created if it does not exist. */
int bwrap_place_dir(const struct bwrap_root *r, const char *path, mode_t above, mode_t mode);
int bwrap_place_file(const struct bwrap_root *r, const char *path, mode_t above);
/* A source of the caller's, already resolved. */
int bwrap_open_old(const struct bwrap_root *r, const char *path, uint64_t flags);
int bwrap_open_in(int root, const char *path, uint64_t flags, mode_t mode);

/* ---- bwrap_mounts.c: one operation each ---- */
/* Moves a detached mount to `place`; closes both. */
int bwrap_mount_at(struct bwrap_root *r, int tree, int place, const char *dest, struct err *e);
/* A detached copy of what `source` is and of the mounts below it; -1 with errno. */
int bwrap_clone(int source, unsigned flags);
int bwrap_fresh(const char *type, const char *const *options, unsigned attributes);
int bwrap_mount_overlay(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                        int place, struct err *e);
int bwrap_mount_dev(const struct bwrap_op *op, struct bwrap_root *r, int place, struct err *e);
int bwrap_mount_proc(const struct bwrap_op *op, struct bwrap_root *r, int place, struct err *e);

/* ---- bwrap_box.c ---- */
/* Runs the order. Returns the exit status of the command; in the box it does not return on success. -1: *e is
 * set. */
int bwrap_run(struct bwrap_order *o, struct err *e);
