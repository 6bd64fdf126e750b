/* SPDX-License-Identifier: MIT */
/* Text, canonical text, JSON and canonical JSON are four forms of one policy. */
#include "test_policy_common.h"

static const char *const policies[] = {
        "use none\n",
        "box b\n",
        "use base/python3 base/git\nedit {work} except .git/hooks\n",
        "use none\nread /a /b? \"/c d\"? \"/e?\" \"/f*\"\nread /g except x y/z x/w until 2030-01-01\nedit "
        "\"/h i\" except \"j k\"\nwrite /l\n",
        "use none\nrun any\nrun git /usr/bin/make /opt/x/ \"with space\" until 2031-02-03T04:05Z\n",
        "use none\nenv A B= C=d \"E=f g\" H=#i J=\"k\n",
        "use none\nenv A B= C=d \"E=f g\" H=#i K={work}/x:{home}/y:{tmp}\n",
        "use none\nnet h.example:443\nnet *.h.example:443 cap 5M\nnet https://h.example/a/** GET POST with "
        "key cap 600M cap 5M/out cap 1G/in cap 2000/h\nnet @p/**\n"
        "net [2001:db8::1]:80\nnet http://1.2.3.4:8080/x%20y PUT\n",
        "use none\nsock /run/a.sock \"/run/b c\"?\nin a max 1K as text\nin b as json\nout a as image\nout c "
        "max 3G as binary\n",
        "doc \"say \\\"hi\\\" \\\\ #no\"\nlimit time 90s cpu 1500ms memory 100M procs 3 files 9 disk 1T "
        "output 5 egress 1K ingress 2K effects 7 rate 5/h\n"
        "wall namespace without landlock cgroup\nexpect deny read {home}\nexpect deny net GET "
        "https://x.example/a?b=c\nexpect deny run \"any\"\n",
        "{\"box\":\"x\",\"doc\":\"d\",\"use\":[\"base/python3\"],\"doors\":[{\"read\":\"/a\",\"except\":[\"/"
        "a/b\"],\"optional\":true,\"until\":\"2026-12-31\"},"
        "{\"net\":\"https://h.example/p/"
        "**\",\"methods\":[\"GET\"],\"with\":\"c\",\"cap\":\"600M\"},{\"run\":\"any\",\"until\":\"2026-12-"
        "31\"},{\"env\":\"A=B\"},"
        "{\"in\":\"pic\",\"max\":\"40M\",\"as\":\"image\"}],\"limit\":{\"time\":\"5s\",\"procs\":7},\"wall\":"
        "\"namespace\",\"without\":[\"landlock\"],"
        "\"expect\":[\"deny read /x\"]}",
        "  \n{\"doors\":[{\"read\":\"except\"},{\"run\":\"until\"},{\"read\":\"a*b?\"},{\"read\":\"\\u00e9 "
        "\\\"x\\\\\"},{\"env\":\"A=any\"}]}",
        "{\"use\":[],\"doors\":[{\"net\":\"@p/**\",\"cap\":[\"1M\",\"9/h\"]}]}",
        "{}",
        "use none\nlisten 8080:80 until 2031-02-03\nlisten 9090\n",
};

/* Text -> checked -> a second form -> checked: the same digest. */
static void check_same(const struct checked_policy *c, const struct buf *form, const char *source)
{
        struct err e;
        struct checked_policy *again = load_in("again", buf_span(form), &fixed_context, &e);
        if (!again || strcmp(policy_digest(c), policy_digest(again)) != 0)
                printf("# of %s\n# became %s\n# %s\n", source, buf_str(form),
                       again ? "another digest" : e.what);
        CHECK(again && strcmp(policy_digest(c), policy_digest(again)) == 0);
        policy_checked_free(again);
}

static void test_forms__all_of_them_give_the_same_digest(void)
{
        size_t loaded = 0;
        for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
                struct err e;
                struct checked_policy *c = load_in("t", span_str(policies[i]), &fixed_context, &e);
                if (!c && i != 5) /* one has an unclosed quote */
                        printf("# %s: %s\n", policies[i], e.what);
                CHECK_INT(c != NULL, i != 5);
                if (!c)
                        continue;
                AUTO_BUF(show);
                AUTO_BUF(json);
                AUTO_BUF(canonical);
                policy_show(c, &show);
                policy_json(c, &json);
                policy_canonical_json(c, &canonical);
                check_same(c, &show, policies[i]);
                check_same(c, &json, policies[i]);
                check_same(c, &canonical, policies[i]);
                CHECK(!strchr(buf_str(&canonical), '\n'));
                loaded++;
                policy_checked_free(c);
        }
        CHECK_INT(loaded, sizeof policies / sizeof *policies - 1);
}

static void test_forms__order_spelling_and_comments_do_not_change_the_digest(void)
{
        struct checked_policy *a = load("use none\nread /b /a\nnet H.example.:443\nnet "
                                        "https://x.example:443/** POST GET\nlimit time 60s\n");
        struct checked_policy *b =
                load("# c\nlimit time 1m # one minute\nnet https://x.example/** GET POST\nnet "
                     "h.example:443\nread /a/./\nread \"/b\"\nread /a\nuse none\n");
        CHECK_STR(policy_digest(a), policy_digest(b));
        struct checked_policy *c = load("use none\nread /a /b\nnet h.example:443\nnet https://x.example/** "
                                        "GET POST\nlimit time 61s\n");
        CHECK(strcmp(policy_digest(a), policy_digest(c)) != 0);
        CHECK_INT(strlen(policy_digest(a)), 64);
        policy_checked_free(a);
        policy_checked_free(b);
        policy_checked_free(c);
}

