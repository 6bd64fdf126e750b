/* SPDX-License-Identifier: MIT */
/* A report on an incident is read by people in a browser: whatever a box put into a name, a path or an answer
 * is text there, and neither a link nor an image nor a tag nor a heading. Every field of every record is
 * hostile here in turn. */
#include "base/buf.h"
#include "harness.h"
#include "ledger/internal.h"

#include <ctype.h>
#include <stdlib.h>

static struct ledger_log *log_of(const char *const *records, size_t n)
{
        struct ledger_log *l = calloc(1, sizeof *l);
        l->at = calloc(n + 1, sizeof *l->at);
        l->answered = answered_new();
        for (size_t i = 0; i < n; i++)
                l->at[l->count++] = span_str(records[i]);
        return l;
}

static const char *const weapons[] = {
        "![x](https://evil.test/a.png)",
        "[click](javascript:alert(1))",
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "`` ` `<b>` ```",
        "``````",
        "\\\\",
        "\\\\`<i>`",
        "\\n\\n# Heading\\n\\n- [ ] task",
        "\\r\\n<https://evil.test>",
        "https://evil.test www.evil.test me@evil.test @everyone #1",
        "| a | b |\\n|---|---|",
        "&lt;b&gt; &#60;script&#62;",
        "\\u2028# line",
        "\\u001b[2J\\u202e",
        "$x$ $$y$$ {{ template }} <!-- comment",
        "*bold* _it_ ~~s~~ ==m== [^1] [[wiki]] :smile:",
        "   leading and trailing   ",
};

/* What is outside of code; each line must have closed what it opened. */
static bool outside(const char *text, struct buf *out)
{
        for (bool code = false; *text; text++) {
                if (*text == '`')
                        code = !code;
                else if (*text == '\n' && code)
                        return false;
                else if (!code)
                        buf_putc(out, *text);
        }
        return true;
}

static void check_inert(const char *weapon, const char *text)
{
        AUTO_BUF(rest);
        bool closed = outside(text, &rest), plain = true;
        for (const char *c = buf_str(&rest); *c; c++)
                plain = plain && (isalnum((unsigned char) *c) || strchr(" \n.,:?#+-()", *c));
        if (!closed || !plain || strstr(buf_str(&rest), "evil") || strstr(text, "``"))
                printf("# %s: %s\n", weapon, text);
        CHECK(closed && plain);
        CHECK(strstr(buf_str(&rest), "evil") == NULL && strstr(buf_str(&rest), "Heading") == NULL);
        CHECK(strstr(text, "``") == NULL); /* two in a row open another code than one */
        CHECK(strchr(text, '<') == NULL && strchr(text, '>') == NULL);
        for (const char *c = text; *c; c++)
                CHECK(*c == '\n' || (unsigned char) *c >= 0x20);
}

static void test_postmortem__no_field_of_any_record_is_markup(void)
{
        enum { FIELDS = 12 };
        for (size_t w = 0; w < sizeof weapons / sizeof *weapons; w++)
                for (unsigned k = 0; k < FIELDS; k++) {
                        const char *f[FIELDS];
                        char records[4][2048];
                        const char *all[4];
                        struct err e = { 0 };
                        AUTO_BUF(out);
                        for (unsigned i = 0; i < FIELDS; i++)
                                f[i] = i == k ? weapons[w] : "plain";
                        (void) snprintf(records[0], sizeof *records,
                                        "{\"box\":\"%s\",\"clock\":1,\"id\":\"run.start\",\"kind\":\"start\","
                                        "\"more\":{\"wall\":\"%s\"},"
                                        "\"phase\":\"start\",\"policy\":\"%s\",\"run\":\"run\",\"target\":\"%"
                                        "s\",\"time\":1,\"v\":1}",
                                        f[0], f[1], f[2], f[3]);
                        (void) snprintf(records[1], sizeof *records,
                                        "{\"clock\":2,\"door\":\"%s\",\"id\":\"run.1\",\"kind\":\"%s\","
                                        "\"parents\":[\"run.start\",\"%s\"],"
                                        "\"phase\":\"denied\",\"result\":\"%s\",\"run\":\"run\",\"target\":"
                                        "\"%s\",\"time\":2,\"v\":1}",
                                        f[4], f[5], f[6], f[7], f[8]);
                        (void) snprintf(
                                records[2], sizeof *records,
                                "{\"clock\":3,\"door\":\"d\",\"id\":\"%.50s\",\"kind\":\"net\",\"phase\":"
                                "\"outcome\",\"reach\":\"public\","
                                "\"result\":\"r\",\"run\":\"run\",\"target\":\"%s\",\"time\":3,\"v\":1}",
                                f[9], f[10]);
                        (void) snprintf(records[3], sizeof *records,
                                        "{\"clock\":4,\"id\":\"run.end\",\"kind\":\"end\",\"phase\":\"end\","
                                        "\"result\":\"%s\",\"run\":\"run\","
                                        "\"time\":4,\"v\":1}",
                                        f[11]);
                        for (unsigned i = 0; i < 4; i++)
                                all[i] = records[i];
                        struct ledger_log *l = log_of(all, 4);
                        CHECK_INT(ledger_postmortem(l, "run", &out, &e), 0);
                        check_inert(weapons[w], buf_str(&out));
                        CHECK(strstr(buf_str(&out), "\n## Questions for people\n") != NULL);
                        ledger_log_free(l);
                }
}

