/* SPDX-License-Identifier: MIT */
/* files/work/apply/work_apply.c - applies an overlay: finds conflicts, and orders the steps. */
#include "base/fd.h"
#include "base/store/store.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

static void layer_end(struct layer **l) { layer_free(*l); }
#define AUTO_LAYER(name, init) __attribute__((cleanup(layer_end))) struct layer *name = (init)
static void journal_end(struct journal **j) { journal_free(*j); }
#define AUTO_JOURNAL(name, init) __attribute__((cleanup(journal_end))) struct journal *name = (init)

/* ---- conflicts ---- */

/* A directory other than the door must also hold the sealed lower entries. */
static const char *judge_there(const struct target *t, struct entry *x, struct node *ret_old)
{
        const char *name;
        char digest[65] = "";
        AUTO_FD(parent, tree_parent(t->fd, x->path, &name));

        *ret_old = (struct node){ 0 };

        if (parent < 0)
                return errno == ENOENT && x->base_kind == '-' ? NULL : "parent directory is missing";

        if (tree_look(parent, name, ret_old) < 0 || tree_digest(parent, name, ret_old, false, digest) < 0)
                return "cannot be read there";

        if (kind_letter(ret_old->kind) != x->base_kind || strcmp(x->base, digest[0] ? digest : "-") != 0)
                return x->base_kind == '-' ? "is there already" : "is something else there";

        return NULL;
}

static size_t count_conflicts(const struct work_apply *a, const struct journal *j, struct entries *v)
{
        size_t n = 0;
        for (size_t i = 0; i < v->n; i++) {
                struct entry *x = &v->v[i];
                const char *why = x->conflict;
                if (!x->chosen)
                        continue;
                if (a->to && !x->torn)
                        why = judge_there(&j->targets[x->door], x, &x->old);
                if (why) {
                        n++;
                        x->conflict = why;
                        apply_say(a, "conflict:", x, why);
                }
        }

        return n;
}

/* ---- targets ---- */

static bool one_rename_away(int from, int to)
{
        /* Neither name exists: the kernel answers ENOENT only after it has found both on one mount. */
        return syscall(SYS_renameat2, from, ".no-such-entry", to, ".no-such-entry-either", RENAME_NOREPLACE) <
                       0 &&
               errno == ENOENT;
}

static int fill_target(struct journal *j, size_t door, const char *path, struct err *e)
{
        struct target *t = &j->targets[door];
        struct stat st;
        t->path = arena_str(&j->mem, path);
        t->fd = t->path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (t->fd < 0 || fstat(t->fd, &st) < 0) {
                (void) err_set(e, ERR_DOOR, errno, "opening %s: %s", path, strerror(errno));
                return err_hint(e, "--to takes a copy of the tree: `cp -a %s %s` makes one",
                                j->l->doors[door].host, path);
        }

        t->dev = tree_fsid(t->fd);
        t->uuid = tree_uuid(t->fd);
        t->ino = st.st_ino;
        t->used = true;
        t->inside = !one_rename_away(j->dir, t->fd);
        return 0;
}

static int target_of_door(struct journal *j, size_t door, struct err *e)
{
        const struct work_door *d = &j->l->doors[door];
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s", d->host) >= (int) sizeof path)
                return err_set(e, ERR_DOOR, ENAMETOOLONG, "the door %s has too long a path", d->host);

        if (!d->is_dir) {
                if (!realpath(d->host, path) && errno != ENOENT)
                        return err_set(e, ERR_DOOR, errno, "opening the door %s: %s", d->host,
                                       strerror(errno));
                char *slash = strrchr(path, '/');
                j->targets[door].file = arena_str(&j->mem, slash + 1);
                slash[slash == path] = '\0';
        }

        if (fill_target(j, door, path, e) < 0)
                return -1;

        if (!d->is_dir)
                return file_stays(d, j->targets[door].fd, j->targets[door].file, e);

        if (!tree_is_on(j->targets[door].fd, d->dev, d->uuid) || j->targets[door].ino != d->ino)
                return err_set(e, ERR_DOOR, ESTALE, "%s is another directory than the one that the box saw",
                               d->host);

        return 0;
}

