/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_sockets.c - every family, and every way to a socket of the host: by name, by address, by
 * inheritance.
 */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int open_family(struct probe_result *r)
{
        const long *c = r->probe->call;
        AUTO_FD(fd, socket((int) c[0], (int) c[1] | SOCK_CLOEXEC, (int) c[2]));
        return by_reply(r, fd, r->probe->what);
}

/* 1 is local; 2, 10 and 16 have probes of their own that know what is granted. */
static int all_families(struct probe_result *r)
{
        static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET };
        for (int family = 0; family <= 64; family++)
                for (size_t i = 0; i < sizeof types / sizeof *types && family != 1 && family != 2 &&
                                   family != 10 && family != AF_NETLINK;
                     i++) {
                        AUTO_FD(fd, socket(family, types[i] | SOCK_CLOEXEC, 0));
                        if (fd >= 0)
                                return escaped(r, "family %d, type %d gave a socket", family, types[i]);
                }

        return refused(r, "socket of every family but 1, 2, 10 and 16");
}

static int connect_inet(struct probe_result *r, int type, in_port_t port, const char *what)
{
        AUTO_FD(fd, socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (fd < 0)
                return refused(r, "socket(AF_INET)");

        struct sockaddr_in to = { .sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr = { htonl(INADDR_LOOPBACK) } };
        if (connect(fd, (struct sockaddr *) &to, sizeof to) < 0 && errno != EINPROGRESS)
                return refused(r, what);

        if (type == SOCK_DGRAM && send(fd, "probe", 5, 0) < 0)
                return refused(r, what);

        return held(r, "%s went out; the host tells whether it came", what);
}

static int tcp_loopback(struct probe_result *r)
{
        return connect_inet(r, SOCK_STREAM, (in_port_t) r->world->port, "connect to the host's loopback");
}
static int udp_loopback(struct probe_result *r)
{
        return connect_inet(r, SOCK_DGRAM, (in_port_t) r->world->udp, "a datagram to the host's loopback");
}

/* TCP Fast Open carries data on connect without connect(2). */
static int tcp_fast_open(struct probe_result *r)
{
        AUTO_FD(fd, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (fd < 0)
                return refused(r, "socket(AF_INET)");

        struct sockaddr_in to = { .sin_family = AF_INET,
                                  .sin_port = htons((in_port_t) r->world->port),
                                  .sin_addr = { htonl(INADDR_LOOPBACK) } };
        ssize_t n = sendto(fd, "probe", 5, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *) &to, sizeof to);
        if (n < 0 && errno != EINPROGRESS)
                return refused(r, "sendto(MSG_FASTOPEN)");

        return held(r, "sent; the host tells whether it came");
}

static int udp_metadata(struct probe_result *r)
{
        AUTO_FD(fd, socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        if (fd < 0)
                return refused(r, "socket(AF_INET)");

        struct sockaddr_in to = { .sin_family = AF_INET,
                                  .sin_port = htons(80),
                                  .sin_addr = { htonl(0xa9fea9fe) } };
        return by_reply(r, connect(fd, (struct sockaddr *) &to, sizeof to), "a route to 169.254.169.254");
}

static int see_interfaces(struct probe_result *r)
{
        AUTO_FD(fd, socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        if (fd < 0)
                return refused(r, "socket(AF_UNIX)");

        for (int i = 1; i < 64; i++) {
                struct ifreq q = { .ifr_ifindex = i };
                if (ioctl(fd, SIOCGIFNAME, &q) < 0 || strcmp(q.ifr_name, "lo") == 0)
                        continue;
                return escaped(r, "the interface %s is visible", q.ifr_name);
        }

        return held(r, "no interface but the box's own lo");
}

static int connect_local(struct probe_result *r, const struct sockaddr_un *to, socklen_t n, const char *what)
{
        static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
                AUTO_FD(fd, socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
                if (fd < 0)
                        return refused(r, "socket(AF_UNIX)");
                if (connect(fd, (const struct sockaddr *) to, n) == 0)
                        return escaped(r, "%s was connected to", what);
        }

        return refused(r, what);
}

static int by_path(struct probe_result *r, const char *path)
{
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        if (snprintf(to.sun_path, sizeof to.sun_path, "%s", path) >= (int) sizeof to.sun_path)
                return cannot_tell(r, "the path is too long for a socket");

        int o = connect_local(r, &to, sizeof to, path);
        if (o == PROBE_ESCAPED)
                (void) snprintf(r->effect, sizeof r->effect, "sock %s", path);

        return o;
}

static int abstract_canary(struct probe_result *r)
{
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        size_t n = strlen(r->world->abstract);
        if (n == 0)
                return cannot_tell(r, "the host made no abstract socket");

        memcpy(to.sun_path + 1, r->world->abstract, n);
        return connect_local(r, &to, (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + n),
                             "an abstract socket of the host");
}

static int path_canary(struct probe_result *r) { return by_path(r, canary(r, "socket")); }

/* A box that is given the place of the resident is handed the next run. */
static int resident_place(struct probe_result *r)
{
        char path[sizeof r->world->resident + 8];
        (void) snprintf(path, sizeof path, "%s.probe", r->world->resident);
        AUTO_FD(fd, open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (fd < 0)
                return by_path(r, r->world->resident);

        (void) unlink(path);
        return escaped(r, "a file was made beside %s", r->world->resident);
}

/* Keepers and approvals have abstract names, which this file lists where the box has no network of its own.
 */
static int own_services(struct probe_result *r)
{
        char line[512];
        FILE *f = fopen("/proc/net/unix", "re");
        int o = held(r, "no name of a keeper is visible");
        while (f && o == PROBE_HELD && fgets(line, sizeof line, f)) {
                struct sockaddr_un to = { .sun_family = AF_UNIX };
                const char *name = strstr(line, "@cordon");
                size_t n = name ? strcspn(name + 1, "\n") : 0;
                if (n == 0 || n >= sizeof to.sun_path)
                        continue;
                memcpy(to.sun_path + 1, name + 1, n);
                o = connect_local(r, &to, (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + n),
                                  "a keeper");
        }

        if (f)
                (void) fclose(f);
        return o;
}

/* The lists of a network are the box's own: the host's two listening sockets stand in none of them. */
static int host_listed(struct probe_result *r)
{
        static const char *const lists[] = { "/proc/net/unix", "/proc/self/net/unix", "/proc/net/tcp",
                                             "/proc/self/net/tcp" };
        char line[512], port[32];
        (void) snprintf(port, sizeof port, ":%04X 00000000:0000 0A", (unsigned) r->world->port);
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
                FILE *f = fopen(lists[i], "re");
                bool found = false;
                while (f && !found && fgets(line, sizeof line, f))
                        found = strstr(line, port) ||
                                (r->world->abstract[0] && strstr(line, r->world->abstract));
                if (f)
                        (void) fclose(f);
                if (found)
                        return escaped(r, "%s lists a socket of the host", lists[i]);
        }

        return held(r, "no list has a socket of the host");
}

static int by_paths(struct probe_result *r)
{
        for (const char *const *path = r->probe->paths; *path; path++)
                if (by_path(r, *path) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;

        return PROBE_HELD;
}

/* A datagram pair can be sent to any name, even if socket(AF_UNIX) itself is denied. */
static int pair_to_name(struct probe_result *r)
{
        int ends[2];
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        (void) snprintf(to.sun_path, sizeof to.sun_path, "%s", canary(r, "datagrams"));
        if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) < 0)
                return refused(r, "socketpair(SOCK_DGRAM)");

        ssize_t n = sendto(ends[0], "probe", 5, MSG_DONTWAIT, (struct sockaddr *) &to, sizeof to);
        int again = connect(ends[1], (struct sockaddr *) &to, sizeof to);
        if (n >= 0 || again == 0) {
                (void) snprintf(r->effect, sizeof r->effect, "sock %s", canary(r, "datagrams"));
                return escaped(r, "a datagram pair reached a socket of the host");
        }

        return refused(r, "sendto by a datagram pair");
}

static int inherited_socket(struct probe_result *r)
{
        if (r->world->leaked <= 0)
                return cannot_tell(r, "the caller left none open");

        int fd = (int) r->world->leaked + 2, type;
        socklen_t n = sizeof type;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0)
                return refused(r, "the caller's socket");

        return escaped(r, "a socket of the caller came along");
}

/* A socket on 0, 1 or 2 would be a way out that no network namespace shuts. */
static int stdio_is_pipe(struct probe_result *r)
{
        for (int fd = 0; fd < 3; fd++) {
                int type;
                socklen_t n = sizeof type;
                if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0)
                        return escaped(r, "descriptor %d is a socket", fd);
        }

        errno = ENOTSOCK;
        return refused(r, "standard streams as sockets");
}

