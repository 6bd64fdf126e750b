/* SPDX-License-Identifier: MIT */
/* run/pool/shelf.c - from a recipe to parked boxes. The recipe came from another process: it is read as if it
 * were not ours, and its key is computed again. */
#include "run/pool/shelf.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct checked_policy *parse_policy(const char *text, struct err *e)
{
        struct policy *p = policy_new();
        const struct policy_context context = { .now = clock_wall_s() };
        struct checked_policy *c = NULL;
        if (!p)
                (void) err_set(e, ERR_MEMORY, 0, "no memory for a policy");
        else if (policy_add_text(p, "recipe", span_str(text), e) == 0)
                c = policy_check(p, &context, e);

        policy_free(p);
        return c;
}

/* A box of another user's would not be the caller's box. */
static int check_recipe(struct shelf *s, struct err *e)
{
        uint8_t key[POOL_KEY];
        const struct pool_recipe *r = &s->recipe;
        if (r->uid != getuid() || r->gid != getgid())
                return err_set(e, ERR_USAGE, 0, "the recipe is another user's");

        if (pool_key(r, key) < 0 || memcmp(key, s->key, sizeof key) != 0)
                return err_set(e, ERR_USAGE, 0, "the recipe does not belong to its key");

        s->checked = parse_policy(r->policy, e);
        if (!s->checked)
                return -1;

        return r->plan->net && strcmp(policy_digest(s->checked), r->digest) != 0
                       ? err_set(e, ERR_USAGE, 0, "the policy of the recipe is not the one it names")
                       : 0;
}

int shelf_fill(struct shelf *s, const uint8_t key[POOL_KEY], const void *blocks, size_t n, struct err *e)
{
        *s = (struct shelf){ .is = true, .blocks = malloc(n) };
        if (!s->blocks) {
                *s = (struct shelf){ .is = false };
                return err_set(e, ERR_MEMORY, 0, "no memory for a recipe");
        }

        memcpy(s->blocks, blocks, n);
        memcpy(s->key, key, POOL_KEY);
        if (pool_recipe_open(s->blocks, n, &s->recipe, e) == 0 && check_recipe(s, e) == 0)
                return 0;

        shelf_clear(s);
        return -1;
}

void shelf_clear(struct shelf *s)
{
        policy_checked_free(s->checked);
        free(s->blocks);
        *s = (struct shelf){ .is = false };
}

/* The one text of a plan that tells the time. */
static void set_uptime(struct shelf *s)
{
        struct timespec up = { 0 };
        (void) clock_gettime(CLOCK_BOOTTIME, &up);
        (void) snprintf(s->uptime, sizeof s->uptime, "%lld.%02u 0.00\n", (long long) up.tv_sec,
                        (unsigned) (up.tv_nsec / 10000000));
        for (size_t i = 0; i < s->recipe.plan->step_count; i++) {
                struct plan_step *step = &s->recipe.plan->steps[i];
                if (step->kind == STEP_COVER && strcmp(step->path, PLAN_UPTIME) == 0)
                        step->text = s->uptime;
        }
}

struct box *shelf_park(struct shelf *s, const struct cordon_context *cx)
{
        const struct pool_recipe *r = &s->recipe;
        struct err e;
        struct box_config c = {
                .cx = cx,
                .plan = r->plan,
                .policy = s->checked,
                .io = { .in = -1, .out = { -1, -1 } },
                .stage = (enum policy_stage) r->stage,
                .places = span_str(r->places),
                .require_groups = r->require_groups,
                .single_thread = true,
                .observe = (enum box_observe) r->observe,
                .signals_stay_in = r->signals_stay_in,
                .ledger = r->no_ledger ? BOX_LEDGER_OFF : BOX_LEDGER_ON,
                .uid = r->uid,
                .gid = r->gid,
                .root = r->root,
                .tenant = { .id_first = r->id_first, .id_count = r->id_count, .own_core = r->own_core },
                .park = true,
                .give = true
        };
        set_uptime(s);
        mode_t mask = umask((mode_t) r->mask);
        struct box *b = box_start(&c, &e);
        (void) umask(mask);
        if (!b)
                (void) snprintf(s->error, sizeof s->error, "%.190s", e.what);
        return b;
}
