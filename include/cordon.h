/* SPDX-License-Identifier: MIT */
/* cordon.h - libcordon: run code nobody trusts in a box with no doors but the ones you name.
 *
 *     cordon_error e;
 *     cordon_context *cx = cordon_context_new(environ);
 *     cordon_policy *p = cordon_policy_new(cx);
 *     cordon_policy_add(p, "read", "./input", &e);
 *     cordon_policy_add(p, "limit", "time 5s memory 256M", &e);
 *     cordon_box *b = cordon_box_new(p);
 *     const char *argv[] = { "python3", "parse.py", NULL };
 *     cordon_box_command(b, argv);
 *     if (cordon_box_start(b, &e) == 0)
 *             while (cordon_box_wait(b, -1) == 0)
 *                     ;
 *     printf("%s\n", cordon_box_result(b)->end == CORDON_EXITED ? "ended by itself" : "did not");
 *
 * Functions that can fail return 0 or -1 (or NULL) and fill the error, whose `what` is one sentence and whose
 * `hint` is the next thing to do. What a function fills, the error too, is the caller's and never NULL.
 * Strings returned as char * are the caller's: free them with cordon_free(). A box belongs to one thread at a
 * time, and the policy it was made with to the same one: its start is what checks it. Different boxes, with
 * policies of their own, may live in different threads. C99 and C++ clean.
 */
#ifndef CORDON_H
#define CORDON_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CORDON_API __attribute__((visibility("default")))
#else
#define CORDON_API
#endif

#define CORDON_ABI 1

typedef struct cordon_context cordon_context;
typedef struct cordon_policy cordon_policy;
typedef struct cordon_box cordon_box;

typedef struct cordon_error {
        uint16_t code; /* stable; cordon_error_name() */
        uint16_t step; /* wall step that failed, or 0 */
        int32_t sys;   /* errno, or 0 */
        char what[376];
        char hint[248];
} cordon_error;

/* ---- the caller's surroundings ---- */

/* The environment variables of the caller ("NAME=VALUE", NULL-terminated; borrowed until the context is
 * freed): HOME, PATH, XDG_*, CORDON_* and those that `env` doors name. libcordon reads no others. Usually
 * `environ`. */
CORDON_API cordon_context *cordon_context_new(char *const *environment);
CORDON_API void cordon_context_free(cordon_context *cx); /* after all that was made with it */

/* ---- policies ---- */

CORDON_API cordon_policy *cordon_policy_new(const cordon_context *cx);
CORDON_API void cordon_policy_free(cordon_policy *p);
/* One door line: the word and what follows it. */
CORDON_API int cordon_policy_add(cordon_policy *p, const char *word, const char *arg, cordon_error *e);
CORDON_API int cordon_policy_add_text(cordon_policy *p, const char *name, const char *text, size_t len,
                                      cordon_error *e);
CORDON_API int cordon_policy_add_file(cordon_policy *p, const char *path, cordon_error *e);
/* Read doors to exactly these absolute paths (NULL-terminated), as they are: nothing in a name is a mark or a
 * pattern. What a door covers already is left out. Keys, tokens, agents and the like are refused, also behind
 * links; then no door is added. */
CORDON_API int cordon_policy_show(cordon_policy *p, const char *const *paths, cordon_error *e);
/* Is this a word of the language? */
CORDON_API int cordon_policy_is_word(const char *word);
/* Resolves roots and `use` lines and holds the policy to its own `expect` lines. Views and starts do it by
 * themselves. */
CORDON_API int cordon_policy_check(cordon_policy *p, cordon_error *e);
/* What a run did on the network, as the ledger has it, held against this policy: what would be refused now,
 * and what was refused and would pass. Nothing is run. */
CORDON_API char *cordon_policy_against(cordon_policy *p, const char *run, int json, int *ret_refused,
                                       cordon_error *e);
/* Finds a bare command name that the caller's PATH has where no box looks (~/.local/bin, /opt/x/bin), and
 * adds read doors for its directory and what belongs to it, and that directory to the box's PATH; likewise
 * for the commands in the text of `sh -c`, and what a command with a slash is a link to. Never for a
 * policy from a file, nor where keys lie. 1: *ret_path is the command; 0: the command is as it was.
 * *ret_shown is what was opened, "" or NULL if nothing; the caller frees both. -1: e is set. */
CORDON_API int cordon_policy_find(cordon_policy *p, const char *const *argv, char **ret_path,
                                  char **ret_shown, cordon_error *e);
