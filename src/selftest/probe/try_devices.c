/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_devices.c - device nodes: those that are there, and those that could be made. */
#include "selftest/probe/probe_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A node that cannot be opened is not a device: the effect counts. */
static int make_node(struct probe_result *r)
{
        const struct probe *p = r->probe;
        char path[128];
        AUTO_FD(fd, make_file(path, "node", 0600));
        if (fd < 0)
                return refused(r, "finding a place for the node");

        (void) unlink(path);
        if (mknod(path, (mode_t) p->call[0] | 0666, makedev((unsigned) p->call[1], (unsigned) p->call[2])) <
            0)
                return refused(r, p->what);

        AUTO_FD(node, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        int o = node >= 0 ? escaped(r, "%s made a node that opens", p->what)
                          : escaped(r, "%s made a node", p->what);
        (void) unlink(path);
        return o;
}

static int node_at(struct probe_result *r)
{
        char path[128];
        AUTO_FD(fd, make_file(path, "node", 0600));
        if (fd < 0)
                return refused(r, "finding a place for the node");

        (void) unlink(path);
        long reply = syscall(SYS_mknodat, AT_FDCWD, path, 0xffff0000u | S_IFBLK | 0600, makedev(254, 0));
        if (reply == 0)
                (void) unlink(path);

        return by_reply(r, reply, "mknodat with high bits");
}

/* renameat2 can leave a whiteout, which is a character device, without a word to mknod. */
static int node_by_rename(struct probe_result *r)
{
        char from[128], to[160];
        struct stat st;
        AUTO_FD(fd, make_file(from, "whiteout", 0600));
        if (fd < 0)
                return refused(r, "making a file to move");

        (void) snprintf(to, sizeof to, "%s.moved", from);
        long reply = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 4 /* RENAME_WHITEOUT */);
        int sys = errno;
        bool node = lstat(from, &st) == 0 && S_ISCHR(st.st_mode);
        (void) unlink(from);
        (void) unlink(to);
        errno = sys;
        if (node)
                return escaped(r, "renameat2(RENAME_WHITEOUT) left a character device");

        return by_reply(r, reply, "renameat2(RENAME_WHITEOUT)");
}

/* A box has five devices, or a terminal more. */
static int known_only(struct probe_result *r)
{
        DIR *d = opendir("/dev");
        if (!d)
                return refused(r, "opendir /dev");

        for (struct dirent *e; (e = readdir(d));) {
                static const char *const own[] = {
                        "null", "zero", "full", "random", "urandom", "tty", "ptmx"
                };
                struct stat st;
                char path[300];
                (void) snprintf(path, sizeof path, "/dev/%s", e->d_name);
                bool known = false;
                for (size_t i = 0; i < sizeof own / sizeof *own; i++)
                        known = known || strcmp(own[i], e->d_name) == 0;
                if (known || lstat(path, &st) < 0 || (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)))
                        continue;
                (void) closedir(d);
                return escaped(r, "%.100s is a device", path);
        }

        (void) closedir(d);
        return held(r, "no device but the known");
}

/* Adding entropy credit and the like are ioctls on a device that a box may open. */
static int random_ioctl(struct probe_result *r)
{
        AUTO_FD(fd, open("/dev/urandom", O_RDWR | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open /dev/urandom for writing");
        int zero = 0;
        return by_reply(r, syscall(SYS_ioctl, fd, 0x40045201 /* RNDADDTOENTCNT */, &zero),
                        "ioctl(RNDADDTOENTCNT)");
}

static const struct probe rows[] = {
#define CLASS PROBE_DEVICES
#define ALL   "seccomp,landlock,nested-user,capabilities,mount"
        READS("no disk is here", "every file of the host, raw", "mount,landlock", "/dev/vda", "/dev/vda1",
              "/dev/vdb", "/dev/sda", "/dev/sda1", "/dev/nvme0n1", "/dev/mapper/control", "/dev/dm-0",
              "/dev/md0", "/dev/loop0", "/dev/loop-control", "/dev/sr0", "/dev/sg0", "/dev/ram0",
              "/dev/zram0", "/dev/mtd0", "/dev/pmem0"),
        READS("no device of power is here", "virtual machines, FUSE, input, video", "mount,landlock",
              "/dev/kvm", "/dev/vhost-net", "/dev/vhost-vsock", "/dev/vsock", "/dev/net/tun", "/dev/fuse",
              "/dev/cuse", "/dev/uinput", "/dev/input/event0", "/dev/dri/card0", "/dev/dri/renderD128",
              "/dev/snd/controlC0", "/dev/video0", "/dev/tpm0", "/dev/rtc0", "/dev/watchdog", "/dev/hpet",
              "/dev/cpu/0/msr", "/dev/nvram", "/dev/vfio/vfio", "/dev/hwrng", "/dev/autofs",
              "/dev/btrfs-control", "/dev/snapshot", "/dev/ppp"),
        ROW("no device but the known is here", "a device nobody thought of", "mount,landlock", known_only),
        NUMBERS("no node of a disk can be made", "every file of the host, raw", ALL, make_node,
                "mknod of the disk", S_IFBLK, 254, 0),
        NUMBERS("no node of memory can be made", "all memory of the machine", ALL, make_node,
                "mknod of /dev/mem", S_IFCHR, 1, 1),
        NUMBERS("no node of a plain device can be made", "the wall against nodes is down", ALL, make_node,
                "mknod of /dev/null", S_IFCHR, 1, 3),
        /* Character device 0:0 is an overlay's whiteout, and needs no privilege from the kernel. */
        NUMBERS("no whiteout can be made", "overlays are misled", "seccomp,landlock", make_node,
                "mknod of a whiteout", S_IFCHR, 0, 0),
        ROW("no whiteout can be left by rename", "overlays are misled; host readers meet a device", "seccomp",
            node_by_rename),
        ROW("no node hides behind high bits", "the filter looks at the wrong bits", ALL, node_at),
        ROW("the entropy pool cannot be credited", "random numbers of all are weakened",
            "capabilities,landlock", random_ioctl),
        READS("no debugging files are here", "the kernel's inner state", "mount,landlock",
              "/sys/kernel/debug", "/sys/kernel/debug/sched", "/sys/kernel/tracing/trace", "/debug",
              "/proc/sys/debug", "/proc/fs"),
};
const struct probe_list probes_devices = PROBE_LIST(rows);
