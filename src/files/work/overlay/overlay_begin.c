/* SPDX-License-Identifier: MIT */
/* files/work/overlay/overlay_begin.c - an overlay at both ends of a run: created before the box, sealed or
 * removed after it. */
#include "base/fd.h"
#include "base/store/store.h"
#include "effect/gate/gate.h"
#include "files/work/internal.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

struct work_run {
        const struct cordon_context *cx;
        struct layer *l;
        bool fresh;             /* made for this run */
        uint64_t free_at_start; /* bytes of the overlay's filesystem */
        size_t door_count;
        struct work_place *places;
        size_t *numbers; /* of the requested doors, in the overlay */
};

/* The stub for a guard that does not exist: an empty file if the name looks like a file's, else an empty
 * directory. Either way nothing can be created there. */
static bool looks_like_file(const char *name)
{
        size_t n = strlen(name);
        return strchr(name + (name[0] == '.'), '.') || (n > 2 && strcmp(name + n - 2, "rc") == 0);
}

static int make_stub(int upper, const char *name, bool last)
{
        if (!last || !looks_like_file(name))
                return mkdirat(upper, name, last ? 0555 : 0755);
        return mknodat(upper, name, S_IFREG | 0444, 0);
}

static int guard_in_the_way(const char *path, struct err *e)
{
        (void) err_set(e, ERR_DOOR, ELOOP,
                       "cannot hold %s as it is: a part of it is a symbolic link or no directory", path);
        return err_hint(e, "name what it leads to after `except`");
}

/* How many components of the path exist: *ret_whole, all of them. Returns -1 if another file type is in
 * the way. */
static int parts_there(struct view *w, const char *guard, bool *ret_whole, struct err *e)
{
        char part[NAME_MAX + 1];
        *ret_whole = false;
        for (const char *at = guard; *at;) {
                bool hidden;
                size_t n = strcspn(at, "/");
                if (n == 0 || n > NAME_MAX)
                        return err_set(e, ERR_DOOR, ENAMETOOLONG,
                                       "an `except` path has a name that is too long");
                memcpy(part, at, n);
                part[n] = '\0';
                struct node here = view_look(w, part, &hidden);
                if (here.kind == NODE_NONE)
                        return 0;
                if (here.kind == NODE_LINK || (at[n] && here.kind != NODE_DIR))
                        return guard_in_the_way(guard, e);
                at += n + (at[n] == '/');
                if (*at)
                        view_down(w, part, hidden);
        }

        *ret_whole = true;
        return 0;
}

/* The parent directory of a new entry may be inaccessible to its own owner: then it is opened until
 * closed_restore(), which the next process also calls if we are killed before. */
static int open_to_make(struct layer *l, const struct work_door *d, int dir, const char *path, struct err *e)
{
        char parent[WORK_PATH_MAX] = ".";
        const char *slash = strrchr(path, '/');
        struct stat st;
        if (fstat(dir, &st) < 0)
                return -1;

        if ((st.st_mode & 0700) == 0700 || geteuid() == 0)
                return 0;

        if (slash)
                (void) snprintf(parent, sizeof parent, "%.*s", (int) (slash - path), path);

        if (closed_keep(l, (unsigned) (d - l->doors), parent, st.st_mode & 07777, e) < 0)
                return -1;

        return fchmod(dir, (st.st_mode & 07777) | 0700);
}

/* One component: a directory that exists only in the lower tree is copied up, so that entries can be
 * created in it; a component that does not exist becomes a stub. */
static int make_part(struct layer *l, struct work_door *d, struct view *w, const char *path, bool last,
                     struct err *e)
{
        bool hidden;
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        struct node above = { 0 }, here = view_look(w, name, &hidden);
        if (tree_look(w->upper, name, &above) < 0)
                return -1;

        bool makes = here.kind == NODE_NONE || above.kind == NODE_NONE;
        if ((makes && open_to_make(l, d, w->upper, path, e) < 0) ||
            (hidden && unlinkat(w->upper, name, 0) < 0))
                return -1;

