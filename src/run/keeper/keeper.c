/* SPDX-License-Identifier: MIT */
/* run/keeper/keeper.c - a box as its caller sees it: created, queried for its result, freed. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/host/host.h"
#include "run/keeper/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The GPUs among the devices of its plan. */
static void name_gpus(const struct plan *p, char *ret, size_t cap)
{
        size_t n = 0;
        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_DEVICE && policy_gpu_is_card(p->steps[i].path) && n < cap)
                        n += (size_t) snprintf(ret + n, cap - n, "%s%s", n ? " " : "",
                                               strrchr(p->steps[i].path, '/') + 1);
}

/* The run's part of the configuration. */
static void take_run(struct box *b)
{
        const struct box_config *c = &b->c;
        b->run.began_ns = clock_mono_ns();
        keeper_label_since(b);
        b->run.r.recording = c->recording.name != NULL;
        b->run.r.module_code = c->module_code;
        b->run.r.label = c->label;
        name_gpus(c->plan, b->run.r.gpus, sizeof b->run.r.gpus);
        (void) snprintf(b->run.r.name, sizeof b->run.r.name, "%s", c->name[0] ? c->name : c->plan->box);
        b->run.log_on = c->io.out[0] < 0 && !c->io.sink;
}

/* A box that is parked by the plan of another process has no run yet, and a warm interpreter in it that may
 * be denied something all the same. */
static void fill_no_order(struct box *b)
{
        b->no_words[0] = "spare";
        b->no_order = (struct plan_order){ .argv = b->no_words,
                                           .launch = b->no_words,
                                           .envp = b->no_words + 1,
                                           .exec = b->no_words,
                                           .cwd = "/" };
        if (b->c.plan->order)
                return;

        b->parked_plan = *b->c.plan;
        b->parked_plan.order = &b->no_order;
        b->c.plan = &b->parked_plan;
}

struct box *keeper_new(const struct box_config *c)
{
        struct box *b = calloc(1, sizeof *b);
        if (!b)
                return NULL;

        b->c = *c;
        b->run.box = b;
        b->run.c = &b->c;
        b->child = (struct wall_child){
                .pid = -1, .pidfd = -1, .control = -1, .spare = -1, .birth = -1, .host_proc = -1
        };
        b->janitor = LIMIT_NO_JANITOR;
        b->private.dir = b->private.users = -1;
        b->late[0] = b->late[1] = CHILD_NONE;
        b->session_line = b->ahead = b->replaced = b->waker = b->peers = -1;
        for (unsigned i = 0; i < CLIENTS_MAX; i++)
                b->ending[i] = -1;

        b->run.staged = b->run.calls = b->run.tty = b->registry = b->held = b->name_lock = b->client =
                b->epoll = b->wait.fd = b->pending = -1;
        b->broker = (struct broker_line){ .process = CHILD_NONE,
                                          .control = -1,
                                          .ledger = -1,
                                          .writer = CHILD_NONE,
                                          .causes = -1,
                                          .trust = -1 };
        for (unsigned i = 0; i < HANDLES_MAX; i++)
                b->run.memfd[i] = -1;

        for (unsigned i = 0; i < 3; i++)
                b->run.inside.stdio[i] = b->run.ahead[i] = -1;

        for (unsigned i = 0; i < SLOT__COUNT; i++)
                b->watched[i].fd = -1;

        b->run.tick_ms = -1;
        limit_group_init(&b->group);
        b->run.in = b->run.out[0] = b->run.out[1] = (struct pump){ .from = -1, .to = -1 };
        result_begin(&b->run);
        b->run.r.wall = c->plan->wall;
        fill_no_order(b);
        take_run(b);
        return b;
}

struct box *box_start(const struct box_config *c, struct err *e)
{
        struct box *b = keeper_new(c);
        if (b)
                keeper_begin(b);
        else
                (void) err_set(e, ERR_MEMORY, 0, "no memory for a box");

        return b;
}

void box_order(struct box *b, const struct box_config *c)
{
        b->c = *c;
        b->c.park = true;
        b->start.plan = c->plan;
        take_run(b);
        b->run.r.parked = b->ordered = true;
        b->run.r.warm = keeper_is_warm(b);
        keeper_begin(b);
}

const struct box_result *box_result(const struct box *b) { return &b->run.r; }
void box_explain(struct box *b, const char *hint) { (void) err_hint(&b->run.r.error, "%s", hint); }

bool box_is_up(const struct box *b) { return b->run.up; }
const char *box_run_id(const struct box *b) { return b->run.r.run; }

static void checked_done(struct checked *c)
{
        buf_done(&c->as);
        buf_done(&c->cut);
        buf_done(&c->findings);
}

void box_free(struct box *b)
{
        if (!b)
                return;

        keeper_see_off(b);
        if (b->session || b->c.session)
                session_leave(b);

        fd_close(&b->waker);
        fd_close(&b->pending);
        fd_close(&b->replaced);
        free(b->inbound);
        free(b->run.rows);
        free(b->edits);
        work_private_remove(&b->private);
        keeper_copies_close(b);
        registry_told_done(&b->told);
        host_slow_free(b->run.slow);
        pump_close(&b->run);
        handles_close(&b->run);
        record_free(&b->run);
        buf_done(&b->run.log);
        buf_done(&b->handover.block);
        buf_done(&b->run.reports);
        for (int i = 0; i < 2; i++)
                checked_done(&b->run.checked[i]);
        for (int i = 0; b->run.checked_out && i < HANDLES_MAX; i++)
                checked_done(&b->run.checked_out[i]);
        free(b->run.checked_out);
        free(b->run.r.effects);
        arena_done(&b->run.texts);
        arena_done(&b->run.draft);
        free(b);
}
