/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_run.c - `cordon run`: options, terminal, signals, detaching, and the report at the end. */
#include "base/end_signals.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/arguments.h"
#include "face/cli/handle_options.h"
#include "face/cli/run_job.h"
#include "face/cli/run_stop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signal handlers have no other way to reach the box. Written before they are installed. */
static cordon_box *volatile signal_box;
static volatile sig_atomic_t resized;

/* A setter for cordon_box_set() that always gives the same. */
#define GIVES(name, option, fixed)                                                                           \
        static int set_##name(void *ctx, const char *value)                                                  \
        {                                                                                                    \
                (void) value;                                                                                \
                ((struct run *) ctx)->set[option] = fixed;                                                   \
                return 0;                                                                                    \
        }
GIVES(tty, CORDON_TTY, "1")
GIVES(root, CORDON_ROOT_INSIDE, "1")
GIVES(keep, CORDON_WORK_KEEP, "1")
GIVES(copy, CORDON_WORK_COPY, "1")
GIVES(require, CORDON_REQUIRE_GROUPS, "1")
GIVES(require_ledger, CORDON_LEDGER, "require")

int cli_set_name(void *ctx, const char *value)
{
        size_t n = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
        if (n == 0 || value[n] || n > 60)
                return cli_usage("a name has letters, digits, `_`, `.` and `-`, at most 60"), -1;
        ((struct run *) ctx)->set[CORDON_NAME] = value;
        return 0;
}

static int set_ledger(void *ctx, const char *value)
{
        if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
                return cli_usage("--ledger takes on or off"), -1;
        const char **set = &((struct run *) ctx)->set[CORDON_LEDGER];
        if (!*set || strcmp(*set, "require") != 0) /* which takes precedence */
                *set = value;
        return 0;
}

static int set_cwd(void *ctx, const char *value)
{
        static char clean[PATH_MAX];
        char here[PATH_MAX] = "/"; /* a relative path starts here, as in doors */
        if (value[0] != '/' && !getcwd(here, sizeof here))
                return cli_usage("--cwd %s: the directory that it starts from is gone", value), -1;

        if (!path_join(here, value, clean, sizeof clean))
                return cli_usage("--cwd: the path is too long"), -1;

        ((struct run *) ctx)->set[CORDON_CWD] = clean;
        return 0;
}

static int set_stage(void *ctx, const char *value)
{
        if (strcmp(value, "live") != 0 && strcmp(value, "test") != 0 && strcmp(value, "mock") != 0)
                return cli_usage("--stage takes live, test or mock"), -1;
        ((struct run *) ctx)->set[CORDON_STAGE] = value;
        return 0;
}

static int set_pool(void *ctx, const char *value)
{
        if (strcmp(value, "auto") != 0 && strcmp(value, "require") != 0 && strcmp(value, "off") != 0)
                return cli_usage("--pool takes auto, require or off"), -1;
        ((struct run *) ctx)->set[CORDON_POOL] = value;
        return 0;
}

/* Output that is not read during the run is kept for `cordon logs`. */
static int set_detach(void *ctx, const char *value)
{
        (void) value;
        ((struct run *) ctx)->detach = true;
        ((struct run *) ctx)->set[CORDON_KEEP_OUTPUT] = "1";
        return 0;
}

static int set_record(void *ctx, const char *value)
{
        ((struct run *) ctx)->set[CORDON_RECORD] = ((struct run *) ctx)->end.record = value;
        return 0;
}

static int set_work(void *ctx, const char *value)
{
        struct run *r = ctx;
        return cli_work_set(r->policy, &r->work, value);
}

/* The number of an open descriptor whose access mode is not `not_only`; else -1. */
static int open_descriptor(const char *value, int not_only)
{
        char *end;
        errno = 0;
        long fd = strtol(value, &end, 10);
        if (errno || end == value || *end || fd < 0 || fd > 65535)
                return -1;

        int flags = fcntl((int) fd, F_GETFL);
        return flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == not_only ? -1 : (int) fd;
}

static int set_status_fd(void *ctx, const char *value)
{
        int fd = open_descriptor(value, O_RDONLY);
        if (fd < 0)
                return cli_usage("--status-fd %s is not a descriptor that is open for writing", value), -1;
        ((struct run *) ctx)->end.status_fd = fd;
        return 0;
}