static int scm_rights(struct probe_result *r)
{
        int type;
        socklen_t n = sizeof type;

        /* Descriptors could only be received by a socket: the only allowed ones are those of the box's own.
         */
        for (int fd = 0; fd < 1024; fd++)
                if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0)
                        return escaped(r, "descriptor %d could receive descriptors from outside", fd);

        return held(r, "no socket to receive descriptors by");
}

#define CLASS   PROBE_SOCKETS
#define SURFACE "rarely looked-at kernel code"
#define FAMILY(claim, means, by, family, type, protocol)                                                     \
        NUMBERS(claim, means, by, open_family, "socket(" #family ")", family, type, protocol)
static const struct probe rows[] = {
        ROW("no family but the granted", SURFACE, "seccomp", all_families),
        FAMILY("no vsock stream", "the machine's hypervisor answers", "seccomp", AF_VSOCK, SOCK_STREAM, 0),
        FAMILY("no vsock datagram", "the machine's hypervisor answers", "seccomp", AF_VSOCK, SOCK_DGRAM, 0),
        FAMILY("no generic netlink", SURFACE, "seccomp", AF_NETLINK, SOCK_RAW, 16),
        FAMILY("no list of sockets", "the sockets of others", "seccomp", AF_NETLINK, SOCK_RAW, 4),
        FAMILY("no netfilter", SURFACE, "seccomp", AF_NETLINK, SOCK_RAW, 12),
        FAMILY("no audit", "the host's audit log", "seccomp", AF_NETLINK, SOCK_RAW, 9),
        FAMILY("no device events", "the host's devices", "seccomp", AF_NETLINK, SOCK_RAW, 15),
        FAMILY("no raw packets", "the wire itself", "seccomp,nested-user,capabilities", AF_PACKET, SOCK_RAW,
               0x300),
        FAMILY("no cooked packets", "the wire itself", "seccomp,nested-user,capabilities", AF_PACKET,
               SOCK_DGRAM, 0x300),
        /* Obsolete, and turned into AF_PACKET by the kernel after the filter has looked. */
        NUMBERS("no packets by the old type", "the wire itself", "seccomp,nested-user,capabilities",
                open_family, "socket(AF_INET, SOCK_PACKET)", AF_INET, 10 /* SOCK_PACKET */, 0x300),
        FAMILY("no raw IPv4", "forged packets", "seccomp,nested-user,capabilities", AF_INET, SOCK_RAW,
               IPPROTO_ICMP),
        FAMILY("no raw IPv6", "forged packets", "seccomp,nested-user,capabilities", AF_INET6, SOCK_RAW,
               IPPROTO_ICMPV6),
        FAMILY("no ping socket", "ICMP as a channel", "seccomp", AF_INET, SOCK_DGRAM, IPPROTO_ICMP),
        FAMILY("no multipath TCP", "TCP around a filter on TCP", "seccomp", AF_INET, SOCK_STREAM, 262),
        FAMILY("no SCTP", SURFACE, "seccomp", AF_INET, SOCK_STREAM, 132),
        FAMILY("no kernel crypto", SURFACE, "seccomp", AF_ALG, SOCK_SEQPACKET, 0),
        FAMILY("no Bluetooth", "radio", "seccomp", AF_BLUETOOTH, SOCK_RAW, 1),
        FAMILY("no CAN bus", "machines", "seccomp", AF_CAN, SOCK_RAW, 1),
        FAMILY("no IPsec keys", SURFACE, "seccomp", AF_KEY, SOCK_RAW, 2),
        FAMILY("no TIPC", SURFACE, "seccomp", AF_TIPC, SOCK_STREAM, 0),
        FAMILY("no XDP", SURFACE, "seccomp", 44, SOCK_RAW, 0),
        FAMILY("no QRTR", SURFACE, "seccomp", 42, SOCK_DGRAM, 0),
        FAMILY("no SMC", SURFACE, "seccomp", 43, SOCK_STREAM, 0),
        ROW("the host's loopback is not reached by TCP", "services that trust localhost",
            "net,seccomp,landlock", tcp_loopback),
        ROW("the host's loopback is not reached by UDP", "services that trust localhost", "net,seccomp",
            udp_loopback),
        ROW("no data with the first packet", "TCP without connect", "net,seccomp,landlock", tcp_fast_open),
        ROW("no way to the metadata address", "credentials of the machine", "net,seccomp", udp_metadata),
        ROW("no interface of the host", "the host's networks", "net,seccomp", see_interfaces),
        ROW("no abstract socket of the host", "host programs that listen without a file",
            "net,landlock,seccomp", abstract_canary),
        ROW("no pathname socket of the host", "host programs that listen", "mount,seccomp", path_canary),
        ROW("nothing is made where cordon serve listens, and it does not answer",
            "the next run of the caller", "mount,landlock,seccomp", resident_place),
        ROW("no keeper of another box answers", "its output and its end", "net,landlock,seccomp",
            own_services),
        ROW("no socket of the host is listed", "who listens, and who is connected", "net,landlock,mount",
            host_listed),
        STRINGS("none of the usual sockets", "Docker, D-Bus, X11, systemd", "mount,seccomp", by_paths,
                "/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock",
                "/run/podman/podman.sock", "/run/crio/crio.sock", "/run/dbus/system_bus_socket",
                "/run/systemd/private", "/run/systemd/notify", "/run/systemd/journal/socket", "/dev/log",
                "/run/user/0/bus", "/run/user/1000/bus", "/run/user/1000/wayland-0", "/tmp/.X11-unix/X0",
                "/run/snapd.socket", "/run/lxd.socket", "/run/nscd/socket", "/run/pcscd/pcscd.comm",
                "/run/libvirt/libvirt-sock", "/run/user/1000/keyring/control"),
        ROW("a socket pair reaches no name", "host programs that listen", "mount,seccomp", pair_to_name),
        ROW("no socket of the caller came along", "any connection the caller had", "stdio", inherited_socket),
        ROW("standard streams are no sockets", "a way around the network namespace", "stdio", stdio_is_pipe),
        ROW("no descriptors can be received from outside", "files by SCM_RIGHTS", "stdio,net,mount",
            scm_rights),
};
const struct probe_list probes_sockets = PROBE_LIST(rows);
