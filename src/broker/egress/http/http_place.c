/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_place.c - rewrites the URLs of a server of another stage into those that the box
 * knows, which requests the live ones: else the first redirect would lead out of the place. Pure. */
#include "broker/egress/http/http_internal.h"

static bool is_server(const struct policy_place_url *u, const char *host, uint16_t port, bool tls)
{
        return u->tls == tls && u->port == port && strcmp(u->host, host) == 0;
}

struct http_moved http_moved(const struct http_rules *r, const struct http_peer *peer, bool tls,
                             const struct http_judgement *to)
{
        struct http_moved best = { 0 };
        const char *name;
        for (size_t i = 0; (name = policy_place_name(r->in.places, i)); i++) {
                const struct policy_place_url *a = policy_place_asked(r->in.places, name, r->in.stage),
                                              *t = policy_place_target(r->in.places, name, r->in.stage);
                if (!a || !t || a == t || !is_server(a, peer->host, peer->port, tls) ||
                    !is_server(t, to->host, to->port, to->tls) ||
                    strncmp(to->path, t->path, strlen(t->path)) != 0)
                        continue;
                if (!best.target || strlen(t->path) > strlen(best.target->path))
                        best = (struct http_moved){ a, t };
        }

        return best;
}

static void put_base(const struct policy_place_url *u, struct fifo *out)
{
        char origin[HTTP_ORIGIN_MAX];
        fifo_text(out, http_origin(u->tls, u->host, u->port, origin));
        fifo_text(out, u->path);
}

void http_put_moved(const struct http_moved *m, struct span value, struct fifo *out)
{
        struct fifo base = { 0 };
        size_t path = m->target ? strlen(m->target->path) : 0;
        if (m->target)
                put_base(m->target, &base);

        bool whole = m->target && value.n >= base.n && memcmp(value.p, base.p + base.at, base.n) == 0;
        bool local = m->target && !whole && span_starts(value, m->target->path) && !span_starts(value, "//");
        if (whole)
                put_base(m->asked, out);
        else if (local)
                fifo_text(out, m->asked->path);

        size_t skip = whole ? base.n : local ? path : 0;
        fifo_add(out, value.p + skip, value.n - skip);
        out->failed = out->failed || base.failed;
        fifo_done(&base);
}
