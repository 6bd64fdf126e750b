/* SPDX-License-Identifier: MIT */
/* face/mcp/tools.h - the tools of `cordon mcp`: one table holds names, arguments, schemas and hints. Pure. No
 * argument names a door, a policy, a wall, a variable or a path of the host. */
#pragma once
#include "base/buf.h"
#include "base/json.h"

enum mcp_tool_id {
        TOOL_DIFF = 0,
        TOOL_DOORS,
        TOOL_LIST_FILES,
        TOOL_PROPOSE_APPLY,
        TOOL_READ_FILE,
        TOOL_RUN_COMMAND,
        TOOL_RUN_JAVASCRIPT,
        TOOL_RUN_PYTHON,
        TOOL_SESSION_END,
        TOOL_SESSION_NEW,
        TOOL_WHY,
        TOOL_WRITE_FILE,
        TOOL__COUNT
};

enum mcp_arg_type { ARG_NONE = 0, ARG_TEXT, ARG_WORDS, ARG_NUMBER };
enum { MCP_ARGS_MAX = 6, MCP_WORDS_MAX = 256 };

struct mcp_arg {
        const char *name;
        enum mcp_arg_type type;
        bool required;
        long least, most; /* of a number; bytes of a text or of each word */
        const char *help;
};

struct mcp_tool {
        const char *name, *title, *help;
        struct mcp_arg args[MCP_ARGS_MAX + 1];
        const char *output;                                 /* properties of its output schema */
        bool reads_only, destroys, reaches_out, repeatable; /* the hints of MCP */
};

/* NULL: no such tool. */
const struct mcp_tool *mcp_tool_find(const char *name);
enum mcp_tool_id mcp_tool_id(const struct mcp_tool *t);
/* The value of "tools" in the answer to tools/list: always the same, ordered by name. */
void mcp_tools_put(struct buf *out);
/* Checks the arguments (NULL: none given) against the table. False: `why` is the reason, in one sentence. */
bool mcp_tool_check(const struct mcp_tool *t, const struct json *args, struct buf *why);
