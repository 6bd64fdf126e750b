/* SPDX-License-Identifier: MIT */
/* What does not load, and the exact words in which it is said. */
#include "base/limits.h"
#include "test_policy_common.h"

static void test_load__an_unknown_word_names_the_nearest(void)
{
        check_refused("reed /a\n", "t:1:1: unknown word \"reed\"", "did you mean \"read\"?");
        check_refused("box a\n\n  limt time 5s\n", "t:3:3: unknown word \"limt\"", "did you mean \"limit\"?");
        check_refused("read /a\n  /out\n", "t:2:3: unknown word \"/out\"",
                      "lines cannot be continued; start the next line with a word such as `read`");
        check_refused("frobnicate /a\n", "t:1:1: unknown word \"frobnicate\"",
                      "a line starts with a word such as read, edit, write, run, env, net, sock, in or out; "
                      "see man cordon.policy");
        check_refused("limit memroy 5M\n", "t:1:7: unknown limit \"memroy\"", "did you mean \"memory\"?");
        check_refused("wall namespcae\n", "t:1:6: unknown wall \"namespcae\"", "did you mean \"namespace\"?");
        check_refused("use base/pyton3\n", "t:1:5: policy \"base/pyton3\" does not exist",
                      "did you mean \"base/python3\"?");
        check_refused("\"read\" /a\n", "t:1:1: unknown word \"read\"", NULL);
}

static void test_load__later_words_stop_the_load(void)
{
        static const char *const words[] = { "under x", "reach x" };
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
                char want[80], word[16];
                (void) snprintf(word, sizeof word, "%.*s", (int) strcspn(words[i], " "), words[i]);
                (void) snprintf(want, sizeof want, "t:1:1: `%s` is not implemented", word);
                check_refused(words[i], want, "");
                CHECK(policy_is_word(word));
        }
        check_refused("out a as json schema.json\n", "t:1:15: stray \"schema.json\"",
                      "use json(FILE) with a schema file");
}

