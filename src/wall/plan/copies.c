/* SPDX-License-Identifier: MIT */
/* wall/plan/copies.c - single files behind `write` doors that programs save by tmp + rename.
 *
 * A bind mount of one file cannot be renamed over, and nothing can be created beside it. If no other door
 * shows its directory, the box gets a private directory in that place with a copy of the file, and the
 * keeper publishes the copy (run/keeper/publish.c). Several such files share one directory. */
#include "base/limits.h"
#include "base/str.h"
#include "wall/plan/internal.h"

#include <string.h>

enum { COPY_BYTES = 16 << 20, DISK_SHARE = 4 };

/* A `run` line shows its directory; a writable program must be the host's own file. */
static bool is_shown_to_run(const struct builder *b, const char *path, const char *parent)
{
        if (door_runs(b, path) || (b->r->entry.path && strcmp(b->r->entry.real, path) == 0))
                return true;

        for (size_t i = 0; i < b->door_count; i++) {
                const struct plan_program *g = &b->r->found[i];
                if (b->doors[i].kind == DOOR_RUN && g->path &&
                    (path_under(parent, g->path) || path_under(parent, g->real) ||
                     strcmp(g->real, path) == 0))
                        return true;
        }

        return false;
}

/* The box's own files at or below this directory would be covered. Its /tmp is already private. */
static bool holds_own_files(const struct builder *b, const char *parent)
{
        if (strcmp(parent, "/tmp") == 0)
                return false;
        for (size_t i = 0; i < b->own_steps; i++)
                if (path_under(b->p->steps[i].path, parent))
                        return true;
        return path_under(parent, BOX_HOME) || path_under(parent, "/proc") || path_under(parent, "/sys");
}

/* One size limit applies to all private files: copies take a small part of it. */
static bool has_room(const struct builder *b, uint64_t bytes)
{
        uint64_t share = b->p->limits.value[LIMIT_DISK] / DISK_SHARE;
        uint64_t most = share < COPY_BYTES ? share : COPY_BYTES;
        return b->p->copies < COPIES_MAX && bytes <= most && b->copied <= most - bytes;
}

static bool has_directory(const struct builder *b, const char *parent)
{
        for (size_t i = 0; i < b->p->step_count; i++)
                if (b->p->steps[i].kind == STEP_SCRATCH && strcmp(b->p->steps[i].path, parent) == 0)
                        return true;
        return false;
}

static void add_copy(struct builder *b, size_t i, const char *parent)
{
        const struct door *d = &b->doors[i];
        const struct plan_seen *seen = &b->r->seen[i];
        const char *path = arena_str(b->a, d->path);
        unsigned exec = door_flags(b, d) & STEP_EXEC;

        if (!has_directory(b, parent))
                (void) build_step(b, STEP_SCRATCH, parent, arena_printf(b->a, "copies-%u", b->p->copies),
                                  STEP_WRITE | exec);

        struct plan_step *s = build_step(b, STEP_COPY, path, path, STEP_WRITE);
        s->dev = seen->dev;
        s->ino = seen->ino;
        s->layer = b->p->copies++;
        b->copied += seen->bytes;

        unsigned rights = RIGHT_LIST | RIGHT_READ | RIGHT_WRITE | (exec && b->run_any ? RIGHT_EXEC : 0);
        (void) build_rule(b, parent, rights, false);
        b->p->writes_host = true;
}

bool build_copy(struct builder *b, size_t i)
{
        const struct door *d = &b->doors[i];
        const struct plan_seen *seen = &b->r->seen[i];
        size_t n = str_parent(d->path, strlen(d->path));
        if (!wall_has(b->p->wall, WALL_OWN_ROOT) || d->kind != DOOR_WRITE || !seen->copyable || n == 0 ||
            !has_room(b, seen->bytes))
                return false;

        const char *parent = arena_printf(b->a, "%.*s", (int) n, d->path);
        if (!parent || door_covering(b, parent, NULL) || holds_own_files(b, parent) ||
            is_shown_to_run(b, d->path, parent))
                return false;

        if (!build_has_bind(b, d->path)) /* one path, two lines: one copy */
                add_copy(b, i, parent);

        return true;
}
