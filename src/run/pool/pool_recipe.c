/* SPDX-License-Identifier: MIT */
/* run/pool/pool_recipe.c - what a box is parked from, as one block, and its key: the digest of all of it that
 * two runs must have in common to use the same box. Pure. */
#include "base/block.h"
#include "base/hash.h"
#include "run/pool/pool.h"

#include <string.h>

enum { KIND_RECIPE = 4, FORMAT = 4 };

static const struct block_field fields[] = {
        BLOCK_STRING(struct pool_recipe, name, false),
        BLOCK_STRING(struct pool_recipe, policy, false),
        BLOCK_STRING(struct pool_recipe, places, false),
        BLOCK_STRING(struct pool_recipe, digest, false),
        BLOCK_STRING(struct pool_recipe, tenant, false),
        BLOCK_ANY(struct pool_recipe, beside),
        BLOCK_UPTO(struct pool_recipe, mask, 0777),
        BLOCK_UPTO(struct pool_recipe, observe, BOX_OBSERVE_ALL),
        BLOCK_UPTO(struct pool_recipe, stage, POLICY_STAGE__COUNT - 1),
        BLOCK_ANY(struct pool_recipe, id_first),
        BLOCK_ANY(struct pool_recipe, id_count),
        BLOCK_BOOL(struct pool_recipe, own_core),
        BLOCK_BOOL(struct pool_recipe, require_groups),
        BLOCK_BOOL(struct pool_recipe, root),
        BLOCK_BOOL(struct pool_recipe, no_ledger),
        BLOCK_BOOL(struct pool_recipe, signals_stay_in),
        BLOCK_ANY(struct pool_recipe, uid),
        BLOCK_ANY(struct pool_recipe, gid),
};
static const struct block_type type = {
        .size = sizeof(struct pool_recipe), BLOCK_FIELDS(fields), .kind = KIND_RECIPE, .version = FORMAT
};

static void add_number(struct sha256 *s, uint64_t n) { sha256_add(s, &n, sizeof n); }

/* With `net` doors the broker decides by the policy: then its text counts, else only the plan made of it. */
int pool_key(const struct pool_recipe *r, uint8_t ret[POOL_KEY])
{
        struct sha256 s;
        uint8_t plan[32];
        if (plan_digest(r->plan, plan) < 0)
                return -1;

        sha256_init(&s);
        sha256_add(&s, plan, sizeof plan);
        add_number(&s, r->beside);
        add_number(&s, r->mask);
        add_number(&s, r->observe);
        add_number(&s, r->require_groups);
        add_number(&s, r->root);
        add_number(&s, r->signals_stay_in);
        add_number(&s, r->uid);
        add_number(&s, r->gid);
        sha256_add(&s, r->tenant, strlen(r->tenant));
        add_number(&s, r->id_first);
        add_number(&s, r->id_count);
        add_number(&s, r->own_core);
        if (r->plan->net) {
                sha256_add(&s, r->digest, strlen(r->digest));
                add_number(&s, r->stage);
                add_number(&s, r->no_ledger);
                sha256_add(&s, r->places, strlen(r->places));
        }

        sha256_end(&s, ret);
        return 0;
}

void pool_recipe_seal(const struct pool_recipe *r, struct buf *out)
{
        block_seal(&type, r, out);
        plan_seal_box(r->plan, out);
}

bool pool_is_whole(const void *packet, size_t n)
{
        struct pool_message m;
        if (n < sizeof m)
                return false;

        memcpy(&m, packet, sizeof m);
        return m.magic == POOL_MAGIC && m.bytes <= POOL_MESSAGE_MAX && n - sizeof m == m.bytes;
}

int pool_recipe_open(void *p, size_t n, struct pool_recipe *ret, struct err *e)
{
        const void *root;
        size_t used = 0;
        if (block_open(&type, p, n, &root, &used, e) < 0)
                return err_in(e, "reading the recipe of a box");

        *ret = *(const struct pool_recipe *) root;
        return plan_open_box((char *) p + used, n - used, &ret->plan, &used, e);
}
