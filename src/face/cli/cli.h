/* SPDX-License-Identifier: MIT */
/* face/cli/cli.h - the command line: a table of verbs, one file per verb, tables of options. Uses cordon.h
 * and base/ only. */
#pragma once
#include "cordon.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXIT_CORDON = 125 };

/* The groups in which `cordon help` lists the verbs. */
enum cli_group {
        GROUP_RUN = 0,
        GROUP_REVIEW,
        GROUP_UNDERSTAND,
        GROUP_RECORD,
        GROUP_SET_UP,
        GROUP_OPERATE,
        GROUP__COUNT /* of a verb that is not listed */
};

/* What the words of a verb are, besides its options. */
enum cli_words {
        CLI_NAMES = 0, /* options may stand anywhere among them */
        CLI_PATHS,     /* the same, but "--" keeps its position: a run comes before it, and paths after */
        CLI_COMMAND,   /* a command, whose options are its own */
        CLI_IN_ORDER   /* a name, and then a command */
};
enum { CLI_ANY = 1 << 30 };

struct cli_verb {
        const char *name;                  /* up to three words: "ledger trace", "serve pool add" */
        const char *synopsis;              /* after "cordon NAME " */
        const char *help;                  /* one line */
        int (*run)(int argc, char **argv); /* argv[0] is the verb; returns the exit status */
        const struct cli_option *options;  /* its own, ended by an empty row */
        bool takes_doors;                  /* also takes -p FILE and --WORD of the policy language */
        enum cli_group group;
        const char *(*name_at)(size_t i,
                               const char **ret_help); /* values of NAME, for completions; may be NULL */
        const char *program;                           /* that has this verb; NULL: this one */
        unsigned part;                                 /* its bit in `of` of options that verbs share */
        unsigned shared;                               /* OPT_*: rows of cli_shared_options */
        enum cli_words words;
        int least, most;   /* the number of its words */
        const char *which; /* the error if there are fewer or more; NULL: the synopsis */
        bool group_page;   /* the page of its group describes it */
};

/* How the value of an option is kept. */
enum cli_kind {
        CLI_KIND_CALL = 0, /* `take` does it */
        CLI_KIND_FLAG,     /* a bool */
        CLI_KIND_TEXT,     /* a const char *: without an argument "1"; of "a|b|c" one of them */
        CLI_KIND_ONCE,     /* the same, and an error if it is given twice */
        CLI_KIND_COUNT,    /* an unsigned from `least` to `most` */
        CLI_KIND_SECONDS,  /* an unsigned: a time from one second to one day */
        CLI_KIND_TIME,     /* an int64_t: the microsecond of cli_time() */
        CLI_KIND_LIST      /* a const char *[CLI_LIST_MAX + 1], ended by NULL */
};
enum { CLI_LIST_MAX = 64 };

/* One option: one row holds its names, its help and its effect. */
struct cli_option {
        const char *name; /* "json" for --json */
        char letter;      /* 'p' for -p; 0: none */
        const char *arg;  /* name of its argument in help; NULL: takes none */
        const char *help;
        int (*take)(void *ctx, const char *value); /* Returns 0; -1 after reporting an error */
        enum cli_kind kind;
        size_t field; /* of the struct that ctx points to */
        unsigned least, most;
        unsigned of; /* the parts of the verbs that take it; 0: all with this table */
};
/* The first row that a verb takes, or the next one: its own, then shared ones. NULL: none. */
const struct cli_option *cli_option_next(const struct cli_verb *v, const struct cli_option *o);
/* How a row goes on whose option only sets a member of ctx's struct; a member of another type does not
 * compile. */
#define CLI_FLAG(type, member)               CLI_FIELD(type, member, FLAG, bool), 0, 0
#define CLI_TEXT(type, member)               CLI_FIELD(type, member, TEXT, const char *), 0, 0
#define CLI_ONCE(type, member)               CLI_FIELD(type, member, ONCE, const char *), 0, 0
#define CLI_COUNT(type, member, least, most) CLI_FIELD(type, member, COUNT, unsigned), least, most
#define CLI_SECONDS(type, member)            CLI_FIELD(type, member, SECONDS, unsigned), 0, 0
#define CLI_TIME(type, member)               CLI_FIELD(type, member, TIME, int64_t), 0, 0
#define CLI_LIST(type, member)               CLI_FIELD(type, member, LIST, const char **), 0, 0
#define CLI_CALL(take)                       take, CLI_KIND_CALL, 0, 0, 0
#define CLI_FIELD(type, member, kind, wanted)                                                                \
        NULL, CLI_KIND_##kind,                                                                               \
                (offsetof(type, member) + 0 * sizeof(char[_Generic(((type *) 0)->member, wanted : 1)]))

