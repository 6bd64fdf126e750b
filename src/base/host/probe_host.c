/* SPDX-License-Identifier: MIT */
/* base/host/probe_host.c - checks the environment: kernel, account, container, control groups, and notable
 * settings. */
#include "base/fd.h"
#include "base/host/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>

void host_look_kernel(struct host_finding *f)
{
        struct utsname u;
        struct host_facts q;
        struct err e;
        if (uname(&u) < 0 || host_facts_quick(&q, &e) < 0) {
                host_say(f, HOST_NO, "cannot be asked");
                return;
        }

        unsigned v = q.kernel_major * 1000 + q.kernel_minor;
        enum host_state state = v >= 6001 ? HOST_YES : host_is_old(&q) ? HOST_NO : HOST_WEAK;
        host_say(f, state, "Linux %.60s on %.20s%s", u.release, u.machine,
                 state == HOST_YES    ? ""
                 : state == HOST_WEAK ? "; cordon is tested from 6.1 on"
                                      : "; cordon needs " HOST_KERNEL_TEXT " or newer");
}

void host_look_account(struct host_finding *f)
{
        struct host_facts q;
        struct err e;
        if (host_facts_quick(&q, &e) < 0)
                host_say(f, HOST_NO, "%s", e.what);
        else if (q.has_setid && (q.has_sys_admin || !q.maps_all))
                host_say(f, HOST_YES, "uid %u, privileged: boxes get their own uid", q.uid);
        else if (q.has_setid) {
                host_say(f, HOST_WEAK,
                         "uid %u without CAP_SYS_ADMIN: boxes with doors get the process wall, and read what "
                         "every user may",
                         q.uid);
                host_mend(f, HOST_AS_USER);
        } else
                host_say(f, HOST_YES, "uid %u, unprivileged: boxes run as this uid", q.uid);
}

/* --- containers --- */

static bool in_own_userns(void)
{
        struct host_ids ids;
        return host_own_ids(&ids) == 0 && (ids.outside != 0 || ids.count != UINT32_MAX);
}

/* A name for the container we are in, or NULL. */
static const char *host_container(const struct cordon_context *cx)
{
        static const struct {
                const char *path, *name;
        } marks[] = {
                { "/.dockerenv", "docker" },
                { "/run/.containerenv", "podman" },
                { "/run/systemd/container", "systemd-nspawn" },
        };

        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
                if (access(marks[i].path, F_OK) == 0)
                        return marks[i].name;

        if (context_get(cx, "KUBERNETES_SERVICE_HOST"))
                return "kubernetes";

        if (context_get(cx, "container"))
                return "one that sets $container";

        return in_own_userns() ? "a user namespace" : NULL;
}

void host_look_container(struct host_finding *f)
{
        const char *name = host_container(f->cx);
        if (!name)
                host_say(f, HOST_YES, "no container detected");
        else
                host_say(f, HOST_WEAK, "inside a container (%s), whose restrictions apply to boxes", name);
}

/* --- control groups --- */

static bool may_make(int dir, int *ret_sys)
{
        if (dir >= 0 && faccessat(dir, ".", W_OK, AT_EACCESS) == 0)
                return true;
        *ret_sys = errno;
        return false;
}

static void refuse_groups(struct host_finding *f, const char *what, bool v2, int sys)
{
        host_say(f, HOST_WEAK, "cannot use %s (%s); rlimits only", what, strerror(sys));
        if (sys == EROFS)
                host_mend(f, "docker run -v /sys/fs/cgroup:/sys/fs/cgroup:rw --cgroupns=private ...");
        else if (access("/run/systemd/system", F_OK) != 0)
                host_mend(f, "sudo cordon run ... (or let root give this user a group: man cordon-walls, "
                             "CONTROL GROUPS)");
        else if (v2) /* v1 is not delegated to users */
                host_mend(f, "systemd-run --user --scope -p Delegate=yes cordon run ...");
        else
                host_mend(f,
                          "boot with systemd.unified_cgroup_hierarchy=1: man cordon-walls, CONTROL GROUPS");
}

