/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_session.c - `cordon session` and `cordon shell`: a box that stays, and commands in it. A
 * session has a process of its own, in the background; a shell keeps its session itself. */
#include "base/str.h"
#include "face/cli/boxes.h"
#include "face/cli/run_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a session and its process ---- */

/* Both speak of time, and of two different ones. */
static void say_times(const struct run *r, int argc, char **argv)
{
        const char *life = r->set[CORDON_SESSION_TIME];
        for (int i = 1; i < argc && !r->end.asked.quiet; i++)
                if (strncmp(argv[i], "--time", 6) == 0) {
                        cli_note("note: --time limits each run; the session lasts %s (--life)",
                                 life ? life : "1d");
                        return;
                }
}

int verb_session_new(int argc, char **argv)
{
        struct run r = { .end.status_fd = -1, .session = true, .detach = true };
        int at = cli_run_begin(&r, argc, argv), status = EXIT_CORDON;
        if (at >= 0 && argc - at > 1) {
                (void) cli_usage("a session starts without a command");
                (void) cli_hint("cordon session new NAME; cordon session run NAME -- %s", argv[at]);
        } else if (at >= 0 && at < argc && r.set[CORDON_NAME]) {
                (void) cli_usage("a session has one name (got %s and %.60s)", r.set[CORDON_NAME], argv[at]);
        } else if (at >= 0 && (at == argc || cli_set_name(&r, argv[at]) == 0) &&
                   cli_run_configure(&r, NULL) == 0) {
                cli_run_notes(&r);
                say_times(&r, at, argv);
                status = cli_run_detached(&r);
        }

        return cli_run_done(&r, status);
}

/* ---- runs ---- */

/* Limits of this run only. */
static int add_limits(const struct run *r)
{
        static const char *const names[] = { "time", "cpu", "output" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                char text[128];
                cordon_error e = { 0 };
                if (!r->limits[i])
                        continue;
                (void) snprintf(text, sizeof text, "%s %s", names[i], r->limits[i]);
                if (cordon_policy_add(r->policy, "limit", text, &e) < 0)
                        return cli_run_failed(r, &e);
        }

        return 0;
}

/* What is begun now may not come to its end. */
static void say_ending(const char *which)
{
        cordon_error e = { 0 };
        char *text = cordon_inspect(which, &e);
        struct json_doc *d = cli_box_state(text);
        const struct json *o = d ? json_root(d) : NULL;
        if (o && json_get(o, "ending")) {
                bool more = (long long) json_int(o, "renewed") < (long long) json_int(o, "renewals");
                cli_note("session %.60s ends in %llds%s%s", which, (long long) json_int(o, "left_ms") / 1000,
                         more ? ": cordon session renew " : ", and cannot be renewed", more ? which : "");
        }

        json_free(d);
        cordon_free(text);
}

static int run_in(struct run *r, cordon_box *session, char **command)
{
        const cordon_error no_memory = { 0 };
        r->end.in_session = r->end.doors = true;
        r->policy = cordon_session_policy(session);
        r->box = cordon_session_run(session);
        if (!r->box)
                return cli_error(&no_memory);

        cli_run_terminal(r);
        int status = add_limits(r);
        if (status == 0)
                status = cli_run_configure(r, command) < 0 ? EXIT_CORDON : cli_run_here(r);

        cordon_box_free(r->box);
        r->box = NULL;
        return status;
}

int verb_session_run(int argc, char **argv)
{
        struct run r = { .end.status_fd = -1 };
        cordon_error e = { 0 };

        /* Options may stand before the session's name and after it. */
        int name = cli_run_options(&r, argc, argv, NULL);
        int at = name < 0 || name >= argc ? name : cli_run_options(&r, argc - name, argv + name, NULL);
        int status = EXIT_CORDON;
        if (at >= 0 && (name >= argc || (name > 1 && strcmp(argv[name - 1], "--") == 0)))
                (void) cli_usage("name a session, then a command: cordon session run dev -- ls");
        else if (at >= 0 && name + at >= argc)
                (void) cli_usage("no command given; for example: cordon session run %.60s -- ls /",
                                 argv[name]);
        else if (at >= 0) {
                cordon_box *session = cordon_session_open(cli_context(), argv[name], &e);
                if (session && !r.end.asked.quiet)
                        say_ending(argv[name]);
                status = session ? run_in(&r, session, argv + name + at) : cli_run_failed(&r, &e);
                cordon_box_free(session);
        }

        r.policy = NULL; /* the session's */
        return cli_run_done(&r, status);
}

