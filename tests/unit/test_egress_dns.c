/* SPDX-License-Identifier: MIT */
/* Questions and answers as bytes: what is read, what is refused, and that an answer repeats the question. */
#include "broker/egress/dns/dns.h"
#include "harness.h"

struct packet {
        uint8_t p[600];
        size_t n;
};

static void byte(struct packet *k, unsigned v) { k->p[k->n++] = (uint8_t) v; }
static void pair(struct packet *k, unsigned v)
{
        byte(k, v >> 8);
        byte(k, v & 255);
}

/* "a.b" as labels; a label may hold any byte but a dot. */
static void name(struct packet *k, const char *text)
{
        while (*text) {
                size_t n = strcspn(text, ".");
                byte(k, (unsigned) n);
                for (size_t i = 0; i < n; i++)
                        byte(k, (unsigned char) text[i]);
                text += n + (text[n] == '.');
        }
        byte(k, 0);
}

static struct packet ask(const char *host, unsigned type)
{
        struct packet k = { .n = 0 };
        pair(&k, 0x1234);
        pair(&k, 0x0100);
        pair(&k, 1);
        pair(&k, 0);
        pair(&k, 0);
        pair(&k, 0);
        name(&k, host);
        pair(&k, type);
        pair(&k, 1);
        return k;
}

static struct span of(const struct packet *k) { return span_of(k->p, k->n); }

static void test_dns__a_question_is_read(void)
{
        struct packet k = ask("_Api-09.azAZ.Example.ORG", DNS_TYPE_A);
        struct dns_question q;
        CHECK_INT(dns_read(of(&k), &q), DNS_OK);
        CHECK_STR(q.name, "_Api-09.azAZ.Example.ORG");
        CHECK_INT(q.type, DNS_TYPE_A);
        CHECK(!q.odd && !q.extended);
        CHECK_INT(q.length, k.n);
}

static void test_dns__an_answer_repeats_the_question_byte_for_byte(void)
{
        struct packet k = ask("aPi.eXample.org", DNS_TYPE_AAAA);
        struct dns_question q;
        uint8_t out[DNS_MAX_MESSAGE], address[16] = { 0xfd, 0x53 };
        CHECK_INT(dns_read(of(&k), &q), DNS_OK);
        size_t n = dns_write(of(&k), &q, DNS_OK, span_of(address, 16), out);
        CHECK_INT(n, k.n + 12 + 16);
        CHECK_INT(memcmp(out + 12, k.p + 12, k.n - 12), 0);
        CHECK_INT(memcmp(out, k.p, 2), 0);
        CHECK_INT(out[2], 0x85);
        CHECK_INT(out[3], 0x80);
        CHECK_INT(out[7], 1);
        CHECK_INT(out[k.n + 3], DNS_TYPE_AAAA);
        CHECK_INT(memcmp(out + n - 16, address, 16), 0);
}

static void test_dns__no_such_name_has_no_record(void)
{
        struct packet k = ask("evil.example", DNS_TYPE_A);
        struct dns_question q;
        uint8_t out[DNS_MAX_MESSAGE];
        CHECK_INT(dns_read(of(&k), &q), DNS_OK);
        CHECK_INT(dns_write(of(&k), &q, DNS_NO_NAME, span_of(NULL, 0), out), k.n);
        CHECK_INT(out[3] & 15, 3);
        CHECK_INT(out[7], 0);
}

static void test_dns__an_extended_question_gets_an_extended_answer(void)
{
        struct packet k = ask("a.example", DNS_TYPE_A);
        struct dns_question q;
        uint8_t out[DNS_MAX_MESSAGE], address[4] = { 198, 18, 0, 1 };
        k.p[11] = 1;
        byte(&k, 0);
        pair(&k, 41);
        pair(&k, 1232);
        pair(&k, 0);
        pair(&k, 0);
        pair(&k, 0);
        CHECK_INT(dns_read(of(&k), &q), DNS_OK);
        CHECK(q.extended);
        size_t n = dns_write(of(&k), &q, DNS_OK, span_of(address, 4), out);
        CHECK_INT(n, q.length + 12 + 4 + 11);
        CHECK_INT(out[11], 1);
        k.n--;
        CHECK_INT(dns_read(of(&k), &q), DNS_FORMAT);
}

