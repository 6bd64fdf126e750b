/* SPDX-License-Identifier: MIT */
/* face/cli/agent_rows.c - the table of coding agents: how each is started, what of its state persists. */
#include "face/cli/agents.h"

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

static const char crush[] = LINK
        "[ -z \"${OPENAI_BASE_URL-}\" ] || export OPENAI_API_ENDPOINT=\"$OPENAI_BASE_URL\"\n"
        "[ -z \"${ANTHROPIC_BASE_URL-}\" ] || export ANTHROPIC_API_ENDPOINT=\"$ANTHROPIC_BASE_URL\"\n"
        "[ -z \"${GOOGLE_GEMINI_BASE_URL-}\" ] || export GEMINI_API_ENDPOINT=\"$GOOGLE_GEMINI_BASE_URL\"\n"
        "exec \"$@\"\n";

/* It adds the path of the API itself. */
static const char goose[] =
        LINK "[ -z \"${OPENAI_BASE_URL-}\" ] || export OPENAI_HOST=\"${OPENAI_BASE_URL%/v1}\"\n"
             "[ -z \"${ANTHROPIC_BASE_URL-}\" ] || export ANTHROPIC_HOST=\"$ANTHROPIC_BASE_URL\"\n"
             "[ -z \"${GEMINI_API_KEY-}\" ] || export GOOGLE_API_KEY=\"$GEMINI_API_KEY\"\n"
             "exec \"$@\"\n";

/* The provider is that of the key; another address of its API is read from a file. */
static const char cline[] =
        LINK "program=$1 of= base=; shift\n"
             "[ -z \"${GEMINI_API_KEY-}\" ] || of=gemini "
             "base=${GOOGLE_GEMINI_BASE_URL:+$GOOGLE_GEMINI_BASE_URL/v1beta}\n"
             "[ -z \"${OPENAI_API_KEY-}\" ] || of=openai-native base=${OPENAI_BASE_URL-}\n"
             "[ -z \"${ANTHROPIC_API_KEY-}\" ] || of=anthropic "
             "base=${ANTHROPIC_BASE_URL:+$ANTHROPIC_BASE_URL/v1}\n"
             "d=$HOME/.cline/data/settings\n"
             "[ -z \"$base\" ] || { mkdir -p \"$d\"; echo "
             "'{\"version\":1,\"lastUsedProvider\":\"'$of'\",\"modes\":{},"
             "\"providers\":{\"'$of'\":{\"settings\":{\"provider\":\"'$of'\",\"baseUrl\":\"'$base'\"},"
             "\"updatedAt\":\"2026-01-01T00:00:00.000Z\",\"tokenSource\":\"manual\"}}}' "
             ">\"$d/providers.json\"; }\n"
             "exec \"$program\" ${of:+-P $of} \"$@\"\n";

const char cli_agent_plain[] = LINK "exec \"$@\"\n";

/* ---- what of their state is held back ---- */

/* Settings that choose among what the agent has: the look, the model. */
static const struct cli_part claude_parts[] = {
        { ".claude/projects", PART_KEPT, NULL },
        { ".claude/file-history", PART_KEPT, NULL },
        { ".claude/paste-cache", PART_KEPT, NULL },
        { ".claude/image-cache", PART_KEPT, NULL },
        { ".claude/shell-snapshots", PART_DROPPED, NULL },
        { ".claude/session-env", PART_DROPPED, NULL },
        { ".claude/ide", PART_DROPPED, NULL },
        { ".claude/settings.json", PART_ALL_BUT,
          "$schema model theme effortLevel alwaysThinkingEnabled verbose editorMode language outputStyle "
          "spinnerTipsEnabled prefersReducedMotion cleanupPeriodDays feedbackSurveyState" },
        { ".claude/.claude.json", PART_MEMBERS,
          "mcpServers hooks env apiKeyHelper permissions projects/?/mcpServers projects/?/hooks "
          "projects/?/allowedTools projects/?/enabledMcpjsonServers projects/?/enableAllProjectMcpServers" },
        { ".claude/.config.json", PART_HELD, NULL },
        { ".claude/settings.local.json", PART_HELD, NULL },
        { ".claude/remote-settings.json", PART_HELD, NULL },
        { ".claude/managed-settings.json", PART_HELD, NULL },
        { ".claude/keybindings.json", PART_HELD, NULL },
        { ".claude/scheduled_tasks.json", PART_HELD, NULL },
        { ".claude/CLAUDE.md", PART_HELD, NULL },
        { ".claude/agents", PART_HELD, NULL },
        { ".claude/agent-memory", PART_HELD, NULL },
        { ".claude/commands", PART_HELD, NULL },
        { ".claude/hooks", PART_HELD, NULL },
        { ".claude/local", PART_HELD, NULL },
        { ".claude/output-styles", PART_HELD, NULL },
        { ".claude/plugins", PART_HELD, NULL },
        { ".claude/rules", PART_HELD, NULL },
        { ".claude/skills", PART_HELD, NULL },
        { ".claude/workflows", PART_HELD, NULL },
        { ".claude", PART_CODE, NULL },
        { 0 },
};

