/* SPDX-License-Identifier: MIT */
/* run/keeper/record_effects.c - the effects of a run through its doors and its denials, as records. */
#include "base/str.h"
#include "run/keeper/run_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Traffic through a socket is not seen; it is recorded once that the door was open: the box could have used
 * it. Write doors are recorded by record_shown(), because they show files as well. */
void record_sockets(struct run *run)
{
        size_t n;
        const struct door *d = policy_doors(run->c->policy, &n);
        for (size_t i = 0; run->record && i < n; i++) {
                if (d[i].kind != DOOR_SOCK)
                        continue;
                struct ledger_record r = record_of(run, LEDGER_NET, LEDGER_CLAIM);
                r.door = "sock";
                r.target = d[i].path;
                r.writes = true;
                r.result = "open; single uses are not observed";
                record_add(run, &r, NULL);
        }
}

static enum ledger_kind kind_of(enum effect_kind k)
{
        if (k == EFFECT_READ || k == EFFECT_WRITE || k == EFFECT_RENAME)
                return LEDGER_FILE;
        if (k == EFFECT_SIGN || k == EFFECT_DECRYPT)
                return LEDGER_CREDENTIAL;
        return k == EFFECT_NET || k == EFFECT_CREDENTIAL ? LEDGER_NET : LEDGER_EXEC;
}

/* When it happens, and once more at the end for as often as it happened again. */
void record_denial(struct run *run, struct effect_row *d)
{
        bool own_record = d->effect.kind == EFFECT_LIMIT;
        if (!run->record || !run->record->ledger || run->record->over || own_record ||
            d->count == d->recorded)
                return;

        struct ledger_record r = record_of(run, kind_of(d->effect.kind), LEDGER_DENIED);
        r.target = d->what;
        r.result = "denied";
        r.count = d->count - d->recorded;
        ledger_more_text(&r, "effect", effect_kind_name(d->effect.kind));
        ledger_more_text(&r, "reason", effect_reason_name(d->effect.reason));
        ledger_more_text(&r, "to", d->effect.target);
        ledger_more_text(&r, "method", d->effect.method ? d->effect.method : "");
        ledger_more_text(&r, "layer", d->layer);
        ledger_more_text(&r, "permit", d->permit);
        ledger_more_text(&r, "program", d->program);
        if (d->weight != EFFECT_PLAIN)
                ledger_more_number(&r, "minor", d->weight);
        if (d->told)
                ledger_more_number(&r, "of-session", 1);

        record_causes(run, &r);
        record_add(run, &r, NULL);
        d->recorded = d->count;
}

void record_denials(struct run *run)
{
        for (unsigned i = 0; i < run->r.denial_count; i++)
                record_denial(run, &run->r.denials[i]);
}

/* "example.org" of "example.org:443". */
static struct span host_of(const char *to)
{
        const char *colon = strrchr(to, ':');
        return span_of(to, colon ? (size_t) (colon - to) : strlen(to));
}

/* Each destination of a net door, with the bytes sent and received. Denials are recorded above. */
void record_destinations(struct run *run)
{
        bool mock = run->c->stage == POLICY_STAGE_MOCK; /* recorded answers: no server was reached */
        for (unsigned i = 0; run->record && i < run->r.net_count; i++) {
                const struct egress_row *n = &run->r.net[i];
                uint32_t count = n->requests ? n->requests : n->connections;
                bool only_name = n->connections + n->requests == 0; /* it was looked up outside */
                bool inside = !mock && !only_name && !n->reason && n->reached == 0; /* all of it was denied */
                if (!n->allowed || n->to[0] == '\0' || inside || (n->told > 0 && n->told >= count))
                        continue; /* those with consequences have records of their own */
                AUTO_BUF(why);
                egress_row_why(n, &why);
                struct ledger_record r =
                        record_of(run, n->requests ? LEDGER_REQUEST : LEDGER_NET, LEDGER_OUTCOME);
                r.target = n->to;
                r.result = only_name         ? "its name was looked up, and nothing more"
                           : n->reason       ? buf_str(&why)
                           : n->cut >= count ? "cut off"
                                             : "done";
                r.reach = mock ? LEDGER_REACH_SELF : egress_reaches(host_of(n->to), n->reach);
                r.stage = mock ? LEDGER_MOCK : LEDGER_STAGE_NONE;
                r.bytes = (int64_t) (n->sent + n->received - n->told_bytes);
                r.count = only_name ? 1 : count - n->told;
                if (n->cut > 0)
                        ledger_more_number(&r, "cut", n->cut);
                if (n->reason || (!only_name && n->cut >= count))
                        ledger_more_text(&r, "end",
                                         ledger_end_name(n->reason ? LEDGER_END_FAILED : LEDGER_END_CUT));
                ledger_more_text(&r, "address", n->address);
                ledger_more_text(&r, "seen", egress_seen_name(n->seen));
                ledger_more_number(&r, "sent", (int64_t) n->sent);
                ledger_more_number(&r, "received", (int64_t) n->received);
                record_causes(run, &r);
                record_add(run, &r, NULL);
        }
}

