/* SPDX-License-Identifier: MIT */
/* selftest/selftest.h - the commands of cordon-selftest. It is a program of its own so that no attack code is
 * part of cordon or libcordon; it shares the option tables, the help and the messages of cli/. */
#pragma once
#include "face/cli/cli.h"

void selftest_started_by(const char *path);
const char *selftest_cordon(void);

/* Attacks that walls do not stop. Each list ends with NULL. */
extern const char *const gaps_always[];       /* of every wall */
extern const char *const gaps_process_wall[]; /* missing in comparison with the namespace wall */
extern const char *const gaps_wasm_wall[];    /* of the engine */
extern const char *const gaps_no_group[];     /* if no control group holds a box */

/* breakout_child.c: `cordon selftest breakout --json` with the options in argv[1..], run now. `self`: our own
 * program. Returns its exit status; 125 if it did not run. */
struct buf;
int selftest_breakout(int argc, char **argv, char *self, struct buf *out);

/* claims_file.c: writes FILE and FILE.proof; compares two such files. Return the exit status. */
int claims_sign(const char *file, const struct buf *json);
int claims_diff(const char *old, const char *new, const char *key);
void claims_time(int64_t s, char ret[32]); /* "2026-11-18T08:00:00Z" */

int verb_audit(int argc, char **argv);
int verb_bombs(int argc, char **argv);
int verb_breakout(int argc, char **argv);
int verb_claims(int argc, char **argv);
int verb_walls(int argc, char **argv);

extern const struct cli_option audit_options[], bombs_options[], breakout_options[], claims_options[],
        walls_options[];
