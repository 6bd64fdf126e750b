/* SPDX-License-Identifier: MIT */
/* Names of variables that look like secrets: one row, one name. */
#include "base/variable.h"
#include "harness.h"

#include <string.h>

static const struct {
        const char *name;
        bool secret;
} rows[] = {
        { "GITHUB_TOKEN", true },
        { "token", true },
        { "AWS_SECRET_ACCESS_KEY", true },
        { "AWS_ACCESS_KEY_ID", true },
        { "openai_api_key", true },
        { "APIKEY", true },
        { "SSHKEY", true },
        { "KEY", true },
        { "MY_KEY", true },
        { "KEY_OF_IT", true },
        { "PRIVATE_KEY", true },
        { "PRIVATE", true },
        { "DB_PASSWORD", true },
        { "PASSWD", true },
        { "GPG_PASSPHRASE", true },
        { "DB_PASS", true },
        { "PGPASS", true },
        { "MYSQL_PWD", true },
        { "GITHUB_PAT", true },
        { "SENTRY_DSN", true },
        { "SESSION_JWT", true },
        { "GOOGLE_APPLICATION_CREDENTIALS", true },
        { "SSH_AUTH_SOCK", true },
        { "NPM_AUTH", true },
        { "AUTHOR_TOKEN", true },
        { "AUTHORIZATION", true },
        { "Http_Proxy_Authorization", true },
        { "AUTHORISATION", true },
        { "KEYBOARD_KEY", true },
        { "DATABASE_URL", true },
        { "KUBECONFIG", true },
        { "NETRC", true },
        { "", false },
        { "PATH", false },
        { "HOME", false },
        { "PWD", false },
        { "OLDPWD", false },
        { "LANG", false },
        { "TERM", false },
        { "COMPASS", false },
        { "PASSED", false },
        { "GIT_AUTHOR_NAME", false },
        { "GIT_AUTHOR_EMAIL", false },
        { "KEYBOARD_LAYOUT", false },
        { "XKB_KEYMAP", false },
        { "MONKEY_PATCH", false },
        { "AUTHAUTHORTOKEN", true },
        { "KAUTHOREY", false }, /* taking a word out makes no new one */
        { "PATTERN", false },
        { "HTTP_PROXY", false },
        { "CC", false },
};

static void test_names__look_like_secrets_or_do_not(void)
{
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (variable_looks_secret(rows[i].name, strlen(rows[i].name)) != rows[i].secret)
                        CHECK_STR(rows[i].name, rows[i].secret ? "a secret" : "no secret");
}

static void test_names__are_asked_about_in_place(void)
{
        CHECK(!variable_looks_secret("HOME=/token", 4));
        CHECK(variable_looks_secret("TOKEN=x", 5));
        CHECK(!variable_looks_secret("TOKEN=x", 0));
}

static void test_names__of_any_length_are_looked_at(void)
{
        char name[4096];
        memset(name, 'A', sizeof name);
        CHECK(!variable_looks_secret(name, sizeof name));
        memcpy(name, "TOKEN", 5);
        CHECK(variable_looks_secret(name, sizeof name));
}

static const struct test_case cases[] = {
        CASE(test_names__look_like_secrets_or_do_not),
        CASE(test_names__are_asked_about_in_place),
        CASE(test_names__of_any_length_are_looked_at),
};
TEST_MAIN(cases)
