/* SPDX-License-Identifier: MIT */
/* Secrets in a stream: every clothing, every cut; and what is none stays as it is. */
#include "base/base64.h"
#include "test_egress_common.h"

#include <time.h>

static const char secret[] = "ghp_S3cr+t/Value%25&\"9aZx=";

static void to_hex(const char *s, bool up, struct buf *out)
{
        for (; *s; s++)
                buf_printf(out, up ? "%02X" : "%02x", (uint8_t) *s);
}

static void to_base64(const char *s, const char *before, bool url, struct buf *out)
{
        struct fifo f = { 0 };
        AUTO_BUF(all);
        buf_printf(&all, "%s%s tail", before, s);
        fifo_base64(&f, buf_span(&all));
        for (size_t i = 0; i < f.n; i++) {
                char c = (char) f.p[f.at + i];
                buf_putc(out, (char) (url && c == '+' ? '-' : url && c == '/' ? '_' : c));
        }
        fifo_done(&f);
}

static void escaped(const char *s, const char *form, struct buf *out)
{
        for (; *s; s++) {
                if (strcmp(form, "url") == 0 && strchr("+/%&\"=", *s))
                        buf_printf(out, "%%%02x", (uint8_t) *s);
                else if (strcmp(form, "url-all") == 0)
                        buf_printf(out, "%%%02X", (uint8_t) *s);
                else if (strcmp(form, "json") == 0 && strchr("/\"", *s))
                        buf_printf(out, "\\%c", *s);
                else if (strcmp(form, "json-u") == 0 && strchr("&+\"", *s))
                        buf_printf(out, "\\u%04x", (uint8_t) *s);
                else if (strcmp(form, "json-u-all") == 0)
                        buf_printf(out, "\\u%04X", (uint8_t) *s);
                else if (strcmp(form, "x-all") == 0)
                        buf_printf(out, "\\x%02x", (uint8_t) *s);
                else if (strcmp(form, "html") == 0 && *s == '&')
                        buf_puts(out, "&amp;");
                else if (strcmp(form, "html") == 0 && *s == '"')
                        buf_puts(out, "&quot;");
                else if (strcmp(form, "html") == 0 && *s == '+')
                        buf_puts(out, "&#43;");
                else if (strcmp(form, "upper") == 0 && *s >= 'a' && *s <= 'z')
                        buf_putc(out, (char) (*s - 32));
                else
                        buf_putc(out, *s);
        }
}

enum { FORMS = 18 };
static const char *form_name(unsigned i)
{
        static const char *const names[FORMS] = { "raw",     "hex",    "HEX",    "b64+0",      "b64+1",
                                                  "b64+2",   "b64u+0", "b64u+1", "b64u+2",     "url",
                                                  "url-all", "json",   "json-u", "json-u-all", "x-all",
                                                  "html",    "upper",  "basic" };
        return names[i];
}

static void spell(unsigned form, struct buf *out)
{
        static const char *const before[] = { "", "x", "xy" };
        if (form == 0)
                buf_puts(out, secret);
        else if (form <= 2)
                to_hex(secret, form == 2, out);
        else if (form <= 8)
                to_base64(secret, before[(form - 3) % 3], form > 5, out);
        else if (form < FORMS - 1)
                escaped(secret, form_name(form), out);
        else
                to_base64(secret, "user:", false, out);
}

static void scrub_in_cuts(const struct secret_words *set, struct span in, size_t first, size_t cut,
                          struct fifo *out)
{
        struct scrub s = { .set = set };
        scrub_pass(&s, span_of(in.p, first), false, out);
        for (size_t i = first; i < in.n; i += cut)
                scrub_pass(&s, span_of(in.p + i, cut < in.n - i ? cut : in.n - i), false, out);
        scrub_pass(&s, (struct span){ 0 }, true, out);
        CHECK_INT(s.found, 1);
        scrub_done(&s);
}

/* The base64 of what stands around the secret may stay: at most two characters at either end. */
static bool is_clean(const struct fifo *out, struct span spelled)
{
        for (size_t i = 2; i + 8 <= spelled.n - 12; i++)
                if (spelled.n > 24 && memmem(out->p + out->at, out->n, spelled.p + i, 8))
                        return false;
        return true;
}

