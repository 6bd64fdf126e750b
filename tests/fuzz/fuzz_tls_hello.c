/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_tls_hello.c - any bytes as the beginning of TLS. A name is plain and of bounded length;
 * bytes that are enough stay enough, and what was bad does not become good with more. What passes a door at
 * port 443 as TLS names the door's host, whatever else is in it. */
#include "broker/egress/http/sni_check.h"
#include "broker/egress/tls/tls.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(struct span all)
{
        static const char host[] = "api.test";
        struct tls_hello_info i;
        struct greeting g = greet_judge(all, false, host, 443);
        bool ssh = all.n >= 8 && memcmp(all.p, "SSH-2.0-", 8) == 0;
        if (g.verdict == GREETING_PASSES && !ssh &&
            (tls_hello_read(all, &i) != TLS_HELLO_OK || strcmp(i.sni, host) != 0 || i.encrypted))
                abort();
        if (greet_judge(all, true, host, 443).verdict == GREETING_MORE ||
            (all.n > 16384 && g.verdict == GREETING_MORE))
                abort();
        struct greeting second = greet_again(all, false, host, 443);
        if (greet_again(all, true, host, 443).verdict == GREETING_MORE ||
            (all.n > 16384 && second.verdict == GREETING_MORE) ||
            (g.verdict == GREETING_REFUSED && g.named[0] && second.verdict == GREETING_PASSES))
                abort();
        if (g.verdict == GREETING_REFUSED && (!g.why || (g.permit == PERMIT_NAMED) != (g.named[0] != '\0')))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        judge(span_of(data, size));
        struct tls_hello_info i, part;
        enum tls_hello r = tls_hello_read(span_of(data, size), &i);
        if (i.sni[strspn(i.sni, "abcdefghijklmnopqrstuvwxyz0123456789.-_")] != '\0')
                abort();
        for (size_t n = 0; n < size; n += 1 + size / 64) {
                enum tls_hello p = tls_hello_read(span_of(data, n), &part);
                if ((p == TLS_HELLO_BAD && r != TLS_HELLO_BAD) || (p == TLS_HELLO_OK && r == TLS_HELLO_MORE))
                        abort();
        }
        return 0;
}
