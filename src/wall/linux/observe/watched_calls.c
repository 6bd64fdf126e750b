/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/watched_calls.c - reads the path that a call of the payload names. Never: decides,
 * allocates, trusts the bytes read. */
#include "wall/linux/observe/watched_calls.h"

#include "base/fd.h"
#include "base/hash.h"
#include "base/str.h"
#include "wall/linux/root/link_walk.h"
#include "wall/linux/seccomp/seccomp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { ASLEEP_TRIES = 100, ASLEEP_US = 200 };

enum how {
        READS = 0,
        WRITES,  /* a name, also of a symlink */
        CHANGES, /* the target of a symlink */
        MAKES,   /* a name, if nothing has it yet */
        RUNS,
        CONNECTS, /* the path is in a struct sockaddr_un, whose length is the next argument */
        BY_FLAGS  /* of open: the argument after the path */
};

/* Calls that name a path: which argument, and which is the directory it is relative to (-1: the working one).
 * `second` is the path that rename and link take besides. */
static const struct path_call {
        const char *name;
        int8_t path, dir, second, second_dir;
        enum how how;
} calls[] = {
        { "open", 0, -1, -1, -1, BY_FLAGS },
        { "openat", 1, 0, -1, -1, BY_FLAGS },
        { "creat", 0, -1, -1, -1, CHANGES },
        { "execve", 0, -1, -1, -1, RUNS },
        { "execveat", 1, 0, -1, -1, RUNS },
        { "connect", 1, -1, -1, -1, CONNECTS },
        { "sendto", 4, -1, -1, -1, CONNECTS },
        { "stat", 0, -1, -1, -1, READS },
        { "lstat", 0, -1, -1, -1, READS },
        { "newfstatat", 1, 0, -1, -1, READS },
        { "statx", 1, 0, -1, -1, READS },
        { "access", 0, -1, -1, -1, READS },
        { "faccessat", 1, 0, -1, -1, READS },
        { "faccessat2", 1, 0, -1, -1, READS },
        { "readlink", 0, -1, -1, -1, READS },
        { "readlinkat", 1, 0, -1, -1, READS },
        { "statfs", 0, -1, -1, -1, READS },
        { "chdir", 0, -1, -1, -1, READS },
        { "getxattr", 0, -1, -1, -1, READS },
        { "lgetxattr", 0, -1, -1, -1, READS },
        { "listxattr", 0, -1, -1, -1, READS },
        { "llistxattr", 0, -1, -1, -1, READS },
        { "inotify_add_watch", 1, -1, -1, -1, READS },
        { "mkdir", 0, -1, -1, -1, MAKES },
        { "mkdirat", 1, 0, -1, -1, MAKES },
        { "rmdir", 0, -1, -1, -1, WRITES },
        { "unlink", 0, -1, -1, -1, WRITES },
        { "unlinkat", 1, 0, -1, -1, WRITES },
        { "rename", 0, -1, 1, -1, WRITES },
        { "renameat", 1, 0, 3, 2, WRITES },
        { "renameat2", 1, 0, 3, 2, WRITES },
        { "link", 1, -1, 0, -1, MAKES },
        { "linkat", 3, 2, 1, 0, MAKES },
        { "symlink", 1, -1, -1, -1, MAKES },
        { "symlinkat", 2, 1, -1, -1, MAKES },
        { "truncate", 0, -1, -1, -1, CHANGES },
        { "chmod", 0, -1, -1, -1, CHANGES },
        { "fchmodat", 1, 0, -1, -1, WRITES },
        { "chown", 0, -1, -1, -1, WRITES },
        { "lchown", 0, -1, -1, -1, WRITES },
        { "fchownat", 1, 0, -1, -1, WRITES },
        { "utimensat", 1, 0, -1, -1, WRITES },
        { "mknod", 0, -1, -1, -1, MAKES },
        { "mknodat", 1, 0, -1, -1, MAKES },
        { "setxattr", 0, -1, -1, -1, CHANGES },
};

