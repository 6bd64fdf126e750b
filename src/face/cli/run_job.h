/* SPDX-License-Identifier: MIT */
/* face/cli/run_job.h - a command line that runs something: `cordon run`, and the runs of sessions
 * (cmd_session.c).
 */
#pragma once
#include "face/cli/handle_options.h"
#include "face/cli/run_end.h"

enum { OPTIONS = CORDON_WORK_COPY + 1 };

struct run {
        struct cli_end end;
        cordon_policy *policy;
        cordon_box *box;
        const char *set[OPTIONS]; /* for cordon_box_set(), by its number; NULL: unchanged */
        struct cli_handles handles;
        bool no_stdin, plan, detach, no_tty, interactive, require_ledger;
        const char *canary_file; /* a policy that some runs try out */
        unsigned canary_share, canary_bound;
        cordon_canary *canary; /* this run is one of them; NULL: it is not */
        bool script;
        char **command;                  /* of a script, or of an image */
        bool image;                      /* the box's root is an image, and its programs are not the host's */
        char *found;                     /* the command, if only the caller's PATH has it */
        bool session;                    /* `box` is a session, which has no command */
        const char *limits[3];           /* --time, --cpu, --output of such a run */
        bool arg_files, arg_directories; /* show the files that the command's arguments name */
};

/* session_keep.c: starts a session and waits until it takes runs. */
int cli_session_up(cordon_box *session, cordon_error *e);
/* Drives a session until it is over. SIGTERM ends it in order. */
void cli_session_keep(cordon_box *session);

/* run_notes.c: notes about doors that are wider than they look; the policy of this run, which may be on
 * trial. */
void cli_run_notes(const struct run *r);
const char *cli_run_observes(const struct run *r); /* unless --observe says it */
void cli_run_held(struct run *r); /* effects that wait for an approval are reported as they come */
cordon_policy *cli_run_policy(const struct run *r);

/* run_terminal.c: the caller's terminal becomes raw; -1 after reporting an error. */
int cli_terminal_take(void);
void cli_terminal_restore(void);
void cli_terminal_drain(void);         /* drops replies of the terminal to the box */
void cli_terminal_size(cordon_box *b); /* tells the box its size */

/* cmd_run.c */
int cli_set_name(void *ctx, const char *value); /* of --name */
/* Sets the options of the box, and its command; NULL: a session. -1 after reporting an error. */
int cli_run_configure(struct run *r, char **command);
/* If all three standard streams are a terminal, the box gets a terminal of its own. */
void cli_run_terminal(struct run *r);
/* Starts it and stays with it until its end. Returns the exit status. */
int cli_run_here(struct run *r);
/* The same in the background: prints the run id. */
int cli_run_detached(struct run *r);
int cli_run_failed(const struct run *run, const cordon_error *e); /* reports a start that failed */
/* The policy and the box, from the options of the verb that is run. Returns the index of the first other
 * word, or -1 after reporting an error. cli_run_options(): the options alone. */
int cli_run_begin(struct run *r, int argc, char **argv);
int cli_run_options(struct run *r, int argc, char **argv, cordon_policy *policy);
/* Frees them; of a failure that was not reported to programs, does that. Returns the status. */
int cli_run_done(struct run *r, int status);
