/* SPDX-License-Identifier: MIT */
/* files/work/work.h - overlays of `edit` doors: the changes of a box to a tree that it must not touch, kept
 * until the user reviews them (diff), copies them to the host (apply), reverts that (undo) or deletes them
 * (discard).
 *
 *   STATE/work/RUN/meta         fields of the overlay, `key=value`, NUL-terminated: a path may hold any
 *   byte
 *   STATE/work/RUN/lock         held while a box runs on the overlay or a verb works on it
 *   STATE/work/RUN/door-N/      upper, work (a tree) or file (a single file)
 *   STATE/work/RUN/base         the lower entry of each changed entry when the run ended
 *   STATE/work/RUN/apply-K/     the journal of one apply, and the entries it replaced
 *
 * Everything a box wrote is hostile: it is reached by descriptor, beneath the overlay, never through a
 * symlink, and only regular files and directories are ever opened. */
#pragma once
#include "base/buf.h"
#include "base/context/context.h"
#include "base/err.h"
#include "base/span.h"
#include "base/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
        WORK_DOORS_MAX = 256,       /* edit doors of one overlay */
        WORK_DEPTH_MAX = 256,       /* nesting of directories */
        WORK_LINKS_MAX = 40,        /* symlinks followed, the kernel's limit */
        WORK_PATH_MAX = 4096,       /* bytes of a path below a door, with its NUL */
        WORK_ENTRIES_MAX = 4000000, /* changed entries of one overlay */
        WORK_RUN_MAX = 64,
        WORK_PLACE_MAX = 256,
};
/* The attribute of a file that an apply created: the run it came from. A box cannot pass one on. */
#define WORK_ORIGIN "user.cordon.origin"

/* ---- a run (box) ---- */

struct work_door_ask {
        const char *host; /* the tree or file behind the door */
        uint64_t dev, ino;
        bool is_dir;
        const char *const *guards;   /* `except` paths below the door, relative; NULL-terminated or NULL */
        const char *const *programs; /* files that are pinned and may run, likewise */
};

/* WORK_COPY_RUNNING: `on` is a whole id, and its box may run. */
enum work_copy { WORK_COPY_NONE = 0, WORK_COPY_ENDED, WORK_COPY_RUNNING };

struct gate_people;
struct work_ask {
        const struct cordon_context *cx;
        const char *run, *box, *policy;   /* id, name, digest */
        const char *const *asks;          /* lines of `edit` doors with `ask`; NULL-terminated or NULL */
        const struct gate_people *people; /* of a face, who asked for the run; or NULL */
        const char *on;                   /* continue in this run's overlay; or NULL */
        enum work_copy copy;              /* in a copy of it, under `run` */
        bool session;                     /* the box is a session */
        bool keep;                        /* keep the overlay even if nothing changed */
        const struct work_door_ask *doors;
        size_t door_count;
};

struct work_place {
        char *path; /* the directory of one door's overlay */
        uint64_t dev, ino;
};

struct work_counts {
        char run[WORK_RUN_MAX]; /* the overlay's, which with --on is not the box's own */
        size_t entries, flagged;
        bool kept;                  /* the overlay still exists */
        char place[WORK_PLACE_MAX]; /* where, if not in the state directory; or "" */
};

struct work_run;
/* Creates (or reopens) the overlay and everything that mount points in it need. On error returns NULL and
 * leaves nothing behind. */
struct work_run *work_begin(const struct work_ask *ask, struct err *e);
/* One per door, in their order. */
const struct work_place *work_places(const struct work_run *w);
/* These asked for what the box does, too. */
int work_people(struct work_run *w, const struct gate_people *people, struct err *e);
/* Does the overlay hold more than this? Stops counting when it does. */
bool work_is_over(const struct work_run *w, uint64_t max_bytes, uint64_t max_entries);
/* Free bytes on the overlay's filesystem; UINT64_MAX: unknown. */
uint64_t work_room(const struct work_run *w);
/* Seals the overlay, or removes it if nothing changed. Frees. */
int work_end(struct work_run *w, struct work_counts *ret, struct err *e);
/* The box never ran: removes everything that was created for it. Frees; NULL is allowed. */
void work_drop(struct work_run *w);

