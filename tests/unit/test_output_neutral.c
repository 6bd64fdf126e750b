/* SPDX-License-Identifier: MIT */
/* Text that is made inert: no sequence that acts on a terminal and no hidden character passes, wherever a
 * write is split; text in the world's scripts is left as it is. */
#include "harness.h"
#include "output/output.h"
#include "output/unicode.h"

#include <stdlib.h>

/* `in` in writes of `piece` bytes. */
static char *neutralise(enum neutral_mode mode, const char *in, size_t len, size_t piece, struct neutral *n)
{
        struct buf out = { 0 };
        neutral_init(n, mode);
        for (size_t at = 0; at < len; at += piece)
                neutral_feed(n, span_of(in + at, len - at < piece ? len - at : piece), &out);
        neutral_end(n, &out);
        buf_add(&out, "", 1);
        return out.p;
}

static void check(enum neutral_mode mode, const char *in, size_t len, const char *want)
{
        for (size_t piece = 1; piece <= len + 1; piece++) {
                struct neutral n;
                char *got = neutralise(mode, in, len, piece, &n);
                CHECK_STR(got, want);
                free(got);
        }
}

static void keeps(const char *text) { check(NEUTRAL_COLOUR, text, strlen(text), text); }

#define CUTS(mode, in, want) check(mode, in, sizeof(in) - 1, want)

static void test_neutral__colour_passes_and_is_reset(void)
{
        keeps("plain, \ttab, newline\n");
        keeps("\033[31mred\033[0m");
        keeps("\033[1;38;5;208mb\033[m");
        keeps("\033[38;2;8;8;8mgrey\033[0m"); /* 8 is a component here */
        CUTS(NEUTRAL_COLOUR, "\033[31mred", "\033[31mred\033[0m");
        CUTS(NEUTRAL_TEXT, "\033[31mred\033[0m", "<ESC[31m>red<ESC[0m>");
        CUTS(NEUTRAL_COLOUR, "\033[8msecret", "<ESC[8m>secret");
        CUTS(NEUTRAL_COLOUR, "\033[1;8msecret", "<ESC[1;8m>secret");
}

/* What a terminal takes for concealed text, however it reads a colour that breaks off. */
static void test_neutral__no_spelling_conceals(void)
{
        CUTS(NEUTRAL_COLOUR, "\033[38;9;8ma", "<ESC[38;9;8m>a");
        CUTS(NEUTRAL_COLOUR, "\033[38:5;8ma", "<ESC[38:5;8m>a");
        CUTS(NEUTRAL_COLOUR, "\033[38;5:1;8ma", "<ESC[38;5:1;8m>a");
        CUTS(NEUTRAL_COLOUR, "\033[48;2;8ma", "<ESC[48;2;8m>a");
        CUTS(NEUTRAL_COLOUR, "\033[38:2;8;8;8ma", "<ESC[38:2;8;8;8m>a");
        CUTS(NEUTRAL_COLOUR, "\033[;8ma", "<ESC[;8m>a");
        CUTS(NEUTRAL_COLOUR, "\033[65544ma", "<ESC[65544m>a");
        CUTS(NEUTRAL_COLOUR, "\033[264ma", "<ESC[264m>a");
        keeps("\033[4:3mcurly\033[38:2::1:2:8mred\033[58:5:8mline\033[48;5;8;1mgrey\033[0m");
}

