/* SPDX-License-Identifier: MIT */
/* The filter against an oracle written here from the kernel's own names for things, over every call, ask and
 * architecture, and the shape of the program. Sentences about single calls are in test_wall_seccomp.c, the
 * kernel's own opinion in test_wall_seccomp_live.c. */
#include "seccomp_filters.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/memfd.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#define MFD_EXEC        16u
#endif

/* ---- What the kernel should be told, from the table and from first principles. ---- */

static uint32_t told(const struct seccomp_ask *ask, int err)
{
        return ask->tell ? SECCOMP_RET_USER_NOTIF : fails(err);
}

static uint32_t if_mode(const struct seccomp_ask *ask, uint64_t mode)
{
        return (mode & (S_ISUID | S_ISGID)) ? told(ask, EPERM) : SECCOMP_RET_ALLOW;
}

/* The supervisor sets the setgid bit, where it is a directory's. */
static uint32_t if_chmod(const struct seccomp_ask *ask, uint64_t mode)
{
        if (!ask->own_view)
                return fails(EPERM);
        return (mode & 06000) == 02000 ? SECCOMP_RET_USER_NOTIF : if_mode(ask, mode);
}

static uint32_t if_view(const struct seccomp_ask *ask, bool otherwise)
{
        return ask->own_view || otherwise ? SECCOMP_RET_ALLOW : fails(EPERM);
}

static uint32_t if_open(const struct seccomp_ask *ask, uint64_t flags, uint64_t mode)
{
        bool makes = (flags & O_CREAT) || (flags & O_TMPFILE & ~(uint64_t) O_DIRECTORY);
        return makes ? if_mode(ask, mode) : SECCOMP_RET_ALLOW;
}

static uint32_t if_node(const struct seccomp_ask *ask, uint64_t mode)
{
        if ((mode & S_IFMT) == S_IFCHR || (mode & S_IFMT) == S_IFBLK)
                return told(ask, EPERM);
        if (mode & 0020000)
                return told(ask, EPERM); /* no type at all: the kernel would say EINVAL */
        return if_mode(ask, mode);
}

static uint32_t if_socket(const struct seccomp_ask *ask, const __u64 *args)
{
        int family = (int) args[0], type = (int) args[1] & ~(SOCK_CLOEXEC | SOCK_NONBLOCK),
            protocol = (int) args[2];
        bool stream = type == SOCK_STREAM, datagram = type == SOCK_DGRAM;
        if (family == AF_NETLINK)
                return ask->links && protocol == NETLINK_ROUTE && (datagram || type == SOCK_RAW)
                               ? SECCOMP_RET_USER_NOTIF
                               : fails(EOPNOTSUPP);
        bool by_libc = (int) args[1] == (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK); /* looks for nscd */
        if (family == AF_UNIX && !ask->unix_sockets)
                return by_libc ? fails(EAFNOSUPPORT) : told(ask, EAFNOSUPPORT);
        if (family == AF_UNIX && ask->unix_served)
                return stream || type == SOCK_SEQPACKET ? SECCOMP_RET_ALLOW : fails(EPROTONOSUPPORT);
        if (family == AF_UNIX)
                return stream || datagram || type == SOCK_SEQPACKET ? SECCOMP_RET_ALLOW : fails(EAFNOSUPPORT);
        if ((family != AF_INET && family != AF_INET6) || !ask->net || !(stream || datagram))
                return told(ask, EAFNOSUPPORT);
        return protocol == 0 || protocol == 6 || protocol == 17 ? SECCOMP_RET_ALLOW : fails(EPROTONOSUPPORT);
}

static uint32_t if_pair(const struct seccomp_ask *ask, const __u64 *args)
{
        int type = (int) args[1] & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
        bool ok = type == SOCK_STREAM || type == SOCK_SEQPACKET ||
                  (type == SOCK_DGRAM && ask->unix_sockets && !ask->unix_served);
        return (int) args[0] == AF_UNIX && ok ? SECCOMP_RET_ALLOW : fails(EAFNOSUPPORT);
}

static uint32_t if_served(const struct seccomp_ask *ask, bool may_be_unix)
{
        return ask->unix_sockets && ask->unix_served && may_be_unix ? SECCOMP_RET_USER_NOTIF
                                                                    : SECCOMP_RET_ALLOW;
}

static uint32_t if_link(const struct seccomp_ask *ask, bool may_be_netlink)
{
        return ask->links && may_be_netlink ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
}