/* Which way a handle of the policy goes: 1 in, 2 out, 0 no such handle, -1 the policy does not hold. */
CORDON_API int cordon_policy_handle(cordon_policy *p, const char *name, cordon_error *e);
/* What {work} and {home} mean; the working directory and $HOME when not set. */
CORDON_API int cordon_policy_roots(cordon_policy *p, const char *work, const char *home, cordon_error *e);
/* Where @name leads, for the views of the policy, cordon_policy_why() and cordon_policy_against(): a places
 * file, or NULL, and "live" (NULL), "test" or "mock". Boxes have their own (CORDON_PLACES, CORDON_STAGE). */
CORDON_API int cordon_policy_places(cordon_policy *p, const char *file, const char *stage, cordon_error *e);

typedef enum cordon_view {
        CORDON_VIEW_DOORS, /* every door in words, and the worst case */
        CORDON_VIEW_DOORS_JSON,
        CORDON_VIEW_LINES,     /* door lines that mean the same */
        CORDON_VIEW_JSON,      /* the JSON form */
        CORDON_VIEW_CANONICAL, /* what the digest is made of */
        CORDON_VIEW_DIGEST,
        CORDON_VIEW_NOTES, /* lints, one a line; also what the vault and this host have to say */
        CORDON_VIEW_NOTES_JSON,
        CORDON_VIEW_DOORS_ALL /* CORDON_VIEW_DOORS, each path of the stock policies named */
} cordon_view;
CORDON_API char *cordon_policy_view(cordon_policy *p, cordon_view view, cordon_error *e);
/* One lint of the policy itself. */
typedef struct cordon_note {
        const char *code;      /* "W131": stable, listed in cordon-errors(7) */
        char level;            /* 'W'; a policy with an 'E' does not hold */
        const char *file;      /* or the flag that the line came from, */
        unsigned line, column; /* and line is 0 */
        const char *text;
} cordon_note;
/* 1; 0: there is no such index; -1: the policy does not hold. Valid until a line is added or the policy
 * freed. */
CORDON_API int cordon_policy_note(cordon_policy *p, size_t index, cordon_note *ret, cordon_error *e);
/* "read PATH", "net GET https://host/path", "run sh" ...: the decision in words or JSON. *ret_allowed is 1 or
 * 0. */
CORDON_API char *cordon_policy_why(cordon_policy *p, const char *effect, int json, int *ret_allowed,
                                   cordon_error *e);
/* *ret_order: 0 equal, 1 b is wider, 2 b is narrower, 3 crossing. The text lists what differs. */
CORDON_API char *cordon_policy_diff(cordon_policy *a, cordon_policy *b, int *ret_order, cordon_error *e);
/* The text of a stock policy ("base/python3"), or NULL; names by index until NULL. */
CORDON_API const char *cordon_stock_text(const char *name);
CORDON_API const char *cordon_stock_name(size_t index);
/* The words of the language with synopsis and help, by index; 0 when there is no such index. */
/* The limits and what each is where nothing is said: "time", "1h". 1; 0: there is no such index. */
CORDON_API int cordon_limit_help(size_t index, const char **name, char ret_default[32]);
CORDON_API int cordon_word_help(size_t index, const char **word, const char **synopsis, const char **help);

/* ---- boxes ---- */

/* Borrows the policy until cordon_box_free(). */
CORDON_API cordon_box *cordon_box_new(cordon_policy *p);
/* A box that is not over is killed first, and its end waited for. */
CORDON_API void cordon_box_free(cordon_box *b);
/* NULL-terminated; copied. */
CORDON_API int cordon_box_command(cordon_box *b, const char *const *argv);

typedef enum cordon_option {
        CORDON_NAME,           /* a name for `cordon ps`: of one running box */
        CORDON_CWD,            /* directory to start in, absolute, as the box sees it */
        CORDON_CWD_MADE,       /* "1": an empty directory stands where no door shows the caller's */
        CORDON_TERM,           /* TERM inside; only with a terminal */
        CORDON_TTY,            /* "1": a terminal of the box's own */
        CORDON_ROOT_INSIDE,    /* "1": uid 0 inside (still nobody outside) */
        CORDON_REQUIRE_GROUPS, /* "1": refuse to start where control groups cannot keep the limits */
        CORDON_OBSERVE,        /* what is told of refusals: "off", "calls", "denials" (the default), "all" */
        CORDON_SINGLE_THREAD, /* "1": this program has one thread; the box then also dies with it by signal */
        CORDON_LEDGER,        /* "on" (the default), "off", or "require": no start that cannot be recorded */
        CORDON_IN_FROM,       /* a run that led to this one; ID@CLOCK of a record of another host */
        CORDON_WORK_KEEP,     /* "1": keep the overlay of edit doors although nothing changed */
        CORDON_WORK_ON,       /* go on in the overlay of this run */
        CORDON_STAGE,         /* "live" (the default), "test" or "mock": where places lead */
        CORDON_PLACES,        /* a places file: where @name leads in each stage */
        CORDON_ANSWERS,       /* a file of recorded exchanges, for the stage mock */
        CORDON_RECORD,        /* record exchanges into this file, which must not be there yet */
        CORDON_KEEP_OUTPUT,   /* "1": output that goes nowhere is kept for cordon_logs() after the end */
        CORDON_PASSPHRASE_FD  /* the number of a descriptor with the vault's passphrase; else a terminal is
                                 asked */
} cordon_option;
CORDON_API int cordon_box_set(cordon_box *b, cordon_option option, const char *value);
/* stream 0: read the payload's input from fd; 1, 2: write its output to fd. -1 (the default): empty input,
 * output to the callback. The descriptors stay yours and never enter the box. */
