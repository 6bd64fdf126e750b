/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_mounts.c - changing the box's view: mount, remount, unmount, binds, overlays,
 * pivot_root, chroot. */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REMOUNT = 32, BIND = 4096, RECURSIVE = 16384, MOVE = 8192, SHARED = 1 << 20, DETACH = 2 };
enum { LOCKED = 1 | 2 | 4 | 8 }; /* read-only, nosuid, nodev, noexec */

/* An attacker's first step. If it works, the following is tried with all capabilities over the copy of the
 * view. */
static void take_powers(void) { (void) unshare(CLONE_NEWUSER | CLONE_NEWNS); }

/* libc's <sys/mount.h> and the kernel's do not go together. */
static long do_mount(const char *from, const char *to, const char *type, unsigned long flags,
                     const char *data)
{
        take_powers();
        return syscall(SYS_mount, from, to, type, flags, data);
}

static int mount_tmpfs(struct probe_result *r)
{
        long reply = do_mount("none", "/tmp", "tmpfs", 0, "size=4k");
        if (reply == 0)
                (void) syscall(SYS_umount2, "/tmp", DETACH);
        return by_reply(r, reply, "mount of a tmpfs");
}

static int mount_proc(struct probe_result *r)
{
        long reply = do_mount("none", "/proc", "proc", 0, NULL);
        if (reply == 0)
                (void) syscall(SYS_umount2, "/proc", DETACH);
        return by_reply(r, reply, "mount of a second proc");
}

/* With the flags that are locked on the existing mount: else the kernel denies it for them alone. */
static void mount_own_proc(void *arg)
{
        (void) arg;
        _exit(syscall(SYS_mount, "none", "/tmp", "proc", LOCKED, NULL) == 0 ? 0 : errno);
}

/* In namespaces of its own a process may mount proc, unless the existing one is partly covered. */
static int mount_nested_proc(struct probe_result *r)
{
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) < 0)
                return refused(r, "unshare of user, mount and pid namespaces");

        int status = child_status(mount_own_proc, NULL);
        if (!WIFEXITED(status))
                return cannot_tell(r, "no child in the new pid namespace");

        errno = WEXITSTATUS(status);
        return by_reply(r, status == 0 ? 0 : -1, "mount of a proc in a nested pid namespace");
}

static int mount_sysfs(struct probe_result *r)
{
        long reply = do_mount("none", "/tmp", "sysfs", 0, NULL);
        if (reply == 0)
                (void) syscall(SYS_umount2, "/tmp", DETACH);
        return by_reply(r, reply, "mount of sysfs");
}

static int mount_devices(struct probe_result *r)
{
        static const char *const types[] = {
                "devtmpfs", "debugfs",     "tracefs", "securityfs", "bpf",
                "configfs", "binfmt_misc", "mqueue",  "devpts",     "hugetlbfs"
        };

        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
                if (do_mount("none", "/tmp", types[i], 0, NULL) == 0) {
                        (void) syscall(SYS_umount2, "/tmp", DETACH);
                        return escaped(r, "%s was mounted", types[i]);
                }

        return refused(r, "mount of devtmpfs, debugfs, tracefs ...");
}

static int mount_overlay(struct probe_result *r)
{
        long reply = do_mount("none", "/tmp", "overlay", 0, "lowerdir=/usr:/etc");
        if (reply == 0)
                (void) syscall(SYS_umount2, "/tmp", DETACH);
        return by_reply(r, reply, "mount of an overlay");
}

static int mount_fuse(struct probe_result *r)
{
        return by_reply(r, do_mount("none", "/tmp", "fuse", 0, "fd=0,rootmode=40000,user_id=0,group_id=0"),
                        "mount of FUSE");
}

static int bind_root(struct probe_result *r)
{
        long reply = do_mount("/proc/self/root", "/tmp", NULL, BIND | RECURSIVE, NULL);
        if (reply == 0)
                (void) syscall(SYS_umount2, "/tmp", DETACH);
        return by_reply(r, reply, "bind mount");
}

/* BoxLite CVE-2026-46695: read-only that the guest can take back. */
static int remount_writable(struct probe_result *r)
{
        static const char *const places[] = { "/usr", "/", "/etc/alternatives", "/proc", "/dev/null" };
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
                if (do_mount("none", places[i], NULL, REMOUNT | BIND, NULL) == 0)
                        return escaped(r, "%s was remounted", places[i]);
        return refused(r, "remount");
}

static int remount_exec(struct probe_result *r)
{
        return by_reply(r, do_mount("none", "/tmp", NULL, REMOUNT | BIND, NULL),
                        "remount of /tmp with execution");
}

static int make_shared(struct probe_result *r)
{
        return by_reply(r, do_mount("none", "/", NULL, SHARED | RECURSIVE, NULL), "making mounts shared");
}
static int move_away(struct probe_result *r)
{
        return by_reply(r, do_mount("/usr", "/tmp", NULL, MOVE, NULL), "moving a mount");
}

static int unmount_covers(struct probe_result *r)
{
        take_powers();
        static const char *const places[] = { "/proc", "/tmp", "/usr", "/dev/null", "/" };
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
                if (syscall(SYS_umount2, places[i], DETACH) == 0)
                        return escaped(r, "%s was unmounted", places[i]);
        return refused(r, "umount2");
}

