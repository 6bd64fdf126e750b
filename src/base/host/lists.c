/* SPDX-License-Identifier: MIT */
/* base/host/lists.c - parses lists printed by the kernel: words separated by blanks, commas and line ends. */
#include "base/host/internal.h"
#include "base/span.h"

#include <string.h>

struct span host_cut(struct span *rest, char sep)
{
        const uint8_t *at = rest->n > 0 ? memchr(rest->p, sep, rest->n) : NULL;
        size_t n = at ? (size_t) (at - rest->p) : rest->n;
        struct span word = span_of(rest->p, n);
        size_t eaten = at ? n + 1 : n;
        *rest = span_of(rest->p + eaten, rest->n - eaten);
        return word;
}

bool host_list_has(struct span list, char sep, const char *word)
{
        while (list.n > 0)
                if (span_is(host_cut(&list, sep), word))
                        return true;
        return false;
}

bool host_lists(const char *text, const char *word)
{
        struct span all = span_str(text);
        while (all.n > 0)
                if (host_list_has(host_cut(&all, '\n'), ' ', word))
                        return true;
        return false;
}
