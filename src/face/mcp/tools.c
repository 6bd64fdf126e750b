/* SPDX-License-Identifier: MIT */
/* face/mcp/tools.c - the table of tools. */
#include "face/mcp/tools.h"

#include <string.h>

enum { CODE_MAX = 120000, STDIN_MAX = 4 << 20, PATH_BYTES = 4095, HANDLE_BYTES = 64, SECONDS_MAX = 86400 };

#define SESSION(must, text)                                                                                  \
        {                                                                                                    \
                "session", ARG_TEXT, must, 1, HANDLE_BYTES, text                                             \
        }
#define IN_SESSION                                                                                           \
        SESSION(false, "a handle of session_new: run in that box; without one, in a new box that goes away")
#define OF_SESSION SESSION(true, "a handle of session_new")
#define STDIN                                                                                                \
        {                                                                                                    \
                "stdin", ARG_TEXT, false, 0, STDIN_MAX, "standard input; default: empty"                     \
        }
#define SECONDS                                                                                              \
        {                                                                                                    \
                "seconds", ARG_NUMBER, false, 1, SECONDS_MAX,                                                \
                        "stop it after so long; the policy's own limit holds anyway"                         \
        }
#define ARGUMENTS                                                                                            \
        {                                                                                                    \
                "args", ARG_WORDS, false, 0, CODE_MAX, "arguments of the program"                            \
        }

/* Every answer has these: an error of cordon itself, and what can be done next. */
#define COMMON                                                                                               \
        "\"error\":{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"},"                     \
        "\"message\":{\"type\":\"string\"},\"hint\":{\"type\":\"string\"}}},"                                \
        "\"next_steps\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
#define TEXT(name)   "\"" name "\":{\"type\":\"string\"},"
#define NUMBER(name) "\"" name "\":{\"type\":\"integer\"},"
#define FLAG(name)   "\"" name "\":{\"type\":\"boolean\"},"
#define RAN                                                                                                  \
        NUMBER("status")                                                                                     \
        TEXT("end")                                                                                          \
        TEXT("stdout")                                                                                       \
        TEXT("stderr")                                                                                       \
        FLAG("truncated")                                                                                    \
        TEXT("run")                                                                                          \
        TEXT("limit")                                                                                        \
        "\"cut\":{\"type\":\"integer\",\"description\":\"escape sequences and hidden characters that were "  \
        "replaced by visible marks\"},"                                                                      \
        "\"blocked\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"                    \
        "\"effect\":{\"type\":\"string\"},\"reason\":{\"type\":\"string\"},\"why\":{\"type\":\"string\"},"   \
        "\"permit\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\"}}}}," CHECKED

/* Every answer with words of a box has these. */
#define CHECKED                                                                                              \
        "\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"                                   \
        "\"findings\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},\"description\":\"what was found " \
        "in "                                                                                                \
        "it: secrets (replaced), text that addresses a model, links\"},"                                     \
        "\"sha256\":{\"type\":\"string\"},"

