/* SPDX-License-Identifier: MIT */
/* face/cli/failure.c - why a verb failed, for the program that asked for JSON. messages.c passes on the
 * messages that it prints; the first is the reason, the rest are consequences. */
#include "base/buf.h"
#include "base/err.h"
#include "face/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cordon_error first;
static unsigned problems;
static bool told;
static const char *file = ""; /* a policy, which the first message is about */

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

/* The hint of a later problem does not solve the first. */
void cli_failure_hint(const char *hint)
{
        if (problems == 1 && !first.hint[0])
                (void) snprintf(first.hint, sizeof first.hint, "%s", hint);
}

void cli_failure_told(void) { told = true; }

const cordon_error *cli_failure_untold(void) { return problems > 0 && !told ? &first : NULL; }

/* ":3:8: message": the number after a colon; NULL: none. */
static const char *number_behind(const char *colon, unsigned long *ret)
{
        char *end;
        if (*colon != ':' || colon[1] < '0' || colon[1] > '9')
                return NULL;
        *ret = strtoul(colon + 1, &end, 10);
        return end;
}

/* Unless it is about a policy, a name chosen by a box or another user may look like a position in one. */
static bool may_have_place(const cordon_error *e)
{
        return e->code == ERR_POLICY || e->code == ERR_DOOR || e->code == ERR_HOST || e->code == ERR_INTERNAL;
}

/* Splits "file:3:8: message"; typed input has no line. The name of the file itself may look like a
 * position: if it is known, the search begins after it. */
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
                text = end && strncmp(end, ": ", 2) == 0 ? end + 2 : NULL; /* names may also contain colons */
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
