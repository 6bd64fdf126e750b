/* SPDX-License-Identifier: MIT */
/* ledger/read/tenant_heads.c - the heads of tenants' ledgers in the ledger of their host. A head is a signed
 * checkpoint: whoever cuts, rewrites, exchanges or removes a tenant's ledger would have to rewrite the host's
 * as well. Every head counts, not only the newest: a ledger that was rewritten between two of them does not
 * fit the older one. */
#include "base/str.h"
#include "ledger/internal.h"

#include <stdlib.h>

enum { TEXT_BYTES = 1200 };

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
                buf_member(out, "state", t->state);
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
