/* SPDX-License-Identifier: MIT */
/* files/work/apply/work_fork.c - copies an overlay, to try two continuations. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void layer_end(struct layer **l) { layer_free(*l); }
#define AUTO_LAYER(name, init) __attribute__((cleanup(layer_end))) struct layer *name = (init)

static int fork_into(const struct layer *from, struct layer *to, struct err *e)
{
        to->keep = to->durable = true;
        to->state = from->state;
        to->start = from->start;
        to->box = from->box ? arena_str(&to->mem, from->box) : NULL;
        to->policy = from->policy ? arena_str(&to->mem, from->policy) : NULL;
        for (size_t i = 0; i < from->ask_count; i++)
                to->asks = layer_append(to, to->asks, &to->ask_count, from->asks[i]);

        for (size_t i = 0; i < from->people_count; i++)
                to->people = layer_append(to, to->people, &to->people_count, from->people[i]);

        for (size_t i = 0; i < from->other_count; i++)
                to->others = layer_append(to, to->others, &to->other_count, from->others[i]);

        for (size_t i = 0; i < from->door_count; i++) {
                const struct work_door *d = &from->doors[i];
                struct work_door *c = &to->doors[to->door_count++];
                *c = (struct work_door){ .host = arena_str(&to->mem, d->host),
                                         .dev = d->dev,
                                         .uuid = d->uuid,
                                         .ino = d->ino,
                                         .is_dir = d->is_dir,
                                         .in_dev = d->in_dev,
                                         .in_ino = d->in_ino,
                                         .in_uuid = d->in_uuid,
                                         .name = d->name ? arena_str(&to->mem, d->name) : NULL,
                                         .top = d->top };
                for (size_t k = 0; k < d->guard_count; k++)
                        c->guards = layer_append(to, c->guards, &c->guard_count, d->guards[k]);
                for (size_t k = 0; k < d->stub_count; k++)
                        c->stubs = layer_append(to, c->stubs, &c->stub_count, d->stubs[k]);
                for (size_t k = 0; k < d->other_count; k++)
                        c->others = layer_append(to, c->others, &c->other_count, d->others[k]);
                char name[32];
                (void) snprintf(name, sizeof name, "door-%zu", i);
                AUTO_FD(dir, layer_door_dir(from, i));
                bool bad = dir < 0 || mkdirat(to->dir, name, 0700) < 0;
                AUTO_FD(made, bad ? -1 : layer_door_dir(to, i));
                if (made < 0 ||
                    copy_tree(dir, d->is_dir ? "upper" : "file", made, d->is_dir ? "upper" : "file", true) <
                            0 ||
                    (d->is_dir && mkdirat(made, "work", 0700) < 0))
                        return err_set(e, ERR_IO, errno, "copying the overlay of %s: %s", d->host,
                                       strerror(errno));
        }

        if ((copy_node(from->dir, "base", to->dir, "base", false) < 0 && errno != ENOENT) ||
            (copy_node(from->dir, "closed", to->dir, "closed", false) < 0 && errno != ENOENT))
                return err_set(e, ERR_IO, errno, "copying the overlay %s: %s", from->run, strerror(errno));

        return layer_write(to, e);
}

/* `from` is freed. */
static int fork_layer(const struct cordon_context *cx, struct layer *taken, const char *new_run,
                      char *ret_run, struct err *e)
{
        AUTO_LAYER(from, taken);
        if (!from)
                return -1;

        if (from->state == LAYER_APPLIED)
                return err_set(e, ERR_USAGE, 0, "the overlay %s has been applied: nothing is left to copy",
                               from->run);

        AUTO_LAYER(to, layer_new(cx, new_run, e));
        if (!to)
                return -1;

        if (fork_into(from, to, e) < 0) {
                struct err none;
                (void) layer_remove(to, &none);
                return -1;
        }

        (void) snprintf(ret_run, WORK_RUN_MAX, "%s", to->run);
        return 0;
}

int work_fork(const struct cordon_context *cx, const char *run, const char *new_run, char *ret_run,
              struct err *e)
{
        return fork_layer(cx, layer_open(cx, run, LAYER_WAITING, e), new_run, ret_run, e);
}

int work_fork_running(const struct cordon_context *cx, const char *run, const char *new_run, struct err *e)
{
        char same[WORK_RUN_MAX];
        AUTO_FD(store, layer_store(cx, e));
        return store < 0 ? -1 : fork_layer(cx, layer_look(store, run, e), new_run, same, e);
}
