/* SPDX-License-Identifier: MIT */
/* cli/say.c - errors, hints and notes, one line each. What was typed, what a file holds and what a box left
 * behind stand in them: all of it goes through here, so that a terminal shows it and does nothing else. */
#include "base/str.h"
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 8192 }; /* two paths, and what is said about them */

static const struct cli_verb *verb_now;

void cli_verb_is(const struct cli_verb *verb) { verb_now = verb; }

static bool box_spoke, line_is_open;

void cli_box_spoke(bool mid_line)
{
        box_spoke = true;
        line_is_open = mid_line;
}

static bool obeys_escapes(void)
{
        const char *term = getenv("TERM");
        return isatty(2) && term && strcmp(term, "dumb") != 0;
}

/* SAFETY: what stands on one line with words of ours could be taken for ours. And what a box wrote may have
 * left a terminal so that nobody can read them: with hidden letters, those of another set, or on another
 * screen. */
void cli_line_begin(void)
{
        static const char plain[] = "\033[?47l"   /* the usual screen */
                                    "\033[0m"     /* no attribute */
                                    "\033(B\017"; /* ASCII */
        if (box_spoke && obeys_escapes())
                (void) fputs(plain, stderr);
        if (line_is_open)
                (void) fputc('\n', stderr);
        box_spoke = line_is_open = false;
}

__attribute__((format(printf, 2, 0))) static void say(const char *kind, const char *fmt, va_list ap)
{
        char text[LINE_BYTES], shown[LINE_BYTES];
        (void) vsnprintf(text, sizeof text, fmt, ap);
        cli_line_begin();
        (void) fprintf(stderr, "cordon: %s%s\n", kind, str_inert(span_str(text), shown, sizeof shown));
}

void cli_note(const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        say("", fmt, ap);
        va_end(ap);
}

int cli_problem(const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        say("error: ", fmt, ap);
        va_end(ap);
        return EXIT_CORDON;
}

int cli_hint(const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        say("hint: ", fmt, ap);
        va_end(ap);
        return EXIT_CORDON;
}

int cli_usage(const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        say("error: ", fmt, ap);
        va_end(ap);
        return cli_hint("`cordon help %s` tells how it is used", verb_now ? verb_now->name : "VERB");
}

/* Without a word it comes from a call that has no room for a reason: those fail for want of memory only. */
int cli_error(const cordon_error *e)
{
        (void) cli_problem("%s", e->what[0] ? e->what : "there is no memory");
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
