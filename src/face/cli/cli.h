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

struct cli_verb {
        const char *name;                  /* up to three words: "ledger trace", "serve pool add" */
        const char *synopsis;              /* after "cordon NAME " */
        const char *help;                  /* one line */
        int (*run)(int argc, char **argv); /* argv[0] is the verb; returns the exit status */
        const struct cli_option *options;  /* ended by an empty row */
        bool takes_doors;                  /* also takes -p FILE and --WORD of the policy language */
        enum cli_group group;
        const char *(*name_at)(size_t i,
                               const char **ret_help); /* values of NAME, for completions; may be NULL */
        const char *program;                           /* that has this verb; NULL: this one */
        unsigned part; /* its bit in `of` of the options, if verbs share a table; they share a page as well */
};

/* One option: one row holds its names, its help and its effect. */
struct cli_option {
        const char *name; /* "json" for --json */
        char letter;      /* 'p' for -p; 0: none */
        const char *arg;  /* name of its argument in help; NULL: takes none */
        const char *help;
        int (*take)(void *ctx, const char *value); /* Returns 0; -1 after reporting an error. NULL: the value
                                                      goes to `field` */
        size_t field; /* of the struct that ctx points to: a bool, or with an argument a const char * */
        unsigned of;  /* the parts of the verbs that take it; 0: all with this table */
};
/* The first row that a verb takes, or the next one; NULL: none. */
const struct cli_option *cli_option_next(const struct cli_verb *v, const struct cli_option *o);
/* The end of a row whose option only sets a member of ctx's struct; a member of another type does not
 * compile. */
#define CLI_FLAG(type, member) NULL, CLI_FIELD(type, member, bool)
#define CLI_TEXT(type, member) NULL, CLI_FIELD(type, member, const char *)
#define CLI_FIELD(type, member, wanted)                                                                      \
        (offsetof(type, member) + 0 * sizeof(char[_Generic(((type *) 0)->member, wanted : 1)]))

/* The verbs that share ledger_options. */
enum {
        LEDGER_LIST = 1 << 0,
        LEDGER_SHOW = 1 << 1,
        LEDGER_TARGET = 1 << 2,
        LEDGER_REACH = 1 << 3,
        LEDGER_TOOLS = 1 << 4,
        LEDGER_HEALTH = 1 << 5,
        LEDGER_PROOF = 1 << 6,
        LEDGER_CHECKPOINT = 1 << 7,
        LEDGER_KEYS = 1 << 8,
        LEDGER_EXPORT = 1 << 9,
        LEDGER_PRUNE = 1 << 10,
        LEDGER_TILES = 1 << 11,
        LEDGER_ROTATE = 1 << 12,
        LEDGER_RESTART = 1 << 13
};
/* pool_options. */
enum { POOL_ADD = 1 << 0, POOL_LS = 1 << 1, POOL_RM = 1 << 2, POOL_STATS = 1 << 3 };
/* approve_options, label_options, vault_options, image_options. */
enum { APPROVE_ASK = 1 << 0, APPROVE_LS = 1 << 1 };
enum { LABEL_SHOW = 1 << 0, LABEL_ADD = 1 << 1, LABEL_DROP = 1 << 2 };
enum {
        VAULT_ADD = 1 << 0,
        VAULT_LS = 1 << 1,
        VAULT_ROTATE = 1 << 2,
        VAULT_RM = 1 << 3,
        VAULT_AUDIT = 1 << 4,
        VAULT_CANARY = 1 << 5
};
enum { IMAGE_LS = 1 << 0, IMAGE_ADD = 1 << 1, IMAGE_RM = 1 << 2, IMAGE_PRUNE = 1 << 3 };
/* policy_options. */
enum {
        POLICY_DIFF = 1 << 0,
        POLICY_SHOW = 1 << 1,
        POLICY_DIGEST = 1 << 2,
        POLICY_STOCK = 1 << 3,
        POLICY_IMPORT = 1 << 4
};

struct cli_json { /* for json_options */
        bool json;
};
/* An integer within bounds. Returns -1 after reporting the values that `option` takes. */
int cli_number(const char *option, const char *value, long least, long most, long *ret);
int cli_count(const char *option, const char *value, unsigned least, unsigned most, unsigned *ret);
/* A time from one second to one day. */
int cli_seconds(const char *option, const char *value, const char *example, unsigned *ret);
/* An option that can be given several times: a list with room for this many and NULL. Returns -1 after
 * reporting that there are too many. */
