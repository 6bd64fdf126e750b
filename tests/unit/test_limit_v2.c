/* SPDX-License-Identifier: MIT */
/* v2: what is written where, on plain files; and the mechanics on this host's real v2 hierarchy, where there
 * is one. */
#include "base/clock.h"
#include "base/fd.h"
#include "harness.h"
#include "wall/limit/internal.h"

#include <errno.h>
#include <ftw.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char dir[64];
static int at = -1;

static void file(const char *name, const char *text)
{
        AUTO_FD(fd, openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
        CHECK(fd >= 0 && fd_write_all(fd, text, strlen(text)) == 0);
}

static const char *holds(const char *name)
{
        static char text[256];
        return fd_get(at, name, text, sizeof text) < 0 ? "(none)" : text;
}

static void plant(void)
{
        (void) strcpy(dir, "/tmp/cordon-test.XXXXXX");
        CHECK(mkdtemp(dir) != NULL);
        at = open(dir, DIR_FLAGS);
        CHECK(at >= 0);
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *w)
{
        (void) s;
        (void) type;
        (void) w;
        return remove(path);
}

static void uproot(void)
{
        CHECK_INT(nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
        fd_close(&at);
}

static void fake_group(struct limit_group *g)
{
        limit_group_init(g);
        g->v2 = at;
        g->ask = (struct limit_ask){ .name = "cordon-x", .memory = 1048576, .procs = 7 };
}

static void test_write__memory_and_processes(void)
{
        struct limit_group g;
        struct err e;
        plant();
        fake_group(&g);
        static const char *const names[] = { "memory.max", "memory.swap.max", "memory.oom.group", "pids.max",
                                             "memory.events" };
        for (size_t i = 0; i < 5; i++)
                file(names[i], "");
        CHECK_INT(limit_v2_write(&g, true, true, &e), 0);
        CHECK(g.holds_memory && g.holds_procs && g.counts_cpu && g.oom_event >= 0);
        CHECK_STR(holds("memory.max"), "1048576");
        CHECK_STR(holds("memory.swap.max"), "0");
        CHECK_STR(holds("memory.oom.group"), "1");
        CHECK_STR(holds("pids.max"), "7");
        fd_close(&g.oom_event);
        uproot();
}

static void test_write__a_kernel_without_swap_files_will_do_but_not_without_memory_max(void)
{
        struct limit_group g;
        struct err e;
        plant();
        fake_group(&g);
        file("pids.max", "");
        CHECK_INT(limit_v2_write(&g, true, true, &e), -1);
        CHECK_INT(e.code, ERR_LIMIT);
        CHECK(!g.holds_memory);
        file("memory.max", "");
        CHECK_INT(limit_v2_write(&g, true, true, &e), 0);
        uproot();
}

static void test_write__zero_asks_for_nothing(void)
{
        struct limit_group g;
        struct err e;
        plant();
        fake_group(&g);
        g.ask.memory = g.ask.procs = 0;
        CHECK_INT(limit_v2_write(&g, true, true, &e), 0);
        CHECK(!g.holds_memory && !g.holds_procs);
        uproot();
}

/* Nobody is born in it any more: only what v1 does not have is worth waiting for, and then there is a way in.
 */
static void test_open__late(void)
{
        struct limit_group g;
        struct err e;
        struct host_cgroups h = { .v2 = { .present = true } };
        plant();
        (void) snprintf(h.v2.mount, sizeof h.v2.mount, "%s", dir);
        file("cgroup.subtree_control", "memory pids");
        limit_group_init(&g);
        g.ask = (struct limit_ask){ .name = "cordon-x", .memory = 1048576, .late = true };
        CHECK_INT(limit_v2_open(&g, &h, true, &e), 0);
        CHECK(g.v2 < 0 && faccessat(at, "cordon-x", F_OK, 0) < 0);
        h.v2_has[CONTROLLER_MEMORY] = true;
        CHECK_INT(limit_v2_open(&g, &h, true, &e), -1); /* files of this tree: it has no cgroup.procs */
        CHECK_INT(e.code, ERR_LIMIT);
        /* The groups of an ordinary user lie below the one it is in, which is not in this tree. */
        CHECK(strstr(e.what, geteuid() == 0 ? "cannot open a v2 control group"
                                            : "this account may make no control group"));
        limit_group_end(&g);
        CHECK(faccessat(at, "cordon-x", F_OK, 0) < 0);
        uproot();
}

static void test_hand_down__writes_only_what_is_missing(void)
{
        struct err e;
        plant();
        file("cgroup.subtree_control", "cpu memory");
        CHECK_INT(limit_v2_hand_down(at, "memory", &e), 0);
        CHECK_STR(holds("cgroup.subtree_control"), "cpu memory");
        file("cgroup.subtree_control", "");
        CHECK_INT(limit_v2_hand_down(at, "pids", &e), 0);
        CHECK_STR(holds("cgroup.subtree_control"), "+pids");
        uproot();
}

static void test_usage__is_read_by_key(void)
{
        struct limit_group g;
        struct limit_usage u;
        plant();
        fake_group(&g);
        CHECK_INT(limit_group_usage(&g, &u), -1); /* nothing there */
        file("memory.peak", "4096\n");
        file("memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 1\n");
        file("pids.events", "max 5\n");
        file("cpu.stat", "usage_usec 1234\nuser_usec 1000\n");
        CHECK_INT(limit_group_usage(&g, &u), 0);
        CHECK(u.has_memory && u.has_cpu && u.has_procs && !u.memory_sampled);
        CHECK_INT(u.memory_peak, 4096);
        CHECK_INT(u.oom_kills, 2);
        CHECK_INT(u.procs_denied, 5);
        CHECK_INT(u.cpu_ns, 1234000);
        uproot();
}

static void test_usage__without_a_kept_peak_is_a_sample(void)
{
        struct limit_group g;
        struct limit_usage u;
        plant();
        fake_group(&g);
        file("memory.current", "8192\n");
        CHECK_INT(limit_group_usage(&g, &u), 0);
        CHECK(u.has_memory && u.memory_sampled);
        CHECK_INT(u.memory_peak, 8192);
        uproot();
}

static void test_denied__hints_at_the_next_command(void)
{
        struct err e;
        CHECK_INT(limit_denied(&e, EACCES, true, "x"), -1);
        CHECK_INT(e.code, ERR_LIMIT);
        CHECK(strstr(e.hint, "systemd-run --user --scope -p Delegate=yes cordon run") != NULL);
        (void) limit_denied(&e, EPERM, false, "x");
        CHECK(strstr(e.hint, "root") && strstr(e.hint, "rlimits"));
        (void) limit_denied(&e, EROFS, true, "x");
        CHECK(strstr(e.hint, "read-only") != NULL);
}

/* A v2 hierarchy of this host and a group in it that holds no controller. */
static const char *live_group(struct limit_group *g)
{
        struct host_cgroups h;
        struct limit_ask ask = { 0 };
        struct err e;
        if (geteuid() != 0)
                return "needs root";
        if (host_cgroups_read(&h, &e) < 0 || !h.v2.present)
                return "no v2 hierarchy here";
        for (unsigned c = 0; c < CONTROLLER__COUNT; c++)
                h.v1[c].present = h.v2_has[c] = false;
        limit_name(ask.name);
        if (limit_group_open(g, &h, &ask, &e) < 0 || g->v2 < 0)
                return "the v2 hierarchy cannot be written here";
        return NULL;
}

static pid_t born_in(const struct limit_group *g)
{
        struct clone_args a = { .flags = CLONE_INTO_CGROUP,
                                .cgroup = (uint64_t) g->v2,
                                .exit_signal = SIGCHLD };
        pid_t pid = (pid_t) syscall(SYS_clone3, &a, sizeof a);
        if (pid == 0)
                for (;;)
                        (void) pause();
        return pid;
}

static void test_live__a_process_is_born_in_the_group_and_killed_with_it(void)
{
        struct limit_group g;
        struct limit_usage u;
        int status;
        const char *why = live_group(&g);
        if (why)
                SKIP(why);
        struct err e;
        pid_t pid = born_in(&g);
        CHECK(pid > 0);
        CHECK_INT(limit_group_attach(&g, pid, true, &e), 0);
        CHECK_INT(limit_group_usage(&g, &u), 0);
        CHECK(u.has_cpu);
        limit_group_kill(&g);
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        AUTO_FD(parent, fcntl(g.v2_parent, F_DUPFD_CLOEXEC, 3));
        char name[48];
        memcpy(name, g.ask.name, sizeof name);
        limit_group_end(&g);
        CHECK(faccessat(parent, name, F_OK, 0) < 0 && errno == ENOENT);
        limit_group_end(&g); /* idempotent */
}

static void test_live__a_frozen_group_is_thawed(void)
{
        struct limit_group g;
        char text[16];
        const char *why = live_group(&g);
        if (why)
                SKIP(why);
        pid_t pid = born_in(&g);
        CHECK_INT(fd_put(g.v2, "cgroup.freeze", "1"), 0);
        limit_thaw(pid);
        CHECK(fd_get(g.v2, "cgroup.freeze", text, sizeof text) == 1 && text[0] == '0');
        limit_group_end(&g);
        CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static void test_live__many_processes_end_at_once(void)
{
        struct limit_group g;
        const char *why = live_group(&g);
        if (why)
                SKIP(why);
        pid_t pids[200];
        for (int i = 0; i < 200; i++)
                pids[i] = born_in(&g);
        uint64_t before = clock_mono_ns();
        limit_group_end(&g);
        CHECK(clock_mono_ns() - before < 2000000000u);
        for (int i = 0; i < 200; i++)
                CHECK_INT(waitpid(pids[i], NULL, 0), pids[i]);
}

static const struct test_case cases[] = {
        CASE(test_write__memory_and_processes),
        CASE(test_write__a_kernel_without_swap_files_will_do_but_not_without_memory_max),
        CASE(test_write__zero_asks_for_nothing),
        CASE(test_open__late),
        CASE(test_hand_down__writes_only_what_is_missing),
        CASE(test_usage__is_read_by_key),
        CASE(test_usage__without_a_kept_peak_is_a_sample),
        CASE(test_denied__hints_at_the_next_command),
        CASE(test_live__a_process_is_born_in_the_group_and_killed_with_it),
        CASE(test_live__a_frozen_group_is_thawed),
        CASE(test_live__many_processes_end_at_once),
};
TEST_MAIN(cases)
