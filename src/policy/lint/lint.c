/* SPDX-License-Identifier: MIT */
/* policy/lint/lint.c - the lint table, and the lints of the whole policy. Lints are pure: checks that need
 * the host (is this wall available?) are the doctor's. E is for lines that cannot have their literal
 * meaning; W for lines that mean more than most users want. */
#include "policy/lint/lint.h"
#include "base/variable.h"

enum { PAIRS_MAX = 512 };

/* ---- programs ---- */

static bool lint_run_any(struct lint_view *v, const struct door *d)
{
        (void) v;
        return strcmp(d->path, "*") == 0 && d->until == 0;
}

/* ---- variables and handles ---- */

static bool lint_secret_name(struct lint_view *v, const struct door *d)
{
        (void) v;
        return variable_looks_secret(d->name, strlen(d->name));
}

static bool lint_secret_value(struct lint_view *v, const struct door *d)
{
        static const char *const starts[] = { "ghp_",       "gho_",  "github_pat_", "glpat-", "sk-",
                                              "xoxb-",      "xoxp-", "AKIA",        "AIza",   "eyJhbGciOi",
                                              "-----BEGIN", "npm_",  "hf_",         "pypi-" };
        (void) v;
        for (size_t i = 0; d->value && i < COUNT(starts); i++)
                if (strncmp(d->value, starts[i], strlen(starts[i])) == 0)
                        return true;
        return false;
}

static bool lint_out_cap(struct lint_view *v, const struct door *d)
{
        (void) v;
        return !d->max_stated && !policy_is_stream(d->name); /* `limit output` caps a stream */
}

static bool lint_device(struct lint_view *v, const struct door *d)
{
        v->what = policy_dev_cost(d->path);
        return true;
}

static bool lint_free_key(struct lint_view *v, const struct door *d)
{
        (void) v;
        return !d->ask.on && d->max == 0;
}

/* ---- tools ---- */

