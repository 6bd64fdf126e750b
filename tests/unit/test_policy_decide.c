/* SPDX-License-Identifier: MIT */
/* The rules of decision, one sentence each. Every question goes to both evaluators (ask() in
 * test_policy_common.h). */
#include "test_policy_common.h"

static void test_decide__an_empty_policy_denies_everything(void)
{
        struct checked_policy *c = load("use none\n");
        CHECK_DENY(c, "read /etc/passwd", REASON_NO_DOOR);
        CHECK_DENY(c, "read /", REASON_NO_DOOR);
        CHECK_DENY(c, "write /w/proj/a", REASON_NO_DOOR);
        CHECK_DENY(c, "run sh", REASON_NO_DOOR);
        CHECK_DENY(c, "net GET https://example.com/", REASON_NO_DOOR);
        CHECK_DENY(c, "net example.com:443", REASON_NO_DOOR);
        CHECK_DENY(c, "net GET @npm/x", REASON_NO_DOOR);
        CHECK_DENY(c, "env AWS_SECRET", REASON_NO_DOOR);
        CHECK_DENY(c, "sock /run/docker.sock", REASON_NO_DOOR);
        policy_checked_free(c);
}

static void test_decide__the_working_directory_is_no_door_by_itself(void)
{
        struct checked_policy *c = load("box a\nuse base/system\n");
        CHECK_DENY(c, "read {work}/a", REASON_NO_DOOR);
        CHECK_DENY(c, "read {home}/.ssh/id_rsa", REASON_NO_DOOR);
        policy_checked_free(c);
}

static void test_decide__a_read_door_covers_its_subtree_and_nothing_beside(void)
{
        struct checked_policy *c = load("use none\nread /a/b\n");
        CHECK_ALLOW(c, "read /a/b");
        CHECK_ALLOW(c, "read /a/b/c/d");
        CHECK_ALLOW(c, "read /x/../a/./b//c");
        CHECK_DENY(c, "read /a", REASON_NO_DOOR);
        CHECK_DENY(c, "read /a/bc", REASON_NO_DOOR);
        CHECK_DENY(c, "read /a/b/../c", REASON_NO_DOOR);
        CHECK_DENY(c, "write /a/b/c", REASON_READ_ONLY);
        CHECK_DENY(c, "run /a/b/c", REASON_NOT_RUN);
        policy_checked_free(c);
}

static void test_decide__except_takes_reading_from_read_and_writing_from_edit(void)
{
        struct checked_policy *c =
                load("use none\nread /r except x\nedit /e except .git/hooks .git/config\nread /r/x/y\n");
        CHECK_ALLOW(c, "read /r/xx");
        CHECK_DENY(c, "read /r/x", REASON_EXCEPTED);
        CHECK_DENY(c, "read /r/x/z", REASON_EXCEPTED);
        CHECK_ALLOW(c, "read /r/x/y/z");
        CHECK_ALLOW(c, "read /e/.git/hooks/pre-commit");
        CHECK_ALLOW(c, "write /e/.git/objects/a");
        CHECK_DENY(c, "write /e/.git/hooks/pre-commit", REASON_EXCEPTED);
        CHECK_DENY(c, "write /e/.git/config", REASON_EXCEPTED);
        policy_checked_free(c);
}

static void test_decide__edit_and_write_doors_make_writable(void)
{
        struct checked_policy *c = load("use none\nedit /e\nwrite /w\nread /e/sub\n");
        CHECK_ALLOW(c, "write /e/sub/file");
        CHECK_ALLOW(c, "write /w/x");
        CHECK_STR(ask(c, "write /e/sub/file").door->path, "/e");
        CHECK_STR(ask(c, "read /e/sub/file").door->path, "/e/sub");
        policy_checked_free(c);
}

