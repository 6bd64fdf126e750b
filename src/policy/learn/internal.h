/* SPDX-License-Identifier: MIT */
/* policy/learn/internal.h - shared by the files of this folder. Not included from other folders. */
#pragma once
#include "base/arena.h"
#include "base/limits.h"
#include "base/vec.h"
#include "policy/learn/learn.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct item { /* one access, with the runs that made it */
        struct learn_access a;
        uint64_t runs;
        enum effect_reason sensitive; /* never learned, and the reason */
        bool odd;                     /* its name has bytes that no line can hold */
        bool narrowed;                /* a directory: showing its entries was enough */
        bool behind; /* sensitive only because of the target of its symlinks: in a directory that is shown the
                        link is dangling */
};
struct learn {
        struct arena mem;
        struct learn_context c;
        struct item *v;
        size_t n, cap;
        bool failed; /* memory ran out for an access: no draft is complete */
};

/* ---- collect.c ---- */
bool learn_has_odd_bytes(const char *path); /* no line can name it */

/* ---- path_fold.c: many paths to few ---- */
struct node {
        char *path;
        uint64_t runs;
        bool directory;
};
struct nodes {
        struct arena mem;
        struct node *v;
        size_t n, cap;
        bool failed;
        const char *shut[64]; /* directories that hold a secret: they never replace their entries */
        size_t shut_count;
};
void nodes_add(struct nodes *s, const char *path, uint64_t runs, bool directory);
bool nodes_done(struct nodes *s); /* true: memory ran out for some of them */
/* Three paths in one directory, or a directory that was listed, become the directory; paths below another
 * are dropped. */
void fold_nodes(const struct learn_context *c, struct nodes *s);
bool fold_inside(const char *dir, const char *path); /* equal or below */
char *fold_parent(struct arena *mem, const char *path);
/* May a door open all of this directory? */
bool fold_may_open(const struct learn_context *c, const char *dir);

/* ---- groups.c: which stock policy a path belongs to ---- */
const char *group_of_path(const char *path);
const char *group_of_program(const char *path); /* by its name: python3.11 */
bool group_is_system(const char *path);         /* a program file of the host */
const char *
group_bare_name(const char *path); /* "sort" for /usr/bin/sort; NULL: not in a directory of programs */

/* ---- draft_lines.c ---- */
struct learn_line *line_add(struct learn_draft *d, bool door, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
void line_comment(struct learn_draft *d, struct learn_line *l, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* How often it was seen, as a comment, and `until` if that was once. */
void line_seen(const struct learn *l, uint64_t mask, struct learn_draft *d, struct learn_line *line,
               uint64_t runs);
/* A path as a line writes it: {work}, {home}, quoted if necessary. */
void line_path(const struct learn_context *c, const char *path, struct buf *out);

/* ---- tighten.c: does the command still pass? ---- */
struct trial {
        struct learn_draft *d;
        struct learn_runner *r;
        struct learn_outcome base;
        bool prints_same[LEARN_STREAMS]; /* two runs printed the same: then every run must, else the lines
                                            that they share */
        bool exhausted;                  /* no runs left */
        struct err *e;
        int result; /* -1: no further command can be run */
};
void runner_tell(const struct learn_runner *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Unchanged, twice: does it pass, and does it print the same? */
bool trial_base(struct trial *t);
bool trial_passes(struct trial *t);
/* Closes every door that it can, and proves the rest. */
void trial_close(struct trial *t, unsigned runs, struct learn_result *ret);

/* ---- net_draft.c ---- */
void net_lines(const struct learn *l, uint64_t mask, struct learn_draft *d);
enum effect_reason net_sensitive(const char *dest);
/* Why this destination is not learned, also given the other ones: "tunnel", "network" ...; NULL: it is. */
enum effect_reason net_reason(const struct learn *l, const struct item *it);
/* Merges reports: a name and then a connection to it; a connection and then the request on it. */
bool net_is_told_better(const struct learn *l, const struct item *it);
/* Does it lead to this host? */
bool net_has_host(const struct item *it, const char *host);
/* "GET https://host/path", "host:port": the form of an `expect` line. Returns false if no line can hold
 * it. */
bool net_effect(const struct item *it, struct buf *out);

static inline unsigned bits(uint64_t m) { return (unsigned) __builtin_popcountll(m); }