/* shared_options.c: the options that mean the same in every verb that takes them. */
enum {
        OPT_WORK = 1 << 0,
        OPT_STAGE = 1 << 1,
        OPT_PLACES = 1 << 2,
        OPT_LEDGER = 1 << 3,
        OPT_OBSERVE = 1 << 4,
        OPT_PASSPHRASE = 1 << 5,
        OPT_HTTP = 1 << 6,
        OPT_CONFIG = 1 << 7,
        OPT_FROM = 1 << 8,
        OPT_PAST = 1 << 9, /* --box, --since, --last */
        OPT_SINCE = 1 << 10,
        OPT_STATUS = 1 << 11,
        OPT_REASON = 1 << 12,
        OPT_SHOW = 1 << 13,
        OPT_ALL = 1 << 14,
        OPT_ROOT = 1 << 15,
        OPT_JSON = 1 << 16,
        OPT_VERBOSE = 1 << 17,
        OPT_QUIET = 1 << 18
};
/* Their values: the first member of the struct of a verb that takes any. */
struct cli_shared {
        bool json, verbose, quiet, all, root, show;
        const char *work, *stage, *places, *ledger, *observe; /* NULL: not given */
        const char *passphrase_fd, *http, *token_file, *config, *box, *reason;
        const char *from[CLI_LIST_MAX + 1];
        int64_t since_us;
        unsigned last, status;
};
extern const struct cli_option cli_shared_options[];
extern const size_t cli_shared_count;

/* The parts of tables that several verbs share: of those that run something, learn_options, view_options,
 * ledger_options, vault_options. */
enum {
        RUN_RUN = 1 << 0,
        RUN_AGENT = 1 << 1,
        RUN_SHELL = 1 << 2,
        RUN_NEW = 1 << 3,
        RUN_FORK = 1 << 4,
        RUN_IN = 1 << 5,
        RUN_ALL = (1 << 6) - 1
};
enum { LEARN = 1 << 0, TIGHTEN = 1 << 1 };
enum { LEDGER_LIST = 1 << 0, LEDGER_EXPORT = 1 << 1, LEDGER_PRUNE = 1 << 2 };
enum { VAULT_ADD = 1 << 0, VAULT_ROTATE = 1 << 1 };

/* The number of a descriptor that is open for reading ('r') or for writing ('w'); else -1. */
int cli_descriptor(const char *value, char way);
/* An integer within bounds. Returns -1 after reporting the values that `option` takes. */
int cli_number(const char *option, const char *value, long least, long most, long *ret);
/* The number of entries of a list that ends with NULL. */
size_t cli_list_count(const char *const *list);

/* An option as it is typed, for completions. */
struct cli_typed {
        char name[64];     /* without dashes; of a letter, the long one */
        const char *arg;   /* as in its row; NULL: it takes none, or is a word of the policy */
        const char *value; /* that is in the same word; NULL: none */
};
/* The number of words of an option and its value: 1 or 2; 0: not an option. */
int cli_option_words(const struct cli_verb *verb, const char *word, struct cli_typed *ret);
/* Puts options before the other words, and the "--" that ends them, unless it keeps its position. */
void cli_options_first(int argc, char **argv, const struct cli_verb *verb);
/* Takes options from the front of argv, up to the first other word or "--". Returns its index, or -1 after
 * reporting an error. With `policy`, also takes -p FILE and --WORD ARG. */
int cli_options(int argc, char **argv, const struct cli_verb *verb, void *ctx, cordon_policy *policy);

/* One option of the policy among them: a word of the language, or a file. */
struct cli_door {
        char option[66];   /* as it was typed, without its value: "--read", "-p" */
        const char *value; /* its own word or not; NULL: none */
        bool file;
};
typedef void cli_door_taker(void *ctx, const struct cli_door *d);
/* Adds those that cli_options() has taken once more, in their order. */
void cli_doors_again(int argc, char **argv, const struct cli_verb *verb, cli_door_taker *take, void *ctx);
/* The words among them, for a second policy; files are left out. */
int cli_words_again(int argc, char **argv, const struct cli_verb *verb, cordon_policy *policy);

/* As cordon_policy_new() and cordon_box_new(), but a NULL result is already reported. */
const cordon_context *cli_context(void); /* of this process */
cordon_policy *cli_policy_new(void);
cordon_box *cli_box_new(cordon_policy *policy);
/* {work} of the policy is this directory; NULL: the current one. Returns -1 after reporting an error. */
int cli_work(cordon_policy *p, const char *work);
/* The file of the bearer token of `--http`, unless one is named. -1: there is no place for it. */
enum { CLI_TOKEN_PATH = 4096 };
int cli_mcp_token(struct cli_shared *asked, char place[CLI_TOKEN_PATH]);
/* A policy file, or a stock policy by its name. */
int cli_policy_load(cordon_policy *p, const char *path, cordon_error *e);
/* The text of such a policy; the caller frees. Returns NULL after reporting an error. */
char *cli_policy_text(const char *path, size_t *ret_len);
/* "2h" ago, or a day or second in UTC: 2026-11-15, 2026-11-15T08:00:00. Returns -1 after reporting an
 * error. */
