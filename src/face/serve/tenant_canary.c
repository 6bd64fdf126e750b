/* SPDX-License-Identifier: MIT */
/* face/serve/tenant_canary.c - lets a share of the runs try a version. Whatever is irregular: the usual
 * policy. */
#include "face/serve/tenant_canary.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

struct canary_run {
        cordon_canary *canary;
        struct held_policy *usual; /* of its own: the library compares the two */
        const char *directory;     /* in which it starts, by its own policy; NULL: none */
        unsigned version;
};

enum { PATH_BYTES = 4400 };
static void version_path(const struct tenant *t, const char *policy, unsigned version, char ret[PATH_BYTES])
{
        char below[128];
        (void) snprintf(below, sizeof below, "versions/%.64s/%u.cordon", policy, version);
        tenant_path(t, below, ret, PATH_BYTES);
}

static bool is_its_turn(unsigned share)
{
        uint32_t dice;
        return getrandom(&dice, sizeof dice, 0) == sizeof dice && dice % 100 < share;
}

void canary_run_free(struct canary_run *c)
{
        if (!c)
                return;
        cordon_canary_free(c->canary);
        held_policy_release(c->usual);
        free(c);
}

struct canary_run *canary_run_new(struct tenant *t, const char *policy)
{
        enum { ALWAYS = 100 };
        int own[2];
        char path[PATH_BYTES];
        cordon_error e;
        tenant_descriptors(t, own);
        struct canary_rule rule = versions_canary(own[0], policy);
        struct canary_run *c = rule.version && is_its_turn(rule.share) ? calloc(1, sizeof *c) : NULL;
        if (!c)
                return NULL;

        version_path(t, policy, rule.version, path);
        c->version = rule.version;
        c->usual = tenant_policy_copy(t, policy, &e);
        c->canary = c->usual ? cordon_canary_new(tenant_context(t), path, &e) : NULL;
        if (c->canary && tenant_roots(t, cordon_canary_policy(c->canary)) == 0 &&
            cordon_canary_pick(c->canary, held_policy(c->usual), ALWAYS, rule.bound)) {
                c->directory = tenant_start_directory(t, canary_run_policy(c));
                return c;
        }

        canary_run_free(c);
        return NULL;
}

bool canary_is_withdrawn(const struct tenant *t, const char *policy, const struct canary_rule *rule,
                         struct buf *ret_why)
{
        char path[PATH_BYTES];
        cordon_error e;
        version_path(t, policy, rule->version, path);
        cordon_canary *c = cordon_canary_new(tenant_context(t), path, &e);
        bool is = c && cordon_canary_withdrawn(c, rule->bound);
        if (is)
                buf_puts(ret_why, cordon_canary_says(c));
        cordon_canary_free(c);
        return is;
}

const char *canary_run_directory(const struct canary_run *c) { return c->directory; }
cordon_policy *canary_run_policy(const struct canary_run *c) { return cordon_canary_policy(c->canary); }
unsigned canary_run_version(const struct canary_run *c) { return c->version; }
void canary_run_end(struct canary_run *c, cordon_box *b) { (void) cordon_canary_end(c->canary, b); }
