/* SPDX-License-Identifier: MIT */
/* plan/request_digest.c - the digest of everything that a box plan is made from. A plan is a pure function of
 * the checked policy and the request: two requests with one digest have one box plan, so that a box can be
 * found for a run before its plan is made. What only the run order depends on (arguments, variables) is left
 * out. A request with anything that is not listed here has no digest. Pure. */
#include "base/hash.h"
#include "plan/internal.h"

#include <string.h>

static void add_number(struct sha256 *s, uint64_t n) { sha256_add(s, &n, sizeof n); }

/* With its NUL; NULL is not "". */
static void add_text(struct sha256 *s, const char *text)
{
        if (text)
                sha256_add(s, text, strlen(text) + 1);
        else
                sha256_add(s, "\xff", 1);
}

static void add_texts(struct sha256 *s, const char *const *v)
{
        for (; v && *v; v++)
                add_text(s, *v);
        add_text(s, NULL);
}

/* ---- what has no digest ---- */

static bool is_plain_door(const struct door *d, const struct plan_seen *seen)
{
        return d->kind != DOOR_NET && d->kind != DOOR_EDIT && d->until == 0 && !d->ask.on && !seen->copyable;
}

static bool is_plain_policy(const struct checked_policy *c)
{
        return !policy_narrowed(c) && !policy_warm(c, WARM_PYTHON3) && !policy_warm(c, WARM_NODE);
}

static bool is_plain_request(const struct plan_request *r)
{
        return !r->image && !r->places && !r->places_later && !r->no_command && !r->any_command && !r->fuel &&
               !r->module_entry && !r->no_wasi && !r->interpret && r->function_count == 0 &&
               r->shut_count == 0 && r->file_count == 0 && !r->engine.path && !r->script_engine.path &&
               !r->code.path;
}

/* ---- what it is made of ---- */

static void add_door(struct sha256 *s, const struct door *d)
{
        add_number(s, (uint64_t) d->kind);
        add_text(s, d->path);
        add_texts(s, (const char *const *) d->except);
        add_number(s, (uint64_t) (d->optional | d->directory << 1 | d->from_stock << 2));
        add_text(s, d->name);
        add_text(s, d->value);
        add_number(s, d->max);
        add_number(s, d->type);
}

static void add_seen(struct sha256 *s, const struct plan_seen *seen)
{
        add_number(s, (uint64_t) seen->kind);
        add_number(s, seen->dev);
        add_number(s, seen->ino);
        add_text(s, seen->link);
        add_text(s, seen->real);
        add_number(s, seen->repository);
}

static void add_program(struct sha256 *s, const struct plan_program *p)
{
        add_text(s, p->path);
        add_text(s, p->real);
        add_number(s, p->dev);
        add_number(s, p->ino);
        add_number(s, p->links);
}

static void add_policy(struct sha256 *s, const struct checked_policy *c)
{
        const struct policy_limits *l = policy_limits(c);
        add_text(s, policy_box(c));
        add_number(s, policy_without(c));
        add_number(s, policy_local(c));
        add_number(s, policy_makes_sockets(c));
        add_number(s, policy_runs_any(c));
        sha256_add(s, l->value, sizeof l->value);
        sha256_add(s, l->stated, sizeof l->stated);
}

/* The uptime is not counted, as in plan_digest(). */
static void add_machine(struct sha256 *s, const struct host_machine *m)
{
        add_number(s, m != NULL);
        if (!m)
                return;

        sha256_add(s, m->cpus, sizeof m->cpus);
        add_number(s, m->memory);
        add_number(s, (uint64_t) m->booted_s);
        add_text(s, m->release);
        add_text(s, m->version);
        add_text(s, m->cpuinfo);
}

static void add_request(struct sha256 *s, const struct plan_request *r)
{
        add_number(s, (uint64_t) r->wall);
        add_number(s, (uint64_t) r->stage);
        add_number(s, (uint64_t) (r->tty | r->root_inside << 1 | r->as_root << 2 | r->cwd_repository << 3 |
                                  r->stock_sockets << 4 | r->cwd_made << 5 | r->entry_searched << 6));
        add_text(s, r->home);
        add_text(s, r->home_real);
        add_text(s, r->cwd);
        add_text(s, r->cwd_asked);
        add_text(s, r->git_config);
        add_program(s, &r->entry);
        for (unsigned i = 0; i < PLAN_OWN_PATHS; i++)
                add_text(s, r->state[i]);
        for (unsigned i = 0; i < PLAN_CONFIG_PATHS; i++)
                add_text(s, r->config[i]);

        add_machine(s, r->machine);
}

int plan_request_digest(const struct checked_policy *c, const struct plan_request *r, uint8_t ret_digest[32])
{
        struct sha256 s;
        size_t n;
        const struct door *doors = policy_doors(c, &n);
        if (!is_plain_request(r) || !is_plain_policy(c))
                return -1;

        sha256_init(&s);
        add_policy(&s, c);
        add_request(&s, r);
        for (size_t i = 0; i < n; i++) {
                if (!is_plain_door(&doors[i], &r->seen[i]))
                        return -1;
                add_door(&s, &doors[i]);
                add_seen(&s, &r->seen[i]);
                add_program(&s, &r->found[i]);
        }

        sha256_end(&s, ret_digest);
        return 0;
}