static int new_api_open_tree(struct probe_result *r)
{
        take_powers();
        AUTO_FD(fd, (int) syscall(SYS_open_tree, AT_FDCWD, "/usr", 1 /* OPEN_TREE_CLONE */));
        return by_reply(r, fd, "open_tree");
}

static int new_api_fsopen(struct probe_result *r)
{
        take_powers();
        AUTO_FD(fd, (int) syscall(SYS_fsopen, "tmpfs", 1));
        return by_reply(r, fd, "fsopen");
}

static int new_api_fspick(struct probe_result *r)
{
        take_powers();
        AUTO_FD(fd, (int) syscall(SYS_fspick, AT_FDCWD, "/tmp", 1));
        return by_reply(r, fd, "fspick");
}

static int new_api_setattr(struct probe_result *r)
{
        take_powers();
        uint64_t attr[4] = { 0, 1 /* clears read-only */, 0, 0 };
        return by_reply(r, syscall(SYS_mount_setattr, AT_FDCWD, "/usr", 0, attr, sizeof attr),
                        "mount_setattr");
}

static int new_api_move(struct probe_result *r)
{
        take_powers();
        return by_reply(r, syscall(SYS_move_mount, AT_FDCWD, "/usr", AT_FDCWD, "/tmp", 0), "move_mount");
}

static int new_api_open_tree_attr(struct probe_result *r)
{
        take_powers();
        uint64_t attr[4] = { 0, 1, 0, 0 };
        AUTO_FD(fd, (int) syscall(467, AT_FDCWD, "/usr", 1, attr, sizeof attr));
        return by_reply(r, fd, "open_tree_attr");
}

static int list_mounts(struct probe_result *r)
{
        uint64_t req[4] = { 32, UINT64_MAX /* LSMT_ROOT */, 0, 0 }, ids[64];
        uint32_t size = 32;
        memcpy(req, &size, sizeof size);
        req[1] = UINT64_MAX;
        return by_reply(r, syscall(458, req, ids, 64, 0), "listmount");
}

static int pivot(struct probe_result *r)
{
        return by_reply(r, syscall(SYS_pivot_root, "/tmp", "/tmp"), "pivot_root");
}

/* The classic: keep a descriptor of a directory, chroot below it, walk up from the descriptor. */
static int chroot_classic(struct probe_result *r)
{
        take_powers();
        AUTO_FD(above, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (chroot("/tmp") < 0)
                return refused(r, "chroot");

        (void) !fchdir(above);
        for (int i = 0; i < 64; i++)
                (void) !chdir("..");

        struct stat st;
        const char *dir = canary(r, "secret");
        return escaped(r, "chroot succeeded%s", stat(dir + 1, &st) == 0 ? " and led out" : "");
}

static int chroot_proc(struct probe_result *r)
{
        return by_reply(r, chroot("/proc/1/root"), "chroot /proc/1/root");
}

#define CLASS  PROBE_MOUNTS
#define CLOSED "seccomp,landlock,capabilities,nested-user"
static const struct probe rows[] = {
        ROW("no tmpfs can be mounted", "the box covers its own view", CLOSED, mount_tmpfs),
        ROW("no second proc can be mounted", "an unmasked /proc", CLOSED, mount_proc),
        ROW("no proc of a nested pid namespace can be mounted", "an unmasked /proc", CLOSED,
            mount_nested_proc),
        ROW("no sysfs can be mounted", "the machine's devices and knobs", CLOSED, mount_sysfs),
        ROW("no filesystem of the kernel can be mounted", "devices, tracing, BPF", CLOSED, mount_devices),
        ROW("no overlay can be mounted", "the kernel's overlay code is reached", CLOSED, mount_overlay),
        ROW("no FUSE can be mounted", "the box answers for a filesystem", CLOSED, mount_fuse),
        ROW("no bind mount can be made", "a view without its flags", CLOSED, bind_root),
        ROW("read-only cannot be taken back", "host programs become writable (CVE-2026-46695)", CLOSED,
            remount_writable),
        ROW("noexec cannot be taken back", "what was written can be run", CLOSED, remount_exec),
        ROW("mounts cannot be made shared", "mounts propagate to others", CLOSED, make_shared),
        ROW("mounts cannot be moved", "a protected path is laid bare", CLOSED, move_away),
        ROW("mounts cannot be unmounted", "what lies below them shows", CLOSED, unmount_covers),
        ROW("open_tree is closed", "a detached copy of a mount", CLOSED, new_api_open_tree),
        ROW("open_tree_attr is closed", "a detached copy without read-only", CLOSED, new_api_open_tree_attr),
        ROW("fsopen is closed", "a new filesystem by the new way", CLOSED, new_api_fsopen),
        ROW("fspick is closed", "a filesystem is set up anew", CLOSED, new_api_fspick),
        ROW("mount_setattr is closed", "read-only is taken back by the new way", CLOSED, new_api_setattr),
        ROW("move_mount is closed", "mounts are moved by the new way", CLOSED, new_api_move),
        ROW("mounts are not listed by the new call", "mounts of others show", "seccomp", list_mounts),
        ROW("pivot_root is closed", "protected mounts are put aside", CLOSED, pivot),
        ROW("chroot with a kept descriptor is closed", "the classic way out", CLOSED, chroot_classic),
        ROW("chroot to another's root is closed", "the host's root", CLOSED, chroot_proc),
};
const struct probe_list probes_mounts = PROBE_LIST(rows);
