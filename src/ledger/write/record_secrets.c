/* SPDX-License-Identifier: MIT */
/* ledger/write/record_secrets.c - keeps secrets out of records. Each text of a record is searched for the
 * secrets of its ledger (base/secret_words.c). Never: writes a secret anywhere, or shares one with another
 * ledger. */
#include "base/secret_words.h"
#include "ledger/write/append.h"

#include <stdlib.h>

enum { SECRET_MOST = 4096 };

struct secret {
        struct secret_words *words; /* this secret only */
        size_t n;
};

static bool is_known(const struct ledger_secrets *all, const void *p, size_t n)
{
        for (size_t i = 0; i < all->n; i++)
                if (all->v[i].n == n && secret_words_find(all->v[i].words, span_of(p, n)))
                        return true;
        return false;
}

int secrets_add(struct ledger_secrets *all, const void *p, size_t n)
{
        if (n < SECRET_WORD_MIN || n > SECRET_MOST)
                return -1;

        if (is_known(all, p, n))
                return 0;

        const struct span word = span_of(p, n);
        struct secret *more = reallocarray(all->v, all->n + 1, sizeof *more);
        if (!more)
                return -1;

        all->v = more;
        more[all->n] = (struct secret){ .words = secret_words_new(&word, NULL, 1), .n = n };
        if (!more[all->n].words)
                return -1;

        all->n++;
        return 0;
}

void secrets_free(struct ledger_secrets *all)
{
        for (size_t i = 0; i < all->n; i++)
                secret_words_free(all->v[i].words);
        free(all->v);
        *all = (struct ledger_secrets){ 0 };
}

int ledger_secret_add(struct ledger *l, const void *p, size_t n) { return secrets_add(&l->secrets, p, n); }

static void clean_text(const struct ledger_secrets *all, const char **text)
{
        size_t n = *text ? strlen(*text) : 0;
        for (size_t i = 0; i < all->n && n > 0; i++)
                if (secret_words_find(all->v[i].words, span_of(*text, n))) {
                        *text = "a secret stood here";
                        return;
                }
}

void secrets_clean(const struct ledger_secrets *all, struct ledger_record *r)
{
        const char **const texts[] = { &r->box,    &r->door,   &r->policy,   &r->target,
                                       &r->result, &r->digest, &r->trace_in, &r->trace_out };
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                clean_text(all, texts[i]);

        for (unsigned i = 0; i < r->parent_count && i < LEDGER_PARENTS_MAX; i++)
                clean_text(all, &r->parents[i]);

        for (unsigned i = 0; i < r->more_count && i < LEDGER_MORE_MAX; i++)
                clean_text(all, &r->more[i].text);
}
