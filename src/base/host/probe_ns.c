/* SPDX-License-Identifier: MIT */
/* base/host/probe_ns.c - tries namespaces and mounts. Runs in short-lived children only: everything mounted
 * here is in a private mount namespace. */
#include "base/fd.h"
#include "base/host/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

enum step { STEP_UNSHARE = 1, STEP_MAP, STEP_MOUNT, STEP_CHILD, STEP_ATTR, STEP_TREE };

static int step_failed(struct host_outcome *o, enum step step)
{
        o->step = (int) step;
        return errno ? errno : EIO;
}

/* --- user namespaces --- */

static int write_maps(uid_t uid, gid_t gid)
{
        char text[32];
        (void) fd_put(AT_FDCWD, "/proc/self/setgroups", "deny");
        (void) snprintf(text, sizeof text, "0 %u 1", uid);
        if (fd_put(AT_FDCWD, "/proc/self/uid_map", text) < 0)
                return -1;

        (void) snprintf(text, sizeof text, "0 %u 1", gid);
        return fd_put(AT_FDCWD, "/proc/self/gid_map", text);
}

/* Enters a user namespace with others, mapped to ourselves, with private mounts. */
static int enter_namespaces(struct host_outcome *o, unsigned long flags)
{
        uid_t uid = geteuid();
        gid_t gid = getegid();
        if (unshare((int) (CLONE_NEWUSER | CLONE_NEWNS | flags)) < 0)
                return step_failed(o, STEP_UNSHARE);

        if (write_maps(uid, gid) < 0)
                return step_failed(o, STEP_MAP);

        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return step_failed(o, STEP_MOUNT);

        return 0;
}

