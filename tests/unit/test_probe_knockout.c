/* SPDX-License-Identifier: MIT */
/* The tables that tools/knockout wrote for `cordon selftest cost` and `cordon selftest claims` fit this tree:
 * what they name exists. */
#include "harness.h"
#include "selftest/probe/probe.h"
#include "wall/wall.h"

#define KNOCKOUT_LAYER(layer) layer,
#define KNOCKOUT_ALONE(layer, probe, root, user)
static const char *const left_out[] = {
#include "selftest/knockout_alone.inc"
};
#undef KNOCKOUT_LAYER
#undef KNOCKOUT_ALONE
#define KNOCKOUT_LAYER(layer)
#define KNOCKOUT_ALONE(layer, probe, root, user) { layer, probe, root, user },
static const struct {
        const char *layer, *probe;
        int root, user;
} rows[] = {
#include "selftest/knockout_alone.inc"
};
#define KNOCKOUT(cls, total, two, one, none, which) { cls, total, one },
static const struct {
        const char *cls;
        unsigned total, one;
} classes[] = {
#include "selftest/knockout.inc"
};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool is_layer(const char *name)
{
        for (unsigned l = 0; l < LAYER__COUNT; l++)
                if (strcmp(wall_layer_name((enum wall_layer) l), name) == 0)
                        return true;
        return false;
}

static bool is_left_out(const char *name)
{
        for (size_t i = 0; i < COUNT(left_out); i++)
                if (strcmp(left_out[i], name) == 0)
                        return true;
        return false;
}

/* Seven attempts are made from outside, after the box: see cli/canary.c. */
static bool is_probe(const char *name)
{
        size_t n;
        const struct probe *const *all = probe_table(&n);
        for (size_t i = 0; i < n; i++)
                if (strcmp(all[i]->name, name) == 0)
                        return true;
        return strncmp(name, "seen from outside: ", 19) == 0;
}

static void test_matrix__names_layers_that_exist(void)
{
        CHECK(COUNT(left_out) >= 12);
        for (size_t i = 0; i < COUNT(left_out); i++)
                CHECK(is_layer(left_out[i]));
        for (size_t i = 0; i < COUNT(rows); i++)
                CHECK(is_left_out(rows[i].layer));
}

static void test_matrix__names_probes_that_exist(void)
{
        CHECK(COUNT(rows) >= 50);
        for (size_t i = 0; i < COUNT(rows); i++)
                if (!is_probe(rows[i].probe)) {
                        printf("# no such probe (run tools/knockout): %s\n", rows[i].probe);
                        CHECK(false);
                }
}

static void test_matrix__no_row_is_empty_or_there_twice(void)
{
        for (size_t i = 0; i < COUNT(rows); i++) {
                CHECK(rows[i].root || rows[i].user);
                for (size_t k = 0; k < i; k++)
                        CHECK(strcmp(rows[i].layer, rows[k].layer) != 0 ||
                              strcmp(rows[i].probe, rows[k].probe) != 0);
        }
}

/* The two files are of one run: an attempt held by one alone has a row, or two where two layers are each
 * needed. */
static void test_matrix__agrees_with_the_classes(void)
{
        unsigned one = 0, user = 0;
        for (size_t i = 0; i < COUNT(classes); i++)
                one += classes[i].one;
        for (size_t i = 0; i < COUNT(rows); i++) {
                bool first = rows[i].user;
                for (size_t k = 0; k < i; k++)
                        if (rows[k].user && strcmp(rows[k].probe, rows[i].probe) == 0)
                                first = false;
                user += first;
        }
        CHECK_INT(user, one);
}

/* A probe that was added since has not been tried against each layer. */
static void test_matrix__has_tried_every_probe(void)
{
        unsigned total = 0;
        size_t n;
        (void) probe_table(&n);
        for (size_t i = 0; i < COUNT(classes); i++)
                total += classes[i].total;
        CHECK_INT(total, n + 7);
}

static const struct test_case cases[] = {
        CASE(test_matrix__names_layers_that_exist),        CASE(test_matrix__names_probes_that_exist),
        CASE(test_matrix__no_row_is_empty_or_there_twice), CASE(test_matrix__agrees_with_the_classes),
        CASE(test_matrix__has_tried_every_probe),
};
TEST_MAIN(cases)
