/* SPDX-License-Identifier: MIT */
/* A box for many runs: spares are made on request, run one after the other and side by side, and each end is
 * reported with its own status. The test is its own init (src/wall/init/self.c). */
#include "../context.h"
#include "base/fd.h"
#include "harness.h"
#include "run/api/internal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct many {
        cordon_policy *policy;
        cordon_box *box;
        struct plan *plan;
        struct wall_start start;
        struct wall_stdio io;
        struct wall_child child;
        struct plan_order form;
        const char *words[2];
        struct err e;
};

static bool make_plan(struct many *m)
{
        const char *const argv[] = { "sh", NULL };
        cordon_error *e = (cordon_error *) (void *) &m->e;
        m->policy = cordon_policy_new(test_context());
        m->box = cordon_box_new(m->policy);
        if (cordon_box_command(m->box, argv) < 0 || cordon_policy_check(m->policy, e) < 0 ||
            host_facts_quick(&m->box->facts, &m->e) < 0)
                return false;

        m->box->c.root = m->box->facts.uid == 0 && m->box->facts.maps_all;
        m->plan = api_plan(m->box, WALL_NAMESPACE, &m->e);
        return m->plan != NULL;
}

static bool await(int fd) { return fd_await(fd, POLLIN, 10000); }

/* The walls are up, and the nursery waits. */
static bool raise_walls(struct many *m)
{
        m->words[0] = "none";
        m->form = (struct plan_order){
                .argv = m->words, .launch = m->words, .envp = m->words + 1, .exec = m->words, .cwd = "/"
        };
        m->io = (struct wall_stdio){ .stdio = { -1, -1, -1 } };
        uid_t uid = getuid();
        uid_t own = m->box->c.root ? wall_host_id() : uid;
        m->start = (struct wall_start){ .plan = m->plan,
                                        .order = &m->form,
                                        .spare = WALL_SPARE_MANY,
                                        .cx = m->policy->cx,
                                        .io = &m->io,
                                        .trust_fd = -1,
                                        .cgroup_fd = -1,
                                        .die_with_thread = true,
                                        .sampled = true,
                                        .caller_uid = uid,
                                        .caller_gid = getgid(),
                                        .host_uid = own,
                                        .host_gid = m->box->c.root ? own : getgid() };
        if (wall_start(&m->start, &m->child, &m->e) < 0)
                return false;

        int r = 0;
        while ((r = wall_born(&m->start, &m->child, &m->e)) == 0 && await(m->child.birth))
                ;

        struct wall_message said = { .word = WALL_SAYS_NOTHING };
        int fd = -1;
        bool up = r == 1 && wall_release(&m->child, WALL_SAMPLES, &m->e) == 0 && await(m->child.control) &&
                  wall_listen(&m->child, &said, &fd) == 1 && said.word == WALL_SAYS_UP;
        fd_close(&fd);
        if (said.word == WALL_SAYS_ERROR)
                m->e = said.error;
        return up;
}

static void end(struct many *m)
{
        wall_end(&m->child, true);
        while (!wall_reap(&m->child))
                (void) usleep(1000);
        plan_free(m->plan);
        cordon_box_free(m->box);
        cordon_policy_free(m->policy);
}

/* Orders `sh -c TEXT`; its output goes to `out`. Returns the line of the spare. */
static int begin(struct many *m, uint32_t id, const char *text, uint64_t time_ms, int out)
{
        const char *argv[] = { "sh", "-c", text, NULL }, *envp[] = { "PATH=/usr/bin:/bin", NULL };
        const char *exec[] = { "/bin/sh", NULL };
        struct plan_order o = { .argv = argv, .launch = argv, .envp = envp, .exec = exec, .cwd = "/tmp" };
        struct wall_handover h = { .sent = 0 };
        struct wall_message said = { .word = WALL_SAYS_NOTHING };
        o.limits.value[LIMIT_TIME] = time_ms;
        o.limits.value[LIMIT_CPU] = 60000;

        int line = wall_spare_add(&m->child, &m->e);
        CHECK(line >= 0 && await(line));
        CHECK_INT(wall_spare_listen(line, &said), 1);
        CHECK_INT(said.word, WALL_SAYS_READY);
        if (said.word == WALL_SAYS_ERROR)
                (void) fprintf(stderr, "# %s\n", said.error.what);
        CHECK(said.run > 1);
        AUTO_FD(null, open("/dev/null", O_RDWR | O_CLOEXEC));
        struct wall_stdio io = { .stdio = { null, out < 0 ? null : out, null } };
        wall_handover_seal(&h, &o);
        CHECK_INT(wall_run(&m->child, said.run, id, &o.limits), 0);
        CHECK_INT(wall_handover(line, &h, &io), 1);
        buf_done(&h.block);
        return line;
}

/* The line closes at exec. */
static void check_started(int line)
{
        struct wall_message said;
        CHECK(await(line));
        CHECK_INT(wall_spare_listen(line, &said), 0);
        (void) close(line);
}

static struct wall_message next_end(struct many *m)
{
        struct wall_message said = { .word = WALL_SAYS_NOTHING };
        int fd = -1;
        while (await(m->child.control) && wall_listen(&m->child, &said, &fd) == 1 &&
               said.word != WALL_SAYS_RAN)
                fd_close(&fd);
        CHECK_INT(said.word, WALL_SAYS_RAN);
        return said;
}

static void check_end(struct many *m, uint32_t id, int status)
{
        struct wall_message said = next_end(m);
        CHECK_INT(said.run, id);
        CHECK_INT(said.end.status, status);
}

static void one_after_the_other(struct many *m)
{
        int ends[2];
        char text[64] = "";
        CHECK_INT(pipe(ends), 0);
        check_started(begin(m, 1, "echo first >/tmp/mark; exit 3", 60000, -1));
        check_end(m, 1, 3 << 8);
        check_started(begin(m, 2, "cat /tmp/mark; kill -9 $$", 60000, ends[1]));
        check_end(m, 2, SIGKILL);
        CHECK_INT(read(ends[0], text, sizeof text - 1), 6);
        CHECK_STR(text, "first\n");
        (void) close(ends[0]);
        (void) close(ends[1]);
}

static void side_by_side(struct many *m)
{
        check_started(begin(m, 7, "sleep 60", 60000, -1));
        check_started(begin(m, 8, "exit 1", 60000, -1));
        check_end(m, 8, 1 << 8);
        CHECK_INT(wall_signal_run(&m->child, 7, SIGTERM), 0);
        check_end(m, 7, SIGTERM);
}

/* By init, although no keeper ends it. */
static void time_is_kept(struct many *m)
{
        check_started(begin(m, 9, "sleep 60", 100, -1));
        struct wall_message said = next_end(m);
        CHECK_INT(said.run, 9);
        CHECK_INT(said.end.status, SIGKILL);
        CHECK_INT(said.end.time_over, 1);
}

static void test_spare__many_runs_in_one_box(void)
{
        struct many m = { .child = { .pid = -1, .pidfd = -1, .control = -1, .spare = -1, .birth = -1 } };
        m.child.host_proc = -1;
        bool up = make_plan(&m) && raise_walls(&m);
        if (!up && m.e.code == ERR_HOST)
                SKIP("the namespace wall is not available here");
        CHECK(up);
        if (up) {
                one_after_the_other(&m);
                side_by_side(&m);
                time_is_kept(&m);
        } else {
                (void) fprintf(stderr, "# %s\n", m.e.what);
        }
        end(&m);
}

static const struct test_case cases[] = { CASE(test_spare__many_runs_in_one_box) };
TEST_MAIN(cases)
