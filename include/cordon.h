/* SPDX-License-Identifier: MIT */
/* cordon.h - libcordon: run untrusted code in a box with no doors except the ones you open.
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
 *     printf("%s\n", cordon_box_result(b)->end == CORDON_EXITED ? "exited" : "did not exit");
 *
 * Unless stated otherwise, functions return 0 on success, -1 (or NULL) on error with *e set: `what` is one
 * sentence, `hint` is the next thing to do. Output parameters, including the error, are owned by the caller
 * and must not be NULL. Strings returned as char * are owned by the caller: free them with cordon_free().
 *
 * A box and its policy, which the start checks, may be used by one thread at a time. Boxes with policies of
 * their own may be used in different threads. C99 and C++ clean.
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

/* ---- the caller's environment ---- */

/* Makes a context from the caller's environment variables, usually `environ` ("NAME=VALUE", NULL-terminated;
 * borrowed until the context is freed). libcordon reads HOME, PATH, XDG_*, CORDON_* and the variables named
 * by `env` doors, and no others. */
CORDON_API cordon_context *cordon_context_new(char *const *environment);
/* A caller that is one tenant of many: its boxes share nothing that is kept (parked boxes, compiled code)
 * with those of another secret; outside they have ids of its own range, if the caller is root. `own_core`: a
 * core-scheduling cookie for each box, where the kernel has that; cordon_host_cores() says whether it does.
 */
typedef struct cordon_tenant {
        unsigned char secret[32];
        unsigned first_id, id_count; /* 0, 0: any */
        int own_core;
        const char *name; /* shown to those who approve an effect of its boxes; at most 64 bytes; or NULL */
} cordon_tenant;
CORDON_API void cordon_context_tenant(cordon_context *cx, const cordon_tenant *t);
/* On whose behalf the ledger is read from now on: records of that name it instead of the caller's uid. */
CORDON_API void cordon_context_actor(cordon_context *cx, const char *actor);
/* 1: boxes can have cores of their own; 0: cores have one thread each, so there is nothing to separate; -1:
 * this kernel cannot separate them. */
CORDON_API int cordon_host_cores(void);
/* Called when a command meets an apply or an undo that was interrupted, after it has completed it (`landed`:
 * the changes are in the tree) or taken it back. */
typedef void (*cordon_settled)(void *ctx, const char *run, int landed, size_t entries);
CORDON_API void cordon_context_settled(cordon_context *cx, cordon_settled fn, void *ctx);
CORDON_API void cordon_context_free(cordon_context *cx); /* free all objects made with it first */

/* ---- policies ---- */

CORDON_API cordon_policy *cordon_policy_new(const cordon_context *cx);
CORDON_API void cordon_policy_free(cordon_policy *p);
/* Adds one door line: the word and its arguments. */
CORDON_API int cordon_policy_add(cordon_policy *p, const char *word, const char *arg, cordon_error *e);
/* `tool any`, unless a policy file or a `tool` line was added: for faces that wrap a server. */
CORDON_API int cordon_policy_any_tool(cordon_policy *p, cordon_error *e);
CORDON_API int cordon_policy_add_text(cordon_policy *p, const char *name, const char *text, size_t len,
                                      cordon_error *e);
CORDON_API int cordon_policy_add_file(cordon_policy *p, const char *path, cordon_error *e);
/* Adds read doors for exactly these absolute paths (NULL-terminated), taken literally: no marks, no
 * patterns. Paths that a door already covers are skipped. Keys, tokens, agent sockets and the like are
 * refused, even behind symlinks; then no door is added. */
CORDON_API int cordon_policy_show(cordon_policy *p, const char *const *paths, cordon_error *e);
/* Returns 1 if this is a word of the policy language, else 0. */
CORDON_API int cordon_policy_is_word(const char *word);
/* Resolves roots and `use` lines and checks the policy against its own `expect` lines. Views and starts call
 * it themselves. */
CORDON_API int cordon_policy_check(cordon_policy *p, cordon_error *e);
/* Compares the recorded network effects of a run with this policy: lists those that would be denied now, and
 * those that were denied and would be allowed. Runs nothing. */
CORDON_API char *cordon_policy_against(cordon_policy *p, const char *run, int json, int *ret_refused,
                                       cordon_error *e);
/* Finds a bare command name that is in the caller's PATH but in no directory that boxes search
 * (~/.local/bin, /opt/x/bin). Adds read doors for its directory and the files that belong to it, and adds
 * that directory to the box's PATH. Does the same for the commands in the text of `sh -c`, and for the
 * target of a command with a slash that is a symlink. Never for a policy from a file, and never for a
 * directory with keys. A command whose file is a WebAssembly module gets `wall wasm`, unless the policy names
 * a wall. Returns 1 with the command in *ret_path, 0 if the command is unchanged, -1 on error
 * with *e set. *ret_shown lists what was opened, "" or NULL if nothing; the caller frees both. */
CORDON_API int cordon_policy_find(cordon_policy *p, const char *const *argv, char **ret_path,
                                  char **ret_shown, cordon_error *e);
/* The number of doors with this word (write, net ...) that must not be missing; of `run` those for any
 * program or a path. -1: the policy is invalid. */
CORDON_API int cordon_policy_opens(cordon_policy *p, const char *word, cordon_error *e);
/* Returns the direction of a handle of the policy: 1 in, 2 out, 0 no such handle, -1 the policy is invalid.
 */
CORDON_API int cordon_policy_handle(cordon_policy *p, const char *name, cordon_error *e);
/* Sets {work} and {home}. Defaults: the working directory and $HOME. */
CORDON_API int cordon_policy_roots(cordon_policy *p, const char *work, const char *home, cordon_error *e);
/* Sets where @name leads for the views of the policy, cordon_policy_why() and cordon_policy_against(): a
 * places file or NULL, and "live" (NULL), "test" or "mock". Boxes have options of their own (CORDON_PLACES,
 * CORDON_STAGE). */
CORDON_API int cordon_policy_places(cordon_policy *p, const char *file, const char *stage, cordon_error *e);

typedef enum cordon_view {
        CORDON_VIEW_DOORS, /* every door in words, and the worst case */
        CORDON_VIEW_DOORS_JSON,
        CORDON_VIEW_LINES,     /* equivalent door lines */
        CORDON_VIEW_JSON,      /* the JSON form */
        CORDON_VIEW_CANONICAL, /* the input of the digest */
        CORDON_VIEW_DIGEST,
        CORDON_VIEW_NOTES, /* lints, one per line, including those about the vault and this host */
        CORDON_VIEW_NOTES_JSON,
        CORDON_VIEW_DOORS_ALL /* CORDON_VIEW_DOORS with every path of the stock policies listed */
} cordon_view;
CORDON_API char *cordon_policy_view(cordon_policy *p, cordon_view view, cordon_error *e);
/* One lint of the policy itself. */
typedef struct cordon_note {
        const char *code;      /* "W131": stable, listed in cordon-errors(7) */
        char level;            /* 'W'; a policy with an 'E' is invalid */
        const char *file;      /* or the flag that the line came from; */
        unsigned line, column; /* then line is 0 */
        const char *text;
} cordon_note;
/* Returns 1; 0 if the index is out of range; -1 if the policy is invalid. Valid until a line is added or the
 * policy is freed. */
CORDON_API int cordon_policy_note(cordon_policy *p, size_t index, cordon_note *ret, cordon_error *e);
/* How cordon_policy_why() answers. INSIDE: for a model or another reader who learns no more of the host than
 * a box of the policy shows. */
enum { CORDON_WHY_TEXT, CORDON_WHY_JSON, CORDON_WHY_JSON_INSIDE };
/* Explains the decision about an effect ("read PATH", "net GET https://host/path", "run sh" ...). Sets
 * *ret_allowed to 1 or 0. */
CORDON_API char *cordon_policy_why(cordon_policy *p, const char *effect, int json, int *ret_allowed,
                                   cordon_error *e);
/* Lists the differences. Sets *ret_order: 0 equal, 1 b is wider, 2 b is narrower, 3 neither contains the
 * other. */
