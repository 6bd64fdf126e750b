/* SPDX-License-Identifier: MIT */
/* run/keeper/label_in.c - the ways in: all that a run is handed, each with the label of its bytes. What comes
 * later is the answer of a server (broker_labels.c), or a place that opens when it is touched (touches.c). */
#include "base/fd.h"
#include "base/store/store.h"
#include "base/str.h"
#include "effect/stamp/stamp.h"
#include "files/work/work.h"
#include "run/keeper/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ways_in {
        const struct box_config *c;
        const struct stamp_index *x;
        struct label label;
};

static void join(struct ways_in *w, struct label by) { label_join(&w->label, &by); }

static void join_path(struct ways_in *w, const char *path) { join(w, stamp_behind(w->x, path)); }

static bool is_own_file_door(const struct door *d)
{
        return d->kind >= DOOR_READ && d->kind <= DOOR_WRITE && !d->from_stock;
}

/* `rule touch`: what is behind a read door opens later (api_touch.c), and what cannot is in c->touch_rest. */
static bool opens_later(const struct box_config *c, const struct door *d)
{
        return c->shut && d->kind == DOOR_READ && is_own_file_door(d);
}

static bool is_shown_later(const struct box_config *c, const char *path)
{
        size_t n;
        const struct door *d = policy_doors(c->policy, &n);
        for (size_t i = 0; i < n; i++)
                if (opens_later(c, &d[i]) && path_under(path, d[i].path))
                        return true;
        return false;
}

/* The words of the policy. */
static void join_doors(struct ways_in *w)
{
        size_t n;
        const struct door *d = policy_doors(w->c->policy, &n);
        for (size_t i = 0; i < n; i++)
                if (policy_door_hands(&d[i]) && !(w->c->shut && d[i].kind == DOOR_READ))
                        join(w, label_of(d[i].flow.label));
        label_join(&w->label, &w->c->touch_rest);
}

/* Every path that the box sees: files, programs, the command, the image, stock doors. */
static void join_plan(struct ways_in *w)
{
        const struct plan *p = w->c->plan;
        const unsigned uses = RIGHT_READ | RIGHT_WRITE | RIGHT_EXEC;
        if (!p) /* `cordon why` about doors of which no plan can be made */
                return;

        bool mounts = wall_has(p->wall, WALL_OWN_ROOT);
        for (size_t i = 0; mounts && i < p->step_count; i++) {
                const struct plan_step *s = &p->steps[i];
                bool shows = s->kind == STEP_ROOT || s->kind == STEP_BIND || s->kind == STEP_EDIT ||
                             s->kind == STEP_COPY;
                if (shows && !is_shown_later(w->c, s->text))
                        join_path(w, s->text);
        }

        for (size_t i = 0; !mounts && i < p->rule_count; i++)
                if ((p->rules[i].rights | p->rules[i].entries) & uses)
                        join_path(w, p->rules[i].path);
}

/* Files that lie below them, and that the index has at another path or not at all. */
static void join_below(struct ways_in *w)
{
        size_t n;
        unsigned left = STAMP_BELOW_MAX;
        const struct door *d = policy_doors(w->c->policy, &n);
        struct host_slow *slow = w->x->n ? host_slow_read() : NULL;
        for (size_t i = 0; i < n && slow; i++) {
                char real[PATH_MAX];
                if (is_own_file_door(&d[i]) && !opens_later(w->c, &d[i]) && realpath(d[i].path, real) &&
                    !host_slow_covers(slow, real))
                        join(w, stamp_below(w->x, real, &left));
        }
        host_slow_free(slow);
}

static bool is_input(const struct box_config *c, const char *name)
{
        size_t n;
        const struct door *d = policy_doors(c->policy, &n);
        for (size_t i = 0; i < n; i++)
                if (d[i].kind == DOOR_IN && strcmp(d[i].name, name) == 0)
                        return true;
        return false;
}

static void join_handles(struct ways_in *w)
{
        for (unsigned i = 0; i < w->c->handle_count; i++)
                if (is_input(w->c, w->c->handles[i].name))
                        join(w, stamp_of_file(w->x, w->c->handles[i].fd));
}

static void join_stdin(struct ways_in *w) { join(w, stamp_of_file(w->x, w->c->io.in)); }

static void join_file(struct ways_in *w, const char *file)
{
        AUTO_FD(fd, file ? open(file, O_PATH | O_CLOEXEC) : -1);
        join(w, stamp_of_file(w->x, fd));
}

/* Recorded answers, and the addresses of places. */
static void join_texts(struct ways_in *w)
{
        join_file(w, w->c->answers_file);
        join_file(w, w->c->places_file);
}

/* With --on a run goes on in what another wrote, or in a copy of it. */
static void join_overlay(struct ways_in *w)
{
        char state[STORE_PATH_MAX], path[STORE_PATH_MAX + WORK_RUN_MAX + 8], run[WORK_RUN_MAX];
        const char *on = w->c->work_on;
        struct err ignored;
        if (!on[0] || store_path(w->c->cx, state, &ignored) < 0)
                return;

        bool found = w->c->work_copy != WORK_COPY_RUNNING && work_find(w->c->cx, on, run, &ignored) == 0;
        if ((size_t) snprintf(path, sizeof path, "%s/work/%s", state, found ? run : on) < sizeof path)
                join_path(w, path);
}

/* `rule touch`: what has come since behind a door is not shut. */
static void join_since(struct ways_in *w, const struct door *d, const struct stamp *s)
{
        for (unsigned i = 0; i < w->c->shut_count; i++)
                if ((path_under(s->path, w->c->shut[i].path) || path_under(d->path, w->c->shut[i].path)) &&
                    label_within(&s->label, &w->c->shut[i].label))
                        return;
        join(w, s->label);
}

static void join_unshut(struct ways_in *w)
{
        size_t n;
        const struct door *d = policy_doors(w->c->policy, &n);
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; opens_later(w->c, &d[i]) && k < w->x->n; k++)
                        if (path_under(w->x->v[k].path, d[i].path) || path_under(d[i].path, w->x->v[k].path))
                                join_since(w, &d[i], &w->x->v[k]);
}

/* A run in a session of another process has only these of its own. */
static void (*const of_run[])(struct ways_in *w) = { join_handles, join_stdin };
static void (*const of_box[])(struct ways_in *w) = { join_doors, join_plan,    join_below,
                                                     join_texts, join_overlay, join_unshut };

static int label_in(const struct box_config *c, bool box, struct label *ret, uint64_t *ret_index,
                    struct err *e)
{
        struct stamp_index x;
        if (box)
                box_label_settle(c->cx);
        *ret_index = stamp_version(c->cx); /* first: a change meanwhile is looked at again */
        if (stamp_read(c->cx, &x, e) < 0)
                return -1;

        struct ways_in w = { .c = c, .x = &x };
        for (size_t i = 0; i < sizeof of_run / sizeof *of_run; i++)
                of_run[i](&w);
        for (size_t i = 0; box && i < sizeof of_box / sizeof *of_box; i++)
                of_box[i](&w);

        stamp_done(&x);
        *ret = w.label;
        return 0;
}

int box_label_in(const struct box_config *c, struct label *ret, uint64_t *ret_index, struct err *e)
{
        return label_in(c, true, ret, ret_index, e);
}

int keeper_label_in_run(const struct box_config *c, struct label *ret, struct err *e)
{
        uint64_t index;
        return label_in(c, false, ret, &index, e);
}
