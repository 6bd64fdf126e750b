/* SPDX-License-Identifier: MIT */
/* face/bwrap/bwrap_caps.c - capabilities: their names, and the sets of the command. */
#include "base/span.h"
#include "base/str.h"
#include "face/bwrap/bwrap.h"

#include <errno.h>
#include <linux/capability.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const names[] = {
        "chown",
        "dac_override",
        "dac_read_search",
        "fowner",
        "fsetid",
        "kill",
        "setgid",
        "setuid",
        "setpcap",
        "linux_immutable",
        "net_bind_service",
        "net_broadcast",
        "net_admin",
        "net_raw",
        "ipc_lock",
        "ipc_owner",
        "sys_module",
        "sys_rawio",
        "sys_chroot",
        "sys_ptrace",
        "sys_pacct",
        "sys_admin",
        "sys_boot",
        "sys_nice",
        "sys_resource",
        "sys_time",
        "sys_tty_config",
        "mknod",
        "lease",
        "audit_write",
        "audit_control",
        "setfcap",
        "mac_override",
        "mac_admin",
        "syslog",
        "wake_alarm",
        "block_suspend",
        "audit_read",
        "perfmon",
        "bpf",
        "checkpoint_restore",
};
enum { NAMED = sizeof names / sizeof *names, CAPS_END = 64 };

int bwrap_cap(const char *name)
{
        uint64_t number = 0;
        if (str_to_u64(span_str(name), &number) == 0)
                return number < CAPS_END ? (int) number : -1;
        if (strncasecmp(name, "cap_", 4) == 0)
                name += 4;

        for (int i = 0; i < NAMED; i++)
                if (strcasecmp(name, names[i]) == 0)
                        return i;
        return -1;
}

uint64_t bwrap_caps_held(void)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct d[2] = { { 0 } };
        if (syscall(SYS_capget, &head, d) < 0)
                return 0;
        return (uint64_t) d[1].permitted << 32 | d[0].permitted;
}

/* EINVAL: the kernel has no such capability, and none above it. Without CAP_SETPCAP nothing can be dropped;
 * no_new_privs keeps the command from gaining any of them. */
int bwrap_caps_bound(uint64_t keep, struct err *e)
{
        for (unsigned cap = 0; cap < CAPS_END; cap++) {
                if (keep >> cap & 1 || prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0 || errno == EPERM)
                        continue;
                if (errno == EINVAL)
                        break;
                return err_set(e, ERR_WALL, errno, "Dropping capability %u from bounds", cap);
        }

        return 0;
}

int bwrap_caps_set(uint64_t keep, struct err *e)
{
        uint64_t have = keep & bwrap_caps_held();
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        uint32_t low = (uint32_t) have, high = (uint32_t) (have >> 32);
        struct __user_cap_data_struct d[2] = { { low, low, low }, { high, high, high } };
        return syscall(SYS_capset, &head, d) < 0 ? err_set(e, ERR_WALL, errno, "capset failed") : 0;
}

int bwrap_caps_ambient(uint64_t keep, struct err *e)
{
        for (unsigned cap = 0; cap < CAPS_END; cap++) {
                if (!(keep >> cap & 1) || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) == 0 ||
                    errno == EPERM)
                        continue;
                if (errno == EINVAL)
                        break;
                return err_set(e, ERR_WALL, errno, "Adding ambient capability %u", cap);
        }

        return 0;
}
