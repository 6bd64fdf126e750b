/* SPDX-License-Identifier: MIT */
/* run/keeper/publish.c - single files behind `write` doors that the box has as copies (wall/plan/copies.c):
 * written back to the host when the run is over.
 *
 *   other bytes                     a new file, complete before it gets the name
 *   only another mode or time       set in place
 *   none                            removed
 *
 * A file with several hard links, or that is a mount point, is written in place if the box did: only there a
 * keeper that is killed can leave half of it.
 *
 * Never: follows a symlink, opens anything but a regular file, gives the box's bytes a set-id bit, overwrites
 * a file that changed on the host meanwhile. In that case the box's version is kept as STATE/kept/RUN/NAME.
 */
#include "base/fd.h"
#include "base/store/store.h"
#include "base/str.h"
#include "run/keeper/run_record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { CHUNK = 32768, XATTR_NAMES = 4096, XATTR_BYTES = 4096, SWAPS_MAX = 16, BESIDE_MAX = 256 };
enum { DONE = 0, CHANGED, OTHERWISE }; /* CHANGED: on the host; OTHERWISE: it cannot be done in this way */

/* The bit has no meaning for files: temporary files have it, so that a leftover one can be recognised. */
#define ON_ITS_WAY S_ISVTX

enum outcome { OUTCOME_NONE = 0, OUTCOME_WRITTEN, OUTCOME_REPLACED, OUTCOME_REMOVED, OUTCOME_CONFLICT };
static const char *const outcome_words[] = {
        [OUTCOME_NONE] = "",
        [OUTCOME_WRITTEN] = "written in place",
        [OUTCOME_REPLACED] = "replaced",
        [OUTCOME_REMOVED] = "removed",
        [OUTCOME_CONFLICT] = "not written: it changed on the host meanwhile",
};

struct box_copy {
        const char *path, *name; /* on the host; the name is its end */
        int dir, from;           /* the host's directory, and the file as it was */
        int inside;              /* the private directory; -1: not made yet */
        uint64_t ino;            /* of the copy that was made there */
        struct stat base;
        enum outcome outcome;
        int64_t bytes;
        int out; /* the host's file, if it was written */
};

/* ---- before the start ---- */

static void name_beside(const struct box_copy *c, char ret[static BESIDE_MAX])
{
        (void) snprintf(ret, BESIDE_MAX, ".cordon-publish.%.200s", c->name);
}

