/* SPDX-License-Identifier: MIT */
/* lib/ledger.c - the ledger behind cordon.h: options of a run, and questions to the record. */
#include "ledger/ledger.h"
#include "lib/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int lib_set_ledger(struct cordon_box *b, const char *value)
{
        static const char *const words[] = { "on", "off", "require" };
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
                if (strcmp(value, words[i]) == 0) {
                        b->ledger = (enum box_ledger) i;
                        b->ledger_said = true;
                        return 0;
                }
        return -1;
}

int lib_set_cause(struct cordon_box *b, const char *run)
{
        size_t n = strspn(run, "abcdefghijklmnopqrstuvwxyz0123456789-.");
        if (n == 0 || run[n] || n + 5 > sizeof b->cause)
                return -1;
        (void) snprintf(b->cause, sizeof b->cause, "%s%s", run, strchr(run, '.') ? "" : ".end");
        return 0;
}

void lib_prepare_ledger(struct cordon_box *b)
{
        const char *asked = getenv("CORDON_LEDGER"), *in = getenv("TRACEPARENT");
        if (!b->ledger_said && asked)
                (void) lib_set_ledger(b, asked);
        if (b->ledger == BOX_LEDGER_OFF)
                return;
        b->trace_in[0] = '\0';
        if (ledger_trace_valid(in))
                memcpy(b->trace_in, in, sizeof b->trace_in);
        ledger_trace_child(in, b->trace_out);
}