CORDON_API char *cordon_policy_diff(cordon_policy *a, cordon_policy *b, int *ret_order, cordon_error *e);
/* Converts a file with the settings of another tool into door lines: sandbox-runtime, Claude Code, Codex,
 * firejail, devcontainer.json, or a script with a bwrap command line. Comments list what the lines do not say
 * and what was wider than it looked. */
CORDON_API char *cordon_policy_from(const char *path, cordon_error *e);
/* Returns the text of a stock policy ("base/python3"), or NULL; names by index until NULL. */
CORDON_API const char *cordon_stock_text(const char *name);
CORDON_API const char *cordon_stock_name(size_t index);
/* The words of the language as options (`root` is --image), with synopsis and help, by index; 0 if the index
 * is out of range. */
/* The limits and their defaults: "time", "1h". Returns 1; 0 if the index is out of range. */
CORDON_API int cordon_limit_help(size_t index, const char **name, char ret_default[32]);
CORDON_API int cordon_word_help(size_t index, const char **word, const char **synopsis, const char **help);

/* ---- boxes ---- */

/* Borrows the policy until cordon_box_free(). */
CORDON_API cordon_box *cordon_box_new(cordon_policy *p);
/* Kills a box that still runs, and waits for it to end. */
CORDON_API void cordon_box_free(cordon_box *b);
/* NULL-terminated; copied. */
CORDON_API int cordon_box_command(cordon_box *b, const char *const *argv);

typedef enum cordon_option {
        CORDON_NAME,           /* a name for `cordon ps`, unique among running boxes */
        CORDON_CWD,            /* directory to start in, absolute, as the box sees it */
        CORDON_CWD_MADE,       /* "1": an empty directory replaces the caller's if no door shows it */
        CORDON_TERM,           /* TERM inside; only with a terminal */
        CORDON_TTY,            /* "1": a terminal of the box's own */
        CORDON_ROOT_INSIDE,    /* "1": uid 0 inside (still unprivileged outside) */
        CORDON_REQUIRE_GROUPS, /* "1": refuse to start if control groups cannot enforce the limits */
        CORDON_OBSERVE,       /* which denials are reported: "off", "calls", "denials" (the default), "all" */
        CORDON_SINGLE_THREAD, /* "1": this program has one thread; its death then also kills the box
                                 (PDEATHSIG) */
        CORDON_LEDGER,        /* "on" (the default), "off", or "require": refuse to start without a record */
        CORDON_IN_FROM,       /* the run that caused this one; ID@CLOCK of a record of another host */
        CORDON_WORK_KEEP,     /* "1": keep the overlay of edit doors even if nothing changed */
        CORDON_WORK_ON,       /* continue in the overlay of this run */
        CORDON_STAGE,         /* "live" (the default), "test" or "mock": where places lead */
        CORDON_PLACES,        /* a places file: where @name leads in each stage */
        CORDON_ANSWERS,       /* a file of recorded exchanges, for the stage mock */
        CORDON_RECORD,        /* record exchanges into this file, which must not exist yet */
        CORDON_KEEP_OUTPUT,   /* "1": keep output that is not redirected for cordon_logs() after the end */
        CORDON_POOL, /* "off" (the default); "auto": use a parked box of this user's resident, if it has one;
                        "auto:N": and it parks at most N by itself for this tenant; "require": fail if it has
                        none */
        CORDON_PASSPHRASE_FD, /* a file descriptor that delivers the vault's passphrase; default: ask on the
                                 terminal */
        CORDON_SESSION_TIME,  /* how long a session may last ("8h"; the default: a day) */
        CORDON_SESSION_IDLE,  /* it ends after so long without a run ("30m"; the default: an hour) */
        CORDON_TRIP,   /* which denied effects stop the box: "calls", "secrets", "credentials", "doors" with
                         commas, or "all" */
        CORDON_FUEL,   /* a module ends after so many instructions, counted as cordon-walls(7) says; "0": no
                          limit */
        CORDON_ENTRY,  /* the function of a module that is called, instead of _start; its results are printed
                        */
        CORDON_WASI,   /* "0": a module gets the functions of cordon_wasm_export() and no others */
        CORDON_CHECKS, /* "1": cordon_box_check() follows: the vault's secrets are kept for it */
        CORDON_INTERPRET, /* "1": a module is interpreted, not compiled: no memory of its process is
                             executable but the engine */
        CORDON_WORK_COPY  /* "1": with CORDON_WORK_ON: in a copy of that overlay, under this run's id */
} cordon_option;
CORDON_API int cordon_box_set(cordon_box *b, cordon_option option, const char *value);
/* stream 0: read the payload's input from fd; 1, 2: write its output to fd. -1 (the default): empty input,
 * output to the callback. The caller keeps the file descriptors; they never enter the box. */
CORDON_API void cordon_box_stdio(cordon_box *b, int stream, int fd);
CORDON_API void cordon_box_on_output(cordon_box *b,
                                     void (*fn)(void *ctx, int stream, const void *data, size_t len),
                                     void *ctx);
/* Called once for each effect that waits for an approval, with the id for `cordon approve` and the seconds
 * that a person has to answer. */
typedef void (*cordon_held_fn)(void *ctx, const char *id, const char *effect, unsigned within_s);
CORDON_API void cordon_box_on_held(cordon_box *b, cordon_held_fn fn, void *ctx);
/* What a box that runs has used so far; CORDON_NOT_COUNTED where this host does not count it. */
#define CORDON_NOT_COUNTED UINT64_MAX
typedef struct cordon_usage {
        uint64_t cpu_ns, memory_peak, net_bytes;
} cordon_usage;
CORDON_API void cordon_box_usage(const cordon_box *b, cordon_usage *ret);
/* A program that starts boxes for others, whom it authenticates itself: who asked for this one. Such a person
 * does not approve what the box asks for. Also of a session that is up, for one who starts a run in it. An
 * overlay keeps who asked for what is in it: they do not approve its apply either. */
CORDON_API int cordon_box_asked_by(cordon_box *b, const char *person, cordon_error *e);
/* One request of such a person about what waits, and its answer: lines of docs/approve-protocol.md. The
 * caller frees. NULL with *e set: nothing of this box asks. */
typedef struct cordon_person {
        const char *name;   /* one name, one person; that of a user of this host is that user */
        const char *groups; /* "a,b": for doors with `by N of GROUP`; or NULL */
        int own;            /* may approve what it asked for, too, where the door names no group */
} cordon_person;
CORDON_API char *cordon_box_gate(cordon_box *b, const cordon_person *who, const char *request,
                                 cordon_error *e);
/* Called when the time of a run is nearly over whose policy allows renewals (`limit time 10m renew 3`), with
 * the seconds left and the renewals left. Once in each lease; SIGTERM to the payload follows, then the end.
 */
typedef void (*cordon_ending_fn)(void *ctx, unsigned left_s, unsigned renewals);
CORDON_API void cordon_box_on_ending(cordon_box *b, cordon_ending_fn fn, void *ctx);
/* Connects an `in` or `out` handle of the policy. */
CORDON_API int cordon_box_handle(cordon_box *b, const char *name, int fd);

/* A function of this program that a module in the box may import and call, while cordon_box_wait() or
 * cordon_box_step() drives the box. The signature has one letter for each parameter and result, "ii:i" for
 * (i32, i32) -> i32; i = i32, l = i64, f = f32, d = f64; at most 16 of each. `args` are hostile; `ret` is
 * zeroed. Returns 0, or -1: the module ends with a trap. */
typedef union cordon_value {
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
} cordon_value;
typedef struct cordon_wasm_function {
        const char *module, *name, *signature;
        int (*fn)(void *ctx, const cordon_value *args, cordon_value *ret);
        void *ctx;
} cordon_wasm_function;
/* For the wall `wasm`, before the start; copied. Returns 0, or -1 with *e set: a name or signature that
 * cannot be, or more than 64. */
CORDON_API int cordon_wasm_export(cordon_box *b, const cordon_wasm_function *f, cordon_error *e);

/* Does once what every start of this box would do, and waits for it: the module of the wall `wasm` is
 * compiled in a box in which it does not run, and the code kept in the state directory. That counts against
 * the limits of the run. Not needed; if it fails, the start compiles. Returns 0, or -1 with *e set. */
