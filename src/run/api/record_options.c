/* SPDX-License-Identifier: MIT */
/* run/api/record_options.c - whether a run is recorded, its cause, and the trace that it belongs to. */
#include "base/str.h"
#include "ledger/ledger.h"
#include "run/api/internal.h"

#include <stdio.h>
#include <string.h>

int api_set_ledger(struct cordon_box *b, const char *value)
{
        static const char *const words[] = { "", "on", "off", "require" };
        for (size_t i = BOX_LEDGER_ON; i < sizeof words / sizeof *words; i++)
                if (strcmp(value, words[i]) == 0) {
                        b->c.ledger = (enum box_ledger) i;
                        return 0;
                }

        return -1;
}

/* RUN, or the id of one of its records; ID@CLOCK if that is in another host's ledger. A clock is bounded:
 * ours continues from there, and must never overflow. */
int api_set_cause(struct cordon_box *b, const char *run)
{
        static const uint64_t clock_max = UINT64_C(1) << 53;
        size_t n = strspn(run, "abcdefghijklmnopqrstuvwxyz0123456789-.");
        uint64_t clock = 0;

        /* Three parts, as the ids of runs and replies have: a name would be a cause that cannot be found. */
        const char *dash = strchr(run, '-');
        if (n == 0 || n + 5 > sizeof b->c.cause || !dash || !strchr(dash + 1, '-'))
                return -1;

        if (run[n] && (run[n] != '@' || str_to_u64(span_str(run + n + 1), &clock) < 0 || clock > clock_max))
                return -1;

        (void) snprintf(b->c.cause, sizeof b->c.cause, "%.*s%s", (int) n, run,
                        memchr(run, '.', n) ? "" : ".end");
        b->c.cause_clock = clock;
        return 0;
}

/* The run may be named as elsewhere: by the start of its id, or by the name of its box. */
int api_set_run_before(struct cordon_box *b, const char *run)
{
        struct err ignored;
        char found[LEDGER_ID_MAX];
        struct ledger_log *l =
                str_is_run(run) || strpbrk(run, ".@") ? NULL : api_log_open(b->policy->cx, NULL, &ignored);
        bool known = l && run[0] && ledger_find_run(l, run, found, &ignored) == 0;
        ledger_log_free(l);
        return api_set_cause(b, known ? found : run);
}

void api_prepare_ledger(struct cordon_box *b)
{
        const char *asked = context_get(b->policy->cx, "CORDON_LEDGER"),
                   *in = context_get(b->policy->cx, "TRACEPARENT");
        if (b->c.ledger == BOX_LEDGER_UNSET && asked)
                (void) api_set_ledger(b, asked);

        if (b->c.ledger == BOX_LEDGER_OFF)
                return;

        b->c.trace_in[0] = '\0';
        if (ledger_trace_valid(in))
                memcpy(b->c.trace_in, in, sizeof b->c.trace_in);

        ledger_trace_child(in, b->c.trace_out);
}