/* ---- private_files.c: of a box whose wall has no view of its own ---- */

#define WORK_TEMPORARY "tmp" /* in it: for temporary files */
struct work_private {
        int users, dir; /* this user's, and the box's in it; -1: no such directory */
        char name[24];
        char path[STORE_PATH_MAX + 64];
};
/* For a box with these ids. False: no place allows it. */
bool work_private_make(struct work_private *p, const struct cordon_context *cx, uid_t uid, gid_t gid);
/* Does it hold more than this? */
bool work_private_is_over(const struct work_private *p, uint64_t max_bytes, uint64_t max_entries);
/* Free bytes where it lies; UINT64_MAX: unknown. */
uint64_t work_private_room(const struct work_private *p);
void work_private_remove(struct work_private *p);

/* ---- work_place.c: where overlays lie ---- */

/* Not in the state directory: in `ret`, and what holds no disk does not outlive the machine's next start. */
bool work_elsewhere(const struct cordon_context *cx, char ret[WORK_PLACE_MAX]);
/* Can an overlay lie in the state directory, or in `ret`? */
enum work_holding { WORK_HOLDS = 0, WORK_HOLDS_ELSEWHERE, WORK_HOLDS_NOT };
enum work_holding work_can_hold(const struct cordon_context *cx, char ret[WORK_PLACE_MAX]);

/* ---- after a run (verbs) ---- */

typedef void work_sink(void *ctx, const void *p, size_t n);
/* The current step and its progress: called often. `total` 0: unknown. */
typedef void work_progress(void *ctx, const char *doing, size_t done, size_t total);

enum work_form { WORK_TEXT = 0, WORK_STAT, WORK_NAMES, WORK_JSON };

struct work_look {
        const struct cordon_context *cx;
        const char *run; /* id, a unique prefix of it, or a box's name (its newest); NULL: the newest with
                            pending changes that has a door at, above or below the working directory */
        enum work_form form;
        bool colour;
        bool bare;                /* as text: without the lists of flagged entries and conflicts */
        bool verbose;             /* nothing is summarised, and flags have their reasons */
        const char *const *paths; /* only these and what lies below; NULL: all */
        /* Instead, for conflicts at these paths and below: the host's version against the box's. As text;
         * or NULL. */
        const char *const *theirs;
        work_sink *out;
        void *out_ctx;
        work_progress *progress; /* or NULL */
        void *progress_ctx;
};

/* All changes of an overlay. *ret_count: the number of entries. */
int work_diff(const struct work_look *l, size_t *ret_count, struct err *e);
/* One line (or JSON object) for each overlay of this user, newest first. */
int work_list(const struct cordon_context *cx, bool json, work_sink *out, void *ctx, struct err *e);

/* One change that reached the host: for the ledger. Digests are hex SHA-256, "" if the entry has no
 * content, and begin with "sparse:" if holes were left out. */
struct work_effect {
        const char *run, *host; /* the overlay; the door's tree */
        struct span path;       /* below it */
        const char *before, *after;
        bool linked; /* a hard link to a file that existed before, not the run's */
};