CORDON_API void cordon_box_stdio(cordon_box *b, int stream, int fd);
CORDON_API void cordon_box_on_output(cordon_box *b,
                                     void (*fn)(void *ctx, int stream, const void *data, size_t len),
                                     void *ctx);
/* What an `in` or `out` handle of the policy is connected to. */
CORDON_API int cordon_box_handle(cordon_box *b, const char *name, int fd);

/* Raises the walls, probes them from inside, starts the payload. On failure nothing is left behind. */
CORDON_API int cordon_box_start(cordon_box *b, cordon_error *e);
/* Drives the box for up to timeout_ms (-1: until something happens). 1: it is over; 0: not yet; -1: not
 * started. */
CORDON_API int cordon_box_wait(cordon_box *b, int timeout_ms);

/* Many boxes in one thread. None of these four waits for another process.
 *
 * Begins a start and returns before the walls are up. 0; -1: it failed already, and nothing is left behind. A
 * start that fails later ends the box with CORDON_FAILED. */
CORDON_API int cordon_box_start_async(cordon_box *b, cordon_error *e);
/* Does what there is to do. 1: the box is over; 0: not yet; -1: not started. */
CORDON_API int cordon_box_step(cordon_box *b);
/* A descriptor that is readable (poll(), epoll) when cordon_box_step() has something to do. It stays the same
 * and is closed by cordon_box_free(). -1: no descriptor can be had. */
CORDON_API int cordon_box_fd(cordon_box *b);
/* Milliseconds after which cordon_box_step() has to be called although the descriptor was not readable; -1:
 * no need. Ask again after each call for this box. */
CORDON_API int cordon_box_next_ms(cordon_box *b);
/* 1: the walls are up, and the payload was started. */
CORDON_API int cordon_box_is_up(const cordon_box *b);

CORDON_API void cordon_box_signal(cordon_box *b, int signal); /* async-signal-safe */
/* The size of the box's terminal; before the start, its first size. */
CORDON_API void cordon_box_resize(cordon_box *b, unsigned rows, unsigned columns);
CORDON_API void cordon_box_kill(cordon_box *b);
CORDON_API const char *cordon_box_run_id(const cordon_box *b);

/* ---- a policy that is tried by a share of the runs ---- */

typedef struct cordon_canary cordon_canary;
/* Reads the file. NULL: it does not load. */
CORDON_API cordon_canary *cordon_canary_new(const cordon_context *cx, const char *file, cordon_error *e);
/* Its policy: doors of the command line are added here too, and a box that tries it is made with it. */
CORDON_API cordon_policy *cordon_canary_policy(cordon_canary *c);
/* 1: this run tries it; then cordon_canary_end() must follow, in the process that waits for the box. 0: the
 * usual policy. `share` is in percent; once `bound` runs went badly, nobody tries this file until it changes.
 */
CORDON_API int cordon_canary_pick(cordon_canary *c, cordon_policy *usual, unsigned share, unsigned bound);
/* 1: it went badly: something was refused that the usual policy permits, or the run did not end with 0. */
CORDON_API int cordon_canary_end(cordon_canary *c, cordon_box *b);
/* One sentence on what was found out, or "". */
CORDON_API const char *cordon_canary_says(const cordon_canary *c);
CORDON_API void cordon_canary_free(cordon_canary *c); /* the box first */

