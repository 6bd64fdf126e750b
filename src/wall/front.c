/* SPDX-License-Identifier: MIT */
/* wall/front.c - mounts the watched root and starts its observer. Only for reports: where it cannot be had,
 * the box gets the plain root, and the same walls. */
#include "wall/front.h"

#include "base/fd.h"
#include "wall/internal.h"
#include "wall/mountapi.h"

#include <errno.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <time.h>

/* A device is what its number says. */
static int open_fuse(void)
{
        struct stat st;
        AUTO_FD(fd, wall_open2(AT_FDCWD, "/dev/fuse", O_RDWR, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS));
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) || st.st_rdev != makedev(10, 229))
                return -1;
        return TAKE_FD(fd);
}

static int mount_front(int fuse)
{
        char number[16];
        (void) snprintf(number, sizeof number, "%d", fuse);
        AUTO_FD(fs, mount_fsopen("fuse"));
        if (fs < 0 || mount_fsset(fs, "fd", number) < 0 || mount_fsset(fs, "rootmode", "40000") < 0 ||
            mount_fsset(fs, "user_id", "0") < 0 || mount_fsset(fs, "group_id", "0") < 0 ||
            syscall(SYS_fsconfig, fs, FSCONFIG_SET_FLAG, "allow_other", NULL, 0) < 0 ||
            syscall(SYS_fsconfig, fs, FSCONFIG_SET_FLAG, "default_permissions", NULL, 0) < 0 ||
            mount_fscreate(fs) < 0)
                return -1;
        return mount_fsmount(fs, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

static bool make_tree(const struct wall_init *w, struct front_tree *t)
{
        t->cap = front_tree_room(w->plan);
        void *room = mmap(NULL, t->cap * sizeof *t->node, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                          -1, 0);
        if (room == MAP_FAILED)
                return false;
        t->node = room;
        return front_tree_build(t, w->plan) == 0;
}

/* Nothing of init's but the two lines it needs: above all not the payload's pipes. */
_Noreturn static void observe(struct front *f)
{
        int low = f->fuse < f->control ? f->fuse : f->control;
        int high = f->fuse < f->control ? f->control : f->fuse;
        if (low > 0)
                (void) syscall(SYS_close_range, 0, (unsigned) low - 1, 0);
        if (high > low + 1)
                (void) syscall(SYS_close_range, (unsigned) low + 1, (unsigned) high - 1, 0);
        (void) syscall(SYS_close_range, (unsigned) high + 1, ~0U, 0);
        front_serve(f);
}

/* A list brings its entries along: one question for each of these, instead of one for each mount point in
 * them. Only a hint: what is not listed is looked up. */
static void list_ahead(int root)
{
        static const char *const dirs[] = { ".", "etc", "dev" };
        char entries[4096];
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
                AUTO_FD(dir, openat(root, dirs[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
                if (dir >= 0)
                        (void) syscall(SYS_getdents64, dir, entries, sizeof entries);
        }
}

int wall_front_open(struct wall_init *w)
{
        static struct front f;
        AUTO_FD(fuse, open_fuse());
        if (fuse < 0 || !make_tree(w, &f.tree))
                return -1;
        AUTO_FD(root, mount_front(fuse));
        if (root < 0)
                return -1;
        f.fuse = fuse;
        f.control = w->control;
        f.born = time(NULL);
        pid_t pid = (pid_t) syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (pid == 0)
                observe(&f);
        if (pid < 0)
                return -1;
        w->observer = pid;
        list_ahead(root);
        return TAKE_FD(root);
}
