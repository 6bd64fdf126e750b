/* SPDX-License-Identifier: MIT */
/* broker/egress/dns/dns.c - the wire form of questions and answers. */
#include "broker/egress/dns/dns.h"

enum { HEADER = 12, CLASS_IN = 1, TYPE_OPT = 41, TTL_SECONDS = 60 };

static uint16_t u16(const uint8_t *p) { return (uint16_t) (p[0] << 8 | p[1]); }

static bool host_byte(uint8_t c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '_';
}

/* Labels only: a question has no bytes before it that a compression pointer could refer to. Returns the end,
 * or 0. */
static size_t read_name(struct span packet, struct dns_question *q)
{
        size_t at = HEADER, k = 0;
        while (at < packet.n && packet.p[at] != 0) {
                size_t n = packet.p[at++];
                if (n > 63 || at + n >= packet.n || k + n + 2 > sizeof q->name)
                        return 0;
                if (k > 0)
                        q->name[k++] = '.';
                for (size_t i = 0; i < n; i++) {
                        q->odd |= !host_byte(packet.p[at + i]);
                        q->name[k++] = (char) packet.p[at + i];
                }
                at += n;
        }

        if (at >= packet.n)
                return 0;

        q->name[k] = '\0';
        q->name_n = k;
        return at + 1;
}

/* One OPT record of the root, and nothing behind it. */
static bool read_extension(struct span packet, size_t at)
{
        if (packet.n < at + 11 || packet.p[at] != 0 || u16(packet.p + at + 1) != TYPE_OPT)
                return false;
        return packet.n == at + 11 + u16(packet.p + at + 9);
}

enum dns_code dns_read(struct span packet, struct dns_question *ret)
{
        struct dns_question q = { .length = HEADER };
        const uint8_t *p = packet.p;
        if (packet.n < HEADER || (p[2] & 0x80))
                return DNS_DROP; /* too short to answer, or itself an answer */

        *ret = q;
        if (p[2] & 0x78)
                return DNS_NOT_BUILT;

        uint16_t more = u16(p + 10);
        if (u16(p + 4) != 1 || u16(p + 6) != 0 || u16(p + 8) != 0 || more > 1)
                return DNS_FORMAT;

        size_t at = read_name(packet, &q);
        if (at == 0 || packet.n < at + 4)
                return DNS_FORMAT;

        q.type = u16(p + at);
        q.class = u16(p + at + 2);
        q.length = at + 4;
        q.extended = more == 1;
        if (q.extended ? !read_extension(packet, q.length) : packet.n != q.length)
                return DNS_FORMAT;

        *ret = q;
        return q.class == CLASS_IN ? DNS_OK : DNS_NOT_BUILT;
}

static size_t put_bytes(uint8_t *out, size_t at, const void *p, size_t n)
{
        memcpy(out + at, p, n);
        return at + n;
}

size_t dns_write(struct span packet, const struct dns_question *q, enum dns_code code, struct span address,
                 uint8_t *out)
{
        bool asked = q->length > HEADER;
        size_t at = q->length;
        if (code == DNS_DROP || packet.n < at || at + 12 + address.n + 11 > DNS_MAX_MESSAGE)
                return 0;

        memcpy(out, packet.p, at);
        out[2] = (uint8_t) (0x84 |
                            (packet.p[2] & 0x79)); /* an answer with authority; opcode and RD as asked */
        out[3] = (uint8_t) (0x80 | code);
        memset(out + 4, 0, 8);
        out[5] = asked;
        if (address.n > 0) {
                uint8_t record[12] = { 0xc0, HEADER, 0, (uint8_t) q->type, 0, CLASS_IN,
                                       0,    0,      0, TTL_SECONDS,       0, (uint8_t) address.n };
                out[7] = 1;
                at = put_bytes(out, at, record, sizeof record);
                at = put_bytes(out, at, address.p, address.n);
        }

        if (q->extended) {
                static const uint8_t opt[11] = { 0, 0, TYPE_OPT, DNS_MAX_QUESTION >> 8,
                                                 DNS_MAX_QUESTION & 255 };
                out[11] = 1;
                at = put_bytes(out, at, opt, sizeof opt);
        }

        return at;
}