static void test_decide__every_box_has_a_private_tmp_home_and_dev(void)
{
        struct checked_policy *c = load("use none\nedit {tmp}\nread /tmp/data\nread /var\n");
        size_t n;
        (void) policy_doors(c, &n);
        CHECK_INT(n, 2); /* {tmp} is the box's own: that line opens nothing */
        CHECK_ALLOW(c, "write {tmp}/x");
        CHECK_STR(ask(c, "read /tmp/x").built_in, "the private /tmp");
        CHECK_ALLOW(c, "read /tmp/data/a");
        CHECK_DENY(c, "write /tmp/data/a", REASON_READ_ONLY);
        CHECK_ALLOW(c, "write /var/tmp/a");
        CHECK_ALLOW(c, "write /home/box/.cache");
        CHECK_ALLOW(c, "write /dev/shm/a");
        CHECK_ALLOW(c, "write /dev/null");
        CHECK_ALLOW(c, "read /dev/urandom");
        CHECK_ALLOW(c, "write /dev/urandom");
        CHECK_DENY(c, "read /dev/sda", REASON_NO_DOOR);
        CHECK_DENY(c, "read /dev/null/x", REASON_NO_DOOR);
        CHECK_ALLOW(c, "read /proc/self/status");
        CHECK_DENY(c, "write /proc/self/mem", REASON_READ_ONLY);
        CHECK_DENY(c, "read /proc/1/root", REASON_NO_DOOR);
        CHECK_DENY(c, "read /home/u", REASON_NO_DOOR);
        policy_checked_free(c);
}

/* A home or a working directory where every box has a place of its own: the host's file is asked about. */
static void test_decide__a_home_in_a_private_place_is_the_hosts(void)
{
        static const struct policy_context in_tmp = { .work = "/var/tmp/w",
                                                      .home = "/tmp/u",
                                                      .now = 1790000000 };
        static const struct {
                const char *effect;
                enum answer answer;
        } rows[] = {
                { "read /tmp/u/key", ANSWER_DENY },   { "write /tmp/u", ANSWER_DENY },
                { "read /var/tmp/w/x", ANSWER_DENY }, { "read /tmp/user", ANSWER_ALLOW },
                { "write /var/tmp/x", ANSWER_ALLOW },
        };
        struct err e;
        struct checked_policy *c = load_in("t", span_str("use none\n"), &in_tmp, &e);
        CHECK(c != NULL);
        for (size_t i = 0; c && i < sizeof rows / sizeof *rows; i++) {
                struct effect f;
                CHECK(policy_effect_parse(rows[i].effect, &in_tmp, &f, &e) == 0);
                CHECK_INT(policy_decide(c, &f).answer, rows[i].answer);
                CHECK_INT(policy_decide_ref(c, &f).answer, rows[i].answer);
                policy_effect_done(&f);
        }
        policy_checked_free(c);
}

static void test_names__a_host_is_named_by_a_live_door_and_by_no_address(void)
{
        enum { NOW = 1790000000, CLOSES = 1790035200 };
        struct checked_policy *c =
                load("use none\nnet a.test:80\nnet *.b.test:80\nnet 192.0.2.7:80\n"
                     "net https://c.test/x GET\nnet d.test:80 until 2026-09-22\nnet @p/x GET\n"
                     "net e.test:80 until 2020-01-01\n");
        CHECK(c != NULL);
        CHECK(policy_names_host(c, "a.test", NOW) && policy_names_host(c, "c.test", NOW));
        CHECK(policy_names_host(c, "x.b.test", NOW) && policy_names_host(c, "y.x.b.test", NOW));
        CHECK(!policy_names_host(c, "b.test", NOW) && !policy_names_host(c, ".b.test", NOW));
        CHECK(!policy_names_host(c, "xb.test", NOW) && !policy_names_host(c, "xyb.test", NOW));
        CHECK(!policy_names_host(c, "x.a.test", NOW));
        CHECK(!policy_names_host(c, "192.0.2.7", NOW) && !policy_names_host(c, "p", NOW));
        CHECK(!policy_names_host(c, "e.test", NOW) && policy_names_host(c, "d.test", NOW));
        CHECK(policy_names_host(c, "d.test", CLOSES - 1)); /* it closes while the box runs */
        CHECK(!policy_names_host(c, "d.test", CLOSES) && !policy_names_host(c, "d.test", CLOSES + 1));
        policy_checked_free(c);
}