static void test_postmortem__tells_what_was_tried_refused_and_let_through(void)
{
        static const char *const records[] = {
                "{\"box\":\"b\",\"clock\":1,\"id\":\"r.start\",\"kind\":\"start\",\"phase\":\"start\","
                "\"run\":\"r\",\"target\":\"agent\","
                "\"time\":1000000,\"v\":1}",
                "{\"clock\":2,\"digest\":\"x\",\"door\":\"read\",\"id\":\"r.1\",\"kind\":\"file\","
                "\"parents\":[\"r.start\"],\"phase\":\"claim\","
                "\"run\":\"r\",\"target\":\"/ticket\",\"time\":1000000,\"v\":1}",
                "{\"clock\":3,\"id\":\"r.q1\",\"kind\":\"request\",\"parents\":[\"r.1\"],\"phase\":"
                "\"intent\",\"reach\":\"public\",\"run\":\"r\","
                "\"target\":\"GET /a\",\"time\":1100000,\"v\":1}",
                "{\"clock\":4,\"id\":\"r.r1\",\"kind\":\"request\",\"parents\":[\"r.q1\"],\"phase\":"
                "\"outcome\",\"reach\":\"public\",\"run\":\"r\","
                "\"target\":\"GET /a\",\"time\":1200000,\"v\":1}",
                "{\"clock\":5,\"id\":\"r.q2\",\"kind\":\"request\",\"parents\":[\"r.r1\"],\"phase\":"
                "\"intent\",\"reach\":\"named\",\"run\":\"r\","
                "\"target\":\"PUT /b\",\"time\":1300000,\"v\":1}",
                "{\"clock\":6,\"count\":3,\"id\":\"r.2\",\"kind\":\"net\",\"parents\":[\"r.1\"],\"phase\":"
                "\"denied\",\"reach\":\"self\",\"result\":\"no "
                "door\",\"run\":\"r\",\"target\":\"POST /steal\",\"time\":1400000,\"v\":1}",
                "{\"clock\":7,\"id\":\"r.3\",\"kind\":\"limit\",\"phase\":\"outcome\",\"run\":\"r\","
                "\"target\":\"memory\",\"time\":1500000,\"v\":1}",
                "{\"clock\":8,\"id\":\"s.1\",\"kind\":\"net\",\"phase\":\"denied\",\"run\":\"s\",\"target\":"
                "\"another run\",\"time\":1500000,\"v\":1}",
        };
        static const char *const want[] = {
                "Box `b` ran `agent` at `1970-01-01 00:00:01 UTC` and has no end in the ledger",
                "Refused: 3. Reached beyond itself: 2. Outcome unknown: 1. Limits: 1.",
                "- +400.000 ms `net` `denied` `POST /steal`: `no door`, id `r.2`\n",
                "## What was tried\n\n- `request` `GET /a`\n- `request` `PUT /b` (whether it happened is not "
                "known)\n"
                "- `net` `POST /steal`: `no door`, 3 times\n",
                "## What refused it\n\n- `net` `POST /steal`: `no door`, 3 times\n",
                "### The public\n\n- `request` `GET /a`\n\n### A named third party\n\n"
                "- `request` `PUT /b` (whether it happened is not known)\n\n### A tenant\n\nNothing.\n",
                "- `net` `POST /steal`, id `r.2` because of\n  - `parent  1970-01-01T00:00:01.000Z  r.1  "
                "file claim read /ticket`\n"
                "  - `parent  1970-01-01T00:00:01.000Z  r.start  start agent`\n",
                "## Doors that were open\n\n- `file` `/ticket` by `read`\n",
                "## Limits that were reached\n\n- `limit` `memory`\n",
        };
        struct err e = { 0 };
        AUTO_BUF(out);
        struct ledger_log *l = log_of(records, sizeof records / sizeof *records);
        CHECK_INT(ledger_postmortem(l, "b", &out, &e), 0);
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
                if (!strstr(buf_str(&out), want[i]))
                        printf("# no %s\n# in %s\n", want[i], buf_str(&out));
                CHECK(strstr(buf_str(&out), want[i]) != NULL);
        }
        CHECK(strstr(buf_str(&out), "another run") == NULL);
        CHECK_INT(ledger_postmortem(l, "nobody", &out, &e), -1);
        ledger_log_free(l);
}

/* Thousands of refusals are a report, not a flood; that it is cut is said. */
static void test_postmortem__is_bounded_and_says_where_it_is_cut(void)
{
        enum { MANY = 3000 };
        char(*records)[192] = calloc(MANY, sizeof *records);
        const char **all = calloc(MANY, sizeof *all);
        struct err e = { 0 };
        AUTO_BUF(out);
        for (unsigned i = 0; i < MANY; i++) {
                (void) snprintf(records[i], sizeof *records,
                                "{\"clock\":%u,\"id\":\"r.%u\",\"kind\":\"%s\",%s\"phase\":\"%s\",\"run\":"
                                "\"r\",\"target\":\"t%u\",\"time\":%u,"
                                "\"v\":1}",
                                i + 1, i, i ? "net" : "start", i > 100 ? "\"parents\":[\"r.0\"]," : "",
                                i ? "denied" : "start", i, i);
                all[i] = records[i];
        }
        struct ledger_log *l = log_of(all, MANY);
        CHECK_INT(ledger_postmortem(l, "r", &out, &e), 0);
        CHECK(out.n < 200000);
        CHECK(strstr(buf_str(&out), "There are 2500 more records, which are not listed.") != NULL);
        CHECK(strstr(buf_str(&out), "There are more than 200 of these") != NULL);
        CHECK(strstr(buf_str(&out), "The causes of 2949 more are not listed.") != NULL);
        ledger_log_free(l);
        free(records);
        free(all);
}

static const struct test_case cases[] = {
        CASE(test_postmortem__no_field_of_any_record_is_markup),
        CASE(test_postmortem__tells_what_was_tried_refused_and_let_through),
        CASE(test_postmortem__is_bounded_and_says_where_it_is_cut),
};
TEST_MAIN(cases)