static uint32_t if_sendto(const struct seccomp_ask *ask, const __u64 *args)
{
        if (args[3] & MSG_OOB)
                return fails(EOPNOTSUPP);
        bool named = (uint32_t) args[5] == sizeof(struct sockaddr_nl),
             bare = args[4] == 0 && (uint32_t) args[2] == 20;
        return if_link(ask, named || bare);
}

static bool asks_filesystem(uint32_t request)
{
        static const uint32_t asks[] = { FICLONE,           FICLONERANGE,      FIDEDUPERANGE,
                                         FS_IOC_GETFLAGS,   FS_IOC32_GETFLAGS, FS_IOC_GETVERSION,
                                         FS_IOC_FSGETXATTR, FS_IOC_FIEMAP };
        for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
                if (request == asks[i])
                        return true;
        return false;
}

static uint32_t if_ioctl(const struct seccomp_ask *ask, uint32_t request)
{
        static const uint32_t refused[] = { TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD, TIOCVHANGUP };
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
                if (request == refused[i])
                        return told(ask, EPERM);
        }
        if (ask->signals && (request == FIOSETOWN || request == SIOCSPGRP))
                return fails(EPERM);
        if (!strchr("Xfrv\x94\xf5", (int) (request >> 8 & 0xff)) || (request >> 8 & 0xff) == 0)
                return SECCOMP_RET_ALLOW;
        return asks_filesystem(request) ? SECCOMP_RET_ALLOW : fails(ENOTTY);
}

static bool is_prctl(uint32_t option)
{
        static const char allowed[80] = {
                [1] = 1,  [2] = 1,  [3] = 1,  [7] = 1,  [8] = 1,  [13] = 1, [14] = 1, [15] = 1, [16] = 1,
                [19] = 1, [21] = 1, [22] = 1, [23] = 1, [24] = 1, [25] = 1, [26] = 1, [27] = 1, [29] = 1,
                [30] = 1, [34] = 1, [36] = 1, [37] = 1, [38] = 1, [39] = 1, [40] = 1, [41] = 1, [42] = 1,
                [47] = 1, [50] = 1, [51] = 1, [52] = 1, [53] = 1, [54] = 1, [55] = 1, [56] = 1, [60] = 1,
                [61] = 1, [63] = 1, [64] = 1, [65] = 1, [66] = 1, [68] = 1, [74] = 1, [75] = 1, [76] = 1,
        };
        if (option < 80)
                return allowed[option];
        return option == 0x41555856 || option == 0x53564d41 || option == 0x59616d61;
}

static bool is_arch_prctl(uint32_t option)
{
        switch (option) {
        case 0x1001:
        case 0x1002:
        case 0x1003:
        case 0x1004:
        case 0x1011:
        case 0x1021:
        case 0x1022:
        case 0x1023:
        case 0x4001:
        case 0x4003:
        case 0x5001:
        case 0x5002:
        case 0x5003:
        case 0x5005:
                return true;
        default:
                return false;
        }
}

static uint32_t if_clone(const struct seccomp_ask *ask, uint64_t flags)
{
        uint64_t bad = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                       CLONE_NEWPID | CLONE_NEWNET | CLONE_PARENT;
        return (flags & bad & 0xffffffff) ? told(ask, EPERM) : SECCOMP_RET_ALLOW;
}

static uint32_t if_memfd(const struct seccomp_ask *ask, uint64_t flags)
{
        if (flags & 0x03ffffe0)
                return fails(EINVAL);
        if (flags & MFD_HUGETLB)
                return fails(EACCES);
        if ((flags & MFD_EXEC) && !ask->memfd)
                return told(ask, EACCES);
        return ask->memfd ? SECCOMP_RET_ALLOW : fails(ENOSYS);
}

static uint32_t if_fcntl(const struct seccomp_ask *ask, uint32_t command)
{
        if (ask->signals && (command == F_SETOWN || command == F_SETOWN_EX))
                return fails(EPERM);

        static const uint32_t bad[] = { F_SETLEASE, F_NOTIFY, F_SET_RW_HINT, F_SET_FILE_RW_HINT,
                                        1024 + 16 /* F_SETDELEG */ };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                if (command == bad[i])
                        return fails(EINVAL);
        return SECCOMP_RET_ALLOW;
}

static uint32_t if_rw(uint32_t flags)
{
        const uint32_t known = RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_APPEND | 0x20 /* RWF_NOAPPEND */ |
                               0x40 /* RWF_ATOMIC */;
        return flags & ~known ? fails(EOPNOTSUPP) : SECCOMP_RET_ALLOW;
}

