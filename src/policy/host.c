/* SPDX-License-Identifier: MIT */
/* policy/host.c - the one canonical form of a host name or address. A form that two programs could read in
 * two ways is refused: a check of one reading and a connection by the other is how name filters were beaten.
 * Never: resolves a name. */
#include "policy/internal.h"

#include <arpa/inet.h>

/* Suffixes below which strangers register names. This is NOT the whole public suffix list (10,000 rows that
 * change weekly): single-label suffixes are refused by counting labels, and these are the multi-label ones
 * met most. */
static const char *const public_suffixes[] = {
        "ac.jp",
        "ac.nz",
        "ac.uk",
        "appspot.com",
        "asn.au",
        "azurewebsites.net",
        "blogspot.com",
        "cloudapp.net",
        "cloudfront.net",
        "co.at",
        "co.id",
        "co.il",
        "co.in",
        "co.jp",
        "co.ke",
        "co.kr",
        "co.nz",
        "co.th",
        "co.uk",
        "co.za",
        "com.ar",
        "com.au",
        "com.br",
        "com.cn",
        "com.co",
        "com.eg",
        "com.hk",
        "com.mx",
        "com.my",
        "com.ng",
        "com.pe",
        "com.ph",
        "com.pk",
        "com.pl",
        "com.sa",
        "com.sg",
        "com.tr",
        "com.tw",
        "com.ua",
        "com.vn",
        "core.windows.net",
        "edu.au",
        "edu.cn",
        "firebaseapp.com",
        "fly.dev",
        "github.io",
        "githubusercontent.com",
        "gitlab.io",
        "go.jp",
        "gov.au",
        "gov.br",
        "gov.cn",
        "gov.in",
        "gov.uk",
        "herokuapp.com",
        "ltd.uk",
        "me.uk",
        "ne.jp",
        "net.au",
        "net.br",
        "net.cn",
        "net.nz",
        "netlify.app",
        "ngrok.io",
        "nhs.uk",
        "onrender.com",
        "or.jp",
        "or.kr",
        "org.au",
        "org.br",
        "org.cn",
        "org.nz",
        "org.uk",
        "pages.dev",
        "plc.uk",
        "repl.co",
        "run.app",
        "s3.amazonaws.com",
        "sch.uk",
        "surge.sh",
        "trycloudflare.com",
        "vercel.app",
        "web.app",
        "workers.dev",
};

