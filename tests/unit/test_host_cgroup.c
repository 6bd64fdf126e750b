/* SPDX-License-Identifier: MIT */
/* What mountinfo and /proc/self/cgroup say about control groups, also when they lie. */
#include "base/host/host.h"
#include "harness.h"

#include <stdlib.h>

#define V1(name, opts) "32 31 0:29 / /sys/fs/cgroup/" name " rw,relatime - cgroup cgroup rw," opts "\n"
#define V2(root, at)   "41 31 0:38 " root " " at " rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define TMPFS          "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"

static struct host_cgroups h;

static void test_parse__one_controller_per_hierarchy_with_a_v2_beside(void)
{
        CHECK_INT(host_cgroups_parse(
                          TMPFS V1("memory", "memory") V1("pids", "pids") V1("cpuacct", "cpuacct")
                                  V1("freezer", "freezer") V2("/", "/sys/fs/cgroup/unified"),
                          "9:name=systemd:/\n8:pids:/\n4:memory:/a/b\n2:cpuacct:/\n1:freezer:/\n0::/x\n", &h),
                  0);
        CHECK(h.v1[CONTROLLER_MEMORY].present && h.v1[CONTROLLER_PIDS].present && h.v2.present);
        CHECK_STR(h.v1[CONTROLLER_MEMORY].mount, "/sys/fs/cgroup/memory");
        CHECK_STR(h.v1[CONTROLLER_MEMORY].own, "/a/b");
        CHECK_STR(h.v1[CONTROLLER_PIDS].own, "/");
        CHECK_STR(h.v2.mount, "/sys/fs/cgroup/unified");
        CHECK_STR(h.v2.own, "/x");
}

static void test_parse__controllers_that_share_a_mount(void)
{
        CHECK_INT(host_cgroups_parse(V1("cpu,cpuacct", "cpu,cpuacct") V1("mp", "memory,pids"),
                                     "3:cpu,cpuacct:/c\n2:memory,pids:/m:n\n", &h),
                  0);
        CHECK_STR(h.v1[CONTROLLER_CPUACCT].mount, "/sys/fs/cgroup/cpu,cpuacct");
        CHECK_STR(h.v1[CONTROLLER_CPUACCT].own, "/c");
        CHECK_STR(h.v1[CONTROLLER_MEMORY].mount, h.v1[CONTROLLER_PIDS].mount);
        CHECK_STR(h.v1[CONTROLLER_PIDS].own, "/m:n"); /* a colon is a legal byte of a name */
        CHECK(!h.v1[CONTROLLER_FREEZER].present && !h.v2.present);
}

static void test_parse__v2_alone(void)
{
        CHECK_INT(host_cgroups_parse(V2("/", "/sys/fs/cgroup"),
                                     "0::/user.slice/user-1000.slice/session-2.scope\n", &h),
                  0);
        CHECK(h.v2.present && !h.v1[CONTROLLER_MEMORY].present);
        CHECK_STR(h.v2.own, "/user.slice/user-1000.slice/session-2.scope");
}

static void test_parse__no_control_groups_at_all(void)
{
        CHECK_INT(host_cgroups_parse("", "", &h), 0);
        CHECK_INT(host_cgroups_parse(TMPFS, "0::/\n", &h), 0);
        CHECK(!h.v2.present && h.v2.own[0] == '\0');
}

static void test_parse__octal_escapes_are_undone(void)
{
        CHECK_INT(host_cgroups_parse(V2("/", "/a\\040b\\134c\\011"), "0::/\n", &h), 0);
        CHECK_STR(h.v2.mount, "/a b\\c\t");
}

static void test_parse__an_empty_source_shows_as_two_blanks(void)
{
        CHECK_INT(host_cgroups_parse("1 2 0:3 / /m rw - cgroup  rw,memory\n", "4:memory:/\n", &h), 0);
        CHECK(h.v1[CONTROLLER_MEMORY].present);
}

static void test_parse__own_group_is_told_below_what_is_mounted(void)
{
        CHECK_INT(host_cgroups_parse(V2("/docker/abc", "/c"), "0::/docker/abc/x\n", &h), 0);
        CHECK_STR(h.v2.own, "/x");
        CHECK_INT(host_cgroups_parse(V2("/docker/abc", "/c"), "0::/docker/abc\n", &h), 0);
        CHECK_STR(h.v2.own, "/");
        CHECK_INT(host_cgroups_parse(V2("/docker/abc", "/c"), "0::/docker/abcdef\n", &h), 0);
        CHECK_STR(h.v2.own, "");
        CHECK_INT(host_cgroups_parse(V2("/docker/abc", "/c"), "0::/elsewhere\n", &h), 0);
        CHECK_STR(h.v2.own, "");
}

