/* SPDX-License-Identifier: MIT */
/* files/work/journal/journal.c - an apply that is atomic: all or nothing, even if interrupted.
 *
 *   apply-K/journal    the intent: one record for each target and each step, NUL-terminated
 *                          mark WORD                      the caller's, for the process that finishes it
 *                          target DOOR FSID:UUID INO INSIDE PATH
 *                          op KIND MOVED[:MODE] DOOR SLOT LENGTH PATH SOURCE       LENGTH: bytes of PATH
 *   apply-K/slots-N/   one slot for each step of door N: first the new entry, then, by RENAME_EXCHANGE,
 *                      the old one, which undo puts back. If the state directory is on another filesystem,
 *                      the slots are a directory in the target, and move home when all is done.
 *   apply-K/commit     the new entries are complete and on disk, one line for each step:
 *                          INO DIGEST OLD-KIND OLD-INO OLD-SIZE OLD-SECONDS OLD-NANOSECONDS MODE OLD-MODE
 *                          OLD-LINKS LINKED
 *                      Once this file has its name the apply is completed, by us or by the next command,
 *                      unless an entry differs from the one that was checked (OLD).
 *   apply-K/back       it is being reverted
 *   apply-K/done       it is applied
 *   apply-K/told       and the result is reported to the caller
 *
 * The slot's content on disk shows whether a step was done, so every step can be repeated. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void journal_free(struct journal *j)
{
        if (!j)
                return;

        for (size_t i = 0; i < WORK_DOORS_MAX; i++) {
                fd_close(&j->targets[i].fd);
                fd_close(&j->targets[i].slots);
        }

        fd_close(&j->dir);
        free(j->ops);
        arena_done(&j->mem);
        free(j);
}

static struct journal *journal_alloc(struct layer *l, const char *name, struct err *e)
{
        struct journal *j = calloc(1, sizeof *j);
        if (!j) {
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the journal");
                return NULL;
        }

        j->l = l;
        j->dir = -1;
        for (size_t i = 0; i < WORK_DOORS_MAX; i++)
                j->targets[i].fd = j->targets[i].slots = -1;

        (void) snprintf(j->name, sizeof j->name, "%s", name);
        return j;
}

struct journal *journal_new(struct layer *l, struct err *e)
{
        char name[32];
        unsigned k = 1;
        do
                (void) snprintf(name, sizeof name, "apply-%u", k++);

        while (faccessat(l->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
        struct journal *j = journal_alloc(l, name, e);
        if (!j)
                return NULL;

        if (mkdirat(l->dir, name, 0700) == 0)
                j->dir = openat(l->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (j->dir >= 0)
                return j;

        (void) journal_failed(e, "making", name);
        journal_free(j);
        return NULL;
}

/* ---- on disk ---- */

static int write_file(int dir, const char *name, struct span text)
{
        char fresh[48];
        (void) snprintf(fresh, sizeof fresh, "%s.new", name);
        AUTO_FD(fd, openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || fd_write_all(fd, text.p, text.n) < 0 || fsync(fd) < 0)
                return -1;

        work_step();
        if (renameat(dir, fresh, dir, name) < 0)
                return -1;

        return fsync(dir);
}

int journal_mark(struct journal *j, const char *mark, struct err *e)
{
        work_step();
        if (journal_sure(j, e) < 0)
                return -1;

        if (write_file(j->dir, mark, span_str("1\n")) < 0)
                return journal_failed(e, "writing the journal of", j->l->run);

        work_step();
        return 0;
}

