/* SPDX-License-Identifier: MIT */
/* policy/check/policy_fail.c - load errors: the position, one sentence, and the nearest valid word. */
#include "policy/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

char *policy_place(const struct source_place *at, char *buf, size_t cap)
{
        if (at->line == 0)
                (void) snprintf(buf, cap, "%s", at->file);
        else
                (void) snprintf(buf, cap, "%s:%u:%u", at->file, at->line, at->column);
        return buf;
}

int fail_at(struct err *e, const struct source_place *at, const char *fmt, ...)
{
        char what[sizeof e->what];
        va_list ap;
        va_start(ap, fmt);
        (void) vsnprintf(what, sizeof what, fmt, ap);
        va_end(ap);
        char place[256];
        return err_set(e, ERR_POLICY, 0, "%s: %s", policy_place(at, place, sizeof place), what);
}

int fail_memory(struct err *e) { return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the policy"); }

struct shown show_text(const char *s)
{
        struct shown out = { 0 };
        (void) str_inert(span_str(s), out.text, sizeof out.text);
        return out;
}

void hint_nearest_row(struct err *e, const char *wrong, const void *rows, size_t count, size_t size)
{
        const char *best = NULL, *word;
        for (size_t i = 0; i < count; i++) {
                memcpy(&word, (const char *) rows + i * size, sizeof word);
                if (strcasecmp(wrong, word) == 0) {
                        best = word;
                        break;
                }
                str_nearer(wrong, word, &best);
        }

        if (best)
                (void) err_hint(e, "did you mean \"%s\"?", best);
}
