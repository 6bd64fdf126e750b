/* SPDX-License-Identifier: MIT */
/* The stock policies hold what stock.c promises. */
#include "test_policy_common.h"

static void test_stock__every_entry_is_optional_and_reads_only(void)
{
        size_t count, n;
        const char *const *names = policy_stock_names(&count);
        CHECK(count >= 16);
        for (size_t i = 0; i < count; i++) {
                AUTO_BUF(text);
                buf_printf(&text, "use %s\nexpect deny read /root\n", names[i]);
                struct checked_policy *c = load(buf_str(&text));
                CHECK(c != NULL && policy_stock_text(names[i]));
                const struct door *d = policy_doors(c, &n);
                CHECK(n > 0);
                bool agent = strncmp(names[i], "agent/", 6) == 0;
                for (size_t k = 0; k < n; k++) {
                        CHECK(d[k].from_stock);
                        if (agent &&
                            (d[k].kind == DOOR_ENV || (d[k].kind == DOOR_NET && d[k].net.credential)))
                                continue; /* its API, through a credential */
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
                                             "read /etc/ssl",
                                             "read /etc/ssl/private/key.pem",
                                             "read /etc/pki/tls/private/key.pem",
                                             "read /etc/gitconfig",
                                             "read /etc/npmrc",
                                             "read /etc/pip.conf",
                                             "read /etc/environment",
                                             "read /etc/maven/settings.xml",
                                             "read /etc/machine-id",
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

/* Whoever wrote the line: a policy that was written out with its stock doors is the same policy. */
static void test_stock__libraries_are_known_by_their_path(void)
{
        static const char *const named[] = { "base/loader", "base/python3", "base/node", "base/git" };
        for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
                AUTO_BUF(text);
                AUTO_BUF(shown);
                size_t n;
                buf_printf(&text, "use %s\n", named[i]);
                struct checked_policy *c = load(buf_str(&text));
                policy_show(c, &shown);
                struct checked_policy *again = load(buf_str(&shown));
                const struct door *d = policy_doors(again, &n);
                CHECK(n > 0);
                for (size_t k = 0; k < n; k++)
                        CHECK(!d[k].from_stock && policy_shows_libraries(&d[k]) == (d[k].kind == DOOR_READ));
                policy_checked_free(again);
                policy_checked_free(c);
        }
}

static void test_stock__what_only_run_any_may_map_is_no_library(void)
{
        static const char *const no[] = { "/usr",      "/usr/bin",    "/lib",     "/usr/lib",         "/etc",
                                          "/usr/lib6", "/usr/lib644", "/lib/x86", "/home/usr/lib/git" };
        for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
                AUTO_BUF(text);
                size_t n;
                buf_printf(&text, "use none\nread %s\n", no[i]);
                struct checked_policy *c = load(buf_str(&text));
                const struct door *d = policy_doors(c, &n);
                CHECK(n == 1 && !policy_shows_libraries(&d[0]));
                policy_checked_free(c);
        }
        struct checked_policy *c = load("use none\nedit /usr/lib64\nwrite /lib64\n");
        size_t n;
        const struct door *d = policy_doors(c, &n);
        CHECK(n == 2 && !policy_shows_libraries(&d[0]) && !policy_shows_libraries(&d[1]));
        policy_checked_free(c);
}

static const struct test_case cases[] = {
        CASE(test_stock__every_entry_is_optional_and_reads_only),
        CASE(test_stock__nothing_of_a_person_is_visible),
        CASE(test_stock__libraries_are_known_by_their_path),
        CASE(test_stock__what_only_run_any_may_map_is_no_library),
};
TEST_MAIN(cases)
