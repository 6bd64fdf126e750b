/* SPDX-License-Identifier: MIT */
/* face/cli/run_notes.c - notes about the doors of a run, before anything passes through them. */
#include "face/cli/agents.h"
#include "face/cli/run_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cordon_policy *cli_run_policy(const struct run *r)
{
        return r->canary ? cordon_canary_policy(r->canary) : r->policy;
}

/* A policy file was checked when it was written; an option is typed once. */
static bool is_worth_saying(const cordon_note *n)
{
        static const char *const always[] = { "W131", "W138", "W140", "W143" }, *const of_options[] = {
                "W114", "W122", "W123"
        };

        for (size_t i = 0; i < sizeof always / sizeof *always; i++)
                if (strcmp(n->code, always[i]) == 0)
                        return true;

        for (size_t i = 0; n->line == 0 && i < sizeof of_options / sizeof *of_options; i++)
                if (strcmp(n->code, of_options[i]) == 0)
                        return true;

        return false;
}

static bool is_variable(const cordon_note *n) { return strcmp(n->code, "W114") == 0; }

/* A coding agent without a door to its API: the verb for agents opens it. */
static void say_agent(const struct run *r)
{
        const char *program = r->end.program, *slash = strrchr(program, '/');
        const char *name = slash ? slash + 1 : program;
        cordon_error e = { 0 };
        if (!cli_agent_find(name))
                return;

        if (cordon_policy_opens(cli_run_policy(r), "net", &e) <= 0)
                cli_note("note: `cordon agent %s` opens its API and this project, its key outside the box",
                         name);
}

static void say_note(const cordon_note *n)
{
        if (n->line > 0)
                cli_note("note: %s:%u:%u: %s: %s", n->file, n->line, n->column, n->code, n->text);
        else
                cli_note("note: %s: %s: %s", n->file, n->code, n->text);
}

/* Warns, before anything passes through it, of a door that a symlink by another user moved out of the
 * workspace, whose files another user owns, that covers the next run's policy, or that by an option opens
 * a store of secrets. */
void cli_run_notes(const struct run *r)
{
        cordon_error e = { 0 }; /* of an invalid policy: the start reports it */
        cordon_note n;
        const struct cli_shared *o = &r->end.asked;
        if (!o->quiet && o->places)
                (void) cordon_policy_places(cli_run_policy(r), o->places, o->stage, &e);

        if (!r->end.asked.quiet)
                say_agent(r);

        bool variable = false; /* one sentence about the vault is enough */
        for (size_t i = 0; !r->end.asked.quiet && cordon_policy_note(cli_run_policy(r), i, &n, &e) == 1;
             i++) {
                bool again = is_variable(&n) && variable;
                variable |= is_variable(&n);
                if (is_worth_saying(&n) && !again)
                        say_note(&n);
        }
}

/* If nobody reads reports of hidden paths, and no ledger keeps them, they are not collected. */
const char *cli_run_observes(const struct run *r)
{
        const char *ledger = r->set[CORDON_LEDGER] ? r->set[CORDON_LEDGER] : getenv("CORDON_LEDGER");
        bool kept = !ledger || strcmp(ledger, "off") != 0;
        bool read =
                !r->end.asked.quiet || r->end.asked.json || r->end.status_fd >= 0 || r->canary || r->session;
        return kept || read ? "denials" : "calls";
}

/* Before and after a note: a terminal that is raw begins its lines itself. */
static const char *line_home(const struct run *r)
{
        cli_box_spoke(cordon_box_result(r->box)->mid_line);
        return r->set[CORDON_TTY] ? "\r" : "";
}

/* A run that waits for a person says so at once. */
static void say_held(void *ctx, const char *id, const char *effect, unsigned within_s)
{
        const char *home = line_home(ctx);
        (void) fputs(home, stderr);
        cli_note_held(id, effect, within_s);
        (void) fputs(home, stderr);
}

/* Only the caller can renew: a run that ends for want of it would be a surprise. */
static void say_ending(void *ctx, unsigned left_s, unsigned renewals)
{
        const struct run *r = ctx;
        const char *home = line_home(r);
        (void) fputs(home, stderr);
        if (renewals)
                cli_note("time limit in %us; extend it: cordon session renew %s", left_s,
                         cordon_box_run_id(r->box));
        else
                cli_note("time limit in %us; no renewals left", left_s);
        (void) fputs(home, stderr);
}

void cli_run_held(struct run *r)
{
        if (r->end.asked.quiet)
                return;

        cordon_box_on_held(r->box, say_held, r);
        cordon_box_on_ending(r->box, say_ending, r);
}
