/* SPDX-License-Identifier: MIT */
/* output/neutral.c - removes terminal control sequences and invisible characters from a text.
 *
 * One state machine over bytes: ECMA-48 sequences are collected and passed or cut as a whole; characters are
 * decoded strictly and checked by their class and the preceding character.
 */
#include "output/neutral.h"
#include "output/unicode.h"

#include <stdio.h>

enum state {
        GROUND = 0,
        RETURN,     /* after a carriage return */
        ESCAPE,     /* after ESC */
        CSI,        /* after ESC [ */
        STRING,     /* after ESC ] P X ^ _: ends with ST, an OSC also with BEL */
        STRING_ESC, /* in it, after ESC */
        STRING_C2   /* in it, after the first byte of an 8-bit ST */
};

enum {
        ESC = 0x1b,
        BEL = 7,
        CAN = 0x18,
        SUB = 0x1a,
        SELECTED = UNASSIGNED + 1,
        FLAG,
        WORDLESS,
        BROKEN,
        AWAITS
};
enum {
        BLACK_FLAG = 0x1f3f4,
        KEYCAP_MARK = 0x20e3,
        TAG_END = 0xe007f,
        TEXT_SELECTOR = 0xfe0e,
        EMOJI_SELECTOR
};

void neutral_init(struct neutral *n, enum neutral_mode mode) { *n = (struct neutral){ .mode = mode }; }

uint64_t neutral_cuts(const struct neutral *n)
{
        uint64_t sum = 0;
        for (unsigned i = 0; i < CUT__COUNT; i++)
                sum += n->cut[i];
        return sum;
}

/* ---- marks ---- */

/* One mark for consecutive cuts of a kind: marks must not inflate the output. */
static void put_mark(struct neutral *n, enum neutral_cut kind, const char *text, struct buf *out)
{
        n->cut[kind]++;
        n->before = PLAIN;
        if (n->mode == NEUTRAL_SCREEN || n->marked == kind + 1)
                return;

        buf_puts(out, text);
        n->marked = (uint8_t) (kind + 1);
}

static void mark_char(struct neutral *n, enum neutral_cut kind, uint32_t c, struct buf *out)
{
        char text[16];
        (void) snprintf(text, sizeof text, "<U+%04X>", c);
        put_mark(n, kind, text, out);
}

static void mark_byte(struct neutral *n, uint8_t b, struct buf *out)
{
        char text[8];
        (void) snprintf(text, sizeof text, "<%02X>", b);
        put_mark(n, CUT_UTF8, text, out);
}

/* <ESC]52>: the beginning of the sequence, up to the first character other than a letter or digit. */
static void mark_sequence(struct neutral *n, struct buf *out)
{
        char text[24] = "<ESC";
        size_t k = 4;
        for (unsigned i = 0; i < n->sequence_n && i < 12 && n->sequence[i] > ' ' && n->sequence[i] < 0x7f;
             i++) {
                if (n->sequence[i] == ';' && n->state != CSI)
                        break;
                text[k++] = (char) n->sequence[i];
        }

        (void) snprintf(text + k, sizeof text - k, ">");
        put_mark(n, CUT_ESCAPE, text, out);
}

static void pass_bytes(struct neutral *n, const void *p, size_t len, struct buf *out)
{
        buf_add(out, p, len);
        n->marked = 0;
}

/* ---- escape sequences ---- */

/* The parameters of a CSI sequence: only digits, `;` and `:` between [ and the final byte. */
static bool is_simple(const struct neutral *n)
{
        for (unsigned i = 1; i + 1 < n->sequence_n; i++)
                if (n->sequence[i] < '0' || n->sequence[i] > ';')
                        return false;
        return true;
}

/* The next number of a list that ends with the final byte; *at moves past it. */
static unsigned next_number(const struct neutral *n, unsigned *at)
{
        unsigned value = 0;
        while (*at + 1 < n->sequence_n && n->sequence[*at] >= '0' && n->sequence[*at] <= '9') {
                value = value < 100000 ? value * 10 + (n->sequence[*at] - '0') : value;
                ++*at;
        }

        if (*at + 1 < n->sequence_n)
                ++*at; /* the separator */
        return value;
}

/* After 38, 48 or 58: 5;N or 2;R;G;B, whole and with one kind of separator: of a colour that breaks off,
 * terminals read the rest as styles. */