static uint32_t if_madvise(uint32_t advice)
{
        bool bad = advice == MADV_MERGEABLE || advice == MADV_HWPOISON || advice == 101;
        return bad ? fails(EINVAL) : SECCOMP_RET_ALLOW;
}

/* By the names that the system's headers have for them. */
static uint32_t if_sockopt(const struct seccomp_ask *ask, int level, int option)
{
        static const struct {
                int level, option;
        } bad[] = { { SOL_SOCKET, SO_ATTACH_FILTER },
                    { SOL_SOCKET, SO_ATTACH_BPF },
                    { SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF },
                    { SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF },
                    { IPPROTO_IPV6, IPV6_JOIN_GROUP },
                    { IPPROTO_IPV6, IPV6_LEAVE_GROUP },
                    { IPPROTO_IPV6, IPV6_JOIN_ANYCAST },
                    { IPPROTO_IPV6, IPV6_LEAVE_ANYCAST },
                    { IPPROTO_IPV6, IPV6_ADDRFORM },
                    { IPPROTO_IPV6, 32 /* IPV6_FLOWLABEL_MGR */ },
                    { IPPROTO_TCP, TCP_MD5SIG },
                    { IPPROTO_TCP, TCP_ULP },
                    { IPPROTO_TCP, TCP_MD5SIG_EXT },
                    { IPPROTO_UDP, UDP_ENCAP },
                    { IPPROTO_TCP, 38 /* TCP_AO_ADD_KEY */ },
                    { IPPROTO_TCP, 39 /* TCP_AO_DEL_KEY */ },
                    { IPPROTO_TCP, 40 /* TCP_AO_INFO */ },
                    { IPPROTO_TCP, 41 /* TCP_AO_GET_KEYS */ },
                    { IPPROTO_TCP, 42 /* TCP_AO_REPAIR */ } };
        bool group = (level == IPPROTO_IP && option >= IP_ADD_MEMBERSHIP && option <= MCAST_MSFILTER) ||
                     (level == IPPROTO_IPV6 && option >= MCAST_JOIN_GROUP && option <= MCAST_MSFILTER);
        if (group && ask->net)
                return fails(EPERM);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                if (bad[i].level == level && bad[i].option == option && (ask->net || level == SOL_SOCKET))
                        return fails(EPERM);
        return SECCOMP_RET_ALLOW;
}

