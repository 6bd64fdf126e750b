/* SPDX-License-Identifier: MIT */
/* api/api_park.c - parked boxes: raised before it is known what runs in them, and used once. A run gets a
 * parked box only if a plan made for it now is the plan of that box. */
#include "api/internal.h"
#include "base/hash.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what cannot be parked yet ---- */

static bool has_door(const struct cordon_box *b, enum door_kind kind)
{
        size_t n;
        const struct door *d = policy_doors(b->policy->checked, &n);
        for (size_t i = 0; i < n; i++)
                if (d[i].kind == kind)
                        return true;
        return false;
}

static bool has_credential(const struct cordon_box *b)
{
        size_t n;
        const struct door *d = policy_doors(b->policy->checked, &n);
        for (size_t i = 0; i < n; i++)
                if (d[i].kind == DOOR_NET && d[i].net.credential)
                        return true;
        return false;
}

static bool asks(const struct cordon_box *b)
{
        size_t n;
        const struct door *d = policy_doors(b->policy->checked, &n);
        for (size_t i = 0; i < n; i++)
                if (d[i].ask.on)
                        return true;
        return false;
}

static bool listens(const struct cordon_box *b) { return has_door(b, DOOR_LISTEN); }
static bool copies(const struct cordon_box *b) { return b->plan && b->plan->copies > 0; }
static bool edits(const struct cordon_box *b) { return b->plan && b->plan->edits > 0; }
static bool records(const struct cordon_box *b) { return b->record_file != NULL; }
static bool is_mocked(const struct cordon_box *b) { return b->stage == POLICY_STAGE_MOCK; }
static bool is_learned(const struct cordon_box *b) { return b->dummies || b->observe == BOX_OBSERVE_ALL; }

static const struct {
        bool (*is)(const struct cordon_box *b);
        const char *why;
} unparkable[] = {
        { listens, "a `listen` door opens its port with the run" },
        { copies, "a `write` door for one file copies it when the run starts" },
        { edits, "an `edit` door needs an overlay of its own run" },
        { asks, "a door with `ask` names the run to its approvers" },
        { has_credential, "a credential is loaded when the run starts" },
        { records, "--record names a file of this run" },
        { is_mocked, "the stage mock makes credentials of its own for each run" },
        { is_learned, "everything that the run does is observed" },
};

const char *api_unparkable(const struct cordon_box *b)
{
        for (size_t i = 0; i < sizeof unparkable / sizeof *unparkable; i++)
                if (unparkable[i].is(b))
                        return unparkable[i].why;
        return NULL;
}

/* ---- the key ---- */

static void add_number(struct sha256 *s, uint64_t n) { sha256_add(s, &n, sizeof n); }

/* The box plan, and everything outside it that a box is started with. */
static int make_key(const struct cordon_box *b, const struct plan *p, uint8_t ret[32])
{
        struct sha256 s;
        uint8_t plan[32];
        if (plan_digest(p, plan) < 0)
                return -1;

        sha256_init(&s);
        sha256_add(&s, plan, sizeof plan);
        add_number(&s, (uint64_t) b->observe);
        add_number(&s, b->require_groups);
        add_number(&s, b->single_thread);
        add_number(&s, b->as_root);
        add_number(&s, b->facts.uid);
        add_number(&s, b->facts.gid);
        if (p->net) { /* the broker decides by the policy */
                const char *digest = policy_digest(b->policy->checked);
                sha256_add(&s, digest, strlen(digest));
                add_number(&s, b->stage);
                add_number(&s, b->ledger == BOX_LEDGER_OFF);
                sha256_add(&s, b->places_text.p, b->places_text.n);
        }

        sha256_end(&s, ret);
        return 0;
}

/* ---- taking one ---- */

void api_parked_free(struct api_parked *p)
{
        box_free(p->box);
        plan_free(p->plan);
        policy_checked_free(p->checked);
        *p = (struct api_parked){ 0 };
}

static void stay_cold(struct cordon_box *b, const char *why)
{
        (void) snprintf(b->cold_why, sizeof b->cold_why, "%s", why);
        api_parked_free(&b->parked);
}

struct box *api_parked_take(struct cordon_box *b, const struct plan *plan)
{
        uint8_t key[32];
        const char *why = api_unparkable(b);
        if (!b->parked.box)
                return NULL;

        if (!why && !box_is_parked(b->parked.box))
                why = "the parked box is not ready, or has ended";
        if (!why && (make_key(b, plan, key) < 0 || memcmp(key, b->parked.key, sizeof key) != 0))
                why = "the plan of this run is not that of the parked box: a door, its file or the policy "
                      "differs";
        if (why) {
                stay_cold(b, why);
                return NULL;
        }

        struct box *box = b->parked.box;
        b->parked.box = NULL; /* its plan and policy are the box's until it has the run's */
        return box;
}

int api_parked_keep(struct cordon_box *b, struct err *e)
{
        struct api_parked p = { .box = b->box, .plan = b->plan, .checked = b->policy->checked };
        if (make_key(b, b->plan, p.key) < 0)
                return err_set(e, ERR_MEMORY, 0, "no memory for the key of a parked box");

        if (b->any_command && b->argv && strcmp(b->argv[0], "sh") == 0) {
                free(b->argv);
                b->argv = NULL;
        }

        b->box = NULL;
        b->plan = NULL;
        b->policy->checked = NULL; /* the next start checks again: a door may have expired */
        b->parking = b->over = false;
        b->parked = p;
        return 0;
}
