/* SPDX-License-Identifier: MIT */
/* wall/linux/seccomp/seccomp_tell.c - the supervisor's report of a denied call: its error, its text, its
 * hint. Never: follows a pointer argument, repeats bytes of the box, decides. */
#include "wall/linux/seccomp/seccomp.h"
#include "wall/wall.h"

#include <errno.h>
#include <linux/audit.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

struct word {
        uint32_t value;
        const char *name;
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct word families[] = {
        { 0, "AF_UNSPEC" },    { 1, "AF_UNIX" },       { 2, "AF_INET" },   { 4, "AF_IPX" },
        { 5, "AF_APPLETALK" }, { 10, "AF_INET6" },     { 15, "AF_KEY" },   { 16, "AF_NETLINK" },
        { 17, "AF_PACKET" },   { 21, "AF_RDS" },       { 24, "AF_PPPOX" }, { 29, "AF_CAN" },
        { 30, "AF_TIPC" },     { 31, "AF_BLUETOOTH" }, { 33, "AF_RXRPC" }, { 38, "AF_ALG" },
        { 39, "AF_NFC" },      { 40, "AF_VSOCK" },     { 41, "AF_KCM" },   { 42, "AF_QIPCRTR" },
        { 43, "AF_SMC" },      { 44, "AF_XDP" },       { 45, "AF_MCTP" },
};

static const struct word types[] = {
        { 1, "SOCK_STREAM" },    { 2, "SOCK_DGRAM" }, { 3, "SOCK_RAW" },     { 4, "SOCK_RDM" },
        { 5, "SOCK_SEQPACKET" }, { 6, "SOCK_DCCP" },  { 10, "SOCK_PACKET" },
};

static const struct word ioctls[] = {
        { 0x5412, "TIOCSTI" },     { 0x541c, "TIOCLINUX" },
        { 0x541d, "TIOCCONS" },    { 0x5423, "TIOCSETD" },
        { 0x5437, "TIOCVHANGUP" }, { 0xc0045877, "FIFREEZE" },
        { 0xc0045878, "FITHAW" },  { 0xc0506617, "FS_IOC_ADD_ENCRYPTION_KEY" },
};

static const struct word clone_flags[] = {
        { 0x00008000, "CLONE_PARENT" }, { 0x00020000, "CLONE_NEWNS" },  { 0x02000000, "CLONE_NEWCGROUP" },
        { 0x04000000, "CLONE_NEWUTS" }, { 0x08000000, "CLONE_NEWIPC" }, { 0x10000000, "CLONE_NEWUSER" },
        { 0x20000000, "CLONE_NEWPID" }, { 0x40000000, "CLONE_NEWNET" },
};

static const struct word unshare_flags[] = { { 0x00000080, "CLONE_NEWTIME" } };
static const struct word memfd_flags[] = { { 16, "MFD_EXEC" } };
static const struct word seccomp_flags[] = { { 8, "SECCOMP_FILTER_FLAG_NEW_LISTENER" } };

/* Text that grows up to a capacity and is then cut. */
struct text {
        char *p;
        size_t n, cap;
        bool has_flag; /* the next flag needs a bar before it */
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *fmt, ...)
{
        if (t->cap == 0 || t->n >= t->cap - 1)
                return;

        va_list ap;
        va_start(ap, fmt);
        int n = vsnprintf(t->p + t->n, t->cap - t->n, fmt, ap);
        va_end(ap);
        if (n > 0)
                t->n = (size_t) n < t->cap - t->n ? t->n + (size_t) n : t->cap - 1;
}

static void say_value(struct text *t, const struct word *words, size_t count, uint32_t value)
{
        for (size_t i = 0; i < count; i++) {
                if (words[i].value == value) {
                        say(t, "%s", words[i].name);
                        return;
                }
        }

        say(t, value > 255 ? "0x%x" : "%u", value);
}

static void say_flags(struct text *t, const struct word *words, size_t count, uint32_t value)
{
        for (size_t i = 0; i < count; i++) {
                if ((value & words[i].value) == 0)
                        continue;
                say(t, "%s%s", t->has_flag ? "|" : "", words[i].name);
                t->has_flag = true;
        }
}

static uint32_t low(const struct seccomp_data *d, unsigned arg) { return (uint32_t) d->args[arg]; }

static void say_socket(struct text *t, const struct seccomp_data *d)
{
        say_value(t, families, COUNT(families), low(d, 0));
        say(t, ", ");
        say_value(t, types, COUNT(types), low(d, 1) & ~(uint32_t) (SOCK_CLOEXEC | SOCK_NONBLOCK));
}

static void say_ioctl(struct text *t, const struct seccomp_data *d)
{
        say_value(t, ioctls, COUNT(ioctls), low(d, 1));
}

static void say_clone(struct text *t, const struct seccomp_data *d)
{
        say_flags(t, clone_flags, COUNT(clone_flags), low(d, 0));
}

static void say_unshare(struct text *t, const struct seccomp_data *d)
{
        say_flags(t, clone_flags + 1, COUNT(clone_flags) - 1, low(d, 0));
        say_flags(t, unshare_flags, COUNT(unshare_flags), low(d, 0));
}

static void say_seccomp(struct text *t, const struct seccomp_data *d)
{
        say_flags(t, seccomp_flags, COUNT(seccomp_flags), low(d, 1));
}

static void say_memfd(struct text *t, const struct seccomp_data *d)
{
        say_flags(t, memfd_flags, COUNT(memfd_flags), low(d, 1));
}

/* The mode as the kernel takes it: 16 bits, type and permissions. */
static void say_mode1(struct text *t, const struct seccomp_data *d) { say(t, "0%o", low(d, 1) & 0xffff); }
static void say_mode2(struct text *t, const struct seccomp_data *d) { say(t, "0%o", low(d, 2) & 0xffff); }
static void say_mode3(struct text *t, const struct seccomp_data *d) { say(t, "0%o", low(d, 3) & 0xffff); }

/* Calls whose arguments are worth a report. All others are reported by name alone. */
static const struct {
        const char *name;
        void (*say)(struct text *t, const struct seccomp_data *d);
} details[] = {
        { "socket", say_socket },      { "socketpair", say_socket }, { "ioctl", say_ioctl },
        { "clone", say_clone },        { "unshare", say_unshare },   { "seccomp", say_seccomp },
        { "chmod", say_mode1 },        { "fchmod", say_mode1 },      { "creat", say_mode1 },
        { "mknod", say_mode1 },        { "open", say_mode2 },        { "fchmodat", say_mode2 },
        { "fchmodat2", say_mode2 },    { "mknodat", say_mode2 },     { "openat", say_mode3 },
        { "memfd_create", say_memfd },
};

static const struct seccomp_row *row_of(const struct seccomp_data *d)
{
        if (d->arch == AUDIT_ARCH_X86_64)
                return seccomp_row_get(SECCOMP_X86_64, d->nr);
        if (d->arch == AUDIT_ARCH_AARCH64)
                return seccomp_row_get(SECCOMP_AARCH64, d->nr);
        return NULL;
}

static enum seccomp_rule rule_of(const struct seccomp_data *d)
{
        const struct seccomp_row *row = row_of(d);
        return row ? (enum seccomp_rule) row->rule : RULE_NONE;
}

static bool is_named(const struct seccomp_data *d, const char *name)
{
        const struct seccomp_row *row = row_of(d);
        return row && strcmp(seccomp_row_name(row), name) == 0;
}

static bool makes_socket(const struct seccomp_data *d) { return rule_of(d) == RULE_SOCKET; }
static bool makes_memfd(const struct seccomp_data *d) { return rule_of(d) == RULE_MEMFD; }

enum seccomp_renames seccomp_renames(const struct seccomp_data *d)
{
        const struct seccomp_row *row = row_of(d);
        return row ? seccomp_row_renames(row) : RENAMES_NOT;
}

/* The filter has looked at type and protocol of a notified socket(). */
enum seccomp_link seccomp_link(const struct seccomp_data *d)
{
        enum seccomp_rule rule = rule_of(d);
        return rule == RULE_SOCKET && low(d, 0) == AF_NETLINK ? LINK_MAKES
               : rule == RULE_BIND                            ? LINK_BINDS
               : rule == RULE_SOCKNAME                        ? LINK_NAMES
               : rule == RULE_SENDTO                          ? LINK_SENDS
                                                              : LINK_NOT;
}

enum seccomp_signals seccomp_signals(const struct seccomp_data *d)
{
        enum seccomp_rule rule = rule_of(d);
        return rule == RULE_KILL     ? SIGNALS_PROCESS
               : rule == RULE_TKILL  ? SIGNALS_THREAD
               : rule == RULE_TGKILL ? SIGNALS_THREAD_OF
                                     : SIGNALS_NOT;
}

bool seccomp_served(const struct seccomp_data *d)
{
        return rule_of(d) == RULE_CONNECT || rule_of(d) == RULE_LISTEN;
}

unsigned seccomp_maps(const struct seccomp_data *d) { return rule_of(d) == RULE_MMAP ? 4 : 0; }

unsigned seccomp_opens(const struct seccomp_data *d)
{
        return rule_of(d) == RULE_OPEN ? 1 : rule_of(d) == RULE_OPENAT ? 2 : 0;
}

unsigned seccomp_sets_gid(const struct seccomp_data *d)
{
        enum { SETUID = 04000, SETGID = 02000 };
        unsigned mode = rule_of(d) == RULE_CHMOD_ARG1 ? 1 : rule_of(d) == RULE_CHMOD_ARG2 ? 2 : 0;
        return mode && (low(d, mode) & (SETUID | SETGID)) == SETGID ? mode : 0;
}

bool seccomp_on_behalf(const struct seccomp_data *d)
{
        return rule_of(d) == RULE_WATCH || seccomp_sets_gid(d);
}

int seccomp_errno(const struct seccomp_data *d)
{
        return makes_socket(d) ? EAFNOSUPPORT : makes_memfd(d) ? EACCES : EPERM;
}

char *seccomp_describe(const struct seccomp_data *d, char *buf, size_t cap)
{
        struct text t = { .p = buf, .cap = cap };
        const struct seccomp_row *row = row_of(d);
        if (cap > 0)
                buf[0] = '\0';

        if (!row) {
                say(&t, "system call %d", d->nr);
                return buf;
        }

        say(&t, "%s(", seccomp_row_name(row));
        for (size_t i = 0; i < COUNT(details); i++)
                if (strcmp(details[i].name, seccomp_row_name(row)) == 0)
                        details[i].say(&t, d);

        say(&t, ")");
        return buf;
}

const char *seccomp_permit(const struct seccomp_data *d)
{
        uint32_t type = low(d, 1) & ~(uint32_t) (SOCK_CLOEXEC | SOCK_NONBLOCK);
        bool internet = low(d, 0) == AF_INET || low(d, 0) == AF_INET6;
        if (rule_of(d) == RULE_TRACE)
                return "local trace";

        if (makes_memfd(d))
                return "run any";

        if (makes_socket(d) && low(d, 0) == AF_UNIX)
                return "local unix";

        return makes_socket(d) && internet && (type == SOCK_STREAM || type == SOCK_DGRAM) ? "net HOST:PORT"
                                                                                          : NULL;
}

bool wall_denial_connects(const struct wall_denial *d)
{
        return d->kind == EFFECT_CALL && rule_of(&d->call) == RULE_CONNECT;
}

static bool makes_user_namespace(const struct seccomp_data *d)
{
        return (is_named(d, "clone") || is_named(d, "unshare")) && low(d, 0) & CLONE_NEWUSER;
}

enum effect_reason wall_denial_reason(const struct wall_denial *d)
{
        uint32_t family = low(&d->call, 0);
        if (wall_denial_connects(d) && d->path[0])
                return REASON_NO_DOOR;

        if (wall_denial_connects(d) || (makes_socket(&d->call) && (family == AF_INET || family == AF_INET6)))
                return REASON_SOCKET;

        if (makes_memfd(&d->call))
                return REASON_NOT_RUN;

        if (is_named(&d->call, "perf_event_open"))
                return REASON_COUNTERS;

        if (makes_user_namespace(&d->call))
                return REASON_NAMESPACE;

        return seccomp_permit(&d->call) ? REASON_LOCAL : REASON_CALL;
}

const char *wall_denial_call(const struct wall_denial *d)
{
        const struct seccomp_row *row = row_of(&d->call);
        return row ? seccomp_row_name(row) : NULL;
}

const char *wall_denial_words(const struct wall_denial *d, char *what, size_t cap)
{
        if (wall_denial_connects(d)) {
                struct text t = { .p = what, .cap = cap };
                say(&t, d->path[0] ? "connect to %s" : "look up a host name", d->path);
                return "net HOST:PORT";
        }

        (void) seccomp_describe(&d->call, what, cap);
        return seccomp_permit(&d->call);
}
