/* SPDX-License-Identifier: MIT */
/* run/api/dry_box.c - the box that a start with these doors would make, for views: its plan, its image, and
 * what it holds from its start. Nothing is started and nothing made. */
#include "run/api/internal.h"

#include <errno.h>

int api_dry_box(cordon_policy *p, struct dry_box *ret, struct err *e)
{
        static const char *const nothing[] = { "/dev/null", NULL }; /* doors are judged, no command is */
        cordon_box *b = cordon_box_new(p);
        *ret = (struct dry_box){ .box = b };
        if (!b || cordon_box_command(b, nothing) < 0)
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the doors");

        b->dry = b->judges_only = true;
        b->places_later = !p->has_stage;
        b->places = p->places; /* lent */
        b->c.stage = p->has_stage ? p->staged.stage : b->c.stage;
        ret->plan = api_plan(b, wall_choice(policy_wall(p->checked), 0), e);
        b->places = NULL;
        api_plan_set(b, ret->plan);
        return ret->plan ? 0 : -1;
}

void api_dry_done(struct dry_box *d)
{
        plan_free(d->plan);
        cordon_box_free(d->box);
        *d = (struct dry_box){ 0 };
}
