/* SPDX-License-Identifier: MIT */
/* policy/learn/net_draft.c - requests to net lines: one for each host and first path segment, with the
 * methods that were seen. All input is chosen by a hostile program: text that is not plainly a name, a path
 * and a method becomes no line. */
#include "policy/learn/internal.h"
#include "policy/policy.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum {
        LABEL_MOST = 40, /* longer ones are data, not names */
        HOST_MOST = 100,
        SIBLINGS_MOST = 12 /* so many names below one parent are exfiltration, not hosts */
};

struct dest { /* a destination, taken apart */
        struct span host;
        const char *path;   /* of a URL: from its slash on; else NULL */
        bool url;           /* else a host and a port, or a name alone */
        unsigned long port; /* 0: a name alone */
};

static struct dest read_dest(const char *text)
{
        struct dest d = { 0 };
        const char *at = strstr(text, "://"), *host = at ? at + 3 : text;
        d.url = at != NULL;
        bool brackets = host[0] == '[';
        size_t n = brackets ? strcspn(++host, "]") : strcspn(host, ":/");
        d.host = span_of(host, n);
        const char *rest = host + n + (brackets && host[n] == ']');
        d.port = rest[0] == ':' ? strtoul(rest + 1, NULL, 10) : !d.url ? 0 : text[4] == 's' ? 443 : 80;
        d.path = d.url ? strchr(rest, '/') : NULL;
        return d;
}

/* ---- never ---- */

static bool ends_in(struct span host, const char *tail)
{
        size_t n = strlen(tail);
        return host.n >= n && strncasecmp((const char *) host.p + host.n - n, tail, n) == 0 &&
               (host.n == n || tail[0] == '.' || host.p[host.n - n - 1] == '.');
}

static enum effect_reason v4_kind(const uint8_t a[4])
{
        static const struct {
                uint8_t first, second, mask; /* the second byte under the mask */
                enum effect_reason kind;
        } ranges[] = {
                { 169, 254, 255, REASON_METADATA }, { 10, 0, 0, REASON_PRIVATE },
                { 127, 0, 0, REASON_PRIVATE },      { 0, 0, 0, REASON_PRIVATE },
                { 172, 16, 0xf0, REASON_PRIVATE },  { 192, 168, 255, REASON_PRIVATE },
                { 100, 64, 0xc0, REASON_PRIVATE },  { 198, 18, 0xfe, REASON_PRIVATE },
        };

        static const uint8_t alibaba[4] = { 100, 100, 100, 200 };
        if (memcmp(a, alibaba, 4) == 0)
                return REASON_METADATA;

        for (size_t i = 0; i < COUNT(ranges); i++)
                if (a[0] == ranges[i].first && (a[1] & ranges[i].mask) == ranges[i].second)
                        return ranges[i].kind;

        return a[0] >= 224 ? REASON_PRIVATE : REASON_NONE;
}

/* Only the globally routed part is not private; of it, not addresses that embed an IPv4 address. */
static enum effect_reason v6_kind(const uint8_t a[16])
{
        static const uint8_t aws[] = { 0xfd, 0x00, 0x0e, 0xc2 }, teredo[] = { 0x20, 0x01, 0, 0 };
        if (memcmp(a, aws, sizeof aws) == 0 || (a[0] == 0xfe && (a[1] & 0xc0) == 0x80))
                return REASON_METADATA;
        bool global = (a[0] & 0xe0) == 0x20, carries = a[0] == 0x20 && a[1] == 0x02;
        return !global || carries || memcmp(a, teredo, sizeof teredo) == 0 ? REASON_PRIVATE : REASON_NONE;
}

static enum effect_reason name_kind(struct span host)
{
        static const struct {
                const char *tail;
                enum effect_reason kind;
        } names[] = {
                { "metadata.google.internal", REASON_METADATA },
                { "metadata.goog", REASON_METADATA },
                { "metadata.azure.com", REASON_METADATA },
                { "metadata.azure.internal", REASON_METADATA },
                { "instance-data", REASON_METADATA },
                { "instance-data.ec2.internal", REASON_METADATA },
                { "metadata", REASON_METADATA },
                { "localhost", REASON_PRIVATE },
                { "local", REASON_PRIVATE },
                { "internal", REASON_PRIVATE },
                { "intranet", REASON_PRIVATE },
                { "lan", REASON_PRIVATE },
                { "home.arpa", REASON_PRIVATE },
        };

