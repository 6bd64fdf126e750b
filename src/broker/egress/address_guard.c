/* SPDX-License-Identifier: MIT */
/* broker/egress/address_guard.c - classifies addresses. The owner of a name can let it resolve to any
 * address; these are the addresses that no name may resolve to unless the policy itself names the address.
 * Pure. */
#include "broker/egress/egress.h"

#include <arpa/inet.h>
#include <string.h>

/* Whom it reaches, for the ledger: the host itself, its own network, or a named host. An address that is not
 * known to be nearer counts as the farthest. */
static const struct {
        const char *name;
        enum ledger_reach whom;
} classes[] = {
        [REACH_UNKNOWN] = { "unknown", LEDGER_REACH_NAMED },
        [REACH_PUBLIC] = { "public", LEDGER_REACH_NAMED },
        [REACH_LOOPBACK] = { "loopback", LEDGER_REACH_SELF },
        [REACH_PRIVATE] = { "private", LEDGER_REACH_TENANT },
        [REACH_SHARED] = { "shared", LEDGER_REACH_TENANT },
        [REACH_LINK] = { "link-local", LEDGER_REACH_TENANT },
        [REACH_METADATA] = { "metadata", LEDGER_REACH_NAMED },
        [REACH_MULTICAST] = { "multicast", LEDGER_REACH_NAMED },
        [REACH_BROADCAST] = { "broadcast", LEDGER_REACH_NAMED },
        [REACH_DOCUMENTATION] = { "documentation", LEDGER_REACH_NAMED },
        [REACH_TRANSLATED] = { "translated", LEDGER_REACH_NAMED },
        [REACH_RESERVED] = { "reserved", LEDGER_REACH_NAMED },
        [REACH_HOST] = { "host", LEDGER_REACH_SELF },
};
_Static_assert(sizeof classes / sizeof *classes == REACH__COUNT, "a row for each");

enum ledger_reach egress_reaches(struct span host, enum egress_reach where)
{
        static const char local[] = "localhost";
        size_t n = host.n, k = sizeof local - 1;
        bool is_local =
                n >= k && memcmp(host.p + n - k, local, k) == 0 && (n == k || host.p[n - k - 1] == '.');

        if (where == REACH_UNKNOWN && is_local)
                return LEDGER_REACH_SELF;

        return (unsigned) where < REACH__COUNT ? classes[where].whom : LEDGER_REACH_NAMED;
}

const char *egress_reach_name(enum egress_reach r)
{
        return (unsigned) r < REACH__COUNT ? classes[r].name : "?";
}

const char *egress_seen_name(enum egress_seen s)
{
        static const char *const seen[] = { [LOOKED_AT_NOTHING] = "nothing",
                                            [LOOKED_AT_REQUESTS] = "requests",
                                            [LOOKED_AT_HELLO] = "hello",
                                            [LOOKED_AT_BYTES] = "bytes" };
        return (unsigned) s < LOOKED_AT__COUNT ? seen[s] : "?";
}

struct range {
        const char *net; /* first match counts: single addresses precede the prefixes that contain them */
        unsigned bits;
        enum egress_reach reach;
};

/* IANA's special-purpose registries, and the metadata services that lie outside link-local. */
static const struct range ranges4[] = {
        { "169.254.0.0", 16, REACH_LINK }, /* metadata among them: egress_judge() */
        { "100.100.100.200", 32, REACH_METADATA },  { "168.63.129.16", 32, REACH_METADATA },
        { "192.0.0.192", 32, REACH_METADATA },      { "127.0.0.0", 8, REACH_LOOPBACK },
        { "0.0.0.0", 8, REACH_RESERVED },           { "10.0.0.0", 8, REACH_PRIVATE },
        { "172.16.0.0", 12, REACH_PRIVATE },        { "192.168.0.0", 16, REACH_PRIVATE },
        { "100.64.0.0", 10, REACH_SHARED },         { "192.0.0.0", 24, REACH_RESERVED },
        { "192.0.2.0", 24, REACH_DOCUMENTATION },   { "198.51.100.0", 24, REACH_DOCUMENTATION },
        { "203.0.113.0", 24, REACH_DOCUMENTATION }, { "192.88.99.0", 24, REACH_TRANSLATED },
        { "198.18.0.0", 15, REACH_RESERVED },       { "224.0.0.0", 4, REACH_MULTICAST },
        { "255.255.255.255", 32, REACH_BROADCAST }, { "240.0.0.0", 4, REACH_RESERVED },
};

static const struct range ranges6[] = {
        { "::1", 128, REACH_LOOPBACK },
        { "::", 128, REACH_RESERVED },
        { "::ffff:0:0", 96, REACH_TRANSLATED },
        { "::", 96, REACH_TRANSLATED },
        { "64:ff9b::", 96, REACH_TRANSLATED },
        { "64:ff9b:1::", 48, REACH_TRANSLATED },
        { "2002::", 16, REACH_TRANSLATED },
        { "2001::", 32, REACH_TRANSLATED },
        { "2001:db8::", 32, REACH_DOCUMENTATION },
        { "3fff::", 20, REACH_DOCUMENTATION },
        { "2001::", 23, REACH_RESERVED },
        { "fd00:ec2::254", 128, REACH_METADATA },
        { "fd20:ce::254", 128, REACH_METADATA },
        { "fc00::", 7, REACH_PRIVATE },
        { "fe80::", 10, REACH_LINK },
        { "fec0::", 10, REACH_PRIVATE },
        { "ff00::", 8, REACH_MULTICAST },
        { "2000::", 3, REACH_PUBLIC },
        { "::", 0, REACH_RESERVED }, /* nothing else has been given out */
};

static bool inside_net(const uint8_t *a, const uint8_t *net, unsigned bits)
{
        if (memcmp(a, net, bits / 8) != 0)
                return false;
        unsigned rest = bits % 8;
        return rest == 0 || ((a[bits / 8] ^ net[bits / 8]) >> (8 - rest)) == 0;
}

static enum egress_reach find_range(const struct range *r, size_t n, int family, const uint8_t *a)
{
        for (size_t i = 0; i < n; i++) {
                uint8_t net[16] = { 0 };
                if (inet_pton(family, r[i].net, net) == 1 && inside_net(a, net, r[i].bits))
                        return r[i].reach;
        }
        return REACH_PUBLIC;
}

enum egress_reach egress_judge(const struct egress_address *a)
{
        static const uint8_t link_metadata[2] = { 169, 254 };
        enum egress_reach r =
                a->v6 ? find_range(ranges6, sizeof ranges6 / sizeof *ranges6, AF_INET6, a->bytes)
                      : find_range(ranges4, sizeof ranges4 / sizeof *ranges4, AF_INET, a->bytes);
        if (!a->v6 && memcmp(a->bytes, link_metadata, 2) == 0)
                return REACH_METADATA; /* clouds use many of them; nothing else of use lies there */
        return r == REACH_PUBLIC && a->own ? REACH_HOST : r;
}

const char *egress_address_text(const struct egress_address *a, char *buf, unsigned cap)
{
        return inet_ntop(a->v6 ? AF_INET6 : AF_INET, a->bytes, buf, cap) ? buf : "?";
}
