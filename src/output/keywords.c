/* SPDX-License-Identifier: MIT */
/* output/keywords.c - the automaton of Aho and Corasick, with a whole row of transitions for each state: one
 * load per byte of text. Bytes are first mapped to the few that occur in words. Pure. */
#include "output/keywords.h"

#include <stdlib.h>

enum { STATES_MAX = 65000, NONE = -1 };

struct keywords {
        uint8_t column[256]; /* 0: occurs in no word */
        unsigned columns, states;
        uint16_t *next; /* state x column */
        int32_t *word;  /* that ends in this state, or NONE */
};

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; }

static void map_bytes(struct keywords *k, const char *const *words, size_t count)
{
        k->columns = 1;
        for (size_t i = 0; i < count; i++)
                for (const char *p = words[i]; *p; p++) {
                        uint8_t c = lower((uint8_t) *p);
                        if (!k->column[c])
                                k->column[c] = (uint8_t) k->columns++;
                }

        for (int c = 'A'; c <= 'Z'; c++)
                k->column[c] = k->column[c | 0x20];
}

static void add_word(struct keywords *k, const char *word, int32_t number)
{
        unsigned at = 0;
        for (const char *p = word; *p; p++) {
                uint16_t *to = &k->next[at * k->columns + k->column[(uint8_t) *p]];
                if (!*to)
                        *to = (uint16_t) k->states++;
                at = *to;
        }

        if (k->word[at] == NONE)
                k->word[at] = number;
}

/* Breadth first: what a state does not know, the longest suffix of it does. */
static void link_states(struct keywords *k, uint16_t *fail, uint16_t *queue)
{
        unsigned head = 0, tail = 0;
        for (unsigned c = 0; c < k->columns; c++)
                if (k->next[c])
                        queue[tail++] = k->next[c];

        while (head < tail) {
                unsigned at = queue[head++];
                if (k->word[at] == NONE)
                        k->word[at] = k->word[fail[at]];
                for (unsigned c = 0; c < k->columns; c++) {
                        uint16_t *to = &k->next[at * k->columns + c];
                        uint16_t other = k->next[fail[at] * k->columns + c];
                        if (!*to) {
                                *to = other;
                                continue;
                        }
                        fail[*to] = other;
                        queue[tail++] = *to;
                }
        }
}

struct keywords *keywords_new(const char *const *words, size_t count)
{
        size_t states = 1;
        for (size_t i = 0; i < count; i++)
                states += strlen(words[i]);

        if (states > STATES_MAX)
                return NULL;

        struct keywords *k = calloc(1, sizeof *k);
        if (!k)
                return NULL;

        map_bytes(k, words, count);
        k->states = 1;
        k->next = calloc(states * k->columns, sizeof *k->next);
        k->word = calloc(states, sizeof *k->word);
        uint16_t *fail = calloc(states, sizeof *fail), *queue = calloc(states, sizeof *queue);
        bool good = k->next && k->word && fail && queue;
        for (size_t i = 0; good && i < states; i++)
                k->word[i] = NONE;
        for (size_t i = 0; good && i < count; i++)
                add_word(k, words[i], (int32_t) i);
        if (good)
                link_states(k, fail, queue);

        free(fail);
        free(queue);
        if (good)
                return k;
        keywords_free(k);
        return NULL;
}

void keywords_free(struct keywords *k)
{
        if (!k)
                return;
        free(k->next);
        free(k->word);
        free(k);
}

int keywords_next(const struct keywords *k, struct span text, struct keywords_place *place)
{
        unsigned state = place->state;
        for (size_t i = place->at; i < text.n; i++) {
                state = k->next[state * k->columns + k->column[text.p[i]]];
                if (k->word[state] != NONE) {
                        *place = (struct keywords_place){ i + 1, state };
                        return k->word[state];
                }
        }

        *place = (struct keywords_place){ text.n, state };
        return NONE;
}
