/* SPDX-License-Identifier: MIT */
/* run/api/api_park.c - parked boxes: raised before it is known what runs in them, and used once. A run gets a
 * parked box only if a plan made for it now is the plan of that box. */
#include "base/dir.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/host/host.h"
#include "run/api/internal.h"
#include "run/pool/pool.h"
#include "wall/wall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what cannot be parked yet ---- */

static bool has_asks(const struct cordon_box *b)
{
        for (const struct door *d = NULL; (d = policy_door_next(b->policy->checked, d));)
                if (d->ask.on)
                        return true;
        return false;
}

static bool is_labelled(const struct cordon_box *b)
{
        return policy_has_labels(b->policy->checked) || !label_is_empty(&b->c.label) || b->c.shut_count;
}

static bool has_handles(const struct cordon_box *b)
{
        return b->plan && !wall_has(b->plan->wall, WALL_PROGRAMS) && b->plan->handle_count > 0;
}
static bool watches_egress(const struct cordon_box *b)
{
        return b->c.canary_count && policy_door_of(b->policy->checked, DOOR_NET, NULL);
}
static bool checks_answers(const struct cordon_box *b)
{
        for (const struct door *d = NULL; (d = policy_door_of(b->policy->checked, DOOR_NET, d));)
                if (d->type != HANDLE_BINARY)
                        return true;
        return false;
}
static bool copies(const struct cordon_box *b) { return b->plan && b->plan->copies > 0; }
static bool uses_keys(const struct cordon_box *b) { return b->plan && b->plan->keys; }
static bool edits(const struct cordon_box *b) { return b->plan && b->plan->edits > 0; }
static bool records(const struct cordon_box *b) { return b->record_file != NULL; }
static bool is_mocked(const struct cordon_box *b) { return b->c.stage == POLICY_STAGE_MOCK; }
static bool is_learned(const struct cordon_box *b) { return b->dummies || b->c.observe == BOX_OBSERVE_ALL; }

static const struct {
        bool (*is)(const struct cordon_box *b);
        const char *why;
} unparkable[] = {
        { copies, "a `write` door for one file copies it when the run starts" },
        { uses_keys, "each use of a key is recorded for its run" },
        { edits, "an `edit` door needs an overlay of its own run" },
        { has_asks, "a door with `ask` names the run to its approvers" },
        { is_labelled, "a label belongs to one run" },
        { api_names_credential, "a credential is loaded when the run starts" },
        { watches_egress, "the broker gets the canaries of this run" },
        { checks_answers, "answers are searched for the secrets of this run" },
        { has_handles, "a module gets handles and functions when the run starts" },
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

/* A tripwire on paths needs the reports of denied lookups; one on calls only those of calls. */
enum box_observe api_observe(const struct cordon_box *b)
{
        bool blind = b->c.observe == BOX_OBSERVE_CALLS || b->c.observe == BOX_OBSERVE_OFF;
        if (b->c.trip & (BOX_TRIP_SECRETS | BOX_TRIP_DOORS) && blind)
                return BOX_OBSERVE_DENIALS;
        return b->c.trip && b->c.observe == BOX_OBSERVE_OFF ? BOX_OBSERVE_CALLS : b->c.observe;
}

bool api_signals_stay_in(const struct cordon_box *b, const struct plan *p)
{
        return host_serves_signals(&b->facts) ||
               (b->facts.landlock_abi >= HOST_LANDLOCK_SCOPES && !(p->without & WITHOUT_LANDLOCK));
}

/* For people. */
static const char *name_of(const struct cordon_policy *p, const char *box)
{
        if (p->rule_count)
                return p->rules[0];

        return strcmp(box, "box") != 0 ? box : p->typed[0] ? p->typed : "without options";
}

/* FNV-1a; in any order. */
static uint64_t name_and_number(const struct dir_entry *d)
{
        uint64_t h = UINT64_C(14695981039346656037) ^ d->ino * UINT64_C(0x9e3779b97f4a7c15);
        for (const char *c = d->name; *c; c++)
                h = (h ^ (uint8_t) *c) * UINT64_C(1099511628211);
        return h ^ h >> 29;
}

static uint64_t listing_of(const char *path)
{
        DIR_LIST(list, 8192);
        uint64_t sum = 1;
        AUTO_FD(dir, open(path, O_RDONLY | O_DIRECTORY | O_NOCTTY | O_CLOEXEC));
        while (dir >= 0 && dir_more(&list, dir) > 0)
                for (const struct dir_entry *d; (d = dir_next(&list));)
                        if (strcmp(d->name, "..") != 0)
                                sum += name_and_number(d);
        return sum;
}

/* Of a directory in which something is hidden, a box sees the entries that it has when the box starts. */
static uint64_t beside_hidden(const struct plan *p)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < p->rule_count; i++)
                if (p->rules[i].entries)
                        sum = sum * 31 + listing_of(p->rules[i].path);

        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_STILL)
                        sum = sum * 31 + listing_of(p->steps[i].path);
        return sum;
}

