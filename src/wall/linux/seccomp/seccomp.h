/* SPDX-License-Identifier: MIT */
/* wall/linux/seccomp/seccomp.h - the system-call allow-list: a readable table, and its compiler to BPF.
 *
 * Pure: the same table and compiler serve both architectures on either, so a test on one machine proves both.
 */
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum seccomp_arch { SECCOMP_X86_64 = 0, SECCOMP_AARCH64, SECCOMP_ARCH__COUNT };

enum {
        SECCOMP_NR_END = 512,     /* above every number in the table; a larger number does not compile */
        SECCOMP_INSNS_MAX = 1024, /* room that always suffices for seccomp_compile(); a test holds it */
};

/* The filter of this box must allow these beyond the base set. Zero is the narrowest. */
struct seccomp_ask {
        enum seccomp_arch arch;
        bool net;          /* AF_INET and AF_INET6 stream and datagram sockets */
        bool unix_sockets; /* AF_UNIX socket(), and datagram socketpair() (whose ends can be sent or connected
                              to any address; stream and seqpacket pairs cannot and are always allowed). Off
                              in the process wall */
        bool unix_served;  /* with `unix_sockets`: the box sees sockets that are not its own. Every connect()
                              that may be to a Unix socket, and every listen(), goes to the supervisor, which
                              connects itself; no datagram sockets, which are sent to any address */
        bool own_ipc;      /* the box has its own ipc namespace: SysV IPC and message queues. Off: ENOSYS */
        bool own_view;     /* the box has mount and pid namespaces of its own. Off (process wall): calls that
                              change files' metadata, watch directories or touch other processes' scheduling are
                              denied, because Landlock does not cover them */
        bool tell;  /* denied calls worth a report go to the supervisor (SECCOMP_RET_USER_NOTIF), which always
                       answers with seccomp_errno(); off: that error at once */
        bool watch; /* allowed calls that change or execute a path are shown to the supervisor first, which
                       lets them continue (seccomp_lets_through() decides which it may) */
        bool watch_reads; /* with `watch`: opening to read is shown too */
        bool touch;       /* every call that looks up a path is shown, and waits for the supervisor */
        bool touch_paths; /* of these only an open with O_PATH: no file system is asked about it */
        bool watch_maps;  /* with `watch`: also a file that is mapped executable */
        uint64_t own;     /* with `watch`: a number that is unknown inside the box. An execveat or an open for
                             reading that has it as its sixth argument, which the kernel ignores, is our own
                             start's, made before the supervisor can answer: it is not shown. 0: all are */
        bool sampled; /* memory is kept by sampling, which does not see all that the kernel holds for a box */
        bool connects; /* with `tell`: connect() to an address of AF_INET or AF_INET6 is shown first and
                          continues: to report destinations that could not be reached */
        bool moves;    /* every rename is shown to the supervisor, which makes some of them for the task */
        bool trace;    /* ptrace and its kin, over processes of the box */
        bool syncs;    /* it writes files of the host: whole file systems may be flushed */
        bool links;    /* a socket for NETLINK_ROUTE is made by the supervisor: see observe/net_links.h */
        bool names;    /* an open for writing that makes no file is shown: see observe/thread_name.c */
        bool signals;  /* nothing else keeps signals in: the supervisor sends them, and no descriptor has an
                          owner that gets one */
        bool nvidia;   /* it opens a node of NVIDIA's driver: of the requests of ioctl() only listed ones */
        bool memfd;    /* `run any`: memory files, which nothing keeps from being mapped to run */
};

enum seccomp_verdict {
        SECCOMP_REFUSE = 0, /* EPERM at once */
        SECCOMP_TELL,       /* EPERM, and the supervisor is notified */
        SECCOMP_ABSENT,     /* ENOSYS at once: programs then take another way */
        SECCOMP_ALLOW,
        SECCOMP_ALLOW_IF, /* by argument or by the ask: see `rule` */
        SECCOMP_VERDICT__COUNT
};