static const struct path_call *find_call(const struct seccomp_data *d)
{
        enum seccomp_arch arch = d->arch == AUDIT_ARCH_AARCH64 ? SECCOMP_AARCH64 : SECCOMP_X86_64;
        const struct seccomp_row *row = seccomp_row_get(arch, d->nr);
        for (size_t i = 0; row && i < sizeof calls / sizeof *calls; i++)
                if (strcmp(calls[i].name, seccomp_row_name(row)) == 0)
                        return &calls[i];
        return NULL;
}

enum effect_kind watched_kind(const struct seccomp_data *d)
{
        const struct path_call *c = find_call(d);
        if (!c)
                return EFFECT_CALL;

        if (c->how == BY_FLAGS) {
                uint64_t flags = d->args[c->path + 1];
                bool looks = flags & O_PATH; /* whatever is set beside it; some libcs have it in O_ACCMODE */
                bool writes = flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC);
                return writes && !looks ? EFFECT_WRITE : EFFECT_READ;
        }

        static const enum effect_kind kinds[] = {
                [READS] = EFFECT_READ,  [WRITES] = EFFECT_WRITE, [CHANGES] = EFFECT_WRITE,
                [MAKES] = EFFECT_WRITE, [RUNS] = EFFECT_RUN,     [CONNECTS] = EFFECT_SOCK
        };

        return kinds[c->how];
}

static bool makes_name(const struct path_call *c, const struct seccomp_data *d)
{
        const uint64_t only_new = O_CREAT | O_EXCL;
        return c->how == MAKES || (c->how == BY_FLAGS && (d->args[c->path + 1] & only_new) == only_new);
}

bool watched_makes(const struct seccomp_data *d)
{
        const struct path_call *c = find_call(d);
        return c && makes_name(c, d);
}

bool wall_denial_makes(const struct wall_denial *d) { return watched_makes(&d->call); }

/* Page by page, because the page after the text may not be mapped. Returns false if it is not a whole string.
 */
bool watched_text(uint32_t task, uint64_t at, char *ret, size_t cap)
{
        size_t n = 0;
        while (n < cap) {
                size_t left = 4096 - (at + n) % 4096;
                struct iovec to = { ret + n, left < cap - n ? left : cap - n };
                struct iovec from = { (void *) (uintptr_t) (at + n), to.iov_len };
                ssize_t k = process_vm_readv((pid_t) task, &to, 1, &from, 1, 0);
                if (k <= 0)
                        return false;
                if (memchr(ret + n, '\0', (size_t) k))
                        return true;
                n += (size_t) k;
        }

        return false;
}

/* The directory that a relative path of that task starts from. */
static bool read_start(int proc, uint32_t task, int32_t dirfd, char *ret, size_t cap)
{
        char name[48];
        if (dirfd == AT_FDCWD)
                (void) snprintf(name, sizeof name, "%u/cwd", task);
        else
                (void) snprintf(name, sizeof name, "%u/fd/%d", task, dirfd);

        ssize_t n = readlinkat(proc, name, ret, cap - 1);
        if (n <= 0 || ret[0] != '/')
                return false;

        ret[n] = '\0';
        return true;
}

/* The path in a struct sockaddr_un, which need not end in NUL there; abstract ones and other families have
 * none. */
static bool read_address(uint32_t task, uint64_t at, uint64_t len, char *ret, size_t cap)
{
        struct sockaddr_un a = { .sun_family = AF_UNSPEC };
        struct iovec to = { &a, len < sizeof a ? (size_t) len : sizeof a };
        struct iovec from = { (void *) (uintptr_t) at, to.iov_len };
        size_t head = offsetof(struct sockaddr_un, sun_path);

        if (process_vm_readv((pid_t) task, &to, 1, &from, 1, 0) != (ssize_t) to.iov_len ||
            a.sun_family != AF_UNIX || to.iov_len <= head)
                return false;

        (void) snprintf(ret, cap, "%.*s", (int) (to.iov_len - head), a.sun_path);
        return true;
}

static bool is_connect(const struct seccomp_data *d)
{
        const struct path_call *c = find_call(d);
        return c && strcmp(c->name, "connect") == 0;
}

/* Addresses that reach no other box and no host: the loopback, and the unspecified address. */
static bool is_own_address(const struct sockaddr_in6 *a)
{
        const struct in6_addr *six = &a->sin6_addr;
        bool mapped = IN6_IS_ADDR_V4MAPPED(six);
        return IN6_IS_ADDR_LOOPBACK(six) || IN6_IS_ADDR_UNSPECIFIED(six) ||
               (mapped && (six->s6_addr[12] == 127 || six->s6_addr[12] == 0));
}

