/* SPDX-License-Identifier: MIT */
/* A box plan and a run order travel as blocks: whole, the same wherever they lie, and not at all when a byte
 * is missing or wrong. */
#include "base/block.h"
#include "test_plan_common.h"

#include <stdlib.h>

#define POLICY "use base/system\nread /d\nedit /e\nnet https://a.example:8443/**\nin data max 1K\nenv A=b\n"

static char *print(const struct plan *p)
{
        struct buf out = { 0 };
        plan_print(p, &out);
        return out.p;
}

/* A copy of its own memory, which the reader turns into pointers. */
static void *copy_of(const struct buf *b)
{
        void *p = malloc(b->n);
        if (p)
                memcpy(p, b->p, b->n);
        return p;
}

static void test_seal__what_is_opened_prints_as_what_was_sealed(void)
{
        SCENE(s);
        MUST_PLAN(s, POLICY "limit time 5s\n");
        AUTO_BUF(box);
        AUTO_BUF(order);
        plan_seal_box(s.p, &box);
        plan_seal_order(s.p->order, &order);
        void *a = copy_of(&box), *b = copy_of(&order);
        const struct plan *p = NULL;
        const struct plan_order *o = NULL;
        size_t n = 0;
        CHECK_INT(plan_open_box(a, box.n, &p, &n, &s.e), 0);
        CHECK_INT(n, box.n);
        CHECK_INT(plan_open_order(b, order.n, &o, &n, &s.e), 0);
        CHECK_INT(n, order.n);
        if (p && o) {
                struct plan again = *p;
                again.order = (struct plan_order *) (uintptr_t) o;
                char *was = print(s.p), *is = print(&again);
                CHECK_STR(is, was);
                CHECK(!p->order);
                CHECK_INT(p->limits.value[LIMIT_TIME], 0);
                CHECK_INT(o->limits.value[LIMIT_TIME], 5000);
                CHECK_INT(o->limits.value[LIMIT_MEMORY], 0);
                CHECK_INT(p->handle_count, 1);
                free(was);
                free(is);
        }

        free(a);
        free(b);
}

static void digest_of(const char *const *argv, const char *cwd, const char *policy, uint8_t ret[32])
{
        SCENE(s);
        s.r.argv = argv;
        s.r.cwd = cwd;
        MUST_PLAN(s, policy);
        CHECK_INT(plan_digest(s.p, ret), 0);
}

static void test_seal__the_digest_is_of_the_box_alone(void)
{
        static const char *const one[] = { "cat", "a", NULL }, *const two[] = { "awk", NULL };
        uint8_t a[32], b[32], c[32], d[32];
        digest_of(one, "/nowhere", POLICY, a);
        digest_of(two, "/elsewhere", POLICY "env C=d\nlimit time 9s\n", b);
        digest_of(one, "/nowhere", POLICY "limit memory 77M\n", c);
        digest_of(one, "/nowhere", POLICY "read /file\n", d);
        CHECK(memcmp(a, b, sizeof a) == 0);
        CHECK(memcmp(a, c, sizeof a) != 0);
        CHECK(memcmp(a, d, sizeof a) != 0);
}

static bool opens(const struct buf *b, size_t n, bool order)
{
        struct err e = { 0 };
        size_t used;
        const struct plan *p;
        const struct plan_order *o;
        void *copy = malloc(n ? n : 1);
        memcpy(copy, b->p, n);
        bool did = (order ? plan_open_order(copy, n, &o, &used, &e)
                          : plan_open_box(copy, n, &p, &used, &e)) == 0;
        CHECK(did || e.what[0]);
        free(copy);
        return did;
}

static void test_seal__a_shorter_block_is_refused(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d\n");
        AUTO_BUF(box);
        AUTO_BUF(order);
        plan_seal_box(s.p, &box);
        plan_seal_order(s.p->order, &order);
        for (size_t n = 0; n < box.n; n++)
                if (opens(&box, n, false))
                        CHECK(!"a part is no plan");
        for (size_t n = 0; n < order.n; n++)
                if (opens(&order, n, true))
                        CHECK(!"a part is no order");
        CHECK(opens(&box, box.n, false));
        CHECK(!opens(&box, box.n, true));
        CHECK(!opens(&order, order.n, false));
}