/* ---- ls and end ---- */

static void print_session(const struct json *o)
{
        const char *run = cli_text_of(o, "run");
        (void) printf("%-22.*s %-16s %8llds %8llds %3lld/%-3lld  %lld%s\n", str_run_shown(run), run,
                      cli_text_of(o, "name"), (long long) json_int(o, "age_ms") / 1000,
                      (long long) json_int(o, "left_ms") / 1000, (long long) json_int(o, "renewed"),
                      (long long) json_int(o, "renewals"), (long long) json_int(o, "runs"),
                      json_get(o, "ending") ? "  ends soon" : "");
}

int verb_session_ls(int argc, char **argv)
{
        static const struct cli_box_list sessions = {
                "SESSION                NAME                   AGE      LEFT RENEWED  RUNNING", print_session,
                true
        };
        struct cli_shared o = { 0 };
        return cli_take(argc, argv, &o) < 0 ? EXIT_CORDON : cli_boxes_list(&sessions, o.json);
}

/* The changes that its edit doors hold back. */
static void say_end(const char *json)
{
        struct json_doc *d = cli_box_state(json);
        const struct json *work = d ? json_get(json_root(d), "work") : NULL;
        if (work && (long long) json_int(work, "entries") > 0)
                cli_note_changes((long long) json_int(work, "entries"), (long long) json_int(work, "flagged"),
                                 cli_text_of(work, "layer"));
        json_free(d);
}

/* Of one that is over: its newest changes that wait. */
static void say_left(const char *which)
{
        char run[64];
        cordon_error ignored = { 0 };
        if (cordon_work_find(cli_context(), which, run, &ignored) == 0)
                cli_note("changes of %.60s: cordon diff %.*s, then cordon apply %.*s", which,
                         str_run_shown(run), run, str_run_shown(run), run);
}

int cli_session_end(const char *which, bool json)
{
        cordon_error e = { 0 };
        char *result = cordon_session_finish(which, &e);
        if (!result) {
                int status = cli_error(&e);
                if (!json)
                        say_left(which);
                return status;
        }

        if (json)
                (void) puts(result);
        else
                say_end(result);

        cordon_free(result);
        return 0;
}

struct ending {
        struct cli_shared asked;
        char run[64][64];
        unsigned count;
};

static void note_session(void *ctx, const struct json *o, const char *text)
{
        struct ending *s = ctx;
        (void) text;
        if (json_get(o, "session") && s->count < sizeof s->run / sizeof *s->run)
                (void) snprintf(s->run[s->count++], sizeof s->run[0], "%s", cli_text_of(o, "run"));
}

/* As many as are there, so many at a time. */
static int end_all(struct ending *s)
{
        cordon_error e = { 0 };
        int status = 0;
        unsigned ended = 0;
        do {
                s->count = 0;
                if (cli_boxes_each(note_session, s, &e) < 0)
                        return cli_error(&e);

                for (unsigned i = 0; i < s->count; i++)
                        if (cli_session_end(s->run[i], s->asked.json) == 0)
                                ended++;
                        else
                                status = EXIT_CORDON;
        } while (s->count == sizeof s->run / sizeof *s->run && status == 0);

        if (!s->asked.json)
                cli_note("%u %s ended", ended, ended == 1 ? "session" : "sessions");

        return status;
}

int verb_session_end(int argc, char **argv)
{
        struct ending s = { 0 };
        int status = 0;
        int at = cli_take(argc, argv, &s);
        if (at < 0)
                return EXIT_CORDON;

        if (s.asked.all && at < argc)
                return cli_usage("--all cannot be combined with session names");

        if (s.asked.all)
                return end_all(&s);

        if (at == argc)
                return cli_usage("name a session; `cordon session ls` lists them");

        for (; at < argc; at++)
                status = cli_session_end(argv[at], s.asked.json) ? EXIT_CORDON : status;

        return status;
}

/* ---- shell ---- */

/* The programs of an image are its own: it looks for itself. */
static const char *const bash_of_host[] = { "/bin/bash", "--norc", NULL };
static const char *const sh_of_host[] = { "/bin/sh", NULL };
static const char *const shell_of_image[] = { "/bin/sh", "-c",
                                              "[ -x /bin/bash ] && exec /bin/bash --norc; exec /bin/sh",
                                              NULL };

