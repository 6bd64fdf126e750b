/* SPDX-License-Identifier: MIT */
/* work/work.h - layers of `edit` doors: what a box changed in a tree that it may not touch, kept until a
 * person looks at it (diff), lets it land (apply), takes that back (undo) or throws it away (discard).
 *
 *   STATE/work/RUN/meta         what the layer is, `key=value` ended by NUL each: a path may hold any byte
 *   STATE/work/RUN/lock         held while a box runs on the layer or a verb works on it
 *   STATE/work/RUN/door-N/      upper, work (a tree) or file (a single file)
 *   STATE/work/RUN/base         what lay below each changed entry when the run ended
 *   STATE/work/RUN/apply-K/     the journal of one apply, and what it replaced
 *
 * Everything a box wrote is hostile: it is reached by descriptor, beneath the layer, never through a link,
 * and nothing but regular files and directories is ever opened. */
#pragma once
#include "base/err.h"
#include "base/span.h"
#include "context/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        WORK_DOORS_MAX = 256,       /* edit doors of one layer */
        WORK_DEPTH_MAX = 256,       /* directories in directories */
        WORK_LINKS_MAX = 40,        /* links behind links, as the kernel has it */
        WORK_PATH_MAX = 4096,       /* bytes of a path below a door, with its NUL */
        WORK_ENTRIES_MAX = 4000000, /* changed entries of one layer */
        WORK_RUN_MAX = 64,
};
/* The attribute of a file that an apply put there: the run it came from. A box cannot hand one on. */
#define WORK_ORIGIN "user.cordon.origin"

/* ---- a run (box) ---- */

struct work_door_ask {
        const char *host; /* the tree or file behind the door */
        uint64_t dev, ino;
        bool is_dir;
        const char *const *guards;   /* `except` paths below the door, relative; NULL-terminated or NULL */
        const char *const *programs; /* files that are held as they are and may run, likewise */
};

struct work_ask {
        const struct cordon_context *cx;
        const char *run, *box, *policy; /* id, name, digest */
        const char *on;                 /* go on in this run's layer; or NULL */
        bool keep;                      /* keep the layer although nothing changed */
        const struct work_door_ask *doors;
        size_t door_count;
};

struct work_place {
        char *path; /* the directory of one door's layer */
        uint64_t dev, ino;
};

struct work_counts {
        char run[WORK_RUN_MAX]; /* the layer's, which with --on is not the box's own */
        size_t entries, flagged;
        bool kept; /* the layer is still there */
};

struct work_run;
/* Makes (or takes up) the layer and everything that mount points in it need. NULL: nothing is left. */
struct work_run *work_begin(const struct work_ask *ask, struct err *e);
/* As many as there were doors, in their order. */
const struct work_place *work_places(const struct work_run *w);
/* Is there more in the layer than this? Stops counting when there is. */
bool work_is_over(const struct work_run *w, uint64_t max_bytes, uint64_t max_entries);
/* Bytes that are left where the layer is; UINT64_MAX: nobody can tell. */
uint64_t work_room(const struct work_run *w);
/* Seals the layer, or removes it when nothing changed. Frees. */
int work_end(struct work_run *w, struct work_counts *ret, struct err *e);
/* The box never ran: what was made for it goes. Frees; NULL is allowed. */
void work_drop(struct work_run *w);

/* ---- after a run (verbs) ---- */

typedef void work_sink(void *ctx, const void *p, size_t n);
/* What is being done, and how far it is: called often. `total` 0: not known. */
typedef void work_progress(void *ctx, const char *doing, size_t done, size_t total);

enum work_form { WORK_TEXT = 0, WORK_STAT, WORK_NAMES, WORK_JSON };

struct work_look {
        const struct cordon_context *cx;
        const char *run; /* id, a unique beginning of it, or a box's name: its newest; NULL: the newest that
                            waits, with a door at, above or below the working directory */
        enum work_form form;
        bool colour;
        bool verbose;             /* nothing is summed up, and flags with their reasons */
        const char *const *paths; /* only these and what lies below; NULL: all */
        /* Instead, of conflicts at these paths and below: what the host has, against what the box left. As
         * text; or NULL. */
        const char *const *theirs;
        work_sink *out;
        void *out_ctx;
        work_progress *progress; /* or NULL */
        void *progress_ctx;
};

