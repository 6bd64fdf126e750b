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

static int drop_ids(uint32_t become)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        const struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };
        if (become && (setgroups(0, NULL) < 0 || setresgid(become, become, become) < 0 ||
                       setresuid(become, become, become) < 0))
                return -1;
        return (int) syscall(SYS_capset, &head, none);
}

/* A kernel without Landlock was reported when the box's walls were raised; the filter still applies. */
static int close_files(void)
{
        struct {
                uint64_t fs, net, scoped;
        } r = { 0xffff, 3, 3 };
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
        if (abi < 1)
                return 0;

        r.fs = abi >= 5 ? r.fs : abi >= 3 ? 0x7fff : abi >= 2 ? 0x3fff : 0x1fff;
        int set = (int) syscall(SYS_landlock_create_ruleset, &r, abi >= 6 ? sizeof r : abi >= 4 ? 16 : 8, 0);
        int bad = set < 0 || syscall(SYS_landlock_restrict_self, set, 0) < 0;
        if (set >= 0)
                (void) close(set);
        return bad ? -1 : 0;
}

int jail_enter(const char *program, uint32_t become, rlim_t memory, struct err *e)
{
        if (chdir("/") < 0 || precedence_drop() < 0 || drop_ids(become) < 0 ||
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return jail_failed(program, "give up what it does not need", e);

        if (jail_limit(RLIMIT_CORE, 0) < 0 || jail_limit(RLIMIT_MEMLOCK, 0) < 0)
                return jail_failed(program, "limit itself", e);

        if (calls_sanitized())
                return 0; /* for tests: the sanitizer reads files that would be denied */

        if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || jail_limit(RLIMIT_DATA, memory) < 0 ||
            close_files() < 0)
                return jail_failed(program, "close files", e);
        return 0;
}
