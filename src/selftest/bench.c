/* SPDX-License-Identifier: MIT */
/* selftest/bench.c - `cordon selftest bench`: measures the cost of a start here, as ratios to posix_spawn,
 * interleaved in one run. */
#include "base/clock.h"
#include "selftest/selftest.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MAX = 10000, WARM_UP = 3, PAUSE_NS = 2000000 };

struct bench {
        long runs;
        bool json;
};

static int set_runs(void *ctx, const char *value)
{
        return cli_number("-n", value, 10, RUNS_MAX, &((struct bench *) ctx)->runs);
}

const struct cli_option bench_options[] = {
        { "runs", 'n', "RUNS", "runs of each (default 100)", set_runs },
        { "json", 0, NULL, "for programs", CLI_FLAG(struct bench, json) },
        { 0 },
};

/* Peers are measured if they are installed; missing ones are left out, not guessed. */
static const struct {
        const char *name;
        const char *argv[16];
} rows[] = {
        { "posix_spawn", { "/bin/true" } },
        { "cordon run", { "cordon", "run", "--", "/bin/true" } },
        { "cordon run -q", { "cordon", "run", "-q", "--", "/bin/true" } },
        { "cordon run -q, no control groups",
          { "cordon", "run", "-q", "--wall", "auto without cgroup", "--", "/bin/true" } },
        { "unshare", { "/usr/bin/unshare", "-Urmnpiuf", "/bin/true" } },
        { "bwrap",
          { "/usr/bin/bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
            "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64" } },
        { "firejail", { "/usr/bin/firejail", "--quiet", "--noprofile", "--net=none", "/bin/true" } },
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Nanoseconds from spawn to reaped; 0: it failed. */
static uint64_t once(const char *const *argv)
{
        const char *v[24];
        size_t n = 0;

        for (; n < 16 && argv[n]; n++)
                v[n] = argv[n];

        if (strstr(argv[0], "bwrap")) { /* its row is full: the command goes last */
                v[n++] = "--proc";
                v[n++] = "/proc";
                v[n++] = "--dev";
                v[n++] = "/dev";
                v[n++] = "/bin/true";
        }

        v[n] = NULL;
        if (strcmp(v[0], "cordon") == 0)
                v[0] = selftest_cordon();

        posix_spawn_file_actions_t fa;
        (void) posix_spawn_file_actions_init(&fa);
        for (int i = 0; i < 3; i++)
                (void) posix_spawn_file_actions_addopen(&fa, i, "/dev/null", O_RDWR, 0);

        char *const env[] = { (char *) (uintptr_t) "PATH=/usr/bin:/bin", NULL };
        pid_t pid;
        int status = 0;
        uint64_t t = clock_mono_ns();
        int bad = posix_spawn(&pid, v[0], &fa, NULL, (char *const *) (uintptr_t) v, env);
        if (!bad)
                (void) waitpid(pid, &status, 0);

        t = clock_mono_ns() - t;
        (void) posix_spawn_file_actions_destroy(&fa);
        return bad || status ? 0 : t;
}

static int by_value(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
        return x < y ? -1 : x > y;
}

static double micro(uint64_t ns) { return (double) ns / 1e3; }

/* `times`: ROWS times `runs` of them */
static void print_table(uint64_t *times, size_t runs, bool json)
{
        double base = 0;
        (void) printf(json ? "[" : "%-32s %10s %10s %8s   (%zu runs each, interleaved; /bin/true)\n", "",
                      "median us", "p99 us", "ratio", runs);
        for (unsigned i = 0; i < ROWS; i++) {
                uint64_t *row = times + i * runs;
                qsort(row, runs, sizeof *row, by_value);
                double median = micro(row[runs / 2]), p99 = micro(row[runs * 99 / 100]);
                if (i == 0)
                        base = median;
                if (row[0] == 0) {
                        if (!json)
                                (void) printf("%-32s %10s\n", rows[i].name, "not here");
                        continue;
                }
                if (json)
                        (void) printf("%s{\"name\":\"%s\",\"median_us\":%.1f,\"p99_us\":%.1f,\"ratio\":%.3f}",
                                      i ? "," : "", rows[i].name, median, p99, median / base);
                else
                        (void) printf("%-32s %10.0f %10.0f %7.2fx\n", rows[i].name, median, p99,
                                      median / base);
        }

        if (json)
                (void) printf("]\n");
}

/* Another order in each round: a candidate that always followed the same one would pay for its leftovers. */
static void shuffle(unsigned order[ROWS])
{
        static uint32_t state = 1;
        for (unsigned i = ROWS - 1; i > 0; i--) {
                state = state * 1664525u + 1013904223u;
                unsigned k = (state >> 16) % (i + 1), kept = order[i];
                order[i] = order[k];
                order[k] = kept;
        }
}

int verb_bench(int argc, char **argv)
{
        struct bench b = { .runs = 100 };
        int at = cli_options(argc, argv, cli_verb_find("selftest bench"), &b, NULL);
        if (at < 0 || cli_no_words(argc, at, "selftest bench"))
                return EXIT_CORDON;

        uint64_t *times = calloc(ROWS * (size_t) b.runs, sizeof *times);
        if (!times)
                return cli_usage("no memory");

        const struct timespec pause = { 0, PAUSE_NS };
        unsigned order[ROWS];
        for (unsigned i = 0; i < ROWS; i++)
                order[i] = i;

        for (long r = -WARM_UP; r < b.runs; r++) {
                shuffle(order);
                for (unsigned i = 0; i < ROWS; i++) {
                        (void) nanosleep(&pause, NULL);
                        uint64_t t = once(rows[order[i]].argv);
                        if (r >= 0)
                                times[order[i] * (size_t) b.runs + (size_t) r] = t;
                }
        }

        print_table(times, (size_t) b.runs, b.json);
        free(times);
        return 0;
}
