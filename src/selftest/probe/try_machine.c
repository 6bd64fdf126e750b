/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_machine.c - resources of the whole machine: names, clocks, knobs in /proc and /sys,
 * control groups, power. */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* To its present name: success changes nothing. */
static int host_name(struct probe_result *r)
{
        struct utsname u;
        (void) uname(&u);
        return by_reply(r, syscall(SYS_sethostname, u.nodename, strlen(u.nodename)), "sethostname");
}

static int domain_name(struct probe_result *r)
{
        struct utsname u;
        (void) uname(&u);
        return by_reply(r, syscall(SYS_setdomainname, u.domainname, strlen(u.domainname)), "setdomainname");
}

static int host_name_seen(struct probe_result *r)
{
        struct utsname u;
        (void) uname(&u);
        if (r->world->hostname[0] && strcmp(u.nodename, r->world->hostname) == 0)
                return escaped(r, "the host's name is visible");
        return held(r, "the name is %.64s, not the host's", u.nodename);
}

static int clock_set(struct probe_result *r)
{
        struct timespec now;
        (void) clock_gettime(CLOCK_REALTIME, &now);
        return by_reply(r, syscall(SYS_clock_settime, CLOCK_REALTIME, &now), "clock_settime");
}

#define COUNT(a) (sizeof(a) / sizeof *(a))
/* Files that cordon creates, if a box has them: they must not be the kernel's. */
static const struct {
        const char *path, *own; /* what only an uninformative one has */
        bool whole;             /* and nothing else */
} made_files[] = {
        { "/proc/cpuinfo", "", false }, /* what the processor itself tells */
        { "/proc/diskstats", "", true },
        { "/proc/filesystems", "nodev\tproc\nnodev\ttmpfs\nnodev\tdevpts\n", true },
        { "/proc/loadavg", "0.00 0.00 0.00 ", false },
        { "/proc/meminfo", "\nCached:                0 kB\n", false },
        { "/proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n", false },
        { "/proc/uptime", " 0.00\n", false },
        { "/proc/version", " (box@box) ", false },
        { "/proc/vmstat", "pgpgin 0\npgpgout 0\npswpin 0\npswpout 0\n", false },
};

static int made_is_ours(struct probe_result *r, size_t which)
{
        char text[8192];
        const char *path = made_files[which].path, *own = made_files[which].own;
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC));
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (n < 0)
                return refused(r, path);

        text[n] = '\0';
        bool ours = made_files[which].whole ? strcmp(text, own) == 0 : strstr(text, own) != NULL;
        return ours ? held(r, "%s is one that was made for the box", path)
                    : escaped(r, "%s is the kernel's", path);
}

