/* SPDX-License-Identifier: MIT */
/* cli/failure.c - why a verb failed, for the program that asked it for JSON. messages.c hands over what it
 * tells people; the first of it is the reason, and the rest came of it. */
#include "base/buf.h"
#include "base/err.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cordon_error first;
static unsigned problems;
static bool told;
static const char *file = ""; /* a policy, of which the first tells */

void cli_failure_in(const char *policy)
{
        if (problems == 0)
                file = policy;
}

const char *cli_failure_file(void) { return file; }

void cli_failure_is(int code, int sys, const char *what)
{
        if (problems++ > 0)
                return;
        first = (cordon_error){ .code = (uint16_t) code, .sys = sys };
        (void) snprintf(first.what, sizeof first.what, "%s", what);
}

/* That of a later problem is no way out of the first. */
void cli_failure_hint(const char *hint)
{
        if (problems == 1 && !first.hint[0])
                (void) snprintf(first.hint, sizeof first.hint, "%s", hint);
}

void cli_failure_told(void) { told = true; }

const cordon_error *cli_failure_untold(void) { return problems > 0 && !told ? &first : NULL; }

/* ":3:8: what is wrong": the number behind a colon; NULL: there is none. */
static const char *number_behind(const char *colon, unsigned long *ret)
{
        char *end;
        if (*colon != ':' || colon[1] < '0' || colon[1] > '9')
                return NULL;
        *ret = strtoul(colon + 1, &end, 10);
        return end;
}

/* Of what is no policy, a name of a box's or a stranger's making may look like a place in one. */
static bool may_have_place(const cordon_error *e)
{
        return e->code == ERR_POLICY || e->code == ERR_DOOR || e->code == ERR_HOST || e->code == ERR_INTERNAL;
}

/* "file:3:8: what is wrong" in its parts; what was typed has no line. The name of the file itself may have
 * the looks of a place: where it is known, the search begins behind it. */
void cli_failure_put(const cordon_error *e, const char *name)
{
        unsigned long line = 0, column = 0;
        const char *text = NULL, *colon = e->what;
        size_t known = strlen(name);
        const char *from =
                strncmp(e->what, name, known) == 0 && e->what[known] == ':' ? e->what + known : e->what;

        for (; !text && may_have_place(e) && (colon = strchr(from, ':')); from = colon + 1) {
                const char *second = number_behind(colon, &line);
                const char *end = second ? number_behind(second, &column) : NULL;
                text = end && strncmp(end, ": ", 2) == 0 ? end + 2 : NULL; /* names may have colons, too */
        }

        AUTO_BUF(out);
        buf_printf(&out, "[{\"code\":\"%s\",\"level\":\"E\",\"file\":", cordon_error_name(e->code));
        buf_json(&out, text ? span_of(e->what, (size_t) (colon - e->what)) : span_str(name));
        buf_printf(&out, ",\"line\":%lu,\"column\":%lu,\"text\":", text ? line : 0, text ? column : 0);
        buf_json(&out, span_str(text ? text : e->what));
        buf_member(&out, "hint", e->hint);
        buf_puts(&out, "}]\n");
        if (!out.failed)
                (void) fputs(buf_str(&out), stdout);

        told = true;
}
