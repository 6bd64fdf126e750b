/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "ledger/internal.h"
#include "ledger/write/append.h"

#include <stdlib.h>

static const struct record_stamp stamp = { .id = "r.1", .run = "r", .time_us = 5, .mono_us = 7 };

static struct ledger_secrets secrets;

static char *encoded(const struct ledger_record *r)
{
        struct buf front = { 0 }, back = { 0 };
        struct err e;
        struct ledger_record clean = *r;
        secrets_clean(&secrets, &clean);
        CHECK_INT(record_encode(&clean, &stamp, &front, &back, &e), 0);
        buf_printf(&front, "%d%s", 42, back.p);
        buf_done(&back);
        return front.p;
}

static void test_record__is_canonical_and_complete(void)
{
        struct ledger_record r = ledger_record_of(LEDGER_REQUEST, LEDGER_INTENT);
        r.box = "b";
        r.bytes = 3;
        r.cost = 0;
        r.count = 2;
        r.digest = "d";
        r.door = "net h";
        r.policy = "p";
        r.reach = LEDGER_REACH_NAMED;
        r.result = "ok";
        r.stage = LEDGER_LIVE;
        r.target = "https://h/\"x\"";
        r.trace_in = "00-a";
        r.trace_out = "00-b";
        r.writes = true;
        r.parents[0] = "q.1";
        r.parents[1] = "q.2";
        r.parent_count = 2;
        ledger_more_text(&r, "zeta", "last");
        ledger_more_number(&r, "alpha", -1);
        char *text = encoded(&r);
        CHECK_STR(text,
                  "{\"box\":\"b\",\"bytes\":3,\"clock\":42,\"cost\":0,\"count\":2,\"digest\":\"d\",\"door\":"
                  "\"net "
                  "h\",\"id\":\"r.1\",\"kind\":\"request\",\"mono\":7,\"more\":{\"alpha\":-1,\"zeta\":"
                  "\"last\"},"
                  "\"parents\":[\"q.1\",\"q.2\"],\"phase\":\"intent\",\"policy\":\"p\",\"reach\":\"named\","
                  "\"result\":\"ok\",\"run\":\"r\",\"stage\":\"live\",\"target\":\"https://h/"
                  "\\\"x\\\"\",\"time\":5,"
                  "\"trace\":{\"in\":\"00-a\",\"out\":\"00-b\"},\"v\":1,\"writes\":1}");
        struct ledger_view v;
        CHECK_INT(ledger_view_parse(span_str(text), &v), 0);
        char plain[64];
        CHECK_STR(ledger_plain(v.target, plain, sizeof plain), "https://h/\"x\"");
        CHECK_INT(v.clock, 42);
        CHECK_INT(v.bytes, 3);
        CHECK(span_is(ledger_member(v.more, "zeta"), "last"));
        CHECK(span_is(ledger_member(v.more, "alpha"), "-1"));
        CHECK(span_is(ledger_element(v.parents, 1), "q.2"));
        CHECK_INT(ledger_element(v.parents, 2).n, 0);
        CHECK(span_is(ledger_member(v.trace, "out"), "00-b"));
        CHECK_INT(v.strange, 0); /* what we write, we know */
        free(text);
}

static void test_record__fields_of_later_versions_are_left_alone(void)
{
        struct ledger_view v;
        const char *later =
                "{\"aaa\":{\"new\":[1,{\"x\":true}]},\"clock\":1,\"id\":\"r.9\",\"kind\":\"telepathy\","
                "\"phase\":\"guess\",\"run\":\"r\",\"tenant\":\"t\",\"v\":7,\"zzz\":null}";
        CHECK_INT(ledger_view_parse(span_str(later), &v), 0);
        CHECK_INT(v.v, 7);
        CHECK(span_is(v.kind, "telepathy"));
        CHECK(span_eq(v.json, span_str(later)));
        CHECK_INT(v.bytes, -1);
        CHECK_INT(v.strange, 3);
}

