/* SPDX-License-Identifier: MIT */
/* wall/plan/held_names.c - the names on the way from a `write` or `edit` door to a file of cordon's own. The
 * box may make entries in those directories, so neither their rights nor their entries can be fixed, as
 * hidden.c does behind a read door: the keeper watches these names outside, and ends the box if one is
 * replaced, moved or made. */
#include "base/str.h"
#include "wall/plan/internal.h"

#include <string.h>

static void add_name(struct builder *b, struct span path)
{
        struct plan *p = b->p;
        for (size_t i = 0; i < p->held_count; i++)
                if (span_is(path, p->held[i].path))
                        return;
        p->held[p->held_count++].path = arena_copy(b->a, path);
}

/* What lies in the directory of own policies is covered with it. */
static bool is_covered(const struct builder *b, const char *own)
{
        for (size_t k = 0; k < PLAN_CONFIG_PATHS; k++) {
                const char *up = b->r->config[k];
                if (up && strcmp(up, own) != 0 && path_under(own, up))
                        return true;
        }
        return false;
}

void build_held(struct builder *b, const char *door, const char *own)
{
        size_t len = strcmp(door, "/") == 0 ? 0 : strlen(door);
        if (!path_under(own, door) || strlen(own) <= len || is_covered(b, own))
                return;

        for (const char *at = own + len; *at;) {
                at += 1 + strcspn(at + 1, "/");
                add_name(b, span_of(own, (size_t) (at - own)));
        }
}
