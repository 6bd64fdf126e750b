/* SPDX-License-Identifier: MIT */
/* run/keeper/box_result.c - completes the result of a run: what is counted or kept otherwise, as its caller
 * gets it. */
#include "run/keeper/internal.h"

#include <stdio.h>

static const char *const nothing_absent[] = { NULL };
const cordon_result box_no_result = { .limits_hit = "",
                                      .limit = "",
                                      .wall = "",
                                      .absent = nothing_absent,
                                      .work = "",
                                      .left_name = "",
                                      .ledger = "",
                                      .ledger_lost = "",
                                      .start = "",
                                      .start_why = "",
                                      .session = "",
                                      .labels = "",
                                      .lost = "",
                                      .unlabelled = "",
                                      .unstamped_file = "",
                                      .work_place = "" };

const char *cordon_end_name(cordon_end end)
{
        static const char *const names[] = { [CORDON_RUNNING] = "running",         [CORDON_FAILED] = "failed",
                                             [CORDON_NOT_STARTED] = "not-started", [CORDON_EXITED] = "exited",
                                             [CORDON_SIGNALED] = "signaled",       [CORDON_LIMIT] = "limit" };
        return names[end];
}

void result_begin(struct run *run)
{
        struct box_result *r = &run->r;
        r->out = box_no_result;
        r->out.limits_hit = r->limits_text;
        r->out.lost = r->lost_text;
        r->out.absent = r->absent;
        r->out.left_name = r->left_name;
        r->out.ledger = r->ledger;
        r->out.ledger_lost = r->ledger_lost;
        r->out.session = r->session;
        r->out.unstamped_file = r->unstamped_name;
}

static void name_limits(struct box_result *r)
{
        size_t n = 0;
        r->limits_text[0] = '\0';
        for (unsigned k = 0; k < LIMIT_KEY__COUNT; k++)
                if (r->limits_hit & (1u << k))
                        n += (size_t) snprintf(r->limits_text + n, sizeof r->limits_text - n, "%s%s",
                                               n ? " " : "", policy_limit_name(k));

        r->out.limit = r->out.end == CORDON_LIMIT ? policy_limit_name(r->limit) : "";
}

uint32_t result_denials_lost(const struct box_result *r)
{
        uint32_t sum = r->net_denied_lost;
        for (unsigned k = 0; k < EFFECT_KIND__COUNT; k++)
                sum += r->lost[k];
        return sum;
}

bool result_lost(const struct box_result *r, unsigned *at, const char **ret_name, uint32_t *ret_count)
{
        for (; *at <= EFFECT_KIND__COUNT; ++*at) {
                bool absent = *at == EFFECT_KIND__COUNT;
                uint32_t net = *at == EFFECT_NET ? r->net_denied_lost : 0;
                *ret_count = absent ? r->absent_lost : r->lost[*at] + net;
                *ret_name = absent ? "absent" : *at == EFFECT_NONE ? "secret" : effect_kind_name(*at);
                if (*ret_count && ++*at)
                        return true;
        }

        return false;
}

static void name_lost(struct box_result *r)
{
        const char *name;
        uint32_t count;
        size_t n = 0;
        r->lost_text[0] = '\0';
        for (unsigned at = 0; result_lost(r, &at, &name, &count);)
                n += (size_t) snprintf(r->lost_text + n, sizeof r->lost_text - n, "%s%u %s", n ? ", " : "",
                                       count, name);

        r->out.denials_lost = result_denials_lost(r);
}

/* Rows that were given out stay as they are. Without memory for more they count as lost. */
static void put_denials(struct run *run)
{
        struct box_result *r = &run->r;
        bool more = r->denial_count != r->out.denial_count;
        cordon_denial *rows = more ? arena_alloc(&run->texts, r->denial_count * sizeof *rows) : r->shown;
        if (more && !rows) {
                r->out.denials_lost += r->denial_count - r->out.denial_count;
                return;
        }

        for (unsigned i = 0; i < r->denial_count; i++) {
                const struct effect_row *d = &r->denials[i];
                rows[i] = (cordon_denial){ .what = d->what,
                                           .layer = d->layer,
                                           .program = d->program,
                                           .permit = d->permit,
                                           .argument = d->argument,
                                           .count = d->count,
                                           .code = effect_kind_name(d->effect.kind),
                                           .path = d->effect.target,
                                           .method = d->effect.method ? d->effect.method : "",
                                           .on_host = d->on_host,
                                           .reason = effect_reason_name(d->effect.reason),
                                           .minor = d->weight,
                                           .why = d->why };
        }

        r->out.denials = r->shown = rows;
        r->out.denial_count = r->denial_count;
}

static const cordon_error *error_of(const struct err *e, bool is)
{
        return is ? (const cordon_error *) (const void *) e : NULL;
}

static void put_work(struct box_result *r)
{
        r->out.work_error = error_of(&r->work_error, r->has_work && r->work_error.code);
        if (!r->has_work)
                return;

        r->out.work = r->work.kept ? r->work.run : "";
        r->out.work_place = r->work.place;
        r->out.work_entries = r->work.entries;
        r->out.work_flagged = r->work.flagged;
}

const cordon_result *box_result_out(struct box *b)
{
        static const char *const streams[] = { "", "stdout", "stderr", "stdout stderr" };
        struct box_result *r = &b->run.r;
        cordon_result *out = &r->out;
        name_limits(r);
        name_lost(r);
        put_denials(&b->run);
        put_work(r);
        out->wall = wall_name(r->wall);
        out->groups = r->memory_by_group && r->procs_by_group;
        out->away = box_is_away(b);
        out->start = r->in_session ? "session" : r->warm ? "warm" : r->parked ? "parked" : "cold";
        out->start_why = r->parked || !b->c.cold_why ? "" : b->c.cold_why;
        out->unlabelled = streams[r->streams_unlabelled & 3];
        out->labels = label_is_empty(&r->label) ? "" : label_text(&r->label, r->label_text);
        out->error = error_of(&r->error, out->end == CORDON_FAILED || out->end == CORDON_NOT_STARTED);
        return out;
}
