/* SPDX-License-Identifier: MIT */
/* tests/unit/test_wire_form.c - messages as bytes and back: whole, cut short, changed, and of another form.
 */
#include "base/wire/wire.h"
#include "broker/egress/internal.h"
#include "broker/vault/vault.h"
#include "harness.h"

#include <stdio.h>
#include <unistd.h>

static struct egress_message sample(void)
{
        struct egress_message m = { .word = EGRESS_SAYS_ROW, .limits = 7, .after = 0x01020304 };
        m.row.index = 3;
        m.row.allowed = 1;
        m.row.sent = UINT64_C(0x1122334455667788);
        m.row.reason = REASON_PORT;
        m.error.sys = -5;
        (void) snprintf(m.row.method, sizeof m.row.method, "GET");
        (void) snprintf(m.row.to, sizeof m.row.to, "https://a.test/b");
        return m;
}

static void test_form__what_is_encoded_is_decoded(void)
{
        uint8_t bytes[WIRE_MAX];
        struct egress_message m = sample(), got;
        memset(&got, 0xaa, sizeof got);
        size_t n = wire_encode(&egress_message_form, &m, bytes, sizeof bytes);
        CHECK(n > WIRE_HEAD && n < 300); /* empty texts are two bytes each */
        CHECK_INT(wire_decode(&egress_message_form, span_of(bytes, n), &got), 0);
        CHECK_INT(got.word, m.word);
        CHECK_INT(got.after, m.after);
        CHECK_INT(got.error.sys, -5);
        CHECK(got.row.sent == m.row.sent);
        CHECK_STR(got.row.to, m.row.to);
        CHECK_STR(got.row.method, "GET");
        CHECK_STR(got.row.permit, "");
}

static void test_form__bytes_are_little_endian_on_every_machine(void)
{
        static const uint8_t want[] = { 1, 0, 1, 0, 16, 0, 0, 0, 7, 0, 0, 0,
                                        2, 1, 0, 0, 0,  0, 0, 0, 4, 3, 2, 1 };
        const struct egress_order o = { .command = 7, .kind = 0x102, .become = 0x01020304 };
        uint8_t bytes[64];
        CHECK_INT(wire_encode(&egress_order_form, &o, bytes, sizeof bytes), sizeof want);
        CHECK(memcmp(bytes, want, sizeof want) == 0);
        CHECK_INT(wire_encode(&egress_order_form, &o, bytes, sizeof want - 1), 0); /* no room */
}

static void test_form__cut_short_or_longer_it_is_none(void)
{
        uint8_t bytes[WIRE_MAX];
        struct egress_message m = sample(), got = { .word = 99 };
        size_t n = wire_encode(&egress_message_form, &m, bytes, sizeof bytes);
        for (size_t i = 0; i < n; i++) {
                CHECK_INT(wire_decode(&egress_message_form, span_of(bytes, i), &got), -1);
                bytes[4] = (uint8_t) (i - WIRE_HEAD); /* also where its length says so */
                bytes[5] = (uint8_t) ((i - WIRE_HEAD) >> 8);
                CHECK_INT(wire_decode(&egress_message_form, span_of(bytes, i), &got), -1);
        }

        bytes[n] = 0;
        bytes[4] = (uint8_t) (n + 1 - WIRE_HEAD);
        bytes[5] = (uint8_t) ((n + 1 - WIRE_HEAD) >> 8);
        CHECK_INT(wire_decode(&egress_message_form, span_of(bytes, n + 1), &got), -1);
        CHECK_INT(got.word, 99); /* untouched */
}

/* Each byte is changed to each value: it is refused, or it is a message whose encoding it is. */
static void test_form__a_changed_message_is_refused_or_exact(void)
{
        uint8_t bytes[WIRE_MAX], again[WIRE_MAX];
        struct egress_message m = sample(), got;
        size_t n = wire_encode(&egress_message_form, &m, bytes, sizeof bytes);
        unsigned taken = 0, refused = 0;
        for (size_t i = 0; i < n; i++)
                for (unsigned v = 0; v < 256; v++) {
                        uint8_t was = bytes[i];
                        bytes[i] = (uint8_t) v;
                        if (wire_decode(&egress_message_form, span_of(bytes, n), &got) == 0) {
                                taken++;
                                CHECK_INT(wire_encode(&egress_message_form, &got, again, sizeof again), n);
                                CHECK(memcmp(bytes, again, n) == 0);
                        } else {
                                refused++;
                        }
                        bytes[i] = was;
                }
        CHECK(taken > 0 && refused > 0);
}

static void test_form__type_and_version_must_be_its_own(void)
{
        uint8_t bytes[64];
        struct egress_order o = { .command = 1 };
        struct wire_form newer = egress_order_form, other = egress_order_form;
        newer.version++;
        other.type++;
        size_t n = wire_encode(&egress_order_form, &o, bytes, sizeof bytes);
        CHECK_INT(wire_decode(&newer, span_of(bytes, n), &o), -1);
        CHECK_INT(wire_decode(&other, span_of(bytes, n), &o), -1);
        CHECK_INT(wire_decode(&egress_order_form, span_of(bytes, n), &o), 0);
}

