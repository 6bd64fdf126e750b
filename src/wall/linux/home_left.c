/* SPDX-License-Identifier: MIT */
/* wall/linux/home_left.c - lists the files that the payload left in its private home, which ends with the
 * box. Only for a report. Called by init after the payload's end, on the tmpfs itself: follows no path of the
 * box. */
#include "base/fd.h"
#include "wall/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LEFT_BYTES = 4096, LEFT_READS = 16 };

struct entry { /* of getdents64() */
        uint64_t ino, next;
        uint16_t length;
        uint8_t type;
        char name[];
};

/* A dot file is mostly a setting or a cache of a program. Exceptions: a word of the command, and files that
 * tools create for people to keep. */
static bool is_meant(const struct plan_order *o, const char *name)
{
        static const char *const made[] = { ".git", ".hg", ".svn", ".venv", ".env", ".github", ".vscode" };
        for (size_t i = 0; i < sizeof made / sizeof *made; i++)
                if (strcmp(made[i], name) == 0)
                        return true;

        for (const char *const *w = o->argv; *w; w++)
                if (strcmp(*w, name) == 0)
                        return true;

        return false;
}

/* A link to a door, or a directory on the way to one. */
static bool is_planned(const struct plan *p, const char *name)
{
        static const char home[] = BOX_HOME "/";
        size_t n = strlen(name);
        for (size_t i = 0; i < p->step_count; i++) {
                const char *path = p->steps[i].path;
                if (p->steps[i].kind == STEP_LINK && strncmp(path, home, sizeof home - 1) == 0 &&
                    strncmp(path + sizeof home - 1, name, n) == 0 && strchr("/", path[sizeof home - 1 + n]))
                        return true;
        }

        return false;
}

static void note_entry(struct wall_end *end, const struct wall_init *w, const struct plan_order *o,
                       const struct entry *x)
{
        bool itself = strcmp(x->name, ".") == 0 || strcmp(x->name, "..") == 0;
        if (itself || (x->name[0] == '.' && !is_meant(o, x->name)) || is_planned(w->plan, x->name))
                return;
        if (end->left++ == 0)
                (void) snprintf(end->left_name, sizeof end->left_name, "%.63s", x->name);
}

void wall_left(const struct wall_init *w, const struct plan_order *order, struct wall_end *end)
{
        _Alignas(uint64_t) char some[LEFT_BYTES];
        AUTO_FD(home, openat(w->scratch, "home", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        for (unsigned i = 0; home >= 0 && i < LEFT_READS; i++) {
                long n = syscall(SYS_getdents64, home, some, sizeof some);
                for (long at = 0; at < n;) {
                        const struct entry *x = (const void *) (some + at);
                        note_entry(end, w, order, x);
                        at += x->length;
                }
                if (n <= 0)
                        return;
        }
}
