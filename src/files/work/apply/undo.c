/* SPDX-License-Identifier: MIT */
/* files/work/apply/undo.c - reverts the newest apply of an overlay, unless the host changed an applied entry
 * since. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void layer_end(struct layer **l) { layer_free(*l); }
#define AUTO_LAYER(name, init) __attribute__((cleanup(layer_end))) struct layer *name = (init)
static void journal_end(struct journal **j) { journal_free(*j); }
#define AUTO_JOURNAL(name, init) __attribute__((cleanup(journal_end))) struct journal *name = (init)

/* Is it in a directory that the apply made inaccessible to its own owner? Then it is checked when it is
 * reverted. */
static bool is_behind_closed(const struct journal *j, const struct op *o)
{
        for (size_t i = 0; i < j->n; i++) {
                const struct op *m = &j->ops[i];
                bool holds = strcmp(m->path, ".") == 0 || path_below(o->path, m->path);
                if (m->kind == OP_META && m->door == o->door && m->mode >= 0 && (m->mode & 0500) != 0500 &&
                    holds)
                        return true;
        }

        return false;
}

/* A file without read permission is identified by its inode number and a ctime before the end of the apply.
 * Its mode is not changed to read it: a process killed in between would leave the wrong mode. */
static bool is_untouched(const struct journal *j, const struct op *o, const struct node *now)
{
        struct stat done;
        return now->ino == o->ino && fstatat(j->dir, "done", &done, AT_SYMLINK_NOFOLLOW) == 0 &&
               (now->ctime.tv_sec < done.st_mtim.tv_sec ||
                (now->ctime.tv_sec == done.st_mtim.tv_sec && now->ctime.tv_nsec <= done.st_mtim.tv_nsec));
}

/* An applied entry must be unchanged, or undo would destroy later work. */
static const char *judge_undo(const struct journal *j, const struct op *o)
{
        const struct target *t = &j->targets[o->door];
        struct node now;
        const char *name;
        char digest[65] = "";

        if (o->kind == OP_META)
                return NULL;

        AUTO_FD(parent, tree_parent(t->fd, o->path, &name));
        if (parent < 0 || tree_look(parent, name, &now) < 0)
                return errno == EACCES && is_behind_closed(j, o) ? NULL : "parent directory is missing";

        if (o->kind == OP_TAKE)
                return now.kind ? "is there again" : NULL;

        if (now.kind == NODE_NONE)
                return "is gone";

        if (tree_digest(parent, name, &now, false, digest) < 0)
                return "cannot be read";

        if (strcmp(digest, "-") == 0 && strcmp(o->digest, "-") != 0)
                return is_untouched(j, o, &now) ? NULL : "cannot be read";

        return strcmp(o->digest, digest[0] ? digest : "-") == 0 ? NULL : "changed since";
}

struct put {
        unsigned door;
        const char *path;
};

static int by_put(const void *a, const void *b)
{
        const struct put *x = a, *y = b;
        return x->door != y->door ? (x->door < y->door ? -1 : 1) : strcmp(x->path, y->path);
}

/* A directory that was created must hold only entries that were also created. */
static const char *judge_contents(const struct journal *j, const struct op *o, const struct put *puts,
                                  size_t count)
{
        AUTO_NAMES(names);
        if (o->kind != OP_PUT && o->kind != OP_SWAP)
                return NULL;

        AUTO_FD(dir, tree_dir(j->targets[o->door].fd, o->path));
        if (dir < 0 || tree_names(dir, &names) < 0)
                return NULL; /* not a directory, or no permission to read it */

        for (size_t i = 0; i < names.n; i++) {
                char path[2 * WORK_PATH_MAX];
                (void) snprintf(path, sizeof path, "%s/%s", o->path, names.v[i]);
                const struct put key = { o->door, path };
                if (!bsearch(&key, puts, count, sizeof *puts, by_put))
                        return "holds something new";
        }

        return NULL;
}

