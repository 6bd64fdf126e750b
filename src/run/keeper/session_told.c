/* SPDX-License-Identifier: MIT */
/* run/keeper/session_told.c - what the broker, the signer and the approvers of a session say, passed on to
 * its runs. The broker knows by the control group of a socket which run a denial is of. Where it does not,
 * and of all others, each run under way is told: they know the session only. */
#include "run/keeper/internal.h"

#include <stdio.h>
#include <sys/stat.h>

/* ---- the session's side ---- */

/* Returns whether there is a run of this group. */
static bool tell_run(struct box *first, const struct wall_message *m, uint64_t group)
{
        bool any = false;
        for (struct box *b = first; b; b = b->sibling) {
                if (group && b->group_id != group)
                        continue;
                any = true;
                if (b->remote && b->begun)
                        (void) wall_forward(b->session_line, m,
                                            -1); /* not taken: the session's result has it */
                else if (!b->remote && b->run.up && b->phase <= PHASE_REAP)
                        session_told(b, m);
        }
        return any;
}

/* A process that could not enter its run's group is in the session's. */
static bool is_own(const struct box *session, uint64_t group)
{
        struct stat st;
        return session->group.v2 < 0 || (fstat(session->group.v2, &st) == 0 && st.st_ino == group);
}

static bool tell_all(struct box *session, const struct wall_message *m, uint64_t group)
{
        group = is_own(session, group) ? 0 : group;
        bool any = tell_run(session->runs, m, group);
        return tell_run(session->ended, m, group) || any;
}

static void copy_text(char *to, size_t cap, const char *from) { (void) snprintf(to, cap, "%s", from); }

void session_tell_held(struct box *session, const char *id, const char *what, unsigned within_s,
                       uint64_t group)
{
        struct wall_message m = { .word = WALL_SAYS_HELD, .told = { .within_s = within_s } };
        copy_text(m.told.id, sizeof m.told.id, id);
        copy_text(m.told.what, sizeof m.told.what, what);
        if (!tell_all(session, &m, group)) /* what an earlier run left behind asks */
                (void) tell_all(session, &m, 0);
}

void session_tell_blocked(struct box *session, const struct effect_row *d, uint64_t group)
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
        (void) tell_all(session, &m, group);
}

/* ---- the run's side ---- */

static void told_held(struct box *b, const struct wall_news *t)
{
        const struct box_on_held *to = &b->c.on_held;
        if (!to->fn)
                return;

        b->run.r.out.mid_line = pump_is_mid_line(&b->run);
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
