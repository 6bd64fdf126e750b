/* SPDX-License-Identifier: MIT */
/* run/api/log_open.c - opens the ledger for a reader, and records who looked. */
#include "base/clock.h"
#include "base/fd.h"
#include "ledger/ledger.h"
#include "run/api/internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* A tenant reads its own ledger; what it tells of the host is for the operator, who reads it without a
 * tenant.
 */
static bool is_of_host(const struct ledger_view *v)
{
        return span_is(v->phase, "denied") &&
               !effect_is_near(effect_kind_find(ledger_member(v->more, "effect")),
                               effect_reason_find(ledger_member(v->more, "reason")));
}

struct ledger_log *api_log_open(const struct cordon_context *cx, int *ret_dir, struct err *e)
{
        AUTO_FD(dir, ledger_dir_open(cx, false, e));
        struct ledger_log *l = dir < 0 ? NULL : ledger_log_open(dir, e);
        if (l && cx && cx->tenant.tag[0])
                ledger_log_hide(l, is_of_host);
        if (l && ret_dir)
                *ret_dir = TAKE_FD(dir);
        return l;
}

/* An id for actions that are not runs: a query, a reaction, a prune. */
struct ledger *api_log_as(const struct cordon_context *cx, const char *what, struct err *e)
{
        char run[48];
        uint32_t r = 0;
        (void) !getrandom(&r, sizeof r, GRND_INSECURE);
        (void) snprintf(run, sizeof run, "%s-%llx-%08x", what, (unsigned long long) clock_wall_s(), r);
        return ledger_open(cx, run, "", e);
}

bool api_log_off(const struct cordon_context *cx)
{
        const char *asked = context_get(cx, "CORDON_LEDGER");
        return asked && strcmp(asked, "off") == 0;
}

/* Queries are recorded as well: the readers of an effect can be queried like anything else. */
void api_log_viewed(const struct cordon_context *cx, const char *how, const char *target)
{
        struct err ignored;
        char who[sizeof cx->actor];
        struct ledger *l = api_log_off(cx) ? NULL : api_log_as(cx, "view", &ignored);
        if (!l)
                return;

        struct ledger_record r = ledger_record_of(LEDGER_VIEW, LEDGER_HUMAN);
        if (cx && cx->actor[0])
                (void) snprintf(who, sizeof who, "%s", cx->actor);
        else
                (void) snprintf(who, sizeof who, "uid %u", getuid());
        r.door = how;
        r.target = target ? target : "ledger";
        ledger_more_text(&r, "who", who);
        (void) ledger_append(l, &r, false, NULL, &ignored);
        if (ledger_flush(l, 50, &ignored) == 0)
                ledger_wake_sealer(l);

        ledger_close(l);
}
