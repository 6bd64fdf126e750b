/* SPDX-License-Identifier: MIT */
/* run/api/api_start.c - one way to begin: the steps of a start as a table, and the places where a run may
 * begin. A start that fails because the host forbids a wall repeats some steps with the next. */
#include "base/fd.h"
#include "base/host/host.h"
#include "base/store/store.h"
#include "run/api/canaries.h"
#include "run/api/internal.h"
#include "wall/wall.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- where a run begins ---- */

/* Each is asked in turn: 1: the run has begun there, 0: it cannot (b->cold_why), -1: it failed. */
static int begin_in_session(struct cordon_box *b, struct err *e)
{
        if (!b->session)
                return 0;

        const char *remote = b->session->remote;
        b->box = remote[0] ? box_join(remote, &b->c, e) : box_run_in(b->session->box, &b->c, e);
        return b->box ? 1 : -1;
}

static int begin_in_parked(struct cordon_box *b, struct err *e)
{
        (void) e;
        struct box *parked = api_parked_take(b, b->plan);
        if (!parked)
                parked = api_pool_take(b, b->plan);
        if (!parked)
                return 0;

        box_order(b->box = parked, &b->c);
        api_parked_free(&b->parked);
        return 1;
}

static int begin_in_new(struct cordon_box *b, struct err *e)
{
        if (b->pool != API_POOL_REQUIRE || b->c.park)
                return (b->box = box_start(&b->c, e)) ? 1 : -1;

        (void) err_set(e, ERR_USAGE, 0, "no parked box: %s", b->cold_why);
        return err_hint(e, b->unserved ? "start `cordon serve`, then: cordon serve pool add"
                                       : "`--pool auto` starts a new one; `cordon serve pool add` parks "
                                         "some");
}

/* Then come the signals that came before it, and the descriptor that the caller waits for. */
static int begin_run(struct cordon_box *b, struct err *e)
{
        static int (*const sources[])(struct cordon_box *, struct err *) = { begin_in_session,
                                                                             begin_in_parked, begin_in_new };
        int r = 0;
        for (size_t i = 0; r == 0 && i < sizeof sources / sizeof *sources; i++)
                r = sources[i](b, e);

        if (r < 0)
                return -1;

        for (int sig = 1; box_signal_bit(sig); sig++)
                if (b->early_signals & box_signal_bit(sig))
                        box_signal(b->box, sig);

        if (b->epoll >= 0)
                box_watch(b->box, b->epoll);
        return 0;
}

/* ---- the steps of a start ---- */

static int check_policy(struct cordon_box *b, struct err *e)
{
        return cordon_policy_check(b->policy, (cordon_error *) (void *) e);
}

static int find_state(struct cordon_box *b, struct err *e) { return store_variable(b->policy->cx, e); }

static int look_at_host(struct cordon_box *b, struct err *e)
{
        if (host_facts_quick(&b->facts, e) < 0)
                return -1;

        b->c.uid = b->facts.uid;
        b->c.gid = b->facts.gid;
        b->c.root = b->facts.uid == 0 && b->facts.maps_all;
        b->c.tenant = b->policy->cx->tenant;
        api_prepare_ledger(b);
        return 0;
}

/* The vault may have to be opened first: the start goes on here when it is. */
static int take_grants(struct cordon_box *b, struct err *e)
{
        int r = b->opens_vault ? api_grants_given(b, e) : api_grants(b, e);
        b->opens_vault = r == 0;
        return r < 0 ? -1 : 0;
}

static enum wall_kind wall_of(const struct cordon_box *b)
{
        return wall_choice(policy_wall(b->policy->checked), b->tried);
}

static int check_wall(struct cordon_box *b, struct err *e)
{
        return wall_check_host(wall_of(b), &b->facts, e);
}

static void spend_time(struct plan_order *o, enum limit_key k, uint64_t ms)
{
        o->limits.value[k] = o->limits.value[k] > ms ? o->limits.value[k] - ms : 1;
}

static int make_plan(struct cordon_box *b, struct err *e)
{
        plan_free(b->plan);
        b->c.plan = NULL;
        if (!(b->plan = api_plan(b, wall_of(b), e)))
                return -1;

        spend_time(b->plan->order, LIMIT_TIME, b->prepared_ms);
        spend_time(b->plan->order, LIMIT_CPU, b->prepared_cpu_ms);
        b->c.observe = api_observe(b);
        api_plan_set(b, b->plan);
        return 0;
}

static int check_tracing(struct cordon_box *b, struct err *e)
{
        if (!b->plan->net || b->plan->sockets != PLAN_SOCKETS_SERVED || !host_forbids_tracing())
                return 0;

        (void) err_set(e, ERR_DOOR, 0,
                       "this host lets nobody connect the sockets of a box, as a `net` door beside "
                       "a door to a directory needs");
        return err_hint(e, "%s", HOST_LET_TRACE);
}

static int check_parkable(struct cordon_box *b, struct err *e)
{
        const char *why = api_unparkable(b);
        return why ? err_set(e, ERR_USAGE, 0, "this box cannot be parked: %s", why) : 0;
}

