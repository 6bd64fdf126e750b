/* SPDX-License-Identifier: MIT */
/* broker/egress/http/sni_check.h - do the first bytes of a client fit the door that it came through? */
#pragma once
#include "base/span.h"
#include "effect/effect.h"

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
        enum effect_reason why; /* denied */
        enum greeting_permit permit;
        bool hello;   /* passes: a TLS hello named the host */
        size_t bytes; /* passes: so many bytes, and the rest is for greet_again(); 0: any bytes may follow */
        char named[256]; /* the host in the hello */
};
/* `ended`: no more will come. `host` is canonical and a name, not an address. */
struct greeting greet_judge(struct span bytes, bool ended, const char *host, uint16_t port);
/* The bytes after an accepted ClientHello: a server may have requested a second one, and uses the name in
 * that. */
struct greeting greet_again(struct span bytes, bool ended, const char *host, uint16_t port);
/* Do a server's first bytes request a second ClientHello (HelloRetryRequest)? Also true of too few bytes to
 * decide. */
bool greet_asks_again(struct span answer);
