/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_apply.c - `cordon apply`, `undo`, `discard` and `fork`: verbs that change an overlay. */
#include "base/buf.h"
#include "base/shell.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct apply {
        struct cli_shared asked;
        bool flagged;
        const char *to, *patch;
        const char *kinds[CLI_LIST_MAX + 1], *but[CLI_LIST_MAX + 1]; /* NULL-terminated */
};

const struct cli_option apply_options[] = {
        { "include-flagged", 0, NULL, "also apply entries that the host would execute or trust",
          CLI_FLAG(struct apply, flagged) },
        { "flagged", 0, "KIND", "also apply entries flagged as KIND (repeatable; diff prints the kinds)",
          CLI_LIST(struct apply, kinds) },
        { "all-but", 0, "PATH", "leave out PATH and everything below it (repeatable)",
          CLI_LIST(struct apply, but) },
        { "to", 0, "DIR", "apply to this directory instead; keep the overlay", CLI_TEXT(struct apply, to) },
        { "as-patch", 0, "FILE", "write a patch for `git apply` to FILE instead (- for standard output)",
          CLI_TEXT(struct apply, patch) },
        { 0 },
};

/* The result must not depend on the reader of the messages: `apply | head` must not die of SIGPIPE. */
static void outlive_reader(void) { (void) signal(SIGPIPE, SIG_IGN); }

static void say_held(void *ctx, const char *id, const char *effect, unsigned within_s)
{
        cli_progress_end(ctx);
        cli_note_held(id, effect, within_s);
}

static const char *plural(size_t n) { return n == 1 ? "entry" : "entries"; }

/* One command line that applies the entries that this apply held back. */
static void put_command(const cordon_work_outcome *r, const struct apply *a, const char *const *paths,
                        struct buf *out)
{
        buf_printf(out, "cordon apply%s", r->approval);
        for (size_t i = 0; a->but[i]; i++) {
                buf_puts(out, " --all-but ");
                buf_shell(out, a->but[i]);
        }

        if (a->to) {
                buf_puts(out, " --to ");
                buf_shell(out, a->to);
        }

        buf_printf(out, " %.*s", str_run_shown(r->run), r->run);
        for (; paths && *paths; paths++) {
                buf_putc(out, ' ');
                buf_shell(out, *paths);
        }
}

static void tell_held(const cordon_work_outcome *r, const struct apply *a, const char *const *paths)
{
        AUTO_BUF(command);
        size_t held = r->held - r->closed;
        put_command(r, a, paths, &command);
        if (held > 0 && r->approval[0])
                cli_note("not applied: %zu flagged %s; to apply %s: %s", held, plural(held),
                         held == 1 ? "it" : "them", buf_str(&command));
        else if (held > 0)
                cli_note("not applied: %zu flagged %s; cordon diff %.*s shows %s", held, plural(held),
                         str_run_shown(r->run), r->run, held == 1 ? "it" : "them");

        if (r->closed > 0)
                cli_note("not applied: %zu %s in directories that you cannot change; kept in overlay %.*s",
                         r->closed, plural(r->closed), str_run_shown(r->run), r->run);
}

static int tell_apply(const cordon_work_outcome *r, const struct apply *a, const char *const *paths)
{
        if (r->conflicts > 0 && a->patch) {
                cli_note("%zu %s: the patch is relative to the host's current files", r->conflicts,
                         r->conflicts == 1 ? "conflict" : "conflicts");
        } else if (r->conflicts > 0) {
                cli_note("error: nothing was applied: %zu %s", r->conflicts,
                         r->conflicts == 1 ? "conflict" : "conflicts");
                cli_note("hint: compare: cordon diff --theirs PATH; skip: --all-but PATH; merge by hand: "
                         "--as-patch FILE; or give up: cordon discard %.*s",
                         str_run_shown(r->run), r->run);
                return 1;
        }

        if (r->applied > 0 && !a->patch)
                cli_note("applied %zu %s%s%s; revert: cordon undo %.*s", r->applied, plural(r->applied),
                         a->to ? " to " : "", a->to ? a->to : "", str_run_shown(r->run), r->run);

        tell_held(r, a, paths);
        if (r->applied + r->held == 0)
                cli_note("nothing to apply");

        return r->conflicts > 0 || (r->applied == 0 && r->held > 0);
}

