/* SPDX-License-Identifier: MIT */
/* The `gpu` door: what it may be called, which nodes it covers, and what it opens on hosts that are tables.
 */
#include "test_policy_common.h"

#define UUID "GPU-01234567-89ab-cdef-0123-456789abcdef"

static struct {
        const char *name;
        const char *paths[16];
} hosts[] = {
        { "none", { "/dev/null", "/etc/OpenCL/vendors" } },
        { "two of NVIDIA",
          { "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
            "/dev/nvidia-modeset", "/dev/nvidia-caps/nvidia-cap1", "/etc/OpenCL/vendors" } },
        { "NVIDIA beside Intel, no uvm", { "/dev/nvidia0", "/dev/nvidiactl", "/dev/dri/renderD128" } },
        { "AMD",
          { "/dev/kfd", "/dev/dri/card0", "/dev/dri/renderD128", "/dev/dri/renderD129", "/opt/rocm" } },
        { "a cluster's image",
          { "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", POLICY_GPU_LIBRARIES } },
        { "Intel", { "/dev/dri/card0", "/dev/dri/renderD128" } },
};

static bool has(void *ctx, const char *path)
{
        const char *const *paths = ctx;
        for (; *paths; paths++)
                if (strcmp(*paths, path) == 0)
                        return true;
        return false;
}

static void test_gpu__opens_what_compute_needs_and_nothing_else(void)
{
        static const struct {
                size_t host;
                const char *chosen, *want;
        } rows[] = {
                { 0, "", "" },
                { 1, "", "/dev/nvidia0 /dev/nvidia1 /dev/nvidiactl /dev/nvidia-uvm /etc/OpenCL/vendors " },
                { 1, "1", "/dev/nvidia1 /dev/nvidiactl /dev/nvidia-uvm /etc/OpenCL/vendors " },
                { 1, "2", "" },
                { 1, "10", "" },
                { 2, "", "/dev/nvidia0 /dev/nvidiactl /dev/nvidia-uvm " },
                { 2, "0", "/dev/nvidia0 /dev/nvidiactl /dev/nvidia-uvm " },
                { 3, "", "/dev/dri/renderD128 /dev/dri/renderD129 /dev/kfd /opt/rocm " },
                { 3, "1", "/dev/dri/renderD129 /dev/kfd /opt/rocm " },
                { 4, "0", "/dev/nvidia0 /dev/nvidiactl /dev/nvidia-uvm " POLICY_GPU_LIBRARIES " " },
                { 5, "", "/dev/dri/renderD128 " },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char got[1024] = "";
                struct policy_gpu_ask question = { .chosen = rows[i].chosen,
                                                   .has = has,
                                                   .ctx = hosts[rows[i].host].paths };
                struct policy_gpu_nodes nodes;
                policy_gpu_expand(&question, &nodes);
                for (size_t k = 0; k < nodes.n; k++)
                        (void) snprintf(got + strlen(got), sizeof got - strlen(got), "%s ", nodes.path[k]);
                if (strcmp(got, rows[i].want) != 0)
                        printf("# %s, gpu %s\n", hosts[rows[i].host].name, rows[i].chosen);
                CHECK_STR(got, rows[i].want);
        }
}

static void test_gpu__knows_a_card_from_what_cards_share(void)
{
        static const char *const cards[] = { "/dev/nvidia0", "/dev/nvidia63", "/dev/dri/renderD128" };
        static const char *const others[] = { "/dev/nvidiactl",    "/dev/nvidia-uvm",     "/dev/nvidia",
                                              "/dev/nvidia1000",   "/dev/dri/renderD127", "/dev/dri/card0",
                                              "/dev/kfd",          "/dev/nvidia0x",       "",
                                              POLICY_GPU_LIBRARIES };
        for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
                CHECK(policy_gpu_is_card(cards[i]));
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
                CHECK(!policy_gpu_is_card(others[i]));
}

