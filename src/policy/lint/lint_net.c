/* SPDX-License-Identifier: MIT */
/* policy/lint/lint_net.c - lints of net doors. */
#include "effect/gate/gate.h"
#include "policy/lint/lint.h"

#include <arpa/inet.h>

/* Under these, customers of the owner get names of their own. */
static const char *const shared_domains[] = {
        "amazonaws.com",
        "azure.com",
        "azureedge.net",
        "backblazeb2.com",
        "blob.core.windows.net",
        "cloudflare.com",
        "digitaloceanspaces.com",
        "googleapis.com",
        "googleusercontent.com",
        "sharepoint.com",
        "windows.net",
        "zendesk.com",
};

static bool two_labels(const char *host)
{
        const char *dot = strchr(host, '.');
        return dot && !strchr(dot + 1, '.');
}

static bool under_shared(const char *host)
{
        for (size_t i = 0; i < COUNT(shared_domains); i++) {
                size_t n = strlen(shared_domains[i]), k = strlen(host);
                if (k >= n && strcmp(host + k - n, shared_domains[i]) == 0 &&
                    (k == n || host[k - n - 1] == '.'))
                        return true;
        }

        return false;
}

bool lint_wildcard(struct lint_view *v, const struct door *d)
{
        (void) v;
        return d->net.wildcard && (two_labels(d->net.host) || under_shared(d->net.host));
}

/* ---- addresses ---- */

enum range { RANGE_PUBLIC = 0, RANGE_LOCAL, RANGE_LINK, RANGE_NOWHERE };

static enum range range4(uint32_t a)
{
        static const struct {
                uint32_t net;
                unsigned bits;
                enum range range;
        } ranges[] = {
                { 0x00000000, 8, RANGE_NOWHERE }, { 0xe0000000, 3, RANGE_NOWHERE },
                { 0xa9fe0000, 16, RANGE_LINK },   { 0x7f000000, 8, RANGE_LOCAL },
                { 0x0a000000, 8, RANGE_LOCAL },   { 0xac100000, 12, RANGE_LOCAL },
                { 0xc0a80000, 16, RANGE_LOCAL },  { 0x64400000, 10, RANGE_LOCAL },
        };

        if (a == 0x646464c8) /* 100.100.100.200: metadata of one cloud, outside link-local */
                return RANGE_LINK;

        for (size_t i = 0; i < COUNT(ranges); i++)
                if ((a & (uint32_t) (UINT64_C(0xffffffff) << (32 - ranges[i].bits))) == ranges[i].net)
                        return ranges[i].range;

        return RANGE_PUBLIC;
}

static enum range range6(const struct in6_addr *a)
{
        const uint8_t *b = a->s6_addr;
        static const uint8_t ec2[16] = { 0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54 };
        static const uint8_t nat64[12] = { 0x00, 0x64, 0xff, 0x9b };

        if (IN6_IS_ADDR_UNSPECIFIED(a) || b[0] == 0xff)
                return RANGE_NOWHERE;

        if (memcmp(b, ec2, sizeof ec2) == 0 || IN6_IS_ADDR_LINKLOCAL(a))
                return RANGE_LINK;

        if (IN6_IS_ADDR_LOOPBACK(a) || (b[0] & 0xfe) == 0xfc)
                return RANGE_LOCAL;

        /* An IPv4 address inside another: NAT64 and 6to4 lead wherever that one leads. */
        if (memcmp(b, nat64, sizeof nat64) == 0 || (b[0] == 0x20 && b[1] == 0x02))
                return RANGE_LOCAL;

        return RANGE_PUBLIC;
}

static enum range address_range(const struct door *d)
{
        struct in_addr a4;
        struct in6_addr a6;
        if (!d->net.is_address)
                return RANGE_PUBLIC;

        if (inet_pton(AF_INET, d->net.host, &a4) == 1)
                return range4(ntohl(a4.s_addr));

        return inet_pton(AF_INET6, d->net.host, &a6) == 1 ? range6(&a6) : RANGE_PUBLIC;
}

static bool is_metadata_name(const char *host)
{
        static const char *const names[] = { "metadata", "metadata.google.internal", "instance-data",
                                             "metadata.azure.com" };
        return str_row(names, COUNT(names), host) >= 0;
}

bool lint_metadata(struct lint_view *v, const struct door *d)
{
        (void) v;
        return d->net.form != NET_PLACE && (address_range(d) == RANGE_LINK || is_metadata_name(d->net.host) ||
                                            (d->net.wildcard && lint_ends_with(d->net.host, ".internal")));
}

bool lint_local_address(struct lint_view *v, const struct door *d)
{
        static const char *const tails[] = { ".localhost",   ".local", ".lan", ".home.arpa",
                                             ".localdomain", ".corp",  ".home" };
        (void) v;
        bool local = address_range(d) == RANGE_LOCAL || strcmp(d->net.host, "localhost") == 0;
        for (size_t i = 0; i < COUNT(tails); i++)
                local = local || lint_ends_with(d->net.host, tails[i]);
        return local && d->net.form != NET_PLACE;
}

static bool has_loopback_line(struct lint_view *v, uint16_t port)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));)
                if (d->net.is_address && d->net.port == port &&
                    (strncmp(d->net.host, "127.", 4) == 0 || strcmp(d->net.host, "::1") == 0))
                        return true;
        return false;
}

