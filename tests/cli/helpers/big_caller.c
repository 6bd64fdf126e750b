/* SPDX-License-Identifier: MIT */
/* A program with so much memory of its own that uses libcordon: `big_caller MEGABYTES MARK hold` fills it
 * with copies of the mark and runs a box until standard input ends; `big_caller MEGABYTES MARK times N`
 * starts N boxes and prints the least and the median of their starts, then of their whole lives, in
 * microseconds. */
#define _GNU_SOURCE
#include <cordon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

extern char **environ;

static long long now_us(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

static void fill(size_t megabytes, const char *mark)
{
        size_t n = megabytes << 20, k = strlen(mark);
        char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        (void) madvise(p, n, MADV_NOHUGEPAGE);
        for (size_t i = 0; p != MAP_FAILED && i + k < n; i += 512)
                memcpy(p + i, mark, k);
}

static int run(cordon_context *cx, const char *const *argv, long long *ret_up, long long *ret_over)
{
        cordon_error e = { 0 };
        long long at = now_us();
        cordon_policy *p = cordon_policy_new(cx);
        cordon_box *b = cordon_box_new(p);
        if (b)
                cordon_box_stdio(b, 0, 0);
        if (!b || cordon_box_command(b, argv) < 0 || cordon_box_start(b, &e) < 0) {
                (void) fprintf(stderr, "%s\n", e.what);
                return 1;
        }
        *ret_up = now_us() - at;
        while (cordon_box_wait(b, -1) == 0)
                ;
        *ret_over = now_us() - at;
        int status = cordon_result_status(cordon_box_result(b));
        if (status == 125)
                (void) fprintf(stderr, "%s\n", cordon_box_result(b)->error->what);
        cordon_box_free(b);
        cordon_policy_free(p);
        return status;
}

static int by_size(const void *a, const void *b)
{
        long long x = *(const long long *) a, y = *(const long long *) b;
        return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
        static const char *const hold[] = { "cat", NULL }, *const nothing[] = { "/bin/true", NULL };
        static long long up[1000], over[1000];
        if (argc < 4)
                return 2;
        fill(strtoul(argv[1], NULL, 10), argv[2]);
        cordon_context *cx = cordon_context_new(environ);
        int n = argc > 4 ? atoi(argv[4]) : 1, status = 0;
        for (int i = 0; i < n && i < 1000 && status == 0; i++)
                status = run(cx, argc > 4 ? nothing : hold, &up[i], &over[i]);
        qsort(up, (size_t) n, sizeof *up, by_size);
        qsort(over, (size_t) n, sizeof *over, by_size);
        if (argc > 4)
                (void) printf("%lld %lld %lld %lld\n", up[0], up[n / 2], over[0], over[n / 2]);
        cordon_context_free(cx);
        return status;
}
