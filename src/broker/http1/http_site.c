/* SPDX-License-Identifier: MIT */
/* broker/http1/http_site.c - is a request meant for this server, and by a page of its own? Pure. */
#include "broker/http1/http1.h"

#include <stdio.h>
#include <strings.h>

static bool same_host(const char *host, const char *name, uint16_t port)
{
        char want[300];
        (void) snprintf(want, sizeof want, "%s:%u", name, port);
        return strcasecmp(host, want) == 0 || ((port == 80 || port == 0) && strcasecmp(host, name) == 0);
}

bool host_is_ours(const char *host, uint16_t port, const char *const *others)
{
        static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (same_host(host, names[i], port))
                        return true;

        for (; *others; others++)
                if (strcasecmp(host, *others) == 0)
                        return true;
        return false;
}

bool origin_is_ours(const char *origin, const char *host)
{
        const char *site = strncmp(origin, "https://", 8) == 0  ? origin + 8
                           : strncmp(origin, "http://", 7) == 0 ? origin + 7
                                                                : origin;
        return !origin[0] || strcasecmp(site, host) == 0;
}
