/* SPDX-License-Identifier: MIT */
/* run/keeper/starting.c - the phases of a start, from the name of the box to the moment its payload may run.
 * None of them waits: a phase that needs an answer of another process returns 0 and is called again. */
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

enum { RECORD_MS = 2000, AGAIN_US = 1000, WARM_MS = 60000 };

bool keeper_is_warm(const struct box *b) { return b->c.park && b->c.plan->warm_count > 0; }

static int record_start(struct box *b, struct err *e)
{
        if (keeper_is_new_phase(b) && (names_claim(b, e) < 0 || record_new(&b->run, e) < 0))
                return -1;

        int r = record_required(&b->run, keeper_waits_too_long(b, RECORD_MS), e);
        if (r == 0)
                keeper_wait_us(b, AGAIN_US);

        return r;
}

int starting_record(struct box *b, struct err *e) { return b->c.park ? 1 : record_start(b, e); }

/* The broker first: it gets ready while the rest is created. */
int starting_make(struct box *b, struct err *e)
{
        bool runs = !b->c.park && !b->c.session;
        if (replaced_watch(b, e) < 0 || gates_open(b, e) < 0 || (!b->c.park && inbound_open(b, e) < 0) ||
            (runs && handles_given(&b->run, e) < 0) || broker_start(b, e) < 0 || keys_start(b, e) < 0 ||
            (runs && pump_open(&b->run, e) < 0) || (keeper_is_warm(b) && pump_make_ahead(&b->run, e) < 0) ||
            handles_open(&b->run, e) < 0 || keeper_copies_open(b, e) < 0 || keeper_work_begin(b, e) < 0 ||
            keeper_label_out(b, e) < 0)
                return -1;

        return keeper_groups_come_first(b) && keeper_groups_make(b, false, e) < 0 ? -1 : 1;
}

int starting_fill(struct box *b, struct err *e)
{
        return b->c.park || b->c.session ? 1 : handles_fill(&b->run, e);
}

/* A box that trusts an authority of its own needs it before its root is built. */
int starting_trust(struct box *b, struct err *e) { return b->c.plan->authority ? broker_ready(b, e) : 1; }

/* Groups that init enters after its birth. */
static bool groups_are_late(const struct box *b)
{
        return !keeper_groups_come_first(b) && !(b->c.plan->without & WITHOUT_CGROUP);
}

static void fill_start(struct box *b, bool joins_late)
{
        const struct box_config *c = &b->c;
        b->start = (struct wall_start){ .plan = c->plan,
                                        .order = c->park || c->session ? &b->no_order : c->plan->order,
                                        .spare = c->session ? WALL_SPARE_MANY
                                                 : c->park  ? WALL_SPARE_ONE
                                                            : WALL_SPARE_NONE,
                                        .cx = c->cx,
                                        .edits = b->edits,
                                        .copies = b->copy_fds,
                                        .io = &b->run.inside,
                                        .trust_fd = b->broker.trust,
                                        .bundle_bytes = b->broker.bundle_bytes,
                                        .cgroup_fd = b->group.v2,
                                        .groups_late = joins_late,
                                        .sampled = !joins_late && keeper_groups_hold(b) & WALL_SAMPLES,
                                        .die_with_thread = c->single_thread,
                                        .tell = c->observe != BOX_OBSERVE_OFF,
                                        .watch = c->observe == BOX_OBSERVE_DENIALS ||
                                                 c->observe == BOX_OBSERVE_ALL,
                                        .watch_all = c->observe == BOX_OBSERVE_ALL,
                                        .front = c->signals_stay_in,
                                        .own_core = c->tenant.own_core,
                                        .rows = c->rows,
                                        .columns = c->columns,
                                        .caller_uid = c->uid,
                                        .caller_gid = c->gid,
                                        .host_uid = c->uid,
                                        .host_gid = c->gid };
        if (c->root)
                b->start.host_uid = b->start.host_gid =
                        wall_host_id_in(c->tenant.id_first, c->tenant.id_count);
        keeper_private_make(b);
}

int starting_clone(struct box *b, struct err *e)
{
        fill_start(b, groups_are_late(b) || keeper_groups_are_joined(b));
        if (b->c.root)
                pump_own(&b->run, b->start.host_uid, b->start.host_gid);

        if (wall_start(&b->start, &b->child, e) < 0)
                return -1;

        (void) keeper_run(&b->run);
        return 1;
}