static int set_passphrase_fd(void *ctx, const char *value)
{
        if (open_descriptor(value, O_WRONLY) < 0)
                return cli_usage("--passphrase-fd %s is not a descriptor that is open for reading", value),
                       -1;
        ((struct run *) ctx)->set[CORDON_PASSPHRASE_FD] = value;
        return 0;
}

static int set_fuel(void *ctx, const char *value)
{
        if (value[0] < '1' || value[0] > '9' || value[strspn(value, "0123456789")] || strlen(value) > 18)
                return cli_usage("--fuel takes a number of instructions"), -1;
        ((struct run *) ctx)->set[CORDON_FUEL] = value;
        return 0;
}

static int set_interpret(void *ctx, const char *value)
{
        (void) value;
        ((struct run *) ctx)->set[CORDON_INTERPRET] = "1";
        return 0;
}

static int set_canary_share(void *ctx, const char *value)
{
        char *end;
        unsigned long n = value[0] >= '0' && value[0] <= '9' ? strtoul(value, &end, 10) : 0;
        if (n < 1 || n > 100 || (*end && strcmp(end, "%") != 0))
                return cli_usage("--canary-share takes 1%% to 100%%"), -1;
        ((struct run *) ctx)->canary_share = (unsigned) n;
        return 0;
}

static int set_canary_bound(void *ctx, const char *value)
{
        return cli_number("--canary-bound", value, 1, 1000, &((struct run *) ctx)->canary_bound);
}

static int set_handle(void *ctx, const char *value)
{
        return cli_handles_add(&((struct run *) ctx)->handles, value);
}

static int set_life(void *ctx, const char *value)
{
        ((struct run *) ctx)->set[CORDON_SESSION_TIME] = value;
        return 0;
}

static int set_idle(void *ctx, const char *value)
{
        ((struct run *) ctx)->set[CORDON_SESSION_IDLE] = value;
        return 0;
}

