/* SPDX-License-Identifier: MIT */
/* files/work/show/fold_dirs.c - directories that are not reviewed entry by entry: packages, build products
 * and caches, and any directory that is new or deleted as a whole with more files than a screen shows. Pure.
 */
#include "files/work/internal.h"

#include <inttypes.h>
#include <string.h>

/* One reason and the names it applies to, as in trusted.inc. */
static const struct {
        char reason[40];
        char names[88];
} folds[] = {
        { "a package manager fills it",
          "node_modules bower_components .yarn/cache site-packages .venv venv" },
        { "a build writes it",
          "target build dist _build cmake-build-* cmakefiles .gradle .next .nuxt *.egg-info" },
        { "a test runner or checker keeps it", ".tox .nox .eggs .pytest_cache .mypy_cache .ruff_cache" },
        { "a cache", "__pycache__ .cache .npm .parcel-cache .turbo .terraform" },
        { "git stores objects and other trees in it", ".git/objects .git/modules .git/worktrees" },
};

enum { FILES_SHOWN = 20, FLAGS_SHOWN = 8 };
static const uint64_t BYTES_SHOWN = 1000000;

static bool is_fold(const char *path)
{
        for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
                if (flags_match(folds[i].names, path))
                        return true;
        return false;
}

size_t fold_length(const char *path, bool is_dir)
{
        char part[WORK_PATH_MAX];
        for (const char *at = path;; at++) {
                at = strchrnul(at, '/');
                size_t n = (size_t) (at - path);
                if (n >= sizeof part || (*at == '\0' && !is_dir))
                        return 0;
                memcpy(part, path, n);
                part[n] = '\0';
                if (is_fold(part))
                        return n;
                if (*at == '\0')
                        return 0;
        }
}

bool fold_is_whole(const struct entry *x)
{
        return (x->what & WHAT_ADDED && x->now.kind == NODE_DIR) ||
               (x->what & WHAT_DELETED && x->old.kind == NODE_DIR);
}

static bool is_dir(const struct entry *x)
{
        return (x->what & WHAT_DELETED ? x->old.kind : x->now.kind) == NODE_DIR;
}

size_t fold_of(const struct entries *v, size_t i)
{
        const struct entry *x = &v->v[i];
        size_t n = fold_length(x->path, is_dir(x));
        if (n > 0)
                return n;

        /* Entries are sorted: the `.git` that contains it precedes it. */
        for (const char *at = x->path; (at = strstr(at, ".git")) != NULL; at += 4) {
                n = (size_t) (at - x->path) + 4;
                if ((at > x->path && at[-1] != '/') || (x->path[n] != '/' && x->path[n] != '\0'))
                        continue;
                for (size_t k = i + 1; k-- > 0 && v->v[k].door == x->door;) {
                        const struct entry *git = &v->v[k];
                        if (strlen(git->path) == n && strncmp(git->path, x->path, n) == 0)
                                return fold_is_whole(git) && fold_measure(v, k, n).flagged > FLAGS_SHOWN ? n
                                                                                                         : 0;
                        if (strncmp(git->path, x->path, n) != 0)
                                break;
                }
        }

        return 0;
}

struct fold fold_measure(const struct entries *v, size_t first, size_t len)
{
        struct fold f = { 0 };
        const struct entry *top = &v->v[first];
        for (size_t i = first; i < v->n; i++, f.n++) {
                const struct entry *x = &v->v[i];
                const struct node *side = x->what & WHAT_DELETED ? &x->old : &x->now;
                if (x->door != top->door || strncmp(x->path, top->path, len) != 0 ||
                    (x->path[len] != '/' && x->path[len] != '\0'))
                        break;
                f.files += side->kind != NODE_DIR;
                f.bytes += side->kind == NODE_FILE ? side->size : 0;
                f.renamed += (x->what & WHAT_RENAMED) != 0;
                f.flagged += x->flags != 0;
                f.flags |= x->flags;
        }

        return f;
}

/* A rename is shown by its two names. */
bool fold_is_long(const struct entry *x, const struct fold *f)
{
        return f->renamed == 0 && f->files > 0 &&
               (f->files > FILES_SHOWN || f->bytes > BYTES_SHOWN || fold_length(x->path, true) > 0);
}

static void put_count(struct buf *out, size_t n)
{
        if (n >= 1000) {
                put_count(out, n / 1000);
                buf_printf(out, ",%03zu", n % 1000);
        } else {
                buf_printf(out, "%zu", n);
        }
}

void fold_put(struct buf *out, const struct fold *f)
{
        static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
        uint64_t n = f->bytes;
        unsigned unit = 0;

        for (; n >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
                n = (n + 500) / 1000;

        put_count(out, f->files);
        buf_printf(out, " file%s, %" PRIu64 " %s", f->files == 1 ? "" : "s", n, units[unit]);
}
