/* SPDX-License-Identifier: MIT */
/* bench/wasm/host.c - host MODULE [ROUNDS [interpreter]]: the seven kernels in the compiler, or in the
 * interpreter, against the same code compiled for this machine, best of ROUNDS, and how long the module takes
 * to load. The last line has the geometric mean. */
#include "wall/wasm/wasm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint32_t sha256(uint32_t n), mandelbrot(uint32_t n), matmul(uint32_t n), sieve(uint32_t n), chase(uint32_t n),
        indirect(uint32_t n), fib(uint32_t n);
static const struct {
        const char *name;
        uint32_t (*native)(uint32_t);
        uint32_t size;
} kernels[] = {
        { "sha256", sha256, 20000 }, { "mandelbrot", mandelbrot, 200 }, { "matmul", matmul, 20 },
        { "sieve", sieve, 40 },      { "chase", chase, 4000000 },       { "indirect", indirect, 4000000 },
        { "fib", fib, 30 },
};

/* Processor time, because other programs may run beside this one. */
static uint64_t cpu_ns(void)
{
        struct timespec t;

        (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static struct span read_all(const char *path)
{
        FILE *f = fopen(path, "rb");
        uint8_t *p = malloc(64 << 20);

        if (!f || !p)
                exit(1);
        size_t n = fread(p, 1, 64 << 20, f);
        (void) fclose(f);
        return span_of(p, n);
}

static void die(const char *what)
{
        (void) fprintf(stderr, "host: %s\n", what);
        exit(1);
}

int main(int argc, char **argv)
{
        struct err e = { 0 };
        enum wasm_trap trap;
        struct wasm_instance *inst;
        int rounds = argc > 2 ? (int) strtol(argv[2], NULL, 10) : 3;
        double product = 0;

        struct span bytes = read_all(argv[1]);
        uint64_t began = cpu_ns();
        struct wasm_module *m = wasm_module_load(bytes, &e);
        uint64_t loaded = cpu_ns();
        const struct wasm_engine *engine = argc > 3 ? NULL : wasm_compiler();
        engine = engine ? engine : &wasm_interpreter;
        uint64_t chosen = cpu_ns();
        struct wasm_store *s = m ? wasm_store_new(engine, &wasm_limits_default, &e) : NULL;
        if (!s || wasm_instantiate(s, m, &inst, &trap, &e) < 0)
                die(e.what);
        uint64_t ready = cpu_ns();
        (void) printf("%zu bytes: load %.3f ms, %s %.3f ms\n", bytes.n, (double) (loaded - began) / 1e6,
                      engine->name, (double) (ready - chosen) / 1e6);

        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
                struct wasm_func *f = wasm_export_func(inst, span_str(kernels[i].name));
                uint64_t best[2] = { UINT64_MAX, UINT64_MAX };
                for (int round = 0; f && round < rounds; round++) {
                        uint64_t slots[1] = { kernels[i].size }, t0 = cpu_ns();
                        uint32_t want = kernels[i].native(kernels[i].size);
                        uint64_t t1 = cpu_ns();
                        trap = wasm_call(inst, f, slots);
                        uint64_t t2 = cpu_ns();
                        if (trap != WASM_OK || (round == 0 && slots[0] != want))
                                die(kernels[i].name);
                        best[0] = t1 - t0 < best[0] ? t1 - t0 : best[0];
                        best[1] = t2 - t1 < best[1] ? t2 - t1 : best[1];
                }
                double ratio = (double) best[1] / (double) best[0];
                (void) printf("%-10s native %8.3f ms  %s %9.3f ms  %5.2fx\n", kernels[i].name,
                              (double) best[0] / 1e6, engine->name, (double) best[1] / 1e6, ratio);
                product += log(ratio);
        }
        (void) printf("geometric mean %.2fx\n", exp(product / (double) (sizeof kernels / sizeof *kernels)));
        wasm_store_free(s);
        wasm_module_free(m);
        return 0;
}
