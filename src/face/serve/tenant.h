/* SPDX-License-Identifier: MIT */
/* face/serve/tenant.h - a tenant is a handle: the only key to its files, state, vault, ledger, policies and
 * budgets. It is had for a token, which the operator registered; nothing else takes a tenant's name. */
#pragma once
#include "base/span.h"
#include "cordon.h"
#include "face/serve/budget.h"
#include "face/serve/token_file.h"

struct tenants;
struct tenant;

/* `config` is open as `dir`. Both, and the environment, are borrowed. NULL: no memory. */
struct tenants *tenants_new(int dir, const char *config, char *const *environment, struct budget *host,
                            int (*opened)(void *ctx, struct tenant *t, cordon_error *e), void *ctx);
/* Without `opened` past runs are not loaded: only the server may go on with them. */
/* What an operator writes for a tenant must at least be a policy. */
int tenant_check_text(const struct tenants *ts, const char *name, struct span text, cordon_error *e);
extern const struct body_form tenant_form; /* of tenant.json */
/* Loads those that have runs from before, which go on. */
void tenants_resume(struct tenants *ts, void (*failed)(void *ctx, const char *name));
void tenants_free(struct tenants *ts);
/* The tenant of a token. NULL with *e set: the token is the host's, or the tenant does not load; ESTALE: the
 * token was made for another tenant of that name. */
struct tenant *tenant_of(struct tenants *ts, const struct token *t, cordon_error *e);
/* Those that were used since the start; NULL: no more. */
struct tenant *tenants_at(const struct tenants *ts, size_t index);

/* Calls `each` for every tenant of the directory, used or not, with its name and its state directory. */
void tenants_states(const struct tenants *ts, void (*each)(void *ctx, const char *name, const char *state),
                    void *ctx);

const char *tenant_label(const struct tenant *t); /* for people */
const cordon_context *tenant_context(const struct tenant *t);
int tenant_root(const struct tenant *t); /* its files: for openat2() with RESOLVE_BENEATH */
void tenant_descriptors(const struct tenant *t, int ret[2]); /* that it uses */
/* Of something in its directory, for functions of the library that take paths; never for a client. */
void tenant_path(const struct tenant *t, const char *below, char *ret, size_t cap);
struct budget *tenant_budget(struct tenant *t);
unsigned tenant_box_runs(const struct tenant *t); /* at once in one box that stays */
struct bucket *tenant_rate(struct tenant *t);
int tenant_dir(const struct tenant *t);
/* How long and how much of runs that ended. */
struct tenant_keep {
        int64_t s;
        uint64_t bytes;
};
const struct tenant_keep *tenant_keep(const struct tenant *t);
struct fair_queue *tenant_turns(struct tenant *t);
/* `"share": false`: its boxes run while no box of another tenant does, and never in a parked one. */
bool tenant_is_alone(const struct tenant *t);
/* Its CORDON_POOL. */
const char *tenant_pool(const struct tenant *t);
/* What the server keeps for it: runs, sessions, counters. */
struct tenant_book *tenant_book(struct tenant *t);

/* ---- policies ---- */

struct held_policy; /* counted: a box uses it as long as it lives */
/* One that the operator registered. */
struct held_policy *tenant_policy(struct tenant *t, const char *name, cordon_error *e);
/* A registered one of which nobody else has this copy, and its variables: "NAME=VALUE\0...". Only what a
 * command could do by itself: its policy must let it run `env`. */
struct held_policy *tenant_policy_own(struct tenant *t, const char *name, cordon_error *e);
int held_policy_env(const struct tenant *t, struct held_policy *h, struct span variables, cordon_error *e);
/* The same, read again, and not shared with others. */
struct held_policy *tenant_policy_copy(const struct tenant *t, const char *name, cordon_error *e);
/* Tells a policy where the tenant's files and home are. */
int tenant_roots(const struct tenant *t, cordon_policy *p);
/* The tenant's files, if boxes of the policy see them; else NULL: no directory in particular. */
const char *tenant_start_directory(const struct tenant *t, cordon_policy *p);
/* Adds one that is the user who runs the server: its state, and no directory, policy or file. */
int tenants_own(struct tenants *ts, const char *name, struct err *e);
/* Door lines of a request: not wider than the tenant's ceiling. Of files only {work}: what lies below it may
 * have been replaced by an earlier box. */
struct held_policy *tenant_lines(struct tenant *t, const char *text, size_t len, cordon_error *e);
cordon_policy *held_policy(struct held_policy *h);
/* Where its boxes start: {work}, or NULL if it has no door to that. */
const char *held_policy_directory(const struct held_policy *h);
bool held_policy_gpu(const struct held_policy *h); /* it has a `gpu` line */
bool tenant_opens_gpu(cordon_policy *p);           /* the same of one that is checked */
void held_policy_release(struct held_policy *h);   /* or NULL */
/* Names the person or token in records of what this process reads from now on. */
void tenant_act_for(struct tenant *t, const char *person);
/* Calls `each` for every registered policy. */
void tenant_policies(const struct tenant *t, void (*each)(void *ctx, const char *name), void *ctx);
/* True if door lines of a request use only words that name nothing of the host; else why not, and in which
 * line and column. Pure. */
struct lines_refusal {
        const char *why;
        const char *nearest; /* the word that a misspelled one may mean; or NULL */
        unsigned line, column;
};
bool tenant_lines_allowed(const char *text, size_t len, struct lines_refusal *ret);
