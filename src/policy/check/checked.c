/* SPDX-License-Identifier: MIT */
/* policy/check/checked.c - accessors of a checked policy, and its destructor. */
#include "base/hash.h"
#include "policy/internal.h"

#include <stdlib.h>
#include <string.h>

void policy_checked_free(struct checked_policy *c)
{
        if (!c)
                return;

        free(c->live.v);
        free(c->closed.v);
        free(c->expects);
        free(c->unpinned);
        free(c->notes);
        arena_done(&c->mem);
        free(c);
}

const char *policy_box(const struct checked_policy *c) { return c->box.text; }
const char *policy_doc(const struct checked_policy *c) { return c->doc.text; }
const char *policy_root(const struct checked_policy *c) { return c->root.text; }
const struct source_place *policy_root_place(const struct checked_policy *c) { return &c->root.at; }
const char *policy_warm(const struct checked_policy *c, enum policy_warm kind) { return c->warm[kind].text; }
const struct policy_limits *policy_limits(const struct checked_policy *c) { return &c->limits; }
enum wall_kind policy_wall(const struct checked_policy *c) { return c->wall; }
bool policy_narrowed(const struct checked_policy *c) { return c->narrowed; }
bool policy_runs_any(const struct checked_policy *c)
{
        size_t lo, hi;
        return door_set_find(&c->live, DOOR_RUN, span_str("*"), &lo, &hi);
}
unsigned policy_local(const struct checked_policy *c) { return c->local; }
const struct source_place *policy_local_stated(const struct checked_policy *c, unsigned bit)
{
        return c->local_own & bit ? &c->local_at : NULL;
}
unsigned policy_without(const struct checked_policy *c) { return c->without; }

bool policy_makes_sockets(const struct checked_policy *c)
{
        return c->local & LOCAL_UNIX || c->live.start[DOOR_SOCK] < c->live.start[DOOR_DECRYPT + 1];
}

/* Computed on first use, and kept: a start then computes it while the walls go up, not before. */
const char *policy_digest(const struct checked_policy *c)
{
        if (c->digest[0])
                return c->digest;

        AUTO_BUF(b);
        policy_canonical_json(c, &b);
        if (!b.failed)
                sha256_hex(buf_span(&b), ((struct checked_policy *) (uintptr_t) c)->digest);

        return c->digest;
}

const struct door *policy_doors(const struct checked_policy *c, size_t *ret_count)
{
        *ret_count = c->live.n;
        return c->live.v;
}

const struct door *policy_door_next(const struct checked_policy *c, const struct door *d)
{
        d = d ? d + 1 : c->live.v;
        return d < c->live.v + c->live.n ? d : NULL;
}

const struct door *policy_door_of(const struct checked_policy *c, enum door_kind kind, const struct door *d)
{
        d = d ? d + 1 : c->live.v + c->live.start[kind];
        return d < c->live.v + c->live.start[kind + 1] ? d : NULL;
}

bool policy_has_door(const struct checked_policy *c, enum door_kind kind, const char *key)
{
        size_t lo, hi;
        return policy_doors_at(c, kind, span_str(key), &lo, &hi);
}

void policy_stock_mask(const struct checked_policy *c, struct buf *out)
{
        for (size_t i = 0; i < c->live.n; i++)
                buf_putc(out, c->live.v[i].from_stock ? '1' : '0');
}

void policy_mark_stock(struct checked_policy *c, const char *mask)
{
        for (size_t i = 0; strlen(mask) == c->live.n && i < c->live.n; i++)
                c->live.v[i].from_stock = mask[i] == '1';
}

const struct door *policy_doors_closed(const struct checked_policy *c, size_t *ret_count)
{
        *ret_count = c->closed.n;
        return c->closed.v;
}

bool policy_doors_at(const struct checked_policy *c, enum door_kind kind, struct span key, size_t *ret_lo,
                     size_t *ret_hi)
{
        return door_set_find(&c->live, kind, key, ret_lo, ret_hi);
}

size_t policy_doors_from(const struct checked_policy *c, enum door_kind kind, struct span prefix)
{
        size_t i = door_set_from(&c->live, kind, prefix);
        bool hit = i < c->live.start[kind + 1] &&
                   strncmp(door_key(&c->live.v[i]), (const char *) prefix.p, prefix.n) == 0;
        return hit ? i : c->live.n;
}

const struct policy_note *policy_notes(const struct checked_policy *c, size_t *ret_count)
{
        *ret_count = c->n_notes;
        return c->notes;
}
