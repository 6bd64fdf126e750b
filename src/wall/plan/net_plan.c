/* SPDX-License-Identifier: MIT */
/* wall/plan/net_plan.c - what the `net` doors need before the box exists: the ports that the broker listens
 * on, and the literal loopback addresses, which in the box mean its own loopback unless the broker also
 * listens there. */
#include "base/limits.h"
#include "wall/plan/internal.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static int refuse_door(const struct door *d, enum err_code code, const char *what, const char *hint,
                       struct err *e)
{
        (void) door_error(d, code, e, "%s", what);
        return err_hint(e, "%s", hint);
}

static int add_port(struct builder *b, const struct door *d, uint16_t port, struct err *e)
{
        struct plan *p = b->p;
        for (size_t i = 0; i < p->port_count; i++)
                if (p->ports[i] == port)
                        return 0;

        if (p->port_count == NET_PORTS_MAX)
                return refuse_door(d, ERR_POLICY, "more different ports than one box can have",
                                   "256 is the most; use two boxes", e);

        p->ports[p->port_count++] = port;
        return 0;
}

static bool is_loopback(const struct plan_local *l)
{
        static const uint8_t one[16] = { [15] = 1 };
        return l->v6 ? memcmp(l->address, one, 16) == 0 : l->address[0] == 127;
}

/* Names get their addresses from these ranges; a door to one of them would be a door to an arbitrary name. */
static bool is_ours(const struct plan_local *l)
{
        static const uint8_t ours[4] = { 0xfd, 0x53, 0xc0, 0xd0 };
        if (l->v6)
                return memcmp(l->address, ours, 3) == 0 && (l->address[3] & 0xfe) == 0xd0;
        return l->address[0] == 198 && (l->address[1] & 0xfe) == 18;
}

static int add_local(struct builder *b, const struct door *d, const struct policy_place_url *u, struct err *e)
{
        struct plan *p = b->p;
        struct plan_local l = { .port = u->port, .v6 = strchr(u->host, ':') != NULL };
        if (inet_pton(l.v6 ? AF_INET6 : AF_INET, u->host, l.address) != 1)
                return err_set(e, ERR_INTERNAL, 0, "%s is not an address", u->host);

        if (is_ours(&l))
                return refuse_door(d, ERR_POLICY, "the address lies in the range that names get in a box",
                                   "198.18.0.0/15 and fd53:c0d0::/31 are never a host: name another", e);

        if (!is_loopback(&l))
                return 0;

        for (size_t i = 0; i < p->local_count; i++)
                if (p->locals[i].v6 == l.v6 && p->locals[i].port == l.port &&
                    memcmp(p->locals[i].address, l.address, sizeof l.address) == 0)
                        return 0;

        if (p->local_count == NET_LOCALS_MAX)
                return refuse_door(d, ERR_POLICY, "more loopback addresses than one box can have",
                                   "64 is the most; use two boxes", e);

        p->locals[p->local_count++] = l;
        return 0;
}

static int by_number(const void *x, const void *y)
{
        const uint16_t *a = x, *b = y;
        return (*a > *b) - (*a < *b);
}

static int refuse_place(const struct builder *b, const struct door *d, struct err *e)
{
        (void) door_error(d, ERR_DOOR, e, "no places file defines @%s for the stage %s", d->net.host,
                          policy_stage_name(b->r->stage));
        return err_hint(e, "--places FILE, with a line `place %s live https://host/`", d->net.host);
}

/* In the stage test a door leads to the target of a place: a destination without a place would be the live
 * server. */
static int judge_stage(const struct builder *b, const struct door *d, struct err *e)
{
        const struct policy_staged s = { b->r->places, b->r->stage };

        if (policy_stage_has_door(&s, &d->net))
                return 0;

        (void) door_error(d, ERR_DOOR, e,
                          "no place names %s%.200s in the stage test: it would be the live server",
                          d->net.wildcard ? "*." : "", d->net.host);
        if (d->net.form == NET_HOST_PORT)
                return err_hint(
                        e,
                        "if %.100s is a test server, say so in the file of --places: `place NAME test "
                        "http://%.100s:%u/`",
                        d->net.host, d->net.host, d->net.port);

        return err_hint(e, "--places FILE, with `place NAME live %s://%.100s/` and `place NAME test URL`",
                        d->net.tls ? "https" : "http", d->net.host);
}

static int add_door(struct builder *b, const struct door *d, struct err *e)
{
        if (!wall_has(b->p->wall, WALL_OWN_NET))
                return refuse_door(d, ERR_HOST, "the process wall does not support a `net` door",
                                   "it needs the namespace wall: `cordon doctor` shows what is missing", e);

        const struct policy_place_url own = { .tls = d->net.form == NET_URL && d->net.tls,
                                              .is_address = d->net.is_address,
                                              .port = d->net.port,
                                              .host = d->net.host };
        const struct policy_place_url *u = &own;
        if (d->net.form == NET_PLACE && b->r->places_later)
                return 0;

        if (d->net.form == NET_PLACE && !(u = policy_place_asked(b->r->places, d->net.host, b->r->stage)))
                return refuse_place(b, d, e);

        if (judge_stage(b, d, e) < 0)
                return -1;

        b->p->authority |= u->tls;
        if (add_port(b, d, u->port, e) < 0 || (u->is_address && add_local(b, d, u, e) < 0))
                return -1;

        return 0;
}

int build_net(struct builder *b, struct err *e)
{
        struct plan *p = b->p;
        for (size_t i = 0; i < b->door_count; i++)
                p->net |= b->doors[i].kind == DOOR_NET;

        if (!p->net)
                return 0;

        p->ports = arena_alloc(b->a, NET_PORTS_MAX * sizeof *p->ports);
        p->locals = arena_alloc(b->a, NET_LOCALS_MAX * sizeof *p->locals);
        for (size_t i = 0; !b->a->failed && i < b->door_count; i++)
                if (b->doors[i].kind == DOOR_NET && add_door(b, &b->doors[i], e) < 0)
                        return -1;

        if (!b->a->failed)
                qsort(p->ports, p->port_count, sizeof *p->ports, by_number);

        return 0;
}
