/* SPDX-License-Identifier: MIT */
/* face/serve/serve.h - the HTTP side of `cordon serve`: runs, files, changes, approvals and records of many
 * tenants on one machine.
 *
 * The operator's directory, which only its owner may enter:
 *     tokens                      one JSON object per line; tokens themselves are not in it, only their
 * digests tenants/NAME/tenant.json    budgets: {"weight":1,"runs":8,"queue":64,"rate":500,"sessions":4,
 *                                 "parked":8,"gpu_boxes":1}
 *     tenants/NAME/policies/NAME.cordon what its runs may use, by name
 *     tenants/NAME/ceiling.cordon      optional: door lines of a request must not exceed it
 *     tenants/NAME/files, state, home  {work}, ledger and vault, {home}
 *     tenants/NAME/runs, usage         results, and what was used (run_store.c, tenant_usage.c) */
#pragma once
#include "cordon.h"

#include <stdbool.h>

enum { SERVE_LISTEN_MAX = 4, SERVE_HOSTS_MAX = 8, SERVE_TOKEN_MAX = 96, SERVE_NAME_MAX = 64 };

struct serve_options {
        char *const *environment;                 /* of the operator: "NAME=VALUE", NULL-terminated */
        const char *config;                       /* the operator's directory */
        const char *listen[SERVE_LISTEN_MAX + 1]; /* "127.0.0.1:PORT", "[::1]:PORT", "unix:PATH" */
        const char *hosts[SERVE_HOSTS_MAX + 1];   /* further names in Host, of a reverse proxy */
        unsigned runs, gpu_boxes;                 /* at once, of all tenants */
        const char *tls_certificate,
                *tls_key;        /* PEM files: every address but Unix sockets speaks TLS; or NULL */
        const char *tls_program; /* cordon-tls */
        unsigned drain_s;        /* after a signal, for runs under way */
        enum serve_log_form { SERVE_LOG_LITTLE = 0, SERVE_LOG_TEXT, SERVE_LOG_JSON } log;
        void (*say)(void *ctx, const char *text); /* one line to the operator */
        /* The page of one person, without a directory: told its address, which is good once. Else NULL. */
        void (*ready)(void *ctx, const char *address);
        void *say_ctx;
};

/* Serves until SIGTERM, SIGINT or SIGHUP, or until it has drained. Ends all its boxes. */
int serve_http(const struct serve_options *o, cordon_error *e);

/* ---- the operator's directory ---- */

/* $XDG_CONFIG_HOME/cordon/serve or ~/.config/cordon/serve. Returns false if no variable names it. */
bool serve_config_path(char *const *environment, char *ret, size_t cap);

/* "run,read,files": false if a word is not a scope. */
bool serve_scopes_read(const char *text, unsigned *ret);

struct serve_new_token {
        const char *config, *tenant; /* "" with the scope admin */
        unsigned scopes;
        int64_t expires;             /* seconds since 1970 */
        const char *person, *groups; /* or "" */
};
/* Writes the token, which is stored nowhere. */
int serve_token_new(const struct serve_new_token *t, char ret[SERVE_TOKEN_MAX], cordon_error *e);
/* A line for each, or a JSON list; the caller frees. */
char *serve_token_list(const char *config, bool json, cordon_error *e);
int serve_token_remove(const char *config, const char *id, cordon_error *e);

/* Makes its directories, with a policy `default` and its budgets. */
int serve_tenant_new(const char *config, const char *name, cordon_error *e);
/* Its ledger was removed, or begun anew, on purpose: heads of it in the host's ledger no longer count; and
 * tokens of a tenant that was removed are. Returns what was forgotten; the caller frees. NULL: nothing is
 * known of it, or its ledger is as its heads say. */
char *serve_tenant_forget(const cordon_context *host, const char *config, const char *name, cordon_error *e);
/* What rots there, as JSON:
 * {"tenants":N,"tokens":N,"ledgers":[NAME...],"facts":{NAME:{"count":N,"first":TEXT}}}. No tenant if the
 * directory does not exist. */
char *serve_audit(const char *config, cordon_error *e);
/* Trials for audits: 1: refused, as it must be; 0: it went through; -1: not tried. `why` has 200 bytes. */
int serve_try_expired(char *why); /* a token after its end */
int serve_try_lines(char *why);   /* door lines of a request that name paths of the host */
char *serve_tenant_list(const char *config, bool json, cordon_error *e);