static void test_decide__a_bare_program_name_is_looked_for_in_the_standard_directories(void)
{
        struct checked_policy *c = load("use none\nrun git /usr/bin/make /opt/tool/ /usr/local/bin/\n");
        CHECK_ALLOW(c, "run git");
        CHECK_ALLOW(c, "run /usr/bin/git");
        CHECK_ALLOW(c, "run /bin/git");
        CHECK_DENY(c, "run /opt/git", REASON_NO_DOOR);
        CHECK_DENY(c, "run /usr/bin/sub/git", REASON_NO_DOOR);
        CHECK_ALLOW(c, "run make");
        CHECK_ALLOW(c, "run /usr/bin/make");
        CHECK_DENY(c, "run /bin/make", REASON_NO_DOOR);
        CHECK_ALLOW(c, "run /opt/tool/bin/x");
        CHECK_DENY(c, "run /opt/tool", REASON_NO_DOOR);
        CHECK_DENY(c, "run /opt/tools", REASON_NO_DOOR);
        CHECK_ALLOW(c, "run whatever"); /* because all of /usr/local/bin may run */
        CHECK_ALLOW(c, "run /usr/local/bin/x");
        policy_checked_free(c);
}

static void test_decide__a_program_that_may_start_can_be_read(void)
{
        struct checked_policy *c =
                load("use none\nread /a except b\nrun git /opt/tool/ /a/b/x\nrun /old until 2020-01-01\n");
        CHECK_ALLOW(c, "read /usr/bin/git");
        CHECK_ALLOW(c, "read /opt/tool/data");
        CHECK_ALLOW(c, "read /a/b/x");
        CHECK_DENY(c, "read /a/b/y", REASON_EXCEPTED);
        CHECK_DENY(c, "read /opt/tools", REASON_NO_DOOR);
        CHECK_DENY(c, "read /old", REASON_EXPIRED);
        CHECK_DENY(c, "write /opt/tool/data", REASON_NO_DOOR);
        policy_checked_free(c);
        c = load("use none\nrun any\n");
        CHECK_DENY(c, "read /etc/shadow", REASON_NO_DOOR);
        policy_checked_free(c);
}

static void test_decide__run_any_runs_also_what_the_box_wrote(void)
{
        struct checked_policy *c =
                load("use none\nread /usr /opt/x\nedit /w/proj except bin\nrun any\nrun /w/proj/tool\n");
        CHECK_ALLOW(c, "run sh");
        CHECK_ALLOW(c, "run /usr/bin/sh");
        CHECK_ALLOW(c, "run /usr/lib/git-core/git-x");
        CHECK_ALLOW(c, "run /opt/x/y");
        CHECK_DENY(c, "run /opt/z", REASON_NO_DOOR);
        CHECK_ALLOW(c, "run /w/proj/built");
        CHECK_ALLOW(c, "run /tmp/built");
        CHECK_ALLOW(c, "run /w/proj/tool");
        CHECK_ALLOW(c, "run /w/proj/bin/x"); /* visible, and an exception keeps it unwritable */
        CHECK_DENY(c, "run \"/usr/sbin/../../etc/*\"", REASON_NO_DOOR);
        policy_checked_free(c);
}

static void test_decide__named_programs_narrow_a_stock_policy(void)
{
        struct checked_policy *c = load("use base/system\nedit /w/proj\nrun ls /w/proj/tool\n");
        CHECK(!policy_runs_any(c) && policy_narrowed(c));
        CHECK_ALLOW(c, "run ls");
        CHECK_ALLOW(c, "run /usr/bin/ls");
        CHECK_ALLOW(c, "run /w/proj/tool");
        CHECK_DENY(c, "run cat", REASON_NO_DOOR);
        CHECK_DENY(c, "run /usr/bin/cat", REASON_NOT_RUN);
        CHECK_DENY(c, "run /w/proj/built", REASON_WRITABLE);
        CHECK_DENY(c, "run /tmp/built", REASON_WRITABLE);
        policy_checked_free(c);
        c = load("use base/system\nrun ls until 2001-01-01\n"); /* a date that passes opens nothing */
        CHECK(!policy_runs_any(c));
        CHECK_DENY(c, "run cat", REASON_NO_DOOR);
        policy_checked_free(c);
        c = load("use base/system\nrun any ls\n");
        CHECK(policy_runs_any(c) && !policy_narrowed(c));
        CHECK_ALLOW(c, "run cat");
        policy_checked_free(c);
        c = load("use base/system base/git\n"); /* a stock policy narrows nothing */
        CHECK(policy_runs_any(c));
        policy_checked_free(c);
}

