/* SPDX-License-Identifier: MIT */
/* wall/linux/seccomp/seccomp_bpf.c - compiles the system-call table to a classic BPF program for seccomp(2).
 * Never: makes a system call, allocates, reads a pointer argument. Called on the start path, so it is one
 * linear walk.
 *
 * The program is written from its last instruction to its first. Then the target of every jump exists before
 * the jump itself, one that is too far (more than 255 away) gets a step in between, and nothing is patched
 * afterwards.
 *
 * The number is looked up by bisection, and most calls are decided by it alone. The kernel detects such calls
 * when it loads the filter, and never runs the filter for them again. Arguments are checked only after that.
 *
 * Which half of an argument counts: the kernel declares all arguments checked here as int, unsigned int or
 * umode_t (or, for clone, drops the high half itself), so only the low word means anything and garbage in the
 * high word must neither admit nor refuse a call (CVE-2019-10063). The exception is prlimit64's pointer: it
 * is NULL by both halves. */
#include "wall/linux/seccomp/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <string.h>

/* The target of a decision: an answer (below GO__COUNT), or the instruction with address go - GO__COUNT. An
 * address counts from the end of the program; the last instruction has 1. */
enum go {
        GO_EPERM = 0,
        GO_DONE, /* success, without the call */
        GO_EACCES,
        GO_EINVAL,
        GO_ENOSYS,
        GO_ENOTTY,
        GO_ENOSPC,
        GO_ENOMEM,
        GO_EOPNOTSUPP,
        GO_EAFNOSUPPORT,
        GO_EPROTONOSUPPORT,
        GO_NOTIFY,
        GO_KILL,
        GO_ALLOW,
        GO_TELL,        /* becomes GO_NOTIFY or GO_EPERM */
        GO_TELL_FAMILY, /* becomes GO_NOTIFY or GO_EAFNOSUPPORT */
        GO_TELL_ACCES,  /* becomes GO_NOTIFY or GO_EACCES */
        GO_WATCH,       /* becomes GO_NOTIFY or GO_ALLOW */
        GO_WATCH_READ,  /* the same, with watch_reads */
        GO_RENAME,      /* GO_NOTIFY with `moves`, else as GO_WATCH */
        GO__COUNT
};

static const uint32_t answers[GO__COUNT] = {
        [GO_EPERM] = SECCOMP_RET_ERRNO | EPERM,
        [GO_DONE] = SECCOMP_RET_ERRNO | 0,
        [GO_EACCES] = SECCOMP_RET_ERRNO | EACCES,
        [GO_EINVAL] = SECCOMP_RET_ERRNO | EINVAL,
        [GO_ENOSYS] = SECCOMP_RET_ERRNO | ENOSYS,
        [GO_ENOTTY] = SECCOMP_RET_ERRNO | ENOTTY,
        [GO_ENOSPC] = SECCOMP_RET_ERRNO | ENOSPC,
        [GO_ENOMEM] = SECCOMP_RET_ERRNO | ENOMEM,
        [GO_EOPNOTSUPP] = SECCOMP_RET_ERRNO | EOPNOTSUPP,
        [GO_EAFNOSUPPORT] = SECCOMP_RET_ERRNO | EAFNOSUPPORT,
        [GO_EPROTONOSUPPORT] = SECCOMP_RET_ERRNO | EPROTONOSUPPORT,
        [GO_NOTIFY] = SECCOMP_RET_USER_NOTIF,
        [GO_KILL] = SECCOMP_RET_KILL_PROCESS,
        [GO_ALLOW] = SECCOMP_RET_ALLOW,
};

struct program {
        const struct seccomp_ask *ask;
        struct sock_filter *end; /* one past the last instruction */
        uint32_t cap, n;
        bool full;
        uint32_t answer_at[GO__COUNT];         /* address of the newest copy of each answer, or 0 */
        uint32_t rule_at[SECCOMP_RULE__COUNT]; /* the start of each rule, plus one; 0: not yet written */
};

/* Values from `from` up to the next one's go there. A list of them starts at 0 and ascends. */
struct range {
        uint32_t from, go;
};

/* Inclusive. A list of them ascends. */
struct values {
        uint32_t first, last;
};

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define LOW(i)                                                                                               \
        ((uint32_t) (offsetof(struct seccomp_data, args) + 8 * (i))) /* little-endian, both of them          \
                                                                      */
#define HIGH(i)  (LOW(i) + 4)
#define ALL_BITS UINT32_MAX

/* Farther than this a jump takes a step in between. 255 less the two instructions a branch may add before
 * itself. */
enum { NEAR = 253 };

static void emit_insn(struct program *p, struct sock_filter insn)
{
        if (p->n == p->cap) {
                p->full = true;
                return;
        }
        p->n++;
        *(p->end - p->n) = insn;
}

static uint32_t here(const struct program *p) { return GO__COUNT + p->n; }