/* Everything that a layer changes. *ret_count: how many entries. */
int work_diff(const struct work_look *l, size_t *ret_count, struct err *e);
/* One line (or JSON object) for each layer of this user, newest first. */
int work_list(const struct cordon_context *cx, bool json, work_sink *out, void *ctx, struct err *e);

/* One change that reached the host: for the ledger. Digests are hex SHA-256, "" where there is no content,
 * and begin with "sparse:" where holes were left out. */
struct work_effect {
        const char *run, *host; /* the layer; the door's tree */
        struct span path;       /* below it */
        const char *before, *after;
        bool linked; /* a second name of a file that was there, and is not the run's */
};

struct work_apply {
        const struct cordon_context *cx;
        const char *run;
        const char *mark;         /* kept with the journal, for the context's `settled`: a word; or NULL */
        const char *const *paths; /* only these; named paths need no `flagged` */
        const char *const *but;   /* and not these, nor what lies below; or NULL */
        bool flagged;             /* also what is flagged */
        const char *const *kinds; /* also what is flagged as these, and as nothing else; or NULL */
        const char *to;           /* into this directory instead; or NULL */
        work_sink *out;           /* what was held back, or what is in the way */
        void *out_ctx;
        work_progress *progress; /* or NULL */
        void *progress_ctx;
        work_sink
                *patch; /* what would land, as a patch that `git apply` takes; nothing is changed. Or NULL */
        void *patch_ctx;
        bool json; /* one object with all that was done instead, without a newline; also on failure */
        /* Nothing was changed yet, `count` changes are next, of which this is the first; -1 with *e stops it.
         * Or NULL. */
        int (*before)(void *ctx, const struct work_effect *first, size_t count, struct err *e);
        void (*effect)(void *ctx, const struct work_effect *); /* after all is done; or NULL */
        /* After the last of them. True: it is known, and not told again; else whoever opens the layer next
         * tells it (the context's `settled`). Or NULL. */
        bool (*after)(void *ctx);
        void *effect_ctx;
};

/* What became of an apply (or undo) that did not come to its own end: it failed and was taken back, or was
 * killed and a later command finished it or took it back. Told at least once; not without a mark. */
enum work_end_of { WORK_LANDED = 0, WORK_TAKEN_BACK, WORK_UNDONE };
struct work_settled {
        const struct cordon_context *cx; /* of the command that found it */
        enum work_end_of how;
        const char *run, *mark;
        const struct work_effect *effects; /* for WORK_TAKEN_BACK and WORK_UNDONE: what did not stay */
        size_t count;
};
/* The context's `settled` is called with it. True: it is recorded. Else it is called again later, if that can
 * still be: a ledger may be full today. */

struct work_outcome {
        char run[WORK_RUN_MAX];
        size_t applied, held; /* entries */
        size_t closed;        /* of those held: in a directory of the host that is closed to the caller */
        size_t conflicts;     /* not 0: nothing was done */
        char approval[128];   /* options, each behind a space, that an apply of what is held back needs; or ""
                               */
};
int work_apply(const struct work_apply *a, struct work_outcome *ret, struct err *e);
/* Takes the newest apply of the layer back. Refuses when the host changed what was applied since. */
struct work_undo { /* and discard */
        const struct cordon_context *cx;
        const char *run; /* NULL, for undo: the one of the working directory that was applied last */
        bool json;       /* as for an apply */
        work_sink *out;
        void *out_ctx;
        work_progress *progress; /* undo; or NULL */
        void *progress_ctx;
};
int work_undo(const struct work_undo *u, struct work_outcome *ret, struct err *e);
/* Removes the layer and what is kept for undo; of one that was applied in part only what still waits, and
 * returns 1. ret_run: WORK_RUN_MAX bytes. Nothing is said but JSON. */
int work_discard(const struct work_undo *u, char *ret_run, struct err *e);
/* The waiting layer that `run` means, or that is meant without a name. ret_run: WORK_RUN_MAX bytes. */
int work_find(const struct cordon_context *cx, const char *run, char *ret_run, struct err *e);
/* A second layer that begins with what the first one holds. */
int work_fork(const struct cordon_context *cx, const char *run, const char *new_run, char *ret_run,
              struct err *e);