/* The tools by name, and in the order of enum mcp_tool_id. */
static const struct mcp_tool tools[] = {
        { .name = "diff",
          .title = "Show changes",
          .help = "Shows what an ended session changed behind its edit doors. Nothing of it is on the host "
                  "yet.",
          .args = { OF_SESSION },
          .output = TEXT("diff") NUMBER("changes") FLAG("truncated") CHECKED COMMON,
          .reads_only = true },
        { .name = "doors",
          .title = "List permissions",
          .help = "Lists what boxes of this server may do: every door of its policy. No tool can change it.",
          .output = "\"doors\":{\"type\":\"object\"}," COMMON,
          .reads_only = true,
          .repeatable = true },
        { .name = "list_files",
          .title = "List files",
          .help = "Lists a directory as the box of a session sees it.",
          .args = { OF_SESSION,
                    { "path", ARG_TEXT, false, 1, PATH_BYTES, "default: the working directory" } },
          .output = "\"files\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"name\":{"
                    "\"type\":"
                    "\"string\"},\"type\":{\"type\":\"string\"}}}}," FLAG("truncated") COMMON,
          .reads_only = true,
          .repeatable = true },
        { .name = "propose_apply",
          .title = "Propose changes",
          .help = "Ends a session and proposes to apply its changes to the host. A person "
                  "decides; "
                  "files that the host would execute or trust are never applied this way.",
          .args = { OF_SESSION,
                    { "reason", ARG_TEXT, false, 0, 1000, "what the changes are for, shown to the person" } },
          .output = FLAG("applied") TEXT("run") NUMBER("files") NUMBER("held") COMMON,
          .destroys = true },
        { .name = "read_file",
          .title = "Read a file",
          .help = "Reads a text file as the box of a session sees it.",
          .args = { OF_SESSION, { "path", ARG_TEXT, true, 1, PATH_BYTES, "of the file, in the box" } },
          .output = TEXT("content") FLAG("truncated") NUMBER("cut") CHECKED COMMON,
          .reads_only = true,
          .repeatable = true },
        { .name = "run_command",
          .title = "Run a command",
          .help = "Runs a command in a box and returns its output. Give `command`, a line for sh, or `argv`.",
          .args = { { "command", ARG_TEXT, false, 1, CODE_MAX, "a command line for sh" },
                    { "argv", ARG_WORDS, false, 1, CODE_MAX, "program and arguments, without a shell" },
                    STDIN,
                    IN_SESSION,
                    SECONDS },
          .output = RAN COMMON,
          .reaches_out = true },
        { .name = "run_javascript",
          .title = "Run JavaScript",
          .help = "Runs JavaScript with node in a box and returns its output.",
          .args = { { "code", ARG_TEXT, true, 1, CODE_MAX, "the program" },
                    ARGUMENTS,
                    STDIN,
                    IN_SESSION,
                    SECONDS },
          .output = RAN COMMON,
          .reaches_out = true },
        { .name = "run_python",
          .title = "Run Python",
          .help = "Runs Python 3 in a box and returns its output.",
          .args = { { "code", ARG_TEXT, true, 1, CODE_MAX, "the program" },
                    ARGUMENTS,
                    STDIN,
                    IN_SESSION,
                    SECONDS },
          .output = RAN COMMON,
          .reaches_out = true },
        { .name = "session_end",
          .title = "End a session",
          .help = "Ends a session and everything that runs in it. Changes behind edit doors are kept for "
                  "review.",
          .args = { OF_SESSION },
          .output = TEXT("run") NUMBER("changes") COMMON,
          .destroys = true,
          .repeatable = true },
        { .name = "session_new",
          .title = "Start a session",
          .help = "Starts a box that stays: files and background processes remain from run to run. Returns "
                  "its "
                  "handle, which is secret and expires.",
          .output = TEXT("session") NUMBER("idle_seconds") NUMBER("seconds") COMMON },
        { .name = "why",
          .title = "Explain a decision",
          .help = "Explains whether an effect is allowed, and what would have to change: `read /etc/passwd`, "
                  "`net GET https://example.com/`, `run git`.",
          .args = { { "effect", ARG_TEXT, true, 1, 4000, "the effect" } },
          .output = FLAG("allowed") "\"decision\":{\"type\":\"object\"}," COMMON,
          .reads_only = true,
          .repeatable = true },
        { .name = "write_file",
          .title = "Write a file",
          .help = "Writes a text file in the box of a session, and creates it if it is missing.",
          .args = { OF_SESSION,
                    { "path", ARG_TEXT, true, 1, PATH_BYTES, "of the file, in the box" },
                    { "content", ARG_TEXT, true, 0, STDIN_MAX, "the whole content" } },
          .output = NUMBER("bytes") COMMON,
          .destroys = true,
          .repeatable = true },
};
_Static_assert(sizeof tools / sizeof *tools == TOOL__COUNT, "one row for each tool");

enum mcp_tool_id mcp_tool_id(const struct mcp_tool *t) { return (enum mcp_tool_id)(t - tools); }

const struct mcp_tool *mcp_tool_find(const char *name)
{
        for (size_t i = 0; name && i < TOOL__COUNT; i++)
                if (strcmp(tools[i].name, name) == 0)
                        return &tools[i];
        return NULL;
}

/* ---- schemas ---- */

static void put_arg(const struct mcp_arg *a, struct buf *out)
{
        buf_member_json(out, a->name, "{\"type\":");
        switch (a->type) {
        case ARG_NONE:
        case ARG_TEXT:
                buf_printf(out, "\"string\",\"minLength\":%ld,\"maxLength\":%ld", a->least, a->most);
                break;
        case ARG_WORDS:
                buf_printf(out, "\"array\",\"items\":{\"type\":\"string\"},\"minItems\":%ld,\"maxItems\":%d",
                           a->least, MCP_WORDS_MAX);
                break;
        case ARG_NUMBER:
                buf_printf(out, "\"integer\",\"minimum\":%ld,\"maximum\":%ld", a->least, a->most);
                break;
        }
        buf_member(out, "description", a->help);
        buf_putc(out, '}');
}

