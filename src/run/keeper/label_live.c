/* SPDX-License-Identifier: MIT */
/* run/keeper/label_live.c - labels of files that change while boxes run: what a labelled box may write into a
 * directory, or a pipe, that another one reads. Whoever has stamped something asks each running box to look
 * again (label_tell.c), and does not let its own payload begin before they have answered. A box that has the
 * label by now is judged by it: its broker has it before the answer. */
#include "effect/stamp/stamp.h"
#include "run/keeper/internal.h"

static void end_box(struct box *b, const struct err *e)
{
        b->run.r.error = *e;
        b->run.r.out.end = CORDON_FAILED;
        if (b->session)
                box_kill(b);
        else
                keeper_kill_now(b);
}

/* Bytes to a socket of the host, or to who connects, are not held one by one. */
static bool door_spills(const struct box *b, struct err *e)
{
        char at[256], text[LABEL_TEXT_MAX];
        const struct door *d = policy_label_spills(b->c.policy, &b->run.r.label);
        if (!d)
                return false;
        (void) err_set(e, ERR_POLICY, 0, "%s: this door does not accept what the run may read by now: %.120s",
                       policy_place(&d->at, at, sizeof at), label_text(&b->run.r.label, text));
        return true;
}

static int label_now(struct box *b, struct label *ret, struct err *e)
{
        struct label by;
        if (b->session && b->session->remote)
                return keeper_label_in_run(&b->c, ret, e);

        if (box_label_in(&b->c, ret, &b->c.label_index, e) < 0)
                return -1;
        for (const struct box *one = b->runs; one; one = one->sibling) {
                if (!one->remote && keeper_label_in_run(&one->c, &by, e) < 0)
                        return -1;
                if (!one->remote)
                        label_join(ret, &by);
        }
        return 0;
}

void keeper_label_again(struct box *b)
{
        struct err e;
        struct label l;
        bool known = label_now(b, &l, &e) == 0;
        if (known && label_within(&l, &b->run.r.label))
                return;

        if (known && b->session && b->session->remote) {
                known = false;
                (void) err_set(&e, ERR_USAGE, 0,
                               "this run is handed data whose label the session does not have");
        }

        if (known)
                keeper_label_rises(b, &l);
        if (!known || door_spills(b, &e) || broker_label(b, &l, &e) < 0) {
                end_box(b, &e);
                return;
        }

        broker_settle(b); /* before anybody goes on who waits for us */
}

void keeper_label_began(struct box *b)
{
        names_run(b); /* first: who changes a label from here on tells us */
        if (stamp_version(b->c.cx) != b->c.label_index)
                keeper_label_again(b);
}
