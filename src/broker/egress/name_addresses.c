/* SPDX-License-Identifier: MIT */
/* broker/egress/name_addresses.c - every name that the box may reach gets one address of each family, for as
 * long as the box lives. The address of a connection then identifies the name; the name's real addresses stay
 * outside. */
#include "broker/egress/internal.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t base4[4] = { 198, 18, 0, 0 };
static const uint8_t base6[16] = { 0xfd, 0x53, 0xc0, 0xd0 };

struct name *names_get(struct names *n, const char *host)
{
        for (unsigned i = 0; i < n->count; i++)
                if (strcmp(n->at[i]->host, host) == 0)
                        return n->at[i];

        size_t len = strlen(host);
        struct name *x = n->count < NAMES_MAX && len < sizeof x->host ? calloc(1, sizeof *x) : NULL;
        if (!x)
                return NULL;

        memcpy(x->host, host, len + 1);
        n->at[n->count++] = x;
        return x;
}

/* Counted from one: the first address of a range looks like the network's own. */
struct egress_address names_address(const struct names *n, const struct name *name, bool v6)
{
        struct egress_address a = { .v6 = v6 };
        unsigned i = 0;
        while (i < n->count && n->at[i] != name)
                i++;

        memcpy(a.bytes, v6 ? base6 : base4, v6 ? 16 : 4);
        uint8_t *low = a.bytes + (v6 ? 14 : 2);
        low[0] = (uint8_t) ((i + 1) >> 8);
        low[1] = (uint8_t) (i + 1);
        return a;
}

struct name *names_find(const struct names *n, const struct egress_address *a)
{
        size_t fixed = a->v6 ? 14 : 2;
        if (memcmp(a->bytes, a->v6 ? base6 : base4, fixed) != 0)
                return NULL;
        unsigned i = (unsigned) a->bytes[fixed] << 8 | a->bytes[fixed + 1];
        return i > 0 && i <= n->count ? n->at[i - 1] : NULL;
}
