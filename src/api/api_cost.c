/* SPDX-License-Identifier: MIT */
/* api/api_cost.c - the cost of each layer of a wall on this host: rounds of throw-away processes that raise
 * one layer each, and the memory that the kernel charges to a control group for several of it. */
#include "api/internal.h"
#include "base/clock.h"
#include "base/fd.h"
#include "limit/limit.h"
#include "wall/wall.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000, HELD = 8, ROUNDS_MAX = 10000 };

/* The result of a throw-away process, in memory that it shares with us. */
struct said {
        struct wall_cost cost;
        struct err error;
        uint32_t done;
};

/* Three pipes between us and the processes that hold a layer: their results, the start signal, and one whose
 * EOF ends them. */
struct line {
        int heard[2], go[2], hold[2];
};

struct survey {
        const struct cordon_context *cx;
        const struct plan *plan;
        struct said *said;
        uint64_t *times[LAYER__COUNT], *calls[LAYER__COUNT], *looked_at[LAYER__COUNT]; /* by round */
        unsigned rounds, good[LAYER__COUNT];
        uint32_t units[LAYER__COUNT];
        int64_t bytes[LAYER__COUNT];
        struct err why[LAYER__COUNT];
        bool has_group;
        struct host_cgroups host;
        uid_t uid; /* inside a user namespace they cannot be requested */
        gid_t gid;
};

/* The process's own part. It joins the group first, so that its memory is charged there. */
_Noreturn static void throw_away(const struct survey *s, enum wall_layer l, const struct limit_group *g,
                                 const struct line *line)
{
        struct said *said = s->said;
        char go;
        if (line) { /* so that our own end is the end of the line, should we be killed */
                (void) close(line->heard[0]);
                (void) close(line->go[1]);
                (void) close(line->hold[1]);
        }

        bool ready = (!g || limit_group_enter(g, false) == 0) &&
                     wall_cost_prepare(l, s->plan, s->uid, s->gid, &said->error) == 0;
        if (line) { /* all are ready; then all raise; then all hold it until we have looked */
                (void) !write(line->heard[1], "r", 1);
                ready = read(line->go[0], &go, 1) == 1 && ready;
        }

        struct wall_cost cost;
        if (ready && wall_cost_raise(l, &cost, &said->error) == 0) {
                said->cost = cost;
                said->done = 1;
        }

        if (line) {
                (void) !write(line->heard[1], "d", 1);
                (void) !read(line->hold[0], &go, 1); /* until it is closed */
        }

        _exit(0);
}

static pid_t begin(const struct survey *s, enum wall_layer l, const struct limit_group *g,
                   const struct line *line)
{
        *s->said = (struct said){ 0 };
        pid_t pid = (pid_t) syscall(SYS_clone, wall_cost_flags(l) | SIGCHLD, NULL, NULL, NULL, NULL);
        if (pid == 0)
                throw_away(s, l, g, line);

        if (pid < 0)
                (void) err_set(&s->said->error, ERR_HOST, errno, "%s", strerror(errno));

        return pid;
}

static void await(pid_t pid)
{
        while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
                ;
}

static void take(struct survey *s, enum wall_layer l)
{
        if (!s->said->done) {
                s->why[l] = s->said->error;
                return;
        }

        unsigned n = s->good[l]++;
        s->times[l][n] = s->said->cost.start_ns;
        s->calls[l][n] = s->said->cost.call_ps;
        s->looked_at[l][n] = s->said->cost.looked_at_ps;
        s->units[l] = s->said->cost.units;
}

/* ---- the control group: not the wall's, so timed here ---- */

static int open_group(struct survey *s, struct limit_group *g, struct limit_janitor *j, struct err *e)
{
        struct limit_ask ask = { .memory = 256u << 20, .procs = 4 * HELD };
        limit_name(ask.name);
        limit_group_init(g);
        *j = LIMIT_NO_JANITOR;
        if (limit_janitor_start(s->cx, ask.name, j, e) < 0)
                return -1;

        if (limit_group_open(g, &s->host, &ask, e) == 0 && g->holds_memory)
                return 0;

        limit_group_end(g);
        limit_janitor_dismiss(j);
        return e->code ? -1 : err_set(e, ERR_LIMIT, 0, "no control group holds memory here");
}