static int try_userns(struct host_outcome *o, unsigned long flags)
{
        int sys = enter_namespaces(o, flags);
        if (sys == 0 && mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k") < 0)
                return step_failed(o, STEP_MOUNT);
        return sys;
}

#define PROFILE "/etc/apparmor.d/cordon"

/* The profile that is installed is for the installed program; that it exists and we are here shows that it
 * does not cover this one. */
static void mend_apparmor(struct host_finding *f)
{
        char exe[128];
        if (host_self(exe, sizeof exe) && access(PROFILE, F_OK) != 0 &&
            exe[strcspn(exe, "'\"\\%{}[]*?^\n")] == '\0')
                host_mend(f,
                          "printf 'abi <abi/4.0>,\\nprofile cordon \"%s{,-bwrap}\" "
                          "flags=(unconfined) { userns, }\\n' | sudo tee " PROFILE
                          " && sudo apparmor_parser -r " PROFILE,
                          exe);

        if (f->mend[0] == '\0')
                host_mend(f, "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
}

/* The known reasons, most specific first. */
static void explain_step(struct host_finding *f, const struct host_outcome *o)
{
        char why[96];
        (void) host_why(o, why);
        if (host_sysctl("/proc/sys/user/max_user_namespaces") == 0) {
                host_say(f, HOST_NO, "user.max_user_namespaces is 0: %s", why);
                host_mend(f, "sudo sysctl -w user.max_user_namespaces=15000");
        } else if (geteuid() != 0 && host_sysctl("/proc/sys/kernel/unprivileged_userns_clone") == 0) {
                host_say(f, HOST_NO, "kernel.unprivileged_userns_clone is 0: %s", why);
                host_mend(f, "sudo sysctl -w kernel.unprivileged_userns_clone=1");
        } else if (geteuid() != 0 &&
                   host_sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1) {
                host_say(f, HOST_NO, "AppArmor restricts user namespaces for this program: %s", why);
                mend_apparmor(f);
        } else if (host_filtered() == 2 && o->step == STEP_UNSHARE) {
                host_say(f, HOST_NO, "blocked by an outer seccomp filter, probably a container's: %s", why);
                host_mend(f, "docker run --security-opt seccomp=unconfined ... (podman: the same)");
        } else {
                static const char *const steps[] = { "", "making", "mapping", "mounting in", "starting in",
                                                     "", "" };
                bool bare = o->sys == EPERM && o->step == STEP_UNSHARE;
                host_say(f, HOST_NO, "%s a user namespace: %s%s", steps[o->step % 7], why,
                         bare ? "; in a chroot the kernel allows none" : "");
        }
}

void host_look_userns(struct host_finding *f)
{
        struct host_outcome o = host_try(try_userns, 0);
        if (o.sys)
                explain_step(f, &o);
        else
                host_say(f, HOST_YES, "works");
}

/* --- one namespace each --- */

static void look_ns(struct host_finding *f, unsigned long flag, const char *found)
{
        if (host_report(f, try_userns, 0, found, HOST_NO, "needs user namespaces").sys == 0)
                (void) host_report(f, try_userns, flag, found, HOST_NO, "the kernel refuses it");
}

void host_look_net(struct host_finding *f)
{
        look_ns(f, CLONE_NEWNET, "works: private loopback, no other network without net doors");
}
void host_look_ipc(struct host_finding *f) { look_ns(f, CLONE_NEWIPC, "made"); }

static int try_name(struct host_outcome *o, unsigned long flags)
{
        int sys = enter_namespaces(o, flags);
        return sys == 0 && sethostname("box", 3) < 0 ? step_failed(o, STEP_MOUNT) : sys;
}

/* podman's filter lets user namespaces be made, but no name be set in them. */
void host_look_uts(struct host_finding *f)
{
        look_ns(f, CLONE_NEWUTS, "works");
        if (f->state != HOST_NO &&
            host_report(f, try_name, CLONE_NEWUTS, "works", HOST_NO, "made, but no name can be set in it")
                    .sys &&
            host_filtered() == 2)
                host_mend(f, "podman run --security-opt seccomp=unconfined ... (docker: the same)");
}

void host_look_cgroup_ns(struct host_finding *f) { look_ns(f, CLONE_NEWCGROUP, "made"); }
void host_look_time(struct host_finding *f) { look_ns(f, CLONE_NEWTIME, "made"); }

/* --- pid namespace and /proc --- */

static int mount_proc(struct host_outcome *o, bool subset)
{
        AUTO_FD(fs, (int) syscall(SYS_fsopen, "proc", 1));
        if (fs < 0)
                return step_failed(o, STEP_MOUNT);

        if (subset && syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "subset", "pid", 0) < 0)
                return step_failed(o, STEP_ATTR);

        if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
                return step_failed(o, STEP_MOUNT);

        AUTO_FD(mnt, (int) syscall(SYS_fsmount, fs, 1, 0));
        return mnt < 0 ? step_failed(o, STEP_MOUNT) : 0;
}

/* Mounts a complete /proc, covers one name in it, then restricts it: a box's /proc/cpuinfo needs this. It is
 * attached next to the host's in our own mount namespace, as in a box. */
static int cover_proc(struct host_outcome *o)
{
        struct stat st;
        AUTO_FD(fs, (int) syscall(SYS_fsopen, "proc", 1));
        if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
                return step_failed(o, STEP_MOUNT);

        AUTO_FD(mnt, (int) syscall(SYS_fsmount, fs, 1, 0));
        if (mnt < 0 || syscall(SYS_move_mount, mnt, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) < 0)
                return step_failed(o, STEP_MOUNT);

        AUTO_FD(tree, (int) syscall(SYS_open_tree, AT_FDCWD, "/dev/null", OPEN_TREE_CLONE | O_CLOEXEC));
        if (tree < 0 || syscall(SYS_move_mount, tree, "", mnt, "stat", MOVE_MOUNT_F_EMPTY_PATH) < 0)
                return step_failed(o, STEP_TREE);

        AUTO_FD(again, (int) syscall(SYS_fspick, mnt, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH));
        if (again < 0 || syscall(SYS_fsconfig, again, FSCONFIG_SET_STRING, "subset", "pid", 0) < 0 ||
            syscall(SYS_fsconfig, again, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
                return step_failed(o, STEP_ATTR);

        return fstatat(mnt, "stat", &st, 0) < 0   ? step_failed(o, STEP_ATTR)
               : fstatat(mnt, "sys", &st, 0) == 0 ? EEXIST
                                                  : 0;
}

enum proc_try { PROC_NONE, PROC_WHOLE, PROC_SUBSET, PROC_COVERED };

static _Noreturn void init_of_new_ns(enum proc_try how)
{
        struct host_outcome o = { 0 };
        if (getpid() != 1)
                _exit(EIO);
        _exit(how == PROC_NONE      ? 0
              : how == PROC_COVERED ? cover_proc(&o)
                                    : mount_proc(&o, how == PROC_SUBSET));
}

/* arg: enum proc_try, as pid 1. */
static int try_pid(struct host_outcome *o, unsigned long arg)
{
        int status;
        int sys = enter_namespaces(o, CLONE_NEWPID);
        if (sys)
                return sys;

        pid_t pid = fork();
        if (pid < 0)
                return step_failed(o, STEP_CHILD);

        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                init_of_new_ns((enum proc_try) arg);
        }

        if (waitpid(pid, &status, 0) < 0)
                return step_failed(o, STEP_CHILD);

        o->step = STEP_CHILD;
        return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

void host_look_pid(struct host_finding *f)
{
        (void) host_report(f, try_pid, PROC_NONE, "made, with a pid 1 in it", HOST_NO,
                           "cannot start a pid 1");
}

void host_look_proc(struct host_finding *f)
{
        char why[96];
        struct host_outcome o = host_try(try_pid, PROC_SUBSET);
        if (o.sys == 0) {
                host_say(f, HOST_YES, "works (subset=pid)");
                return;
        }

        if (host_try(try_pid, PROC_WHOLE).sys == 0) {
                host_say(f, HOST_WEAK, "mounted, but without subset=pid (kernel before 5.8)");
                return;
        }

        host_say(f, HOST_NO, "cannot be mounted: %s%s", host_why(&o, why),
                 o.step == STEP_CHILD && o.sys == EPERM
                         ? "; parts of /proc are masked here, as in a container"
                         : "");
        if (o.step == STEP_CHILD && o.sys == EPERM)
                host_mend(f, "docker run --security-opt systempaths=unconfined ... (podman: --security-opt "
                             "unmask=ALL)");
}

void host_look_proc_files(struct host_finding *f)
{
        (void) host_report(f, try_pid, PROC_COVERED, "boxes have their own cpuinfo, meminfo, stat ...",
                           HOST_WEAK, "boxes have no /proc/cpuinfo, meminfo, stat ...");
}

/* --- mounts --- */

static int try_mount(struct host_outcome *o, unsigned long arg)
{
        (void) arg;
        struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };
        int sys = enter_namespaces(o, 0);
        if (sys)
                return sys;

        AUTO_FD(fs, (int) syscall(SYS_fsopen, "tmpfs", 1));
        if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
                return step_failed(o, STEP_MOUNT);

        AUTO_FD(mnt, (int) syscall(SYS_fsmount, fs, 1, 0));
        if (mnt < 0 ||
            syscall(SYS_move_mount, mnt, "", AT_FDCWD, "/tmp", 4 /* MOVE_MOUNT_F_EMPTY_PATH */) < 0)
                return step_failed(o, STEP_MOUNT);

        AUTO_FD(tree, (int) syscall(SYS_open_tree, AT_FDCWD, "/usr",
                                    1 /* OPEN_TREE_CLONE */ | O_CLOEXEC | AT_RECURSIVE));
        if (tree < 0)
                return step_failed(o, STEP_TREE);

        if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) < 0)
                return step_failed(o, STEP_ATTR);

        return 0;
}

