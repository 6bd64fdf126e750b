/* SPDX-License-Identifier: MIT */
/* run/api/api_places.c - the places file and the stage, of a run and for queries about a policy; and the
 * recorded exchanges. */
#include "run/api/internal.h"

#include <errno.h>
#include <stdlib.h>

static struct policy_places *read_places(const char *file, char **ret_text, size_t *ret_len, struct err *e)
{
        *ret_text = api_slurp(file, ret_len, e);
        if (!*ret_text && e->sys == ENOENT)
                (void) err_hint(e, "a places file has lines like `place api live https://host/`");
        return *ret_text ? policy_places_parse(file, span_of(*ret_text, *ret_len), e) : NULL;
}

int api_places(struct cordon_box *b, struct err *e)
{
        if (b->c.places_file && !b->places) {
                char *text = NULL;
                size_t n = 0;
                b->places = read_places(b->c.places_file, &text, &n, e);
                if (!b->places) {
                        free(text);
                        return -1;
                }
                b->c.places = span_of(text, n);
        }

        const struct policy_staged staged = { b->places, b->c.stage };
        if (policy_label_places(b->policy->checked, &staged, e) < 0)
                return -1;

        if (!b->c.answers_file || b->c.answers.p)
                return 0;

        size_t n = 0;
        const char *answers = api_slurp_up_to(b->c.answers_file, ANSWERS_MAX_BYTES, &n, e);
        b->c.answers = span_of(answers, n);
        if (answers)
                return 0;

        return e->sys == ENOENT ? err_hint(e, "`cordon run --record FILE` makes a file of recorded exchanges")
                                : -1;
}

int cordon_policy_places(cordon_policy *p, const char *file, const char *stage, cordon_error *pe)
{
        struct err *e = to_err(pe);
        enum policy_stage s = POLICY_STAGE_LIVE;
        struct policy_places *places = NULL;
        char *text = NULL;
        size_t n = 0;

        if (stage && policy_stage_find(stage, &s) < 0) {
                (void) err_set(e, ERR_USAGE, 0, "unknown stage %.60s", stage);
                return err_hint(e, "live, test or mock");
        }

        if (file) {
                places = read_places(file, &text, &n, e);
                free(text); /* the parsed form has its own copy */
                if (!places)
                        return -1;
        }

        if (file) {
                api_rules_come_from(p, file);
                api_policy_changed(p);
        }

        policy_places_free(p->places);
        p->places = places;
        p->staged = (struct policy_staged){ places, s };
        p->has_stage = true;
        return 0;
}

const struct policy_staged *api_staged(const cordon_policy *p) { return p->has_stage ? &p->staged : NULL; }

struct decision api_decide(const cordon_policy *p, struct effect *f)
{
        static const struct policy_staged nowhere = { .stage = POLICY_STAGE_LIVE };
        return policy_decide_staged(p->checked, p->has_stage ? &p->staged : &nowhere, f);
}