CORDON_API int cordon_box_prepare(cordon_box *b, cordon_error *e);
/* Raises the walls, probes them from inside and starts the payload. On failure it leaves nothing behind. */
CORDON_API int cordon_box_start(cordon_box *b, cordon_error *e);
/* Drives the box for up to timeout_ms (-1: until something happens). Returns 1 if the box has ended, 0 if
 * not, -1 if it was not started. */
CORDON_API int cordon_box_wait(cordon_box *b, int timeout_ms);

/* Many boxes in one thread. None of these four functions waits for another process.
 *
 * Begins a start and returns before the walls are up. Returns 0, or -1 if it failed already, leaving nothing
 * behind. A start that fails later ends the box with CORDON_FAILED.
 */
CORDON_API int cordon_box_start_async(cordon_box *b, cordon_error *e);
/* Does the pending work. Returns 1 if the box has ended, 0 if not, -1 if it was not started. */
CORDON_API int cordon_box_step(cordon_box *b);
/* Returns a file descriptor that polls readable when cordon_box_step() has work. It does not change and is
 * closed by cordon_box_free(). -1: none could be created. */
CORDON_API int cordon_box_fd(cordon_box *b);
/* Returns the milliseconds after which to call cordon_box_step() even if the file descriptor is not
 * readable; -1: not needed. Call it again after each call for this box. */
CORDON_API int cordon_box_next_ms(cordon_box *b);
/* Returns 1 if the walls are up and the payload was started. */
CORDON_API int cordon_box_is_up(const cordon_box *b);

/* Parked boxes: the walls are raised before it is known what runs behind them.
 *
 * Begins to park a box, and returns as cordon_box_start_async() does. Set a command first if the policy lists
 * the programs that may run: that one may be started as well. Drive the box with cordon_box_step() until
 * cordon_box_is_parked() returns 1; a box that ends before has failed. Then set the command, the working
 * directory, standard streams and handles of the run as usual and call cordon_box_start(): the run begins in
 * the parked box, and its clocks with it. A parked box serves one run. Before it does, policy and doors are
 * looked at again: if anything differs from when it was parked (a file behind a door was replaced, a door has
 * expired), or if this run cannot be parked, the run starts in a new box, and cordon_result.start_why says
 * why.
 */
CORDON_API int cordon_box_park(cordon_box *b, cordon_error *e);
CORDON_API int cordon_box_is_parked(const cordon_box *b);
/* The next start of `b`, which may have another policy object, uses the box that `parked` holds, on the same
 * terms. `parked` has none after that. */
CORDON_API int cordon_box_use(cordon_box *b, cordon_box *parked, cordon_error *e);

/* Sessions: a box that stays, for many runs, one after the other or side by side. Its files, background
 * processes and overlays stay from run to run; each run has streams, limits, denials, a result and a record
 * of its own. Session and runs belong to one thread.
 *
 * Begins a session, and returns as cordon_box_start_async() does. It takes runs when cordon_box_is_up()
 * returns 1. Drive it as long as it has runs: cordon_box_wait() for a run does so as well.
 */
CORDON_API int cordon_session_start(cordon_box *session, cordon_error *e);
/* Makes a run in it: set command, streams and so on, and start it like any box. Free it before its session.
 * NULL: no memory. */
CORDON_API cordon_box *cordon_session_run(cordon_box *session);
/* Ends the session and its runs in order: its result follows some steps later. */
CORDON_API void cordon_session_end(cordon_box *session);
/* The id of its run: of the session itself, which is the parent of its runs in the ledger. */
CORDON_API const char *cordon_session_id(const cordon_box *session);
/* Opens a session that another process of this user keeps, by its name or id, as `cordon session new` starts
 * them: cordon_session_run() makes runs in it. This process is the keeper of such a run: streams, terminal,
 * limits and result are here, as for any box. Neither process outlives the other's run: if this one ends, the
 * run is killed; if the session ends, so does the run. NULL with *e set: there is no such session. */
CORDON_API cordon_box *cordon_session_open(const cordon_context *cx, const char *which, cordon_error *e);
/* The policy of a session that was opened; `limit` lines that are added to it hold for the runs that follow.
 */
CORDON_API cordon_policy *cordon_session_policy(cordon_box *session);
/* Makes a box with the policy of a running session and a copy of the files behind its `edit` doors, as they
 * are now; cordon_session_start() starts it. Its processes, its /tmp and its private home are not copied.
 * Fails while a command runs in the session, and if doors cannot be forked (`write`, `listen`). A copy that
 * is not started stays as an overlay (cordon_work_discard()). */
CORDON_API cordon_box *cordon_session_fork(const cordon_context *cx, const char *which, cordon_error *e);
/* Ends a session of any process of this user, waits for that, and returns its result as JSON. */
CORDON_API char *cordon_session_finish(const char *which, cordon_error *e);

/* ---- the resident: parked boxes for other processes of the same user ---- */

typedef struct cordon_pool cordon_pool;
typedef struct cordon_pool_options {
        unsigned boxes;  /* at most so many; 0: 32 */
        uint64_t memory; /* of all parked boxes, in bytes; 0: no limit */
        unsigned idle_s; /* boxes of a plan that was found automatically go after so long without use; 0:
                            never */
        int automatic;   /* park boxes for plans that are seen twice in ten minutes */
        int listener;    /* a socket to accept from (socket activation), or -1: it is made */
} cordon_pool_options;
/* Makes this process the resident of its user: it parks boxes and gives them to processes that start a box
 * with CORDON_POOL. Those become their keepers; commands, variables and output never reach this process. Only
 * one per user: a second one fails with EBUSY. The program has one thread and drives the pool from its loop.
 */
CORDON_API cordon_pool *cordon_pool_new(const cordon_context *cx, const cordon_pool_options *o,
                                        cordon_error *e);
CORDON_API int cordon_pool_fd(const cordon_pool *p); /* readable when there is work */
/* As cordon_box_next_ms(). */
CORDON_API int cordon_pool_next_ms(cordon_pool *p);
CORDON_API void cordon_pool_step(cordon_pool *p);
/* Ends the parked boxes and takes no more requests. Returns 1 if no box that was given away runs any more;
 * call it again until it does, or free the pool: then those boxes end with this process. */
CORDON_API int cordon_pool_close(cordon_pool *p);
CORDON_API void cordon_pool_free(cordon_pool *p);
/* Has the resident park `size` boxes for runs of this policy with these options. A command, if set, may be
 * started even if the policy lists its programs. */
CORDON_API int cordon_box_pool(cordon_box *b, unsigned size, cordon_error *e);
/* After that: "2 of 4 parked under KEY", as soon as there is one or the time is over; NULL with the reason if
 * parking fails. The caller frees. */
CORDON_API char *cordon_box_pool_state(cordon_box *b, unsigned wait_ms, cordon_error *e);
typedef enum cordon_pool_question {
        CORDON_POOL_LIST,  /* each plan: key, boxes, hits, misses */
        CORDON_POOL_STATS, /* all of them */
        CORDON_POOL_REMOVE /* the plans whose key begins with `text`; "": all */
} cordon_pool_question;
CORDON_API char *cordon_pool_ask(const cordon_context *cx, cordon_pool_question question, const char *text,
                                 int json, cordon_error *e);

CORDON_API void cordon_box_signal(cordon_box *b, int signal); /* async-signal-safe */
/* Sets the size of the box's terminal; before the start, its initial size. */
CORDON_API void cordon_box_resize(cordon_box *b, unsigned rows, unsigned columns);
CORDON_API void cordon_box_kill(cordon_box *b);
CORDON_API const char *cordon_box_run_id(const cordon_box *b);

/* ---- canary: a policy that a share of the runs tries ---- */

typedef struct cordon_canary cordon_canary;
/* Reads the file. Returns NULL if it does not load. */
CORDON_API cordon_canary *cordon_canary_new(const cordon_context *cx, const char *file, cordon_error *e);
/* The canary's policy. Add the doors of the command line to it as well; a box that tries it is made with it.
 */