static void test_scrub__every_form_at_every_cut(void)
{
        struct span word = span_str(secret);
        struct secret_words *set = scrub_set_of(&word, NULL, 1);
        CHECK(set != NULL);
        for (unsigned form = 0; form < FORMS; form++) {
                AUTO_BUF(text);
                AUTO_BUF(spelled);
                spell(form, &spelled);
                buf_printf(&text, "{\"token\": \"%s\", \"ghp_\": \"ghp_S3c\"}", buf_str(&spelled));
                for (size_t first = 0; first <= text.n; first++) {
                        struct fifo out = { 0 };
                        scrub_in_cuts(set, buf_span(&text), first, text.n, &out);
                        CHECK_INT(out.n, text.n);
                        bool ok = is_clean(&out,
                                           span_of(spelled.p, spelled.n < 26 ? spelled.n + 12 : spelled.n));
                        if (!ok || !memmem(out.p + out.at, out.n, "\"ghp_S3c\"}", 10))
                                printf("# %s cut at %zu: %.*s\n", form_name(form), first, (int) out.n,
                                       (const char *) out.p + out.at);
                        CHECK(ok);
                        CHECK(memmem(out.p + out.at, out.n, "\"ghp_S3c\"}", 10) != NULL);
                        fifo_done(&out);
                }
                for (size_t cut = 1; cut < 8; cut++) {
                        struct fifo out = { 0 };
                        scrub_in_cuts(set, buf_span(&text), 0, cut, &out);
                        CHECK(memmem(out.p + out.at, out.n, "******", 6) != NULL);
                        fifo_done(&out);
                }
        }
        secret_words_free(set);
}

static void test_scrub__two_bytes_a_character(void)
{
        struct span word = span_str(secret);
        struct secret_words *set = scrub_set_of(&word, NULL, 1);
        uint8_t text[4 * sizeof secret + 8] = { 0 };
        for (unsigned big = 0; big < 2; big++)
                for (size_t first = 0; first < sizeof text; first++) {
                        struct fifo out = { 0 };
                        memset(text, 0, sizeof text);
                        for (size_t i = 0; i < strlen(secret); i++)
                                text[4 + 2 * i + big] = (uint8_t) secret[i];
                        scrub_in_cuts(set, span_of(text, sizeof text), first, 3, &out);
                        CHECK_INT(out.n, sizeof text);
                        CHECK(memmem(out.p + out.at, out.n, text + 8 + big, 8) == NULL);
                        CHECK(memmem(out.p + out.at, out.n, "******", 6) != NULL);
                        fifo_done(&out);
                }
        secret_words_free(set);
}

/* Of processor time; sanitizers make it several times as much. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MOST_S 5.0
#endif
#endif
#ifndef MOST_S
#define MOST_S 0.5
#endif

/* Whoever sends nothing but signs that could begin an escape must not keep us busy: before, 64 words took 4
 * us for each such byte. */
static void test_scrub__signs_that_begin_nothing_cost_little(void)
{
        enum { WORDS = 64, BYTES = 1 << 18 };
        static const char *const signs[] = { "%", "\\", "&", "%6", "&#9", "%%41" };
        static char text[WORDS][41];
        static uint8_t body[BYTES];
        struct span words[WORDS];
        for (unsigned i = 0; i < WORDS; i++) {
                for (unsigned k = 0; k < 40; k++)
                        text[i][k] = (char) ('A' + (i * 7 + k * (i + 3)) % 26);
                words[i] = span_of(text[i], 40);
        }
        struct secret_words *set = scrub_set_of(words, NULL, WORDS);
        for (size_t s = 0; s < COUNT(signs); s++) {
                struct scrub look = { .set = set, .verbatim = true };
                struct fifo out = { 0 };
                for (size_t i = 0; i < BYTES; i++)
                        body[i] = (uint8_t) signs[s][i % strlen(signs[s])];
                clock_t began = clock();
                scrub_pass(&look, span_of(body, BYTES), true, &out);
                double took = (double) (clock() - began) / CLOCKS_PER_SEC;
                if (took > MOST_S)
                        printf("# %s: %.2f s\n", signs[s], took);
                CHECK(took <= MOST_S);
                CHECK_INT(out.n, BYTES);
                CHECK_INT(look.found, 0);
                fifo_done(&out);
                scrub_done(&look);
        }
        secret_words_free(set);
}