enum { CLI_LIST_MAX = 64 };
int cli_list_add(const char **list, const char *option, const char *value);

/* An option as it is typed, for completions. */
struct cli_typed {
        char name[64];     /* without dashes; of a letter, the long one */
        const char *arg;   /* as in its row; NULL: it takes none, or is a word of the policy */
        const char *value; /* that is in the same word; NULL: none */
};
/* The number of words of an option and its value: 1 or 2; 0: not an option. */
int cli_option_words(const struct cli_verb *verb, const char *word, struct cli_typed *ret);
/* Their first word is followed by a command, whose options are its own. */
bool cli_starts_command(const struct cli_verb *verb);

/* Puts options, and the "--" that ends them, before the other words: for verbs whose words are names, not a
 * command. */
void cli_options_first(int argc, char **argv, const struct cli_verb *verb);
/* The same, but "--" keeps its position: a run comes before it, and paths after. */
void cli_options_before_paths(int argc, char **argv, const struct cli_verb *verb);
/* Takes options from the front of argv, up to the first other word or "--". Returns its index, or -1 after
 * reporting an error. With `policy`, also takes -p FILE and --WORD ARG. */
int cli_options(int argc, char **argv, const struct cli_verb *verb, void *ctx, cordon_policy *policy);

/* One option of the policy among them: a word of the language, or a file. */
struct cli_door {
        char option[66];   /* as it was typed, without its value: "--read", "-p" */
        const char *value; /* its own word or not */
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
/* options.c: of --work; *work is replaced. */
int cli_work_set(cordon_policy *p, char **work, const char *value);
/* The file of the bearer token of `--http`, unless *file names one. -1: there is no place for it. */
enum { CLI_TOKEN_PATH = 4096 };
int cli_mcp_token(const char *http, const char **file, char place[CLI_TOKEN_PATH]);
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

/* cmd_boxes.c: boxes that a list leaves out, because their keepers give this process no answer. */
struct json;
struct cli_left_out {
        unsigned count;
        char why[256]; /* of the last one */
};
bool cli_leave_out(struct cli_left_out *l, const struct json *entry); /* true: this is one */
void cli_note_left_out(const struct cli_left_out *l);
/* A list of boxes that is being printed. */
struct cli_listing {
        struct cli_json asked;
        unsigned count;
        struct cli_left_out left_out;
};
/* A member of what a keeper says, or "?". */
const char *cli_text_of(const struct json *o, const char *key);

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
/* Returns 0, or EXIT_CORDON after reporting that such a verb takes no word. */
int cli_no_words(int argc, int at, const char *verb);
/* For a verb without options. Returns the index of its first word, or -1 after reporting an error. */
int cli_words_only(int argc, char **argv, const char *verb);
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
/* A run and paths that follow the options: [RUN] [PATH...], or -- PATH... for the newest overlay. */
void cli_run_and_paths(int argc, char **argv, int at, const char **ret_run, const char *const **ret_paths);
/* ask_person.c: shows the text, and asks whether it is accepted. A yes comes from the terminal alone: no
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
void cli_help_verb(const struct cli_verb *v);
/* help.c: for a verb without doors: takes its options, wherever they stand. Returns the index of the first
 * other word, or -1 after reporting an error: also if there are fewer words than `least`, or more than
 * `most`. */
int cli_take(int argc, char **argv, void *ctx, int least, int most);
enum { CLI_ANY = 1 << 30 };

/* complete.c: kinds of records, ended by NULL. */
extern const char *const cli_ledger_kinds[];
/* Prints the candidates for the end of these words, which follow `cordon`. */
int cli_complete(int argc, char **argv);

/* ledgers.c: --from DIR, as often as given; none: this user's own. */
struct cli_ledgers {
        const char *dirs[16];
        size_t count;
};
struct cli_ways {
        bool back, forward, json;
};
int cli_ledgers_add(struct cli_ledgers *l, const char *dir);
char *cli_ledgers_log(const struct cli_ledgers *l, cordon_log_view view, const char *arg, cordon_error *e);
char *cli_ledgers_trace(const struct cli_ledgers *l, const char *id, const struct cli_ways *w,
                        cordon_error *e);

int verb_agent(int argc, char **argv);
int verb_agent_accept(int argc, char **argv);
int verb_agent_hook(int argc, char **argv);
int verb_agent_ls(int argc, char **argv);
int verb_agent_setup(int argc, char **argv);
int verb_approve(int argc, char **argv);
int verb_approve_revoke(int argc, char **argv);
int verb_approve_stats(int argc, char **argv);
int verb_approve_decoys(int argc, char **argv);
int verb_incident(int argc, char **argv);
int verb_label(int argc, char **argv);
int verb_flow(int argc, char **argv);
int verb_fit(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_wrap(int argc, char **argv);
int verb_doors(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_why(int argc, char **argv);
int verb_learn(int argc, char **argv);
int cli_learn(int argc, char **argv, const char *lines); /* with these behind what it proposes */
int verb_tighten(int argc, char **argv);
int verb_new(int argc, char **argv);
int verb_policy_diff(int argc, char **argv);
int verb_policy_show(int argc, char **argv);
int verb_policy_import(int argc, char **argv);
int verb_policy_stock(int argc, char **argv);
int verb_vault(int argc, char **argv);
int verb_image(int argc, char **argv);
/* cmd_image.c: unpacks the image of a `root` line, if the store does not have it; 0 also without one. */
int cli_image_prepare(cordon_policy *p, bool *ret_image, cordon_error *e);
/* The command that the image names; the caller frees the list. NULL with *e set. */
char **cli_image_command(cordon_box *b, cordon_error *e);
int verb_ps(int argc, char **argv);
int verb_stop(int argc, char **argv);
int verb_logs(int argc, char **argv);
int verb_diff(int argc, char **argv);
int verb_apply(int argc, char **argv);
int verb_undo(int argc, char **argv);
int verb_discard(int argc, char **argv);
int verb_doctor(int argc, char **argv);
int verb_ledger(int argc, char **argv);
int verb_output_quote(int argc, char **argv);
int verb_output_check(int argc, char **argv);
int verb_output_wrap(int argc, char **argv);
int verb_output_verify(int argc, char **argv);
int verb_trace(int argc, char **argv);
int verb_merge(int argc, char **argv);
int verb_collect(int argc, char **argv);
int verb_verify(int argc, char **argv);
int verb_note(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_serve(int argc, char **argv);
int verb_mcp(int argc, char **argv);
int verb_mcp_wrap(int argc, char **argv);
int verb_mcp_learn(int argc, char **argv);
int verb_serve_token(int argc, char **argv);
int verb_serve_tenant(int argc, char **argv);
extern const struct cli_option serve_token_options[], serve_tenant_options[];
int verb_mcp_accept(int argc, char **argv);
int verb_pool_add(int argc, char **argv);
int verb_pool_rm(int argc, char **argv);
int verb_pool_ask(int argc, char **argv);
/* cmd_session.c: ends one, and prints what became of its changes. */
int cli_session_end(const char *which, bool json);
int verb_renew(int argc, char **argv);
int verb_session_new(int argc, char **argv);
int verb_session_run(int argc, char **argv);
int verb_session_ls(int argc, char **argv);
int verb_session_end(int argc, char **argv);
int verb_session_fork(int argc, char **argv);
int verb_shell(int argc, char **argv);
int verb_group(int argc, char **argv); /* prints the page of a group of verbs */
int verb_help(int argc, char **argv);
int verb_version(int argc, char **argv);

extern const struct cli_option discard_options[], agent_options[], agent_accept_options[],
        agent_hook_options[], approve_options[], label_options[];
extern const struct cli_option run_options[], json_options[], view_options[], doors_options[],
        check_options[], logs_options[], stop_options[], new_options[], learn_options[], tighten_options[],
        apply_options[], vault_options[], image_options[], fit_options[], serve_options[], pool_options[],
        diff_options[], ledger_options[], output_quote_options[], output_check_options[],
        output_wrap_options[], collect_options[], mcp_options[], mcp_wrap_options[], mcp_accept_options[],
        merge_options[], note_options[], report_options[], trace_options[], verify_options[], wrap_options[],
        session_new_options[], session_end_options[], session_run_options[], session_fork_options[],
        shell_options[], flow_options[], policy_options[], no_options[];
