/* SPDX-License-Identifier: MIT */
/* output/patterns.c - replaces what has the form of a secret. A keyword finds the place, a regular expression
 * decides, and where a form is common a minimum of entropy. The rules state published formats of tokens.
 * Pure.
 */
#include "output/keywords.h"
#include "output/lines.h"
#include "output/regex.h"

#include <stdlib.h>

/* `lead`: what stands before the value, from the keyword on; NULL: the value begins with the keyword. */
struct rule {
        const char *name, *keyword, *lead, *value;
        unsigned entropy; /* in tenths of a bit per character; 0: any */
};

#define W      "[A-Za-z0-9_-]"
#define AN     "[A-Za-z0-9]"
#define HEX    "[0-9a-fA-F]"
#define ASSIGN "[A-Za-z0-9_.-]{0,24}[\"'\\]]{0,2} {0,8}(=|:|=>|:=) {0,8}[\"']?"
#define VALUE  "[A-Za-z0-9+/=_.~!@#$%^&*-]{8,200}"

static const struct rule rules[] = {
        { "aws-access-key", "AKIA", NULL, "AKIA[A-Z0-9]{16}", 0 },
        { "aws-access-key", "ASIA", NULL, "ASIA[A-Z0-9]{16}", 0 },
        { "aws-secret-key", "aws_secret_access_key", "aws_secret_access_key" ASSIGN, "[A-Za-z0-9/+=]{40}",
          0 },
        { "aws-secret-key", "secretaccesskey", "[Ss]ecret[Aa]ccess[Kk]ey" ASSIGN, "[A-Za-z0-9/+=]{40}", 0 },
        { "github-token", "ghp_", NULL, "ghp_" AN "{36}", 0 },
        { "github-token", "gho_", NULL, "gho_" AN "{36}", 0 },
        { "github-token", "ghu_", NULL, "ghu_" AN "{36}", 0 },
        { "github-token", "ghs_", NULL, "ghs_" AN "{36}", 0 },
        { "github-token", "ghr_", NULL, "ghr_" AN "{36}", 0 },
        { "github-token", "github_pat_", NULL, "github_pat_[A-Za-z0-9_]{40,100}", 0 },
        { "gitlab-token", "glpat-", NULL, "glpat-" W "{20,64}", 0 },
        { "gitlab-token", "gldt-", NULL, "gldt-" W "{20,64}", 0 },
        { "gitlab-token", "glrt-", NULL, "glrt-" W "{20,64}", 0 },
        { "gitlab-token", "glptt-", NULL, "glptt-" HEX "{40}", 0 },
        { "slack-token", "xoxb-", NULL, "xoxb-[0-9A-Za-z-]{20,200}", 0 },
        { "slack-token", "xoxp-", NULL, "xoxp-[0-9A-Za-z-]{20,200}", 0 },
        { "slack-token", "xoxa-", NULL, "xoxa-[0-9A-Za-z-]{20,200}", 0 },
        { "slack-token", "xoxs-", NULL, "xoxs-[0-9A-Za-z-]{20,200}", 0 },
        { "slack-token", "xapp-", NULL, "xapp-[0-9]-[0-9A-Za-z-]{20,200}", 0 },
        { "slack-webhook", "hooks.slack.com/", "hooks.slack.com/(services|workflows)/",
          "[A-Za-z0-9/]{30,100}", 0 },
        { "stripe-key", "sk_live_", NULL, "sk_live_" AN "{20,200}", 0 },
        { "stripe-key", "sk_test_", NULL, "sk_test_" AN "{20,200}", 0 },
        { "stripe-key", "rk_live_", NULL, "rk_live_" AN "{20,200}", 0 },
        { "stripe-key", "rk_test_", NULL, "rk_test_" AN "{20,200}", 0 },
        { "stripe-webhook", "whsec_", NULL, "whsec_[A-Za-z0-9+/=]{20,100}", 0 },
        { "anthropic-key", "sk-ant-", NULL, "sk-ant-" W "{20,200}", 0 },
        { "openai-key", "sk-proj-", NULL, "sk-proj-" W "{20,300}", 0 },
        { "openai-key", "sk-svcacct-", NULL, "sk-svcacct-" W "{20,300}", 0 },
        { "openai-key", "sk-", NULL, "sk-" AN "{32,64}", 35 },
        { "google-key", "AIza", NULL, "AIza" W "{35}", 0 },
        { "google-oauth", "ya29.", NULL, "ya29\\." W "{20,400}", 0 },
        { "google-oauth", "GOCSPX-", NULL, "GOCSPX-" W "{28}", 0 },
        { "npm-token", "npm_", NULL, "npm_" AN "{36}", 0 },
        { "pypi-token", "pypi-AgE", NULL, "pypi-AgE" W "{50,}", 0 },
        { "rubygems-key", "rubygems_", NULL, "rubygems_" HEX "{48}", 0 },
        { "crates-token", "cio", NULL, "cio" AN "{32}", 35 },
        { "docker-token", "dckr_pat_", NULL, "dckr_pat_" W "{27,40}", 0 },
        { "huggingface-token", "hf_", NULL, "hf_[A-Za-z]{34}", 0 },
        { "replicate-token", "r8_", NULL, "r8_" AN "{37}", 0 },
        { "sendgrid-key", "SG.", NULL, "SG\\." W "{22}\\." W "{43}", 0 },
        { "mailgun-key", "key-", NULL, "key-" HEX "{32}", 0 },
        { "twilio-key", "SK", NULL, "SK" HEX "{32}", 30 },
        { "digitalocean-token", "dop_v1_", NULL, "dop_v1_" HEX "{64}", 0 },
        { "digitalocean-token", "doo_v1_", NULL, "doo_v1_" HEX "{64}", 0 },
        { "digitalocean-token", "dor_v1_", NULL, "dor_v1_" HEX "{64}", 0 },
        { "shopify-token", "shpat_", NULL, "shpat_" HEX "{32}", 0 },
        { "shopify-token", "shpca_", NULL, "shpca_" HEX "{32}", 0 },
        { "shopify-token", "shppa_", NULL, "shppa_" HEX "{32}", 0 },
        { "shopify-token", "shpss_", NULL, "shpss_" HEX "{32}", 0 },
        { "databricks-token", "dapi", NULL, "dapi[0-9a-f]{32}", 0 },
        { "vault-token", "hvs.", NULL, "hvs\\." W "{24,200}", 0 },
        { "vault-token", "hvb.", NULL, "hvb\\." W "{24,300}", 0 },
        { "terraform-token", ".atlasv1.", NULL, "\\.atlasv1\\." W "{60,80}", 0 },
        { "azure-storage-key", "AccountKey=", "AccountKey=", "[A-Za-z0-9+/]{86}==", 0 },
        { "azure-signature", "sig=", "sig=", "[A-Za-z0-9%]{40,100}", 35 },
        { "telegram-token", ":AA", NULL, ":AA" W "{33}", 0 },
        { "linear-key", "lin_api_", NULL, "lin_api_" AN "{40}", 0 },
        { "notion-key", "ntn_", NULL, "ntn_" AN "{40,60}", 0 },
        { "postman-key", "PMAK-", NULL, "PMAK-" HEX "{24}-" HEX "{34}", 0 },
        { "grafana-token", "glsa_", NULL, "glsa_" AN "{32}_" HEX "{8}", 0 },
        { "grafana-token", "glc_", NULL, "glc_[A-Za-z0-9+/=]{32,400}", 0 },
        { "newrelic-key", "NRAK-", NULL, "NRAK-[A-Z0-9]{27}", 0 },
        { "doppler-token", "dp.pt.", NULL, "dp\\.pt\\." AN "{40,50}", 0 },
        { "fly-token", "fm2_", NULL, "fm2_[A-Za-z0-9+/=,_-]{50,}", 0 },
        { "supabase-token", "sbp_", NULL, "sbp_" HEX "{40}", 0 },
        { "netlify-token", "nfp_", NULL, "nfp_" AN "{36}", 0 },
        { "square-token", "sq0atp-", NULL, "sq0atp-" W "{22}", 0 },
        { "square-token", "sq0csp-", NULL, "sq0csp-" W "{43}", 0 },
        { "facebook-token", "EAACEdEose0cBA", NULL, "EAACEdEose0cBA[0-9A-Za-z]{10,300}", 0 },
        { "flutterwave-key", "FLWSECK-", NULL, "FLWSECK-" AN "{12,40}", 0 },
        { "atlassian-token", "ATATT3", NULL, "ATATT3[A-Za-z0-9_=-]{100,300}", 0 },
        { "bitbucket-token", "ATBB", NULL, "ATBB" AN "{32}", 35 },
        { "asana-token", "asana", "[Aa][Ss][Aa][Nn][Aa]" ASSIGN, "[0-9]/[0-9]{10,20}:" HEX "{32}", 0 },
        { "discord-webhook", "discord.com/api/webhooks/", "discord.com/api/webhooks/",
          "[0-9]{15,20}/" W "{60,80}", 0 },
        { "age-key", "AGE-SECRET-KEY-1", NULL, "AGE-SECRET-KEY-1[0-9A-Z]{58}", 0 },
        { "json-web-token", "eyJ", NULL, "eyJ" W "{10,}\\.eyJ" W "{10,}\\." W "{16,}", 0 },
        { "bearer", "bearer ", "[Bb]earer ", "[A-Za-z0-9._~+/=-]{20,}", 30 },
        { "basic", "basic ", "[Bb]asic ", "[A-Za-z0-9+/]{16,400}={0,2}", 35 },
        { "password-in-url", "://", "://[^/ :@\"'<>]{1,64}:", "[^/ :@\"'<>]{3,128}@", 0 },
        { "password", "password", "[Pp][Aa][Ss][Ss][Ww][Oo][Rr][Dd]" ASSIGN, VALUE, 30 },
        { "password", "passwd", "[Pp][Aa][Ss][Ss][Ww][Dd]" ASSIGN, VALUE, 30 },
        { "api-key", "api_key", "[Aa][Pp][Ii]_[Kk][Ee][Yy]" ASSIGN, VALUE, 32 },
        { "api-key", "apikey", "[Aa][Pp][Ii][Kk][Ee][Yy]" ASSIGN, VALUE, 32 },
        { "api-key", "api-key", "[Aa][Pp][Ii]-[Kk][Ee][Yy]" ASSIGN, VALUE, 32 },
        { "secret", "secret", "[Ss][Ee][Cc][Rr][Ee][Tt]" ASSIGN, VALUE, 33 },
        { "token", "token", "[Tt][Oo][Kk][Ee][Nn]" ASSIGN, VALUE, 33 },
        { "private-key-text", "private_key", "[Pp]rivate_[Kk]ey" ASSIGN, VALUE, 33 },
        { "access-key", "access_key", "[Aa][Cc][Cc][Ee][Ss][Ss]_[Kk][Ee][Yy]" ASSIGN, VALUE, 32 },
        { "private-key", "PRIVATE KEY-----", NULL, "PRIVATE KEY-----", 0 },
        { "private-key", "PRIVATE KEY BLOCK-----", NULL, "PRIVATE KEY BLOCK-----", 0 },
        { "putty-key", "PuTTY-User-Key-File-", NULL, "PuTTY-User-Key-File-[23]", 0 },
};

