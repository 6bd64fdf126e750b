/* SPDX-License-Identifier: MIT */
/* base/host/facts.c - the few facts that every start needs: a handful of system calls, one file for root, no
 * allocation. */
#include "base/err.h"
#include "base/fd.h"
#include "base/host/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Older headers lack these. */
enum { RULESET_VERSION = 1, RULESET_ERRATA = 2 };

static int landlock_ask(unsigned flag)
{
        long n = syscall(SYS_landlock_create_ruleset, NULL, 0, flag);
        return n > 0 ? (int) n : 0;
}

static int read_caps(uint64_t *ret_effective)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[2] = { 0 };
        if (syscall(SYS_capget, &head, data) < 0)
                return -1;
        *ret_effective = (uint64_t) data[1].effective << 32 | data[0].effective;
        return 0;
}

static unsigned read_number(const char **at)
{
        unsigned n = 0;
        for (; **at >= '0' && **at <= '9' && n < 100000; (*at)++)
                n = n * 10 + (unsigned) (**at - '0');
        return n;
}

static bool has(uint64_t caps, unsigned cap) { return caps >> cap & 1; }

int host_own_ids(struct host_ids *ret)
{
        char text[128], *at = text;
        unsigned long n[3];
        if (fd_get(AT_FDCWD, "/proc/self/uid_map", text, sizeof text) < 0)
                return -1;

        for (unsigned i = 0; i < 3; i++) {
                char *end;
                n[i] = strtoul(at, &end, 10);
                if (end == at)
                        return -1;
                at = end;
        }

        *ret = (struct host_ids){ .inside = n[0], .outside = n[1], .count = n[2] };
        return 0;
}

/* Only root's start needs this: one small file. */
static bool maps_all_ids(void)
{
        struct host_ids ids;
        return host_own_ids(&ids) == 0 && ids.inside == 0 && ids.count == UINT32_MAX;
}

int host_facts_quick(struct host_facts *ret, struct err *e)
{
        struct host_facts f = { .uid = getuid(), .gid = getgid() };
        struct utsname u;
        uint64_t caps;
        if (read_caps(&caps) < 0)
                return err_set(e, ERR_HOST, errno, "cannot read this process's capabilities");

        if (uname(&u) < 0)
                return err_set(e, ERR_HOST, errno, "cannot read the kernel's version");

        const char *at = u.release;
        f.kernel_major = read_number(&at);
        if (*at == '.')
                at++;

        f.kernel_minor = read_number(&at);
        f.maps_all = f.uid == 0 && maps_all_ids();
        f.has_setid = has(caps, CAP_SETUID) && has(caps, CAP_SETGID);
        f.has_sys_admin = has(caps, CAP_SYS_ADMIN);
        f.landlock_abi = landlock_ask(RULESET_VERSION);
        f.landlock_errata = f.landlock_abi > 0 ? landlock_ask(RULESET_ERRATA) : 0;
        *ret = f;
        return 0;
}
