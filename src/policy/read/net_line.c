/* SPDX-License-Identifier: MIT */
/* policy/read/net_line.c - the `net` line: destination, methods, credential, caps, and declared effects. */
#include "policy/internal.h"

#include <stdio.h>
#include <stdlib.h>

/* CONNECT is missing: a tunnel through a permitted host would reach others. WEBSOCKET is a GET with an
 * upgrade: after it no request can be seen any more, so a door without methods does not cover it. */
static const char *const methods[] = {
        "COPY", "DELETE",   "GET",       "HEAD", "LOCK",   "MKCOL",  "MOVE",   "OPTIONS",   "PATCH",
        "POST", "PROPFIND", "PROPPATCH", "PUT",  "REPORT", "SEARCH", "UNLOCK", "WEBSOCKET",
};

bool policy_method_known(const char *method) { return net_method_known(method); }
bool net_method_unnamed(const char *method) { return !method || strcmp(method, "WEBSOCKET") != 0; }

bool net_method_known(const char *method)
{
        for (size_t i = 0; i < COUNT(methods); i++)
                if (strcmp(methods[i], method) == 0)
                        return true;
        return false;
}

struct dest { /* one destination being read */
        struct arena *mem;
        const struct token *t;
        unsigned flags;
        struct net_dest *d;
        struct err *e;
};

static int refuse(const struct dest *x, const char *what, const char *hint)
{
        (void) fail_at(x->e, &x->t->at, "\"%s\": %s", show_text(x->t->text).text, what);
        return hint ? err_hint(x->e, "%s", hint) : -1;
}

static int read_host(const struct dest *x, struct span raw)
{
        struct host_name h;
        struct host_why why;
        if (host_parse(raw, &h, &why) < 0)
                return refuse(x, why.what, why.hint);

        if (h.wildcard && (x->flags & NET_IN_EFFECT))
                return refuse(x, "an effect reaches one host, not a wildcard", NULL);

        x->d->wildcard = h.wildcard;
        x->d->is_address = h.is_address;
        x->d->host = arena_str(x->mem, h.text);
        return x->d->host ? 0 : fail_memory(x->e);
}

static int read_port(const struct dest *x, struct span raw)
{
        uint64_t v;
        if (str_to_u64(raw, &v) < 0 || v == 0 || v > 65535)
                return refuse(x, "the port must be a number from 1 to 65535", NULL);
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
                return refuse(x, "the path is missing", "end it in / for one page, in /** for all below");

        x->d->path = arena_alloc(x->mem, raw.n + 1);
        if (!x->d->path)
                return fail_memory(x->e);

        if (url_path_parse(raw, x->d->path, &x->d->path_tail, &why) < 0)
                return refuse(x, why.what, why.hint);

        if (x->d->path_tail && (x->flags & NET_IN_EFFECT))
                return refuse(x, "an effect asks for one path, not for **", NULL);

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
                return refuse(x, "a URL cannot carry a user name", "credentials come by `with NAME`");

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
                return refuse(x, "a place has small letters, digits and -", "write @name/path or @name/**");

        return read_path(x, span_of(rest.p + n, rest.n - n));
}

/* Names for a network in other tools, with the equivalent. */
static const char *hint_of_word(const char *word)
{
        static const struct {
                const char *word, *hint;
        } words[] = {
#define NONE "a box has no network where no door opens one: leave it out"
#define ALL  "no door leads everywhere: name hosts, as host:443 or https://host/**"
                { "none", NONE }, { "off", NONE }, { "no", NONE },  { "false", NONE },   { "all", ALL },
                { "any", ALL },   { "*", ALL },    { "host", ALL }, { "bridge", ALL },   { "on", ALL },
                { "yes", ALL },   { "true", ALL }, { "open", ALL }, { "internet", ALL },
        };

        for (size_t i = 0; i < COUNT(words); i++)
                if (strcmp(words[i].word, word) == 0)
                        return words[i].hint;

        return "write host:443, or https://host/** for requests";
}

