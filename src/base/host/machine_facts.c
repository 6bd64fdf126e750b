/* SPDX-License-Identifier: MIT */
/* base/host/machine_facts.c - the machine as shown to a box: its processors, memory, clock and kernel.
 * Contains nothing that a program could not ask the processor or the kernel for without a file. On the start
 * path. */
#include "base/fd.h"
#include "base/host/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The first processor's part is enough. Kernels order the parts differently, and a page holds more than one.
 */
static void read_cpuinfo(struct host_machine *m)
{
        AUTO_FD(fd, open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC));
        ssize_t n = fd < 0 ? -1 : read(fd, m->cpuinfo, sizeof m->cpuinfo - 1);
        m->cpuinfo[n > 0 ? n : 0] = '\0';
}

void host_machine_read(struct host_machine *ret)
{
        struct sysinfo memory = { 0 };
        struct utsname kernel = { 0 };
        struct timespec up = { 0 }, now = { 0 };

        memset(ret->cpus, 0, sizeof ret->cpus);
        if (syscall(SYS_sched_getaffinity, 0, sizeof ret->cpus, ret->cpus) <= 0)
                ret->cpus[0] = 1;

        read_cpuinfo(ret);
        (void) sysinfo(&memory);
        ret->memory = (uint64_t) memory.totalram * memory.mem_unit;
        (void) uname(&kernel);
        (void) snprintf(ret->release, sizeof ret->release, "%s", kernel.release);
        (void) snprintf(ret->version, sizeof ret->version, "%s", kernel.version);
        (void) clock_gettime(CLOCK_BOOTTIME, &up);
        (void) clock_gettime(CLOCK_REALTIME, &now);
        ret->up_cs = (uint64_t) up.tv_sec * 100 + (uint64_t) up.tv_nsec / 10000000;
        ret->booted_s = now.tv_sec - up.tv_sec - (now.tv_nsec < up.tv_nsec);
}
