/* SPDX-License-Identifier: MIT */
/* policy/decide/flow_check.c - may a subject with this label send through this door? The door's words and the
 * effect become a sink; label/ decides. */
#include "effect/label/label.h"
#include "policy/internal.h"

static bool only_asks(const char *method)
{
        return method &&
               (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "OPTIONS") == 0);
}

/* Beyond the box, for real: as the door states whom it reaches, else by the method. Bytes that nobody reads
 * may do anything, also where the question is about a request in them. */
static bool door_acts(const struct door *d, const struct effect *f)
{
        if (f->subject.rehearsal || d->net.reach == NET_REACH_SELF)
                return false;
        return d->net.reach != NET_REACH_UNSAID || d->net.form == NET_HOST_PORT || !only_asks(f->method);
}

struct policy_flow policy_flow(const struct checked_policy *c, const struct door *d, const struct effect *f)
{
        static const enum effect_reason reasons[] = { [LABEL_FINE] = REASON_NONE,
                                                      [LABEL_SECRECY] = REASON_LABEL_SECRECY,
                                                      [LABEL_TRIFECTA] = REASON_LABEL_TRIFECTA,
                                                      [LABEL_ACTION] = REASON_LABEL_ACTION,
                                                      [LABEL_DECLASSIFY] = REASON_LABEL_DECLASSIFY };
        _Static_assert(COUNT(reasons) == LABEL_WHY__COUNT, "a reason for each");
        static const enum answer answers[] = {
                [LABEL_DENY] = ANSWER_DENY, [LABEL_ASK] = ANSWER_ASK, [LABEL_ALLOW] = ANSWER_ALLOW
        };
        const struct label *l = f->subject.label;
        if (!l || label_is_empty(l))
                return (struct policy_flow){ ANSWER_ALLOW, REASON_NONE };

        const struct label_sink s = { .source = label_of(d->flow.label),
                                      .accepts = label_of(d->flow.accepts),
                                      .declassify = label_of(d->flow.declassify),
                                      .acts = door_acts(d, f),
                                      .two = c->rules & POLICY_RULE_TWO };
        struct label_answer a = label_decide(l, &s);
        return (struct policy_flow){ answers[a.verdict], reasons[a.why] };
}

bool policy_has_labels(const struct checked_policy *c)
{
        for (size_t i = 0; i < c->live.n; i++)
                if (c->live.v[i].flow.label)
                        return true;
        return false;
}

bool policy_rule(const struct checked_policy *c, unsigned rule) { return c->rules & rule; }

/* The run holds the data of this door from the start. */
bool policy_door_hands(const struct door *d)
{
        return d->kind == DOOR_READ || d->kind == DOOR_EDIT || d->kind == DOOR_WRITE || d->kind == DOOR_ENV ||
               d->kind == DOOR_IN;
}

/* With `rule touch` a run begins without what lies behind a `read` door; the process wall shuts none. */
bool policy_door_begins(const struct checked_policy *c, const struct door *d)
{
        bool shut =
                d->kind == DOOR_READ && policy_rule(c, POLICY_RULE_TOUCH) && wall_has(c->wall, WALL_OWN_ROOT);
        return policy_door_hands(d) && !shut;
}

static struct label join_labels(const struct checked_policy *c, bool all)
{
        struct label l = { 0 };
        for (size_t i = 0; i < c->live.n; i++) {
                const struct door *d = &c->live.v[i];
                if (!d->flow.label || !(all || policy_door_begins(c, d)))
                        continue;
                struct label by = label_of(d->flow.label);
                label_join(&l, &by);
        }
        return l;
}

struct label policy_label_handed(const struct checked_policy *c) { return join_labels(c, false); }
struct label policy_label_most(const struct checked_policy *c) { return join_labels(c, true); }

struct label policy_label_held(const struct checked_policy *c, const struct effect *f)
{
        struct label l = policy_label_handed(c);
        if (f->subject.label)
                label_join(&l, f->subject.label);
        return l;
}

const struct door *policy_label_spills(const struct checked_policy *c, const struct label *most)
{
        for (size_t i = 0; i < c->live.n; i++) {
                const struct door *d = &c->live.v[i];
                struct label accepts = label_of(d->flow.accepts);
                if ((d->kind == DOOR_SOCK || d->kind == DOOR_LISTEN) && !label_within(most, &accepts))
                        return d;
        }
        return NULL;
}
