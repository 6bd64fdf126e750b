/* SPDX-License-Identifier: MIT */
/* policy/learn/learn.h - derives the least doors that let a command pass from the denials of a box, and the
 * doors of a policy that a command needs.
 *
 * Pure: no system call, clock or log. The caller passes the function that runs a command in a box, so all
 * of it is tested on tables. Walls stay on in every run: the input is what a box was denied. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        LEARN_RUNS_MAX = 64,
        LEARN_ROUNDS_MAX = 40,
        LEARN_BOXES_MAX = 400,
        LEARN_ITEMS_MAX = 20000,
        LEARN_STREAMS = 2,
        LEARN_LINES_MAX = 1024
};

enum { LEARN_PATH_MAX = 4096 };
enum learn_look { LEARN_NOTHING = 0, LEARN_FILE, LEARN_DIRECTORY, LEARN_SOCKET, LEARN_DEVICE };

/* One thing a program in a box tried and was denied. */
struct learn_access {
        enum effect_kind kind;
        const char *path; /* READ WRITE RUN: absolute; NET: "https://host/path", "host:port", or a name alone;
                           * CALL: words */
        const char *method;  /* NET, or NULL */
        const char *program; /* the program that tried, or "" */
        bool on_host;        /* READ WRITE RUN: it exists outside */
        bool internet;       /* CALL: a socket of the internet families */
        bool listed; /* READ: a directory that was opened in a place where the way to a door can be listed
                        without a door */
        bool agreed; /* NET: the user agreed to it, or nothing leaves: a line may lead there */
        const char *with; /* NET: the credential whose dummy it carried, or NULL */
};

struct learn_context {
        const char *work, *home; /* absolute */
        const char *name;        /* of the box: letters, digits, `-`, `_` */
        const char *command;     /* the command line, for the head of the text */
        const char *entry;       /* the program it starts, resolved: "/usr/bin/python3.11" */
        unsigned runs;           /* how many are asked for, 1..LEARN_RUNS_MAX */
        int64_t now;             /* unix seconds, for `until` */
        bool blind; /* a miss below {work} is not reported: it is opened, then narrowed to what was used */
        bool gpu;   /* the runs have the `gpu` door from the start */
        bool edits, nets; /* such doors can be enforced: they are replayed, not only proposed */
        /* The file type at a path of the host. */
        enum learn_look (*look)(void *ctx, const char *path);
        /* Resolves the symlinks of a path. Returns false if that is not possible. */
        bool (*real)(void *ctx, const char *path, char ret[LEARN_PATH_MAX]);
        /* Reports the entries at or below a directory of the host that are never learned by their names,
         * relative to it and in order. Returns false if memory runs out. NULL: unknown. */
        bool (*secrets)(void *ctx, const char *dir, void (*each)(void *to, const char *below), void *to);
        /* Does this file begin as a private key does? NULL: not known. */
        bool (*holds_key)(void *ctx, const char *path);
        /* Did the user agree that this path, which lies below {home}, is learned? NULL: to none. */
        bool (*agreed)(void *ctx, const char *path);
        void *look_ctx;
        /* The place that contains a URL, as "@name/rest"; false: none. NULL: no places are defined. */
        bool (*place)(void *ctx, const char *url, struct buf *ret);
        void *place_ctx;
};

/* ---- never learned ---- */
/* Why an access is never learned: keys, tokens, metadata, a private network ...; REASON_NONE: it may be
 * learned. */
enum effect_reason learn_is_sensitive(const struct learn_access *a);

/* ---- what was seen ---- */
struct learn;
struct learn *learn_new(const struct learn_context *c);
void learn_free(struct learn *l);
/* Copies it. Returns true if this run had not seen it yet and it may change the draft. */
bool learn_add(struct learn *l, const struct learn_access *a, unsigned run);

