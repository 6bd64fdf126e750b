/* SPDX-License-Identifier: MIT */
/* policy/lint/lint.c - the lint table, and the lints of the whole policy. Lints are pure: checks that need
 * the host (is this wall available?) are the doctor's. E is for lines that cannot have their literal
 * meaning; W for lines that mean more than most users want. */
#include "policy/lint/lint.h"
#include "base/variable.h"

enum { PAIRS_MAX = 512 };

/* ---- programs ---- */

static void lint_run_any(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_RUN, d));)
                if (strcmp(d->path, "*") == 0 && d->until == 0)
                        lint_note(v, row, &d->at,
                                  "`run any` without `until`; list the programs, or add an end date");
}

/* ---- variables and handles ---- */

static void lint_secret_name(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_ENV, d));)
                if (variable_looks_secret(d->name, strlen(d->name)))
                        lint_note(v, row, &d->at,
                                  "variable %s looks like a secret that the box would see; store it with "
                                  "`cordon vault add NAME` and use `with NAME` on a net door",
                                  d->name);
}

static void lint_secret_value(struct lint_view *v, const struct lint_row *row)
{
        static const char *const starts[] = { "ghp_",       "gho_",  "github_pat_", "glpat-", "sk-",
                                              "xoxb-",      "xoxp-", "AKIA",        "AIza",   "eyJhbGciOi",
                                              "-----BEGIN", "npm_",  "hf_",         "pypi-" };
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_ENV, d));)
                for (size_t i = 0; d->value && i < COUNT(starts); i++)
                        if (strncmp(d->value, starts[i], strlen(starts[i])) == 0)
                                lint_note(v, row, &d->at,
                                          "the value of %s looks like a secret in the policy itself",
                                          d->name);
}

static void lint_out_cap(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_OUT, d));)
                if (!d->max_stated && !policy_is_stream(d->name)) /* `limit output` caps a stream */
                        lint_note(v, row, &d->at, "output %s has no `max`; it may grow to 64M", d->name);
}

static void lint_device(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_DEV, d));)
                lint_note(v, row, &d->at, "%s: %s", d->path, policy_dev_cost(d->path));
}

static void lint_free_key(struct lint_view *v, const struct lint_row *row)
{
        for (enum door_kind k = DOOR_SIGN; k <= DOOR_DECRYPT; k++)
                for (const struct door *d = NULL; (d = lint_next(v, k, d));)
                        if (!d->ask.on && d->max == 0)
                                lint_note(v, row, &d->at,
                                          "%s: unlimited use without approval; add `max N` or `ask`",
                                          show_text(d->name).text);
}

/* ---- tools ---- */

static void lint_client_name(struct lint_view *v, const struct lint_row *row)
{
        for (const struct door *d = NULL; (d = lint_next(v, DOOR_TOOL, d));) {
                const char *own = strncmp(d->name, "mcp__", 5) == 0 ? strstr(d->name + 5, "__") : NULL;
                if (own && own[2])
                        lint_note(v, row, &d->at, "`%s` is a client-side tool name; the server calls it `%s`",
                                  d->name, own + 2);
        }
}

/* ---- the whole ---- */

/* The largest value has the meaning of `none`, however it is written. */
static void lint_lifted(struct lint_view *v, const struct lint_row *row)
{
        for (enum limit_key k = 0; k < LIMIT_RENEW; k++) {
                struct source_place used = { v->p->file ? v->p->file : "policy", 1, 1 };
                if (v->c->limits.value[k] == limit_row(k)->most)
                        lint_note(v, row, v->p->limits.stated[k] ? &v->p->limit_at[k] : &used,
                                  "`limit %s none` removes the limit; use a number", policy_limit_name(k));
        }
}

/* Between own lines only: a line that a stock policy also covers is not at fault. */
static void lint_implied(struct lint_view *v, const struct lint_row *row)
{
        struct checked_policy own = *v->c;
        size_t n = 0;
        struct door *mine = arena_alloc(&v->c->mem, (v->c->live.n + 1) * sizeof *mine);
        struct err e;

        if (!mine) {
                v->result = fail_memory(v->e);
                return;
        }

        for (size_t i = 0; i < v->c->live.n; i++)
                if (!v->c->live.v[i].from_stock)
                        mine[n++] = v->c->live.v[i];

        own.live = (struct door_set){ .v = mine, .n = n };
        if (door_set_seal(&own.live, &e) < 0)
                return;

        /* Lines of one host are compared in pairs: not for thousands of them. */
        bool skip_net = own.live.start[DOOR_NET + 1] - own.live.start[DOOR_NET] > PAIRS_MAX;
        for (size_t i = 0; i < own.live.n; i++) {
                const struct door *d = &own.live.v[i];
                AUTO_BUF(line);
                if (d->flow.label) /* it labels what the other line opens */
                        continue;
                if (lint_full(v) || (skip_net && d->kind == DOOR_NET) || !cover_door(&own, d, d))
                        continue;
                show_door(d, &line);
                lint_whole(v, &line);
                lint_note(v, row, &d->at, "`%s` is redundant: another line already allows it",
                          show_text(buf_str(&line)).text);
        }
}

