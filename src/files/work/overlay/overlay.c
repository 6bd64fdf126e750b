/* SPDX-License-Identifier: MIT */
/* files/work/overlay/overlay.c - creates, describes and removes overlays. An overlay is the user's data: only
 * `discard`, and a run that changed nothing, remove one. */
#include "base/fd.h"
#include "base/store/store.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

enum { META_MAX = 4 << 20 };

static const char *const state_names[] = {
        [LAYER_OPEN] = "open", [LAYER_SEALED] = "sealed", [LAYER_APPLIED] = "applied"
};

static struct layer *layer_alloc(const char *run, struct err *e)
{
        struct layer *l = calloc(1, sizeof *l);
        if (l) {
                l->store = l->dir = l->lock = -1;
                l->doors = calloc(WORK_DOORS_MAX, sizeof *l->doors);
                (void) snprintf(l->run, sizeof l->run, "%s", run);
        }

        if (l && l->doors)
                return l;

        layer_free(l);
        (void) err_set(e, ERR_MEMORY, 0, "no memory for an overlay");
        return NULL;
}

void layer_free(struct layer *l)
{
        if (!l)
                return;

        /* Unlocked, not only closed: a child forked meanwhile also has the descriptor until its exec. */
        if (l->lock >= 0)
                (void) flock(l->lock, LOCK_UN);

        fd_close(&l->lock);
        fd_close(&l->dir);
        fd_close(&l->store);
        free(l->doors);
        arena_done(&l->mem);
        free(l);
}

/* Lists live in the overlay's arena; a full one moves to twice its size. */
char **layer_append(struct layer *l, char **list, size_t *count, const char *text)
{
        size_t n = *count;
        for (size_t i = 0; i < n; i++)
                if (strcmp(list[i], text) == 0)
                        return list;

        char *kept = arena_str(&l->mem, text);
        if (n == 0 || (n & (n + 1)) == 0) { /* 0, 1, 3, 7 ... hold n and their end */
                char **more = arena_alloc(&l->mem, (2 * n + 2) * sizeof *more);
                if (more && n > 0)
                        memcpy(more, list, n * sizeof *more);
                list = more ? more : list;
        }

        if (l->mem.failed || !kept || !list)
                return list;

        list[n] = kept;
        list[n + 1] = NULL;
        *count = n + 1;
        return list;
}

/* ---- meta ---- */

static void append_field(struct buf *out, const char *key, const char *value)
{
        buf_puts(out, key);
        buf_putc(out, '=');
        buf_add(out, value, strlen(value) + 1);
}

static void put_number(struct buf *out, const char *key, uint64_t value)
{
        char text[32];
        (void) snprintf(text, sizeof text, "%" PRIu64, value);
        append_field(out, key, text);
}

static void put_door(struct buf *out, const struct work_door *d)
{
        append_field(out, "door", d->host);
        append_field(out, "kind", d->is_dir ? "dir" : "file");
        put_number(out, "fsid", d->dev);
        put_number(out, "uuid", d->uuid);
        put_number(out, "ino", d->ino);
        put_number(out, "top", d->top);
        if (d->name) {
                put_number(out, "in-fsid", d->in_dev);
                put_number(out, "in-uuid", d->in_uuid);
                put_number(out, "in-ino", d->in_ino);
                append_field(out, "name", d->name);
        }

        for (size_t i = 0; i < d->guard_count; i++)
                append_field(out, "guard", d->guards[i]);

        for (size_t i = 0; i < d->stub_count; i++)
                append_field(out, "stub", d->stubs[i]);

        for (size_t i = 0; i < d->other_count; i++)
                buf_add(out, d->others[i], strlen(d->others[i]) + 1);
}

static int write_whole(int dir, const char *name, const struct buf *text, bool durable)
{
        char fresh[64];
        (void) snprintf(fresh, sizeof fresh, "%s.new", name);
        AUTO_FD(fd, openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || fd_write_all(fd, text->p, text->n) < 0 || (durable && fsync(fd) < 0) ||
            renameat(dir, fresh, dir, name) < 0)
                return -1;

        return durable ? fsync(dir) : 0;
}

