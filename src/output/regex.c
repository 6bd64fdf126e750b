/* SPDX-License-Identifier: MIT */
/* output/regex.c - compiles a regular expression: pattern to tree, tree to program. Counted repetitions are
 * written out, within REGEX_MAX_PROGRAM. Never: recurses deeper than REGEX_MAX_DEPTH groups. Pure. */
#include "base/vec.h"
#include "output/category.h"
#include "output/regex_internal.h"
#include "output/unicode.h"

#include <stdlib.h>

enum tree_kind { TREE_EMPTY, TREE_CLASS, TREE_ASSERT, TREE_THEN, TREE_OR, TREE_REPEAT };
static const uint32_t UNBOUNDED = UINT32_MAX;

struct tree {
        enum tree_kind kind;
        uint32_t a, b;     /* THEN, OR: its parts; REPEAT: a; CLASS: its number; ASSERT: the operation */
        uint32_t min, max; /* REPEAT */
};

struct parser {
        struct regex *r;
        const uint8_t *p, *end;
        struct tree *trees;
        size_t n, cap;
        unsigned depth, emitted;
        const char *why;
};

static int parse_failed(struct parser *s, const char *why)
{
        if (!s->why)
                s->why = why;
        return -1;
}

static const char no_memory[] = "out of memory";

static int tree_add(struct parser *s, struct tree t, uint32_t *ret_tree)
{
        if (vec_room((void **) &s->trees, s->n, &s->cap, sizeof *s->trees) < 0)
                return parse_failed(s, no_memory);
        s->trees[s->n] = t;
        *ret_tree = (uint32_t) s->n++;
        return 0;
}

/* There is room for one per byte of the pattern. */
static struct regex_class *class_new(struct parser *s) { return &s->r->classes[s->r->n_classes++]; }

static bool at(const struct parser *s, char c) { return s->p < s->end && *s->p == (uint8_t) c; }

static bool take_char(struct parser *s, char c)
{
        bool found = at(s, c);
        s->p += found;
        return found;
}

static int take_point(struct parser *s, uint32_t *ret_point)
{
        int k = s->p < s->end ? utf8_decode(span_of(s->p, (size_t) (s->end - s->p)), ret_point) : -1;
        if (k <= 0)
                return parse_failed(s, s->p < s->end ? "it is not UTF-8" : "it ends too early");
        s->p += k;
        return 0;
}

/* ---- escapes ---- */

static int take_hex(struct parser *s, unsigned digits, uint32_t *ret_value)
{
        uint32_t v = 0;
        for (unsigned i = 0; i < digits; i++) {
                uint8_t c = s->p < s->end ? *s->p : 0;
                uint8_t low = c | 0x20;
                if (!((c >= '0' && c <= '9') || (low >= 'a' && low <= 'f')))
                        return parse_failed(s, "hexadecimal digits are missing");
                v = v << 4 | (uint32_t) (c <= '9' ? c - '0' : low - 'a' + 10);
                s->p++;
        }

        *ret_value = v;
        return 0;
}

/* After \u: XXXX, a pair of surrogates, or {X...}. */
static int take_unicode(struct parser *s, uint32_t *ret_point)
{
        uint32_t v = 0, low = 0, digit = 0;
        if (take_char(s, '{')) {
                do {
                        if (take_hex(s, 1, &digit) < 0)
                                return -1;
                        v = v << 4 | digit;
                } while (v <= 0x10ffff && !at(s, '}'));
                *ret_point = v;
                return v <= 0x10ffff && take_char(s, '}') ? 0
                                                          : parse_failed(s, "\\u{...} is not a code point");
        }

        if (take_hex(s, 4, &v) < 0)
                return -1;

        if (v >= 0xd800 && v < 0xdc00 && s->end - s->p >= 6 && s->p[0] == '\\' && s->p[1] == 'u') {
                s->p += 2;
                if (take_hex(s, 4, &low) < 0)
                        return -1;
                if (low < 0xdc00 || low > 0xdfff)
                        return parse_failed(s, "half a surrogate pair");
                v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
        }

        *ret_point = v;
        return 0;
}

static int take_control(struct parser *s, uint32_t *ret_point)
{
        uint8_t c = s->p < s->end ? *s->p : 0, low = c | 0x20;
        if (low < 'a' || low > 'z')
                return parse_failed(s, "\\c needs a letter");
        s->p++;
        *ret_point = c & 31;
        return 0;
}