static int refuse(struct host_why *why, const char *what, const char *hint)
{
        *why = (struct host_why){ what, hint };
        return -1;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_alnum(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static int check_bytes(struct span raw, struct host_why *why)
{
        if (raw.n == 0)
                return refuse(why, "the host is missing", NULL);
        for (size_t i = 0; i < raw.n; i++) {
                uint8_t c = raw.p[i];
                if (c >= 0x80)
                        return refuse(why, "the host is not plain ASCII", "write its xn-- form");
                if (c == '%')
                        return refuse(why, "a host cannot hold % (an escape or a zone id)", NULL);
                if (c == '@')
                        return refuse(why, "a host cannot hold @ (a user name)",
                                      "credentials come by `with NAME`");
                if (!is_alnum((char) c) && c != '-' && c != '.' && c != '_')
                        return refuse(why, "a character that no host name has", NULL);
        }
        return 0;
}

/* Lower case, one trailing dot off, labels of 1..63 that begin and end with a letter, digit or _. */
static int canon_labels(struct span raw, char *out, struct host_why *why)
{
        size_t n = raw.n, label = 0;
        if (n > 1 && raw.p[n - 1] == '.')
                n--;
        if (n > HOST_MAX)
                return refuse(why, "the host is longer than 253 characters", NULL);
        for (size_t i = 0; i <= n; i++) {
                if (i < n && raw.p[i] != '.') {
                        out[i] = (char) (raw.p[i] >= 'A' && raw.p[i] <= 'Z' ? raw.p[i] | 0x20 : raw.p[i]);
                        label++;
                        continue;
                }
                if (label == 0)
                        return refuse(why, "an empty label in the host", NULL);
                if (label > 63)
                        return refuse(why, "a label of the host is longer than 63 characters", NULL);
                if (out[i - label] == '-' || out[i - 1] == '-')
                        return refuse(why, "a label of the host begins or ends with -", NULL);
                out[i] = i < n ? '.' : '\0';
                label = 0;
        }
        return 0;
}

/* A last label of digits, or 0x and hex digits, makes resolvers read the whole as an IPv4 address. */
static bool ends_in_number(const char *host)
{
        const char *dot = strrchr(host, '.');
        const char *last = dot ? dot + 1 : host;
        if (last[0] == '0' && last[1] == 'x')
                return last[2 + strspn(last + 2, "0123456789abcdef")] == '\0';
        return last[strspn(last, "0123456789")] == '\0';
}

static int canon_ipv4(const char *host, struct host_why *why)
{
        struct in_addr a;
        char back[INET_ADDRSTRLEN];
        if (inet_pton(AF_INET, host, &a) != 1 || !inet_ntop(AF_INET, &a, back, sizeof back) ||
            strcmp(back, host) != 0)
                return refuse(why, "a number that is not a plain IPv4 address",
                              "write four decimal numbers without leading zeros, as 192.0.2.7");
        return 0;
}

static int canon_ipv6(struct span raw, struct host_name *h, struct host_why *why)
{
        char text[INET6_ADDRSTRLEN];
        struct in6_addr a;
        if (raw.n >= sizeof text)
                return refuse(why, "not an IPv6 address", NULL);
        memcpy(text, raw.p, raw.n);
        text[raw.n] = '\0';
        if (strchr(text, '%'))
                return refuse(why, "an address cannot hold a zone id", NULL);
        if (strlen(text) != raw.n || inet_pton(AF_INET6, text, &a) != 1)
                return refuse(why, "not an IPv6 address", NULL);
        if (IN6_IS_ADDR_V4MAPPED(&a) || IN6_IS_ADDR_V4COMPAT(&a)) {
                if (!IN6_IS_ADDR_LOOPBACK(&a) && !IN6_IS_ADDR_UNSPECIFIED(&a))
                        return refuse(why, "an IPv4 address in IPv6 clothes",
                                      "write the four decimal numbers");
        }
        if (!inet_ntop(AF_INET6, &a, h->text, sizeof h->text))
                return refuse(why, "not an IPv6 address", NULL);
        h->is_address = true;
        return 0;
}

static int check_puny(const char *host, struct host_why *why)
{
        for (const char *p = host; p; p = strchr(p, '.') ? strchr(p, '.') + 1 : NULL) {
                size_t n = strcspn(p, ".");
                if (n >= 4 && strncmp(p, "xn--", 4) == 0 && n == 4)
                        return refuse(why, "an xn-- label with nothing behind it", NULL);
        }
        return 0;
}

static int check_wildcard(const char *host, struct host_why *why)
{
        if (!strchr(host, '.'))
                return refuse(why, "a wildcard over a whole top-level domain",
                              "name at least two labels after *.");
        for (size_t i = 0; i < COUNT(public_suffixes); i++)
                if (strcmp(host, public_suffixes[i]) == 0)
                        return refuse(why, "a wildcard over a suffix where strangers register names",
                                      "name the host, or one more label after *.");
        return 0;
}

int host_parse(struct span raw, struct host_name *ret_host, struct host_why *why)
{
        struct host_name h = { 0 };
        if (raw.n >= 1 && raw.p[0] == '[') {
                if (raw.n < 3 || raw.p[raw.n - 1] != ']')
                        return refuse(why, "a bracket is not closed", NULL);
                if (canon_ipv6(span_of(raw.p + 1, raw.n - 2), &h, why) < 0)
                        return -1;
                *ret_host = h;
                return 0;
        }
        h.wildcard = span_starts(raw, "*.");
        if (h.wildcard)
                raw = span_of(raw.p + 2, raw.n - 2);
        if (memchr(raw.p, '*', raw.n))
                return refuse(why, "* stands only as the first label of a host", "write *.example.org:443");
        if (memchr(raw.p, ':', raw.n))
                return refuse(why, "an IPv6 address must stand in brackets", "write [2001:db8::7]:443");
        if (check_bytes(raw, why) < 0 || canon_labels(raw, h.text, why) < 0 || check_puny(h.text, why) < 0)
                return -1;
        h.is_address = ends_in_number(h.text);
        if (h.is_address && canon_ipv4(h.text, why) < 0)
                return -1;
        if (h.is_address && h.wildcard)
                return refuse(why, "a wildcard over addresses", "name each address");
        if (h.wildcard && check_wildcard(h.text, why) < 0)
                return -1;
        *ret_host = h;
        return 0;
}

int policy_host(struct span raw, char ret_host[256], bool *ret_is_address, const char **ret_why)
{
        struct host_name h;
        struct host_why why;
        if (host_parse(raw, &h, &why) < 0) {
                *ret_why = why.what;
                return -1;
        }
        if (h.wildcard) {
                *ret_why = "a wildcard is no host";
                return -1;
        }
        memcpy(ret_host, h.text, strlen(h.text) + 1);
        *ret_is_address = h.is_address;
        return 0;
}