static int find_targets(const struct work_apply *a, struct journal *j, const struct entries *v, struct err *e)
{
        long only = -1;
        for (size_t i = 0; i < v->n; i++) {
                size_t door = v->v[i].door;
                if (!v->v[i].chosen || j->targets[door].used)
                        continue;
                if (a->to && only >= 0) {
                        (void) err_set(e, ERR_USAGE, 0,
                                       "--to takes the changes of one door, and the overlay has several");
                        return err_hint(e, "name the paths of one door");
                }
                only = (long) door;
                if ((a->to ? fill_target(j, door, a->to, e) : target_of_door(j, door, e)) < 0)
                        return -1;
        }

        return 0;
}

/* ---- steps ---- */

static void add_op(const struct work_apply *a, struct journal *j, const struct entry *x, char kind)
{
        struct op *o = &j->ops[j->n];
        const struct work_door *d = &j->l->doors[x->door];
        const struct target *t = &j->targets[x->door];
        bool file = x->now.kind == NODE_FILE && kind != OP_META && kind != OP_TAKE;

        *o = (struct op){ .kind = kind,
                          .door = x->door,
                          .slot = j->n,
                          .mode = -1,
                          .old_mode = -1,
                          .path = arena_str(&j->mem, t->file ? t->file : x->path),
                          .source = x->path,
                          .entry = x,
                          .before = x->base,
                          .old = x->old,
                          .setid = (x->flags && (a->flagged || a->paths || a->kinds)) != 0,
                          .keep_owner = x->what & WHAT_OWNER && !a->flagged,
                          .new_dir = brings_directory(x),
                          .elsewhere = a->to != NULL };

        /* A single hard link, owned by us, on one mount: the file itself can be moved. */
        o->moved = file && d->is_dir && !a->to && !t->inside && x->now.links == 1 &&
                   x->now.uid == geteuid() && !o->keep_owner;
        o->left = o->moved ? S_IFREG | x->now.mode : 0;
        j->n += o->path != NULL;
}

static bool is_top(const struct entry *x) { return strcmp(x->path, ".") == 0; }

static int make_ops(const struct work_apply *a, struct journal *j, const struct entries *v, const long *up,
                    struct err *e)
{
        j->ops = calloc(2 * v->n + 1, sizeof *j->ops);
        if (!j->ops)
                return err_set(e, ERR_MEMORY, 0, "no memory for the journal");

        for (size_t i = 0; i < v->n; i++) {
                const struct entry *x = &v->v[i];
                bool covered = up[i] >= 0 && v->v[up[i]].chosen && takes_directory(&v->v[up[i]]);
                if (x->chosen && x->what & WHAT_DELETED && !covered)
                        add_op(a, j, x, OP_TAKE);
        }

        for (int dirs = 1; dirs >= 0; dirs--)
                for (size_t i = 0; i < v->n; i++) {
                        const struct entry *x = &v->v[i];
                        if (!x->chosen || x->what & WHAT_DELETED || (x->now.kind == NODE_DIR) != dirs)
                                continue;
                        if (x->what & WHAT_ADDED)
                                add_op(a, j, x, OP_PUT);
                        else if (!dirs || x->what & WHAT_TYPE)
                                add_op(a, j, x, OP_SWAP);
                }

        /* The entries of a directory before the directory; the top, which sorts among them, last. */
        for (int top = 0; top <= 1; top++)
                for (size_t i = v->n; i-- > 0;)
                        if (v->v[i].chosen && v->v[i].now.kind == NODE_DIR && is_top(&v->v[i]) == top)
                                add_op(a, j, &v->v[i], OP_META);

        return j->mem.failed ? err_set(e, ERR_MEMORY, 0, "no memory for the journal") : 0;
}

/* ---- execution ---- */

