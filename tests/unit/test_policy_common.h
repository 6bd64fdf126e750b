/* SPDX-License-Identifier: MIT */
/* tests/unit/test_policy_common.h - what the policy tests share: a fixed context, one-call loading, test
 * data. */
#pragma once
#include "harness.h"
#include "policy/policy.h"

#include <stdlib.h>

static const struct policy_context fixed_context = { .work = "/w/proj",
                                                     .home = "/home/u",
                                                     .now = 1790000000 };

/* NULL and *e when the text does not load or does not hold. */
static inline struct checked_policy *load_in(const char *file, struct span text,
                                             const struct policy_context *c, struct err *e)
{
        struct policy *p = policy_new();
        struct checked_policy *out = NULL;
        *e = (struct err){ 0 };
        if (policy_add_text(p, file, text, e) == 0)
                out = policy_check(p, c, e);
        policy_free(p);
        return out;
}

static inline struct checked_policy *load(const char *text)
{
        struct err e;
        struct checked_policy *c = load_in("t", span_str(text), &fixed_context, &e);
        if (!c)
                printf("# does not load: %s (%s)\n", e.what, e.hint);
        return c;
}

/* The decision of both evaluators, which must agree. */
static inline struct decision ask(const struct checked_policy *c, const char *effect)
{
        struct effect f;
        struct err e;
        struct decision d = { 0 };
        if (policy_effect_parse(effect, &fixed_context, &f, &e) < 0) {
                printf("# %s: %s\n", effect, e.what);
                test_failures++;
                return d;
        }
        d = policy_decide(c, &f);
        struct decision r = policy_decide_ref(c, &f);
        CHECK(d.answer == r.answer && d.reason == r.reason && d.door == r.door && d.nearest == r.nearest &&
              d.built_in == r.built_in);
        policy_effect_done(&f);
        return d;
}

#define CHECK_ALLOW(c, effect) CHECK_INT(ask(c, effect).answer, ANSWER_ALLOW)
#define CHECK_DENY(c, effect, why)                                                                           \
        do {                                                                                                 \
                struct decision d_ = ask(c, effect);                                                         \
                CHECK_INT(d_.answer, ANSWER_DENY);                                                           \
                CHECK_STR(effect_reason_name(d_.reason), effect_reason_name(why));                           \
        } while (0)

/* The text must be refused; *e says how. */
static inline void check_refused(const char *text, const char *what, const char *hint)
{
        struct err e;
        struct checked_policy *c = load_in("t", span_str(text), &fixed_context, &e);
        if (c)
                printf("# loads, but must not: %s\n", text);
        CHECK(!c);
        if (!c && strcmp(e.what, what) != 0)
                printf("# %s\n", text);
        if (!c)
                CHECK_STR(e.what, what);
        if (!c && hint)
                CHECK_STR(e.hint, hint);
        policy_checked_free(c);
}

/* tests/NAME of the source tree: from CORDON_SOURCE, else from where this file was compiled. */
static inline char *test_data(const char *name, char *path, size_t cap)
{
        const char *root = getenv("CORDON_SOURCE");
        char here[1024];
        (void) snprintf(here, sizeof here, "%s", __FILE__);
        for (int up = 0; up < 3 && strrchr(here, '/'); up++)
                *strrchr(here, '/') = '\0';
        (void) snprintf(path, cap, "%s/tests/%s",
                        root                                  ? root
                        : strchr(here, '/') || here[0] == '.' ? here
                                                              : ".",
                        name);
        return path;
}

/* The whole file; NULL when it cannot be read. The caller frees. */
static inline char *read_file(const char *path, size_t *ret_n)
{
        FILE *f = fopen(path, "rb");
        if (!f)
                return NULL;
        char *p = malloc((1 << 20) + 1);
        *ret_n = p ? fread(p, 1, 1 << 20, f) : 0;
        if (p)
                p[*ret_n] = '\0';
        (void) fclose(f);
        return p;
}