typedef enum cordon_end {
        CORDON_RUNNING,
        CORDON_FAILED,
        CORDON_NOT_STARTED,
        CORDON_EXITED,
        CORDON_SIGNALED,
        CORDON_LIMIT
} cordon_end;
typedef struct cordon_denial {
        const char *what, *layer, *program;
        const char *permit; /* the line that would permit it, or "" */
        uint32_t count;
        /* Stable, what kind of effect was refused: "read", "write", "run", "net", "sock", "call", "limit",
         * "credential". */
        const char *code;
        const char *path;   /* what it was tried on, as the box named it, absolute; "" for other calls */
        int on_host;        /* that path exists outside: 1; 0: the box made it; -1: not a path */
        const char *reason; /* stable: "no-door", "read-only", "keys", "home", "own-program" ... */
        int minor; /* 1: a setting of the system that programs do without; 2: one that they always look for */
        const char *why;      /* the reason in words: to be shown, not to be compared */
        const char *argument; /* of `permit`, as the command line takes it: --WORD ARGUMENT; or "" */
        const char *method;   /* "net" and "credential": of a request, or ""; else "" */
} cordon_denial;
typedef struct cordon_result {
        cordon_end end;
        int code;               /* exit status or signal number */
        const char *limits_hit; /* every limit that said no, separated by spaces; "" */
        const char *limit;      /* the limit that ended it, or "" */
        const char *wall;       /* "namespace" or "process" */
        int attested;           /* the probe from inside found the walls up */
        int groups;             /* control groups kept memory and processes; 0: rlimits and sampling */
        int output_truncated;
        uint64_t wall_ns, cpu_ns, start_ns, memory_peak, output_bytes;
        const cordon_denial *denials;
        size_t denial_count;
        const char *const *absent; /* what was looked for and is not there outside either; NULL-terminated */
        const cordon_error *error; /* CORDON_FAILED and CORDON_NOT_STARTED; else NULL */
        const char *work;          /* the overlay that edit doors left, for cordon_work_*(); or "" */
        size_t work_entries, work_flagged;
        const cordon_error *work_error; /* the overlay is there, but could not be read; else NULL */
        size_t recorded,
                unrecorded;  /* CORDON_RECORD: exchanges in the file; and those too long or broken off */
        size_t denials_lost; /* at least so many refusals are not among the denials */
        int terminal_asked; /* the box asked your terminal something: answers may be under way on its input */
        int mid_line;       /* where standard error goes, the box left a line without its end */
        size_t left;        /* names in the private home, where the box worked: they are lost with it */
        const char *left_name; /* one of them, or "" */
        const char *ledger; /* "on", "off: WHY" where all of it or a part is not recorded; "" before it ran */
        const char *ledger_lost; /* why all of it or a part is not recorded although it was to be; else "" */
        int blind; /* paths that the box was refused were to be told, and this host lets nobody watch them */
        int away;  /* the caller's directory is not in the box, which worked in a private one */
} cordon_result;
/* One thing that the box did and nothing refused, each once: files opened, programs started. */
typedef struct cordon_effect {
        const char *code; /* "read", "write", "run" */
        const char *path, *program;
} cordon_effect;
/* With CORDON_OBSERVE "all". 1; 0: there is no such index. Valid until cordon_box_free(). */
CORDON_API size_t cordon_box_effect(cordon_box *b, size_t index, cordon_effect *ret);
/* One destination that a net door leads to and that was not reached: nothing refused it. */
typedef struct cordon_unreached {
        const char *to, *why;
        uint32_t count;
} cordon_unreached;
/* 1; 0: there is no such index. Valid until cordon_box_free(). */
CORDON_API size_t cordon_box_unreached(cordon_box *b, size_t index, cordon_unreached *ret);
/* Valid until cordon_box_free(). */
CORDON_API const cordon_result *cordon_box_result(cordon_box *b);
CORDON_API char *cordon_box_result_json(cordon_box *b); /* NULL: it was not started */
/* The steps that a start would take, without taking them. */
CORDON_API char *cordon_box_plan(cordon_box *b, cordon_error *e);
/* What a shell would see: the payload's own, 128+n, 124 for a limit, 125 for us, 126 and 127. */
CORDON_API int cordon_result_status(const cordon_result *r);

/* ---- overlays of edit doors: what a box changed, until a person lets it land ---- */

/* Gets a text in pieces; NULL: nobody wants it. */
typedef void (*cordon_sink)(void *ctx, const void *data, size_t len);
/* What is being done, and how far it is: called often. `total` 0: not known. */
typedef void (*cordon_progress)(void *ctx, const char *doing, size_t done, size_t total);
/* `run` everywhere: the run's id, a unique beginning of it, or the name of a box, whose newest layer is
 * meant; NULL: the newest overlay that waits, for cordon_work_undo() the one that was applied last, of those
 * with a door at, above or below the working directory. `paths`: NULL, or a NULL-terminated list: only these,
 * as cordon_work_diff() names them or absolute, and what lies below. */