CORDON_API cordon_policy *cordon_canary_policy(cordon_canary *c);
/* Returns 1 if this run tries the policy; the process that waits for the box must then call
 * cordon_canary_end(). Returns 0 for the usual policy. `share` is in percent. After `bound` bad runs no run
 * tries this file until it changes. */
CORDON_API int cordon_canary_pick(cordon_canary *c, cordon_policy *usual, unsigned share, unsigned bound);
/* Returns 1 if the run went badly: an effect was denied that the usual policy allows, or the exit status was
 * not 0. */
CORDON_API int cordon_canary_end(cordon_canary *c, cordon_box *b);
/* Returns 1 if `bound` runs went badly, so that no run tries this file; cordon_canary_says() has the reason.
 */
CORDON_API int cordon_canary_withdrawn(cordon_canary *c, unsigned bound);
/* The finding in one sentence, or "". */
CORDON_API const char *cordon_canary_says(const cordon_canary *c);
CORDON_API void cordon_canary_free(cordon_canary *c); /* free the box first */

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
        const char *permit; /* the line that would allow it, or "" */
        uint32_t count;
        /* The kind of effect that was denied; stable: "read", "write", "run", "net", "sock", "call",
         * "limit", "credential". */
        const char *code;
        const char *path;   /* its target as the box named it, absolute; "" for other calls */
        int on_host;        /* 1: that path exists on the host; 0: the box made it; -1: not a path */
        const char *reason; /* stable: "no-door", "read-only", "keys", "home", "own-program" ... */
        int minor; /* 1: a system setting that programs can do without; 2: one that they always look for */
        const char *why;      /* the reason in words: for display, not for comparison */
        const char *argument; /* of `permit`, as on the command line: --WORD ARGUMENT; or "" */
        const char *method;   /* "net" and "credential": of a request; else "" */
} cordon_denial;
/* Does a door of the run come near this denial (its `code` and `reason`)? If not, it tells what the host has:
 * then it is for the operator, not for a tenant or a model. */
CORDON_API int cordon_denial_is_near(const char *code, const char *reason);
typedef struct cordon_result {
        cordon_end end;
        int code;               /* exit status or signal number */
        const char *limits_hit; /* every limit that was reached, separated by spaces; or "" */
        const char *limit;      /* the limit that ended it, or "" */
        const char *wall;       /* "namespace" or "process" */
        int attested;           /* the probe from inside found the walls up */
        int groups;             /* control groups enforced memory and processes; 0: rlimits and sampling */
        int output_truncated;
        uint64_t wall_ns, cpu_ns, start_ns, memory_peak, output_bytes;
        const cordon_denial *denials;
        size_t denial_count;
        const char *const *absent; /* looked up, and missing on the host as well; NULL-terminated */
        const cordon_error *error; /* CORDON_FAILED and CORDON_NOT_STARTED; else NULL */
        const char *work;          /* the overlay left by edit doors, for cordon_work_*(); or "" */
        size_t work_entries, work_flagged;
        const cordon_error *work_error; /* the overlay exists but could not be read; else NULL */
        size_t recorded, unrecorded; /* CORDON_RECORD: exchanges in the file; and those too long or cut off */
        size_t denials_lost;         /* at least this many denials are missing from the list */
        int terminal_asked;          /* the box queried your terminal: replies may arrive on its input */
        int mid_line;          /* the box left an unfinished line on the terminal or file of standard error */
        size_t left;           /* entries in the private home if the box worked there: lost with it */
        const char *left_name; /* one of them, or "" */
        const char *ledger;    /* "on", or "off: WHY" if all or part is not recorded; "" before it ran */
        const char *ledger_lost; /* why all or part is not recorded although it was requested; else "" */
        int edit_watched; /* the box watched files behind `edit`, where changes from outside are not seen */
        int blind; /* denied paths were to be reported, but this host does not allow to observe them; 2: and
                      no result said so before */
        int away;  /* the caller's directory is not in the box, which worked in a private one */
        const char *start;     /* "parked": the run began in a parked box; "warm": in an interpreter that was
                                  started in one; "session": in a box that stays; "cold": in a new one; "" before
                                */
        const char *start_why; /* why a parked box was not used; or "" */
        const char *session;   /* of a run in a session: that one's id; or "" */
        int session_over;      /* the session has ended before the run, which ended with it */
        unsigned renewed, renewals; /* of its time: how often, and how often the policy allows */
        const char *labels;         /* what it was handed and has read, as `label` lines say; or "" */
        const char *lost; /* `denials_lost` by kind, "secret" for paths of keys and tokens, and "absent" names
                             that `absent` lacks: "3 read, 40 absent"; or "" */
        const char *unlabelled; /* of stdout and stderr those that the label does not go on with: a pipe keeps
                                   it for another box only, a socket for nobody; or "" */
        unsigned unstamped;     /* files behind `write` doors that could get no label of their own */
        const char *unstamped_file; /* one of them, or "" */
        const char *work_place;     /* of the overlay, if the state directory cannot hold it; or "" */
} cordon_result;
/* One thing that the box did and was allowed to do, each once: files opened, programs started. */
typedef struct cordon_effect {
        const char *code; /* "read", "write", "run" */
        const char *path, *program;
} cordon_effect;
/* With CORDON_OBSERVE "all". Returns 1; 0 if the index is out of range. Valid until cordon_box_free(). */
CORDON_API size_t cordon_box_effect(cordon_box *b, size_t index, cordon_effect *ret);
/* One destination that a net door allows and that could not be reached. */
typedef struct cordon_unreached {
        const char *to, *why;
        uint32_t count;
} cordon_unreached;
/* Returns 1; 0 if the index is out of range. Valid until cordon_box_free(). */
CORDON_API size_t cordon_box_unreached(cordon_box *b, size_t index, cordon_unreached *ret);
/* Valid until cordon_box_free(). */
CORDON_API const cordon_result *cordon_box_result(cordon_box *b);
CORDON_API char *cordon_box_result_json(cordon_box *b); /* NULL: not started */
/* Lists the steps of a start without performing them. */
CORDON_API char *cordon_box_plan(cordon_box *b, cordon_error *e);
/* The exit status for a shell: the payload's own, 128+n, 124 for a limit, 125 for cordon, 126 and 127. */
CORDON_API int cordon_result_status(const cordon_result *r);
/* "exited", "signaled", "limit", "not-started", "failed", "running": stable. */
CORDON_API const char *cordon_end_name(cordon_end end);

/* ---- overlays of edit doors: the changes of a box, until the user applies them ---- */

/* Receives a text in pieces; NULL: discard it. */
typedef void (*cordon_sink)(void *ctx, const void *data, size_t len);
/* Reports the current step and its progress; called often. `total` 0: unknown. */
typedef void (*cordon_progress)(void *ctx, const char *doing, size_t done, size_t total);
/* In all functions, `run` is the id of a run, a unique prefix of it, or the name of a box (its newest
 * overlay); NULL: the newest pending overlay, for cordon_work_undo() the last applied one, among those with
 * a door at, above or below the working directory. `paths` is NULL or a NULL-terminated list that limits the
 * call to these paths and everything below, absolute or as cordon_work_diff() prints them. */
typedef enum cordon_work_form {
        CORDON_WORK_TEXT, /* unified diffs; files that the host would execute or trust come first */
        CORDON_WORK_STAT,
        CORDON_WORK_NAMES,
        CORDON_WORK_JSON
} cordon_work_form;
typedef struct cordon_work_diff_options {
        const char *run;
        cordon_work_form form;
        int colour;
        int verbose; /* no summaries; else a large new or removed directory is one line */
        const char *const *paths;
        const char *const
                *theirs; /* or NULL: for conflicts in this file, compares the host's version with the box's */
        cordon_sink out;
        void *out_ctx;
        cordon_progress progress; /* or NULL */
        void *progress_ctx;
        int label_fd; /* where `out` writes: it gets the label of the changes; 0: nothing does */
} cordon_work_diff_options;
CORDON_API int cordon_work_diff(const cordon_context *cx, const cordon_work_diff_options *o,
                                size_t *ret_entries, cordon_error *e);
