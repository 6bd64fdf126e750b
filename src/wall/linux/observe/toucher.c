/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/toucher.c - places that are shut until they are touched: see toucher.h. */
#include "wall/linux/observe/toucher.h"

#include "base/fd.h"
#include "base/mountapi.h"
#include "base/str.h"
#include "wall/linux/observe/watched_calls.h"
#include "wall/linux/root/link_walk.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- covers ---- */

/* Does it lie in a directory of ours? Then it is a mount there. */
static bool is_on_ours(struct wall_init *w, const char *path)
{
        const char *last;
        int dir = place_open_parent(w, path, &last);
        bool ours = dir >= 0 && place_is_ours(w, dir);
        for (size_t i = 0; dir >= 0 && !ours && i < w->plan->step_count; i++) {
                const struct plan_step *s = &w->plan->steps[i];
                ours = s->kind == STEP_STILL && (size_t) (last - path) == strlen(s->path) + 1 &&
                       path_under(path, s->path);
        }
        wall_forget_parent(w);
        return ours;
}

/* A cover on a mount would lie on the host's own entry, and be gone when a process outside replaces that. So
 * the cover takes its place, on an entry of ours, and the mount comes back when the place opens. */
static int keep_behind(struct wall_init *w, int place, unsigned which)
{
        char name[32];
        AUTO_FD(tree, mount_clone(place, "", AT_RECURSIVE));
        (void) snprintf(name, sizeof name, "self/fd/%d", place);
        if (tree < 0 || fchdir(w->host_proc) < 0 || mount_detach(name) < 0 || chdir("/") < 0)
                return -1;
        w->behind[which] = TAKE_FD(tree);
        return 0;
}

static int cover_place(struct wall_init *w, const struct plan_step *s)
{
        AUTO_FD(place, place_find(w, s->path));
        if (place < 0 && errno == ENOENT) {
                fd_close(&w->shut[s->layer]); /* an optional door, gone meanwhile */
                return 0;
        }

        if (place < 0 || !is_on_ours(w, s->path))
                return place < 0 ? -1 : mount_move(w->shut[s->layer], place);

        if (keep_behind(w, place, s->layer) < 0)
                return -1;
        w->under[s->layer] = place_find(w, s->path);
        return mount_move(w->shut[s->layer], w->under[s->layer]);
}

int touch_cover(struct wall_init *w, struct err *e)
{
        for (size_t i = 0; i < w->plan->step_count; i++) {
                const struct plan_step *s = &w->plan->steps[i];
                if (s->kind == STEP_SHUT && cover_place(w, s) < 0)
                        return wall_fail(e, STAGE_DOORS, "shutting %s", s->path);
        }

        if (w->shut_count == 0 || w->observer || w->covers_ask)
                return 0;

        if (wall_set_attr(w->root, 0, 0, MOUNT_ATTR_RDONLY) < 0)
                return wall_fail(e, STAGE_ROOT, "closing the new root");
        wall_masks_remove(w);
        return wall_set_attr(w->root, 0, MOUNT_ATTR_RDONLY, 0) < 0
                       ? wall_fail(e, STAGE_ROOT, "closing the new root")
                       : 0;
}

/* All or none: without them every lookup of the box is shown to init. */
int touch_devices(struct wall_init *w, struct err *e)
{
        (void) e;
        for (size_t i = 0; i < w->plan->step_count; i++) {
                const struct plan_step *s = &w->plan->steps[i];
                if (s->kind != STEP_SHUT || s->layer >= SHUT_MAX)
                        continue;

                w->shut_asks[s->layer] = wall_fuse_open();
                w->covers_ask = w->shut_asks[s->layer] >= 0;
                if (!w->covers_ask)
                        return 0;
        }
        return 0;
}

/* ---- the process that takes them off ---- */

int toucher_begin(struct wall_init *w)
{
        int ends[2];
        if (w->shut_count == 0)
                return 0;

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
                return -1;

        AUTO_FD(its, ends[0]);
        AUTO_FD(ours, ends[1]);
        pid_t pid = (pid_t) syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (pid == 0) {
                fd_close(&ours);
                touch_serve(w, its);
        }

        if (pid < 0)
                return -1;

        w->toucher = TAKE_FD(ours);
        for (unsigned i = 0; i < SHUT_MAX; i++) {
                fd_close(&w->shut[i]);
                fd_close(&w->behind[i]);
                fd_close(&w->under[i]);
                fd_close(&w->shut_asks[i]); /* its own are the last: should it end, a lookup has an answer */
        }
        return 0;
}