/* Numbers have ranges, and texts any bytes: some changes are another plan. What holds it together is not. */
static void test_seal__no_changed_byte_is_read_outside_the_block(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d\nin data max 1K\n");
        AUTO_BUF(box);
        plan_seal_box(s.p, &box);
        static const uint8_t values[] = { 0x00, 0x01, 0x40, 0x7f, 0x80, 0xff };
        size_t accepted = 0;
        for (size_t i = 0; i < box.n; i++)
                for (size_t k = 0; k < COUNT(values); k++) {
                        char was = box.p[i];
                        box.p[i] = (char) values[k];
                        accepted += opens(&box, box.n, false) && was != box.p[i];
                        CHECK(i >= 28 || was == box.p[i] || !opens(&box, box.n, false)); /* the head */
                        box.p[i] = was;
                }
        CHECK(accepted > 0);
}

static void test_seal__a_stamped_block_is_refused_when_any_byte_changed(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nread /d\n");
        AUTO_BUF(box);
        plan_seal_box(s.p, &box);
        block_stamp((uint8_t *) box.p, box.n);
        CHECK(opens(&box, box.n, false));
        for (size_t i = 0; i < box.n; i += 5) {
                box.p[i] ^= 1;
                if (i < 20 || i >= 24) /* whether it is stamped: one bit that a keeper's reader may ask for */
                        CHECK(!opens(&box, box.n, false));
                box.p[i] ^= 1;
        }
}

static void test_seal__what_contradicts_itself_is_refused(void)
{
        struct plan_step step = { .kind = STEP_EDIT, .path = "/d", .text = "/d", .layer = 1 };
        struct plan p = { .box = "b", .wall = WALL_NAMESPACE, .steps = &step, .step_count = 1, .edits = 1 };
        AUTO_BUF(layer);
        plan_seal_box(&p, &layer);
        CHECK(!opens(&layer, layer.n, false));
        step = (struct plan_step){ .kind = STEP_BIND, .path = "/d" };
        AUTO_BUF(text);
        plan_seal_box(&p, &text);
        CHECK(!opens(&text, text.n, false));
        step = (struct plan_step){ .kind = STEP_PROC, .path = "proc" };
        AUTO_BUF(path);
        plan_seal_box(&p, &path);
        CHECK(!opens(&path, path.n, false));
        step.path = "/proc";
        AUTO_BUF(holds);
        plan_seal_box(&p, &holds);
        CHECK(opens(&holds, holds.n, false));

        const char *none[] = { NULL }, *one[] = { "x", NULL };
        struct plan_step file = { .kind = STEP_FILE, .path = "/etc/passwd", .text = "" };
        struct plan_order o = { .argv = one,
                                .launch = one,
                                .envp = none,
                                .exec = one,
                                .cwd = "/",
                                .files = &file,
                                .file_count = 1 };
        AUTO_BUF(outside);
        plan_seal_order(&o, &outside);
        CHECK(!opens(&outside, outside.n, true));
        o.file_count = 0;
        o.argv = none;
        AUTO_BUF(empty);
        plan_seal_order(&o, &empty);
        CHECK(!opens(&empty, empty.n, true));
}

static const struct test_case cases[] = {
        CASE(test_seal__what_is_opened_prints_as_what_was_sealed),
        CASE(test_seal__the_digest_is_of_the_box_alone),
        CASE(test_seal__a_shorter_block_is_refused),
        CASE(test_seal__no_changed_byte_is_read_outside_the_block),
        CASE(test_seal__a_stamped_block_is_refused_when_any_byte_changed),
        CASE(test_seal__what_contradicts_itself_is_refused),
};
TEST_MAIN(cases)