const struct cli_option run_options[] = {
        { "tty", 't', NULL, "a terminal of the box's own (never yours); the default on a terminal", set_tty },
        { "no-tty", 'T', NULL, "no terminal", CLI_FLAG(struct run, no_tty) },
        { "interactive", 'i', NULL, "accepted as docker has it: input is always passed on",
          CLI_FLAG(struct run, interactive) },
        { "rm", 0, NULL, "accepted as docker has it: nothing is left of a box",
          CLI_FLAG(struct run, interactive) },
        { "no-stdin", 'n', NULL, "empty input", CLI_FLAG(struct run, no_stdin) },
        { "detach", 'd', NULL, "run in the background; prints the run id", set_detach },
        { "name", 0, "NAME", "a name for ps, stop and logs", cli_set_name },
        { "handle", 0, "NAME=FILE", "the file behind an `in` or `out` handle", set_handle },
        { "cwd", 0, "DIR", "start in this directory, as the box sees it", set_cwd },
        { "work", 0, "DIR", "what {work} means (default: here)", set_work },
        { "fuel", 0, "N", "a WebAssembly module ends after N instructions", set_fuel },
        { "entry", 0, "NAME", "call this function of a module, with numbers as arguments; print its results",
          CLI_TEXT(struct run, set[CORDON_ENTRY]) },
        { "interpret", 0, NULL, "interpret a module: none of its memory becomes executable", set_interpret },
        { "keep", 0, NULL, "keep the overlay even if nothing changed", set_keep },
        { "on", 0, "RUN", "continue in the overlay of this run", CLI_TEXT(struct run, set[CORDON_WORK_ON]) },
        { "copy", 0, NULL, "with --on: in a copy of it, which leaves that one unchanged", set_copy },
        { "stage", 0, "live|test|mock", "where places lead (default: live)", set_stage },
        { "places", 0, "FILE", "where @name leads in each stage", CLI_TEXT(struct run, set[CORDON_PLACES]) },
        { "answers", 0, "FILE", "recorded exchanges, for the stage mock",
          CLI_TEXT(struct run, set[CORDON_ANSWERS]) },
        { "record", 0, "FILE", "record exchanges, for a later --answers FILE", set_record },
        { "arg-files", 0, NULL, "show each file that an argument of the command names; never keys or tokens",
          CLI_FLAG(struct run, arg_files) },
        { "arg-dirs", 0, NULL, "and each directory, with all below it",
          CLI_FLAG(struct run, arg_directories) },
        { "script", 0, NULL, "COMMAND is an untrusted script: strict box, 60 s, no file but itself",
          CLI_FLAG(struct run, script) },
        { "root", 0, NULL, "uid 0 inside; no privileges outside", set_root },
        { "require-limit", 0, NULL, "do not start if control groups cannot keep the limits", set_require },
        { "require-ledger", 0, NULL, "do not start if the run cannot be recorded", set_require_ledger },
        { "ledger", 0, "on|off", "record the run (default: on)", set_ledger },
        { "in-from", 0, "RUN", "the run whose results are the input of this one",
          CLI_TEXT(struct run, set[CORDON_IN_FROM]) },
        { "json", 0, NULL, "the result as one JSON object on standard error",
          CLI_FLAG(struct run, end.json) },
        { "status-fd", 0, "N", "the result as JSON to descriptor N", set_status_fd },
        { "passphrase-fd", 0, "N", "read the vault's passphrase from descriptor N, not from the terminal",
          set_passphrase_fd },
        { "observe", 0, "off|calls|denials|all", "which effects are reported (default: denials)",
          CLI_TEXT(struct run, set[CORDON_OBSERVE]) },
        { "trip", 0, "calls,secrets,credentials,doors,canaries|all",
          "stop the box when it tries this, with an alarm (default: nothing)",
          CLI_TEXT(struct run, set[CORDON_TRIP]) },
        { "canary", 0, "FILE", "let a share of the runs try this policy instead",
          CLI_TEXT(struct run, canary_file) },
        { "canary-share", 0, "PERCENT", "how many of them (default: 10%)", set_canary_share },
        { "canary-bound", 0, "N", "stop trying it after so many bad runs (default: 1)", set_canary_bound },
        { "pool", 0, "auto|require|off", "use a box that `cordon serve` keeps parked (default: auto)",
          set_pool },
        { "verbose", 'v', NULL, "list all that was blocked", CLI_FLAG(struct run, end.verbose) },
        { "quiet", 'q', NULL, "print nothing at the end", CLI_FLAG(struct run, end.quiet) },
        { "plan", 0, NULL, "print what would be done, and do nothing", CLI_FLAG(struct run, plan) },
        { 0 },
};

/* Of a session: options of the box, not of a run in it. */
#define SESSION_OPTIONS                                                                                      \
        { "name", 0, "NAME", "a name for it, unique among your running boxes", cli_set_name },               \
                { "life", 0, "TIME", "it ends after so long (default: 1d); a renewal adds as much",          \
                  set_life },                                                                                \
                { "idle", 0, "TIME", "it ends after so long without a run (default: 1h)", set_idle },        \
                { "work", 0, "DIR", "what {work} means (default: here)", set_work },                         \
                { "keep", 0, NULL, "keep the overlay even if nothing changed", set_keep },                   \
                { "on", 0, "RUN", "continue in the overlay of this run",                                     \
                  CLI_TEXT(struct run, set[CORDON_WORK_ON]) },                                               \
                { "copy", 0, NULL, "with --on: in a copy of it, which leaves that one unchanged",            \
                  set_copy },                                                                                \
                { "stage", 0, "live|test|mock", "where places lead (default: live)", set_stage },            \
                { "places", 0, "FILE", "where @name leads in each stage",                                    \
                  CLI_TEXT(struct run, set[CORDON_PLACES]) },                                                \
                { "root", 0, NULL, "uid 0 inside; no privileges outside", set_root },                        \
                { "require-limit", 0, NULL, "do not start if control groups cannot keep the limits",         \
                  set_require },                                                                             \
                { "ledger", 0, "on|off", "record its runs (default: on)", set_ledger },                      \
                { "passphrase-fd", 0, "N",                                                                   \
                  "read the vault's passphrase from descriptor N, not from the terminal",                    \
                  set_passphrase_fd },                                                                       \
                { "observe", 0, "off|calls|denials|all", "which effects are reported (default: denials)",    \
                  CLI_TEXT(struct run, set[CORDON_OBSERVE]) },                                               \
        {                                                                                                    \
                "trip", 0, "calls,secrets,credentials,doors,canaries|all", "stop a command that tries this", \
                        CLI_TEXT(struct run, set[CORDON_TRIP])                                               \
        }