static void test_scrub__base64_broken_into_lines(void)
{
        struct span word = span_str(secret);
        struct secret_words *set = scrub_set_of(&word, NULL, 1);
        AUTO_BUF(flat);
        AUTO_BUF(text);
        to_base64(secret, "some more text in front of it, ", false, &flat);
        for (size_t i = 0; i < flat.n; i++)
                buf_printf(&text, i % 9 == 8 ? "%c\r\n" : "%c", flat.p[i]);
        CHECK_INT(secret_words_find(set, buf_span(&text)), 1);
        secret_words_free(set);
}

/* A file's content in an answer of JSON (GitHub's API) or in a form: its line ends are escaped. */
static void test_scrub__base64_with_escaped_line_ends(void)
{
        static const char *const ends[] = { "\\n", "\\r\\n", "%0A", "%0d%0a", "\\u000a" };
        struct span word = span_str(secret);
        struct secret_words *set = scrub_set_of(&word, NULL, 1);
        for (size_t e = 0; e < COUNT(ends); e++)
                for (size_t at = 1; at < 30; at++) {
                        AUTO_BUF(plain);
                        AUTO_BUF(text);
                        to_base64(secret, "", false, &plain);
                        buf_add(&text, plain.p, at);
                        buf_puts(&text, ends[e]);
                        buf_add(&text, plain.p + at, plain.n - at);
                        for (size_t cut = 1; cut < 9; cut++) {
                                struct fifo out = { 0 };
                                scrub_in_cuts(set, buf_span(&text), 0, cut, &out);
                                CHECK_INT(out.n, text.n);
                                fifo_done(&out);
                        }
                }
        secret_words_free(set);
}

/* An event of a stream ends in an empty line and must not wait for the next one, whatever it ended with. */
static void test_scrub__events_do_not_wait_for_the_next(void)
{
        struct span word = span_str(secret);
        struct secret_words *set = scrub_set_of(&word, NULL, 1);
        for (int c = 0x20; c < 0x7f; c++) {
                char text[32];
                struct fifo out = { 0 };
                struct scrub s = { .set = set };
                (void) snprintf(text, sizeof text, "data: x%c%s", c, c & 1 ? "\n\n" : "\r\n\r\n");
                scrub_pass(&s, span_str(text), false, &out);
                CHECK(span_is(fifo_all(&out), text));
                scrub_done(&s);
                fifo_done(&out);
        }
        secret_words_free(set);
}

static void test_scrub__a_secret_that_is_cut_off_is_not_let_out(void)
{
        struct span word = span_str(secret);
        struct secret_words *set = scrub_set_of(&word, NULL, 1);
        for (size_t n = 4; n < word.n; n++) {
                struct fifo out = { 0 };
                struct scrub s = { .set = set };
                scrub_pass(&s, span_str("x="), false, &out);
                scrub_pass(&s, span_of(word.p, n), false, &out);
                scrub_pass(&s, (struct span){ 0 }, true, &out);
                CHECK_INT(out.n, n + 2);
                CHECK(memmem(out.p + out.at, out.n, "ghp_", 4) == NULL);
                scrub_done(&s);
                fifo_done(&out);
        }
        secret_words_free(set);
}

static void test_scrub__other_text_stays_byte_for_byte(void)
{
        struct span word = span_str(secret);
        struct secret_words *set = scrub_set_of(&word, NULL, 1);
        uint8_t noise[65536];
        uint32_t seed = 7;
        for (size_t i = 0; i < sizeof noise; i++) {
                seed = seed * 1664525 + 1013904223;
                noise[i] = i & 1024 ? (uint8_t) "ghp_S%&\\3c"[(seed >> 24) % 10] : (uint8_t) (seed >> 24);
        }
        for (size_t cut = 1; cut < 3000; cut = cut * 3 + 1) {
                struct fifo out = { 0 };
                struct scrub s = { .set = set };
                for (size_t i = 0; i < sizeof noise; i += cut)
                        scrub_pass(&s, span_of(noise + i, cut < sizeof noise - i ? cut : sizeof noise - i),
                                   false, &out);
                scrub_pass(&s, (struct span){ 0 }, true, &out);
                CHECK_INT(s.found, 0);
                CHECK(out.n == sizeof noise && memcmp(out.p + out.at, noise, out.n) == 0);
                scrub_done(&s);
                fifo_done(&out);
        }
        secret_words_free(set);
}

