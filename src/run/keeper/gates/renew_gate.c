/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/renew_gate.c - `limit time T renew N ask`: a person approves each renewal that somebody
 * outside the box asks for. One waits at a time; without a yes the lease ends as it would have. */
#include "base/clock.h"
#include "base/str.h"
#include "run/keeper/gates/gates.h"

#include <stdio.h>

static const char *held_renewal(const struct box *b)
{
        for (unsigned i = 0; b->gates && i < b->gates->count; i++)
                if (b->gates->items[i]->source == DESK_RENEW)
                        return b->gates->items[i]->gate.id;
        return NULL;
}

/* In whole seconds: for a person. */
static const char *seconds_text(uint64_t ns, char ret[32])
{
        uint64_t s = ns / UINT64_C(1000000000);
        return s ? str_from_ms(s * 1000, ret) : "0s";
}

static void show_renewal(const struct box *b, uint64_t now, struct buf *out)
{
        const struct lease *l = &b->run.lease;
        char more[32], used[32], left[32], word[512];
        uint64_t begun = l->ends_ns - (1 + l->renewed) * l->length_ns;
        buf_printf(out, "renew the time of the box %s: %s more (renewal %u of %u); used %s, left %s",
                   b->run.r.name, str_from_ms(l->length_ns / 1000000u, more), l->renewed + 1, l->most,
                   seconds_text(now > begun ? now - begun : 0, used), seconds_text(l->ends_ns - now, left));
        buf_printf(out, "\n  run %s, %s", b->run.r.run, b->c.session ? "a session" : "which runs");
        for (const char **v = b->c.plan->order->argv; !b->c.session && *v; v++)
                buf_printf(out, " %s", str_inert(span_str(*v), word, sizeof word));
}

/* ---- the question ---- */

static int hold_renewal(struct box *b, uint32_t number)
{
        const struct lease *l = &b->run.lease;
        const struct desk_asked a = { DESK_RENEW, number, &b->gates->renewal };
        AUTO_BUF(shown);
        char more[32];
        uint64_t now = clock_mono_ns(), left_s = (l->ends_ns - now) / UINT64_C(1000000000) + 1;
        b->gates->renewal.ask =
                (struct door_ask){ .on = true,
                                   .within_s = left_s < ASK_WITHIN_S ? (uint32_t) left_s : ASK_WITHIN_S };
        show_renewal(b, now, &shown);
        const struct gate_envelope e = { .field = { [GATE_KIND] = "limit",
                                                    [GATE_METHOD] = "renew",
                                                    [GATE_PATH] = str_from_ms(l->length_ns / 1000000u, more),
                                                    [GATE_PLACE] = policy_limit_name(LIMIT_TIME),
                                                    [GATE_REACH] = "self" } };
        return desk_hold(b, &a, &e, &shown);
}

static int ask_people(struct box *b, struct err *e)
{
        if (held_renewal(b))
                return 0;

        if (!b->gates && gates_make(b, e) < 0) {
                if (b->gates)
                        gates_free(b);
                return -1;
        }

        b->renew_refused = REASON_NONE;
        if (hold_renewal(b, ++b->renew_asked) < 0)
                return err_set(e, ERR_POLICY, 0, "its renewal cannot be shown to a person");

        renew_settle(b); /* approved before, or refused at once */
        return 0;
}

/* ---- the answer ---- */

void renew_settle(struct box *b)
{
        struct err ignored;
        if (!b->gates || !b->gates->renew_told.is)
                return;

        const struct renew_told t = b->gates->renew_told;
        b->gates->renew_told.is = false;
        b->renew_refused = !t.yes ? t.why : keeper_renew(b, &ignored) < 0 ? REASON_GATE_EXPIRED : REASON_NONE;
}

void renew_json(const struct box *b, struct buf *out)
{
        if (held_renewal(b))
                buf_member(out, "renewal_held", held_renewal(b));
        else if (b->renew_refused != REASON_NONE)
                buf_member(out, "renewal_refused", effect_reason_text(b->renew_refused));
}

int box_renew(struct box *b, struct err *e)
{
        if (keeper_can_renew(b, e) < 0)
                return -1;

        if (!policy_limits(b->c.policy)->renew_asks)
                return keeper_renew(b, e);

        if (ask_people(b, e) < 0)
                return -1;

        if (held_renewal(b))
                return 1;

        return b->renew_refused == REASON_NONE
                       ? 0
                       : err_set(e, ERR_LIMIT, 0, "%s", effect_reason_text(b->renew_refused));
}
