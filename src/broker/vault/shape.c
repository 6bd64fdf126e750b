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
        "AGE-SECRET-KEY-1",
        "AIza",
        "AKIA",
        "ASIA",
        "ATATT3xFfGF0",
        "ATCTT3xFfGF0",
        "CCIPAT_",
        "HRKU-",
        "PMAK-",
        "SG.",
        "bkua_",
        "dapi",
        "dckr_pat_",
        "doo_v1_",
        "dop_v1_",
        "dp.pt.",
        "dp.st.",
        "eyJ",
        "figd_",
        "gho_",
        "ghp_",
        "ghr_",
        "ghs_",
        "ghu_",
        "github_pat_",
        "gldt-",
        "glpat-",
        "glptt-",
        "glrt-",
        "glsa_",
        "gsk_",
        "hf_",
        "hvb.",
        "hvs.",
        "lin_api_",
        "nfp_",
        "npm_",
        "ntn_",
        "nvapi-",
        "ops_",
        "pk_live_",
        "pk_test_",
        "pplx-",
        "pscale_",
        "pul-",
        "pypi-",
        "r8_",
        "rk_live_",
        "rk_test_",
        "rubygems_",
        "sbp_",
        "shpat_",
        "shpss_",
        "sk-",
        "sk-ant-",
        "sk-ant-admin01-",
        "sk-ant-api03-",
        "sk-ant-oat01-",
        "sk-or-v1-",
        "sk-proj-",
        "sk-svcacct-",
        "sk_live_",
        "sk_test_",
        "sntrys_",
        "sntryu_",
        "tskey-api-",
        "tskey-auth-",
        "whsec_",
        "xai-",
        "xapp-",
        "xoxa-",
        "xoxb-",
        "xoxp-",
        "xoxr-",
        "xoxs-",
        "ya29.",
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