static bool skip_colour(const struct neutral *n, unsigned *at)
{
        unsigned kind = next_number(n, at), more = kind == 2 ? 3 : 1;
        if (kind != 2 && kind != 5)
                return false;

        for (; more > 0; more--) {
                if (n->sequence[*at - 1] != ';' || *at + 1 >= n->sequence_n)
                        return false;
                (void) next_number(n, at);
        }

        return n->sequence[*at - 1] != ':';
}

/* Colours and styles, except concealed (8) and blinking text (5, 6). What follows a colon belongs to the
 * number before it. A number that no style has might be cut down to one that conceals. */
static bool is_colour(const struct neutral *n)
{
        enum { STYLE_MAX = 127 };
        if (!is_simple(n))
                return false;

        for (unsigned at = 1; at + 1 < n->sequence_n;) {
                unsigned value = next_number(n, &at);
                if (value == 8 || value == 5 || value == 6 || value > STYLE_MAX)
                        return false;

                bool group = n->sequence[at - 1] == ':';
                while (at + 1 < n->sequence_n && n->sequence[at - 1] == ':')
                        (void) next_number(n, &at);
                if (!group && (value == 38 || value == 48 || value == 58) && !skip_colour(n, &at))
                        return false;
        }

        return true;
}

/* Full-screen programs move, erase, scroll and switch modes; they may query the cursor position and the
 * terminal type (replies are drained at the end). Every sequence that reports contents, titles or settings
 * is cut. */
static bool is_screen_csi(const struct neutral *n)
{
        uint8_t final = n->sequence[n->sequence_n - 1], first = n->sequence[1];
        bool simple = is_simple(n);
        unsigned at = 1;
        if (final == 'm')
                return simple || first == '>'; /* with ? it asks */
        if (final == 'h' || final == 'l')
                return simple || first == '?';
        if (final == 'n') {
                unsigned what = next_number(n, &at);
                return simple && what == 6; /* 5 is ours: its answer ends the draining */
        }
        if (final == 'c')
                return simple || first == '>' || first == '=';
        if (final == 'q')
                return n->sequence[n->sequence_n - 2] == ' '; /* the cursor's shape */
        return simple && strchr("@ABCDEFGHIJKLMPSTXZ`abdefgrsu", final);
}

static bool is_screen_escape(const struct neutral *n)
{
        uint8_t first = n->sequence[0];
        if (n->sequence_n == 2)
                return strchr("()*+", first) && strchr("AB012", n->sequence[1]); /* character sets */
        return n->sequence_n == 1 && strchr("78=>DEHM", first);
}

static bool passes_sequence(const struct neutral *n)
{
        if (n->mode == NEUTRAL_TEXT || n->sequence_n == 0 || n->sequence_n == NEUTRAL_SEQUENCE)
                return false;

        bool csi = n->state == CSI;
        if (csi && n->sequence[n->sequence_n - 1] == 'm' && is_colour(n))
                return true;

        return n->mode == NEUTRAL_SCREEN &&
               (csi ? is_screen_csi(n) : n->state == ESCAPE && is_screen_escape(n));
}

static void end_sequence(struct neutral *n, struct buf *out)
{
        if (passes_sequence(n)) {
                buf_add(out, "\033", 1);
                buf_add(out, n->sequence, n->sequence_n);
                bool reset = n->sequence_n == 2 || (n->sequence_n == 3 && n->sequence[1] == '0');
                uint8_t final = n->sequence[n->sequence_n - 1];
                n->coloured = final == 'm' ? !reset : n->coloured;
                n->asked |= final == 'n' || final == 'c';
                n->reports |= final == 'h' || (final == 'm' && n->sequence[1] == '>');
        } else
                mark_sequence(n, out);

        n->state = GROUND;
        n->before = PLAIN;
        n->sequence_n = n->string_n = 0;
}

static void collect_byte(struct neutral *n, uint8_t b)
{
        if (n->sequence_n < NEUTRAL_SEQUENCE)
                n->sequence[n->sequence_n++] = b;
}

static void begin_sequence(struct neutral *n) { n->state = ESCAPE, n->sequence_n = n->string_n = 0; }

static void step_escape(struct neutral *n, uint8_t b, struct buf *out)
{
        collect_byte(n, b);
        if (b == '[' && n->sequence_n == 1)
                n->state = CSI;
        else if (n->sequence_n == 1 && strchr("]PX^_", b) && b)
                n->state = STRING;
        else if (b >= 0x30 || n->sequence_n == NEUTRAL_SEQUENCE)
                end_sequence(n, out);
}

