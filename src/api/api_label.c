/* SPDX-License-Identifier: MIT */
/* api/api_label.c - the label that a run begins with: of the doors that it is handed, and of the files behind
 * them. */
#include "api/internal.h"
#include "label/label.h"

/* Bytes to a socket of the host, or to who connects to the box, are not held one by one: such a door must be
 * fit for all that the run may come to read. */
static int check_spills(const struct cordon_box *b, struct err *e)
{
        const struct checked_policy *c = b->policy->checked;
        struct label most = policy_label_most(c);
        char at[256], text[LABEL_TEXT_MAX];
        label_join(&most, &b->label);
        const struct door *d = policy_label_spills(c, &most);
        if (!d)
                return 0;

        (void) err_set(e, ERR_POLICY, 0, "%s: this door does not accept what the run may read: %.120s",
                       policy_place(&d->at, at, sizeof at), label_text(&most, text));
        return err_hint(e, "write `accepts %.120s` behind it, or leave one of the two out", text);
}

int api_label(struct cordon_box *b, struct err *e)
{
        b->label = policy_label_handed(b->policy->checked);
        return check_spills(b, e);
}
