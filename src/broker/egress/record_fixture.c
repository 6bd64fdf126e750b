/* SPDX-License-Identifier: MIT */
/* broker/egress/record_fixture.c - writes exchanges as lines of a fixtures file. The keeper created the file
 * and gives it a name at the end; an incomplete file never gets one. Secrets are removed before a line comes
 * here. */
#include "base/fd.h"
#include "base/limits.h"
#include "base/span.h"
#include "broker/egress/internal.h"

#include <errno.h>

/* A line that does not fit is left out, and counted; a write error spoils the file. */
void record_line(struct broker *b, struct span line)
{
        if (b->record < 0 || b->record_failed || b->recorded == ANSWERS_MAX_LINES ||
            b->record_bytes + line.n > ANSWERS_MAX_BYTES)
                return;

        if (fd_write_all(b->record, line.p, line.n) < 0) {
                b->record_failed = errno ? (uint32_t) errno : EIO;
                return;
        }

        b->record_bytes += line.n;
        b->recorded++;
}
