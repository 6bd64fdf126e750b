/* SPDX-License-Identifier: MIT */
/* files/work/overlay/merged_view.c - a tree as the box saw it: the overlay over the lower tree; and the
 * targets of symlinks in it. Symlinks are read and never followed: each step is one name beneath a
 * descriptor. */
#include "base/fd.h"
#include "files/work/internal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

struct view view_copy(const struct view *v)
{
        return (struct view){ v->upper < 0 ? -1 : fcntl(v->upper, F_DUPFD_CLOEXEC, 0),
                              v->lower < 0 ? -1 : fcntl(v->lower, F_DUPFD_CLOEXEC, 0) };
}

void view_end(struct view *v)
{
        fd_close(&v->upper);
        fd_close(&v->lower);
}

/* One step down on a side; -1 if it does not exist (any more). */
static void step_down(int *side, const char *name)
{
        int next = *side < 0 ? -1 : tree_dir(*side, name);
        fd_close(side);
        *side = next;
}

void view_down(struct view *v, const char *name, bool hidden)
{
        char opaque[2];
        step_down(&v->upper, name);
        step_down(&v->lower, name);
        if (hidden || (v->upper >= 0 && fgetxattr(v->upper, "user.overlay.opaque", opaque, 2) == 1))
                fd_close(&v->lower);
}

static bool is_there(int side, const char *name, struct node *ret)
{
        return side >= 0 && tree_look(side, name, ret) == 0 && ret->kind != NODE_NONE && !ret->whiteout;
}

struct node view_look(const struct view *v, const char *name, bool *ret_hidden)
{
        struct node above = { 0 }, below = { 0 };
        *ret_hidden = false;
        if (is_there(v->upper, name, &above))
                return above;
        *ret_hidden = above.whiteout;
        return !above.whiteout && is_there(v->lower, name, &below) ? below : (struct node){ 0 };
}

/* ---- targets of symlinks ---- */

struct way {
        const struct view *top;
        struct view here;
        unsigned links;
        char at[WORK_PATH_MAX];       /* here: directories, no symlinks */
        char rest[2 * WORK_PATH_MAX]; /* the rest of the path */
};

enum step { STEP_ON = 0, STEP_ENDS, STEP_OUT };

/* Cuts the first component off `text`; false: none left. */
static bool first_part(char *text, char part[NAME_MAX + 1])
{
        size_t skip = strspn(text, "/"), n = strcspn(text + skip, "/");
        if (n == 0 || n > NAME_MAX)
                return false;

        memcpy(part, text + skip, n);
        part[n] = '\0';
        memmove(text, text + skip + n, strlen(text + skip + n) + 1);
        return true;
}

/* Enters a directory. One that cannot be read may hold anything. */
static enum step enter_name(struct way *w, const char *name, bool hidden)
{
        size_t n = strlen(w->at);
        if (snprintf(w->at + n, sizeof w->at - n, "/%s", name) >= (int) (sizeof w->at - n))
                return STEP_OUT;
        view_down(&w->here, name, hidden);
        return w->here.upper < 0 && w->here.lower < 0 ? STEP_OUT : STEP_ON;
}

/* From the top to a directory, through no symlink. */
static enum step go_to(struct way *w, char *path)
{
        char part[NAME_MAX + 1];
        enum step s = STEP_ON;
        view_end(&w->here);
        w->here = view_copy(w->top);
        w->at[0] = '\0';
        while (s == STEP_ON && first_part(path, part)) {
                bool hidden;
                const struct node n = view_look(&w->here, part, &hidden);
                s = n.kind == NODE_DIR ? enter_name(w, part, hidden) : STEP_ENDS;
        }

        return s;
}

static enum step step_up(struct way *w)
{
        char path[sizeof w->at];
        char *slash = strrchr(w->at, '/');
        if (!slash)
                return STEP_OUT;

        *slash = '\0';
        memcpy(path, w->at, sizeof path);
        return go_to(w, path);
}

/* Its target takes the place of its name; an absolute one leaves. */
static enum step step_through(struct way *w, const char *name, bool below)
{
        char target[WORK_PATH_MAX], rest[sizeof w->rest];
        int side = below ? w->here.lower : w->here.upper;
        if (++w->links > WORK_LINKS_MAX || tree_link(side, name, target, sizeof target) < 0 ||
            target[0] == '/')
                return STEP_OUT;

        memcpy(rest, w->rest, sizeof rest);
        return snprintf(w->rest, sizeof w->rest, "%s/%s", target, rest) >= (int) sizeof w->rest ? STEP_OUT
                                                                                                : STEP_ON;
}

static bool is_blind(int side, const char *name)
{
        struct node n;
        return side >= 0 && tree_look(side, name, &n) < 0;
}

static enum step take_step(struct way *w, const char *name)
{
        bool hidden;
        struct node above = { 0 };
        if (strcmp(name, ".") == 0)
                return STEP_ON;

        if (strcmp(name, "..") == 0)
                return step_up(w);

        if (is_blind(w->here.upper, name) || is_blind(w->here.lower, name))
                return STEP_OUT;

        const struct node n = view_look(&w->here, name, &hidden);
        if (n.kind == NODE_LINK)
                return step_through(w, name, !is_there(w->here.upper, name, &above));

        return n.kind == NODE_DIR ? enter_name(w, name, hidden) : STEP_ENDS;
}

/* After a name that does not exist: if it becomes a directory later, ".." climbs. */
static bool climbs_out(char *rest)
{
        char part[NAME_MAX + 1];
        while (first_part(rest, part))
                if (strcmp(part, "..") == 0)
                        return true;
        return false;
}

bool view_leads_out(const struct view *top, const char *path, const char *target)
{
        char part[NAME_MAX + 1], parent[WORK_PATH_MAX];
        struct way w = { .top = top, .here = { -1, -1 } };
        const char *slash = strrchr(path, '/');
        int n = snprintf(parent, sizeof parent, "%.*s", (int) (slash ? slash - path : 0), path),
            m = snprintf(w.rest, sizeof w.rest, "%s", target);
        if (n < 0 || m < 0 || (size_t) n >= sizeof parent || (size_t) m >= sizeof w.rest)
                return true;

        enum step s = target[0] == '/' ? STEP_OUT : go_to(&w, parent);
        bool placed = s != STEP_ENDS; /* else its own directory does not exist, and it is dangling */
        while (s == STEP_ON && first_part(w.rest, part))
                s = take_step(&w, part);

        view_end(&w.here);
        bool left = w.rest[strspn(w.rest, "/")] != '\0'; /* a name that is too long, or does not exist */
        return s == STEP_OUT || (s == STEP_ON && left) || (placed && climbs_out(w.rest));
}