typedef enum cordon_work_form {
        CORDON_WORK_TEXT, /* unified diffs; what the host would execute or trust comes first */
        CORDON_WORK_STAT,
        CORDON_WORK_NAMES,
        CORDON_WORK_JSON
} cordon_work_form;
typedef struct cordon_work_diff_options {
        const char *run;
        cordon_work_form form;
        int colour;
        int verbose; /* nothing is summed up; else large directories that are new or gone are one line each */
        const char *const *paths;
        const char *const
                *theirs; /* or NULL: of conflicts there, what the host has against what the box left */
        cordon_sink out;
        void *out_ctx;
        cordon_progress progress; /* or NULL */
        void *progress_ctx;
} cordon_work_diff_options;
CORDON_API int cordon_work_diff(const cordon_context *cx, const cordon_work_diff_options *o,
                                size_t *ret_entries, cordon_error *e);
CORDON_API int cordon_work_list(const cordon_context *cx, int json, cordon_sink out, void *ctx,
                                cordon_error *e);

/* One change that reached the host. Digests are SHA-256 in hex; "" where there is no content. */
typedef struct cordon_work_effect {
        const char *run, *host;
        const void *path;
        size_t path_len;
        const char *before, *after;
} cordon_work_effect;
typedef struct cordon_work_apply_options {
        const char *run;
        const char *const *paths;
        const char *const *all_but; /* not these, nor what lies below; or NULL */
        int include_flagged;
        const char *const *flagged; /* also what is flagged as these kinds alone; or NULL */
        const char *to;             /* into this directory instead of the door's own */
        cordon_sink out;
        void *out_ctx;
        void (*effect)(void *ctx, const cordon_work_effect *effect);
        void *effect_ctx;
        int no_ledger; /* without a record; else an apply that cannot be recorded is refused */
        int json;      /* `out` gets one object with all that was done, also when it is refused or fails */
        /* What would land, as a patch that `git apply` takes; nothing is changed. Not with `to` or `json`. */
        cordon_sink patch;
        void *patch_ctx;
        cordon_progress progress; /* or NULL */
        void *progress_ctx;
} cordon_work_apply_options;
typedef struct cordon_work_undo_options {
        const char *run;
        int json; /* as for an apply */
        cordon_sink out;
        void *out_ctx;
        cordon_progress progress; /* or NULL */
        void *progress_ctx;
} cordon_work_undo_options;
typedef struct cordon_work_outcome {
        char run[64];
        size_t applied, held;
        size_t conflicts;   /* not 0: the host changed these too, and nothing was done */
        size_t closed;      /* of those held: in a directory of the host that is closed to the caller */
        char approval[128]; /* options of `cordon apply` for what is held back, each behind a space; or "" */
} cordon_work_outcome;
CORDON_API int cordon_work_apply(const cordon_context *cx, const cordon_work_apply_options *o,
                                 cordon_work_outcome *ret, cordon_error *e);
CORDON_API int cordon_work_undo(const cordon_context *cx, const cordon_work_undo_options *o,
                                cordon_work_outcome *ret, cordon_error *e);
/* 0: the overlay is gone. 1: it was applied in part, and what still waited is gone; cordon_work_undo() takes
 * the rest back, a second call removes it. `out`: for `json` alone. */
CORDON_API int cordon_work_discard(const cordon_context *cx, const char *run, int json, cordon_sink out,
                                   void *ctx, char ret_run[64], cordon_error *e);
/* The layer that a verb means by this name; NULL: without one. */
CORDON_API int cordon_work_find(const cordon_context *cx, const char *run, char ret_run[64], cordon_error *e);
CORDON_API int cordon_work_fork(const cordon_context *cx, const char *run, char ret_run[64], cordon_error *e);
/* ---- learning the least doors ---- */

