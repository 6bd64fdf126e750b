/* SPDX-License-Identifier: MIT */
/* Groups on the real kernel: limits that bite, figures that are counted, and nothing left behind. */
/* alone: groups of the whole machine are counted. */
#include "base/fd.h"
#include "harness.h"
#include "wall/limit/internal.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static struct host_cgroups h;
static struct err e;

static const char *cannot(void)
{
        if (geteuid() != 0)
                return "needs root";
        if (host_cgroups_read(&h, &e) < 0)
                return "control groups cannot be read";
        bool memory = h.v1[CONTROLLER_MEMORY].present || h.v2_has[CONTROLLER_MEMORY];
        bool pids = h.v1[CONTROLLER_PIDS].present || h.v2_has[CONTROLLER_PIDS];
        if (!memory || !pids)
                return "no memory or pids controller is mounted";
        if (access(h.v1[CONTROLLER_MEMORY].present ? h.v1[CONTROLLER_MEMORY].mount : h.v2.mount, W_OK) < 0)
                return "control groups are read-only here";
        return NULL;
}

static void open_group(struct limit_group *g, uint64_t memory, uint64_t procs)
{
        struct limit_ask ask = { .memory = memory, .procs = procs };
        limit_name(ask.name);
        CHECK_INT(limit_group_open(g, &h, &ask, &e), 0);
}

/* A child that waits to be let go, is moved in first, and then does `fn`. */
static pid_t start(struct limit_group *g, int (*fn)(void))
{
        int go[2];
        char word;
        CHECK_INT(pipe2(go, O_CLOEXEC), 0);
        pid_t pid = fork();
        if (pid == 0) {
                (void) close(go[1]);
                _exit(read(go[0], &word, 1) == 1 ? fn() : 99);
        }
        CHECK_INT(limit_group_attach(g, pid, false, &e), 0);
        CHECK_INT(write(go[1], "g", 1), 1);
        (void) close(go[0]);
        (void) close(go[1]);
        return pid;
}

static int status_of(pid_t pid)
{
        int status = -1;
        CHECK_INT(waitpid(pid, &status, 0), pid);
        return status;
}

static unsigned left_behind(const char *name)
{
        char path[512];
        unsigned n = 0;
        for (unsigned c = 0; c <= CONTROLLER__COUNT; c++) {
                const struct host_hierarchy *y = c < CONTROLLER__COUNT ? &h.v1[c] : &h.v2;
                (void) snprintf(path, sizeof path, "%s/%s", y->mount, name);
                n += y->present && access(path, F_OK) == 0;
        }
        return n;
}

static int wait_forever(void)
{
        (void) pause();
        return 0;
}

static int eat(void)
{
        enum { MB = 1 << 20 };
        char *p = mmap(NULL, 64 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; p != MAP_FAILED && i < 64 * MB; i += 4096)
                ((volatile char *) p)[i] = 1;
        return 0;
}

static void test_memory__more_than_the_limit_is_killed_and_told(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        struct limit_group g;
        struct limit_usage u;
        open_group(&g, 16 << 20, 8);
        CHECK(g.holds_memory && g.holds_procs && g.oom_event >= 0);
        int status = status_of(start(&g, eat));
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        struct pollfd p = { .fd = g.oom_event, .events = POLLIN | POLLPRI };
        CHECK_INT(poll(&p, 1, 20000), 1);
        CHECK_INT(limit_group_usage(&g, &u), 0);
        CHECK(u.has_memory && u.oom_kills >= 1);
        CHECK(u.memory_peak > 8 << 20 && u.memory_peak <= 16 << 20);
        limit_group_end(&g);
        CHECK_INT(left_behind(g.ask.name), 0);
}

static void test_memory__less_than_the_limit_is_left_alone(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        struct limit_group g;
        struct limit_usage u;
        open_group(&g, 128 << 20, 8);
        char told[512];
        (void) !pread(g.oom_event, told, sizeof told, 0); /* v2 tells of changes since the last reading */
        CHECK_INT(status_of(start(&g, eat)), 0);
        struct pollfd p = { .fd = g.oom_event,
                            .events = POLLPRI | (h.v1[CONTROLLER_MEMORY].present ? POLLIN : 0) };
        CHECK_INT(poll(&p, 1, 0), 0);
        CHECK_INT(limit_group_usage(&g, &u), 0);
        CHECK_INT(u.oom_kills, 0);
        limit_group_end(&g);
}