static void test_neutral__nothing_else_is_live(void)
{
        CUTS(NEUTRAL_COLOUR, "\033[2Ja", "<ESC[2J>a");
        CUTS(NEUTRAL_COLOUR, "\033[6na", "<ESC[6n>a");
        CUTS(NEUTRAL_COLOUR, "\033]52;c;aGk=\aa", "<ESC]52>a");
        CUTS(NEUTRAL_COLOUR, "\033]0;title\033\\a", "<ESC]0>a");
        CUTS(NEUTRAL_COLOUR, "\033]8;;http://x/\033\\a", "<ESC]8>a");
        CUTS(NEUTRAL_COLOUR, "\033P+q544e\033\\a", "<ESCP+q544e>a");
        CUTS(NEUTRAL_COLOUR, "\033_Gi=1\033\\a", "<ESC_Gi=1>a");
        CUTS(NEUTRAL_COLOUR, "\033^pm\033\\a\033Xsos\033\\b", "<ESC^pm>a<ESCXsos>b");
        CUTS(NEUTRAL_COLOUR, "\302\2332Ja", "<ESC[2J>a");             /* 8-bit CSI */
        CUTS(NEUTRAL_COLOUR, "\302\23552;c;x\302\234a", "<ESC]52>a"); /* 8-bit OSC and ST */
        CUTS(NEUTRAL_COLOUR, "\2332Ja", "<9B>2Ja");
        CUTS(NEUTRAL_COLOUR, "\033ca", "<ESCc>a");
        CUTS(NEUTRAL_COLOUR, "a\033", "a<ESC>");
        CUTS(NEUTRAL_COLOUR, "\033[31", "<ESC[31>");
        CUTS(NEUTRAL_COLOUR, "\033[3\0331ma", "<ESC[3>ma"); /* one that breaks off in another */
        CUTS(NEUTRAL_COLOUR, "\007\010a", "<U+0007>a");
        CUTS(NEUTRAL_COLOUR, "a\177b", "a<U+007F>b");
}

static void test_neutral__a_return_does_not_write_over_a_line(void)
{
        keeps("dos\r\nunix\n");
        CUTS(NEUTRAL_COLOUR, "rm -rf /\recho", "rm -rf /\necho");
        CUTS(NEUTRAL_COLOUR, "end\r", "end\n");
        CUTS(NEUTRAL_SCREEN, "a\rb", "a\rb");
}

static void test_neutral__a_string_without_end_does_not_swallow_the_rest(void)
{
        struct buf in = { 0 };
        struct neutral n;
        buf_puts(&in, "\033]0;");
        for (int i = 0; i < 5000; i++)
                buf_puts(&in, "x");
        buf_puts(&in, "SEEN");
        char *got = neutralise(NEUTRAL_COLOUR, in.p, in.n, 7, &n);
        CHECK(strstr(got, "xSEEN") != NULL);
        CHECK(strlen(got) < 1000);
        free(got);
        buf_done(&in);
}

static void test_neutral__a_full_screen_program_works(void)
{
        static const char *const needed[] = {
                "\033[?1049h", "\033[2J", "\033[10;5H", "\033[K",     "\033[?25l",   "\033(B",   "\0337",
                "\033[1;24r",  "\033M",   "\033[6n",    "\033[>4;2m", "\033[?2004h", "\033[2 q", "\033[0c",
        };
        static const char *const cut[] = { "\033]52;c;x\a", "\033]2;t\a",  "\033[21t",   "\033P$qm\033\\",
                                           "\005",          "\033]10;?\a", "\033[?996n", "\033[>q",
                                           "\033#8",        "\033[5n",     "\033[?4m",   "\033%@" };
        for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
                struct neutral n;
                char *got = neutralise(NEUTRAL_SCREEN, needed[i], strlen(needed[i]), 2, &n);
                CHECK(strncmp(got, needed[i], strlen(needed[i])) == 0);
                CHECK_INT(neutral_cuts(&n), 0);
                free(got);
        }
        for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
                struct neutral n;
                char *got = neutralise(NEUTRAL_SCREEN, cut[i], strlen(cut[i]), 2, &n);
                CHECK_STR(got, "");
                CHECK_INT(neutral_cuts(&n), 1);
                free(got);
        }
}

