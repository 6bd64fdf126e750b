/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/toucher.c - places that are shut until they are touched: see toucher.h. */
#include "wall/linux/observe/toucher.h"

#include "base/fd.h"
#include "base/mountapi.h"
#include "base/str.h"
#include "wall/linux/observe/watched_calls.h"
#include "wall/linux/root/link_walk.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- covers ---- */

int touch_cover(struct wall_init *w, struct err *e)
{
        for (size_t i = 0; i < w->plan->step_count; i++) {
                const struct plan_step *s = &w->plan->steps[i];
                if (s->kind != STEP_SHUT)
                        continue;

                AUTO_FD(place, place_find(w, s->path));
                if (place < 0 && errno == ENOENT)
                        fd_close(&w->shut[s->layer]); /* an optional door, gone meanwhile */
                else if (place < 0 || mount_move(w->shut[s->layer], place) < 0)
                        return wall_fail(e, STAGE_DOORS, "shutting %s", s->path);
        }

        if (w->shut_count == 0 || w->observer)
                return 0;

        if (wall_set_attr(w->root, 0, 0, MOUNT_ATTR_RDONLY) < 0)
                return wall_fail(e, STAGE_ROOT, "closing the new root");
        wall_masks_remove(w);
        return wall_set_attr(w->root, 0, MOUNT_ATTR_RDONLY, 0) < 0
                       ? wall_fail(e, STAGE_ROOT, "closing the new root")
                       : 0;
}

/* ---- the process that takes them off ---- */

/* By the mount's own descriptor: a name could lead to another one by now. */
static unsigned char take_off(const struct wall_init *w, unsigned which)
{
        enum { DETACH = 2 };
        char name[32];
        if (which >= SHUT_MAX || w->shut[which] < 0)
                return 1;
        (void) snprintf(name, sizeof name, "self/fd/%d", w->shut[which]);
        return syscall(SYS_umount2, name, DETACH) < 0;
}

_Noreturn static void serve(const struct wall_init *w, int line)
{
        unsigned char which, failed;
        (void) prctl(PR_SET_NAME, "cordon-touch", 0, 0, 0);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        /* SAFETY: CAP_SYS_ADMIN over the box's own mounts. It reads one byte from init, and no other input.
         */
        bool able = fchdir(w->tasks) == 0 && wall_powers_keep(1u << CAP_SYS_ADMIN) == 0;
        while (read(line, &which, 1) == 1) {
                failed = able ? take_off(w, which) : 1;
                if (write(line, &failed, 1) != 1)
                        break;
        }
        _exit(0);
}

int toucher_begin(struct wall_init *w)
{
        int ends[2];
        if (w->shut_count == 0)
                return 0;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return -1;

        AUTO_FD(its, ends[0]);
        AUTO_FD(ours, ends[1]);
        pid_t pid = (pid_t) syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (pid == 0) {
                fd_close(&ours);
                serve(w, its);
        }

        if (pid < 0)
                return -1;

        w->toucher = TAKE_FD(ours);
        for (unsigned i = 0; i < SHUT_MAX; i++)
                fd_close(&w->shut[i]);
        return 0;
}

static bool uncover(const struct wall_init *w, unsigned which)
{
        unsigned char number = (unsigned char) which, failed = 1;
        return send(w->toucher, &number, 1, MSG_NOSIGNAL) == 1 && read(w->toucher, &failed, 1) == 1 &&
               !failed;
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

        const struct wall_message m = { .word = WALL_SAYS_TOUCHED, .touched = { .which = s->layer } };
        uint32_t bit = 1u << s->layer;
        struct wall_touching *place = free_place(w);
        if (place && !(w->touch_asked & bit) && wall_offer(w->control, &m))
                w->touch_asked |= bit;

        if (place && w->touch_asked & bit)
                *place = (struct wall_touching){ n->id, s->layer };
        else
                watched_answer(w->listener, n->id, EAGAIN, 0); /* the keeper does not listen */
        return true;
}

void touch_open(struct wall_init *w, unsigned which)
{
        if (which >= w->shut_count || w->touched & 1u << which)
                return;

        bool open = uncover(w, which);
        if (open)
                w->touched |= 1u << which;

        for (unsigned i = 0; i < TOUCHING_MAX; i++) {
                struct wall_touching *t = &w->touching[i];
                if (t->id && t->which == which) {
                        watched_answer(w->listener, t->id, open ? 0 : EIO,
                                       open ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0);
                        t->id = 0;
                }
        }
}
