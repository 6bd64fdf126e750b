/* SPDX-License-Identifier: MIT */
/* tests/unit/test_work_sum.c - sums of what a layer holds: every flipped bit is found, wherever it is; a hole
 * is what zeros are; no more is read than was allowed. */
#include "base/fd.h"
#include "files/work/internal.h"
#include "harness.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int file_of(const void *p, size_t n)
{
        int fd = memfd_create("sum", MFD_CLOEXEC);
        CHECK(fd >= 0 && fd_write_all(fd, p, n) == 0);
        return fd;
}

static uint64_t sum_of(int fd)
{
        uint64_t budget = UINT64_MAX, sum = 0;
        CHECK(sum_file(fd, &budget, &sum));
        return sum;
}

static void test_sum__every_flipped_bit_is_found(void)
{
        enum { N = 9001 };
        char body[N];
        for (size_t i = 0; i < N; i++)
                body[i] = (char) (i * 7);
        AUTO_FD(fd, file_of(body, N));
        uint64_t whole = sum_of(fd);
        for (size_t i = 0; i < N; i += 13) {
                char flipped = (char) (body[i] ^ 1 << i % 8);
                CHECK(pwrite(fd, &flipped, 1, (off_t) i) == 1 && sum_of(fd) != whole);
                CHECK(pwrite(fd, &body[i], 1, (off_t) i) == 1);
        }
        CHECK(sum_of(fd) == whole);
}

static void test_sum__blocks_that_changed_places_are_found(void)
{
        static char body[3 * 4096], other[3 * 4096];
        memset(body, 'a', 4096);
        memset(body + 4096, 'b', 4096);
        memset(other, 'b', 4096);
        memset(other + 4096, 'a', 4096);
        AUTO_FD(a, file_of(body, sizeof body));
        AUTO_FD(b, file_of(other, sizeof other));
        CHECK(sum_of(a) != sum_of(b));
        /* Nor is a hole before it what a hole behind it is. */
        memset(body + 4096, 0, 4096);
        memset(other, 0, 4096);
        AUTO_FD(first, file_of(body, sizeof body));
        AUTO_FD(second, file_of(other, sizeof other));
        CHECK(sum_of(first) != sum_of(second));
}

static void test_sum__a_hole_is_what_zeros_are(void)
{
        enum { N = 1 << 20 };
        char *zeros = calloc(1, N);
        CHECK(zeros != NULL);
        AUTO_FD(written, file_of(zeros, N));
        AUTO_FD(hole, memfd_create("sum", MFD_CLOEXEC));
        CHECK(ftruncate(hole, N) == 0);
        CHECK(sum_of(hole) == sum_of(written));
        CHECK(pwrite(hole, "x", 1, 777777) == 1);
        CHECK(sum_of(hole) != sum_of(written));
        CHECK(pwrite(written, "x", 1, 777777) == 1);
        CHECK(sum_of(hole) == sum_of(written));
        free(zeros);
}

static void test_sum__reads_no_more_than_it_may(void)
{
        static char body[300000];
        memset(body, 'z', sizeof body);
        AUTO_FD(fd, file_of(body, sizeof body));
        uint64_t sum, budget = sizeof body - 1;
        CHECK(!sum_file(fd, &budget, &sum));
        budget = 2 * sizeof body;
        CHECK(sum_file(fd, &budget, &sum) && budget == sizeof body);
}

static const struct test_case cases[] = {
        CASE(test_sum__every_flipped_bit_is_found),
        CASE(test_sum__blocks_that_changed_places_are_found),
        CASE(test_sum__a_hole_is_what_zeros_are),
        CASE(test_sum__reads_no_more_than_it_may),
};
TEST_MAIN(cases)