CORDON_API int cordon_work_list(const cordon_context *cx, int json, cordon_sink out, void *ctx,
                                cordon_error *e);

/* One change that reached the host. Digests are SHA-256 in hex; "" without content. */
typedef struct cordon_work_effect {
        const char *run, *host;
        const void *path;
        size_t path_len;
        const char *before, *after;
} cordon_work_effect;
typedef struct cordon_work_apply_options {
        const char *run;
        const char *const *paths;
        const char *const *all_but; /* exclude these and everything below; or NULL */
        int include_flagged;
        const char *const *flagged; /* include files flagged only as these kinds; or NULL */
        const char *to;             /* into this directory instead of the door's own */
        cordon_sink out;
        void *out_ctx;
        void (*effect)(void *ctx, const cordon_work_effect *effect);
        void *effect_ctx;
        int no_ledger; /* without a record; else an apply that cannot be recorded is refused */
        int json; /* `out` receives one object with everything that was done, even on refusal or failure */
        /* Receives the changes as a patch for `git apply`; nothing is changed. Not with `to` or `json`. */
        cordon_sink patch;
        void *patch_ctx;
        cordon_progress progress; /* or NULL */
        void *progress_ctx;
        /* An overlay whose `edit` doors have `ask`: reports the question, and the call waits for the answer.
         * NULL: such an apply is refused. */
        cordon_held_fn held;
        void *held_ctx;
        const char *approved; /* the digest that a question was answered for; or NULL */
        int label_fd;         /* where `patch` writes: it gets the label of the changes; 0: nothing does */
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
        size_t conflicts;   /* not 0: the host changed these as well, and nothing was done */
        size_t closed;      /* of those held: in a directory of the host without access for the caller */
        char approval[128]; /* options of `cordon apply` for the changes held back, each after a space; or ""
                             */
} cordon_work_outcome;
CORDON_API int cordon_work_apply(const cordon_context *cx, const cordon_work_apply_options *o,
                                 cordon_work_outcome *ret, cordon_error *e);
/* What such an apply asks, as text for cordon_question_open(); "" if it asks nothing. Changes nothing. The
 * caller frees. */
CORDON_API char *cordon_work_question(const cordon_context *cx, const cordon_work_apply_options *o,
                                      cordon_error *e);
/* The question waits for an answer in the caller's loop, as what a box asks does: a step is due when the
 * descriptor is readable, and once a second. It returns 1 if the digest is approved, 0 if it waits, -1 with
 * *e set if it is not approved. `people`: NULL-terminated, who asked, beside those
 * whom the overlay has (cordon_box_asked_by()); of one that has none, everybody is taken for one who asked.
 */
typedef struct cordon_question cordon_question;
CORDON_API cordon_question *cordon_question_open(const cordon_context *cx, const char *text,
                                                 const char *const *people, cordon_error *e);
CORDON_API int cordon_question_fd(const cordon_question *q);
CORDON_API int cordon_question_step(cordon_question *q, cordon_error *e);
CORDON_API const char *cordon_question_digest(const cordon_question *q);
CORDON_API char *cordon_question_gate(cordon_question *q, const cordon_person *who, const char *request,
                                      cordon_error *e);
CORDON_API void cordon_question_free(cordon_question *q); /* withdraws it if it waits */
CORDON_API int cordon_work_undo(const cordon_context *cx, const cordon_work_undo_options *o,
                                cordon_work_outcome *ret, cordon_error *e);
/* Returns 0 if the overlay is deleted, 1 if it was applied in part and the pending part is deleted;
 * cordon_work_undo() reverts the rest, a second call deletes it; 2 if an apply was interrupted and could
 * neither be finished nor taken back: what it replaced is kept in the state directory, work/.kept-RUN. `out`
 * is for `json` only. */
CORDON_API int cordon_work_discard(const cordon_context *cx, const char *run, int json, cordon_sink out,
                                   void *ctx, char ret_run[64], cordon_error *e);
/* Finds the overlay of this name; NULL: the default overlay. */
CORDON_API int cordon_work_find(const cordon_context *cx, const char *run, char ret_run[64], cordon_error *e);
/* Copies the overlay of a box that runs, as it is now, to look at it: a file may be half written. */
CORDON_API int cordon_work_copy_running(const cordon_context *cx, const char *run, char ret_run[64],
                                        cordon_error *e);

/* ---- learning the least doors ---- */

typedef enum cordon_learn_net {
        CORDON_LEARN_NET_DENY, /* nothing leaves; attempts are reported */
        CORDON_LEARN_NET_MOCK, /* nothing leaves; requests are answered from `answers` */
        CORDON_LEARN_NET_ASK   /* destinations in `net_to`, and those that `agree` allows */
} cordon_learn_net;
typedef struct cordon_learning {
        const char *const *argv; /* the command, NULL-terminated */
        unsigned runs;           /* learning runs, or repetitions of the proof; 0: 3 */
        unsigned seconds;        /* limit of each run; 0: 60 */
        unsigned boxes;          /* limit of runs in total; 0: 400 */
        int status;              /* the exit status that counts as success */
        int input;               /* -1, or a file for its input, rewound for each run */
        const char *name;        /* of the policy text, for messages */
        const char *policy;      /* cordon_tighten(): its text */
        size_t policy_len;
        cordon_learn_net net;
        const char *const *net_to; /* "host" or "host:port", NULL-terminated; or NULL */
        /* Called once for each destination ("host:port") with its first use; returns 1 to allow it. */
        int (*agree)(void *ctx, const char *to, const char *what);
        void *agree_ctx;
        const char *stage;   /* with ASK: "live" (NULL) or "test" */
        const char *places;  /* a places file, or NULL */
        const char *answers; /* with MOCK: a file of recorded exchanges */
        /* Credentials, NULL-terminated, or NULL: the command gets a dummy of each. Real ones are never
         * loaded. */
        const char *const *with;
        /* Dot paths below the home that may be learned, absolute, NULL-terminated; or NULL for none. */
        const char *const *read;
        int gpu;                  /* the command has the `gpu` door from the first run on */
        cordon_progress progress; /* called before each box; or NULL */
        void *progress_ctx;
} cordon_learning;
typedef struct cordon_learned {
        int passed;   /* the command succeeded under `policy` when replayed */
        int complete; /* each of its doors was tested for need */
        unsigned runs, runs_passed, boxes;
        unsigned doors, doors_before; /* before: of what was learned, or of the given policy */
        char *policy;                 /* door lines */
        char *closed;                 /* cordon_tighten(): the unneeded lines, one per line; or "" */
        char *refused;                /* denied effects that are never learned, one per line; or "" */
        char *refused_json;
        char *last;                        /* why the last run failed, with the end of its output; or "" */
        unsigned past_runs, past_observed; /* cordon_tighten_log(): the evidence */
        int replayed;                      /* `policy` was tested with the command */
        int refused_net, refused_dot;      /* among the denials: the network; dot paths below the home */
        int unobserved; /* this host cannot report lookups of hidden paths: the result may be incomplete */
} cordon_learned;
/* Runs the command in boxes, walls up, with the doors known to be needed so far, until it succeeds and
 * nothing new is denied. Keys, tokens, agent sockets, the kernel and the system's own files are never
 * learned. */
CORDON_API int cordon_learn(const cordon_context *cx, const cordon_learning *o, cordon_learned *ret,
                            cordon_error *e);
/* Removes the doors of a policy that the command does not need. */
CORDON_API int cordon_tighten(const cordon_context *cx, const cordon_learning *o, cordon_learned *ret,
                              cordon_error *e);
/* Removes the doors that no past run used, from the ledger's records of runs under exactly this policy that
 * ended with `status`, at least `runs` of them. Use of net doors is known for every run, of doors for files
 * and programs for runs with CORDON_OBSERVE "all", of other doors for none. The result is replayed only if
 * argv is set. */
CORDON_API int cordon_tighten_log(const cordon_context *cx, const cordon_learning *o, cordon_learned *ret,
                                  cordon_error *e);