/* The box plan, and everything outside it that a box is started with. `texts` holds what it points to. The
 * policy's text costs more than all the rest: for a key it is left out where it does not count. */
static struct pool_recipe recipe_of(const struct cordon_box *b, const struct plan *p, bool whole,
                                    struct api_recipe *texts)
{
        whole |= p->net;
        if (whole)
                policy_canonical_json(b->policy->checked, &texts->policy);

        buf_add(&texts->places, b->c.places.p ? (const char *) b->c.places.p : "", b->c.places.n);
        return (struct pool_recipe){ .plan = p,
                                     .name = name_of(b->policy, p->box),
                                     .policy = buf_str(&texts->policy),
                                     .places = buf_str(&texts->places),
                                     .digest = whole ? policy_digest(b->policy->checked) : "",
                                     .beside = beside_hidden(p),
                                     .mask = pool_umask(b->c.single_thread),
                                     .observe = api_observe(b),
                                     .stage = b->c.stage,
                                     .require_groups = b->c.require_groups,
                                     .root = b->c.root,
                                     .tenant = b->policy->cx->tenant.tag,
                                     .id_first = b->policy->cx->tenant.id_first,
                                     .id_count = b->policy->cx->tenant.id_count,
                                     .own_core = b->policy->cx->tenant.own_core,
                                     .no_ledger = b->c.ledger == BOX_LEDGER_OFF,
                                     .signals_stay_in = api_signals_stay_in(b, p),
                                     .uid = b->facts.uid,
                                     .gid = b->facts.gid };
}

static void recipe_done(struct api_recipe *texts)
{
        buf_done(&texts->policy);
        buf_done(&texts->places);
}

int api_park_key(const struct cordon_box *b, const struct plan *p, uint8_t ret[POOL_KEY])
{
        struct api_recipe texts = { 0 };
        (void) hash_use_hardware();
        struct pool_recipe r = recipe_of(b, p, false, &texts);
        int made = texts.policy.failed || texts.places.failed ? -1 : pool_key(&r, ret);
        recipe_done(&texts);
        return made;
}

/* ---- the resident ---- */

/* `size`: so many, or POOL_AUTOMATIC for a plan that was seen before. */
int api_park_send(const struct cordon_box *b, int fd, const struct plan *p, unsigned size,
                  const uint8_t key[POOL_KEY], struct err *e)
{
        struct api_recipe texts = { 0 };
        struct pool_recipe r = recipe_of(b, p, true, &texts);
        struct pool_message m = { .word = POOL_ADD, .arg = size };
        AUTO_BUF(blocks);
        memcpy(m.key, key, POOL_KEY);
        pool_recipe_seal(&r, &blocks);
        m.bytes = (uint32_t) blocks.n;
        bool bad = blocks.failed || texts.policy.failed || texts.places.failed;
        bool large = blocks.n > POOL_MESSAGE_MAX;
        char *answer = NULL;
        if (bad || large)
                (void) err_set(e, ERR_USAGE, 0, "the plan of this box is too large for cordon serve");
        else if (!(size & POOL_AUTOMATIC))
                answer = pool_ask(fd, &m, blocks.p, e);
        else
                (void) pool_send(fd, &m, blocks.p);

        recipe_done(&texts);
        free(answer);
        return !(size & POOL_AUTOMATIC) && !answer ? -1 : 0;
}

/* No box is parked for this plan: what the nearest one differs in. */
static void say_nearest(struct cordon_box *b, int fd, const struct plan *p)
{
        struct api_recipe texts = { 0 };
        struct pool_recipe r = recipe_of(b, p, false, &texts);
        struct err e;
        AUTO_BUF(blocks);
        pool_recipe_seal(&r, &blocks);
        const struct pool_message m = { .word = POOL_NEAR, .bytes = (uint32_t) blocks.n };
        bool fits = !blocks.failed && blocks.n <= POOL_MESSAGE_MAX;
        char *near = fits ? pool_ask(fd, &m, blocks.p, &e) : NULL;
        if (near && near[0])
                (void) snprintf(b->cold_why, sizeof b->cold_why, POOL_NO_SHELF "; %s", near);

        free(near);
        recipe_done(&texts);
}

