/* SPDX-License-Identifier: MIT */
/* run/api/dummies.c - credentials for a box that is learned, tightened or mocked: the vault is never asked.
 * The broker gets grants of the right shape whose secret is a dummy, so that it swaps, denies and reports as
 * usual; no real secret can be loaded, whatever the policy contains. */
#include "base/fd.h"
#include "broker/vault/vault.h"
#include "policy/learn/learn.h"
#include "run/api/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

_Static_assert(2 * (int) LEARN_DUMMY_MAX < (int) GRANT_SECRET_MAX, "it fits");

/* NAME of the environment: capitals, digits and underscores. */
static bool is_variable(const char *name)
{
        return name[0] && name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

/* The binding from the vault's entry; it is in the clear, and not made here. */
static void bind_as_in_vault(const struct cordon_context *cx, struct vault_meta *m)
{
        struct vault_meta known;
        struct err none;
        if (vault_meta_peek(cx, m->name, &known, &none) == 0)
                *m = known;
}

static int add_dummy(struct api_dummies *d, const char *name, struct err *e)
{
        for (unsigned i = 0; i < d->count; i++)
                if (strcmp(d->v[i].name, name) == 0)
                        return 0;

        if (!vault_name_ok(name) || strlen(name) >= sizeof d->v[0].name)
                return err_set(e, ERR_USAGE, 0, "invalid credential name %.60s: letters, digits, . _ and -",
                               name);

        if (d->count == sizeof d->v / sizeof *d->v)
                return err_set(e, ERR_POLICY, 0, "a box of dummies takes %u credentials at most", d->count);

        (void) snprintf(d->v[d->count++].name, sizeof d->v[0].name, "%s", name);
        return 0;
}

int api_dummies_begin(struct api_dummies *d, const char *const *with, struct err *e)
{
        if (getrandom(d->seed, sizeof d->seed, 0) != sizeof d->seed)
                return err_set(e, ERR_HOST, errno, "the kernel gives no random bytes");
        for (const char *const *x = with; x && *x; x++)
                if (add_dummy(d, *x, e) < 0)
                        return -1;
        return 0;
}

/* A key of AWS has two parts. */
static void make_dummy(enum grant_where where, const char *shape, const uint8_t *seed, unsigned which,
                       char ret[2 * LEARN_DUMMY_MAX])
{
        char id[LEARN_DUMMY_MAX] = "", secret[LEARN_DUMMY_MAX];
        bool key = where == GRANT_SIGV4;
        if (key)
                learn_dummy("aws_access_key_id", seed, which, id);
        learn_dummy(key ? "aws_secret_access_key" : shape, seed, which, secret);
        (void) snprintf(ret, (size_t) 2 * LEARN_DUMMY_MAX, "%s%s%s", id, key ? ":" : "", secret);
}

static void fill_placeholder(const struct api_dummies *d, const struct vault_meta *m, const char *shown,
                             struct vault_told *told)
{
        memcpy(told->name, m->name, sizeof told->name);
        memcpy(told->env, m->env, sizeof told->env);
        (void) snprintf(told->placeholder, sizeof told->placeholder, "%s", shown);
        if (!d->in_files)
                return;

        memcpy(told->file, m->file, sizeof told->file);
        memcpy(told->form, m->form, sizeof told->form);
        if (m->where == GRANT_BASIC)
                memcpy(told->user, m->field, sizeof told->user);
}

static void make_grant(const struct cordon_context *cx, const struct api_dummies *d, const char *name,
                       struct grant *g, struct vault_told *told)
{
        struct vault_meta m = { .where = GRANT_HEADER, .field = "Authorization", .before = "Bearer " };
        char secret[2 * LEARN_DUMMY_MAX], shown[2 * LEARN_DUMMY_MAX];
        (void) snprintf(m.name, sizeof m.name, "%s", name);
        if (is_variable(name))
                (void) snprintf(m.env, sizeof m.env, "%s", name);

        bind_as_in_vault(cx, &m);
        const char *shape = m.env[0] ? m.env : name;
        make_dummy((enum grant_where) m.where, shape, d->seed, 0, shown);
        make_dummy((enum grant_where) m.where, shape, d->seed, 1, secret);
        *g = (struct grant){ .size = sizeof *g,
                             .where = (uint16_t) m.where,
                             .length = (uint32_t) strlen(shown) };
        memcpy(g->name, m.name, sizeof g->name);
        memcpy(g->field, m.field, sizeof g->field);
        memcpy(g->before, m.before, sizeof g->before);
        memcpy(g->after, m.after, sizeof g->after);
        memcpy(g->secret, secret, g->length);
        memcpy(g->placeholder, shown, g->length);
        fill_placeholder(d, &m, shown, told);
}

/* Doors may name other credentials than the requested ones: those get a dummy as well. */
static int collect_names(const struct cordon_box *b, struct api_dummies *all, struct err *e)
{
        for (const struct door *d = NULL; (d = policy_door_of(b->policy->checked, DOOR_NET, d));)
                if (d->net.credential && add_dummy(all, d->net.credential, e) < 0)
                        return -1;

        return 0;
}

int api_dummies_mock(struct cordon_box *b, struct err *e)
{
        struct api_dummies d = { .in_files = true };
        return api_dummies_begin(&d, NULL, e) < 0 ? -1 : api_dummies_give(b, &d, e);
}

static int give_one(struct cordon_box *b, const struct api_dummies *all, unsigned i, int out, struct grant *g,
                    struct err *e)
{
        make_grant(b->policy->cx, all, all->v[i].name, g, &b->told[i]);
        if (api_grant_scope(b->policy->checked, all->v[i].name, g->scope, e) < 0)
                return -1;
        return fd_write_all(out, g, sizeof *g) < 0
                       ? err_set(e, ERR_IO, errno, "no room for the dummies of credentials")
                       : 0;
}

int api_dummies_give(struct cordon_box *b, const struct api_dummies *d, struct err *e)
{
        struct api_dummies all = *d;
        int ends[2];
        if (collect_names(b, &all, e) < 0)
                return -1;

        if (all.count == 0)
                return 0;

        if (api_grants_pipe(all.count, ends, e) < 0)
                return -1;

        AUTO_FD(in, ends[0]);
        AUTO_FD(out, ends[1]);
        b->told = calloc(all.count, sizeof *b->told);
        struct grant *g = malloc(sizeof *g);
        int bad = b->told && g ? 0 : -1;
        if (bad < 0)
                (void) err_set(e, ERR_MEMORY, ENOMEM, "no memory for the dummies of credentials");

        for (unsigned i = 0; bad == 0 && i < all.count; i++)
                bad = give_one(b, &all, i, out, g, e);

        free(g);
        if (bad < 0)
                return -1;

        b->told_count = all.count;
        b->grants = TAKE_FD(in);
        b->c.grants = &b->grants;
        return 0;
}