/* Made, entered by a process, left by its end, removed; and the janitor that stands by meanwhile. */
static void time_group(struct survey *s)
{
        struct limit_group g;
        struct limit_janitor j;
        struct err e = { 0 };
        uint64_t t = clock_mono_ns();

        if (open_group(s, &g, &j, &e) < 0) {
                s->why[LAYER_CGROUP] = e;
                return;
        }

        t = clock_mono_ns() - t;
        *s->said = (struct said){ 0 };
        pid_t pid = (pid_t) syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (pid == 0) {
                uint64_t enter = clock_mono_ns();
                s->said->done = limit_group_enter(&g, false) == 0;
                s->said->cost.start_ns = clock_mono_ns() - enter;
                _exit(0);
        }

        await(pid);
        uint64_t end = clock_mono_ns();
        limit_group_end(&g);
        limit_janitor_dismiss(&j);
        s->said->cost.start_ns += t + clock_mono_ns() - end;
        take(s, LAYER_CGROUP);
}

/* ---- kernel memory ---- */

/* Kernel memory of the group in bytes; -1: not available here. */
static int64_t kernel_bytes(const struct limit_group *g)
{
        uint64_t n;
        char text[8192];
        if (g->v1[CONTROLLER_MEMORY] >= 0)
                return fd_get_u64(g->v1[CONTROLLER_MEMORY], "memory.kmem.usage_in_bytes", &n) == 0
                               ? (int64_t) n
                               : -1;

        if (g->v2 < 0 || fd_get(g->v2, "memory.stat", text, sizeof text) <= 0)
                return -1;

        const char *at = strstr(text, "\nkernel ");
        return at ? strtoll(at + 8, NULL, 10) : -1;
}

/* One byte of each of them; false: one is gone, or hangs. */
static bool hear(int fd, unsigned n)
{
        char byte;
        for (unsigned i = 0; i < n; i++)
                if (!fd_await(fd, POLLIN, PATIENCE_MS) || read(fd, &byte, 1) != 1)
                        return false;
        return true;
}

static int64_t charge_of(struct survey *s, enum wall_layer l, const struct limit_group *g, struct line *line)
{
        pid_t pids[HELD];
        unsigned n = 0;
        static const char go[HELD + 1] = "gggggggg";

        while (n < HELD && (pids[n] = begin(s, l, g, line)) > 0)
                n++;

        int64_t before = hear(line->heard[0], n) ? kernel_bytes(g) : -1;
        s->said->done = 0;
        (void) !write(line->go[1], go, n);
        int64_t after = hear(line->heard[0], n) ? kernel_bytes(g) : -1;
        bool all = n == HELD && s->said->done && before >= 0 && after >= 0;
        fd_close(&line->hold[1]);
        for (unsigned i = 0; i < n; i++)
                await(pids[i]);

        return all ? (after > before ? (after - before) / HELD : 0) : -1;
}

static void line_close(struct line *line)
{
        for (unsigned i = 0; i < 2; i++) {
                fd_close(&line->heard[i]);
                fd_close(&line->go[i]);
                fd_close(&line->hold[i]);
        }
}

/* A fresh group for each layer: leftovers of an earlier one in caches would be counted as saved. */
static void weigh(struct survey *s, enum wall_layer l)
{
        struct limit_group g;
        struct limit_janitor j;
        struct err e = { 0 };
        struct line line = { { -1, -1 }, { -1, -1 }, { -1, -1 } };

        s->bytes[l] = -1;
        if (s->good[l] == 0 || l == LAYER_CGROUP || open_group(s, &g, &j, &e) < 0)
                return;

        if (pipe2(line.heard, O_CLOEXEC) == 0 && pipe2(line.go, O_CLOEXEC) == 0 &&
            pipe2(line.hold, O_CLOEXEC) == 0)
                s->bytes[l] = charge_of(s, l, &g, &line);

        line_close(&line);
        limit_group_end(&g);
        limit_janitor_dismiss(&j);
}

