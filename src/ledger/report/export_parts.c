/* SPDX-License-Identifier: MIT */
/* ledger/report/export_parts.c - what the formats of an export share. Pure. */
#include "ledger/internal.h"

void export_emit(struct export *x, const struct buf *b)
{
        x->failed |= b->failed;
        if (!x->failed)
                x->put(x->ctx, buf_str(b), b->n);
}

void export_each(struct export *x, void (*one)(struct export *x, const struct ledger_view *v))
{
        struct ledger_view v;
        for (struct ledger_walk w = export_walk(x); ledger_next(&w, &v);)
                one(x, &v);
}

/* A string that is already escaped is copied from JSON to JSON unchanged. */
void export_raw(struct buf *b, struct span s) { buf_add(b, s.n ? (const char *) s.p : "", s.n); }

void export_attribute(struct buf *b, const char *key, struct span value)
{
        if (value.n == 0)
                return;
        buf_printf(b, "%s{\"key\":\"cordon.%s\",\"value\":{\"stringValue\":\"",
                   b->n > 0 && b->p[b->n - 1] == '[' ? "" : ",", key);
        export_raw(b, value);
        buf_puts(b, "\"}}");
}