static void test_neutral__a_terminal_is_left_quiet(void)
{
        CUTS(NEUTRAL_SCREEN, "\033[?1003;1006ha", "\033[?1003;1006ha" NEUTRAL_QUIET);
        CUTS(NEUTRAL_SCREEN, "\033[2h", "\033[2h" NEUTRAL_QUIET);
        CUTS(NEUTRAL_SCREEN, "\033[>4;2m", "\033[>4;2m" NEUTRAL_QUIET);
        CUTS(NEUTRAL_SCREEN, "\033[1ma\033[?25l", "\033[1ma\033[?25l");
}

static void test_neutral__hidden_characters_are_marked(void)
{
        CUTS(NEUTRAL_COLOUR, "a\u202eb", "a<U+202E>b");
        CUTS(NEUTRAL_COLOUR, "a\u2066b\u2069", "a<U+2066>b<U+2069>");
        CUTS(NEUTRAL_COLOUR, "pass\u200bword", "pass<U+200B>word");
        CUTS(NEUTRAL_COLOUR, "a\u00adb\ufeff", "a<U+00AD>b<U+FEFF>");
        CUTS(NEUTRAL_COLOUR, "a\u3164b", "a<U+3164>b");
        CUTS(NEUTRAL_COLOUR, "a\ue000b", "a<U+E000>b");
        CUTS(NEUTRAL_COLOUR, "a\u0378b", "a<U+0378>b");
        CUTS(NEUTRAL_COLOUR, "a\u2028b", "a<U+2028>b");
        CUTS(NEUTRAL_COLOUR, "a\u200db", "a<U+200D>b");
        CUTS(NEUTRAL_COLOUR, "a\ufe01\ufe02b", "a<U+FE01>b"); /* one mark for several */
        CUTS(NEUTRAL_COLOUR, "x\U000e0100y", "x<U+E0100>y");
        CUTS(NEUTRAL_COLOUR, "\u2764\ufe0f\ufe0f", "\u2764\ufe0f<U+FE0F>");
        CUTS(NEUTRAL_COLOUR, "1\ufe0fx", "1<U+FE0F>x");
        CUTS(NEUTRAL_COLOUR, "\U0001f600\u200dx", "\U0001f600<U+200D>x");
}

static void test_neutral__smuggled_text_is_reported(void)
{
        static const char in[] = "hi\U000e0049\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065!";
        struct neutral n;
        char *got = neutralise(NEUTRAL_COLOUR, in, sizeof in - 1, 3, &n);
        CHECK_STR(got, "hi<U+E0049>!");
        CHECK_STR(n.hidden, "Ignore");
        CHECK_INT(n.cut[CUT_TAG], 6);
        free(got);
        /* A flag that spells something else is no flag. */
        CUTS(NEUTRAL_COLOUR, "\U0001f3f4\U000e0061\U000e0062\U000e007f", "\U0001f3f4<U+E0061>");
}

static void test_neutral__text_of_the_world_is_left_alone(void)
{
        keeps("\xe1\x9e\x80\u200b\u200b\xe1\x9e\x98 \u200b\xe1\x9e\x96"); /* two of them; before a word */
        CUTS(NEUTRAL_TEXT, "\xe1\x9e\x80\u200b\u200b\u200b.", "\xe1\x9e\x80\u200b\u200b<U+200B>.");
        CUTS(NEUTRAL_TEXT, "1\u200b\u200b2", "1<U+200B>2");
        CUTS(NEUTRAL_TEXT, "end\u200b", "end<U+200B>");
        keeps("\xe1\x9e\x80\xe1\x9e\x98\xe2\x80\x8b\xe1\x9e\x96\xe1\x9e\xbb"); /* Khmer words, U+200B between
                                                                                */
        keeps("Съешь ещё этих мягких французских булок");
        keeps("我能吞下玻璃而不伤身体。日本語の文章、한국어 문장");
        keeps("मैं काँच खा सकता हूँ क्ष्‍ය");
        keeps("من می‌توانم بدونِ احساس درد شيشه بخورم");
        keeps("ශ්‍රී ലങ്ക ന്‍ தமிழ் తెలుగు ಕನ್ನಡ "
              "ไทย "
              "ភាសាខ្មែរ");
        keeps("אני יכול לאכול זכוכית Ελληνικά ქართული հայերեն አማርኛ");
        keeps("👨‍👩‍👧‍👦 👍🏽 ❤️ 🏳️‍🌈 1️⃣ #️⃣ 🇩🇪 ©️ "
              "☎︎ "
              "👩🏾‍🚀");
        keeps("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f");
        keeps("naïve café Žluťoučký kůň ½ € “quotes” — ∀x∈ℝ ░▒▓ ─│┌");
}