/* ---- a draft: lines that can be closed one by one ---- */
struct learn_line {
        const char *text;    /* without newline and comment: `read {work}/in.csv` */
        const char *comment; /* the comment after it; "" */
        bool door;           /* may be closed; else it is kept as it is */
        bool closed;         /* tried without, and not needed */
        bool keep;           /* a door that is not to be tried without */
        unsigned seen;       /* in how many runs */
};
struct learn_draft {
        struct arena mem; /* the texts */
        struct learn_line *v;
        size_t n, cap;
        bool failed; /* no memory */
};
void learn_draft_done(struct learn_draft *d);
/* The lines from the accesses of the runs in `mask` (bit i: run i). */
void learn_draft(const struct learn *l, uint64_t mask, struct learn_draft *ret_draft);
/* Cuts a policy's text into lines with one door each; other lines stay as they are. Returns -1 if it is
 * JSON. */
int learn_split(struct span text, struct learn_draft *ret_draft, struct err *e);
/* The policy text. With `bare`, without comments and closed lines: the form that is run. */
void learn_print(const struct learn_draft *d, bool bare, struct buf *out);
/* Doors that are open. */
size_t learn_doors(const struct learn_draft *d);

/* ---- runs ---- */
#define LEARN_LINE_DIFFERS UINT64_MAX
struct learn_printed {                        /* zero: nothing; printed.c */
        uint64_t line[LEARN_LINES_MAX], open; /* hashes; those of more lines are not kept */
        size_t count;
        bool differs; /* two runs printed other numbers of lines */
};
void learn_printed_add(struct learn_printed *p, const void *data, size_t len);
void learn_printed_end(struct learn_printed *p);
/* Leaves the lines that another run printed, too. */
void learn_printed_common(struct learn_printed *p, const struct learn_printed *again);
bool learn_printed_fits(const struct learn_printed *p, const struct learn_printed *now);

struct learn_outcome {
        bool started;                      /* the policy loaded and a box ran */
        int status;                        /* as a shell would see it */
        uint8_t digest[LEARN_STREAMS][32]; /* digests of its standard output and standard error */
        struct learn_printed printed[LEARN_STREAMS];
        char why[640]; /* not started: the reason, and a hint */
        bool again;    /* another round will find more, whatever the draft contains */
};
struct learn_runner {
        /* Runs the command once with this policy and reports denials to `l` (NULL: no reports). Returns 0,
         * or -1 with *e set if no command can be run at all. */
        int (*run)(void *ctx, const char *policy, struct learn *l, unsigned run, struct learn_outcome *ret,
                   struct err *e);
        /* Says what is tried next; or NULL. */
        void (*tell)(void *ctx, const char *trying);
        /* Once the command has passed with all doors of the draft: which are not to be tried without
         * (`keep`)? NULL: all may be. */
        void (*spare)(void *ctx, struct learn_draft *d);
        void *ctx;
        int want;        /* the status that counts as passed */
        unsigned boxes;  /* counted here */
        unsigned budget; /* the maximum; 0: LEARN_BOXES_MAX */
};

struct learn_result {
        struct learn_draft draft;
        bool passed;   /* the draft was replayed and the command passed under it */
        bool complete; /* the budget sufficed: no door is left that was not tried */
        unsigned runs_passed, rounds;
        struct learn_outcome last;
};
/* Widens run by run until the command passes and nothing new is denied, folds, closes doors that are not
 * needed, replays. Returns 0 with a result, passed or not; -1 with *e set if no command could be run. */
int learn_widen(struct learn *l, struct learn_runner *r, struct learn_result *ret, struct err *e);
/* Closes the doors of `d` that the command does not need: it must exit as with all of them and print the
 * same on standard output; also on standard error, if that is the same in each run. */
int learn_tighten(struct learn_draft *d, struct learn_runner *r, unsigned runs, struct learn_result *ret,
                  struct err *e);

/* The known uses of doors by past runs under a policy. */
struct learn_evidence {
        const char *const *lines; /* doors for files and programs, as policy_door_line() has them */
        size_t line_count;
        const char *const *dests; /* "host:port" */
        size_t dest_count;
        unsigned runs;     /* all of them have records of net doors */
        unsigned observed; /* the subset that also has records of files and programs */
        unsigned need;     /* fewer prove nothing */
        struct policy_context at;
};
/* Zero: uses of such doors are never recorded (`env`, `sock`, handles, places). */
enum learn_use { LEARN_NOT_JUDGED = 0, LEARN_UNKNOWN, LEARN_USED, LEARN_UNUSED, LEARN_USE__COUNT };
/* A line with all its doors: used when one of them is, unused when all are. */
enum learn_use learn_line_use(const char *line, const struct learn_evidence *ev);
/* Closes doors that none of the runs used. Doors without records stay. */
void learn_close_unused(struct learn_draft *d, const struct learn_evidence *ev);
/* Does the command pass with the draft as it is, `runs` times? */
int learn_replay(struct learn_draft *d, struct learn_runner *r, unsigned runs, struct learn_result *ret,
                 struct err *e);

