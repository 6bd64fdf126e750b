/* SPDX-License-Identifier: MIT */
/* run/api/against.c - compares a changed policy with a past run: which of its connections and requests in the
 * ledger the broker would deny now, and which denials would pass. Runs nothing, connects nowhere. */
#include "base/clock.h"
#include "base/fd.h"
#include "ledger/ledger.h"
#include "run/api/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEN_MAX = 4096, TARGET_MAX = 400, TEXT_MAX = TARGET_MAX + 8 };

struct against {
        const cordon_policy *p;
        const struct checked_policy *policy;
        struct policy_context context;
        bool json, has_places;
        struct buf refused, permitted; /* lines, or members of a JSON list */
        unsigned effects, refused_count, permitted_count, unknown;
        char (*seen)[TEXT_MAX];
        size_t seen_count;
};

static bool is_new(struct against *a, const char *text)
{
        for (size_t i = 0; i < a->seen_count; i++)
                if (strcmp(a->seen[i], text) == 0)
                        return false;
        if (a->seen_count < SEEN_MAX)
                (void) snprintf(a->seen[a->seen_count++], TEXT_MAX, "%s", text);
        return true;
}

static void add_run(struct against *a, struct buf *to, unsigned *count, const char *text)
{
        if (a->json) {
                buf_puts(to, *count ? "," : "");
                buf_json(to, span_str(text));
        } else {
                buf_printf(to, "%s %s\n", to == &a->refused ? "refused now:" : "passes now:", text);
        }

        ++*count;
}

/* A host that is named in another form than it was reached by: only its requests show whether it passes. */
static bool may_depend(const struct against *a, const struct effect *f)
{
        return a->has_places || (f->net->form == NET_HOST_PORT && !f->net->is_address &&
                                 policy_names_host(a->policy, f->net->host, a->context.now));
}

/* A name that does not exist for the box: nothing is connected to. */
static void judge_name(struct against *a, const char *name)
{
        char target[TARGET_MAX];
        (void) snprintf(target, sizeof target, "the name %.*s", (int) sizeof target - 10, name);
        if (!is_new(a, target))
                return;
        a->effects++;
        if (policy_names_host(a->policy, name, a->context.now))
                add_run(a, &a->permitted, &a->permitted_count, target);
}

static void compare_target(struct against *a, const char *target, bool passed)
{
        char text[TEXT_MAX];
        struct effect f;
        struct err ignored;

        (void) snprintf(text, sizeof text, "net %s", target);
        if (!is_new(a, text))
                return;

        a->effects++;
        if (policy_effect_parse(text, &a->context, &f, &ignored) < 0) {
                a->unknown++;
                return;
        }

        struct decision d = api_decide(a->p, &f);
        bool passes = d.answer == ANSWER_ALLOW;
        if (!passes && d.reason == REASON_PARAMETER) /* the ledger has no bodies */
                a->unknown++;
        else if (passed && !passes && may_depend(a, &f))
                a->unknown++;
        else if (passed && !passes)
                add_run(a, &a->refused, &a->refused_count, target);
        else if (!passed && passes)
                add_run(a, &a->permitted, &a->permitted_count, target);

        policy_effect_done(&f);
}

/* Requests without consequences are recorded by their server alone: those cannot be compared. */
static void read_record(struct against *a, const struct ledger_view *v)
{
        char target[TARGET_MAX], method[32];
        bool request = span_is(v->kind, "request"), over = span_is(v->phase, "outcome");
        if ((!request && !span_is(v->kind, "net")) || (!over && !span_is(v->phase, "denied")))
                return;

        (void) ledger_plain(over ? v->target : ledger_member(v->more, "to"), target, sizeof target);
        (void) ledger_plain(ledger_member(v->more, "method"), method, sizeof method);
        struct effect denied = { .kind = EFFECT_NET, .target = target, .method = method[0] ? method : NULL };
        if (request && over && !strchr(target, ' ')) {
                a->effects++;
                a->unknown++;
        } else if (!over && effect_is_name(&denied)) {
                judge_name(a, target);
        } else if (method[0]) {
                char text[TARGET_MAX + sizeof method];
                (void) snprintf(text, sizeof text, "%s %s", method, target);
                compare_target(a, text, over);
        } else {
                compare_target(a, target, over);
        }
}

static int read_run(struct against *a, const char *which, char ret_run[LEDGER_ID_MAX], struct err *e)
{
        struct ledger_view v;
        AUTO_FD(dir, ledger_dir_open(a->p->cx, false, e));
        struct ledger_log *log = dir < 0 ? NULL : ledger_log_open(dir, e);
        if (!log)
                return -1;

        int r = ledger_find_run(log, which, ret_run, e);
        struct ledger_walk w = { .log = log, .run = ret_run };
        while (r == 0 && ledger_next(&w, &v))
                read_record(a, &v);

        ledger_log_free(log);
        return r;
}

static void print_run(const struct against *a, const char *run, struct buf *out)
{
        if (a->json) {
                buf_puts(out, "{\"run\":");
                buf_json(out, span_str(run));
                buf_printf(out, ",\"effects\":%u,\"unknown\":%u,\"refused\":[%s],\"permitted\":[%s]}\n",
                           a->effects, a->unknown, buf_str(&a->refused), buf_str(&a->permitted));
        } else {
                buf_printf(
                        out,
                        "%s%s%s: %u effects on the network; refused now: %u, passes now: %u, not known: %u\n",
                        buf_str(&a->refused), buf_str(&a->permitted), run, a->effects, a->refused_count,
                        a->permitted_count, a->unknown);
        }

        out->failed = out->failed || a->refused.failed || a->permitted.failed;
}

char *cordon_policy_against(cordon_policy *p, const char *run, int json, int *ret_refused, cordon_error *e)
{
        AUTO_BUF(out);
        char id[LEDGER_ID_MAX];

        if (cordon_policy_check(p, e) < 0)
                return NULL;

        struct against a = { .p = p, .policy = p->checked, .json = json != 0, .context = api_context(p) };
        for (const struct door *d = NULL; (d = policy_door_next(p->checked, d));)
                a.has_places |= !p->has_stage && d->kind == DOOR_NET && d->net.form == NET_PLACE;

        a.seen = malloc(SEEN_MAX * sizeof *a.seen);
        int bad = a.seen ? read_run(&a, run, id, to_err(e)) : err_set(to_err(e), ERR_MEMORY, 0, "no memory");
        if (!bad)
                print_run(&a, id, &out);

        *ret_refused = (int) a.refused_count;
        free(a.seen);
        buf_done(&a.refused);
        buf_done(&a.permitted);
        return bad ? NULL : api_give(&out, to_err(e));
}