        if (here.kind == NODE_NONE) {
                d->stubs = layer_append(l, d->stubs, &d->stub_count, path);
                if (make_stub(w->upper, name, last) < 0)
                        return -1;
        } else if (above.kind == NODE_NONE && copy_node(w->lower, name, w->upper, name, false) < 0) {
                return -1;
        }

        if (!last)
                view_down(w, name, hidden);

        return w->upper < 0 ? -1 : 0;
}

/* Makes every component of a guard's path exist when the box starts: missing ones are created in the
 * overlay, never on the host, and recorded so that no diff shows them. */
static int place_guard(struct layer *l, struct work_door *d, const struct view *top, const char *guard,
                       struct err *e)
{
        bool whole = false;
        char path[WORK_PATH_MAX];
        if (snprintf(path, sizeof path, "%s", guard) >= (int) sizeof path)
                return err_set(e, ERR_DOOR, ENAMETOOLONG, "an `except` path is too long");

        AUTO_VIEW(look, top);
        if (parts_there(&look, guard, &whole, e) < 0)
                return -1;

        if (whole)
                return 0;

        AUTO_VIEW(w, top);
        for (char *slash = strchr(path, '/');; slash = strchr(slash + 1, '/')) {
                if (slash)
                        *slash = '\0';
                if (make_part(l, d, &w, path, !slash, e) < 0)
                        return err_set(e, ERR_IO, errno, "holding the place of %s: %s", guard,
                                       strerror(errno));
                if (!slash)
                        return 0;
                *slash = '/';
        }
}

static int place_guards(struct layer *l, size_t door, struct err *e)
{
        struct work_door *d = &l->doors[door];
        if (!d->is_dir || d->guard_count == 0)
                return 0;

        AUTO_FD(dir, layer_door_dir(l, door));
        AUTO_FD(upper, dir < 0 ? -1 : tree_dir(dir, "upper"));
        AUTO_FD(lower, open_host(d, e));
        if (lower < 0)
                return -1;

        if (upper < 0)
                return err_set(e, ERR_IO, errno, "opening the overlay of %s", d->host);

        const struct view top = { upper, lower };
        for (size_t i = 0; i < d->guard_count; i++)
                if (place_guard(l, d, &top, d->guards[i], e) < 0)
                        return -1;

        return 0;
}

static bool is_file(int dir, const char *name, int file)
{
        struct node n;
        struct stat st;
        return tree_look(dir, name, &n) == 0 && fstat(file, &st) == 0 && n.ino == st.st_ino &&
               n.dev == st.st_dev;
}

/* A single file: its copy is the overlay. SAFETY: `host` is the descriptor that was checked. By name, a
 * process that can write beside it could have a symlink copied, which the wall would follow, or another
 * file (TOCTOU). */
