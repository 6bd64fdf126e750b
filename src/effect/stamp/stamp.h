/* SPDX-License-Identifier: MIT */
/* effect/stamp/stamp.h - labels of files: they stay across runs, boxes and restarts.
 *
 *   STATE/labels/index   one JSON object a line: path, device, inode, birth time, label, the run it is from.
 *                        A pipe without a path is `pipe:DEV:INO@BOOT`.
 *   user.cordon.label    the same as an attribute (trusted.cordon.label for root): it goes with a copy
 *
 * The index wins: an attribute that was removed cleans nothing. A stamp on a directory counts for all below
 * it. A file that was replaced at its path keeps the label, and so does one that was renamed and is found by
 * its inode. An index that cannot be read stops whatever asks. */
#pragma once
#include "base/context/context.h"
#include "base/err.h"
#include "effect/label/label.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { STAMPS_MAX = 65536, STAMP_PIPE_MAX = 80, STAMP_BELOW_MAX = 10000 };

struct stamp {
        char *path;
        uint64_t dev, ino, born_ns; /* born_ns 0: unknown; the path decides */
        struct label label;
        char run[48]; /* or "" */
};
struct stamp_index { /* zero: empty */
        struct stamp *v;
        size_t n, cap;
};

/* Reads the index; one that does not exist is empty, and is not created. */
int stamp_read(const struct cordon_context *cx, struct stamp_index *ret, struct err *e);
void stamp_done(struct stamp_index *x);
/* The number differs after each change of the index; 0: no index. */
uint64_t stamp_version(const struct cordon_context *cx);
/* The label of a file, or of a directory with all that is stamped below it. Absolute, symlinks resolved. */
struct label stamp_label(const struct stamp_index *x, const char *path);
/* The same, but symlinks are followed. */
struct label stamp_behind(const struct stamp_index *x, const char *path);
/* The label of entries below a directory that are not known by path: looks at *left of them at most, and
 * takes those off. */
struct label stamp_below(const struct stamp_index *x, const char *dir, unsigned *left);
/* The label of a path by the index alone. */
struct label stamp_named(const struct stamp_index *x, const char *path);
/* The label of an open file or pipe. A terminal or socket keeps no label. */
struct label stamp_of_file(const struct stamp_index *x, int fd);
/* Where an open file or pipe has its label: its path, or the pipe's name. False: it keeps none. */
bool stamp_place(int fd, char ret[PATH_MAX]);
/* "DEV:INO@BOOT" of a pipe. False, and "": it is not a pipe. */
bool stamp_pipe(int fd, char ret[STAMP_PIPE_MAX]);
/* The label at this path itself, without labels above or below: for `cordon label`. */
struct label stamp_own(const struct stamp_index *x, const char *path);
/* Adds a label to a path, durably, before the caller goes on. */
int stamp_add(const struct cordon_context *cx, const char *path, const struct label *l, const char *run,
              struct err *e);
/* The same for an open file, which may get its name later: it is found by its inode. A pipe has its label for
 * the box that reads it. 1: what this is keeps no label. */
int stamp_add_file(const struct cordon_context *cx, int fd, const struct label *l, const char *run,
                   struct err *e);
/* The path of a file that has got its name: what it bears is written into the index. */
int stamp_keep(const struct cordon_context *cx, const char *path, struct err *e);
/* A file of our own state that is removed. */
void stamp_forget(const struct cordon_context *cx, const char *path);
/* Adds the label to the attribute alone, or takes it off. A file of ours that is shut is opened for that
 * moment. False: it keeps no label. */
bool stamp_change_attribute(const char *path, const struct label *l, bool drop);

/* ---- stamp_written.c: files below a directory bear their label themselves ---- */

struct stamp_written;
struct stamp_left { /* what bears none, because its filesystem or owner does not let it, or nobody looked */
        uint32_t count;
        char first[PATH_MAX];
};
/* All that has changed since then gets the label. `own`: the state directory, which is passed over; or NULL.
 * NULL: no memory. */
struct stamp_written *stamp_written_new(const struct label *l, struct timespec since, const char *own);
/* The same walk takes the label off all that there is. */
struct stamp_written *stamp_unwritten_new(const struct label *l, const char *own);
void stamp_written_add(struct stamp_written *w, const char *dir); /* symlinks resolved */
bool stamp_written_step(struct stamp_written *w);                 /* false: it is over */
const struct stamp_left *stamp_written_left(const struct stamp_written *w);
void stamp_written_free(struct stamp_written *w);

/* Takes labels off it. The caller has recorded who wants that, and why. */
int stamp_drop(const struct cordon_context *cx, const char *path, const struct label *what, struct err *e);
