/* SPDX-License-Identifier: MIT */
/* base/host/cpus.c - counts processors. Not with sysconf(): in musl it counts those in the caller's affinity
 * mask. */
#include "base/fd.h"
#include "base/host/host.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { CPUS_MAX = 65536 };

unsigned host_cpus_parse(const char *list)
{
        unsigned long n = 0;
        for (const char *at = list;; at++) {
                char *end;
                unsigned long first = strtoul(at, &end, 10), last = first;
                if (end == at || *at < '0' || *at > '9')
                        return 0;
                if (*end == '-') {
                        at = end + 1;
                        last = strtoul(at, &end, 10);
                        if (end == at || *at < '0' || *at > '9')
                                return 0;
                }
                if (last < first || last >= CPUS_MAX)
                        return 0;
                n += last - first + 1;
                if (*end == '\0' || *end == '\n')
                        return n <= CPUS_MAX ? (unsigned) n : 0;
                if (*end != ',')
                        return 0;
                at = end;
        }
}

unsigned host_cpus(void)
{
        char list[1024];
        unsigned n = 0;
        if (fd_get(AT_FDCWD, "/sys/devices/system/cpu/online", list, sizeof list) > 0)
                n = host_cpus_parse(list);
        long tied = n ? 0 : sysconf(_SC_NPROCESSORS_ONLN);
        return n ? n : tied > 0 ? (unsigned) tied : 1;
}