/* "reported" below: to the supervisor if `tell` is set. Otherwise the error at once. */
enum seccomp_rule {
        RULE_NONE = 0,
        RULE_OWN_IPC,  /* the ask's own_ipc; else ENOSYS */
        RULE_OWN_VIEW, /* the ask's own_view; else EPERM */
        RULE_SETXATTR, /* the same, and args[3] (the size) at most 1000; else ENOSPC */
        RULE_CLONE,    /* no CLONE_NEW* and no CLONE_PARENT; else EPERM, reported */
        RULE_SOCKET,   /* the requested families, types and protocols; else EAFNOSUPPORT, reported except for
                          AF_UNIX as libc requests it and AF_NETLINK (EOPNOTSUPP), which are tried all the time;
                          a protocol: EPROTONOSUPPORT. With `links` NETLINK_ROUTE is served */
        RULE_SOCKETPAIR, /* AF_UNIX; datagrams only with unix_sockets that are not served; else EAFNOSUPPORT
                          */
        RULE_IOCTL,   /* low 32 bits not TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS ...; else EPERM, reported. Of
                         the requests to filesystems those that copy or query; else ENOTTY. With `nvidia` only
                         listed ones; else EPERM, reported */
        RULE_SOCKOPT, /* no program for the kernel to run on a socket; else EPERM */
        RULE_RULESET, /* not if memory is sampled; else ENOSYS */
        RULE_PINS,    /* the same; else EINVAL, upon which programs copy */
        RULE_PRCTL,   /* listed options only; else EINVAL, as from an older kernel */
        RULE_ARCH_PRCTL,  /* listed options only; else EINVAL */
        RULE_PERSONALITY, /* 0 and 0xffffffff (query); else EPERM */
        RULE_MODE_ARG1,   /* creat: no setuid or setgid bit; else EPERM, reported */
        RULE_CHMOD_ARG1,  /* chmod, fchmod: no setuid bit; else EPERM, reported. With the setgid bit the
                             supervisor makes the call, for directories. Without own_view EPERM for all */
        RULE_CHMOD_ARG2,  /* fchmodat, fchmodat2: the same in args[2] */
        RULE_OPEN,        /* open: as creat in args[2], but checked only if the flags create a file */
        RULE_OPENAT,      /* openat: the same in args[3] */
        RULE_MKNOD,   /* args[1]: regular files, FIFOs, sockets, no setuid or setgid bit; else EPERM, reported
                       */
        RULE_MKNODAT, /* the same in args[2] */
        RULE_RENAME,  /* renameat2: no RENAME_WHITEOUT, which makes a device; else EINVAL */
        RULE_MEMFD, /* unknown flags: EINVAL; MFD_HUGETLB: EACCES; without `memfd` MFD_EXEC: EACCES, reported,
                       and all others ENOSYS */
        RULE_PRLIMIT,     /* itself (pid 0), or a query; else EPERM */
        RULE_SELF_ARG0,   /* sched_set*: with own_view, or itself (pid 0); else EPERM */
        RULE_SETPRIORITY, /* the same: PRIO_PROCESS and 0 */
        RULE_IOPRIO,      /* the same: IOPRIO_WHO_PROCESS and 0 */
        RULE_FCNTL,       /* not F_SETLEASE, F_NOTIFY, F_SETDELEG, F_SET_RW_HINT; else EINVAL */
        RULE_SEND_ARG2,   /* sendmsg: no MSG_OOB; else EOPNOTSUPP */
        RULE_SEND_ARG3,   /* sendmmsg: the same in args[3] */
        RULE_SENDTO,      /* sendto: the same. With `links` two forms are shown: an address of AF_NETLINK's
                             length, and none with a request of 20 bytes (musl) */
        RULE_BIND,        /* allowed; with `links` an address of AF_NETLINK's length is shown */
        RULE_SOCKNAME,    /* allowed; with `links`, shown */
        RULE_RW_FLAGS, /* preadv2, pwritev2: no RWF_NOWAIT, RWF_DONTCACHE or unknown flag; else EOPNOTSUPP */
        RULE_PIPE,     /* pipe2: no O_NOTIFICATION_PIPE; else EINVAL */
        RULE_MMAP,     /* no MAP_HUGETLB; else ENOMEM. With watch_maps files to be run are shown */
        RULE_SHMGET,   /* as RULE_OWN_IPC, and no SHM_HUGETLB; else EPERM */
        RULE_MADVISE,  /* not MADV_MERGEABLE, MADV_HWPOISON, MADV_SOFT_OFFLINE; else EINVAL */
        RULE_SECCOMP,  /* no SECCOMP_FILTER_FLAG_NEW_LISTENER; else EPERM, reported */
        RULE_WATCH,    /* with own_view the supervisor makes the call; else EPERM */
        RULE_EXECVEAT, /* allowed; shown with `watch`, but for the start of the payload itself (`own`) */
        RULE_CONNECT,  /* allowed; with `unix_served`, lengths of an address of AF_UNIX are served; with
                          `connects` those of AF_INET and AF_INET6 are shown */
        RULE_LISTEN,   /* allowed; with `unix_served`, served */
        RULE_SYNC,     /* only if `syncs` is set; else nothing is done, and it succeeds */
        RULE_TRACE,    /* only if `trace` is set; else EPERM, reported */
        RULE_KILL,     /* allowed; with `signals` the supervisor sends it */
        RULE_TKILL,    /* the same, to a thread */
        RULE_TGKILL,   /* the same, to a thread of a process */
        RULE_SIGNAL_INFO, /* the same with data: allowed; with `signals` ENOSYS */
        SECCOMP_RULE__COUNT
};

