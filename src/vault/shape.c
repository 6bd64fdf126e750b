/* SPDX-License-Identifier: MIT */
/* vault/shape.c - a placeholder that tools take for the real thing: same length, same prefix, letters for
 * letters. Unguessable: all behind the prefix is random. Pure. */
#include "vault/seal.h"

static const char digits[] = "0123456789", lower[] = "abcdefghijklmnopqrstuvwxyz",
                  upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", hex[] = "0123456789abcdef",
                  any[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

enum { SHORT = 16, PREFIX_MAX = 14 };

static bool among(uint8_t c, const char *set) { return c && strchr(set, c); }

/* "ghp_", "sk-ant-api03-", "xoxb-": up to the last separator near the front, never more than a third. */
static size_t prefix(struct span s)
{
        size_t most = s.n / 3 < PREFIX_MAX ? s.n / 3 : PREFIX_MAX, n = 0;
        for (size_t i = 0; i < most && s.n >= SHORT; i++)
                if (s.p[i] == '_' || s.p[i] == '-')
                        n = i + 1;
        return n;
}

static bool all_hex(struct span s)
{
        for (size_t i = 0; i < s.n; i++)
                if (!among(s.p[i], hex))
                        return false;
        return true;
}

static uint8_t like(uint8_t c, uint8_t random, bool as_hex, bool is_short)
{
        const char *set = is_short           ? any
                          : as_hex           ? hex
                          : among(c, digits) ? digits
                          : among(c, lower)  ? lower
                          : among(c, upper)  ? upper
                                             : NULL;
        return set ? (uint8_t) set[random % strlen(set)] : c;
}

void shape_placeholder(struct span secret, const uint8_t *random, uint8_t *ret)
{
        size_t n = prefix(secret);
        bool as_hex = all_hex(span_of(secret.p + n, secret.n - n)), is_short = secret.n < SHORT;
        for (size_t i = 0; i < secret.n; i++)
                ret[i] = i < n ? secret.p[i] : like(secret.p[i], random[i], as_hex, is_short);
}
