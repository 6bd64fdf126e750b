/* SPDX-License-Identifier: MIT */
/* output/neutral.h - neutralizes the output of a box before it reaches a terminal, a program or a user. Pure:
 * bytes in, bytes out; it never allows an effect. */
#pragma once
#include "base/buf.h"

#include <stdint.h>

enum neutral_mode {
        NEUTRAL_TEXT = 0, /* no escape sequence passes */
        NEUTRAL_COLOUR,   /* colours pass (SGR), but not concealed text; they are reset at the end */
        NEUTRAL_SCREEN /* passes what full-screen programs need, but no clipboard, title or report of contents
                        */
};

/* Why something was cut. */
enum neutral_cut {
        CUT_ESCAPE = 0, /* an ECMA-48 sequence, 7 or 8 bit */
        CUT_CONTROL,    /* C0, C1, line separators; a carriage return without a newline becomes a newline */
        CUT_BIDI,
        CUT_TAG,       /* U+E0000..E007F: text that models read and users do not see */
        CUT_INVISIBLE, /* zero-width characters, fillers, stray joiners and variation selectors */
        CUT_PRIVATE,   /* private use, and code points that Unicode has not assigned */
        CUT_UTF8,      /* bytes that are not UTF-8 */
        CUT__COUNT
};

enum { NEUTRAL_SEQUENCE = 256, NEUTRAL_STRING = 4096, NEUTRAL_HIDDEN = 256, NEUTRAL_HELD = 32 };

/* Ends what makes a terminal type by itself (mouse, focus, colours, size, keys) or locks the keyboard. */
#define NEUTRAL_QUIET                                                                                        \
        "\033[2l\033[?9l\033[?1000l\033[?1001l\033[?1002l\033[?1003l\033[?1004l\033[?2031l\033[?2048l\033[>" \
        "4m"

/* One stream. It holds all state: a write may be split anywhere. */
struct neutral {
        enum neutral_mode mode;
        unsigned state;
        uint8_t pending[4]; /* the beginning of a character */
        unsigned pending_n;
        uint8_t sequence[NEUTRAL_SEQUENCE]; /* of an escape sequence, without ESC */
        unsigned sequence_n, string_n;
        uint8_t held[NEUTRAL_HELD]; /* characters that pass only if a matching one follows */
        unsigned held_n;
        uint8_t before; /* class of the preceding character */
        uint8_t marked; /* the kind of the cut that ends the output so far, from 1; 0: none */
        bool coloured;
        bool reports; /* a mode was set: the terminal may type by itself, or not at all */
        bool asked;   /* a query passed that the terminal answers on its input */
        uint64_t cut[CUT__COUNT];
        char hidden[NEUTRAL_HIDDEN]; /* the text spelled with tags, truncated to fit */
        unsigned hidden_n;
};

void neutral_init(struct neutral *n, enum neutral_mode mode);
/* Appends the allowed part of `in` to `out`. Except in NEUTRAL_SCREEN every cut leaves a mark: <ESC]52>,
 * <U+202E>. */
void neutral_feed(struct neutral *n, struct span in, struct buf *out);
/* Ends the stream: marks held characters. In NEUTRAL_COLOUR it resets colours, in NEUTRAL_SCREEN modes. */
void neutral_end(struct neutral *n, struct buf *out);
uint64_t neutral_cuts(const struct neutral *n); /* of all kinds */