#define CODEX_SETTINGS                                                                                       \
        "model model_reasoning_effort model_verbosity personality projects/trust_level tui/? notice/?"
static const struct cli_part codex_parts[] = {
        { ".codex/sessions", PART_KEPT, NULL },
        { ".codex/archived_sessions", PART_KEPT, NULL },
        { ".codex/tmp", PART_DROPPED, NULL },
        { ".codex/.tmp", PART_DROPPED, NULL },
        { ".codex/shell_snapshots", PART_DROPPED, NULL },
        { ".codex/skills/.system", PART_DROPPED, NULL }, /* its own, which it writes at each start */
        { ".codex/*.toml", PART_SETTINGS, CODEX_SETTINGS },
        { ".codex/hooks.json", PART_HELD, NULL },
        { ".codex/*.md", PART_HELD, NULL },
        { ".codex/.env", PART_HELD, NULL },
        { ".codex/agents", PART_HELD, NULL },
        { ".codex/hooks", PART_HELD, NULL },
        { ".codex/memories", PART_HELD, NULL },
        { ".codex/packages", PART_HELD, NULL },
        { ".codex/plugins", PART_HELD, NULL },
        { ".codex/prompts", PART_HELD, NULL },
        { ".codex/rules", PART_HELD, NULL },
        { ".codex/skills", PART_HELD, NULL },
        { ".codex", PART_CODE, NULL },
        { 0 },
};

/* Gemini CLI and its descendants. */
#define GEMINI_LIKE(dir, memory)                                                                             \
        { dir "/tmp/bin", PART_DROPPED, NULL }, { dir "/tmp", PART_KEPT, NULL },                             \
                { dir "/history/*/.git/hooks", PART_DROPPED, NULL },                                         \
                { dir "/history/*/.git/config", PART_HELD, NULL }, { dir "/history", PART_KEPT, NULL },      \
                { dir "/settings.json", PART_ALL_BUT,                                                        \
                  "$version $schema model ui ide privacy output telemetry selectedAuthType theme" },         \
                { dir "/trustedFolders.json", PART_HELD, NULL },                                             \
                { dir "/trusted_hooks.json", PART_HELD, NULL },                                              \
                { dir "/keybindings.json", PART_HELD, NULL }, { dir "/" memory, PART_HELD, NULL },           \
                { dir "/*.md", PART_HELD, NULL }, { dir "/.env", PART_HELD, NULL },                          \
                { dir "/agents", PART_HELD, NULL }, { dir "/commands", PART_HELD, NULL },                    \
                { dir "/extensions", PART_HELD, NULL }, { dir "/hooks", PART_HELD, NULL },                   \
                { dir "/policies", PART_HELD, NULL }, { dir "/skills", PART_HELD, NULL },                    \
                { dir, PART_CODE, NULL },                                                                    \
        {                                                                                                    \
                0                                                                                            \
        }
static const struct cli_part qwen_parts[] = { { ".qwen/output-language.md", PART_DROPPED, NULL },
                                              { ".qwen/projects", PART_KEPT, NULL },
                                              GEMINI_LIKE(".qwen", "QWEN.md") };
static const struct cli_part gemini_parts[] = { GEMINI_LIKE(".gemini", "GEMINI.md") };

static const struct cli_part opencode_parts[] = {
        { ".config/opencode/.gitignore", PART_KEPT, NULL },
        { ".config/opencode/opencode.json*", PART_ALL_BUT, "$schema model small_model theme username" },
        { ".config/opencode/config.json", PART_ALL_BUT, "$schema model small_model theme username" },
        { ".config/opencode", PART_HELD, NULL },
        { ".local/share/opencode/snapshot", PART_DROPPED, NULL }, /* git runs what their settings name */
        { ".local/share/opencode/storage", PART_KEPT, NULL },
        { ".local/share/opencode/tool-output", PART_KEPT, NULL },
        { ".local/share/opencode/bin", PART_HELD, NULL },
        { ".local/share/opencode/plugin", PART_HELD, NULL },
        { ".local/share/opencode", PART_CODE, NULL },
        { ".local/state/opencode", PART_CODE, NULL },
        { 0 },
};

static const struct cli_part aider_parts[] = {
        { ".aider/caches", PART_KEPT, NULL },
        { ".aider/oauth-keys.env", PART_HELD, NULL },
        { ".aider", PART_CODE, NULL },
        { 0 },
};

static const struct cli_part crush_parts[] = {
        { ".config/crush", PART_HELD, NULL },
        { ".local/share/crush/crush.json", PART_ALL_BUT,
          "$schema models recent_models" }, /* servers, hooks */
        { ".local/share/crush/providers.json", PART_HELD, NULL },
        { ".local/share/crush", PART_CODE, NULL },
        { 0 },
};