static void test_decide__the_strict_box_runs_nothing_it_wrote(void)
{
        struct checked_policy *c = load("use base/strict\nedit /w/proj\n");
        CHECK(!policy_runs_any(c) && !policy_narrowed(c));
        CHECK_ALLOW(c, "run cat");
        CHECK_ALLOW(c, "run /usr/lib/git-core/git-x");
        CHECK_DENY(c, "run /w/proj/built", REASON_WRITABLE);
        CHECK_DENY(c, "run /tmp/built", REASON_WRITABLE);
        policy_checked_free(c);
        c = load("use base/strict\nrun ls\n");
        CHECK_ALLOW(c, "run ls");
        CHECK_DENY(c, "run /usr/bin/cat", REASON_NOT_RUN);
        policy_checked_free(c);
}

static void test_decide__a_program_named_star_is_not_every_program(void)
{
        struct checked_policy *c = load("use none\nwrite /usr/bin\nrun \"/usr/bin/*\"\n");
        CHECK_DENY(c, "run /usr/bin/x", REASON_WRITABLE);
        policy_checked_free(c);
}

static void test_decide__a_wildcard_covers_names_below_and_not_the_name(void)
{
        struct checked_policy *c = load("use none\nnet *.example.org:443\nnet example.net:443\n");
        CHECK_ALLOW(c, "net a.example.org:443");
        CHECK_ALLOW(c, "net a.b.EXAMPLE.org.:443");
        CHECK_ALLOW(c, "net GET https://a.example.org/any/path");
        CHECK_DENY(c, "net example.org:443", REASON_HOST);
        CHECK_DENY(c, "net evilexample.org:443", REASON_HOST);
        CHECK_DENY(c, "net a.example.org.evil.net:443", REASON_HOST);
        CHECK_DENY(c, "net a.example.org:80", REASON_PORT);
        CHECK_DENY(c, "net a.example.net:443", REASON_HOST);
        policy_checked_free(c);
}

static void test_decide__a_url_door_needs_scheme_port_path_and_method(void)
{
        struct checked_policy *c =
                load("use none\nnet https://h.example/a/** GET HEAD\nnet https://h.example/one\n");
        CHECK_ALLOW(c, "net GET https://h.example/a/b/c");
        CHECK_ALLOW(c, "net GET https://h.example/a/?q=1");
        CHECK_ALLOW(c, "net DELETE https://h.example/one");
        CHECK_DENY(c, "net POST https://h.example/a/b", REASON_METHOD);
        CHECK_DENY(c, "net GET https://h.example/a", REASON_URL_PATH);
        CHECK_DENY(c, "net GET https://h.example/ab", REASON_URL_PATH);
        CHECK_DENY(c, "net GET https://h.example/one/two", REASON_URL_PATH);
        CHECK_DENY(c, "net GET http://h.example/a/b", REASON_SCHEME);
        CHECK_DENY(c, "net GET https://h.example:8443/a/b", REASON_PORT);
        CHECK_DENY(c, "net GET https://i.example/a/b", REASON_HOST);
        CHECK_DENY(c, "net h.example:443", REASON_URL_PATH); /* a raw connection would carry any request */
        policy_checked_free(c);
}

