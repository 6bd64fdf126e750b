/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/gates.c - the part of the keeper's loop that serves doors with `ask`, and runs with a
 * label: one epoll descriptor stands for the broker's line and all approvers. */
#include "run/keeper/gates/gates.h"
#include "base/fd.h"
#include "base/wire/wire.h"
#include "broker/egress/egress.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>

static bool needs_desk(const struct box *b)
{
        for (const struct door *d = NULL; (d = policy_door_next(b->c.policy, d));)
                if (d->ask.on && d->kind != DOOR_EDIT) /* its apply asks: apply_gate.c */
                        return true;
        return b->c.plan->net &&
               (policy_has_labels(b->c.policy) || !label_is_empty(&b->c.label) || b->c.shut_count);
}

int gates_open(struct box *b, struct err *e) { return needs_desk(b) ? gates_make(b, e) : 0; }

/* The broker's end of its line, or -1. Its first message is the run's id. */
int gates_line(struct box *b)
{
        struct gates *g = b->gates;
        struct egress_gate_answer hello = { .number = 0 }, tenant = { .number = 0 };
        int ends[2];
        if (!g || wire_pair(ends) < 0)
                return -1;

        AUTO_FD(its, ends[1]);
        g->line = ends[0];
        (void) snprintf(hello.id, sizeof hello.id, "%s", keeper_run(&b->run));
        (void) snprintf(tenant.id, sizeof tenant.id, "%s", gates_tenant(b));
        if (wire_put(g->line, &egress_gate_answer_form, &hello, -1) < 0 ||
            wire_put(g->line, &egress_gate_answer_form, &tenant, -1) < 0 ||
            fcntl(g->line, F_SETFL, O_NONBLOCK) < 0 || gates_watch(g, g->line, KEY_LINE) < 0)
                return -1;

        return TAKE_FD(its);
}

int gates_fd(const struct box *b) { return b->gates ? b->gates->epoll : -1; }

static void announce_items(struct box *b)
{
        const struct box_on_held *to = &b->c.on_held;
        for (unsigned i = 0; (to->fn || b->c.session) && i < b->gates->count; i++) {
                struct desk_item *it = b->gates->items[i];
                if (!it->ready || it->announced || it->gate.state != GATE_PENDING)
                        continue;
                AUTO_BUF(what);
                desk_summary(it, &what);
                it->announced = true;
                b->run.r.out.mid_line = pump_is_mid_line(&b->run);
                if (to->fn)
                        to->fn(to->ctx, it->gate.id, buf_str(&what), policy_ask_within_s(it->door));
                else
                        session_tell_held(b, it->gate.id, buf_str(&what), policy_ask_within_s(it->door),
                                          it->group);
        }
}

static void deliver_answers(struct box *b)
{
        struct gates *g = b->gates;
        const struct box_on_tool *tool = &b->c.on_tool;
        for (unsigned i = 0; i < g->told_count; i++)
                if (g->told[i].source == DESK_KEY)
                        keys_answered(b, g->told[i].number, g->told[i].yes, g->told[i].why);
                else if (g->told[i].source != DESK_TOOL)
                        inbound_answered(b, g->told[i].number, g->told[i].yes);
                else if (tool->fn)
                        tool->fn(tool->ctx, g->told[i].number, g->told[i].yes);
        g->told_count = 0;
        if (g->changed) {
                announce_items(b);
                channel_changed(b);
        }
        g->changed = false;
}

void gates_serve(struct box *b)
{
        struct gates *g = b->gates;
        struct epoll_event e[APPROVERS_MAX + 2];
        int n = g ? epoll_wait(g->epoll, e, APPROVERS_MAX + 2, 0) : 0;
        for (int i = 0; i < n; i++) {
                uint64_t key = e[i].data.u64;
                if (key == KEY_LISTENER)
                        channel_accept(b);
                else if (key == KEY_LINE)
                        desk_hear(b);
                else
                        channel_serve(b, (unsigned) (key - KEY_APPROVERS), e[i].events);
        }

        if (!g)
                return;
        desk_expire(b);
        deliver_answers(b);
}

/* In ms from now; -1: nothing waits. */
int64_t gates_next_ms(const struct box *b)
{
        int64_t first = b->gates && (b->gates->told_count || b->gates->changed) ? 0 : -1, now = desk_now_ms();
        for (unsigned i = 0; b->gates && i < b->gates->count; i++) {
                int64_t left = b->gates->items[i]->gate.expires_ms - now;
                left = left > 0 ? left : 0;
                if (b->gates->items[i]->ready && (first < 0 || left < first))
                        first = left;
        }
        return first;
}

static void note_pending(struct box *b, const struct desk_item *it)
{
        AUTO_BUF(what);
        desk_summary(it, &what);
        struct effect_row d = keeper_row(&b->run, EFFECT_NET);
        d.layer = "gate";
        d.count = 1;
        d.effect.reason = REASON_GATE_WITHDRAWN;
        d.effect.target = it->envelope.field[GATE_PLACE];
        d.what = keeper_text(&b->run, "%s (%s)", buf_str(&what), effect_reason_text(REASON_GATE_WITHDRAWN));
        d.why = effect_reason_text(REASON_GATE_WITHDRAWN);
        keeper_add_denial(&b->run, &d);
}

/* The box has ended. */
void gates_close(struct box *b)
{
        struct gates *g = b->gates;
        if (!g)
                return;

        desk_hear(b); /* what left meanwhile is no pending item */
        for (unsigned i = 0; i < g->count; i++)
                if (g->items[i]->ready && gate_is_open(g->items[i]->gate.state) &&
                    g->items[i]->source != DESK_DECOY && g->items[i]->source != DESK_RENEW)
                        note_pending(b, g->items[i]);

        gates_free(b);
}