static void test_neutral__what_is_not_utf8_is_marked(void)
{
        CUTS(NEUTRAL_COLOUR, "a\xffz", "a<FF>z");
        CUTS(NEUTRAL_COLOUR, "\xc0\xaf", "<C0>");         /* overlong */
        CUTS(NEUTRAL_COLOUR, "\xed\xa0\x80", "<ED>");     /* a surrogate */
        CUTS(NEUTRAL_COLOUR, "\xf4\x90\x80\x80", "<F4>"); /* beyond the last */
        CUTS(NEUTRAL_COLOUR, "\xe2\x82", "<E2>");
        CUTS(NEUTRAL_COLOUR, "\xe2\x82z", "<E2>z");
}

/* Any bytes: nothing live is left, in one write or in many. */
static void test_neutral__random_bytes_leave_nothing_live(void)
{
        static const char parts[][8] = { "\033",
                                         "[",
                                         "]",
                                         "31m",
                                         "\a",
                                         "\\",
                                         ";",
                                         "\302\233",
                                         "\302\234",
                                         "\xe2\x80\xae",
                                         "\xf0\x9f\x98\x80",
                                         "\xe2\x80\x8d",
                                         "\xef\xb8\x8f",
                                         "a",
                                         "\r",
                                         "\n",
                                         "\xff",
                                         "1",
                                         "P" };
        unsigned seed = 7;
        for (int round = 0; round < 20000; round++) {
                char in[96];
                size_t len = 0;
                for (int k = 0; k < 12; k++) {
                        seed = seed * 1103515245u + 12345u;
                        const char *part = parts[(seed >> 16) % (sizeof parts / sizeof *parts)];
                        memcpy(in + len, part, strlen(part));
                        len += strlen(part);
                }
                struct neutral a, b;
                char *one = neutralise(NEUTRAL_TEXT, in, len, len, &a);
                char *many = neutralise(NEUTRAL_TEXT, in, len, 1 + (seed >> 8) % 3, &b);
                CHECK_STR(one, many);
                for (const char *p = one; *p; p++)
                        CHECK((unsigned char) *p >= 0x20 || *p == '\n' || *p == '\t' || *p == '\r');
                CHECK(!strstr(one, "\302\233") && !strstr(one, "\xe2\x80\xae"));
                free(one);
                free(many);
        }
}

static const struct test_case cases[] = {
        CASE(test_neutral__colour_passes_and_is_reset),
        CASE(test_neutral__no_spelling_conceals),
        CASE(test_neutral__nothing_else_is_live),
        CASE(test_neutral__a_return_does_not_write_over_a_line),
        CASE(test_neutral__a_string_without_end_does_not_swallow_the_rest),
        CASE(test_neutral__a_full_screen_program_works),
        CASE(test_neutral__a_terminal_is_left_quiet),
        CASE(test_neutral__hidden_characters_are_marked),
        CASE(test_neutral__smuggled_text_is_reported),
        CASE(test_neutral__text_of_the_world_is_left_alone),
        CASE(test_neutral__what_is_not_utf8_is_marked),
        CASE(test_neutral__random_bytes_leave_nothing_live),
};
TEST_MAIN(cases)