static void test_decide__an_effect_with_a_hidden_path_does_not_parse(void)
{
        static const char *const bad[] = { "net GET https://h.example/a/../b",
                                           "net GET https://h.example/a/%2e%2e/b",
                                           "net GET https://h.example/a%2fb",
                                           "net GET https://h.example//a",
                                           "net GET https://evil\\@h.example/",
                                           "net https://h.example/",
                                           "net GET h.example:443",
                                           "net FOO https://h.example/",
                                           "net GET https://*.example.org/",
                                           "net GET https://h.example/**",
                                           "net GET https://127.1/",
                                           "edit /a",
                                           "read",
                                           "read /a /b",
                                           "read /a?",
                                           "run any",
                                           "run /usr/",
                                           "env A=B",
                                           "",
                                           "net",
                                           "read /a\n" };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct effect f;
                struct err e = { 0 };
                int r = policy_effect_parse(bad[i], &fixed_context, &f, &e);
                if (r == 0)
                        printf("# parses, but must not: %s\n", bad[i]);
                CHECK_INT(r, -1);
                CHECK(e.what[0] != '\0');
        }
}

static void test_decide__places_are_compared_as_places(void)
{
        struct checked_policy *c = load("use none\nnet @npm/** GET\nnet npm:443\n");
        CHECK_ALLOW(c, "net GET @npm/left-pad");
        CHECK_ALLOW(c, "net GET @npm");
        CHECK_DENY(c, "net PUT @npm/left-pad", REASON_METHOD);
        CHECK_DENY(c, "net GET @other/x", REASON_HOST);
        CHECK_ALLOW(c, "net GET https://npm/x");
        policy_checked_free(c);
}

static void test_decide__variables_and_sockets_are_exact(void)
{
        struct checked_policy *c = load("use none\nenv CI=1 NAME\nsock /run/x.sock\n");
        CHECK_ALLOW(c, "env CI");
        CHECK_ALLOW(c, "env NAME");
        CHECK_ALLOW(c, "env PATH");
        CHECK_DENY(c, "env NAMES", REASON_NO_DOOR);
        CHECK_DENY(c, "env SSH_AUTH_SOCK", REASON_NO_DOOR);
        CHECK_ALLOW(c, "sock /run/x.sock");
        CHECK_DENY(c, "sock /run/x.sock2", REASON_NO_DOOR);
        CHECK_DENY(c, "sock /run", REASON_NO_DOOR);
        CHECK_DENY(c, "read /run/x.sock", REASON_NO_DOOR);
        policy_checked_free(c);
}

static void test_decide__an_expired_door_is_closed_and_named(void)
{
        /* 1790000000 is 2026-09-21T14:13:20Z. */
        struct checked_policy *c =
                load("use none\nread /old until 2026-09-21\nread /new until 2026-09-22\nread /m until "
                     "2026-09-21T14:13Z\n"
                     "read /n until 2026-09-21T14:14Z\nrun any until 2020-01-01\nnet h.example:443 until "
                     "2020-01-01\n"
                     "env A until 2020-01-01\nsock /s until 2020-01-01\nedit /e until 2020-01-01\nread /e\n");
        CHECK_DENY(c, "read /old/x", REASON_EXPIRED);
        CHECK_ALLOW(c, "read /new/x");
        CHECK_DENY(c, "read /m", REASON_EXPIRED);
        CHECK_ALLOW(c, "read /n");
        CHECK_DENY(c, "run sh", REASON_EXPIRED);
        CHECK_DENY(c, "net h.example:443", REASON_EXPIRED);
        CHECK_DENY(c, "env A", REASON_EXPIRED);
        CHECK_DENY(c, "sock /s", REASON_EXPIRED);
        CHECK_DENY(c, "write /e/x", REASON_EXPIRED);
        CHECK_ALLOW(c, "read /e/x");
        CHECK_INT(ask(c, "read /old/x").nearest->at.line, 2);
        policy_checked_free(c);
}

static void test_decide__a_double_line_stays_open_as_long_as_the_longer_one(void)
{
        struct checked_policy *c =
                load("use none\nread /a? until 2020-01-01\nread /a until 2030-01-01\nread /a?\n");
        size_t n;
        const struct door *d = policy_doors(c, &n);
        CHECK_INT(n, 1);
        CHECK_INT(d[0].until, 0);
        CHECK(!d[0].optional);
        policy_checked_free(c);
}