/* Reports that nobody reads do no harm: a box that makes more of them serves the run as well. */
static struct box *take_watched(struct cordon_box *b, int *fd, const struct plan *plan)
{
        struct pool_message m = { .arg = b->parked_most };
        bool ignored;
        enum box_observe own = b->c.observe;
        char why[sizeof b->cold_why] = POOL_NO_SHELF;
        b->c.observe = BOX_OBSERVE_DENIALS;
        struct box *box = api_park_key(b, plan, m.key) == 0
                                  ? pool_take(fd, &m, &b->c, &ignored, why, sizeof why)
                                  : NULL;
        b->c.observe = box ? BOX_OBSERVE_DENIALS : own;
        if (!box && strcmp(why, POOL_NO_SHELF) != 0)
                (void) snprintf(b->cold_why, sizeof b->cold_why, "%s", why);

        return box;
}

struct box *api_pool_take(struct cordon_box *b, const struct plan *plan)
{
        struct pool_message m = { .arg = b->parked_most };
        struct err e;
        bool wanted = false;
        const char *why = api_unparkable(b);
        if (b->pool == API_POOL_OFF || b->c.park || b->c.session)
                return NULL;

        AUTO_FD(fd, why ? -1 : pool_connect(b->policy->cx, &e));
        if (fd < 0 && !why && b->pool == API_POOL_AUTO && (e.sys == ENOENT || e.sys == ECONNREFUSED))
                return NULL; /* no resident: nothing to report */

        struct box *box = NULL;
        if (why)
                (void) snprintf(b->cold_why, sizeof b->cold_why, "%s", why);
        else if (fd < 0) {
                (void) snprintf(b->cold_why, sizeof b->cold_why, "%.150s", e.what);
                b->unserved = e.sys == ENOENT || e.sys == ECONNREFUSED;
        } else if (api_park_key(b, plan, m.key) == 0)
                box = pool_take(&fd, &m, &b->c, &wanted, b->cold_why, sizeof b->cold_why);

        bool none = !box && fd >= 0 && strcmp(b->cold_why, POOL_NO_SHELF) == 0;
        if (none && api_observe(b) == BOX_OBSERVE_CALLS)
                box = take_watched(b, &fd, plan);

        if (!box && !wanted && fd >= 0 && strcmp(b->cold_why, POOL_NO_SHELF) == 0)
                say_nearest(b, fd, plan);

        if (!box && plan->warm_why && fd >= 0)
                (void) snprintf(b->cold_why, sizeof b->cold_why, "%s", plan->warm_why);

        if (wanted)
                (void) api_park_send(b, fd, plan, POOL_AUTOMATIC | b->parked_most, m.key, &e);

        return box;
}

/* ---- taking one ---- */

void api_parked_free(struct api_parked *p)
{
        box_free(p->box);
        plan_free(p->plan);
        policy_checked_free(p->checked);
        free(p->by);
        *p = (struct api_parked){ 0 };
}

static void stay_cold(struct cordon_box *b, const char *why)
{
        (void) snprintf(b->cold_why, sizeof b->cold_why, "%s", why);
        api_parked_free(&b->parked);
}

/* A box keeps the namespaces, groups and limits that this process had. */
static const char *confined_since(const struct api_parked *p)
{
        struct host_confinement now;
        return host_confinement_read(0, &now) < 0 ? "its own state"
                                                  : host_confined_more(&now, p->by, HOST_CONFINED_ALL);
}

struct box *api_parked_take(struct cordon_box *b, const struct plan *plan)
{
        uint8_t key[32];
        const char *why = api_unparkable(b);
        if (!b->parked.box)
                return NULL;

        if (!why && !box_is_parked(b->parked.box))
                why = "the parked box is not ready, or has ended";
        if (!why && (api_park_key(b, plan, key) < 0 || memcmp(key, b->parked.key, sizeof key) != 0))
                why = "the plan of this run is not that of the parked box: a door, its file or the policy "
                      "differs";
        if (!why && confined_since(&b->parked))
                why = "this process is confined since the box was parked";
        if (why) {
                stay_cold(b, why);
                return NULL;
        }

        struct box *box = b->parked.box;
        free(b->parked.by);
        b->parked.by = NULL;
        b->parked.box = NULL; /* its plan and policy are the box's until it has the run's */
        return box;
}

int api_parked_keep(struct cordon_box *b, struct err *e)
{
        struct api_parked p = {
                .box = b->box, .plan = b->plan, .checked = b->policy->checked, .by = malloc(sizeof *p.by)
        };
        if (!p.by || api_park_key(b, b->plan, p.key) < 0 || host_confinement_read(0, p.by) < 0) {
                free(p.by);
                return err_set(e, ERR_MEMORY, 0, "no memory for the key of a parked box");
        }

        if (b->any_command) {
                free(b->argv);
                b->argv = NULL;
        }

        b->plans_pool = false;

        b->box = NULL;
        b->plan = NULL;
        b->c.plan = NULL;
        b->policy->checked = NULL; /* the next start checks again: a door may have expired */
        b->c.park = b->over = false;
        b->parked = p;
        return 0;
}
