/* SPDX-License-Identifier: MIT */
/* face/cli/progress.c - one line on a terminal about work that takes over a second, erased when it is done.
 */
#include "base/clock.h"
#include "face/cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const uint64_t FIRST_NS = 1000000000, NEXT_NS = 200000000;

struct cli_progress cli_progress_begin(void)
{
        return (struct cli_progress){ .off = !isatty(2), .due_ns = clock_mono_ns() + FIRST_NS };
}

void cli_progress_clear(struct cli_progress *p)
{
        if (p->width > 0)
                (void) fprintf(stderr, "\r%*s\r", p->width, "");
        p->width = 0;
}

void cli_progress_end(struct cli_progress *p)
{
        cli_progress_clear(p);
        p->off = true;
}

/* Overwrites the previous line, padded with spaces if that was longer: any terminal can do it. */
void cli_progress(void *ctx, const char *doing, size_t done, size_t total)
{
        struct cli_progress *p = ctx;
        char line[100];
        uint64_t now = p->off ? 0 : clock_mono_ns();
        if (p->off || now < p->due_ns)
                return;

        p->due_ns = now + NEXT_NS;
        int n = total ? snprintf(line, sizeof line, "cordon: %s: %zu of %zu", doing, done, total)
                      : snprintf(line, sizeof line, "cordon: %s: %zu", doing, done);
        (void) fprintf(stderr, "\r%s%*s", line, p->width > n ? p->width - n : 0, "");
        p->width = n;
}

void cli_progress_sink(void *ctx, const void *data, size_t len)
{
        struct cli_progress_out *o = ctx;
        cli_progress_clear(o->progress);
        o->progress->off |= o->ends;
        (void) !fwrite(data, 1, len, (FILE *) o->to);
}
