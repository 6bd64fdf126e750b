/* SPDX-License-Identifier: MIT */
/* broker/vault/shape.c - makes a placeholder that tools accept in place of the secret: same length, same
 * alphabet, and the well-known prefix of this kind of secret. Nothing else of the secret is copied. Pure. */
#include "broker/vault/vault_seal.h"

#include <stdio.h>

static const char digits[] = "0123456789", lower[] = "abcdefghijklmnopqrstuvwxyz",
                  upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", hex[] = "0123456789abcdef", separators[] = "-_.:=";

enum {
        RANDOM_LEAST = 16,   /* a prefix is kept only if at least this many bytes follow it */
        SEPARATORS_PART = 8, /* keeps separators in place up to one in this many bytes */
        ALPHABET_MAX = 64
};

/* Published by the vendors; the longest match counts. */
static const char *const known_prefixes[] = {
        "SG.",  "gho_", "npm_",  "figd_", "xoxp-",  "nvapi-",  "sk-ant-",  "sk-proj-",    "sk-svcacct-",
        "eyJ",  "ghp_", "ntn_",  "gldt-", "xoxr-",  "shpat_",  "sntrys_",  "sk_live_",    "tskey-auth-",
        "hf_",  "ghr_", "ops_",  "glrt-", "xoxs-",  "shpss_",  "sntryu_",  "sk_test_",    "ATATT3xFfGF0",
        "r8_",  "ghs_", "pul-",  "glsa_", "ya29.",  "whsec_",  "lin_api_", "dckr_pat_",   "ATCTT3xFfGF0",
        "sk-",  "ghu_", "sbp_",  "pplx-", "dp.pt.", "CCIPAT_", "pk_live_", "rubygems_",   "sk-ant-api03-",
        "AIza", "gsk_", "xai-",  "pypi-", "dp.st.", "doo_v1_", "pk_test_", "sk-or-v1-",   "sk-ant-oat01-",
        "AKIA", "hvb.", "HRKU-", "xapp-", "glpat-", "dop_v1_", "rk_live_", "tskey-api-",  "sk-ant-admin01-",
        "ASIA", "hvs.", "PMAK-", "xoxa-", "glptt-", "pscale_", "rk_test_", "github_pat_", "AGE-SECRET-KEY-1",
        "dapi", "nfp_", "bkua_", "xoxb-",
};

static bool among(uint8_t c, const char *set) { return c && strchr(set, c); }

static size_t known_prefix(struct span s)
{
        size_t longest = 0;

        for (size_t i = 0; i < sizeof known_prefixes / sizeof *known_prefixes; i++) {
                size_t n = strlen(known_prefixes[i]);
                if (n > longest && s.n >= n + RANDOM_LEAST && memcmp(s.p, known_prefixes[i], n) == 0)
                        longest = n;
        }

        return longest;
}

static bool any_among(struct span s, const char *set)
{
        for (size_t i = 0; i < s.n; i++)
                if (among(s.p[i], set))
                        return true;
        return false;
}

static bool is_hex(struct span s)
{
        for (size_t i = 0; i < s.n; i++)
                if (!among(s.p[i], hex) && !among(s.p[i], separators))
                        return false;
        return true;
}

/* Records which classes of characters occur, not where. */
static void find_alphabet(struct span s, char ret[static ALPHABET_MAX])
{
        bool d = any_among(s, digits), l = any_among(s, lower), u = any_among(s, upper);

        if (d && l && is_hex(s))
                (void) snprintf(ret, ALPHABET_MAX, "%s", hex);
        else if (s.n < RANDOM_LEAST || !(d || l || u))
                (void) snprintf(ret, ALPHABET_MAX, "%s%s%s", upper, lower, digits);
        else
                (void) snprintf(ret, ALPHABET_MAX, "%s%s%s", u ? upper : "", l ? lower : "", d ? digits : "");
}

/* The dashes of a UUID and the dots of a JWT are its format; in a secret full of punctuation they are
 * content. */
static bool keeps_separators(struct span s)
{
        size_t n = 0;

        for (size_t i = 0; i < s.n; i++)
                n += among(s.p[i], separators);
        return s.n >= RANDOM_LEAST && n <= s.n / SEPARATORS_PART;
}

void shape_placeholder(struct span secret, const uint8_t *random, uint8_t *ret)
{
        char alphabet[ALPHABET_MAX];
        size_t prefix = known_prefix(secret);
        struct span rest = span_of(secret.p + prefix, secret.n - prefix);
        bool keep = keeps_separators(rest);

        find_alphabet(rest, alphabet);
        memcpy(ret, secret.p, prefix);

        for (size_t i = prefix; i < secret.n; i++)
                ret[i] = keep && among(secret.p[i], separators)
                                 ? secret.p[i]
                                 : (uint8_t) alphabet[random[i] % strlen(alphabet)];
}
