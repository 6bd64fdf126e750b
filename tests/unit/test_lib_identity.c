/* SPDX-License-Identifier: MIT */
/* tests/unit/test_lib_identity.c - name and mail of a ~/.gitconfig, as git reads them, and nothing else. */
#include "../context.h"
#include "harness.h"
#include "run/api/internal.h"

#include <stdlib.h>
#include <string.h>

static const struct {
        const char *text, *name, *mail;
} rows[] = {
        { "[user]\n\tname = A B\n\temail = a@b.c\n", "A B", "a@b.c" },
        { "\n[USER]\nName=A B   # who\nEMAIL = \"a@b.c\" ; x", "A B", "a@b.c" },
        { "[user] name = one\n[user]\nname = two\n", "two", "" },
        { "[user]\nname = \"A \\\"B\\\" C \"\nemail=\n", "A \"B\" C ", "" },
        { "[user \"x\"]\nname = no\n[users]\nname = no\n[credential]\nemail = no\nname = no\n", "", "" },
        { "[user]\nnames = no\nname\nemail = \"open\n", "", "" },
        { "[user]\nname = a\\nb\nemail = \x01\n", "", "" },
        { "[user]\nsigningKey = KEY\ntoken = T\n[include]\npath = /x\n", "", "" },
        { "", "", "" },
        { "\n\n", "", "" },
        { "[user]\r\nname = A\r\nemail = b@c\r\n", "A", "b@c" },
};

static void test_identity__is_what_git_reads(void)
{
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct api_identity u = { 0 };
                api_identity_read(rows[i].text, &u);
                CHECK_STR(u.name, rows[i].name);
                CHECK_STR(u.mail, rows[i].mail);
        }
}

static void test_identity__a_value_that_is_too_long_is_none(void)
{
        char text[2 * IDENTITY_MAX] = "[user]\nname = ";
        size_t n = strlen(text);
        memset(text + n, 'a', IDENTITY_MAX);
        struct api_identity u = { 0 };
        api_identity_read(text, &u);
        CHECK_STR(u.name, "");
        text[n + IDENTITY_MAX - 1] = '\0';
        api_identity_read(text, &u);
        CHECK_INT(strlen(u.name), IDENTITY_MAX - 1);
}

static void test_identity__no_path_breaks_out_of_its_quotes(void)
{
        static const char *const repositories[] = { "/a\"b\\c", "/x\n[core]\n\tpager = evil", NULL };
        char *text = api_identity(test_context(), "/nonexistent", repositories);
        CHECK_STR(text, "[safe]\n\tdirectory = \"/a\\\"b\\\\c\"\n");
        free(text);
}

static const struct test_case cases[] = {
        CASE(test_identity__is_what_git_reads),
        CASE(test_identity__a_value_that_is_too_long_is_none),
        CASE(test_identity__no_path_breaks_out_of_its_quotes),
};
TEST_MAIN(cases)