static bool has_all(void *ctx, const char *path) { return !ctx && path[0] == '/'; }

static void test_gpu__has_room_for_a_host_with_everything(void)
{
        struct policy_gpu_nodes nodes;
        policy_gpu_expand(&(struct policy_gpu_ask){ .chosen = "", .has = has_all }, &nodes);
        CHECK(nodes.n > POLICY_GPUS_MAX && nodes.n <= sizeof nodes.path / sizeof *nodes.path);
        CHECK_STR(nodes.path[0], "/dev/nvidia0");
        CHECK_STR(nodes.path[POLICY_GPUS_MAX - 1], "/dev/nvidia63");
        for (size_t i = 0; i < nodes.n; i++)
                CHECK(strncmp(nodes.path[i], "/dev/", 5) != 0 ||
                      policy_gpu_covers("/dev/gpu", nodes.path[i]));
}

static void test_gpu__covers_its_nodes_in_both_evaluators(void)
{
        struct checked_policy *c = load("use none\ngpu\n");
        CHECK_ALLOW(c, "dev /dev/nvidia0");
        CHECK_ALLOW(c, "dev /dev/nvidia17");
        CHECK_ALLOW(c, "dev /dev/nvidiactl");
        CHECK_ALLOW(c, "dev /dev/nvidia-uvm");
        CHECK_ALLOW(c, "dev /dev/dri/renderD128");
        CHECK_ALLOW(c, "dev /dev/kfd");
        CHECK_DENY(c, "dev /dev/nvidia-modeset", REASON_NO_DOOR);
        CHECK_DENY(c, "dev /dev/nvidia-uvm-tools", REASON_NO_DOOR);
        CHECK_DENY(c, "dev /dev/nvidia-caps/nvidia-cap1", REASON_NO_DOOR);
        CHECK_DENY(c, "dev /dev/dri/card0", REASON_NO_DOOR);
        CHECK_DENY(c, "dev /dev/kvm", REASON_NO_DOOR);
        CHECK_DENY(c, "read /opt/rocm", REASON_NO_DOOR);
        policy_checked_free(c);

        c = load("use none\ngpu 1 until 2030-01-01\n");
        CHECK_ALLOW(c, "dev /dev/nvidia1");
        CHECK_ALLOW(c, "dev /dev/dri/renderD129");
        CHECK_DENY(c, "dev /dev/nvidia0", REASON_NO_DOOR);
        CHECK_DENY(c, "dev /dev/nvidia11", REASON_NO_DOOR);
        policy_checked_free(c);

        c = load("use none\ngpu " UUID "\n");
        CHECK_ALLOW(c, "dev /dev/nvidiactl");
        CHECK_DENY(c, "dev /dev/nvidia0", REASON_NO_DOOR);
        policy_checked_free(c);

        c = load("use none\ngpu 0 until 2001-01-01\n");
        CHECK_DENY(c, "dev /dev/nvidia0", REASON_EXPIRED);
        CHECK_DENY(c, "dev /dev/nvidia1", REASON_NO_DOOR);
        policy_checked_free(c);
}

static void test_gpu__is_one_line_in_each_form(void)
{
        static const char *const same[] = { "gpu\n", "gpu all\n", "dev /dev/gpu\n", "gpu\ngpu all\n",
                                            "{\"doors\":[{\"gpu\":\"all\"}],\"use\":[]}" };
        AUTO_BUF(first);
        for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
                char text[96];
                (void) snprintf(text, sizeof text, "%s%s", same[i][0] == '{' ? "" : "use none\n", same[i]);
                struct checked_policy *c = load(text);
                AUTO_BUF(json);
                AUTO_BUF(line);
                if (!c) {
                        CHECK(c);
                        continue;
                }
                policy_canonical_json(c, &json);
                policy_show(c, &line);
                CHECK(strstr(buf_str(&json), "{\"gpu\":\"all\"}"));
                CHECK(strstr(buf_str(&line), "\ngpu\n"));
                if (i == 0)
                        buf_puts(&first, buf_str(&json));
                CHECK_STR(buf_str(&json), buf_str(&first));
                policy_checked_free(c);
        }
}

