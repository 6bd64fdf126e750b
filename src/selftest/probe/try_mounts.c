/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_mounts.c - changing the box's view: mount, remount, unmount, binds, overlays,
 * pivot_root, chroot. */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
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

/* A mount that succeeded is undone: the following attempts see the view as it was. */
static int by_mount(struct probe_result *r)
{
        take_powers();
        long reply = probe_call(r, NULL);
        if (reply == 0 && !(r->probe->call[4] & (REMOUNT | SHARED | MOVE)))
                (void) syscall(SYS_umount2, r->probe->call[2], DETACH);
        return by_reply(r, reply, r->probe->what);
}

/* The calls that came with Linux 5.2. */
static int by_new_call(struct probe_result *r)
{
        take_powers();
        return by_answer(r);
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

/* BoxLite CVE-2026-46695: read-only that the guest can take back. */
static int remount_writable(struct probe_result *r)
{
        static const char *const places[] = { "/usr", "/", "/etc/alternatives", "/proc", "/dev/null" };
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
                if (do_mount("none", places[i], NULL, REMOUNT | BIND, NULL) == 0)
                        return escaped(r, "%s was remounted", places[i]);
        return refused(r, "remount");
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

static const uint64_t writable[4] = { 0, 1 /* clears read-only */, 0, 0 };
static const uint64_t every[4] = { 32, UINT64_MAX /* LSMT_ROOT */, 0, 0 };
static uint64_t ids[64];

#define CLASS  PROBE_MOUNTS
#define CLOSED "seccomp,landlock,capabilities,nested-user"
#define MOUNT(claim, means, words, from, to, type, flags, data)                                              \
        NUMBERS(claim, means, CLOSED, by_mount, words, SYS_mount, PROBE_PTR(from), PROBE_PTR(to),            \
                PROBE_PTR(type), flags, PROBE_PTR(data))
#define NEW_CALL(claim, means, words, ...) NUMBERS(claim, means, CLOSED, by_new_call, words, __VA_ARGS__)
static const struct probe rows[] = {
        MOUNT("no tmpfs can be mounted", "the box covers its own view", "mount of a tmpfs", "none", "/tmp",
              "tmpfs", 0, "size=4k"),
        MOUNT("no second proc can be mounted", "an unmasked /proc", "mount of a second proc", "none", "/proc",
              "proc", 0, NULL),
        ROW("no proc of a nested pid namespace can be mounted", "an unmasked /proc", CLOSED,
            mount_nested_proc),
        MOUNT("no sysfs can be mounted", "the machine's devices and knobs", "mount of sysfs", "none", "/tmp",
              "sysfs", 0, NULL),
        ROW("no filesystem of the kernel can be mounted", "devices, tracing, BPF", CLOSED, mount_devices),
        MOUNT("no overlay can be mounted", "the kernel's overlay code is reached", "mount of an overlay",
              "none", "/tmp", "overlay", 0, "lowerdir=/usr:/etc"),
        MOUNT("no FUSE can be mounted", "the box answers for a filesystem", "mount of FUSE", "none", "/tmp",
              "fuse", 0, "fd=0,rootmode=40000,user_id=0,group_id=0"),
        MOUNT("no bind mount can be made", "a view without its flags", "bind mount", "/proc/self/root",
              "/tmp", NULL, BIND | RECURSIVE, NULL),
        ROW("read-only cannot be taken back", "host programs become writable (CVE-2026-46695)", CLOSED,
            remount_writable),
        MOUNT("noexec cannot be taken back", "what was written can be run", "remount of /tmp with execution",
              "none", "/tmp", NULL, REMOUNT | BIND, NULL),
        MOUNT("mounts cannot be made shared", "mounts propagate to others", "making mounts shared", "none",
              "/", NULL, SHARED | RECURSIVE, NULL),
        MOUNT("mounts cannot be moved", "a protected path is laid bare", "moving a mount", "/usr", "/tmp",
              NULL, MOVE, NULL),
        ROW("mounts cannot be unmounted", "what lies below them shows", CLOSED, unmount_covers),
        NEW_CALL("open_tree is closed", "a detached copy of a mount", "open_tree", SYS_open_tree, AT_FDCWD,
                 PROBE_PTR("/usr"), 1 /* OPEN_TREE_CLONE */),
        NEW_CALL("open_tree_attr is closed", "a detached copy without read-only", "open_tree_attr", 467,
                 AT_FDCWD, PROBE_PTR("/usr"), 1, PROBE_PTR(writable), sizeof writable),
        NEW_CALL("fsopen is closed", "a new filesystem by the new way", "fsopen", SYS_fsopen,
                 PROBE_PTR("tmpfs"), 1),
        NEW_CALL("fspick is closed", "a filesystem is set up anew", "fspick", SYS_fspick, AT_FDCWD,
                 PROBE_PTR("/tmp"), 1),
        NEW_CALL("mount_setattr is closed", "read-only is taken back by the new way", "mount_setattr",
                 SYS_mount_setattr, AT_FDCWD, PROBE_PTR("/usr"), 0, PROBE_PTR(writable), sizeof writable),
        NEW_CALL("move_mount is closed", "mounts are moved by the new way", "move_mount", SYS_move_mount,
                 AT_FDCWD, PROBE_PTR("/usr"), AT_FDCWD, PROBE_PTR("/tmp"), 0),
        ANSWER("mounts are not listed by the new call", "mounts of others show", "seccomp", "listmount", 458,
               PROBE_PTR(every), PROBE_PTR(ids), 64, 0),
        ANSWER("pivot_root is closed", "protected mounts are put aside", CLOSED, "pivot_root", SYS_pivot_root,
               PROBE_PTR("/tmp"), PROBE_PTR("/tmp")),
        ROW("chroot with a kept descriptor is closed", "the classic way out", CLOSED, chroot_classic),
        ANSWER("chroot to another's root is closed", "the host's root", CLOSED, "chroot /proc/1/root",
               SYS_chroot, PROBE_PTR("/proc/1/root")),
};
const struct probe_list probes_mounts = PROBE_LIST(rows);
