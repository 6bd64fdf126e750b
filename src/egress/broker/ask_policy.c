/* SPDX-License-Identifier: MIT */
/* egress/broker/ask_policy.c - questions to the policy about addresses and doors. */
#include "egress/broker/requests.h"
#include "egress/internal.h"

#include <stdio.h>
#include <string.h>

bool decide_closed(const struct broker *b, const struct door *d)
{
        return d->until != 0 && b->now_s >= d->until;
}

const struct door *decide_raw_door(const struct broker *b, const char *host)
{
        const struct door *raw = NULL;
        for (size_t i = 0; i < b->door_count; i++) {
                const struct door *d = &b->doors[i];
                char text[256];
                (void) snprintf(text, sizeof text, "%s", host);
                const struct net_dest to = { .form = NET_HOST_PORT, .port = d->net.port, .host = text };
                const struct effect e = { .kind = EFFECT_NET, .net = &to };
                if (d->kind != DOOR_NET || decide_closed(b, d) || d->net.form != NET_HOST_PORT)
                        continue;
                if (requests_cover(b, host, d->net.port, true))
                        return NULL;
                if (!raw && policy_net_covers(d, &e))
                        raw = d;
        }

        return raw;
}

const struct door *decide_wildcard(const struct broker *b, const char *host)
{
        const struct door *found = NULL;
        size_t n = strlen(host);
        for (size_t i = 0; i < b->door_count; i++) {
                const struct door *d = &b->doors[i];
                if (d->kind != DOOR_NET || d->net.form == NET_PLACE || decide_closed(b, d))
                        continue;
                size_t k = strlen(d->net.host);
                if (!d->net.wildcard && strcmp(d->net.host, host) == 0)
                        return NULL;
                if (d->net.wildcard && n > k + 1 && host[n - k - 1] == '.' &&
                    strcmp(host + n - k, d->net.host) == 0 && !found)
                        found = d;
        }

        return requests_name_host(b, host) ? NULL : found;
}

bool decide_names_address(const struct broker *b, const struct egress_address *a, uint16_t port)
{
        char text[INET6_ADDRSTRLEN];
        (void) egress_address_text(a, text, sizeof text);
        for (size_t i = 0; i < b->door_count; i++) {
                const struct door *d = &b->doors[i];
                if (d->kind == DOOR_NET && d->net.form == NET_HOST_PORT && d->net.is_address &&
                    d->net.port == port && strcmp(d->net.host, text) == 0 && !decide_closed(b, d))
                        return true;
        }

        return false;
}

void decide_to_text(const char *host, bool is_address, uint16_t port, char *out, size_t cap)
{
        bool brackets = is_address && strchr(host, ':');
        (void) snprintf(out, cap, "%s%s%s:%u", brackets ? "[" : "", host, brackets ? "]" : "", port);
}