static uint32_t settle_jumps(const struct program *p, uint32_t go)
{
        if (go == GO_TELL)
                return p->ask->tell ? GO_NOTIFY : GO_EPERM;

        if (go == GO_TELL_FAMILY)
                return p->ask->tell ? GO_NOTIFY : GO_EAFNOSUPPORT;

        if (go == GO_TELL_ACCES)
                return p->ask->tell ? GO_NOTIFY : GO_EACCES;

        if (go == GO_RENAME && p->ask->moves)
                return GO_NOTIFY;

        if (go == GO_WATCH || go == GO_RENAME)
                return p->ask->watch || p->ask->touch ? GO_NOTIFY : GO_ALLOW;

        if (go == GO_WATCH_READ)
                return (p->ask->watch && p->ask->watch_reads) || p->ask->touch ? GO_NOTIFY : GO_ALLOW;

        return go;
}

/* An address within reach of the next instruction that has the effect of `go`. */
static uint32_t reach_label(struct program *p, uint32_t go)
{
        if (go < GO__COUNT) {
                if (p->answer_at[go] == 0 || p->n - p->answer_at[go] > NEAR) {
                        emit_insn(p, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, answers[go]));
                        p->answer_at[go] = p->n;
                }
                return p->answer_at[go];
        }

        uint32_t at = go - GO__COUNT;
        if (p->n - at > NEAR) {
                emit_insn(p, (struct sock_filter) BPF_STMT(BPF_JMP | BPF_JA, p->n - at));
                at = p->n;
        }

        return at;
}

static uint32_t branch_on(struct program *p, uint16_t op, uint32_t k, uint32_t yes, uint32_t no)
{
        yes = settle_jumps(p, yes);
        no = settle_jumps(p, no);
        if (yes == no)
                return yes;

        uint32_t yes_at = reach_label(p, yes);
        uint32_t no_at = reach_label(p, no);
        emit_insn(p, (struct sock_filter) BPF_JUMP(BPF_JMP | op | BPF_K, k, (uint8_t) (p->n - yes_at),
                                                   (uint8_t) (p->n - no_at)));
        return here(p);
}