static void test_load__labels_are_read_whole_or_refused(void)
{
        static const struct {
                const char *line, *what;
        } rows[] = {
                { "label untrusted\n", "t:1:1: `label` must follow a door" },
                { "read /a label\n", "t:1:1: `label` takes labels" },
                { "read /a label secret\n", "t:1:15: `label` takes labels, not secret" },
                { "read /a label private:*\n", "t:1:15: `label` takes labels, not private:*" },
                { "read /a label private:a/b\n", "t:1:15: `label` takes labels, not private:a/b" },
                { "read /a label \"untrusted\"\n", "t:1:15: `label` takes labels, not untrusted" },
                { "read /a label private:a label private:b\n", "t:1:31: duplicate `label`" },
                { "read /a accepts private:a\n", "t:1:9: `read` takes no `accepts`" },
                { "run /bin/sh label private:a\n", "t:1:13: `run` takes no `label`" },
                { "sock /s declassify private:a\n", "t:1:9: `sock` takes no `declassify`" },
                { "net a.test:80 declassify untrusted\n", "t:1:1: `declassify` takes labels" },
                { "net a.test:80 endorse\n", "t:1:15: `net` takes no `endorse`" },
                { "out o endorse 0\n", "t:1:15: \"0\" is not a number of bits" },
                { "rule three\n", "t:1:6: \"three\" is not a rule" },
                { "rule two two\n", "t:1:10: stray \"two\"" },
                { "listen 80 ask labelled\n", "t:1:11: `labelled` is for `net` doors" },
                { "net a.test:80 label private:a\nnet a.test:80\n",
                  "t:2:5: the same door at t:1:5 has other labels" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                check_refused(rows[i].line, rows[i].what, NULL);
}

static void test_load__a_gate_is_read_whole_or_refused(void)
{
        static const struct {
                const char *line, *what;
        } bad[] = {
                { "ask x", "t:1:1: `ask` goes at the end of a door line" },
                { "net a.test:1 ask GET", "t:1:18: stray \"GET\" after `ask`" },
                { "net a.test:1 ask by 0 of ops", "t:1:21: `by` takes a number of persons and a group" },
                { "net a.test:1 ask by 10 of ops", "t:1:21: `by` takes a number of persons and a group" },
                { "net a.test:1 ask by 2 for ops", "t:1:21: `by` takes a number of persons and a group" },
                { "net a.test:1 ask by 1 of o/s", "t:1:26: invalid group name \"o/s\"" },
                { "net a.test:1 ask by 1 of a by 1 of b", "t:1:31: duplicate `by`" },
                { "net a.test:1 ask within 10", "t:1:25: \"10\" is not a time to answer in" },
                { "net a.test:1 ask within 25h", "t:1:25: \"25h\" is not a time to answer in" },
                { "net a.test:1 ask within 500ms", "t:1:25: \"500ms\" is not a time to answer in" },
                { "net a.test:1 ask within 1m within 1m", "t:1:35: duplicate `within`" },
                { "net a.test:1 ask vary host", "t:1:23: \"host\" cannot vary" },
                { "net a.test:1 ask always", "t:1:18: stray \"always\" after `ask`" },
                { "net a.test:1 ask first first", "t:1:24: stray \"first\" after `ask`" },
                { "edit /a ask vary body", "t:1:9: `vary` is for `net` doors" },
                { "read /a /b ask by 2 of ops", "t:1:12: `read` takes no `ask`" },
                { "write /a ask", "t:1:10: `write` takes no `ask`" },
                { "env A ask", "t:1:7: `env` takes no `ask`" },
                { "out a ask", "t:1:7: `out` takes no `ask`" },
                { "listen 80 ask vary path", "t:1:11: `vary` is for `net` doors" },
                { "listen 80 ask first", "t:1:11: `first` is for `net` doors" },
                { "net a.test:1 ask\nnet a.test:1", "t:2:5: the same door at t:1:5 has another `ask`" },
                { "net a.test:1 ask\nexpect allow net a.test:1",
                  "t:2:1: expect allow failed: net a.test:1 is asked about" },
                { "net a.test:1\nexpect ask net a.test:1",
                  "t:2:1: expect ask failed: net a.test:1 is allowed" },
        };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                check_refused(bad[i].line, bad[i].what, NULL);

        static const char line[] =
                "net https://a.test/** POST ask first by 2 of ops within 30s vary body headers path query";
        struct err e;
        AUTO_BUF(shown);
        struct checked_policy *c = load_in("t", span_str(line), &fixed_context, &e);
        CHECK(c != NULL);
        if (!c)
                return;
        policy_show(c, &shown);
        CHECK(strstr(buf_str(&shown), line) != NULL);
        policy_checked_free(c);
}

static void test_load__more_handles_or_doors_than_fit_are_refused(void)
{
        struct err e;
        AUTO_BUF(handles);
        AUTO_BUF(doors);
        for (unsigned i = 0; i < HANDLES_MAX; i++)
                buf_printf(&handles, "%s h%u\n", i % 2 ? "in" : "out", i);
        struct checked_policy *c = load_in("t", buf_span(&handles), &fixed_context, &e);
        CHECK(c != NULL);
        policy_checked_free(c);
        buf_puts(&handles, "in one-more\n");
        CHECK(!load_in("t", buf_span(&handles), &fixed_context, &e));
        CHECK(strstr(e.what, "more than 32 handles") != NULL);
        buf_puts(&doors, "use none\n");
        for (unsigned i = 0; i <= POLICY_MAX_DOORS; i++)
                buf_printf(&doors, "read /d%u\n", i);
        CHECK(!load_in("t", buf_span(&doors), &fixed_context, &e));
        CHECK(strstr(e.what, "more than 4096 doors") != NULL);
}

static void test_load__a_singleton_stated_twice_is_refused(void)
{
        check_refused("box a\nbox b\n", "t:2:1: duplicate `box`; first on line 1", NULL);
        check_refused("doc a\ndoc a\n", "t:2:1: duplicate `doc`; first on line 1", NULL);
        check_refused("wall vm\nwall vm\n", "t:2:1: duplicate `wall`; first on line 1", NULL);
        check_refused("in doc max 1M max 2M\n", "t:1:19: duplicate `max`", NULL);
        check_refused("limit time 5s time 5s\n", "t:1:15: duplicate `limit time`", NULL);
        check_refused("limit time 5s\nlimit time 6s\n", "t:2:7: duplicate `limit time`", NULL);
        check_refused("env A=1\nenv A=2\n", "t:2:5: `env A` contradicts the one at t:1:5", NULL);
        check_refused("in a max 1K\nin a max 2K\n", "t:2:4: `in a` contradicts the one at t:1:4", NULL);
}

static void test_load__stray_and_missing_tokens_are_refused(void)
{
        check_refused("box a b\n", "t:1:7: stray \"b\"", NULL);
        check_refused("doc Two words\n", "t:1:9: stray \"words\"", "put the sentence in double quotes");
        check_refused("box\n", "t:1:1: the box's name is missing", NULL);
        check_refused("read\n", "t:1:1: the path is missing", NULL);
        check_refused("read except a\n", "t:1:1: the path is missing", NULL);
        check_refused("read /a except\n", "t:1:1: what to except is missing", NULL);
        check_refused("use base/git\nuse\n", "t:2:1: the policy's name is missing", NULL);
        check_refused("run\n", "t:1:1: the program is missing", NULL);
        check_refused("env\n", "t:1:1: the variable is missing", NULL);
        check_refused("net\n", "t:1:1: the destination is missing", NULL);
        check_refused("limit\n", "t:1:1: the limit is missing", NULL);
        check_refused("limit time\n", "t:1:1: the limit's value is missing", NULL);
        check_refused("expect deny\n", "t:1:8: the effect is missing", NULL);
        check_refused("limit time 5s until 2030-01-01\n", "t:1:15: unknown limit \"until\"", NULL);
}

static void test_load__bytes_that_a_person_cannot_see_are_refused(void)
{
        struct err e;
        check_refused("read /a\r\n", "t:1:8: control or invisible character (\\x0d)",
                      "save the file with Unix line ends");
        check_refused("# \xe2\x80\xae\n", "t:1:3: control or invisible character (\\u{202e})", NULL);
        check_refused("\xef\xbb\xbf"
                      "box a\n",
                      "t:1:1: control or invisible character (\\u{feff})", NULL);
        check_refused("read /\xc3\xa9\xff\n", "t:1:8: not UTF-8", NULL);
        check_refused("read /\x1b[1m\n", "t:1:7: control or invisible character (\\x1b)", NULL);
        /* An emoji is a sign and a selector; what may be hidden in more of them is not. */
        struct checked_policy *c =
                load("# \xe2\x9a\xa0\xef\xb8\x8f\nuse none\nread /\xe2\x9d\xa4\xef\xb8\x8f\n");
        CHECK(c != NULL);
        policy_checked_free(c);
        check_refused("# \xe2\x9a\xa0\xef\xb8\x8f\xef\xb8\x8f\n",
                      "t:1:5: control or invisible character (\\u{fe0f})", NULL);
        check_refused("# a\xef\xb8\x8f\n", "t:1:4: control or invisible character (\\u{fe0f})", NULL);
        /* A key of a telephone has its selector before its cap, and nowhere else. */
        c = load("# 1\xef\xb8\x8f\xe2\x83\xa3 and #\xef\xb8\x8f\xe2\x83\xa3\nuse none\n");
        CHECK(c != NULL);
        policy_checked_free(c);
        check_refused("# 1\xef\xb8\x8f\n", "t:1:4: control or invisible character (\\u{fe0f})", NULL);
        check_refused("# a\xef\xb8\x8f\xe2\x83\xa3\n", "t:1:4: control or invisible character (\\u{fe0f})",
                      NULL);
        check_refused("# 1\xef\xb8\x8f\xef\xb8\x8f\xe2\x83\xa3\n",
                      "t:1:4: control or invisible character (\\u{fe0f})", NULL);
        CHECK(!load_in("t", span_of("box a\nread /a\0b\n", 15), &fixed_context, &e));
        CHECK_STR(e.what, "t:2:8: a NUL cannot stand in a policy");
}

static void test_load__quotes_hold_spaces_and_nothing_else_is_special(void)
{
        struct checked_policy *c = load("use none\nread \"/a b\" \"/q\\\"\\\\z\"? # comment\nread /x#y\n");
        CHECK(c != NULL);
        CHECK_ALLOW(c, "read \"/a b\"");
        CHECK_ALLOW(c, "read \"/q\\\"\\\\z\"");
        CHECK_ALLOW(c, "read /x#y");
        policy_checked_free(c);
        check_refused("read \"/a\n", "t:1:6: unterminated quote", NULL);
        check_refused("read \"/a\\n\"\n", "t:1:10: a backslash in quotes stands only before \" or \\", NULL);
        check_refused("read /a\"b\"\n", "t:1:8: a quote can only begin a token", NULL);
        check_refused("read \"/a\"b\n", "t:1:10: a space must follow a closing quote", NULL);
}

static void test_load__paths_are_literal_absolute_and_never_everything(void)
{
        check_refused("read /\n", "t:1:6: `read /` would open everything and is refused", NULL);
        check_refused("write /a/..\n", "t:1:7: `write /` would open everything and is refused", NULL);
        check_refused("read /../a\n", "t:1:6: \"/../a\" goes above /", NULL);
        check_refused("read /a/*.txt\n", "t:1:6: \"/a/*.txt\" looks like a pattern; paths are literal", NULL);
        check_refused("read {wrok}/a\n", "t:1:6: unknown placeholder in \"{wrok}/a\"",
                      "did you mean \"{work}\"?");
        check_refused("read ~root/a\n", "t:1:6: \"~root/a\": ~ is allowed only alone or before /", NULL);
        check_refused("read \"\"\n", "t:1:6: empty path", NULL);
        check_refused("read /a except /b\n", "t:1:6: the exception /b is not below /a", NULL);
        check_refused("read /a except ../b\n", "t:1:6: the exception /b is not below /a", NULL);
        check_refused("write /a except b\n", "t:1:10: `write` takes no `except`", NULL);
        check_refused("run .\n", "t:1:5: \".\" is not a program", NULL);
        check_refused("run /\n", "t:1:5: `run /` is not allowed", "use `run any`");
        check_refused("run \"any\"\n", "t:1:5: a program of this name must be given by its whole path", NULL);
}

static void test_load__limits_are_finite_and_have_units(void)
{
        check_refused("limit time 0s\n", "t:1:12: `limit time` cannot be zero", NULL);
        check_refused("limit time 5\n", "t:1:12: invalid value \"5\" for `limit time`", "use 5s for seconds");
        check_refused("limit memory 5X\n", "t:1:14: invalid value \"5X\" for `limit memory`",
                      "use 64K, 256M or 2G");
        check_refused("limit memory 512\n", "t:1:14: `limit memory 512` is too small to start anything",
                      "use 512M for megabytes");
        check_refused("limit procs 5K\n", "t:1:13: invalid value \"5K\" for `limit procs`",
                      "use a whole number");
        check_refused("limit rate 5/m\n", "t:1:12: invalid value \"5/m\" for `limit rate`", "use 2000/h");
        check_refused("limit rate /h\n", "t:1:12: invalid value \"/h\" for `limit rate`", "use 2000/h");
        check_refused("limit effects 5/h\n", "t:1:15: invalid value \"5/h\" for `limit effects`",
                      "use a whole number");
        check_refused("limit ingress 0\n", "t:1:15: `limit ingress` cannot be zero", NULL);
        check_refused("limit time 99999d\n", "t:1:12: `limit time` can be at most 3650d", NULL);
        struct checked_policy *c = load("box a\n");
        static const uint64_t want[] = { 3600000,   3600000, UINT64_C(2) << 30,  256,    1024,   1 << 30,
                                         256 << 20, 1 << 30, UINT64_C(16) << 30, 100000, 100000, 0 };
        for (int k = 0; c && k < LIMIT_KEY__COUNT; k++) {
                CHECK_INT(policy_limits(c)->value[k], want[k]);
                CHECK(!policy_limits(c)->stated[k]);
        }
        policy_checked_free(c);
}

static void test_load__dates_are_real_days(void)
{
        check_refused("read /a until\n", "t:1:9: `until DATE` must end the line", NULL);
        check_refused("read /a until 2026-02-29\n", "t:1:15: \"2026-02-29\" is not a date",
                      "use 2026-12-31 or 2026-12-31T12:00Z");
        check_refused("read /a until 2026-13-01\n", "t:1:15: \"2026-13-01\" is not a date", NULL);
        check_refused("read /a until 2026-12-31T24:00Z\n", "t:1:15: \"2026-12-31T24:00Z\" is not a date",
                      NULL);
        check_refused("read /a until 2026-12-31x\n", "t:1:15: \"2026-12-31x\" is not a date", NULL);
        check_refused("read /a until tomorrow\n", "t:1:15: \"tomorrow\" is not a date", NULL);
        check_refused("read /a until 2026-12-31 /b\n", "t:1:9: `until DATE` must end the line", NULL);
        struct checked_policy *c = load("read /a until 2028-02-29\nread /b until 2026-12-31T23:59Z\n");
        CHECK(c != NULL);
        policy_checked_free(c);
}

static void test_load__too_much_is_refused(void)
{
        struct err e;
        char *big = malloc(2 << 20);
        memset(big, 'a', 2 << 20);
        CHECK(!load_in("t", span_of(big, 2 << 20), &fixed_context, &e));
        CHECK_STR(e.what, "t:1:1: more than 1048576 bytes");
        CHECK(!load_in("t", span_of(big, 9000), &fixed_context, &e));
        CHECK_STR(e.what, "t:1:1: this line is longer than 8192 bytes");
        memset(big, '\n', 2 << 20);
        memcpy(big + 9000, "box", 3);
        CHECK(!load_in("t", span_of(big, 10000), &fixed_context, &e));
        CHECK_STR(e.what, "t:8193:1: more than 8192 lines");
        free(big);
}

static void test_load__nothing_is_added_when_a_text_fails(void)
{
        struct err e;
        struct policy *p = policy_new();
        CHECK_INT(policy_add_text(p, "bad",
                                  span_str("use none\nread /secret\nbox z\nlimit time 1s\nnonsense\n"), &e),
                  -1);
        CHECK_INT(policy_add_text(p, "bad2", span_str("use none\nread /secret2\nwall vmm\n"), &e), -1);
        CHECK_INT(policy_add_text(p, "good", span_str("use none\nread /a\n"), &e), 0);
        struct checked_policy *c = policy_check(p, &fixed_context, &e);
        CHECK(c != NULL);
        size_t n;
        (void) policy_doors(c, &n);
        CHECK_INT(n, 1);
        CHECK_STR(policy_box(c), "box");
        CHECK_INT(policy_limits(c)->value[LIMIT_TIME], 3600000);
        policy_checked_free(c);
        policy_free(p);
}

static int flag(struct policy *p, const char *word, const char *arg)
{
        struct err e;
        int r = policy_add_flag(p, word, arg, &e);
        if (r < 0)
                printf("# --%s '%s': %s\n", word, arg, e.what);
        return r;
}

static void test_flags__are_the_same_words(void)
{
        struct err e;
        struct policy *p = policy_new();
        CHECK_INT(policy_add_text(p, "f", span_str("use none\nlimit time 5s memory 1G\nbox f\n"), &e), 0);
        CHECK_INT(flag(p, "read", "./a b #c until d*"), 0);
        CHECK_INT(flag(p, "read", "/maybe?"), 0);
        CHECK_INT(flag(p, "run", "any"), 0);
        CHECK_INT(flag(p, "env", "A=b c?"), 0);
        CHECK_INT(flag(p, "net", "https://h.example/x/** GET with k until 2030-01-01"), 0);
        CHECK_INT(flag(p, "limit", "time 7s"), 0);
        CHECK_INT(flag(p, "box", "flagged"), 0);
        struct checked_policy *c = policy_check(p, &fixed_context, &e);
        CHECK(c != NULL);
        AUTO_BUF(b);
        policy_show(c, &b);
        CHECK(strstr(buf_str(&b), "read \"/w/proj/a b #c until d*\"\n") != NULL);
        CHECK(strstr(buf_str(&b), "read /maybe?\n") != NULL);
        CHECK(strstr(buf_str(&b), "run any\n") != NULL);
        CHECK(strstr(buf_str(&b), "env \"A=b c?\"\n") != NULL);
        CHECK(strstr(buf_str(&b), "net https://h.example/x/** GET with k until 2030-01-01T00:00Z\n") != NULL);
        CHECK(strstr(buf_str(&b), "limit time 7s\n") != NULL);
        CHECK_STR(policy_box(c), "flagged");
        policy_checked_free(c);
        CHECK_INT(policy_add_flag(p, "reed", "/a", &e), -1);
        CHECK_STR(e.what, "--reed: unknown word \"reed\"");
        CHECK_STR(e.hint, "did you mean \"read\"?");
        CHECK_INT(policy_add_flag(p, "limit", "time 8s", &e), -1);
        CHECK_STR(e.what, "--limit: duplicate `limit time`");
        CHECK_INT(policy_add_flag(p, "box", "other", &e), -1);
        CHECK_STR(e.what, "--box: duplicate `box`; first at --box");
        CHECK_INT(policy_add_flag(p, "read", "/a\nread /b", &e), -1);
        policy_free(p);
}

static void test_flags__do_not_weaken_a_stated_wall(void)
{
        struct err e;
        struct policy *p = policy_new();
        CHECK_INT(policy_add_text(p, "f", span_str("wall vm\n"), &e), 0);
        CHECK_INT(policy_add_flag(p, "wall", "process", &e), -1);
        CHECK_STR(e.what, "--wall: duplicate `wall`, not the same as at f:1:1");
        CHECK_INT(policy_add_flag(p, "wall", "vm", &e), 0);
        CHECK_INT(policy_add_flag(p, "wall", "process", &e), -1);
        CHECK_STR(e.what, "--wall: duplicate `wall`, not the same as at --wall"); /* an option has no line */
        policy_free(p);
}

static void test_words__every_row_is_whole(void)
{
        size_t n;
        const struct policy_word_help *w = policy_words(&n);
        CHECK_INT(n, 27);
        for (size_t i = 0; i < n; i++)
                CHECK(w[i].word && w[i].synopsis && w[i].help && policy_is_word(policy_word_flag(w[i].word)));
        CHECK(!policy_is_word("reed"));
}

static const struct test_case cases[] = {
        CASE(test_load__an_unknown_word_names_the_nearest),
        CASE(test_load__later_words_stop_the_load),
        CASE(test_load__labels_are_read_whole_or_refused),
        CASE(test_load__a_gate_is_read_whole_or_refused),
        CASE(test_load__more_handles_or_doors_than_fit_are_refused),
        CASE(test_load__a_singleton_stated_twice_is_refused),
        CASE(test_load__stray_and_missing_tokens_are_refused),
        CASE(test_load__bytes_that_a_person_cannot_see_are_refused),
        CASE(test_load__quotes_hold_spaces_and_nothing_else_is_special),
        CASE(test_load__paths_are_literal_absolute_and_never_everything),
        CASE(test_load__limits_are_finite_and_have_units),
        CASE(test_load__dates_are_real_days),
        CASE(test_load__too_much_is_refused),
        CASE(test_load__nothing_is_added_when_a_text_fails),
        CASE(test_flags__are_the_same_words),
        CASE(test_flags__do_not_weaken_a_stated_wall),
        CASE(test_words__every_row_is_whole),
};
TEST_MAIN(cases)
