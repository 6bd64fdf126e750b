/* SPDX-License-Identifier: MIT */
/* output/links.c - makes links and images inert whose host no door names. A page or a chat window that shows
 * the text would fetch an image, and a person might follow a link: both carry data out. Pure. */
#include "output/lines.h"

static bool is_scheme_byte(uint8_t c)
{
        uint8_t low = c | 0x20;
        return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

static bool is_slash(uint8_t c) { return c == '/' || c == '\\'; }

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; }

static bool same_word(struct span a, const char *b, size_t n)
{
        if (a.n != n)
                return false;
        for (size_t i = 0; i < n; i++)
                if (lower(a.p[i]) != lower((uint8_t) b[i]))
                        return false;
        return true;
}

/* Between the slashes and the path, without user and port. */
static struct span host_of(struct span rest)
{
        size_t n = 0;
        const uint8_t *bracket = rest.n && rest.p[0] == '[' ? memchr(rest.p, ']', rest.n) : NULL;
        if (bracket) /* an address of IPv6, which is its own name */
                return span_of(rest.p, (size_t) (bracket - rest.p) + 1);

        while (n < rest.n && rest.p[n] > ' ' && !strchr("/\\?#\"'<>()[]{}|`,;", rest.p[n]))
                n++;

        struct span host = span_of(rest.p, n);
        for (size_t i = n; i > 0; i--)
                if (host.p[i - 1] == '@') {
                        host = span_of(host.p + i, host.n - i);
                        break;
                }

        for (size_t i = 0; i < host.n; i++)
                if (host.p[i] == ':')
                        host.n = i;
        return host;
}

static bool is_door(const char *const *hosts, size_t n, struct span host)
{
        for (size_t i = 0; i < n; i++) {
                const char *name = hosts[i];
                size_t len = strlen(name);
                if (strncmp(name, "*.", 2) != 0) {
                        if (same_word(host, name, len))
                                return true;
                        continue;
                }
                if (host.n > len - 1 &&
                    same_word(span_of(host.p + host.n - (len - 1), len - 1), name + 1, len - 1))
                        return true;
        }
        return false;
}

/* Schemes that act without slashes. */
static bool is_active(struct span scheme)
{
        static const char *const names[] = { "javascript", "vbscript", "data" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (same_word(scheme, names[i], strlen(names[i])))
                        return true;
        return false;
}

/* The scheme that ends before the colon at `at`. */
static struct span scheme_before(struct span line, size_t at)
{
        size_t from = at;
        while (from > 0 && at - from < 16 && is_scheme_byte(line.p[from - 1]))
                from--;
        return span_of(line.p + from, at - from);
}

enum link { LINK_NO = 0, LINK_INERT, LINK_LIVE };

/* A colon that belongs to a link, and whether it may stay one. */
static enum link open_scheme(const char *const *hosts, size_t n_hosts, struct span line, size_t at,
                             struct span *ret_host)
{
        struct span scheme = scheme_before(line, at), rest = span_of(line.p + at + 1, line.n - at - 1);
        if (scheme.n == 0 || rest.n == 0)
                return LINK_NO;

        if (is_active(scheme) && rest.p[0] > ' ') {
                *ret_host = scheme;
                return LINK_INERT;
        }

        size_t slashes = 0;
        while (slashes < rest.n && is_slash(rest.p[slashes]))
                slashes++;
        bool web = same_word(scheme, "http", 4) ||
                   same_word(scheme, "https", 5); /* one slash is enough for a browser */
        if (slashes < (web ? 1 : 2) || scheme.n < 2)
                return LINK_NO;

        *ret_host = host_of(span_of(rest.p + slashes, rest.n - slashes));
        if (ret_host->n == 0)
                return LINK_NO;
        return web && slashes == 2 && rest.p[0] == '/' && rest.p[1] == '/' &&
                               is_door(hosts, n_hosts, *ret_host)
                       ? LINK_LIVE
                       : LINK_INERT;
}

/* //host/ after ( or = and perhaps a quote: a link with the scheme of the page. */
static bool is_relative(struct span line, size_t at)
{
        if (at + 2 >= line.n || !is_slash(line.p[at]) || !is_slash(line.p[at + 1]) || at == 0)
                return false;

        uint8_t before = line.p[at - 1];
        bool markdown = before == '(' && at > 1 && line.p[at - 2] == ']';
        bool quoted = (before == '"' || before == '\'') && at > 1 && line.p[at - 2] == '=';
        return (markdown || quoted || before == '=') && is_scheme_byte(line.p[at + 2]);
}

void links_line(const char *const *hosts, size_t n_hosts, struct span line, uint64_t number, struct buf *out,
                struct findings *f)
{
        size_t from = 0;
        for (size_t i = 0; i < line.n; i++) {
                struct span host = { 0 };
                uint8_t c = line.p[i];
                if (c == ':' && open_scheme(hosts, n_hosts, line, i, &host) == LINK_INERT) {
                        buf_add(out, line.p + from, i - from);
                        buf_puts(out, "[:]");
                        from = i + 1;
                        findings_add(f, FINDING_LINK, host, number);
                } else if (is_slash(c) && is_relative(line, i)) {
                        host = host_of(span_of(line.p + i + 2, line.n - i - 2));
                        if (is_door(hosts, n_hosts, host))
                                continue;
                        buf_add(out, line.p + from, i - from);
                        buf_puts(out, "[/]");
                        from = i + 1;
                        findings_add(f, FINDING_LINK, host, number);
                }
        }

        buf_add(out, line.p + from, line.n - from);
}