static void step_csi(struct neutral *n, uint8_t b, struct buf *out)
{
        collect_byte(n, b);
        if (b >= 0x40 || n->sequence_n == NEUTRAL_SEQUENCE)
                end_sequence(n, out);
}

/* An unterminated string would swallow the rest of the output: its length is bounded as well. */
static void step_string(struct neutral *n, uint8_t b, struct buf *out)
{
        bool terminated = (n->state == STRING_ESC && b == '\\') || (n->state == STRING_C2 && b == 0x9c) ||
                          (b == BEL && n->sequence[0] == ']') || b == CAN || b == SUB;
        collect_byte(n, b);
        n->string_n++;
        n->state = b == ESC ? STRING_ESC : b == 0xc2 ? STRING_C2 : STRING;
        if (terminated || n->string_n == NEUTRAL_STRING) {
                n->state = STRING;
                end_sequence(n, out);
        }
}

/* ---- characters ---- */

/* Thai, Lao, Myanmar and Khmer write no blanks: U+200B stands between words, for those who break lines. */
enum { WORD_BREAK = 0x200b };
static bool is_wordless(uint32_t c)
{
        return (c >= 0xe00 && c < 0xf00) || (c >= 0x1000 && c < 0x10a0) || (c >= 0x1780 && c < 0x1800);
}

/* Held characters pass with the one that follows, or are marked. */
static void release_sequence(struct neutral *n, bool good, struct buf *out)
{
        unsigned held = n->held_n;
        n->held_n = 0;
        if (good) {
                pass_bytes(n, n->held, held, out);
                return;
        }

        uint32_t c = 0;
        for (unsigned at = 0; at < held;) {
                int k = utf8_decode(span_of(n->held + at, held - at), &c);
                enum unicode_class class = unicode_class(c);
                mark_char(n, class == TAG ? CUT_TAG : CUT_INVISIBLE, c, out);
                at += k > 0 ? (unsigned) k : 1;
        }
}

static void hold_bytes(struct neutral *n, const uint8_t *p, unsigned k)
{
        memcpy(n->held + n->held_n, p, k);
        n->held_n += k;
}

static void note_hidden(struct neutral *n, uint32_t c)
{
        if (c >= 0xe0020 && c < TAG_END && n->hidden_n + 1 < NEUTRAL_HIDDEN)
                n->hidden[n->hidden_n++] = (char) (c - 0xe0000);
}

/* A subdivision flag is the black flag, tags, and an end tag; Unicode recommends three. */
static bool is_flag(const struct neutral *n)
{
        static const char *const known[] = { "gbeng", "gbsct", "gbwls" };
        char spelled[8] = "";
        size_t k = 0;
        for (unsigned at = 0; at + 4 <= n->held_n && k < sizeof spelled - 1; at += 4)
                spelled[k++] = (char) ((n->held[at + 2] & 3) << 6 | (n->held[at + 3] & 0x3f));

        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (k == 6 && memcmp(spelled, known[i], 5) == 0 && spelled[5] == 0x7f)
                        return true;
        return false;
}

static void take_tag(struct neutral *n, uint32_t c, const uint8_t *p, unsigned k, struct buf *out)
{
        note_hidden(n, c);
        if (n->before == FLAG && n->held_n + k <= NEUTRAL_HELD) {
                hold_bytes(n, p, k);
                if (c == TAG_END) {
                        bool good = is_flag(n);
                        n->hidden_n -= good && n->hidden_n >= 5 ? 5 : 0;
                        n->before = EMOJI;
                        release_sequence(n, good, out);
                }
                return;
        }

        release_sequence(n, false, out);
        mark_char(n, CUT_TAG, c, out);
}

static void take_selector(struct neutral *n, uint32_t c, const uint8_t *p, unsigned k, struct buf *out)
{
        bool for_emoji = c == TEXT_SELECTOR || c == EMOJI_SELECTOR;
        if (for_emoji && (n->before == EMOJI || n->before == FLAG)) {
                pass_bytes(n, p, k, out);
                n->before = SELECTED;
        } else if (c == EMOJI_SELECTOR && n->before == KEYCAP)
                hold_bytes(n, p, k); /* for U+20E3 */
        else
                mark_char(n, CUT_INVISIBLE, c, out);
}

