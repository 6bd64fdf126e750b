/* SPDX-License-Identifier: MIT */
/* ledger/report/record_text.c - formats parts of a record as text: words, times, marks. Pure. */
#include "base/str.h"
#include "ledger/internal.h"

#include <time.h>

const char *text_inert(struct span escaped, char *ret, size_t cap)
{
        char plain[2048];
        return str_inert(span_str(ledger_plain(escaped, plain, sizeof plain)), ret, cap);
}

void text_put(struct buf *out, struct span escaped, size_t most)
{
        char shown[2048];
        buf_puts(out, text_inert(escaped, shown, most < sizeof shown ? most : sizeof shown));
}

const char *text_time(int64_t us, char between, char ret[TEXT_TIME])
{
        time_t s = (time_t) (us / 1000000);
        struct tm tm;
        size_t n = gmtime_r(&s, &tm) ? strftime(ret, TEXT_TIME, "%Y-%m-%d", &tm) : 0;
        if (n > 0 && strftime(ret + n + 1, TEXT_TIME - n - 1, "%H:%M:%S", &tm) > 0)
                ret[n] = between;
        else
                ret[0] = '\0';

        return ret;
}

const char *text_no_end(bool runs)
{
        return runs ? "none yet: it is running"
                    : "unknown: no keeper answers for it here (it was killed, or runs elsewhere)";
}

void text_marks(struct buf *out, const struct ledger_view *v)
{
        if (v->unknown)
                buf_puts(out, " [outcome unknown]");
        if (v->lost_cause)
                buf_puts(out, " [its cause is not in these ledgers]");
        if (v->in_circle)
                buf_puts(out, " [in a circle of causes]");
}
