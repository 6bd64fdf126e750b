/* SPDX-License-Identifier: MIT */
/* policy/read/host_name.c - the one canonical form of a host name or address. A form that two programs
 * could read differently is rejected: name filters were bypassed by checking one reading and connecting by
 * the other. Never: resolves a name. */
#include "policy/internal.h"

#include <arpa/inet.h>

/* Suffixes below which strangers register names. NOT the whole public suffix list (10,000 rows that change
 * weekly): single-label suffixes are rejected by counting labels, those of most countries by the words
 * below, and these are the most common others. */
static const char *const public_suffixes[] = {
        "amplifyapp.com",
        "appspot.com",
        "azure-api.net",
        "azurecontainer.io",
        "azureedge.net",
        "azurefd.net",
        "azurestaticapps.net",
        "azurewebsites.net",
        "backblazeb2.com",
        "bitbucket.io",
        "blogspot.co.uk",
        "blogspot.com",
        "br.com",
        "cloudapp.net",
        "cloudfront.net",
        "cloudfunctions.net",
        "cn.com",
        "co.com",
        "codeberg.page",
        "ddns.net",
        "de.com",
        "deno.dev",
        "digitaloceanspaces.com",
        "duckdns.org",
        "dyndns.org",
        "elasticbeanstalk.com",
        "eu.com",
        "eu.org",
        "firebaseapp.com",
        "firebaseio.com",
        "fly.dev",
        "gitbook.io",
        "github.dev",
        "github.io",
        "githubusercontent.com",
        "gitlab.io",
        "gitpod.io",
        "glitch.me",
        "googleusercontent.com",
        "herokuapp.com",
        "hf.space",
        "ipfs.io",
        "jp.net",
        "loca.lt",
        "ltd.uk",
        "me.uk",
        "myshopify.com",
        "netlify.app",
        "netlify.com",
        "ngrok-free.app",
        "ngrok-free.dev",
        "ngrok.app",
        "ngrok.dev",
        "ngrok.io",
        "nhs.uk",
        "nip.io",
        "no-ip.org",
        "ondigitalocean.app",
        "onrender.com",
        "pages.dev",
        "plc.uk",
        "pythonanywhere.com",
        "r2.cloudflarestorage.com",
        "r2.dev",
        "railway.app",
        "readthedocs.io",
        "repl.co",
        "replit.app",
        "replit.dev",
        "ru.com",
        "run.app",
        "sharepoint.com",
        "sslip.io",
        "stackblitz.io",
        "storage.googleapis.com",
        "streamlit.app",
        "supabase.co",
        "surge.sh",
        "traefik.me",
        "translate.goog",
        "trycloudflare.com",
        "uk.com",
        "us.com",
        "vercel.app",
        "vercel.dev",
        "web.app",
        "webflow.io",
        "weebly.com",
        "wixsite.com",
        "wordpress.com",
        "workers.dev",
        "xip.io",
        "za.com",
        "zapto.org",
};

/* co.uk, com.au, gob.mx: such a word before a country. */
static const char *const country_words[] = { "ac",  "asn", "co", "com", "edu", "go", "gob", "gouv", "gov",
                                             "gub", "mil", "ne", "net", "nom", "or", "org", "sch" };
/* Clouds whose customers have names at every depth, with regions and services in between. */
static const char *const cloud_suffixes[] = { "amazonaws.com", "amazonaws.com.cn", "cloudapp.azure.com",
                                              "core.windows.net", "on.aws" };