CORDON_API void cordon_learned_done(cordon_learned *l);
/* How well boxes fit the commands that ran in them, from the ledger. */
typedef struct cordon_diagnosis {
        const char *policy; /* its text; NULL: every policy, whose doors are then counted but not listed */
        size_t policy_len;
        const char *name; /* of the policy, for hints */
        const char *box;  /* only boxes of this name; or NULL */
        int64_t since_us; /* runs that began later; 0: any */
        unsigned last;    /* the newest runs of each box; 0: 100 */
        int status;       /* the exit status that counts as success */
} cordon_diagnosis;
/* Returns text or JSON. *ret_fit: 1 all fit, 0 one is too broad or too narrow, -1 not enough runs. */
CORDON_API char *cordon_diagnose(const cordon_context *cx, const cordon_diagnosis *o, int json, int *ret_fit,
                                 cordon_error *e);
/* Lists wide doors and doors that expire, with the days they have been open and have left; "" if none. */
CORDON_API char *cordon_policy_widened(cordon_policy *p, cordon_error *e);
/* Returns the policy for a task in words ("resize an image"), or NULL with the nearest in *e; names by index
 * until NULL. */
CORDON_API char *cordon_advise(const char *task, int json, cordon_error *e);
CORDON_API const char *cordon_advise_name(size_t index);

/* ---- images as box roots ---- */

/* Unpacks the image of the policy's `root` line into the store, if it is not there yet: an archive, an OCI
 * layout, or a name that skopeo or podman resolve. Does nothing for a directory or without such a line. A
 * start does not unpack, because it never waits. */
CORDON_API int cordon_image_prepare(cordon_policy *p, cordon_error *e);
/* The command that the image of the policy's `root` names, NULL-terminated and owned by the box, or NULL if
 * it names none. */
CORDON_API const char *const *cordon_box_image_command(cordon_box *b, cordon_error *e);
/* Returns the image that `root` names, or NULL: none, or the policy is invalid. Valid until a line is added.
 */
CORDON_API const char *cordon_policy_root(cordon_policy *p, cordon_error *e);
/* Adds an image (a path, or a name) to the store. Returns its entry, as cordon_image_list() has it. */
CORDON_API char *cordon_image_add(const cordon_context *cx, const char *ref, int json, cordon_error *e);
CORDON_API char *cordon_image_list(const cordon_context *cx, int json, cordon_error *e);
/* `which`: an id, or its beginning, or what the image was added from. Refuses while a box uses it. */
CORDON_API int cordon_image_remove(const cordon_context *cx, const char *which, cordon_error *e);
/* Removes images that no name or unchanged file leads to (`all`: every image), except those in use. Returns
 * the number. */
CORDON_API int cordon_image_prune(const cordon_context *cx, int all, uint64_t *ret_count, cordon_error *e);

/* ---- running boxes of this user, and this host ---- */

/* Calls `each` with the state of each box as JSON; of one that gives this process no answer, because it is
 * confined otherwise, with `run` and `refused` (why). Returns how many, or -1. */
CORDON_API int cordon_list(void (*each)(void *ctx, const char *json), void *ctx, cordon_error *e);
CORDON_API char *cordon_inspect(const char *which, cordon_error *e);
/* Prints the newest output of a box whose output is not redirected, also after its end if it was kept.
 * `follow`: until the box ends. The file or pipe `label_fd`, to which `out` writes, gets the label of the
 * output; -1: none does. */
CORDON_API int cordon_logs(const cordon_context *cx, const char *which, int follow, cordon_sink out,
                           void *ctx, int label_fd, cordon_error *e);
/* Signals the payload's process group; SIGKILL ends the box at once. */
CORDON_API int cordon_stop(const char *which, int signal, cordon_error *e);
/* Gives a running box another lease of its time, a session one of its life: cordon_box_renew() a box of this
 * program, cordon_renew() one of any process of this user, whose state it returns as JSON. Fails with
 * the code of "limit" if the policy allows no renewal, or no more. */
CORDON_API int cordon_box_renew(cordon_box *b, cordon_error *e); /* 1: a person is asked first */
CORDON_API char *cordon_renew(const char *which, cordon_error *e);
/* Calls `each` for every box that may wait for approvals, of every user: its run id and the uid of its user.
 */
CORDON_API int cordon_gates(void (*each)(void *ctx, const char *run, unsigned uid), void *ctx,
                            cordon_error *e);
/* Returns a descriptor that speaks the protocol of docs/approve-protocol.md, the caller's to close; -1 on
 * error with *e set. */
CORDON_API int cordon_gate_connect(const char *run, unsigned uid, cordon_error *e);
/* One request of it, and the line that it answers, which the caller frees. NULL: no answer in ten seconds. */
CORDON_API char *cordon_gate_ask(const char *run, unsigned uid, const char *request, cordon_error *e);
/* Fails if CORDON_STATE is set to what cannot be the state directory. */
CORDON_API int cordon_state_check(const cordon_context *cx, cordon_error *e);
/* Who approved how carefully, and which gates are never denied. */
CORDON_API char *cordon_approvals(const cordon_context *cx, int json, cordon_error *e);
/* An effect did harm. `id`: of an approved one, or its first digits, and it counts against its approval; else
 * of a record of the ledger, of a run, or the name of a box. */
CORDON_API int cordon_incident(const cordon_context *cx, const char *id, const char *text, cordon_error *e);
/* What would flow in boxes that run one after the other, at most 16, as text or JSON; the caller frees it. */
CORDON_API char *cordon_plan(cordon_policy *const *boxes, size_t count, int json, cordon_error *e);
/* The labels of these files (NULL: of all that have one), as text or JSON; the caller frees it. */
CORDON_API char *cordon_label_show(const cordon_context *cx, const char *const *paths, int json,
                                   cordon_error *e);
/* Adds labels ("private:NAME untrusted") to a file, or to a directory with all below it. NULL: those that a
 * run gave an out handle's file before the file had this name. */
CORDON_API int cordon_label_stamp(const cordon_context *cx, const char *path, const char *labels,
                                  cordon_error *e);
/* Takes labels off again. Only a person at a terminal can, with a reason; both are recorded first. */
CORDON_API int cordon_label_drop(const cordon_context *cx, const char *path, const char *labels,
                                 const char *reason, cordon_error *e);
/* Shows effects that do not exist now and then, which must be denied. */
CORDON_API int cordon_decoys(const cordon_context *cx, int on, cordon_error *e);
/* Tests now what this host can enforce, per layer. *ret_ok is 1 if the namespace wall can be raised. */
CORDON_API char *cordon_doctor(const cordon_context *cx, int json, int *ret_ok);
/* Which of eight layers fails: isolation, resource, policy, credentials, approval, output, tenant,
 * observability; with metric, threshold, evidence and the next command of each, the worst first. From the
 * ledger since then, the vault, past decisions and the modes of the state's files. *ret_failing: 1 if one
 * fails or is broken. */
CORDON_API char *cordon_layers(const cordon_context *cx, int64_t since_us, int json, int *ret_failing,
                               cordon_error *e);
/* Removes control groups whose keeper was killed together with its janitor; returns their number. */
CORDON_API unsigned cordon_sweep(void);
/* The batch job (Slurm, PBS, LSF ...) that the context's environment names. */
typedef struct cordon_batch {
        const char *engine, *id; /* valid as long as the environment */
        int leader;              /* the pid of the job's script or task; 0: the engine does not give it */
} cordon_batch;
/* Returns 1, or 0 if it names none. */
CORDON_API int cordon_batch_job(const cordon_context *cx, cordon_batch *ret);

/* ---- the ledger: effects, causes and proofs ---- */

typedef struct cordon_log_filter { /* NULL: any */
        const char *box;           /* a box's name */
        const char *run;           /* a run id, or its beginning */
        const char *kind;          /* "file", "net", "start" ..., or a phase: "denied", "intent" ... */
        const char *target;        /* a part of the target */
        int64_t since_us;          /* microseconds since 1970 */
        uint64_t last;             /* only the newest of the records that exist at first; 0: all */
        const char *job;           /* a batch job: its id, also with the engine's name, or an array's task */
} cordon_log_filter;
/* Calls `each` with every matching record from record *cursor on (0: the first), as canonical JSON and as a
 * line of text. Moves *cursor past the last record, for the next call. */
