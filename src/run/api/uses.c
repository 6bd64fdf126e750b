/* SPDX-License-Identifier: MIT */
/* run/api/uses.c - the uses of past runs in the ledger: lines of doors, and destinations of connections. */
#include "base/vec.h"
#include "run/api/past.h"

#include <stdlib.h>
#include <string.h>

static bool has_text(const struct past_texts *t, struct span s)
{
        for (size_t i = 0; i < t->n; i++)
                if (span_is(s, t->v[i]))
                        return true;
        return false;
}

static void keep_text(struct past_uses *u, struct past_texts *t, struct span s)
{
        char plain[4096];
        struct span text = span_str(ledger_plain(s, plain, sizeof plain));
        if (has_text(t, text))
                return;

        if (u->most && t->n == u->most) {
                u->lost = true;
                return;
        }

        if (vec_room((void **) &t->v, t->n, &t->cap, sizeof *t->v) < 0) {
                u->mem.failed = true;
                return;
        }

        const char *copy = arena_copy(&u->mem, text);
        if (copy)
                t->v[t->n++] = copy;
}

void past_uses_note(struct past_uses *u, const struct ledger_view *v, bool all)
{
        struct span line = ledger_member(v->more, "line");
        if (!span_is(v->phase, "outcome"))
                return;

        if (span_is(v->kind, "net") || span_is(v->kind, "request"))
                keep_text(u, &u->dests, v->target);
        else if (line.n && span_is(v->result, "door used") && (all || ledger_member(v->more, "own").n))
                keep_text(u, &u->used, line);
}

void past_uses_done(struct past_uses *u)
{
        free(u->used.v);
        free(u->dests.v);
        arena_done(&u->mem);
}