static int refuse_host(struct host_why *why, const char *what, const char *hint)
{
        *why = (struct host_why){ what, hint };
        return -1;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_alnum(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static int check_bytes(struct span raw, struct host_why *why)
{
        if (raw.n == 0)
                return refuse_host(why, "the host is missing", NULL);

        for (size_t i = 0; i < raw.n; i++) {
                uint8_t c = raw.p[i];
                if (c >= 0x80)
                        return refuse_host(why, "the host is not plain ASCII", "use its xn-- form");
                if (c == '%')
                        return refuse_host(why, "no % in a host name (an escape or a zone id)", NULL);
                if (c == '@')
                        return refuse_host(why, "no @ in a host name (a user name)",
                                           "for credentials use `with NAME`");
                if (!is_alnum((char) c) && c != '-' && c != '.' && c != '_')
                        return refuse_host(why, "invalid character in a host name", NULL);
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
                return refuse_host(why, "the host is longer than 253 characters", NULL);

        for (size_t i = 0; i <= n; i++) {
                if (i < n && raw.p[i] != '.') {
                        out[i] = (char) (raw.p[i] >= 'A' && raw.p[i] <= 'Z' ? raw.p[i] | 0x20 : raw.p[i]);
                        label++;
                        continue;
                }
                if (label == 0)
                        return refuse_host(why, "an empty label in the host", NULL);
                if (label > 63)
                        return refuse_host(why, "a label of the host is longer than 63 characters", NULL);
                if (out[i - label] == '-' || out[i - 1] == '-')
                        return refuse_host(why, "a label of the host begins or ends with -", NULL);
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
                return refuse_host(why, "a number that is not a plain IPv4 address",
                                   "use four decimal numbers without leading zeros, as 192.0.2.7");

        return 0;
}

static int canon_ipv6(struct span raw, struct host_name *h, struct host_why *why)
{
        char text[INET6_ADDRSTRLEN];
        struct in6_addr a;
        if (raw.n >= sizeof text)
                return refuse_host(why, "not an IPv6 address", NULL);

        memcpy(text, raw.p, raw.n);
        text[raw.n] = '\0';
        if (strchr(text, '%'))
                return refuse_host(why, "no zone id in an address", NULL);

        if (strlen(text) != raw.n || inet_pton(AF_INET6, text, &a) != 1)
                return refuse_host(why, "not an IPv6 address", NULL);

        if (IN6_IS_ADDR_V4MAPPED(&a) || IN6_IS_ADDR_V4COMPAT(&a)) {
                if (!IN6_IS_ADDR_LOOPBACK(&a) && !IN6_IS_ADDR_UNSPECIFIED(&a))
                        return refuse_host(why, "IPv4-mapped IPv6 address", "use the four decimal numbers");
        }

        if (!inet_ntop(AF_INET6, &a, h->text, sizeof h->text))
                return refuse_host(why, "not an IPv6 address", NULL);

        h->is_address = true;
        return 0;
}

static int check_puny(const char *host, struct host_why *why)
{
        for (const char *p = host; p; p = strchr(p, '.') ? strchr(p, '.') + 1 : NULL) {
                size_t n = strcspn(p, ".");
                if (n >= 4 && strncmp(p, "xn--", 4) == 0 && !puny_valid(span_of(p + 4, n - 4)))
                        return refuse_host(why, "invalid xn-- label", NULL);
        }
        return 0;
}

static bool is_public_suffix(const char *host)
{
        const char *dot = strchr(host, '.');
        bool country = dot && strlen(dot) == 3; /* two letters after one dot */
        for (size_t i = 0; country && i < COUNT(country_words); i++)
                if (span_is(span_of(host, (size_t) (dot - host)), country_words[i]))
                        return true;

        return str_row(public_suffixes, COUNT(public_suffixes), host) >= 0;
}

static bool is_in_cloud(const char *host)
{
        size_t n = strlen(host);
        for (size_t i = 0; i < COUNT(cloud_suffixes); i++) {
                size_t k = strlen(cloud_suffixes[i]);
                if (n >= k && strcmp(host + n - k, cloud_suffixes[i]) == 0 &&
                    (n == k || host[n - k - 1] == '.'))
                        return true;
        }

        return false;
}

static int check_wildcard(const char *host, struct host_why *why)
{
        if (!strchr(host, '.'))
                return refuse_host(why, "wildcard covers a top-level domain",
                                   "use at least two labels after *.");

        if (is_public_suffix(host))
                return refuse_host(why, "wildcard covers a public suffix",
                                   "use the host, or one more label after *.");

        if (is_in_cloud(host))
                return refuse_host(why, "wildcard covers names of other cloud customers", "use the host");

        return 0;
}

int host_parse(struct span raw, struct host_name *ret_host, struct host_why *why)
{
        struct host_name h = { 0 };
        if (raw.n >= 1 && raw.p[0] == '[') {
                if (raw.n < 3 || raw.p[raw.n - 1] != ']')
                        return refuse_host(why, "a bracket is not closed", NULL);
                if (canon_ipv6(span_of(raw.p + 1, raw.n - 2), &h, why) < 0)
                        return -1;
                *ret_host = h;
                return 0;
        }

        h.wildcard = span_starts(raw, "*.");
        if (h.wildcard)
                raw = span_of(raw.p + 2, raw.n - 2);

        if (memchr(raw.p, '*', raw.n))
                return refuse_host(why, "* is allowed only as the first label of a host",
                                   "use *.example.org:443");

        if (memchr(raw.p, ':', raw.n))
                return refuse_host(why, "an IPv6 address must be in brackets", "use [2001:db8::7]:443");

        if (check_bytes(raw, why) < 0 || canon_labels(raw, h.text, why) < 0 || check_puny(h.text, why) < 0)
                return -1;

        h.is_address = ends_in_number(h.text);
        if (h.is_address && canon_ipv4(h.text, why) < 0)
                return -1;

        if (h.is_address && h.wildcard)
                return refuse_host(why, "wildcard covers addresses", "list the addresses");

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
                *ret_why = "a wildcard is not a host";
                return -1;
        }

        memcpy(ret_host, h.text, strlen(h.text) + 1);
        *ret_is_address = h.is_address;
        return 0;
}
