/* SPDX-License-Identifier: MIT */
/* run/api/api_touch.c - `rule touch`: which labelled files and directories a box does not have until it
 * touches them. Only what a mount over one path covers whole: a place with another name, or one that the box
 * can write in, labels the run from its start. */
#include "base/dir.h"
#include "base/fd.h"
#include "base/str.h"
#include "effect/stamp/stamp.h"
#include "run/api/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LOOKED_AT_MAX = 65536, DEPTH_MAX = 64 };

static bool is_file_door(const struct door *d) { return d->kind >= DOOR_READ && d->kind <= DOOR_WRITE; }

/* A door by another name than the file's own may be a second way to it. */
static bool is_straight(const struct door *d)
{
        char real[PATH_MAX];
        return realpath(d->path, real) && strcmp(real, d->path) == 0;
}

/* Of all doors: no other way to it, and nothing in it that is opened by itself. */
static bool has_one_way(const struct cordon_box *b, const char *path)
{
        for (const struct door *d = NULL; (d = policy_door_next(b->policy->checked, d));) {
                char real[PATH_MAX];
                if (!is_file_door(d) && d->kind != DOOR_RUN && d->kind != DOOR_SOCK)
                        continue;
                const char *at = d->path ? d->path : "";
                bool inside = path_under(at, path) && strcmp(at, path) != 0;
                bool above = at[0] && realpath(at, real) && path_under(path, real);
                if (inside || (above && (d->kind != DOOR_READ || !is_straight(d))))
                        return false;
        }
        return true;
}

/* Does a file in this directory have a second name, which another door may show? So counts what cannot be
 * listed, is too deep or too much to look at. `left`: names. */
static bool has_links(int dir, unsigned depth, unsigned *left)
{
        DIR_LIST(list, 4096);
        int more = depth == 0 ? -1 : 1;
        while (more > 0 && (more = dir_more(&list, dir)) > 0)
                for (const struct dir_entry *d; (d = dir_next(&list));) {
                        struct stat st;
                        if (strcmp(d->name, ".") == 0 || strcmp(d->name, "..") == 0 || d->type == DT_LNK)
                                continue;
                        if ((*left)-- == 0 || fstatat(dir, d->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                                return true;
                        AUTO_FD(sub, S_ISDIR(st.st_mode)
                                             ? openat(dir, d->name,
                                                      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                             : -1);
                        if (S_ISDIR(st.st_mode) ? sub < 0 || has_links(sub, depth - 1, left)
                                                : st.st_nlink > 1)
                                return true;
                }
        return more < 0;
}

static bool has_one_name(const char *path, const struct stat *st)
{
        unsigned left = LOOKED_AT_MAX;
        if (!S_ISDIR(st->st_mode))
                return S_ISREG(st->st_mode) && st->st_nlink == 1;
        AUTO_FD(dir, open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        return dir >= 0 && !has_links(dir, DEPTH_MAX, &left);
}

static bool can_be_shut(const struct cordon_box *b, const char *path, const char *cwd)
{
        struct stat st;
        char real[PATH_MAX];
        if (lstat(path, &st) < 0 || !realpath(path, real) || strcmp(real, path) != 0)
                return false;
        return !(cwd && path_under(cwd, path)) && has_one_way(b, path) && has_one_name(path, &st);
}

/* Those that lie in another open with it. */
static void take_in(struct cordon_box *b, const char *path, struct label *l)
{
        unsigned n = 0;
        for (unsigned i = 0; i < b->c.shut_count; i++)
                if (path_under(b->c.shut[i].path, path)) {
                        label_join(l, &b->c.shut[i].label);
                        free(b->c.shut[i].path);
                } else {
                        b->c.shut[n++] = b->c.shut[i];
                }
        b->c.shut_count = n;
}

/* False: there is no room for it. */
static bool add_shut(struct cordon_box *b, const char *path, struct label l)
{
        for (unsigned i = 0; i < b->c.shut_count; i++)
                if (path_under(path, b->c.shut[i].path)) {
                        label_join(&b->c.shut[i].label, &l);
                        return true;
                }

        if (b->c.shut_count == PLAN_SHUT_MAX)
                return false;

        AUTO_BUF(kept);
        buf_add(&kept, path, strlen(path) + 1);
        if (kept.failed)
                return false;

        take_in(b, path, &l);
        b->c.shut[b->c.shut_count++] = (struct box_shut){ kept.p, l };
        kept.p = NULL;
        return true;
}

struct touching {
        struct cordon_box *b;
        const struct stamp_index *x;
        const char *cwd;
        struct label known; /* of the door that is looked at */
};

static void shut_or_hand(struct touching *t, const char *path, const struct label *l)
{
        label_join(&t->known, l);
        if (label_is_empty(l) || (can_be_shut(t->b, path, t->cwd) && add_shut(t->b, path, *l)))
                return;
        label_join(&t->b->c.touch_rest, l);
}

static void look_at(struct touching *t, const struct door *d)
{
        struct label door = label_of(d->flow.label), own = stamp_own(t->x, d->path),
                     all = stamp_label(t->x, d->path);
        label_join(&all, &door);
        label_join(&door, &own);
        for (size_t i = 0; i < t->x->n; i++) /* a stamp above counts for all of it */
                if (path_under(d->path, t->x->v[i].path))
                        label_join(&door, &t->x->v[i].label);

        t->known = (struct label){ 0 };
        shut_or_hand(t, d->path, &door);
        for (size_t i = 0; i < t->x->n; i++)
                if (path_under(t->x->v[i].path, d->path) && strcmp(t->x->v[i].path, d->path) != 0)
                        shut_or_hand(t, t->x->v[i].path, &t->x->v[i].label);

        if (!label_within(&all, &t->known))
                label_join(&t->b->c.touch_rest, &all);
}

void api_touch_done(struct cordon_box *b)
{
        for (unsigned i = 0; i < b->c.shut_count; i++)
                free(b->c.shut[i].path);
        free(b->c.shut);
        b->c.shut = NULL;
        b->c.shut_count = 0;
        b->c.touch_rest = (struct label){ 0 };
}

int api_touch(struct cordon_box *b, enum wall_kind wall, const char *cwd, struct err *e)
{
        struct stamp_index x;
        api_touch_done(b);
        if (!policy_rule(b->policy->checked, POLICY_RULE_TOUCH) || !wall_has(wall, WALL_OWN_ROOT))
                return 0;

        if (!(b->c.shut = calloc(PLAN_SHUT_MAX, sizeof *b->c.shut)))
                return err_set(e, ERR_MEMORY, 0, "no memory for labelled places");

        if (stamp_read(b->policy->cx, &x, e) < 0)
                return -1;

        struct touching t = { .b = b, .x = &x, .cwd = cwd };
        for (const struct door *d = NULL; (d = policy_door_of(b->policy->checked, DOOR_READ, d));)
                if (!d->from_stock)
                        look_at(&t, d);
        stamp_done(&x);
        return 0;
}