static size_t undo_conflicts(struct journal *j, const struct work_undo *u)
{
        size_t n = 0, count = 0;
        struct put *puts = calloc(j->n + 1, sizeof *puts);
        for (size_t i = 0; puts && i < j->n; i++)
                if (j->ops[i].kind == OP_PUT)
                        puts[count++] = (struct put){ j->ops[i].door, j->ops[i].path };

        if (count > 1)
                qsort(puts, count, sizeof *puts, by_put);

        for (size_t i = 0; i < j->n; i++) {
                struct op *o = &j->ops[i];
                layer_progress(j->l, "comparing with the host", i, j->n);
                const char *why = judge_undo(j, o);
                if (!why)
                        why = puts ? judge_contents(j, o, puts, count) : "no memory to look at it";
                if (!why)
                        continue;
                AUTO_BUF(line);
                char shown[WORK_PATH_MAX];
                buf_printf(&line, "conflict: %s: %s\n", str_inert(span_str(o->path), shown, sizeof shown),
                           why);
                if (u->out && !u->json)
                        u->out(u->out_ctx, buf_str(&line), line.n);
                o->conflict = why;
                n++;
        }

        free(puts);
        return n;
}

static void tell_copies(const struct work_undo *u, const struct journal *j)
{
        for (size_t i = 0; i < j->n; i++) {
                const struct op *o = &j->ops[i];
                AUTO_BUF(line);
                char shown[WORK_PATH_MAX];
                if (!j->targets[o->door].inside || o->old.kind != NODE_FILE || o->old.links < 2 ||
                    o->rejoined)
                        continue;
                buf_printf(&line, "note: %s: had %" PRIu64 " names, and comes back as a file of its own\n",
                           str_inert(span_str(o->path), shown, sizeof shown), o->old.links);
                if (u->out && !u->json)
                        u->out(u->out_ctx, buf_str(&line), line.n);
        }
}

static int undo_journal(const struct work_undo *u, struct journal *j, struct work_outcome *ret, struct err *e)
{
        const size_t entries = journal_entries(j);
        if (journal_open_targets(j, false, e) < 0)
                return -1;

        AUTO_TURNS(turns);
        for (size_t i = 0; i < WORK_DOORS_MAX; i++)
                if (j->targets[i].used)
                        turns.place[turns.places++] = (struct place){ j->targets[i].dev, j->targets[i].ino };

        if (take_turns(u->cx, &turns, e) < 0)
                return -1;

        ret->conflicts = undo_conflicts(j, u);
        if (ret->conflicts > 0)
                return 0;

        ret->applied = entries;

        if (journal_send_out(j, e) < 0 || journal_mark(j, "back", e) < 0)
                return -1;

        tell_copies(u, j);
        for (size_t i = 0; i < WORK_DOORS_MAX;
             i++) { /* again: an O_PATH descriptor is reopened for reading */
                fd_close(&j->targets[i].fd);
                fd_close(&j->targets[i].slots);
        }

        if (journal_open_targets(j, false, e) == 0 && journal_take_back(j, false, e) == 0)
                return 0;

        return err_hint(
                e, "it is taken back in part; once that is out of the way the next command on %s goes on",
                j->l->run);
}

int work_undo(const struct work_undo *u, struct work_outcome *ret, struct err *e)
{
        *ret = (struct work_outcome){ 0 };
        AUTO_LAYER(l, layer_open(u->cx, u->run, LAYER_LANDED, e));
        if (l) {
                (void) snprintf(ret->run, sizeof ret->run, "%s", l->run);
                l->progress = u->progress;
                l->progress_ctx = u->progress_ctx;
        }

        AUTO_JOURNAL(j, l ? journal_newest(l, "done", e) : NULL);
        int r = j ? undo_journal(u, j, ret, e) : -1;
        return u->json ? outcome_undo(u, l, j, ret, r, e) : r;
}
