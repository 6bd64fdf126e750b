/* SPDX-License-Identifier: MIT */
/* Names of groups, numbers as text, and rlimits that only go down. */
#include "harness.h"
#include "wall/limit/internal.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_name__is_ours_and_its_owner_lives(void)
{
        char name[48];
        struct limit_owner o;
        limit_name(name);
        CHECK_INT(limit_name_parse(name, &o), 0);
        CHECK_INT(o.pid, getpid());
        CHECK_INT(o.start, limit_start_time(getpid()));
        struct stat ns;
        CHECK(o.start > 0 && stat("/proc/self/ns/pid", &ns) == 0 && o.pid_ns == (uint32_t) ns.st_ino);
        CHECK(!limit_owner_gone(&o));
}

static void test_name__two_of_one_process_differ(void)
{
        char a[48], b[48];
        limit_name(a);
        limit_name(b);
        CHECK(strcmp(a, b) != 0);
}

static void test_owner__is_gone_when_dead_or_when_the_pid_was_reused(void)
{
        char name[48];
        struct limit_owner o;
        limit_name(name);
        CHECK_INT(limit_name_parse(name, &o), 0);
        o.start++;
        CHECK(limit_owner_gone(&o)); /* same pid, another process */
        pid_t pid = fork();
        if (pid == 0)
                _exit(0);
        (void) waitpid(pid, NULL, 0);
        o.start--;
        o.pid = pid;
        CHECK(limit_owner_gone(&o));
}

static void test_owner__is_never_gone_when_we_cannot_know(void)
{
        char name[48];
        struct limit_owner o;
        limit_name(name);
        CHECK_INT(limit_name_parse(name, &o), 0);
        struct limit_owner elsewhere = { .pid = 4194303,
                                         .start = 1,
                                         .pid_ns = o.pid_ns ^ 1 }; /* another pid namespace */
        CHECK(!limit_owner_gone(&elsewhere));
        elsewhere.pid_ns = 0;
        CHECK(!limit_owner_gone(&elsewhere));
        struct limit_owner no_start = { .pid = getpid(), .start = 0, .pid_ns = o.pid_ns };
        CHECK(!limit_owner_gone(&no_start));
}

static void test_name__others_are_not_taken_for_ours(void)
{
        static const char *const foreign[] = {
                "",
                "cordon-",
                "cordon-1",
                "cordon-1-2",
                "cordon-1-2-3",
                "cordon-0-2-0123456789abcdef",
                "cordon--2-0123456789abcdef",
                "cordon-1--0123456789abcdef",
                "cordon-01-2-0123456789abcdef",
                "cordon-99999999999-2-0123456789abcdef",
                "cordon-1-x-0123456789abcdef",
                "cordon-1-2-0123456789ABCDEF",
                "cordon-1-2-0123456789abcdef0",
                "cordon-1-2-0123456789abcde",
                "cordon-1-2-0123456-89abcdef",
                "cordonx1-2-0123456789abcdef",
                "process_api",
        };
        struct limit_owner o;
        for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
                CHECK_INT(limit_name_parse(foreign[i], &o), -1);
        CHECK_INT(limit_name_parse("cordon-1-2-0123456789abcdef", &o), 0);
        CHECK_INT(o.pid_ns, 0x89abcdef);
}

static const struct test_case cases[] = {
        CASE(test_name__is_ours_and_its_owner_lives),
        CASE(test_name__two_of_one_process_differ),
        CASE(test_owner__is_gone_when_dead_or_when_the_pid_was_reused),
        CASE(test_owner__is_never_gone_when_we_cannot_know),
        CASE(test_name__others_are_not_taken_for_ours),
};
TEST_MAIN(cases)