enum {
        NEW = API_BEGIN_NEW,
        PARKED = API_BEGIN_PARKED,
        SESSION = API_BEGIN_SESSION,
        RUN_IN = API_BEGIN_RUN_IN,
        STARTS = NEW | PARKED | SESSION | RUN_IN,
        SHELF = API_BEGIN_SHELF,
        VIEW = API_BEGIN_VIEW
};

/* The order is that of what each needs: doors are made when nothing waits any more, the plan shows them. */
static const struct {
        int (*prepare)(struct cordon_box *b, struct err *e);
        unsigned who;
        bool again; /* from here on it is repeated for each wall */
} steps[] = {
        { find_state, STARTS | SHELF, false },
        { check_policy, STARTS | SHELF | VIEW, false },
        { look_at_host, STARTS | SHELF, false },
        { api_places, STARTS | SHELF | VIEW, false },
        { api_recording, STARTS, false },
        { api_canaries, NEW | SESSION, false }, /* a run in a session has the session's */
        { take_grants, NEW | SESSION, false },
        { api_make_doors, NEW | PARKED | SESSION, false },
        { check_wall, STARTS, true },
        { make_plan, STARTS | SHELF | VIEW, true },
        { check_tracing, STARTS, true },
        { api_label, STARTS, true },
        { check_parkable, PARKED | SHELF, true },
        { api_recipe_make, SESSION, true },
        { begin_run, STARTS, true },
};
enum { STEPS = sizeof steps / sizeof *steps };

/* Also 0 while the vault is opened. */
static int go_on(struct cordon_box *b, struct err *e)
{
        for (; b->step < STEPS; b->step++) {
                if (!(steps[b->step].who & b->begins))
                        continue;
                if (steps[b->step].prepare(b, e) < 0)
                        return -1;
                if (b->opens_vault)
                        return 0;
        }

        return 0;
}

int api_begin(struct cordon_box *b, unsigned as, struct err *e)
{
        b->begins = as;
        b->step = b->tried = 0;
        b->first_error.code = ERR_NONE;
        return go_on(b, e);
}

/* With the wall that is to be tried now. */
static int begin_again(struct cordon_box *b, struct err *e)
{
        for (b->step = 0; !steps[b->step].again;)
                b->step++;
        return go_on(b, e);
}

/* The second wall of `auto` was tried already; of a policy that states a wall it may be an answer. */
static bool next_wall_holds(struct cordon_box *b)
{
        struct err e;
        enum wall_kind next = wall_choice(WALL_AUTO, 1);
        const struct checked_policy *c = b->policy->checked; /* NULL: that is why it failed */
        if (!c || policy_wall(c) != wall_choice(WALL_AUTO, 0) || wall_check_host(next, &b->facts, &e) < 0)
                return false;

        struct plan *p = api_plan(b, next, &e);
        plan_free(p);
        return p != NULL;
}

/* The start failed for good. */
static void fail_start(struct cordon_box *b, struct err *e)
{
        if (b->first_error.code != ERR_NONE && e->code == ERR_HOST)
                *e = b->first_error; /* of no wall: the strongest one's reason is the one to mend */

        api_host_hint(b, next_wall_holds(b), e);
        memcpy(&b->start_error, e, sizeof *e);
        b->start_failed = b->over = true;
        api_unmake_doors(b, false);
}

/* `wall auto` tries the next wall only if the host forbids this one, and reports the first failure. */
static void next_start(struct cordon_box *b)
{
        struct err e = box_result(b->box)->error;
        bool parked = box_result(b->box)->parked && b->c.handle_count == 0;
        b->tried += !parked;
        bool again = parked || (wall_of(b) && wall_refused_by_host(&e));
        if (parked) /* it ended in between: nothing was used up */
                (void) snprintf(b->cold_why, sizeof b->cold_why, "the parked box ended: %.120s", e.what);

        box_free(b->box);
        b->box = NULL;
        if (again && b->first_error.code == ERR_NONE)
                b->first_error = e;

        if (!again || begin_again(b, &e) < 0)
                fail_start(b, &e);
}

void api_box_over(struct cordon_box *b)
{
        const struct box_result *r = box_result(b->box);
        if (r->out.end == CORDON_NOT_STARTED)
                api_explain_exec(b);

        if (r->out.end == CORDON_FAILED && !r->out.attested)
                next_start(b);
        else
                b->over = true;
}

void api_box_begin(struct cordon_box *b)
{
        struct err e;
        if (go_on(b, &e) < 0)
                fail_start(b, &e);
}

int cordon_box_start_async(cordon_box *b, cordon_error *pe)
{
        struct err *e = to_err(pe);
        if (b->c.park && b->box && (b->over || api_parked_keep(b, e) < 0))
                return err_set(e, ERR_WALL, 0, "the parked box has ended");

        if (b->box || b->opens_vault)
                return err_set(e, ERR_USAGE, 0, "this box was started before");

        unsigned as = b->session ? RUN_IN : b->c.park ? PARKED : b->c.session ? SESSION : NEW;
        b->over = b->start_failed = false;
        if (api_begin(b, as, e) == 0)
                return 0;

        fail_start(b, e);
        b->over = false;
        return -1;
}