static void lint_no_expect(struct lint_view *v, const struct lint_row *row)
{
        struct source_place at = { .file = v->p->file, .line = 1, .column = 1 };
        if (!v->p->file)
                return;

        for (size_t i = 0; i < v->p->n_expects; i++)
                if (v->p->expects[i].want == ANSWER_DENY)
                        return;

        for (size_t i = 0; i < v->c->live.n; i++)
                if (!v->c->live.v[i].from_stock && v->c->live.v[i].at.line > 0)
                        at.file = v->c->live.v[i].at.file;

        lint_note(v, row, &at, "no `expect deny` line; add one for what this box must never do");
}

/* Private data, text from strangers, and a way out: any two are fine, all three let a sentence in a web
 * page or an issue exfiltrate the data. Every answer through a net door is text from strangers. */
static void lint_trifecta(struct lint_view *v, const struct lint_row *row)
{
        const struct door *net = lint_next(v, DOOR_NET, NULL);
        if (!net)
                return;

        for (enum door_kind k = DOOR_READ; k <= DOOR_WRITE; k++) {
                for (const struct door *d = NULL; (d = lint_next(v, k, d));) {
                        if (!lint_is_private(v, d) || d->flow.label) /* labels say where it may go */
                                continue;
                        lint_note(v, row, &d->at,
                                  "private data (%s), untrusted text and network access (%s) in one box: "
                                  "injected text could exfiltrate the data; protect it with `label "
                                  "private:NAME`",
                                  show_text(d->path).text, net->net.host);
                        return;
                }
        }
}

/* A policy given by an option is chosen anew each time. */
static void lint_unpinned(struct lint_view *v, const struct lint_row *row)
{
        for (size_t i = 0; i < v->c->n_unpinned; i++) {
                const struct unpinned_use *u = &v->c->unpinned[i];
                if (u->at.line > 0)
                        lint_note(v, row, &u->at,
                                  "policy %s is not pinned, so any program that can write it can widen this "
                                  "one; pin "
                                  "it: `use %s sha256:%s`",
                                  show_text(u->name).text, show_text(u->name).text, u->digest);
        }
}

static void lint_without(struct lint_view *v, const struct lint_row *row)
{
        if (v->c->without & WITHOUT_LAYERS)
                lint_note(v, row, &v->p->wall.at, "a layer of the wall is turned off");
}

static void lint_closed(struct lint_view *v, const struct lint_row *row)
{
        for (size_t i = 0; i < v->c->closed.n; i++) {
                const struct door *d = &v->c->closed.v[i];
                AUTO_BUF(line);
                show_door(d, &line);
                lint_whole(v, &line);
                if (!d->from_stock)
                        lint_note(v, row, &d->at, "door expired: `%s`", show_text(buf_str(&line)).text);
        }
}

/* Such a box never starts; `wall auto` takes another wall. */
static void lint_beyond_wall(struct lint_view *v, const struct lint_row *row)
{
        if (policy_root(v->c) && !wall_has(policy_wall(v->c), WALL_OWN_ROOT))
                lint_note(v, row, policy_root_place(v->c),
                          "the process wall does not support `root`; this box cannot start");

        for (size_t i = 0; !wall_has(policy_wall(v->c), WALL_OWN_ROOT) && i < v->c->live.n; i++) {
                const struct door *d = &v->c->live.v[i];
                bool ruled = !d->except || !(v->c->without & WITHOUT_LANDLOCK);
                bool held = d->kind != DOOR_NET && d->kind != DOOR_SOCK && d->kind != DOOR_EDIT && ruled;
                if (!held && !d->from_stock)
                        lint_note(v, row, &d->at,
                                  "the process wall does not support %s `%s`%s; this box cannot start",
                                  d->kind == DOOR_EDIT ? "an" : "a", policy_door_word(d->kind),
                                  ruled ? "" : " with `except` and without Landlock");
        }
}

