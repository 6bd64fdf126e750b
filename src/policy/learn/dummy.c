/* SPDX-License-Identifier: MIT */
/* policy/learn/dummy.c - dummy credentials for a program that is being learned. Many tools check a token
 * before they use it: right prefix, right length, right letters. It is valid nowhere. */
#include "base/hash.h"
#include "policy/learn/internal.h"

#include <stdio.h>
#include <strings.h>

static const char any[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                  upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", hex[] = "0123456789abcdef";

/* The first row whose part is in the name, in any case, decides. */
static const struct {
        const char *part, *prefix;
        unsigned len; /* after the prefix */
        const char *letters;
} shapes[] = {
        { "github", "ghp_", 36, any },
        { "gh_token", "ghp_", 36, any },
        { "gitlab", "glpat-", 20, any },
        { "anthropic", "sk-ant-api03-", 95, any },
        { "openai", "sk-", 48, any },
        { "npm", "npm_", 36, any },
        { "pypi", "pypi-", 60, any },
        { "slack", "xoxb-", 50, any },
        { "hf_", "hf_", 34, any },
        { "huggingface", "hf_", 34, any },
        { "stripe", "sk_test_", 24, any },
        { "aws_access_key", "AKIA", 16, upper },
        { "aws_secret", "", 40, any },
        { "sendgrid", "SG.", 66, any },
        { "digitalocean", "dop_v1_", 64, hex },
};

static size_t shape_of(const char *name)
{
        size_t i = 0;
        while (i < COUNT(shapes) && !strcasestr(name, shapes[i].part))
                i++;
        return i;
}

void learn_dummy(const char *name, const uint8_t seed[32], unsigned which, char ret[LEARN_DUMMY_MAX])
{
        size_t row = shape_of(name);
        const char *prefix = row < COUNT(shapes) ? shapes[row].prefix : "";
        const char *letters = row < COUNT(shapes) ? shapes[row].letters : any;
        unsigned len = row < COUNT(shapes) ? shapes[row].len : 40;
        int at = snprintf(ret, LEARN_DUMMY_MAX, "%s", prefix);
        uint8_t block[32] = { 0 };

        for (unsigned i = 0; i < len; i++) {
                if (i % sizeof block == 0) {
                        struct sha256 s;
                        uint8_t round[2] = { (uint8_t) which, (uint8_t) (i / sizeof block) };
                        sha256_init(&s);
                        sha256_add(&s, seed, 32);
                        sha256_add(&s, round, sizeof round);
                        sha256_add(&s, name, strlen(name));
                        sha256_end(&s, block);
                }
                ret[at++] = letters[block[i % sizeof block] % strlen(letters)];
        }

        ret[at] = '\0';
}
