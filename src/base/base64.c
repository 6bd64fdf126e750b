/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_block(const uint8_t *p, size_t n, char ret[static 4])
{
        uint32_t v = (uint32_t) p[0] << 16 | (n > 1 ? (uint32_t) p[1] << 8 : 0) | (n > 2 ? p[2] : 0u);

        ret[0] = digits[v >> 18];
        ret[1] = digits[v >> 12 & 63];
        ret[2] = n > 1 ? digits[v >> 6 & 63] : '=';
        ret[3] = n > 2 ? digits[v & 63] : '=';
}

void base64_put(struct span bytes, struct buf *out)
{
        char text[4];

        for (size_t i = 0; i < bytes.n; i += 3) {
                base64_block(bytes.p + i, bytes.n - i, text);
                buf_add(out, text, sizeof text);
        }
}

static int value_of(uint8_t c)
{
        const char *at = c ? strchr(digits, c) : NULL;
        return at ? (int) (at - digits) : -1;
}

/* Decodes four characters of which the last `pad` are padding. */
static int read_block(const uint8_t *text, size_t pad, uint8_t ret[static 3])
{
        uint32_t v = 0;

        for (size_t i = 0; i < 4; i++) {
                int d = i >= 4 - pad ? 0 : value_of(text[i]);
                if (d < 0)
                        return -1;
                v = v << 6 | (uint32_t) d;
        }

        if (v & ((1u << (8 * pad)) - 1)) /* unused bits are not zero */
                return -1;

        ret[0] = (uint8_t) (v >> 16);
        ret[1] = (uint8_t) (v >> 8);
        ret[2] = (uint8_t) v;
        return 0;
}

ssize_t base64_read(struct span text, uint8_t *ret, size_t cap)
{
        size_t n = 0;
        uint8_t three[3];

        if (text.n == 0 || text.n % 4 != 0)
                return -1;

        for (const uint8_t *p = text.p; p < text.p + text.n; p += 4) {
                bool last = p + 4 == text.p + text.n;
                size_t pad = !last || p[3] != '=' ? 0 : p[2] == '=' ? 2 : 1;
                if (read_block(p, pad, three) < 0 || cap - n < 3 - pad)
                        return -1;
                memcpy(ret + n, three, 3 - pad);
                n += 3 - pad;
        }

        return (ssize_t) n;
}