union internet {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
};

/* The address of a connect() of AF_INET or AF_INET6. One of another length than theirs is not shown, as where
 * the filter sees the length alone. */
static bool read_internet(uint32_t task, const struct seccomp_data *d, union internet *ret)
{
        bool fits = d->args[2] == sizeof ret->v4 || d->args[2] == sizeof ret->v6;
        struct iovec to = { ret, (size_t) d->args[2] };
        struct iovec from = { (void *) (uintptr_t) d->args[1], to.iov_len };
        return fits && is_connect(d) &&
               process_vm_readv((pid_t) task, &to, 1, &from, 1, 0) == (ssize_t) to.iov_len &&
               (ret->any.sa_family == AF_INET || ret->any.sa_family == AF_INET6);
}

static bool is_own(const union internet *a)
{
        uint32_t host = ntohl(a->v4.sin_addr.s_addr);
        return a->any.sa_family == AF_INET ? host >> 24 == 127 || host == 0 : is_own_address(&a->v6);
}

static unsigned port_of(const union internet *a)
{
        return ntohs(a->any.sa_family == AF_INET ? a->v4.sin_port : a->v6.sin6_port);
}

static void put_address(const union internet *a, char *ret, size_t cap)
{
        char text[INET6_ADDRSTRLEN] = "";
        bool four = a->any.sa_family == AF_INET;
        (void) inet_ntop(a->any.sa_family,
                         four ? (const void *) &a->v4.sin_addr : (const void *) &a->v6.sin6_addr, text,
                         sizeof text);
        (void) snprintf(ret, cap, four ? "%s:%u" : "[%s]:%u", text, port_of(a));
}

bool watched_connect(uint32_t task, const struct seccomp_data *d, char *ret, size_t cap)
{
        enum { NAMES_PORT = 53 };
        union internet a = { 0 };
        if (!read_internet(task, d, &a))
                return false;

        ret[0] = '\0';
        if (is_own(&a))
                return port_of(&a) == NAMES_PORT;

        put_address(&a, ret, cap);
        return true;
}

unsigned watched_own_loopback(uint32_t task, const struct seccomp_data *d, char *ret, size_t cap)
{
        union internet a = { 0 };
        if (!read_internet(task, d, &a) || !is_own(&a))
                return 0;
        put_address(&a, ret, cap);
        return port_of(&a);
}

struct path_at { /* which argument, and which is the directory; see `calls` */
        int path, dir;
        enum how how;
};

enum { RAW = WATCHED_RAW };

/* The text as it is, after its starting directory. */
static bool read_raw(int proc, uint32_t task, const struct seccomp_data *d, struct path_at at, char ret[RAW])
{
        char text[4096], start[4096] = "";
        if (at.path < 0)
                return false;

        bool read = at.how == CONNECTS
                            ? read_address(task, d->args[at.path], d->args[at.path + 1], text, sizeof text)
                            : watched_text(task, d->args[at.path], text, sizeof text);
        int32_t dirfd = at.dir < 0 ? AT_FDCWD : (int32_t) d->args[at.dir];
        bool by_fd = at.how == RUNS && dirfd >= 0; /* without a path: the descriptor itself is run */
        if (!read || (text[0] == '\0' && !by_fd))
                return false;

        if (text[0] != '/' && !read_start(proc, task, dirfd, start, sizeof start))
                return false;

        return snprintf(ret, RAW, "%s/%s", start, text) < RAW;
}

/* As text: symlinks are not resolved. */
static bool clean_path(const char *raw, char ret[WALL_PATH])
{
        char whole[RAW];
        if (!path_join("", raw, whole, sizeof whole))
                return false;

        size_t n = strlen(whole);
        memcpy(ret, whole, n < WALL_PATH ? n + 1 : WALL_PATH);
        if (n >= WALL_PATH)
                memcpy(ret + WALL_PATH - 4, "...", 4);

        return true;
}

static bool read_path(int proc, uint32_t task, const struct seccomp_data *d, struct path_at at,
                      char ret[WALL_PATH])
{
        char raw[RAW];
        return read_raw(proc, task, d, at, raw) && clean_path(raw, ret);
}

