/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_dns.c - the box's name server on any bytes: what is read lies inside the packet, and what
 * is answered is itself an answer to that question and reads as one message. */
#include "broker/egress/dns/dns.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_answer(struct span packet, const struct dns_question *q, enum dns_code code, size_t bytes)
{
        uint8_t out[DNS_MAX_MESSAGE];
        const uint8_t address[16] = { 0xfd, 0x53, 0xc0, 0xd0 };
        size_t n = dns_write(packet, q, code, span_of(address, bytes), out);
        if (n == 0)
                return;
        struct dns_question again;
        if (n > sizeof out || n < q->length || memcmp(out, packet.p, 2) != 0 || !(out[2] & 0x80) ||
            (out[3] & 15) != code || out[7] != (bytes > 0))
                abort();
        if (q->length > 12 && memcmp(out + 12, packet.p + 12, q->length - 12) != 0)
                abort();
        if (dns_read(span_of(out, n), &again) != DNS_DROP)
                abort(); /* an answer is never answered */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct dns_question q;
        struct span packet = span_of(data, size);
        enum dns_code code = dns_read(packet, &q);
        if (code == DNS_DROP)
                return 0;
        if (q.length > size || strlen(q.name) >= sizeof q.name)
                abort();
        bool address = code == DNS_OK && (q.type == DNS_TYPE_A || q.type == DNS_TYPE_AAAA);
        check_answer(packet, &q, code, 0);
        if (address)
                check_answer(packet, &q, DNS_OK, q.type == DNS_TYPE_A ? 4 : 16);
        return 0;
}