int journal_write(struct journal *j, struct err *e)
{
        AUTO_BUF(out);
        if (j->mark) {
                buf_puts(&out, "mark ");
                buf_add(&out, j->mark, strlen(j->mark) + 1);
        }

        for (size_t i = 0; i < WORK_DOORS_MAX; i++) {
                const struct target *t = &j->targets[i];
                if (!t->used)
                        continue;
                buf_printf(&out, "target %zu %" PRIu64 ":%" PRIx64 " %" PRIu64 " %d ", i, t->dev, t->uuid,
                           t->ino, t->inside);
                buf_add(&out, t->path, strlen(t->path) + 1);
        }

        for (size_t i = 0; i < j->n; i++) {
                const struct op *o = &j->ops[i];
                buf_printf(&out, "op %c %d", o->kind, o->moved);
                if (o->left)
                        buf_printf(&out, ":%o", o->left & 07777);
                buf_printf(&out, " %u %zu %zu %s %s", o->door, o->slot, strlen(o->path), o->path, o->source);
                buf_add(&out, "", 1);
        }

        if (out.failed)
                return err_set(e, ERR_MEMORY, 0, "no memory for the journal");

        if (write_file(j->dir, "journal", buf_span(&out)) < 0 || fsync(j->l->dir) < 0)
                return journal_failed(e, "writing the journal of", j->l->run);

        return 0;
}

static void put_commit(struct buf *out, const struct op *o)
{
        buf_printf(out, "%" PRIu64 " %s %u %" PRIu64 " %" PRIu64 " %lld %ld %ld %ld %" PRIu64 " %d\n", o->ino,
                   o->digest && o->digest[0] ? o->digest : "-", (unsigned) o->old.kind, o->old.ino,
                   o->old.size, (long long) o->old.mtime.tv_sec, o->old.mtime.tv_nsec, o->mode, o->old_mode,
                   o->old.links, o->linked);
}

int journal_commit(struct journal *j, struct err *e)
{
        AUTO_BUF(out);
        for (size_t i = 0; i < j->n; i++)
                put_commit(&out, &j->ops[i]);

        work_step();
        if (out.failed)
                return err_set(e, ERR_MEMORY, 0, "no memory for the journal");

        if (write_file(j->dir, "commit", buf_span(&out)) < 0)
                return journal_failed(e, "writing the journal of", j->l->run);

        work_step();
        return 0;
}

