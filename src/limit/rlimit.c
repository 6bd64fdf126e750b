/* SPDX-License-Identifier: MIT */
/* limit/rlimit.c - the limits that a process carries itself. Only ever lowers: an account without
 * CAP_SYS_RESOURCE could not raise, and a box must not. Async-signal-safe. */
#include "limit/limit.h"

#include <errno.h>
#include <sys/resource.h>

int limit_rlimit(int resource, uint64_t value)
{
        struct rlimit r;
        if (getrlimit((__rlimit_resource_t) resource, &r) < 0)
                return -errno;
        if (r.rlim_cur <= value && r.rlim_max <= value)
                return 0;
        if (r.rlim_cur > value)
                r.rlim_cur = value;
        if (r.rlim_max > value)
                r.rlim_max = value;
        return setrlimit((__rlimit_resource_t) resource, &r) < 0 ? -errno : 0;
}
