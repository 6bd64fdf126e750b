/* SPDX-License-Identifier: MIT */
/* api/api_recall.c - a box of the resident's for a run whose plan is not made yet. The request has everything
 * that a plan is made from, looked at for this run; if the resident knows a request with the same digest, the
 * run is ordered in that box, and its plan is made while the program starts. A plan that is another one than
 * the box's ends the box. */
#include "api/internal.h"
#include "base/fd.h"
#include "base/hash.h"
#include "pool/pool.h"

#include <string.h>
#include <sys/stat.h>

static bool may_recall(const struct cordon_box *b)
{
        return b->pool != API_POOL_OFF && !b->parking && !b->is_session && !b->session && !b->parked.box &&
               !b->plans_pool && !b->made;
}

/* Another build of cordon may make another plan of the same request. */
static int add_build(struct sha256 *s)
{
        struct stat st;
        if (stat("/proc/self/exe", &st) < 0)
                return -1;

        const uint64_t build[] = { st.st_dev, st.st_ino, (uint64_t) st.st_size, (uint64_t) st.st_mtim.tv_sec,
                                   (uint64_t) st.st_mtim.tv_nsec };
        sha256_add(s, build, sizeof build);
        return 0;
}

static int make_key(struct cordon_box *b, const struct plan_request *r, const struct plan *draft)
{
        struct sha256 s;
        uint8_t digest[32];
        (void) hash_use_hardware();
        if (plan_request_digest(b->policy->checked, r, digest) < 0)
                return -1;

        sha256_init(&s);
        sha256_add(&s, digest, sizeof digest);
        if (add_build(&s) < 0)
                return -1;

        sha256_end(&s, digest);
        api_request_key(b, draft, digest, b->request);
        return 0;
}

/* The order is on its way: what follows costs the run no time. */
static int plan_behind(struct cordon_box *b, const struct plan_request *r, const uint8_t key[POOL_KEY],
                       struct err *e)
{
        uint8_t own[POOL_KEY];
        struct plan *whole = plan_make(b->policy->checked, r, e);
        bool same = whole && api_park_key(b, whole, own) == 0 && memcmp(own, key, POOL_KEY) == 0;
        if (same) {
                plan_free(b->draft);
                b->draft = b->plan;
                b->plan = whole;
                box_replan(b->box, whole);
                return 0;
        }

        box_kill(b->box);
        box_free(b->box);
        b->box = NULL;
        plan_free(whole);
        return whole ? err_set(e, ERR_WALL, 0, "cordon serve gave a box of another plan: it was ended") : -1;
}

int api_recall(struct cordon_box *b, const struct plan_request *r, struct err *e)
{
        uint8_t key[POOL_KEY];
        struct err none;
        b->has_request = false;
        if (!may_recall(b) || api_pool_line(b, &none) < 0)
                return 0;

        plan_free(b->plan);
        b->plan = plan_draft(b->policy->checked, r, &none);
        if (!b->plan || make_key(b, r, b->plan) < 0)
                return 0;

        if (api_label(b, e) < 0)
                return -1;

        b->has_request = !api_unparkable(b);
        struct box_config c = api_box_config(b);
        struct box *box = b->has_request ? pool_recall(&b->line, b->request, &c, key) : NULL;
        if (!box)
                return 0;

        box_order(b->box = box, &c);
        return plan_behind(b, r, key, e) < 0 ? -1 : 1;
}
