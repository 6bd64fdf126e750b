/* SPDX-License-Identifier: MIT */
/* policy/lint/lint_flow.c - lints about labels: what a policy could let meet, with nobody there. */
#include "effect/label/label.h"
#include "policy/internal.h"
#include "policy/lint/lint.h"

/* The tags that the run may have, the door accepts, and the door itself does not give. */
static struct label sent_unasked(const struct label *most, const struct door *d)
{
        struct label out = { 0 }, own = label_of(d->flow.label), accepts = label_of(d->flow.accepts);
        for (unsigned i = 0; i < most->count; i++) {
                struct label one = { .count = 1 };
                memcpy(one.tag[0], most->tag[i], sizeof one.tag[0]);
                if (label_secrecy_within(&one, &accepts) && !label_secrecy_within(&one, &own))
                        label_join(&out, &one);
        }
        return out;
}

/* All three in one box without a person: a sentence of a stranger could carry the data away. A door whose
 * values are bounded by `where` sends what its author wrote. */
static bool is_open(const struct label *most, const struct door *d)
{
        bool asks = d->ask.on && !d->ask.labelled;
        return most->untrusted && d->flow.accepts && !asks && !d->net.bounds;
}

void lint_unattended(struct lint_view *v, const struct lint_row *row)
{
        const struct label most = policy_label_most(v->c); /* of all doors: once */
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));) {
                char text[LABEL_TEXT_MAX];
                struct label sent = sent_unasked(&most, d), accepts = label_of(d->flow.accepts);
                if (is_open(&most, d) && accepts.untrusted && label_has_secrecy(&sent))
                        lint_note(v, row, &d->at,
                                  "untrusted text could send %.80s to %s without approval: remove "
                                  "`untrusted` from `accepts`, or add `ask` or `where`",
                                  label_text(&sent, text), show_text(d->net.host).text);
        }
}

static bool takes_get(const struct net_dest *n)
{
        for (char **m = n->methods; m && *m; m++)
                if (strcmp(*m, "GET") == 0 || strcmp(*m, "HEAD") == 0 || strcmp(*m, "OPTIONS") == 0)
                        return true;
        return !n->methods && n->form != NET_HOST_PORT;
}

/* A request only asks, and its path and query still carry what the text wants. */
void lint_asks_private(struct lint_view *v, const struct lint_row *row)
{
        const struct label most = policy_label_most(v->c); /* of all doors: once */
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));) {
                char text[LABEL_TEXT_MAX];
                struct label sent = sent_unasked(&most, d), accepts = label_of(d->flow.accepts);
                if (is_open(&most, d) && !accepts.untrusted && label_has_secrecy(&sent) &&
                    d->net.reach == NET_REACH_UNSAID && takes_get(&d->net))
                        lint_note(v, row, &d->at,
                                  "a stranger's text could send %.80s to %s in the address of a GET: state "
                                  "`reach "
                                  "named` or `reach public`, and it asks",
                                  label_text(&sent, text), show_text(d->net.host).text);
        }
}

/* Its author means it to be used. */
void lint_never_open(struct lint_view *v, const struct lint_row *row)
{
        struct label begins = policy_label_handed(v->c);
        char text[LABEL_TEXT_MAX];
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));)
                if (flow_closed(v->c, d, &begins))
                        lint_note(v, row, &d->at,
                                  "the door to %s is closed from the start: the run begins with %.80s; add "
                                  "`accepts` or `declassify`%s",
                                  show_text(d->net.host).text, label_text(&begins, text),
                                  policy_rule(v->c, POLICY_RULE_TOUCH) ? "" : ", or `rule touch`");
}