/* ---- the table ---- */

static const struct lint_row rows[] = {
        { 'W', "W153", "a limit that is lifted", lint_lifted }, /* first: NOTES_MAX never cuts it off */
        { 'W', "W101", "host wildcard too wide", lint_wildcard },
        { 'W', "W102", "cloud metadata or link-local destination", lint_metadata },
        { 'W', "W103", "loopback or private destination", lint_local_address },
        { 'E', "E104", "an address that cannot be a destination", lint_no_destination },
        { 'W', "W105", "`run any` of one's own without `until`", lint_run_any },
        { 'E', "E106", "credential on a connection that cannot be inspected", lint_blind_credential },
        { 'W', "W107", "credential sent in the clear", lint_clear_credential },
        { 'W', "W108", "credential for a wildcard", lint_wild_credential },
        { 'E', "E109", "two credentials for one request", lint_two_credentials },
        { 'W', "W110", "write door over what the host later executes", lint_runs_later },
        { 'W', "W111", "write door over the whole project or home", lint_write_root },
        { 'W', "W112", "write and run on one subtree", lint_write_and_run },
        { 'W', "W113", "agent, container-engine, display or bus socket", lint_socket },
        { 'W', "W114", "secret-looking variable", lint_secret_name },
        { 'W', "W115", "secret-looking value", lint_secret_value },
        { 'W', "W116", "output without cap", lint_out_cap },
        { 'W', "W117", "non-ASCII path", lint_foreign_path },
        { 'W', "W118", "internationalised host", lint_foreign_host },
        { 'W', "W119", "door implied by another", lint_implied },
        { 'W', "W120", "no `expect deny` in a policy file", lint_no_expect },
        { 'W', "W121", "private data, untrusted text and network access in one box", lint_trifecta },
        { 'W', "W122", "a store of secrets", lint_secret_store },
        { 'W', "W123", "more of the host than any task needs", lint_too_much },
        { 'W', "W124", "layer turned off", lint_without },
        { 'W', "W125", "http without TLS", lint_plain_http },
        { 'E', "E126", "writing to the kernel's own files", lint_kernel_files },
        { 'W', "W127", "door replaces the private /tmp or home", lint_hides_private },
        { 'W', "W128", "a door that has closed", lint_closed },
        { 'E', "E136", "all of /etc beside a net door", lint_hides_etc },
        { 'E', "E137", "a door to localhost, which is the box itself", lint_localhost },
        { 'W', "W131", "door leaves the workspace through a symlink", lint_leads_out },
        { 'W', "W132", "a door that the wall which is named cannot hold", lint_beyond_wall },
        { 'W', "W134", "money or people without a cap", lint_uncapped },
        { 'W', "W135", "money moved with a credential and without bounds", lint_unbounded },
        { 'W', "W138", "door to change another user's files", lint_others_files },
        { 'W', "W140", "write door over the policy, its places file or cordon's programs", lint_own_rules },
        { 'W', "W142", "an own policy that is used and not pinned", lint_unpinned },
        { 'W', "W143", "an edit and a write door of one path", lint_edit_and_write },
        { 'W', "W144", "money or people without a gate", lint_unasked },
        { 'W', "W145", "one approval for any body", lint_vague_gate },
        { 'E', "E146", "private data, untrusted text and network access meet without approval",
          lint_unattended },
        { 'W', "W147", "private data may leave in the URL of a request caused by untrusted text",
          lint_asks_private },
        { 'W', "W148", "a device", lint_device },
        { 'W', "W149", "unlimited use of a key without approval", lint_free_key },
        { 'W', "W150", "a net door that labels close from the start", lint_never_open },
        { 'W', "W152", "a client's name for a tool", lint_client_name },
        { 'E', "E141", "a --write option over a home or a store of secrets", lint_write_option },
};

static void clean_root(char *to, const char *from)
{
        size_t n = from ? strlen(from) : 0;
        while (n > 1 && from[n - 1] == '/')
                n--;

        if (n >= PATH_MAX_BYTES)
                n = 0;

        if (n > 0)
                memcpy(to, from, n);

        to[n] = '\0';
}

int lint_run(struct checked_policy *c, const struct policy *p, const struct policy_context *ctx,
             struct err *e)
{
        struct lint_view v = { .c = c, .p = p, .ctx = ctx, .e = e };
        clean_root(v.work, ctx->work);
        clean_root(v.home, ctx->home);
        for (size_t i = 0; i < COUNT(rows); i++)
                rows[i].look(&v, &rows[i]);
        return v.result;
}
