/* SPDX-License-Identifier: MIT */
/* broker/egress/ask_policy.c - questions to the policy about addresses and doors. */
#include "broker/egress/broker_labels.h"
#include "broker/egress/http/http.h"
#include "broker/egress/internal.h"

#include <stdio.h>
#include <string.h>

bool decide_closed(const struct broker *b, const struct door *d)
{
        return d->until != 0 && b->now_s >= d->until;
}

/* The URL that the box requests at this door: its own, or the place's. NULL: bytes, or nowhere. */
const struct policy_place_url *decide_asked_at(const struct broker *b, const struct door *d,
                                               struct policy_place_url *own)
{
        if (d->kind != DOOR_NET || d->net.form == NET_HOST_PORT)
                return NULL;

        if (d->net.form == NET_PLACE)
                return policy_place_asked(b->places, d->net.host, b->stage);

        *own = (struct policy_place_url){
                .tls = d->net.tls, .is_address = d->net.is_address, .port = d->net.port, .host = d->net.host
        };

        return own;
}

bool decide_asks(const struct door *d, struct policy_flow flow)
{
        return flow.answer == ANSWER_ASK || (d->ask.on && !d->ask.labelled);
}

bool decide_names_place(const struct broker *b, const char *host)
{
        for (size_t i = 0; i < b->door_count; i++) {
                struct policy_place_url own;
                const struct policy_place_url *u = decide_asked_at(b, &b->doors[i], &own);
                if (u && u != &own && !u->is_address && strcmp(u->host, host) == 0 &&
                    !decide_closed(b, &b->doors[i]))
                        return true;
        }

        return false;
}

bool decide_sees_requests(const struct broker *b, const char *host, uint16_t port, bool raw_door)
{
        if (!b->rules || !http_rules_cover(b->rules, host, port))
                return false;

        if (!raw_door)
                return true;

        /* Both: bytes go through unseen, unless a door there adds a credential, which only requests can get.
         */
        for (size_t i = 0; i < b->door_count; i++) {
                const struct net_dest *n = &b->doors[i].net;
                if (b->doors[i].kind == DOOR_NET && n->credential && n->port == port &&
                    strcmp(n->host, host) == 0)
                        return true;
        }

        return false;
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
                if (decide_sees_requests(b, host, d->net.port, true))
                        return NULL;
                if (!policy_net_covers(d, &e))
                        continue;
                struct policy_flow flow = labels_judge_door(b, d, NULL);
                if (decide_asks(d, flow) || (flow.answer == ANSWER_DENY && !d->net.wildcard))
                        return NULL;
                raw = raw ? raw : d;
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

        return decide_names_place(b, host) ? NULL : found;
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