/* The object holds the result, also of a failure. */
static void end_object(void)
{
        (void) putchar('\n');
        cli_failure_told();
}

/* An incomplete patch is removed. */
static int write_patch(const struct apply *a, cordon_work_apply_options *o)
{
        cordon_error e = { 0 };
        cordon_work_outcome r = { 0 };
        bool here = strcmp(a->patch, "-") == 0;
        FILE *to = here ? stdout : fopen(a->patch, "wxe");
        if (!to)
                return cli_usage("--as-patch %s: %s", a->patch, strerror(errno));

        o->patch = cli_sink;
        o->label_fd = fileno(to);
        o->patch_ctx = to;
        int done = cordon_work_apply(cli_context(), o, &r, &e);
        cli_progress_end(o->progress_ctx);
        bool lost = ferror(to) || (!here && fclose(to) != 0);
        if (!here && (done < 0 || lost))
                (void) unlink(a->patch);

        if (done < 0)
                return cli_error(&e);

        return lost ? cli_usage("%s could not be written", a->patch) : tell_apply(&r, a, o->paths);
}

int verb_apply(int argc, char **argv)
{
        struct apply a = { 0 };
        cordon_error e = { 0 };
        cordon_work_outcome r;
        struct cli_progress progress = cli_progress_begin();
        struct cli_progress_out out = { .progress = &progress };
        cordon_work_apply_options o = {
                .out = cli_progress_sink, .out_ctx = &out, .progress = cli_progress, .progress_ctx = &progress
        };

        outlive_reader();
        int at = cli_take(argc, argv, &a);
        if (at < 0)
                return EXIT_CORDON;

        cli_run_and_paths(argc, argv, at, &o.run, &o.paths);
        if (a.patch && (a.to || a.asked.json))
                return cli_usage("--as-patch cannot be combined with --to or --json");

        o.include_flagged = a.flagged;
        o.flagged = a.kinds[0] ? a.kinds : NULL;
        o.all_but = a.but[0] ? a.but : NULL;
        o.to = a.to;
        o.no_ledger = a.asked.ledger && strcmp(a.asked.ledger, "off") == 0;
        o.json = a.asked.json;
        o.held = say_held;
        o.held_ctx = &progress;
        out.to = a.asked.json ? stdout : stderr;
        if (a.patch)
                return write_patch(&a, &o);

        int done = cordon_work_apply(cli_context(), &o, &r, &e);
        cli_progress_end(&progress);
        if (a.asked.json)
                end_object();

        return done < 0 ? cli_error(&e) : tell_apply(&r, &a, o.paths);
}

int verb_undo(int argc, char **argv)
{
        cordon_error e = { 0 };
        cordon_work_outcome r;
        struct cli_shared asked = { 0 };
        outlive_reader();
        int at = cli_take(argc, argv, &asked);
        if (at < 0)
                return EXIT_CORDON;

        struct cli_progress progress = cli_progress_begin();
        struct cli_progress_out out = { &progress, asked.json ? stdout : stderr, false };
        const cordon_work_undo_options o = { .run = at < argc ? argv[at] : NULL,
                                             .json = asked.json,
                                             .out = cli_progress_sink,
                                             .out_ctx = &out,
                                             .progress = cli_progress,
                                             .progress_ctx = &progress };
        int done = cordon_work_undo(cli_context(), &o, &r, &e);
        cli_progress_end(&progress);
        if (asked.json)
                end_object();

        if (done < 0)
                return cli_error(&e);

        if (r.conflicts > 0) {
                cli_note("error: nothing was reverted: %zu %s", r.conflicts,
                         r.conflicts == 1 ? "conflict" : "conflicts");
                return 1;
        }

        cli_note("reverted; overlay %.*s can be applied again", str_run_shown(r.run), r.run);
        return 0;
}

