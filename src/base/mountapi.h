/* SPDX-License-Identifier: MIT */
/* base/mountapi.h - the mount system calls, straight to the kernel: not every libc has them, and
 * those that have declare them in headers that collide with the kernel's. */
#pragma once
#include <fcntl.h>
#include <linux/mount.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

/* Every mount of a box: no set-id program, no device. */
enum { MOUNT_PLAIN = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };

static inline int mount_fsopen(const char *type) { return (int) syscall(SYS_fsopen, type, FSOPEN_CLOEXEC); }
static inline int mount_fsset(int fs, const char *key, const char *value)
{
        return (int) syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0);
}
static inline int mount_fsflag(int fs, const char *key)
{
        return (int) syscall(SYS_fsconfig, fs, FSCONFIG_SET_FLAG, key, NULL, 0);
}
static inline int mount_fscreate(int fs)
{
        return (int) syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}
static inline int mount_fspick(int tree)
{
        return (int) syscall(SYS_fspick, tree, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);
}
static inline int mount_fsreconfigure(int fs)
{
        return (int) syscall(SYS_fsconfig, fs, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0);
}
static inline int mount_fsmount(int fs, unsigned attr)
{
        return (int) syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr);
}

/* A detached copy of the mount at `path` beneath `dir` ("": of dir itself). */
static inline int mount_clone(int dir, const char *path, unsigned flags)
{
        return (int) syscall(SYS_open_tree, dir, path,
                             OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | flags);
}

static inline int mount_attr_set(int tree, unsigned recursive, const struct mount_attr *a)
{
        return (int) syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | recursive, a, sizeof *a);
}

/* Both ends are descriptors: no name is looked up again. */
static inline int mount_move(int tree, int place)
{
        return (int) syscall(SYS_move_mount, tree, "", place, "",
                             MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

/* Below the mount `over`, which stays on top of it. Since Linux 6.5, else EINVAL. */
static inline int mount_move_below(int tree, int over)
{
        enum { BENEATH = 0x200 };
        return (int) syscall(SYS_move_mount, tree, "", over, "",
                             MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH | BENEATH);
}

/* The place is a name in `dir`, never the target of a symlink of that name. */
static inline int mount_move_to(int tree, int dir, const char *name)
{
        return (int) syscall(SYS_move_mount, tree, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH);
}

static inline int mount_over_proc(int tree)
{
        return (int) syscall(SYS_move_mount, tree, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH);
}

static inline int mount_detach(const char *path)
{
        return (int) syscall(SYS_umount2, path, 2 /* MNT_DETACH */);
}
static inline int mount_detach_here(void) { return mount_detach("."); }
static inline int mount_pivot_here(void) { return (int) syscall(SYS_pivot_root, ".", "."); }
