/* SPDX-License-Identifier: MIT */
/* files/work/overlay/scan.c - the changes of an overlay: walks the overlay, and of the lower tree only the
 * parts that the overlay touches, so its time grows with the change and not with the tree. */
#include "base/fd.h"
#include "base/moving.h"
#include "base/str.h"
#include "base/vec.h"
#include "files/work/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

struct scan {
        struct layer *l;
        const struct work_door *d;
        unsigned door;
        struct entries *to;
        struct err *e;
        const char *shut; /* the host's side below it cannot be read; or NULL */
        bool hidden;      /* a directory above is opaque: the box does not see the host's entry */
        unsigned depth;
        mode_t top; /* that the box gave the door's own top */
        size_t len;
        char path[WORK_PATH_MAX];
};

void entries_done(struct entries *v)
{
        free(v->v);
        free(v->twins);
        arena_done(&v->mem);
        *v = (struct entries){ 0 };
}

/* ---- entries ---- */

static int scan_failed(struct scan *s, const char *doing)
{
        char shown[256];
        int sys = errno;
        (void) err_set(s->e, ERR_IO, sys, "%s %s: %s", doing,
                       str_inert(span_str(s->path), shown, sizeof shown), strerror(sys));
        if (sys == EXDEV)
                (void) err_hint(s->e, "a filesystem is mounted there now; take it away first");

        if (sys == ENAMETOOLONG || sys == ELOOP)
                (void) err_hint(s->e,
                                "the box left a path that is too long or too deep: take it away with `cordon "
                                "run --on %s`, or `cordon discard %s`",
                                s->l->run, s->l->run);

        return -1;
}

