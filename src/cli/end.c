/* SPDX-License-Identifier: MIT */
/* cli/end.c - what is said when a run is over: the end, what was refused, what an edit door held back. */
#include "cli/end.h"
#include "base/shell.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The path of a line, which may stand in the quotes of the policy language, as an option takes it: as it is,
 * and with one more question mark where it ends in one. */
static void put_plain(struct buf *out, const char *quoted)
{
        const char *p = quoted + 1;
        for (; *p && *p != '"'; p++) {
                p += *p == '\\' && p[1];
                buf_putc(out, *p);
        }
        if (p[-1] == '?')
                buf_putc(out, '?');
}

/* As it is typed: what follows the word is one argument. The box chose what stands in it. */
static void say_permit(const char *line)
{
        AUTO_BUF(plain);
        AUTO_BUF(word);
        const char *rest = strchr(line, ' ');
        if (!rest)
                return;
        if (rest[1] == '"')
                put_plain(&plain, rest + 1);
        else
                buf_puts(&plain, rest + 1);
        buf_shell(&word, buf_str(&plain));
        if (!plain.failed && !word.failed)
                (void) fprintf(stderr, "; to permit: --%.*s %s", (int) (rest - line), line, buf_str(&word));
}

/* SAFETY: the box chose the name of what it was refused and of the program that asked. Each is one word, in
 * quotes where it would be more, so that no part of it is taken for the words of ours that follow. */
static void say_word(const char *before, const char *word)
{
        AUTO_BUF(quoted);
        buf_shell(&quoted, word);
        if (!quoted.failed)
                (void) fprintf(stderr, "%s%s", before, buf_str(&quoted));
}

static void say_denial(const cordon_denial *d)
{
        size_t n = strlen(d->code);
        bool path = d->path[0] && strncmp(d->what, d->code, n) == 0 && d->what[n] == ' ';
        (void) fprintf(stderr, "  %s", path ? d->code : d->what);
        if (path)
                say_word(" ", d->what + n + 1);
        if (d->program[0])
                say_word(" by ", d->program);
        if (d->count > 1)
                (void) fprintf(stderr, ", %u times", d->count);
        (void) fprintf(stderr, ": %s", d->layer);
        if (d->permit[0])
                say_permit(d->permit);
        if (d->on_host == 0 && strcmp(d->code, "run") == 0)
                (void) fprintf(
                        stderr,
                        "; what it made itself starts only behind --write or --edit DIR with --run DIR/");
        if (d->permit[0] && strncmp(d->what, "the name ", strlen("the name ")) == 0)
                (void) fprintf(stderr, " (443 is a guess: only the name was asked for)");
        (void) fputc('\n', stderr);
}

/* Limits are said above. */
static bool is_of(const cordon_denial *d, int weight)
{
        return strcmp(d->code, "limit") != 0 && d->minor == weight;
}

static void say_those(const cordon_result *r, int weight)
{
        for (size_t i = 0; i < r->denial_count; i++)
                if (is_of(&r->denials[i], weight))
                        say_denial(&r->denials[i]);
}

static size_t count_those(const cordon_result *r, int weight)
{
        size_t n = 0;
        for (size_t i = 0; i < r->denial_count; i++)
                n += is_of(&r->denials[i], weight);
        return n;
}

static void say_absent(const cordon_result *r)
{
        AUTO_BUF(words);
        for (int i = 0; i < 2 && r->absent[i]; i++) {
                buf_puts(&words, i ? ", " : "");
                buf_shell(&words, r->absent[i]);
        }
        cli_note("looked for, and not there outside the box either: %s", buf_str(&words));
}

/* Settings of the system that a program went without are told only where the run did not end well, and last.
 */
static void say_denials(const cordon_result *r)
{
        bool well = r->end == CORDON_EXITED && r->code == 0;
        size_t plain = count_those(r, 0), settings = count_those(r, 1);
        if (plain || (settings && !well))
                cli_note("refused:");
        say_those(r, 0);
        if (!well)
                say_those(r, 1);
        else if (plain && settings)
                (void) fprintf(stderr, "  and %zu setting%s of the system, which --json lists\n", settings,
                               settings == 1 ? "" : "s");
        if (r->denials_lost)
                cli_note("%zu or more refusals are not listed: there were too many to tell", r->denials_lost);
        if (!well && !plain && !settings && r->absent[0])
                say_absent(r);
}