CORDON_API int cordon_log_each(const cordon_context *cx, const cordon_log_filter *f, uint64_t *cursor,
                               void (*each)(void *ctx, const char *json, const char *line), void *ctx,
                               cordon_error *e);
typedef enum cordon_log_view {
        CORDON_LOG_SHOW,       /* a run as a diagram for the terminal */
        CORDON_LOG_FIELD,      /* the effects of all boxes on one target */
        CORDON_LOG_FIELD_JSON, /* the records themselves, one per line */
        CORDON_LOG_REACHED,    /* the parties that effects reached; needs no argument */
        CORDON_LOG_REACHED_JSON,
        CORDON_LOG_PROOF,      /* of a record, by its id: the input of cordon_verify_proof() */
        CORDON_LOG_CHECKPOINT, /* the newest signed checkpoint; needs no argument */
        CORDON_LOG_KEYS,       /* the public keys, one per line; needs no argument */
        CORDON_LOG_HTML,       /* a run as one self-contained page */
        CORDON_LOG_POSTMORTEM, /* a run as a draft of an incident report, in Markdown */
        CORDON_LOG_TILES       /* writes the sealed log into a directory, in the layout of C2SP tlog-tiles */
} cordon_log_view;
CORDON_API char *cordon_log(const cordon_context *cx, cordon_log_view view, const char *arg, cordon_error *e);
/* Traces a record to its causes and effects. */
CORDON_API char *cordon_trace(const cordon_context *cx, const char *id, int back, int forward, int json,
                              cordon_error *e);
/* Reads several ledgers as one. Every cause precedes its effects, across ledgers as well; then records are
 * ordered by logical clock, wall clock, ledger and index. `dirs` are state directories, or the ledgers in
 * them, at most 16. Each is verified first, and each record carries the name of its ledger's key. Returns
 * NULL on error with *e set. */
typedef struct cordon_ledgers cordon_ledgers;
CORDON_API cordon_ledgers *cordon_ledgers_open(const cordon_context *cx, const char *const *dirs,
                                               size_t count, cordon_error *e);
CORDON_API void cordon_ledgers_free(cordon_ledgers *l);
/* Like cordon_log_each(), once; the JSON is {"ledger":NAME,"record":RECORD}. */
CORDON_API int cordon_ledgers_each(const cordon_ledgers *l, const cordon_log_filter *f,
                                   void (*each)(void *ctx, const char *json, const char *line), void *ctx,
                                   cordon_error *e);
/* Like cordon_log(); refuses views of a single ledger (proof, checkpoint, keys). */
CORDON_API char *cordon_ledgers_log(const cordon_ledgers *l, cordon_log_view view, const char *arg,
                                    cordon_error *e);
CORDON_API char *cordon_ledgers_trace(const cordon_ledgers *l, const char *id, int back, int forward,
                                      int json, cordon_error *e);
/* Merges up to 1000 ledgers of any size in bounded memory. Each is verified first. `put` gets each record as
 * cordon_ledgers_each() gives it: causes that records name precede their effects, also across ledgers; then
 * by wall clock, ledger and index. `temporary`: a directory on a disk. */
typedef struct cordon_merged {
        uint64_t ledgers, records;
        uint64_t across;  /* causes in another ledger than their effect */
        uint64_t lost;    /* causes that no ledger contains */
        uint64_t circles; /* records whose causes wait for them */
} cordon_merged;
CORDON_API int cordon_ledgers_merge(const cordon_context *cx, const char *const *dirs, size_t count,
                                    const char *temporary,
                                    int (*put)(void *ctx, const char *json, size_t len), void *ctx,
                                    cordon_merged *ret, cordon_error *e);
/* Holds each host's ledger against the checkpoint that the directory `kept` has of it, in a file with the
 * host's name (the last part of the path), and keeps the newest one if it fits. */
typedef struct cordon_collected {
        const char *host;
        const char *verdict;     /* "fits", "rolled back", "changed" or "missing" */
        uint64_t records, added; /* sealed; and since the last time */
        const char *why;         /* "" if it fits */
        const char *ledger;      /* the name of its key, as merged records have it; "" if it does not fit */
} cordon_collected;
CORDON_API int cordon_ledgers_collect(const cordon_context *cx, const char *kept, const char *const *dirs,
                                      size_t count, void (*each)(void *ctx, const cordon_collected *c),
                                      void *ctx, cordon_error *e);
/* Verifies the ledger. `checkpoints`: notes kept by the caller, or NULL. *ret_ok is 1 or 0. */
CORDON_API char *cordon_verify(const cordon_context *cx, const char *checkpoints, int json, int *ret_ok,
                               cordon_error *e);
/* Needs only the public keys in a file; NULL: this ledger's own. */
CORDON_API char *cordon_verify_proof(const cordon_context *cx, const char *proof, size_t len,
                                     const char *keyfile, int *ret_ok, cordon_error *e);
/* "jsonl", "otlp", "ocsf" or "prometheus"; `put` receives the text in pieces. */
CORDON_API int cordon_log_export(const cordon_context *cx, const char *format, const cordon_log_filter *f,
                                 void (*put)(void *ctx, const char *text, size_t len), void *ctx,
                                 cordon_error *e);
/* The same of the records from *cursor on (0: the first), and moves it past the last: for sending what is
 * written meanwhile. Further formats: "otlp-traces" (a span for each run that ended) and "alerts" (tripwires,
 * effects that wait for a person, incidents). *ret_count: how many were exported. */
CORDON_API int cordon_log_export_from(const cordon_context *cx, const char *format,
                                      const cordon_log_filter *f, uint64_t *cursor,
                                      void (*put)(void *ctx, const char *text, size_t len), void *ctx,
                                      uint64_t *ret_count, cordon_error *e);
/* Each box that ran since then: how many runs, behind how many layers, at what cost, and how far it reached.
 */
CORDON_API char *cordon_log_tools(const cordon_context *cx, int64_t since_us, int json, cordon_error *e);
/* What an audit found, or the digest of signed claims, as a record of the kind `audit`. */
typedef struct cordon_audit_record {
        const char *what;         /* "debt" or "claims" */
        const char *result;       /* one short text */
        const char *digest;       /* "sha256:...", or NULL */
        const char *const *pairs; /* names and values, one after the other, ended by NULL; at most 14 pairs of
                                     1024 bytes */
        int64_t debt;             /* -1: none */
} cordon_audit_record;
/* Durable when it returns. Writes the record's id. */
CORDON_API int cordon_audit_add(const cordon_context *cx, const cordon_audit_record *r, char ret_id[64],
                                cordon_error *e);
/* The newest checkpoints of tenants' ledgers, as records of the kind `head` in this one: cordon_verify() of
 * it then also finds a tenant's ledger that was cut, rewritten, exchanged or removed. */
typedef struct cordon_head {
        const char *tenant; /* its name */
        const char *state;  /* its state directory, an absolute path */
        int seal;           /* sign what no checkpoint covers yet first */
} cordon_head;
/* `when`: a word for the occasion; "dropped": earlier heads of it no longer count. All of them are durable
 * when it returns 0. A tenant without a ledger is left out. */
CORDON_API int cordon_heads_add(const cordon_context *cx, const cordon_head *v, size_t count,
                                const char *when, cordon_error *e);
/* Removes older payloads of a kind (NULL: any). Their hashes stay, and the ledger still verifies. */
CORDON_API int cordon_log_prune(const cordon_context *cx, const char *kind, int64_t before_us,
                                uint64_t *ret_count, cordon_error *e);
/* Makes a new key. The change is recorded and signed with both keys. */
CORDON_API int cordon_log_rotate(const cordon_context *cx, cordon_error *e);
/* Moves a damaged ledger aside and begins a new one. Returns the path of the old one. */
CORDON_API char *cordon_log_restart(const cordon_context *cx, cordon_error *e);
/* Attaches a later reaction to its cause. `token`: the id of the record. Writes the id of the new record. */
CORDON_API int cordon_react(const cordon_context *cx, const char *token, const char *from, const char *text,
                            char ret_id[64], cordon_error *e);
