/* SPDX-License-Identifier: MIT */
/* broker/egress/accounting.c - counts events, one row for each destination and each kind of denial, and keeps
 * the rest of each budget. A budget is charged before a byte moves, so none is ever overdrawn. */
#include "broker/egress/internal.h"

#include <stdio.h>
#include <string.h>

void accounting_touch(struct broker *b, struct egress_row *r)
{
        b->dirty[r - b->rows] = true;
        b->any_dirty = true;
}

void accounting_seen(struct flow *f, enum egress_seen seen)
{
        f->seen = seen;
        if (!f->row || f->row->seen >= seen)
                return;
        f->row->seen = (uint8_t) seen;
        accounting_touch(f->b, f->row);
}

static const char *text(const char *s) { return s ? s : ""; }

static bool is_of(const struct egress_row *r, const struct accounting_entry *e, bool allowed)
{
        return r->allowed == allowed && r->form == e->form && r->reason == e->reason &&
               strcmp(r->to, e->to) == 0 && strcmp(r->method, text(e->method)) == 0 &&
               strcmp(r->detail, text(e->detail)) == 0;
}

/* The room that is left for it; NULL: none. What a tripwire waits for has some that nothing else can fill. */
static unsigned *room_for(struct broker *b, const struct accounting_entry *e, bool allowed)
{
        unsigned *room = allowed ? &b->reached_rows : &b->denied_rows;
        if (*room < (allowed ? NET_REACHED_MAX : NET_DENIED_MAX))
                return room;

        bool alarm = !allowed && effect_reason_is_credential(e->reason);
        return alarm && b->alarm_rows < NET_ALARMS_MAX ? &b->alarm_rows : NULL;
}

static struct egress_row *find_row(struct broker *b, const struct accounting_entry *e, bool allowed)
{
        for (unsigned i = 0; i < b->row_count; i++)
                if (is_of(&b->rows[i], e, allowed))
                        return &b->rows[i];

        unsigned *room = room_for(b, e, allowed);
        if (!room) {
                b->rows_lost++;
                b->denied_lost += !allowed;
                return NULL;
        }

        ++*room;
        struct egress_row *r = &b->rows[b->row_count];
        *r = (struct egress_row){
                .index = b->row_count++, .allowed = allowed, .form = (uint8_t) e->form, .reason = e->reason
        };
        (void) snprintf(r->method, sizeof r->method, "%s", text(e->method));
        (void) snprintf(r->to, sizeof r->to, "%s", e->to);
        (void) snprintf(r->detail, sizeof r->detail, "%s", text(e->detail));
        (void) snprintf(r->permit, sizeof r->permit, "%s", text(e->permit));
        return r;
}

/* Counts one more event. Returns NULL if the table is full. */
static struct egress_row *count_row(struct broker *b, const struct accounting_entry *e, bool allowed)
{
        struct egress_row *r = find_row(b, e, allowed);
        if (!r)
                return NULL;

        r->connections++;
        accounting_touch(b, r);
        return r;
}

void accounting_looked_up(struct broker *b, struct name *n, const char *to)
{
        if (n->told)
                return;
        n->told = true;
        n->row = find_row(b, &(struct accounting_entry){ .to = to }, true);
        if (n->row)
                accounting_touch(b, n->row);
}

struct egress_row *accounting_connected(struct broker *b, const struct name *n, const char *to)
{
        struct egress_row *r = n ? n->row : NULL;
        if (r && r->connections == 0)
                (void) snprintf(r->to, sizeof r->to, "%s", to); /* by another port of the same name */

        return count_row(b, &(struct accounting_entry){ .to = to }, true);
}

void accounting_cut(struct flow *f)
{
        if (!f->row)
                return;
        f->row->cut++;
        accounting_touch(f->b, f->row);
}

/* Nobody takes them for too long: the result of the session has them all. */
static void add_part(struct broker *b, uint32_t index)
{
        unsigned i = 0;
        while (i < b->part_count && (b->parts[i].index != index || b->parts[i].group != b->group))
                i++;

        if (i == PARTS_MAX)
                return;
        if (i == b->part_count)
                b->parts[b->part_count++] = (struct egress_part){ .group = b->group, .index = index };
        b->parts[i].count++;
}

void accounting_deny(struct broker *b, const struct accounting_entry *e)
{
        const struct egress_row *r = count_row(b, e, false);
        if (r && b->whose > 0)
                add_part(b, r->index);
}

void accounting_deny_flow(struct flow *f, enum effect_reason why, const char *detail)
{
        accounting_deny(f->b, &(struct accounting_entry){ .to = f->row_to, .reason = why, .detail = detail });
}

/* A door leads there, but no server answered. */
struct egress_row *accounting_fail(struct broker *b, const struct accounting_entry *e)
{
        return count_row(b, e, true);
}

static void move_bytes(uint64_t *from, uint64_t *to, uint64_t n)
{
        uint64_t moved = n < *from ? n : *from;
        *from -= moved;
        *to += moved;
}

/* The ledger has it once: as the outcome of its intent, else in the row of failures, with its bytes; the row
 * that counted it first is corrected. */
