/* SPDX-License-Identifier: MIT */
/* output/regex_class.c - sets of characters in regular expressions. Pure. */
#include "base/vec.h"
#include "output/category.h"
#include "output/regex_internal.h"

#include <stdlib.h>

enum { LAST_POINT = 0x10ffff };

static const struct regex_range digits[] = { { '0', '9' } };
static const struct regex_range words[] = { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } };
static const struct regex_range spaces[] = { { 9, 13 },          { 0x20, 0x20 },     { 0xa0, 0xa0 },
                                             { 0x1680, 0x1680 }, { 0x2000, 0x200a }, { 0x2028, 0x2029 },
                                             { 0x202f, 0x202f }, { 0x205f, 0x205f }, { 0x3000, 0x3000 },
                                             { 0xfeff, 0xfeff } };

int regex_class_add(struct regex_class *c, uint32_t first, uint32_t last)
{
        if (vec_room((void **) &c->ranges, c->n, &c->cap, sizeof *c->ranges) < 0)
                return -1;

        c->ranges[c->n++] = (struct regex_range){ first, last };
        return 0;
}

static int add_all(struct regex_class *c, const struct regex_range *v, size_t n, bool outside)
{
        uint32_t next = 0;
        for (size_t i = 0; i < n; i++) {
                if (!outside && regex_class_add(c, v[i].first, v[i].last) < 0)
                        return -1;
                if (outside && v[i].first > next && regex_class_add(c, next, v[i].first - 1) < 0)
                        return -1;
                next = v[i].last + 1;
        }

        return outside ? regex_class_add(c, next, LAST_POINT) : 0;
}

int regex_class_letter(struct regex_class *c, char letter)
{
        bool outside = letter < 'a';
        switch (letter | 0x20) {
        case 'd':
                return add_all(c, digits, 1, outside);
        case 'w':
                return add_all(c, words, sizeof words / sizeof *words, outside);
        default:
                return add_all(c, spaces, sizeof spaces / sizeof *spaces, outside);
        }
}

bool regex_class_has(const struct regex_class *c, uint32_t point)
{
        bool found = false;
        for (size_t i = 0; i < c->n && !found; i++)
                found = point >= c->ranges[i].first && point <= c->ranges[i].last;

        if (!found && c->categories)
                found = c->categories & category_of(point);

        return found != c->negated;
}

bool regex_is_word(uint32_t point)
{
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
                if (point >= words[i].first && point <= words[i].last)
                        return true;
        return false;
}
