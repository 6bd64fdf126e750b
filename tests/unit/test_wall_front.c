/* SPDX-License-Identifier: MIT */
/* The watched root: its tree, made from a plan, without a kernel. */
#include "harness.h"
#include "wall/linux/observe/fuse_root.h"

#include <stdlib.h>

static struct plan plan_of(struct plan_step *steps, size_t n)
{
        return (struct plan){ .steps = steps, .step_count = n };
}

static struct fuse_tree tree_of(const struct plan *p, int *ret)
{
        struct fuse_tree t = { .cap = fuse_tree_room(p) };
        t.node = calloc(t.cap, sizeof *t.node);
        *ret = fuse_tree_build(&t, p);
        return t;
}

static uint32_t find(const struct fuse_tree *t, uint32_t dir, const char *name)
{
        return fuse_tree_find(t, dir, name, strlen(name), false);
}

static void test_tree__has_what_the_plan_makes_and_nothing_else(void)
{
        struct plan_step steps[] = {
                { .kind = STEP_FILE, .path = "/etc/passwd", .text = "box\n" },
                { .kind = STEP_LINK, .path = "/bin", .text = "usr/bin" },
                { .kind = STEP_BIND, .path = "/usr", .flags = STEP_IS_DIR },
                { .kind = STEP_BIND, .path = "/a/b/c" },
                { .kind = STEP_SCRATCH, .path = "/tmp" },
                { .kind = STEP_DEVICE, .path = "/dev/null" },
                { .kind = STEP_MASK, .path = "/usr/secret" },
        };
        int built;
        struct plan p = plan_of(steps, sizeof steps / sizeof *steps);
        struct fuse_tree t = tree_of(&p, &built);
        CHECK_INT(built, 0);
        uint32_t etc = find(&t, 1, "etc");
        CHECK(etc && S_ISDIR(t.node[etc].mode));
        uint32_t file = find(&t, etc, "passwd"); /* its text is mounted over it: see root.c */
        CHECK(file && S_ISREG(t.node[file].mode) && !t.node[file].text);
        CHECK(S_ISLNK(t.node[find(&t, 1, "bin")].mode));
        CHECK(S_ISDIR(t.node[find(&t, 1, "usr")].mode));
        uint32_t b = find(&t, find(&t, 1, "a"), "b");
        CHECK(b && S_ISREG(t.node[find(&t, b, "c")].mode));
        CHECK(S_ISREG(t.node[find(&t, find(&t, 1, "dev"), "null")].mode));
        CHECK(find(&t, find(&t, 1, "dev"), ".landlock") != 0);
        CHECK_INT(find(&t, 1, "root"), 0);
        CHECK_INT(find(&t, etc, "shadow"), 0);
        CHECK_INT(find(&t, find(&t, 1, "usr"), "secret"), 0);
        CHECK_INT(find(&t, 0, "etc"), 0);
        CHECK_INT(find(&t, t.count, "etc"), 0);
        CHECK(t.count <= t.cap);
        free(t.node);
}

static void test_tree__what_covers_an_except_is_found_by_init_alone(void)
{
        int built;
        struct plan p = plan_of(NULL, 0);
        struct fuse_tree t = tree_of(&p, &built);
        CHECK_INT(built, 0);
        CHECK_INT(find(&t, 1, FRONT_MASK_DIR), 0);
        CHECK(fuse_tree_find(&t, 1, FRONT_MASK_DIR, strlen(FRONT_MASK_DIR), true) != 0);
        CHECK_INT(find(&t, 1, FRONT_MASK_FILE), 0);
        free(t.node);
}

static void test_tree__a_path_through_a_file_or_link_is_refused(void)
{
        static const enum step_kind first[] = { STEP_FILE, STEP_LINK, STEP_DEVICE };
        for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
                struct plan_step steps[] = { { .kind = first[i], .path = "/x", .text = "y" },
                                             { .kind = STEP_BIND, .path = "/x/y" } };
                int built;
                struct plan p = plan_of(steps, 2);
                struct fuse_tree t = tree_of(&p, &built);
                CHECK_INT(built, -1);
                free(t.node);
        }
}

static void test_tree__the_first_of_two_stays(void)
{
        struct plan_step steps[] = { { .kind = STEP_LINK, .path = "/x", .text = "first" },
                                     { .kind = STEP_LINK, .path = "/x", .text = "second" } };
        int built;
        struct plan p = plan_of(steps, 2);
        struct fuse_tree t = tree_of(&p, &built);
        CHECK_INT(built, 0);
        CHECK_STR(t.node[find(&t, 1, "x")].text, "first");
        free(t.node);
}

static void test_path__is_whole_or_not_given(void)
{
        struct plan_step steps[] = { { .kind = STEP_BIND, .path = "/a/b", .flags = STEP_IS_DIR } };
        int built;
        struct plan p = plan_of(steps, 1);
        struct fuse_tree t = tree_of(&p, &built);
        uint32_t b = find(&t, find(&t, 1, "a"), "b");
        char path[32];
        CHECK(fuse_tree_path(&t, b, "gone", path, sizeof path));
        CHECK_STR(path, "/a/b/gone");
        CHECK(fuse_tree_path(&t, 1, "gone", path, sizeof path));
        CHECK_STR(path, "/gone");
        for (size_t cap = 0; cap < sizeof "/a/b/gone"; cap++)
                CHECK(!fuse_tree_path(&t, b, "gone", path, cap));
        free(t.node);
}

static const struct test_case cases[] = {
        CASE(test_tree__has_what_the_plan_makes_and_nothing_else),
        CASE(test_tree__what_covers_an_except_is_found_by_init_alone),
        CASE(test_tree__a_path_through_a_file_or_link_is_refused),
        CASE(test_tree__the_first_of_two_stays),
        CASE(test_path__is_whole_or_not_given),
};
TEST_MAIN(cases)
