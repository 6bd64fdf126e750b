/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_agent_more.c - the other verbs of agents: ls, setup, and accept, which shows a person what
 * runs of an agent changed of its own configuration and takes it over. */
#include "face/cli/agents.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

struct accepting {
        struct cli_shared asked;
        bool discard;
};

const struct cli_option agent_accept_options[] = {
        { "discard", 0, NULL, "delete what is held back", CLI_FLAG(struct accepting, discard) },
        { 0 },
};

static int accept_held(const struct cli_agent *a, const char *home, const struct accepting *o)
{
        AUTO_BUF(out);
        cordon_error e = { 0 };
        int count = o->discard ? 0 : cli_agent_held(a, home, o->asked.json, &out);
        if (count < 0)
                return EXIT_CORDON;
        if (o->discard)
                return cli_agent_take(a, home, NULL) < 0 ? EXIT_CORDON : 0;
        if (count == 0 && !o->asked.json)
                return cli_problem("nothing of %s is held back", a->name);
        if (o->asked.show || o->asked.json)
                return cli_put(&out);

        if (cli_ask_person(buf_str(&out), &e) < 0)
                return cli_error(&e);
        if (cli_agent_take(a, home, buf_str(&out)) < 0)
                return EXIT_CORDON;

        (void) printf("accepted; later runs of %s obey it\n", a->name);
        return 0;
}

int verb_agent_accept(int argc, char **argv)
{
        struct accepting o = { 0 };
        struct cli_own own;
        char home[4096];
        int at = cli_take(argc, argv, &o);
        if (at < 0)
                return EXIT_CORDON;

        const struct cli_agent *a = cli_agent_find(argv[at]);
        if (!a && strncmp(argv[at], CLI_OWN, sizeof CLI_OWN - 1) == 0)
                a = cli_agent_own(argv[at] + sizeof CLI_OWN - 1, &own);
        if (!a)
                return cli_usage("%s", cli_verb_now()->which);

        return cli_agent_home(a, home) < 0 ? EXIT_CORDON : accept_held(a, home, &o);
}

/* ---- ls, setup ---- */

static const char *key_state(const char *provider)
{
        const struct cli_key_source *s = NULL;
        int sealed = cli_key_sealed(provider);
        if (sealed == 0)
                s = cli_key_find(provider);
        return sealed > 0 ? "vault" : !s ? NULL : s->file ? s->file : s->variable;
}

/* "anthropic: vault, openai: OPENAI_API_KEY" */
static void put_keys(struct buf *out, const struct cli_agent *a, bool json)
{
        struct cli_api apis[CLI_APIS_MAX];
        const char *stock;
        size_t count = cli_key_apis(a->name, &stock, apis), n = 0;
        for (size_t i = 0; i < count; i++) {
                const char *state = key_state(apis[i].provider);
                if (state)
                        buf_printf(out, json ? "%s\"%s\":\"%s\"" : "%s%s: %s",
                                   !n++   ? ""
                                   : json ? ","
                                          : ", ",
                                   apis[i].provider, state);
        }

        if (n == 0 && !json)
                buf_puts(out, "no key");
}

int verb_agent_ls(int argc, char **argv)
{
        struct cli_shared asked = { 0 };
        AUTO_BUF(out);
        if (cli_take(argc, argv, &asked) < 0)
                return EXIT_CORDON;

        buf_puts(&out, asked.json ? "[" : "AGENT     PROGRAM AND KEYS\n");
        for (const struct cli_agent *a = cli_agents; a->name; a++) {
                char path[PATH_MAX] = "";
                AUTO_BUF(keys);
                bool there = cli_agent_installed(a->name, path);
                put_keys(&keys, a, asked.json);
                if (!asked.json) {
                        buf_printf(&out, "%-9s %s%s; %s\n", a->name,
                                   there ? path : "not installed: ", there ? "" : a->install, buf_str(&keys));
                        continue;
                }
                buf_printf(&out, "%s{\"agent\":\"%s\",\"keys\":{%s},\"program\":", a == cli_agents ? "" : ",",
                           a->name, keys.n ? buf_str(&keys) : "");
                if (there)
                        buf_json(&out, span_str(path));
                else
                        buf_puts(&out, "null");
                buf_printf(&out, ",\"install\":\"%s\"}", a->install);
        }

        if (asked.json)
                buf_puts(&out, "]\n");
        return cli_put(&out);
}

static const struct cli_api *find_api(const struct cli_api *apis, size_t count, const char *provider)
{
        for (size_t i = 0; i < count; i++)
                if (strcmp(apis[i].provider, provider) == 0)
                        return &apis[i];
        return NULL;
}

int verb_agent_setup(int argc, char **argv)
{
        struct cli_api apis[CLI_APIS_MAX];
        const char *stock;
        int at = cli_take(argc, argv, NULL);
        if (at < 0)
                return EXIT_CORDON;

        const struct cli_agent *a = cli_agent_find(argv[at]);
        if (!a)
                return cli_usage("an agent is missing: cordon agent setup NAME [PROVIDER]");

        size_t count = cli_key_apis(a->name, &stock, apis);
        const struct cli_api *api = argc - at == 2 ? find_api(apis, count, argv[at + 1]) : &apis[0];
        if (!api || (argc - at == 1 && count > 1)) {
                (void) cli_problem("%s works with several providers: name one", a->name);
                AUTO_BUF(list);
                for (size_t i = 0; i < count; i++)
                        buf_printf(&list, "%s%s", i ? ", " : "", apis[i].provider);
                return cli_hint("cordon agent setup %s PROVIDER, of %s", a->name, buf_str(&list));
        }

        int sealed = cli_key_sealed(api->provider);
        if (sealed > 0) {
                (void) cli_problem("the vault already has a key for %s", api->provider);
                return cli_hint("cordon vault rotate %s; or cordon vault rm %s first", api->provider,
                                api->provider);
        }

        return sealed < 0 ? EXIT_CORDON : cli_key_seal(a, api, cli_key_find(api->provider));
}