/* In a box that name is the box's own loopback, on which the broker listens for addresses that lines name. */
void lint_localhost(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));)
                if (d->net.form != NET_PLACE && strcmp(d->net.host, "localhost") == 0 &&
                    !has_loopback_line(v, d->net.port)) {
                        lint_note(v, row, &d->at,
                                  "localhost means the box itself; for the host use 127.0.0.1:%u",
                                  d->net.port);
                        if (v->result < 0)
                                (void) err_hint(
                                        v->e,
                                        d->net.form == NET_URL
                                                ? "use %s127.0.0.1:%u/**, and 127.0.0.1 in the command"
                                                : "use %s127.0.0.1:%u",
                                        d->net.form != NET_URL ? ""
                                        : d->net.tls           ? "https://"
                                                               : "http://",
                                        d->net.port);
                }
}

bool lint_no_destination(struct lint_view *v, const struct door *d)
{
        (void) v;
        return address_range(d) == RANGE_NOWHERE;
}

/* ---- credentials ---- */

/* The same server, as a URL. A server on a loopback mostly has no certificate. */
static struct net_dest as_url(const struct door *d)
{
        struct net_dest url = d->net;
        url.form = NET_URL;
        bool loopback = strncmp(d->net.host, "127.", 4) == 0 || strcmp(d->net.host, "::1") == 0;
        url.tls = d->net.port == 443 || (d->net.port != 80 && !loopback);
        return url;
}

void lint_blind_credential(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));) {
                if (!d->net.credential || d->net.form != NET_HOST_PORT)
                        continue;
                AUTO_BUF(text);
                struct net_dest url = as_url(d);
                net_print(&url, &text);
                lint_note(v, row, &d->at, "a credential cannot be added to a raw connection; use %s/**",
                          buf_str(&text));
        }
}

bool lint_clear_credential(struct lint_view *v, const struct door *d)
{
        (void) v;
        return d->net.credential && d->net.form == NET_URL && !d->net.tls;
}

static bool dest_posts(const struct net_dest *n)
{
        if (!n->methods)
                return true;
        for (char **m = n->methods; *m; m++)
                if (strcmp(*m, "POST") == 0 || strcmp(*m, "PUT") == 0 || strcmp(*m, "PATCH") == 0)
                        return true;
        return false;
}

static bool touches_dear(struct lint_view *v, const struct door *d)
{
        v->what = d->net.touches & 1u << NET_TOUCH_MONEY ? "money" : "a person";
        return d->net.touches & (1u << NET_TOUCH_MONEY | 1u << NET_TOUCH_PERSON);
}

/* An effect that cannot be undone is worth a question. */
bool lint_unasked(struct lint_view *v, const struct door *d)
{
        return touches_dear(v, d) && dest_posts(&d->net) && !d->ask.on;
}

bool lint_vague_gate(struct lint_view *v, const struct door *d)
{
        (void) v;
        bool body = d->ask.vary & 1u << GATE_VARY_BODY;
        return d->ask.on && (d->ask.first || body) && !d->net.bounds;
}

bool lint_wild_credential(struct lint_view *v, const struct door *d)
{
        (void) v;
        return d->net.credential && d->net.wildcard;
}

static bool methods_meet(char *const *a, char *const *b)
{
        if (!a || !b)
                return true;

        for (; *a; a++)
                for (char *const *m = b; *m; m++)
                        if (strcmp(*a, *m) == 0)
                                return true;

        return false;
}

/* All keys that the canonical order compares before the methods: such doors are adjacent. */
static bool same_url(const struct net_dest *a, const struct net_dest *b)
{
        return a->form == b->form && a->tls == b->tls && a->wildcard == b->wildcard && a->port == b->port &&
               a->path_tail == b->path_tail && strcmp(a->host, b->host) == 0 && a->path && b->path &&
               strcmp(a->path, b->path) == 0;
}

void lint_two_credentials(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));) {
                for (const struct door *x = d;
                     (x = lint_next(v, DOOR_NET, x)) && same_url(&d->net, &x->net);) {
                        if (d->net.credential && x->net.credential &&
                            strcmp(d->net.credential, x->net.credential) != 0 &&
                            methods_meet(d->net.methods, x->net.methods))
                                lint_note(v, row, &x->at, "the same request with two credentials, %s and %s",
                                          d->net.credential, x->net.credential);
                }
        }
}

/* ---- form ---- */

bool lint_plain_http(struct lint_view *v, const struct door *d)
{
        (void) v;
        return d->net.form == NET_URL && !d->net.tls && address_range(d) == RANGE_PUBLIC &&
               !d->net.credential && strcmp(d->net.host, "localhost") != 0;
}

bool lint_foreign_host(struct lint_view *v, const struct door *d)
{
        (void) v;
        return d->net.form != NET_PLACE &&
               (strncmp(d->net.host, "xn--", 4) == 0 || strstr(d->net.host, ".xn--"));
}

/* ---- effects ---- */

bool lint_uncapped(struct lint_view *v, const struct door *d)
{
        return touches_dear(v, d) && !d->net.cap[NET_CAP_HOUR];
}

/* A door that moves money should bound the amount: a wrong number is sent with the right credential. */
bool lint_unbounded(struct lint_view *v, const struct door *d)
{
        (void) v;
        return d->net.touches & 1u << NET_TOUCH_MONEY && d->net.credential && !d->net.bounds &&
               d->net.form != NET_HOST_PORT && dest_posts(&d->net);
}
