/* SPDX-License-Identifier: MIT */
/* ledger/read/tenant_heads.c - the heads of tenants' ledgers in the ledger of their host. A head is a signed
 * checkpoint: whoever cuts, rewrites, exchanges or removes a tenant's ledger would have to rewrite the host's
 * as well. Every head counts, not only the newest: a ledger that was rewritten between two of them does not
 * fit the older one. */
#include "base/fd.h"
#include "base/str.h"
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_BYTES = 1200 };

struct ledger_tenant {
        char name[LEDGER_NAME_MAX], state[TEXT_BYTES];
        struct buf notes;
        uint64_t heads, size; /* size: records under the newest */
        bool fits;
};

static struct ledger_tenant *tenant_of(struct ledger_heads *h, const struct ledger_view *head)
{
        char state[TEXT_BYTES];
        (void) ledger_plain(ledger_member(head->more, "state"), state, sizeof state);
        for (size_t i = 0; i < h->n; i++)
                if (strcmp(h->v[i].state, state) == 0)
                        return &h->v[i];

        struct ledger_tenant *more = reallocarray(h->v, h->n + 1, sizeof *more);
        if (!more)
                return NULL;

        h->v = more;
        more[h->n] = (struct ledger_tenant){ 0 };
        char name[TEXT_BYTES];
        (void) ledger_plain(head->target, name, sizeof name);
        (void) str_inert(span_str(name), more[h->n].name, sizeof more[h->n].name);
        memcpy(more[h->n].state, state, sizeof state);
        return &h->v[h->n++];
}

int ledger_heads_add(struct ledger_heads *h, const struct ledger_view *head)
{
        char note[TEXT_BYTES];
        struct ledger_tenant *t = tenant_of(h, head);
        if (!t)
                return -1;

        if (span_is(head->result, "dropped")) { /* its owner began or removed the ledger on purpose */
                t->notes.n = 0;
                t->heads = t->size = 0;
                return 0;
        }

        t->heads++;
        uint64_t size = head->count > 0 ? (uint64_t) head->count : 0;
        if (size == t->size)
                return 0;

        t->size = size;
        buf_puts(&t->notes, ledger_plain(ledger_member(head->more, "checkpoint"), note, sizeof note));
        return t->notes.failed ? -1 : 0;
}

/* Returns false with the reason. */
static bool fits(const struct cordon_context *cx, const struct ledger_tenant *t, char *why, size_t cap)
{
        struct err e = { 0 };
        bool ok = false;
        AUTO_BUF(report);
        AUTO_FD(dir, t->state[0] == '/' ? ledger_open_dir(t->state, &e) : -1);
        if (dir < 0 || ledger_dir_check(dir, &e) < 0) {
                (void) snprintf(why, cap, "its ledger is gone, which had %llu records: %.200s",
                                (unsigned long long) t->size, e.what);
                return false;
        }

        const struct ledger_given heads = { buf_str(&t->notes), "its head in the host's ledger" };
        if (ledger_verify_given(cx, dir, &heads, &report, &ok, &e) < 0)
                (void) snprintf(why, cap, "%.300s", e.what);
        else if (!ok)
                ledger_first_finding(&report, why, cap);
        return ok;
}

void ledger_heads_check(const struct cordon_context *cx, struct ledger_heads *h,
                        void (*find)(void *ctx, const char *text), void *ctx)
{
        for (size_t i = 0; i < h->n; i++) {
                char why[400] = "", text[512];
                struct ledger_tenant *t = &h->v[i];
                t->fits = t->heads == 0 || fits(cx, t, why, sizeof why);
                (void) snprintf(text, sizeof text, "tenant %s: %s", t->name, why);
                if (!t->fits)
                        find(ctx, text);
        }
}

void ledger_heads_put(const struct ledger_heads *h, bool json, struct buf *out)
{
        const char *comma = "";
        buf_puts(out, json ? ",\"tenants\":[" : "");
        for (size_t i = 0; h && i < h->n; i++) {
                const struct ledger_tenant *t = &h->v[i];
                if (t->heads == 0)
                        continue;

                if (!json) {
                        buf_printf(out, "tenant %s: %llu head%s, the newest of %llu records: %s\n", t->name,
                                   (unsigned long long) t->heads, t->heads == 1 ? "" : "s",
                                   (unsigned long long) t->size,
                                   t->fits ? "its ledger fits" : "ITS LEDGER DOES NOT FIT");
                        continue;
                }
                buf_printf(out, "%s{\"tenant\":", comma);
                buf_json(out, span_str(t->name));
                buf_printf(out, ",\"heads\":%llu,\"records\":%llu,\"fits\":%s}",
                           (unsigned long long) t->heads, (unsigned long long) t->size,
                           t->fits ? "true" : "false");
                comma = ",";
        }
        buf_puts(out, json ? "]" : "");
}

void ledger_heads_done(struct ledger_heads *h)
{
        for (size_t i = 0; i < h->n; i++)
                buf_done(&h->v[i].notes);
        free(h->v);
}