/* An escape that stands for one character; s->p is behind the backslash. */
static int take_escape(struct parser *s, bool in_class, uint32_t *ret_point)
{
        static const char from[] = "tnvfr", to[] = "\t\n\v\f\r";
        uint8_t c = *s->p;
        const char *k = c ? strchr(from, c) : NULL;
        if (c >= '1' && c <= '9')
                return parse_failed(s, "back-references cannot be matched in linear time");

        if (c >= 0x80)
                return take_point(s, ret_point);

        s->p++;
        if (k) {
                *ret_point = (uint8_t) to[k - from];
                return 0;
        }

        switch (c) {
        case 'x':
                return take_hex(s, 2, ret_point);
        case 'u':
                return take_unicode(s, ret_point);
        case 'c':
                return take_control(s, ret_point);
        case '0':
                *ret_point = 0;
                return 0;
        case 'b':
                *ret_point = '\b';
                return in_class ? 0 : parse_failed(s, "\\b is no character here");
        default:
                *ret_point = c;
                return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? parse_failed(s, "no such escape") : 0;
        }
}

/* \d \p{...} and the like: 1 if a set was added to the class, 0 if it is not one. s->p is at the letter. */
static int take_set(struct parser *s, struct regex_class *c)
{
        char letter = (char) *s->p;
        if (strchr("dDwWsS", letter) && letter) {
                s->p++;
                return regex_class_letter(c, letter) < 0 ? parse_failed(s, no_memory) : 1;
        }

        if (letter != 'p' && letter != 'P')
                return 0;

        s->p++;
        const uint8_t *name = s->p + 1;
        if (!take_char(s, '{'))
                return parse_failed(s, "\\p needs {...}");
        while (s->p < s->end && *s->p != '}')
                s->p++;

        uint32_t bits = category_find(span_of(name, (size_t) (s->p - name)));
        if (!take_char(s, '}') || bits == 0)
                return parse_failed(s, "\\p{...} names no general category");

        c->categories |= letter == 'P' ? ~bits : bits;
        return 1;
}

/* ---- atoms ---- */

/* One end of a range: 1 if it was a set, which is added and cannot be an end. */
static int take_member(struct parser *s, struct regex_class *c, uint32_t *ret_point)
{
        if (!take_char(s, '\\'))
                return take_point(s, ret_point);

        if (s->p == s->end)
                return parse_failed(s, "it ends in a backslash");

        int set = take_set(s, c);
        return set != 0 ? set : take_escape(s, true, ret_point);
}

static int parse_class(struct parser *s, struct regex_class *c)
{
        c->negated = take_char(s, '^');
        while (!take_char(s, ']')) {
                uint32_t first, last;
                if (s->p == s->end)
                        return parse_failed(s, "a ] is missing");
                int set = take_member(s, c, &first);
                if (set < 0)
                        return -1;
                if (set)
                        continue;
                last = first;
                if (s->end - s->p >= 2 && s->p[0] == '-' && s->p[1] != ']') {
                        s->p++;
                        if (take_member(s, c, &last) != 0)
                                return parse_failed(s, "a set cannot end a range");
                }
                if (last < first)
                        return parse_failed(s, "a range is out of order");
                if (regex_class_add(c, first, last) < 0)
                        return parse_failed(s, no_memory);
        }

        return 0;
}

static int parse_or(struct parser *s, uint32_t *ret_tree);

static int parse_group(struct parser *s, uint32_t *ret_tree)
{
        if (take_char(s, '?') && !take_char(s, ':')) {
                bool name = take_char(s, '<') && !at(s, '=') && !at(s, '!');
                if (!name)
                        return parse_failed(s, "look-around cannot be matched in linear time");
                while (s->p < s->end && *s->p != '>')
                        s->p++;
                s->p += s->p < s->end;
        }

        if (++s->depth > REGEX_MAX_DEPTH)
                return parse_failed(s, "it nests too deep");
        int r = parse_or(s, ret_tree);
        s->depth--;
        return r < 0 ? -1 : take_char(s, ')') ? 0 : parse_failed(s, "a ) is missing");
}

static int add_assert(struct parser *s, enum regex_op op, uint32_t *ret_tree)
{
        return tree_add(s, (struct tree){ .kind = TREE_ASSERT, .a = op }, ret_tree);
}

/* The set of one character, or of several. */
static int parse_set(struct parser *s, uint32_t *ret_tree)
{
        uint32_t number = (uint32_t) s->r->n_classes, point = 0;
        struct regex_class *c = class_new(s);
        int r = 1;
        if (take_char(s, '[')) {
                r = parse_class(s, c);
        } else if (take_char(s, '.')) {
                c->negated = true;
                r = regex_class_add(c, '\n', '\n') < 0 || regex_class_add(c, '\r', '\r') < 0 ||
                                    regex_class_add(c, 0x2028, 0x2029) < 0
                            ? parse_failed(s, no_memory)
                            : 0;
        } else if (take_char(s, '\\')) {
                r = s->p == s->end ? parse_failed(s, "it ends in a backslash") : take_set(s, c);
                r = r == 1 ? 0 : r < 0 ? -1 : take_escape(s, false, &point) < 0 ? -1 : 1;
        } else if (take_point(s, &point) < 0) {
                return -1;
        }

        if (r == 1 && regex_class_add(c, point, point) < 0)
                return parse_failed(s, no_memory);

        return r < 0 ? -1 : tree_add(s, (struct tree){ .kind = TREE_CLASS, .a = number }, ret_tree);
}

