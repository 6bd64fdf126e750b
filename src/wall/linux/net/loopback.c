/* SPDX-License-Identifier: MIT */
/* wall/linux/net/loopback.c - raises the loopback interface of a box's own network namespace. Called by the
 * process that created the namespace, which owns it. */
#include "base/fd.h"
#include "wall/internal.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* The ports below 1024 are the box's own, like all of its namespace, and the payload has no capability for
 * them. Buffers of TCP are bounded for each socket: their memory is one pool of the whole host. If /proc/sys
 * cannot be written, the ports stay closed and the bounds the host's. */
void wall_net_settings(const struct wall_init *w)
{
        static const char *const rows[][2] = {
                { "sys/net/ipv4/ip_unprivileged_port_start", "0" },
                { "sys/net/ipv4/tcp_rmem", "4096 131072 524288" },
                { "sys/net/ipv4/tcp_wmem", "4096 16384 524288" },
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                (void) fd_put(w->host_proc, rows[i][0], rows[i][1]);
}

/* IPv6 follows by itself, unless this host has it switched off for new interfaces. */
int wall_net_loopback(const struct wall_init *w, struct err *e)
{
        if (!(w->plan->local & LOCAL_LOOPBACK))
                return 0;

        wall_net_settings(w);
        AUTO_FD(s, socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
        return s < 0 || ioctl(s, SIOCSIFFLAGS, &lo) < 0
                       ? wall_fail(e, STAGE_NET, "raising the box's loopback")
                       : 0;
}