static uint32_t expect_rule(const struct seccomp_ask *ask, enum seccomp_rule rule, const __u64 *args)
{
        switch (rule) {
        case RULE_OWN_IPC:
                return ask->own_ipc ? SECCOMP_RET_ALLOW : fails(ENOSYS);
        case RULE_CLONE:
                return if_clone(ask, args[0]);
        case RULE_SOCKET:
                return if_socket(ask, args);
        case RULE_SOCKETPAIR:
                return if_pair(ask, args);
        case RULE_IOCTL:
                return if_ioctl(ask, (uint32_t) args[1]);
        case RULE_PRCTL:
                return is_prctl((uint32_t) args[0]) ? SECCOMP_RET_ALLOW : fails(EINVAL);
        case RULE_ARCH_PRCTL:
                return is_arch_prctl((uint32_t) args[0]) ? SECCOMP_RET_ALLOW : fails(EINVAL);
        case RULE_PERSONALITY:
                return (int) args[0] == 0 || (int) args[0] == -1 ? SECCOMP_RET_ALLOW : fails(EPERM);
        case RULE_MODE_ARG1:
                return if_mode(ask, args[1]);
        case RULE_CHMOD_ARG1:
                return if_chmod(ask, args[1]);
        case RULE_CHMOD_ARG2:
                return if_chmod(ask, args[2]);
        case RULE_OWN_VIEW:
                return if_view(ask, false);
        case RULE_SETXATTR:
                return ask->own_view && (uint32_t) args[3] > 1000 ? fails(ENOSPC) : if_view(ask, false);
        case RULE_SELF_ARG0:
                return if_view(ask, (pid_t) args[0] == 0);
        case RULE_SETPRIORITY:
                return if_view(ask, (int) args[0] == PRIO_PROCESS && (int) args[1] == 0);
        case RULE_IOPRIO:
                return if_view(ask, (int) args[0] == 1 && (int) args[1] == 0); /* IOPRIO_WHO_PROCESS */
        case RULE_RENAME:
                return (args[4] & RENAME_WHITEOUT) ? fails(EINVAL) : SECCOMP_RET_ALLOW;
        case RULE_OPEN:
                return if_open(ask, args[1], args[2]);
        case RULE_OPENAT:
                return if_open(ask, args[2], args[3]);
        case RULE_MKNOD:
                return if_node(ask, args[1]);
        case RULE_MKNODAT:
                return if_node(ask, args[2]);
        case RULE_MEMFD:
                return if_memfd(ask, args[1]);
        case RULE_PRLIMIT:
                return (int) args[0] == 0 || args[2] == 0 ? SECCOMP_RET_ALLOW : fails(EPERM);
        case RULE_FCNTL:
                return if_fcntl(ask, (uint32_t) args[1]);
        case RULE_SEND_ARG2:
                return args[2] & MSG_OOB ? fails(EOPNOTSUPP) : SECCOMP_RET_ALLOW;
        case RULE_SEND_ARG3:
                return args[3] & MSG_OOB ? fails(EOPNOTSUPP) : SECCOMP_RET_ALLOW;
        case RULE_SYNC:
                return ask->syncs ? SECCOMP_RET_ALLOW : fails(0);
        case RULE_SENDTO:
                return if_sendto(ask, args);
        case RULE_BIND:
                return if_link(ask, (int) args[2] == sizeof(struct sockaddr_nl));
        case RULE_SOCKNAME:
                return if_link(ask, true);
        case RULE_RW_FLAGS:
                return if_rw((uint32_t) args[5]);
        case RULE_PIPE:
                return args[1] & O_EXCL ? fails(EINVAL) : SECCOMP_RET_ALLOW; /* O_NOTIFICATION_PIPE */
        case RULE_MMAP:
                return args[3] & MAP_HUGETLB ? fails(ENOMEM) : SECCOMP_RET_ALLOW;
        case RULE_SHMGET:
                return !ask->own_ipc           ? fails(ENOSYS)
                       : args[2] & SHM_HUGETLB ? fails(EPERM)
                                               : SECCOMP_RET_ALLOW;
        case RULE_MADVISE:
                return if_madvise((uint32_t) args[2]);
        case RULE_SECCOMP:
                return (args[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER) ? told(ask, EPERM) : SECCOMP_RET_ALLOW;
        case RULE_SOCKOPT:
                return if_sockopt(ask, (int) args[1], (int) args[2]);
        case RULE_RULESET:
                return ask->sampled ? fails(ENOSYS) : SECCOMP_RET_ALLOW;
        case RULE_PINS:
                return ask->sampled ? fails(EINVAL) : SECCOMP_RET_ALLOW;
        case RULE_WATCH:
                return ask->own_view ? SECCOMP_RET_USER_NOTIF : fails(EPERM);
        case RULE_EXECVEAT:
                return SECCOMP_RET_ALLOW;
        case RULE_CONNECT: /* an address of AF_UNIX has its family, and at least one byte more */
                if (!(ask->unix_sockets && ask->unix_served))
                        return ask->connects && ask->tell &&
                                               ((uint32_t) args[2] == 16 || (uint32_t) args[2] == 28)
                                       ? SECCOMP_RET_USER_NOTIF
                                       : SECCOMP_RET_ALLOW;
                return if_served(ask, (uint32_t) args[2] > sizeof(sa_family_t) &&
                                              (uint32_t) args[2] <= sizeof(struct sockaddr_un));
        case RULE_LISTEN:
                return if_served(ask, true);
        case RULE_TRACE:
                return ask->trace ? SECCOMP_RET_ALLOW : told(ask, EPERM);
        case RULE_KILL:
        case RULE_TKILL:
        case RULE_TGKILL:
                return ask->signals ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
        case RULE_SIGNAL_INFO:
                return ask->signals ? fails(ENOSYS) : SECCOMP_RET_ALLOW;
        case RULE_NONE:
        case SECCOMP_RULE__COUNT:
                break;
        }
        return 0;
}

/* By a scan of the table, not by the lookup that the compiler uses. */
static const struct seccomp_row *row_numbered(enum seccomp_arch arch, int nr)
{
        size_t count;
        const struct seccomp_row *rows = seccomp_table(&count);
        for (size_t i = 0; i < count; i++) {
                if (nr >= 0 && rows[i].nr[arch] == nr)
                        return &rows[i];
        }
        return NULL;
}

static uint32_t expect(const struct seccomp_ask *ask, const struct seccomp_row *row,
                       const struct seccomp_data *d)
{
        if (d->arch != audit[ask->arch])
                return SECCOMP_RET_KILL_PROCESS;
        if (ask->arch == SECCOMP_X86_64 && d->nr != -1 && ((uint32_t) d->nr & 0x40000000))
                return SECCOMP_RET_KILL_PROCESS;
        if (ask->arch == SECCOMP_X86_64 && d->nr < -1)
                return SECCOMP_RET_KILL_PROCESS; /* above the x32 bit: no number of either ABI */
        if (!row || row->verdict == SECCOMP_ABSENT)
                return fails(ENOSYS);
        if (row->verdict == SECCOMP_ALLOW)
                return SECCOMP_RET_ALLOW;
        if (row->verdict == SECCOMP_ALLOW_IF)
                return expect_rule(ask, row->rule, d->args);
        return row->verdict == SECCOMP_TELL ? told(ask, EPERM) : fails(EPERM);
}

/* What `watch` shows: calls that change or run what a path names, by the names of their kind. */
static bool is_shown(const struct seccomp_ask *ask, const struct seccomp_row *row, const __u64 *args)
{
        static const char *const names[] = { "execve",   "mkdir",   "mkdirat",   "rmdir",     "unlink",
                                             "unlinkat", "rename",  "renameat",  "renameat2", "link",
                                             "linkat",   "symlink", "symlinkat", "truncate",  "creat" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (strcmp(seccomp_row_name(row), names[i]) == 0)
                        return true;
        bool ours = args[5] == OUR_OWN;
        if (strcmp(seccomp_row_name(row), "mmap") == 0)
                return ask->watch_maps && args[2] & PROT_EXEC && !(args[3] & MAP_ANONYMOUS);
        if (strcmp(seccomp_row_name(row), "execveat") == 0)
                return !ours;
        if (strcmp(seccomp_row_name(row), "open") != 0 && strcmp(seccomp_row_name(row), "openat") != 0)
                return false;
        uint64_t flags = args[strcmp(seccomp_row_name(row), "openat") == 0 ? 2 : 1];
        bool makes = flags & O_CREAT || flags & O_TMPFILE & ~(uint64_t) O_DIRECTORY;
        bool read_shown = ask->watch_reads && !ours;
        return makes || flags & (O_WRONLY | O_RDWR | O_TRUNC) || read_shown;
}

/* An open with O_PATH, whatever else its flags say. */
static bool is_path_only(const struct seccomp_row *row, const __u64 *args)
{
        const char *name = row ? seccomp_row_name(row) : "";
        unsigned flags = strcmp(name, "open") == 0 ? 1 : strcmp(name, "openat") == 0 ? 2 : 0;
        return flags && args[flags] & O_PATH;
}

/* An open for writing that makes no file. */
static bool may_name_thread(const struct seccomp_row *row, const __u64 *args)
{
        const char *name = row ? seccomp_row_name(row) : "";
        unsigned flags = strcmp(name, "open") == 0 ? 1 : strcmp(name, "openat") == 0 ? 2 : 0;
        return flags && args[flags] & (O_WRONLY | O_RDWR | O_TRUNC) &&
               !(args[flags] & (O_PATH | O_CREAT | (O_TMPFILE & ~(uint64_t) O_DIRECTORY)));
}

static uint32_t expect_watched(const struct seccomp_ask *ask, const struct seccomp_row *row,
                               const struct seccomp_data *d)
{
        uint32_t plain = expect(ask, row, d);
        if (ask->touch_paths && plain == SECCOMP_RET_ALLOW && is_path_only(row, d->args))
                return d->args[5] == OUR_OWN ? plain : SECCOMP_RET_USER_NOTIF;
        bool renames = row && strncmp(seccomp_row_name(row), "rename", 6) == 0;
        if (ask->moves && renames && plain == SECCOMP_RET_ALLOW)
                return SECCOMP_RET_USER_NOTIF;
        bool shown = (ask->watch && plain == SECCOMP_RET_ALLOW && is_shown(ask, row, d->args)) ||
                     (ask->names && plain == SECCOMP_RET_ALLOW && may_name_thread(row, d->args));
        return shown ? SECCOMP_RET_USER_NOTIF : plain;
}

/* The supervisor lets go on exactly what the plain filter lets through: nothing else that it is ever shown.
 */
static void compare_supervisor(const struct filter *f, const struct seccomp_row *row,
                               const struct seccomp_data *d)
{
        struct seccomp_ask plain = f->ask;
        plain.tell = plain.watch = false;
        if (bpf_sim_run(f->insns, d).ret != SECCOMP_RET_USER_NOTIF)
                return;
        uint32_t want = expect(&plain, row, d);
        bool made = want == SECCOMP_RET_USER_NOTIF; /* for the task: it never goes on by itself */
        bool served = f->ask.unix_sockets && f->ask.unix_served;
        bool shown = seccomp_served(d) && !served; /* a connect: it goes on where nobody serves it */
        bool goes_on = seccomp_lets_through(d) || shown;
        bool for_it = (seccomp_served(d) && served) || seccomp_on_behalf(d) || seccomp_link(d) ||
                      seccomp_signals(d);
        if (goes_on != (want == SECCOMP_RET_ALLOW) || for_it != made) {
                test_failures++;
                if (test_failures < 20)
                        printf("# the supervisor misjudges %s\n", row ? seccomp_row_name(row) : "?");
        }
}

/* ---- Every call, ask and architecture. ---- */

/* Served sockets share no rule with own_ipc, and are nothing where there are no sockets; nor do
 * tracing, memory files that run and shown connections with own_ipc and own_view. */
static const struct filter *filter_worth(enum seccomp_arch arch, unsigned bits)
{
        struct seccomp_ask ask = ask_of(arch, bits);
        bool same = (ask.unix_served && (!ask.unix_sockets || ask.own_ipc)) ||
                    (ask.trace && (ask.own_ipc || ask.own_view));
        return same ? NULL : filter_of(arch, bits);
}

#define EACH_FILTER(f)                                                                                       \
        for (unsigned each_ = 0; each_ < SECCOMP_ARCH__COUNT * ASKS; each_++)                                \
                for (const struct filter *f = filter_worth(each_ / ASKS, each_ % ASKS); f; f = NULL)

static void compare(const struct filter *f, const struct seccomp_row *row, const struct seccomp_data *d)
{
        struct bpf_end end = bpf_sim_run(f->insns, d);
        uint32_t want = expect_watched(&f->ask, row, d);
        compare_supervisor(f, row, d);
        if (end.ret == want)
                return;
        test_failures++;
        if (test_failures < 20)
                printf("# %s (%d of arch %d, net %d unix %d ipc %d tell %d memfd %d view %d) args %llx %llx "
                       "%llx %llx %llx: %x, not %x\n",
                       row ? seccomp_row_name(row) : "?", d->nr, (int) f->ask.arch, f->ask.net,
                       f->ask.unix_sockets, f->ask.own_ipc, f->ask.tell, f->ask.memfd, f->ask.own_view,
                       (unsigned long long) d->args[0], (unsigned long long) d->args[1],
                       (unsigned long long) d->args[2], (unsigned long long) d->args[3],
                       (unsigned long long) d->args[4], end.ret, want);
}

/* Values near which some rule changes its mind. */
static const uint64_t interesting[] = {
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        10,
        11,
        12,
        13,
        15,
        16,
        17,
        18,
        24,
        38,
        40,
        64,
        99,
        100,
        101,
        102,
        109,
        110,
        111,
        128,
        136,
        262,
        1000,
        1001,
        1023,
        1024,
        1025,
        1026,
        1027,
        0x1000,
        0x1001,
        0x1004,
        0x1005,
        0x1011,
        0x1012,
        0x1023,
        0x1024,
        0x2001,
        0x8900,
        0x8901,
        0x8902,
        0x8903,
        0x4001,
        0x4002,
        0x4003,
        0x5001,
        0x5004,
        0x5005,
        0x5006,
        0x5401,
        TIOCSTI - 1,
        TIOCSTI,
        TIOCSTI + 1,
        TIOCLINUX - 1,
        TIOCLINUX,
        TIOCCONS,
        TIOCCONS + 1,
        TIOCSETD,
        TIOCGETD,
        TIOCVHANGUP,
        0xc0045876,
        0xc0045877,
        0xc0045878,
        0xc0045879,
        0xc0506617,
        0644,
        01755,
        02755,
        04755,
        06755,
        010644,
        020666,
        060660,
        0100755,
        0104755,
        0120777,
        0140777,
        0170000,
        O_CREAT,
        O_CREAT | O_EXCL | O_WRONLY,
        O_TMPFILE,
        O_DIRECTORY,
        O_CLOEXEC,
        O_PATH,
        0x80,
        0x200,
        0x2000,
        0x8000,
        0x10000,
        CLONE_NEWNS,
        CLONE_NEWCGROUP,
        CLONE_NEWUTS,
        CLONE_NEWIPC,
        CLONE_NEWUSER,
        CLONE_NEWPID,
        CLONE_NEWNET,
        CLONE_PARENT,
        0x3d0f00,
        0x1200011,
        0x40000,
        0x80000,
        SOCK_CLOEXEC | 1,
        SOCK_NONBLOCK | 2,
        SOCK_CLOEXEC | SOCK_NONBLOCK | 5,
        SOCK_CLOEXEC | 3,
        0x11,
        0x40049409,
        0x4020940d,
        0x40047211,
        0x40086602,
        0x401c5820,
        0x40087602,
        0x41555856,
        0x50009401,
        0x5000940e,
        0x53564d41,
        0x59616d61,
        0x7fffffff,
        0x80000000,
        0x801c581f,
        0x80046601,
        0x80086601,
        0x80087601,
        0x8004f50c,
        0xc0189436,
        0xc020660b,
        0xc0045877,
        0xfffffffe,
        0xffffffff,
        0x100000000,
        0x100000001,
        0x200005412,
        0xffffffffffffffff,
};
enum { INTERESTING = sizeof interesting / sizeof *interesting };

static uint32_t next_random(void)
{
        static uint64_t state = 0x9e3779b97f4a7c15; /* fixed: a failure comes back */
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t) (state >> 33);
}

static void randomise(struct seccomp_data *d)
{
        for (size_t i = 0; i < 6; i++) {
                d->args[i] = interesting[next_random() % INTERESTING];
                if (next_random() % 4 == 0)
                        d->args[i] ^= (uint64_t) next_random() << 32;
        }
        uint32_t own = next_random() % 8; /* the number of our own calls, whole and by halves */
        if (own < 3)
                d->args[5] = OUR_OWN ^ (own == 1 ? UINT64_C(1) << 32 : own == 2 ? 1 : 0);
}

static void test_filter__agrees_with_the_table_for_every_number(void)
{
        EACH_FILTER(f)
        {
                for (int nr = 0; nr < 1024; nr++) {
                        const struct seccomp_row *row = row_numbered(f->ask.arch, nr);
                        struct seccomp_data d = { .nr = nr, .arch = audit[f->ask.arch] };
                        compare(f, row, &d);
                        memset(d.args, 0xff, sizeof d.args);
                        compare(f, row, &d);
                        for (int i = 0; i < 8; i++) {
                                randomise(&d);
                                compare(f, row, &d);
                        }
                }
        }
}

static void test_filter__agrees_with_the_oracle_for_every_argument(void)
{
        size_t count;
        const struct seccomp_row *rows = seccomp_table(&count);
        EACH_FILTER(f)
        {
                for (size_t i = 0; i < count; i++) {
                        if (rows[i].verdict != SECCOMP_ALLOW_IF || rows[i].nr[f->ask.arch] < 0)
                                continue;
                        struct seccomp_data d = { .nr = rows[i].nr[f->ask.arch], .arch = audit[f->ask.arch] };
                        for (size_t k = 0; k < test_rounds(3000); k++) {
                                randomise(&d);
                                compare(f, &rows[i], &d);
                        }
                }
        }
}

/* Every small value in every place, alone and with a high word that the kernel ignores. */
static void test_filter__agrees_with_the_oracle_for_every_small_value(void)
{
        size_t count;
        const struct seccomp_row *rows = seccomp_table(&count);
        for (unsigned k = 0; k < SECCOMP_ARCH__COUNT * 2; k++) {
                const struct filter *f = filter_of(k / 2, k % 2 ? ASKS - 1 : 0);
                for (size_t i = 0; i < count * 6; i++) {
                        const struct seccomp_row *row = &rows[i / 6];
                        if (row->verdict != SECCOMP_ALLOW_IF || row->nr[f->ask.arch] < 0)
                                continue;
                        struct seccomp_data d = { .nr = row->nr[f->ask.arch], .arch = audit[f->ask.arch] };
                        for (uint64_t v = 0; v < test_rounds(0x6000); v++) {
                                d.args[i % 6] = v;
                                compare(f, row, &d);
                                d.args[i % 6] = v | garbage;
                                compare(f, row, &d);
                        }
                }
        }
}

static void test_filter__strange_numbers_and_architectures(void)
{
        static const uint32_t numbers[] = { 0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff,
                                            0x40000000, 0x40000027, 0x40000208, 0x3fffffff,
                                            0x10000,    0xc0000027, 511,        512 };
        static const uint32_t arches[] = { AUDIT_ARCH_X86_64,
                                           AUDIT_ARCH_AARCH64,
                                           AUDIT_ARCH_I386,
                                           AUDIT_ARCH_ARM,
                                           AUDIT_ARCH_ARMEB,
                                           AUDIT_ARCH_RISCV64,
                                           0,
                                           0xffffffff };
        EACH_FILTER(f)
        {
                for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
                        for (size_t k = 0; k < sizeof arches / sizeof *arches; k++) {
                                struct seccomp_data d = { .nr = (int) numbers[i], .arch = arches[k] };
                                compare(f, row_numbered(f->ask.arch, d.nr), &d);
                        }
                }
                for (size_t k = 0; k < sizeof arches / sizeof *arches; k++) {
                        for (int nr = 0; nr < 600; nr++) {
                                struct seccomp_data d = { .nr = nr, .arch = arches[k] };
                                compare(f, row_numbered(f->ask.arch, nr), &d);
                        }
                }
        }
}

