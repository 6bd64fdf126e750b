/* SPDX-License-Identifier: MIT */
/* The table that tools/knockout wrote for `cordon selftest claims` fits this tree. */
#include "harness.h"
#include "selftest/probe/probe.h"

#define KNOCKOUT(cls, total, two, one, none, which) { cls, total, two, one, none },
static const struct {
        const char *cls;
        unsigned total, two, one, none;
} classes[] = {
#include "selftest/knockout.inc"
};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool is_class(const char *name)
{
        size_t n;
        const struct probe *const *all = probe_table(&n);
        for (size_t i = 0; i < n; i++)
                if (strcmp(probe_class_name(all[i]->cls), name) == 0)
                        return true;
        return strcmp(name, "outside") == 0; /* tried after the box, from outside */
}

static void test_matrix__names_classes_that_exist(void)
{
        for (size_t i = 0; i < COUNT(classes); i++) {
                CHECK(is_class(classes[i].cls));
                CHECK(classes[i].two + classes[i].one + classes[i].none <= classes[i].total);
        }
}

/* A probe that was added since is not in it; `claims` counts those. */
static void test_matrix__counts_no_probe_that_is_gone(void)
{
        unsigned total = 0;
        size_t n;
        (void) probe_table(&n);
        for (size_t i = 0; i < COUNT(classes); i++)
                total += strcmp(classes[i].cls, "outside") == 0 ? 0 : classes[i].total;
        CHECK(total > 0 && total <= n);
}

static const struct test_case cases[] = {
        CASE(test_matrix__names_classes_that_exist),
        CASE(test_matrix__counts_no_probe_that_is_gone),
};
TEST_MAIN(cases)