static int parse_atom(struct parser *s, uint32_t *ret_tree)
{
        if (take_char(s, '('))
                return parse_group(s, ret_tree);
        if (take_char(s, '^'))
                return add_assert(s, OP_START, ret_tree);
        if (take_char(s, '$'))
                return add_assert(s, OP_END, ret_tree);

        if (s->end - s->p >= 2 && s->p[0] == '\\' && (s->p[1] | 0x20) == 'b') {
                s->p += 2;
                return add_assert(s, s->p[-1] == 'b' ? OP_WORD : OP_NOT_WORD, ret_tree);
        }

        if (strchr("*+?{", *s->p) && *s->p)
                return parse_failed(s, "nothing stands before a repetition");

        return parse_set(s, ret_tree);
}

static int take_count(struct parser *s, uint32_t *ret_count)
{
        uint32_t v = 0;
        if (s->p == s->end || *s->p < '0' || *s->p > '9')
                return parse_failed(s, "{ begins no repetition: write \\{");
        for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++)
                v = v > REGEX_MAX_COUNT ? v : v * 10 + (uint32_t) (*s->p - '0');
        *ret_count = v;
        return v > REGEX_MAX_COUNT ? parse_failed(s, "a repetition counts further than 1000") : 0;
}

/* 1: a repetition was read; 0: none follows. */
static int parse_count(struct parser *s, uint32_t *min, uint32_t *max)
{
        *min = 0;
        *max = UNBOUNDED;
        if (take_char(s, '*'))
                return 1;

        if (take_char(s, '+')) {
                *min = 1;
                return 1;
        }

        if (take_char(s, '?')) {
                *max = 1;
                return 1;
        }

        if (!take_char(s, '{'))
                return 0;

        if (take_count(s, min) < 0)
                return -1;

        *max = *min;
        if (take_char(s, ',')) {
                *max = UNBOUNDED;
                if (!at(s, '}') && take_count(s, max) < 0)
                        return -1;
        }

        if (!take_char(s, '}'))
                return parse_failed(s, "a } is missing");

        return *max < *min ? parse_failed(s, "a repetition is out of order") : 1;
}

static int parse_repeat(struct parser *s, uint32_t *ret_tree)
{
        uint32_t atom, min, max;
        if (parse_atom(s, &atom) < 0)
                return -1;

        int r = parse_count(s, &min, &max);
        if (r <= 0) {
                *ret_tree = atom;
                return r;
        }

        (void) take_char(s, '?'); /* lazy: matches the same texts */
        return tree_add(s, (struct tree){ .kind = TREE_REPEAT, .a = atom, .min = min, .max = max }, ret_tree);
}

static int parse_then(struct parser *s, uint32_t *ret_tree)
{
        if (tree_add(s, (struct tree){ .kind = TREE_EMPTY }, ret_tree) < 0)
                return -1;

        for (bool first = true; s->p < s->end && *s->p != '|' && *s->p != ')'; first = false) {
                uint32_t next;
                if (parse_repeat(s, &next) < 0)
                        return -1;
                if (first)
                        *ret_tree = next;
                else if (tree_add(s, (struct tree){ .kind = TREE_THEN, .a = *ret_tree, .b = next },
                                  ret_tree) < 0)
                        return -1;
        }

        return 0;
}

static int parse_or(struct parser *s, uint32_t *ret_tree)
{
        if (parse_then(s, ret_tree) < 0)
                return -1;

        while (take_char(s, '|')) {
                uint32_t next;
                if (parse_then(s, &next) < 0 ||
                    tree_add(s, (struct tree){ .kind = TREE_OR, .a = *ret_tree, .b = next }, ret_tree) < 0)
                        return -1;
        }

        return 0;
}

/* ---- the program ---- */

static int put_node(struct parser *s, enum regex_op op, uint32_t x, uint32_t y)
{
        struct regex *r = s->r;
        if (r->n == REGEX_MAX_PROGRAM)
                return parse_failed(s, "its repetitions are too large");

        if (vec_room((void **) &r->program, r->n, &r->cap, sizeof *r->program) < 0)
                return parse_failed(s, no_memory);

        r->program[r->n++] = (struct regex_instruction){ (uint8_t) op, x, y };
        return 0;
}