static void test_gpu__other_names_are_refused(void)
{
        static const char *const names[] = { "-1",
                                             "00",
                                             "01",
                                             "100",
                                             "0x1",
                                             "x",
                                             "GPU-",
                                             "gpu-0",
                                             "0/1",
                                             "../kvm",
                                             "GPU-01234567-89ab-cdef-0123-456789abcdeg",
                                             "GPU-01234567-89ab-cdef-0123-456789abcdef0",
                                             "nvidia0" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                char line[128], what[160];
                (void) snprintf(line, sizeof line, "use none\ngpu %s\n", names[i]);
                (void) snprintf(what, sizeof what, "t:2:5: \"%s\" is not a GPU's number or UUID", names[i]);
                check_refused(line, what, NULL);
        }
        CHECK(!policy_gpu("/dev/gpux") && !policy_gpu("/dev/gpu/") && !policy_gpu("/dev/nvidia0"));
}

static void test_gpu__limits_leave_room_unless_they_are_stated(void)
{
        struct checked_policy *c = load("use none\ngpu\n"),
                              *own = load("use none\ngpu\nlimit memory 1G procs 9\n"),
                              *none = load("use none\n");
        CHECK_INT(policy_limits(c)->value[LIMIT_MEMORY], 16ll << 30);
        CHECK_INT(policy_limits(c)->value[LIMIT_PROCS], 1024);
        CHECK_INT(policy_limits(own)->value[LIMIT_MEMORY], 1ll << 30);
        CHECK_INT(policy_limits(own)->value[LIMIT_PROCS], 9);
        CHECK_INT(policy_limits(none)->value[LIMIT_MEMORY], 2ll << 30);
        policy_checked_free(c);
        policy_checked_free(own);
        policy_checked_free(none);
}

static void test_gpu__a_diff_knows_what_it_contains(void)
{
        static const struct {
                const char *a, *b;
                bool wider;
        } rows[] = {
                { "gpu\n", "gpu 0\n", false },
                { "gpu\n", "dev /dev/nvidia3\n", false },
                { "gpu 0\n", "dev /dev/nvidiactl\n", false },
                { "gpu 0\n", "gpu\n", true },
                { "gpu 0\n", "gpu 1\n", true },
                { "gpu\n", "dev /dev/nvidia-modeset\n", true },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char text[2][96];
                (void) snprintf(text[0], sizeof text[0], "use none\nlimit memory 1G procs 9\n%s", rows[i].a);
                (void) snprintf(text[1], sizeof text[1], "use none\nlimit memory 1G procs 9\n%s", rows[i].b);
                struct checked_policy *a = load(text[0]), *b = load(text[1]);
                AUTO_BUF(out);
                enum policy_order order = policy_diff(a, b, &out);
                bool wider = order == POLICY_WIDER || order == POLICY_CROSSING;
                if (wider != rows[i].wider)
                        printf("# from %sto %s%s", rows[i].a, rows[i].b, buf_str(&out));
                CHECK_INT(wider, rows[i].wider);
                policy_checked_free(a);
                policy_checked_free(b);
        }
}

static const struct test_case cases[] = {
        CASE(test_gpu__opens_what_compute_needs_and_nothing_else),
        CASE(test_gpu__knows_a_card_from_what_cards_share),
        CASE(test_gpu__has_room_for_a_host_with_everything),
        CASE(test_gpu__covers_its_nodes_in_both_evaluators),
        CASE(test_gpu__is_one_line_in_each_form),
        CASE(test_gpu__other_names_are_refused),
        CASE(test_gpu__limits_leave_room_unless_they_are_stated),
        CASE(test_gpu__a_diff_knows_what_it_contains),
};
TEST_MAIN(cases)
