/* SPDX-License-Identifier: MIT */
/* face/cli/agent_parts.c - finds the part of a path. Pure. */
#include "face/cli/agent_parts.h"

#include <string.h>

/* ---- paths ---- */

/* "*" stands for any bytes of a component. */
static bool component_is(const char *p, size_t n, const char *s, size_t k)
{
        const char *star = memchr(p, '*', n);
        size_t before = star ? (size_t) (star - p) : n, after = star ? n - before - 1 : 0;
        if (!star)
                return n == k && memcmp(p, s, n) == 0;
        return k >= before + after && memcmp(p, s, before) == 0 &&
               memcmp(star + 1, s + k - after, after) == 0;
}

enum relation { APART, SAME, PATH_IS_BELOW, PATH_IS_ABOVE };

static enum relation compare(const char *pattern, const char *path)
{
        for (;;) {
                size_t n = strcspn(pattern, "/"), k = strcspn(path, "/");
                if (!component_is(pattern, n, path, k))
                        return APART;
                if (!pattern[n] || !path[k])
                        return pattern[n] ? PATH_IS_ABOVE : path[k] ? PATH_IS_BELOW : SAME;
                pattern += n + 1;
                path += k + 1;
        }
}

const struct cli_part *cli_part_of(const struct cli_part *parts, const char *path, bool *ret_itself)
{
        for (const struct cli_part *p = parts; p->path; p++) {
                enum relation r = compare(p->path, path);
                *ret_itself = r == SAME;
                if (r == SAME || r == PATH_IS_BELOW)
                        return p;
        }

        return NULL;
}

bool cli_part_is_below(const struct cli_part *parts, const char *path)
{
        for (const struct cli_part *p = parts; p->path; p++)
                if (p->kind != PART_KEPT && compare(p->path, path) == PATH_IS_ABOVE)
                        return true;
        return false;
}