struct seccomp_row {
        int16_t nr[SECCOMP_ARCH__COUNT]; /* -1: the architecture has no such call */
        uint8_t verdict;                 /* enum seccomp_verdict */
        uint8_t rule;                    /* enum seccomp_rule */
};

/* Every call that any supported kernel has, on either architecture, exactly once. */
const struct seccomp_row *seccomp_table(size_t *ret_count);
/* The call of a row, and the reason for its verdict in a few words; never empty. */
const char *seccomp_row_name(const struct seccomp_row *row);
const char *seccomp_row_reason(const struct seccomp_row *row);
/* One row of it, or NULL: the architecture has no such call. */
const struct seccomp_row *seccomp_row_get(enum seccomp_arch arch, long nr);

/* Compiles the filter. Returns the number of instructions, or 0 if `cap` is too small (a bug: a test keeps it
 * below 1024). */
size_t seccomp_compile(const struct seccomp_ask *ask, struct sock_filter *ret, size_t cap);

/* The name of a call, or NULL. */
const char *seccomp_name(enum seccomp_arch arch, long nr);
/* How many calls the ask lets through, wholly or by argument. */
unsigned seccomp_reachable(const struct seccomp_ask *ask);
/* The architecture of this process. */
enum seccomp_arch seccomp_native(void);

/* Is this one of the calls that `watch` shows, wholly let through by its row? */
bool seccomp_watched(const struct seccomp_row *row);
/* Does it look up a path, and change nothing? `touch` shows it. Above 1: its argument for AT_EMPTY_PATH. */
unsigned seccomp_looks_up(const struct seccomp_row *row);
/* Is it one of the calls that rename, and of which form? */
enum seccomp_renames {
        RENAMES_NOT = 0,
        RENAMES_PLAIN, /* (old, new) */
        RENAMES_AT,    /* (dir, old, dir, new) */
        RENAMES_FLAGS  /* the same, with flags */
};
enum seccomp_renames seccomp_renames(const struct seccomp_data *d);
enum seccomp_renames seccomp_row_renames(const struct seccomp_row *row);
/* Would the filter without `watch` have allowed a call that the supervisor was shown? Only then may it
 * continue. Decided by number and arguments, which can no longer change. */
bool seccomp_lets_through(const struct seccomp_data *d);

/* Does the supervisor make a call that it was shown for the task, which cannot? */
bool seccomp_on_behalf(const struct seccomp_data *d);
/* Is it an open? Which argument are the flags, after that of the path; 0: it is not. */
unsigned seccomp_opens(const struct seccomp_data *d);
/* Is it a mapping of a file that is to be run? Which argument is the descriptor; 0: it is not. */
unsigned seccomp_maps(const struct seccomp_data *d);
/* Is that a chmod with the setgid bit? Which argument is the mode; 0: it is not. */
unsigned seccomp_sets_gid(const struct seccomp_data *d);
/* Is it a call that `links` shows, and which? */
enum seccomp_link { LINK_NOT = 0, LINK_MAKES, LINK_BINDS, LINK_NAMES, LINK_SENDS };
enum seccomp_link seccomp_link(const struct seccomp_data *d);
/* Is it a call that `signals` shows, and whom does its first argument name? */
enum seccomp_signals { SIGNALS_NOT = 0, SIGNALS_PROCESS, SIGNALS_THREAD, SIGNALS_THREAD_OF };
enum seccomp_signals seccomp_signals(const struct seccomp_data *d);
/* Is it a connect() or listen() that `unix_served` sends to the supervisor? */
bool seccomp_served(const struct seccomp_data *d);

/* The three below are for the supervisor and a call that it was notified of. They never follow a pointer
 * argument. */

/* The error to answer with, positive. */
int seccomp_errno(const struct seccomp_data *d);
/* "socket(AF_INET, SOCK_STREAM)", "mount()", "ioctl(TIOCSTI)": our own words only, cut to `cap`. Returns
 * `buf`. */
char *seccomp_describe(const struct seccomp_data *d, char *buf, size_t cap);
/* The kind of policy line that would permit it ("net HOST:PORT"), or NULL when none can. */
const char *seccomp_permit(const struct seccomp_data *d);
