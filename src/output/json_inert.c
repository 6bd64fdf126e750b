/* SPDX-License-Identifier: MIT */
/* output/json_inert.c - an escape in JSON is a character to its reader: hidden characters and terminal
 * sequences must not pass because they are spelled \u202e or \u001b. Pure. */
#include "output/json_inert.h"
#include "base/str.h"
#include "output/unicode.h"

static uint32_t hex4(const uint8_t *p)
{
        uint32_t v = 0;
        for (int i = 0; i < 4; i++)
                v = v << 4 | (uint32_t) str_hex(p[i]);
        return v;
}

static void put_point(uint32_t c, struct buf *out)
{
        if (c >= 0x10000)
                buf_putc(out, (char) (0xf0 | c >> 18));
        if (c >= 0x800)
                buf_putc(out, (char) (c >= 0x10000 ? 0x80 | (c >> 12 & 0x3f) : 0xe0 | c >> 12));
        buf_putc(out, (char) (c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6));
        buf_putc(out, (char) (0x80 | (c & 0x3f)));
}

static bool is_control(uint32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

/* After a backslash: how many bytes it takes. */
static size_t take_escape(struct span s, struct buf *out, uint64_t *controls)
{
        if (s.p[0] == '/') {
                buf_putc(out, '/');
                return 1;
        }

        bool mark = s.p[0] == 'b' || s.p[0] == 'f';
        uint32_t c = s.p[0] == 'b' ? 8 : 12;
        size_t n = 1;
        if (s.p[0] == 'u' && s.n >= 5) {
                n = 5;
                c = hex4(s.p + 1);
                if (c >= 0xd800 && c < 0xdc00 && s.n >= 11) {
                        c = 0x10000 + ((c - 0xd800) << 10) + (hex4(s.p + 7) - 0xdc00);
                        n = 11;
                }
                mark = is_control(c) && c != '\t' && c != '\n' && c != '\r';
                if (c >= 0xa0) {
                        put_point(c, out);
                        return n;
                }
        }

        if (mark) {
                buf_printf(out, "<U+%04X>", c);
                ++*controls;
        } else { /* as it is */
                buf_putc(out, '\\');
                buf_add(out, s.p, n);
        }
        return n;
}

uint64_t json_inert(struct span text, struct buf *out)
{
        uint64_t controls = 0;
        size_t from = 0;
        for (size_t i = 0; i < text.n; i++) {
                bool c1 = text.p[i] == 0xc2 && i + 1 < text.n && text.p[i + 1] < 0xa0;
                if (text.p[i] != '\\' && text.p[i] != 0x7f && !c1)
                        continue;
                buf_add(out, text.p + from, i - from);
                if (text.p[i] == '\\' && i + 1 < text.n) {
                        i += take_escape(span_of(text.p + i + 1, text.n - i - 1), out, &controls);
                } else {
                        buf_printf(out, "<U+%04X>", c1 ? text.p[i + 1] : text.p[i]);
                        controls++;
                        i += c1;
                }
                from = i + 1;
        }

        buf_add(out, text.p + from, text.n - from);
        return controls;
}
