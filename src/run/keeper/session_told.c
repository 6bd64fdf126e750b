/* SPDX-License-Identifier: MIT */
/* run/keeper/session_told.c - what the broker, the signer and the approvers of a session say, passed on to
 * its runs. They know the session, not which of its runs an effect is of: each run under way is told. */
#include "run/keeper/internal.h"

#include <stdio.h>

/* ---- the session's side ---- */

static void tell(struct box *first, const struct wall_message *m)
{
        for (struct box *b = first; b; b = b->sibling)
                if (b->remote && b->begun)
                        (void) wall_forward(b->session_line, m,
                                            -1); /* not taken: the session's result has it */
                else if (!b->remote && b->run.up && b->phase <= PHASE_REAP)
                        session_told(b, m);
}

static void tell_all(struct box *session, const struct wall_message *m)
{
        tell(session->runs, m);
        tell(session->ended, m);
}

static void copy_text(char *to, size_t cap, const char *from) { (void) snprintf(to, cap, "%s", from); }

void session_tell_held(struct box *session, const char *id, const char *what, unsigned within_s)
{
        struct wall_message m = { .word = WALL_SAYS_HELD, .told = { .within_s = within_s } };
        copy_text(m.told.id, sizeof m.told.id, id);
        copy_text(m.told.what, sizeof m.told.what, what);
        tell_all(session, &m);
}

void session_tell_blocked(struct box *session, const struct effect_row *d)
{
        struct wall_message m = {
                .word = WALL_SAYS_BLOCKED,
                .told = { .kind = d->effect.kind, .reason = d->effect.reason, .count = d->count }
        };
        copy_text(m.told.method, sizeof m.told.method, d->effect.method ? d->effect.method : "");
        copy_text(m.told.target, sizeof m.told.target, d->effect.target);
        copy_text(m.told.what, sizeof m.told.what, d->what);
        copy_text(m.told.why, sizeof m.told.why, d->why);
        copy_text(m.told.permit, sizeof m.told.permit, d->permit);
        tell_all(session, &m);
}

/* ---- the run's side ---- */

static void told_held(struct box *b, const struct wall_news *t)
{
        const struct box_on_held *to = &b->c.on_held;
        if (!to->fn)
                return;

        b->run.r.mid_line = pump_is_mid_line(&b->run);
        to->fn(to->ctx, t->id, t->what, t->within_s);
}

static void told_blocked(struct run *run, const struct wall_news *t)
{
        if (t->kind >= EFFECT_KIND__COUNT || t->reason >= REASON__COUNT)
                return;

        struct effect_row d = keeper_row(run, (enum effect_kind) t->kind);
        d.layer = t->kind == EFFECT_SIGN || t->kind == EFFECT_DECRYPT ? "signer" : "egress";
        d.count = t->count;
        d.told = true;
        d.effect.reason = (enum effect_reason) t->reason;
        d.effect.target = t->target;
        d.effect.method = t->method[0] ? t->method : NULL;
        d.what = t->what;
        d.why = t->why;
        d.permit = t->permit;
        keeper_count_denial(run, &d);
        arena_done(&run->draft);
}

void session_told(struct box *b, const struct wall_message *m)
{
        struct label l = label_of(m->word == WALL_SAYS_RISES ? m->label : NULL);
        if (m->word == WALL_SAYS_RISES)
                keeper_label_rises(b, &l);
        else if (m->word == WALL_SAYS_HELD)
                told_held(b, &m->told);
        else
                told_blocked(&b->run, &m->told);
}
