/* SPDX-License-Identifier: MIT */
/* tests/unit/harness.h - a small TAP harness: one executable per file under test, one function per sentence.
 * A failed check is printed with its place and counted; the function goes on. A skip names its reason. */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
        const char *name;
        void (*run)(void);
};

static int test_failures;
static const char *test_skip_reason;

#define CHECK(cond)                                                                                          \
        do {                                                                                                 \
                if (!(cond)) {                                                                               \
                        printf("# %s:%d: not true: %s\n", __FILE__, __LINE__, #cond);                        \
                        test_failures++;                                                                     \
                }                                                                                            \
        } while (0)

#define CHECK_INT(got, want)                                                                                 \
        do {                                                                                                 \
                long long got_ = (long long) (got), want_ = (long long) (want);                              \
                if (got_ != want_) {                                                                         \
                        printf("# %s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, got_, want_);    \
                        test_failures++;                                                                     \
                }                                                                                            \
        } while (0)

#define CHECK_STR(got, want)                                                                                 \
        do {                                                                                                 \
                const char *got_ = (got), *want_ = (want);                                                   \
                if (strcmp(got_, want_) != 0) {                                                              \
                        printf("# %s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #got, got_,        \
                               want_);                                                                       \
                        test_failures++;                                                                     \
                }                                                                                            \
        } while (0)

#define SKIP(why)                                                                                            \
        do {                                                                                                 \
                test_skip_reason = (why);                                                                    \
                return;                                                                                      \
        } while (0)

#define CASE(fn)                                                                                             \
        {                                                                                                    \
#fn, fn                                                                                      \
        }

/* Rounds of something tried very often: a twentieth where TEST_SHORT is set, as by `make quick` and under
 * sanitizers, which find in one round what they find at all. */
__attribute__((unused)) static unsigned test_rounds(unsigned all)
{
        return getenv("TEST_SHORT") ? all / 20 : all;
}

/* Whether a race goes on to round `i`: a short run also goes on, as far as a whole one, until it has `seen`
 * what it must see at least once. */
static inline bool test_goes_on(unsigned i, unsigned all, bool seen)
{
        return i < test_rounds(all) || (i < all && !seen);
}

static inline int test_main(const struct test_case *cases, size_t count)
{
        int failed = 0;
        printf("1..%zu\n", count);
        for (size_t i = 0; i < count; i++) {
                test_failures = 0;
                test_skip_reason = NULL;
                cases[i].run();
                if (test_failures > 0) {
                        printf("not ok %zu - %s\n", i + 1, cases[i].name);
                        failed++;
                } else if (test_skip_reason) {
                        printf("ok %zu - %s # SKIP %s\n", i + 1, cases[i].name, test_skip_reason);
                } else {
                        printf("ok %zu - %s\n", i + 1, cases[i].name);
                }
                (void) fflush(stdout);
        }
        return failed > 0;
}

#define TEST_MAIN(cases)                                                                                     \
        int main(void) { return test_main(cases, sizeof(cases) / sizeof *(cases)); }