enum { RULES = sizeof rules / sizeof *rules, STEPS = 2000000 };

struct patterns {
        struct keywords *words;
        struct regex *lead[RULES], *value[RULES];
        bool in_key; /* inside a private key: its lines are replaced until it ends */
};

struct patterns *patterns_new(void)
{
        const char *words[RULES], *why;
        struct patterns *p = calloc(1, sizeof *p);
        bool good = p != NULL;
        for (size_t i = 0; i < RULES; i++)
                words[i] = rules[i].keyword;

        good = good && (p->words = keywords_new(words, RULES));
        for (size_t i = 0; good && i < RULES; i++) {
                p->value[i] = regex_new(span_str(rules[i].value), &why);
                p->lead[i] = rules[i].lead ? regex_new(span_str(rules[i].lead), &why) : NULL;
                good = p->value[i] && (p->lead[i] || !rules[i].lead);
        }

        if (good)
                return p;
        patterns_free(p);
        return NULL;
}

void patterns_free(struct patterns *p)
{
        if (!p)
                return;
        for (size_t i = 0; i < RULES; i++) {
                regex_free(p->lead[i]);
                regex_free(p->value[i]);
        }
        keywords_free(p->words);
        free(p);
}

/* log2(n) in 1/65536, for n > 0. */
static uint64_t log2_of(uint64_t n)
{
        uint64_t whole = 63 - (uint64_t) __builtin_clzll(n), result = whole << 16;
        uint64_t x = (n << 31) >> whole; /* from 1 to 2, in 1/2^31 */
        for (uint64_t bit = 1 << 15; bit > 0; bit >>= 1) {
                x = x * x >> 31;
                if (x >> 32) {
                        x >>= 1;
                        result += bit;
                }
        }
        return result;
}

