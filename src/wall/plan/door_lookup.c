/* SPDX-License-Identifier: MIT */
/* wall/plan/door_lookup.c - questions about a policy's doors on this host: the door that shows, runs, writes
 * or excepts a path, and the targets of its symlinks.
 *
 * Ancestors of a path are looked up by name, one after the other: n doors cost n log n, not n * n. */
#include "base/limits.h"
#include "base/str.h"
#include "wall/plan/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int door_error(const struct door *d, enum err_code code, struct err *e, const char *fmt, ...)
{
        char at[256], what[512];
        va_list ap;
        va_start(ap, fmt);
        (void) vsnprintf(what, sizeof what, fmt, ap);
        va_end(ap);
        return err_set(e, code, 0, "%s: %s", policy_place(&d->at, at, sizeof at), what);
}

bool door_is_of_files(const struct door *d)
{
        return d->kind == DOOR_READ || d->kind == DOOR_EDIT || d->kind == DOOR_WRITE;
}

/* The first door of a kind with exactly this path that exists on this host, or NULL. */
const struct door *door_at(const struct builder *b, enum door_kind kind, struct span path)
{
        size_t lo, hi;
        for (policy_doors_at(b->c, kind, path, &lo, &hi); lo < hi; lo++)
                if (b->r->seen[lo].kind != SEEN_NOTHING)
                        return &b->doors[lo];
        return NULL;
}

static bool has_run(const struct builder *b, struct span path, bool own)
{
        size_t lo, hi;
        for (policy_doors_at(b->c, DOOR_RUN, path, &lo, &hi); lo < hi; lo++)
                if (!own || !b->doors[lo].from_stock)
                        return true;
        return false;
}

/* Does a line let the box write here? Doors only add: a read line takes nothing away. */
bool door_writes(const struct builder *b, const char *path)
{
        for (size_t n = b->writes ? strlen(path) : 0; n > 0; n = str_parent(path, n))
                if (door_at(b, DOOR_WRITE, span_of(path, n)) || door_at(b, DOOR_EDIT, span_of(path, n)))
                        return true;
        return false;
}

/* A `run` line of this path, or `run DIR/` of this directory or one above it. For a path that the box can
 * write, only own lines. */
bool door_runs(const struct builder *b, const char *path)
{
        char tree[PATH_MAX_BYTES + 1];
        size_t len = strlen(path);
        bool own = door_writes(b, path);
        if (has_run(b, span_of(path, len), own))
                return true;

        for (size_t n = str_parent(path, len); n > 0; n = str_parent(path, n))
                if (has_run(b, span_of(path, n + 1), own))
                        return true;

        int n = snprintf(tree, sizeof tree, "%s/", path);
        return n > 0 && (size_t) n < sizeof tree && has_run(b, span_of(tree, (size_t) n), own);
}

unsigned door_flags(const struct builder *b, const struct door *d)
{
        unsigned f = 0;
        if (d->kind == DOOR_WRITE || d->kind == DOOR_EDIT)
                f |= STEP_WRITE;

        if (b->run_any || door_runs(b, d->path) || (!door_writes(b, d->path) && policy_shows_libraries(d)))
                f |= STEP_EXEC;

        if (d->optional)
                f |= STEP_OPTIONAL;

        if (b->r->as_root && !d->from_stock)
                f |= STEP_IDMAP;

        return f;
}

/* The deepest file door at or above `path`, except those with the path of `other`; NULL: it is not
 * visible. */
const struct door *door_covering(const struct builder *b, const char *path, const struct door *other)
{
        for (size_t n = strlen(path); n > 0; n = str_parent(path, n)) {
                if (other && span_is(span_of(path, n), other->path))
                        continue;
                for (enum door_kind k = DOOR_READ; k <= DOOR_WRITE; k++) {
                        const struct door *d = door_at(b, k, span_of(path, n));
                        if (d)
                                return d;
                }
        }

        return NULL;
}

/* The door whose mount shows `path`: inside a writable door, a read door has no own mount. */
const struct door *door_mounted_over(const struct builder *b, const char *path)
{
        for (size_t n = strlen(path); n > 0; n = str_parent(path, n)) {
                const struct door *d = door_at(b, DOOR_WRITE, span_of(path, n));
                if (!d)
                        d = door_at(b, DOOR_EDIT, span_of(path, n));
                if (d)
                        return d;
        }

        return door_covering(b, path, NULL);
}

bool door_excepts(const struct door *d, const char *path)
{
        for (char **x = d->except; x && *x; x++)
                if (path_under(path, *x))
                        return true;
        return false;
}

/* Does a line other than `d` let the box change this path? Then `d`'s except does not hold it back. */
bool door_changed_otherwise(const struct builder *b, const struct door *d, const char *path)
{
        for (size_t i = 0; i < b->door_count; i++) {
                const struct door *o = &b->doors[i];
                bool changes = o->kind == DOOR_WRITE || (o->kind == DOOR_EDIT && !door_excepts(o, path));
                if (o != d && changes && b->r->seen[i].kind != SEEN_NOTHING && path_under(path, o->path))
                        return true;
        }

        return false;
}

/* The target of a symlink of the host, cleaned lexically: "/bin" -> "usr/bin" gives "/usr/bin", and
 * "/etc/x" -> "../usr/lib/x" gives "/usr/lib/x". NULL: unsupported. */
static const char *link_end(struct builder *b, const struct door *d, const char *target)
{
        size_t dir = str_parent(d->path, strlen(d->path));
        for (; dir > 0 && strncmp(target, "../", 3) == 0; target += 3)
                dir = str_parent(d->path, dir);

        char *s = target[0] == '/' ? arena_str(b->a, target)
                                   : arena_printf(b->a, "%.*s/%s", (int) dir, d->path, target);
        if (!s || strstr(s, "/../") || strstr(s, "/./") || strstr(s, "//"))
                return NULL;

        return s;
}

/* Returns the target if this door becomes a symlink, because its target is visible anyway; else NULL. */
const char *door_shown_as_link(struct builder *b, size_t i)
{
        const struct door *d = &b->doors[i];
        const struct plan_seen *seen = &b->r->seen[i];
        if (d->kind != DOOR_READ || !seen->link)
                return NULL;

        const char *end = link_end(b, d, seen->link);

        /* Up and down again by names, only for system paths: /etc/os-release. */
        bool up = strncmp(seen->link, "../", 3) == 0;
        if (end && up && !(path_under(d->path, "/etc") && path_under(end, "/usr")))
                return NULL;

        return end && door_covering(b, end, d) ? end : NULL;
}

/* A path below a door that became a symlink is a path below its target: /lib64/x is /usr/lib64/x. Of two
 * such doors the upper one counts. */
const char *door_through_links(struct builder *b, const char *path)
{
        for (size_t n = 2, len = strlen(path); n < len; n++) {
                size_t lo, hi;
                if (path[n] != '/')
                        continue;
                for (policy_doors_at(b->c, DOOR_READ, span_of(path, n), &lo, &hi); lo < hi; lo++) {
                        const char *end = door_shown_as_link(b, lo);
                        if (end)
                                return arena_printf(b->a, "%s%s", end, path + n);
                }
        }

        return arena_str(b->a, path);
}

bool door_any_under(const struct builder *b, const char *path)
{
        for (size_t i = 0; i < b->door_count; i++)
                if (door_is_of_files(&b->doors[i]) && path_under(b->doors[i].path, path))
                        return true;
        return b->r->entry.path && path_under(b->r->entry.path, path);
}
