/* SPDX-License-Identifier: MIT */
/* policy/read/net_dest.c - a destination: host:port, a URL or a place, read and printed. */
#include "policy/internal.h"

struct dest { /* one destination being read */
        struct arena *mem;
        const struct token *t;
        unsigned flags;
        struct net_dest *d;
        struct err *e;
};

static int refuse_dest(const struct dest *x, const char *what, const char *hint)
{
        (void) fail_at(x->e, &x->t->at, "\"%s\": %s", show_text(x->t->text).text, what);
        return hint ? err_hint(x->e, "%s", hint) : -1;
}

static int read_host(const struct dest *x, struct span raw)
{
        struct host_name h;
        struct host_why why;
        if (host_parse(raw, &h, &why) < 0)
                return refuse_dest(x, why.what, why.hint);

        if (h.wildcard && (x->flags & NET_IN_EFFECT))
                return refuse_dest(x, "an effect reaches one host, not a wildcard", NULL);

        x->d->wildcard = h.wildcard;
        x->d->is_address = h.is_address;
        x->d->host = arena_str(x->mem, h.text);
        return x->d->host ? 0 : fail_memory(x->e);
}

static int read_port(const struct dest *x, struct span raw)
{
        uint64_t v;
        if (str_to_u64(raw, &v) < 0 || v == 0 || v > 65535)
                return refuse_dest(x, "the port must be a number from 1 to 65535", NULL);
        x->d->port = (uint16_t) v;
        return 0;
}

/* The start of the port: the last colon that is not inside brackets; raw.n if it has none. */
static size_t port_at(struct span raw)
{
        for (size_t i = raw.n; i-- > 0;) {
                if (raw.p[i] == ']')
                        break;
                if (raw.p[i] == ':')
                        return i;
        }

        return raw.n;
}

static int read_path(const struct dest *x, struct span raw)
{
        struct host_why why;
        if (x->flags & NET_IN_EFFECT) { /* effect.c has read it already */
                const uint8_t *q = raw.n ? memchr(raw.p, '?', raw.n) : NULL;
                if (q)
                        raw.n = (size_t) (q - raw.p);
        }

        if (raw.n == 0 && (x->flags & NET_IN_EFFECT))
                raw = span_str("/");

        if (raw.n == 0)
                return refuse_dest(x, "the path is missing",
                                   "end it in / for one page, in /** for all below");

        x->d->path = arena_alloc(x->mem, raw.n + 1);
        if (!x->d->path)
                return fail_memory(x->e);

        if (url_path_parse(raw, x->d->path, &x->d->path_tail, &why) < 0)
                return refuse_dest(x, why.what, why.hint);

        if (x->d->path_tail && (x->flags & NET_IN_EFFECT))
                return refuse_dest(x, "an effect asks for one path, not for **", NULL);

        return 0;
}

static int read_url(const struct dest *x, struct span rest, bool tls)
{
        size_t n = 0;
        while (n < rest.n && !strchr("/?#", rest.p[n]))
                n++;

        struct span authority = span_of(rest.p, n);
        size_t colon = port_at(authority);
        x->d->form = NET_URL;
        x->d->tls = tls;
        x->d->port = tls ? 443 : 80;
        if (n > 0 && memchr(authority.p, '@', n))
                return refuse_dest(x, "a URL cannot carry a user name", "for credentials use `with NAME`");

        if (read_host(x, span_of(rest.p, colon)) < 0)
                return -1;

        if (colon < n && read_port(x, span_of(rest.p + colon + 1, n - colon - 1)) < 0)
                return -1;

        return read_path(x, span_of(rest.p + n, rest.n - n));
}

