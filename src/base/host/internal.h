/* SPDX-License-Identifier: MIT */
/* base/host/internal.h - shared by the readers of the mount table and the probes of `cordon doctor`. */
#pragma once
#include "base/host/host.h"

/* cgroup_place.c. True if the list contains this word. */
bool host_list_has(struct span list, char sep, const char *word);
/* cgroup.c. Decodes a path of the mount table (\NNN). Rejects malformed escapes, a NUL, paths that are too
 * long, and paths that are not absolute. */
int host_mount_path(struct span in, char *out, size_t cap);

/* probe_try.c. The outcome of an attempt in a short-lived child. */
struct host_outcome {
        int step;      /* how far it got; each probe defines its own values */
        int sys;       /* errno of the failing step; 0: success */
        int value;     /* a value it found */
        char text[96]; /* likewise */
        int signal;    /* killed by this signal (SIGSYS: a filter that is not cordon's), or 0 */
};

/* Runs `fn` in a child that is killed after a few seconds. `fn` returns 0 or an errno. */
struct host_outcome host_try(int (*fn)(struct host_outcome *o, unsigned long arg), unsigned long arg);

void host_say(struct host_finding *f, enum host_state state, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
void host_mend(struct host_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "EPERM (Operation not permitted)", or that it was killed. */
const char *host_why(const struct host_outcome *o, char buf[96]);
/* Tries, and reports that it `works`, or `state` and why it `fails`. Returns the outcome. */
struct host_outcome host_report(struct host_finding *f, int (*fn)(struct host_outcome *o, unsigned long arg),
                                unsigned long arg, const char *works, enum host_state state,
                                const char *fails);
/* Returns a number from /proc/sys, or -1. */
long host_sysctl(const char *path);
/* The seccomp mode of this process: 0, 1, 2, or -1. */
int host_filtered(void);
/* facts.c: the first line of this process's uid_map. Returns 0 or -1. */
struct host_ids {
        unsigned long inside, outside, count;
};
int host_own_ids(struct host_ids *ret);

typedef void host_look(struct host_finding *f);
/* probe_ns.c */
host_look host_look_userns, host_look_mount, host_look_pid, host_look_proc, host_look_proc_files,
        host_look_net, host_look_ipc, host_look_uts, host_look_cgroup_ns, host_look_time, host_look_overlay,
        host_look_fuse, host_look_idmap;
/* probe_kernel.c */
host_look host_look_nnp, host_look_seccomp, host_look_notify, host_look_landlock, host_look_memfd;
/* probe_net.c */
host_look host_look_veth, host_look_broker, host_look_vault, host_look_roots, host_look_take;
/* probe_host.c */
host_look host_look_kernel, host_look_account, host_look_container, host_look_memory, host_look_procs,
        host_look_core, host_look_tiocsti, host_look_io_uring, host_look_kvm;