void host_look_mount(struct host_finding *f)
{
        char why[96];
        struct host_outcome o = host_try(try_mount, 0);
        if (o.sys == 0)
                host_say(f, HOST_YES, "fsopen, open_tree, move_mount and recursive mount_setattr work");
        else if (o.sys == ENOSYS)
                host_say(f, HOST_NO, "the mount calls of kernel 5.12 are missing or filtered: %s",
                         host_why(&o, why));
        else
                host_say(f, HOST_NO, "%s: %s",
                         o.step < STEP_MOUNT ? "needs user namespaces" : "a mount call failed",
                         host_why(&o, why));
}

static int try_overlay(struct host_outcome *o, unsigned long arg)
{
        (void) arg;
        int sys = try_userns(o, 0);
        if (sys)
                return sys;

        if (mkdir("/tmp/l", 0700) < 0 || mkdir("/tmp/u", 0700) < 0 || mkdir("/tmp/w", 0700) < 0 ||
            mkdir("/tmp/m", 0700) < 0)
                return step_failed(o, STEP_CHILD);

        if (mount("overlay", "/tmp/m", "overlay", 0,
                  "lowerdir=/tmp/l,upperdir=/tmp/u,workdir=/tmp/w,userxattr") < 0)
                return step_failed(o, STEP_ATTR);

        return 0;
}