/* Loads `word` for the test just written. If `go` is not that, then no test was needed, and no load is. */
static uint32_t load_word(struct program *p, uint32_t word, uint32_t mask, uint32_t go)
{
        if (go != here(p))
                return go;
        if (mask != ALL_BITS)
                emit_insn(p, (struct sock_filter) BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
        emit_insn(p, (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, word));
        return here(p);
}

/* Bisection; as deep as the logarithm of the count. */
static uint32_t search_range(struct program *p, const struct range *r, size_t count)
{
        if (count == 1)
                return settle_jumps(p, r->go);
        size_t mid = count / 2;
        uint32_t above = search_range(p, r + mid, count - mid);
        uint32_t below = search_range(p, r, mid);
        return branch_on(p, BPF_JGE, r[mid].from, above, below);
}

static size_t add_range(const struct program *p, struct range *r, size_t count, struct range next)
{
        next.go = settle_jumps(p, next.go);
        if (count > 0 && r[count - 1].from == next.from)
                count--;

        if (count > 0 && r[count - 1].go == next.go)
                return count;

        r[count] = next;
        return count + 1;
}

enum { VALUES_MAX = 32 };

struct choice {
        uint32_t word, mask;
        const struct values *list;
        size_t count;
        uint32_t in, out;
};

static uint32_t choose_row(struct program *p, const struct choice *c)
{
        struct range r[2 * VALUES_MAX + 1];
        size_t n = add_range(p, r, 0, (struct range){ 0, c->out });
        for (size_t i = 0; i < c->count; i++) {
                n = add_range(p, r, n, (struct range){ c->list[i].first, c->in });
                if (c->list[i].last < UINT32_MAX)
                        n = add_range(p, r, n, (struct range){ c->list[i].last + 1, c->out });
        }

        return load_word(p, c->word, c->mask, search_range(p, r, n));
}

static uint32_t if_bits(struct program *p, uint32_t word, uint32_t bits, uint32_t set, uint32_t clear)
{
        return load_word(p, word, ALL_BITS, branch_on(p, BPF_JSET, bits, set, clear));
}

static uint32_t if_zero(struct program *p, uint32_t word, uint32_t yes, uint32_t no)
{
        return load_word(p, word, ALL_BITS, branch_on(p, BPF_JEQ, 0, yes, no));
}

/* Numbers of the kernel's ABI that are the same on both architectures. Written out here, because the headers
 * of the build machine may be older than the kernel, or of the other architecture. */
#define SETUID_BIT 04000u
#define SETGID_BIT 02000u
#define SETID_BITS (SETUID_BIT | SETGID_BIT)
#define DEVICE_BIT 0020000u /* set in S_IFCHR and S_IFBLK, clear in S_IFREG, S_IFIFO and S_IFSOCK */
/* O_CREAT, __O_TMPFILE. Without them libc may leave garbage as the mode. */
#define EMPTY_PATH 0x1000u /* AT_EMPTY_PATH */
#define MAKES_FILE (0x40u | 0x400000u)
/* O_WRONLY, O_RDWR, O_TRUNC */
#define CHANGES_FILE (1u | 2u | 0x200u)
/* O_PATH, with which the other flags mean nothing. */
#define PATH_ONLY    0x200000u
#define NEW_LISTENER 8u
#define WHITEOUT     4u
#define URGENT       1u       /* MSG_OOB: on AF_UNIX code that nothing uses, and that had use after free */
#define NOTIFIES     0x80u    /* O_NOTIFICATION_PIPE */
#define MAP_HUGE     0x40000u /* pages of a pool of the whole host, which no memory limit counts */
#define SHM_HUGE     04000u
#define MAPS_TO_RUN  4u    /* PROT_EXEC */
#define MAPS_NO_FILE 0x20u /* MAP_ANONYMOUS */
/* RWF_HIPRI, DSYNC, SYNC, APPEND, NOAPPEND, ATOMIC. RWF_NOWAIT fails unless the page cache has the bytes,
 * which reveals recent reads of others; RWF_DONTCACHE evicts them from it. */
#define RW_FLAGS   0x77u
#define MEMFD_HUGE 4u /* MFD_NOEXEC_SEAL does not hold for these */
#define MEMFD_EXEC 16u
/* Programs use the others to probe for features of the kernel. The last six bits are the size of huge pages.
 */
#define MEMFD_KNOWN (31u | 0xfc000000u)
#define SOCK_FLAGS  (0x80000u | 0x800u) /* SOCK_CLOEXEC, SOCK_NONBLOCK */
/* NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. In clone(2) the bit of CLONE_NEWTIME (0x80)
 * belongs to the exit signal and makes no namespace. */
#define CLONE_NEW 0x7e020000u
/* CLONE_PARENT: a child that belongs to our parent would leave the payload's tree. */
#define CLONE_SIDE 0x8000u

#include "wall/linux/seccomp/ioctl_lists.inc"

/* SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, _EBPF: programs in the kernel, which no limit of
 * memory counts. */
static const struct values sockopt_refused[] = { { 26, 26 }, { 50, 52 } };
static const struct values level_socket[] = { { 1, 1 } }; /* SOL_SOCKET */
/* Multicast memberships and their source lists: unlimited in number, in memory that no limit counts, and the
 * box's one link has no multicast sender. */
static const struct values ip_refused[] = { { 35, 48 } }; /* IP_ADD_MEMBERSHIP to MCAST_MSFILTER */
static const struct values ipv6_refused[] = {
        { 1, 1 },   /* IPV6_ADDRFORM */
        { 20, 21 }, /* IPV6_JOIN_GROUP, IPV6_LEAVE_GROUP */
        { 27, 28 }, /* IPV6_JOIN_ANYCAST, IPV6_LEAVE_ANYCAST */
        { 32, 32 }, /* IPV6_FLOWLABEL_MGR */
        { 42, 48 }, /* MCAST_JOIN_GROUP to MCAST_MSFILTER */
};
/* Protocols that the kernel puts on top of a socket, some from a module that it loads on request of any
 * process; and keys for peers. The broker at the other end uses plain TCP and UDP. */
static const struct values tcp_refused[] = {
        { 14, 14 }, /* TCP_MD5SIG */
        { 31, 32 }, /* TCP_ULP, TCP_MD5SIG_EXT */
        { 38, 42 }, /* TCP_AO_ADD_KEY to TCP_AO_REPAIR */
};
static const struct values udp_refused[] = { { 100, 100 } }; /* UDP_ENCAP */
static const struct values level_ip[] = { { 0, 0 } }, level_tcp[] = { { 6, 6 } },
                           level_udp[] = { { 17, 17 } }, level_ipv6[] = { { 41, 41 } };

static const struct values prctl_allowed[] = {
        { 1, 3 },   /* parent-death signal; dumpable, read: init counts the memory of a process */
        { 7, 8 },   /* keep capabilities: the payload has none */
        { 13, 16 }, /* timing, name */
        { 19, 19 }, /* endianness, read */
        { 21, 27 }, /* seccomp (narrows), bounding set, time-stamp counter, securebits read */
        { 29, 30 }, /* timer slack */
        { 34, 34 }, /* machine-check policy, read */
        { 36, 42 }, /* subreaper, no_new_privs, tid address, huge pages */
        { 47, 47 }, /* ambient capabilities: the payload has none */
        { 50, 56 }, /* vector length, speculation, pointer keys, tagged addresses */
        { 60, 61 }, /* pointer-key enables */
        { 63, 66 }, /* matrix vector length, deny write-execute */
        { 68, 68 }, /* memory merge, read; setting it would share pages with strangers */
        { 74, 76 }, /* shadow stack */
        { 0x41555856, 0x41555856 }, /* PR_GET_AUXV */
        { 0x53564d41, 0x53564d41 }, /* PR_SET_VMA: names of mappings */
        { 0x59616d61, 0x59616d61 }, /* PR_SET_PTRACER: crash handlers; ptrace itself is off */
};

static const struct values arch_prctl_allowed[] = {
        { 0x1001, 0x1004 }, /* FS and GS */
        { 0x1011, 0x1011 }, /* cpuid faulting, read */
        { 0x1021, 0x1023 }, /* large register state */
        { 0x4001, 0x4001 }, /* address tagging: mask, read */
        { 0x4003, 0x4003 }, /* address tagging: bits, read */
        { 0x5001, 0x5003 }, /* shadow stack: on, off, locked */
        { 0x5005, 0x5005 }, /* shadow stack, read */
};

static const struct values personality_allowed[] = { { 0, 0 }, { 0xffffffff, 0xffffffff } };
/* A lease or a delegation delays any process that opens the same file outside. A write hint stays with the
 * inode, can be set through a read-only descriptor, and can be read by every process that has the file open.
 */
static const struct values fcntl_refused[] = {
        { 1024, 1024 }, /* F_SETLEASE */
        { 1026, 1026 }, /* F_NOTIFY */
        { 1036, 1036 }, /* F_SET_RW_HINT */
        { 1038, 1038 }, /* F_SET_FILE_RW_HINT */
        { 1040, 1040 }, /* F_SETDELEG */
};
static const struct values fcntl_owners[] = { { 8, 8 }, { 15, 15 } }; /* F_SETOWN, F_SETOWN_EX */
static const struct values ioctl_signals[] = { { 0x8901, 0x8902 } };  /* FIOSETOWN, SIOCSPGRP */
/* MADV_MERGEABLE reveals memory contents of other processes; MADV_HWPOISON and MADV_SOFT_OFFLINE take pages
 * away. */
static const struct values madvise_refused[] = { { 12, 12 }, { 100, 101 } };

/* At most a kilobyte. An ACL (system.posix_acl_access) is kept in kernel memory by a filesystem and by
 * memfds: up to 128 kilobytes for each, two for a directory, that no control group counts. Attribute names
 * are behind a pointer. */
static const struct values xattr_sizes[] = { { 0, 1000 } };

static const struct values types_inet[] = { { 1, 2 } };           /* stream, datagram */
static const struct values types_unix[] = { { 1, 2 }, { 5, 5 } }; /* and seqpacket */
/* libc requests this in every program that looks up a name or a user: SOCK_STREAM, both flags. */
static const struct values type_of_nscd[] = { { 1 | SOCK_FLAGS, 1 | SOCK_FLAGS } };
static const struct values types_paired[] = { { 1, 1 }, { 5, 5 } }; /* no address can be given to these */
static const struct values protocols_inet[] = { { 0, 0 }, { 6, 6 }, { 17, 17 } };
/* sizeof struct sockaddr_in and sockaddr_in6; a longer address is not shown. */
static const struct values lengths_inet[] = { { 16, 16 }, { 28, 28 } };
static const struct values family_unix[] = { { 1, 1 } };
/* struct sockaddr_un with a name: longer than the family alone, up to all of it. Of another length the kernel
 * accepts none for AF_UNIX. */
static const struct values lengths_unix[] = { { 3, 110 } };
/* NETLINK_ROUTE, by sockets of type SOCK_RAW or SOCK_DGRAM; sizeof struct sockaddr_nl; and of the smallest
 * request. */
static const struct values protocol_route[] = { { 0, 0 } }, types_netlink[] = { { 2, 3 } },
                           length_netlink[] = { { 12, 12 } }, length_request[] = { { 20, 20 } };
static const struct values ioprio_process[] = { { 1, 1 } }; /* IOPRIO_WHO_PROCESS */

#define CHOICE(word, list, in, out) (&(struct choice){ word, ALL_BITS, list, COUNT(list), in, out })
#define TYPE(list, in, out)         (&(struct choice){ LOW(1), ~SOCK_FLAGS, list, COUNT(list), in, out })

static uint32_t rule_socket(struct program *p)
{
        uint32_t inet = GO_TELL_FAMILY;
        uint32_t local = choose_row(p, CHOICE(LOW(1), type_of_nscd, GO_EAFNOSUPPORT, GO_TELL_FAMILY));
        if (p->ask->net) {
                inet = choose_row(p, CHOICE(LOW(2), protocols_inet, GO_ALLOW, GO_EPROTONOSUPPORT));
                inet = choose_row(p, TYPE(types_inet, inet, GO_TELL_FAMILY));
        }

        if (p->ask->unix_sockets && p->ask->unix_served)
                local = choose_row(p, TYPE(types_paired, GO_ALLOW, GO_EPROTONOSUPPORT));
        else if (p->ask->unix_sockets)
                local = choose_row(p, TYPE(types_unix, GO_ALLOW, GO_EAFNOSUPPORT));

        uint32_t links = GO_EOPNOTSUPP; /* ZeroMQ aborts at any other error of getifaddrs() */
        if (p->ask->links) {
                links = choose_row(p, TYPE(types_netlink, GO_NOTIFY, GO_EOPNOTSUPP));
                links = choose_row(p, CHOICE(LOW(2), protocol_route, links, GO_EOPNOTSUPP));
        }

        const struct range families[] = {
                { 0, GO_TELL_FAMILY },
                { 1, local },           /* AF_UNIX */
                { 2, inet },            /* AF_INET */
                { 3, GO_TELL_FAMILY },  /* amateur radio and the like */
                { 10, inet },           /* AF_INET6 */
                { 11, GO_TELL_FAMILY }, /* AF_KEY and others */
                { 16, links },          /* AF_NETLINK */
                { 17, GO_TELL_FAMILY }, /* AF_PACKET, AF_ALG, AF_VSOCK and all that follow */
        };

        return load_word(p, LOW(0), ALL_BITS, search_range(p, families, COUNT(families)));
}

static uint32_t rule_socketpair(struct program *p)
{
        bool any = p->ask->unix_sockets && !p->ask->unix_served;
        uint32_t pair = any ? choose_row(p, TYPE(types_unix, GO_ALLOW, GO_EAFNOSUPPORT))
                            : choose_row(p, TYPE(types_paired, GO_ALLOW, GO_EAFNOSUPPORT));
        return choose_row(p, CHOICE(LOW(0), family_unix, pair, GO_EAFNOSUPPORT));
}

static uint32_t rule_listen(struct program *p)
{
        return p->ask->unix_sockets && p->ask->unix_served ? GO_NOTIFY : GO_ALLOW;
}

static uint32_t rule_connect(struct program *p)
{
        if (rule_listen(p) != GO_ALLOW)
                return choose_row(p, CHOICE(LOW(2), lengths_unix, GO_NOTIFY, GO_ALLOW));
        return choose_row(p, CHOICE(LOW(2), lengths_inet,
                                    p->ask->connects && p->ask->tell ? GO_NOTIFY : GO_ALLOW, GO_ALLOW));
}

static uint32_t rule_sockname(struct program *p) { return p->ask->links ? GO_NOTIFY : GO_ALLOW; }

static uint32_t rule_bind(struct program *p)
{
        return choose_row(p, CHOICE(LOW(2), length_netlink, rule_sockname(p), GO_ALLOW));
}

/* The pointer is NULL by both halves. */
static uint32_t rule_sendto(struct program *p)
{
        uint32_t shown = rule_sockname(p),
                 bare = choose_row(p, CHOICE(LOW(2), length_request, shown, GO_ALLOW));
        bare = if_zero(p, LOW(4), if_zero(p, HIGH(4), bare, GO_ALLOW), GO_ALLOW);
        uint32_t named = choose_row(p, CHOICE(LOW(5), length_netlink, shown, bare));
        return if_bits(p, LOW(3), URGENT, GO_EOPNOTSUPP, named);
}

static uint32_t rule_ioctl(struct program *p)
{
        uint32_t other = GO_ALLOW;
        if (p->ask->nvidia) {
                other = choose_row(p, &(struct choice){ LOW(1), GPU_ESCAPE_BITS, gpu_escapes,
                                                        COUNT(gpu_escapes), GO_ALLOW, GO_TELL });
                other = choose_row(p, CHOICE(LOW(1), gpu_uvm, GO_ALLOW, other));
                other = choose_row(p, CHOICE(LOW(1), gpu_ordinary, GO_ALLOW, other));
        }

        uint32_t asks = choose_row(p, CHOICE(LOW(1), ioctl_asks, GO_ALLOW, GO_ENOTTY));
        uint32_t owner = choose_row(
                p, &(struct choice){ LOW(1), REQUEST_OWNER, ioctl_owners, COUNT(ioctl_owners), asks, other });
        if (p->ask->signals)
                owner = choose_row(p, CHOICE(LOW(1), ioctl_signals, GO_EPERM, owner));
        return choose_row(p, CHOICE(LOW(1), ioctl_refused, GO_TELL, owner));
}

static uint32_t rule_sockopt(struct program *p)
{
        uint32_t other = GO_ALLOW;
        if (p->ask->net) {
                uint32_t ipv6 = choose_row(p, CHOICE(LOW(2), ipv6_refused, GO_EPERM, GO_ALLOW));
                other = choose_row(p, CHOICE(LOW(1), level_ipv6, ipv6, GO_ALLOW));
                uint32_t udp = choose_row(p, CHOICE(LOW(2), udp_refused, GO_EPERM, GO_ALLOW));
                other = choose_row(p, CHOICE(LOW(1), level_udp, udp, other));
                uint32_t tcp = choose_row(p, CHOICE(LOW(2), tcp_refused, GO_EPERM, GO_ALLOW));
                other = choose_row(p, CHOICE(LOW(1), level_tcp, tcp, other));
                uint32_t ip = choose_row(p, CHOICE(LOW(2), ip_refused, GO_EPERM, GO_ALLOW));
                other = choose_row(p, CHOICE(LOW(1), level_ip, ip, other));
        }

        uint32_t option = choose_row(p, CHOICE(LOW(2), sockopt_refused, GO_EPERM, GO_ALLOW));
        return choose_row(p, CHOICE(LOW(1), level_socket, option, other));
}

static uint32_t rule_shmget(struct program *p)
{
        return p->ask->own_ipc ? if_bits(p, LOW(2), SHM_HUGE, GO_EPERM, GO_ALLOW) : GO_ENOSYS;
}

static uint32_t rule_setxattr(struct program *p)
{
        return p->ask->own_view ? choose_row(p, CHOICE(LOW(3), xattr_sizes, GO_ALLOW, GO_ENOSPC)) : GO_EPERM;
}

/* The setgid bit of a directory sets the group of new files. Only the supervisor sees the changed file. */
static uint32_t chmod_with(struct program *p, unsigned mode)
{
        if (!p->ask->own_view)
                return GO_EPERM;
        uint32_t setgid = if_bits(p, LOW(mode), SETGID_BIT, GO_NOTIFY, GO_ALLOW);
        return if_bits(p, LOW(mode), SETUID_BIT, GO_TELL, setgid);
}

static uint32_t rule_chmod1(struct program *p) { return chmod_with(p, 1); }
static uint32_t rule_chmod2(struct program *p) { return chmod_with(p, 2); }

static uint32_t rule_self(struct program *p)
{
        return p->ask->own_view ? GO_ALLOW : if_zero(p, LOW(0), GO_ALLOW, GO_EPERM);
}

static uint32_t rule_setpriority(struct program *p)
{
        if (p->ask->own_view)
                return GO_ALLOW;
        return if_zero(p, LOW(0), if_zero(p, LOW(1), GO_ALLOW, GO_EPERM), GO_EPERM);
}

static uint32_t rule_ioprio(struct program *p)
{
        if (p->ask->own_view)
                return GO_ALLOW;
        return choose_row(p,
                          CHOICE(LOW(0), ioprio_process, if_zero(p, LOW(1), GO_ALLOW, GO_EPERM), GO_EPERM));
}

/* Leads to `go`, but calls of our own start are allowed. */
static uint32_t unless_own(struct program *p, uint32_t go)
{
        if (settle_jumps(p, go) != GO_NOTIFY || p->ask->own == 0)
                return go;
        uint32_t high = load_word(p, HIGH(5), ALL_BITS,
                                  branch_on(p, BPF_JEQ, (uint32_t) (p->ask->own >> 32), GO_ALLOW, go));
        return load_word(p, LOW(5), ALL_BITS, branch_on(p, BPF_JEQ, (uint32_t) p->ask->own, high, go));
}

/* A lookup waits for the supervisor, but that of an open descriptor. */
static uint32_t touch_row(struct program *p, const struct seccomp_row *row)
{
        unsigned flags = seccomp_looks_up(row);
        uint32_t go = unless_own(p, GO_NOTIFY);
        return flags > 1 ? if_bits(p, LOW(flags), EMPTY_PATH, GO_ALLOW, go) : go;
}

static uint32_t rule_execveat(struct program *p) { return unless_own(p, GO_WATCH); }

/* `flags` is the argument before the mode. */
static uint32_t open_with(struct program *p, unsigned flags)
{
        uint32_t reads = unless_own(p, GO_WATCH_READ), changes = GO_WATCH;
        if (p->ask->touch_paths) {
                uint32_t path = unless_own(p, GO_NOTIFY);
                reads = if_bits(p, LOW(flags), PATH_ONLY, path, reads);
                changes = if_bits(p, LOW(flags), PATH_ONLY, path, changes);
        }

        uint32_t makes = if_bits(p, LOW(flags + 1), SETID_BITS, GO_TELL, changes);
        if (p->ask->names)
                changes = if_bits(p, LOW(flags), PATH_ONLY, changes, GO_NOTIFY);
        uint32_t takes = if_bits(p, LOW(flags), CHANGES_FILE, changes, reads);
        return if_bits(p, LOW(flags), MAKES_FILE, makes, takes);
}

static uint32_t rule_open(struct program *p) { return open_with(p, 1); }
static uint32_t rule_openat(struct program *p) { return open_with(p, 2); }

static uint32_t rule_mmap(struct program *p)
{
        uint32_t go = GO_ALLOW;
        if (p->ask->watch && p->ask->watch_maps) {
                go = if_bits(p, LOW(2), MAPS_TO_RUN, GO_NOTIFY, GO_ALLOW);
                go = if_bits(p, LOW(3), MAPS_NO_FILE, GO_ALLOW, go);
        }
        return if_bits(p, LOW(3), MAP_HUGE, GO_ENOMEM, go);
}

/* The owner of a descriptor is sent a signal of the box's choice. */
static uint32_t rule_fcntl(struct program *p)
{
        uint32_t other =
                p->ask->signals ? choose_row(p, CHOICE(LOW(1), fcntl_owners, GO_EPERM, GO_ALLOW)) : GO_ALLOW;
        return choose_row(p, CHOICE(LOW(1), fcntl_refused, GO_EINVAL, other));
}

static uint32_t rule_memfd(struct program *p)
{
        /* SAFETY: sealing a memfd takes its x bit; nothing prevents an executable mapping. */
        uint32_t go = p->ask->memfd ? GO_ALLOW : if_bits(p, LOW(1), MEMFD_EXEC, GO_TELL_ACCES, GO_ENOSYS);
        go = if_bits(p, LOW(1), MEMFD_HUGE, GO_EACCES, go);
        return if_bits(p, LOW(1), ~MEMFD_KNOWN, GO_EINVAL, go);
}

static uint32_t rule_prlimit(struct program *p)
{
        uint32_t query = if_zero(p, LOW(2), if_zero(p, HIGH(2), GO_ALLOW, GO_EPERM), GO_EPERM);
        return if_zero(p, LOW(0), GO_ALLOW, query);
}

/* Either a function, or a member of the ask, or a word with bits that must be clear, or a word with a list of
 * values. */
static const struct form {
        uint32_t (*build)(struct program *p);
        uint32_t member; /* its offset in struct seccomp_ask, plus one; 0: none */
        uint32_t bits;
        struct choice choice;
} forms[SECCOMP_RULE__COUNT] = {
/* clang-format off */
#define LIST(arg, values, in, out) { NULL, 0, 0, { LOW(arg), ALL_BITS, values, COUNT(values), in, out } }
#define BITS(arg, mask, in, out)   { NULL, 0, mask, { LOW(arg), ALL_BITS, NULL, 0, in, out } }
#define ASK(m, in, out)            { NULL, offsetof(struct seccomp_ask, m) + 1, 0, { 0, 0, NULL, 0, in, out } }
#define FUNCTION(name)             { name, 0, 0, { 0, 0, NULL, 0, 0, 0 } }
        /* clang-format on */
        [RULE_OWN_IPC] = ASK(own_ipc, GO_ALLOW, GO_ENOSYS),
        [RULE_OWN_VIEW] = ASK(own_view, GO_ALLOW, GO_EPERM),
        [RULE_SETXATTR] = FUNCTION(rule_setxattr),
        [RULE_CLONE] = BITS(0, CLONE_NEW | CLONE_SIDE, GO_TELL, GO_ALLOW),
        [RULE_SOCKET] = FUNCTION(rule_socket),
        [RULE_SOCKETPAIR] = FUNCTION(rule_socketpair),
        [RULE_IOCTL] = FUNCTION(rule_ioctl),
        [RULE_SOCKOPT] = FUNCTION(rule_sockopt),
        /* Each ruleset takes megabytes that are in no process's memory account. */
        [RULE_RULESET] = ASK(sampled, GO_ENOSYS, GO_ALLOW),
        /* One byte in a pipe or socket pins its whole page, two megabytes if it is a huge page, after it was
         * unmapped or truncated from its file: memory that is in no process, file or account. */
        [RULE_PINS] = ASK(sampled, GO_EINVAL, GO_ALLOW),
        [RULE_PRCTL] = LIST(0, prctl_allowed, GO_ALLOW, GO_EINVAL),
        [RULE_ARCH_PRCTL] = LIST(0, arch_prctl_allowed, GO_ALLOW, GO_EINVAL),
        [RULE_PERSONALITY] = LIST(0, personality_allowed, GO_ALLOW, GO_EPERM),
        [RULE_MODE_ARG1] = BITS(1, SETID_BITS, GO_TELL, GO_WATCH),
        [RULE_CHMOD_ARG1] = FUNCTION(rule_chmod1),
        [RULE_CHMOD_ARG2] = FUNCTION(rule_chmod2),
        [RULE_OPEN] = FUNCTION(rule_open),
        [RULE_OPENAT] = FUNCTION(rule_openat),
        [RULE_MKNOD] = BITS(1, SETID_BITS | DEVICE_BIT, GO_TELL, GO_ALLOW),
        [RULE_MKNODAT] = BITS(2, SETID_BITS | DEVICE_BIT, GO_TELL, GO_ALLOW),
        [RULE_RENAME] = BITS(4, WHITEOUT, GO_EINVAL, GO_RENAME),
        [RULE_MEMFD] = FUNCTION(rule_memfd),
        [RULE_PRLIMIT] = FUNCTION(rule_prlimit),
        [RULE_SELF_ARG0] = FUNCTION(rule_self),
        [RULE_SETPRIORITY] = FUNCTION(rule_setpriority),
        [RULE_IOPRIO] = FUNCTION(rule_ioprio),
        [RULE_FCNTL] = FUNCTION(rule_fcntl),
        [RULE_SEND_ARG2] = BITS(2, URGENT, GO_EOPNOTSUPP, GO_ALLOW),
        [RULE_SEND_ARG3] = BITS(3, URGENT, GO_EOPNOTSUPP, GO_ALLOW),
        [RULE_SENDTO] = FUNCTION(rule_sendto),
        [RULE_BIND] = FUNCTION(rule_bind),
        [RULE_SOCKNAME] = ASK(links, GO_NOTIFY, GO_ALLOW),
        [RULE_RW_FLAGS] = BITS(5, ~RW_FLAGS, GO_EOPNOTSUPP, GO_ALLOW),
        [RULE_PIPE] = BITS(1, NOTIFIES, GO_EINVAL, GO_ALLOW),
        [RULE_MMAP] = FUNCTION(rule_mmap),
        [RULE_SHMGET] = FUNCTION(rule_shmget),
        [RULE_MADVISE] = LIST(2, madvise_refused, GO_EINVAL, GO_ALLOW),
        [RULE_SECCOMP] = BITS(1, NEW_LISTENER, GO_TELL, GO_ALLOW),
        /* A filter without a listener answers ENOSYS. */
        [RULE_WATCH] = ASK(own_view, GO_NOTIFY, GO_EPERM),
        [RULE_EXECVEAT] = FUNCTION(rule_execveat),
        [RULE_CONNECT] = FUNCTION(rule_connect),
        [RULE_LISTEN] = FUNCTION(rule_listen),
        /* A box that writes nothing outside has nothing to flush but what others have written: the whole host
         * would wait for the disk. */
        [RULE_SYNC] = ASK(syncs, GO_ALLOW, GO_DONE),
        [RULE_TRACE] = ASK(trace, GO_ALLOW, GO_TELL),
        [RULE_KILL] = ASK(signals, GO_NOTIFY, GO_ALLOW),
        [RULE_TKILL] = ASK(signals, GO_NOTIFY, GO_ALLOW),
        [RULE_TGKILL] = ASK(signals, GO_NOTIFY, GO_ALLOW),
        [RULE_SIGNAL_INFO] = ASK(signals, GO_ENOSYS, GO_ALLOW),
#undef LIST
#undef BITS
#undef ASK
#undef FUNCTION
};
_Static_assert(COUNT(prctl_allowed) <= VALUES_MAX, "the longest list fits");

static uint32_t write_rule(struct program *p, const struct form *f)
{
        if (f->build)
                return f->build(p);
        if (f->member != 0)
                return *((const bool *) ((const char *) p->ask + f->member - 1)) ? f->choice.in
                                                                                 : f->choice.out;
        if (f->bits != 0)
                return if_bits(p, f->choice.word, f->bits, f->choice.in, f->choice.out);
        return f->choice.list ? choose_row(p, &f->choice)
                              : GO_EPERM; /* a rule without a form admits nothing */
}

static uint32_t go_of_rule(struct program *p, uint8_t rule)
{
        if (p->rule_at[rule] == 0)
                p->rule_at[rule] = write_rule(p, &forms[rule]) + 1;
        return p->rule_at[rule] - 1;
}

static uint32_t go_of(struct program *p, const struct seccomp_row *row)
{
        if (!row)
                return GO_ENOSYS; /* of a newer kernel than the table: as on an older one */

        switch ((enum seccomp_verdict) row->verdict) {
        case SECCOMP_TELL:
                return GO_TELL;
        case SECCOMP_ABSENT:
                return GO_ENOSYS;
        case SECCOMP_ALLOW:
                if (seccomp_row_renames(row))
                        return GO_RENAME;
                if (p->ask->touch && seccomp_looks_up(row))
                        return touch_row(p, row);
                return seccomp_watched(row) ? GO_WATCH : GO_ALLOW;
        case SECCOMP_ALLOW_IF:
                return go_of_rule(p, row->rule);
        case SECCOMP_REFUSE:
        case SECCOMP_VERDICT__COUNT:
                break;
        }
        return GO_EPERM;
}

/* x32 calls carry this bit beside the number of x86_64. A number of -1 is not a call on any ABI: a tracer
 * that skips a call leaves it, and it is answered as the kernel would. */
#define X32_BIT 0x40000000u

static uint32_t write_numbers(struct program *p)
{
        struct range r[SECCOMP_NR_END + 4];
        size_t n = 0;
        for (long nr = 0; nr < SECCOMP_NR_END; nr++)
                n = add_range(p, r, n,
                              (struct range){ (uint32_t) nr, go_of(p, seccomp_row_get(p->ask->arch, nr)) });

        n = add_range(p, r, n, (struct range){ SECCOMP_NR_END, GO_ENOSYS });
        if (p->ask->arch == SECCOMP_X86_64) {
                n = add_range(p, r, n, (struct range){ X32_BIT, GO_KILL });
                n = add_range(p, r, n, (struct range){ UINT32_MAX, GO_ENOSYS });
        }

        return load_word(p, offsetof(struct seccomp_data, nr), ALL_BITS, search_range(p, r, n));
}

bool seccomp_lets_through(const struct seccomp_data *d)
{
        enum seccomp_arch arch = d->arch == AUDIT_ARCH_AARCH64 ? SECCOMP_AARCH64 : SECCOMP_X86_64;
        const struct seccomp_row *row = seccomp_row_get(arch, d->nr);
        if (!row || d->arch != (arch == SECCOMP_AARCH64 ? AUDIT_ARCH_AARCH64 : AUDIT_ARCH_X86_64))
                return false;

        if (row->verdict == SECCOMP_ALLOW)
                return seccomp_watched(row) || seccomp_looks_up(row);

        if (row->verdict != SECCOMP_ALLOW_IF)
                return false;

        if (row->rule == RULE_RENAME)
                return !(d->args[4] & WHITEOUT);

        if (row->rule == RULE_EXECVEAT)
                return true;

        if (row->rule == RULE_MMAP)
                return !(d->args[3] & MAP_HUGE);

        if (row->rule == RULE_MODE_ARG1)
                return !(d->args[1] & SETID_BITS);

        unsigned flags = row->rule == RULE_OPEN ? 1 : row->rule == RULE_OPENAT ? 2 : 0;
        return flags && !(d->args[flags] & MAKES_FILE && d->args[flags + 1] & SETID_BITS);
}

size_t seccomp_compile(const struct seccomp_ask *ask, struct sock_filter *ret, size_t cap)
{
        static const uint32_t audit[SECCOMP_ARCH__COUNT] = {
                [SECCOMP_X86_64] = AUDIT_ARCH_X86_64, [SECCOMP_AARCH64] = AUDIT_ARCH_AARCH64
        };

        if ((unsigned) ask->arch >= SECCOMP_ARCH__COUNT)
                return 0;

        if (cap > BPF_MAXINSNS)
                cap = BPF_MAXINSNS;

        struct program p = { .ask = ask, .end = ret + cap, .cap = (uint32_t) cap };
        uint32_t numbers = write_numbers(&p);
        load_word(&p, offsetof(struct seccomp_data, arch), ALL_BITS,
                  branch_on(&p, BPF_JEQ, audit[ask->arch], numbers, GO_KILL));
        if (p.full)
                return 0;

        memmove(ret, p.end - p.n, p.n * sizeof *ret);
        return p.n;
}