struct work_apply {
        const struct cordon_context *cx;
        const char *run;
        const char *mark;         /* kept with the journal, for the context's `settled`: a word; or NULL */
        const char *const *paths; /* only these; named paths need no `flagged` */
        const char *const *but;   /* and not these, nor any entry below them; or NULL */
        bool flagged;             /* also flagged entries */
        const char *const *kinds; /* also entries flagged as these kinds and no others; or NULL */
        const char *to;           /* into this directory instead; or NULL */
        const char *approved;     /* of an overlay that asks: the digest that a person approved; or NULL */
        const struct err *unapproved;   /* why there is none; or NULL */
        struct work_question *question; /* only this is filled; or NULL: see work_question() */
        work_sink *out;                 /* the held-back entries, or the conflicts */
        void *out_ctx;
        work_progress *progress; /* or NULL */
        void *progress_ctx;
        work_sink *patch; /* the changes to apply, as a patch for `git apply`; nothing is changed. Or NULL */
        void *patch_ctx;
        bool json; /* one object with everything that was done instead, without a newline; also on failure */
        /* Called before anything is changed: `count` changes are next, this is the first; returning -1
         * with *e set stops it. Or NULL. */
        int (*before)(void *ctx, const struct work_effect *first, size_t count, struct err *e);
        void (*effect)(void *ctx, const struct work_effect *); /* after everything is done; or NULL */
        /* Called after the last change. Returns true if it is recorded and must not be reported again;
         * else the next command that opens the overlay reports it (the context's `settled`). Or NULL. */
        bool (*after)(void *ctx);
        void *effect_ctx;
};

/* The result of an apply (or undo) that was interrupted: it failed and was reverted, or was killed and a
 * later command finished or reverted it. Reported at least once. */
enum work_end_of { WORK_LANDED = 0, WORK_TAKEN_BACK, WORK_UNDONE };
struct work_settled {
        const struct cordon_context *cx; /* of the command that found it */
        enum work_end_of how;
        bool later;             /* by another command than the one that began it */
        const char *run, *mark; /* mark NULL: it is to have no record */
        const struct work_effect
                *effects; /* for WORK_TAKEN_BACK and WORK_UNDONE: the changes that were reverted */
        size_t count;
};
/* The context's `settled` is called with it. Returns true if it is recorded. Else it is called again
 * later, if possible: the ledger may be full today. */

struct work_outcome {
        char run[WORK_RUN_MAX];
        size_t applied, held; /* entries */
        size_t closed; /* of those held: in a directory of the host that the caller has no permission for */
        size_t conflicts;   /* not 0: nothing was done */
        char approval[128]; /* options, each after a space, that an apply of the held-back entries needs; or
                               "" */
};
int work_apply(const struct work_apply *a, struct work_outcome *ret, struct err *e);

/* An overlay whose run had an `edit` door with `ask`: what a person must approve before this apply. */
struct work_question {
        char run[WORK_RUN_MAX], box[80], policy[80];
        struct buf asks;   /* the doors, a line each */
        struct buf people; /* who asked for what is in it, a number each, with commas between them */
        char digest[65]; /* of the path, type, mode, owner and content of each entry; "": nothing is asked */
        size_t entries, flagged;
        struct buf paths; /* of the entries that are no directories, absolute, each with a NUL */
        struct buf text;  /* for the person, inert: flagged entries first, with sizes and digests */
};
/* Changes nothing. */
int work_question(const struct work_apply *a, struct work_question *ret, struct err *e);
void work_question_done(struct work_question *q);
/* Reverts the newest apply of the overlay. Refuses if the host changed an applied entry since. */
struct work_undo { /* and discard */
        const struct cordon_context *cx;
        const char *run; /* NULL, for undo: the latest apply of the working directory */
        bool json;       /* as for an apply */
        work_sink *out;
        void *out_ctx;
        work_progress *progress; /* undo; or NULL */
        void *progress_ctx;
};
int work_undo(const struct work_undo *u, struct work_outcome *ret, struct err *e);
/* Removes the overlay and the data kept for undo; if it was applied in part, only the pending changes, and
 * returns 1. ret_run: WORK_RUN_MAX bytes. Prints nothing but JSON. */
int work_discard(const struct work_undo *u, char *ret_run, struct err *e);
/* The pending overlay that `run` names, or the default one. ret_run: WORK_RUN_MAX bytes. */
int work_find(const struct cordon_context *cx, const char *run, char *ret_run, struct err *e);
/* A copy of an overlay, under its own name. */
int work_fork(const struct cordon_context *cx, const char *run, const char *new_run, char *ret_run,
              struct err *e);
/* The same for the overlay of a box that runs, by its whole id: a copy of what is found there meanwhile. */
int work_fork_running(const struct cordon_context *cx, const char *run, const char *new_run, struct err *e);
