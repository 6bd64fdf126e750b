/* SPDX-License-Identifier: MIT */
/* run/keeper/session_wire.c - the first message of a session to the keeper of a run in it, and what that does
 * with it. */
#include "run/keeper/session_wire.h"
#include "base/fd.h"
#include "base/wire/wire.h"
#include "run/keeper/internal.h"

#include <errno.h>

#define FIELD(m) WIRE_NUMBER(struct session_joined, m)
static const struct wire_field joined[] = { FIELD(id),
                                            FIELD(leader),
                                            FIELD(layers),
                                            FIELD(memory_by_group),
                                            FIELD(procs_by_group),
                                            FIELD(cpu_by_group),
                                            FIELD(host_uid),
                                            FIELD(host_gid),
                                            WIRE_STRING(struct session_joined, label),
                                            WIRE_STRING(struct session_joined, error) };
const struct wire_form session_joined_form = WIRE_FORM(WIRE_SESSION_JOINED, 2, struct session_joined, joined);

static void take_over(struct box *b, const struct session_joined *j)
{
        b->joining = false;
        b->ready = true;
        b->id = j->id;
        b->leader = j->leader;
        b->layers = j->layers;
        b->start.host_uid = j->host_uid;
        b->start.host_gid = j->host_gid;
        b->run.r.memory_by_group = j->memory_by_group;
        b->run.r.procs_by_group = j->procs_by_group;
        b->run.r.cpu_by_group = j->cpu_by_group;
}

int session_fits(const struct box_config *c, const struct label *session, struct err *e)
{
        if (!c->plan->net || label_within(&c->label, session))
                return 0;

        (void) err_set(e, ERR_USAGE, 0, "this run is handed data whose label the session does not have");
        return err_hint(e, "label it in the policy of the session: its broker judges all runs alike");
}

/* It goes on in what the runs before it left. */
static int begin_labelled(struct box *b, const struct session_joined *j, struct err *e)
{
        struct label l = label_of(j->label);
        if (session_fits(&b->c, &l, e) < 0)
                return -1;

        label_join(&b->run.r.label, &l);
        if (!label_within(&b->c.label, &l) && wall_label(&b->session->child, &b->c.label) < 0)
                return err_set(e, ERR_IO, errno, "the session does not take the label of this run");
        return 0;
}

int session_joined(struct box *b, struct err *e)
{
        struct session_joined j;
        if (!fd_await(b->child.control, POLLIN, 0)) {
                keeper_wait_for(b, b->child.control, POLLIN);
                return 0;
        }

        int spare = -1, r = wire_take(b->child.control, &session_joined_form, &j, &spare);
        b->child.spare = spare;
        if (r != 1 || j.error[0] || spare < 0)
                return err_set(e, ERR_GONE, 0, "%s",
                               r == 1 && j.error[0] ? j.error : "the session ended before this run began");

        take_over(b, &j);
        return begin_labelled(b, &j, e) < 0 ? -1 : 1;
}