typedef enum cordon_learn_net {
        CORDON_LEARN_NET_DENY, /* nothing leaves; what was asked for is told */
        CORDON_LEARN_NET_MOCK, /* nothing leaves; requests are answered from `answers` */
        CORDON_LEARN_NET_ASK   /* destinations of `net_to`, and those that `agree` says 1 to */
} cordon_learn_net;
typedef struct cordon_learning {
        const char *const *argv; /* the command, NULL-terminated */
        unsigned runs;           /* how often it is learned, or the proof repeated; 0: 3 */
        unsigned seconds;        /* each run at most; 0: 60 */
        unsigned boxes;          /* at most so many runs in all; 0: 400 */
        int status;              /* the exit status that counts as passed */
        int input;               /* -1, or a file that is its input, from the beginning each time */
        const char *name;        /* of the policy text, for messages */
        const char *policy;      /* cordon_tighten(): its text */
        size_t policy_len;
        cordon_learn_net net;
        const char *const *net_to; /* "host" or "host:port", NULL-terminated; or NULL */
        /* Asked once for each destination ("host:port") and what wants to go there first; 1: yes. */
        int (*agree)(void *ctx, const char *to, const char *what);
        void *agree_ctx;
        const char *stage;   /* with ASK: "live" (NULL) or "test" */
        const char *places;  /* a places file, or NULL */
        const char *answers; /* with MOCK: a file of recorded exchanges */
        /* Credentials, NULL-terminated, or NULL: the command gets a dummy of each. No real one is loaded. */
        const char *const *with;
        /* Dot paths below the home that may be learned, absolute, NULL-terminated; or NULL: none is. */
        const char *const *read;
        cordon_progress progress; /* before each box; or NULL */
        void *progress_ctx;
} cordon_learning;
typedef struct cordon_learned {
        int passed;   /* the command passed under `policy`, replayed */
        int complete; /* every door of it was tried without */
        unsigned runs, runs_passed, boxes;
        unsigned doors, doors_before; /* before: of what was learned, or of the policy that was given */
        char *policy;                 /* door lines */
        char *closed;                 /* cordon_tighten(): the lines that are not needed, one each; "" */
        char *refused;                /* what was tried and is never learned, one a line; "" */
        char *refused_json;
        char *last; /* why the last run did not pass, with the end of what it said; "" */
        unsigned past_runs, past_observed; /* cordon_tighten_log(): what it judged by */
        int replayed;                      /* `policy` was tried with the command */
        int refused_net, refused_dot;      /* among what was refused: the network; dot paths below the home */
        int unobserved; /* this host does not tell which hidden paths a box looked for: not all was seen */
} cordon_learned;
/* Runs the command in boxes, walls up, with the doors it has shown to need so far, until it passes and
 * nothing new is refused. Keys, tokens, agents, the kernel and the system's own files are never learned. */
CORDON_API int cordon_learn(const cordon_context *cx, const cordon_learning *o, cordon_learned *ret,
                            cordon_error *e);
/* Closes the doors of a policy that the command does not need. */
CORDON_API int cordon_tighten(const cordon_context *cx, const cordon_learning *o, cordon_learned *ret,
                              cordon_error *e);
/* Closes the doors that no past run used: from the ledger's records of runs under this very policy that ended
 * with `status`, at least `runs` of them. Net doors are known of every run, doors for files and programs of
 * runs with CORDON_OBSERVE "all", others of none. With argv, the result is replayed; without, it is not. */
CORDON_API int cordon_tighten_log(const cordon_context *cx, const cordon_learning *o, cordon_learned *ret,
                                  cordon_error *e);
CORDON_API void cordon_learned_done(cordon_learned *l);
/* How well boxes fit what ran in them, from the ledger. */
typedef struct cordon_diagnosis {
        const char *policy; /* its text; NULL: every policy, whose doors are then counted and not named */
        size_t policy_len;
        const char *name; /* of the policy, for what to type next */
        const char *box;  /* only boxes of this name; or NULL */
        int64_t since_us; /* runs that began later; 0: any */
        unsigned last;    /* the newest so many of each box; 0: 100 */
        int status;       /* the exit status that counts as passed */
} cordon_diagnosis;
/* Text or JSON. *ret_fit: 1 all fit, 0 one is too broad or too narrow, -1 there are not enough runs to tell.
 */
CORDON_API char *cordon_diagnose(const cordon_context *cx, const cordon_diagnosis *o, int json, int *ret_fit,
                                 cordon_error *e);
/* The doors that have an end, and wide ones, with the days that they were open and that are left; "": none.
 */
CORDON_API char *cordon_policy_widened(cordon_policy *p, cordon_error *e);
/* The policy for a task in words ("resize an image"), or NULL and the nearest in *e; names by index until
 * NULL. */
CORDON_API char *cordon_advise(const char *task, int json, cordon_error *e);
CORDON_API const char *cordon_advise_name(size_t index);

/* ---- running boxes of this user, and this host ---- */

CORDON_API int cordon_list(void (*each)(void *ctx, const char *json), void *ctx, cordon_error *e);
CORDON_API char *cordon_inspect(const char *which, cordon_error *e);
/* The newest output of a box whose output goes nowhere else, also when it is over and was kept. `follow`:
 * until it ends. */
