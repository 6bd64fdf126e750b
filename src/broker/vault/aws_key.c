/* SPDX-License-Identifier: MIT */
/* broker/vault/aws_key.c - a key of AWS, in the forms that its tools print and keep it in. Pure. */
#include "broker/vault/vault.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum part { PART_ID = 0, PART_SECRET, PART_TOKEN, PART__COUNT };

/* In small letters, without underscores and without the "aws" that some put in front. */
static const char *const part_names[PART__COUNT] = { "accesskeyid", "secretaccesskey", "sessiontoken" };

/* Compares AWS_ACCESS_KEY_ID, aws_access_key_id and AccessKeyId with one name. */
static bool is_name(struct span word, const char *name)
{
        size_t at = word.n > 3 && strncasecmp((const char *) word.p, "aws", 3) == 0 ? 3 : 0;
        for (; at < word.n; at++) {
                if (word.p[at] == '_')
                        continue;
                if (tolower(word.p[at]) != *name)
                        return false;
                name++;
        }

        return *name == '\0';
}

static bool among(uint8_t c, const char *set) { return c && strchr(set, c); }

static size_t skip_set(struct span s, size_t at, const char *set)
{
        while (at < s.n && among(s.p[at], set))
                at++;
        return at;
}

/* The value behind a name that ends at `at`: `= x`, `: "x"`. */
static struct span value_at(struct span s, size_t at)
{
        at = skip_set(s, at, " \t\"'");
        if (at >= s.n || !among(s.p[at], ":="))
                return (struct span){ 0 };

        at = skip_set(s, at + 1, " \t\"'");
        size_t n = 0;
        while (at + n < s.n && s.p[at + n] > ' ' && !among(s.p[at + n], "\"',;}"))
                n++;
        return span_of(s.p + at, n);
}

/* False: a part is named twice. */
static bool find_parts(struct span s, struct span ret[PART__COUNT])
{
        for (size_t at = 0, n; at < s.n; at += n ? n : 1) {
                n = 0;
                while (at + n < s.n && (isalpha(s.p[at + n]) || s.p[at + n] == '_'))
                        n++;

                for (enum part i = 0; i < PART__COUNT; i++) {
                        struct span value = is_name(span_of(s.p + at, n), part_names[i]) ? value_at(s, at + n)
                                                                                         : (struct span){ 0 };
                        if (value.n && ret[i].n)
                                return false;
                        if (value.n)
                                ret[i] = value;
                }
        }

        return true;
}

ssize_t vault_aws_key(struct span text, char *ret, size_t cap)
{
        struct span part[PART__COUNT] = { 0 };
        struct grant_key key;
        if (!find_parts(text, part))
                return -1;

        struct span token = part[PART_TOKEN];
        bool named = part[PART_ID].n && part[PART_SECRET].n;
        int n = named ? snprintf(ret, cap, "%.*s:%.*s%s%.*s", (int) part[PART_ID].n,
                                 (const char *) part[PART_ID].p, (int) part[PART_SECRET].n,
                                 (const char *) part[PART_SECRET].p, token.n ? ":" : "", (int) token.n,
                                 token.n ? (const char *) token.p : "")
                      : snprintf(ret, cap, "%.*s", (int) text.n, text.n ? (const char *) text.p : "");
        return n >= 0 && (size_t) n < cap && grant_key_split(span_of(ret, (size_t) n), &key) ? n : -1;
}
