/* SPDX-License-Identifier: MIT */
#include "base/hash.h"
#include "harness.h"

static void test_hash__known_answers_of_fips_180_4(void)
{
        char hex[65], million[1000];
        sha256_hex(span_str(""), hex);
        CHECK_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        sha256_hex(span_str("abc"), hex);
        CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        sha256_hex(span_str("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), hex);
        CHECK_STR(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        struct sha256 s;
        uint8_t d[32];
        memset(million, 'a', sizeof million);
        sha256_init(&s);
        for (int i = 0; i < 1000; i++)
                sha256_add(&s, million, sizeof million);
        sha256_end(&s, d);
        CHECK_INT(d[0], 0xcd);
        CHECK_INT(d[31], 0xd0);
}

static void test_hash__pieces_give_the_digest_of_the_whole(void)
{
        char text[300], whole[65];
        for (size_t i = 0; i < sizeof text; i++)
                text[i] = (char) (i * 7);
        for (size_t n = 0; n <= sizeof text; n++) {
                sha256_hex(span_of(text, n), whole);
                struct sha256 s;
                uint8_t d[32];
                sha256_init(&s);
                for (size_t i = 0; i < n; i += 13)
                        sha256_add(&s, text + i, n - i < 13 ? n - i : 13);
                sha256_end(&s, d);
                char first[3];
                (void) snprintf(first, sizeof first, "%02x", d[0]);
                CHECK(memcmp(first, whole, 2) == 0);
        }
}

/* Runs last: from here on this process hashes by the processor's own instructions. */
static void test_hash__the_processors_instructions_give_the_same_digests(void)
{
        static char text[1500], plain[1500][65];
        for (size_t i = 0; i < sizeof text; i++)
                text[i] = (char) (i * i * 31 + 5);
        for (size_t n = 0; n < sizeof text; n++)
                sha256_hex(span_of(text, n), plain[n]);
        if (!hash_use_hardware())
                SKIP("this processor has no instructions for SHA-256");
        for (size_t n = 0; n < sizeof text; n++) {
                char fast[65];
                sha256_hex(span_of(text, n), fast);
                CHECK_STR(fast, plain[n]);
        }
        test_hash__known_answers_of_fips_180_4();
        test_hash__pieces_give_the_digest_of_the_whole();
}

static const struct test_case cases[] = {
        CASE(test_hash__known_answers_of_fips_180_4),
        CASE(test_hash__pieces_give_the_digest_of_the_whole),
        CASE(test_hash__the_processors_instructions_give_the_same_digests),
};
TEST_MAIN(cases)
