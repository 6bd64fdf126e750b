/* SPDX-License-Identifier: MIT */
/* egress/greet.c - the first bytes of a connection whose bytes are passed on unseen. A door names a host;
 * many hosts share an address, and the name in a TLS hello says which of them is meant. So that name must be
 * the door's. What follows the hello is encrypted and stays unseen: `net https://host/path` sees it. Pure. */
#include "egress/greet.h"
#include "egress/tls.h"

#include <string.h>

enum { HTTPS = 443, HELLO_BYTES = 16384 };

static bool begins(struct span s, const char *text)
{
        size_t n = strlen(text);
        return s.n >= n && memcmp(s.p, text, n) == 0;
}

/* May these bytes still become `text`? */
static bool may_begin(struct span s, const char *text)
{
        size_t n = strlen(text) < s.n ? strlen(text) : s.n;
        return memcmp(s.p, text, n) == 0;
}

static struct greeting refuse(const char *why, enum greeting_permit permit)
{
        return (struct greeting){ .verdict = GREETING_REFUSED, .why = why, .permit = permit };
}

/* At the port of https only TLS is spoken, and by old custom SSH; elsewhere whatever the two agree on. */
static struct greeting other_protocol(struct span bytes, bool ended, uint16_t port)
{
        static const char ssh[] = "SSH-2.0-";
        if (port != HTTPS || begins(bytes, ssh))
                return (struct greeting){ .verdict = GREETING_PASSES };
        if (!ended && may_begin(bytes, ssh))
                return (struct greeting){ .verdict = GREETING_MORE };
        return refuse("what is sent to port 443 is no TLS hello", PERMIT_NOTHING);
}

static struct greeting judge_hello(const struct tls_hello_info *hello, const char *host, uint16_t port)
{
        if (hello->encrypted)
                return refuse("the hello hides a name in an encrypted one (ECH)", PERMIT_REQUESTS);
        if (hello->sni[0] == '\0' && port == HTTPS)
                return refuse("the TLS hello names no host", PERMIT_NOTHING);
        if (hello->sni[0] && strcmp(hello->sni, host) != 0)
                return refuse("the TLS hello names another host", PERMIT_NAMED);
        return (struct greeting){ .verdict = GREETING_PASSES, .hello = hello->sni[0] != '\0' };
}

struct greeting greet_judge(struct span bytes, bool ended, const char *host, uint16_t port)
{
        static const char tls[] = { 22, 3, 0 };
        struct tls_hello_info hello;
        if (bytes.n == 0)
                return (struct greeting){ .verdict = ended ? GREETING_PASSES : GREETING_MORE };
        if (!may_begin(bytes, tls))
                return other_protocol(bytes, ended, port);
        enum tls_hello r = tls_hello_read(bytes, &hello);
        if (r == TLS_HELLO_MORE && !ended && bytes.n < HELLO_BYTES)
                return (struct greeting){ .verdict = GREETING_MORE };
        if (r != TLS_HELLO_OK)
                return refuse("the TLS hello is malformed", PERMIT_NOTHING);
        struct greeting g = judge_hello(&hello, host, port);
        if (g.permit == PERMIT_NAMED)
                memcpy(g.named, hello.sni, sizeof g.named);
        return g;
}
