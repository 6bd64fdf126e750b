/* SPDX-License-Identifier: MIT */
/* broker/egress/dns/dns.h - reads one question and writes one answer (RFC 1035, RFC 6891). Pure: no socket,
 * no name is ever passed on. */
#pragma once
#include "base/span.h"

enum { DNS_MAX_NAME = 254, DNS_MAX_MESSAGE = 512, DNS_MAX_QUESTION = 1232 };
enum { DNS_TYPE_A = 1, DNS_TYPE_AAAA = 28 };

enum dns_code {
        DNS_DROP = -1,
        DNS_OK = 0,
        DNS_FORMAT = 1,
        DNS_FAILURE = 2,
        DNS_NO_NAME = 3,
        DNS_NOT_BUILT = 4
};

struct dns_question {
        char name[DNS_MAX_NAME]; /* as in the query, dots between labels, no dot at the end; "" for the root
                                  */
        size_t name_n;           /* a NUL may stand in it */
        bool odd;                /* a byte that no host name has: nothing can be named so */
        uint16_t type, class;
        size_t length; /* header and question: an answer repeats them byte for byte */
        bool extended; /* it carries an OPT record: so will the answer */
};

/* DNS_OK, or the code to answer with; DNS_DROP: nothing to answer to. */
enum dns_code dns_read(struct span packet, struct dns_question *ret);
/* Writes the answer to the question of `packet` that was read into `q`; `address` is 4 or 16 bytes for one
 * record, or empty. `out` holds DNS_MAX_MESSAGE bytes. Returns its length; 0: none. */
size_t dns_write(struct span packet, const struct dns_question *q, enum dns_code code, struct span address,
                 uint8_t *out);