CORDON_API int cordon_logs(const cordon_context *cx, const char *which, int follow, cordon_sink out,
                           void *ctx, cordon_error *e);
/* Signals the payload's process group; SIGKILL ends the box at once. */
CORDON_API int cordon_stop(const char *which, int signal, cordon_error *e);
/* What this host can enforce, per layer, tried now. *ret_ok: 1 when the namespace wall can be raised. */
CORDON_API char *cordon_doctor(const cordon_context *cx, int json, int *ret_ok);
/* What one layer costs: each is raised alone in processes that are thrown away, by the code of a real start.
 * A start does all of them at once, so their sum is more than it takes. */
typedef struct cordon_cost {
        const char *layer, *what; /* its name, and what was timed */
        int raised;               /* 0: this host or account cannot raise it; `why` says why */
        const char *why;
        double start_us;                    /* median */
        const char *call_of, *looked_at_of; /* which calls the next two are about; NULL: none */
        double call_ns, looked_at_ns;       /* added to one such call; median */
        int64_t bytes;  /* kernel memory charged to a control group that holds it; -1: cannot be told here */
        unsigned units; /* seccomp: instructions; landlock: rules; mount: steps of the file tree */
} cordon_cost;
CORDON_API int cordon_costs(cordon_policy *p, unsigned rounds, void (*each)(void *ctx, const cordon_cost *c),
                            void *ctx, cordon_error *e);
/* Removes control groups whose keeper was killed together with its janitor; returns how many. */
CORDON_API unsigned cordon_sweep(void);

/* ---- the ledger: what crossed, why, and proof ---- */

typedef struct cordon_log_filter { /* NULL: any */
        const char *box;           /* a box's name */
        const char *run;           /* a run id, or its beginning */
        const char *kind;          /* "file", "net", "start" ..., or a phase: "denied", "intent" ... */
        const char *target;        /* a part of the target */
        int64_t since_us;          /* microseconds since 1970 */
        uint64_t last;             /* only the newest so many, of those that are there at first; 0: all */
} cordon_log_filter;
/* Calls `each` with every record that matches, from record *cursor on (0: the first), as canonical JSON and
 * as a line for people; moves *cursor behind the last, for a caller that asks again. */
CORDON_API int cordon_log_each(const cordon_context *cx, const cordon_log_filter *f, uint64_t *cursor,
                               void (*each)(void *ctx, const char *json, const char *line), void *ctx,
                               cordon_error *e);
typedef enum cordon_log_view {
        CORDON_LOG_SHOW,       /* a run as a picture in the terminal */
        CORDON_LOG_FIELD,      /* every box's effects on one target */
        CORDON_LOG_FIELD_JSON, /* the records themselves, one a line */
        CORDON_LOG_REACHED,    /* whom effects reached; needs no argument */
        CORDON_LOG_REACHED_JSON,
        CORDON_LOG_PROOF,      /* of a record, by its id: what cordon_verify_proof() takes */
        CORDON_LOG_CHECKPOINT, /* the newest signed checkpoint; needs no argument */
        CORDON_LOG_KEYS,       /* the public keys, one a line; needs no argument */
        CORDON_LOG_HTML,       /* a run as one self-contained page */
        CORDON_LOG_POSTMORTEM, /* a run as the beginning of a report on an incident, in Markdown */
        CORDON_LOG_TILES       /* writes the sealed log into a directory, in the layout of C2SP tlog-tiles */
} cordon_log_view;
CORDON_API char *cordon_log(const cordon_context *cx, cordon_log_view view, const char *arg, cordon_error *e);
/* From a record to its causes and onward. */
CORDON_API char *cordon_trace(const cordon_context *cx, const char *id, int back, int forward, int json,
                              cordon_error *e);
/* Several ledgers read as one, in an order in which every cause stands before its effects, also where it is
 * in another's ledger; then by logical clock, wall clock, ledger and index. `dirs` are state directories, or
 * the ledgers in them; each is verified first, and each record is told with the name of its ledger's key. At
 * most 16. NULL: *e tells which and why. */
typedef struct cordon_ledgers cordon_ledgers;
CORDON_API cordon_ledgers *cordon_ledgers_open(const cordon_context *cx, const char *const *dirs,
                                               size_t count, cordon_error *e);
CORDON_API void cordon_ledgers_free(cordon_ledgers *l);
/* As cordon_log_each() does, once; the JSON is {"ledger":NAME,"record":RECORD}. */
CORDON_API int cordon_ledgers_each(const cordon_ledgers *l, const cordon_log_filter *f,
                                   void (*each)(void *ctx, const char *json, const char *line), void *ctx,
                                   cordon_error *e);