void host_look_overlay(struct host_finding *f)
{
        char why[96];
        struct host_outcome o = host_try(try_overlay, 0);
        if (o.sys == 0) {
                host_say(f, HOST_YES, "works: edit doors need no root");
                return;
        }

        host_say(f, HOST_NO, "%s: %s",
                 o.step < STEP_CHILD ? "needs user namespaces" : "not in a user namespace",
                 host_why(&o, why));
        if (o.sys == ENODEV)
                host_mend(f, "sudo modprobe overlay");
}

/* Does what the observer of a box does, up to the first request. */
static int try_fuse(struct host_outcome *o, unsigned long arg)
{
        (void) arg;
        char options[64];
        int sys = try_userns(o, 0);
        if (sys)
                return sys;

        AUTO_FD(fuse, open("/dev/fuse", O_RDWR | O_CLOEXEC)); /* in the namespace: the kernel compares */
        if (fuse < 0)
                return step_failed(o, STEP_CHILD);

        (void) snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
        if (mount("fuse", "/tmp", "fuse", MS_NOSUID | MS_NODEV, options) < 0)
                return step_failed(o, STEP_ATTR);

        return 0;
}

static bool host_has_fuse(void)
{
        char text[4096];
        return fd_get(AT_FDCWD, "/proc/filesystems", text, sizeof text) > 0 && strstr(text, "\tfuse");
}

void host_look_fuse(struct host_finding *f)
{
        char why[96];
        struct host_facts facts = { 0 };
        struct err e;
        if (host_facts_quick(&facts, &e) < 0 || !host_serves_signals(&facts)) {
                host_say(f, HOST_WEAK,
                         "hidden paths stay hidden, but lookups are not reported: needs Linux 5.19");
                return;
        }

        struct host_outcome o = host_try(try_fuse, 0);
        if (o.sys == 0) {
                host_say(f, HOST_YES, "works: blocked path lookups are reported");
                return;
        }

        host_say(f, HOST_WEAK, "blocked path lookups are not reported (they stay blocked): %s",
                 o.sys == EACCES ? "/dev/fuse is for root alone" : host_why(&o, why));
        if (o.sys == EACCES)
                host_mend(f, "sudo chmod 666 /dev/fuse");
        else if (o.sys == ENOENT && host_has_fuse()) /* this /dev lacks the device */
                host_mend(f, "docker run --device /dev/fuse ... (podman: the same)");
        else if (o.sys == ENOENT || o.sys == ENODEV || o.sys == ENXIO)
                host_mend(f, "sudo modprobe fuse");
}

/* A child that only keeps its user namespace alive. */
static int userns_fd(struct host_outcome *o)
{
        char path[48];
        int ready[2], fd = -1;
        char word = 0;

        if (pipe2(ready, O_CLOEXEC) < 0)
                return step_failed(o, STEP_CHILD), -1;

        pid_t pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                word = unshare(CLONE_NEWUSER) == 0 && write_maps(0, 0) == 0 ? 'y' : 'n';
                (void) fd_write_all(ready[1], &word, 1);
                (void) pause();
                _exit(0);
        }

        (void) snprintf(path, sizeof path, "/proc/%d/ns/user", (int) pid);
        if (pid > 0 && read(ready[0], &word, 1) == 1 && word == 'y')
                fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                o->step = STEP_UNSHARE;

        if (pid > 0)
                (void) kill(pid, SIGKILL);

        if (pid > 0)
                (void) waitpid(pid, NULL, 0);

        (void) close(ready[0]);
        (void) close(ready[1]);
        return fd;
}

static int try_idmap(struct host_outcome *o, unsigned long arg)
{
        (void) arg;
        AUTO_FD(ns, userns_fd(o));
        if (ns < 0)
                return EPERM;

        AUTO_FD(tree, (int) syscall(SYS_open_tree, AT_FDCWD, "/usr", 1 | O_CLOEXEC));
        if (tree < 0)
                return step_failed(o, STEP_TREE);

        struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t) ns };
        if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
                return step_failed(o, STEP_ATTR);

        return 0;
}

void host_look_idmap(struct host_finding *f)
{
        if (geteuid() != 0)
                host_say(f, HOST_WEAK, "needs root; boxes keep your uid");
        else
                (void) host_report(f, try_idmap, 0, "/usr can be mounted with mapped ids", HOST_WEAK,
                                   "/usr cannot be mounted with mapped ids");
}