int cli_time(const char *text, int64_t *ret_us);
/* Did cli_options() report an invalid policy or door? */
bool cli_policy_failed(void);

/* dispatch.c: runs the verb that argv names; returns the exit status. */
int cli_main(int argc, char **argv, const struct cli_verb *verbs, size_t count);
/* become.c: becomes the program of the verb, if that is another one. Returns if it is not, or cannot be
 * started: then verb_elsewhere() says why. */
void cli_become(int argc, char **argv);
int verb_elsewhere(int argc, char **argv);

/* verb_find.c: main() registers its verbs; then they can be listed and found. */
void cli_verbs_are(const struct cli_verb *v, size_t count);
const struct cli_verb *cli_verbs(size_t *ret_count);
const struct cli_verb *cli_verb_find(const char *name);
/* The verb that the first words name; *ret_words: how many. NULL: none. */
const struct cli_verb *cli_verb_named(int argc, char **argv, int *ret_words);
/* Both words list, at every verb that lists. */
bool cli_is_list(const char *word);
/* The last word of a verb of this group ("ledger"), or NULL. */
const char *cli_verb_rest(const struct cli_verb *v, const char *group);
bool cli_is_group(const char *name);
/* Permanent other names of verbs: the one at this index, or NULL. */
const char *cli_synonym(size_t i, const struct cli_verb **ret_verb);

/* messages.c: one line to standard error, with all text made inert. Those with a result return
 * EXIT_CORDON. */
