/* SPDX-License-Identifier: MIT */
/* face/cli/agents.c - finds an agent, and makes the policy of a run of one. Decides only. */
#include "face/cli/agents.h"

#include <stdio.h>
#include <string.h>

const struct cli_agent *cli_agent_find(const char *name)
{
        for (const struct cli_agent *a = cli_agents; a->name; a++)
                if (strcmp(a->name, name) == 0)
                        return a;
        return NULL;
}

const char *cli_agent_name_at(size_t i, const char **ret_help)
{
        for (size_t n = 0; n <= i; n++)
                if (!cli_agents[n].name)
                        return NULL;
        *ret_help = cli_agents[i].product;
        return cli_agents[i].name;
}

const struct cli_agent *cli_agent_own(const char *program, struct cli_own *own)
{
        enum { WAYS = 3 };
        size_t n = strspn(program, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
        *own = (struct cli_own){
                .row = { .product = own->name, .prelude = cli_agent_plain, .parts = own->parts }
        };
        if (n == 0 || program[n] || program[0] == '.' || n >= sizeof own->name - sizeof CLI_OWN)
                return NULL;

        (void) snprintf(own->name, sizeof own->name, CLI_OWN "%s", program);
        own->row.name = own->name;
        for (size_t i = 0; i < WAYS; i++) {
                (void) snprintf(own->paths[i], sizeof own->paths[i],
                                i == 0   ? ".config/%s"
                                : i == 1 ? ".local/share/%s"
                                         : ".local/state/%s",
                                program);
                own->row.state[i] = own->paths[i];
                own->parts[i] = (struct cli_part){ own->paths[i], i == 0 ? PART_HELD : PART_CODE, NULL };
        }

        return &own->row;
}

/* The variable by which clients of a provider are told another address. */
static const char *base_variable(const char *provider)
{
        static const char *const rows[][2] = { { "anthropic", "ANTHROPIC_BASE_URL" },
                                               { "gemini", "GOOGLE_GEMINI_BASE_URL" },
                                               { "openai", "OPENAI_BASE_URL" } };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (strcmp(provider, rows[i][0]) == 0)
                        return rows[i][1];
        return NULL;
}

/* The localhost of a box is its own: a server of the host is named by its address. */
static void copy_base(const char *url, char *ret, size_t cap)
{
        static const char local[] = "http://localhost";
        size_t n = sizeof local - 1;
        if (strncmp(url, local, n) == 0 && (url[n] == ':' || url[n] == '/' || !url[n]))
                (void) snprintf(ret, cap, "http://127.0.0.1%s", url + n);
        else
                (void) snprintf(ret, cap, "%s", url);

        for (n = strlen(ret); n > 0 && ret[n - 1] == '/'; n--)
                ret[n - 1] = '\0';
}

/* It becomes a part of a line. */
static bool is_plain_url(const char *text)
{
        return strncmp(text, "http", 4) == 0 && !text[strcspn(text, " \t\r\n\"\\#*{}")];
}

/* A net line with a credential. */
static bool read_api(const char *line, size_t len, struct cli_api *ret)
{
        char text[400], url[256];
        if (len >= sizeof text)
                return false;

        (void) snprintf(text, sizeof text, "%.*s", (int) len, line);
        if (sscanf(text, "net %255s with %31s", url, ret->provider) != 2)
                return false;

        url[strcspn(url, "*")] = '\0';
        copy_base(url, ret->base, sizeof ret->base);
        return true;
}

size_t cli_agent_apis(const char *stock, const char *(*env)(const char *name),
                      struct cli_api ret[static CLI_APIS_MAX])
{
        size_t n = 0;
        for (const char *at = stock; *at && n < CLI_APIS_MAX; at += strcspn(at, "\n"), at += *at != '\0') {
                struct cli_api *a = &ret[n];
                *a = (struct cli_api){ 0 };
                if (!read_api(at, strcspn(at, "\n"), a))
                        continue;

                const char *variable = base_variable(a->provider);
                const char *other = variable ? env(variable) : NULL;
                if (other && is_plain_url(other) && strlen(other) < sizeof a->base) {
                        copy_base(other, a->base, sizeof a->base);
                        a->overridden = true;
                }
                n++;
        }

        return n;
}

void cli_agent_policy(const char *stock, const struct cli_api *used, size_t count, struct buf *out)
{
        for (const char *at = stock; *at; at += strcspn(at, "\n"), at += *at != '\0') {
                struct cli_api a;
                size_t n = strcspn(at, "\n");
                if (!read_api(at, n, &a))
                        buf_printf(out, "%.*s\n", (int) n, at);
        }

        for (size_t i = 0; i < count; i++) {
                buf_printf(out, "net %s/** with %s%s\n", used[i].base, used[i].provider,
                           used[i].login ? CLI_LOGIN : "");
                if (used[i].overridden)
                        buf_printf(out, "env %s=%s\n", base_variable(used[i].provider), used[i].base);
        }
}