/* Shannon's entropy, in tenths of a bit per byte. */
static unsigned entropy_of(struct span s)
{
        unsigned counts[256] = { 0 };
        uint64_t sum = 0;
        for (size_t i = 0; i < s.n; i++)
                counts[s.p[i]]++;
        for (int c = 0; c < 256; c++)
                sum += counts[c] ? counts[c] * log2_of(counts[c]) : 0;
        return s.n ? (unsigned) ((log2_of(s.n) - sum / s.n) * 10 >> 16) : 0;
}

/* Words have none, and secrets nearly always do. */
static bool has_digit(struct span s)
{
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] >= '0' && s.p[i] <= '9')
                        return true;
        return false;
}

static bool is_word(uint8_t c)
{
        uint8_t low = c | 0x20;
        return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9');
}

/* Inside a word? The letter of an escape ("\n" of JSON) is not part of the word behind it. */
static bool is_inside(struct span line, size_t at)
{
        bool escape = at > 1 && line.p[at - 2] == '\\' && strchr("nrtbf", line.p[at - 1]);
        return at > 0 && is_word(line.p[at - 1]) && !escape;
}

/* Does the rule hold for the keyword at `at`? Then *ret_from and *ret_end are those of the secret. */
static bool rule_holds(struct patterns *p, size_t rule, struct span line, size_t at, size_t *ret_from,
                       size_t *ret_end)
{
        const struct rule *r = &rules[rule];
        uint64_t steps = STEPS;
        *ret_from = at;
        if (!r->lead && is_word((uint8_t) r->keyword[0]) && is_inside(line, at))
                return false;

        if (r->lead && regex_at(p->lead[rule], line, at, &steps, ret_from) != REGEX_YES)
                return false;

        if (regex_at(p->value[rule], line, *ret_from, &steps, ret_end) != REGEX_YES)
                return false;

        struct span value = span_of(line.p + *ret_from, *ret_end - *ret_from);
        return !r->entropy || (has_digit(value) && entropy_of(value) >= r->entropy);
}

