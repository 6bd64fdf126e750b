/* SPDX-License-Identifier: MIT */
/* run/api/api_ledgers.c - the ledgers of many hosts: merged in bounded memory, and held against kept
 * checkpoints.
 */
#include "base/fd.h"
#include "ledger/ledger.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct put {
        int (*fn)(void *ctx, const char *json, size_t len);
        void *ctx;
        struct buf text; /* used again for each record */
};

static int put_record(void *ctx, const struct ledger_view *v, struct err *e)
{
        struct put *p = ctx;
        p->text.n = 0;
        ledger_json(v, &p->text);
        buf_putc(&p->text, '\n');
        if (p->text.failed)
                return err_set(e, ERR_MEMORY, 0, "no memory for a record");

        return p->fn(p->ctx, p->text.p, p->text.n) < 0
                       ? err_set(e, ERR_IO, errno, "the merged records cannot be written: %s",
                                 strerror(errno))
                       : 0;
}

int cordon_ledgers_merge(const cordon_context *cx, const char *const *dirs, size_t count,
                         const char *temporary, int (*put)(void *ctx, const char *json, size_t len),
                         void *ctx, cordon_merged *ret, cordon_error *pe)
{
        struct put p = { .fn = put, .ctx = ctx };
        struct ledger_merged sum = { 0 };
        int r = ledger_merge_stream(cx, dirs, count, temporary, put_record, &p, &sum, to_err(pe));
        *ret = (cordon_merged){ sum.ledgers, sum.records, sum.across, sum.lost, sum.circles };
        buf_done(&p.text);
        return r;
}

int cordon_ledgers_collect(const cordon_context *cx, const char *kept, const char *const *dirs, size_t count,
                           void (*each)(void *ctx, const cordon_collected *c), void *ctx, cordon_error *pe)
{
        static const char *const verdicts[] = { [LEDGER_MISSING] = "missing",
                                                [LEDGER_ROLLED_BACK] = "rolled back",
                                                [LEDGER_CHANGED] = "changed",
                                                [LEDGER_FITS] = "fits" };
        AUTO_FD(dir, open(kept, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (dir < 0) { /* it is not made: behind a mistyped name every ledger would be new, and fit */
                (void) err_set(to_err(pe), ERR_GONE, errno, "%.100s, for the checkpoints, cannot be read: %s",
                               kept, strerror(errno));
                return err_hint(to_err(pe), "the first time, make it: mkdir -m 700 DIR");
        }

        for (size_t i = 0; i < count; i++) {
                struct ledger_collected c;
                if (ledger_collect(cx, dir, dirs[i], &c, to_err(pe)) < 0)
                        return -1;
                each(ctx,
                     &(cordon_collected){ c.host, verdicts[c.verdict], c.records, c.added, c.why, c.ledger });
        }

        return 0;
}
