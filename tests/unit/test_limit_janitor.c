/* SPDX-License-Identifier: MIT */
/* The janitor: cleans up after a killed keeper, goes quietly when dismissed, and holds nothing of its
 * caller's. */
/* alone: groups of the whole machine are counted. */
#include "base/clock.h"
#include "base/fd.h"
#include "harness.h"
#include "wall/limit/internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

static struct host_cgroups h;
static struct err e;

static const char *open_group(struct limit_group *g)
{
        struct limit_ask ask = { .memory = 64 << 20, .procs = 8 };
        if (geteuid() != 0)
                return "needs root";
        if (host_cgroups_read(&h, &e) < 0)
                return "control groups cannot be read";
        limit_name(ask.name);
        return limit_group_open(g, &h, &ask, &e) < 0 ? "no control group can be made here" : NULL;
}

static bool is_there(const char *name)
{
        char path[512];
        const struct host_hierarchy *y = h.v1[CONTROLLER_MEMORY].present ? &h.v1[CONTROLLER_MEMORY] : &h.v2;
        (void) snprintf(path, sizeof path, "%s/%s", y->mount, name);
        return access(path, F_OK) == 0;
}

static bool gone_within_ms(const char *name, unsigned ms)
{
        for (uint64_t end = clock_mono_ns() + ms * 1000000ull; clock_mono_ns() < end; (void) poll(NULL, 0, 5))
                if (!is_there(name))
                        return true;
        return false;
}

/* A keeper with a box in it; tells the group's name and the pids, then waits to be killed. `leak` keeps the
 * keeper's end of the line open in the box, as a careless child would. */
struct told {
        char name[48];
        pid_t janitor, box;
        bool ok;
};

static _Noreturn void keeper(int out, bool leak)
{
        struct limit_group g;
        struct told t = { 0 };
        struct limit_janitor j = LIMIT_NO_JANITOR;
        t.ok = open_group(&g) == NULL && limit_janitor_start(NULL, g.ask.name, &j, &e) == 0;
        t.janitor = j.child.pid;
        t.box = fork();
        if (t.box == 0) {
                if (!leak)
                        (void) close(j.line);
                for (;;)
                        (void) pause();
        }
        t.ok = t.ok && limit_group_attach(&g, t.box, false, &e) == 0;
        memcpy(t.name, g.ask.name, sizeof t.name);
        (void) fd_write_all(out, &t, sizeof t);
        for (;;)
                (void) pause();
}

static void kill_a_keeper(bool leak)
{
        struct told t = { 0 };
        int ends[2];
        CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
        pid_t pid = fork();
        if (pid == 0)
                keeper(ends[1], leak);
        (void) close(ends[1]);
        CHECK_INT(fd_read_all(ends[0], &t, sizeof t), sizeof t);
        CHECK(t.ok && is_there(t.name));
        (void) kill(t.janitor, SIGINT);
        (void) kill(t.janitor, SIGTERM);
        (void) kill(t.janitor, SIGHUP);
        (void) poll(NULL, 0, 20);
        CHECK(is_there(t.name) && kill(t.box, 0) == 0);
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
        CHECK(gone_within_ms(t.name, 20000));
        /* The janitor does not hold what it inherited: our pipe is at its end. */
        char word;
        struct pollfd p = { .fd = ends[0], .events = POLLIN };
        CHECK(poll(&p, 1, 20000) == 1 && read(ends[0], &word, 1) == 0);
        (void) close(ends[0]);
}

static void test_janitor__cleans_up_after_a_killed_keeper(void)
{
        struct limit_group g;
        const char *why = open_group(&g);
        if (why)
                SKIP(why);
        limit_group_end(&g);
        kill_a_keeper(false);
}

static void test_janitor__also_when_the_line_leaked_into_the_box(void)
{
        struct limit_group g;
        const char *why = open_group(&g);
        if (why)
                SKIP(why);
        limit_group_end(&g);
        kill_a_keeper(true);
}

static unsigned open_descriptors(pid_t pid)
{
        unsigned n = 0;
        char path[64], target[256];
        for (int fd = 0; fd < 256; fd++) {
                (void) snprintf(path, sizeof path, "/proc/%d/fd/%d", (int) pid, fd);
                n += readlink(path, target, sizeof target) > 0;
        }
        return n;
}

static void test_janitor__holds_only_its_line(void)
{
        struct limit_group g;
        struct limit_janitor j;
        char path[64], name[32] = "";
        const char *why = open_group(&g);
        if (why)
                SKIP(why);
        CHECK_INT(limit_janitor_start(NULL, g.ask.name, &j, &e), 0);
        pid_t pid = j.child.pid;
        (void) snprintf(path, sizeof path, "/proc/%d/comm", (int) pid);
        for (int i = 0; i < 4000 && strcmp(name, "cordon-janitor") != 0; i++, (void) poll(NULL, 0, 5))
                (void) fd_get(AT_FDCWD, path, name, sizeof name);
        CHECK_STR(name, "cordon-janitor");
        CHECK_INT(open_descriptors(pid), 2); /* the line, the keeper's pidfd */
        CHECK(getsid(pid) == pid);
        limit_group_end(&g);
        limit_janitor_dismiss(&j);
        CHECK(kill(pid, 0) < 0 && errno == ESRCH);
}

static void test_janitor__dismissed_touches_nothing(void)
{
        struct limit_group g;
        struct limit_janitor j;
        const char *why = open_group(&g);
        if (why)
                SKIP(why);
        CHECK_INT(limit_janitor_start(NULL, g.ask.name, &j, &e), 0);
        limit_janitor_dismiss(&j);
        CHECK(is_there(g.ask.name));
        limit_group_end(&g);
        CHECK(!is_there(g.ask.name));
}

static void test_dismiss__of_a_dead_janitor_does_not_kill_us(void)
{
        struct limit_group g;
        struct limit_janitor j;
        const char *why = open_group(&g);
        if (why)
                SKIP(why);
        CHECK_INT(limit_janitor_start(NULL, g.ask.name, &j, &e), 0);
        pid_t pid = j.child.pid;
        (void) kill(pid, SIGKILL);
        (void) poll(NULL, 0, 20);
        limit_group_end(&g);
        limit_janitor_dismiss(&j);
        CHECK(kill(pid, 0) < 0);
}

static const struct test_case cases[] = {
        CASE(test_janitor__cleans_up_after_a_killed_keeper),
        CASE(test_janitor__also_when_the_line_leaked_into_the_box),
        CASE(test_janitor__holds_only_its_line),
        CASE(test_janitor__dismissed_touches_nothing),
        CASE(test_dismiss__of_a_dead_janitor_does_not_kill_us),
};
TEST_MAIN(cases)