const struct cli_option session_new_options[] = {
        SESSION_OPTIONS,
        { "json", 0, NULL, "id and name as JSON; a failure as JSON on standard error",
          CLI_FLAG(struct run, end.json) },
        { "quiet", 'q', NULL, "no notes about doors", CLI_FLAG(struct run, end.quiet) },
        { 0 },
};

const struct cli_option session_fork_options[] = {
        { "name", 0, "NAME", "a name for the new one", cli_set_name },
        { "life", 0, "TIME", "it ends after so long (default: 1d); a renewal adds as much", set_life },
        { "idle", 0, "TIME", "it ends after so long without a run (default: 1h)", set_idle },
        { "passphrase-fd", 0, "N", "read the vault's passphrase from descriptor N, not from the terminal",
          set_passphrase_fd },
        { "json", 0, NULL, "id and name as JSON; a failure as JSON on standard error",
          CLI_FLAG(struct run, end.json) },
        { 0 },
};

const struct cli_option shell_options[] = {
        SESSION_OPTIONS,
        { "cwd", 0, "DIR", "start in this directory, as the box sees it", set_cwd },
        { "json", 0, NULL, "the result of the shell as one JSON object on standard error",
          CLI_FLAG(struct run, end.json) },
        { "verbose", 'v', NULL, "list all that was blocked", CLI_FLAG(struct run, end.verbose) },
        { "quiet", 'q', NULL, "print nothing at the end", CLI_FLAG(struct run, end.quiet) },
        { 0 },
};

const struct cli_option session_run_options[] = {
        { "tty", 't', NULL, "a terminal of the run's own (never yours); the default on a terminal", set_tty },
        { "no-tty", 'T', NULL, "no terminal", CLI_FLAG(struct run, no_tty) },
        { "interactive", 'i', NULL, "accepted as docker has it: input is always passed on",
          CLI_FLAG(struct run, interactive) },
        { "no-stdin", 'n', NULL, "empty input", CLI_FLAG(struct run, no_stdin) },
        { "time", 0, "TIME", "end this run after so long (default: the policy's)",
          CLI_TEXT(struct run, limits[0]) },
        { "cpu", 0, "TIME", "or after so much processor time", CLI_TEXT(struct run, limits[1]) },
        { "output", 0, "SIZE", "or after so much output", CLI_TEXT(struct run, limits[2]) },
        { "cwd", 0, "DIR", "start in this directory, as the box sees it", set_cwd },
        { "handle", 0, "NAME=FILE", "the file behind an `in` or `out` handle", set_handle },
        { "json", 0, NULL, "the result as one JSON object on standard error",
          CLI_FLAG(struct run, end.json) },
        { "status-fd", 0, "N", "the result as JSON to descriptor N", set_status_fd },
        { "verbose", 'v', NULL, "list all that was blocked", CLI_FLAG(struct run, end.verbose) },
        { "quiet", 'q', NULL, "print nothing at the end", CLI_FLAG(struct run, end.quiet) },
        { 0 },
};

/* ---- signals and the terminal ---- */

static void pass_on(int sig)
{
        int saved = errno;
        cordon_box *b = signal_box;
        if (sig == SIGTERM)
                cli_stop_asked();

        if (sig == SIGWINCH)
                resized = 1;
        else if (b && sig == SIGTSTP) {
                cordon_box_signal(b, SIGSTOP);
                (void) raise(SIGSTOP);
                cordon_box_signal(b, SIGCONT);
        } else if (b)
                cordon_box_signal(b, sig);

        errno = saved;
}

/* nohup(1): an ignored SIGHUP means that the command is to continue. For other signals it means nothing: a
 * shell ignores INT and QUIT for every background job, and a sender of one means it. */