/* A call of a tool that the payload serves, or its result, as a record of its run. */
typedef struct cordon_tool_effect {
        const char *tool;
        const char *result; /* "done", "error" ...; NULL of a call */
        const char *reason; /* of a denial; or NULL */
        const char *cause;  /* the record of the call, of a result; or NULL */
        const void *bytes;  /* recorded by digest and length only */
        size_t len;
        int phase; /* 0 a call that is passed on, 1 its result, 2 a call or result that is refused */
} cordon_tool_effect;
/* Writes the record's id; "" if the run is not recorded. */
CORDON_API void cordon_box_tool(cordon_box *b, const cordon_tool_effect *t, char ret_id[64]);

/* What the `tool` doors of the box's policy say of a call with these arguments, a JSON object. NULL: with any
 * arguments at all, for a list. `ret_why`: the reason of a denial, in words. */
#define CORDON_TOOL_DENIED  0
#define CORDON_TOOL_ASKS    1
#define CORDON_TOOL_ALLOWED 2
CORDON_API int cordon_box_tool_judge(const cordon_box *b, const char *tool, const void *args, size_t len,
                                     char ret_why[256]);
/* Asks a person about a call; the answer arrives through cordon_box_on_tool_answer(), from cordon_box_step().
 * Returns the number of the question, or 0: it cannot be asked, and is denied. */
CORDON_API unsigned cordon_box_tool_ask(cordon_box *b, const char *tool, const void *args, size_t len);
/* Before the start. */
CORDON_API void cordon_box_on_tool_answer(cordon_box *b, void (*fn)(void *ctx, unsigned number, int yes),
                                          void *ctx);

/* ---- what the user has accepted: descriptions of tools, one text for each server, and configuration ---- */

/* `name`: letters, digits, `.`, `_` and `-`, at most 60; behind `agents/` or `held/` of an agent. Returns the
 * text, "" if there is none, or NULL. */
CORDON_API char *cordon_pins_read(const cordon_context *cx, const char *name, cordon_error *e);
/* Replaces it as a whole; NULL removes it. */
CORDON_API int cordon_pins_write(const cordon_context *cx, const char *name, const char *text,
                                 cordon_error *e);

/* ---- the vault: sealed credentials of this user ---- */

typedef struct cordon_credential {
        const char *name;   /* as in `with NAME` */
        const char *env;    /* the variable that gets the placeholder in a box, or NULL */
        const char *header; /* "Authorization: Bearer {}", which is the default; or one of: */
        const char *query;  /* a parameter of the URL */
        const char *basic;  /* the user name; the secret is the password */
        int body;           /* 1: replaced in request bodies */
        int test;           /* 1: of a test account; 0: live, used only in the stage live */
        uint64_t ttl_s; /* seconds until it expires; 0: the maximum of its class; at a rotation: unchanged */
        uint64_t max_uses;      /* requests per run; 0: unlimited */
        int secret_fd;          /* read to its end, */
        const char *secret_env; /* or, when not NULL: the variable that holds the secret */
        const char *protect;    /* of a new vault: "file" (the default), "passphrase" or "keyring" */
        const char *key_file;   /* with "file"; NULL: a default outside the state directory */
        int passphrase_fd;      /* -1: ask on the terminal */
        const char *file;  /* a file below the box's home, such as ".netrc", that also gets it; or NULL */
        const char *form;  /* its format in that file; NULL: the known format of the file */
        const char *scope; /* the net doors with methods that it is for, one per line; NULL: any */
        int sigv4;         /* 1: a key of AWS, which signs requests; ID:SECRET or ID:SECRET:TOKEN */
} cordon_credential;
CORDON_API int cordon_vault_add(const cordon_context *cx, const cordon_credential *c, cordon_error *e);
/* Replaces the secret of a binding; only name, ttl_s, scope, secret_* and passphrase_fd are used. With a
 * scope alone (secret_fd -1) the secret and its lifetime stay. */
CORDON_API int cordon_vault_rotate(const cordon_context *cx, const cordon_credential *c, cordon_error *e);
CORDON_API int cordon_vault_remove(const cordon_context *cx, const char *name, cordon_error *e);
/* Lists names and bindings, never secrets: lines, or a JSON list. */
CORDON_API char *cordon_vault_list(const cordon_context *cx, int json, cordon_error *e);
/* Lists lifetimes that are too long or grew, expired credentials, and credentials without a destination. */
CORDON_API char *cordon_vault_audit(const cordon_context *cx, int json, int *ret_count, cordon_error *e);
/* Plants a canary: a new file with a secret that exists only to be found. From then on every box that prints
 * it to a checked stream, or sends it through a `net` door that sees it, is stopped. */
CORDON_API int cordon_vault_canary(const cordon_context *cx, const char *path, cordon_error *e);
/* The planted canaries whose files still hold them, a path on each line. */
CORDON_API char *cordon_vault_canaries(const cordon_context *cx, cordon_error *e);

/* ---- output: bytes that a box, a tool or a server sent, before they reach anyone ---- */

typedef struct cordon_check {
        const char *as;     /* "text", "json" ..., as in a policy; NULL: text */
        const char *schema; /* a file with a JSON Schema, for json and jsonl; or NULL */
        uint64_t max;       /* bytes; 0: 64 MB */
        int verbatim;       /* 1: what passes stays as it is */
        int links;          /* 1: links are reported, and stay as they are */
} cordon_check;
/* Checks bytes in a process of its own, cordon-output. Returns 0 and what passes, or -1: refused, with the
 * reason. *ret_report, unless NULL, is its report in JSON, also then. The caller frees both. */
CORDON_API int cordon_check_bytes(const cordon_context *cx, const cordon_check *c, const void *p, size_t n,
                                  char **ret_out, size_t *ret_len, char **ret_report, cordon_error *e);
/* The same for bytes of this box, also after its end: searched as well for the secrets that its run has, and
 * links may lead where its doors lead. */
CORDON_API int cordon_box_check(const cordon_box *b, const cordon_check *c, const void *p, size_t n,
                                char **ret_out, size_t *ret_len, char **ret_report, cordon_error *e);
/* Checks with these options follow: makes a process ready for the next one, so that it does not wait for its
 * start. For a box that has started; again after each check. A check is the same without it. */
CORDON_API void cordon_box_check_ahead(cordon_box *b, const cordon_check *c);
/* Such a process for whichever of several boxes is next, if it would look for the same in all of them and
 * none has secrets of the vault. `k` outlives the boxes. */
typedef struct cordon_checks cordon_checks;
CORDON_API cordon_checks *cordon_checks_new(void);
CORDON_API void cordon_checks_free(cordon_checks *k);
CORDON_API void cordon_box_share_checks(cordon_box *b, cordon_checks *k);
/* Writes text as one inert word of "sh", "sql", "html", "json", "csv", "md", "url" or "term". */
CORDON_API char *cordon_encode(const char *context, const void *p, size_t n, cordon_error *e);
/* Text of a box for a person or a model, by the rules of cordon_check_bytes() but in this process: escape
 * sequences, controls and hidden characters become visible marks. Returns *ret_len bytes and how many were
 * cut; NULL: no memory. */
CORDON_API char *cordon_inert(const void *p, size_t n, size_t *ret_len, uint64_t *ret_cuts);
/* Output of a run with its origin, as one JSON object. The bytes must be those that the ledger has as the
 * output of `run` (NULL: the newest with their digest), and inert. `mark`: "delimiter", "datamark", "base64".
 */
CORDON_API char *cordon_envelope(const cordon_context *cx, const char *run, const char *mark, const void *p,
                                 size_t n, cordon_error *e);
/* Is the envelope unchanged, and is its content in the ledger under the record that it names? Returns 0 and
 * the record's id, or -1. */
CORDON_API int cordon_envelope_verify(const cordon_context *cx, const void *p, size_t n, char **ret_record,
                                      cordon_error *e);

CORDON_API const char *cordon_version(void);
CORDON_API const char *cordon_error_name(int code);
CORDON_API void cordon_free(void *p);

#ifdef __cplusplus
}
#endif
#endif
