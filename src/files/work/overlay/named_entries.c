/* SPDX-License-Identifier: MIT */
/* files/work/overlay/named_entries.c - finds the entries that the user's paths name. Pure. */
#include "base/str.h"
#include "files/work/internal.h"

#include <stdio.h>
#include <string.h>

static bool named_by(const struct layer *l, const struct entry *x, const char *name)
{
        char whole[2 * WORK_PATH_MAX];
        const struct work_door *d = &l->doors[x->door];
        size_t n = strlen(name);
        char clean[WORK_PATH_MAX];

        if (n >= sizeof clean)
                return false;

        memcpy(clean, name, n + 1);
        while (n > 1 && clean[n - 1] == '/')
                clean[--n] = '\0';

        const char *at = strncmp(clean, "./", 2) == 0 ? clean + 2 : clean;
        if (strcmp(at, ".") == 0)
                return true;

        if (at[0] != '/')
                return path_below(x->path, at);

        if (d->is_dir)
                (void) snprintf(whole, sizeof whole, "%s/%s", strcmp(d->host, "/") == 0 ? "" : d->host,
                                x->path);
        else
                (void) snprintf(whole, sizeof whole, "%s", d->host);

        return path_below(whole, at);
}

int paths_all_found(const struct layer *l, const struct entries *v, const char *const *paths, struct err *e)
{
        for (; paths && *paths; paths++) {
                size_t i = 0;
                while (i < v->n && !named_by(l, &v->v[i], *paths))
                        i++;
                if (i < v->n)
                        continue;
                char shown[256];
                (void) err_set(e, ERR_USAGE, 0, "the overlay %s changes nothing at %s", l->run,
                               str_inert(span_str(*paths), shown, sizeof shown));
                return err_hint(e, "paths are absolute, or as `cordon diff --name-only %s` prints them",
                                l->run);
        }

        return 0;
}

/* The part of a path below its door; NULL: it is the door, or contains it. */
static const char *behind_door(const struct work_door *d, const char *name)
{
        size_t n = strcmp(d->host, "/") == 0 ? 0 : strlen(d->host);
        const char *at = strncmp(name, "./", 2) == 0 ? name + 2 : name;
        if (at[0] == '/' && (!path_below(at, d->host) || at[n] != '/'))
                return NULL;
        at += at[0] == '/' ? n + 1 : 0;
        return at[0] && strcmp(at, ".") != 0 ? at : NULL;
}

/* A directory's own row, as `.git/hooks/`; a file's (`.env`) does not apply to entries below it. */
static bool is_flagged_directory(const char *at)
{
        char name[WORK_PATH_MAX + 2];
        size_t n = strlen(at);
        while (n > 0 && at[n - 1] == '/')
                n--;
        return snprintf(name, sizeof name, "%.*s/", (int) n, at) < (int) sizeof name && flags_by_name(name);
}

static bool is_same_path(const char *at, const char *path)
{
        size_t n = strlen(path);
        return strncmp(at, path, n) == 0 && at[n + strspn(at + n, "/")] == '\0';
}

bool entry_named_itself(const struct layer *l, const struct entry *x, const char *const *paths)
{
        for (; paths && *paths; paths++) {
                const struct work_door *d = &l->doors[x->door];
                const char *at = behind_door(d, *paths);
                if (!named_by(l, x, *paths))
                        continue;
                if (!d->is_dir || (at && (is_same_path(at, x->path) || is_flagged_directory(at))))
                        return true;
        }

        return false;
}

bool entry_named(const struct layer *l, const struct entry *x, const char *const *paths)
{
        for (; paths && *paths; paths++)
                if (named_by(l, x, *paths))
                        return true;
        return false;
}

bool names_reach_into(const struct layer *l, unsigned door, const char *dir, const char *const *paths)
{
        for (; paths && *paths; paths++) {
                const char *at = behind_door(&l->doors[door], *paths);
                if (at && path_below(at, dir))
                        return true;
        }
        return false;
}