/* ---- The shape of the program. ---- */

static void test_filter__is_one_the_kernel_takes(void)
{
        size_t most = 0;
        EACH_FILTER(f)
        {
                const char *why = bpf_sim_refusal(f->insns, f->n);
                CHECK_STR(why ? why : "", "");
                most = f->n > most ? f->n : most;
        }
        printf("# longest filter: %zu instructions\n", most);
        CHECK(most < 600);
}

static void test_filter__too_small_a_buffer_yields_nothing(void)
{
        struct sock_filter insns[SECCOMP_INSNS_MAX];
        struct seccomp_ask ask = ask_of(SECCOMP_X86_64, 15);
        size_t n = seccomp_compile(&ask, insns, SECCOMP_INSNS_MAX);
        for (size_t cap = 0; cap < n; cap++)
                CHECK_INT(seccomp_compile(&ask, insns, cap), 0);
        CHECK_INT(seccomp_compile(&ask, insns, n), n);
        CHECK(bpf_sim_refusal(insns, n) == NULL);
        ask.arch = SECCOMP_ARCH__COUNT;
        CHECK_INT(seccomp_compile(&ask, insns, SECCOMP_INSNS_MAX), 0);
}

/* Then the kernel knows it when it loads the filter, and never runs the filter for them. */
static void test_filter__plain_calls_are_decided_by_number_alone(void)
{
        unsigned deepest = 0;
        EACH_FILTER(f)
        {
                for (int nr = 0; nr < SECCOMP_NR_END; nr++) {
                        const struct seccomp_row *row = row_numbered(f->ask.arch, nr);
                        struct seccomp_data d = { .nr = nr, .arch = audit[f->ask.arch] };
                        struct bpf_end end = bpf_sim_run(f->insns, &d);
                        if (!row || row->verdict != SECCOMP_ALLOW_IF || row->rule == RULE_OWN_IPC ||
                            row->rule == RULE_OWN_VIEW)
                                CHECK(!end.looked_past);
                        deepest = end.steps > deepest ? end.steps : deepest;
                }
        }
        printf("# longest way: %u instructions\n", deepest);
        CHECK(deepest <= 24);
}

