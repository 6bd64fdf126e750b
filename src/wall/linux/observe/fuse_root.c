/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/fuse_root.c - mounts the watched root and starts its observer. Only for reports: if it
 * is not available, the box gets the plain root, and the same walls. */
#include "wall/linux/observe/fuse_root.h"

#include "base/dir.h"
#include "base/fd.h"
#include "base/mountapi.h"
#include "wall/internal.h"

#include <dirent.h>
#include <errno.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <time.h>

/* The observer has the box's uid and a pid in its pid namespace: without Landlock's scopes the payload could
 * stop it. Then less is reported. */
static bool is_wanted(const struct wall_init *w)
{
        return w->s->watch && w->s->front && !wall_left_out(LAYER_LANDLOCK);
}

/* A device is identified by its number. */
int wall_fuse_open(void)
{
        struct stat st;
        AUTO_FD(fd, fd_open2(AT_FDCWD, "/dev/fuse", O_RDWR, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS));
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(10, 229))
                return TAKE_FD(fd);
        return -1;
}

/* Opened while a root caller's init still has root's id, which may be the only one with access, and inside
 * our user namespace, as the kernel requires. */
int wall_front_device(struct wall_init *w, struct err *e)
{
        (void) e;
        if (is_wanted(w))
                w->fuse = wall_fuse_open();
        return 0;
}

int wall_fuse_mount(int fuse, const char *mode, bool checks_modes)
{
        char number[16];
        (void) snprintf(number, sizeof number, "%d", fuse);
        AUTO_FD(fs, mount_fsopen("fuse"));
        if (fs < 0 || mount_fsset(fs, "fd", number) < 0 || mount_fsset(fs, "rootmode", mode) < 0 ||
            mount_fsset(fs, "user_id", "0") < 0 || mount_fsset(fs, "group_id", "0") < 0 ||
            mount_fsflag(fs, "allow_other") < 0 ||
            (checks_modes && mount_fsflag(fs, "default_permissions") < 0) || mount_fsflag(fs, "ro") < 0 ||
            mount_fscreate(fs) < 0)
                return -1;

        return mount_fsmount(fs, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

static bool make_tree(const struct wall_init *w, struct fuse_tree *t)
{
        t->cap = fuse_tree_room(w->plan);
        void *room = mmap(NULL, t->cap * sizeof *t->node, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                          -1, 0);
        if (room == MAP_FAILED)
                return false;

        t->node = room;
        return fuse_tree_build(t, w->plan) == 0;
}

/* Closes all of init's descriptors that it does not need: above all the payload's pipes, which are 0, 1, 2
 * and the next. */
_Noreturn static void run_observer(struct front *f)
{
        int *const kept[] = { &f->fuse, &f->control, &f->proc };
        const int count = sizeof kept / sizeof *kept;
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* also if a test leaves out the pid namespace */
        for (int i = 0; i < count; i++)
                *kept[i] = dup2(*kept[i], i);

        (void) syscall(SYS_close_range, (unsigned) count, ~0U, 0);
        fuse_serve(f);
}

/* ---- ahead ----
 * While init and the observer are alone and share a core (wall_core_stay()), a request costs a few
 * microseconds; the payload's own cost several times that, because it runs on another. All of it is an
 * optimisation: a name that is not looked up here is looked up later. */

static void read_links(int dir, struct dir_list *entries)
{
        char target[256];
        for (const struct dir_entry *d; (d = dir_next(entries));)
                if (d->type == DT_LNK)
                        (void) !readlinkat(dir, d->name, target, sizeof target);
}

/* A list brings its entries along: one question for each of these directories, instead of one for each mount
 * point in them. Every program begins with the links of the topmost. */
static void list_ahead(int root)
{
        static const char *const dirs[] = { ".", "etc", "dev" };
        DIR_LIST(entries, FRONT_LIST_BYTES); /* the kernel requires as much, before Linux 6.16 a page */
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
                AUTO_FD(dir, openat(root, dirs[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
                if (dir >= 0 && dir_more(&entries, dir) > 0 && i == 0)
                        read_links(dir, &entries);
        }
}

/* If the host does not have it either, the dynamic loader's lookup need not be reported. */
static void miss_ahead(int root)
{
        struct stat st;
        if (lstat(FRONT_LOADER_ASKS, &st) < 0 && errno == ENOENT)
                (void) fstatat(root, &FRONT_LOADER_ASKS[1], &st, AT_SYMLINK_NOFOLLOW);
}

void wall_front_part(const struct wall_init *w)
{
        if (w->observer <= 0)
                return;
        wall_core_any_of(&w->core, 0);
        wall_core_any_of(&w->core, w->observer);
}

int wall_front_open(struct wall_init *w)
{
        static struct front f;
        AUTO_FD(fuse, TAKE_FD(w->fuse));
        if (fuse < 0 || !make_tree(w, &f.tree))
                return -1;

        void *shared = mmap(NULL, sizeof *w->observer_knows, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
                return -1;

        f.told = w->observer_knows = shared;
        AUTO_FD(root, wall_fuse_mount(fuse, "40000", true));
        if (root < 0)
                return -1;

        w->observer_proc = f.proc = wall_proc_make("off"); /* the requesting task may not have reached exec */
        f.fuse = fuse;
        f.control = w->control;
        f.born = time(NULL);
        wall_core_stay(&w->core);
        pid_t pid = (pid_t) syscall(SYS_clone, 0, NULL, NULL, NULL, NULL); /* not counted by is_empty() */
        if (pid == 0)
                run_observer(&f);

        if (pid < 0) {
                wall_core_any_of(&w->core, 0);
                fd_close(&w->observer_proc); /* a plain root buries nothing */
                return -1;
        }

        w->observer = pid;
        fd_close(&fuse); /* the observer's is the last: should it end, a question has an answer */
        list_ahead(root);
        miss_ahead(root);
        return TAKE_FD(root);
}