static void take_joiner(struct neutral *n, uint32_t c, const uint8_t *p, unsigned k, struct buf *out)
{
        if (n->before == JOINS || n->before == WORDLESS) {
                pass_bytes(n, p, k, out);
                n->before = PLAIN; /* one of them */
        } else if (n->before == EMOJI || n->before == MODIFIER || n->before == SELECTED || n->before == FLAG)
                hold_bytes(n, p, k); /* for the next emoji */
        else
                mark_char(n, CUT_INVISIBLE, c, out);
}

/* Behind a letter of such a script, where editors often leave two, or before one. */
static void take_break(struct neutral *n, const uint8_t *p, unsigned k, struct buf *out)
{
        if (n->before == WORDLESS || n->before == BROKEN) {
                pass_bytes(n, p, k, out);
                n->before = n->before == WORDLESS ? BROKEN : PLAIN;
        } else {
                hold_bytes(n, p, k);
                n->before = AWAITS;
        }
}

/* C1 controls are the 8-bit form of ESC and a letter. */
static void take_control(struct neutral *n, uint32_t c, const uint8_t *p, unsigned k, struct buf *out)
{
        bool sequence = c == 0x90 || c == 0x98 || (c >= 0x9b && c <= 0x9f && c != 0x9c);
        if (c == ESC)
                begin_sequence(n);
        else if (sequence) {
                begin_sequence(n);
                collect_byte(n, (uint8_t) (c - 0x40));
                n->state = c == 0x9b ? CSI : STRING;
        } else if (c == '\r')
                n->state = RETURN;
        else if (n->mode == NEUTRAL_SCREEN && c && strchr("\a\b\v\f\016\017", (int) c) && c < 0x20)
                pass_bytes(n, p, k, out);
        else
                mark_char(n, CUT_CONTROL, c, out);
}

static void take_character(struct neutral *n, uint32_t c, const uint8_t *p, unsigned k, struct buf *out)
{
        enum unicode_class class = unicode_class(c);
        if (n->held_n && !(class == TAG && n->before == FLAG)) {
                bool keycap = n->before == KEYCAP;
                bool good = n->before == AWAITS ? is_wordless(c)
                            : keycap            ? c == KEYCAP_MARK
                                                : n->before != FLAG && class == EMOJI;
                release_sequence(n, good, out);
                n->before = PLAIN;
        }

        switch (class) {
        case PLAIN:
        case JOINS:
        case EMOJI:
        case MODIFIER:
        case KEYCAP:
                pass_bytes(n, p, k, out);
                n->before = c == BLACK_FLAG ? FLAG : is_wordless(c) ? WORDLESS : class;
                return;
        case CONTROL:
                take_control(n, c, p, k, out);
                return;
        case JOINER:
                take_joiner(n, c, p, k, out);
                return;
        case SELECTOR:
                take_selector(n, c, p, k, out);
                return;
        case TAG:
                take_tag(n, c, p, k, out);
                return;
        case BIDI:
                mark_char(n, CUT_BIDI, c, out);
                return;
        case INVISIBLE:
                if (c == WORD_BREAK)
                        take_break(n, p, k, out);
                else
                        mark_char(n, CUT_INVISIBLE, c, out);
                return;
        case PRIVATE:
        case UNASSIGNED:
                mark_char(n, CUT_PRIVATE, c, out);
                return;
        }
}

/* ---- the stream ---- */

/* A carriage return moves the cursor over the text already written. */
static void step_return(struct neutral *n, uint8_t b, struct buf *out)
{
        n->state = GROUND;
        n->before = PLAIN;
        if (n->mode == NEUTRAL_SCREEN || b == '\n') {
                pass_bytes(n, "\r", 1, out);
                return;
        }

        n->cut[CUT_CONTROL]++;
        pass_bytes(n, "\n", 1, out);
}

/* Returns true if the byte is consumed. */
static bool step_byte(struct neutral *n, uint8_t b, struct buf *out)
{
        switch ((enum state) n->state) {
        case GROUND:
                return false;
        case RETURN:
                step_return(n, b, out);
                return false;
        case STRING:
        case STRING_ESC:
        case STRING_C2:
                step_string(n, b, out);
                return true;
        case ESCAPE:
        case CSI:
                if (b >= 0x20 && b < 0x7f) {
                        n->state == CSI ? step_csi(n, b, out) : step_escape(n, b, out);
                        return true;
                }
                end_sequence(n, out); /* a control or an unexpected byte aborts it */
                return false;
        }
        return false;
}

