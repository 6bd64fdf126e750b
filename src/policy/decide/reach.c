/* SPDX-License-Identifier: MIT */
/* policy/decide/reach.c - questions about names alone, for the box's name server. */
#include "policy/internal.h"

static bool dest_names(const struct net_dest *d, const char *host)
{
        if (d->form == NET_PLACE || d->is_address)
                return false;
        if (!d->wildcard)
                return strcmp(d->host, host) == 0;
        size_t n = strlen(host), k = strlen(d->host);
        return n > k + 1 && host[n - k - 1] == '.' && strcmp(host + n - k, d->host) == 0;
}

bool policy_names_host(const struct checked_policy *c, const char *host, int64_t now)
{
        for (size_t i = c->live.start[DOOR_NET]; i < c->live.start[DOOR_NET + 1]; i++) {
                const struct door *d = &c->live.v[i];
                if (dest_names(&d->net, host) && (d->until == 0 || now < d->until))
                        return true;
        }
        return false;
}
