/* SPDX-License-Identifier: MIT */
/* output/regex_internal.h - what the parser and the matcher of regular expressions share. */
#pragma once
#include "output/regex.h"

struct regex_range {
        uint32_t first, last;
};

/* A set of characters. */
struct regex_class {
        struct regex_range *ranges;
        size_t n, cap;
        uint32_t categories;
        bool negated;
};

enum regex_op { OP_CLASS, OP_SPLIT, OP_JUMP, OP_START, OP_END, OP_WORD, OP_NOT_WORD, OP_MATCH };

struct regex_instruction {
        uint8_t op;
        uint32_t x, y; /* CLASS: x; SPLIT: both; JUMP: x */
};

struct regex {
        struct regex_instruction *program;
        size_t n, cap;
        struct regex_class *classes;
        size_t n_classes;
        uint32_t *scratch; /* of the matcher: two sets of states and a stack */
        bool anchored;     /* every match begins at the start of the text */
};

/* regex_class.c. All return -1 if out of memory. */
int regex_class_add(struct regex_class *c, uint32_t first, uint32_t last);
/* \d \w \s and, in upper case, what they exclude. */
int regex_class_letter(struct regex_class *c, char letter);
bool regex_class_has(const struct regex_class *c, uint32_t point);
bool regex_is_word(uint32_t point);