static bool stays_ignored(int sig)
{
        struct sigaction was;
        return sig == SIGHUP && sigaction(sig, NULL, &was) == 0 && was.sa_handler == SIG_IGN;
}

static void catch_signals(void)
{
        static const int passed[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGWINCH };
        struct sigaction a = { .sa_handler = pass_on };
        (void) sigemptyset(&a.sa_mask);
        for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
                if (!stays_ignored(passed[i]))
                        (void) sigaction(passed[i], &a, NULL);

        (void) signal(SIGPIPE, SIG_IGN);
}

int cli_run_failed(const struct run *run, const cordon_error *e)
{
        int status = cli_error(e);
        cli_end_failure(&run->end, NULL, e);
        return status;
}

/* ---- a policy on trial ---- */

/* The usual policy is kept if the other one has any error. Printed also with -q: it does not concern this
 * run. */
static int choose_policy(struct run *r, int argc, char **argv, const char *verb)
{
        cordon_error e = { 0 };
        cordon_canary *c = cordon_canary_new(cli_context(), r->canary_file, &e);
        if (!c) {
                cli_note("%s is not tried: %s", r->canary_file, e.what);
                return 0;
        }

        cordon_policy *p = cordon_canary_policy(c);
        bool whole = (!r->work || cordon_policy_roots(p, r->work, NULL, &e) == 0) &&
                     cli_words_again(argc, argv, cli_verb_find(verb), p) == 0;
        bool chosen = whole && cordon_canary_pick(c, r->policy, r->canary_share ? r->canary_share : 10,
                                                  r->canary_bound ? (unsigned) r->canary_bound : 1);
        if (cordon_canary_says(c)[0])
                cli_note("%s", cordon_canary_says(c));

        if (!chosen) {
                cordon_canary_free(c);
                return 0;
        }

        cordon_box_free(r->box);
        r->canary = c;
        r->box = cli_box_new(p);
        if (!r->end.quiet)
                cli_note("this run tries %s", r->canary_file);

        return r->box ? 0 : -1;
}

static void end_canary(const struct run *r)
{
        if (r->canary && cordon_canary_end(r->canary, r->box))
                cli_note("%s", cordon_canary_says(r->canary));
}

/* ---- the run ---- */

static int option_is_wrong(const struct run *r, size_t option)
{
        if (option == CORDON_IN_FROM)
                return cli_usage("--in-from takes a run id, as `cordon ledger` prints it"), -1;
        if (option == CORDON_OBSERVE)
                return cli_usage("--observe takes off, calls, denials or all, not `%s`", r->set[option]), -1;
        if (option == CORDON_SESSION_TIME || option == CORDON_SESSION_IDLE)
                return cli_usage("--life and --idle take a time: 30m, 8h"), -1;
        if (option == CORDON_TRIP)
                return cli_usage("--trip takes calls, secrets, credentials, doors, canaries or all, not `%s`",
                                 r->set[option]),
                       -1;
        if (errno == ENOMEM)
                return cli_problem("no memory"), -1;

        return cli_usage("an option is too long"), -1;
}

int cli_run_configure(struct run *r, char **command)
{
        const char *term = getenv("TERM");
        const cordon_error no_memory = { 0 };
        cordon_error e = { 0 };
        r->end.policy = cli_run_policy(r);
        r->end.trip = r->set[CORDON_TRIP];
        r->end.program = command ? command[0] : "session";
        r->end.command = command ? command + 1 : NULL;
        if (command && cordon_box_command(r->box, (const char *const *) command) < 0)
                return cli_error(&no_memory), -1;

        if (r->set[CORDON_WORK_COPY] && !r->set[CORDON_WORK_ON])
                return cli_usage("--copy goes with --on RUN"), -1;

        r->set[CORDON_SINGLE_THREAD] = "1";
        if (!r->set[CORDON_POOL])
                r->set[CORDON_POOL] = "auto";

        if (r->set[CORDON_TTY])
                r->set[CORDON_TERM] = term ? term : "xterm";

        bool inherits = r->end.in_session || !r->policy; /* from a session */
        if (!r->set[CORDON_OBSERVE] && !inherits)
                r->set[CORDON_OBSERVE] = cli_run_observes(r);

        for (size_t i = 0; i < OPTIONS; i++)
                if (r->set[i] && cordon_box_set(r->box, (cordon_option) i, r->set[i]) < 0)
                        return option_is_wrong(r, i);

        if (!r->detach) {
                cordon_box_stdio(r->box, 0, r->no_stdin ? -1 : 0);
                cordon_box_stdio(r->box, 1, 1);
                cordon_box_stdio(r->box, 2, 2);
        }

        r->handles.quiet = r->end.quiet;
        if (cli_handles_open(&r->handles, cli_run_policy(r), r->box, &e) < 0)
                return cli_run_failed(r, &e), -1;

        return 0;
}

