/* SPDX-License-Identifier: MIT */
/* policy/learn/printed.c - what a command printed, line by line: of output that differs from run to run
 * (times, rates) the lines that do not differ are still compared. */
#include "policy/learn/internal.h"

#include <string.h>

enum { FNV_BITS = 40 };
static const uint64_t fnv_basis = 0xcbf29ce484222325, fnv_prime = ((uint64_t) 1 << FNV_BITS) + 0x1b3;

static void close_line(struct learn_printed *p)
{
        if (p->count < LEARN_LINES_MAX)
                p->line[p->count] = p->open;
        p->count++;
        p->open = 0;
}

void learn_printed_add(struct learn_printed *p, const void *data, size_t len)
{
        const unsigned char *c = data;
        for (size_t i = 0; i < len; i++)
                if (c[i] == '\n')
                        close_line(p);
                else
                        p->open = ((p->open ? p->open : fnv_basis) ^ c[i]) * fnv_prime;
}

void learn_printed_end(struct learn_printed *p)
{
        if (p->open)
                close_line(p);
}

void learn_printed_common(struct learn_printed *p, const struct learn_printed *again)
{
        for (size_t i = 0; i < p->count && i < LEARN_LINES_MAX; i++)
                if (p->count != again->count || p->line[i] != again->line[i])
                        p->line[i] = LEARN_LINE_DIFFERS;
        p->differs = p->count != again->count;
}

bool learn_printed_fits(const struct learn_printed *p, const struct learn_printed *now)
{
        if (p->differs)
                return true; /* nothing is known of it */

        bool same = p->count == now->count;
        for (size_t i = 0; same && i < p->count && i < LEARN_LINES_MAX; i++)
                same = p->line[i] == LEARN_LINE_DIFFERS || p->line[i] == now->line[i];
        return same;
}