/* A ledger may lie on a disk that others wrote. */
static void test_record__a_number_that_is_too_large_is_the_largest(void)
{
        static const int64_t MOST = 999999999999999999; /* differences of two of them still fit */
        const struct {
                const char *written;
                int64_t read;
        } rows[] = { { "999999999999999999", MOST },
                     { "1000000000000000000", MOST },
                     { "9223372036854775807", MOST },
                     { "99999999999999999999999", MOST },
                     { "-9999999999999999999", -MOST },
                     { "-1", -1 },
                     { "123456789012345678", 123456789012345678 } };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char text[128];
                struct ledger_view v;
                (void) snprintf(text, sizeof text, "{\"id\":\"a\",\"kind\":\"end\",\"time\":%s,\"v\":1}",
                                rows[i].written);
                CHECK_INT(ledger_view_parse(span_str(text), &v), 0);
                CHECK_INT(v.time_us, rows[i].read);
        }
}

static void test_record__what_is_not_canonical_is_refused(void)
{
        static const char *const bad[] = {
                "",
                "{}",
                "[]",
                "{\"id\":\"a.1\",\"kind\":\"x\",\"v\":1} ",
                "{ \"id\":\"a.1\",\"kind\":\"x\",\"v\":1}",
                "{\"id\":\"a.1\",\"kind\":\"x\",\"v\":1,}",
                "{\"kind\":\"x\",\"id\":\"a.1\",\"v\":1}",
                "{\"id\":\"a.1\",\"id\":\"a.1\",\"kind\":\"x\",\"v\":1}",
                "{\"id\":\"a.1\",\"kind\":\"x\",\"v\":1.0}",
                "{\"id\":\"a.1\",\"kind\":\"x\",\"v\":01}",
                "{\"id\":\"a.1\",\"kind\":\"x\",\"more\":{\"f\":0.5},\"v\":1}",
                "{\"id\":\"a.1\",\"kind\":\"x\",\"more\":{\"f\":1,\"v\":1}",
                "{\"id\":\"a.1\",\"kind\":\"x\",\"more\":[[[[[[[[[1]]]]]]]]],\"v\":1}",
                "{\"id\":\"a.1\",\"kind\":\"x\"}",
                "{\"id\":\"a.1\",\"kind\":\"x\\",
                "{\"id\":\"a.1\",\"kind\":\"a\nb\",\"v\":1}",
        };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct ledger_view v;
                int r = ledger_view_parse(span_str(bad[i]), &v);
                if (r != -1)
                        printf("# taken: %s\n", bad[i]);
                CHECK_INT(r, -1);
        }
}

static void test_record__only_what_reaches_nobody_and_changes_nothing_may_leave_first(void)
{
        struct ledger_record r = ledger_record_of(LEDGER_REQUEST, LEDGER_INTENT);
        CHECK(!ledger_consequential(&r));
        r.stage = LEDGER_LIVE;
        CHECK(!ledger_consequential(&r));
        r.writes = true;
        CHECK(ledger_consequential(&r));
        r.stage = LEDGER_MOCK;
        CHECK(!ledger_consequential(&r));
        r.reach = LEDGER_REACH_TENANT;
        CHECK(ledger_consequential(&r));
        r = ledger_record_of(LEDGER_CREDENTIAL, LEDGER_INTENT);
        CHECK(ledger_consequential(&r));
        r = ledger_record_of(LEDGER_NET, LEDGER_CREDENTIALED);
        CHECK(ledger_consequential(&r));
}

static void test_record__a_long_text_is_cut_and_named_by_its_digest(void)
{
        char *longest = malloc(100001), digest[] = "...sha256:";
        memset(longest, 'x', 100000);
        longest[100000] = '\0';
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_OUTCOME);
        r.target = longest;
        char *text = encoded(&r);
        CHECK(strlen(text) < 2000);
        CHECK(strstr(text, digest) != NULL);
        struct ledger_view v;
        CHECK_INT(ledger_view_parse(span_str(text), &v), 0);
        free(text);
        free(longest);
}