static void look_limit(struct host_finding *f, enum host_controller c, const char *name)
{
        struct host_cgroups h;
        struct err e;
        int sys = 0;
        char what[320];

        if (host_cgroups_read(&h, &e) < 0) {
                host_say(f, HOST_NO, "%s", e.what);
                return;
        }

        bool v2 = h.v2.present && h.v2_has[c];
        if (!v2 && !h.v1[c].present) {
                host_say(f, HOST_WEAK, "no cgroup controller %s mounted; rlimits only", name);
                host_mend(f, "sudo mount -t cgroup2 none /sys/fs/cgroup");
                return;
        }

        (void) snprintf(what, sizeof what, "control groups %s at %.90s", v2 ? "v2" : "v1",
                        v2 ? h.v2.mount : h.v1[c].mount);
        AUTO_FD(dir, !v2              ? host_cgroup_top(&h.v1[c], HOST_CGROUP_V1)
                     : geteuid() == 0 ? host_cgroup_top(&h.v2, HOST_CGROUP_V2)
                                      : host_cgroup_seat(&h.v2, HOST_CGROUP_V2));
        if (!may_make(dir, &sys))
                refuse_groups(f, what, v2, sys);
        else
                host_say(f, HOST_YES, "%s%s", what,
                         !v2 && h.v2.present ? " (hybrid: v2 is also mounted)" : "");
}

void host_look_memory(struct host_finding *f) { look_limit(f, CONTROLLER_MEMORY, "memory"); }
void host_look_procs(struct host_finding *f) { look_limit(f, CONTROLLER_PIDS, "pids"); }

/* --- settings of the host that a box does not depend on, but that users should know --- */

void host_look_core(struct host_finding *f)
{
        char text[128];
        if (fd_get(AT_FDCWD, "/proc/sys/kernel/core_pattern", text, sizeof text) < 0)
                host_say(f, HOST_YES, "core_pattern cannot be read here");
        else if (text[0] == '|')
                host_say(f, HOST_WEAK,
                         "core_pattern runs a program as root (%.80s); core dumps are off in boxes", text);
        else if (text[0] == '@') { /* since Linux 6.16, which ignores RLIMIT_CORE for it */
                host_say(f, HOST_WEAK, "a crash, in a box too, is handed to a program of the host (%.80s)",
                         text);
                host_mend(f, "sudo sysctl -w kernel.core_pattern=core");
        } else
                host_say(f, HOST_YES, "core_pattern is %.80s; boxes dump no core", text[0] ? text : "empty");
}

void host_look_tiocsti(struct host_finding *f)
{
        long on = host_sysctl("/proc/sys/dev/tty/legacy_tiocsti");
        if (on == 0) {
                host_say(f, HOST_YES, "TIOCSTI is off in this kernel");
                return;
        }

        host_say(f, HOST_WEAK, "TIOCSTI enabled%s; boxes use private terminals and filter it",
                 on >= 0                              ? ""
                 : access("/proc/sys/dev", F_OK) == 0 ? " (kernel before 6.2)"
                                                      : ", or cannot be read here");
        if (on > 0)
                host_mend(f, "sudo sysctl -w dev.tty.legacy_tiocsti=0");
}

void host_look_io_uring(struct host_finding *f)
{
        long off = host_sysctl("/proc/sys/kernel/io_uring_disabled");
        if (off == 2) {
                host_say(f, HOST_YES, "off on this host");
                return;
        }

        host_say(f, HOST_WEAK, "enabled for %s; blocked in boxes by seccomp",
                 off == 1 ? "members of a group" : "every program");
        if (off >= 0)
                host_mend(f, "sudo sysctl -w kernel.io_uring_disabled=2");
}

/* Opens the device and queries it, because a device node alone proves nothing. */
static int try_kvm(struct host_outcome *o, unsigned long arg)
{
        (void) arg;
        AUTO_FD(kvm, open("/dev/kvm", O_RDWR | O_CLOEXEC));
        if (kvm < 0)
                return errno;
        o->value = ioctl(kvm, KVM_GET_API_VERSION, 0);
        return o->value < 0 ? errno : 0;
}

void host_look_kvm(struct host_finding *f)
{
        char why[96];
        struct host_outcome o = host_try(try_kvm, 0);
        if (o.sys == 0) {
                host_say(f, HOST_YES, "/dev/kvm answers (API %d): the vm wall is possible", o.value);
                return;
        }

        host_say(f, HOST_NO, "/dev/kvm: %s (needed by a future vm wall)", host_why(&o, why));
}
