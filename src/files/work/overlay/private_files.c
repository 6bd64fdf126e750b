/* SPDX-License-Identifier: MIT */
/* files/work/overlay/private_files.c - a directory for the home and the temporary files of a box behind a
 * wall without a view of its own: STATE/private/NAME, where no door of another box of this user leads; for
 * root, whose boxes are users of their own, PLACE/cordon-0/NAME, as the state directory is closed to them. A
 * user without a state directory has PLACE/cordon-UID/NAME, and a box of theirs with a door there reads it.
 *
 * Its maker holds a lock on it: one that nobody locks was left by a keeper that was killed, and the next box
 * of this user removes it. */
#include "base/fd.h"
#include "files/work/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { TRIES = 4 };
static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm" };

/* Root's boxes are other users, and must find their way through. */
static mode_t mode_of_users(void) { return geteuid() == 0 ? 0711 : 0700; }

/* SAFETY: everyone may make names in `place`: only a directory of our own that nobody else writes in will do.
 */
static int open_users(int place, const char *name)
{
        struct stat st;
        if (mkdirat(place, name, 0700) < 0 && errno != EEXIST)
                return -1;

        AUTO_FD(dir, openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (dir < 0 || fstat(dir, &st) < 0 || st.st_uid != geteuid() || fchmod(dir, mode_of_users()) < 0)
                return -1;
        return TAKE_FD(dir);
}

static void remove_nobodys(int users, const char *name)
{
        AUTO_FD(dir, openat(users, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0)
                (void) remove_tree(users, name);
}

static void remove_left(int users)
{
        AUTO_NAMES(list);
        if (tree_names(users, &list) < 0)
                return;

        for (size_t i = 0; i < list.n; i++)
                remove_nobodys(users, list.v[i]);
}

static int make_one(int users, const char *name, uid_t uid, gid_t gid)
{
        struct stat st;
        if (mkdirat(users, name, 0700) < 0)
                return -1;

        AUTO_FD(dir, openat(users, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        bool made = dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0 && mkdirat(dir, WORK_TEMPORARY, 0700) == 0;
        bool ours = uid == geteuid() ||
                    (made && fchownat(dir, WORK_TEMPORARY, uid, gid, AT_SYMLINK_NOFOLLOW) == 0 &&
                     fchown(dir, uid, gid) == 0);
        if (made && ours && fstat(dir, &st) == 0 && st.st_nlink > 0)
                return TAKE_FD(dir);

        (void) remove_tree(users, name);
        return -1;
}

static bool make_in(struct work_private *p, const char *place, const char *users, uid_t uid, gid_t gid)
{
        uint64_t number = 0;
        AUTO_FD(at, open(place, O_PATH | O_DIRECTORY | O_CLOEXEC));
        p->users = at < 0 ? -1 : open_users(at, users);
        if (p->users < 0 || getrandom(&number, sizeof number, 0) < 0)
                return fd_close(&p->users), false;

        remove_left(p->users);
        (void) snprintf(p->name, sizeof p->name, "%016llx", (unsigned long long) number);
        p->dir = make_one(p->users, p->name, uid, gid);
        (void) snprintf(p->path, sizeof p->path, "%s/%s/%s", place, users, p->name);
        if (p->dir < 0)
                fd_close(&p->users);
        return p->dir >= 0;
}

static bool make_in_state(struct work_private *p, const struct cordon_context *cx, uid_t uid, gid_t gid)
{
        struct err none;
        char state[STORE_PATH_MAX];
        AUTO_FD(made, geteuid() == 0 ? -1 : store_open(cx, &none));
        return made >= 0 && store_path(cx, state, &none) == 0 && make_in(p, state, "private", uid, gid);
}

/* A neighbour's end removes the directory of all: hence more than one try. */
bool work_private_make(struct work_private *p, const struct cordon_context *cx, uid_t uid, gid_t gid)
{
        char users[32];
        (void) snprintf(users, sizeof users, "cordon-%u", (unsigned) geteuid());
        for (int i = 0; i < TRIES; i++)
                if (make_in_state(p, cx, uid, gid))
                        return true;

        for (size_t i = 0; i < TRIES * sizeof places / sizeof *places; i++)
                if (make_in(p, places[i / TRIES], users, uid, gid))
                        return true;
        return false;
}

bool work_private_is_over(const struct work_private *p, uint64_t max_bytes, uint64_t max_entries)
{
        struct disk_tally t = { .max_bytes = max_bytes, .max_entries = max_entries };
        int dir = tally_open(p->users, p->name);
        if (dir >= 0)
                tally_dir(&t, dir);
        return tally_is_full(&t);
}

uint64_t work_private_room(const struct work_private *p)
{
        struct statfs fs;
        return fstatfs(p->dir, &fs) == 0 ? (uint64_t) fs.f_bfree * (uint64_t) fs.f_bsize : UINT64_MAX;
}

void work_private_remove(struct work_private *p)
{
        if (p->dir < 0)
                return;

        (void) remove_tree(p->users, p->name);
        p->path[strlen(p->path) - strlen(p->name) - 1] = '\0';
        (void) rmdir(p->path); /* unless another box has one */
        fd_close(&p->dir);
        fd_close(&p->users);
}