/* The supervisor must answer what the filter itself would answer when nobody listens. */
static void test_errno__is_the_same_told_or_not(void)
{
        size_t count;
        const struct seccomp_row *rows = seccomp_table(&count);
        for (size_t i = 0; i < count * SECCOMP_ARCH__COUNT; i++) {
                enum seccomp_arch arch = (enum seccomp_arch)(i % SECCOMP_ARCH__COUNT);
                const struct seccomp_row *row = &rows[i / SECCOMP_ARCH__COUNT];
                for (int k = 0; k < 300 && row->nr[arch] >= 0; k++) {
                        struct seccomp_data d = { .nr = row->nr[arch], .arch = audit[arch] };
                        randomise(&d);
                        unsigned view = k % 2 ? 32 : 0;
                        uint32_t ret = bpf_sim_run(filter_of(arch, view | 8)->insns, &d).ret;
                        if (ret == SECCOMP_RET_USER_NOTIF && !seccomp_on_behalf(&d))
                                CHECK_INT(bpf_sim_run(filter_of(arch, view)->insns, &d).ret,
                                          fails(seccomp_errno(&d)));
                }
        }
}

static const struct test_case cases[] = {
        CASE(test_filter__agrees_with_the_table_for_every_number),
        CASE(test_filter__agrees_with_the_oracle_for_every_argument),
        CASE(test_filter__agrees_with_the_oracle_for_every_small_value),
        CASE(test_filter__strange_numbers_and_architectures),
        CASE(test_filter__is_one_the_kernel_takes),
        CASE(test_filter__too_small_a_buffer_yields_nothing),
        CASE(test_filter__plain_calls_are_decided_by_number_alone),
        CASE(test_errno__is_the_same_told_or_not),
};
TEST_MAIN(cases)