static int emit_tree(struct parser *s, uint32_t tree);

/* Each optional round may jump behind the last one; the jumps are linked through x until it is known. */
static int emit_optional(struct parser *s, uint32_t tree, uint32_t rounds)
{
        uint32_t last = UNBOUNDED;
        for (; rounds > 0; rounds--) {
                uint32_t here = (uint32_t) s->r->n;
                if (put_node(s, OP_SPLIT, here + 1, last) < 0 || emit_tree(s, tree) < 0)
                        return -1;
                last = here;
        }

        while (last != UNBOUNDED) {
                uint32_t before = s->r->program[last].y;
                s->r->program[last].y = (uint32_t) s->r->n;
                last = before;
        }

        return 0;
}

static int emit_repeat(struct parser *s, const struct tree *t)
{
        uint32_t tree = t->a, min = t->min, max = t->max;
        for (uint32_t i = 0; i < min; i++)
                if (emit_tree(s, tree) < 0)
                        return -1;

        if (max != UNBOUNDED)
                return emit_optional(s, tree, max - min);

        uint32_t loop = (uint32_t) s->r->n;
        if (put_node(s, OP_SPLIT, loop + 1, 0) < 0 || emit_tree(s, tree) < 0 ||
            put_node(s, OP_JUMP, loop, 0) < 0)
                return -1;

        s->r->program[loop].y = (uint32_t) s->r->n;
        return 0;
}

static int emit_or(struct parser *s, const struct tree *t)
{
        uint32_t split = (uint32_t) s->r->n, b = t->b;
        if (put_node(s, OP_SPLIT, split + 1, 0) < 0 || emit_tree(s, t->a) < 0)
                return -1;

        uint32_t jump = (uint32_t) s->r->n;
        if (put_node(s, OP_JUMP, 0, 0) < 0)
                return -1;

        s->r->program[split].y = (uint32_t) s->r->n;
        if (emit_tree(s, b) < 0)
                return -1;

        s->r->program[jump].x = (uint32_t) s->r->n;
        return 0;
}

/* Sequences and alternatives nest to the left, as deep as they are long: bounded by the pattern. Repeated
 * empty groups add nothing to the program, so that emitted trees are counted as well. */
static int emit_tree(struct parser *s, uint32_t tree)
{
        const struct tree *t = &s->trees[tree];
        if (++s->emitted > 8 * REGEX_MAX_PROGRAM)
                return parse_failed(s, "its repetitions are too large");

        switch (t->kind) {
        case TREE_EMPTY:
                return 0;
        case TREE_CLASS:
                return put_node(s, OP_CLASS, t->a, 0);
        case TREE_ASSERT:
                return put_node(s, (enum regex_op) t->a, 0, 0);
        case TREE_THEN:
                return emit_tree(s, t->a) < 0 ? -1 : emit_tree(s, t->b);
        case TREE_OR:
                return emit_or(s, t);
        case TREE_REPEAT:
                return emit_repeat(s, t);
        }
        return -1;
}

static int compile_program(struct parser *s)
{
        uint32_t root;
        s->r->classes = calloc((size_t) (s->end - s->p) + 1, sizeof *s->r->classes);
        if (!s->r->classes)
                return parse_failed(s, no_memory);

        if (parse_or(s, &root) < 0)
                return -1;

        if (s->p < s->end)
                return parse_failed(s, "a ) has no (");

        if (emit_tree(s, root) < 0 || put_node(s, OP_MATCH, 0, 0) < 0)
                return -1;

        s->r->anchored = s->r->program[0].op == OP_START;
        s->r->scratch = calloc(6 * s->r->n + 2, sizeof *s->r->scratch);
        return s->r->scratch ? 0 : parse_failed(s, no_memory);
}

struct regex *regex_new(struct span pattern, const char **ret_why)
{
        struct regex *r = calloc(1, sizeof *r);
        struct parser s = { .r = r, .p = pattern.p, .end = pattern.p + pattern.n };
        int bad = !r                            ? parse_failed(&s, no_memory)
                  : pattern.n > REGEX_MAX_BYTES ? parse_failed(&s, "it is too long")
                                                : compile_program(&s);
        free(s.trees);
        if (bad < 0) {
                *ret_why = s.why;
                regex_free(r);
                return NULL;
        }

        return r;
}

void regex_free(struct regex *r)
{
        if (!r)
                return;

        for (size_t i = 0; i < r->n_classes; i++)
                free(r->classes[i].ranges);
        free(r->classes);
        free(r->program);
        free(r->scratch);
        free(r);
}
