/* SPDX-License-Identifier: MIT */
/* cli/run_end.h - what is said when a run is over, to people and to programs. */
#pragma once
#include "cli/cli.h"

struct cli_end {
        bool quiet, json, verbose;
        int status_fd;      /* -1: none */
        const char *record; /* the file of recorded exchanges, or NULL */
        cordon_policy *policy;
        const char *program;  /* that was run, as it was typed */
        char *const *command; /* with its arguments */
        const char *run;      /* its id */
        bool doors;           /* files or a policy were named */
};

/* here.c: says that the box does not show the directory where it was typed, if this may be why the run failed
 * or did nothing. */
bool cli_here_say(const struct cli_end *o, const cordon_result *r);
/* Of a run that failed: options of cordon that stand among the words of the command. */
void cli_here_options(const struct cli_end *o);
/* A shell that was given a script of this directory: how a script runs that nobody trusts. */
void cli_here_script(const struct cli_end *o);
/* The option that shows it. */
void cli_here_hint(const char *door);

/* To people, on standard error. */
void cli_end_say(const struct cli_end *o, const cordon_result *r);
/* And what net doors lead to that was not reached. */
void cli_end_unreached(const struct cli_end *o, cordon_box *b);
/* To programs, if any asked; -1 after it was said that they did not get it. */
int cli_end_status(const struct cli_end *o, cordon_box *b);
/* The same for a start that failed; or, with the run's id, for a run whose results did not get where they
 * belong. */
void cli_end_failure(const struct cli_end *o, const char *run, const cordon_error *e);
/* The same for what was said to people alone. */
void cli_end_untold(const struct cli_end *o);
