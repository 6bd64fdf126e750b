/* SPDX-License-Identifier: MIT */
/* face/cli/agents.c - the table of coding agents, and the policy of a run of one. Decides only. */
#include "face/cli/agents.h"

#include <stdio.h>
#include <string.h>

/* The home of a box is new; what stays of an agent's is linked into it. */
#define LINK                                                                                                 \
        "for d in $CORDON_AGENT_KEEPS; do case $d in */*) mkdir -p \"$HOME/${d%/*}\" ;; esac; "              \
        "ln -s \"$CORDON_AGENT_STATE/$d\" \"$HOME/$d\"; done\n"

static const char claude[] = LINK
        "export CLAUDE_CONFIG_DIR=\"$HOME/.claude\"\n"
        /* In this variable it takes a key without asking. */
        "if [ \"${ANTHROPIC_API_KEY-}\" ]; then export ANTHROPIC_AUTH_TOKEN=\"$ANTHROPIC_API_KEY\"; unset "
        "ANTHROPIC_API_KEY; fi\n"
        "exec \"$@\"\n";

static const char codex[] =
        LINK "program=$1; shift\n"
             "exec \"$program\" -c sandbox_mode=danger-full-access -c model_provider=cordon -c "
             "model_providers.cordon.name=OpenAI -c "
             "model_providers.cordon.base_url=\"${OPENAI_BASE_URL-https://api.openai.com/v1}\" -c "
             "model_providers.cordon.env_key=OPENAI_API_KEY -c model_providers.cordon.wire_api=responses -c "
             "check_for_update_on_startup=false \"$@\"\n";

/* It takes another address of an API from its configuration only. */
static const char opencode[] =
        LINK "base() { export "
             "OPENCODE_CONFIG_CONTENT='{\"provider\":{\"'$1'\":{\"options\":{\"baseURL\":\"'$2'\"}}}}'; "
             "}\n"
             "[ -z \"${OPENAI_BASE_URL-}\" ] || base openai \"$OPENAI_BASE_URL\"\n"
             "[ -z \"${ANTHROPIC_BASE_URL-}\" ] || base anthropic \"$ANTHROPIC_BASE_URL/v1\"\n"
             "exec \"$@\"\n";

static const char aider[] =
        LINK "[ -z \"${OPENAI_BASE_URL-}\" ] || export OPENAI_API_BASE=\"$OPENAI_BASE_URL\"\n"
             "[ -z \"${ANTHROPIC_BASE_URL-}\" ] || export ANTHROPIC_API_BASE=\"$ANTHROPIC_BASE_URL\"\n"
             "exec \"$@\"\n";

const char cli_agent_plain[] = "exec \"$@\"\n";
static const char gemini[] = LINK "exec \"$@\"\n";

const struct cli_agent cli_agents[] = {
        { "aider", "aider", "pip install aider-chat", aider, { ".aider" }, { NULL } },
        { "claude",
          "Claude Code",
          "npm install -g @anthropic-ai/claude-code",
          claude,
          { ".claude" },
          { ".claude/settings.json", ".claude/settings.local.json", ".claude/plugins", ".claude/CLAUDE.md",
            ".claude/agents", ".claude/commands", ".claude/hooks", ".claude/skills" },
          ".claude/.claude.json",
          "{\"hasCompletedOnboarding\":true}\n" },
        { "codex",
          "Codex",
          "npm install -g @openai/codex",
          codex,
          { ".codex" },
          { ".codex/config.toml", ".codex/AGENTS.md", ".codex/hooks.json", ".codex/prompts" } },
        { "gemini",
          "Gemini CLI",
          "npm install -g @google/gemini-cli",
          gemini,
          { ".gemini" },
          { ".gemini/settings.json", ".gemini/GEMINI.md", ".gemini/commands", ".gemini/extensions" },
          ".gemini/settings.json",
          "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"},"
          "\"folderTrust\":{\"enabled\":false}},\"general\":{\"enableAutoUpdate\":false,"
          "\"enableAutoUpdateNotification\":false},\"privacy\":{\"usageStatisticsEnabled\":false}}\n" },
        { "opencode",
          "opencode",
          "npm install -g opencode-ai",
          opencode,
          { ".config/opencode", ".local/share/opencode", ".local/state/opencode" },
          { ".config/opencode/opencode.json", ".config/opencode/AGENTS.md", ".config/opencode/agent",
            ".config/opencode/command", ".config/opencode/plugin", ".config/opencode/plugins" } },
        { 0 },
};

const struct cli_agent *cli_agent_find(const char *name)
{
        for (const struct cli_agent *a = cli_agents; a->name; a++)
                if (strcmp(a->name, name) == 0)
                        return a;
        return NULL;
}

const char *cli_agent_name_at(size_t i, const char **ret_help)
{
        if (i >= sizeof cli_agents / sizeof *cli_agents - 1)
                return NULL;
        *ret_help = cli_agents[i].product;
        return cli_agents[i].name;
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
