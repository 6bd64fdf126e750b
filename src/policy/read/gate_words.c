/* SPDX-License-Identifier: MIT */
/* policy/read/gate_words.c - `ask`, which makes a gate of a door: reads it, shows it, compares it. */
#include "effect/gate/gate.h"
#include "policy/internal.h"

enum { NEED_MAX = 9 };

/* ---- reading ---- */

static int read_by(struct reader *r, struct door_ask *a)
{
        const struct token *n = reader_need(r, "how many persons, after `by`,");
        const struct token *of = n ? reader_need(r, "`of GROUP` after `by N`") : NULL;
        const struct token *group = of ? reader_need(r, "the group after `of`") : NULL;
        uint64_t need;
        if (!group)
                return -1;

        if (a->group)
                return fail_at(r->e, &n->at, "duplicate `by`");

        if (str_to_u64(span_str(n->text), &need) < 0 || need == 0 || need > NEED_MAX || !token_is(of, "of")) {
                (void) fail_at(r->e, &n->at, "`by` takes a number of persons and a group");
                return err_hint(r->e, "use `ask by 2 of GROUP`, with 1 to %d persons", NEED_MAX);
        }

        if (!name_ok(group->text, "._-"))
                return fail_at(r->e, &group->at, "invalid group name \"%s\"", show_text(group->text).text);

        a->need = (uint8_t) need;
        a->group = group->text;
        return 0;
}

static int read_within(struct reader *r, struct door_ask *a)
{
        const struct token *t = reader_need(r, "the time after `within`");
        uint64_t ms;
        if (!t)
                return -1;

        if (a->within_s)
                return fail_at(r->e, &t->at, "duplicate `within`");

        if (str_to_ms(span_str(t->text), &ms) < 0 || ms < 1000 || ms > ASK_WITHIN_MAX_S * UINT64_C(1000) ||
            ms % 1000) {
                (void) fail_at(r->e, &t->at, "\"%s\" is not a time to answer in", show_text(t->text).text);
                return err_hint(r->e, "use 90s, 10m or 8h, at most 24h");
        }

        a->within_s = (uint32_t) (ms / 1000);
        return 0;
}

static int vary_bit(const struct token *t)
{
        for (unsigned i = 0; i < GATE_VARY__COUNT; i++)
                if (token_is(t, gate_vary_name((enum gate_vary) i)))
                        return 1 << i;
        return 0;
}

static int read_vary(struct reader *r, struct door_ask *a)
{
        const struct token *t = reader_need(r, "what may vary, after `vary`,");
        if (!t)
                return -1;

        if (a->vary)
                return fail_at(r->e, &t->at, "duplicate `vary`");

        if (!vary_bit(t)) {
                (void) fail_at(r->e, &t->at, "\"%s\" cannot vary", show_text(t->text).text);
                return err_hint(r->e, "use path, query, headers or body, or several of them");
        }

        for (; t && vary_bit(t); t = reader_next(r))
                a->vary |= (uint8_t) vary_bit(t);

        if (t)
                r->i--;

        return 0;
}

static int read_clause(struct reader *r, const struct token *t, struct door_ask *a)
{
        static const char *const words[] = { "labelled", "first", "by", "within", "vary", "until" };
        if (token_is(t, "by"))
                return read_by(r, a);

        if (token_is(t, "within"))
                return read_within(r, a);

        if (token_is(t, "vary"))
                return read_vary(r, a);

        if (token_is(t, "labelled") && !a->labelled) {
                a->labelled = true;
                return 0;
        }

        if (token_is(t, "first") && !a->first) {
                a->first = true;
                return 0;
        }

        (void) fail_at(r->e, &t->at, "stray \"%s\" after `ask`", show_text(t->text).text);
        (void) err_hint(r->e, "`ask` stands behind the door's own words; it takes `labelled`, `first`, "
                              "`by N of GROUP`, `within TIME` and `vary FIELD...`");
        hint_nearest(r->e, t->text, words, COUNT(words));
        return -1;
}

/* A request's parts vary, those of other effects are fixed. */
static int check_kind(struct reader *r, const struct token *at)
{
        bool net = strcmp(r->word->word, "net") == 0;
        if (net || (!r->ask.vary && !r->ask.first && !r->ask.labelled))
                return 0;
        return fail_at(r->e, &at->at, "`%s` is for `net` doors",
                       r->ask.vary    ? "vary"
                       : r->ask.first ? "first"
                                      : "labelled");
}

int ask_read(struct reader *r)
{
        size_t at = r->i;
        while (at < r->n && !token_is(&r->tok[at], "ask"))
                at++;

        if (at == r->n)
                return 0;

        struct reader rest = *r;
        rest.i = at + 1;
        r->ask = (struct door_ask){ .on = true };
        for (const struct token *t; (t = reader_next(&rest));)
                if (read_clause(&rest, t, &r->ask) < 0)
                        return -1;

        if (!r->ask.within_s)
                r->ask.within_s = ASK_WITHIN_S;

        r->n = at;
        return check_kind(r, &rest.tok[at]);
}

/* ---- showing ---- */

size_t ask_clauses(const struct door_ask *a, struct buf out[ASK_CLAUSES])
{
        size_t n = 0;
        char time[32];
        if (a->labelled)
                buf_puts(&out[n++], "labelled");

        if (a->first)
                buf_puts(&out[n++], "first");

        if (a->group)
                buf_printf(&out[n++], "by %u of %s", a->need, a->group);

        if (a->within_s && a->within_s != ASK_WITHIN_S)
                buf_printf(&out[n++], "within %s", str_from_ms(a->within_s * UINT64_C(1000), time));

        if (!a->vary)
                return n;

        buf_puts(&out[n], "vary");
        for (unsigned i = 0; i < GATE_VARY__COUNT; i++)
                if (a->vary & 1u << i)
                        buf_printf(&out[n], " %s", gate_vary_name((enum gate_vary) i));

        return n + 1;
}

void ask_show(const struct door_ask *a, struct buf *out)
{
        struct buf texts[ASK_CLAUSES] = { { 0 } };
        if (!a->on)
                return;

        size_t n = ask_clauses(a, texts);
        buf_puts(out, " ask");
        for (size_t i = 0; i < n; i++) {
                out->failed = out->failed || texts[i].failed;
                buf_printf(out, " %s", buf_str(&texts[i]));
                buf_done(&texts[i]);
        }
}

/* ---- comparing ---- */

static bool same_group(const struct door_ask *a, const struct door_ask *b)
{
        return a->group && b->group ? strcmp(a->group, b->group) == 0 : a->group == b->group;
}

bool ask_same(const struct door_ask *a, const struct door_ask *b)
{
        return a->on == b->on && a->labelled == b->labelled && a->first == b->first && a->need == b->need &&
               a->vary == b->vary && a->within_s == b->within_s && same_group(a, b);
}

bool ask_covers(const struct door_ask *s, const struct door_ask *d)
{
        return !s->on ||
               (d->on && (s->labelled || !d->labelled) && (s->first || !d->first) && s->need <= d->need &&
                same_group(s, d) && (s->vary & d->vary) == d->vary && s->within_s >= d->within_s);
}
