/* SPDX-License-Identifier: MIT */
/* face/cli/run_stop.h - ends a box whose payload ignores SIGTERM, and one whose batch job is over. */
#pragma once
#include "cordon.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The batch job that this process belongs to. */
struct cli_job {
        cordon_batch is;
        bool in;   /* false: in none */
        bool self; /* this process is the job's task: the job ends with it */
        int fd;    /* pidfd of the process that the job ends with; -1: it could not be found */
};
void cli_job_find(struct cli_job *ret);
/* In a batch job a detached box ends with the job, not with the command that started it: says so. Not 0: it
 * cannot be detached here. */
int cli_job_check(const struct cli_job *job, bool quiet);

/* Call it before signals are caught. The box does not outlive SIGTERM for long if the process `parent` is not
 * this one's parent any more (0: it need not be), or the one behind `job_fd` (-1: none) has ended. */
void cli_stop_begin(pid_t parent, int job_fd);
/* SIGTERM arrived. Async-signal-safe. */
void cli_stop_asked(void);
/* How long the box may be waited for before the next look; -1: until something happens. */
int cli_stop_wait_ms(void);
/* Ends the box if its time has come. */
void cli_stop_look(cordon_box *b);
/* Why the box was killed, for people; NULL: it was not. */
const char *cli_stop_reason(void);