static const struct cli_part goose_parts[] = {
        { ".config/goose", PART_HELD, NULL }, /* extensions are commands, memories are obeyed */
        { ".local/share/goose/sessions", PART_KEPT, NULL },
        { ".local/share/goose/schedule.json", PART_HELD, NULL },
        { ".local/share/goose/scheduled_recipes", PART_HELD, NULL },
        { ".local/share/goose", PART_CODE, NULL },
        { ".local/state/goose/logs", PART_KEPT, NULL },
        { ".local/state/goose", PART_CODE, NULL },
        { 0 },
};

static const struct cli_part pi_parts[] = {
        { ".pi/agent/sessions", PART_KEPT, NULL },
        { ".pi/agent/settings.json", PART_ALL_BUT,
          "lastChangelogVersion defaultProvider defaultModel defaultThinkingLevel enabledModels theme "
          "quietStartup hideThinkingBlock" },
        { ".pi/agent/auth.json", PART_ALL_BUT, "" }, /* a key can be a command */
        { ".pi/agent/keybindings.json", PART_HELD, NULL },
        { ".pi/agent/mcp.json", PART_HELD, NULL },
        { ".pi/agent/models.json", PART_HELD, NULL },
        { ".pi/agent/*.md", PART_HELD, NULL },
        { ".pi/agent/*.MD", PART_HELD, NULL },
        { ".pi/agent/bin", PART_HELD, NULL },
        { ".pi/agent/extensions", PART_HELD, NULL },
        { ".pi/agent/git", PART_HELD, NULL },
        { ".pi/agent/npm", PART_HELD, NULL },
        { ".pi/agent/prompts", PART_HELD, NULL },
        { ".pi/agent/skills", PART_HELD, NULL },
        { ".pi/agent/themes", PART_HELD, NULL },
        { ".pi/agent", PART_CODE, NULL },
        { 0 },
};

/* Its databases hold schedules, which start code. */
static const struct cli_part cline_parts[] = {
        { ".cline/data/sessions", PART_KEPT, NULL },
        { ".cline/data/cache", PART_DROPPED, NULL },
        { ".cline/data/db", PART_DROPPED, NULL },
        { ".cline/data/locks", PART_DROPPED, NULL },
        { ".cline/data/logs", PART_DROPPED, NULL },
        { ".cline/data/settings/providers.json", PART_DROPPED, NULL },
        { ".cline/data", PART_HELD, NULL },
        { ".cline/agents", PART_HELD, NULL },
        { ".cline/cron", PART_HELD, NULL },
        { ".cline/hooks", PART_HELD, NULL },
        { ".cline/plugins", PART_HELD, NULL },
        { ".cline/rules", PART_HELD, NULL },
        { ".cline/skills", PART_HELD, NULL },
        { ".cline/workflows", PART_HELD, NULL },
        { ".cline", PART_CODE, NULL },
        { 0 },
};

/* ---- the agents ---- */

const struct cli_agent cli_agents[] = {
        { "aider", "aider", "pip install aider-chat", aider, { ".aider" }, aider_parts },
        { "claude",
          "Claude Code",
          "npm install -g @anthropic-ai/claude-code",
          claude,
          { ".claude" },
          claude_parts,
          ".claude/.claude.json",
          "{\"hasCompletedOnboarding\":true}\n" },
        { "cline", "Cline", "npm install -g cline", cline, { ".cline" }, cline_parts },
        { "codex", "Codex", "npm install -g @openai/codex", codex, { ".codex" }, codex_parts },
        { "crush",
          "Crush",
          "npm install -g @charmland/crush",
          crush,
          { ".config/crush", ".local/share/crush" },
          crush_parts },
        { "gemini",
          "Gemini CLI",
          "npm install -g @google/gemini-cli",
          cli_agent_plain,
          { ".gemini" },
          gemini_parts,
          ".gemini/settings.json",
          "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"},"
          "\"folderTrust\":{\"enabled\":false}},\"general\":{\"enableAutoUpdate\":false,"
          "\"enableAutoUpdateNotification\":false},\"privacy\":{\"usageStatisticsEnabled\":false}}\n" },
        { "goose",
          "goose",
          "see https://block.github.io/goose/docs/getting-started/installation",
          goose,
          { ".config/goose", ".local/share/goose", ".local/state/goose" },
          goose_parts },
        { "opencode",
          "opencode",
          "npm install -g opencode-ai",
          opencode,
          { ".config/opencode", ".local/share/opencode", ".local/state/opencode" },
          opencode_parts },
        { "pi",
          "pi",
          "npm install -g @mariozechner/pi-coding-agent",
          cli_agent_plain,
          { ".pi/agent" },
          pi_parts },
        { "qwen",
          "Qwen Code",
          "npm install -g @qwen-code/qwen-code",
          cli_agent_plain,
          { ".qwen" },
          qwen_parts,
          ".qwen/settings.json",
          "{\"security\":{\"auth\":{\"selectedType\":\"openai\"},\"folderTrust\":{\"enabled\":false}},"
          "\"general\":{\"enableAutoUpdate\":false},\"privacy\":{\"usageStatisticsEnabled\":false}}\n" },
        { 0 },
};
