/* SPDX-License-Identifier: MIT */
/* bench/parked.c - parked boxes and sessions of libcordon in one process, against posix_spawn of the same
 * command. parked start ROUNDS     one run each in turn: posix_spawn, a parked box parked sustain SECONDS
 * runs a second with refill, and spawns a second parked session ROUNDS   20 commands in one session, and 20
 * spawns parked soak RUNS        so many parked runs; what is left of descriptors and memory Sees cordon.h
 * and nothing else of ours. Never: fails on a figure. */
#define _GNU_SOURCE
#include <cordon.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
enum { ROUNDS_MAX = 100000, AHEAD = 8, COMMANDS = 20, PAUSE_US = 2000 };
static const char *const command[] = { "/bin/true", NULL };
static cordon_context *cx;

static _Noreturn void die(const char *what, const cordon_error *e)
{
        fprintf(stderr, "parked: %s: %s\n", what, e ? e->what : "failed");
        exit(1);
}

static uint64_t now_ns(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static uint64_t spawn_once(void)
{
        pid_t pid;
        uint64_t t = now_ns();
        char *const argv[] = { (char *) (uintptr_t) command[0], NULL };
        if (posix_spawn(&pid, command[0], NULL, NULL, argv, environ) != 0)
                die("posix_spawn", NULL);
        (void) waitpid(pid, NULL, 0);
        return now_ns() - t;
}

/* ---- boxes ---- */

struct spare {
        cordon_policy *policy;
        cordon_box *box;
};

static struct spare new_box(void)
{
        struct spare s = { .policy = cordon_policy_new(cx) };
        s.box = s.policy ? cordon_box_new(s.policy) : NULL;
        if (!s.box)
                die("a box", NULL);
        (void) cordon_box_set(s.box, CORDON_SINGLE_THREAD, "1");
        (void) cordon_box_set(s.box, CORDON_OBSERVE, "calls");
        (void) cordon_box_command(s.box, command);
        return s;
}

static void free_box(struct spare *s)
{
        cordon_box_free(s->box);
        cordon_policy_free(s->policy);
        s->box = NULL;
}

static struct spare park(void)
{
        cordon_error e;
        struct spare s = new_box();
        if (cordon_box_park(s.box, &e) < 0)
                die("parking", &e);
        return s;
}

/* One step of it; true: it waits for a run. */
static int step(struct spare *s)
{
        if (cordon_box_is_parked(s->box))
                return 1;
        if (cordon_box_step(s->box) != 0)
                die("parking", cordon_box_result(s->box)->error);
        return cordon_box_is_parked(s->box);
}

static void until_parked(struct spare *s)
{
        while (!step(s)) {
                struct pollfd p = { .fd = cordon_box_fd(s->box), .events = POLLIN };
                (void) poll(&p, 1, cordon_box_next_ms(s->box));
        }
}

static void begin(cordon_box *b)
{
        cordon_error e;
        if (cordon_box_start(b, &e) < 0)
                die("a start", &e);
}

static void finish(cordon_box *b, const char *how)
{
        while (cordon_box_wait(b, -1) == 0)
                ;
        const cordon_result *r = cordon_box_result(b);
        if (cordon_result_status(r) != 0 || strcmp(r->start, how) != 0)
                die(r->start_why, r->error);
}

static uint64_t parked_once(void)
{
        struct spare s = park();
        until_parked(&s);
        (void) usleep(PAUSE_US);
        uint64_t t = now_ns();
        begin(s.box);
        finish(s.box, "parked");
        t = now_ns() - t;
        free_box(&s);
        return t;
}

/* ---- tables ---- */

static int by_number(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
        return x < y ? -1 : x > y;
}

static void print_pair(const char *what, uint64_t *plain, uint64_t *boxed, unsigned n)
{
        qsort(plain, n, sizeof *plain, by_number);
        qsort(boxed, n, sizeof *boxed, by_number);
        printf("  %-40s posix_spawn %6.0f us (p99 %.0f)   here %6.0f us (p99 %.0f)   %.2fx\n", what,
               (double) plain[n / 2] / 1e3, (double) plain[n * 99 / 100] / 1e3, (double) boxed[n / 2] / 1e3,
               (double) boxed[n * 99 / 100] / 1e3, (double) boxed[n / 2] / (double) plain[n / 2]);
}

static void starts(unsigned n, uint64_t *a, uint64_t *b)
{
        for (unsigned i = 0; i < n; i++) {
                (void) usleep(PAUSE_US);
                a[i] = spawn_once();
                b[i] = parked_once();
        }
        print_pair("/bin/true in a parked box, one process", a, b, n);
}

static void sessions(unsigned n, uint64_t *a, uint64_t *b)
{
        cordon_error e;
        struct spare s = new_box();
        if (cordon_session_start(s.box, &e) < 0)
                die("a session", &e);
        while (!cordon_box_is_up(s.box))
                (void) cordon_box_wait(s.box, 100);

        for (unsigned i = 0; i < n; i++) {
                a[i] = b[i] = 0;
                for (unsigned k = 0; k < COMMANDS; k++)
                        a[i] += spawn_once();
                uint64_t t = now_ns();
                for (unsigned k = 0; k < COMMANDS; k++) {
                        cordon_box *run = cordon_session_run(s.box);
                        (void) cordon_box_command(run, command);
                        begin(run);
                        finish(run, "session");
                        cordon_box_free(run);
                }
                b[i] = now_ns() - t;
        }
        cordon_session_end(s.box);
        free_box(&s);
        print_pair("20 commands in one session", a, b, n);
}

/* ---- with refill ---- */

static struct spare ahead[AHEAD];

/* The rest gets on with its walls meanwhile. */
static struct spare *next_ready(void)
{
        for (;;) {
                struct pollfd p[AHEAD];
                int ms = -1;
                for (unsigned i = 0; i < AHEAD; i++) {
                        if (!ahead[i].box)
                                ahead[i] = park();
                        if (step(&ahead[i]))
                                return &ahead[i];
                        p[i] = (struct pollfd){ .fd = cordon_box_fd(ahead[i].box), .events = POLLIN };
                        int due = cordon_box_next_ms(ahead[i].box);
                        ms = due >= 0 && (ms < 0 || due < ms) ? due : ms;
                }
                (void) poll(p, AHEAD, ms);
        }
}

static void run_next(void)
{
        struct spare *s = next_ready();
        begin(s->box);
        finish(s->box, "parked");
        free_box(s);
}

static void sustain(unsigned seconds)
{
        uint64_t boxes = 0, spawns = 0;
        for (unsigned i = 0; i < 2 * seconds; i++) {
                uint64_t until = now_ns() + 500000000u;
                for (; now_ns() < until; spawns++)
                        (void) spawn_once();
                for (until = now_ns() + 500000000u; now_ns() < until; boxes++)
                        run_next();
        }
        printf("  %-40s %.0f boxes a second, %.0f spawns a second: %.2f\n", "/bin/true with refill",
               (double) boxes / seconds, (double) spawns / seconds, (double) boxes / (double) spawns);
}

static unsigned count_fds(void)
{
        unsigned n = 0;
        DIR *d = opendir("/proc/self/fd");
        while (d && readdir(d))
                n++;
        if (d)
                (void) closedir(d);
        return n;
}

static long memory_kb(void)
{
        long kb = 0;
        char line[256];
        FILE *f = fopen("/proc/self/status", "re");
        while (f && fgets(line, sizeof line, f))
                if (strncmp(line, "VmRSS:", 6) == 0)
                        kb = atol(line + 6);
        if (f)
                (void) fclose(f);
        return kb;
}

/* A tenth of the runs first: the allocator has its size then. */
static void soak(unsigned runs)
{
        for (unsigned i = 0; i < runs / 10 + AHEAD; i++)
                run_next();
        unsigned fds = count_fds();
        long kb = memory_kb();
        for (unsigned i = 0; i < runs; i++)
                run_next();
        printf("  %u parked runs in one process: descriptors %u -> %u, memory %ld -> %ld kB\n", runs, fds,
               count_fds(), kb, memory_kb());
}

int main(int argc, char **argv)
{
        static uint64_t a[ROUNDS_MAX], b[ROUNDS_MAX];
        unsigned n = argc == 3 ? (unsigned) atoi(argv[2]) : 0;
        if (n == 0 || n > ROUNDS_MAX)
                die("start|sustain|session|soak N", NULL);

        cx = cordon_context_new(environ);
        (void) spawn_once();
        if (strcmp(argv[1], "start") == 0)
                starts(n, a, b);
        else if (strcmp(argv[1], "session") == 0)
                sessions(n, a, b);
        else if (strcmp(argv[1], "sustain") == 0)
                sustain(n);
        else if (strcmp(argv[1], "soak") == 0)
                soak(n);
        for (unsigned i = 0; i < AHEAD; i++)
                if (ahead[i].box)
                        free_box(&ahead[i]);
        cordon_context_free(cx);
        return 0;
}