static void test_form__a_text_without_its_nul_ends_with_its_array(void)
{
        uint8_t bytes[WIRE_MAX];
        struct egress_message m = sample(), got;
        memset(m.row.method, 'x', sizeof m.row.method);
        size_t n = wire_encode(&egress_message_form, &m, bytes, sizeof bytes);
        CHECK_INT(wire_decode(&egress_message_form, span_of(bytes, n), &got), 0);
        CHECK_INT(strlen(got.row.method), sizeof m.row.method - 1);
}

static void test_form__the_longest_message_fits(void)
{
        uint8_t bytes[WIRE_MAX];
        struct egress_message m;
        struct ledger_ask q;
        memset(&m, 'x', sizeof m);
        memset(&q, 'x', sizeof q);
        CHECK(wire_encode(&egress_message_form, &m, bytes, sizeof bytes) > 0);
        CHECK(wire_encode(&ledger_ask_form, &q, bytes, sizeof bytes) > 0);
}

static void test_form__arrays_of_bytes_are_whole(void)
{
        uint8_t bytes[WIRE_MAX];
        struct resolve_answer r = { .id = 3, .error = -2, .count = 2 }, got = { 0 };
        memset(r.bytes[15], 0xfe, 16);
        r.v6[1] = r.own[15] = 1;
        size_t n = wire_encode(&resolve_answer_form, &r, bytes, sizeof bytes);
        CHECK_INT(n, WIRE_HEAD + 12 + 16 + 16 + 256);
        CHECK_INT(wire_decode(&resolve_answer_form, span_of(bytes, n - 1), &got), -1);
        CHECK_INT(wire_decode(&resolve_answer_form, span_of(bytes, n), &got), 0);
        CHECK(memcmp(&r, &got, sizeof r) == 0);
}

/* Each cut, and each message more, is no request. */
static void test_form__a_request_to_the_vault_is_a_stream(void)
{
        static struct vault_request q, got;
        AUTO_BUF(out);
        q = (struct vault_request){ .op = VAULT_GIVE, .count = 2, .ttl_s = -1, .meta = { .live = 1 } };
        (void) snprintf(q.names[0], sizeof q.names[0], "one");
        memset(q.asked[1], 'x', sizeof q.asked[1] - 1);
        vault_request_encode(&q, &out);
        CHECK_INT(vault_request_decode(buf_span(&out), &got), 0);
        CHECK(memcmp(&q, &got, sizeof q) == 0);
        for (size_t i = 0; i < out.n; i++)
                CHECK_INT(vault_request_decode(span_of(out.p, i), &got), -1);

        q.count = 1;
        vault_request_encode(&q, &out);
        CHECK_INT(vault_request_decode(buf_span(&out), &got), -1);
}

static void test_form__over_a_line_with_a_descriptor(void)
{
        int ends[2], pass = -1;
        struct egress_order o = { .command = EGRESS_LISTENER, .port = 443 }, got = { 0 };
        struct egress_message m = sample();
        CHECK_INT(wire_pair(ends), 0);
        CHECK_INT(wire_put(ends[0], &egress_order_form, &o, ends[0]), 0);
        CHECK_INT(wire_take(ends[1], &egress_order_form, &got, &pass), 1);
        CHECK_INT(got.port, 443);
        CHECK(pass >= 0);
        (void) close(pass);

        CHECK_INT(wire_put(ends[0], &egress_message_form, &m, ends[0]), 0); /* another form: none is kept */
        CHECK_INT(wire_take(ends[1], &egress_order_form, &got, &pass), -1);
        CHECK_INT(wire_put(ends[0], &egress_order_form, &o, ends[0]), 0); /* none was asked for */
        CHECK_INT(wire_take(ends[1], &egress_order_form, &got, NULL), -1);
        (void) close(ends[0]);
        CHECK_INT(wire_take(ends[1], &egress_order_form, &got, &pass), 0);
        (void) close(ends[1]);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_form__what_is_encoded_is_decoded),
                CASE(test_form__bytes_are_little_endian_on_every_machine),
                CASE(test_form__cut_short_or_longer_it_is_none),
                CASE(test_form__a_changed_message_is_refused_or_exact),
                CASE(test_form__type_and_version_must_be_its_own),
                CASE(test_form__a_text_without_its_nul_ends_with_its_array),
                CASE(test_form__the_longest_message_fits),
                CASE(test_form__arrays_of_bytes_are_whole),
                CASE(test_form__a_request_to_the_vault_is_a_stream),
                CASE(test_form__over_a_line_with_a_descriptor),
        };
        return test_main(cases, sizeof cases / sizeof *cases);
}
