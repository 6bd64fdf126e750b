/* SPDX-License-Identifier: MIT */
/* base/host/cores.c - can boxes have the threads of a core for themselves? */
#include "base/fd.h"
#include "base/host/host.h"
#include "base/sched_core.h"

#include <fcntl.h>
#include <stdint.h>

int host_cores(void)
{
        uint64_t cookie = 0;
        if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, 0, 0, &cookie) == 0)
                return 1;
        if (errno == ENODEV)
                return 0;

        char text[8] = "";
        ssize_t n = fd_get(AT_FDCWD, "/sys/devices/system/cpu/smt/active", text, sizeof text);
        return n > 0 && text[0] == '0' ? 0 : -1;
}
