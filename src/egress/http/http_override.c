/* SPDX-License-Identifier: MIT */
/* egress/http/http_override.c - fields and parameters that make a server do something else than the request
 * line states. The decided effect must be the actual one, so they are denied. Pure. */
#include "base/str.h"
#include "egress/http/http_internal.h"

static const char *const other_method[] = { "x-http-method-override", "x-http-method", "x-method-override" };
static const char *const other_path[] = {
        "x-original-url",   "x-rewrite-url",         "x-override-url",
        "x-original-uri",   "x-envoy-original-path", "x-forwarded-uri",
        "x-forwarded-path", "x-replaced-path",       "x-waws-unencoded-url"
};
/* They name a host; the connection's host counts, so they are dropped. */
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

/* A name that is "_method" to some server, byte by byte, without its escapes. */
struct form_name {
        unsigned n;
        bool begun, nested, other;
};
static const char word[] = "method";

/* Characters that a server strips from the ends of a name: Django any space, URLSearchParams a '?' at the
 * beginning. */
static bool is_taken_off(const struct form_name *m, uint8_t c)
{
        bool begins = m->n == 0 && !m->begun, ends = m->n == sizeof word - 1;
        return ((begins || ends) && c >= '\t' && c <= '\r') || (ends && c == ' ') || (begins && c == '?');
}

/* PHP turns a space or a dot into '_', and strips several before a name as it strips spaces. Some servers
 * strip brackets: `[_method]` and `_method]` are `_method`; after a name they mark an array. */
static void form_name_add(struct form_name *m, uint8_t c)
{
        m->nested = m->nested || (c == '[' && m->n == sizeof word - 1 && !m->other);
        if (m->nested || c == '[' || c == ']' || is_taken_off(m, c))
                return;

        c = c == ' ' || c == '.' || c == '+' ? '_' : c >= 'A' && c <= 'Z' ? c | 0x20 : c;
        if (m->n == 0 && c == '_')
                m->begun = true;
        else if (!m->begun || m->n == sizeof word - 1 || c != (uint8_t) word[m->n++])
                m->other = true;
}

static bool form_name_is_method(const struct form_name *m)
{
        return m->begun && !m->other && m->n == sizeof word - 1;
}

static bool param_names_method(struct span param)
{
        struct form_name name = { 0 };
        for (size_t i = 0; i < param.n && param.p[i] != '='; i++) {
                int high = param.p[i] == '%' && i + 2 < param.n ? str_hex(param.p[i + 1]) : -1;
                int low = high >= 0 ? str_hex(param.p[i + 2]) : -1;
                form_name_add(&name, low >= 0 ? (uint8_t) (high << 4 | low) : param.p[i]);
                i += low >= 0 ? 2 : 0;
        }

        return form_name_is_method(&name);
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

/* PHP's default has cookies in $_REQUEST as well. */
static bool cookie_names_method(struct span text)
{
        for (size_t at = 0; at < text.n;) {
                const uint8_t *end = memchr(text.p + at, ';', text.n - at);
                size_t n = end ? (size_t) (end - text.p) - at : text.n - at;
                if (param_names_method(http_trim(span_of(text.p + at, n))))
                        return true;
                at += n + 1;
        }

        return false;
}

enum effect_reason http_override(const struct http_head *h, const struct http_url *u)
{
        for (size_t i = 0; i < h->field_count; i++) {
                const struct http_field *f = &h->field[i];
                bool same =
                        f->value.n == h->method.n &&
                        strncasecmp((const char *) f->value.p, (const char *) h->method.p, h->method.n) == 0;
                if (among(f->name, other_method, COUNT(other_method)) && !same)
                        return REASON_METHOD_HEADER;
                if (among(f->name, other_path, COUNT(other_path)))
                        return REASON_PATH_HEADER;
                if (http_name_is(f->name, "cookie") && cookie_names_method(f->value))
                        return REASON_METHOD_COOKIE;
        }

        return query_names_method(u->query) ? REASON_METHOD_PARAMETER : REASON_NONE;
}