static void test_dns__odd_bytes_are_told(void)
{
        static const char *const odd[] = { "evil.com\001.allowed.com",
                                           "a b.example",
                                           "a/b.example",
                                           "\377.example",
                                           "a*.example",
                                           "%00.example",
                                           "a@b.example",
                                           "[::1].example" };
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
                struct packet k = ask(odd[i], DNS_TYPE_A);
                struct dns_question q;
                CHECK_INT(dns_read(of(&k), &q), DNS_OK);
                CHECK(q.odd);
        }
        struct packet k = ask("evilXcom.allowed.example", DNS_TYPE_A);
        struct dns_question q;
        k.p[12 + 1 + 4] = 0; /* a NUL, and a dot, inside a label */
        CHECK_INT(dns_read(of(&k), &q), DNS_OK);
        CHECK(q.odd);
        CHECK_INT(q.name_n, 24); /* all of it is told, not what stands before the NUL */
        CHECK(memcmp(q.name, "evil\0com.allowed.example", 24) == 0);
        k.p[12 + 1 + 4] = '.';
        CHECK_INT(dns_read(of(&k), &q), DNS_OK);
        CHECK(q.odd);
}

static void test_dns__every_cut_of_a_question_is_refused(void)
{
        struct packet k = ask("api.example.org", DNS_TYPE_A);
        struct dns_question q;
        for (size_t n = 0; n < k.n; n++)
                CHECK_INT(dns_read(span_of(k.p, n), &q), n < 12 ? DNS_DROP : DNS_FORMAT);
        byte(&k, 0); /* and one byte too many */
        CHECK_INT(dns_read(of(&k), &q), DNS_FORMAT);
}

static void test_dns__pointers_counts_and_answers_are_refused(void)
{
        struct dns_question q;
        struct packet k = ask("a.example", DNS_TYPE_A);
        k.p[12] = 0xc0;
        CHECK_INT(dns_read(of(&k), &q), DNS_FORMAT);
        k = ask("a.example", DNS_TYPE_A);
        k.p[5] = 2;
        CHECK_INT(dns_read(of(&k), &q), DNS_FORMAT);
        k = ask("a.example", DNS_TYPE_A);
        k.p[2] |= 0x80;
        CHECK_INT(dns_read(of(&k), &q), DNS_DROP);
        k = ask("a.example", DNS_TYPE_A);
        k.p[2] |= 0x28; /* an update */
        CHECK_INT(dns_read(of(&k), &q), DNS_NOT_BUILT);
        k = ask("a.example", DNS_TYPE_A);
        k.p[k.n - 1] = 3; /* CHAOS */
        CHECK_INT(dns_read(of(&k), &q), DNS_NOT_BUILT);
}

static void test_dns__a_name_has_at_most_253_characters(void)
{
        char text[300] = "";
        struct dns_question q;
        for (int i = 0; i < 4; i++)
                memset(text + i * 64, 'a', 63), text[i * 64 + 63] = '.';
        text[253] = '\0';
        struct packet k = ask(text, DNS_TYPE_A);
        CHECK_INT(dns_read(of(&k), &q), DNS_OK);
        CHECK_INT(strlen(q.name), 253);
        text[253] = 'a';
        text[254] = '\0';
        k = ask(text, DNS_TYPE_A);
        CHECK_INT(dns_read(of(&k), &q), DNS_FORMAT);
}

static const struct test_case cases[] = {
        CASE(test_dns__a_question_is_read),
        CASE(test_dns__an_answer_repeats_the_question_byte_for_byte),
        CASE(test_dns__no_such_name_has_no_record),
        CASE(test_dns__an_extended_question_gets_an_extended_answer),
        CASE(test_dns__odd_bytes_are_told),
        CASE(test_dns__every_cut_of_a_question_is_refused),
        CASE(test_dns__pointers_counts_and_answers_are_refused),
        CASE(test_dns__a_name_has_at_most_253_characters),
};

int main(void) { return test_main(cases, sizeof cases / sizeof *cases); }
