/* SPDX-License-Identifier: MIT */
/* run/pool/process_facts.c - the umask, which a box inherits from the process that starts it. */
#include "base/fd.h"
#include "run/pool/pool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
