/* SPDX-License-Identifier: MIT */
/* face/cli/messages.c - errors, hints and notes, one line each. They contain command-line words, file content
 * and text of a box: all of it is made inert here, so that a terminal only shows it. */
#include "base/err.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 8192 }; /* two paths and a sentence */

static const struct cli_verb *verb_now;

const struct cli_verb *cli_verb_now(void) { return verb_now; }

void cli_verb_is(const struct cli_verb *verb) { verb_now = verb; }

static bool box_spoke, line_is_open;

void cli_box_spoke(bool mid_line)
{
        box_spoke = true;
        line_is_open = mid_line;
}

bool cli_obeys_escapes(int fd)
{
        const char *term = getenv("TERM");
        return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

/* SAFETY: text on one line with ours could be taken for ours. And output of a box may have left a terminal
 * unreadable: hidden text, another character set, the alternate screen, an unterminated string, or a
 * scroll region of one line in which each message covers the last. */
void cli_line_begin(void)
{
        static const char plain[] = "\033\\"           /* the end of a string */
                                    "\033[?47l"        /* the main screen */
                                    "\0337\033[r\0338" /* the whole screen scrolls; the cursor stays */
                                    "\033[?7h"         /* autowrap */
                                    "\033[0m"          /* no attribute */
                                    "\033(B\017"       /* ASCII */
                                    "\033[J";          /* nothing beside and below */
        if (box_spoke && cli_obeys_escapes(2))
                (void) fputs(plain, stderr);

        if (line_is_open)
                (void) fputc('\n', stderr);

        box_spoke = line_is_open = false;
}

__attribute__((format(printf, 3, 0))) static void say(const char *kind, char text[LINE_BYTES],
                                                      const char *fmt, va_list ap)
{
        char shown[LINE_BYTES];
        (void) vsnprintf(text, LINE_BYTES, fmt, ap);
        cli_line_begin();
        (void) fprintf(stderr, "cordon: %s%s\n", kind, str_inert(span_str(text), shown, sizeof shown));
}

void cli_note(const char *fmt, ...)
{
        char text[LINE_BYTES];
        va_list ap;
        va_start(ap, fmt);
        say("", text, fmt, ap);
        va_end(ap);
}

__attribute__((format(printf, 3, 0))) static void say_problem(int code, int sys, const char *fmt, va_list ap)
{
        char text[LINE_BYTES];
        say("error: ", text, fmt, ap);
        cli_failure_is(code, sys, text);
}

int cli_problem(const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        say_problem(ERR_USAGE, 0, fmt, ap);
        va_end(ap);
        return EXIT_CORDON;
}

int cli_hint(const char *fmt, ...)
{
        char text[LINE_BYTES];
        va_list ap;
        va_start(ap, fmt);
        say("hint: ", text, fmt, ap);
        va_end(ap);
        cli_failure_hint(text);
        return EXIT_CORDON;
}

int cli_usage(const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        say_problem(ERR_USAGE, 0, fmt, ap);
        va_end(ap);
        return cli_hint("see `cordon help %s`", verb_now ? verb_now->name : "VERB");
}

__attribute__((format(printf, 3, 4))) static void say_error(int code, int sys, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        say_problem(code, sys, fmt, ap);
        va_end(ap);
}

/* An empty message comes from a call without room for a reason: those fail only if memory runs out. */
int cli_error(const cordon_error *e)
{
        if (e->what[0])
                say_error(e->code ? e->code : ERR_USAGE, e->sys, "%s", e->what);
        else
                say_error(ERR_MEMORY, 0, "out of memory");
        return e->hint[0] ? cli_hint("%s", e->hint) : EXIT_CORDON;
}

int cli_fail(cordon_error *e, int code, int sys, const char *fmt, ...)
{
        va_list ap;
        *e = (cordon_error){ .code = (uint16_t) code, .sys = sys };
        va_start(ap, fmt);
        (void) vsnprintf(e->what, sizeof e->what, fmt, ap);
        va_end(ap);
        return -1;
}

void cli_note_changes(long long entries, long long flagged, const char *overlay)
{
        int n = str_run_shown(overlay);
        cli_note("%lld %s in an overlay, %lld flagged: cordon diff %.*s; then cordon apply %.*s", entries,
                 entries == 1 ? "change" : "changes", flagged, n, overlay, n, overlay);
}

void cli_note_held(const char *id, const char *effect, unsigned within_s)
{
        bool minutes = within_s >= 60 && within_s % 60 == 0;
        cli_note("waiting for approval (%u%s): %.600s; in another terminal: cordon approve %.12s",
                 minutes ? within_s / 60 : within_s, minutes ? "m" : "s", effect, id);
}
