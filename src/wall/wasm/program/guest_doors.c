/* SPDX-License-Identifier: MIT */
/* wall/wasm/program/guest_doors.c - opens the box's doors for the module, by descriptor.
 *
 * A directory is one preopened directory. WASI has no preopened files: the doors that are files are names in
 * their directory, of which the module then sees these names and no others.
 *
 * WASI has no working directory either: C libraries look up relative paths from "/". So what a door shows of
 * the working directory, or below it, is also there by a name that starts with "/" in its place. */
#include "base/fd.h"
#include "base/str.h"
#include "wall/wasm/program/program.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int open_directory(const char *path, struct err *e)
{
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                (void) err_set(e, ERR_DOOR, errno, "the door %s cannot be opened: %s", path, strerror(errno));
        return fd;
}

static bool is_directory(const char *path)
{
        struct stat st;
        return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static size_t parent_of(const char *path)
{
        size_t n = str_parent(path, strlen(path));
        return n ? n : 1;
}

static bool same_parent(const struct engine_door *a, const struct engine_door *b)
{
        size_t n = parent_of(a->path);
        return a->writable == b->writable && parent_of(b->path) == n && memcmp(a->path, b->path, n) == 0 &&
               !is_directory(b->path);
}

/* One directory to open, by the path in the box. */
struct shown {
        const char *path;
        bool writable;
        const char *const *only;
};

struct opening {
        struct wasi *w;
        const struct engine_options *o;
        const char *here; /* the working directory */
        struct shown at[ENGINE_DOORS];
        unsigned n;
};

static int add_door(struct opening *g, const char *name, const char *path, const struct shown *s,
                    struct err *e)
{
        struct wasi_door d = { .name = name, .writable = s->writable, .only = s->only };
        d.fd = open_directory(path, e);
        return d.fd < 0 || wasi_open_door(g->w, &d, e) < 0 ? -1 : 0;
}

static int no_memory(struct err *e) { return err_set(e, ERR_MEMORY, 0, "no memory for the doors"); }

/* All files of one directory together, at the first of them. */
static int gather_files(struct opening *g, unsigned first, struct err *e)
{
        const struct engine_options *o = g->o;
        const struct engine_door *d = &o->doors[first];
        for (unsigned i = 0; i < first; i++)
                if (same_parent(d, &o->doors[i]))
                        return 0;

        const char **names = calloc(o->door_count + 1, sizeof *names); /* as long as the process */
        char *parent = strndup(d->path, parent_of(d->path));
        if (!names || !parent) {
                free(names);
                free(parent);
                return no_memory(e);
        }

        for (unsigned i = first, n = 0; i < o->door_count; i++)
                if (same_parent(d, &o->doors[i]))
                        names[n++] = strrchr(o->doors[i].path, '/') + 1;

        g->at[g->n++] = (struct shown){ parent, d->writable, names };
        return 0;
}

static int gather_doors(struct opening *g, struct err *e)
{
        for (unsigned i = 0; i < g->o->door_count; i++) {
                const struct engine_door *d = &g->o->doors[i];
                if (is_directory(d->path))
                        g->at[g->n++] = (struct shown){ d->path, d->writable, NULL };
                else if (gather_files(g, i, e) < 0)
                        return -1;
        }

        return 0;
}

/* "/" is the working directory itself, of the door that shows it: the longest, as the kernel's mounts are. */
static int add_here(struct opening *g, struct err *e)
{
        const struct shown *best = NULL;
        for (unsigned i = 0; i < g->n; i++) {
                const struct shown *s = &g->at[i];
                bool shows = s->only ? strcmp(s->path, g->here) == 0 : path_under(g->here, s->path);
                if (shows && (!best || strlen(s->path) > strlen(best->path)))
                        best = s;
        }

        return best ? add_door(g, "/", g->here, best, e) : 0;
}

static int add_below(struct opening *g, struct err *e)
{
        size_t n = strcmp(g->here, "/") == 0 ? 0 : strlen(g->here);
        for (unsigned i = 0; n && i < g->n; i++) {
                const struct shown *s = &g->at[i];
                if (path_under(s->path, g->here) && s->path[n] && add_door(g, s->path + n, s->path, s, e) < 0)
                        return -1;
        }

        return 0;
}

static int add_all(struct opening *g, struct err *e)
{
        for (unsigned i = 0; i < g->n; i++)
                if (add_door(g, g->at[i].path, g->at[i].path, &g->at[i], e) < 0)
                        return -1;

        return 0;
}

/* CORDON_IN_NAME=/dev/fd/N: the module has other numbers. */
static int renumber_fds(char **envp, const int *number, unsigned count)
{
        static const char at[] = "=/dev/fd/";
        for (char **v = envp; *v; v++) {
                char *value = strncmp(*v, "CORDON_", 7) == 0 ? strstr(*v, at) : NULL, *end;
                unsigned long fd = value ? strtoul(value + sizeof at - 1, &end, 10) : 0;
                if (!value || *end || fd < 3 || fd >= 3 + count)
                        continue;
                char *changed = NULL;
                if (asprintf(&changed, "%.*s%s%d", (int) (value - *v), *v, at, number[fd - 3]) < 0)
                        return -1;
                *v = changed;
        }

        return 0;
}

static bool is_socket(int fd)
{
        struct stat st;
        return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

static int add_handles(struct wasi *w, const struct engine_options *o, char **envp, struct err *e)
{
        int number[ENGINE_HANDLES];
        for (unsigned i = 0; i < o->handle_count; i++)
                if ((number[i] = wasi_open_handle(w, (int) (3 + i), e)) < 0)
                        return -1;

        if (renumber_fds(envp, number, o->handle_count) < 0)
                return err_set(e, ERR_MEMORY, 0, "no memory for the variables");

        return 0;
}

static int open_all(struct opening *g, struct err *e)
{
        if (gather_doors(g, e) < 0 || add_here(g, e) < 0 || add_below(g, e) < 0)
                return -1;

        return add_all(g, e);
}

int guest_doors_open(struct wasi *w, const struct engine_options *o, char **envp, struct guest_needs *ret,
                     struct err *e)
{
        static char here[PATH_MAX];
        struct opening g = { .w = w, .o = o, .here = getcwd(here, sizeof here) ? here : "/" };
        for (unsigned i = 0; i < o->door_count; i++)
                ret->writes |= o->doors[i].writable;

        ret->doors = o->door_count > 0;
        for (int fd = 0; fd < 3 + (int) o->handle_count; fd++)
                ret->sockets |= is_socket(fd);

        return open_all(&g, e) < 0 ? -1 : add_handles(w, o, envp, e);
}