static int copy_single(struct layer *l, struct work_door *d, int host, int dir, struct err *e)
{
        char path[PATH_MAX];
        char *slash = fd_path(host, path, sizeof path) < 0 ? NULL : strrchr(path, '/');
        if (!slash)
                return err_set(e, ERR_DOOR, errno, "opening the door %s: %s", d->host, strerror(errno));

        *slash = '\0';
        AUTO_FD(parent, open(path[0] ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (parent < 0 || !is_file(parent, slash + 1, host))
                return err_set(e, ERR_DOOR, ESTALE, "%s changed while the box was starting", d->host);

        if (copy_place(host, dir, "file") < 0)
                return err_set(e, ERR_IO, errno, "copying %s into the overlay: %s", d->host, strerror(errno));

        struct stat st;
        if (fstat(parent, &st) < 0)
                return err_set(e, ERR_IO, errno, "opening the directory of %s: %s", d->host, strerror(errno));

        d->in_dev = tree_fsid(parent);
        d->in_uuid = tree_uuid(parent);
        d->in_ino = st.st_ino;
        d->name = arena_str(&l->mem, slash + 1);
        return d->name ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for an overlay");
}

static int make_parts(struct layer *l, struct work_door *d, int host, int dir, struct err *e)
{
        if (!d->is_dir)
                return copy_single(l, d, host, dir, e);

        struct stat st;
        AUTO_FD(lower, open_host(d, e));
        if (lower < 0)
                return -1;

        /* The box sees the top of the overlay as the top of the door. */
        if (fstat(lower, &st) < 0 || mkdirat(dir, "upper", 0700) < 0 || mkdirat(dir, "work", 0700) < 0)
                return layer_cannot(e, "making the overlay of", d->host);

        AUTO_FD(upper, tree_dir(dir, "upper"));
        if (upper < 0 || fchmod(upper, st.st_mode & 07777) < 0)
                return layer_cannot(e, "making the overlay of", d->host);

        d->top = st.st_mode;
        (void) !fchown(upper, st.st_uid, st.st_gid);
        (void) xattr_copy(lower, upper);
        return 0;
}

/* The kernel marks an overlay that is not synced at its end, and then refuses to mount it again.
 * overlay_seal.c checks for the damage that the mark warns of. */
static int make_work_again(const struct work_door *d, int dir, struct err *e)
{
        if (!d->is_dir)
                return 0;
        if (remove_tree(dir, "work") < 0 || mkdirat(dir, "work", 0700) < 0)
                return layer_cannot(e, "making the overlay of", d->host);
        return 0;
}

/* A program is pinned by a mount over its name. Another hard link, which an earlier box on this overlay
 * may have made, would let the next box change the program. Hard links of the host's files do not matter:
 * writing to one copies it up. */
static int refuse_second_names(int dir, const struct work_door_ask *ask, struct err *e)
{
        AUTO_FD(upper, tree_dir(dir, "upper"));
        if (upper < 0 && errno != ENOENT)
                return err_set(e, ERR_IO, errno, "the overlay of %s: %s", ask->host, strerror(errno));

        for (const char *const *x = ask->programs; upper >= 0 && x && *x; x++) {
                const char *last;
                struct node n;
                AUTO_FD(parent, tree_parent(upper, *x, &last));
                if (parent < 0 && tree_is_missing(errno))
                        continue; /* the overlay has none of it */
                if (parent < 0 || tree_look(parent, last, &n) < 0)
                        return err_set(e, ERR_IO, errno, "the overlay of %s: %s: %s", ask->host, *x,
                                       strerror(errno));
                if (n.kind != NODE_FILE || n.links <= 1)
                        continue;
                (void) err_set(e, ERR_DOOR, 0,
                               "the program %s/%s is a file with several names in the overlay: the box could "
                               "change it by another and run it again",
                               ask->host, *x);
                return err_hint(e, "add a `run` line of it if that is meant; or run a copy of it");
        }

        return 0;
}

static int add_door(struct layer *l, const struct work_door_ask *ask, size_t *ret_door, struct err *e)
{
        size_t i = 0;
        while (i < l->door_count && strcmp(l->doors[i].host, ask->host) != 0)
                i++;

        if (i == WORK_DOORS_MAX)
                return err_set(e, ERR_POLICY, 0, "more than %d edit doors", WORK_DOORS_MAX);

        struct work_door *d = &l->doors[i];
        *ret_door = i;
        bool known = i < l->door_count;
        struct stat st;
        AUTO_FD(host, open(ask->host, O_PATH | O_CLOEXEC));
        if (host < 0 || fstat(host, &st) < 0 || st.st_dev != ask->dev || st.st_ino != ask->ino)
                return err_set(e, ERR_DOOR, ESTALE, "%s changed while the box was starting", ask->host);

        if (ask->is_dir && xattr_hides_below(host)) {
                (void) err_set(e, ERR_DOOR, 0,
                               "%s has an attribute by which files in it would be hidden from the box",
                               ask->host);
                return err_hint(e,
                                "did a box with a `write` door leave it? `setfattr -x user.overlay.opaque "
                                "%.120s` takes it away",
                                ask->host);
        }

        if (known && (!tree_is_on(host, d->dev, d->uuid) || d->ino != ask->ino || d->is_dir != ask->is_dir)) {
                (void) err_set(e, ERR_DOOR, ESTALE, "%s is not what it was when the overlay %s was made",
                               d->host, l->run);
                return err_hint(e, "look at it with `cordon diff %s`, then apply or discard it", l->run);
        }

        if (!known) {
                l->door_count++;
                d->host = arena_str(&l->mem, ask->host);
                d->dev = tree_fsid(host);
                d->uuid = tree_uuid(host);
                d->ino = ask->ino;
                d->is_dir = ask->is_dir;
        }

        for (const char *const *g = ask->guards; g && *g; g++)
                d->guards = layer_append(l, d->guards, &d->guard_count, *g);

        char name[32];
        (void) snprintf(name, sizeof name, "door-%zu", i);
        AUTO_FD(dir, l->mem.failed ? -1 : store_dir(l->dir, name, e));
        if (dir < 0)
                return -1;

        if ((known ? make_work_again(d, dir, e) : make_parts(l, d, host, dir, e)) < 0 ||
            (known && refuse_second_names(dir, ask, e) < 0))
                return -1;

        return place_guards(l, i, e);
}

static int name_places(struct work_run *w, struct err *e)
{
        char state[STORE_PATH_MAX];
        if (store_path(w->cx, state, e) < 0)
                return -1;

        for (size_t i = 0; i < w->door_count; i++) {
                struct stat st;
                AUTO_FD(dir, layer_door_dir(w->l, w->numbers[i]));
                if (dir < 0 || fstat(dir, &st) < 0 ||
                    asprintf(&w->places[i].path, "%s/work/%s/door-%zu", state, w->l->run, w->numbers[i]) < 0)
                        return err_set(e, ERR_IO, errno, "opening the overlay %s", w->l->run);
                w->places[i].dev = st.st_dev;
                w->places[i].ino = st.st_ino;
        }

        return 0;
}

static void run_free(struct work_run *w)
{
        if (!w)
                return;

        for (size_t i = 0; w->places && i < w->door_count; i++)
                free(w->places[i].path);

        free(w->places);
        free(w->numbers);
        layer_free(w->l);
        free(w);
}

/* A new one, that of an earlier run, or a copy of that under this run's id. */
static struct layer *new_or_old(const struct work_ask *ask, struct err *e)
{
        if (!ask->on)
                return layer_new(ask->cx, ask->run, e);

        char copy[WORK_RUN_MAX];
        if ((ask->copy == WORK_COPY_RUNNING && work_fork_running(ask->cx, ask->on, ask->run, e) < 0) ||
            (ask->copy == WORK_COPY_ENDED && work_fork(ask->cx, ask->on, ask->run, copy, e) < 0))
                return NULL;

        return layer_open(ask->cx, ask->copy ? ask->run : ask->on, LAYER_WAITING, e);
}

/* If more people asked than there is room for, everybody counts as one of them: "*". */
static void add_people(struct layer *l, const struct gate_people *p)
{
        enum { ROOM = sizeof p->v / sizeof *p->v };
        for (unsigned i = 0; p && i < p->n; i++) {
                char number[24];
                bool known = false;
                (void) snprintf(number, sizeof number, "%" PRIu64, i < ROOM ? p->v[i] : 0);
                if (i >= ROOM)
                        memcpy(number, "*", 2);
                for (size_t k = 0; k < l->people_count; k++)
                        known |= strcmp(l->people[k], number) == 0;
                if (!known)
                        l->people = layer_append(l, l->people, &l->people_count, number);
        }
}

static int open_layer(struct work_run *w, const struct work_ask *ask, struct err *e)
{
        w->fresh = !ask->on || ask->copy;
        w->l = new_or_old(ask, e);
        if (!w->l)
                return -1;

        if (w->l->state == LAYER_APPLIED) {
                (void) err_set(e, ERR_USAGE, 0, "the overlay %s has been applied", w->l->run);
                return err_hint(e, "a run without --on begins where that left the files");
        }

        if (ask->on && (refuse_torn(w->l, e) < 0 || refresh_layer(w->l, e) < 0))
                return -1;

        w->l->keep |= ask->keep;
        w->l->state = LAYER_OPEN;
        w->l->durable = ask->on != NULL;
        if (w->fresh) {
                w->l->session = ask->session;
                w->l->box = arena_str(&w->l->mem, ask->box);
                w->l->policy = arena_str(&w->l->mem, ask->policy);
        }

        for (const char *const *x = ask->asks; x && *x; x++)
                w->l->asks = layer_append(w->l, w->l->asks, &w->l->ask_count, *x);

        add_people(w->l, ask->people);
        w->free_at_start = work_room(w);

        /* Not the coarse clock: newer kernels have finer file times, and a file written just before would
         * count as changed. No program of the box has seen a change within a tick from here. */
        (void) clock_gettime(CLOCK_REALTIME, &w->l->start);
        return 0;
}

int work_people(struct work_run *w, const struct gate_people *people, struct err *e)
{
        size_t before = w->l->people_count;
        add_people(w->l, people);
        return w->l->people_count == before ? 0 : layer_write(w->l, e);
}

static int fill_run(struct work_run *w, const struct work_ask *ask, struct err *e)
{
        w->door_count = ask->door_count;
        w->places = calloc(ask->door_count, sizeof *w->places);
        w->numbers = calloc(ask->door_count, sizeof *w->numbers);
        if (!w->places || !w->numbers)
                return err_set(e, ERR_MEMORY, 0, "no memory for the overlays");

        if (open_layer(w, ask, e) < 0)
                return -1;

        for (size_t i = 0; i < ask->door_count; i++)
                if (add_door(w->l, &ask->doors[i], &w->numbers[i], e) < 0)
                        return -1;

        return closed_restore(w->l, e) < 0 || layer_write(w->l, e) < 0 ? -1 : name_places(w, e);
}

struct work_run *work_begin(const struct work_ask *ask, struct err *e)
{
        struct work_run *w = calloc(1, sizeof *w);
        if (!w) {
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the overlays");
                return NULL;
        }

        w->cx = ask->cx;
        if (fill_run(w, ask, e) == 0)
                return w;

        work_drop(w);
        return NULL;
}

const struct work_place *work_places(const struct work_run *w) { return w->places; }

void work_drop(struct work_run *w)
{
        struct err none;
        if (w && w->l && w->fresh)
                (void) layer_remove(w->l, &none);
        run_free(w);
}

int work_end(struct work_run *w, struct work_counts *ret, struct err *e)
{
        AUTO_ENTRIES(found);
        w->l->durable = false; /* like any file that a program leaves; overlay_seal.c finds the losses of a
                                  power cut */
        *ret = (struct work_counts){ 0 };
        (void) snprintf(ret->run, sizeof ret->run, "%s", w->l->run);
        struct timespec when;
        int r = scan_layer(w->l, &found, e);
        ret->kept = true;
        ret->entries = found.n;
        ret->flagged = found.flagged;
        if (r == 0 && found.n == 0 && !w->l->keep && !journal_landed(w->l, &when)) {
                r = layer_remove_if_empty(w->l) ? 0 : layer_remove(w->l, e);
                ret->kept = false;
        } else if (r == 0) {
                r = seal_scanned(w->l, &found, e);
        }

        run_free(w);
        return r;
}

/* ---- disk usage ---- */

uint64_t work_room(const struct work_run *w)
{
        struct statfs fs;
        return fstatfs(w->l->dir, &fs) == 0 ? (uint64_t) fs.f_bfree * (uint64_t) fs.f_bsize : UINT64_MAX;
}

bool work_is_over(const struct work_run *w, uint64_t max_bytes, uint64_t max_entries)
{
        struct disk_tally t = { .max_bytes = max_bytes, .max_entries = max_entries };
        for (size_t i = 0; i < w->door_count && !tally_is_full(&t); i++) {
                AUTO_FD(dir, layer_door_dir(w->l, w->numbers[i]));
                int top = dir < 0                             ? -1
                          : w->l->doors[w->numbers[i]].is_dir ? tally_open(dir, "upper")
                                                              : TAKE_FD(dir);
                t.blind |= top < 0 && !tree_is_missing(errno);
                if (top >= 0)
                        tally_dir(&t, top);
        }

        if (tally_is_full(&t) || !t.blind)
                return tally_is_full(&t);

        /* A directory that we cannot read: then the loss of free space on the whole filesystem counts. */
        uint64_t room = work_room(w);
        return w->free_at_start != UINT64_MAX && w->free_at_start > room &&
               w->free_at_start - room > max_bytes;
}