bool path_below(const char *path, const char *root)
{
        size_t n = strlen(root);
        return strncmp(path, root, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

bool door_is_guarded(const struct work_door *d, const char *path)
{
        for (size_t i = 0; i < d->guard_count; i++)
                if (path_below(path, d->guards[i]))
                        return true;
        return false;
}

bool door_is_stub(const struct work_door *d, const char *path)
{
        for (size_t i = 0; i < d->stub_count; i++)
                if (strcmp(path, d->stubs[i]) == 0)
                        return true;
        return false;
}

/* A removed entry at an `except` would mean that the wall failed: never shown as a change. */
static int add_entry(struct scan *s, unsigned what, const struct node *old, const struct node *now)
{
        struct entries *v = s->to;
        if (door_is_guarded(s->d, s->path))
                return 0;

        if (v->n == WORK_ENTRIES_MAX)
                return err_set(s->e, ERR_LIMIT, 0, "the overlay changes more than %d entries",
                               WORK_ENTRIES_MAX);

        if (vec_room((void **) &v->v, v->n, &v->cap, sizeof *v->v) < 0)
                return err_set(s->e, ERR_MEMORY, 0, "no memory for the changes");

        layer_progress(s->l, "looking for changes", v->n, 0);
        const char *path = arena_copy(&v->mem, span_of(s->path, s->len));
        if (!path)
                return err_set(s->e, ERR_MEMORY, 0, "no memory for the changes");

        v->v[v->n++] = (struct entry){
                .door = s->door, .what = what, .path = path, .old = *old, .now = *now, .shut = s->shut
        };

        return 0;
}

/* Goes to a name below the current path; false: the path would be too long. */
static bool enter_dir(struct scan *s, const char *name, size_t *ret_before)
{
        *ret_before = s->len;
        int n = snprintf(s->path + s->len, sizeof s->path - s->len, "%s%s", s->len ? "/" : "", name);
        if (n < 0 || (size_t) n >= sizeof s->path - s->len) {
                errno = ENAMETOOLONG;
                return false;
        }

        s->len += (size_t) n;
        return true;
}

static void leave_dir(struct scan *s, size_t before)
{
        s->len = before;
        s->path[before] = '\0';
}

static bool too_deep(struct scan *s)
{
        if (s->depth < WORK_DEPTH_MAX)
                return false;
        errno = ELOOP;
        return true;
}

/* A directory of the host; EACCES: it cannot be searched or, if that is needed, listed. */
static int open_below(int lower, const char *name, bool to_list)
{
        struct stat st;
        AUTO_FD(fd, to_list ? tree_dir(lower, name) : tree_place(lower, name));
        return fd < 0 || fstatat(fd, ".", &st, 0) < 0 ? -1 : TAKE_FD(fd);
}

/* Every lower entry that is removed. */
static int add_removed(struct scan *s, int lower, const char *name, const struct node *old)
{
        const struct node none = { 0 };
        if (add_entry(s, WHAT_DELETED, old, &none) < 0)
                return -1;

        if (old->kind != NODE_DIR)
                return 0;

        AUTO_NAMES(list);
        size_t self = s->to->n - 1;
        AUTO_FD(dir, open_below(lower, name, true));
        if (dir < 0 && errno == EACCES) { /* its entries are removed with it, not listed */
                if (s->to->n > 0 && strcmp(s->to->v[self].path, s->path) == 0)
                        s->to->v[self].shut = s->to->v[self].path;
                return 0;
        }

        if (dir < 0 || tree_names(dir, &list) < 0 || too_deep(s))
                return scan_failed(s, "looking below");

        s->depth++;
        for (size_t i = 0; i < list.n; i++) {
                size_t before;
                struct node child;
                if (!enter_dir(s, list.v[i], &before) || tree_look(dir, list.v[i], &child) < 0)
                        return scan_failed(s, "looking below");
                if (child.kind != NODE_NONE && add_removed(s, dir, list.v[i], &child) < 0)
                        return -1;
                leave_dir(s, before);
        }

        s->depth--;
        return 0;
}

static int walk_dir(struct scan *s, int upper, int lower);

/* The box hides entries of a host directory without permission for us: the directory itself is reported. */
static int tell_hidden(struct scan *s, int upper, const char *name)
{
        const struct node none = { 0 };
        struct node now;
        struct entries *v = s->to;
        bool told = v->n > 0 && strcmp(v->v[v->n - 1].path, s->path) == 0;

        if (tree_look(upper, name, &now) < 0)
                return scan_failed(s, "looking at");

        if (!told && add_entry(s, WHAT_UNSEEN, &none, &now) < 0)
                return -1;

        if (told)
                v->v[v->n - 1].shut = s->shut;

        return 0;
}

static int walk_into(struct scan *s, int upper, int lower, const char *name, bool below)
{
        const char *outside = s->shut;
        const bool hidden = s->hidden;
        AUTO_FD(up, tree_dir(upper, name));

        s->hidden |= up >= 0 && xattr_is_opaque(up);
        AUTO_FD(low, up >= 0 && below ? open_below(lower, name, s->hidden) : -1);
        if (up >= 0 && below && low < 0 && errno == EACCES)
                s->shut = arena_str(&s->to->mem, s->path);

        if (up < 0 || (below && low < 0 && !s->shut) || too_deep(s))
                return scan_failed(s, "looking into");

        s->depth++;
        int r = s->shut != outside && s->hidden ? tell_hidden(s, upper, name) : 0;
        if (r == 0)
                r = walk_dir(s, up, low);

        s->depth--;
        s->shut = outside;
        s->hidden = hidden;
        return r;
}

/* No permission for the host's directory: the box's entries in it are reported, compared with unknown. */
static int visit_unseen(struct scan *s, int upper, const char *name, const struct node *now)
{
        const struct node none = { 0 };
        if (add_entry(s, WHAT_UNSEEN, &none, now->whiteout ? &none : now) < 0)
                return -1;
        return now->kind == NODE_DIR ? walk_into(s, upper, -1, name, false) : 0;
}

/* A directory that we created for an `except` counts only if the box put an entry into it. */
static int visit_stub(struct scan *s, int upper, const char *name, const struct node *now)
{
        const struct node none = { 0 };
        size_t first = s->to->n;
        if (now->kind != NODE_DIR || add_entry(s, WHAT_ADDED, &none, now) < 0)
                return now->kind == NODE_DIR ? -1 : 0;

        size_t with = s->to->n;
        if (walk_into(s, upper, -1, name, false) < 0)
                return -1;

        if (s->to->n == with && with > first)
                s->to->n = first;

        return 0;
}

/* Opens a directory or file of the overlay whose mode denies the access we `need`; *mode becomes the mode
 * that the box gave it. Recorded before it is opened: after a kill in between, the next process knows it.
 * SAFETY: it was not a symlink when it was checked, and the box has ended. */
static int open_for_good(struct scan *s, int dir, const char *name, const char *path, mode_t need,
                         mode_t *mode)
{
        mode_t now = *mode;
        bool known = closed_mode(s->l, s->door, path, mode);
        if ((now & need) == need || geteuid() == 0)
                return 0;

        if (!known && closed_keep(s->l, s->door, path, now, s->e) < 0)
                return -1;

        work_step();
        if (tree_set_mode(dir, name, now | need) < 0)
                return scan_failed(s, "opening");

        work_step();
        return 0;
}

/* A file with several hard links is opened for each read instead: they share one mode. */
static int open_entry(struct scan *s, int upper, const char *name, struct node *now)
{
        if (now->kind == NODE_DIR)
                return open_for_good(s, upper, name, s->path, 0700, &now->mode);
        if (now->kind == NODE_FILE && now->links == 1)
                return open_for_good(s, upper, name, s->path, 0400, &now->mode);
        return 0;
}

static int visit_name(struct scan *s, int upper, int lower, const char *name)
{
        struct node now, old = { 0 };
        if (tree_look(upper, name, &now) < 0 || (lower >= 0 && tree_look(lower, name, &old) < 0))
                return scan_failed(s, "looking at");

        if (now.kind == NODE_NONE)
                return 0;

        if (open_entry(s, upper, name, &now) < 0)
                return -1;

        if (s->shut)
                return visit_unseen(s, upper, name, &now);

        if (now.whiteout)
                return old.kind ? add_removed(s, lower, name, &old) : 0;

        if (old.kind == NODE_NONE && door_is_stub(s->d, s->path))
                return visit_stub(s, upper, name, &now);

        if (old.kind == NODE_NONE) {
                if (add_entry(s, WHAT_ADDED, &old, &now) < 0)
                        return -1;
        } else if (old.kind != now.kind) {
                /* The former entries of a directory that was replaced are listed after it. */
                size_t at = s->to->n;
                if (old.kind == NODE_DIR && add_removed(s, lower, name, &old) < 0)
                        return -1;
                if (old.kind != NODE_DIR && add_entry(s, WHAT_TYPE, &old, &now) < 0)
                        return -1;
                if (s->to->n > at) {
                        s->to->v[at].what = WHAT_TYPE;
                        s->to->v[at].now = now;
                }
        } else {
                unsigned what = node_differs(upper, lower, name, name, &now, &old);
                if ((what ? add_entry(s, what, &old, &now)
                          : links_note(s->to, s->door, s->path, &now, s->e)) < 0)
                        return -1;
        }

        return now.kind == NODE_DIR ? walk_into(s, upper, lower, name, old.kind == NODE_DIR) : 0;
}

/* Only the lower names that the overlay also has matter, unless it hides all of them. */
static int walk_dir(struct scan *s, int upper, int lower)
{
        AUTO_NAMES(above);
        AUTO_NAMES(below);
        bool hides = lower >= 0 && s->hidden;
        if (tree_names(upper, &above) < 0 || (hides && tree_names(lower, &below) < 0))
                return scan_failed(s, "listing");

        for (size_t i = 0; i < above.n; i++) {
                size_t before;
                if (!enter_dir(s, above.v[i], &before))
                        return scan_failed(s, "looking below");
                if (visit_name(s, upper, lower, above.v[i]) < 0)
                        return -1;
                leave_dir(s, before);
        }

        for (size_t i = 0; i < below.n; i++) {
                size_t before;
                struct node old;
                if (names_have(&above, below.v[i]))
                        continue;
                if (!enter_dir(s, below.v[i], &before) || tree_look(lower, below.v[i], &old) < 0)
                        return scan_failed(s, "looking below");
                if (old.kind && add_removed(s, lower, below.v[i], &old) < 0)
                        return -1;
                leave_dir(s, before);
        }

        return 0;
}

static int scan_single(struct scan *s, const struct sides *x)
{
        struct node now, old;
        const char *slash = strrchr(s->d->host, '/');
        size_t before;
        if (!enter_dir(s, slash ? slash + 1 : s->d->host, &before) ||
            tree_look(x->upper, x->upper_name, &now) < 0 || tree_look(x->lower, x->lower_name, &old) < 0)
                return scan_failed(s, "looking at");

        if (open_entry(s, x->upper, x->upper_name, &now) < 0)
                return -1;

        if (now.kind == NODE_NONE)
                return old.kind ? add_entry(s, WHAT_DELETED, &old, &now) : 0;

        if (old.kind != now.kind)
                return add_entry(s, old.kind ? WHAT_TYPE : WHAT_ADDED, &old, &now);

        unsigned what = node_differs(x->upper, x->lower, x->upper_name, x->lower_name, &now, &old);
        if (what ==
            WHAT_OWNER) /* the copy has the overlay's owner; a box cannot chown a file to another user */
                return 0;

        return what ? add_entry(s, what, &old, &now) : 0;
}

/* The door itself: the box's changes to its own top. The host's may have changed meanwhile, so it is
 * compared with its state at the start. */
static int scan_top(struct scan *s, const struct sides *x)
{
        struct node now, old;
        size_t before;
        if (tree_look(x->upper, ".", &now) < 0 || tree_look(x->lower, ".", &old) < 0)
                return scan_failed(s, "looking at");

        now.mode = s->top;
        unsigned what = s->d->top && now.mode != (s->d->top & 07777) && now.mode != old.mode ? WHAT_MODE : 0;
        if (!xattr_same(x->upper, x->lower))
                what |= WHAT_XATTR;

        if (!what)
                return 0;

        return enter_dir(s, ".", &before) ? add_entry(s, what, &old, &now) : scan_failed(s, "looking at");
}

/* ---- flags ---- */

/* The start of the components that identify a door by its name: the git directory that it is or lies in,
 * else two components before the end. A file in `hooks` has another meaning if the door is a git
 * directory. */
static const char *telling_part(const char *host)
{
        const char *end = host + strlen(host), *at = end;
        for (const char *git = host; (git = strstr(git, "/.git")) != NULL; git += 5)
                if (git[5] == '/' || git[5] == '\0')
                        return git + 1;

        for (unsigned parts = 0; at > host; at--)
                if (at[-1] == '/' && ++parts == 2)
                        break;

        return at;
}

static unsigned flags_behind(const struct work_door *d, const char *path, enum node_kind kind)
{
        char whole[2 * WORK_PATH_MAX];
        int n = snprintf(whole, sizeof whole, "%s%s%s", telling_part(d->host), d->is_dir ? "/" : "",
                         d->is_dir ? path : "");
        bool fits = n >= 0 && (size_t) n + 1 < sizeof whole;
        unsigned flags = flags_by_name(fits ? whole : path);

        if (kind != NODE_DIR || !fits)
                return flags;

        /* A row for a file (`.env`) does not apply to a directory of that name, except git's rows. */
        memcpy(whole + n, "/", 2);
        return flags_by_name(whole) | (flags & 1u << FLAG_GIT_CONFIG);
}

/* With all of the overlay applied, or with the entries on the symlink's way held back. */
static bool leads_out(const struct sides *x, const char *path, const char *target)
{
        const struct view merged = { x->upper, x->lower }, host = { -1, x->lower };
        return view_leads_out(&merged, path, target) || view_leads_out(&host, path, target);
}

/* Did the box find another version than the host has? */
static bool is_masked(const struct sides *x, const struct entry *n)
{
        const char *name;
        if (!n->old.whiteout && (n->old.kind != NODE_FILE || n->old.size > 0))
                return false;
        AUTO_FD(dir, side_lower(x, n->path, &name));
        return dir >= 0 && tree_is_masked(dir, name, &n->old);
}

/* To git, a directory of any name is a repository if it has these; then its `config` and `hooks` take
 * effect for any git command in it. In `.git` itself most of them change with every commit: the table
 * knows it. */
static bool makes_repository(const struct sides *x, const char *path)
{
        static const char *const parts[] = { "HEAD", "config", "objects", "refs", "commondir" };
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        size_t i = 0, git = sizeof "/.git" - 1, above = slash ? (size_t) (slash - path) : 0;

        while (i < sizeof parts / sizeof *parts && strcasecmp(name, parts[i]) != 0)
                i++;

        bool usual = (above == git - 1 && strncmp(path, ".git", above) == 0) ||
                     (above >= git && strncmp(slash - git, "/.git", git) == 0);
        if (i == sizeof parts / sizeof *parts || usual)
                return false;

        struct view here = { side_upper(x, path, &name), side_lower(x, path, &name) };
        bool hidden, is = view_look(&here, "HEAD", &hidden).kind != NODE_NONE;
        is = is && (view_look(&here, "commondir", &hidden).kind != NODE_NONE ||
                    (view_look(&here, "objects", &hidden).kind != NODE_NONE &&
                     view_look(&here, "refs", &hidden).kind != NODE_NONE));
        view_end(&here);
        return is;
}

/* A new directory inherits the default ACL of its parent, which is the host's. */
static unsigned flags_by_access(const struct sides *x, const struct entry *n)
{
        const char *name, *below;
        AUTO_FD(up, side_upper(x, n->path, &name));
        AUTO_FD(dir, up < 0 ? -1 : tree_dir(up, name));
        AUTO_FD(down, side_lower(x, n->path, &below));
        AUTO_FD(was, down < 0 ? tree_dir(up, ".") : tree_dir(down, n->old.kind == NODE_DIR ? below : "."));
        return dir >= 0 && xattr_gives_access(dir, was) ? 1u << FLAG_ACCESS : 0;
}

static int flag_entry(const struct work_door *d, const struct sides *x, struct entry *n)
{
        const char *name;
        char target[WORK_PATH_MAX];
        n->flags = flags_behind(d, n->path, n->what & WHAT_DELETED ? n->old.kind : n->now.kind);
        n->masked = d->is_dir && is_masked(x, n);
        if (n->what & WHAT_DELETED)
                return 0;

        n->flags |= flags_by_node(&n->old, &n->now);
        if (fold_length(n->path, false) > 0) /* builds and packages bring programs, which run when called */
                n->flags &= ~(1u << FLAG_EXECUTABLE);

        if (d->is_dir && makes_repository(x, n->path))
                n->flags |= 1u << FLAG_GIT_INSIDE;

        if (n->now.kind == NODE_DIR)
                n->flags |= flags_by_access(x, n);

        if (n->link) /* a write to one changes both */
                n->flags |= flags_behind(d, n->link, NODE_FILE);

        bool looks = n->now.kind == NODE_LINK || (n->now.kind == NODE_FILE && flags_wants_content(n->path));
        if (!looks)
                return 0;

        AUTO_FD(dir, side_upper(x, n->path, &name));
        if (dir < 0)
                return -1;

        if (n->now.kind == NODE_LINK) {
                if (tree_link(dir, name, target, sizeof target) < 0)
                        return -1;
                n->flags |= flags_by_link(n->path, target);
                if (d->is_dir && leads_out(x, n->path, target))
                        n->flags |= FLAG_LEAVES;
                return 0;
        }

        enum { LOOK = 1 << 20 };
        AUTO_FD(fd, tree_file(dir, name, true, NULL));
        char *text = fd < 0 ? NULL : malloc(LOOK);
        ssize_t k = text ? fd_read_all(fd, text, LOOK) : -1;
        if (k >= 0)
                n->flags |= flags_by_content(span_of(text, (size_t) k));

        free(text);
        return k < 0 ? -1 : 0;
}

/* Removing a directory removes its entries: it has their flags. */
static void inherit_flags(struct entries *v)
{
        for (size_t i = 0; i < v->n; i++) {
                if (!(v->v[i].what & (WHAT_DELETED | WHAT_TYPE)) || v->v[i].old.kind != NODE_DIR)
                        continue;
                for (size_t k = i + 1;
                     k < v->n && v->v[k].door == v->v[i].door && path_below(v->v[k].path, v->v[i].path); k++)
                        if (v->v[k].what & WHAT_DELETED)
                                v->v[i].flags |= v->v[k].flags;
        }
}

static int open_top(struct scan *s)
{
        struct node top;
        AUTO_FD(dir, layer_door_dir(s->l, s->door));
        if (dir < 0 || tree_look(dir, "upper", &top) < 0)
                return scan_failed(s, "looking at");
        s->top = top.mode;
        return top.kind == NODE_DIR ? open_for_good(s, dir, "upper", ".", 0700, &s->top) : 0;
}

static int walk_door(struct scan *s)
{
        struct sides x;
        if ((s->d->is_dir && open_top(s) < 0) || sides_open(s->l, s->door, &x, s->e) < 0)
                return -1;

        s->hidden = s->d->is_dir && xattr_is_opaque(x.upper);
        int r = s->d->is_dir ? walk_dir(s, x.upper, x.lower) : scan_single(s, &x);
        if (r == 0 && s->d->is_dir)
                r = scan_top(s, &x); /* last: it does not leave its name again */

        sides_close(&x);
        return r;
}

static int scan_door(struct layer *l, size_t door, struct entries *ret, struct err *e)
{
        struct scan *s = calloc(1, sizeof *s);
        if (!s)
                return err_set(e, ERR_MEMORY, 0, "no memory for the changes");

        *s = (struct scan){ .l = l, .d = &l->doors[door], .door = (unsigned) door, .to = ret, .e = e };
        int r = walk_door(s);
        free(s);
        return r;
}

/* Entries of one door, from `first` on. Returns the index after the last. */
static size_t flag_door(const struct layer *l, struct entries *v, size_t first, struct err *e)
{
        struct sides x;
        size_t i = first;
        if (sides_open(l, v->v[first].door, &x, e) < 0)
                return 0;

        bool bad = false;
        for (; !bad && i < v->n && v->v[i].door == v->v[first].door; i++) {
                layer_progress(l, "looking for flags", i, v->n);
                bad = flag_entry(&l->doors[v->v[i].door], &x, &v->v[i]) < 0;
        }

        if (bad)
                (void) err_set(e, ERR_IO, errno, "looking into a changed entry: %s", strerror(errno));

        sides_close(&x);
        return bad ? 0 : i;
}

static int by_place(const void *a, const void *b)
{
        const struct entry *x = a, *y = b;
        return x->door != y->door ? (x->door < y->door ? -1 : 1) : path_order(x->path, y->path);
}

static bool is_sorted(const struct entries *v)
{
        for (size_t i = 1; i < v->n; i++)
                if (by_place(&v->v[i - 1], &v->v[i]) > 0)
                        return false;
        return true;
}

int scan_layer(struct layer *l, struct entries *ret, struct err *e)
{
        int r = 0;
        for (size_t i = 0; r == 0 && i < l->door_count; i++)
                r = scan_door(l, i, ret, e);

        closed_settle(l);
        if (r < 0 || links_find(ret, e) < 0)
                return -1;

        for (size_t i = 0; i < ret->n;)
                if ((i = flag_door(l, ret, i, e)) == 0)
                        return -1;

        inherit_flags(ret);
        if (!is_sorted(ret)) /* the walk sorts, except if a whole directory was hidden */
                qsort(ret->v, ret->n, sizeof *ret->v, by_place);

        ret->flagged = 0;
        for (size_t i = 0; i < ret->n; i++)
                ret->flagged += ret->v[i].flags != 0;

        return 0;
}
