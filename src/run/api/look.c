/* SPDX-License-Identifier: MIT */
/* run/api/look.c - inspects each path that a door or the command names once, before the box exists: so that a
 * missing door is reported with its line, and so that the wall can check later that it opens the same inode.
 */
#include "base/arena.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct look {
        struct arena mem; /* every path below */
        struct plan_seen *seen;
        struct plan_program *found;
        struct plan_program entry, engine, script_engine, code;
        bool entry_searched;
        bool cwd_repository;
        int want;           /* errno of a look for which we lacked something; or 0 */
        const char *wanted; /* the path that it was for */
};

/* By errno: EMFILE does not mean that the file does not exist. An optional door would be left out. */
static void note_want(struct look *l, const char *path)
{
        if (fd_is_want(errno)) {
                l->want = errno;
                l->wanted = arena_str(&l->mem, path);
        }
}

static enum seen_kind kind_of(mode_t m)
{
        if (S_ISDIR(m))
                return SEEN_DIR;
        if (S_ISREG(m))
                return SEEN_FILE;
        return S_ISSOCK(m) ? SEEN_SOCKET : SEEN_OTHER;
}

/* The checked file is the mounted one: the path is that of the descriptor whose inode number the wall
 * compares. If the name were used, a process that exchanges names meanwhile could have one file checked and
 * another mounted (TOCTOU). */
static bool where_it_leads(int fd, char ret[static PATH_MAX])
{
        return fd_path(fd, ret, PATH_MAX) == 0 && ret[0] == '/';
}

/* If it is unknown, no number matches. */
static void look_where_it_leads(struct arena *mem, const char *path, int fd, struct plan_seen *ret)
{
        char real[PATH_MAX];
        if (!where_it_leads(fd, real))
                ret->dev = ret->ino = 0;
        else if (strcmp(real, path) != 0)
                ret->real = arena_str(mem, real);
}

/* Can a box get a copy of the file behind this door? The box changes the copy, and the file is
 * replaced in its directory: the caller must be able to do both. */
static bool is_copyable(const struct door *d, const struct stat *st)
{
        char parent[PATH_MAX];
        if (d->kind != DOOR_WRITE || !S_ISREG(st->st_mode))
                return false;

        size_t n = str_parent(d->path, strlen(d->path));
        (void) snprintf(parent, sizeof parent, "%.*s", (int) n, d->path);
        return n > 0 && !(st->st_mode & (S_ISUID | S_ISGID)) && st->st_uid == geteuid() &&
               faccessat(AT_FDCWD, d->path, R_OK, AT_EACCESS) == 0 &&
               faccessat(AT_FDCWD, parent, W_OK | X_OK, AT_EACCESS) == 0;
}

static void look_at_path(struct look *l, const struct door *d, struct plan_seen *ret)
{
        struct arena *mem = &l->mem;
        const char *path = d->path;
        struct stat st;
        char target[PATH_MAX];
        AUTO_FD(fd, d->from_stock ? -1 : open(path, O_PATH | O_CLOEXEC));

        *ret = (struct plan_seen){ 0 };

        if (d->from_stock ? lstat(path, &st) < 0 : fd < 0 || fstat(fd, &st) < 0) {
                note_want(l, path);
                return;
        }

        bool plain = d->from_stock && !S_ISLNK(st.st_mode);
        if (d->from_stock && !plain && stat(path, &st) < 0) {
                note_want(l, path);
                return;
        }

        ret->kind = kind_of(st.st_mode);
        ret->dev = st.st_dev;
        ret->ino = st.st_ino;
        if (!d->from_stock)
                look_where_it_leads(mem, path, fd, ret);

        ssize_t n = plain ? -1 : readlink(path, target, sizeof target - 1);
        if (n > 0) {
                target[n] = '\0';
                ret->link = arena_str(mem, target);
        }

        if (d->kind == DOOR_DEV && S_ISCHR(st.st_mode)) {
                ret->device = st.st_rdev;
                ret->open_to_all = (st.st_mode & 0006) == 0006;
                ret->closed = access(path, R_OK | W_OK) < 0;
        }

        ret->bytes = (uint64_t) st.st_size;
        ret->copyable = !ret->link && !ret->real && is_copyable(d, &st);
}

static bool is_repository(const char *dir)
{
        char path[PATH_MAX];
        return (size_t) snprintf(path, sizeof path, "%s/.git", dir) < sizeof path && access(path, F_OK) == 0;
}

static bool fill_program(struct look *l, const char *path, bool want_dir, struct plan_program *ret)
{
        struct arena *mem = &l->mem;
        struct stat st;
        AUTO_FD(fd, open(path, O_PATH | O_CLOEXEC));
        if (fd < 0)
                note_want(l, path);

        if (fd < 0 || fstat(fd, &st) < 0 || (want_dir ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode)))
                return false;

        char resolved[PATH_MAX];
        bool named = st.st_nlink > 0 && where_it_leads(fd, resolved);
        const char *real = named ? arena_str(mem, resolved) : NULL;
        const char *own = arena_str(mem, path);
        if (!real || !own)
                return false;

        *ret = (struct plan_program){
                .path = own, .real = real, .dev = st.st_dev, .ino = st.st_ino, .links = st.st_nlink
        };

        return true;
}