static char *read_whole(struct journal *j, const char *name, size_t *ret_n)
{
        struct stat st;
        AUTO_FD(fd, openat(j->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (fd < 0 || fstat(fd, &st) < 0)
                return NULL;

        char *text = arena_alloc(&j->mem, (size_t) st.st_size + 1);
        *ret_n = (size_t) st.st_size;
        return text && fd_read_all(fd, text, *ret_n) == st.st_size ? text : NULL;
}

/* Cuts the next word off; NULL: none left. */
static char *next_word(char **at)
{
        char *w = *at, *end = w ? strchr(w, ' ') : NULL;
        if (!end)
                return NULL;
        *end = '\0';
        *at = end + 1;
        return w;
}

static bool read_target(struct journal *j, char *at)
{
        char *door = next_word(&at), *dev = next_word(&at), *ino = next_word(&at), *inside = next_word(&at);
        size_t i = door ? strtoul(door, NULL, 10) : WORK_DOORS_MAX;
        if (!dev || !ino || !inside || i >= WORK_DOORS_MAX)
                return false;

        struct target *t = &j->targets[i];
        t->used = true;
        t->dev = strtoull(dev, &dev, 10);
        t->uuid = *dev == ':' ? strtoull(dev + 1, NULL, 16) : 0; /* missing in an older journal */
        t->ino = strtoull(ino, NULL, 10);
        t->inside = inside[0] == '1';
        t->path = at;
        return true;
}

static bool read_op(struct op *o, char *at)
{
        char *kind = next_word(&at), *moved = next_word(&at), *door = next_word(&at), *slot = next_word(&at),
             *len = next_word(&at);
        size_t n = len ? strtoul(len, NULL, 10) : 0;
        if (!kind || !moved || !door || !slot || !len || strlen(at) <= n || at[n] != ' ')
                return false;

        at[n] = '\0';
        *o = (struct op){ .kind = kind[0],
                          .moved = moved[0] == '1',
                          .left = moved[1] == ':' ? S_IFREG | (strtoul(moved + 2, NULL, 8) & 07777) : 0,
                          .door = (unsigned) strtoul(door, NULL, 10),
                          .slot = strtoul(slot, NULL, 10),
                          .mode = -1,
                          .old_mode = -1,
                          .path = at,
                          .source = at + n + 1 };
        return o->door < WORK_DOORS_MAX && kind[0] && !kind[1] && strchr("PSTM", kind[0]);
}

/* The identity of the checked entry, in five numbers, and the modes; an old journal has none of them, or
 * only the first mode. */
static void read_old(struct op *o, char *at)
{
        const char *part[6];
        for (unsigned i = 0; i < 6; i++) {
                part[i] = i < 5 ? next_word(&at) : at;
                if (!part[i])
                        return;
        }

        o->old.kind = (enum node_kind) strtoul(part[0], NULL, 10);
        o->old.ino = strtoull(part[1], NULL, 10);
        o->old.size = strtoull(part[2], NULL, 10);
        o->old.mtime.tv_sec = (time_t) strtoll(part[3], NULL, 10);
        o->old.mtime.tv_nsec = strtol(part[4], NULL, 10);
        char *more;
        o->mode = strtol(part[5], &more, 10);
        if (*more == ' ')
                o->old_mode = strtol(more + 1, &more, 10);

        if (*more == ' ')
                o->old.links = strtoull(more + 1, &more, 10);

        if (*more == ' ')
                o->linked = strtol(more + 1, NULL, 10) == 1;
}

static bool read_commit(struct journal *j)
{
        size_t n;
        char *at = read_whole(j, "commit", &n);
        for (size_t i = 0; at && i < j->n; i++) {
                char *nl = strchr(at, '\n'), *ino = next_word(&at);
                if (!nl || !ino)
                        return false;
                *nl = '\0';
                j->ops[i].ino = strtoull(ino, NULL, 10);
                char *digest = at, *rest = strchr(at, ' ');
                if (rest) {
                        *rest = '\0';
                        read_old(&j->ops[i], rest + 1);
                }
                j->ops[i].digest = digest;
                at = nl + 1;
        }

        return at != NULL;
}

/* With errno set; 0: the content is not in our format. */
static int not_read(const struct journal *j, struct err *e)
{
        if (errno)
                return err_set(e, ERR_IO, errno, "the journal %s of the overlay %s cannot be read: %s",
                               j->name, j->l->run, strerror(errno));
        (void) err_set(e, ERR_IO, 0, "the journal %s of the overlay %s cannot be read", j->name, j->l->run);
        return err_hint(e, "was it written by a later cordon? then use that one; nothing of it was touched");
}

static struct journal *journal_read(struct layer *l, const char *name, struct err *e)
{
        size_t n = 0, count = 0;
        struct journal *j = journal_alloc(l, name, e);
        if (!j)
                return NULL;

        j->dir = openat(l->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        bool bad = j->dir < 0;
        bool began = !bad && journal_has(j, "journal");
        if (!bad)
                errno = 0;

        char *text = began ? read_whole(j, "journal", &n) : NULL;
        bad |= began && !text;
        for (size_t i = 0; text && i < n; i++)
                count += text[i] == '\0';

        j->ops = calloc(count + 1, sizeof *j->ops);
        bad |= !j->ops;
        for (char *at = text; !bad && text && at < text + n;) {
                char *next = at + strlen(at) + 1, *first = next_word(&at);
                if (first && strcmp(first, "target") == 0)
                        bad = !read_target(j, at);
                else if (first && strcmp(first, "mark") == 0)
                        j->mark = at;
                else /* a step unknown to this version cannot be skipped */
                        bad = !first || strcmp(first, "op") != 0 || j->n == count ||
                              !read_op(&j->ops[j->n++], at);
                at = next;
        }

        if (!bad && journal_has(j, "commit"))
                bad = !read_commit(j);

        if (bad)
                (void) not_read(j, e);
        else if (journal_sure(j, e) == 0)
                return j;

        journal_free(j);
        return NULL;
}

/* ---- targets and slots ---- */

/* Its steps are repeated or reverted. A directory on the way may get any mode in between; the last step
 * sets it. */
static bool is_underway(struct journal *j)
{
        return journal_has(j, "back") || (journal_has(j, "commit") && !journal_has(j, "done"));
}

static int open_path(const char *path, uint64_t flags)
{
        return fd_open2(AT_FDCWD, path, flags | O_DIRECTORY, RESOLVE_NO_MAGICLINKS);
}

/* The box may have made the top of its door inaccessible to the owner. Then it is an O_PATH descriptor
 * until steps are done. */
static int open_target(struct journal *j, const struct target *t)
{
        AUTO_FD(fd, open_path(t->path, O_RDONLY));
        struct stat st;
        bool closed = fd < 0 && errno == EACCES;
        if (closed)
                fd = open_path(t->path, O_PATH);

        if (fd < 0 || fstat(fd, &st) < 0)
                return -1;

        if (!tree_is_on(fd, t->dev, t->uuid) || st.st_ino != t->ino) {
                errno = ESTALE;
                return -1;
        }

        return closed && is_underway(j) ? tree_open_place(fd, st.st_mode) : TAKE_FD(fd);
}

/* The directory of the slots while they are used; created with `make`. */
static int open_slots(const struct journal *j, size_t door, bool make)
{
        const struct target *t = &j->targets[door];
        char name[WORK_RUN_MAX + 48];
        if (t->inside)
                (void) snprintf(name, sizeof name, ".cordon-%s-%s", j->l->run, j->name);
        else
                (void) snprintf(name, sizeof name, "slots-%zu", door);

        int dir = t->inside ? t->fd : j->dir;
        if (make && mkdirat(dir, name, 0700) < 0)
                return -1;

        return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int journal_open_targets(struct journal *j, bool make, struct err *e)
{
        for (size_t i = 0; i < WORK_DOORS_MAX; i++) {
                struct target *t = &j->targets[i];
                if (!t->used)
                        continue;
                if (t->fd < 0)
                        t->fd = open_target(j, t);
                if (t->fd < 0)
                        return journal_failed(e, "opening", t->path);
                t->slots = open_slots(j, i, make);
                if (t->slots < 0 && (make || errno != ENOENT))
                        return journal_failed(e, "making room for the changes in", t->path);
        }

        return 0;
}

static int remove_inside(const struct journal *j)
{
        char name[WORK_RUN_MAX + 48];
        (void) snprintf(name, sizeof name, ".cordon-%s-%s", j->l->run, j->name);
        for (size_t i = 0; i < WORK_DOORS_MAX; i++)
                if (j->targets[i].used && j->targets[i].inside && j->targets[i].fd >= 0 &&
                    remove_tree(j->targets[i].fd, name) < 0)
                        return -1;

        return 0;
}

int journal_remove(struct journal *j, struct err *e)
{
        char gone[48];
        (void) snprintf(gone, sizeof gone, ".gone-%s", j->name);
        work_step();
        if (journal_sure(j, e) < 0)
                return -1;

        if (remove_inside(j) < 0 || renameat(j->l->dir, j->name, j->l->dir, gone) < 0)
                return journal_failed(e, "removing the journal of", j->l->run);

        work_step();
        if (remove_tree(j->l->dir, gone) < 0)
                return journal_failed(e, "removing the journal of", j->l->run);

        return 0;
}

/* Slots in the target move home, complete before they get their name. */
static int bring_home(struct journal *j, size_t door, struct err *e)
{
        char there[WORK_RUN_MAX + 48], home[32], fresh[40];
        (void) snprintf(there, sizeof there, ".cordon-%s-%s", j->l->run, j->name);
        (void) snprintf(home, sizeof home, "slots-%zu", door);
        (void) snprintf(fresh, sizeof fresh, "%s.new", home);
        if (journal_has(j, home))
                return 0;

        if (remove_tree(j->dir, fresh) < 0 ||
            copy_tree(j->targets[door].fd, there, j->dir, fresh, false) < 0 || syncfs(j->dir) < 0 ||
            renameat(j->dir, fresh, j->dir, home) < 0 || fsync(j->dir) < 0) {
                (void) journal_failed(e, "keeping what was replaced in", j->targets[door].path);
                (void) remove_tree(j->dir,
                                   fresh); /* a full disk also has no room for the mark of the way back */
                return -1;
        }

        return 0;
}

int journal_send_out(struct journal *j, struct err *e)
{
        char there[WORK_RUN_MAX + 48], home[32];
        (void) snprintf(there, sizeof there, ".cordon-%s-%s", j->l->run, j->name);
        for (size_t i = 0; i < WORK_DOORS_MAX; i++) {
                if (!j->targets[i].used || !j->targets[i].inside)
                        continue;
                (void) snprintf(home, sizeof home, "slots-%zu", i);
                struct target *t = &j->targets[i];
                fd_close(&t->slots);
                if (copy_tree(j->dir, home, t->fd, there, false) < 0 ||
                    (t->slots = open_slots(j, i, false)) < 0 || rejoin_names(j, i) < 0 || syncfs(t->fd) < 0) {
                        (void) journal_failed(e, "bringing back what was replaced in", t->path);
                        (void) remove_inside(j);
                        return err_hint(e, "nothing was changed");
                }
        }

        return 0;
}

static bool is_home(struct journal *j)
{
        for (size_t i = 0; i < WORK_DOORS_MAX; i++) {
                char home[32];
                (void) snprintf(home, sizeof home, "slots-%zu", i);
                if (j->targets[i].used && j->targets[i].inside && !journal_has(j, home))
                        return false;
        }

        return true;
}

/* After all steps: undo's store moves home, the journal is done. */
static int settle_journal(struct journal *j, struct err *e)
{
        for (size_t i = 0; i < WORK_DOORS_MAX; i++)
                if (j->targets[i].used && j->targets[i].inside && bring_home(j, i, e) < 0)
                        return -1;

        work_step();
        if (remove_inside(j) < 0)
                return journal_failed(e, "tidying up after", j->name);

        return journal_mark(j, "done", e);
}

int journal_finish(struct journal *j, bool *ret_back, struct err *e)
{
        *ret_back = true;
        if (journal_forward(j, e) < 0)
                return -1;
        int r = settle_journal(j, e);
        *ret_back = r < 0 && !is_home(j); /* no room for the replaced entries: put them back */
        return r;
}

/* ---- after an interruption ---- */

/* With slots inside a target, some of which moved home already, every step is done. */
static bool any_inside(const struct journal *j)
{
        for (size_t i = 0; i < WORK_DOORS_MAX; i++)
                if (j->targets[i].used && j->targets[i].inside)
                        return true;
        return false;
}

/* Restores the state before the apply: the tree, the overlay and its base records. */
int journal_take_back(struct journal *j, bool again, struct err *e)
{
        /* Not started: the files kept beside it may be incomplete, and are not needed. */
        bool began = journal_has(j, "journal"), landed = journal_has(j, "done");
        if (journal_back(j, e) < 0 || (began && base_restore(j, e) < 0))
                return -1;

        if (j->l->state == LAYER_APPLIED) {
                j->l->state = LAYER_SEALED;
                if (layer_write(j->l, e) < 0)
                        return -1;
        }

        bool told = landed && !again;
        const enum work_end_of how = landed ? WORK_UNDONE : WORK_TAKEN_BACK;
        if (!told)
                told = journal_tell(j, how, again);

        if (journal_remove(j, e) < 0)
                return -1;

        if (!told) /* the removal may have freed the space that the record needed */
                (void) journal_tell(j, how, again);

        return 0;
}

static int recover_one(struct layer *l, const char *name, struct err *e)
{
        struct journal *j = journal_read(l, name, e);
        if (!j)
                return -1;

        bool done = journal_has(j, "done"), back = journal_has(j, "back"),
             committed = journal_has(j, "commit");
        int r = journal_sure(j, e);
        if (r < 0)
                goto out;

        if (done && !back) {
                struct err none; /* an undo that was interrupted before its first step */
                if (any_inside(j) && journal_open_targets(j, false, &none) == 0)
                        (void) remove_inside(j);
                goto landed;
        }

        if ((r = journal_open_targets(j, false, e)) < 0)
                goto out;

        if (!back && committed) {
                r = any_inside(j) && is_home(j) ? settle_journal(j, e) : journal_finish(j, &back, e);
                if (r < 0 && back && (r = journal_mark(j, "back", e)) == 0)
                        r = journal_take_back(j, true, e);
        } else {
                r = journal_take_back(j, true, e);
        }

        if (r < 0)
                (void) err_in(e, "an apply of %s was interrupted and cannot be finished", l->run);
landed:
        if (r == 0 && journal_has(j, "done") && !journal_has(j, "told") && journal_tell(j, WORK_LANDED, true))
                journal_told(j);
out:
        if (r < 0 && !e->hint[0])
                (void) err_hint(
                        e,
                        "mend that and repeat; or `cordon discard %s`, which leaves the files as they "
                        "are now, and keeps what the apply has replaced",
                        l->run);
        journal_free(j);
        return r;
}

int journal_recover(const struct cordon_context *cx, struct layer *l, struct err *e)
{
        l->cx = cx;
        AUTO_NAMES(list);
        if (tree_names(l->dir, &list) < 0)
                return journal_failed(e, "listing", l->run);

        for (size_t i = 0; i < list.n; i++) {
                if (strncmp(list.v[i], ".gone-", 6) == 0 && remove_tree(l->dir, list.v[i]) < 0)
                        return journal_failed(e, "removing", list.v[i]);
                if (strncmp(list.v[i], "apply-", 6) == 0 && recover_one(l, list.v[i], e) < 0)
                        return -1;
        }

        return 0;
}

/* The number of the newest journal that has the marker; 0: none. Returns -1 if unknown: an older one must
 * not be taken instead. */
static long newest_with(const struct layer *l, const struct names *list, const char *mark, struct stat *ret)
{
        long best = 0;
        for (size_t i = 0; i < list->n; i++) {
                char name[64];
                struct stat st;
                long k = strncmp(list->v[i], "apply-", 6) == 0 ? strtol(list->v[i] + 6, NULL, 10) : 0;
                if (k <= best)
                        continue;
                (void) snprintf(name, sizeof name, "apply-%ld/%s", k, mark);
                if (fstatat(l->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
                        best = k;
                        *ret = st;
                } else if (errno != ENOENT) {
                        return -1;
                }
        }

        return best;
}

bool journal_landed(const struct layer *l, struct timespec *ret_when)
{
        AUTO_NAMES(list);
        struct stat st;
        if (tree_names(l->dir, &list) < 0 || newest_with(l, &list, "done", &st) <= 0)
                return false;
        *ret_when = st.st_mtim;
        return true;
}

struct journal *journal_newest(struct layer *l, const char *mark, struct err *e)
{
        AUTO_NAMES(list);
        struct stat st;
        long best = tree_names(l->dir, &list) < 0 ? -1 : newest_with(l, &list, mark, &st);
        if (best < 0) {
                (void) journal_failed(e, "listing", l->run);
                return NULL;
        }

        if (best == 0) {
                (void) err_set(e, ERR_GONE, 0, "nothing of the overlay %s has been applied", l->run);
                return NULL;
        }

        char name[32];
        (void) snprintf(name, sizeof name, "apply-%ld", best);
        return journal_read(l, name, e);
}