        size_t label = 0, dots = 0, longest = 0;
        for (size_t i = 0; i < COUNT(names); i++)
                if (ends_in(host, names[i].tail))
                        return names[i].kind;

        for (size_t i = 0; i < host.n; i++) {
                label = host.p[i] == '.' ? 0 : label + 1;
                dots += host.p[i] == '.';
                longest = label > longest ? label : longest;
        }

        if (longest > LABEL_MOST || host.n > HOST_MOST)
                return REASON_TUNNEL;

        return dots == 0 ? REASON_PRIVATE : REASON_NONE; /* a name of this network alone */
}

/* Characters that a line can have in a URL. No star: a path with one would read as "all below". */
static bool is_plain(const char *text)
{
        for (const char *p = text; *p; p++) {
                bool letter = (*p >= '0' && *p <= '9') || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z');
                if (!letter && !strchr("-._~:/[]%!$&'()+,;=@", *p))
                        return false;
        }
        return true;
}

enum effect_reason net_sensitive(const char *dest)
{
        uint8_t a[16];
        char host[256];
        struct dest d = read_dest(dest);

        if (strchr(dest, ' '))
                return REASON_PROTOCOL; /* "UDP to host:port": no door can open it */

        if (!is_plain(dest) || d.host.n == 0 || d.host.n >= sizeof host)
                return REASON_ODD_NAME;

        memcpy(host, d.host.p, d.host.n);
        host[d.host.n] = '\0';
        if (inet_pton(AF_INET, host, a) == 1)
                return v4_kind(a);

        return inet_pton(AF_INET6, host, a) == 1 ? v6_kind(a) : name_kind(d.host);
}

/* ---- what the others show ---- */

/* The last two labels: the parent of another owner's names. */
static struct span parent_host(struct span host)
{
        size_t dots = 0, i = host.n;
        while (i > 0 && !(host.p[i - 1] == '.' && ++dots == 2))
                i--;
        return span_of(host.p + i, host.n - i);
}

static bool names_host(const struct learn *l, size_t before, struct span host)
{
        for (size_t i = 0; i < before; i++)
                if (l->v[i].a.kind == EFFECT_NET && span_eq(read_dest(l->v[i].a.path).host, host))
                        return true;
        return false;
}

static bool is_tunnel(const struct learn *l, struct span host)
{
        struct span under = parent_host(host);
        size_t n = 0;
        if (under.n == host.n)
                return false;

        for (size_t i = 0; i < l->n && n <= SIBLINGS_MOST; i++) {
                struct span other = read_dest(l->v[i].a.path).host;
                n += l->v[i].a.kind == EFFECT_NET && span_eq(parent_host(other), under) &&
                     !names_host(l, i, other);
        }

        return n > SIBLINGS_MOST;
}

enum effect_reason net_reason(const struct learn *l, const struct item *it)
{
        struct dest d = read_dest(it->a.path);
        if (it->sensitive)
                return it->sensitive;
        if (is_tunnel(l, d.host))
                return REASON_TUNNEL;
        return l->c.nets && it->a.agreed && d.port ? REASON_NONE : REASON_NETWORK;
}

bool net_is_told_better(const struct learn *l, const struct item *it)
{
        struct dest d = read_dest(it->a.path);
        for (size_t i = 0; i < l->n && !d.url; i++) {
                struct dest other = read_dest(l->v[i].a.path);
                bool better = d.port ? other.url && other.port == d.port : other.port != 0;
                if (l->v[i].a.kind == EFFECT_NET && better && span_eq(other.host, d.host))
                        return true;
        }

        return false;
}

bool net_has_host(const struct item *it, const char *host)
{
        return span_is(read_dest(it->a.path).host, host);
}

