/* SPDX-License-Identifier: MIT */
/* broker/egress/http/sni_check.c - checks the first bytes of an opaque connection. A door names a host; many
 * hosts share an address, and the SNI of a ClientHello selects one of them. So that name must be the door's.
 * Everything after the ClientHello is encrypted and stays unseen: `net https://host/path` sees it. Pure. */
#include "broker/egress/http/sni_check.h"
#include "broker/egress/tls/tls.h"

#include <string.h>

enum { HTTPS = 443, HELLO_BYTES = 16384 };
enum {
        RECORD_HEAD = 5,
        CIPHERS_CHANGE = 20,
        ALERT = 21,
        HANDSHAKE = 22,
        HEARTBEAT = 24,
        HELLO = 1,
        HELLO_OF_SERVER = 2
};

/* May these bytes still become `text`? */
static bool may_begin(struct span s, const char *text)
{
        size_t n = strlen(text) < s.n ? strlen(text) : s.n;
        return memcmp(s.p, text, n) == 0;
}

static struct greeting refuse_greeting(enum effect_reason why, enum greeting_permit permit)
{
        return (struct greeting){ .verdict = GREETING_REFUSED, .why = why, .permit = permit };
}

/* At the port of https only TLS is spoken, and by old custom SSH; elsewhere whatever the two agree on. */
static struct greeting other_protocol(struct span bytes, bool ended, uint16_t port)
{
        static const char ssh[] = "SSH-2.0-";
        if (port != HTTPS || span_starts(bytes, ssh))
                return (struct greeting){ .verdict = GREETING_PASSES };
        if (!ended && may_begin(bytes, ssh))
                return (struct greeting){ .verdict = GREETING_MORE };
        return refuse_greeting(REASON_NOT_TLS, PERMIT_NOTHING);
}

static struct greeting judge_hello(const struct tls_hello_info *hello, const char *host, uint16_t port)
{
        if (hello->encrypted || (hello->outer && !hello->sni[0]))
                return refuse_greeting(REASON_SNI_ENCRYPTED, PERMIT_REQUESTS);

        if (hello->early)
                return refuse_greeting(REASON_SNI_EARLY_DATA,
                                       PERMIT_REQUESTS); /* a second one could hide behind them */

        if (hello->sni[0] == '\0' && port == HTTPS)
                return refuse_greeting(REASON_SNI_MISSING, PERMIT_NOTHING);

        if (hello->sni[0] && strcmp(hello->sni, host) != 0)
                return refuse_greeting(REASON_SNI_OTHER, PERMIT_NAMED);

        return (struct greeting){ .verdict = GREETING_PASSES,
                                  .hello = hello->sni[0] != '\0',
                                  .bytes = hello->bytes };
}

static struct greeting read_hello(struct span bytes, bool ended, const char *host, uint16_t port)
{
        struct tls_hello_info hello;
        enum tls_hello r = tls_hello_read(bytes, &hello);
        if (r == TLS_HELLO_MORE && !ended && bytes.n < HELLO_BYTES)
                return (struct greeting){ .verdict = GREETING_MORE };

        if (r != TLS_HELLO_OK)
                return refuse_greeting(REASON_SNI_MALFORMED, PERMIT_NOTHING);

        struct greeting g = judge_hello(&hello, host, port);
        if (g.permit == PERMIT_NAMED)
                memcpy(g.named, hello.sni, sizeof g.named);

        return g;
}

/* Records that some servers skip or read before a ClientHello, whatever version they state: an alert, a
 * change of ciphers, a heartbeat, and a handshake of another version (Go takes any below 16). */
static const struct odd_record {
        uint8_t type, first; /* of the record, and of its content */
        size_t len;          /* 0: any */
} odd_records[] = {
        { CIPHERS_CHANGE, 1, 1 }, { ALERT, 1, 2 },     { ALERT, 2, 2 },
        { HANDSHAKE, HELLO, 0 },  { HEARTBEAT, 1, 0 },
};

/* Do these bytes begin with such a record, or may they? */
static struct greeting judge_odd_record(struct span bytes, bool ended, uint16_t port)
{
        bool known = false;
        if (port == HTTPS)
                return other_protocol(bytes, ended, port);

        size_t len = bytes.n >= RECORD_HEAD ? (size_t) bytes.p[3] << 8 | bytes.p[4] : 0;
        for (size_t i = 0; i < sizeof odd_records / sizeof *odd_records; i++) {
                const struct odd_record *r = &odd_records[i];
                if (bytes.p[0] != r->type || (bytes.n >= RECORD_HEAD && r->len && len != r->len))
                        continue;
                known = true;
                if (bytes.n > RECORD_HEAD && bytes.p[RECORD_HEAD] == r->first)
                        return refuse_greeting(REASON_SNI_NOT_FIRST, PERMIT_NOTHING);
        }

        if (known && bytes.n <= RECORD_HEAD && !ended)
                return (struct greeting){ .verdict = GREETING_MORE };

        return other_protocol(bytes, ended, port);
}

struct greeting greet_judge(struct span bytes, bool ended, const char *host, uint16_t port)
{
        static const char tls[] = { HANDSHAKE, 3, 0 };
        if (bytes.n == 0)
                return (struct greeting){ .verdict = ended ? GREETING_PASSES : GREETING_MORE };
        if (!may_begin(bytes, tls))
                return judge_odd_record(bytes, ended, port);
        return read_hello(bytes, ended, host, port);
}

struct greeting greet_again(struct span bytes, bool ended, const char *host, uint16_t port)
{
        const struct greeting passes = { .verdict = GREETING_PASSES };
        struct greeting more = { .verdict = ended ? GREETING_PASSES : GREETING_MORE };
        if (!ended && bytes.n >= HELLO_BYTES)
                more = refuse_greeting(REASON_SNI_ENDLESS, PERMIT_NOTHING);

        while (bytes.n >= RECORD_HEAD) {
                size_t len = (size_t) bytes.p[3] << 8 | bytes.p[4];
                bool between = (bytes.p[0] == CIPHERS_CHANGE || bytes.p[0] == ALERT) && len <= 2;
                if (bytes.p[0] == HANDSHAKE && len == 0)
                        return refuse_greeting(REASON_SNI_MALFORMED, PERMIT_NOTHING);
                if (bytes.p[0] == HANDSHAKE && bytes.n == RECORD_HEAD)
                        return more;
                if (bytes.p[0] == HANDSHAKE && bytes.p[RECORD_HEAD] == HELLO)
                        return read_hello(bytes, ended, host, port);
                if (!between)
                        return passes;
                if (bytes.n < RECORD_HEAD + len)
                        return more;
                bytes = span_of(bytes.p + RECORD_HEAD + len, bytes.n - RECORD_HEAD - len);
        }

        return more;
}

bool greet_asks_again(struct span answer)
{
        static const uint8_t retry[] = { 0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
                                         0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
                                         0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c };
        size_t at = RECORD_HEAD + 4 + 2; /* behind its length and version: RFC 8446, 4.1.3 */
        if (answer.n < at + sizeof retry)
                return true;

        return answer.p[0] == HANDSHAKE && answer.p[RECORD_HEAD] == HELLO_OF_SERVER &&
               memcmp(answer.p + at, retry, sizeof retry) == 0;
}
