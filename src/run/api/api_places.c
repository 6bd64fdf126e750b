/* SPDX-License-Identifier: MIT */
/* run/api/api_places.c - the places file and the stage, for queries about a policy: as `run` uses them. */
#include "run/api/internal.h"

#include <errno.h>
#include <stdlib.h>

struct policy_places *api_places_read(const char *file, char **ret_text, size_t *ret_len, struct err *e)
{
        *ret_text = api_slurp(file, ret_len, e);
        if (!*ret_text && e->sys == ENOENT)
                (void) err_hint(e, "a places file has lines like `place api live https://host/`");
        return *ret_text ? policy_places_parse(file, span_of(*ret_text, *ret_len), e) : NULL;
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
                places = api_places_read(file, &text, &n, e);
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
