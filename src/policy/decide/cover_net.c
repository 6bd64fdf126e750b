/* SPDX-License-Identifier: MIT */
/* policy/decide/cover_net.c - is everything that one destination grants granted by another? */
#include "policy/internal.h"

static bool host_covers(const struct net_dest *s, const struct net_dest *d)
{
        if (s->wildcard == d->wildcard && strcmp(s->host, d->host) == 0)
                return true;
        size_t n = strlen(s->host), k = strlen(d->host);
        return s->wildcard && !d->is_address && k > n && d->host[k - n - 1] == '.' &&
               strcmp(d->host + k - n, s->host) == 0;
}

static bool url_covers(const struct net_dest *s, const struct net_dest *d)
{
        if (s->form == NET_HOST_PORT)
                return true;

        if (d->form == NET_HOST_PORT || s->tls != d->tls)
                return false;

        if (s->path_tail)
                return strncmp(s->path, d->path, strlen(s->path)) == 0;

        return !d->path_tail && strcmp(s->path, d->path) == 0;
}

static bool caps_cover(const struct net_dest *s, const struct net_dest *d)
{
        for (unsigned c = 0; c < NET_CAP__COUNT; c++) {
                uint64_t most = d->cap[c];
                /* A cap on the total also caps each direction. */
                if (!most && (c == NET_CAP_OUT || c == NET_CAP_IN))
                        most = d->cap[NET_CAP_BYTES];
                if (s->cap[c] && (!most || most > s->cap[c]))
                        return false;
        }

        return true;
}

bool net_covers(const struct net_dest *s, const struct net_dest *d, const char *method)
{
        bool listed = !s->methods && net_method_unnamed(method);
        for (char **m = s->methods; method && m && *m; m++)
                listed = listed || strcmp(*m, method) == 0;

        bool credential = !d->credential || (s->credential && strcmp(s->credential, d->credential) == 0);
        return listed && credential && (s->form == NET_PLACE) == (d->form == NET_PLACE) &&
               host_covers(s, d) && s->port == d->port && url_covers(s, d) && bounds_cover(s, d) &&
               caps_cover(s, d);
}
