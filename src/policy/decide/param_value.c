/* SPDX-License-Identifier: MIT */
/* policy/decide/param_value.c - the values of parameters that no two servers read differently. */
#include "policy/internal.h"

int param_int(const char *text, int64_t *ret_value)
{
        bool minus = text[0] == '-';
        uint64_t v;
        if (str_to_u64(span_str(text + minus), &v) < 0 || (minus && v == 0))
                return -1;

        if (v > (uint64_t) INT64_MAX + minus)
                return -1;

        *ret_value = minus ? -(int64_t) (v - 1) - 1 : (int64_t) v;
        return 0;
}

int param_num(const char *text, int64_t *ret_units)
{
        bool minus = text[0] == '-';
        int whole = 0, after = -1; /* digits; -1: no point yet */
        int64_t v = 0;
        const char *p = text + minus;
        if (p[0] == '0' && p[1] && p[1] != '.')
                return -1;

        for (; *p; p++) {
                if (*p == '.' && after < 0 && whole) {
                        after = 0;
                        continue;
                }
                if (*p < '0' || *p > '9')
                        return -1;
                if (after >= 0 ? ++after > BOUND_NUM_AFTER : ++whole > BOUND_NUM_WHOLE)
                        return -1;
                v = v * 10 + (*p - '0');
        }

        if (!whole || after == 0 || (minus && v == 0))
                return -1;

        for (int i = after < 0 ? 0 : after; i < BOUND_NUM_AFTER; i++)
                v *= 10;

        *ret_units = minus ? -v : v;
        return 0;
}

/* No C0 or C1 control (U+0080 to U+009F), but for those that part lines. */
static bool is_text(const char *text, bool lines)
{
        for (const char *p = text; *p; p++) {
                uint8_t c = (uint8_t) *p;
                if (lines && (c == '\n' || c == '\t' || (c == '\r' && p[1] == '\n')))
                        continue;
                if (c < 0x20 || c == 0x7f || (c == 0xc2 && (uint8_t) p[1] < 0xa0))
                        return false;
        }
        return str_is_utf8(span_str(text));
}

bool param_is_text(const char *text) { return is_text(text, false); }

bool param_is_lines(const char *text) { return is_text(text, true); }
