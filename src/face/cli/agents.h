/* SPDX-License-Identifier: MIT */
/* face/cli/agents.h - coding agents that `cordon agent` knows: how each is started, where its key comes from.
 */
#pragma once
#include "base/buf.h"
#include "face/cli/agent_parts.h"
#include "face/cli/cli.h"

struct cli_agent {
        const char *name;     /* as in the stock policy agent/NAME */
        const char *product;  /* for people */
        const char *install;  /* the command that installs it */
        const char *prelude;  /* shell text, in the box: first settings and options; starts "$@" */
        const char *state[4]; /* below its home: directories that stay; all else is new for each run */
        const struct cli_part *parts; /* of them what is held back */
        /* A file of a new home, for a program that asks for a theme or a login at its first start; or NULL.
         */
        const char *first_file, *first_text;
};
extern const struct cli_agent cli_agents[]; /* ended by an empty row */
/* NULL: unknown. */
const struct cli_agent *cli_agent_find(const char *name);
/* The name of an agent, for completions. */
const char *cli_agent_name_at(size_t i, const char **ret_help);
/* Any other program, with its state where the documents of XDG say; NULL: its name cannot be one of a
 * directory.
 */
#define CLI_OWN "command-"
struct cli_own {
        char name[60], paths[3][80];
        struct cli_part parts[4];
        struct cli_agent row;
};
const struct cli_agent *cli_agent_own(const char *program, struct cli_own *own);
/* The shell text that starts a command of `cordon agent -- COMMAND`. */
extern const char cli_agent_plain[];

#define CLI_LOGIN "-login"

/* A net line of a stock policy with a credential: `with PROVIDER`. */
struct cli_api {
        char provider[32];
        char base[256];  /* without "/" at its end */
        bool login;      /* by a login that the agent outside renews: the credential is PROVIDER-login */
        bool overridden; /* by a variable of the caller, for a gateway or a test */
};
enum { CLI_APIS_MAX = 8 };
/* The APIs of a stock policy. `env` looks up a variable of the caller. Returns their number. */
size_t cli_agent_apis(const char *stock, const char *(*env)(const char *name),
                      struct cli_api ret[static CLI_APIS_MAX]);
/* The stock policy with the APIs of `used` only, and their variables. */
void cli_agent_policy(const char *stock, const struct cli_api *used, size_t count, struct buf *out);

/* agent_key.c: one place where a provider's key may be. */
struct cli_key_source {
        const char *provider;
        const char *variable; /* of the caller, if `file` is NULL; and of the box, for the placeholder */
        const char *header;   /* that carries it */
        const char *file;     /* below the caller's home, or NULL */
        const char *member;   /* of that file's JSON, "a/b" for a member of a member */
        const char *expires;  /* of a login: its end in milliseconds, a member of that file; or NULL */
};
/* The APIs of an agent's stock policy, or of `other`; NULL: of none. Returns their number. */
size_t cli_key_apis(const char *agent, const char **ret_stock, struct cli_api ret[static CLI_APIS_MAX]);
/* The first source that has a key, or NULL. */
const struct cli_key_source *cli_key_find(const char *provider);
/* Is the credential of this API for its address, which a variable of the caller may have moved? */
bool cli_key_fits(const struct cli_api *api);
/* Is there such a credential? -1 after reporting an error. */
int cli_key_sealed(const char *provider);
/* Reports a login of the provider that cannot be used, and what to do instead. False: none is there. */
bool cli_key_login_unused(const char *provider);
/* Seals the key of `source`; NULL: typed at the terminal, or standard input. 0, or EXIT_CORDON. */
int cli_key_seal(const struct cli_agent *a, const struct cli_api *api, const struct cli_key_source *source);

/* agent_state.c: an agent's own home on this host, created if necessary. -1 after reporting an error. */
int cli_agent_home(const struct cli_agent *a, char ret[static 4096]);
/* The program that the caller's PATH has. */
bool cli_agent_installed(const char *name, char ret[static 4096]);
/* Its directories in that home; those that are missing are made. -1 after reporting an error. */
int cli_agent_state(const struct cli_agent *a, const char *home);

/* agent_held.c: sets what a run may not change to what was accepted; what it made of it waits. Reports that
 * unless `quiet`. -1 after reporting an error. */
int cli_agent_settle(const struct cli_agent *a, const char *home, bool quiet);
/* Prints what waits. Returns how much, or -1 after reporting an error. */
int cli_agent_held(const struct cli_agent *a, const char *home, bool json, struct buf *out);
/* Calls `each` with the path that each accepted link of the state leads to. -1 after reporting an error. */
int cli_agent_links(const struct cli_agent *a, const char *home, void (*each)(void *ctx, const char *target),
                    void *ctx);
/* Accepts what waits, if it is still what was shown; NULL deletes it. -1 after reporting an error. */
int cli_agent_take(const struct cli_agent *a, const char *home, const char *shown);