bool net_effect(const struct item *it, struct buf *out)
{
        struct dest d = read_dest(it->a.path);
        struct policy_context none = { .work = "/", .home = "/" };
        struct effect f;
        struct err e;
        AUTO_BUF(text);

        if (!d.port || !is_plain(it->a.path))
                return false;

        buf_printf(&text, "net %s%s%s", it->a.method, it->a.method[0] ? " " : "", it->a.path);
        int bad = text.failed ? -1 : policy_effect_parse(buf_str(&text), &none, &f, &e);
        out->failed = out->failed || text.failed || (bad < 0 && e.code == ERR_MEMORY);
        if (bad < 0)
                return false;

        policy_effect_done(&f);
        buf_puts(out, buf_str(&text) + strlen("net "));
        return true;
}

/* ---- lines ---- */

/* All below the first segment: "https://host/first/" and a double star, of "https://host/first/second". A
 * destination without a path stays as it is. A place stands for its URL. */
static bool put_destination(const struct learn *l, const struct item *it, struct buf *out)
{
        AUTO_BUF(place);
        const char *dest = it->a.path, *path = read_dest(dest).path;
        if (path && l->c.place && l->c.place(l->c.place_ctx, dest, &place)) {
                dest = buf_str(&place);
                path = strchr(dest, '/');
        }

        const char *second = path ? strchr(path + 1, '/') : NULL;
        if (second)
                buf_printf(out, "%.*s/**", (int) (second - dest), dest);
        else
                buf_puts(out, dest);

        out->failed = out->failed || place.failed;
        return !out->failed;
}

static bool same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

static bool is_line(const struct learn *l, const struct item *it, uint64_t mask)
{
        return it->a.kind == EFFECT_NET && (it->runs & mask) && !net_reason(l, it);
}

/* One group of items: the same destination with the same credential. */
struct group {
        const char *dest, *with;
        bool *failed; /* out of memory: the draft is incomplete */
};

static bool belongs_to(const struct learn *l, const struct item *it, uint64_t mask, const struct group *g)
{
        AUTO_BUF(other);
        if (!is_line(l, it, mask) || !same_text(it->a.with, g->with))
                return false;
        if (!put_destination(l, it, &other))
                *g->failed = true;
        return !other.failed && strcmp(buf_str(&other), g->dest) == 0;
}

static bool first_of_its_kind(const struct learn *l, size_t i, uint64_t mask, const struct group *g)
{
        for (size_t k = 0; k < i; k++)
                if (belongs_to(l, &l->v[k], mask, g))
                        return false;
        return true;
}

static uint64_t methods_of(const struct learn *l, uint64_t mask, const struct group *g, struct buf *out)
{
        uint64_t runs = 0;
        for (size_t k = 0; k < l->n; k++) {
                const struct item *it = &l->v[k];
                if (!belongs_to(l, it, mask, g))
                        continue;
                runs |= it->runs & mask;
                char word[34];
                (void) snprintf(word, sizeof word, " %s ", it->a.method);
                AUTO_BUF(so_far);
                buf_printf(&so_far, "%s ", buf_str(out)); /* so that GET is not found in "FORGET" */
                bool known = !policy_method_known(it->a.method) || strstr(buf_str(&so_far), word);
                out->failed = out->failed || so_far.failed;
                if (!known)
                        buf_printf(out, " %s", it->a.method);
        }

        return runs;
}

void net_lines(const struct learn *l, uint64_t mask, struct learn_draft *d)
{
        for (size_t i = 0; i < l->n; i++) {
                const struct item *it = &l->v[i];
                AUTO_BUF(dest);
                if (!is_line(l, it, mask))
                        continue;
                d->failed |= !put_destination(l, it, &dest);
                struct group g = { buf_str(&dest), it->a.with, &d->failed };
                AUTO_BUF(methods);
                if (!first_of_its_kind(l, i, mask, &g))
                        continue;
                uint64_t runs = methods_of(l, mask, &g, &methods);
                d->failed |= methods.failed;
                struct learn_line *line = line_add(d, true, "net %s%s%s%s", g.dest, buf_str(&methods),
                                                   g.with ? " with " : "", g.with ? g.with : "");
                line_seen(l, mask, d, line, runs);
        }
}
