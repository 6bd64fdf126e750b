/* SPDX-License-Identifier: MIT */
/* policy/check/expects.c - the tests that a policy contains, checked by both evaluators. */
#include "policy/internal.h"

static int keep_expect(struct checked_policy *c, const struct expect_line *x, const struct effect *f,
                       struct err *e)
{
        AUTO_BUF(b);
        static const char *const words[] = {
                [ANSWER_DENY] = "deny", [ANSWER_ASK] = "ask", [ANSWER_ALLOW] = "allow"
        };
        buf_printf(&b, "expect %s ", words[x->want]);
        effect_print(f, &b);
        if (b.n > POLICY_MAX_LINE)
                return fail_at(e, &x->at, "this effect is too long for one line");

        char *line = b.failed ? NULL : arena_copy(&c->mem, buf_span(&b));
        if (!line || vec_room((void **) &c->expects, c->n_expects, &c->cap_expects, sizeof *c->expects) < 0)
                return fail_memory(e);

        c->expects[c->n_expects++] = line;
        return 0;
}

static int expect_unmet(const struct expect_line *x, const struct effect *f, const struct decision *d,
                        enum answer got, struct err *e)
{
        AUTO_BUF(effect);
        AUTO_BUF(line);
        effect_print(f, &effect);
        if (d->answer == ANSWER_DENY) {
                policy_smallest_line(f, d, &line);
                (void) fail_at(e, &x->at, "expect %s failed: %s is denied (%s)",
                               x->want == ANSWER_ASK ? "ask" : "allow", show_text(buf_str(&effect)).text,
                               effect_reason_name(d->reason));
                return line.n ? err_hint(e, "the line `%s` would allow it", buf_str(&line)) : -1;
        }

        if (d->door)
                show_door(d->door, &line);
        else
                buf_puts(&line, d->built_in ? d->built_in : "");

        static const char *const words[] = {
                [ANSWER_DENY] = "deny", [ANSWER_ASK] = "ask", [ANSWER_ALLOW] = "allow"
        };
        static const char *const is[] = {
                [ANSWER_DENY] = "denied", [ANSWER_ASK] = "asked about", [ANSWER_ALLOW] = "allowed"
        };
        (void) fail_at(e, &x->at, "expect %s failed: %s is %s%s%s%s", words[x->want],
                       show_text(buf_str(&effect)).text, is[got], d->reason ? " (" : "",
                       d->reason ? effect_reason_name(d->reason) : "", d->reason ? ")" : "");
        if (got == ANSWER_DENY)
                return err_hint(e, "`%s` does not accept it", show_text(buf_str(&line)).text);
        return err_hint(e, "it is allowed by `%s`%s%s", show_text(buf_str(&line)).text, d->door ? " of " : "",
                        d->door ? d->door->at.file : "");
}

static bool same_decision(const struct decision *a, const struct decision *b)
{
        return a->answer == b->answer && a->reason == b->reason && a->door == b->door &&
               a->nearest == b->nearest && a->built_in == b->built_in;
}

static int check_expect(struct checked_policy *c, const struct expect_line *x, const struct scope *s,
                        bool keep)
{
        struct effect f;
        if (effect_from_tokens(s, x->tok, x->n, &f) < 0)
                return -1;

        struct decision d = policy_decide(c, &f), ref = policy_decide_ref(c, &f);
        if (!same_decision(&d, &ref))
                return err_set(s->e, ERR_INTERNAL, 0,
                               "%s:%u:%u: the two evaluators disagree here: a bug of cordon", x->at.file,
                               x->at.line, x->at.column);

        enum answer got = policy_answer(c, &f, &d);
        if (got != x->want)
                return expect_unmet(x, &f, &d, got, s->e);

        return keep ? keep_expect(c, x, &f, s->e) : 0;
}

int check_expects(struct checked_policy *c, const struct policy *p, const struct scope *s, bool keep)
{
        for (size_t i = 0; i < p->n_expects; i++)
                if (check_expect(c, &p->expects[i], s, keep) < 0)
                        return -1;
        return 0;
}
