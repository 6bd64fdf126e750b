/* SPDX-License-Identifier: MIT */
/* run/keeper/upward.c - lookups of coding agents that are no attempt at anything: they look for their
 * directory of settings in every directory above the project, and so also find the one in the home. Files
 * that hold a login or a key are not among them. Pure. */
#include "base/str.h"
#include "run/keeper/internal.h"

#include <string.h>

static bool is_one_of(const char *const *names, size_t count, const char *name, size_t n)
{
        for (size_t i = 0; i < count; i++)
                if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
                        return true;
        return false;
}

/* The part behind the directory of settings: "" or "/settings.json". */
static bool holds_no_secret(const char *rest)
{
        static const char *const plain[] = {
                "settings.json", "settings.local.json",
                "config.toml",   "config.json",
                "CLAUDE.md",     "AGENTS.md",
                "GEMINI.md",     "QWEN.md",
                "agents",        "commands",
                "hooks",         "plugins",
                "prompts",       "rules",
                "skills",        "output-styles",
                "mcp.json",      "workflows",
        };
        return !*rest || is_one_of(plain, sizeof plain / sizeof *plain, rest + 1, strlen(rest + 1));
}

bool keeper_looks_upward(const char *cwd, const char *path)
{
        static const char *const dirs[] = { ".claude",   ".codex", ".cursor", ".gemini", ".qwen",   ".cline",
                                            ".opencode", ".crush", ".goose",  ".pi",     ".agents", ".amp" };
        for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
                size_t n = strcspn(at + 1, "/");
                if (!is_one_of(dirs, sizeof dirs / sizeof *dirs, at + 1, n))
                        continue;
                size_t up = (size_t) (at - path);
                return cwd && strncmp(cwd, path, up) == 0 && cwd[up] == '/' && holds_no_secret(at + 1 + n);
        }

        return false;
}