/* ---- together ---- */

static int by_value(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
        return x < y ? -1 : x > y;
}

static double median(uint64_t *times, unsigned n)
{
        size_t middle = n / 2;
        qsort(times, n, sizeof *times, by_value);
        return n ? (double) times[middle] : 0;
}

static void report_layer(struct survey *s, enum wall_layer l, void (*each)(void *, const cordon_cost *),
                         void *ctx)
{
        const char *words = wall_cost_words(l);
        unsigned n = s->good[l];
        cordon_cost c = { .layer = wall_layer_name(l),
                          .what = words ? words : "janitor, group made, entered, removed",
                          .raised = n > 0,
                          .why = n ? "" : s->why[l].what,
                          .start_us = median(s->times[l], n) / 1e3,
                          .call_of = wall_cost_of_calls(l),
                          .looked_at_of = wall_cost_of_looked_at(l),
                          .call_ns = median(s->calls[l], n) / 1e3,
                          .looked_at_ns = median(s->looked_at[l], n) / 1e3,
                          .bytes = s->bytes[l],
                          .units = s->units[l] };
        each(ctx, &c);
}

static void survey(struct survey *s)
{
        for (unsigned r = 0; r < s->rounds; r++) /* interleaved, so that a busy moment hits all of them */
                for (unsigned l = 0; l < LAYER__COUNT; l++) {
                        if (l == LAYER_CGROUP && s->has_group)
                                time_group(s);
                        if (l == LAYER_CGROUP)
                                continue;
                        await(begin(s, (enum wall_layer) l, NULL, NULL));
                        take(s, (enum wall_layer) l);
                }

        for (unsigned l = 0; l < LAYER__COUNT; l++) {
                s->bytes[l] = -1;
                if (s->good[LAYER_CGROUP] > 0)
                        weigh(s, (enum wall_layer) l);
        }
}

static int run_survey(struct survey *s, struct err *e)
{
        uint64_t *all = calloc((size_t) s->rounds * LAYER__COUNT * 3, sizeof *all);
        void *page = mmap(NULL, sizeof *s->said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (!all || page == MAP_FAILED) {
                free(all);
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for %u rounds", s->rounds);
        }

        s->said = page;
        for (unsigned l = 0; l < LAYER__COUNT; l++) {
                s->times[l] = all + (size_t) s->rounds * (3 * l);
                s->calls[l] = s->times[l] + s->rounds;
                s->looked_at[l] = s->calls[l] + s->rounds;
        }

        survey(s);
        return 0;
}

static void end_survey(struct survey *s)
{
        if (s->said)
                (void) munmap(s->said, sizeof *s->said);
        free(s->times[0]);
}

int cordon_costs(cordon_policy *p, unsigned rounds, void (*each)(void *ctx, const cordon_cost *c), void *ctx,
                 cordon_error *pe)
{
        struct err *e = to_err(pe), none = { 0 };
        const char *argv[] = { "true", NULL };
        if (rounds == 0 || rounds > ROUNDS_MAX)
                return err_set(e, ERR_USAGE, 0, "between 1 and %d rounds can be made", ROUNDS_MAX);

        cordon_box *b = cordon_box_new(p);
        struct survey *s = calloc(1, sizeof *s);
        int bad = -1;
        if (!b || !s || cordon_box_command(b, argv) < 0) {
                (void) err_set(e, ERR_MEMORY, ENOMEM, "no memory for a survey");
        } else if (cordon_policy_check(p, pe) == 0 && (b->plan = api_plan(b, wall_choice(WALL_AUTO, 0), e))) {
                s->cx = b->policy->cx;
                s->plan = b->plan;
                s->rounds = rounds;
                s->uid = geteuid();
                s->gid = getegid();
                s->has_group = host_cgroups_read(&s->host, &none) == 0;
                s->why[LAYER_CGROUP] = none;
                bad = run_survey(s, e);
        }

        for (unsigned l = 0; !bad && l < LAYER__COUNT; l++)
                report_layer(s, (enum wall_layer) l, each, ctx);

        if (s)
                end_survey(s);

        free(s);
        cordon_box_free(b);
        return bad;
}