static void test_scrub__one_secret_that_begins_another(void)
{
        struct span words[] = { span_str("tokentoken"), span_str("tokentoken-and-more-of-it") };
        struct secret_words *set = scrub_set_of(words, NULL, 2);
        struct fifo out = { 0 };
        struct scrub s = { .set = set };
        scrub_pass(&s, span_str("a tokentoken-and-more-of-it b tokentoken"), false, &out);
        scrub_pass(&s, span_str("- c"), true, &out);
        CHECK(span_is(fifo_all(&out), "a ************************* b **********- c"));
        CHECK_INT(s.found, 3);
        scrub_done(&s);
        fifo_done(&out);
        secret_words_free(set);
}

/* Its own signs may be read as an escape of themselves: it is found as it is all the same. */
static void test_scrub__a_secret_that_looks_escaped(void)
{
        static const char *const words[] = { "pass%25word-1", "pass&amp;word-1", "pass\\\\word-1" };
        for (size_t i = 0; i < COUNT(words); i++) {
                struct span word = span_str(words[i]);
                struct secret_words *set = scrub_set_of(&word, NULL, 1);
                CHECK_INT(secret_words_find(set, word), 1);
                AUTO_BUF(text);
                for (size_t k = 0; k < word.n; k++)
                        buf_printf(&text, "%%%02x", word.p[k]);
                CHECK_INT(secret_words_find(set, buf_span(&text)), 1);
                secret_words_free(set);
        }
}

static void test_scrub__short_words_are_refused(void)
{
        struct span word = span_str("short");
        CHECK(scrub_set_of(&word, NULL, 1) == NULL);
}

/* What comes out, whatever pieces it goes in by. */
static void check_swapped_in(enum swap_field field, const char *from, const char *to, const char *text,
                             const char *want)
{
        size_t n = strlen(text);
        for (size_t cut = 1; cut <= n; cut++) {
                struct swap s = { .from = span_str(from), .to = span_str(to), .field = field };
                struct fifo out = { 0 };
                for (size_t i = 0; i < n; i += cut)
                        swap_pass(&s, span_of(text + i, cut < n - i ? cut : n - i), false, &out);
                swap_pass(&s, (struct span){ 0 }, true, &out);
                CHECK(span_is(fifo_all(&out), want));
                swap_done(&s);
                fifo_done(&out);
        }
}

static void check_swapped(const char *from, const char *to, const char *text, const char *want)
{
        for (enum swap_field f = SWAP_AS_IT_IS; f <= SWAP_IN_JSON; f++)
                check_swapped_in(f, from, to, text, want);
}

/* Of a short secret the placeholder has letters only: the client could not know what to escape. */
static void test_swap__a_short_secret_is_spelled_as_the_field_is(void)
{
        static const char from[] = "aB1xyz9q", to[] = "c&2+\"\\%-", mixed[] = "a%421xyz9q";
        static const struct {
                const char *type;
                enum swap_field field;
        } types[] = {
                { "application/x-www-form-urlencoded", SWAP_IN_FORM },
                { "Application/X-WWW-Form-Urlencoded ; charset=utf-8", SWAP_IN_FORM },
                { "application/json", SWAP_IN_JSON },
                { "application/vnd.a+JSON; a=b", SWAP_IN_JSON },
                { "multipart/form-data; boundary=b", SWAP_AS_IT_IS },
                { "text/plain", SWAP_AS_IT_IS },
                { "json", SWAP_AS_IT_IS },
        };
        check_swapped_in(SWAP_AS_IT_IS, from, to, "t=aB1xyz9q&u", "t=c&2+\"\\%-&u");
        check_swapped_in(SWAP_IN_FORM, from, to, "t=aB1xyz9q&u", "t=c%262%2B%22%5C%25-&u");
        check_swapped_in(SWAP_IN_JSON, from, to, "\"aB1xyz9q\"", "\"c&2+\\\"\\\\%-\"");
        check_swapped_in(SWAP_IN_FORM, from, to, mixed, "c%262%2B%22%5C%25-");
        for (size_t i = 0; i < COUNT(types); i++) {
                static struct http_head h;
                h.field_count = 1;
                h.field[0] = (struct http_field){ .name = span_str("Content-Type"),
                                                  .value = span_str(types[i].type) };
                struct swap s = { .from = span_str(from), .to = span_str(to), .field = swap_field_of(&h) };
                CHECK_INT(s.field, types[i].field);
                CHECK_INT(swap_grows(&s), types[i].field != SWAP_AS_IT_IS);
                s.from = s.to;
                CHECK(!swap_grows(&s));
        }
}