static void test_record__no_form_of_a_known_secret_is_written(void)
{
        static const char secret[] = "s3cr3t/T0ken+for:all";
        static const char *const carriers[] = {
                "s3cr3t/T0ken+for:all",
                "https://h/?t=s3cr3t/T0ken+for:all&x=1",
                "s3cr3t%2FT0ken%2Bfor%3Aall",
                "s3cr3t%2fT0ken%2bfor%3aall",
                "7333637233742f54306b656e2b666f723a616c6c",
                "7333637233742F54306B656E2B666F723A616C6C",
                "Basic czNjcjN0L1Qwa2VuK2ZwcjphbGw=",   /* base64 of it, with a letter off: not it */
                "czNjcjN0L1Qwa2VuK2ZvcjphbGw=",         /* alone */
                "dXNlcjpzM2NyM3QvVDBrZW4rZm9yOmFsbA==", /* user:secret */
                "eDpzM2NyM3QvVDBrZW4rZm9yOmFsbA==",     /* x:secret */
                "eHl6OnMzY3IzdC9UMGtlbitmb3I6YWxsIQ==", /* xyz:secret! */
                "eHl6OnMzY3IzdC9UMGtlbitmb3I6YWxsIQ",
        };
        CHECK_INT(secrets_add(&secrets, "short", 5), -1);
        CHECK_INT(secrets_add(&secrets, secret, sizeof secret - 1), 0);
        for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++) {
                struct ledger_record r = ledger_record_of(LEDGER_NET, LEDGER_INTENT);
                r.target = carriers[i];
                ledger_more_text(&r, "note", carriers[i]);
                char *text = encoded(&r);
                bool left = strstr(text, carriers[i]) != NULL;
                if (left != (i == 6))
                        printf("# %s\n", text);
                CHECK(left == (i == 6));
                CHECK(left || strstr(text, "\"a secret stood here\""));
                free(text);
        }
        struct ledger_record r = ledger_record_of(LEDGER_NET, LEDGER_INTENT);
        r.target = "https://innocent.example/";
        char *text = encoded(&r);
        CHECK(strstr(text, "innocent") != NULL);
        free(text);
}

static bool is_written(const char *target)
{
        struct ledger_record r = ledger_record_of(LEDGER_NET, LEDGER_INTENT);
        r.target = target;
        char *text = encoded(&r);
        bool written = strstr(text, target) != NULL;
        free(text);
        return written;
}

/* What stands for itself in a URL does so beside what does not; and the beginning of a secret may be another.
 */
static void test_record__secrets_that_are_nearly_plain(void)
{
        static const char secret[] = "azAZ09-._~/{[azAZ09";
        CHECK_INT(secrets_add(&secrets, secret, sizeof secret - 1), 0);
        CHECK(!is_written(secret) && !is_written("azAZ09-._~%2F%7B%5BazAZ09"));
        CHECK(is_written("azAZ09-._~ azAZ09"));
        CHECK_INT(secrets_add(&secrets, secret, 14), 0);
        CHECK(!is_written("azAZ09-._~/{[a") && !is_written("azAZ09-._~%2F%7B%5Ba"));
}

/* However many: and one that is added again is there once. */
static void test_record__many_secrets_are_kept_out(void)
{
        enum { MANY = 500 };
        static const char all[] = "the/token:of-all";
        char token[32];
        for (int i = 0; i < MANY; i++) {
                (void) snprintf(token, sizeof token, "token/of:box-%d", i);
                CHECK_INT(secrets_add(&secrets, token, strlen(token)), 0);
                CHECK_INT(secrets_add(&secrets, all, strlen(all)), 0);
                CHECK(!is_written(token) && !is_written(all));
        }
        for (int i = 0; i < MANY; i++) {
                (void) snprintf(token, sizeof token, "token/of:box-%d", i);
                CHECK(!is_written(token));
        }
        size_t n = secrets.n;
        CHECK_INT(secrets_add(&secrets, all, strlen(all)), 0);
        CHECK(secrets.n == n);
        secrets_free(&secrets);
        CHECK(is_written(all));
}