static void test_expect__lines_are_held_at_load(void)
{
        check_refused("use none\nread /a\nexpect deny read /a/b\n",
                      "t:3:1: expect deny failed: read /a/b is allowed", "it is allowed by `read /a` of t");
        check_refused("use none\nexpect allow read /a/b\n",
                      "t:2:1: expect allow failed: read /a/b is denied (no-door)",
                      "the line `read /a/b` would allow it");
        check_refused("use none\nexpect allow write /a/b\n",
                      "t:2:1: expect allow failed: write /a/b is denied (no-door)",
                      "the line `edit /a/b` would allow it");
        check_refused("expect deny reed /a\n", "t:1:13: unknown effect \"reed\"", "did you mean \"read\"?");
        check_refused("expect deny net https://x.example/\n", "t:1:13: the method is missing", NULL);
        check_refused("expect maybe read /a\n", "t:1:8: \"maybe\" is not allow, deny or ask", NULL);
}

static const char *smallest(const char *effect, struct buf *b)
{
        struct effect f;
        struct err e;
        struct decision d = { 0 };
        if (policy_effect_parse(effect, &fixed_context, &f, &e) == 0) {
                policy_smallest_line(&f, &d, b);
                policy_effect_done(&f);
        }
        return buf_str(b);
}

static void test_why__the_smallest_line_permits_the_effect(void)
{
        static const char *const effects[] = { "read /a/b",
                                               "write \"/a b\"",
                                               "run sh",
                                               "run /opt/x",
                                               "net GET https://h.example/a%20b",
                                               "net h.example:25",
                                               "net POST @place/x",
                                               "env FOO",
                                               "sock /run/x" };
        for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
                AUTO_BUF(b);
                AUTO_BUF(text);
                buf_printf(&text, "use none\n%s\nexpect allow %s\n", smallest(effects[i], &b), effects[i]);
                struct checked_policy *c = load(buf_str(&text));
                CHECK(c != NULL);
                policy_checked_free(c);
        }
        AUTO_BUF(b);
        CHECK_STR(smallest("read /", &b), "");
}

static const struct test_case cases[] = {
        CASE(test_decide__an_empty_policy_denies_everything),
        CASE(test_decide__the_working_directory_is_no_door_by_itself),
        CASE(test_decide__a_read_door_covers_its_subtree_and_nothing_beside),
        CASE(test_decide__except_takes_reading_from_read_and_writing_from_edit),
        CASE(test_decide__edit_and_write_doors_make_writable),
        CASE(test_decide__every_box_has_a_private_tmp_home_and_dev),
        CASE(test_decide__a_home_in_a_private_place_is_the_hosts),
        CASE(test_names__a_host_is_named_by_a_live_door_and_by_no_address),
        CASE(test_decide__a_bare_program_name_is_looked_for_in_the_standard_directories),
        CASE(test_decide__a_program_that_may_start_can_be_read),
        CASE(test_decide__named_programs_narrow_a_stock_policy),
        CASE(test_decide__the_strict_box_runs_nothing_it_wrote),
        CASE(test_decide__run_any_runs_also_what_the_box_wrote),
        CASE(test_decide__a_program_named_star_is_not_every_program),
        CASE(test_decide__a_wildcard_covers_names_below_and_not_the_name),
        CASE(test_decide__a_url_door_needs_scheme_port_path_and_method),
        CASE(test_decide__an_effect_with_a_hidden_path_does_not_parse),
        CASE(test_decide__places_are_compared_as_places),
        CASE(test_decide__variables_and_sockets_are_exact),
        CASE(test_decide__an_expired_door_is_closed_and_named),
        CASE(test_decide__a_double_line_stays_open_as_long_as_the_longer_one),
        CASE(test_expect__lines_are_held_at_load),
        CASE(test_why__the_smallest_line_permits_the_effect),
};
TEST_MAIN(cases)