static bool begins_key(const char *name) { return strcmp(name, "private-key") == 0; }

/* Behind the mark that ends a private key ("-----END EC PRIVATE KEY-----"); 0: the line has none. */
static size_t end_of_key(struct span line, size_t from)
{
        static const char end[] = "-----END", dashes[] = "-----";
        const uint8_t *p = memmem(line.p + from, line.n - from, end, sizeof end - 1);
        if (!p)
                return 0;

        size_t at = (size_t) (p - line.p) + sizeof end - 1;
        p = memmem(line.p + at, line.n - at, dashes, sizeof dashes - 1);
        return p ? (size_t) (p - line.p) + sizeof dashes - 1 : at;
}

/* How much of a line belongs to the private key that began before it. */
static size_t pass_key(struct patterns *p, struct span line)
{
        size_t end = p->in_key ? end_of_key(line, 0) : 0;
        if (!p->in_key || end == 0)
                return p->in_key ? line.n : 0;
        p->in_key = false;
        return end;
}

void patterns_line(struct patterns *p, struct span line, uint64_t number, struct buf *out, struct findings *f)
{
        size_t from = pass_key(p, line);
        struct keywords_place place = { .at = from };
        for (int rule; (rule = keywords_next(p->words, line, &place)) >= 0;) {
                size_t begin = place.at - strlen(rules[rule].keyword), secret, end = 0;
                if (begin < from || !rule_holds(p, (size_t) rule, line, begin, &secret, &end))
                        continue;
                size_t key = begins_key(rules[rule].name) ? end_of_key(line, end) : 0;
                p->in_key = begins_key(rules[rule].name) && key == 0;
                end = p->in_key ? line.n : key ? key : end;
                buf_add(out, line.p + from, secret - from);
                buf_printf(out, "<secret:%s>", rules[rule].name);
                findings_add(f, FINDING_PATTERN, span_str(rules[rule].name), number);
                from = end;
                place = (struct keywords_place){ .at = end };
        }

        buf_add(out, line.p + from, line.n - from);
}
