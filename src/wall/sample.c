/* SPDX-License-Identifier: MIT */
/* wall/sample.c - what the box uses, read from its own /proc, where no control group counts. Weaker than a
 * group: it sees only what is there when it looks. Never: allocates. */
#include "base/fd.h"
#include "base/str.h"
#include "wall/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct kernel_dirent { /* struct linux_dirent64 */
        uint64_t ino;
        int64_t off;
        unsigned short len;
        unsigned char type;
        char name[];
};

/* Field `n` (1-based, as proc(5) counts) of a stat line; fields are counted from after the last ')', because
 * the name in front of it is the payload's to choose. */
static uint64_t stat_field(const char *stat, unsigned n)
{
        const char *at = strrchr(stat, ')');
        if (!at)
                return 0;
        for (unsigned i = 2; i < n && at; i++)
                at = strchr(at + 1, ' ');
        return at ? strtoull(at + 1, NULL, 10) : 0;
}

static uint64_t statm_field(const char *statm, unsigned n)
{
        for (unsigned i = 1; i < n && statm; i++)
                statm = strchr(statm + 1, ' ');
        return statm ? strtoull(statm, NULL, 10) : 0;
}

static void add_process(int proc, const char *pid, struct wall_sample *s)
{
        char name[64], text[1024];
        (void) snprintf(name, sizeof name, "%.20s/stat", pid);
        if (fd_get(proc, name, text, sizeof text) < 0)
                return; /* it ended in between */
        long hz = sysconf(_SC_CLK_TCK);
        uint64_t ticks = 0;
        for (unsigned f = 14; f <= 17; f++) /* utime stime cutime cstime: what was waited for counts too */
                ticks += stat_field(text, f);
        s->cpu_ns += ticks * (1000000000u / (uint64_t) hz);
        s->rss += stat_field(text, 24) * (uint64_t) sysconf(_SC_PAGESIZE);
        s->tasks += stat_field(text, 20);
        (void) snprintf(name, sizeof name, "%.20s/statm", pid);
        if (fd_get(proc, name, text, sizeof text) < 0)
                return;
        uint64_t data = statm_field(text, 6) * (uint64_t) sysconf(_SC_PAGESIZE);
        if (data > s->data_max)
                s->data_max = data;
}

int wall_sample(int proc, struct wall_sample *ret)
{
        char buf[4096] __attribute__((aligned(8)));
        *ret = (struct wall_sample){ 0 };
        AUTO_FD(dir, openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (dir < 0)
                return -1;
        for (;;) {
                long n = syscall(SYS_getdents64, dir, buf, sizeof buf);
                if (n <= 0)
                        return (int) n;
                for (long at = 0; at < n;) {
                        const struct kernel_dirent *d = (const void *) (buf + at);
                        if (d->name[0] >= '1' && d->name[0] <= '9' && strcmp(d->name, "1") != 0)
                                add_process(proc, d->name, ret);
                        at += d->len;
                }
        }
}