static void order_touch(struct wall_init *w, enum touch_what what, unsigned which)
{
        const struct touch_word word = { (uint8_t) what, (uint8_t) which };
        (void) send(w->toucher, &word, sizeof word, MSG_NOSIGNAL);
}

/* The calls that init itself has kept. */
static void let_on(struct wall_init *w, unsigned which, bool open)
{
        for (unsigned i = 0; i < TOUCHING_MAX; i++) {
                struct wall_touching *t = &w->touching[i];
                if (t->id && t->which == which) {
                        watched_answer(w->listener, t->id, open ? 0 : EIO,
                                       open ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0);
                        t->id = 0;
                }
        }
}

/* Once for each place. False: the keeper does not listen. */
static bool ask_touch(struct wall_init *w, unsigned which)
{
        const struct wall_message m = { .word = WALL_SAYS_TOUCHED, .touched = { .which = which } };
        uint32_t bit = 1u << which;
        if (!(w->touch_asked & bit) && wall_offer(w->control, &m))
                w->touch_asked |= bit;
        return w->touch_asked & bit;
}

void touch_hear(struct wall_init *w)
{
        struct touch_word word;
        if (recv(w->toucher, &word, sizeof word, 0) != sizeof word || word.which >= w->shut_count) {
                fd_close(&w->toucher);
                for (unsigned i = 0; i < w->shut_count; i++)
                        let_on(w, i, false);
                return;
        }

        if (word.what == TOUCH_ASK && !ask_touch(w, word.which))
                order_touch(w, TOUCH_NOT_NOW, word.which);

        if (word.what == TOUCH_OPEN)
                w->touched |= 1u << word.which;

        if (word.what == TOUCH_OPEN || word.what == TOUCH_FAILED)
                let_on(w, word.which, word.what == TOUCH_OPEN);
}

void touch_open(struct wall_init *w, unsigned which)
{
        if (which < w->shut_count && !(w->touched & 1u << which))
                order_touch(w, TOUCH_OPEN, which);
}

/* ---- calls ---- */

static const struct plan_step *step_of(const struct wall_init *w, const char *path)
{
        for (size_t i = 0; i < w->plan->step_count; i++) {
                const struct plan_step *s = &w->plan->steps[i];
                if (s->kind == STEP_SHUT && !(w->touched & 1u << s->layer) && path_under(path, s->path))
                        return s;
        }
        return NULL;
}

static const struct plan_step *leads_behind(const struct wall_init *w, const struct seccomp_notif *n)
{
        char raw[WATCHED_RAW], path[WATCHED_RAW];
        if (!watched_path(w->tasks, n->pid, &n->data, raw))
                return NULL;

        const struct plan_step *s = path_join("", raw, path, sizeof path) ? step_of(w, path) : NULL;
        if (s || leads_straight(raw, true))
                return s;
        return leads_to(n->pid, raw, true, path, sizeof path) == LEADS_THERE ? step_of(w, path) : NULL;
}

static struct wall_touching *free_place(struct wall_init *w)
{
        for (unsigned i = 0; i < TOUCHING_MAX; i++)
                if (w->touching[i].id == 0 || !watched_is_waiting(w->listener, w->touching[i].id))
                        return &w->touching[i];
        return NULL;
}

bool touch_only(const struct wall_init *w, const struct seccomp_notif *n)
{
        return w->shut_count > 0 && !w->s->watch_all && watched_kind(&n->data) == EFFECT_READ;
}

bool touch_take(struct wall_init *w, const struct seccomp_notif *n)
{
        uint32_t all = (uint32_t) ((UINT64_C(1) << w->shut_count) - 1);
        const struct plan_step *s = w->toucher < 0 || w->touched == all ? NULL : leads_behind(w, n);
        if (!s)
                return false;

        struct wall_touching *place = free_place(w);
        if (place && ask_touch(w, s->layer))
                *place = (struct wall_touching){ n->id, s->layer };
        else
                watched_answer(w->listener, n->id, EAGAIN, 0); /* the keeper does not listen */
        return true;
}
