/* SPDX-License-Identifier: MIT */
/* egress/http_override.c - fields and parameters by which a server can be asked for something else than the
 * request line says. What was judged must be what is done, so they are refused. Pure. */
#include "base/str.h"
#include "egress/http_internal.h"

static const char *const other_method[] = { "x-http-method-override", "x-http-method", "x-method-override" };
static const char *const other_path[] = {
        "x-original-url",   "x-rewrite-url",         "x-override-url",
        "x-original-uri",   "x-envoy-original-path", "x-forwarded-uri",
        "x-forwarded-path", "x-replaced-path",       "x-waws-unencoded-url"
};
/* They name a host; the connection's is the one that counts, so they just do not go on. */
static const char *const other_host[] = { "x-forwarded-host",     "x-host",    "x-forwarded-server",
                                          "x-http-host-override", "forwarded", "x-original-host" };

static bool among(struct span name, const char *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (http_name_is(name, list[i]))
                        return true;
        return false;
}

bool http_names_other_host(struct span name) { return among(name, other_host, COUNT(other_host)); }

/* One character of a parameter's name, perhaps escaped; PHP takes a space or a dot for '_', too. */
static uint8_t name_byte(struct span q, size_t *at)
{
        uint8_t c = q.p[(*at)++];
        int high = c == '%' && *at + 1 < q.n ? str_hex(q.p[*at]) : -1;
        int low = high >= 0 ? str_hex(q.p[*at + 1]) : -1;
        if (low >= 0) {
                c = (uint8_t) (high << 4 | low);
                *at += 2;
        }
        if (c == ' ' || c == '+' || c == '.')
                return '_';
        return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* "_method", however it is spelled: more '_' before it are spaces that PHP leaves out, brackets are left out
 * by parsers of nested names. */
static bool param_names_method(struct span param)
{
        static const char word[] = "method";
        size_t n = 0;
        bool begun = false;
        for (size_t at = 0; at < param.n && param.p[at] != '=';) {
                uint8_t c = name_byte(param, &at);
                if (c == '[' || c == ']')
                        continue;
                if (n == 0 && c == '_')
                        begun = true;
                else if (n == sizeof word - 1 || c != (uint8_t) word[n])
                        return false;
                else
                        n++;
        }
        return begun && n == sizeof word - 1;
}

/* As frameworks read it from any request: _method=DELETE. */
static bool query_names_method(struct span q)
{
        for (size_t at = 0; at < q.n;) {
                size_t n = 0;
                while (at + n < q.n && q.p[at + n] != '&' && q.p[at + n] != ';')
                        n++;
                if (param_names_method(span_of(q.p + at, n)))
                        return true;
                at += n + 1;
        }
        return false;
}

const char *http_override(const struct http_head *h, const struct http_url *u)
{
        for (size_t i = 0; i < h->field_count; i++) {
                const struct http_field *f = &h->field[i];
                bool same =
                        f->value.n == h->method.n &&
                        strncasecmp((const char *) f->value.p, (const char *) h->method.p, h->method.n) == 0;
                if (among(f->name, other_method, COUNT(other_method)) && !same)
                        return "a header asks for another method than the request's own";
                if (among(f->name, other_path, COUNT(other_path)))
                        return "a header asks for another path than the request's own";
        }
        return query_names_method(u->query) ? "a parameter asks for another method than the request's own"
                                            : NULL;
}
