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

int cli_set_name(void *ctx, const char *value)
{
        size_t n = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
        if (n == 0 || value[n] || n > 60)
                return cli_usage("a name has letters, digits, `_`, `.` and `-`, at most 60"), -1;
        ((struct run *) ctx)->set[CORDON_NAME] = value;
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

static int set_record(void *ctx, const char *value)
{
        ((struct run *) ctx)->set[CORDON_RECORD] = ((struct run *) ctx)->end.record = value;
        return 0;
}

static int set_status_fd(void *ctx, const char *value)
{
        int fd = cli_descriptor(value, 'w');
        if (fd < 0)
                return cli_usage("--status-fd %s is not a descriptor that is open for writing", value), -1;
        ((struct run *) ctx)->end.status_fd = fd;
        return 0;
}

static int set_fuel(void *ctx, const char *value)
{
        if (value[0] < '1' || value[0] > '9' || value[strspn(value, "0123456789")] || strlen(value) > 18)
                return cli_usage("--fuel takes a number of instructions"), -1;
        ((struct run *) ctx)->set[CORDON_FUEL] = value;
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

static int set_handle(void *ctx, const char *value)
{
        return cli_handles_add(&((struct run *) ctx)->handles, value);
}

/* Members of struct run, and of the box that it configures. */
#define FLAG(member) CLI_FLAG(struct run, member)
#define TEXT(member) CLI_TEXT(struct run, member)
#define BOX(option)  CLI_TEXT(struct run, set[option])
enum {
        BOXES = RUN_RUN | RUN_SHELL | RUN_NEW, /* have a policy */
        RUNS = RUN_RUN | RUN_IN,               /* have a command, and its input and output */
        SESSIONS = RUN_SHELL | RUN_NEW | RUN_FORK
};

const struct cli_option run_options[] = {
        { "tty", 't', NULL, "allocate a terminal for the box (default on a terminal)", BOX(CORDON_TTY),
          RUNS },
        { "no-tty", 'T', NULL, "do not allocate a terminal", FLAG(no_tty), RUNS | RUN_AGENT },
        { "interactive", 'i', NULL, "ignored, for users of docker: input is always passed on",
          FLAG(interactive), RUNS },
        { "rm", 0, NULL, "ignored, for users of docker: nothing is left of a box", FLAG(interactive),
          RUN_RUN },
        { "no-stdin", 'n', NULL, "do not read standard input", FLAG(no_stdin), RUNS },
        { "detach", 'd', NULL, "run in the background; prints the run id", FLAG(detach), RUN_RUN },
        { "name", 0, "NAME", "name the box for ps, logs and stop", CLI_CALL(cli_set_name),
          RUN_ALL & ~RUN_IN },
        { "life", 0, "TIME", "end the session after this time (default: 1d); a renewal adds the same",
          BOX(CORDON_SESSION_TIME), SESSIONS },
        { "idle", 0, "TIME", "end the session after this time without a run (default: 1h)",
          BOX(CORDON_SESSION_IDLE), SESSIONS },
        { "time", 0, "TIME", "time limit of this run (default: from the policy)", TEXT(limits[0]), RUN_IN },
        { "cpu", 0, "TIME", "limit of its processor time", TEXT(limits[1]), RUN_IN },
        { "output", 0, "SIZE", "limit of its output", TEXT(limits[2]), RUN_IN },
        { "handle", 0, "NAME=FILE", "file behind an `in` or `out` door", CLI_CALL(set_handle), RUNS },
        { "cwd", 0, "DIR", "start in this directory of the box", CLI_CALL(set_cwd), RUNS | RUN_SHELL },
        { "fuel", 0, "N", "a WebAssembly module ends after N instructions", CLI_CALL(set_fuel), RUN_RUN },
        { "entry", 0, "NAME", "call this function of a module, with numbers as arguments; print its results",
          BOX(CORDON_ENTRY), RUN_RUN },
        { "interpret", 0, NULL, "interpret the module instead of compiling it", BOX(CORDON_INTERPRET),
          RUN_RUN },
        { "keep", 0, NULL, "keep the overlay even if nothing changed", BOX(CORDON_WORK_KEEP), BOXES },
        { "on", 0, "RUN", "continue in the overlay of this run", BOX(CORDON_WORK_ON), BOXES | RUN_AGENT },
        { "copy", 0, NULL, "with --on: in a copy of it, which leaves that one unchanged",
          BOX(CORDON_WORK_COPY), BOXES },
        { "answers", 0, "FILE", "recorded exchanges to answer from (stage mock)", BOX(CORDON_ANSWERS),
          RUN_RUN },
        { "record", 0, "FILE", "record exchanges, for a later --answers FILE", CLI_CALL(set_record),
          RUN_RUN },
        { "arg-files", 0, NULL,
          "show the files named by the command's arguments, read-only; never keys or tokens", FLAG(arg_files),
          RUN_RUN },
        { "arg-dirs", 0, NULL, "and each directory, with all below it", FLAG(arg_directories), RUN_RUN },
        { "script", 0, NULL, "treat COMMAND as an untrusted script: strict policy, 60 s, no other files",
          FLAG(script), RUN_RUN },
        { "require-limit", 0, NULL, "fail if control groups cannot enforce the limits",
          BOX(CORDON_REQUIRE_GROUPS), BOXES },
        { "require-ledger", 0, NULL, "fail if the run cannot be recorded", FLAG(require_ledger), RUN_RUN },
        { "in-from", 0, "RUN", "record that the input of this run came from RUN", BOX(CORDON_IN_FROM),
          RUN_RUN },
        { "trip", 0, "calls,secrets,credentials,doors,canaries|all",
          "stop the box at the first such effect, with an alarm (default: nothing)", BOX(CORDON_TRIP),
          BOXES },
        { "canary", 0, "FILE", "try this policy in a share of the runs", TEXT(canary_file), RUN_RUN },
        { "canary-share", 0, "PERCENT", "how many of them (default: 10%)", CLI_CALL(set_canary_share),
          RUN_RUN },
        { "canary-bound", 0, "N", "stop trying it after N bad runs (default: 1)",
          CLI_COUNT(struct run, canary_bound, 1, 1000), RUN_RUN },
        { "pool", 0, "auto|require|off", "use a parked box of `cordon serve` (default: auto)",
          BOX(CORDON_POOL), RUN_RUN },
        { "status-fd", 0, "FD", "write the result as JSON to this descriptor", CLI_CALL(set_status_fd),
          RUNS },
        { "json", 0, NULL, "print the result, and any failure, as JSON on standard error",
          FLAG(end.asked.json), RUN_ALL & ~(RUN_NEW | RUN_FORK) },
        { "json", 0, NULL, "print id and name as JSON; a failure as JSON on standard error",
          FLAG(end.asked.json), RUN_NEW | RUN_FORK },
        { "plan", 0, NULL, "print mounts, rules and variables of the box, and exit", FLAG(plan),
          RUN_RUN | RUN_AGENT },
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
static int choose_policy(struct run *r, int argc, char **argv)
{
        cordon_error e = { 0 };
        cordon_canary *c = cordon_canary_new(cli_context(), r->canary_file, &e);
        if (!c) {
                cli_note("%s is not tried: %s", r->canary_file, e.what);
                return 0;
        }

        cordon_policy *p = cordon_canary_policy(c);
        bool whole =
                cli_work(p, r->end.asked.work) == 0 && cli_words_again(argc, argv, cli_verb_now(), p) == 0;
        bool chosen = whole && cordon_canary_pick(c, r->policy, r->canary_share ? r->canary_share : 10,
                                                  r->canary_bound ? r->canary_bound : 1);
        if (cordon_canary_says(c)[0])
                cli_note("%s", cordon_canary_says(c));

        if (!chosen) {
                cordon_canary_free(c);
                return 0;
        }

        cordon_box_free(r->box);
        r->canary = c;
        r->box = cli_box_new(p);
        if (!r->end.asked.quiet)
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

/* What the options that verbs share mean for a box. */
static void set_shared(struct run *r)
{
        const struct cli_shared *o = &r->end.asked;
        r->set[CORDON_STAGE] = o->stage;
        r->set[CORDON_PLACES] = o->places;
        r->set[CORDON_LEDGER] = r->require_ledger ? "require" : o->ledger;
        r->set[CORDON_OBSERVE] = o->observe;
        r->set[CORDON_PASSPHRASE_FD] = o->passphrase_fd;
        r->set[CORDON_ROOT_INSIDE] = o->root ? "1" : NULL;
        r->set[CORDON_SINGLE_THREAD] = "1";
        if (r->detach && !r->session) /* output that is not read during the run is kept for `cordon logs` */
                r->set[CORDON_KEEP_OUTPUT] = "1";
        if (!r->set[CORDON_POOL])
                r->set[CORDON_POOL] = "auto";
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

        set_shared(r);
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

        r->handles.quiet = r->end.asked.quiet;
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
        if (cli_stop_reason() && !r->end.asked.quiet)
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
        if (!r->session || !r->end.asked.json)
                return printf("%.*s\n", n, id);

        return printf("{\"session\":\"%.*s\",\"name\":%s%s%s}\n", n, id, name ? "\"" : "",
                      name ? name : "null", name ? "\"" : "");
}

/* To a person: what to type next. */
static void say_next(const struct run *r, const char *id)
{
        const char *name = r->set[CORDON_NAME] ? r->set[CORDON_NAME] : id;
        int len = r->set[CORDON_NAME] ? (int) strlen(name) : str_run_shown(id);
        const char *time = r->set[CORDON_SESSION_TIME], *idle = r->set[CORDON_SESSION_IDLE];
        if (!r->session || r->end.asked.quiet || r->end.asked.json || !isatty(1) || !isatty(2))
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
        if (cli_job_check(&job, r->end.asked.quiet) != 0)
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
                say_next(r, id);
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
        return r->end.asked.verbose && strchr("/.~", word[0]) && strchr(word, ':') && access(word, F_OK) != 0;
}

static int run_configured(struct run *r, char **command)
{
        cordon_error e = { 0 };
        if (is_volume(r, command[0])) {
                (void) cli_problem("-v takes no argument (got %s)", command[0]);
                return cli_hint("--read PATH, --edit PATH (overlay) or --write PATH: --edit %.*s; paths are "
                                "the host's",
                                (int) strcspn(command[0], ":"), command[0]);
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

/* The destination of the result is also found on a command line that was not parsed to its end. */
int cli_run_options(struct run *r, int argc, char **argv, cordon_policy *policy)
{
        const struct cli_verb *verb = cli_verb_now();
        int at = cli_take_doors(argc, argv, r, policy);
        if (at >= 0)
                return at;

        const char *fd = cli_asked(argc, argv, verb, "status-fd");
        r->end.asked.json = r->end.asked.json || cli_asked(argc, argv, verb, "json");
        if (fd && r->end.status_fd < 0)
                r->end.status_fd = cli_descriptor(fd, 'w');
        return -1;
}

/* Unpacks the image of a `root` line, if the store does not have it; 0 also without one. */
static int prepare_image(cordon_policy *p, bool *ret_image, cordon_error *e)
{
        *ret_image = cordon_policy_root(p, e) != NULL;
        return *ret_image ? cordon_image_prepare(p, e) : 0;
}

/* The command that the image names; the caller frees the list. NULL with *e set. */
static char **image_command(cordon_box *b, cordon_error *e)
{
        const char *const *from = cordon_box_image_command(b, e);
        size_t n = 0;
        while (from && from[n])
                n++;

        char **command = from ? calloc(n + 1, sizeof *command) : NULL;
        if (!command)
                return NULL;

        for (size_t i = 0; i < n; i++)
                command[i] = (char *) (uintptr_t) from[i];

        return command;
}

int cli_run_begin(struct run *r, int argc, char **argv)
{
        cordon_error e = { 0 };
        r->policy = cli_policy_new();
        r->box = r->policy ? cli_box_new(r->policy) : NULL;
        int at = r->box ? cli_run_options(r, argc, argv, r->policy) : -1;
        if (at < 0 || cli_work(r->policy, r->end.asked.work) < 0)
                return -1;

        if (prepare_image(r->policy, &r->image, &e) < 0)
                return cli_run_failed(r, &e), -1;

        return at;
}

int cli_run_done(struct run *r, int status)
{
        if (status == EXIT_CORDON)
                cli_end_untold(&r->end);

        cordon_box_free(r->box);
        cordon_canary_free(r->canary);
        free(r->command);
        cordon_free(r->found);
        cordon_policy_free(r->policy);
        return status;
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

int verb_run(int argc, char **argv)
{
        struct run r = { .end.status_fd = -1 };
        cordon_error e = { 0 };
        int at = cli_run_begin(&r, argc, argv), status = EXIT_CORDON;
        cli_doors_again(argc, argv, cli_verb_now(), note_door, &r);
        r.end.doors |= r.script;
        if (at < 0)
                return cli_run_done(&r, status);

        if (at >= argc && !r.image)
                status = cli_usage("no command given; for example: cordon %s",
                                   r.script ? "run --script install.sh" : "run -- ls /");
        else if ((at >= argc && !(r.command = image_command(r.box, &e))) ||
                 (r.script && cli_script(r.policy, argv + at, &r.command, &e) < 0) ||
                 (at < argc && show_arguments(&r, argv + at + 1, &e) < 0))
                status = cli_run_failed(&r, &e);
        else if (r.script && r.canary_file)
                status = cli_usage("--canary cannot be used with --script");
        else if (!r.canary_file || r.plan || choose_policy(&r, argc, argv) == 0)
                status = run_configured(&r, r.command ? r.command : argv + at);

        return cli_run_done(&r, status);
}
