/* SPDX-License-Identifier: MIT */
/* run/keeper/label_out.c - the ways out: all to which a labelled run can write has its label before the run
 * can write what it has read. A file is stamped; so is a pipe, for the box that reads it; the overlay of
 * `edit` doors and kept output pass their label on when they are used. What keeps none (a terminal, a socket)
 * is noted in the result. The label of a request that leaves is the broker's: broker_labels.c. */
#include "base/fd.h"
#include "base/store/store.h"
#include "effect/stamp/stamp.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int stamp_path(struct box *b, const char *path, struct err *e)
{
        char real[PATH_MAX];
        return stamp_add(b->c.cx, realpath(path, real) ? real : path, &b->run.r.label, keeper_run(&b->run),
                         e);
}

static int stamp_file(struct box *b, int fd, struct err *e)
{
        return stamp_add_file(b->c.cx, fd, &b->run.r.label, keeper_run(&b->run), e);
}

static int stamp_doors(struct box *b, struct err *e)
{
        size_t n;
        const struct door *d = policy_doors(b->c.policy, &n);
        uint64_t unchanged = keeper_copies_unchanged(b);
        for (size_t i = 0; i < n; i++)
                if (d[i].kind == DOOR_WRITE && stamp_path(b, d[i].path, e) < 0)
                        return -1;
        keeper_copies_stamped(b, unchanged);
        return 0;
}

static int stamp_handles(struct box *b, struct err *e)
{
        for (unsigned i = 0; i < b->c.handle_count; i++) {
                const struct box_handle *h = &b->c.handles[i];
                const struct door *d = filter_door(&b->run, DOOR_OUT, h->name);
                if (d && !d->flow.endorse && /* that one is judged when it is whole: endorse.c */
                    stamp_file(b, h->fd, e) < 0)
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

/* Only a box that reads the pipe has the label of what it reads; who reads a terminal sees where it is from.
 * The null device keeps nothing. */
static bool loses_label(int fd)
{
        struct stat st;
        if (isatty(fd) || fstat(fd, &st) < 0)
                return false;
        return S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
}

int keeper_label_streams(struct box *b, struct err *e)
{
        for (unsigned i = 0; i < 2; i++) {
                int fd = b->c.io.out[i];
                if (fd < 0)
                        continue;
                bool loses = loses_label(fd);
                b->run.r.streams_unlabelled |= loses ? 1u << i : 0;
                if (stamp_file(b, fd, e) < 0 && !loses) /* without a state nobody keeps a pipe's label */
                        return -1;
        }
        return 0;
}

/* STATE/logs/RUN, before it exists: `cordon logs` reads it from the keeper until then. */
static int stamp_log(struct box *b, struct err *e)
{
        char state[STORE_PATH_MAX], path[PATH_MAX];
        if (!b->run.log_on || !b->c.keep_output)
                return 0;
        if (store_path(b->c.cx, state, e) < 0)
                return -1;
        (void) snprintf(path, sizeof path, "%s/logs/%s", state, keeper_run(&b->run));
        return stamp_path(b, path, e);
}

static int (*const ways[])(struct box *b, struct err *e) = { stamp_doors,   stamp_handles,
                                                             stamp_overlay, keeper_label_streams,
                                                             stamp_log,     keeper_label_pending };

int keeper_label_out(struct box *b, struct err *e)
{
        if (label_is_empty(&b->run.r.label) || b->remote) /* another keeper's: session_labels.c */
                return 0;

        uint64_t before = stamp_version(b->c.cx);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
                if (ways[i](b, e) < 0)
                        return -1;
        if (stamp_version(b->c.cx) != before)
                keeper_label_tell(b);
        return 0;
}

/* Without the label what it writes would count as public: it ends. */
void keeper_label_rises(struct box *b, const struct label *to)
{
        struct err e;
        if (b->remote)
                session_label_rises(b);
        if (b->remote || label_within(to, &b->run.r.label))
                return;

        label_join(&b->run.r.label, to);
        if (keeper_label_out(b, &e) < 0) {
                b->run.r.error = e;
                if (b->session)
                        box_kill(b);
                else
                        keeper_kill_now(b);
        }

        for (struct box *one = b->runs; one; one = one->sibling)
                keeper_label_rises(one, to);
}
