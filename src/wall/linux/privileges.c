/* SPDX-License-Identifier: MIT */
/* wall/linux/privileges.c - the payload's process gives up every power it has, before exec. */
#include "wall/internal.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool holds_setpcap(void)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct d[2] = { { 0 } };
        return syscall(SYS_capget, &head, d) == 0 && (d[0].effective & (1u << CAP_SETPCAP));
}

/* A process without CAP_SETPCAP cannot empty its bounding set; with no capability and no_new_privs it can
 * gain none from it either. In the namespace wall the capability is always there. */
static int bounding_drop(unsigned last, struct err *e)
{
        if (!holds_setpcap())
                return 0;

        for (unsigned cap = 0; cap <= last; cap++)
                if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
                        return wall_fail(e, STAGE_CAPS, "dropping capability %u", cap);

        const unsigned long locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                     SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
        if (prctl(PR_SET_SECUREBITS, locked, 0, 0, 0) < 0)
                return wall_fail(e, STAGE_CAPS, "locking securebits");

        return 0;
}

unsigned wall_last_cap(void)
{
        unsigned cap = CAP_LAST_CAP; /* of the headers; the kernel may be older, or newer */
        while (cap > 0 && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) < 0)
                cap--;
        while (cap < 63 && prctl(PR_CAPBSET_READ, cap + 1, 0, 0, 0) >= 0)
                cap++;
        return cap;
}

static int caps_drop(unsigned last, struct err *e)
{
        if (bounding_drop(last, e) < 0)
                return -1;

        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
                return wall_fail(e, STAGE_CAPS, "clearing ambient capabilities");

        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct none[2] = { { 0 } };
        if (syscall(SYS_capset, &head, none) < 0)
                return wall_fail(e, STAGE_CAPS, "dropping capabilities");

        return 0;
}

/* Only capabilities that are held can be kept: behind the process wall those are the caller's, possibly
 * neither of these, but others. */
int wall_powers_keep(uint32_t caps)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct d[2] = { { 0 } };
        if (syscall(SYS_capget, &head, d) < 0)
                return -1;

        caps &= d[0].permitted;
        d[0] = (struct __user_cap_data_struct){ .effective = caps, .permitted = caps };
        d[1] = (struct __user_cap_data_struct){ 0 };
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_capset, &head, d) < 0)
                return -1;

        return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* The filter of a container may deny the whole call, with any error, even a harmless query. A call that it
 * denies to every process, it denies to the payload: and our own filter denies it once more. */
static bool keyrings_are_closed(void)
{
        int refused = errno;
        bool all = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 0) < 0 &&
                   errno == refused;
        errno = refused;
        return all && (refused == EPERM || refused == EACCES || refused == ENOSYS);
}

/* KEYCTL_DESCRIBE: "keyring;UID;GID;PERMISSIONS;NAME". Another account may have made one of that name. */
static bool is_shared_by_us(long keyring)
{
        const unsigned long found_by_user = 0x00080000, all = 0x3f0b0000 | 0x00100000;
        static const char head[] = "keyring;";
        char text[96] = "", *end;
        if (syscall(SYS_keyctl, KEYCTL_DESCRIBE, keyring, text, sizeof text - 1) < 0 ||
            strncmp(text, head, strlen(head)) != 0 || strtoul(text + strlen(head), &end, 10) != geteuid() ||
            *end != ';')
                return false;

        const char *may = strchr(end + 1, ';');
        return (may && strtoul(may + 1, NULL, 16) & found_by_user) ||
               syscall(SYS_keyctl, KEYCTL_SETPERM, keyring, all) == 0;
}

/* An account other than root may have 200 keys: its boxes share one keyring. None of them can use it, or put
 * anything there: their filter denies the calls. */
static bool keyring_join(bool shared)
{
        long keyring = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, shared ? "cordon-boxes" : NULL);
        return keyring >= 0 && (!shared || is_shared_by_us(keyring));
}

int wall_keyring_leave(struct err *e)
{
        if ((geteuid() != 0 && keyring_join(true)) || keyring_join(false) || keyrings_are_closed())
                return 0;

        (void) wall_fail(e, STAGE_IDS, "leaving the caller's keyring");
        return e->sys == EDQUOT ? err_hint(e, "raise kernel.keys.maxkeys, or remove keys of this account")
                                : -1;
}