static void test_parse__a_group_outside_or_removed_is_none(void)
{
        CHECK_INT(host_cgroups_parse(V2("/", "/c"), "0::/../../x\n", &h), 0);
        CHECK_STR(h.v2.own, "");
        CHECK_INT(host_cgroups_parse(V2("/", "/c"), "0::/x/..\n", &h), 0);
        CHECK_STR(h.v2.own, "");
        CHECK_INT(host_cgroups_parse(V2("/", "/c"), "0::/x (deleted)\n", &h), 0);
        CHECK_STR(h.v2.own, "");
        CHECK_INT(host_cgroups_parse(V2("/", "/c"), "0::/x..y/..z\n", &h), 0);
        CHECK_STR(h.v2.own, "/x..y/..z");
}

static void test_parse__of_two_mounts_the_one_that_shows_all_is_kept(void)
{
        CHECK_INT(host_cgroups_parse(V2("/part", "/a") V2("/", "/b") V2("/", "/c"), "0::/part/x\n", &h), 0);
        CHECK_STR(h.v2.mount, "/b");
        CHECK_STR(h.v2.own, "/part/x");
}

static void test_parse__names_that_only_look_like_controllers_are_none(void)
{
        CHECK_INT(
                host_cgroups_parse(V1("x", "name=memory") V1("y", "memory2,xpids"), "4:name=memory:/\n", &h),
                0);
        for (int c = 0; c < CONTROLLER__COUNT; c++)
                CHECK(!h.v1[c].present);
}

static void test_parse__refuses_what_it_cannot_read(void)
{
        static const struct {
                const char *mountinfo, *cgroup;
        } bad[] = {
                { "nonsense\n", "" },        { "\n", "" },
                { "1 2 3:4 / /m rw\n", "" }, { "1 2 3:4 / /m rw - \n", "" },
                { V2("/", "/a\\04"), "" }, /* cut escape */
                { V2("/", "/a\\"), "" },     { V2("/", "/a\\999"), "" },
                { V2("/", "/a\\000b"), "" }, /* a NUL */
                { V2("/", "/a\\777"), "" },  /* above a byte */
                { V2("/", "a"), "" },        /* not absolute */
                { V2("x", "/a"), "" },       { TMPFS, "0:\n" },
                { TMPFS, "0::\n" },          { TMPFS, "::/\n" },
                { TMPFS, "x::/\n" },         { TMPFS, "99999999999::/\n" },
                { TMPFS, "0::x\n" },         { TMPFS, "\n" },
        };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                memset(&h, 'x', sizeof h);
                int r = host_cgroups_parse(bad[i].mountinfo, bad[i].cgroup, &h);
                if (r != -1)
                        printf("# row %zu was taken\n", i);
                CHECK_INT(r, -1);
                CHECK(h.v2.mount[0] == 'x'); /* untouched on failure */
        }
}

/* `n` letters behind a slash. */
static char *long_path(const char *before, size_t n, const char *after)
{
        char *s = malloc(strlen(before) + n + 1 + strlen(after) + 1);
        char *at = stpcpy(s, before);
        *at++ = '/';
        memset(at, 'a', n);
        (void) stpcpy(at + n, after);
        return s;
}

static void test_parse__refuses_paths_that_do_not_fit(void)
{
        char *fits = long_path("0::", sizeof h.v2.own - 2, "\n"),
             *too_long = long_path("0::", sizeof h.v2.own - 1, "\n");
        CHECK_INT(host_cgroups_parse(V2("/", "/c"), fits, &h), 0);
        CHECK_INT(strlen(h.v2.own), sizeof h.v2.own - 1);
        CHECK_INT(host_cgroups_parse(V2("/", "/c"), too_long, &h), -1);
        char *mount_fits = long_path("1 2 3:4 / ", sizeof h.v2.mount - 2, " rw - cgroup2 c rw\n");
        char *mount_long = long_path("1 2 3:4 / ", sizeof h.v2.mount - 1, " rw - cgroup2 c rw\n");
        char *other_long = long_path("1 2 3:4 / ", 9000, " rw - ext4 c rw\n");
        CHECK_INT(host_cgroups_parse(mount_fits, "", &h), 0);
        CHECK_INT(host_cgroups_parse(mount_long, "", &h), -1);
        CHECK_INT(host_cgroups_parse(other_long, "", &h), 0); /* nobody's business */
        free(fits);
        free(too_long);
        free(mount_fits);
        free(mount_long);
        free(other_long);
}