int starting_birth(struct box *b, struct err *e)
{
        int r = wall_born(&b->start, &b->child, e);
        if (r == 0)
                keeper_wait_for(b, b->child.birth, POLLIN);

        if (r != 1)
                return r;

        fd_close(&b->child.birth);
        fd_close(&b->child.host_proc);

        /* init waits for its maps, and for its groups only when its walls are up. */
        if (groups_are_late(b) && keeper_groups_make(b, true, e) < 0)
                return -1;

        return keeper_groups_enter(b, e) < 0 ? -1 : 1;
}

int starting_release(struct box *b, struct err *e)
{
        int r = broker_ready(b, e);
        if (r == 1)
                r = keys_ready(b, e);
        if (r != 1)
                return r;

        if (wall_release(&b->child, keeper_groups_hold(b), e) < 0)
                return -1;

        for (int i = 0; i < 3; i++)
                fd_close(&b->run.inside.stdio[i]);

        fd_close(&b->broker.trust);
        return 1;
}

/* ---- a parked box gets its run ---- */

int starting_park(struct box *b, struct err *e)
{
        if (b->session)
                return session_spare(b, e);

        if (!b->c.park && !b->c.session)
                return 1;

        if (b->init_gone || b->child.control < 0)
                return err_set(e, ERR_WALL, 0, "the parked box ended before it had a run");

        if (keeper_is_warm(b) && !b->ready && keeper_waits_too_long(b, WARM_MS))
                return err_set(e, ERR_WALL, 0, "the interpreter was not ready after %d s", WARM_MS / 1000);

        return b->c.session ? b->run.up : b->ready && b->ordered;
}

int starting_name(struct box *b, struct err *e) { return b->ordered ? record_start(b, e) : 1; }

int starting_streams(struct box *b, struct err *e)
{
        if (!b->ordered)
                return 1;

        if (keeper_is_new_phase(b)) {
                if ((!b->session && inbound_open(b, e) < 0) || handles_given(&b->run, e) < 0 ||
                    pump_open(&b->run, e) < 0 ||
                    (b->session ? handles_open(&b->run, e) < 0 || keeper_label_out(b, e) < 0
                                : keeper_label_pending(b, e) < 0))
                        return -1;
                if (b->c.root)
                        pump_own(&b->run, b->start.host_uid, b->start.host_gid);
        }

        return handles_fill(&b->run, e);
}

/* init makes the terminal; its other end is opened here. 1, 0: not there yet, -1. */
static int take_terminal(struct box *b, struct err *e)
{
        struct run *run = &b->run;
        const struct wall_child *init = b->session ? &b->session->child : &b->child;
        if (keeper_is_new_phase(b)) {
                if (wall_tty(init, b->c.rows, b->c.columns) < 0)
                        return err_set(e, ERR_WALL, errno, "requesting a terminal: %s", strerror(errno));
                b->wants_tty = true;
        }

        for (int i = 0; run->tty >= 0 && i < 3; i++)
                if (run->inside.stdio[i] < 0)
                        run->inside.stdio[i] = ioctl(run->tty, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);

        if (run->tty >= 0 && run->inside.stdio[2] < 0)
                return err_set(e, ERR_WALL, errno, "opening the terminal: %s", strerror(errno));

        return run->tty >= 0;
}

/* init first: it must know the limits before the payload can run. */
int starting_order(struct box *b, struct err *e)
{
        const struct plan_order *o = b->c.plan->order;
        int r = b->ordered && o->tty ? take_terminal(b, e) : 1;
        if (!b->ordered || r != 1)
                return r;

        if (b->handover.block.n == 0) {
                if (keeper_is_warm(b))
                        wall_handover_words(&b->handover, o, b->run.one_output);
                else
                        wall_handover_seal(&b->handover, o);
                causes_changed(b);
                if (wall_run(b->session ? &b->session->child : &b->child, b->leader, b->id, &o->limits) < 0)
                        return err_set(e, ERR_WALL, errno, "ordering the run: %s", strerror(errno));
        }

        if (b->session && b->session->remote && !b->passed_on) {
                keeper_wait_for(b, b->child.control, POLLIN);
                return 0;
        }

        struct wall_stdio streams = b->run.inside;
        if (!b->session)
                streams.handle_count = 0; /* the spare has them */

        r = wall_handover(b->child.spare, &b->handover, &streams);
        if (r < 0)
                return err_set(e, ERR_WALL, errno, "sending the run order: %s", strerror(errno));

        if (r == 0) {
                keeper_wait_for(b, b->child.spare, POLLOUT);
                return 0;
        }

        b->handed_over = true;
        for (int i = 0; i < 3; i++)
                fd_close(&b->run.inside.stdio[i]);

        return 1;
}