static int read_place(const struct dest *x, struct span rest)
{
        const uint8_t *slash = memchr(rest.p, '/', rest.n);
        size_t n = slash ? (size_t) (slash - rest.p) : rest.n;
        x->d->form = NET_PLACE;
        x->d->host = arena_copy(x->mem, span_of(rest.p, n));
        if (!x->d->host)
                return fail_memory(x->e);

        if (!name_ok(x->d->host, "-") || strpbrk(x->d->host, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
                return refuse_dest(x, "a place name has lower-case letters, digits and -",
                                   "use @name/path or @name/**");

        return read_path(x, span_of(rest.p + n, rest.n - n));
}

/* Names for a network in other tools, with the equivalent. */
static const char *hint_of_word(const char *word)
{
        static const struct {
                const char *word, *hint;
        } words[] = {
#define NONE "a box has no network by default; remove this line"
#define ALL  "no door opens every host; list hosts, as host:443 or https://host/**"
                { "none", NONE }, { "off", NONE }, { "no", NONE },  { "false", NONE },   { "all", ALL },
                { "any", ALL },   { "*", ALL },    { "host", ALL }, { "bridge", ALL },   { "on", ALL },
                { "yes", ALL },   { "true", ALL }, { "open", ALL }, { "internet", ALL },
        };

        int i = str_row(words, COUNT(words), word);
        return i < 0 ? "use host:443, or https://host/** for requests" : words[i].hint;
}

static int read_host_port(const struct dest *x, struct span raw)
{
        size_t colon = port_at(raw);
        x->d->form = NET_HOST_PORT;
        if (raw.n > 0 && memchr(raw.p, '/', raw.n))
                return refuse_dest(x, "neither host:port nor a URL", "use host:443 or https://host/path/**");

        if (colon == raw.n && net_method_known(x->t->text)) /* the order of cordon-why(1) */
                return refuse_dest(x, "the destination must come before its methods",
                                   "use https://host/** GET");

        if (colon == raw.n)
                return refuse_dest(x, "the port is missing", hint_of_word(x->t->text));

        if (read_host(x, span_of(raw.p, colon)) < 0)
                return -1;

        return read_port(x, span_of(raw.p + colon + 1, raw.n - colon - 1));
}

static const struct {
        const char *name;
        bool tls, websocket;
} schemes[] = {
        { "https://", true, false },
        { "http://", false, false },
        { "wss://", true, true },
        { "ws://", false, true },
};

bool net_is_websocket(const struct token *t)
{
        for (size_t i = 0; i < COUNT(schemes); i++)
                if (schemes[i].websocket && span_starts(span_str(t->text), schemes[i].name))
                        return true;
        return false;
}

int net_dest_parse(struct arena *mem, const struct token *t, unsigned flags, struct net_dest *ret,
                   struct err *e)
{
        struct dest x = { .mem = mem, .t = t, .flags = flags, .d = ret, .e = e };
        struct span s = span_str(t->text);
        if (s.n == 0)
                return fail_at(e, &t->at, "an empty destination");

        if (s.p[0] == '@')
                return read_place(&x, span_of(s.p + 1, s.n - 1));

        for (size_t i = 0; i < COUNT(schemes); i++) {
                size_t n = strlen(schemes[i].name);
                if (span_starts(s, schemes[i].name) && (!schemes[i].websocket || (flags & NET_AS_WEBSOCKET)))
                        return read_url(&x, span_of(s.p + n, s.n - n), schemes[i].tls);
        }

        if (strstr(t->text, "://"))
                return refuse_dest(&x, "only http and https can be inspected",
                                   "use host:port for another protocol");

        return read_host_port(&x, s);
}

void net_print(const struct net_dest *d, struct buf *out)
{
        bool v6 = d->is_address && strchr(d->host, ':');
        if (d->form == NET_PLACE)
                buf_printf(out, "@%s", d->host);
        else
                buf_printf(out, "%s%s%s%s%s",
                           d->form == NET_HOST_PORT ? ""
                           : d->tls                 ? "https://"
                                                    : "http://",
                           d->wildcard ? "*." : "", v6 ? "[" : "", d->host, v6 ? "]" : "");

        if (d->form == NET_HOST_PORT || (d->form == NET_URL && d->port != (d->tls ? 443 : 80)))
                buf_printf(out, ":%u", d->port);

        if (d->path)
                buf_printf(out, "%s%s", d->path, d->path_tail ? "**" : "");
}