/* The leftover file of a keeper that was killed while it published this file: its lock is free. */
static void remove_left(const struct box_copy *c)
{
        char name[BESIDE_MAX];
        struct stat st;
        name_beside(c, name);
        AUTO_FD(fd, openat(c->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
            (st.st_mode & ON_ITS_WAY) && flock(fd, LOCK_EX | LOCK_NB) == 0)
                (void) unlinkat(c->dir, name, 0);
}

static int open_copy(struct box_copy *c, const struct plan_step *s, struct err *e)
{
        char parent[PATH_MAX_BYTES];
        c->path = s->text;
        c->name = strrchr(s->text, '/') + 1;
        (void) snprintf(parent, sizeof parent, "%.*s", (int) (c->name - c->path), c->path);

        c->dir =
                fd_open2(AT_FDCWD, parent, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
        AUTO_FD(at, c->dir < 0 ? -1 : openat(c->dir, c->name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (at < 0 || fstat(at, &c->base) < 0)
                return err_set(e, ERR_DOOR, errno, "opening the door %s: %s", c->path, strerror(errno));

        if (!S_ISREG(c->base.st_mode) || c->base.st_dev != s->dev || c->base.st_ino != s->ino)
                return err_set(e, ERR_DOOR, ESTALE, "%s changed while the box was starting", c->path);

        c->from = fd_reopen(at, O_RDONLY | O_NONBLOCK);
        if (c->from < 0)
                return err_set(e, ERR_DOOR, errno, "opening the door %s: %s", c->path, strerror(errno));

        remove_left(c);
        return 0;
}

int keeper_copies_open(struct box *b, struct err *e)
{
        const struct plan *p = b->c.plan;
        if (p->copies == 0)
                return 0;

        b->copies = calloc(p->copies, sizeof *b->copies);
        if (!b->copies)
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the doors");

        for (unsigned i = 0; i < p->copies; i++)
                b->copies[i].dir = b->copies[i].from = b->copies[i].inside = b->copies[i].out = -1;

        for (size_t i = 0; i < p->step_count; i++) {
                const struct plan_step *s = &p->steps[i];
                if (s->kind == STEP_COPY && open_copy(&b->copies[s->layer], s, e) < 0)
                        return -1;
                if (s->kind == STEP_COPY)
                        b->copy_fds[s->layer] = b->copies[s->layer].from;
        }

        return 0;
}

bool keeper_copy_made(struct box *b, const struct wall_message *m, int *fd)
{
        if (m->copy.which >= b->c.plan->copies || b->copies[m->copy.which].inside >= 0)
                return false;

        b->copies[m->copy.which].ino = m->copy.ino;
        b->copies[m->copy.which].inside = TAKE_FD(*fd);
        return true;
}

bool keeper_is_beside_copy(const struct box *b, const char *path)
{
        for (unsigned i = 0; b->copies && i < b->c.plan->copies; i++) {
                const struct box_copy *c = &b->copies[i];
                if (strncmp(path, c->path, (size_t) (c->name - c->path)) == 0)
                        return true;
        }
        return false;
}

/* ---- at the end ---- */

static int publish_failed(const struct box_copy *c, const char *doing, struct err *e)
{
        int sys = errno;
        return err_set(e, ERR_IO, sys, "%s %s: %s", doing, c->path, strerror(sys));
}

static int copy_bytes(int from, int to)
{
        char chunk[CHUNK];
        off_t at = 0;
        ssize_t n;

        while ((n = pread(from, chunk, sizeof chunk, at)) > 0) {
                for (ssize_t k, done = 0; done < n; done += k)
                        if ((k = pwrite(to, chunk + done, (size_t) (n - done), at + done)) < 0)
                                return -1;
                at += n;
        }

        return n < 0 ? -1 : ftruncate(to, at);
}

static bool has_same_bytes(int x, int y)
{
        char one[CHUNK], two[CHUNK];
        off_t at = 0;
        for (ssize_t n; (n = pread(x, one, sizeof one, at)) >= 0; at += n) {
                if (pread(y, two, sizeof two, at) != n || memcmp(one, two, (size_t) n) != 0)
                        return false;
                if (n == 0)
                        return true;
        }

        return false;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
        return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* All but the time of the last change of the inode, which a rename sets. */
static bool is_like(const struct stat *a, const struct stat *b)
{
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
               a->st_mode == b->st_mode && a->st_uid == b->st_uid && a->st_gid == b->st_gid &&
               same_time(&a->st_mtim, &b->st_mtim);
}

static bool is_changed(const struct box_copy *c, const struct stat *now)
{
        return !is_like(now, &c->base) || !same_time(&now->st_ctim, &c->base.st_ctim);
}

static bool is_changed_outside(const struct box_copy *c)
{
        struct stat now;
        return fstatat(c->dir, c->name, &now, AT_SYMLINK_NOFOLLOW) < 0 || is_changed(c, &now);
}

/* Our own stamp on a host's file is no change of it: a bit for each that had none before. */
uint64_t keeper_copies_unchanged(const struct box *b)
{
        uint64_t set = 0;
        for (unsigned i = 0; b->copies && i < b->c.plan->copies; i++)
                if (!is_changed_outside(&b->copies[i]))
                        set |= UINT64_C(1) << i;
        return set;
}

void keeper_copies_stamped(struct box *b, uint64_t unchanged)
{
        struct stat now;
        for (unsigned i = 0; b->copies && i < b->c.plan->copies; i++) {
                struct box_copy *c = &b->copies[i];
                if (unchanged >> i & 1 && fstatat(c->dir, c->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
                    is_like(&now, &c->base))
                        c->base.st_ctim = now.st_ctim;
        }
}

static int set_times(int to, const struct stat *st)
{
        const struct timespec times[] = { st->st_atim, st->st_mtim };
        return futimens(to, times);
}

/* Before the first byte: there is room for all of them, and no bit that would give them powers. */
static int prepare_in_place(int to, const struct stat *now, off_t size)
{
        if (fallocate(to, FALLOC_FL_KEEP_SIZE, 0, size) < 0 &&
            (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
                return -1;
        return now->st_mode & 07000 ? fchmod(to, now->st_mode & 0777) : 0;
}

/* The inode that was copied in. OTHERWISE: as of a file without write permission. */
static int write_in_place(struct box_copy *c, int from, const struct stat *st, bool bytes)
{
        struct stat now;
        AUTO_FD(to,
                openat(c->dir, c->name, (bytes ? O_WRONLY : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (to < 0)
                return errno == EACCES || errno == ETXTBSY ? OTHERWISE : -1;

        if (fstat(to, &now) < 0)
                return -1;

        if (is_changed(c, &now))
                return CHANGED;

        if (bytes && (prepare_in_place(to, &now, st->st_size) < 0 || copy_bytes(from, to) < 0))
                return -1;

        mode_t mode = st->st_mode & 0777;
        if ((mode != (c->base.st_mode & 0777) && fchmod(to, mode) < 0) || set_times(to, st) < 0)
                return -1;

        c->outcome = OUTCOME_WRITTEN;
        c->out = TAKE_FD(to);
        return DONE;
}

/* The caller's extended attributes and ACL; attributes that give privileges are not copied. */
static void copy_attributes(const struct box_copy *c, int to)
{
        char names[XATTR_NAMES], value[XATTR_BYTES];
        ssize_t all = flistxattr(c->from, names, sizeof names);
        for (ssize_t i = 0; i < all; i += (ssize_t) strlen(names + i) + 1) {
                const char *name = names + i;
                if (strncmp(name, "user.", 5) != 0 && strcmp(name, "system.posix_acl_access") != 0)
                        continue;
                ssize_t n = fgetxattr(c->from, name, value, sizeof value);
                if (n >= 0)
                        (void) fsetxattr(to, name, value, (size_t) n, 0);
        }

        (void) !fchown(to, (uid_t) -1, c->base.st_gid);
}

/* A filesystem without O_TMPFILE gets a temporary name at once. */
static int open_new(const struct box_copy *c, const char *name, bool *ret_named)
{
        const mode_t mode = 0600 | ON_ITS_WAY;
        int fd = openat(c->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
        *ret_named = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT);
        return *ret_named ? openat(c->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
                          : fd;
}

static int fill_new(const struct box_copy *c, int from, const struct stat *st, int to)
{
        (void) flock(to, LOCK_EX | LOCK_NB);
        if (copy_bytes(from, to) < 0)
                return -1;

        copy_attributes(c, to);
        return fchmod(to, (st->st_mode & 0777) | ON_ITS_WAY) < 0 || set_times(to, st) < 0 || fdatasync(to) < 0
                       ? -1
                       : 0;
}

static int rename_how(const struct box_copy *c, const char *from, const char *to, unsigned how)
{
        return (int) syscall(SYS_renameat2, c->dir, from, c->dir, to, how);
}

/* The names are exchanged back until the replaced file is the expected one: the host's last saved file keeps
 * the name. */
static void swap_back(const struct box_copy *c, const char *beside, ino_t put)
{
        struct stat out;
        for (int i = 0; i < SWAPS_MAX && fstatat(c->dir, beside, &out, AT_SYMLINK_NOFOLLOW) == 0; i++) {
                ino_t next = out.st_ino;
                if (rename_how(c, beside, c->name, RENAME_EXCHANGE) < 0)
                        return;
                if (fstatat(c->dir, beside, &out, AT_SYMLINK_NOFOLLOW) == 0 && out.st_ino == put) {
                        (void) unlinkat(c->dir, beside, 0);
                        return;
                }
                put = next;
        }
}

/* The file has the temporary name, and gets its own: the replaced file must be the one that was copied in.
 * After that nothing of ours is left beside it. */
static int put_in_place(const struct box_copy *c, const char *beside, int to)
{
        struct stat own, out;
        if (fstat(to, &own) < 0)
                return -1;

        if (rename_how(c, beside, c->name, RENAME_EXCHANGE) < 0) {
                if (errno == EINVAL || errno == ENOSYS) /* this filesystem cannot */
                        return is_changed_outside(c) ? CHANGED : renameat(c->dir, beside, c->dir, c->name);
                return errno == ENOENT ? CHANGED : -1;
        }

        if (fstatat(c->dir, beside, &out, AT_SYMLINK_NOFOLLOW) == 0 && is_like(&out, &c->base)) {
                (void) unlinkat(c->dir, beside, 0);
                return DONE;
        }

        swap_back(c, beside, own.st_ino);
        return CHANGED;
}

static void remove_own(const struct box_copy *c, const char *name, int own)
{
        struct stat a, b;
        if (fstat(own, &a) == 0 && fstatat(c->dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
            a.st_ino == b.st_ino && a.st_dev == b.st_dev)
                (void) unlinkat(c->dir, name, 0);
}

static int replace_file(struct box_copy *c, const char *run, int from, const struct stat *st)
{
        char name[BESIDE_MAX];
        bool named;
        struct stat left;

        name_beside(c, name);
        if (fstatat(c->dir, name, &left, AT_SYMLINK_NOFOLLOW) == 0) /* of a live process, or unknown */
                (void) snprintf(name, sizeof name, ".cordon-%s", run);

        AUTO_FD(to, open_new(c, name, &named));
        if (to < 0)
                return -1;

        int r = fill_new(c, from, st, to);
        if (r == 0 && is_changed_outside(c))
                r = CHANGED;

        if (r == 0 && !named) {
                r = fd_link(to, c->dir, name);
                named = r == 0;
        }

        if (r == 0)
                r = put_in_place(c, name, to);

        if (r != DONE) {
                int sys = errno;
                if (named)
                        remove_own(c, name, to);
                errno = sys;
                return r;
        }

        if (fchmod(to, st->st_mode & 0777) < 0)
                return -1;

        c->outcome = OUTCOME_REPLACED;
        c->out = TAKE_FD(to);
        return DONE;
}

/* Returns 0 and the file's path; -1: it is lost, with the reason in *e. */
static int keep_bytes(const struct box *b, const struct box_copy *c, int from, char *ret, size_t cap,
                      struct err *e)
{
        char state[STORE_PATH_MAX];
        AUTO_FD(top, store_open(b->c.cx, e));
        AUTO_FD(kept, top < 0 ? -1 : store_dir(top, "kept", e));
        AUTO_FD(dir, kept < 0 ? -1 : store_dir(kept, b->run.r.run, e));
        if (dir < 0 || store_path(b->c.cx, state, e) < 0)
                return -1;

        if (keeper_label_new(&b->run, dir, c->name, e) < 0)
                return -1;

        AUTO_FD(to, openat(dir, c->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (to < 0 || copy_bytes(from, to) < 0)
                return publish_failed(c, "keeping the box's version of", e);

        (void) snprintf(ret, cap, "%s/kept/%s/%s", state, b->run.r.run, c->name);
        return 0;
}

static int note_conflict(const struct box *b, struct box_copy *c, int from, struct err *e)
{
        char path[PATH_MAX_BYTES] = "";
        c->outcome = OUTCOME_CONFLICT;
        if (from >= 0 && keep_bytes(b, c, from, path, sizeof path, e) < 0)
                return -1;

        (void) err_set(e, ERR_DOOR, 0, "%s changed on the host while the box ran: not %s", c->path,
                       from < 0 ? "removed" : "written");
        return from < 0 ? -1 : err_hint(e, "the box's version is %s", path);
}

/* Renamed first: the removed file must be the one that was copied in. */
static int take_away(const struct box_copy *c, const char *run)
{
        char name[BESIDE_MAX];
        struct stat out;
        (void) snprintf(name, sizeof name, ".cordon-%s", run);
        if (is_changed_outside(c))
                return CHANGED;

        if (rename_how(c, c->name, name, RENAME_NOREPLACE) < 0)
                return errno == EINVAL || errno == ENOSYS ? unlinkat(c->dir, c->name, 0) : -1;

        if (fstatat(c->dir, name, &out, AT_SYMLINK_NOFOLLOW) == 0 && is_like(&out, &c->base))
                return unlinkat(c->dir, name, 0);

        if (rename_how(c, name, c->name, RENAME_NOREPLACE) < 0 && errno == EEXIST)
                (void) unlinkat(c->dir, name, 0); /* the host saved it once more */

        return CHANGED;
}

static int remove_published(const struct box *b, struct box_copy *c, struct err *e)
{
        int r = take_away(c, b->run.r.run);
        if (r == CHANGED)
                return note_conflict(b, c, -1, e);

        if (r < 0)
                return publish_failed(c, "removing", e);

        c->outcome = OUTCOME_REMOVED;
        return 0;
}

static int publish_file(const struct box *b, struct box_copy *c, int from, const struct stat *st,
                        struct err *e)
{
        bool same_inode = st->st_ino == c->ino;
        bool bytes = !has_same_bytes(from, c->from);
        if (same_inode && !bytes && (st->st_mode & 0777) == (c->base.st_mode & 0777) &&
            same_time(&st->st_mtim, &c->base.st_mtim))
                return 0;

        if ((uint64_t) st->st_size > b->c.plan->limits.value[LIMIT_DISK])
                return err_set(e, ERR_LIMIT, EFBIG, "%s is larger than limit disk: not written", c->path);

        if (is_changed_outside(c))
                return note_conflict(b, c, from, e);

        c->bytes = st->st_size;
        bool in_place = same_inode && (!bytes || c->base.st_nlink > 1);
        int r = in_place ? write_in_place(c, from, st, bytes) : OTHERWISE;
        if (r == OTHERWISE)
                r = replace_file(c, b->run.r.run, from, st);

        if (r < 0 && errno == EBUSY && same_inode) /* a mount point */
                r = write_in_place(c, from, st, bytes);

        if (r == CHANGED)
                return note_conflict(b, c, from, e);

        return r != DONE ? publish_failed(c, "writing", e) : 0;
}

static int publish_copy(const struct box *b, struct box_copy *c, struct err *e)
{
        struct stat st;
        AUTO_FD(at, openat(c->inside, c->name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (at < 0)
                return errno == ENOENT ? remove_published(b, c, e)
                                       : publish_failed(c, "reading the box's", e);

        if (fstat(at, &st) < 0)
                return publish_failed(c, "reading the box's", e);

        if (!S_ISREG(st.st_mode))
                return err_set(e, ERR_DOOR, 0, "the box left something that is not a file as %s: not written",
                               c->path);

        AUTO_FD(from, fd_reopen(at, O_RDONLY | O_NONBLOCK));
        return from < 0 ? publish_failed(c, "reading the box's", e) : publish_file(b, c, from, &st, e);
}

void keeper_copies_publish(struct box *b)
{
        for (unsigned i = 0; b->copies && i < b->c.plan->copies; i++) {
                struct err e;
                struct box_copy *c = &b->copies[i];
                if (c->inside < 0 || !b->run.up || publish_copy(b, c, &e) == 0 ||
                    b->run.r.out.end == CORDON_FAILED)
                        continue;
                b->run.r.error = e;
                b->run.r.out.end = CORDON_FAILED;
        }

        for (unsigned i = 0; b->copies && i < b->c.plan->copies; i++)
                fd_close(&b->copies[i].inside); /* once */
}

void record_copies(struct box *b)
{
        for (unsigned i = 0; b->copies && b->run.record && i < b->c.plan->copies; i++) {
                const struct box_copy *c = &b->copies[i];
                char id[LEDGER_ID_MAX] = "";
                if (c->outcome == OUTCOME_NONE)
                        continue;
                struct ledger_record r = record_of(&b->run, LEDGER_FILE, LEDGER_OUTCOME);
                r.door = "write";
                r.target = c->path;
                r.writes = c->outcome != OUTCOME_CONFLICT;
                r.result = outcome_words[c->outcome];
                r.bytes = c->bytes;
                record_causes(&b->run, &r);
                record_add(&b->run, &r, id);
                if (c->out >= 0)
                        ledger_stamp_origin(c->out, id);
        }
}

void keeper_copies_close(struct box *b)
{
        for (unsigned i = 0; b->copies && i < b->c.plan->copies; i++) {
                struct box_copy *c = &b->copies[i];
                int *const all[] = { &c->dir, &c->from, &c->inside, &c->out };
                for (size_t k = 0; k < sizeof all / sizeof *all; k++)
                        fd_close(all[k]);
        }

        free(b->copies);
        b->copies = NULL;
}