/* A digest that changes by itself breaks every record that names it. Change this value only with NEWS.md. */
static void test_forms__the_canonical_json_is_pinned(void)
{
        struct checked_policy *c = load("box pin\nuse none\nread /a? except b\nnet https://h.example/** GET "
                                        "with k cap 1M\nenv A=1\nin x\n");
        AUTO_BUF(b);
        policy_canonical_json(c, &b);
        CHECK_STR(buf_str(&b),
                  "{\"box\":\"pin\",\"doc\":\"\",\"doors\":[{\"except\":[\"/a/"
                  "b\"],\"optional\":true,\"read\":\"/a\"},{\"env\":\"A=1\"},"
                  "{\"cap\":\"1M\",\"methods\":[\"GET\"],\"net\":\"https://h.example/**\",\"with\":\"k\"},"
                  "{\"as\":\"binary\",\"in\":\"x\",\"max\":\"64M\"}],\"limit\":{\"cpu\":\"1h\",\"disk\":"
                  "\"1G\",\"effects\":\"100000\",\"egress\":\"1G\","
                  "\"files\":\"1024\",\"ingress\":\"16G\",\"memory\":\"2G\",\"output\":\"256M\",\"procs\":"
                  "\"256\",\"rate\":\"100000/h\",\"time\":"
                  "\"1h\"},\"use\":[],\"wall\":\"auto\",\"without\":[]}");
        policy_checked_free(c);
}

static void test_json__unknown_and_misplaced_keys_are_errors_with_their_place(void)
{
        check_refused("{\"bxo\":\"a\"}", "t:1:8: unknown key \"bxo\"", "did you mean \"box\"?");
        check_refused("{\n \"doors\": [{\"read\":\"/a\",\n \"excpet\":[\"b\"]}]}",
                      "t:3:11: unknown key \"excpet\"", "did you mean \"except\"?");
        check_refused("{\"doors\":[{\"env\":\"A\",\"except\":[\"b\"]}]}", "t:1:31: unknown key \"except\"",
                      NULL);
        check_refused("{\"doors\":[{\"read\":\"/a\",\"write\":\"/b\"}]}", "t:1:32: one object opens one door",
                      NULL);
        check_refused("{\"doors\":[{}]}",
                      "t:1:11: a door is an object with one of the words read edit write run env net sock "
                      "sign decrypt dev gpu listen tool in out",
                      NULL);
        check_refused("{\"doors\":[{\"until\":\"2026-01-01\",\"raed\":\"/a\"}]}",
                      "t:1:11: a door is an object with one of the words read edit write run env net sock "
                      "sign decrypt dev gpu listen tool in out",
                      "did you mean \"read\"?");
        check_refused("{\"doors\":[{\"read\":[\"/a\"]}]}", "t:1:19: a string must stand here", NULL);
        check_refused("{\"doors\":{}}", "t:1:10: a list of doors must stand here", NULL);
        check_refused("{\"box\":\"a\",\"box\":\"b\"}", "t:1:12: the key \"box\" stands here twice", NULL);
        check_refused("{\"limit\":{\"time\":5}}", "t:1:18: invalid value \"5\" for `limit time`", NULL);
        check_refused("{\"limit\":{\"tme\":\"5s\"}}", "t:1:17: unknown limit \"tme\"",
                      "did you mean \"time\"?");
        check_refused("{\"without\":[\"landlock\"]}", "t:1:12: \"without\" needs \"wall\"", NULL);
        check_refused("{\"doors\":[{\"net\":\"https://h.example/**\",\"methods\":[]}]}",
                      "t:1:51: an empty list is no restriction: leave it away", NULL);
        check_refused("{\"doors\":[{\"net\":\"https://h.example/**\",\"methods\":[\"with\",\"x\"]}]}",
                      "t:1:52: \"with\" is neither a method nor `with`, `cap`, `reach`, `touches`, `where`, "
                      "`as`, `label`, `accepts`, `declassify`, `ask` or `until`",
                      NULL);
        check_refused("{\"doors\":[{\"read\":\"/a\\u0000b\"}]}", "t:1:28: a NUL cannot stand in a string",
                      NULL);
        check_refused("{\"doors\":[{\"read\":\"/a\\nb\"}]}", "t:1:21: control or invisible character (\\x0a)",
                      NULL);
        check_refused("{\"ask\":\"x\"}", "t:1:8: unknown key \"ask\"", NULL);
        check_refused("{} x", "t:1:4: something is left over after the value", NULL);
        check_refused("{\"expect\":[\"deny reed /a\"]}", "t:1:17: unknown effect \"reed\"", NULL);
}

static const struct test_case cases[] = {
        CASE(test_forms__all_of_them_give_the_same_digest),
        CASE(test_forms__order_spelling_and_comments_do_not_change_the_digest),
        CASE(test_forms__the_canonical_json_is_pinned),
        CASE(test_json__unknown_and_misplaced_keys_are_errors_with_their_place),
};
TEST_MAIN(cases)
