/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_tls_hello.c - any bytes as the beginning of TLS. A name is plain and of bounded length;
 * bytes that are enough stay enough, and what was bad does not become good with more. */
#include "egress/tls.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
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
