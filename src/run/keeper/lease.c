/* SPDX-License-Identifier: MIT */
/* run/keeper/lease.c - when a lease ends, what comes before, and how often it is renewed. */
#include "run/keeper/lease.h"

/* The payload is warned a tenth of a lease before its end, at most half a minute; the caller twice as early.
 */
static uint64_t margin_ns(const struct lease *l)
{
        const uint64_t most = UINT64_C(30000000000);
        return l->length_ns / 10 < most ? l->length_ns / 10 : most;
}

struct lease lease_of(uint64_t now_ns, uint64_t time_ms, uint64_t late_ns, uint64_t most)
{
        return (struct lease){ .length_ns = time_ms * 1000000u,
                               .ends_ns = now_ns + time_ms * 1000000u + late_ns,
                               .most = (unsigned) most };
}

bool lease_is_ending(const struct lease *l, uint64_t now_ns)
{
        return l->ends_ns <= now_ns || l->ends_ns - now_ns <= l->length_ns / 10;
}

enum lease_step lease_step(struct lease *l, uint64_t now_ns)
{
        if (now_ns >= l->ends_ns)
                return LEASE_OVER;

        if (now_ns < lease_next_ns(l))
                return LEASE_NOTHING;

        if (!l->told) {
                l->told = true;
                return LEASE_TELL;
        }

        l->warned = true;
        return LEASE_WARN;
}

uint64_t lease_next_ns(const struct lease *l)
{
        if (l->most == 0 || l->warned)
                return l->ends_ns;

        return l->ends_ns - margin_ns(l) * (l->told ? 1 : 2);
}

bool lease_renew(struct lease *l, uint64_t now_ns)
{
        if (l->renewed >= l->most || now_ns >= l->ends_ns)
                return false;

        l->ends_ns += l->length_ns;
        l->renewed++;
        l->told = l->warned = false;
        return true;
}