/* After success only; else there is nothing to name. */
static int publish(struct run *r, cordon_error *e)
{
        const cordon_result *result = cordon_box_result(r->box);
        bool well = result->end == CORDON_EXITED && result->code == 0;
        return well ? cli_handles_publish(&r->handles, e) : 0;
}

static int end_for_programs(const struct run *r, bool published, const cordon_error *e)
{
        if (published)
                return cli_end_status(&r->end, r->box);
        cli_end_failure(&r->end, cordon_box_run_id(r->box), e);
        return 0;
}

static void follow_signals(struct run *r, pid_t parent, const struct cli_job *job)
{
        cli_stop_begin(parent, job->fd);
        signal_box = r->box;
        catch_signals();
}

int cli_run_here(struct run *r)
{
        cordon_error e = { 0 };
        struct cli_job job;
        cli_job_find(&job);
        follow_signals(r, getppid(), &job);
        cli_run_held(r);
        if (r->set[CORDON_TTY] && cli_terminal_take() < 0)
                return EXIT_CORDON;

        if (r->set[CORDON_TTY])
                cli_terminal_size(r->box);

        (void) cordon_box_prepare(r->box, &e); /* if it fails, the start does it, or reports it */
        if (cordon_box_start(r->box, &e) < 0) {
                cli_terminal_restore();
                end_canary(r);
                return cli_run_failed(r, &e);
        }

        while (cordon_box_wait(r->box, cli_stop_wait_ms()) == 0) {
                cli_stop_look(r->box);
                if (resized) {
                        resized = 0;
                        cli_terminal_size(r->box);
                }
        }

        if (cordon_box_result(r->box)->terminal_asked)
                cli_terminal_drain();

        cli_terminal_restore();
        signal_box = NULL;
        const cordon_result *result = cordon_box_result(r->box);
        int status = cordon_result_status(result);
        cli_box_spoke(result->mid_line);
        bool published = publish(r, &e) == 0;
        if (!published)
                status = cli_error(&e);

        r->end.run = cordon_box_run_id(r->box);
        if (cli_stop_reason() && !r->end.quiet)
                cli_note("box killed: %s", cli_stop_reason());

        cli_end_say(&r->end, result);
        cli_end_unreached(&r->end, r->box);
        end_canary(r);

        /* If the requested result cannot be delivered, the run must not look successful. */
        return end_for_programs(r, published, &e) < 0 && status == 0 ? EXIT_CORDON : status;
}

/* The keeper continues alone; the caller gets the run id, or the reason why the start failed. */
static _Noreturn void keep_in_background(struct run *r, const struct cli_job *job, int tell)
{
        cordon_error e = { 0 };

        /* A job's processes are found by their parents, their session or their group. */
        if (!job->in || isatty(0) || isatty(1) || isatty(2))
                (void) setsid();

        if (job->in)
                follow_signals(r, job->fd >= 0 ? 0 : getppid(), job);

        (void) cordon_box_prepare(r->box, &e);
        if ((r->session ? cli_session_up(r->box, &e) : cordon_box_start(r->box, &e)) < 0) {
                end_canary(r);
                (void) !write(tell, &e, sizeof e);
                exit(EXIT_CORDON);
        }

        const cordon_result *now = cordon_box_result(r->box);
        if (now->end == CORDON_NOT_STARTED) {
                end_canary(r);
                (void) !write(tell, now->error, sizeof *now->error);
                exit(cordon_result_status(now));
        }

        if (r->session) /* one that comes from here on waits for cli_session_keep() */
                (void) close(end_signals_open());

        (void) dprintf(tell, "%s", cordon_box_run_id(r->box));
        (void) close(tell);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int i = 0; i < 3 && null >= 0; i++)
                (void) dup2(null, i);

        if (r->session)
                cli_session_keep(r->box);

        while (cordon_box_wait(r->box, cli_stop_wait_ms()) == 0)
                cli_stop_look(r->box);

        bool published = publish(r, &e) == 0;
        end_canary(r);
        (void) end_for_programs(r, published, &e);
        exit(published ? cordon_result_status(cordon_box_result(r->box)) : EXIT_CORDON);
}

