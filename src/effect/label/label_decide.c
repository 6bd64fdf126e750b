/* SPDX-License-Identifier: MIT */
/* effect/label/label_decide.c - the two checks of an effect that leaves.
 *
 *   flow     is every tag of the subject among those that the sink accepts?
 *   action   may a subject that has read foreign text do this by itself?
 *
 *                                   default    rule two
 *   tags accepted, no action        allow      allow
 *   tags accepted, action           ask        allow      (foreign text and a way out: two of three)
 *   tags not accepted, trusted      deny       allow      (private data and a way out: two of three)
 *   tags not accepted, untrusted    deny       ask        (all three: the lethal trifecta)
 *
 * A worse label never gets a better answer. */
#include "effect/label/label.h"

static struct label_answer answer_of(enum label_verdict v, enum label_why why)
{
        return (struct label_answer){ v, why };
}

/* A source learns nothing new from its own data; an action there may still reach others. */
static bool is_accepted(const struct label *l, const struct label_sink *s)
{
        struct label in = s->accepts;
        if (!s->acts && !s->source.all)
                label_join(&in, &s->source);
        return label_secrecy_within(l, &in);
}

/* Under `rule two` a trusted subject may send any tag: then one that the door declassifies asks, whatever
 * others there are, or more tags would get a better answer. */
static bool a_person_may(const struct label *l, const struct label_sink *s)
{
        struct label in = s->accepts;
        label_join(&in, &s->declassify);
        return label_has_secrecy(&s->declassify) && (s->two || label_secrecy_within(l, &in));
}

static struct label_answer decide_two(const struct label *l, bool accepted)
{
        if (accepted || !l->untrusted)
                return answer_of(LABEL_ALLOW, LABEL_FINE);
        return answer_of(LABEL_ASK, LABEL_TRIFECTA);
}

struct label_answer label_decide(const struct label *l, const struct label_sink *s)
{
        bool accepted = is_accepted(l, s), acts = l->untrusted && s->acts && !s->accepts.untrusted;
        if (!accepted && a_person_may(l, s))
                return answer_of(LABEL_ASK, LABEL_DECLASSIFY);

        if (s->two)
                return decide_two(l, accepted);

        if (!accepted)
                return answer_of(LABEL_DENY, l->untrusted ? LABEL_TRIFECTA : LABEL_SECRECY);

        return acts ? answer_of(LABEL_ASK, LABEL_ACTION) : answer_of(LABEL_ALLOW, LABEL_FINE);
}