static bool has_line(const char *lines, const char *start)
{
        for (const char *at = lines; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
                if (strncmp(at, start, strlen(start)) == 0)
                        return true;
        return false;
}

/* make asks whether it may run a program (access), and when it may not, it does not try: no refusal is heard
 * of, and what it built itself is what it mostly runs. */
static void say_unheard(const struct cli_end *o, const cordon_result *r)
{
        const char *slash = strrchr(o->program, '/'), *name = slash ? slash + 1 : o->program;
        bool make = strcmp(name, "make") == 0 || strcmp(name, "gmake") == 0;
        cordon_error e = { 0 };
        if (!make || r->end != CORDON_EXITED || r->code == 0)
                return;
        char *lines = cordon_policy_view(o->policy, CORDON_VIEW_LINES, &e);
        if ((has_line(lines, "write ") || has_line(lines, "edit ")) && !has_line(lines, "run /"))
                cli_note("note: what a box can write it may not run (\"Permission denied\") but what "
                         "`--run DIR/` names");
        cordon_free(lines);
}

/* What an edit door held back, and what to type next. */
static void say_work(const cordon_result *r)
{
        if (r->work_error)
                cli_note("the layer %s could not be read: %s", r->work, r->work_error->what);
        else if (r->work[0] && r->work_entries > 0)
                cli_note("%zu %s held back, %zu flagged: cordon diff %s; then cordon apply %s",
                         r->work_entries, r->work_entries == 1 ? "change" : "changes", r->work_flagged,
                         r->work, r->work);
        else if (r->work[0])
                cli_note("nothing changed; the layer is kept: cordon run --on %s ...", r->work);
}

/* Whoever wants the record one day should not hear only then that there is none. */
static void say_ledger(const cordon_result *r)
{
        static const char off[] = "off: ";
        const char *why = strncmp(r->ledger, off, strlen(off)) == 0 ? r->ledger + strlen(off) : "asked for";
        if (strcmp(why, "asked for") != 0)
                cli_note("note: not all of this run is recorded: %s", why);
}

static void say_recorded(const char *file, const cordon_result *r)
{
        AUTO_BUF(word);
        buf_shell(&word, file);
        cli_note("%zu exchange%s recorded: cordon run --stage mock --answers %s ...", r->recorded,
                 r->recorded == 1 ? "" : "s", buf_str(&word));
        if (r->unrecorded)
                cli_note(
                        "%zu left out: over 1M, broken off, or not an exchange of one request and one answer",
                        r->unrecorded);
}

void cli_end_say(const struct cli_end *o, const cordon_result *r)
{
        if (r->error)
                (void) cli_error(r->error);
        if (o->quiet)
                return;
        if (strcmp(r->wall, "process") == 0)
                cli_note("note: the process wall, without namespaces: other files answer \"permission "
                         "denied\" "
                         "instead of not existing, and stat sees them; `cordon doctor` tells what the "
                         "namespace wall needs");
        if (r->end == CORDON_LIMIT) {
                cli_note("the limit `%s` ended it%s; --%s gives it more", r->limit,
                         r->output_truncated ? ", and output was cut there" : "", r->limit);
                if (!r->groups)
                        cli_note("note: no control groups for this account: memory, cpu and processes are "
                                 "kept by rlimits and sampling");
        } else if (r->limits_hit[0])
                cli_note("limits that were reached: %s", r->limits_hit);
        say_denials(r);
        say_unheard(o, r);
        say_work(r);
        say_ledger(r);
        if (o->record && !r->error)
                say_recorded(o->record, r);
}

/* A program inside often sees no more of it than a reset connection. */
void cli_end_unreached(const struct cli_end *o, cordon_box *b)
{
        cordon_unreached u;
        for (size_t i = 0; !o->quiet && cordon_box_unreached(b, i, &u); i++) {
                if (i == 0)
                        cli_note("not reached:");
                (void) fprintf(stderr, "  %s (%s)", u.to, u.why);
                if (u.count > 1)
                        (void) fprintf(stderr, ", %u times", u.count);
                (void) fputc('\n', stderr);
        }
}

/* Whole, also into a pipe that is full and does not wait: a program reads it. Who asked for it and cannot get
 * it is told, also with -q. */
static int write_status(int fd, const char *json)
{
        for (size_t n = strlen(json); n > 0;) {
                ssize_t k = write(fd, json, n);
                struct pollfd room = { .fd = fd, .events = POLLOUT };
                if (k >= 0) {
                        json += k;
                        n -= (size_t) k;
                } else if (errno == EAGAIN)
                        (void) poll(&room, 1, -1);
                else if (errno != EINTR) {
                        (void) cli_problem("the result could not be written to descriptor %d: %s", fd,
                                           strerror(errno));
                        return -1;
                }
        }
        return 0;
}

int cli_end_status(const struct cli_end *o, cordon_box *b)
{
        int told = 0;
        if (!o->json && o->status_fd < 0)
                return 0; /* nobody asked: the policy's digest alone costs as much as a door */
        char *json = cordon_box_result_json(b);
        if (!json) {
                (void) cli_problem("there is no memory for the result as JSON");
                return -1;
        }
        cli_failure_told();
        if (o->json)
                cli_line_begin();
        if (o->json && fprintf(stderr, "%s\n", json) < 0)
                told = -1;
        if (o->status_fd >= 0 &&
            (write_status(o->status_fd, json) < 0 || write_status(o->status_fd, "\n") < 0))
                told = -1;
        cordon_free(json);
        return told;
}

/* A start that failed has a result too. */
void cli_end_failure(const struct cli_end *o, const char *run, const cordon_error *e)
{
        AUTO_BUF(out);
        buf_puts(&out, "{\"version\":1,");
        if (run)
                buf_printf(&out, "\"run\":\"%s\",", run);
        const char *code = cordon_error_name(e->code);
        /* Of a detached box this is how its caller hears that the program could not be started. */
        buf_printf(&out, "\"end\":\"%s\",\"error\":{\"code\":\"%s\",\"errno\":%d,\"step\":%u,\"what\":",
                   strcmp(code, "exec") == 0 ? "not-started" : "failed", code, e->sys, (unsigned) e->step);
        buf_json(&out, span_str(e->what));
        buf_puts(&out, ",\"hint\":");
        buf_json(&out, span_str(e->hint));
        buf_puts(&out, "}}\n");
        if (o->json) {
                cli_line_begin();
                (void) fputs(buf_str(&out), stderr);
        }
        if (o->status_fd >= 0)
                (void) write_status(o->status_fd, buf_str(&out));
        cli_failure_told();
}

void cli_end_untold(const struct cli_end *o)
{
        const cordon_error *e = cli_failure_untold();
        if (e)
                cli_end_failure(o, NULL, e);
}
