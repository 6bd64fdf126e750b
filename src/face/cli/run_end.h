/* SPDX-License-Identifier: MIT */
/* face/cli/run_end.h - the report at the end of a run, for users and programs. */
#pragma once
#include "face/cli/cli.h"

struct cli_end {
        struct cli_shared asked;
        int status_fd;      /* -1: none */
        const char *record; /* the file of recorded exchanges, or NULL */
        cordon_policy *policy;
        const char *program;  /* that was run, as it was typed */
        char *const *command; /* with its arguments */
        const char *run;      /* its id */
        const char *trip;     /* what stops it, or NULL */
        const char *fresh;    /* of a write or edit door: a path that did not exist, or NULL */
        bool doors;           /* files or a policy were named */
        bool in_session;      /* doors are opened when the session begins */
};

/* here.c: prints that the box does not show the current directory, if this may be why the run failed or
 * did nothing. */
bool cli_here_say(const struct cli_end *o, const cordon_result *r);
/* For a run that failed: options of cordon among the words of the command. */
void cli_here_options(const struct cli_end *o);
/* For a shell with a script of this directory: how to run an untrusted script. */
void cli_here_script(const struct cli_end *o);
/* The path of a door that does not exist yet, and that is made as a file; else NULL. */
const char *cli_here_fresh(const struct cli_door *d);
/* For a run that failed: it is still the empty file that it was made as. */
void cli_here_still_empty(const struct cli_end *o);
/* The option that shows it. */
void cli_here_hint(const char *door);

/* For the user, on standard error. */
void cli_end_say(const struct cli_end *o, const cordon_result *r);
/* Only what was blocked, the worst first, the rest folded. */
void cli_end_blocked(const struct cli_end *o, const cordon_result *r);
/* And destinations of net doors that were not reached. */
void cli_end_unreached(const struct cli_end *o, cordon_box *b);
/* For programs, if requested. Returns -1 after reporting that it could not be delivered. */
int cli_end_status(const struct cli_end *o, cordon_box *b);
/* The same for a start that failed; or, with the run's id, for a run whose results could not be delivered. */
void cli_end_failure(const struct cli_end *o, const char *run, const cordon_error *e);
/* The same for a message that only the user got. */
void cli_end_untold(const struct cli_end *o);