/* Each `listen` door that was connected to. */
void record_inbound(struct run *run)
{
        unsigned count;
        const struct inbound_door *d = inbound_doors(run->box, &count);
        for (unsigned i = 0; run->record && i < count; i++) {
                char target[32], door[32];
                if (d[i].connections == 0)
                        continue;
                struct ledger_record r = record_of(run, LEDGER_NET, LEDGER_OUTCOME);
                (void) snprintf(target, sizeof target, "127.0.0.1:%u", d[i].port);
                (void) snprintf(door, sizeof door, "listen %u:%u", d[i].port, d[i].inner);
                r.door = door;
                r.target = target;
                r.result = d[i].failed == d[i].connections ? "no server in the box answered" : "connected to";
                r.bytes = (int64_t) (d[i].sent + d[i].received);
                r.count = d[i].connections;
                ledger_more_number(&r, "sent", (int64_t) d[i].sent);
                ledger_more_number(&r, "received", (int64_t) d[i].received);
                record_causes(run, &r);
                record_add(run, &r, NULL);
        }
}

void record_renewal(struct run *run)
{
        if (!run->record)
                return;

        struct ledger_record r = record_of(run, LEDGER_LIMIT, LEDGER_OUTCOME);
        r.target = policy_limit_name(LIMIT_TIME);
        r.result = "renewed";
        r.count = run->lease.renewed;
        record_add(run, &r, NULL);
}

void record_limits(struct run *run)
{
        for (unsigned k = 0; run->record && k < LIMIT_KEY__COUNT; k++) {
                if (!(run->r.limits_hit & (1u << k)))
                        continue;
                struct ledger_record r = record_of(run, LEDGER_LIMIT, LEDGER_OUTCOME);
                r.target = policy_limit_name(k);
                r.result = run->r.out.end == CORDON_LIMIT && run->r.limit == k ? "ended the run" : "reached";
                record_add(run, &r, NULL);
        }
}

static enum ledger_kind kind_of_door(enum door_kind k) { return k == DOOR_RUN ? LEDGER_EXEC : LEDGER_FILE; }

/* How many paths were seen written behind a write door. */
static int64_t written_behind(const struct run *run, const struct door *d)
{
        int64_t paths = 0;
        for (unsigned i = 0; d->kind == DOOR_WRITE && i < run->r.effect_count; i++)
                paths += run->r.effects[i].effect.kind == EFFECT_WRITE &&
                         path_under(run->r.effects[i].effect.target, d->path);
        return paths;
}

static void add_door(struct run *run, const struct door *d, int64_t written)
{
        AUTO_BUF(line);
        policy_door_line(d, &line);
        struct ledger_record r = record_of(run, kind_of_door(d->kind), LEDGER_OUTCOME);
        r.target = d->path;
        r.result = "door used";
        if (written) {
                r.door = "write";
                r.writes = true;
                r.count = written;
                record_causes(run, &r);
        }

        ledger_more_text(&r, "line", buf_str(&line));
        if (!d->from_stock)
                ledger_more_number(&r, "own", 1);

        record_add(run, &r, NULL);
}

unsigned record_own_doors(const struct run *run)
{
        size_t n;
        unsigned own = 0;
        const struct door *d = policy_doors(run->c->policy, &n);

        for (size_t i = 0; i < n; i++)
                own += !d[i].from_stock && (d[i].kind == DOOR_READ || d[i].kind == DOOR_EDIT ||
                                            d[i].kind == DOOR_WRITE || d[i].kind == DOOR_RUN);

        return own;
}

/* Each door for files and programs that was seen to be used; without --observe all uses are not seen. Returns
 * true if all was seen, so the other doors were not used, and the end of the run records that this is known.
 */
bool record_used(struct run *run)
{
        size_t n;
        const struct door *d = policy_doors(run->c->policy, &n);
        bool *used = run->record ? keeper_doors_used(run) : NULL, known = used != NULL;

        for (size_t i = 0; run->record && i < n; i++) {
                int64_t written = written_behind(run, &d[i]);
                if (written || (used && used[i]))
                        add_door(run, &d[i], written);
        }

        free(used);
        return known;
}

void box_record_tool(struct box *b, const struct box_tool *t, char ret_id[BOX_RECORD_ID])
{
        static const enum ledger_phase phases[] = { [BOX_TOOL_CALL] = LEDGER_INTENT,
                                                    [BOX_TOOL_RESULT] = LEDGER_OUTCOME,
                                                    [BOX_TOOL_DENIED] = LEDGER_DENIED };
        struct run *run = &b->run;
        char digest[72];
        ret_id[0] = '\0';
        if (!run->record || !run->record->ledger || run->record->over)
                return;

        struct ledger_record r = record_of(run, LEDGER_TOOL, phases[t->phase]);
        record_digest_of(t->bytes, digest);
        r.target = t->tool;
        r.result = t->result;
        r.digest = digest;
        r.bytes = (int64_t) t->bytes.n;
        if (t->reason)
                ledger_more_text(&r, "reason", t->reason);
        if (t->cause && t->cause[0])
                r.parents[r.parent_count++] = t->cause;

        record_add(run, &r, ret_id);
}
_Static_assert((int) BOX_RECORD_ID == (int) LEDGER_ID_MAX, "an id fits");