static void test_find__gives_the_group_of_one_controller(void)
{
        char path[16] = "untouched";
        const char *text = "3:cpu,cpuacct:/c\n2:freezer:/f/g\n0::/v\n";
        CHECK_INT(host_cgroup_find(text, "freezer", path, sizeof path), 0);
        CHECK_STR(path, "/f/g");
        CHECK_INT(host_cgroup_find(text, "", path, sizeof path), 0);
        CHECK_STR(path, "/v");
        CHECK_INT(host_cgroup_find(text, "cpuacct", path, sizeof path), 0);
        CHECK_STR(path, "/c");
        CHECK_INT(host_cgroup_find(text, "memory", path, sizeof path), -1);
        CHECK_INT(host_cgroup_find("2:freezer:/longer/than/sixteen\n", "freezer", path, sizeof path), -1);
        CHECK_INT(host_cgroup_find("2:freezer:/../x\n", "freezer", path, sizeof path), -1);
        CHECK_STR(path, "/c");
}

static void test_lists__whole_words_only(void)
{
        CHECK(host_lists("cpu memory pids", "memory"));
        CHECK(host_lists("memory\n", "memory"));
        CHECK(!host_lists("memory.high", "memory"));
        CHECK(!host_lists("", "memory"));
}

static void test_cpus__lists_of_the_kernel(void)
{
        CHECK_INT(host_cpus_parse("0"), 1);
        CHECK_INT(host_cpus_parse("0-1\n"), 2);
        CHECK_INT(host_cpus_parse("0-3,8,10-11"), 7);
        static const char *const odd[] = { "",   "\n",    "-1", "0-",  "3-1",
                                           "0,", "0-1-2", "x",  "0 1", "0-99999999" };
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
                CHECK_INT(host_cpus_parse(odd[i]), 0);
        CHECK(host_cpus() >= 1);
}

static void test_read__this_host_is_readable(void)
{
        struct err e = { 0 };
        CHECK_INT(host_cgroups_read(&h, &e), 0);
        CHECK_STR(e.what, "");
}

static void read_whole(const char *path, char *ret, size_t cap)
{
        FILE *f = fopen(path, "r");
        size_t n = f ? fread(ret, 1, cap - 1, f) : 0;
        ret[n] = '\0';
        if (f)
                (void) fclose(f);
}

/* Looked for where they usually are, hierarchies are what the mount table says. */
static void test_read__the_usual_places_say_what_the_mount_table_says(void)
{
        static char mounts[1 << 20], groups[1 << 16];
        struct host_cgroups by_table, quick;
        struct err e = { 0 };
        read_whole("/proc/self/mountinfo", mounts, sizeof mounts);
        read_whole("/proc/self/cgroup", groups, sizeof groups);
        CHECK_INT(host_cgroups_parse(mounts, groups, &by_table), 0);
        CHECK_INT(host_cgroups_read(&quick, &e), 0);
        for (unsigned i = 0; i <= CONTROLLER__COUNT; i++) {
                const struct host_hierarchy *a = i < CONTROLLER__COUNT ? &by_table.v1[i] : &by_table.v2;
                const struct host_hierarchy *b = i < CONTROLLER__COUNT ? &quick.v1[i] : &quick.v2;
                CHECK_INT(a->present, b->present);
                CHECK_STR(a->mount, b->mount);
                CHECK_STR(a->own, b->own);
        }
}

static const struct test_case cases[] = {
        CASE(test_cpus__lists_of_the_kernel),
        CASE(test_parse__one_controller_per_hierarchy_with_a_v2_beside),
        CASE(test_parse__controllers_that_share_a_mount),
        CASE(test_parse__v2_alone),
        CASE(test_parse__no_control_groups_at_all),
        CASE(test_parse__octal_escapes_are_undone),
        CASE(test_parse__an_empty_source_shows_as_two_blanks),
        CASE(test_parse__own_group_is_told_below_what_is_mounted),
        CASE(test_parse__a_group_outside_or_removed_is_none),
        CASE(test_parse__of_two_mounts_the_one_that_shows_all_is_kept),
        CASE(test_parse__names_that_only_look_like_controllers_are_none),
        CASE(test_parse__refuses_what_it_cannot_read),
        CASE(test_parse__refuses_paths_that_do_not_fit),
        CASE(test_find__gives_the_group_of_one_controller),
        CASE(test_lists__whole_words_only),
        CASE(test_read__this_host_is_readable),
        CASE(test_read__the_usual_places_say_what_the_mount_table_says),
};
TEST_MAIN(cases)