/* As the manual lays them out, with numbers that fill their room; every bit counts. */
static void test_record__heads_come_back_as_they_were(void)
{
        struct head h = { .seq = 0x89abcdef,
                          .count = 0x0123456789abcdef,
                          .clock = 0x1123456789abcdef,
                          .end = 0x2123456789abcdef };
        const struct segment_head s = { .seq = 7, .first = 0x3123456789abcdef, .clock = 0x4123456789abcdef };
        uint8_t head[HEAD_BYTES], segment[SEGMENT_HEAD];
        struct head h2;
        struct segment_head s2;
        memset(h.boot, 'b', sizeof h.boot);
        head_put(head, &h);
        CHECK(memcmp(head, "cordonH1\xef\xcd\xab\x89\0\0\0\0\xef\xcd\xab\x89\x67\x45\x23\x01", 24) == 0);
        CHECK_INT(head_get(span_of(head, sizeof head), &h2), 0);
        CHECK(h2.seq == h.seq && h2.count == h.count && h2.clock == h.clock && h2.end == h.end &&
              memcmp(h2.boot, h.boot, 36) == 0);
        segment_head_put(segment, &s);
        CHECK(memcmp(segment, "cordonL1\x07\0\0\0\0\0\0\0\xef\xcd\xab\x89\x67\x45\x23\x31", 24) == 0);
        CHECK_INT(segment_head_get(span_of(segment, sizeof segment), &s2), 0);
        CHECK(s2.seq == s.seq && s2.first == s.first && s2.clock == s.clock);
        for (size_t i = 0; i < 8 * sizeof head; i++) {
                head[i / 8] ^= (uint8_t) (1u << i % 8);
                CHECK_INT(head_get(span_of(head, sizeof head), &h2), -1);
                head[i / 8] ^= (uint8_t) (1u << i % 8);
        }
        CHECK_INT(head_get(span_of(head, sizeof head - 1), &h2), -1);
        CHECK_INT(segment_head_get(span_of(segment, sizeof segment - 1), &s2), -1);
}

/* RFC 3720, B.4. */
static void test_record__sums_are_crc32c(void)
{
        uint8_t zeros[32] = { 0 }, ones[32], up[32];
        memset(ones, 0xff, sizeof ones);
        for (size_t i = 0; i < 32; i++)
                up[i] = (uint8_t) i;
        CHECK_INT(crc32c(0, zeros, 32), 0x8a9136aa);
        CHECK_INT(crc32c(0, ones, 32), 0x62a8ab43);
        CHECK_INT(crc32c(0, up, 32), 0x46dd794e);
        CHECK_INT(crc32c(crc32c(0, up, 7), up + 7, 25), 0x46dd794e);
}

static const struct test_case cases[] = {
        CASE(test_record__is_canonical_and_complete),
        CASE(test_record__fields_of_later_versions_are_left_alone),
        CASE(test_record__a_number_that_is_too_large_is_the_largest),
        CASE(test_record__what_is_not_canonical_is_refused),
        CASE(test_record__only_what_reaches_nobody_and_changes_nothing_may_leave_first),
        CASE(test_record__a_long_text_is_cut_and_named_by_its_digest),
        CASE(test_record__no_form_of_a_known_secret_is_written),
        CASE(test_record__secrets_that_are_nearly_plain),
        CASE(test_record__heads_come_back_as_they_were),
        CASE(test_record__many_secrets_are_kept_out),
        CASE(test_record__sums_are_crc32c),
};
TEST_MAIN(cases)
