/* SPDX-License-Identifier: MIT */
/* pool/process_facts.c - what a box inherits from the process that starts it, and no plan contains. A parked
 * box has the resident's: it is used only by callers with the same. */
#include "base/fd.h"
#include "base/hash.h"
#include "pool/pool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void pool_process(char ret[POOL_PROCESS])
{
        struct sha256 s;
        uint64_t cpus[16] = { 0 };
        /* Not sched_getscheduler(): that of musl always fails, and a program with another libc asks the
         * resident, too. */
        long nice = getpriority(PRIO_PROCESS, 0), policy = syscall(SYS_sched_getscheduler, 0);
        sha256_init(&s);
        for (int i = 0; i < RLIM_NLIMITS; i++) {
                uint64_t now_and_most[2] = { 0, 0 };
                (void) syscall(SYS_prlimit64, 0, i, NULL, now_and_most);
                if (i == RLIMIT_NOFILE)
                        now_and_most[0] = 0; /* which programs raise for themselves */
                sha256_add(&s, now_and_most, sizeof now_and_most);
        }

        (void) syscall(SYS_sched_getaffinity, 0, sizeof cpus, cpus);
        sha256_add(&s, cpus, sizeof cpus);
        sha256_add(&s, &nice, sizeof nice);
        sha256_add(&s, &policy, sizeof policy);
        sha256_end_hex(&s, ret);
}

/* If there are other threads, without changing it: they may create files. */
unsigned pool_umask(bool alone)
{
        char text[512];
        if (alone) {
                mode_t mask = umask(077);
                (void) umask(mask);
                return mask;
        }

        const char *at =
                fd_get(AT_FDCWD, "/proc/self/status", text, sizeof text) < 0 ? NULL : strstr(text, "Umask:");
        return at ? (unsigned) strtoul(at + strlen("Umask:"), NULL, 8) & 0777 : 022;
}