static bool lint_client_name(struct lint_view *v, const struct door *d)
{
        const char *own = strncmp(d->name, "mcp__", 5) == 0 ? strstr(d->name + 5, "__") : NULL;
        v->what = own ? own + 2 : "";
        return v->what[0] != '\0';
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

#define BIT(kind) (1u << (kind))
#define NET       BIT(DOOR_NET)
#define FILES     (BIT(DOOR_READ) | CHANGED)
#define CHANGED   (BIT(DOOR_EDIT) | BIT(DOOR_WRITE))
#define ALL       (BIT(DOOR_KIND__COUNT) - 1)

#define DOORS(level, code, kinds, fits, text)                                                                \
        {                                                                                                    \
                level, code, kinds, fits, text, NULL                                                         \
        }
#define WHOLE(level, code, look)                                                                             \
        {                                                                                                    \
                level, code, 0, NULL, NULL, look                                                             \
        }

static const struct lint_row rows[] = {
        WHOLE('W', "W153", lint_lifted), /* first: NOTES_MAX never cuts it off */
        DOORS('W', "W101", NET, lint_wildcard,
              "*.{host} covers every host of the domain, including those of its customers; use the exact "
              "host"),
        DOORS('W', "W102", NET, lint_metadata,
              "{dest} is an address of cloud metadata services, which give out credentials"),
        DOORS('W', "W103", NET, lint_local_address,
              "{dest} is this machine or a private network, where services often have no password"),
        DOORS('E', "E104", NET, lint_no_destination, "{host} is not the address of one machine"),
        DOORS('W', "W105", BIT(DOOR_RUN), lint_run_any,
              "`run any` without `until`; list the programs, or add an end date"),
        WHOLE('E', "E106", lint_blind_credential),
        DOORS('W', "W107", NET, lint_clear_credential, "credential {credential} would be sent without TLS"),
        DOORS('W', "W108", NET, lint_wild_credential,
              "credential {credential} would be sent to every host under {host}"),
        WHOLE('E', "E109", lint_two_credentials),
        DOORS('W', "W110", BIT(DOOR_WRITE), lint_runs_later,
              "the host executes files in {path} later; use `edit` to review changes first"),
        DOORS('W', "W111", BIT(DOOR_WRITE), lint_write_root,
              "`write` on the whole {} includes hooks, build files and startup files; use `edit`, or choose "
              "parts"),
        WHOLE('W', "W112", lint_write_and_run),
        DOORS('W', "W113", BIT(DOOR_SOCK), lint_socket, "{path} is {}"),
        DOORS('W', "W113", FILES, lint_sockets_in,
              "{path} contains sockets; read-only does not prevent connecting"),
        DOORS('W', "W114", BIT(DOOR_ENV), lint_secret_name,
              "variable {name} looks like a secret that the box would see; store it with `cordon vault add "
              "NAME` "
              "and use `with NAME` on a net door"),
        DOORS('W', "W115", BIT(DOOR_ENV), lint_secret_value,
              "the value of {name} looks like a secret in the policy itself"),
        DOORS('W', "W116", BIT(DOOR_OUT), lint_out_cap, "output {name} has no `max`; it may grow to 64M"),
        DOORS('W', "W117", ALL, lint_foreign_path,
              "{path} is not plain ASCII; two such names can look the same"),
        DOORS('W', "W118", NET, lint_foreign_host,
              "{host} is displayed in Unicode by browsers and may look like another name; check it"),
        WHOLE('W', "W119", lint_implied),
        WHOLE('W', "W120", lint_no_expect),
        WHOLE('W', "W121", lint_trifecta),
        DOORS('W', "W122", FILES | BIT(DOOR_RUN), lint_secret_store,
              "{path} contains secrets; store them in the vault and use `with NAME` on a net door"),
        DOORS('W', "W123", FILES, lint_too_much, "all of {path}; open only the parts you need"),
        WHOLE('W', "W124", lint_without),
        DOORS('W', "W125", NET, lint_plain_http,
              "http without TLS can be read and changed by anyone on the path"),
        DOORS('E', "E126", CHANGED, lint_own_device,
              "every box has a private {path}; this door is not needed"),
        DOORS('E', "E126", CHANGED, lint_kernel_files,
              "{path} is part of a kernel filesystem; boxes cannot write there"),
        DOORS('W', "W127", FILES, lint_hides_private, "{path} of the host would hide {}"),
        WHOLE('W', "W128", lint_closed),
        DOORS('E', "E136", FILES, lint_hides_etc,
              "boxes with a `net` door have a private /etc; open only the parts you need, such as /etc/ssl"),
        WHOLE('E', "E137", lint_localhost),
        DOORS('W', "W131", FILES | BIT(DOOR_SOCK) | BIT(DOOR_RUN), lint_leads_out,
              "{path} leads out of the workspace through a symlink, to {}; use that path if you mean it"),
        WHOLE('W', "W132", lint_beyond_wall),
        DOORS('W', "W134", NET, lint_uncapped, "{dest} touches {} without a rate limit; add `cap N/h`"),
        DOORS('W', "W135", NET, lint_unbounded,
              "{dest} can move money with credential {credential} without an upper bound; add `where "
              "amount=int:1..5000`"),
        DOORS('W', "W138", CHANGED, lint_others_files,
              "{path} belongs to {}; a box can change only files of your user and primary group: run cordon "
              "as "
              "the owner, or with `sg GROUP -c`"),
        DOORS('W', "W140", BIT(DOOR_WRITE), lint_own_rules,
              "the box can write {}, which controls later runs; move it, or use `edit`"),
        WHOLE('W', "W142", lint_unpinned),
        DOORS('W', "W143", BIT(DOOR_EDIT), lint_edit_and_write,
              "{path} has both `edit` and `write`; `write` wins, and changes reach the host at once"),
        DOORS('W', "W144", NET, lint_unasked, "{dest} touches {} without approval; add `ask`"),
        DOORS('W', "W145", NET, lint_vague_gate,
              "one approval of {dest} can cover any request body; limit it with `where`"),
        WHOLE('E', "E146", lint_unattended),
        WHOLE('W', "W147", lint_asks_private),
        DOORS('W', "W148", BIT(DOOR_DEV), lint_device, "{path}: {}"),
        DOORS('W', "W149", BIT(DOOR_SIGN) | BIT(DOOR_DECRYPT), lint_free_key,
              "{name}: unlimited use without approval; add `max N` or `ask`"),
        WHOLE('W', "W150", lint_never_open),
        DOORS('W', "W152", BIT(DOOR_TOOL), lint_client_name,
              "`{name}` is a client-side tool name; the server calls it `{}`"),
        DOORS('E', "E141", BIT(DOOR_WRITE), lint_write_option,
              "--write on {path} ({}); use --edit, choose a part, or put `write {path}` in a policy file"),
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
                (rows[i].look ? rows[i].look : lint_doors)(&v, &rows[i]);
        return v.result;
}