static const char *const *usual_shell(const struct run *r)
{
        if (r->image)
                return shell_of_image;

        return access("/bin/bash", X_OK) == 0 ? bash_of_host : sh_of_host;
}

/* Options of the policy that were typed. */
struct shell_doors {
        bool any, prompt;
};

static void note_option(void *ctx, const struct cli_door *d)
{
        struct shell_doors *s = ctx;
        s->any = true;
        s->prompt |= strcmp(d->option, "--env") == 0 && d->value && strncmp(d->value, "PS1", 3) == 0;
}

/* The shell that nobody named shows that it is in a box. Only bash knows \w. */
static int set_prompt(struct run *r)
{
        char text[160];
        cordon_error e = { 0 };
        const char *name = r->set[CORDON_NAME];
        bool bash = usual_shell(r) == bash_of_host;
        (void) snprintf(text, sizeof text, "PS1=[cordon%s%.64s] %s", name ? " " : "", name ? name : "",
                        bash ? "\\w\\$ " : "$PWD$ ");
        return cordon_policy_add(r->policy, "env", text, &e) < 0 ? cli_run_failed(r, &e) : 0;
}

static int is_directory(const char *word)
{
        struct stat st;
        if (stat(word, &st) < 0 || !S_ISDIR(st.st_mode))
                return 0;

        (void) cli_problem("%s is a directory, not a command", word);
        return cli_hint("cordon shell --edit %s", word);
}

/* Its changes and records; what its shell was refused has been reported. */
static void end_shell(struct run *r)
{
        cordon_session_end(r->box);
        while (cordon_box_wait(r->box, -1) == 0)
                ;

        const cordon_result *end = cordon_box_result(r->box);
        if (end->work[0] && end->work_entries > 0 && !r->end.asked.quiet)
                cli_note_changes((long long) end->work_entries, (long long) end->work_flagged, end->work);
}

static int open_shell(struct run *r, char **command)
{
        cordon_error e = { 0 };
        const struct cli_shared *o = &r->end.asked;
        struct run shell = { .end = r->end };
        shell.end.asked = (struct cli_shared){ .json = o->json, .verbose = o->verbose, .quiet = o->quiet };
        shell.set[CORDON_CWD] = r->set[CORDON_CWD];
        r->set[CORDON_CWD] = NULL;
        if (cli_run_configure(r, NULL) < 0)
                return EXIT_CORDON;

        cli_run_notes(r);
        if (cli_session_up(r->box, &e) < 0)
                return cli_run_failed(r, &e);

        int status = run_in(&shell, r->box, command[0] ? command : (char **) (uintptr_t) usual_shell(r));
        end_shell(r);
        return status;
}

int verb_shell(int argc, char **argv)
{
        struct run r = { .end.status_fd = -1, .session = true };
        int at = cli_run_begin(&r, argc, argv);
        struct shell_doors doors = { 0 };
        int status = at < 0 ? EXIT_CORDON : 0;
        if (status == 0 && at < argc)
                status = is_directory(argv[at]);
        else if (status == 0) {
                cli_doors_again(argc, argv, cli_verb_now(), note_option, &doors);
                if (!doors.any && !r.end.asked.quiet)
                        cli_note("the current directory is not in the box; add it with: cordon shell --edit "
                                 ".");
                status = doors.prompt ? 0 : set_prompt(&r);
        }

        if (status == 0)
                status = open_shell(&r, argv + at);

        return cli_run_done(&r, status);
}

/* ---- fork ---- */

int verb_session_fork(int argc, char **argv)
{
        struct run r = { .end.status_fd = -1, .session = true, .detach = true };
        cordon_error e = { 0 };
        int at = cli_run_options(&r, argc, argv, NULL), status = EXIT_CORDON;
        if (at >= 0 && argc - at == 2 && r.set[CORDON_NAME])
                (void) cli_usage("%s", cli_verb_now()->which);
        else if (at >= 0 && (argc - at < 2 || cli_set_name(&r, argv[at + 1]) == 0)) {
                r.box = cordon_session_fork(cli_context(), argv[at], &e);
                if (!r.box)
                        status = cli_run_failed(&r, &e);
                else if (cli_run_configure(&r, NULL) == 0)
                        status = cli_run_detached(&r);
        }

        return cli_run_done(&r, status);
}