void accounting_fail_flow(struct flow *f, enum effect_reason why, const char *detail, bool told)
{
        struct egress_row *r = accounting_fail(
                f->b, &(struct accounting_entry){ .to = f->row_to, .reason = why, .detail = detail });
        if (!r)
                return;

        struct egress_row *other = told ? r : f->row;
        if (!told && other) {
                move_bytes(&other->sent, &r->sent, f->sent_last);
                move_bytes(&other->received, &r->received, f->received_last);
        }

        if (other) {
                other->told++;
                accounting_touch(f->b, other);
        }

        r->reach = (uint8_t) (f->dial.count ? egress_judge(&f->dial.list[0]) : REACH_UNKNOWN);
}

static struct door_use *use_of(const struct broker *b, const struct door *d)
{
        return &b->uses[d - b->doors];
}

/* 61 buckets: the hour before now lies wholly within them, so no hour ever sees more than the cap. */
static uint64_t last_hour(struct door_use *u, uint64_t minute)
{
        uint64_t sum = 0;
        while (u->minute < minute) {
                uint64_t gap = minute - u->minute;
                u->minute = gap > 61 ? minute - 61 : u->minute;
                u->minute_count[++u->minute % 61] = 0;
        }

        for (unsigned i = 0; i < 61; i++)
                sum += u->minute_count[i];

        return sum;
}

int accounting_enter(struct broker *b, const struct door *d, bool came, enum effect_reason *ret_why)
{
        struct door_use *u = use_of(b, d);
        uint64_t minute = b->now_ns / 60000000000u + 61;
        if (b->effects >= b->limits->value[LIMIT_EFFECTS]) {
                b->limits_hit |= 1u << LIMIT_EFFECTS;
                *ret_why = REASON_LIMIT_EFFECTS;
                return -1;
        }

        if (last_hour(&b->all, minute) >= b->limits->value[LIMIT_RATE]) {
                b->limits_hit |= 1u << LIMIT_RATE;
                *ret_why = REASON_LIMIT_RATE;
                return -1;
        }

        if (d->net.cap[NET_CAP_HOUR] && last_hour(u, minute) >= d->net.cap[NET_CAP_HOUR]) {
                *ret_why = REASON_CAP_HOUR;
                return -1;
        }

        for (int out = 0; out < 2; out++) { /* without an answer a lookup is useless */
                if (!(out && came) && accounting_room(b, d, out, 1) == 0) {
                        *ret_why = accounting_why(b, d, out);
                        return -1;
                }
        }

        b->effects++;
        b->all.minute_count[minute % 61]++;
        if (d->net.cap[NET_CAP_HOUR])
                u->minute_count[minute % 61]++;

        return 0;
}

static uint64_t left(uint64_t most, uint64_t used) { return used < most ? most - used : 0; }

/* The part of `want` that the door's own caps leave. */
static uint64_t door_room(const struct broker *b, const struct door *d, bool out, uint64_t want)
{
        const uint64_t *cap = d->net.cap, *moved = use_of(b, d)->moved;
        uint64_t both = cap[NET_CAP_BYTES] ? left(cap[NET_CAP_BYTES], moved[0] + moved[1]) : want;
        uint64_t way = cap[out ? NET_CAP_OUT : NET_CAP_IN];
        uint64_t one = way ? left(way, moved[out]) : want;
        uint64_t least = both < one ? both : one;
        return least < want ? least : want;
}

size_t accounting_room(const struct broker *b, const struct door *d, bool out, size_t want)
{
        uint64_t room = d ? door_room(b, d, out, want) : want;
        uint64_t all = out ? left(b->limits->value[LIMIT_EGRESS], b->sent)
                           : left(b->limits->value[LIMIT_INGRESS], b->received);
        return (size_t) (all < room ? all : room);
}

void accounting_spend(struct broker *b, const struct door *d, bool out, size_t n)
{
        if (d)
                use_of(b, d)->moved[out] += n;
        *(out ? &b->sent : &b->received) += n;
}

void accounting_drain(struct broker *b, const struct door *d)
{
        accounting_spend(b, d, true, accounting_room(b, d, true, SIZE_MAX));
}

enum effect_reason accounting_cannot_pay(const struct broker *b, const struct door *d, size_t n)
{
        const uint64_t *cap = d->net.cap, *moved = use_of(b, d)->moved;
        if (door_room(b, d, true, n) == n)
                return REASON_NONE;
        return cap[NET_CAP_BYTES] && left(cap[NET_CAP_BYTES], moved[0] + moved[1]) < n ? REASON_CAP
                                                                                       : REASON_CAP_OUT;
}

void accounting_pay(struct broker *b, const struct door *d, size_t n) { use_of(b, d)->moved[1] += n; }

enum effect_reason accounting_why(struct broker *b, const struct door *d, bool out)
{
        if (out && b->sent >= b->limits->value[LIMIT_EGRESS]) {
                b->limits_hit |= 1u << LIMIT_EGRESS;
                return REASON_LIMIT_EGRESS;
        }

        if (!out && b->received >= b->limits->value[LIMIT_INGRESS]) {
                b->limits_hit |= 1u << LIMIT_INGRESS;
                return REASON_LIMIT_INGRESS;
        }

        if (!d || door_room(b, d, !out, 1) == 0) /* the other way too: so it is the one for both */
                return REASON_CAP;

        return out ? REASON_CAP_OUT : REASON_CAP_IN;
}