/* ---- discard ---- */

struct discard {
        struct cli_shared asked;
        bool yes;
};

const struct cli_option discard_options[] = {
        { "yes", 'y', NULL, "do not ask; without RUN, the overlay that diff shows",
          CLI_FLAG(struct discard, yes) },
        { 0 },
};

static int discard_one(const char *which, bool json)
{
        cordon_error e = { 0 };
        char run[64];
        int r = cordon_work_discard(cli_context(), which, json, cli_sink, stdout, run, &e);
        if (r < 0)
                return cli_error(&e);

        if (r == 2)
                cli_note("the interrupted apply of %s is given up: what it has replaced is in cordon's state "
                         "directory, work/.kept-%s",
                         run, run);
        else if (r == 1)
                cli_note("discarded the rest of overlay %.*s; revert the applied part: cordon undo %.*s",
                         str_run_shown(run), run, str_run_shown(run), run);
        else
                cli_note("discarded overlay %.*s", str_run_shown(run), run);

        return 0;
}

/* The heading and the newest ten. */
static void put_newest(void *ctx, const void *data, size_t len)
{
        enum { SHOWN = 11 };
        const char *p = data, *end = p + len, *line;
        for (unsigned n = 0; n < SHOWN && p < end; n++) {
                line = memchr(p, '\n', (size_t) (end - p));
                p = line ? line + 1 : end;
        }

        cli_sink(ctx, data, (size_t) (p - (const char *) data));
        if (p < end)
                (void) fputs("... `cordon diff --list` shows all\n", ctx);
}

/* A discard is irreversible: without a name it asks on a terminal, and fails elsewhere. Returns true if
 * the user agreed. */
static bool is_agreed(const struct discard *d, const char *run, int *ret_status)
{
        cordon_error e = { 0 };
        char answer[16] = "";
        *ret_status = EXIT_CORDON;
        if (d->yes)
                return true;

        if (!isatty(0) || !isatty(2)) {
                (void) cli_usage("which overlay? the newest: cordon discard %.*s, or --yes",
                                 str_run_shown(run), run);
                (void) cordon_work_list(cli_context(), 0, put_newest, stderr, &e);
                return false;
        }

        if (cordon_work_list(cli_context(), 0, put_newest, stderr, &e) < 0)
                return *ret_status = cli_error(&e), false;

        (void) fprintf(stderr, "discard the overlay %.*s? [y/N] ", str_run_shown(run), run);
        if (fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
                return true;

        cli_note("nothing was discarded");
        *ret_status = 1;
        return false;
}

static int discard_all(int count, char **runs, bool json)
{
        int status = 0;
        if (json)
                (void) fputs("{\"version\":1,\"layers\":[", stdout);

        for (int i = 0; i < count; i++) {
                if (json && i > 0)
                        (void) putchar(',');
                status |= discard_one(runs[i], json);
        }

        if (json) {
                (void) fputs("]}", stdout);
                end_object();
        }

        return status;
}

int verb_discard(int argc, char **argv)
{
        struct discard d = { 0 };
        cordon_error e = { 0 };
        int status = 0;
        char found[64], *newest = found;
        outlive_reader();
        int at = cli_take(argc, argv, &d);
        if (at < 0)
                return EXIT_CORDON;

        if (at < argc)
                return discard_all(argc - at, argv + at, d.asked.json);

        bool none = cordon_work_find(cli_context(), NULL, found, &e) < 0;
        if (none && !d.asked.json)
                return cli_error(&e);

        found[none ? 0 : sizeof found - 1] = '\0'; /* the object reports an overlay that does not exist */
        return none || is_agreed(&d, newest, &status) ? discard_all(1, &newest, d.asked.json) : status;
}