static int fork_five(void)
{
        int refused = 0;
        for (int i = 0; i < 5; i++) {
                pid_t pid = fork();
                if (pid == 0)
                        return wait_forever();
                refused += pid < 0 && errno == EAGAIN;
        }
        return refused;
}

static void test_procs__one_too_many_is_refused_and_counted(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        struct limit_group g;
        struct limit_usage u;
        open_group(&g, 0, 4); /* the child and three of its own */
        CHECK(!g.holds_memory && g.holds_procs);
        int status = status_of(start(&g, fork_five));
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2);
        CHECK_INT(limit_group_usage(&g, &u), 0);
        CHECK(u.has_procs && u.procs_denied >= 1);
        limit_group_end(&g); /* three are still there */
        CHECK_INT(left_behind(g.ask.name), 0);
}

static int burn(void)
{
        struct timespec t;
        do
                (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        while (t.tv_nsec < 60000000);
        return 0;
}

static void test_cpu__is_counted(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        struct limit_usage u;
        for (int with_v2 = 0; with_v2 < 2; with_v2++) {
                struct limit_group g;
                struct host_cgroups kept = h;
                if (!with_v2 && !h.v1[CONTROLLER_CPUACCT].present)
                        continue;
                h.v2.present = h.v2.present && with_v2;
                open_group(&g, 0, 8);
                CHECK_INT(status_of(start(&g, burn)), 0);
                CHECK_INT(limit_group_usage(&g, &u), 0);
                CHECK(g.counts_cpu && u.has_cpu && u.cpu_ns > 50000000 && u.cpu_ns < 5000000000u);
                limit_group_end(&g);
                h = kept;
                CHECK_INT(left_behind(g.ask.name), 0);
        }
}

/* The way a box does it: a child in a new user namespace puts itself in. */
static void test_enter__works_from_a_new_user_namespace(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        struct limit_group g;
        struct limit_usage u;
        open_group(&g, 16 << 20, 8);
        pid_t pid = (pid_t) syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
        if (pid == 0)
                _exit(limit_group_enter(&g, false) == 0 ? eat() : 98);
        if (pid < 0) {
                limit_group_end(&g);
                SKIP("no user namespaces here");
        }
        int status = status_of(pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        CHECK_INT(limit_group_usage(&g, &u), 0);
        CHECK(u.oom_kills >= 1);
        limit_group_end(&g);
        CHECK_INT(left_behind(g.ask.name), 0);
}

static void test_end__kills_what_is_left_and_leaves_no_directory(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        struct limit_group g;
        open_group(&g, 64 << 20, 8);
        CHECK(left_behind(g.ask.name) >= 1);
        pid_t pid = start(&g, wait_forever);
        limit_group_end(&g);
        CHECK_INT(left_behind(g.ask.name), 0);
        CHECK(WIFSIGNALED(status_of(pid)));
        limit_group_end(&g);
}

static void test_end__works_without_cgroup_kill(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        if (!h.v1[CONTROLLER_MEMORY].present)
                SKIP("no v1 memory hierarchy here");
        struct limit_group g;
        h.v2.present = false; /* pid by pid */
        open_group(&g, 64 << 20, 40);
        pid_t pids[30];
        for (int i = 0; i < 30; i++)
                pids[i] = start(&g, wait_forever);
        limit_group_end(&g);
        CHECK_INT(left_behind(g.ask.name), 0);
        for (int i = 0; i < 30; i++)
                CHECK(WIFSIGNALED(status_of(pids[i])));
}

/* Whoever was killed is dead when it has come to its turn: on a busy machine, later. */
static bool ends_of_a_signal(pid_t pid)
{
        int status = 0;
        for (int i = 0; i < 4000; i++, (void) poll(NULL, 0, 5))
                if (waitpid(pid, &status, WNOHANG) == pid)
                        return WIFSIGNALED(status);
        return false;
}

static int by_number(const void *a, const void *b)
{
        pid_t x = *(const pid_t *) a, y = *(const pid_t *) b;
        return (x > y) - (x < y);
}

/* A list that never grows shorter, in a tree of plain files: whoever is not reached in one round is in none.
 * Processes of other pid namespaces stand first in it, as 0. */
static void test_kill__one_round_reaches_all_however_long_the_list(void)
{
        enum { MANY = 300, STRANGERS = 3000 };
        char top[] = "/tmp/cordon-test-group.XXXXXX", text[24];
        static pid_t pids[MANY];
        struct limit_group g;
        limit_group_init(&g);
        CHECK(mkdtemp(top) != NULL);
        g.v1[CONTROLLER_PIDS] = open(top, DIR_FLAGS);
        g.v1_parent[CONTROLLER_PIDS] = open("/tmp", DIR_FLAGS);
        AUTO_FD(list, openat(g.v1[CONTROLLER_PIDS], "cgroup.procs", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        for (int i = 0; i < STRANGERS; i++)
                CHECK_INT(write(list, "0\n", 2), 2);
        for (int i = 0; i < MANY; i++)
                if ((pids[i] = fork()) == 0)
                        _exit(wait_forever());
        qsort(pids, MANY, sizeof *pids,
              by_number); /* as the kernel lists them: numbers may have begun anew */
        for (int i = 0; i < MANY; i++) {
                (void) snprintf(text, sizeof text, "%d\n", pids[i]);
                CHECK_INT(fd_write_all(list, text, strlen(text)), 0);
        }
        limit_group_kill(&g);
        for (int i = 0; i < MANY; i++) {
                CHECK(ends_of_a_signal(pids[i]));
                (void) kill(pids[i], SIGKILL);
        }
        CHECK_INT(unlinkat(g.v1[CONTROLLER_PIDS], "cgroup.procs", 0), 0);
        CHECK_INT(rmdir(top), 0);
        limit_group_end(&g);
}

/* A frozen v1 task does not die of SIGKILL. Its own group may be frozen, or one above it. */
static void thaws(const char *path, bool above)
{
        char inner[512];
        struct limit_group g;
        (void) snprintf(inner, sizeof inner, "%s/inner", path);
        CHECK_INT(mkdir(path, 0755), 0);
        CHECK_INT(mkdir(inner, 0755), 0);
        AUTO_FD(ice, open(path, DIR_FLAGS));
        AUTO_FD(in, open(inner, DIR_FLAGS));
        open_group(&g, 64 << 20, 8);
        pid_t pid = start(&g, wait_forever);
        CHECK_INT(limit_put(above ? in : ice, "cgroup.procs", (uint64_t) pid), 0);
        CHECK_INT(fd_put(ice, "freezer.state", "FROZEN"), 0);
        limit_group_end(&g);
        CHECK_INT(left_behind(g.ask.name), 0);
        (void) fd_put(ice, "freezer.state", "THAWED");
        CHECK(WIFSIGNALED(status_of(pid)));
        CHECK_INT(rmdir(inner), 0);
        CHECK_INT(rmdir(path), 0);
}

static void test_end__thaws_a_frozen_task(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        if (!h.v1[CONTROLLER_FREEZER].present)
                SKIP("no v1 freezer here");
        char path[480], name[48];
        limit_name(name);
        (void) snprintf(path, sizeof path, "%s/%s", h.v1[CONTROLLER_FREEZER].mount, name);
        thaws(path, false);
        thaws(path, true);
}

static void test_open__leaves_nothing_when_it_fails(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        struct limit_group g, twin;
        open_group(&g, 64 << 20, 8);
        CHECK_INT(limit_group_open(&twin, &h, &g.ask, &e), -1); /* the name is taken */
        CHECK_INT(e.code, ERR_LIMIT);
        CHECK(left_behind(g.ask.name) >= 1); /* and the first is unharmed */
        limit_group_end(&g);
        CHECK_INT(left_behind(g.ask.name), 0);
        const struct host_hierarchy *first = &h.v1[CONTROLLER_MEMORY], *last = &h.v1[CONTROLLER_PIDS];
        if (first->present && last->present && strcmp(first->mount, last->mount) != 0) {
                char taken[512];
                limit_name(g.ask.name);
                (void) snprintf(taken, sizeof taken, "%s/%s", last->mount, g.ask.name);
                CHECK_INT(mkdir(taken, 0755), 0); /* taken where it is asked for last */
                CHECK_INT(limit_group_open(&twin, &h, &g.ask, &e), -1);
                CHECK_INT(left_behind(g.ask.name), 1); /* that one */
                CHECK_INT(rmdir(taken), 0);
        }
        struct limit_ask zero_name = { .name = "cordon-../x" };
        CHECK_INT(limit_group_open(&twin, &h, &zero_name, &e), -1);
        CHECK_INT(e.code, ERR_INTERNAL);
}

/* As on hosts that mount cpu,cpuacct or memory,pids together. */
static void test_open__controllers_that_share_a_mount_share_a_directory(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        if (!h.v1[CONTROLLER_MEMORY].present)
                SKIP("no v1 memory hierarchy here");
        struct limit_group g;
        h.v2.present = false;
        h.v1[CONTROLLER_CPUACCT] = h.v1[CONTROLLER_MEMORY];
        open_group(&g, 64 << 20, 8);
        CHECK(g.v1[CONTROLLER_CPUACCT] >= 0 && g.v1_parent[CONTROLLER_CPUACCT] < 0);
        pid_t pid = start(&g, wait_forever);
        limit_group_end(&g);
        CHECK_INT(left_behind(g.ask.name), 0);
        CHECK(WIFSIGNALED(status_of(pid)));
}

static void test_open__without_root_says_what_to_do(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        int status;
        pid_t pid = fork();
        if (pid == 0) {
                struct limit_group g;
                struct limit_ask ask = { .memory = 1 << 20, .procs = 4 };
                limit_name(ask.name);
                if (setgid(65534) < 0 || setuid(65534) < 0)
                        _exit(1);
                int r = limit_group_open(&g, &h, &ask, &e);
                _exit(r == -1 && e.code == ERR_LIMIT && e.sys == EACCES && e.hint[0] ? 0 : 2);
        }
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK_INT(status, 0);
}

static void test_open__nothing_mounted_is_said(void)
{
        struct host_cgroups none = { 0 };
        struct limit_group g;
        struct limit_ask ask = { .name = "cordon-x", .memory = 1 << 20 };
        CHECK_INT(limit_group_open(&g, &none, &ask, &e), -1);
        CHECK_INT(e.code, ERR_LIMIT);
        CHECK(e.hint[0] != '\0');
        ask.memory = 0;
        CHECK_INT(limit_group_open(&g, &none, &ask, &e), 0); /* nothing was asked */
        CHECK(!g.holds_memory && !g.holds_procs);
        limit_group_end(&g);
        limit_group_init(&g);
        limit_group_end(&g);
}

/* A keeper that has chosen its group's name and lives until it is killed: as long as it does, nobody else who
 * sweeps, as `cordon doctor` does, takes the group for an orphan. */
static pid_t living_keeper(char ret_name[48])
{
        int line[2];
        CHECK_INT(pipe2(line, O_CLOEXEC), 0);
        pid_t pid = fork();
        if (pid == 0) {
                limit_name(ret_name);
                _exit(write(line[1], ret_name, 48) == 48 ? wait_forever() : 1);
        }
        CHECK_INT(read(line[0], ret_name, 48), 48);
        (void) close(line[0]);
        (void) close(line[1]);
        return pid;
}

static void test_sweep__removes_orphans_only(void)
{
        const char *why = cannot();
        if (why)
                SKIP(why);
        struct limit_group mine, orphan;
        struct limit_ask ask = { .memory = 64 << 20, .procs = 8 };
        open_group(&mine, 64 << 20, 8);
        pid_t keeper = living_keeper(ask.name);
        CHECK_INT(limit_group_open(&orphan, &h, &ask, &e), 0);
        pid_t inside = start(&orphan, wait_forever);
        (void) limit_sweep(&h);
        CHECK(left_behind(ask.name) >= 1);
        (void) kill(keeper, SIGKILL);
        (void) waitpid(keeper, NULL, 0);
        CHECK(limit_sweep(&h) >= 1);
        CHECK_INT(left_behind(ask.name), 0);
        CHECK(left_behind(mine.ask.name) >= 1);
        CHECK(WIFSIGNALED(status_of(inside)));
        (void) limit_sweep(&h); /* others may have left orphans meanwhile: only ours is counted on */
        CHECK(left_behind(mine.ask.name) >= 1);
        limit_group_end(&orphan);
        limit_group_end(&mine);
}

static const struct test_case cases[] = {
        CASE(test_memory__more_than_the_limit_is_killed_and_told),
        CASE(test_memory__less_than_the_limit_is_left_alone),
        CASE(test_procs__one_too_many_is_refused_and_counted),
        CASE(test_cpu__is_counted),
        CASE(test_enter__works_from_a_new_user_namespace),
        CASE(test_end__kills_what_is_left_and_leaves_no_directory),
        CASE(test_end__works_without_cgroup_kill),
        CASE(test_kill__one_round_reaches_all_however_long_the_list),
        CASE(test_end__thaws_a_frozen_task),
        CASE(test_open__leaves_nothing_when_it_fails),
        CASE(test_open__controllers_that_share_a_mount_share_a_directory),
        CASE(test_open__without_root_says_what_to_do),
        CASE(test_open__nothing_mounted_is_said),
        CASE(test_sweep__removes_orphans_only),
};
TEST_MAIN(cases)
