/* SPDX-License-Identifier: MIT */
/* run/keeper/doors_used.c - the doors that a run used, from all its observed effects (--observe all). For the
 * ledger, so that `cordon policy tighten --log` can report unused doors. A report: no decision uses it. A
 * door counts as used for a named path and for its target on the host: a symlink's target, the interpreter of
 * a script. */
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEEN_MOST = 4000 /* the supervisor reports some more than that, and no further */ };

struct marks {
        struct run *run;
        bool *used; /* by index of policy_doors() */
        const struct door *doors;
};

static void mark_door(const struct marks *m, enum effect_kind kind, const char *path)
{
        struct effect f = { .kind = kind, .target = path };
        struct decision d = policy_decide(m->run->c->policy, &f);
        if (d.answer == ANSWER_ALLOW && d.door)
                m->used[d.door - m->doors] = true;
}

static void mark_path(const struct marks *m, enum effect_kind kind, const char *path)
{
        char real[PATH_MAX];
        AUTO_FD(at, outside_find(m->run, path, real, sizeof real));
        const char *names[] = { path, at >= 0 && strcmp(real, path) != 0 ? real : NULL };

        for (size_t i = 0; i < sizeof names / sizeof *names && names[i]; i++) {
                mark_door(m, kind, names[i]);
                if (kind == EFFECT_RUN)
                        mark_door(m, EFFECT_READ, names[i]);
        }
}

/* SAFETY: the path is the payload's, and a symlink of its making may lead anywhere by now: to a device with
 * side effects on open, to a FIFO with a waiting writer. Only a regular file that a door lets run is opened.
 */
static int open_program(const struct marks *m, const char *path)
{
        char real[PATH_MAX];
        struct stat st;
        struct effect f = { .kind = EFFECT_RUN, .target = real };
        AUTO_FD(at, outside_find(m->run, path, real, sizeof real));
        if (at < 0 || fstat(at, &st) < 0 || !S_ISREG(st.st_mode) ||
            policy_decide(m->run->c->policy, &f).answer != ANSWER_ALLOW)
                return -1;

        return fd_reopen(at, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

/* The kernel starts a script's interpreter by itself; no call names it. */
static void mark_interpreter(const struct marks *m, const char *path)
{
        char line[256];
        AUTO_FD(fd, open_program(m, path));
        ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
        if (n < 3 || line[0] != '#' || line[1] != '!')
                return;

        line[n] = '\0';
        char *at = line + 2 + strspn(line + 2, " \t");
        at[strcspn(at, " \t\n")] = '\0';
        if (at[0] == '/')
                mark_path(m, EFFECT_RUN, at);
}

static void mark_program(const struct marks *m, const char *path)
{
        mark_path(m, EFFECT_RUN, path);
        mark_interpreter(m, path);
}

bool *keeper_doors_used(struct run *run)
{
        size_t n;
        const struct box_result *r = &run->r;
        struct marks m = { .run = run, .doors = policy_doors(run->c->policy, &n) };
        if (run->c->observe != BOX_OBSERVE_ALL || r->effects_lost || r->effect_count > SEEN_MOST)
                return NULL;

        m.used = calloc(n + 1, sizeof *m.used);
        if (!m.used)
                return NULL;

        for (const char **x = run->c->plan->order->exec; x && *x;
             x++) /* the command itself: no call of its own names it */
                mark_program(&m, *x);

        for (unsigned i = 0; i < r->effect_count; i++) {
                const struct effect *x = &r->effects[i].effect;
                if (x->kind == EFFECT_RUN)
                        mark_program(&m, x->target);
                else if (x->kind == EFFECT_READ || x->kind == EFFECT_WRITE)
                        mark_path(&m, x->kind, x->target);
        }

        return m.used;
}
