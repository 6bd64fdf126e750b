/* SPDX-License-Identifier: MIT */
/* policy/lint/lint_net.c - lints of net doors. */
#include "effect/gate/gate.h"
#include "policy/lint/lint.h"

#include <arpa/inet.h>

static const char *dest_text(struct lint_view *v, const struct door *d, struct buf *b)
{
        net_print(&d->net, b);
        lint_whole(v, b);
        return buf_str(b);
}

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

void lint_wildcard(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));)
                if (d->net.wildcard && (two_labels(d->net.host) || under_shared(d->net.host)))
                        lint_note(v, row, &d->at,
                                  "*.%s covers every host of the domain, including those of its customers; "
                                  "use the exact host",
                                  d->net.host);
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

static bool ends_with(const char *host, const char *tail)
{
        size_t n = strlen(tail), k = strlen(host);
        return k >= n && strcmp(host + k - n, tail) == 0;
}

static bool is_metadata_name(const char *host)
{
        static const char *const names[] = { "metadata", "metadata.google.internal", "instance-data",
                                             "metadata.azure.com" };
        return lint_listed(names, COUNT(names), host);
}

void lint_metadata(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));) {
                AUTO_BUF(b);
                if (d->net.form != NET_PLACE &&
                    (address_range(d) == RANGE_LINK || is_metadata_name(d->net.host) ||
                     (d->net.wildcard && ends_with(d->net.host, ".internal"))))
                        lint_note(v, row, &d->at,
                                  "%s is an address of cloud metadata services, which give out credentials",
                                  dest_text(v, d, &b));
        }
}

void lint_local_address(struct lint_view *v, const struct lint_row *row)
{
        static const char *const tails[] = { ".localhost",   ".local", ".lan", ".home.arpa",
                                             ".localdomain", ".corp",  ".home" };
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));) {
                bool local = address_range(d) == RANGE_LOCAL || strcmp(d->net.host, "localhost") == 0;
                for (size_t i = 0; i < COUNT(tails); i++)
                        local = local || ends_with(d->net.host, tails[i]);
                AUTO_BUF(b);
                if (local && d->net.form != NET_PLACE)
                        lint_note(v, row, &d->at,
                                  "%s is this machine or a private network, where services often have no "
                                  "password",
                                  dest_text(v, d, &b));
        }
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

void lint_no_destination(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));)
                if (address_range(d) == RANGE_NOWHERE)
                        lint_note(v, row, &d->at, "%s is not the address of one machine", d->net.host);
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

void lint_clear_credential(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));)
                if (d->net.credential && d->net.form == NET_URL && !d->net.tls)
                        lint_note(v, row, &d->at, "credential %s would be sent without TLS",
                                  d->net.credential);
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

/* An effect that cannot be undone is worth a question. */
void lint_unasked(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));) {
                AUTO_BUF(b);
                if ((d->net.touches & (1u << NET_TOUCH_MONEY | 1u << NET_TOUCH_PERSON)) &&
                    dest_posts(&d->net) && !d->ask.on)
                        lint_note(v, row, &d->at, "%s touches %s without approval; add `ask`",
                                  dest_text(v, d, &b),
                                  d->net.touches & 1u << NET_TOUCH_MONEY ? "money" : "a person");
        }
}

void lint_vague_gate(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));) {
                AUTO_BUF(b);
                bool body = d->ask.vary & 1u << GATE_VARY_BODY;
                if (d->ask.on && (d->ask.first || body) && !d->net.bounds)
                        lint_note(v, row, &d->at,
                                  "one approval of %s can cover any request body; limit it with `where`",
                                  dest_text(v, d, &b));
        }
}

void lint_wild_credential(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));)
                if (d->net.credential && d->net.wildcard)
                        lint_note(v, row, &d->at, "credential %s would be sent to every host under %s",
                                  d->net.credential, d->net.host);
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

void lint_plain_http(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));)
                if (d->net.form == NET_URL && !d->net.tls && address_range(d) == RANGE_PUBLIC &&
                    !d->net.credential && strcmp(d->net.host, "localhost") != 0)
                        lint_note(v, row, &d->at,
                                  "http without TLS can be read and changed by anyone on the path");
}

void lint_foreign_host(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));)
                if (d->net.form != NET_PLACE &&
                    (strncmp(d->net.host, "xn--", 4) == 0 || strstr(d->net.host, ".xn--")))
                        lint_note(v, row, &d->at,
                                  "%s is displayed in Unicode by browsers and may look like another name; "
                                  "check it",
                                  d->net.host);
}

/* ---- effects ---- */

void lint_uncapped(struct lint_view *v, const struct lint_row *row)
{
        const unsigned dear = 1u << NET_TOUCH_MONEY | 1u << NET_TOUCH_PERSON;
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));) {
                AUTO_BUF(b);
                if (d->net.touches & dear && !d->net.cap[NET_CAP_HOUR])
                        lint_note(v, row, &d->at, "%s touches %s without a rate limit; add `cap N/h`",
                                  dest_text(v, d, &b),
                                  d->net.touches & 1u << NET_TOUCH_MONEY ? "money" : "people");
        }
}

/* A door that moves money should bound the amount: a wrong number is sent with the right credential. */
void lint_unbounded(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_NET, d));) {
                AUTO_BUF(b);
                if (d->net.touches & 1u << NET_TOUCH_MONEY && d->net.credential && !d->net.bounds &&
                    d->net.form != NET_HOST_PORT && dest_posts(&d->net))
                        lint_note(v, row, &d->at,
                                  "%s can move money with credential %s without an upper bound; add `where "
                                  "amount=int:1..5000`",
                                  dest_text(v, d, &b), d->net.credential);
        }
}
