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

/* ---- the digest of a request ---- */

#define PLAIN "use base/system\nread /d\nread /to-d\nin data max 1K\nenv A=b\n"

/* `change` is made after the look. -1: it has no digest. */
static int request_of(const char *policy, void (*change)(struct scene *), uint8_t ret_request[32],
                      uint8_t ret_plan[32])
{
        SCENE(s);
        CHECK(scene_plan(&s, policy));
        plan_free(s.p);
        s.p = NULL;
        if (change)
                change(&s);

        s.p = plan_make(s.c, &s.r, &s.e);
        CHECK(s.p && plan_digest(s.p, ret_plan) == 0);
        return plan_request_digest(s.c, &s.r, ret_request);
}

static struct plan_seen *seen_at(struct scene *s, const char *path)
{
        size_t n;
        const struct door *doors = policy_doors(s->c, &n);
        for (size_t i = 0; i < n; i++)
                if (doors[i].path && strcmp(doors[i].path, path) == 0)
                        return &s->seen[i];
        return &s->seen[0];
}

static void other_inode(struct scene *s) { seen_at(s, "/d")->ino++; }
static void other_device(struct scene *s) { seen_at(s, "/d")->dev++; }
static void now_a_link(struct scene *s) { seen_at(s, "/d")->link = "e"; }
static void leads_elsewhere(struct scene *s) { seen_at(s, "/d")->real = "/e"; }
static void other_target(struct scene *s) { seen_at(s, "/to-d")->link = "e"; }
static void stock_gone(struct scene *s) { *seen_at(s, "/usr") = (struct plan_seen){ .kind = SEEN_FILE }; }
static void other_cwd(struct scene *s) { s->r.cwd = "/d/sub"; }
static void other_wall(struct scene *s) { s->r.root_inside = !s->r.root_inside; }
static void by_root(struct scene *s) { s->r.as_root = !s->r.as_root; }
static void on_terminal(struct scene *s) { s->r.tty = !s->r.tty; }
static void own_state(struct scene *s) { s->r.state[0] = "/d/state"; }
static void own_config(struct scene *s) { s->r.config[0] = "/d/config"; }
static void other_program(struct scene *s) { s->r.entry.ino++; }

static void test_request__every_change_is_another_request(void)
{
        static void (*const changes[])(
                struct scene *) = { other_inode, other_device, now_a_link,   leads_elsewhere, other_target,
                                    stock_gone,  other_cwd,    other_wall,   by_root,         on_terminal,
                                    own_state,   own_config,   other_program };
        uint8_t was[32], plan[32], is[32], other[32];
        CHECK_INT(request_of(PLAIN, NULL, was, plan), 0);
        for (size_t i = 0; i < COUNT(changes); i++) {
                CHECK_INT(request_of(PLAIN, changes[i], is, other), 0);
                CHECK(memcmp(is, was, sizeof is) != 0);
        }
}

static void test_request__every_policy_is_another_request(void)
{
        static const char *const policies[] = { PLAIN "read /e\n",
                                                PLAIN "write /e\n",
                                                PLAIN "read /nothing?\n",
                                                PLAIN "limit memory 77M\n",
                                                PLAIN "out more\n",
                                                PLAIN "local trace\n",
                                                PLAIN "read /e except /e/x\n",
                                                "use base/system\nread /d\n" };
        uint8_t was[32], plan[32], is[32], other[32];
        CHECK_INT(request_of(PLAIN, NULL, was, plan), 0);
        for (size_t i = 0; i < COUNT(policies); i++) {
                CHECK_INT(request_of(policies[i], NULL, is, other), 0);
                CHECK(memcmp(is, was, sizeof is) != 0);
        }
}

static void words_change(struct scene *s)
{
        static const char *const argv[] = { "cat", "other", "words", NULL };
        static const char *const passed[] = { "TOKEN=other", NULL };
        s->r.argv = argv;
        s->r.entry = fake_find("cat");
        s->r.passed = passed;
}

static void words_are_few(struct scene *s)
{
        static const char *const argv[] = { "cat", NULL };
        s->r.argv = argv;
        s->r.entry = fake_find("cat");
}

static void test_request__arguments_and_variables_are_the_runs(void)
{
        uint8_t a[32], b[32], plan[32], same[32];
        CHECK_INT(request_of(PLAIN, words_change, a, plan), 0);
        CHECK_INT(request_of(PLAIN, words_are_few, b, same), 0);
        CHECK(memcmp(a, b, sizeof a) == 0);
        CHECK(memcmp(plan, same, sizeof plan) == 0);
}

static void test_request__what_a_digest_does_not_cover_has_none(void)
{
        static const char *const policies[] = { PLAIN "net a.example:443\n", PLAIN "edit /e\n",
                                                PLAIN "run cat\n", PLAIN "write /c/one\n",
                                                PLAIN "warm python3\n" };
        uint8_t request[32], plan[32];
        for (size_t i = 0; i < COUNT(policies); i++)
                CHECK_INT(request_of(policies[i], NULL, request, plan), -1);
}

static void test_request__a_draft_orders_the_same_run(void)
{
        SCENE(s);
        MUST_PLAN(s, PLAIN "limit time 5s\n");
        struct plan *draft = plan_draft(s.c, &s.r, &s.e);
        AUTO_BUF(whole);
        AUTO_BUF(early);
        CHECK(draft != NULL);
        if (!draft)
                return;

        plan_seal_order(s.p->order, &whole);
        plan_seal_order(draft->order, &early);
        CHECK(whole.n == early.n && memcmp(whole.p, early.p, whole.n) == 0);
        CHECK_INT(draft->handle_count, s.p->handle_count);
        CHECK(memcmp(&draft->limits, &s.p->limits, sizeof s.p->limits) == 0);
        plan_free(draft);
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
        CASE(test_request__every_change_is_another_request),
        CASE(test_request__every_policy_is_another_request),
        CASE(test_request__arguments_and_variables_are_the_runs),
        CASE(test_request__what_a_digest_does_not_cover_has_none),
        CASE(test_request__a_draft_orders_the_same_run),
};
TEST_MAIN(cases)
