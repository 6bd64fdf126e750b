/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_diff.c - `cordon diff`: forms, colour and pager as users of git expect them. */
#include "face/cli/boxes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct diff {
        struct cli_shared asked;
        bool stat, names, list, no_pager;
        cordon_work_form form;
        const char *theirs[CLI_LIST_MAX + 1]; /* NULL-terminated */
        const char *colour;
};

const struct cli_option diff_options[] = {
        { "stat", 0, NULL, "one line for each entry", CLI_FLAG(struct diff, stat) },
        { "name-only", 0, NULL, "names, quoted as git quotes them", CLI_FLAG(struct diff, names) },
        { "theirs", 0, "PATH", "show conflicts below PATH: the host's version against the box's",
          CLI_LIST(struct diff, theirs) },
        { "list", 'l', NULL, "list overlays", CLI_FLAG(struct diff, list) },
        { "color", 0, "auto|always|never", "(default: auto)", CLI_TEXT(struct diff, colour) },
        { "no-pager", 0, NULL, "do not use $PAGER", CLI_FLAG(struct diff, no_pager) },
        { 0 },
};

/* Does the newest overlay of this directory change it? */
static bool is_changed_path(const char *word)
{
        cordon_error e = { 0 };
        size_t entries;
        const char *const paths[] = { word, NULL };
        const cordon_work_diff_options o = { .form = CORDON_WORK_NAMES, .paths = paths };
        return cordon_work_diff(cli_context(), &o, &entries, &e) == 0;
}

/* PID-HEX-HEX is always an id: a file left by a box must not be taken for the id of a removed overlay. */
static bool looks_like_id(const char *word)
{
        size_t pid = strspn(word, "0123456789");
        return pid > 0 && word[pid] == '-' && word[pid + strspn(word + pid, "-0123456789abcdef")] == '\0';
}

/* A name of an overlay takes precedence over a path of the newest one. */
static bool is_layer(const char *word)
{
        cordon_error e = { 0 };
        char found[64];
        if (looks_like_id(word))
                return true;

        bool there = cordon_work_find(cli_context(), word, found, &e) == 0;
        if (!is_changed_path(word))
                return true;

        if (there)
                cli_note("note: %s means the overlay %s; for the path use -- %s", word, found, word);

        return there;
}

void cli_run_and_paths(int argc, char **argv, int at, const char **ret_run, const char *const **ret_paths)
{
        bool only_paths = at > 1 && strcmp(argv[at - 1], "--") == 0;
        bool marked = at + 1 < argc && strcmp(argv[at + 1], "--") == 0;
        only_paths |= at < argc && !only_paths && !marked && !is_layer(argv[at]);
        *ret_run = at < argc && !only_paths ? argv[at++] : NULL;
        at += at < argc && !only_paths && strcmp(argv[at], "--") == 0; /* RUN -- PATH */
        *ret_paths = at < argc ? (const char *const *) argv + at : NULL;
}

void cli_sink(void *ctx, const void *data, size_t len) { (void) !fwrite(data, 1, len, (FILE *) ctx); }

/* The pager reads a pipe and inherits nothing else of ours. As git: $PAGER by the shell, else `less -FRX`. */
static pid_t start_pager(FILE **ret_to)
{
        const char *own = getenv("CORDON_PAGER"), *pager = own ? own : getenv("PAGER");
        int ends[2];
        if (pager && (pager[0] == '\0' || strcmp(pager, "cat") == 0))
                return -1;

        if (pipe2(ends, O_CLOEXEC) < 0)
                return -1;

        pid_t pid = fork();
        if (pid == 0) {
                (void) dup2(ends[0], 0);
                (void) setenv("LESS", "FRX", 0);
                (void) execl("/bin/sh", "sh", "-c", pager ? pager : "exec less", (char *) NULL);
                _exit(127);
        }

        (void) close(ends[0]);
        *ret_to = pid > 0 ? fdopen(ends[1], "w") : NULL;
        if (!*ret_to)
                (void) close(ends[1]);

        return pid;
}

/* The shell's status for a missing program. Nothing was shown then. */
static bool is_missing(int status)
{
        return WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127);
}