static bool is_plain_ascii(uint8_t b) { return (b >= 0x20 && b < 0x7f) || b == '\n' || b == '\t'; }

/* Eight bytes at once: none is a control, DEL or beyond ASCII. */
static bool is_plain_word(uint64_t w)
{
        const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
        uint64_t low = (w - ones * 0x20) & ~w, del = w ^ ones * 0x7f;
        return ((w | low | ((del - ones) & ~del)) & tops) == 0;
}

/* The length of a character that passes in any context; 0: any other. */
static unsigned plain_char(struct span s, uint8_t *ret_class)
{
        uint32_t c = 0;
        int k = utf8_decode(s, &c);
        if (k <= 1 || unicode_class(c) > UNICODE__PASSES || c == BLACK_FLAG)
                return 0;

        *ret_class = is_wordless(c) ? WORDLESS : (uint8_t) unicode_class(c);
        return (unsigned) k;
}

/* The length of the prefix of `in` that passes unchanged. */
static size_t plain_run(struct neutral *n, struct span in)
{
        size_t at = 0;
        uint64_t w;
        while (at < in.n) {
                size_t begin = at;
                while (at + 8 <= in.n && (memcpy(&w, in.p + at, 8), is_plain_word(w)))
                        at += 8;
                while (at < in.n && is_plain_ascii(in.p[at]))
                        at++;
                if (at > begin)
                        n->before = (uint8_t) unicode_class(in.p[at - 1]);
                unsigned k;
                while (at < in.n && (k = plain_char(span_of(in.p + at, in.n - at), &n->before)) > 0)
                        at += k;
                if (at == begin)
                        break;
        }
        return at;
}

/* Takes one character from the front of `in`; 0: incomplete. */
static size_t take_first(struct neutral *n, struct span in, struct buf *out)
{
        uint32_t c;
        int k = utf8_decode(in, &c);
        if (k == 0)
                return 0;
        if (k > 0) {
                take_character(n, c, in.p, (unsigned) k, out);
                return (size_t) k;
        }

        release_sequence(n, false, out);
        mark_byte(n, in.p[0], out);
        return 1;
}

/* Completes the rest of the last write byte by byte. */
static size_t take_pending(struct neutral *n, struct span in, struct buf *out)
{
        size_t used = 0;
        while (n->pending_n && used < in.n) {
                n->pending[n->pending_n++] = in.p[used++];
                size_t k = take_first(n, span_of(n->pending, n->pending_n), out);
                if (k == 0)
                        continue;
                if (k < n->pending_n) { /* its first byte was invalid: reads the rest again */
                        struct span rest = { n->pending + k, n->pending_n - k };
                        uint8_t again[4];
                        unsigned left = (unsigned) rest.n;
                        memcpy(again, rest.p, left);
                        n->pending_n = 0;
                        neutral_feed(n, span_of(again, left), out);
                        continue;
                }
                n->pending_n = 0;
        }
        return used;
}

void neutral_feed(struct neutral *n, struct span in, struct buf *out)
{
        size_t at = n->pending_n ? take_pending(n, in, out) : 0;
        while (at < in.n) {
                if (n->state != GROUND && step_byte(n, in.p[at], out)) {
                        at++;
                        continue;
                }

                size_t run = n->held_n ? 0 : plain_run(n, span_of(in.p + at, in.n - at));
                if (run) {
                        pass_bytes(n, in.p + at, run, out);
                        at += run;
                        continue;
                }

                size_t k = take_first(n, span_of(in.p + at, in.n - at), out);
                if (k == 0) {
                        n->pending_n = (unsigned) (in.n - at);
                        memcpy(n->pending, in.p + at, in.n - at);
                        return;
                }
                at += k;
        }
}

void neutral_end(struct neutral *n, struct buf *out)
{
        for (unsigned i = 0; i < n->pending_n; i++)
                mark_byte(n, n->pending[i], out);

        n->pending_n = 0;
        release_sequence(n, false, out);
        if (n->state == RETURN)
                step_return(n, 0, out);
        else if (n->state != GROUND)
                end_sequence(n, out);

        if (n->coloured && n->mode == NEUTRAL_COLOUR)
                buf_puts(out, "\033[0m");
        if (n->reports)
                buf_puts(out, NEUTRAL_QUIET);
        n->coloured = n->reports = false;
}
