/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_wire.c - messages between our processes, of any bytes: what is taken has exactly this
 * encoding, and every text in it ends. */
#include "broker/egress/internal.h"
#include "broker/vault/vault.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct wire_form *f, struct span in)
{
        static union {
                struct egress_order order;
                struct egress_message message;
                struct ledger_ask ask;
                struct ledger_answer answer;
                struct resolve_ask name;
                struct resolve_answer addresses;
        } m;
        uint8_t again[WIRE_MAX];
        if (f->size > sizeof m)
                abort();

        memset(&m, 0xff, sizeof m);
        if (wire_decode(f, in, &m) < 0)
                return;

        if (wire_encode(f, &m, again, sizeof again) != in.n || memcmp(again, in.p, in.n) != 0)
                abort();
}

/* A request to cordon-vault is a stream of messages. */
static void check_request(struct span in)
{
        static struct vault_request q;
        AUTO_BUF(again);
        memset(&q, 0xff, sizeof q);
        if (vault_request_decode(in, &q) < 0)
                return;

        vault_request_encode(&q, &again);
        if (!again.failed && (again.n != in.n || memcmp(again.p, in.p, in.n) != 0))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        check_request(span_of(data, size));
        const struct wire_form *const forms[] = { &egress_order_form, &egress_message_form,
                                                  &ledger_ask_form,   &ledger_answer_form,
                                                  &resolve_ask_form,  &resolve_answer_form };
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
                check(forms[i], span_of(data, size));
        return 0;
}