/* The target of a door's changes. Returns false if it does not exist; a later check reports that. */
static bool find_place(const struct work_apply *a, const struct work_door *d, struct place *ret)
{
        char path[PATH_MAX];
        struct stat st;
        const char *at = a->to ? a->to : d->host;

        if (!a->to && !d->is_dir) {
                if (!realpath(d->host, path))
                        return false;
                char *slash = strrchr(path, '/');
                slash[slash == path] = '\0';
                at = path;
        }

        AUTO_FD(fd, open(at, O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (fd < 0 || fstat(fd, &st) < 0)
                return false;

        *ret = (struct place){ tree_fsid(fd), st.st_ino };
        return true;
}

static int take_turns_of(const struct work_apply *a, const struct layer *l, struct turns *t, struct err *e)
{
        for (size_t i = 0; i < l->door_count; i++)
                t->places += find_place(a, &l->doors[i], &t->place[t->places]);
        return take_turns(a->cx, t, e);
}

static int tell_intent(const struct work_apply *a, struct journal *j, struct err *e)
{
        if (!a->before || j->n == 0)
                return 0;
        const struct work_effect first = journal_effect(j, &j->ops[0]);
        return a->before(a->effect_ctx, &first, journal_entries(j), e);
}

/* The intent is on disk before any step is done; then the caller's `before` callback runs. */
static int plan_journal(const struct work_apply *a, struct journal *j, struct err *e)
{
        if (copy_node(j->l->dir, "base", j->dir, "base", false) < 0 || syncfs(j->dir) < 0)
                return err_set(e, ERR_IO, errno, "keeping what the overlay %s began with: %s", j->l->run,
                               strerror(errno));

        work_step();
        if (journal_write(j, e) < 0)
                return -1;

        work_step();
        if (tell_intent(a, j, e) < 0)
                return -1;

        work_step();
        return 0;
}

static int run_journal(struct journal *j, struct err *e)
{
        struct err why;
        bool back = true;
        if (journal_open_targets(j, true, e) == 0 && stage_all(j, e) == 0 && question_staged(j, e) == 0 &&
            journal_commit(j, e) == 0 && journal_finish(j, &back, e) == 0)
                return 0;

        if (!back)
                return err_hint(e, "everything has landed; the next command tidies up");

        /* If a full disk has no room for the mark, a committed apply continues where it can; see
         * journal_recover(), which reverts an uncommitted one by itself. */
        bool committed = journal_has(j, "commit");
        if (journal_sure(j, &why) < 0 || (committed && journal_mark(j, "back", &why) < 0))
                return err_hint(e, "the next command finishes what was begun, or takes it back: %s",
                                why.what);

        if (journal_take_back(j, false, &why) < 0)
                return err_hint(e, "what was begun is taken back by the next command: %s", why.what);

        return err_hint(e, "nothing was changed");
}

static bool tell_effects(const struct work_apply *a, const struct journal *j)
{
        for (size_t i = 0; a->effect && i < j->n; i++) {
                if (j->ops[i].again)
                        continue;
                const struct work_effect x = journal_effect(j, &j->ops[i]);
                a->effect(a->effect_ctx, &x);
        }
        return !a->after || a->after(a->effect_ctx);
}

static void tell_apart(const struct work_apply *a, const struct entries *v)
{
        char why[96];
        for (size_t i = 0; i < v->n; i++) {
                if (!v->v[i].chosen || !v->v[i].apart)
                        continue;
                (void) snprintf(why, sizeof why, "had %" PRIu64 " names, and is a file of its own now",
                                v->v[i].apart);
                apply_say(a, "note:", &v->v[i], why);
        }
}

/* Updates the overlay after the apply. The apply stands even if this fails: the overlay then keeps the
 * changes pending, and they equal the tree. */
static void note_landed(const struct work_apply *a, struct layer *l, struct entries *v, bool whole)
{
        AUTO_BUF(out);
        struct err why;
        const enum layer_state before = l->state;

        if (base_drop(l, v, &why) == 0) {
                work_step();
                l->state = whole ? LAYER_APPLIED : LAYER_SEALED;
                if (layer_write(l, &why) == 0)
                        return;
        }

        l->state = before;
        if (!a->out || a->json)
                return;

        buf_printf(&out, "note: everything has landed, but the overlay does not know it: %s\n", why.what);
        a->out(a->out_ctx, buf_str(&out), out.n);
}

static int ask_person(const struct work_apply *a, const struct layer *l, struct entries *v, struct err *e)
{
        if (l->ask_count == 0)
                return 0;
        return a->question ? question_fill(l, v, a->question, e) : question_check(a, l, v, e);
}

static int land_entries(const struct work_apply *a, struct layer *l, struct entries *v, const long *up,
                        struct work_outcome *ret, struct err *e)
{
        if ((!a->to && shut_mark(l, v, e) < 0) || choose_entries(a, l, v, up, ret, e) < 0)
                return -1;

        if (ret->applied == 0)
                return 0;

        AUTO_JOURNAL(j, journal_new(l, e));
        if (!j)
                return -1;

        work_step();
        struct err none;
        int r = find_targets(a, j, v, e);
        if (r == 0 && (ret->conflicts = count_conflicts(a, j, v)) > 0)
                ret->applied = 0;

        j->mark = a->mark;
        if (r == 0 && ret->conflicts == 0)
                r = ask_person(a, l, v, e);

        bool ends = r == 0 && (ret->conflicts > 0 || a->question);
        if (r < 0 || ends || make_ops(a, j, v, up, e) < 0 || plan_journal(a, j, e) < 0) {
                (void) journal_remove(j, &none);
                return ends ? 0 : -1;
        }

        if (run_journal(j, e) < 0)
                return -1;

        if (tell_effects(a, j))
                journal_told(j);

        if (a->to)
                return 0;

        tell_apart(a, v);
        note_landed(a, l, v, ret->applied == v->n);
        return 0;
}

/* Torn content is never applied. */
static int refuse_torn_chosen(const struct entries *v, struct err *e)
{
        char shown[256];
        for (size_t i = 0; i < v->n; i++)
                if (v->v[i].chosen && v->v[i].torn)
                        return err_set(e, ERR_IO, 0, "%s: " TORN_WORDS,
                                       str_inert(span_str(v->v[i].path), shown, sizeof shown));
        return 0;
}

/* The changes as a patch. Conflicts are included, because a patch is used for merging. Of the lower entry
 * only the digest is known, so the patch is against the host's current version. */
static int hand_out(const struct work_apply *a, struct layer *l, struct entries *v, const long *up,
                    struct work_outcome *ret, struct err *e)
{
        if (choose_entries(a, l, v, up, ret, e) < 0)
                return -1;
        ret->conflicts = count_conflicts(a, NULL, v);
        return refuse_torn_chosen(v, e) < 0 ? -1 : show_patch(a, l, v, e);
}

static int apply_layer(const struct work_apply *a, struct layer *l, struct entries *v,
                       struct work_outcome *ret, struct err *e)
{
        AUTO_TURNS(turns);
        if (l->state == LAYER_APPLIED && !a->to) {
                (void) err_set(e, ERR_USAGE, 0, "the overlay %s has been applied already", l->run);
                return err_hint(e, "`cordon undo %s` takes it back", l->run);
        }

        if (take_turns_of(a, l, &turns, e) < 0 || scan_sealed(l, v, e) < 0 || scan_torn(l, v, e) < 0 ||
            paths_all_found(l, v, a->paths, e) < 0 || paths_all_found(l, v, a->but, e) < 0)
                return -1;

        long *up = find_parents(v);
        int r = up ? (a->patch ? hand_out : land_entries)(a, l, v, up, ret, e)
                   : err_set(e, ERR_MEMORY, 0, "no memory for the changes");
        free(up);
        return r;
}

int work_apply(const struct work_apply *a, struct work_outcome *ret, struct err *e)
{
        *ret = (struct work_outcome){ 0 };
        AUTO_ENTRIES(v);
        AUTO_LAYER(l, layer_open(a->cx, a->run, LAYER_ONE, e));
        if (l) {
                (void) snprintf(ret->run, sizeof ret->run, "%s", l->run);
                l->progress = a->progress;
                l->progress_ctx = a->progress_ctx;
        }

        int r = l ? apply_layer(a, l, &v, ret, e) : -1;
        return a->json ? outcome_apply(a, l, &v, ret, r, e) : r;
}

int work_question(const struct work_apply *a, struct work_question *ret, struct err *e)
{
        struct work_apply quiet = *a;
        struct work_outcome ignored = { 0 };
        *ret = (struct work_question){ 0 };
        AUTO_ENTRIES(v);
        AUTO_LAYER(l, layer_open(a->cx, a->run, LAYER_ONE, e));
        if (!l || l->ask_count == 0)
                return l ? 0 : -1;

        quiet.out = NULL;
        quiet.question = ret;
        return apply_layer(&quiet, l, &v, &ignored, e);
}