static int made_facts(struct probe_result *r)
{
        for (size_t i = 0; i < COUNT(made_files); i++)
                if (made_is_ours(r, i) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;
        return (int) r->outcome;
}

static int made_written(struct probe_result *r)
{
        for (size_t i = 0; i < COUNT(made_files); i++)
                if (by_write_open(r, made_files[i].path) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;
        return by_write_open(r, "/sys/devices/system/cpu/online");
}

/* The way to the box's own files is not the kernel's. */
static int sys_tree(struct probe_result *r)
{
        for (const char *const *path = r->probe->paths; *path; path++)
                if (!is_way(*path) && by_open(r, *path, O_RDONLY) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;

        return PROBE_HELD;
}

/* CVE-2022-0492: every v1 hierarchy, by mount; then any that is there already. */
static int release_mount(struct probe_result *r)
{
        static const char *const controllers[] = { "memory",  "cpu",     "cpuacct",  "cpuset",     "devices",
                                                   "freezer", "net_cls", "net_prio", "perf_event", "blkio",
                                                   "pids",    "hugetlb", "rdma",     "misc" };
        for (size_t i = 0; i < COUNT(controllers); i++)
                if (syscall(SYS_mount, "none", "/tmp", "cgroup", 0, controllers[i]) == 0) {
                        (void) syscall(SYS_umount2, "/tmp", 2);
                        return escaped(r, "the control groups of %s were mounted", controllers[i]);
                }

        return refused(r, "mount of each v1 hierarchy");
}

static int group_mount(struct probe_result *r)
{
        long reply = syscall(SYS_mount, "none", "/tmp", "cgroup2", 0, NULL);
        if (reply == 0)
                (void) syscall(SYS_umount2, "/tmp", 2);
        return by_reply(r, reply, "mount of cgroup2");
}

/* A writable mount of control groups, wherever it is. */
static int group_mounts(struct probe_result *r)
{
        char text[16384];
        AUTO_FD(fd, open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open /proc/self/mountinfo");

        ssize_t n = fd_read_all(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        if (strstr(text, " - cgroup"))
                return escaped(r, "a mount of control groups is in view");

        return held(r, "no mount of control groups is in view");
}

static int group_path(struct probe_result *r)
{
        char text[4096];
        AUTO_FD(fd, open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open /proc/self/cgroup");

        ssize_t n = fd_read_all(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
             line = strtok_r(NULL, "\n", &save)) {
                const char *path = strrchr(line, ':');
                if (path && strstr(path, "cordon"))
                        return escaped(r, "the path of the box's control group is visible: %.120s", path + 1);
        }

        return held(r, "no path of the host's control groups is visible");
}

static struct timex slow = { .modes = ADJ_TICK, .tick = 1 }; /* out of range: the kernel rejects it */

static const struct probe rows[] = {
#define CLASS  PROBE_MACHINE
#define LAYERS "mount,landlock,proc"
        ROW("the host's name cannot be set", "the machine is renamed", "seccomp,uts,nested-user,capabilities",
            host_name),
        ROW("the domain's name cannot be set", "the machine is renamed",
            "seccomp,uts,nested-user,capabilities", domain_name),
        CLAIM("the host's name is not told", PROBE_MACHINE, "the machine is known", "uts", host_name_seen,
              NOT_BY_PROCESS_WALL),
        ROW("the clock cannot be set", "the machine's time changes", "seccomp,capabilities", clock_set),
        ANSWER("the day cannot be set", "the machine's time changes", "seccomp,capabilities", "settimeofday",
               SYS_settimeofday),
        CALL("the clock cannot be tuned", "the machine's time drifts", "seccomp,capabilities", "adjtimex",
             SYS_adjtimex, PROBE_PTR(&slow)),
        CALL("no other clock can be tuned", "the machine's time drifts", "seccomp,capabilities",
             "clock_adjtime", SYS_clock_adjtime, CLOCK_REALTIME, PROBE_PTR(&slow)),
        CALL("the machine cannot be rebooted", "the machine stops", "seccomp,capabilities,pid", "reboot",
             SYS_reboot),
        WRITES("no helper of the kernel can be named", "the kernel runs the box's program as root", LAYERS,
               "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug", "/sys/kernel/uevent_helper",
               "/proc/sys/kernel/poweroff_cmd", "/proc/sys/fs/binfmt_misc/register",
               "/proc/sys/kernel/usermodehelper/bset", "/sys/kernel/mm/ksm/run"),
        WRITES("no sysctl can be written", "the machine's settings change", LAYERS, "/proc/sys/vm/swappiness",
               "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/panic",
               "/proc/sys/kernel/randomize_va_space", "/proc/sys/net/ipv4/ip_forward",
               "/proc/sys/kernel/hostname", "/proc/sys/user/max_user_namespaces", "/proc/sys/vm/memfd_noexec",
               "/proc/sys/kernel/shmmax", "/proc/sys/fs/mqueue/queues_max",
               "/proc/sys/dev/tty/legacy_tiocsti"),
        WRITES("no switch of the machine can be pressed", "the machine crashes", LAYERS,
               "/proc/sysrq-trigger", "/proc/sys/kernel/sysrq", "/proc/acpi/wakeup", "/proc/mtrr",
               "/proc/scsi/scsi", "/proc/irq/default_smp_affinity"),
        READS("no image of memory can be read", "all memory of the machine", LAYERS, "/proc/kcore",
              "/proc/kpageflags", "/proc/kpagecount", "/proc/vmcore", "/dev/mem", "/dev/kmem", "/dev/port",
              "/proc/kmsg", "/dev/kmsg"),
        READS("no facts about the kernel", "addresses and settings for an exploit", LAYERS, "/proc/kallsyms",
              "/proc/config.gz", "/proc/cmdline", "/proc/interrupts", "/proc/timer_list", "/proc/sched_debug",
              "/proc/modules", "/proc/vmallocinfo", "/proc/slabinfo", "/proc/iomem", "/proc/ioports",
              "/proc/latency_stats", "/proc/bus/pci/devices", "/proc/partitions", "/proc/swaps"),
        READS("no facts about the machine's load", "what others do, by its traces", LAYERS,
              "/proc/pressure/cpu", "/proc/locks", "/proc/zoneinfo"),
        ROW("what stands for the machine's load tells nothing of it", "what others do, by its traces", LAYERS,
            made_facts),
        ROW("what stands for the machine's facts is not written", "other programs read false facts", LAYERS,
            made_written),
        STRINGS("/sys is not here", "devices, firmware, tracing", LAYERS, sys_tree, "/sys", "/sys/kernel",
                "/sys/class/dmi/id/product_uuid", "/sys/kernel/debug", "/sys/kernel/tracing",
                "/sys/kernel/security", "/sys/fs/bpf", "/sys/devices", "/sys/bus/pci", "/sys/module",
                "/sys/power/state"),
        ROW("no v1 control groups by mount", "release_agent runs as root (CVE-2022-0492)",
            "seccomp,landlock,nested-user,capabilities", release_mount),
        ROW("no v2 control groups by mount", "limits are lifted", "seccomp,landlock,nested-user,capabilities",
            group_mount),
        WRITES("no control group file can be written", "release_agent runs as root; limits are lifted",
               LAYERS, "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/memory/release_agent",
               "/sys/fs/cgroup/rdma/release_agent", "/sys/fs/cgroup/pids/release_agent",
               "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs",
               "/sys/fs/cgroup/memory/tasks"),
        ROW("no mount of control groups is in view", "release_agent runs as root; limits are lifted", LAYERS,
            group_mounts),
        ROW("the path of its control group is not told", "the host's layout", "cgroup-ns,landlock",
            group_path),
};
const struct probe_list probes_machine = PROBE_LIST(rows);
