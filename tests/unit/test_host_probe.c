/* SPDX-License-Identifier: MIT */
/* What the doctor finds: every row is filled, and the quick facts agree with the kernel. */
#include "../context.h"
#include "base/host/host.h"
#include "harness.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { CAP = 64 };
static struct host_finding found[CAP];

static bool says(const char *text, const char *word) { return strcasestr(text, word) != NULL; }

static void test_probe__every_row_has_a_name_and_a_finding(void)
{
        unsigned n = host_probe(test_context(), found, CAP);
        CHECK(n > 20 && n < CAP);
        for (unsigned i = 0; i < n; i++) {
                CHECK(found[i].layer && found[i].layer[0]);
                CHECK(found[i].detail[0]);
                CHECK(strlen(found[i].detail) < sizeof found[i].detail - 1); /* not cut */
                for (unsigned k = 0; k < i; k++)
                        CHECK(strcmp(found[i].layer, found[k].layer) != 0);
        }
}

static void test_probe__promises_nothing(void)
{
        unsigned n = host_probe(test_context(), found, CAP);
        static const char *const banned[] = { "secure", "safe", "unbreakable" };
        for (unsigned i = 0; i < n; i++)
                for (unsigned b = 0; b < 3; b++)
                        CHECK(!says(found[i].detail, banned[b]) && !says(found[i].layer, banned[b]));
}

static void test_probe__keeps_to_the_room_it_is_given(void)
{
        memset(found, 0, sizeof found);
        CHECK_INT(host_probe(test_context(), found, 3), 3);
        CHECK(found[3].layer == NULL);
        CHECK_INT(host_probe(test_context(), found, 0), 0);
}

static void test_probe__leaves_no_mount_and_no_descriptor(void)
{
        struct stat before, after;
        int low = dup(0);
        CHECK_INT(stat("/tmp", &before), 0);
        (void) host_probe(test_context(), found, CAP);
        CHECK_INT(stat("/tmp", &after), 0);
        CHECK_INT(after.st_dev, before.st_dev);
        (void) close(low);
        int again = dup(0);
        CHECK_INT(again, low);
        (void) close(again);
}

static void test_facts__agree_with_the_kernel(void)
{
        struct host_facts f;
        struct err e;
        struct utsname u;
        unsigned major = 0, minor = 0;
        CHECK_INT(host_facts_quick(&f, &e), 0);
        CHECK_INT(f.uid, getuid());
        CHECK_INT(f.gid, getgid());
        CHECK(uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2);
        CHECK_INT(f.kernel_major, major);
        CHECK_INT(f.kernel_minor, minor);
        CHECK(f.landlock_abi >= 0 && f.landlock_errata >= 0);
}

static const struct test_case cases[] = {
        CASE(test_probe__every_row_has_a_name_and_a_finding),
        CASE(test_probe__promises_nothing),
        CASE(test_probe__keeps_to_the_room_it_is_given),
        CASE(test_probe__leaves_no_mount_and_no_descriptor),
        CASE(test_facts__agree_with_the_kernel),
};
TEST_MAIN(cases)
