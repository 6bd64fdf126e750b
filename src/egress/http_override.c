/* SPDX-License-Identifier: MIT */
/* egress/http_override.c - fields and parameters by which a server can be asked for something else than the
 * request line says. What was judged must be what is done, so they are refused. Pure. */
#include "egress/http_internal.h"

static const char *const other_method[] = { "x-http-method-override", "x-http-method", "x-method-override" };
static const char *const other_path[] = { "x-original-url", "x-rewrite-url", "x-override-url",
                                          "x-original-uri" };
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

/* As frameworks read it from any request: _method=DELETE. */
static bool query_names_method(struct span q)
{
        static const char word[] = "_method=";
        for (size_t at = 0; q.p && at + sizeof word - 1 <= q.n; at++)
                if ((at == 0 || q.p[at - 1] == '&' || q.p[at - 1] == ';') &&
                    strncasecmp((const char *) q.p + at, word, sizeof word - 1) == 0)
                        return true;
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