static struct path_at first_of(const struct path_call *c)
{
        return (struct path_at){ c->path, c->dir, c->how };
}

bool watched_path(int proc, uint32_t task, const struct seccomp_data *d, char ret[WATCHED_RAW])
{
        const struct path_call *c = find_call(d);
        return c && read_raw(proc, task, d, first_of(c), ret);
}

void watched_program(int proc, uint32_t task, char *ret, size_t cap)
{
        char name[32];
        (void) snprintf(name, sizeof name, "%u/comm", task);
        if (proc < 0 || fd_get(proc, name, ret, cap) < 0)
                ret[0] = '\0';
}

bool watched_names_path(uint32_t task, const struct seccomp_data *d)
{
        const struct path_call *c = find_call(d);
        char first;
        return c && d->args[c->path] && !watched_text(task, d->args[c->path], &first, 1);
}

/* Does the call act on the target of the last symlink? */
static bool follows_links(const struct path_call *c, const struct seccomp_data *d)
{
        return c->how == RUNS || c->how == CHANGES ||
               (c->how == BY_FLAGS && !(d->args[c->path + 1] & O_NOFOLLOW) && !makes_name(c, d));
}

/* A program is reported by the name by which it was called, unless that name means nothing to others. */
static bool keeps_name(const struct wall_denial *d, const char *raw)
{
        return d->kind == EFFECT_READ ||
               (d->kind == EFFECT_RUN && !leads_up(raw) && !leads_by_kernel(d->path));
}

/* A symlink that the box created leads from a place of its own to one outside: reported by its own name, the
 * denial would be of a file that exists only in the box. */
static enum watched_what name_by_end(uint32_t task, const struct path_call *c, struct wall_denial *d,
                                     const char *raw)
{
        char real[WALL_PATH];
        bool follow = follows_links(c, &d->call);
        if (keeps_name(d, raw) || leads_straight(raw, follow))
                return SAW_PATH;

        enum leads end = leads_to(task, raw, follow, real, sizeof real);
        if (end == LEADS_THERE)
                memcpy(d->path, real, sizeof real);

        return end == LEADS_THERE ? SAW_PATH : end == LEADS_NOWHERE ? SAW_OWN : SAW_NOTHING;
}

enum watched_what watched_call(int proc, uint32_t task, const struct seccomp_data *d, bool in_box,
                               struct wall_denial *ret)
{
        char raw[RAW];
        const struct path_call *c = find_call(d);
        if (!c || !read_raw(proc, task, d, first_of(c), raw) || !clean_path(raw, ret->path))
                return SAW_NOTHING;

        ret->kind = watched_kind(d);
        ret->call = *d;
        return in_box ? name_by_end(task, c, ret, raw) : SAW_PATH;
}

/* A task that asked and has not yet gone to sleep over it is still "running": on a busy machine that can take
 * a while, and without its call the path would be a guess. It waits for us, so this ends. */
static bool get_stopped(int proc, const char *name, char *text, size_t cap)
{
        for (unsigned i = 0; i < ASLEEP_TRIES; i++) {
                if (fd_get(proc, name, text, cap) <= 0)
                        return false;
                if (text[0] != 'r')
                        return true;
                (void) usleep(ASLEEP_US);
        }

        return false;
}

/* "NR 0xARG ... 0xSP 0xPC", or "running". */
static bool read_call(int proc, uint32_t task, struct seccomp_data *ret)
{
        char name[32], text[256];
        (void) snprintf(name, sizeof name, "%u/syscall", task);
        if (proc < 0 || !get_stopped(proc, name, text, sizeof text) || text[0] < '0' || text[0] > '9')
                return false;

        char *at = text;
        *ret = (struct seccomp_data){ .arch = seccomp_native() == SECCOMP_AARCH64 ? AUDIT_ARCH_AARCH64
                                                                                  : AUDIT_ARCH_X86_64 };
        ret->nr = (int) strtol(at, &at, 10);
        for (int i = 0; i < 6; i++)
                ret->args[i] = strtoull(at, &at, 16);

        return true;
}