/* ---- how well a box fits what runs in it (fit.c, fit_text.c) ---- */
enum learn_verdict {
        LEARN_TOO_FEW = 0, /* no claim is made */
        LEARN_FITS,
        LEARN_BROAD,
        LEARN_NARROW,
        LEARN_BOTH,
        LEARN_VERDICT__COUNT
};
const char *learn_verdict_name(enum learn_verdict v);
enum learn_threshold {
        LEARN_NEED_RUNS = 0,
        LEARN_RECURS,
        LEARN_UNUSED_DOORS,
        LEARN_WINDOW,
        LEARN_THRESHOLD__COUNT
};
struct learn_threshold_row {
        const char *name;
        unsigned value;
        const char *help;
};
const struct learn_threshold_row *learn_threshold(enum learn_threshold t);

struct learn_door_use {
        const char *line;
        enum learn_use use;
};
struct learn_refusal {
        const char *what, *program;
        const char *line; /* the smallest that permits it; "": none is known */
        enum effect_reason
                never; /* why it is never proposed, as of learn_is_sensitive(); REASON_NONE: it may be */
        bool setting;  /* a system file that programs do without: reported of failed runs only */
        unsigned passed, failed; /* in how many runs of each kind */
        bool recurs;             /* judged: the box is too narrow by it */
};
/* A door with `until`, or `run any`. */
struct learn_widened {
        const char *line;  /* without its `until` */
        char until[32];    /* "": none */
        int64_t days_left; /* -1: no end; 0: today is its last, or it is over */
        bool expired;
        unsigned days, runs; /* the number of days and of runs in which it was open */
        unsigned days_used;
        bool use_known; /* of some run it is recorded whether it was used */
};
struct learn_fit {
        const char *box, *policy;        /* name and digest */
        const char *file;                /* the policy, for what to type next; "": not known */
        unsigned runs, failed, observed; /* observed: of those that passed, the ones with records of files */
        unsigned failed_refused;         /* not judged: failed, and denied something that matters */
        unsigned days;                   /* on which they ran */
        const struct learn_door_use *doors;
        size_t door_count;
        /* Without the policy's lines: how many doors for files and programs it has, and how many were used.
         */
        bool counted;
        unsigned doors_counted, used_counted;
        struct learn_refusal *refusals;
        size_t refusal_count;
        const struct learn_widened *widened;
        size_t widened_count;
        /* judged */
        enum learn_verdict verdict;
        unsigned used, unused, unknown, not_judged;
};
/* Computes the judgement. */
void learn_fit_judge(struct learn_fit *f);
void learn_fit_text(const struct learn_fit *f, struct buf *out);
void learn_fit_json(const struct learn_fit *f, struct buf *out);
void learn_widened_text(const struct learn_widened *w, struct buf *out); /* one line, indented */

/* ---- which layer fails (layers.c, layers_text.c): one symptom of each is reported, and one layer first ----
 */
