/* SPDX-License-Identifier: MIT */
/* run/api/api_reports.c - the ledger for other systems and for a person in the morning; and what audits add
 * to it.
 */
#include "ledger/ledger.h"
#include "run/api/internal.h"

#include <string.h>

/* How carefully people approve is not in the ledger's own counts. */
static void put_approvals(const cordon_context *cx, void (*put)(void *ctx, const char *text, size_t len),
                          void *ctx)
{
        AUTO_BUF(out);
        box_approvals_metrics(cx, &out);
        if (!out.failed && out.n > 0)
                put(ctx, buf_str(&out), out.n);
}

int cordon_log_export_from(const cordon_context *cx, const char *format, const cordon_log_filter *f,
                           uint64_t *cursor, void (*put)(void *ctx, const char *text, size_t len), void *ctx,
                           uint64_t *ret_count, cordon_error *pe)
{
        struct ledger_filter filter = api_log_filter(f);
        struct ledger_log *l = api_log_open(cx, NULL, to_err(pe));
        int64_t n = l ? ledger_filter_job(l, &filter, to_err(pe)) : -1;
        filter.from = *cursor;
        if (n == 0)
                n = ledger_export(l, format, &filter, put, ctx, to_err(pe));

        if (n >= 0 && strcmp(format, "prometheus") == 0)
                put_approvals(cx, put, ctx);

        if (n >= 0) {
                *cursor = ledger_log_count(l);
                *ret_count = (uint64_t) n;
        }

        ledger_filter_free(&filter);
        ledger_log_free(l);
        return n < 0 ? -1 : 0;
}

int cordon_log_export(const cordon_context *cx, const char *format, const cordon_log_filter *f,
                      void (*put)(void *ctx, const char *text, size_t len), void *ctx, cordon_error *pe)
{
        uint64_t cursor = 0, count;
        int r = cordon_log_export_from(cx, format, f, &cursor, put, ctx, &count, pe);
        if (r == 0)
                api_log_viewed(cx, "export", format);
        return r;
}

char *cordon_log_tools(const cordon_context *cx, int64_t since_us, int json, cordon_error *e)
{
        AUTO_BUF(out);
        struct ledger_log *l = api_log_open(cx, NULL, to_err(e));
        int r = l ? ledger_tools(l, since_us, json, &out, to_err(e)) : -1;
        ledger_log_free(l);
        return r < 0 ? NULL : api_give(&out, to_err(e));
}

/* ---- audits ---- */

int cordon_audit_add(const cordon_context *cx, const cordon_audit_record *a, char ret_id[64], cordon_error *e)
{
        struct ledger *l = api_log_as(cx, "audit", to_err(e));
        if (!l)
                return -1;

        struct ledger_record r = ledger_record_of(LEDGER_AUDIT, LEDGER_OUTCOME);
        r.target = a->what;
        r.result = a->result;
        r.digest = a->digest;
        if (a->debt >= 0)
                ledger_more_number(&r, "debt", a->debt);

        for (const char *const *p = a->pairs; p && p[0] && p[1]; p += 2)
                ledger_more_text(&r, p[0], p[1]);

        int done = ledger_append(l, &r, true, ret_id, to_err(e));
        ledger_wake_sealer(l);
        ledger_close(l);
        return done;
}
