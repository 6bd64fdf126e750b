/* SPDX-License-Identifier: MIT */
/* wall/linux/net/netlink.h - the few rtnetlink requests for a link between two namespaces. No heap. Each
 * returns 0 or -1 with errno set; they work on the namespace that `nl` was opened in. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

int netlink_open(void);
/* A pair of virtual links: `name` here, `peer` in the namespace behind `peer_ns`. */
int netlink_veth(int nl, const char *name, const char *peer, int peer_ns);
/* Its index, or -1. */
int netlink_index(const char *name);
int netlink_up(int nl, int index);

struct netlink_address {
        bool v6;
        uint8_t bytes[16];
        uint8_t bits;
};
int netlink_address(int nl, int index, const struct netlink_address *a);
/* Everything else goes there. */
int netlink_default(int nl, int index, const struct netlink_address *gateway);
/* Every address of the family that no link has is local: any connection to it reaches a listener here. In the
 * table `main`, so that the link's own subnet comes first. */
int netlink_all_local(int nl, bool v6);
