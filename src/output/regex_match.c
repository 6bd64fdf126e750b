/* SPDX-License-Identifier: MIT */
/* output/regex_match.c - runs a compiled expression over a text: a set of states that moves one character at
 * a time, so that the time is the length of the text times that of the program. Pure. */
#include "output/regex_internal.h"
#include "output/unicode.h"

static const uint32_t NO_POINT = 0xffffffff; /* before the start, after the end */

/* A sparse set: `dense` lists its states, `sparse` has the place of each in the list. */
struct states {
        uint32_t *dense, *sparse;
        uint32_t n;
};

struct matching {
        struct regex *r;
        struct span text;
        uint64_t *steps;
        uint32_t *stack;
        struct states now, next;
        uint32_t before, after; /* the characters around the position */
        bool matched;
};

static bool has_state(const struct states *s, uint32_t state)
{
        return s->sparse[state] < s->n && s->dense[s->sparse[state]] == state;
}

static void put_state(struct states *s, uint32_t state)
{
        s->sparse[state] = s->n;
        s->dense[s->n++] = state;
}

static bool assertion_holds(const struct matching *m, enum regex_op op)
{
        bool word = (m->before != NO_POINT && regex_is_word(m->before)) !=
                    (m->after != NO_POINT && regex_is_word(m->after));
        switch (op) {
        case OP_START:
                return m->before == NO_POINT;
        case OP_END:
                return m->after == NO_POINT;
        case OP_WORD:
                return word;
        case OP_NOT_WORD:
                return !word;
        case OP_CLASS:
        case OP_SPLIT:
        case OP_JUMP:
        case OP_MATCH:
                break;
        }
        return false;
}

/* Adds a state and all that it reaches without a character. False: the steps are used up. */
static bool reach_state(struct matching *m, struct states *to, uint32_t state)
{
        uint32_t n = 0;
        m->stack[n++] = state;
        while (n > 0) {
                state = m->stack[--n];
                if (has_state(to, state))
                        continue;
                if (*m->steps == 0)
                        return false;
                --*m->steps;
                put_state(to, state);
                const struct regex_instruction *i = &m->r->program[state];
                switch ((enum regex_op) i->op) {
                case OP_SPLIT:
                        m->stack[n++] = i->y;
                        m->stack[n++] = i->x;
                        break;
                case OP_JUMP:
                        m->stack[n++] = i->x;
                        break;
                case OP_START:
                case OP_END:
                case OP_WORD:
                case OP_NOT_WORD:
                        if (assertion_holds(m, (enum regex_op) i->op))
                                m->stack[n++] = state + 1;
                        break;
                case OP_MATCH:
                        m->matched = true;
                        break;
                case OP_CLASS:
                        break;
                }
        }

        return true;
}

/* The character at `at`: its length; bytes that are not UTF-8 are one character each. */
static size_t point_at(struct span text, size_t at, uint32_t *ret_point)
{
        *ret_point = NO_POINT;
        if (at >= text.n)
                return 0;

        int k = utf8_decode(span_of(text.p + at, text.n - at), ret_point);
        if (k > 0)
                return (size_t) k;

        *ret_point = 0xfffd;
        return 1;
}

static uint32_t point_before(struct span text, size_t at)
{
        uint32_t c = NO_POINT;
        if (at == 0)
                return NO_POINT;

        size_t back = 1;
        while (back < 4 && back < at && (text.p[at - back] & 0xc0) == 0x80)
                back++;
        (void) point_at(text, at - back, &c);
        return c;
}

static void begin_match(struct matching *m, struct regex *r, struct span text, size_t at, uint64_t *steps)
{
        size_t n = r->n;
        *m = (struct matching){ .r = r, .text = text, .steps = steps, .before = point_before(text, at) };
        m->now = (struct states){ r->scratch, r->scratch + n, 0 };
        m->next = (struct states){ r->scratch + 2 * n, r->scratch + 3 * n, 0 };
        m->stack = r->scratch + 4 * n;
}

/* Moves all states over the character m->after, which ends where m->before is it and m->after the one
 * behind. */
static bool move_states(struct matching *m, uint32_t over)
{
        m->next.n = 0;
        m->matched = false;
        for (uint32_t i = 0; i < m->now.n; i++) {
                const struct regex_instruction *x = &m->r->program[m->now.dense[i]];
                if (x->op == OP_CLASS && regex_class_has(&m->r->classes[x->x], over) &&
                    !reach_state(m, &m->next, m->now.dense[i] + 1))
                        return false;
        }

        struct states swap = m->now;
        m->now = m->next;
        m->next = swap;
        return true;
}

static enum regex_match run_match(struct matching *m, size_t at, bool anywhere, size_t *ret_end)
{
        enum regex_match answer = REGEX_NO;
        size_t length = point_at(m->text, at, &m->after);
        for (bool first = true;; first = false) {
                if ((first || anywhere) && !reach_state(m, &m->now, 0))
                        return REGEX_BUDGET;
                if (m->matched) {
                        answer = REGEX_YES;
                        *ret_end = at;
                        if (anywhere)
                                return answer;
                }
                if (length == 0 || (m->now.n == 0 && !anywhere))
                        return answer;
                uint32_t over = m->after;
                at += length;
                m->before = over;
                length = point_at(m->text, at, &m->after);
                if (!move_states(m, over))
                        return REGEX_BUDGET;
        }
}

enum regex_match regex_search(struct regex *r, struct span text, uint64_t *steps)
{
        struct matching m;
        size_t end;
        begin_match(&m, r, text, 0, steps);
        return run_match(&m, 0, !r->anchored, &end);
}

enum regex_match regex_at(struct regex *r, struct span text, size_t at, uint64_t *steps, size_t *ret_end)
{
        struct matching m;
        begin_match(&m, r, text, at, steps);
        return run_match(&m, at, false, ret_end);
}