enum learn_layer {
        LAYER_OF_ISOLATION = 0,
        LAYER_OF_RESOURCE,
        LAYER_OF_POLICY,
        LAYER_OF_CREDENTIALS,
        LAYER_OF_APPROVAL,
        LAYER_OF_OUTPUT,
        LAYER_OF_TENANT,
        LAYER_OF_OBSERVABILITY,
        LEARN_LAYER__COUNT
};
const char *learn_layer_name(enum learn_layer l);
enum learn_fact { /* counts of a window of time; those of runs are runs that had it */
                  FACT_RUNS = 0,
                  FACT_RUNS_FAILED,
                  FACT_TRIPPED,
                  FACT_NOT_STARTED,
                  FACT_WEAK,
                  FACT_CAPPED,
                  FACT_NO_GROUPS,
                  FACT_FAILED_DENIED, /* failed, and something that counts was denied */
                  FACT_DENIED_NET,    /* the same, by the network's doors */
                  FACT_UNUSED_DOORS,  /* percent, of runs that were observed in full */
                  FACT_DENIED_CREDENTIAL,
                  FACT_EXPIRED_CREDENTIALS,
                  FACT_LONG_CREDENTIALS,
                  FACT_GROWN_CREDENTIALS,
                  FACT_UNBOUND_CREDENTIALS,
                  FACT_ASKED,
                  FACT_UNANSWERED,
                  FACT_INCIDENTS,
                  FACT_TIRED, /* persons under a measure against fatigue */
                  FACT_STALE_GATES,
                  FACT_OUTPUT_REFUSED,
                  FACT_OUTPUT_CUT,
                  FACT_OUTPUT_FOUND,
                  FACT_OPEN_STATE, /* files of the state that others may read, or own */
                  FACT_ALTERED,    /* findings of `cordon ledger verify` */
                  FACT_UNREADABLE, /* the ledger cannot be read */
                  FACT_UNFINISHED, /* runs without an end that no keeper answers for */
                  FACT_UNKNOWN,    /* with an effect whose outcome is unknown */
                  FACT_UNEXPLAINED,
                  FACT_GAPS,
                  LEARN_FACT__COUNT
};
enum { LEARN_EXAMPLE = 96 };
struct learn_facts {
        int64_t n[LEARN_FACT__COUNT];
        char example[LEARN_FACT__COUNT][LEARN_EXAMPLE]; /* a run, file or name that has it; "": none */
};
/* How bad: a broken invariant, a rate over its threshold, or something that will fail later. */
enum learn_state { LEARN_WELL = 0, LEARN_DEBT, LEARN_FAILING, LEARN_BROKEN, LEARN_STATE__COUNT };
const char *learn_state_name(enum learn_state s);
struct learn_symptom {
        enum learn_layer layer;
        enum learn_fact fact, of; /* the value is a percentage of `of`; the same twice: a count */
        unsigned threshold;
        enum learn_state state;  /* at the threshold */
        const char *what, *next; /* {} in `next`: the example */
};
struct learn_finding {
        const struct learn_symptom
                *symptom; /* the worst of its layer; of a layer that is well, the nearest */
        enum learn_state state;
        int64_t value; /* a count or a percentage */
};
/* One finding for each layer, the worst layer first: by state, then by how far over the threshold, then in a
 * fixed order. Pure. */
void learn_layers(const struct learn_facts *f, struct learn_finding ret[LEARN_LAYER__COUNT]);
void learn_layers_text(const struct learn_facts *f, struct buf *out);
void learn_layers_json(const struct learn_facts *f, struct buf *out);

/* ---- denied for good ---- */
/* One per line: kind, target, program; "" if empty. */
/* Was something denied for this reason? */
bool learn_refused_for(const struct learn *l, enum effect_reason why);
void learn_refused(const struct learn *l, bool json, struct buf *out);

/* ---- dummy credentials ---- */
enum { LEARN_DUMMY_MAX = 128 };
/* A value that a program accepts as the credential of this name or variable: right prefix, length and
 * letters, made of `seed` alone. `which` 0 and 1 give two of equal length that differ. */
void learn_dummy(const char *name, const uint8_t seed[32], unsigned which, char ret[LEARN_DUMMY_MAX]);

/* ---- advice for stock tasks ---- */
struct learn_task {
        const char *name;     /* "resize-image" */
        const char *title;    /* "resize an image" */
        const char *words;    /* other words people use, separated by spaces */
        const char *tool;     /* the program it needs, or "" */
        const char *doors;    /* the policy, line by line */
        const char *command;  /* the command that runs the task under it */
        const char *stripped; /* what a usual run has and this one lacks */
};
const struct learn_task *learn_tasks(size_t *ret_count);
/* The task that matches the words best; NULL: none. */
const struct learn_task *learn_task_find(const char *words);
