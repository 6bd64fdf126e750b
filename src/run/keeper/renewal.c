/* SPDX-License-Identifier: MIT */
/* run/keeper/renewal.c - the lease of a run: tells its caller that the end is near, warns the payload, ends
 * it; and renews it. Only the caller and other processes of the user renew: nothing in a box can. */
#include "base/clock.h"
#include "run/keeper/internal.h"

#include <signal.h>

static void tell_caller(const struct box *b, uint64_t now)
{
        const struct lease *l = &b->run.lease;
        if (b->c.on_ending.fn)
                b->c.on_ending.fn(b->c.on_ending.ctx,
                                  (unsigned) ((l->ends_ns - now + 999999999u) / 1000000000u),
                                  l->most - l->renewed);
}

void keeper_lease_look(struct box *b, uint64_t now)
{
        switch (lease_step(&b->run.lease, now)) {
        case LEASE_TELL:
                tell_caller(b, now);
                break;
        case LEASE_WARN:
                keeper_signal(b, SIGTERM);
                break;
        case LEASE_OVER:
                keeper_limit_fired(b, LIMIT_TIME);
                break;
        case LEASE_NOTHING:
                break;
        }
}

void keeper_lease_json(const struct box *b, struct buf *out)
{
        uint64_t now = clock_mono_ns(), end = b->run.lease.ends_ns;
        if (b->run.up)
                buf_printf(out, ",\"left_ms\":%llu,\"renewed\":%u,\"renewals\":%u%s",
                           (unsigned long long) (end > now ? (end - now) / 1000000u : 0),
                           b->run.lease.renewed, b->run.lease.most,
                           lease_is_ending(&b->run.lease, now) ? ",\"ending\":true" : "");
}

static int refuse_renewal(const struct box *b, struct err *e)
{
        const struct lease *l = &b->run.lease;
        if (l->most == 0)
                return err_set(e, ERR_LIMIT, 0, "cannot be extended: its policy has no `renew`");

        if (l->renewed >= l->most)
                return err_set(e, ERR_LIMIT, 0, "its %u renewal%s of time %s spent", l->most,
                               l->most == 1 ? "" : "s", l->most == 1 ? "is" : "are");

        return err_set(e, ERR_LIMIT, 0, "its time is over");
}

int keeper_can_renew(const struct box *b, struct err *e)
{
        struct lease trial = b->run.lease;
        if (!b->run.up || b->run.r.out.end != CORDON_RUNNING)
                return err_set(e, ERR_GONE, 0, "it does not run");

        return lease_renew(&trial, clock_mono_ns()) ? 0 : refuse_renewal(b, e);
}

/* init has a clock of its own, for a keeper that is stopped: an order that it does not take ends the run
 * early, and nothing later. */
int keeper_renew(struct box *b, struct err *e)
{
        struct lease *l = &b->run.lease;
        if (!lease_renew(l, clock_mono_ns()))
                return refuse_renewal(b, e);

        const struct wall_child *c = b->session ? &b->session->child : &b->child;
        if (!b->c.session && c->control >= 0)
                (void) wall_renew(c, b->id, l->length_ns / 1000000u);

        b->run.r.out.renewed = l->renewed;
        record_renewal(&b->run);
        return 0;
}
