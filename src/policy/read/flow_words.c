/* SPDX-License-Identifier: MIT */
/* policy/read/flow_words.c - the words of information flow behind a door: reads, shows and compares them.
 *
 *   label LABEL...       what comes in through the door carries this
 *   accepts LABEL...     what may leave through it without a question
 *   declassify TAG...    what may leave through it if a person approves the effect
 *   endorse [BITS]       output of a schema that bounds what it can say loses `untrusted`, up to so many bits
 *
 * They stand anywhere behind the door's path or destination. */
#include "effect/label/label.h"
#include "policy/internal.h"

#include <stdio.h>

static const struct flow_word {
        const char *word, *doors;
} words[] = {
        { "label", " read edit write env net sock listen in " },
        { "accepts", " net sock listen " },
        { "declassify", " net " },
        { "endorse", " out " },
};
enum { LABEL, ACCEPTS, DECLASSIFY, ENDORSE };

/* ---- reading ---- */

static int word_of(const struct token *t)
{
        for (size_t i = 0; i < COUNT(words); i++)
                if (token_is(t, words[i].word))
                        return (int) i;
        return -1;
}

static int check_door(struct reader *r, const struct token *t, int w)
{
        char word[24];
        (void) snprintf(word, sizeof word, " %s ", r->word->word);
        if (strstr(words[w].doors, word))
                return 0;
        (void) fail_at(r->e, &t->at, "`%s` takes no `%s`", r->word->word, words[w].word);
        return err_hint(r->e, "these do:%s; in quotes it is a name", words[w].doors);
}

static bool is_label(const struct token *t)
{
        struct label ignored = { 0 };
        return t && !t->quoted && strcmp(t->text, "private:*") != 0 && label_add(&ignored, span_str(t->text));
}

static int fail_label(struct reader *r, const struct token *t, const char *word)
{
        (void) fail_at(r->e, t ? &t->at : &r->at, "`%s` takes labels%s%s", word, t ? ", not " : "",
                       t ? show_text(t->text).text : "");
        return err_hint(r->e, "use `%s private:NAME`%s", word,
                        strcmp(word, "declassify") == 0 ? "" : ", `untrusted`, or several of them");
}

/* The words after `label` and the like; their canonical text becomes *ret. */
static int read_labels(struct reader *r, int w, char **ret)
{
        struct label l = { 0 };
        char text[LABEL_TEXT_MAX];
        const struct token *t = reader_next(r);
        if (!is_label(t) || *ret)
                return *ret ? fail_at(r->e, &r->tok[r->i - 1].at, "duplicate `%s`", words[w].word)
                            : fail_label(r, t, words[w].word);

        for (; is_label(t); t = reader_next(r))
                (void) label_add(&l, span_str(t->text));

        if (t)
                r->i--;

        if (l.all)
                return fail_at(r->e, &r->at, "more than %d tags", LABEL_TAGS_MAX);

        if (w == DECLASSIFY && l.untrusted)
                return fail_label(r, NULL, words[w].word);

        *ret = arena_str(&r->p->mem, label_text(&l, text));
        return *ret ? 0 : fail_memory(r->e);
}

static int read_endorse(struct reader *r)
{
        uint64_t bits = LABEL_BITS_DEFAULT;
        const struct token *t = reader_next(r);
        bool number = t && !t->quoted && str_to_u64(span_str(t->text), &bits) == 0;
        if (t && !number)
                r->i--;

        if (bits == 0 || bits > LABEL_BITS_MAX) {
                (void) fail_at(r->e, &t->at, "\"%s\" is not a number of bits", show_text(t->text).text);
                return err_hint(r->e, "use 1 to %d; without a number it is %d", LABEL_BITS_MAX,
                                LABEL_BITS_DEFAULT);
        }

        r->flow.endorse = (uint16_t) bits;
        return 0;
}

static int read_clause(struct reader *r, int w)
{
        if (w == ENDORSE)
                return read_endorse(r);
        return read_labels(r, w,
                           w == LABEL     ? &r->flow.label
                           : w == ACCEPTS ? &r->flow.accepts
                                          : &r->flow.declassify);
}

int flow_read(struct reader *r)
{
        enum { FIRST = 2 }; /* after the word and its first operand, which may have any name */
        size_t at = FIRST, kept = FIRST;
        while (at < r->n && word_of(&r->tok[at]) < 0)
                at++;

        if (at >= r->n)
                return 0;

        struct token *rest = arena_alloc(&r->p->mem, r->n * sizeof *rest);
        if (!rest)
                return fail_memory(r->e);

        struct reader in = *r;
        memcpy(rest, r->tok, FIRST * sizeof *rest);
        for (in.i = FIRST; in.i < in.n;) {
                const struct token *t = &in.tok[in.i++];
                int w = word_of(t);
                if (w < 0)
                        rest[kept++] = *t;
                else if (check_door(&in, t, w) < 0 || read_clause(&in, w) < 0)
                        return -1;
        }

        r->flow = in.flow;
        r->tok = rest;
        r->n = kept;
        return 0;
}

static const char *const rule_names[] = { "two", "touch" }; /* POLICY_RULE_*, bit by bit */

int line_rule(struct reader *r)
{
        const struct token *t = reader_need(r, "the rule");
        if (!t)
                return -1;

        unsigned bit = 0;
        while (bit < COUNT(rule_names) && !token_is(t, rule_names[bit]))
                bit++;

        if (bit == COUNT(rule_names)) {
                (void) fail_at(r->e, &t->at, "\"%s\" is not a rule", show_text(t->text).text);
                return err_hint(r->e,
                                "use `rule two` (at most two of private data, untrusted text and network "
                                "access) or `rule touch` (files label a run when first opened)");
        }

        r->p->rules |= 1u << bit;
        return 0;
}

const char *policy_rule_name(unsigned bit) { return bit < COUNT(rule_names) ? rule_names[bit] : NULL; }

/* ---- showing ---- */

static void show_labels(const char *word, const char *text, struct buf *out)
{
        if (text)
                buf_printf(out, " %s %s", word, text);
}

void flow_show(const struct door_flow *f, struct buf *out)
{
        show_labels("label", f->label, out);
        show_labels("accepts", f->accepts, out);
        show_labels("declassify", f->declassify, out);
        if (f->endorse)
                buf_printf(out, " endorse %u", f->endorse);
}

/* ---- comparing ---- */

static bool same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

bool flow_same(const struct door_flow *a, const struct door_flow *b)
{
        return same(a->label, b->label) && same(a->accepts, b->accepts) &&
               same(a->declassify, b->declassify) && a->endorse == b->endorse;
}

static bool labels_within(const char *a, const char *b)
{
        if (same(a, b))
                return true; /* nearly always: a lint asks it of every two doors of a key */

        struct label x = label_of(a), y = label_of(b);
        return label_within(&x, &y);
}

bool flow_covers(const struct door_flow *s, const struct door_flow *d)
{
        return labels_within(s->label, d->label) && labels_within(d->accepts, s->accepts) &&
               labels_within(d->declassify, s->declassify) && s->endorse >= d->endorse;
}
