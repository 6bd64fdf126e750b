/* SPDX-License-Identifier: MIT */
/* base/jail.c - see jail.h. */
#include "base/jail.h"
#include "base/calls.h"
#include "base/precedence.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int jail_failed(const char *program, const char *what, struct err *e)
{
        int sys = errno;
        return err_set(e, ERR_WALL, sys, "%s cannot %s: %s", program, what, strerror(sys));
}

int jail_limit(int what, rlim_t most)
{
        struct rlimit r;
        if (getrlimit(what, &r) < 0)
                return -1;
        r.rlim_max = r.rlim_max < most ? r.rlim_max : most;
        r.rlim_cur = r.rlim_max;
        return setrlimit(what, &r);
}

int jail_drop(uint32_t become)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        const struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };
        if (chdir("/") < 0 || precedence_drop() < 0)
                return -1;

        if (become && (setgroups(0, NULL) < 0 || setresgid(become, become, become) < 0 ||
                       setresuid(become, become, become) < 0))
                return -1;

        return syscall(SYS_capset, &head, none) < 0 ? -1 : prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int jail_ruleset(struct jail_rules *r)
{
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
        r->fs &= abi >= 5 ? 0xffff : abi >= 3 ? 0x7fff : abi >= 2 ? 0x3fff : 0x1fff;
        r->net = abi >= 4 ? r->net : 0;
        r->scoped = abi >= 6 ? r->scoped : 0;
        errno = 0;
        return abi < 1 ? -1
                       : (int) syscall(SYS_landlock_create_ruleset, r,
                                       abi >= 6   ? sizeof *r
                                       : abi >= 4 ? 16
                                                  : 8,
                                       0);
}

int jail_restrict(int set, bool bad)
{
        if (set < 0)
                return errno ? -1 : 0;
        bad = bad || syscall(SYS_landlock_restrict_self, set, 0) < 0;
        (void) close(set);
        return bad ? -1 : 0;
}

int jail_calls(const char *program, const uint32_t *allowed, size_t count, struct err *e)
{
        struct calls f;
        calls_begin(&f);
        calls_allow(&f, allowed, count);
        calls_allow_memory(&f);
        return calls_close(&f) < 0 ? jail_failed(program, "close system calls", e) : 0;
}

int jail_enter(const char *program, uint32_t become, rlim_t memory, struct err *e)
{
        struct jail_rules all = JAIL_ALL;
        if (jail_drop(become) < 0)
                return jail_failed(program, "give up what it does not need", e);
        if (jail_limit(RLIMIT_CORE, 0) < 0 || jail_limit(RLIMIT_MEMLOCK, 0) < 0)
                return jail_failed(program, "limit itself", e);

        if (calls_sanitized())
                return 0; /* for tests: the sanitizer reads files that would be denied */

        if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || jail_limit(RLIMIT_DATA, memory) < 0 ||
            jail_restrict(jail_ruleset(&all), false) < 0)
                return jail_failed(program, "close files", e);
        return 0;
}