static int print_id(const struct run *r, const char *id, int n)
{
        const char *name = r->set[CORDON_NAME];
        if (!r->session || !r->end.json)
                return printf("%.*s\n", n, id);

        return printf("{\"session\":\"%.*s\",\"name\":%s%s%s}\n", n, id, name ? "\"" : "",
                      name ? name : "null", name ? "\"" : "");
}

/* To a person: what to type next. */
static void say_next(const struct run *r, const char *id, int n)
{
        const char *name = r->set[CORDON_NAME] ? r->set[CORDON_NAME] : id;
        int len = r->set[CORDON_NAME] ? (int) strlen(name) : n;
        const char *time = r->set[CORDON_SESSION_TIME], *idle = r->set[CORDON_SESSION_IDLE];
        if (!r->session || r->end.quiet || r->end.json || !isatty(1) || !isatty(2))
                return;

        cli_note("next: cordon session run %.*s -- COMMAND; when done: cordon session end %.*s", len, name,
                 len, name);
        cli_note("ends after %s, or after %s without a command", time ? time : "a day",
                 idle ? idle : "an hour");
}

int cli_run_detached(struct run *r)
{
        int line[2];
        cordon_error e = { 0 };
        struct cli_job job;
        cli_job_find(&job);
        if (cli_job_check(&job, r->end.quiet) != 0)
                return EXIT_CORDON;

        if (pipe2(line, O_CLOEXEC) < 0)
                return cli_usage("no pipe: %s", strerror(errno));

        (void) signal(SIGCHLD, SIG_DFL); /* as in main(); a start in the foreground does without */
        pid_t pid = fork();
        if (pid < 0)
                return cli_usage("no process: %s", strerror(errno));

        if (pid == 0) {
                (void) close(line[0]);
                keep_in_background(r, &job, line[1]);
        }

        (void) close(line[1]);
        ssize_t n = read(line[0], &e, sizeof e);
        (void) close(line[0]);
        if (n == (ssize_t) sizeof e) { /* already reported; its own status distinguishes 126 and 127 */
                int status = EXIT_CORDON;
                (void) cli_run_failed(r, &e);
                return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                            : EXIT_CORDON;
        }

        if (n <= 0)
                return cli_usage("the box ended before the command started");

        const char *id = (const char *) &e;
        if (print_id(r, id, (int) n) >= 0 && fflush(stdout) == 0) {
                say_next(r, id, (int) n);
                return 0;
        }

        cli_note("note: the box keeps running; stop it: cordon stop %.*s", (int) n, id);
        return EXIT_CORDON;
}

/* The box finds the command as the caller's shell would. */
static int find_command(struct run *r, char **command)
{
        cordon_error e = { 0 };
        char *shown = NULL;
        int found = cordon_policy_find(r->policy, (const char *const *) command, &r->found, &shown, &e);
        if (found < 0)
                return cli_run_failed(r, &e);

        if (found > 0)
                command[0] = r->found;

        if (shown && shown[0])
                cli_note("note: showing %s read-only, because your PATH finds the command there", shown);

        cordon_free(shown);
        return 0;
}

/* If all three standard streams are a terminal, the box gets a terminal of its own. */
void cli_run_terminal(struct run *r)
{
        bool person = isatty(0) && isatty(1) && isatty(2);
        if (r->no_tty)
                r->set[CORDON_TTY] = NULL;
        else if (person && !r->detach && !r->no_stdin && !r->plan)
                r->set[CORDON_TTY] = "1";
}