int wall_privileges_drop(unsigned last, struct err *e)
{
        if (!wall_left_out(LAYER_CAPS) && caps_drop(last, e) < 0)
                return -1;
        if (!wall_left_out(LAYER_NO_NEW_PRIVS) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return wall_fail(e, STAGE_CAPS, "setting no_new_privs");
        return 0;
}

struct cap {
        int resource;
        uint64_t value;
};

/* Lowers, never raises: an account without CAP_SYS_RESOURCE could not, and a caller's own limit stays a
 * limit. */
static int lower_cap(const struct cap *c)
{
        struct rlimit now, all = { c->value, c->value };
        if (setrlimit(c->resource, &all) ==
            0) /* the kernel refuses to raise: all capabilities are gone by now */
                return 0;

        if (getrlimit(c->resource, &now) < 0)
                return -1;

        rlim_t value = c->value < now.rlim_max ? c->value : now.rlim_max;
        struct rlimit want = { value, value };
        return setrlimit(c->resource, &want);
}

/* They are counted for the account, over all its processes: a box leaves the rest of it most of them. */
static uint64_t share_of_signals(void)
{
        struct rlimit now = { 0, 0 };
        (void) getrlimit(RLIMIT_SIGPENDING, &now);
        return now.rlim_max / 4 < 4096 ? now.rlim_max / 4 : 4096;
}

static int apply_caps(const struct cap *caps, size_t n, struct err *e)
{
        for (size_t i = 0; i < n; i++)
                if (lower_cap(&caps[i]) < 0)
                        return wall_fail(e, STAGE_LIMITS, "setting rlimit %d", caps[i].resource);
        return 0;
}

int wall_rlimits(const struct wall_init *w, struct err *e)
{
        if (wall_left_out(LAYER_RLIMIT))
                return 0;

        const uint64_t *v = w->plan->limits.value;

        /* The group's limit must be hit first: it counts, and so is named in the result. */
        uint64_t procs = w->held & WALL_GROUP_PROCS ? 2 * v[LIMIT_PROCS] + 64 : v[LIMIT_PROCS];
        const struct cap caps[] = {
                { RLIMIT_CORE,
                  1 }, /* not 0: a helper in core_pattern is started at 0, and refused only at exactly 1 */
                { RLIMIT_NOFILE, v[LIMIT_FILES] },
                { RLIMIT_NPROC, procs },
                { RLIMIT_FSIZE,
                  w->plan->writes_host ? v[LIMIT_DISK] : ~0ull }, /* private files have their own cap */
                { RLIMIT_CPU, w->order->limits.value[LIMIT_CPU] / 1000 +
                                      1 }, /* per process: a net below the sum that is kept elsewhere */
                { RLIMIT_MEMLOCK, 8u << 20 },
                { RLIMIT_MSGQUEUE, 1u << 20 },
                { RLIMIT_SIGPENDING, share_of_signals() },
                { RLIMIT_RTPRIO, 0 },
                { RLIMIT_NICE, 0 },
        };

        /* No RLIMIT_AS or RLIMIT_DATA: java, chromium and others reserve far more than they ever use. */
        return apply_caps(caps, sizeof caps / sizeof *caps, e);
}

int wall_become_root(const struct wall_init *w, struct err *e)
{
        /* Only a root caller's keeper leaves setgroups open, so that its groups can be left behind here. */
        if (w->s->host_uid != w->s->caller_uid && syscall(SYS_setgroups, 0, NULL) < 0)
                return wall_fail(e, STAGE_MAP, "leaving the caller's groups");

        if (syscall(SYS_setresgid, 0, 0, 0) < 0 || syscall(SYS_setresuid, 0, 0, 0) < 0)
                return wall_fail(e, STAGE_MAP, "taking the mapped ids");

        /* A change of ids closed our own /proc/self to us; the payload's map is written through it. Closed
         * again by the payload's own process before exec, and by init when it starts to supervise. */
        if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
                return wall_fail(e, STAGE_MAP, "opening /proc/self");

        return 0;
}
