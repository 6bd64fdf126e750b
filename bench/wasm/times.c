/* SPDX-License-Identifier: MIT */
/* bench/wasm/times.c - medians of processor time, in ms:
 *   times module FILE ROUNDS         decode and validate, compile, map kept code, fork with all of it in
 * memory times process ROUNDS COMMAND...  a whole process, its output thrown away */
#include "wall/wasm/wasm.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ROUNDS = 1000, MODULE_MAX = 64 << 20 };
struct row {
        const char *name;
        double ms[MOST_ROUNDS];
};

static void die(const char *what)
{
        (void) fprintf(stderr, "times: %s\n", what);
        exit(1);
}

static double cpu_ms(void)
{
        struct timespec t;

        (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

static double child_ms(void)
{
        struct rusage u;

        (void) getrusage(RUSAGE_CHILDREN, &u);
        return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
               (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static int by_size(const void *a, const void *b)
{
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

static void print(struct row *r, int rounds)
{
        qsort(r->ms, (size_t) rounds, sizeof *r->ms, by_size);
        (void) printf("%-28s median %8.3f  least %8.3f ms\n", r->name, r->ms[rounds / 2], r->ms[0]);
}

static struct span read_all(const char *path)
{
        uint8_t *p = malloc(MODULE_MAX);
        FILE *f = fopen(path, "rb");
        if (!p || !f)
                die(path);

        size_t n = fread(p, 1, MODULE_MAX, f);
        (void) fclose(f);
        return span_of(p, n);
}

/* What a warm process would cost: it is copied, and the copy ends at once. */
static double fork_ms(void)
{
        double before = cpu_ms() + child_ms();
        pid_t p = fork();
        if (p == 0)
                _exit(0);
        if (p < 0 || waitpid(p, NULL, 0) < 0)
                die("fork");

        return cpu_ms() + child_ms() - before;
}

static void time_module(const char *path, int rounds)
{
        static const char digest[WASM_DIGEST] =
                "0000000000000000000000000000000000000000000000000000000000000000";
        static struct row load = { .name = "decode and validate" },
                          compile = { .name = "compile, and write" }, map = { .name = "map kept code" },
                          copy = { .name = "fork with both in memory" };
        struct span bytes = read_all(path);
        struct err e = { 0 };

        (void) printf("%s: %zu bytes\n", path, bytes.n);
        for (int i = 0; i < rounds; i++) {
                int fd = memfd_create("code", MFD_CLOEXEC);
                double t0 = cpu_ms();
                struct wasm_module *m = wasm_module_load(bytes, &e);
                double t1 = cpu_ms();
                if (fd < 0 || !m || wasm_code_write(m, digest, fd, &e) < 0)
                        die(e.what);
                double t2 = cpu_ms();
                struct wasm_native *c = wasm_code_map(m, digest, fd);
                double t3 = cpu_ms();
                struct wasm_store *s = wasm_store_new(wasm_compiler(), &wasm_limits_default, &e);
                if (!c || !s)
                        die("the code does not fit");
                wasm_store_use_code(s, c);
                load.ms[i] = t1 - t0;
                compile.ms[i] = t2 - t1;
                map.ms[i] = t3 - t2;
                copy.ms[i] = fork_ms();
                wasm_store_free(s);
                wasm_module_free(m);
                (void) close(fd);
        }
        print(&load, rounds);
        print(&compile, rounds);
        print(&map, rounds);
        print(&copy, rounds);
}

static void time_process(int rounds, char **argv)
{
        static struct row all;
        posix_spawn_file_actions_t quiet;

        all.name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
        (void) posix_spawn_file_actions_init(&quiet);
        (void) posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
        for (int i = 0; i < rounds; i++) {
                pid_t p;
                int status;
                double before = child_ms();
                if (posix_spawn(&p, argv[0], &quiet, NULL, argv, environ) != 0 ||
                    waitpid(p, &status, 0) < 0 || status != 0)
                        die(argv[0]);
                all.ms[i] = child_ms() - before;
        }
        print(&all, rounds);
}

int main(int argc, char **argv)
{
        int rounds = argc > 3 ? (int) strtol(argv[strcmp(argv[1], "module") == 0 ? 3 : 2], NULL, 10) : 0;

        if (rounds < 1 || rounds > MOST_ROUNDS)
                die("usage: times module FILE ROUNDS | times process ROUNDS COMMAND...");
        if (strcmp(argv[1], "module") == 0)
                time_module(argv[2], rounds);
        else
                time_process(rounds, argv + 3);
        return 0;
}