/* As cordon_log() does; what is one ledger's alone (proof, checkpoint, keys) is refused. */
CORDON_API char *cordon_ledgers_log(const cordon_ledgers *l, cordon_log_view view, const char *arg,
                                    cordon_error *e);
CORDON_API char *cordon_ledgers_trace(const cordon_ledgers *l, const char *id, int back, int forward,
                                      int json, cordon_error *e);
/* Is the ledger what was written? `checkpoints`: notes that the caller has kept, or NULL. *ret_ok is 1 or 0.
 */
CORDON_API char *cordon_verify(const cordon_context *cx, const char *checkpoints, int json, int *ret_ok,
                               cordon_error *e);
/* With the public keys in a file and nothing else; NULL: this ledger's own. */
CORDON_API char *cordon_verify_proof(const cordon_context *cx, const char *proof, size_t len,
                                     const char *keyfile, int *ret_ok, cordon_error *e);
/* "jsonl", "otlp", "ocsf" or "prometheus"; `put` gets the text in pieces. */
CORDON_API int cordon_log_export(const cordon_context *cx, const char *format, const cordon_log_filter *f,
                                 void (*put)(void *ctx, const char *text, size_t len), void *ctx,
                                 cordon_error *e);
/* Takes the payloads of a kind (NULL: any) away that are older; their hashes stay, and the ledger still
 * verifies. */
CORDON_API int cordon_log_prune(const cordon_context *cx, const char *kind, int64_t before_us,
                                uint64_t *ret_count, cordon_error *e);
/* A new key; the change is recorded, and signed with both. */
CORDON_API int cordon_log_rotate(const cordon_context *cx, cordon_error *e);
/* Puts a damaged ledger aside and begins another. The string is where the old one is. */
CORDON_API char *cordon_log_restart(const cordon_context *cx, cordon_error *e);
/* Attaches what came later to its cause. `token`: the id of the record. Writes the reply's own id. */
CORDON_API int cordon_react(const cordon_context *cx, const char *token, const char *from, const char *text,
                            char ret_id[64], cordon_error *e);
/* ---- the vault: sealed credentials of this user ---- */

typedef struct cordon_credential {
        const char *name;   /* as in `with NAME` */
        const char *env;    /* the variable that gets the placeholder in a box, or NULL */
        const char *header; /* "Authorization: Bearer {}", which is the default; or one of: */
        const char *query;  /* a parameter of the URL */
        const char *basic;  /* the user name; the secret is the password */
        int body;           /* 1: swapped where the placeholder stands in a body */
        int test;           /* 1: of a test account; 0: live, and then only for the stage live */
        uint64_t ttl_s; /* seconds until it expires; 0: what its class may live, at a rotation: as it was */
        uint64_t max_uses;      /* requests of one run; 0: no bound */
        int secret_fd;          /* read to its end, */
        const char *secret_env; /* or, when not NULL: the variable that holds the secret */
        const char *protect;    /* of a new vault: "file" (the default), "passphrase" or "keyring" */
        const char *key_file;   /* with "file"; NULL: a default outside the state directory */
        int passphrase_fd;      /* -1: the terminal is asked */
        const char *file;       /* below the box's home, as ".netrc": gets it too, or NULL */
        const char *form;       /* how it stands in that file; NULL: the form that is known for it */
        const char *scope;      /* net doors with methods that it is for, one a line; NULL: any */
} cordon_credential;
CORDON_API int cordon_vault_add(const cordon_context *cx, const cordon_credential *c, cordon_error *e);
/* Another secret for the same binding; only name, ttl_s, scope, secret_* and passphrase_fd count. */
CORDON_API int cordon_vault_rotate(const cordon_context *cx, const cordon_credential *c, cordon_error *e);
CORDON_API int cordon_vault_remove(const cordon_context *cx, const char *name, cordon_error *e);
/* Names and bindings, never secrets: lines, or a JSON list. */
CORDON_API char *cordon_vault_list(const cordon_context *cx, int json, cordon_error *e);
/* What the vault owes: lifetimes that are too long or grew, what has expired, what is for no destination. */
CORDON_API char *cordon_vault_audit(const cordon_context *cx, int json, int *ret_count, cordon_error *e);

CORDON_API const char *cordon_version(void);
CORDON_API const char *cordon_error_name(int code);
CORDON_API void cordon_free(void *p);

#ifdef __cplusplus
}
#endif
#endif
