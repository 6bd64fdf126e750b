/* SPDX-License-Identifier: MIT */
/* ledger/write/key_chain.c - which keys a ledger has, and for which sizes each of them signs.
 *
 * key.pub is not signed, so only its first key is taken from it: it is the ledger's identity. A later key
 * counts from the checkpoint on that names it in a line "next-key" and that the key before it signed. It does
 * not matter in which file such a checkpoint lies. */
#include "ledger/write/sealer.h"

#include <stdio.h>
#include <stdlib.h>

static int add_term(struct key_chain *c, const struct key *k, uint64_t from)
{
        struct key_term *more = reallocarray(c->v, c->n + 1, sizeof *more);
        if (!more)
                return -1;

        c->v = more;
        c->v[c->n++] = (struct key_term){ .key = *k, .from = from, .to = UINT64_MAX };
        return 0;
}

void key_chain_done(struct key_chain *c) { free(c->v); }

static bool is_same(const struct key *a, const struct key *b)
{
        return strcmp(a->name, b->name) == 0 && memcmp(a->public, b->public, sizeof a->public) == 0;
}

static bool has_key(const struct key_chain *c, const struct key *k)
{
        for (size_t i = 0; i < c->n; i++)
                if (is_same(&c->v[i].key, k))
                        return true;
        return false;
}

/* The first rotation that the newest key signed; false: none. (It also signed the one that led to it.) */
static bool find_rotation(const struct key_chain *c, struct span notes, struct key *ret_next,
                          uint64_t *ret_size)
{
        const struct key_term *newest = &c->v[c->n - 1];
        struct ledger_note n;
        while (ledger_note_next(notes, &n, &notes) == 1)
                if (key_note_next(&n, ret_next) && n.size >= newest->from && !has_key(c, ret_next) &&
                    key_check_note(&newest->key, &n) == 1) {
                        *ret_size = n.size;
                        return true;
                }

        return false;
}

int key_chain_follow(struct key_chain *c, struct span keys, struct span notes)
{
        struct key k;
        uint64_t size;
        if (key_public_next(&keys, &k) != 1)
                return 0;

        int bad = add_term(c, &k, 0);
        while (bad == 0 && find_rotation(c, notes, &k, &size)) {
                c->v[c->n - 1].to = size;
                bad = add_term(c, &k, size);
        }

        return bad;
}

int key_chain_trust(struct key_chain *c, struct span keys)
{
        struct key k;
        while (key_public_next(&keys, &k) == 1)
                if (add_term(c, &k, 0) < 0)
                        return -1;
        return 0;
}

/* Whether the chain took another rotation by this key. */
static bool is_forked(const struct key_chain *c, const struct key_term *by, const struct ledger_note *n)
{
        struct key next;
        return n->next.n > 0 && by->to != UINT64_MAX && !(key_note_next(n, &next) && has_key(c, &next));
}

const char *key_chain_judge(const struct key_chain *c, const struct ledger_note *n)
{
        const char *verdict = "unknown";
        for (size_t i = 0; i < c->n; i++) {
                const struct key_term *t = &c->v[i];
                int r = span_is(n->origin, t->key.name) ? key_check_note(&t->key, n) : 0;
                if (r < 0)
                        return "bad"; /* whatever other signatures it has */
                if (r > 0 && n->size >= t->from && n->size <= t->to)
                        verdict = is_forked(c, t, n) ? "forked" : "good";
                else if (r > 0 && strcmp(verdict, "unknown") == 0)
                        verdict = "retired";
        }

        return verdict;
}

bool key_chain_stranger(const struct key_chain *c, struct span *keys, char *ret, size_t cap)
{
        struct key k;
        int r;
        while ((r = key_public_next(keys, &k)) != 0) {
                if (r == 1 && has_key(c, &k))
                        continue;
                if (r == 1)
                        (void) snprintf(ret, cap, "%s+%02x%02x%02x%02x", k.name, k.id[0], k.id[1], k.id[2],
                                        k.id[3]);
                else
                        (void) snprintf(ret, cap, "a line that is no key");
                return true;
        }

        return false;
}