void watched_missing(int proc, uint32_t task, const char *missing, bool anywhere, struct wall_denial *ret)
{
        struct seccomp_data d;
        *ret = (struct wall_denial){ .kind = EFFECT_READ };
        watched_program(proc, task, ret->program, sizeof ret->program);
        const struct path_call *c = read_call(proc, task, &d) ? find_call(&d) : NULL;
        if (c) {
                ret->kind = watched_kind(&d);
                if (read_path(proc, task, &d, first_of(c), ret->path) &&
                    (anywhere || path_under(ret->path, missing)))
                        return;
                if (read_path(proc, task, &d, (struct path_at){ c->second, c->second_dir, c->how },
                              ret->path) &&
                    (anywhere || path_under(ret->path, missing)))
                        return;
        }

        if (ret->kind == EFFECT_SOCK)
                ret->kind =
                        EFFECT_READ; /* the missing name leads to the socket, and is not a socket itself */

        (void) snprintf(ret->path, sizeof ret->path, "%s", missing);
}

static uint64_t keyed_hash(struct watched_told *t, const struct wall_denial *d)
{
        uint8_t digest[32];
        uint64_t h;
        struct sha256 s;

        while (t->key[0] == 0 && getrandom(t->key, sizeof t->key, 0) != sizeof t->key)
                ;

        sha256_init(&s);
        sha256_add(&s, t->key, sizeof t->key);
        sha256_add(&s, &d->kind, sizeof d->kind);
        /* Python tries to write a file for each of thousands of modules: one is told. */
        if (effect_compiled(&(struct effect){ .kind = (enum effect_kind) d->kind, .target = d->path }) == 0)
                sha256_add(&s, d->path, strlen(d->path));
        sha256_end(&s, digest);
        memcpy(&h, digest, sizeof h);
        return h ? h : 1; /* 0 is a free place */
}

void watched_forget(struct watched_told *t)
{
        if (t->denied || t->seen || t->secrets)
                memset(t->of, 0, sizeof t->of);
        t->denied = t->seen = t->secrets = 0;
}

uint32_t watched_session(uint32_t task)
{
        pid_t leader = getsid((pid_t) task);
        return leader > 0 ? (uint32_t) leader : 0;
}

/* The room that is left for it; NULL: none. */
static unsigned *room_for(struct watched_told *t, const struct wall_message *m)
{
        unsigned *room = m->word == WALL_SAYS_SAW ? &t->seen : &t->denied;
        if (*room < SAW_MAX)
                return room;
        return wall_names_secret(m) && t->secrets < SECRETS_MAX ? &t->secrets : NULL;
}

enum wall_report watched_news(struct watched_told *t, const struct wall_message *m)
{
        uint64_t h = keyed_hash(t, &m->denial), at = h % TOLD_PLACES;
        for (; t->of[at]; at = (at + 1) % TOLD_PLACES)
                if (t->of[at] == h)
                        return REPORT_KNOWN;

        unsigned *room = room_for(t, m);
        if (!room)
                return REPORT_LOST;

        t->of[at] = h;
        ++*room;
        return REPORT_NEW;
}

bool watched_is_waiting(int listener, uint64_t id)
{
        return syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void watched_answer(int listener, uint64_t id, int error, uint32_t flags)
{
        struct seccomp_notif_resp r = { .id = id, .error = -error, .flags = flags };
        (void) syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

#ifndef SECCOMP_IOCTL_NOTIF_ADDFD
#define SECCOMP_IOCTL_NOTIF_ADDFD SECCOMP_IOW(3, struct seccomp_notif_addfd)
#endif
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND 2
#endif

int watched_give(int listener, uint64_t id, int fd, bool cloexec)
{
        struct seccomp_notif_addfd add = { .id = id,
                                           .flags = SECCOMP_ADDFD_FLAG_SEND,
                                           .srcfd = (uint32_t) fd,
                                           .newfd_flags = cloexec ? O_CLOEXEC : 0 };
        return syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0 ? -1 : 0;
}

/* The task that waits and init take turns: each is woken on the processor of the other, which saves both the
 * way to an idle one. Linux 6.6; before that it is merely slower. */
void watched_take_turns(int listener)
{
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
        const unsigned long sync_wake_up = 1;
        if (listener >= 0)
                (void) syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, sync_wake_up);
}