static bool wants_colour(void)
{
        const char *no = getenv("NO_COLOR");
        return !(no && *no) && cli_obeys_escapes(1);
}

/* The id of a running box: its overlay is the box's, and is looked at in a copy. */
static bool is_running(const char *run, char ret[64])
{
        cordon_error ignored;
        char found[64];
        bool there = cordon_work_find(cli_context(), run, found, &ignored) == 0;
        char *state = cordon_inspect(there ? found : run, &ignored);
        struct json_doc *doc = cli_box_state(state);
        const struct json *id = doc ? json_get(json_root(doc), "run") : NULL;
        bool runs = id && id->str && (size_t) snprintf(ret, 64, "%s", id->str) < 64;
        json_free(doc);
        cordon_free(state);
        return runs;
}

static int show(const struct diff *d, const char *run, const char *const *paths)
{
        cordon_error e = { 0 };
        size_t entries = 0;
        int status = 0;
        FILE *to = stdout;
        bool terminal = isatty(1);
        bool automatic = !d->colour || strcmp(d->colour, "auto") == 0;
        bool colour = automatic ? wants_colour() : strcmp(d->colour, "always") == 0;
        bool paged = terminal && !d->no_pager && (d->form == CORDON_WORK_TEXT || d->form == CORDON_WORK_STAT);
        pid_t pager = paged ? start_pager(&to) : -1;
        if (!to)
                to = stdout;

        struct cli_progress progress = cli_progress_begin();
        struct cli_progress_out out = { &progress, to, terminal };
        cordon_work_diff_options o = { .run = run,
                                       .form = d->form,
                                       .colour = colour,
                                       .verbose = d->asked.verbose,
                                       .paths = paths,
                                       .theirs = d->theirs[0] ? d->theirs : NULL,
                                       .out = cli_progress_sink,
                                       .out_ctx = &out,
                                       .label_fd = 1,
                                       .progress = cli_progress,
                                       .progress_ctx = &progress };
        int r = cordon_work_diff(cli_context(), &o, &entries, &e);
        cli_progress_end(&progress);
        if (to != stdout)
                (void) fclose(to);

        while (pager > 0 && waitpid(pager, &status, 0) < 0)
                ;

        if (r == 0 && is_missing(status)) {
                cli_note("note: cannot start the pager");
                out.to = stdout;
                r = cordon_work_diff(cli_context(), &o, &entries, &e);
        }

        if (r < 0)
                return cli_error(&e);

        if (entries == 0 && terminal)
                cli_note("no changes");

        return 0;
}

static int show_copy(const struct diff *d, const char *run, const char *const *paths)
{
        cordon_error e = { 0 };
        char copy[64], gone[64];
        if (cordon_work_copy_running(cli_context(), run, copy, &e) < 0)
                return cli_error(&e);

        if (!d->asked.json)
                cli_note("note: the box is still running; changes so far");

        int status = show(d, copy, paths);
        (void) cordon_work_discard(cli_context(), copy, 0, NULL, NULL, gone, &e);
        return status;
}

int verb_diff(int argc, char **argv)
{
        struct diff d = { 0 };
        cordon_error e = { 0 };
        const char *run;
        const char *const *paths;
        int at = cli_take(argc, argv, &d);
        if (at < 0)
                return EXIT_CORDON;

        d.form = d.asked.json ? CORDON_WORK_JSON
                 : d.names    ? CORDON_WORK_NAMES
                 : d.stat     ? CORDON_WORK_STAT
                              : CORDON_WORK_TEXT;
        if (d.list && at < argc)
                return cli_usage("--list takes no arguments");

        if (d.list)
                return cordon_work_list(cli_context(), d.asked.json, cli_sink, stdout, &e) < 0 ? cli_error(&e)
                                                                                               : 0;

        if (d.theirs[0] && d.form != CORDON_WORK_TEXT)
                return cli_usage("--theirs cannot be combined with --stat, --name-only or --json");

        cli_run_and_paths(argc, argv, at, &run, &paths);
        char id[64];
        if (!run && cordon_work_find(cli_context(), NULL, id, &e) < 0 && e.sys == EBUSY)
                return show_copy(&d, id, paths);

        return run && is_running(run, id) ? show_copy(&d, id, paths) : show(&d, run, paths);
}