static void put_input(const struct mcp_tool *t, struct buf *out)
{
        buf_puts(out, ",\"inputSchema\":{\"type\":\"object\",\"properties\":{");
        for (const struct mcp_arg *a = t->args; a->type; a++)
                put_arg(a, out);
        buf_puts(out, "},\"required\":[");
        for (const struct mcp_arg *a = t->args; a->type; a++)
                if (a->required)
                        buf_member(out, NULL, a->name);
        buf_puts(out, "],\"additionalProperties\":false}");
}

static void put_tool(const struct mcp_tool *t, struct buf *out)
{
        buf_member_json(out, NULL, "{");
        buf_member(out, "name", t->name);
        buf_member(out, "title", t->title);
        buf_member(out, "description", t->help);
        put_input(t, out);
        buf_printf(out, ",\"outputSchema\":{\"type\":\"object\",\"properties\":{%s}}", t->output);
        buf_member_json(out, "annotations", "{");
        buf_member_bool(out, "readOnlyHint", t->reads_only);
        buf_member_bool(out, "destructiveHint", t->destroys);
        buf_member_bool(out, "idempotentHint", t->repeatable);
        buf_member_bool(out, "openWorldHint", t->reaches_out);
        buf_puts(out, "}}");
}

void mcp_tools_put(struct buf *out)
{
        buf_putc(out, '[');
        for (size_t i = 0; i < TOOL__COUNT; i++)
                put_tool(&tools[i], out);
        buf_putc(out, ']');
}

/* ---- arguments ---- */

static const struct mcp_arg *find_arg(const struct mcp_tool *t, struct span key)
{
        for (const struct mcp_arg *a = t->args; a->type; a++)
                if (span_is(key, a->name))
                        return a;
        return NULL;
}

static bool is_text(const struct json *v, long least, long most)
{
        return v->type == JSON_STRING && strlen(v->str) == v->len && v->len >= (size_t) least &&
               v->len <= (size_t) most;
}

static bool are_words(const struct json *v, const struct mcp_arg *a)
{
        size_t n = 0;
        for (const struct json *w = v->type == JSON_ARRAY ? v->child : NULL; w; w = w->next, n++)
                if (!is_text(w, 0, a->most))
                        return false;
        return v->type == JSON_ARRAY && n >= (size_t) a->least && n <= MCP_WORDS_MAX;
}

static bool check_arg(const struct mcp_arg *a, const struct json *v, struct buf *why)
{
        switch (a->type) {
        case ARG_NONE:
                return false;
        case ARG_TEXT:
                if (is_text(v, a->least, a->most))
                        return true;
                buf_printf(why, "%s is a text of %ld to %ld bytes without NUL", a->name, a->least, a->most);
                return false;
        case ARG_WORDS:
                if (are_words(v, a))
                        return true;
                buf_printf(why, "%s is a list of %ld to %d texts", a->name, a->least, MCP_WORDS_MAX);
                return false;
        case ARG_NUMBER:
                if (v->type == JSON_INT && v->integer >= a->least && v->integer <= a->most)
                        return true;
                buf_printf(why, "%s is a whole number from %ld to %ld", a->name, a->least, a->most);
                return false;
        }
        return false;
}

static void put_args(const struct mcp_tool *t, struct buf *why)
{
        buf_puts(why, t->args->type ? "; it has: " : "; it takes none");
        for (const struct mcp_arg *a = t->args; a->type; a++)
                buf_printf(why, "%s%s%s", a == t->args ? "" : ", ", a->name,
                           a->required ? " (required)" : "");
}

bool mcp_tool_check(const struct mcp_tool *t, const struct json *args, struct buf *why)
{
        for (const struct json *v = args ? args->child : NULL; v; v = v->next) {
                const struct mcp_arg *a = find_arg(t, span_of(v->key, v->key_len));
                if (!a) {
                        buf_printf(why, "%s has no argument ", t->name);
                        buf_json(why, span_of(v->key, v->key_len));
                        put_args(t, why);
                        return false;
                }
                if (!check_arg(a, v, why))
                        return false;
        }

        for (const struct mcp_arg *a = t->args; a->type; a++)
                if (a->required && (!args || !json_get(args, a->name))) {
                        buf_printf(why, "%s needs the argument %s", t->name, a->name);
                        return false;
                }

        bool command = args && json_get(args, "command"), argv = args && json_get(args, "argv");
        if (mcp_tool_id(t) == TOOL_RUN_COMMAND && command == argv) {
                buf_puts(why, "run_command takes command or argv");
                return false;
        }
        return true;
}