static int read_host_port(const struct dest *x, struct span raw)
{
        size_t colon = port_at(raw);
        x->d->form = NET_HOST_PORT;
        if (raw.n > 0 && memchr(raw.p, '/', raw.n))
                return refuse(x, "neither host:port nor a URL", "write host:443 or https://host/path/**");

        if (colon == raw.n && net_method_known(x->t->text)) /* the order of cordon-why(1) */
                return refuse(x, "the destination stands before its methods", "write https://host/** GET");

        if (colon == raw.n)
                return refuse(x, "the port is missing", hint_of_word(x->t->text));

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
                return refuse(&x, "only http and https can be inspected",
                              "write host:port for another protocol");

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

/* ---- the line ---- */

enum { ANSWER_BYTES = 8 << 20 }; /* unless `max` says another size */

static int read_credential(struct reader *r, struct net_dest *d)
{
        const struct token *t = reader_need(r, "the credential after `with`");
        if (!t)
                return -1;

        if (d->credential)
                return fail_at(r->e, &t->at, "`with` is stated twice");

        if (!name_ok(t->text, "._-"))
                return fail_at(r->e, &t->at, "\"%s\" cannot name a credential", show_text(t->text).text);

        d->credential = t->text;
        return 0;
}

static const char *const cap_tails[] = {
        [NET_CAP_BYTES] = "", [NET_CAP_OUT] = "/out", [NET_CAP_IN] = "/in", [NET_CAP_HOUR] = "/h"
};
_Static_assert(COUNT(cap_tails) == NET_CAP__COUNT, "a word for each");

char *net_cap_text(const struct net_dest *d, enum net_cap c, char buf[NET_CAP_TEXT])
{
        char size[32];
        if (c == NET_CAP_HOUR)
                (void) snprintf(buf, NET_CAP_TEXT, "%llu%s", (unsigned long long) d->cap[c], cap_tails[c]);
        else
                (void) snprintf(buf, NET_CAP_TEXT, "%s%s", str_from_size(d->cap[c], size), cap_tails[c]);
        return buf;
}

static int read_cap(struct reader *r, struct net_dest *d)
{
        const struct token *t = reader_need(r, "the amount after `cap`");
        if (!t)
                return -1;

        size_t n = strcspn(t->text, "/"), c = 0;
        while (c < NET_CAP__COUNT && strcmp(t->text + n, cap_tails[c]) != 0)
                c++;

        uint64_t v = 0;
        struct span amount = span_of(t->text, n);
        int bad = c == NET_CAP_HOUR ? str_to_u64(amount, &v) : str_to_size(amount, &v);
        if (c == NET_CAP__COUNT || bad < 0 || v == 0 || v > limit_row(LIMIT_EGRESS)->most) {
                (void) fail_at(r->e, &t->at, "\"%s\" is not a cap", show_text(t->text).text);
                return err_hint(r->e, "write `cap 600M` for bytes, `cap 10M/out` or `cap 1G/in` for those of "
                                      "one way, or `cap 2000/h` for requests an hour");
        }

        if (d->cap[c])
                return fail_at(r->e, &t->at, "`cap` is stated twice");

        d->cap[c] = v;
        return 0;
}

static const char *const reaches[] = { [NET_REACH_SELF] = "self",
                                       [NET_REACH_TENANT] = "tenant",
                                       [NET_REACH_NAMED] = "named",
                                       [NET_REACH_PUBLIC] = "public" };
static const char *const touched[] = { [NET_TOUCH_QUOTA] = "quota",
                                       [NET_TOUCH_MONEY] = "money",
                                       [NET_TOUCH_TICKET] = "ticket",
                                       [NET_TOUCH_PERSON] = "person" };
_Static_assert(COUNT(touched) == NET_TOUCH__COUNT, "a word for each");

const char *net_reach_word(unsigned reach) { return reach < COUNT(reaches) ? reaches[reach] : NULL; }
const char *net_touch_word(unsigned touch) { return touch < COUNT(touched) ? touched[touch] : NULL; }

/* The index of a word in a table whose first row may be empty; `n`: not found. */
static size_t word_number(const char *const *table, size_t n, const struct token *t)
{
        size_t i = 0;
        while (i < n && !(table[i] && strcmp(t->text, table[i]) == 0))
                i++;
        return i;
}

static int read_reach(struct reader *r, struct net_dest *d)
{
        const struct token *t = reader_need(r, "whom it reaches, after `reach`,");
        if (!t)
                return -1;

        if (d->reach)
                return fail_at(r->e, &t->at, "`reach` is stated twice");

        size_t i = word_number(reaches, COUNT(reaches), t);
        if (i == COUNT(reaches)) {
                (void) fail_at(r->e, &t->at, "\"%s\" is not a reach", show_text(t->text).text);
                return err_hint(r->e, "write self, tenant, named or public");
        }

        d->reach = (uint8_t) i;
        return 0;
}

/* One or more; the first other word is the line's next keyword. */
static int read_touches(struct reader *r, struct net_dest *d)
{
        const struct token *t = reader_need(r, "what it touches, after `touches`,");
        if (!t)
                return -1;

        if (d->touches)
                return fail_at(r->e, &t->at, "`touches` is stated twice");

        size_t i = word_number(touched, COUNT(touched), t);
        if (i == COUNT(touched)) {
                (void) fail_at(r->e, &t->at, "\"%s\" is nothing to touch", show_text(t->text).text);
                return err_hint(r->e, "write quota, money, ticket or person, or several of them");
        }

        for (; t && (i = word_number(touched, COUNT(touched), t)) < COUNT(touched); t = reader_next(r)) {
                if (d->touches & 1u << i)
                        return fail_at(r->e, &t->at, "\"%s\" is named twice", t->text);
                d->touches |= (uint8_t) (1u << i);
        }

        if (t)
                r->i--;

        return 0;
}

static int read_method(struct reader *r, struct net_dest *d, const struct token *t)
{
        static const char *const words[] = {
                "with", "cap", "reach",   "touches",    "where", "in",  "only",
                "as",   "max", "accepts", "declassify", "label", "ask", "until"
        };
        size_t n = 0;
        if (!net_method_known(t->text)) {
                (void) fail_at(r->e, &t->at,
                               "\"%s\" is neither a method nor `with`, `cap`, `reach`, `touches`, `where`, "
                               "`as`, `label`, `accepts`, `declassify`, `ask` or `until`",
                               show_text(t->text).text);
                hint_nearest(r->e, t->text, methods, COUNT(methods));
                hint_nearest(r->e, t->text, words, COUNT(words));
                return -1;
        }

        if (d->form == NET_HOST_PORT) {
                (void) fail_at(r->e, &t->at, "a method cannot be seen in a raw connection");
                return err_hint(r->e, "write https://host/** instead of host:port");
        }

        for (; d->methods[n]; n++)
                if (strcmp(d->methods[n], t->text) == 0)
                        return fail_at(r->e, &t->at, "\"%s\" is named twice", t->text);

        d->methods[n] = t->text;
        return 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *) a, *(char *const *) b); }