int layer_write(struct layer *l, struct err *e)
{
        AUTO_BUF(out);
        put_number(&out, "version",
                   l->people_count ? LAYER_VERSION
                   : l->ask_count  ? LAYER_VERSION - 1
                                   : LAYER_VERSION - 2);
        append_field(&out, "run", l->run);
        append_field(&out, "box", l->box ? l->box : "");
        append_field(&out, "policy", l->policy ? l->policy : "");
        append_field(&out, "state", state_names[l->state]);
        append_field(&out, "keep", l->keep ? "1" : "0");
        if (l->session)
                append_field(&out, "session", "1");

        put_number(&out, "start", (uint64_t) l->start.tv_sec);
        put_number(&out, "start-ns", (uint64_t) l->start.tv_nsec);
        for (size_t i = 0; i < l->ask_count; i++)
                append_field(&out, "ask", l->asks[i]);

        for (size_t i = 0; i < l->people_count; i++)
                append_field(&out, "by", l->people[i]);

        for (size_t i = 0; i < l->other_count; i++)
                buf_add(&out, l->others[i], strlen(l->others[i]) + 1);

        for (size_t i = 0; i < l->door_count; i++)
                put_door(&out, &l->doors[i]);

        if (out.failed || l->mem.failed)
                return err_set(e, ERR_MEMORY, 0, "no memory for an overlay");

        if (write_whole(l->dir, "meta", &out, l->durable) < 0)
                return layer_cannot(e, "writing about the overlay", l->run);

        return 0;
}

/* `whole` is the complete field. */
static void take_door_field(struct layer *l, const char *key, const char *value, const char *whole)
{
        struct work_door *d = &l->doors[l->door_count - 1];
        uint64_t n = 0;
        (void) str_to_u64(span_str(value), &n);
        if (strcmp(key, "kind") == 0)
                d->is_dir = strcmp(value, "dir") == 0;
        else if (strcmp(key, "fsid") == 0)
                d->dev = n;
        else if (strcmp(key, "uuid") == 0)
                d->uuid = n;
        else if (strcmp(key, "in-uuid") == 0)
                d->in_uuid = n;
        else if (strcmp(key, "ino") == 0)
                d->ino = n;
        else if (strcmp(key, "top") == 0)
                d->top = (mode_t) n;
        else if (strcmp(key, "in-fsid") == 0)
                d->in_dev = n;
        else if (strcmp(key, "in-ino") == 0)
                d->in_ino = n;
        else if (strcmp(key, "name") == 0)
                d->name = arena_str(&l->mem, value);
        else if (strcmp(key, "guard") == 0)
                d->guards = layer_append(l, d->guards, &d->guard_count, value);
        else if (strcmp(key, "stub") == 0)
                d->stubs = layer_append(l, d->stubs, &d->stub_count, value);
        else
                d->others = layer_append(l, d->others, &d->other_count, whole);
}

static void take_state(struct layer *l, const char *value)
{
        for (unsigned i = 0; i < sizeof state_names / sizeof *state_names; i++)
                if (strcmp(value, state_names[i]) == 0)
                        l->state = (enum layer_state) i;
}

static void take_field(struct layer *l, const char *key, const char *value, const char *whole)
{
        uint64_t n = 0;
        (void) str_to_u64(span_str(value), &n);
        if (strcmp(key, "door") == 0 && l->door_count < WORK_DOORS_MAX)
                l->doors[l->door_count++].host = arena_str(&l->mem, value);
        else if (l->door_count > 0)
                take_door_field(l, key, value, whole);
        else if (strcmp(key, "box") == 0)
                l->box = arena_str(&l->mem, value);
        else if (strcmp(key, "policy") == 0)
                l->policy = arena_str(&l->mem, value);
        else if (strcmp(key, "keep") == 0)
                l->keep = n == 1;
        else if (strcmp(key, "session") == 0)
                l->session = n == 1;
        else if (strcmp(key, "start") == 0)
                l->start.tv_sec = (time_t) n;
        else if (strcmp(key, "start-ns") == 0)
                l->start.tv_nsec = (long) n;
        else if (strcmp(key, "ask") == 0)
                l->asks = layer_append(l, l->asks, &l->ask_count, value);
        else if (strcmp(key, "by") == 0)
                l->people = layer_append(l, l->people, &l->people_count, value);
        else if (strcmp(key, "state") == 0)
                take_state(l, value);
        else if (strcmp(key, "version") != 0 && strcmp(key, "run") != 0)
                l->others = layer_append(l, l->others, &l->other_count, whole);
}

