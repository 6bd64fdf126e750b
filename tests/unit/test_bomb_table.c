/* SPDX-License-Identifier: MIT */
/* The table of bombs has no holes, and every box it asks for is small. */
#include "harness.h"
#include "selftest/bomb/bomb.h"

static const struct bomb *all;
static size_t count;

static void test_bombs__every_row_is_whole(void)
{
        CHECK(count >= 20);
        for (size_t i = 0; i < count; i++) {
                const struct bomb *b = &all[i];
                CHECK(b->name && b->name[0] && b->what && b->what[0] && b->limit && b->limit[0]);
                CHECK(b->run ? !b->step : b->step && b->times > 0);
                /* What is seen inside only must say what is seen; the daemon is looked for outside. */
                CHECK(!b->shows_inside || b->error || strcmp(b->name, "daemon") == 0);
        }
}

static void test_bombs__every_box_is_small_and_short(void)
{
        for (size_t i = 0; i < count; i++) {
                CHECK(strstr(all[i].limits, "memory 64M") || strstr(all[i].limits, "memory 32M"));
                CHECK(strstr(all[i].limits, "procs 32"));
                CHECK(strstr(all[i].limits, "time 3s") || strstr(all[i].limits, "time 1s"));
        }
}

static void test_bombs__each_is_found_by_its_name(void)
{
        for (size_t i = 0; i < count; i++)
                CHECK(bomb_find(all[i].name) == &all[i]);
        CHECK(bomb_find("") == NULL);
        CHECK(bomb_find("neighbour") == NULL);
}

static const struct test_case cases[] = {
        CASE(test_bombs__every_row_is_whole),
        CASE(test_bombs__every_box_is_small_and_short),
        CASE(test_bombs__each_is_found_by_its_name),
};

int main(void)
{
        all = bomb_table(&count);
        return test_main(cases, sizeof cases / sizeof *cases);
}
