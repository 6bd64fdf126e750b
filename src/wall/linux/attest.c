/* SPDX-License-Identifier: MIT */
/* wall/linux/attest.c - attestation: probes the box from inside, in the payload's own process, after the last
 * wall and before its first instruction. The result of every probe differs between "wall up" and "wall down";
 * one wrong result aborts the start.
 *
 * Uses only system calls that seccomp answers by itself: a reported or watched call (mkdir, execve) would
 * wait for init, which waits for this process. */
#include "base/fd.h"
#include "wall/internal.h"
#include "wall/linux/spare.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static bool ids_are_ours(const struct wall_init *w)
{
        uid_t want = wall_has(w->plan->wall, WALL_OWN_ROOT) ? w->plan->uid : w->s->host_uid;
        uid_t r, e, s;
        return getresuid(&r, &e, &s) == 0 && r == want && e == want && s == want;
}

static bool no_capability(const struct wall_init *w)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct d[2];
        if (syscall(SYS_capget, &head, d) < 0)
                return false;

        for (int i = 0; i < 2; i++)
                if (d[i].effective | d[i].permitted | d[i].inheritable)
                        return false;

        return !wall_has(w->plan->wall, WALL_OWN_ROOT) || prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 0;
}

static bool no_new_privs(const struct wall_init *w)
{
        (void) w;
        return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

/* The kernel itself fails both with EINVAL; only the filter returns ENOSYS. */
static bool seccomp_is_up(const struct wall_init *w)
{
        (void) w;
        return syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS &&
               syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno == ENOSYS;
}

/* If lookups are shown to init, it cannot answer yet: a call with our own magic number is not. */
static int own_stat(const struct wall_init *w, const char *path, struct stat *ret)
{
        return (int) syscall(SYS_newfstatat, AT_FDCWD, path, ret, 0, 0, w->own);
}

/* A file that anyone may read, on a mount that allows it: Landlock alone refuses. */
static bool landlock_is_up(const struct wall_init *w)
{
        if (w->plan->without & WITHOUT_LANDLOCK)
                return true;

        const char *canary = wall_has(w->plan->wall, WALL_OWN_ROOT) ? LANDLOCK_CANARY : "/proc/self/status";
        if (wall_left_out(LAYER_MOUNT)) /* tests only: paths mean the host's */
                canary = "/sys/kernel/uevent_seqnum";

        /* If reads are watched, init cannot answer yet: a call with our own magic number is not watched. */
        return syscall(SYS_openat, AT_FDCWD, canary, O_RDONLY | O_CLOEXEC, 0, 0, w->own) < 0 &&
               errno == EACCES;
}

/* Only the box's own processes and the covers of a few other names: see proc.c. */
static bool proc_is_narrow(const struct wall_init *w)
{
        static const char *const denied[] = { "/proc/sys", "/proc/kallsyms", "/proc/keys", "/proc/1" };
        struct stat st;
        for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
                if (own_stat(w, denied[i], &st) == 0 || errno != ENOENT)
                        return false;
        return true;
}

/* The filesystem that init created, read-only, without any file of the host. On a watched root each name is a
 * request to the observer, so only one is tried. It is the last, and shows the observer that the payload
 * comes next. */
static bool root_is_ours(const struct wall_init *w)
{
        if (!wall_has(w->plan->wall, WALL_OWN_ROOT))
                return true;
        struct stat root;
        return own_stat(w, "/", &root) == 0 && root.st_dev == w->root_dev &&
               (wall_left_out(LAYER_PID) || proc_is_narrow(w)) &&
               mknod(ATTEST_MISSING, S_IFREG | 0600, 0) < 0 && errno == EROFS;
}

/* The loopback, one link with the address we gave it, and nothing else. */
static bool link_is_ours(void)
{
        AUTO_FD(s, socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        struct ifreq link = { .ifr_name = BOX_LINK }, third = { .ifr_ifindex = 3 };
        char text[INET_ADDRSTRLEN];

        if (s < 0 || ioctl(s, SIOCGIFADDR, &link) < 0)
                return false;

        const struct sockaddr_in *at = (const struct sockaddr_in *) (const void *) &link.ifr_addr;
        return inet_ntop(AF_INET, &at->sin_addr, text, sizeof text) && strcmp(text, BOX_ADDRESS4) == 0 &&
               ioctl(s, SIOCGIFNAME, &third) < 0 && errno == ENODEV;
}

/* In the host's namespace we would see another number, and more than one interface. */
static bool only_loopback(const struct wall_init *w)
{
        AUTO_FD(s, socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        struct ifreq lo = { .ifr_name = "lo" };
        struct stat own;
        return s >= 0 && ioctl(s, SIOCGIFFLAGS, &lo) == 0 && lo.ifr_flags & IFF_UP &&
               own_stat(w, "/proc/self/ns/net", &own) == 0 && w->host_net != 0 && own.st_ino != w->host_net;
}

/* A fresh network namespace has its loopback down. */
static bool network_is_gone(const struct wall_init *w)
{
        if (!wall_has(w->plan->wall, WALL_OWN_ROOT))
                return true;

        if (w->plan->net)
                return link_is_ours();

        if (w->plan->local & LOCAL_LOOPBACK)
                return only_loopback(w);

        int ends[2]; /* a pair, because a box may be refused any other socket */
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return false;

        AUTO_FD(s, ends[0]);
        AUTO_FD(other, ends[1]);
        struct ifreq lo = { .ifr_name = "lo" };
        return s >= 0 && ioctl(s, SIOCGIFFLAGS, &lo) == 0 && !(lo.ifr_flags & IFF_UP);
}

/* One poll() asks about them all: a closed one answers POLLNVAL. */
static bool descriptors_are_granted(const struct wall_init *w)
{
        enum { LOOKED_AT = 256 };
        struct pollfd p[LOOKED_AT];
        unsigned lines = wall_is_warm(w->s->spare, w->plan) ? SPARE_WARM_LINES : 0;
        unsigned granted = 3 + w->s->io->handle_count + lines;
        uint64_t files = w->plan->limits.value[LIMIT_FILES];
        unsigned n = files < LOOKED_AT ? (unsigned) files : LOOKED_AT;

        for (unsigned i = 0; i < n; i++)
                p[i] = (struct pollfd){ .fd = (int) i };

        /* As many at a time as the caller's own limit of open files lets poll look at. */
        for (unsigned at = 0, step = n; at < n; at += step) {
                while (poll(p + at, step < n - at ? step : n - at, 0) < 0) {
                        if (errno != EINVAL || step < 2)
                                return false;
                        step /= 2;
                }
        }

        for (unsigned i = granted; i < n; i++)
                if (!(p[i].revents & POLLNVAL))
                        return false;

        return true;
}

static bool pid_namespace_is_new(const struct wall_init *w)
{
        return !wall_has(w->plan->wall, WALL_OWN_ROOT) || getppid() == 1;
}

static const struct {
        const char *name;
        enum wall_layer layer;
        bool (*holds)(const struct wall_init *);
} probes[] = {
        { "ids", LAYER_NESTED_USER, ids_are_ours },
        { "capabilities", LAYER_CAPS, no_capability },
        { "no_new_privs", LAYER_NO_NEW_PRIVS, no_new_privs },
        { "seccomp", LAYER_SECCOMP, seccomp_is_up },
        { "landlock", LAYER_LANDLOCK, landlock_is_up },
        { "mount", LAYER_MOUNT, root_is_ours },
        { "network", LAYER_NET, network_is_gone },
        { "descriptors", LAYER__COUNT, descriptors_are_granted },
        { "pid", LAYER_PID, pid_namespace_is_new },
};

int wall_attest(const struct wall_init *w, struct err *e)
{
        for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
                if (probes[i].layer < LAYER__COUNT && wall_excused(probes[i].layer))
                        continue;
                errno = 0;
                if (probes[i].holds(w))
                        continue;
                (void) err_set(e, ERR_ATTEST, errno, "probed from inside, the wall `%s` is not up",
                               probes[i].name);
                e->step = STAGE_ATTEST;
                return -1;
        }

        return 0;
}