static void test_swap__a_placeholder_in_a_body_at_every_cut(void)
{
        check_swapped("PH_12345678", "SE_abcdefgh",
                      "{\"key\":\"PH_12345678\",\"also\":\"PH_PH_12345678\",\"not\":\"PH_1234567\"}",
                      "{\"key\":\"SE_abcdefgh\",\"also\":\"PH_SE_abcdefgh\",\"not\":\"PH_1234567\"}");
}

static void test_swap__as_the_client_spelled_it(void)
{
        static const char from[] = "aB1/x+9=\"q\\%", to[] = "cD2/y+8=\"r\\%";
        check_swapped(from, to, "t=aB1/x+9=\"q\\%&u=1", "t=cD2/y+8=\"r\\%&u=1");
        check_swapped(from, to, "t=aB1%2Fx%2B9%3D%22q%5C%25&u=1", "t=cD2%2Fy%2B8%3D%22r%5C%25&u=1");
        check_swapped(from, to, "t=aB1%2fx%2b9%3d%22q%5c%25", "t=cD2%2Fy%2B8%3D%22r%5C%25");
        check_swapped(from, to, "{\"t\":\"aB1\\/x+9=\\\"q\\\\%\"}", "{\"t\":\"cD2\\/y+8=\\\"r\\\\%\"}");
        check_swapped(from, to, "%61B1%2Fx%2B9%3D%22q%5C%25", "%63D2%2Fy%2B8%3D%22r%5C%25");
        check_swapped(from, to, "t=aB1%2Fx%2B9%3D%22q%5", "t=aB1%2Fx%2B9%3D%22q%5");
        check_swapped(from, to, "aB1%2FaB1%2Fx%2B9%3D%22q%5C%25%", "aB1%2FcD2%2Fy%2B8%3D%22r%5C%25%");
}

static void test_base64__both_ways(void)
{
        static const char text[] = "\x00\xff\x10zzzzzzzzzzzzzzzzzzz";
        uint8_t back[32];

        for (size_t n = 1; n < 20; n++) {
                struct fifo f = { 0 };
                fifo_base64(&f, span_of(text, n));
                CHECK_INT(base64_read(fifo_all(&f), back, sizeof back), n);
                CHECK(memcmp(back, text, n) == 0);
                fifo_done(&f);
        }
        static const char *const bad[] = { "", "a", "ab", "abc", "ab=c", "====", "a===", "ab!=", "abcd=" };
        for (size_t i = 0; i < COUNT(bad); i++)
                CHECK_INT(base64_read(span_str(bad[i]), back, sizeof back), -1);
        CHECK_INT(base64_read(span_str("YWJj"), back, 2), -1);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_scrub__every_form_at_every_cut),
                CASE(test_scrub__two_bytes_a_character),
                CASE(test_scrub__signs_that_begin_nothing_cost_little),
                CASE(test_scrub__base64_broken_into_lines),
                CASE(test_scrub__base64_with_escaped_line_ends),
                CASE(test_scrub__events_do_not_wait_for_the_next),
                CASE(test_scrub__a_secret_that_is_cut_off_is_not_let_out),
                CASE(test_scrub__other_text_stays_byte_for_byte),
                CASE(test_scrub__one_secret_that_begins_another),
                CASE(test_scrub__a_secret_that_looks_escaped),
                CASE(test_scrub__short_words_are_refused),
                CASE(test_swap__a_placeholder_in_a_body_at_every_cut),
                CASE(test_swap__as_the_client_spelled_it),
                CASE(test_swap__a_short_secret_is_spelled_as_the_field_is),
                CASE(test_base64__both_ways),
        };
        return test_main(cases, COUNT(cases));
}
