/* SPDX-License-Identifier: MIT */
/* egress/greet.h - does the first thing that a client says fit the door that it came through? */
#pragma once
#include "base/span.h"

#include <stdbool.h>
#include <stdint.h>

enum greeting_verdict { GREETING_REFUSED = 0, GREETING_MORE, GREETING_PASSES };
enum greeting_permit {
        PERMIT_NOTHING = 0, /* no line would */
        PERMIT_NAMED,       /* a door to the host that was named */
        PERMIT_REQUESTS,    /* a door that sees requests */
};
struct greeting {
        enum greeting_verdict verdict;
        const char *why; /* refused: one clause */
        enum greeting_permit permit;
        bool hello;      /* passes: a TLS hello named the host */
        char named[256]; /* the host in the hello */
};
/* `ended`: no more will come. `host` is canonical and a name, not an address. */
struct greeting greet_judge(struct span bytes, bool ended, const char *host, uint16_t port);
