/* SPDX-License-Identifier: MIT */
/* host/internal.h - what the readers of the mount table, and the probes of `cordon doctor`, share. */
#pragma once
#include "host/host.h"

/* lists.c. Takes what stands before `sep` off the front of `rest`; all of it when `sep` is not there. */
struct span host_cut(struct span *rest, char sep);
bool host_list_has(struct span list, char sep, const char *word);
/* cgroup.c. A path of the mount table, \NNN undone. Refuses broken escapes, a NUL, what is too long, and what
 * is no absolute path. */
int host_mount_path(struct span in, char *out, size_t cap);

/* probe_try.c. What a try in a throw-away child came to. */
struct host_outcome {
        int step;   /* how far it got: the meaning is each probe's own */
        int sys;    /* errno of the step that failed; 0: all went well */
        int value;  /* a figure it found */
        int signal; /* it was killed by this signal (SIGSYS: a filter of somebody else's), or 0 */
};

/* Runs `fn` in a child that is ended after a few seconds whatever happens. `fn` returns 0 or an errno. */
struct host_outcome host_try(int (*fn)(struct host_outcome *o, unsigned long arg), unsigned long arg);

void host_say(struct host_finding *f, enum host_state state, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
void host_mend(struct host_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "EPERM (Operation not permitted)", or that it was killed. */
const char *host_why(const struct host_outcome *o, char buf[96]);
/* A number from /proc/sys or -1. */
long host_sysctl(const char *path);
/* The mode of system-call filter that this process runs under already: 0, 1, 2, or -1. */
int host_filtered(void);
/* facts.c: the first line of this process's uid_map; 0 or -1. */
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
host_look host_look_veth, host_look_broker, host_look_vault, host_look_roots;
/* probe_host.c */
host_look host_look_kernel, host_look_account, host_look_container, host_look_memory, host_look_procs,
        host_look_core, host_look_tiocsti, host_look_io_uring, host_look_kvm;
