/* SPDX-License-Identifier: MIT */
/* Host names, addresses and URL paths: one canonical form, or refusal. tests/table/policy-host.tbl holds the
 * rows: ok<TAB>written<TAB>canonical, or no<TAB>written. \xNN stands for a byte. */
#include "test_policy_common.h"

static void unescape(char *s)
{
        char *out = s;
        for (; *s; s++) {
                unsigned v;
                if (s[0] == '\\' && s[1] == 'x' && sscanf(s + 2, "%2x", &v) == 1) {
                        *out++ = (char) v;
                        s += 3;
                } else {
                        *out++ = *s;
                }
        }
        *out = '\0';
}

static void check_row(char *row, size_t *rows)
{
        char *kind = strsep(&row, "\t"), *written = strsep(&row, "\t"), *want = row;
        char line[2048];
        struct err e;
        if (!written)
                return;
        unescape(written);
        (void) snprintf(line, sizeof line, "use none\nnet %s\n", written);
        struct checked_policy *c = load_in("t", span_str(line), &fixed_context, &e);
        bool ok = strcmp(kind, "ok") == 0;
        if (ok != (c != NULL))
                printf("# %s: %s\n", written, c ? "loads, but must not" : e.what);
        CHECK_INT(c != NULL, ok);
        if (c && ok) {
                AUTO_BUF(b);
                char line_want[2048];
                policy_show(c, &b);
                (void) snprintf(line_want, sizeof line_want, "\nnet %s\n", want ? want : written);
                if (!strstr(buf_str(&b), line_want))
                        printf("# %s is not shown as %s: %s\n", written, want ? want : written, buf_str(&b));
                CHECK(strstr(buf_str(&b), line_want) != NULL);
        }
        policy_checked_free(c);
        (*rows)++;
}

static void test_host__every_row_of_the_table_holds(void)
{
        char path[2048];
        size_t n, rows = 0;
        char *text = read_file(test_data("table/policy-host.tbl", path, sizeof path), &n);
        CHECK(text != NULL);
        for (char *at = text, *row; at && (row = strsep(&at, "\n"));)
                if (*row && *row != '#')
                        check_row(row, &rows);
        CHECK(rows >= 100);
        free(text);
}

static void test_host__no_control_byte_passes_in_a_host(void)
{
        for (int b = 1; b < 256; b++) {
                bool fine = (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') ||
                            b == '-' || b == '_' || b == '.';
                if (fine || b == '\n' || b == ' ' || b == '\t' || b == '"') /* these end or begin a token */
                        continue;
                char text[64];
                struct err e;
                (void) snprintf(text, sizeof text, "use none\nnet evil%cx.example.org:443\n", b);
                struct checked_policy *c = load_in("t", span_str(text), &fixed_context, &e);
                if (c)
                        printf("# byte %02x passes\n", (unsigned) b);
                CHECK(!c);
                policy_checked_free(c);
        }
        struct err e;
        CHECK(!load_in("t", span_of("net evil.com\0.example.org:443\n", 30), &fixed_context, &e));
}

static void test_net__a_hint_says_what_to_write(void)
{
        check_refused("net b\xc3\xbc"
                      "cher.example:443\n",
                      "t:1:5: \"b\xc3\xbc"
                      "cher.example:443\": the host is not plain ASCII",
                      "use its xn-- form");
        check_refused("net *.co.uk:443\n", "t:1:5: \"*.co.uk:443\": wildcard covers a public suffix", NULL);
        check_refused("net *.com:443\n", "t:1:5: \"*.com:443\": wildcard covers a top-level domain",
                      "use at least two labels after *.");
        check_refused("net example.org\n", "t:1:5: \"example.org\": the port is missing",
                      "use host:443, or https://host/** for requests");
        check_refused("net https://h.example\n", "t:1:5: \"https://h.example\": the path is missing",
                      "end it in / for one page, in /** for all below");
        check_refused("net h.example:443 GET\n", "t:1:19: a method cannot be seen in a raw connection",
                      "use https://host/** instead of host:port");
        check_refused("net https://h.example/** GTE\n",
                      "t:1:26: \"GTE\" is neither a method nor `with`, `cap`, `reach`, `touches`, `where`, "
                      "`as`, `label`, `accepts`, `declassify`, `ask` or `until`",
                      "did you mean \"GET\"?");
        check_refused("net https://h.example/** CONNECT\n",
                      "t:1:26: \"CONNECT\" is neither a method nor `with`, `cap`, `reach`, `touches`, "
                      "`where`, `as`, `label`, `accepts`, `declassify`, `ask` or `until`",
                      NULL);
        check_refused("net https://h.example/** get\n",
                      "t:1:26: \"get\" is neither a method nor `with`, `cap`, `reach`, `touches`, `where`, "
                      "`as`, `label`, `accepts`, `declassify`, `ask` or `until`",
                      "did you mean \"GET\"?");
        check_refused("net GET https://h.example/**\n",
                      "t:1:5: \"GET\": the destination must come before its methods",
                      "use https://host/** GET");
        check_refused("net https://h.example/** GET GET\n", "t:1:30: duplicate \"GET\"", NULL);
        check_refused("net https://h.example/** with a with b\n", "t:1:38: duplicate `with`", NULL);
        check_refused("net https://h.example/** cap 0\n", "t:1:30: \"0\" is not a cap",
                      "use `cap 600M` for bytes, `cap 10M/out` or `cap 1G/in` for those of one way, or `cap "
                      "2000/h` for requests an hour");
        check_refused("net https://h.example/** cap 1M/out cap 2M/out\n", "t:1:41: duplicate `cap`", NULL);
        check_refused("net https://h.example/** cap 1M/up\n", "t:1:30: \"1M/up\" is not a cap", NULL);
        check_refused("net https://h.example/** cap 5/m\n", "t:1:30: \"5/m\" is not a cap", NULL);
        check_refused("net ftp://h.example/\n",
                      "t:1:5: \"ftp://h.example/\": only http and https can be inspected", NULL);
        check_refused("net wss://h.example/ GET\n",
                      "t:1:5: \"wss://h.example/\" is a WebSocket URL and takes no other method", NULL);
}

static const struct test_case cases[] = {
        CASE(test_host__every_row_of_the_table_holds),
        CASE(test_host__no_control_byte_passes_in_a_host),
        CASE(test_net__a_hint_says_what_to_write),
};
TEST_MAIN(cases)