bool api_is_program(const char *path)
{
        struct stat st;
        return access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool find_along(const char *dirs, const char *name, char *ret, size_t cap)
{
        for (size_t n; dirs && *dirs; dirs += n + (dirs[n] == ':')) {
                n = strcspn(dirs, ":");
                int k = dirs[0] == '/' ? snprintf(ret, cap, "%.*s/%s", (int) n, dirs, name) : -1;
                if (k > 0 && (size_t) k < cap && api_is_program(ret))
                        return true;
        }

        return false;
}

bool api_find_program(const char *name, char *ret, size_t cap)
{
        return find_along(BOX_PATH, name, ret, cap);
}

bool api_find_on_path(const struct cordon_context *cx, const char *name, char *ret, size_t cap)
{
        return find_along(context_get(cx, "PATH"), name, ret, cap);
}

static void find_program(struct look *l, const char *name, struct plan_program *ret)
{
        char path[PATH_MAX];
        if (api_find_program(name, path, sizeof path))
                (void) fill_program(l, path, false, ret);
}

static void look_at_run(struct look *l, const struct door *d, struct plan_seen *seen,
                        struct plan_program *found)
{
        size_t n = strlen(d->path);
        if (strcmp(d->path, "*") == 0)
                return;

        if (!strchr(d->path, '/')) {
                find_program(l, d->path, found);
                return;
        }

        char path[PATH_MAX];
        bool dir = n > 1 && d->path[n - 1] == '/';
        (void) snprintf(path, sizeof path, "%.*s", (int) (dir ? n - 1 : n), d->path);
        struct stat st;
        if (fill_program(l, path, dir, found))
                seen->kind = dir ? SEEN_DIR : SEEN_FILE;
        else if (!dir && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
                seen->kind = SEEN_OTHER; /* a directory that is not named as one */
}

static void look_at_entry(struct look *l, const char *name, const char *cwd)
{
        char path[PATH_MAX];
        l->entry_searched = strchr(name, '/') == NULL;
        if (l->entry_searched)
                find_program(l, name, &l->entry);
        else if (path_join(cwd, name, path, sizeof path))
                (void) fill_program(l, path, false, &l->entry);
}

void look_at_module(struct look *l, const char *name, const char *cwd, const struct api_engine *engine)
{
        char path[PATH_MAX];
        if (path_join(cwd, name, path, sizeof path))
                (void) fill_program(l, path, false, &l->entry);

        (void) fill_program(l, engine->program, false, &l->engine);
        if (engine->script[0])
                (void) fill_program(l, engine->script, false, &l->script_engine);
        if (engine->code[0])
                (void) fill_program(l, engine->code, false, &l->code);
}

void look_at_made(struct look *l, const struct checked_policy *c)
{
        size_t n;
        const struct door *doors = policy_doors(c, &n);
        for (size_t i = 0; i < n; i++) {
                if (l->seen[i].kind != SEEN_NOTHING || !doors[i].path || !api_is_made(c, &doors[i]))
                        continue;
                l->seen[i].kind = api_makes_directory(&doors[i]) ? SEEN_DIR : SEEN_FILE;
                l->seen[i].copyable = l->seen[i].kind == SEEN_FILE; /* a plan is made, and no file */
        }
}

struct look *look_at_doors(const struct door *doors, size_t n, const char *const *argv, const char *cwd,
                           struct err *e)
{
        struct look *l = calloc(1, sizeof *l);
        if (l) {
                l->seen = calloc(n + 1, sizeof *l->seen);
                l->found = calloc(n + 1, sizeof *l->found);
        }

        if (!l || !l->seen || !l->found) {
                look_free(l);
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the doors");
                return NULL;
        }

        for (size_t i = 0; i < n; i++) {
                if (doors[i].kind == DOOR_RUN)
                        look_at_run(l, &doors[i], &l->seen[i], &l->found[i]);
                else if (doors[i].kind == DOOR_DEV && policy_gpu(doors[i].path))
                        look_at_gpu(&l->mem, policy_gpu(doors[i].path), &l->seen[i]);
                else if (doors[i].path)
                        look_at_path(l, &doors[i], &l->seen[i]);
                l->seen[i].repository = l->seen[i].kind == SEEN_DIR && !doors[i].from_stock &&
                                        doors[i].kind != DOOR_RUN && is_repository(doors[i].path);
        }

        l->cwd_repository = is_repository(cwd);
        if (argv && argv[0])
                look_at_entry(l, argv[0], cwd);

        if (!l->mem.failed && !l->want)
                return l;

        if (l->mem.failed) /* a door or a program that was seen and forgotten would be another box */
                (void) err_set(e, ERR_MEMORY, ENOMEM, "no memory for the doors");
        else
                (void) err_set(e, ERR_IO, l->want, "looking at %s: %s", l->wanted, strerror(l->want));

        look_free(l);
        return NULL;
}

void look_fill(const struct look *l, struct plan_request *r)
{
        r->seen = l->seen;
        r->found = l->found;
        r->entry = l->entry;
        r->engine = l->engine;
        r->script_engine = l->script_engine;
        r->code = l->code;
        r->entry_searched = l->entry_searched;
        r->cwd_repository = l->cwd_repository;

        /* PREFIX/var/run of programs that were built from source. */
        r->stock_sockets = access("/usr/local/var", F_OK) == 0 || access("/usr/var", F_OK) == 0;
}

void look_free(struct look *l)
{
        if (!l)
                return;
        arena_done(&l->mem);
        free(l->seen);
        free(l->found);
        free(l);
}