/* After the upgrade, messages are not requests. */
static int refuse_bounded_websocket(struct reader *r, const struct door *d)
{
        for (char **m = d->net.methods; d->net.bounds && m && *m; m++) {
                if (strcmp(*m, "WEBSOCKET") != 0)
                        continue;
                (void) fail_at(r->e, &d->at, "`where` cannot see into a WebSocket");
                return err_hint(r->e, "give WEBSOCKET a line of its own");
        }

        return 0;
}

/* `as TYPE` and `max SIZE` of the answers. */
static int read_answer_type(struct reader *r, struct door *d)
{
        if (d->type != HANDLE_BINARY)
                return fail_at(r->e, &r->tok[r->i - 1].at, "`as` is stated twice");

        if (d->net.form == NET_HOST_PORT) {
                (void) fail_at(r->e, &d->at, "`as` cannot see the answers in a raw connection");
                return err_hint(r->e, "write https://host/** instead of host:port");
        }

        if (door_read_type(r, d) < 0)
                return -1;

        if (!d->max_stated)
                d->max = ANSWER_BYTES;
        return d->type == HANDLE_BINARY ? fail_at(r->e, &d->at, "answers are binary without `as`") : 0;
}

static int check_answer_type(struct reader *r, const struct door *d)
{
        if (d->max_stated && d->type == HANDLE_BINARY) {
                (void) fail_at(r->e, &d->at, "`max` of an answer needs `as TYPE`");
                return err_hint(r->e, "`cap 1G/in` limits the bytes of all answers");
        }

        for (char **m = d->net.methods; d->type != HANDLE_BINARY && m && *m; m++) {
                if (strcmp(*m, "WEBSOCKET") != 0)
                        continue;
                (void) fail_at(r->e, &d->at, "`as` cannot see into a WebSocket");
                return err_hint(r->e, "give WEBSOCKET a line of its own");
        }
        return 0;
}

/* wss://host/path is https://host/path WEBSOCKET, and nothing else. */
static int add_websocket(struct reader *r, const struct token *t, struct net_dest *d)
{
        if (!d->methods[0])
                d->methods[0] = arena_str(&r->p->mem, "WEBSOCKET");
        if (!d->methods[0])
                return fail_memory(r->e);

        if (strcmp(d->methods[0], "WEBSOCKET") == 0 && !d->methods[1])
                return 0;

        (void) fail_at(r->e, &t->at, "\"%s\" is for WebSockets, and has no other method",
                       show_text(t->text).text);
        return err_hint(r->e, "write https://host/path GET WEBSOCKET for both");
}

int line_net(struct reader *r)
{
        const struct token *t = reader_need(r, "the destination");
        struct door *d = t ? reader_door(r, DOOR_NET, t) : NULL;
        if (!d || net_dest_parse(&r->p->mem, t, NET_AS_WEBSOCKET, &d->net, r->e) < 0)
                return -1;

        d->net.methods = arena_alloc(&r->p->mem, (r->n - r->i + 2) * sizeof *d->net.methods);
        if (!d->net.methods)
                return fail_memory(r->e);

        const struct token *to = t;
        while ((t = reader_next(r))) {
                int bad = token_is(t, "with")      ? read_credential(r, &d->net)
                          : token_is(t, "cap")     ? read_cap(r, &d->net)
                          : token_is(t, "reach")   ? read_reach(r, &d->net)
                          : token_is(t, "touches") ? read_touches(r, &d->net)
                          : token_is(t, "where")   ? bounds_read(r, &d->net)
                          : token_is(t, "as")      ? read_answer_type(r, d)
                          : token_is(t, "max")     ? door_read_max(r, d)
                                                   : read_method(r, &d->net, t);
                if (bad < 0)
                        return -1;
        }

        if (net_is_websocket(to) && add_websocket(r, to, &d->net) < 0)
                return -1;

        size_t n = 0;
        while (d->net.methods[n])
                n++;

        qsort(d->net.methods, n, sizeof *d->net.methods, by_name);
        if (n == 0)
                d->net.methods = NULL;

        return check_answer_type(r, d) < 0 ? -1 : refuse_bounded_websocket(r, d);
}