/* `-v HOST:INSIDE` and `-p PORT:PORT` are docker's: here the first lists blocked effects, and its argument
 * would be taken for the command. */
static bool is_volume(const struct run *r, const char *word)
{
        return r->end.verbose && strchr("/.~", word[0]) && strchr(word, ':') && access(word, F_OK) != 0;
}

static int run_configured(struct run *r, char **command)
{
        cordon_error e = { 0 };
        if (is_volume(r, command[0])) {
                (void) cli_problem("-v takes no argument (got %s)", command[0]);
                return cli_hint("%s", cli_habit(NULL, "--volume"));
        }

        cli_run_terminal(r);
        int failed = r->image ? 0 : find_command(r, command);
        if (failed)
                return failed;

        if (r->set[CORDON_TTY] && r->detach)
                return cli_usage("-t and --detach cannot be combined");

        if (cli_run_configure(r, command) < 0)
                return EXIT_CORDON;

        if (r->plan)
                return cli_give(cordon_box_plan(r->box, &e), &e);

        cli_run_notes(r);
        return r->detach ? cli_run_detached(r) : cli_run_here(r);
}

static int show_arguments(const struct run *r, char **arguments, cordon_error *e)
{
        bool asked = r->arg_files || r->arg_directories;
        return asked ? cli_show_arguments(r->policy, arguments, r->arg_directories, e) : 0;
}

/* The destination of the result, also for a command line that was not parsed to its end. */
void cli_run_find_programs(struct run *r, int argc, char **argv, const struct cli_verb *verb)
{
        const char *fd = cli_asked(argc, argv, verb, "status-fd");
        r->end.json = r->end.json || cli_asked(argc, argv, verb, "json");
        if (fd && r->end.status_fd < 0)
                r->end.status_fd = open_descriptor(fd, O_RDONLY);
}

/* Files and policies that were typed: a user who names them knows what the box shows. */
static void note_door(void *ctx, const struct cli_door *d)
{
        static const char *const files[] = { "--read", "--edit", "--write", "--in", "--out" };
        struct run *r = ctx;
        if (!r->end.fresh)
                r->end.fresh = cli_here_fresh(d);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
                r->end.doors |= d->file || strcmp(d->option, files[i]) == 0;
}

static int run_with(int argc, char **argv, struct run *r, const char *verb)
{
        cordon_error e = { 0 };
        r->policy = cli_policy_new();
        r->box = r->policy ? cli_box_new(r->policy) : NULL;
        int at = r->box ? cli_options(argc, argv, cli_verb_find(verb), r, r->policy) : -1;
        int status = EXIT_CORDON;
        cli_doors_again(argc, argv, cli_verb_find(verb), note_door, r);
        r->end.doors |= r->script;
        if (at < 0)
                cli_run_find_programs(r, argc, argv, cli_verb_find(verb));
        else if (cli_image_prepare(r->policy, &r->image, &e) < 0 ||
                 (r->image && at >= argc && !(r->command = cli_image_command(r->box, &e))))
                status = cli_run_failed(r, &e);
        else if (at >= argc && !r->image)
                status = cli_usage("no command given; for example: cordon %s",
                                   r->script ? "run --script install.sh" : "run -- ls /");
        else if (at >= 0 && r->script && cli_script(r->policy, argv + at, &r->command, &e) < 0)
                status = cli_run_failed(r, &e);
        else if (at < argc && show_arguments(r, argv + at + 1, &e) < 0)
                status = cli_run_failed(r, &e);
        else if (at >= 0 && r->script && r->canary_file)
                status = cli_usage("--canary cannot be used with --script");
        else if (at >= 0 && (!r->canary_file || r->plan || choose_policy(r, argc, argv, verb) == 0))
                status = run_configured(r, r->command ? r->command : argv + at);

        if (status == EXIT_CORDON)
                cli_end_untold(&r->end);

        cordon_box_free(r->box);
        cordon_canary_free(r->canary);
        free(r->work);
        free(r->command);
        cordon_free(r->found);
        cordon_policy_free(r->policy);
        return status;
}

int verb_run(int argc, char **argv)
{
        struct run r = { .end.status_fd = -1 };
        return run_with(argc, argv, &r, "run");
}
