/* SPDX-License-Identifier: MIT */
/* policy/read/reader.c - the words of one line, one after the other, for the handlers of the word table. */
#include "policy/internal.h"

bool token_is(const struct token *t, const char *keyword)
{
        return t && !t->quoted && strcmp(t->text, keyword) == 0;
}

const struct token *reader_next(struct reader *r) { return r->i < r->n ? &r->tok[r->i++] : NULL; }

int fail_missing(struct reader *r, const char *what)
{
        (void) fail_at(r->e, &r->at, "%s is missing", what);
        bool quoted = r->at.line == 0 && strchr(r->word->synopsis, ' '); /* an option has one argument */
        return err_hint(r->e, quoted ? "use --%s '%s'" : "use `%s %s`", r->word->word, r->word->synopsis);
}

const struct token *reader_need(struct reader *r, const char *what)
{
        const struct token *t = reader_next(r);
        if (!t)
                (void) fail_missing(r, what);
        return t;
}

int reader_end(struct reader *r)
{
        if (r->i == r->n)
                return 0;
        return fail_at(r->e, &r->tok[r->i].at, "stray \"%s\"", show_text(r->tok[r->i].text).text);
}

struct door *reader_door(struct reader *r, enum door_kind kind, const struct token *at)
{
        struct policy *p = r->p;
        if (p->n_doors == POLICY_MAX_DOORS) {
                (void) fail_at(r->e, &r->at, "more than %d doors", POLICY_MAX_DOORS);
                return NULL;
        }

        if (vec_room((void **) &p->doors, p->n_doors, &p->cap_doors, sizeof *p->doors) < 0) {
                (void) fail_memory(r->e);
                return NULL;
        }

        struct door *d = &p->doors[p->n_doors++];
        *d = (struct door){ .kind = kind, .at = at->at, .until = r->until, .ask = r->ask, .flow = r->flow };
        return d;
}
