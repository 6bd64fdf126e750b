/* SPDX-License-Identifier: MIT */
/* The stock policies hold what stock.c promises. */
#include "test_policy_common.h"

static void test_stock__every_entry_is_optional_and_reads_only(void)
{
        size_t count, n;
        const char *const *names = policy_stock_names(&count);
        CHECK_INT(count, 6);
        for (size_t i = 0; i < count; i++) {
                AUTO_BUF(text);
                buf_printf(&text, "use %s\nexpect deny read /root\n", names[i]);
                struct checked_policy *c = load(buf_str(&text));
                CHECK(c != NULL && policy_stock_text(names[i]));
                const struct door *d = policy_doors(c, &n);
                CHECK(n > 0);
                for (size_t k = 0; k < n; k++) {
                        CHECK(d[k].from_stock);
                        CHECK(d[k].optional || strcmp(d[k].path, "*") == 0);
                        CHECK(d[k].kind == DOOR_READ || d[k].kind == DOOR_RUN);
                }
                (void) policy_notes(c, &n);
                CHECK_INT(n, 0);
                policy_checked_free(c);
        }
        CHECK(!policy_stock_text("base/nothing"));
}

static void test_stock__nothing_of_a_person_is_visible(void)
{
        static const char *const never[] = { "read {home}",
                                             "read {home}/.ssh/id_rsa",
                                             "read /root",
                                             "read /etc/passwd",
                                             "read /etc/shadow",
                                             "read /var/log",
                                             "read /run",
                                             "read /proc/1",
                                             "read /sys",
                                             "read {work}",
                                             "write /usr/bin/x",
                                             "net GET https://example.com/",
                                             "sock /run/docker.sock",
                                             "env SECRET" };
        size_t count;
        const char *const *names = policy_stock_names(&count);
        for (size_t i = 0; i < count; i++) {
                AUTO_BUF(text);
                buf_printf(&text, "use %s\n", names[i]);
                struct checked_policy *c = load(buf_str(&text));
                for (size_t k = 0; c && k < sizeof never / sizeof *never; k++)
                        CHECK_INT(ask(c, never[k]).answer, ANSWER_DENY);
                policy_checked_free(c);
        }
}

static const struct test_case cases[] = {
        CASE(test_stock__every_entry_is_optional_and_reads_only),
        CASE(test_stock__nothing_of_a_person_is_visible),
};
TEST_MAIN(cases)
