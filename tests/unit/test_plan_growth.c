/* SPDX-License-Identifier: MIT */
/* tests/unit/test_plan_growth.c - from policy to plan, work grows with the number of doors, not with its
 * square. Work is counted, not timed: the linker turns every comparison of strings in cordon's code into one
 * of ours. Four times the doors are about 4.8 times the work where they are sorted and searched, and 16 times
 * where each is compared with each. */
#include "test_policy_common.h"
#include "wall/plan/plan.h"

enum { FEW = 1000, MANY = 4000, MOST_GROWTH = 6 };

static unsigned long compared;

int __real_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b);
int __real_strncmp(const char *a, const char *b, size_t n);
int __wrap_strncmp(const char *a, const char *b, size_t n);
int __real_memcmp(const void *a, const void *b, size_t n);
int __wrap_memcmp(const void *a, const void *b, size_t n);
size_t __real_strlen(const char *s);
size_t __wrap_strlen(const char *s);

int __wrap_strcmp(const char *a, const char *b)
{
        compared++;
        return __real_strcmp(a, b);
}

int __wrap_strncmp(const char *a, const char *b, size_t n)
{
        compared++;
        return __real_strncmp(a, b, n);
}

int __wrap_memcmp(const void *a, const void *b, size_t n)
{
        compared++;
        return __real_memcmp(a, b, n);
}

size_t __wrap_strlen(const char *s)
{
        compared++;
        return __real_strlen(s);
}

/* ---- policies of any size ---- */

enum shape { FLAT, NESTED, LINKS, EXCEPTS, PROGRAMS, WRITE_AND_RUN, VARIABLES, MIXED, NETWORK, SHAPE__COUNT };

static void add_line(enum shape shape, unsigned i, struct buf *out)
{
        switch (shape) {
        case FLAT:
                buf_printf(out, "read /m/d%u\n", i);
                break;
        case NESTED:
                buf_printf(out, "read /m/d%u%s\n", i / 2, i % 2 ? "/a/b/c" : "");
                break;
        case LINKS: /* see look() */
                buf_printf(out, "read /m/%s%u%s\n", i % 2 ? "d" : "link", i, i % 4 == 3 ? "/below" : "");
                break;
        case EXCEPTS:
                buf_printf(out, "read /m/d%u except secret other\n", i);
                break;
        case PROGRAMS:
                buf_printf(out, i % 2 ? "run /m/p%u\n" : "run /m/t%u/\n", i);
                break;
        case WRITE_AND_RUN:
                buf_printf(out, i % 2 ? "write /m/w%u\n" : "run /m/w%u/x\n", i / 2);
                break;
        case VARIABLES:
                buf_printf(out, "env V%u=1\n", i);
                break;
        case NETWORK:
                buf_printf(out, "net h%u.d%u.example.com:443\n", i, i % 7);
                break;
        case MIXED:
        case SHAPE__COUNT:
                add_line((enum shape)(i % MIXED), i, out);
                break;
        }
}

static struct checked_policy *many(enum shape shape, unsigned n)
{
        struct policy *p = policy_new();
        struct err e = { 0 };
        AUTO_BUF(text);
        for (unsigned i = 0; i < n; i++)
                add_line(shape, i, &text);
        struct checked_policy *c = NULL;
        if (policy_add_text(p, "t", buf_span(&text), &e) == 0)
                c = policy_check(p, &fixed_context, &e);
        if (!c) {
                printf("# shape %d, %u doors: %s\n", (int) shape, n, e.what);
                test_failures++;
        }
        policy_free(p);
        return c;
}

/* Everything is a directory; /m/linkN is a link to the directory next to it. */
static bool plan_it(const struct checked_policy *c)
{
        static const char *const argv[] = { "nothing", NULL };
        size_t n;
        struct err e = { 0 };
        const struct door *doors = policy_doors(c, &n);
        struct plan_seen *seen = calloc(n, sizeof *seen);
        struct plan_program *found = calloc(n, sizeof *found);
        for (size_t i = 0; i < n; i++) {
                seen[i] = (struct plan_seen){ .kind = SEEN_DIR, .dev = 1, .ino = i };
                if (doors[i].path && strncmp(doors[i].path, "/m/link", 7) == 0)
                        seen[i].link = "d1";
                if (doors[i].kind == DOOR_RUN)
                        found[i] = (struct plan_program){ doors[i].path, doors[i].path, 1, i, 1 };
        }
        struct plan_request r = {
                .argv = argv, .cwd = "/", .wall = WALL_NAMESPACE, .seen = seen, .found = found
        };
        struct plan *p = plan_make(c, &r, &e);
        if (!p)
                printf("# no plan: %s\n", e.what);
        plan_free(p);
        free(seen);
        free(found);
        return p != NULL;
}

static unsigned long plan_work(enum shape shape, unsigned n)
{
        compared = 0;
        struct checked_policy *c = many(shape, n);
        CHECK(c && plan_it(c));
        unsigned long work = compared;
        policy_checked_free(c);
        return work;
}

static unsigned long diff_work(enum shape shape, unsigned n)
{
        AUTO_BUF(out);
        struct checked_policy *a = many(shape, n), *b = many(shape, n - 1);
        compared = 0;
        enum policy_order order = a && b ? policy_diff(a, b, &out) : POLICY_CROSSING;
        CHECK(order == POLICY_NARROWER || (order == POLICY_EQUAL && shape == NESTED));
        unsigned long work = compared;
        policy_checked_free(a);
        policy_checked_free(b);
        return work;
}

static void check_growth(unsigned long (*work)(enum shape, unsigned), enum shape shape)
{
        unsigned long few = work(shape, FEW), much = work(shape, MANY);
        printf("# shape %d: %lu comparisons for %d doors, %lu for %d: %.1f times\n", (int) shape, few, FEW,
               much, MANY, (double) much / (double) few);
        CHECK(few > FEW); /* else nothing was counted */
        CHECK(much < MOST_GROWTH * few);
}

static void test_plan__work_grows_with_the_doors_not_with_their_square(void)
{
        for (enum shape s = FLAT; s < NETWORK; s++)
                check_growth(plan_work, s);
}

static void test_diff__work_grows_with_the_doors_not_with_their_square(void)
{
        for (enum shape s = FLAT; s < SHAPE__COUNT; s++)
                check_growth(diff_work, s);
}

static const struct test_case cases[] = {
        CASE(test_plan__work_grows_with_the_doors_not_with_their_square),
        CASE(test_diff__work_grows_with_the_doors_not_with_their_square),
};
TEST_MAIN(cases)