void cli_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int cli_problem(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* cordon: error: ... */
int cli_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));    /* cordon: hint: ... */
int cli_error(const cordon_error *e);                                        /* both */
/* Sets an error of the command line's own, without a hint; `code` is one of base/err.h. Returns -1. */
int cli_fail(cordon_error *e, int code, int sys, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int cli_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* and refers to the verb's help */
/* The verb that is run, for the reference in cli_usage(). */
void cli_verb_is(const struct cli_verb *verb);
const struct cli_verb *cli_verb_now(void);
/* A box had standard error, and may have left an incomplete line or attributes there: our next message
 * starts on a new line, as plain text. */
void cli_box_spoke(bool mid_line);
void cli_line_begin(void);
/* A terminal that knows colours and the like. */
bool cli_obeys_escapes(int fd);

/* newfile.c: writes a new file, with the mode that the umask leaves. Returns 0, or EXIT_CORDON after
 * reporting an error with `advice`. */
struct span;
int cli_new_file(const char *path, unsigned mode, struct span text, const char *advice);
int cli_new_file_may(const char *path, const char *advice); /* the same, before the content exists */

/* failure.c: the first problem of all that were reported, and its hint. */
void cli_failure_is(int code, int sys, const char *what);
void cli_failure_hint(const char *hint);
/* The next report is about this policy file. "": the first is about none. */
void cli_failure_in(const char *policy);
const char *cli_failure_file(void);
/* For programs, as a list of one: the output of `check` for a policy that does not load. `name`: its
 * position, unless the message itself begins with a file and a line. */
void cli_failure_put(const cordon_error *e, const char *name);
/* It was reported in another form. */
void cli_failure_told(void);
/* NULL: nothing failed, or it was already reported to programs. */
const cordon_error *cli_failure_untold(void);

/* The equivalent of an option of another tool, given with its dashes; NULL: unknown. `verb`: NULL for
 * those that take doors. */
const char *cli_habit(const char *verb, const char *typed);
/* The same for a verb. */
const char *cli_verb_habit(const char *typed);
/* Does an option among them, also after words that are not a command, ask for help? */
bool cli_help_asked(int argc, char **argv, const struct cli_verb *verb);
/* The value of a verb's own option, or "", even if others are invalid. NULL: not given. */
const char *cli_asked(int argc, char **argv, const struct cli_verb *verb, const char *name);
/* Reports the unknown command and suggests the nearest one. */
int cli_unknown_verb(char **argv);
/* Prints and frees. Returns EXIT_CORDON if it is NULL or cannot be written. */
int cli_give(char *text, const cordon_error *e);
/* The same for a text that the caller keeps. */
struct buf;
int cli_put(const struct buf *text);
/* The path of this program, NUL-terminated; false: /proc is not mounted. */
bool cli_self(char *ret, size_t cap);
/* For cordon_box_on_output() if the output is not read. */
void cli_ignore_output(void *ctx, int stream, const void *data, size_t len);
/* Text as a quoted word of the policy language. */
void cli_put_quoted(struct buf *out, const char *text);
/* Changes that wait in an overlay, and what to type next. */
void cli_note_changes(long long entries, long long flagged, const char *overlay);
/* An effect that waits for a person. SAFETY: the box chose it; it is shown as one line. */
void cli_note_held(const char *id, const char *effect, unsigned within_s);
/* Reads to the end of the file. Returns 0, or -1 with errno: EFBIG if it has more than `most` bytes. */
int cli_read(int fd, size_t most, struct buf *out);
/* A run and paths that follow the options: [RUN] [PATH...], or -- PATH... for the newest overlay. */
void cli_run_and_paths(int argc, char **argv, int at, const char **ret_run, const char *const **ret_paths);
/* ask_person.c: asks on the terminal, never on standard input. Returns 1, 0, or -1: there is none. */
int cli_ask(const char *shown, const char *question);
/* Shows the text, and asks whether it is accepted. A yes comes from the terminal alone: no
 * pipe, and no agent behind one, can give it. Returns 0, or -1 with *e set. */
int cli_ask_person(const char *shown, cordon_error *e);
/* inputs.c: opens a file that an option (NULL: a word) names for reading. Returns -1 after reporting an
 * error. Never blocks on a FIFO. */
int cli_open_input(const char *option, const char *path);
/* The text for a result of fd_open_named(). */
const char *cli_not_opened(int sys);
/* ledger_send.c: prints or sends an export; returns the exit status. */
struct cli_export {
        const char *format, *to; /* to: a URL, or a file with one and header lines; NULL: standard output */
        const cordon_log_filter *filter;
        bool follow; /* what is written from now on, or since the filter says */
};
int cli_log_export(const struct cli_export *x);
/* progress.c: for work that may take over a second; prints nothing unless standard error is a terminal. */
struct cli_progress {
        bool off;
        int width;       /* length of the current line; 0: none */
        uint64_t due_ns; /* when the next may be written */
};
struct cli_progress cli_progress_begin(void);
void cli_progress(void *ctx, const char *doing, size_t done, size_t total); /* ctx: struct cli_progress */
void cli_progress_clear(struct cli_progress *p);                            /* call before any other output */
void cli_progress_end(struct cli_progress *p);
/* As cli_sink(), on the terminal that may show the line. */
struct cli_progress_out {
        struct cli_progress *progress;
        void *to;  /* FILE */
        bool ends; /* no line after the first output */
};
void cli_progress_sink(void *ctx, const void *data, size_t len);
/* Writes to the FILE that ctx is. */
void cli_sink(void *ctx, const void *data, size_t len);
void cli_help_verb(const struct cli_verb *v, bool all);
/* help.c: takes the options of the verb that is run, in the order that its words have. Returns the index of
 * the first word, or -1 after reporting an error, also about the number of words. cli_take_doors(): the same
 * with the doors of a policy. */
int cli_take(int argc, char **argv, void *ctx);
int cli_take_doors(int argc, char **argv, void *ctx, cordon_policy *policy);

/* For each word; returns the exit status. */
int cli_each(char **words, int (*act)(const cordon_context *cx, const char *word, cordon_error *e));
/* A verb that takes no word and prints one text. */
int cli_view(int argc, char **argv, char *(*view)(const cordon_context *cx, int json, cordon_error *e));

/* complete.c: kinds of records, ended by NULL. */
extern const char *const cli_ledger_kinds[];

/* cmd_ledger_more.c: of the ledgers that --from DIR names; none: of this user's own. */
char *cli_ledgers_log(const char *const *from, cordon_log_view view, const char *arg, cordon_error *e);

int cli_learn(int argc, char **argv, const char *lines); /* with these behind what it proposes */
/* cmd_session.c: ends one, and prints what became of its changes. */
int cli_session_end(const char *which, bool json);

int verb_group(int argc, char **argv); /* prints the page of a group of verbs */
#define RUN(name, synopsis, help, verb, ...) int verb(int argc, char **argv);
#define REVIEW                               RUN
#define EACH                                 RUN
#define GROUP(...)
#define SELFTEST(...)
#include "face/cli/verb_rows.inc"
#undef RUN
#undef REVIEW
#undef EACH
#undef GROUP
#undef SELFTEST

extern const struct cli_option no_options[], run_options[], agent_accept_options[], agent_hook_options[],
        approve_options[], check_options[], logs_options[], stop_options[], new_options[], learn_options[],
        apply_options[], vault_options[], serve_options[], pool_add_options[], diff_options[],
        discard_options[], flow_options[], ledger_options[], output_quote_options[], output_check_options[],
        output_wrap_options[], collect_options[], mcp_options[], mcp_wrap_options[], merge_options[],
        note_options[], report_options[], trace_options[], verify_options[], wrap_options[],
        serve_token_options[], serve_page_options[];
