/* SPDX-License-Identifier: MIT */
/* policy/read/stock_agents.c - the stock policies of coding agents: the program files of the host, the
 * agent's API through a credential of the vault, and limits for a day's work. No file of the caller: `cordon
 * agent` adds the project as an edit door and the agent's own state. A box is the sandbox; the agent's own,
 * which would need namespaces that no box has, is switched off here or by face/cli/agents.c. */
#include "policy/internal.h"

#define AGENT_COMMON                                                                                         \
        "use base/system\n"                                                                                  \
        "env COLORTERM TZ\n"                                                                                 \
        "limit time 7d cpu 2d memory 8G procs 2048 files 65536 disk 16G output 4G egress 8G\n"

const char policy_agent_other[] =
        "doc \"Any coding agent: no network, until a net line opens it.\"\n" AGENT_COMMON;

const char policy_agent_claude[] =
        "doc \"Claude Code and its API. Its own sandbox stays off: the box is one.\"\n" AGENT_COMMON
        "env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1\n"
        "env IS_SANDBOX=1\n" /* else it refuses to skip questions for uid 0 */
        "net https://api.anthropic.com/** with anthropic\n";

const char policy_agent_codex[] =
        "doc \"Codex and the OpenAI API. Its own sandbox is switched off (danger-full-access): the box is "
        "one.\"\n" AGENT_COMMON "net https://api.openai.com/v1/** with openai\n";

const char policy_agent_gemini[] =
        "doc \"Gemini CLI and its API. Its own sandbox is switched off: the box is one.\"\n" AGENT_COMMON
        "env GEMINI_SANDBOX=false\n"
        "net https://generativelanguage.googleapis.com/** with gemini\n";

/* `cordon agent` opens those of several providers whose credentials are in the vault. */
#define AGENT_PROVIDERS                                                                                      \
        "net https://api.anthropic.com/** with anthropic\n"                                                  \
        "net https://api.openai.com/v1/** with openai\n"                                                     \
        "net https://generativelanguage.googleapis.com/** with gemini\n"                                     \
        "net https://openrouter.ai/api/** with openrouter\n"

const char policy_agent_opencode[] =
        "doc \"opencode and the APIs whose keys are in the vault. It has no sandbox of its "
        "own.\"\n" AGENT_COMMON
        "env OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1\n" AGENT_PROVIDERS;

const char policy_agent_aider[] =
        "doc \"aider and the APIs whose keys are in the vault. It has no sandbox of its own.\"\n" AGENT_COMMON
        "env AIDER_ANALYTICS=false AIDER_CHECK_UPDATE=false\n" AGENT_PROVIDERS;

const char policy_agent_cline[] =
        "doc \"Cline and the APIs whose keys are in the vault. It has no sandbox of its own.\"\n" AGENT_COMMON
        "env CLINE_NO_AUTO_UPDATE=1 DO_NOT_TRACK=1\n" AGENT_PROVIDERS;

const char policy_agent_crush[] =
        "doc \"Crush and the APIs whose keys are in the vault. It has no sandbox of its own.\"\n" AGENT_COMMON
        "env CRUSH_DISABLE_PROVIDER_AUTO_UPDATE=1 CRUSH_DISABLE_METRICS=1\n" AGENT_PROVIDERS;

const char policy_agent_goose[] =
        "doc \"goose and the APIs whose keys are in the vault. It has no sandbox of its own.\"\n" AGENT_COMMON
        "env GOOSE_PROVIDER GOOSE_MODEL GOOSE_MODE GOOSE_DISABLE_KEYRING=1 "
        "GOOSE_TELEMETRY_ENABLED=false\n" AGENT_PROVIDERS;

const char policy_agent_pi[] =
        "doc \"pi and the APIs whose keys are in the vault. It has no sandbox of its own.\"\n" AGENT_COMMON
        "env PI_SKIP_VERSION_CHECK=1 PI_TELEMETRY=0\n" AGENT_PROVIDERS;

const char policy_agent_qwen[] =
        "doc \"Qwen Code and an API that speaks as OpenAI's. Its own sandbox is switched off: the box is "
        "one.\"\n" AGENT_COMMON "env QWEN_SANDBOX=false OPENAI_MODEL\n"
        "net https://api.openai.com/v1/** with openai\n";
