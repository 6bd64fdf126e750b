/* SPDX-License-Identifier: MIT */
/* keeper/label_files.c - the files that a labelled run can write get its label before it can write what it
 * has read: `write` doors, `out` handles, and the overlay of `edit` doors, whose label goes on with an apply.
 */
#include "keeper/internal.h"
#include "stamp/stamp.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int stamp_path(struct box *b, const char *path, struct err *e)
{
        char real[PATH_MAX];
        return stamp_add(b->c.cx, realpath(path, real) ? real : path, &b->run.r.label, keeper_run(&b->run),
                         e);
}

static int stamp_doors(struct box *b, struct err *e)
{
        size_t n;
        const struct door *d = policy_doors(b->c.policy, &n);
        for (size_t i = 0; i < n; i++)
                if (d[i].kind == DOOR_WRITE && stamp_path(b, d[i].path, e) < 0)
                        return -1;
        return 0;
}

/* A pipe or terminal has no path to keep a label: who reads it has the result. */
static int stamp_handles(struct box *b, struct err *e)
{
        for (unsigned i = 0; i < b->c.handle_count; i++) {
                const struct box_handle *h = &b->c.handles[i];
                const struct door *d = filter_door(&b->run, DOOR_OUT, h->name);
                if (d && !d->flow.endorse && /* that one is judged when it is whole: endorse.c */
                    stamp_add_file(b->c.cx, h->fd, &b->run.r.label, keeper_run(&b->run), e) < 0)
                        return -1;
        }
        return 0;
}

static int stamp_overlay(struct box *b, struct err *e)
{
        char path[PATH_MAX];
        const struct work_place *p = b->work && b->c.plan->edits ? work_places(b->work) : NULL;
        if (!p || strlen(p->path) >= sizeof path)
                return 0;

        memcpy(path, p->path, strlen(p->path) + 1);
        *strrchr(path, '/') = '\0'; /* the overlay of all doors */
        return stamp_path(b, path, e);
}

int keeper_label_files(struct box *b, struct err *e)
{
        if (label_is_empty(&b->run.r.label) || b->remote) /* another keeper's: session_labels.c */
                return 0;
        return stamp_doors(b, e) < 0 || stamp_handles(b, e) < 0 || stamp_overlay(b, e) < 0 ? -1 : 0;
}

/* Without the label what it writes would count as public: it ends. */
void keeper_label_rises(struct box *b, const struct label *to)
{
        struct err e;
        if (label_within(to, &b->run.r.label))
                return;

        label_join(&b->run.r.label, to);
        if (keeper_label_files(b, &e) < 0) {
                b->run.r.error = e;
                if (b->session)
                        box_kill(b);
                else
                        keeper_kill_now(b);
        }

        for (struct box *one = b->runs; one; one = one->sibling)
                keeper_label_rises(one, to);
}