/* Checked before a field is used: a later version may give it another meaning. */
static int check_version(const struct layer *l, const char *text, struct err *e)
{
        uint64_t version = 0;
        if (strncmp(text, "version=", 8) != 0 || str_to_u64(span_str(text + 8), &version) < 0 || version == 0)
                return err_set(e, ERR_IO, 0, "what is written about the overlay %s makes no sense", l->run);

        if (version <= LAYER_VERSION)
                return 0;

        (void) err_set(e, ERR_IO, EPROTONOSUPPORT,
                       "the overlay %s was written by a later cordon: its format is %" PRIu64
                       ", and this one reads up to %d",
                       l->run, version, LAYER_VERSION);
        return err_hint(e, "use the later cordon for it; nothing of it was touched");
}

static int not_opened(const struct layer *l, const char *lacks, struct err *e)
{
        if (tree_is_missing(errno))
                return err_set(e, ERR_GONE, errno, "the overlay %s %s", l->run, lacks);
        return layer_cannot(e, "opening the overlay", l->run);
}

static int read_meta(struct layer *l, struct err *e)
{
        struct stat st;
        AUTO_FD(fd, openat(l->dir, "meta", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (fd < 0 || fstat(fd, &st) < 0)
                return not_opened(l, "has no description", e);

        if (st.st_size > META_MAX)
                return err_set(e, ERR_IO, 0, "what is written about the overlay %s makes no sense", l->run);

        char *text = arena_alloc(&l->mem, (size_t) st.st_size + 1);
        if (!text)
                return err_set(e, ERR_MEMORY, 0, "no memory for an overlay");

        ssize_t n = fd_read_all(fd, text, (size_t) st.st_size);
        if (n < 0)
                return layer_cannot(e, "reading about the overlay", l->run);

        text[n] = '\0';
        if (check_version(l, text, e) < 0)
                return -1;

        for (char *at = text; at < text + n; at += strlen(at) + 1) {
                char *value = strchr(at, '=');
                if (!value)
                        return err_set(e, ERR_IO, 0, "what is written about the overlay %s makes no sense",
                                       l->run);
                char key[32];
                (void) snprintf(key, sizeof key, "%.*s", (int) (value - at), at);
                take_field(l, key, value + 1, at);
        }

        /* If memory runs out for a guard, it would be silently missing. */
        return l->mem.failed ? err_set(e, ERR_MEMORY, 0, "no memory for an overlay") : 0;
}

/* ---- making ---- */

int layer_cannot(struct err *e, const char *doing, const char *of)
{
        int sys = errno;
        (void) err_set(e, ERR_IO, sys, "%s %s: %s", doing, of, strerror(sys));
        return err_hint(e,
                        sys == ENOSPC || sys == EDQUOT
                                ? "make room, or discard an overlay that is not needed: `cordon diff --list`"
                                : "look at the directory that CORDON_STATE names, or at its disk");
}

static int lock_layer(struct layer *l, bool make, struct err *e)
{
        l->lock = openat(l->dir, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC | (make ? O_CREAT : 0), 0600);
        if (l->lock < 0 && !make && errno == EROFS) /* it can still be looked at */
                l->lock = openat(l->dir, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

        if (l->lock < 0)
                return not_opened(l, "is not whole", e);

        if (flock(l->lock, LOCK_EX | LOCK_NB) == 0)
                return 0;

        if (errno != EWOULDBLOCK)
                return layer_cannot(e, "locking the overlay", l->run);

        (void) err_set(e, ERR_IO, EBUSY, "the overlay %s is in use", l->run);
        return err_hint(e, "a box is running on it, or another command works on it: `cordon ps`");
}

struct layer *layer_new(const struct cordon_context *cx, const char *run, struct err *e)
{
        struct layer *l = layer_alloc(run, e);
        if (!l)
                return NULL;

        l->store = layer_store(cx, e);
        if (l->store >= 0 && mkdirat(l->store, run, 0700) < 0)
                (void) layer_cannot(e, "making the overlay", run);
        else if (l->store >= 0 && (l->dir = store_dir(l->store, run, e)) >= 0 && lock_layer(l, true, e) == 0)
                return l;

        layer_free(l);
        return NULL;
}

static struct layer *open_layer(int store, const char *run, bool lock, struct err *e)
{
        struct layer *l = layer_alloc(run, e);
        if (!l)
                return NULL;

        l->store = fcntl(store, F_DUPFD_CLOEXEC, 0);
        l->dir = l->store < 0 ? -1 : openat(store, run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (l->dir < 0)
                (void) not_opened(l, "is not there", e);
        else if ((!lock || lock_layer(l, false, e) == 0) && read_meta(l, e) == 0 && closed_read(l, e) == 0)
                return l;

        layer_free(l);
        return NULL;
}

struct layer *layer_take(int store, const char *run, struct err *e)
{
        return open_layer(store, run, true, e);
}

struct layer *layer_look(int store, const char *run, struct err *e)
{
        return open_layer(store, run, false, e);
}

/* One empty door: our two directories, and the one that the kernel made in one of them with mode 0. */
static bool remove_door_of_nothing(const struct layer *l, size_t door)
{
        static const char *const parts[] = { "work/work/incompat/volatile", "work/work/incompat", "work/work",
                                             "work", "upper" };
        char name[32];
        AUTO_FD(dir, layer_door_dir(l, door));
        if (dir < 0)
                return false;

        for (size_t i = 3; i-- > 0;)
                (void) !fchmodat(dir, parts[i], 0700, 0);

        (void) unlinkat(dir, "work/work/incompat/volatile/dirty", 0);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                if (unlinkat(dir, parts[i], AT_REMOVEDIR) < 0 && errno != ENOENT)
                        return false;

        (void) snprintf(name, sizeof name, "door-%zu", door);
        return unlinkat(l->dir, name, AT_REMOVEDIR) == 0;
}

/* The usual case, in few steps: a box that changed nothing. If this is interrupted or finds unknown
 * entries, the rest is swept like an interrupted start: without `meta` it is not an overlay. */
bool layer_remove_if_empty(struct layer *l)
{
        if (unlinkat(l->dir, "meta", 0) < 0)
                return false;
        for (size_t i = 0; i < l->door_count; i++)
                if (!remove_door_of_nothing(l, i))
                        return false;
        return unlinkat(l->dir, "lock", 0) == 0 && unlinkat(l->store, l->run, AT_REMOVEDIR) == 0;
}

int layer_remove(struct layer *l, struct err *e)
{
        /* Renamed out of the list first: a half-removed overlay must not be found. */
        char gone[WORK_RUN_MAX + 8];
        (void) snprintf(gone, sizeof gone, ".gone-%s", l->run);
        if (renameat(l->store, l->run, l->store, gone) < 0 || remove_tree(l->store, gone) < 0)
                return layer_cannot(e, "removing the overlay", l->run);
        return 0;
}

/* ---- sweeping ---- */

/* A power cut can lose the records of an overlay, and leave the overlay. */
static bool holds_something(int dir)
{
        AUTO_NAMES(doors);
        if (tree_names(dir, &doors) < 0)
                return true;

        for (size_t i = 0; i < doors.n; i++) {
                AUTO_NAMES(inside);
                char upper[NAME_MAX + 8];
                (void) snprintf(upper, sizeof upper, "%s/upper", doors.v[i]);
                AUTO_FD(fd, tree_dir(dir, upper));
                bool none = fd < 0 && tree_is_missing(errno);
                if (!none && (fd < 0 || tree_names(fd, &inside) < 0 || inside.n > 0))
                        return true;
        }

        return false;
}

bool layer_swept(int store, const char *name)
{
        struct err none;
        if (strncmp(name, ".gone-", 6) == 0) {
                (void) remove_tree(store, name);
                return true;
        }

        AUTO_FD(dir, openat(store, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (dir < 0)
                return tree_is_missing(errno);

        if (faccessat(dir, "meta", F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT || holds_something(dir))
                return false;

        struct layer l = { .store = store, .dir = dir, .lock = -1 };
        (void) snprintf(l.run, sizeof l.run, "%s", name);
        struct stat st;
        if (lock_layer(&l, true, &none) < 0 || fstat(dir, &st) < 0 || time(NULL) - st.st_mtime < 2)
                return fd_close(&l.lock), true; /* a start is at it just now, or was */

        bool gone = layer_remove(&l, &none) == 0;
        fd_close(&l.lock);
        return gone;
}
