/* SPDX-License-Identifier: MIT */
/* wall/linux/root/private_tmpfs.c - the box's own filesystems, detached: the small ones of the root, and the
 * one whose size is `limit disk`. */
#include "base/fd.h"
#include "base/mountapi.h"
#include "wall/internal.h"

#include <stdio.h>
#include <sys/stat.h>

int wall_note_device(int fd, uint64_t *ret)
{
        struct stat st;
        if (fstat(fd, &st) < 0)
                return -1;
        *ret = st.st_dev;
        return 0;
}

int wall_make_tmpfs(const char *size, const char *inodes, uint64_t attr)
{
        AUTO_FD(fs, mount_fsopen("tmpfs"));
        if (fs < 0 || mount_fsset(fs, "mode", "0755") < 0 || mount_fsset(fs, "size", size) < 0 ||
            mount_fsset(fs, "nr_inodes", inodes) < 0 || mount_fscreate(fs) < 0)
                return -1;
        return mount_fsmount(fs, (unsigned) attr);
}

/* One tmpfs, so that one size holds for all private files. */
int wall_scratch_make(struct wall_init *w, struct err *e)
{
        static const struct {
                const char *name;
                mode_t mode;
        } parts[] = { { "tmp", 01777 }, { "shm", 01777 }, { "home", 0700 } };

        char size[32], inodes[32];
        uint64_t disk = w->plan->limits.value[LIMIT_DISK];
        (void) snprintf(size, sizeof size, "%llu", (unsigned long long) disk);
        (void) snprintf(inodes, sizeof inodes, "%llu",
                        (unsigned long long) (disk / 8192 < 1024 ? 1024 : disk / 8192));
        w->scratch = wall_make_tmpfs(size, inodes, MOUNT_PLAIN | MOUNT_ATTR_NOEXEC);
        if (w->scratch < 0 || wall_note_device(w->scratch, &w->scratch_dev) < 0)
                return wall_fail(e, STAGE_ROOT, "making the private files");

        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                if (mkdirat(w->scratch, parts[i].name, 0700) < 0 ||
                    fchmodat(w->scratch, parts[i].name, parts[i].mode, 0) < 0)
                        return wall_fail(e, STAGE_ROOT, "making the private files");

        return 0;
}
