/* SPDX-License-Identifier: MIT */
/* An image as the box's root: its parts around the doors, its defaults, and the digest. */
#include "test_plan_common.h"

static const struct plan_top tops[] = { { "bin", true },    { "d", true },   { "dev", true },
                                        { "entry", false }, { "etc", true }, { "proc", true },
                                        { "usr", true } };
static const char *const variables[] = { "PATH=/x:/y", "A=image", "B=image", NULL };
static const struct plan_image image = { .dir = "/store/one/root",
                                         .dev = 3,
                                         .ino = 9,
                                         .tops = tops,
                                         .top_count = COUNT(tops),
                                         .passwd = "root:x:0:0::/:/bin/sh\nweb:x:33:44::/:/bin/sh",
                                         .env = variables,
                                         .cwd = "/srv",
                                         .has_user = true,
                                         .uid = 33,
                                         .gid = 44 };

static unsigned rights_of(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->rule_count; i++)
                if (strcmp(p->rules[i].path, path) == 0)
                        return p->rules[i].rights;
        return 0;
}

static void test_image__is_the_first_step_and_no_stock_file_is_shown(void)
{
        SCENE(s);
        s.r.image = &image;
        MUST_PLAN(s, "root /store/one\nuse base/system\n");
        CHECK(plan_image_step(s.p) && strcmp(s.p->steps[0].text, image.dir) == 0);
        CHECK(s.p->steps[0].dev == 3 && s.p->steps[0].ino == 9);
        for (size_t i = 0; i < s.p->step_count; i++)
                CHECK(s.p->steps[i].kind != STEP_BIND);
        CHECK(s.p->uid == 33 && s.p->gid == 44);
        CHECK(!find_step(s.p, STEP_PIN, "/dev") && !find_step(s.p, STEP_PIN, "/proc"));
}

static void test_image__a_part_above_a_door_stays_read_only(void)
{
        SCENE(s);
        s.r.image = &image;
        MUST_PLAN(s, "root /store/one\nread /d/sub\n");
        const struct plan_step *usr = find_step(s.p, STEP_PIN, "/usr"),
                               *above = find_step(s.p, STEP_PIN, "/d");
        CHECK(usr && usr->flags & STEP_WRITE && usr->flags & STEP_EXEC);
        CHECK(above && !(above->flags & STEP_WRITE));
        CHECK(above > find_step(s.p, STEP_BIND, "/d/sub")); /* which it carries */
        CHECK(rights_of(s.p, "/usr") & RIGHT_WRITE && !(rights_of(s.p, "/d") & RIGHT_WRITE));
        CHECK(!(rights_of(s.p, "/") & (RIGHT_READ | RIGHT_WRITE | RIGHT_EXEC)));
}

static void test_image__without_run_any_nothing_of_it_is_written(void)
{
        SCENE(s);
        s.r.image = &image;
        MUST_PLAN(s, "root /store/one\nuse base/strict\nread /d/sub\n");
        for (size_t i = 0; i < COUNT(tops); i++) {
                char path[16];
                (void) snprintf(path, sizeof path, "/%s", tops[i].name);
                const struct plan_step *part = find_step(s.p, STEP_PIN, path);
                CHECK(!part || !(part->flags & STEP_WRITE));
                CHECK(!(rights_of(s.p, path) & RIGHT_WRITE));
        }
        CHECK(rights_of(s.p, "/usr") & RIGHT_EXEC && !(rights_of(s.p, "/d") & RIGHT_EXEC));
}

static void test_image__its_defaults_yield_to_the_policy(void)
{
        static const char *const argv[] = { "tool", NULL };
        SCENE(s);
        s.r.image = &image;
        s.r.argv = argv;
        s.r.entry_searched = true;
        MUST_PLAN(s, "root /store/one\nenv A=mine\n");
        unsigned mine = 0, own = 0, path = 0;
        for (const char **v = s.p->order->envp; *v; v++) {
                mine += strcmp(*v, "A=mine") == 0;
                own += strcmp(*v, "B=image") == 0;
                path += strncmp(*v, "PATH=", 5) == 0 || strncmp(*v, "A=", 2) == 0;
        }
        CHECK(mine == 1 && own == 1 && path == 2);
        CHECK_STR(s.p->order->cwd, "/srv");
        CHECK_STR(s.p->order->exec[0], "/x/tool");
        CHECK_STR(s.p->order->exec[1], "/y/tool");
        CHECK_STR(find_step(s.p, STEP_FILE, "/etc/passwd")->text,
                  "root:x:0:0::/:/bin/sh\nweb:x:33:44::/:/bin/sh\n");
}

static void digest_with(const struct plan_image *m, uint8_t ret[32])
{
        SCENE(s);
        s.r.image = m;
        MUST_PLAN(s, "root /store/one\n");
        CHECK_INT(plan_digest(s.p, ret), 0);
}

static void test_image__is_in_the_digest(void)
{
        uint8_t a[32], b[32], c[32], d[32];
        struct plan_image another = image, moved = image;
        another.dir = "/store/two/root";
        moved.ino = 10;
        digest_with(&image, a);
        digest_with(&image, b);
        digest_with(&another, c);
        digest_with(&moved, d);
        CHECK(memcmp(a, b, 32) == 0 && memcmp(a, c, 32) != 0 && memcmp(a, d, 32) != 0);
}

static void test_image__is_refused_by_the_process_wall(void)
{
        SCENE(s);
        s.r.image = &image;
        s.r.wall = WALL_PROCESS;
        CHECK(!scene_plan(&s, "root /store/one\n"));
        CHECK_INT(s.e.code, ERR_HOST);
}

static const struct test_case cases[] = {
        CASE(test_image__is_the_first_step_and_no_stock_file_is_shown),
        CASE(test_image__a_part_above_a_door_stays_read_only),
        CASE(test_image__without_run_any_nothing_of_it_is_written),
        CASE(test_image__its_defaults_yield_to_the_policy),
        CASE(test_image__is_in_the_digest),
        CASE(test_image__is_refused_by_the_process_wall),
};
TEST_MAIN(cases)
