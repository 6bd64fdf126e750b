/* SPDX-License-Identifier: MIT */
/* egress/http_base64.c - RFC 4648 base64, with padding. Pure. */
#include "egress/http_internal.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void block(struct span in, size_t i, char ret[4])
{
        size_t left = in.n - i;
        uint32_t v = (uint32_t) in.p[i] << 16 | (left > 1 ? (uint32_t) in.p[i + 1] << 8 : 0) |
                     (left > 2 ? in.p[i + 2] : 0);
        ret[0] = digits[v >> 18];
        ret[1] = digits[v >> 12 & 63];
        ret[2] = left > 1 ? digits[v >> 6 & 63] : '=';
        ret[3] = left > 2 ? digits[v & 63] : '=';
}

void http_base64(struct span in, struct fifo *out)
{
        for (size_t i = 0; i < in.n; i += 3) {
                char text[4];
                block(in, i, text);
                fifo_add(out, text, sizeof text);
        }
}

int http_base64_read(struct span in, struct buf *out)
{
        uint32_t v = 0;
        if (in.n % 4)
                return -1;
        for (size_t i = 0; i < in.n; i++) {
                size_t pad = in.n - i; /* '=' only as one of the last two */
                const char *d = in.p[i] ? strchr(digits, in.p[i]) : NULL;
                bool fill = in.p[i] == '=' && pad <= 2 && (pad == 1 || in.p[i + 1] == '=');
                if (!d && !fill)
                        return -1;
                v = v << 6 | (d ? (uint32_t) (d - digits) : 0);
                if (i % 4 != 3)
                        continue;
                char bytes[3] = { (char) (v >> 16), (char) (v >> 8), (char) v };
                size_t n = in.p[i] != '=' ? 3 : in.p[i - 1] != '=' ? 2 : 1;
                buf_add(out, bytes, n);
                v = 0;
        }
        return 0;
}
