/* SPDX-License-Identifier: MIT */
/* face/cli/agent_hook.c - the settings of agents that have a hook before each tool, and the answers of the
 * hook. A piece of text is put into the settings, and taken out again: every other byte stays. */
#include "face/cli/agent_hook.h"
#include "base/json.h"
#include "base/str.h"

#include <string.h>

#define CLAUDE_LIKE                                                                                          \
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\","        \
        "\"permissionDecisionReason\":\"it runs in a box\",\"updatedInput\":",                               \
                "}}\n",                                                                                      \
                "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":"          \
                "\"deny\",\"permissionDecisionReason\":",                                                    \
                "}}\n"

/* A plugin that throws denies the call: whatever goes wrong, the command does not run. */
static const char plugin[] =
        "// Runs the shell commands of opencode in a box. Made and removed by `cordon agent hook`.\n"
        "import { spawnSync } from \"node:child_process\"\n"
        "\n"
        "const hook = ";
static const char plugin_end[] =
        "\n"
        "\n"
        "export const Cordon = async () => ({\n"
        "  \"tool.execute.before\": async (call, change) => {\n"
        "    if (call.tool !== \"bash\") return\n"
        "    const input = JSON.stringify({ tool_input: change.args })\n"
        "    const run = spawnSync(\"/bin/sh\", [\"-c\", hook], { input, encoding: \"utf8\", maxBuffer: 1 << "
        "24 })\n"
        "    const answer = JSON.parse(run.stdout || \"{}\")\n"
        "    if (answer.decision !== \"allow\") throw new Error(answer.reason || \"cordon: the hook failed: "
        "\" "
        "+ run.stderr)\n"
        "    change.args.command = answer.tool_input.command\n"
        "  },\n"
        "})\n";

static const struct agent_hook hooks[] = {
        { "claude", ".claude/settings.local.json", "PreToolUse", "Bash|Monitor", CLAUDE_LIKE, NULL, NULL,
          NULL },
        { "codex", ".codex/hooks.json", "PreToolUse", "Bash", CLAUDE_LIKE, NULL, NULL,
          "Codex asks at its next start whether you trust this folder and this hook: until you do, it runs "
          "commands outside. Start it as `codex -s danger-full-access`: its own sandbox hides the session" },
        { "gemini", ".gemini/settings.json", "BeforeTool", "run_shell_command",
          "{\"decision\":\"allow\",\"hookSpecificOutput\":{\"hookEventName\":\"BeforeTool\",\"tool_input\":",
          "}}\n", "{\"decision\":\"deny\",\"reason\":", "}\n", NULL, NULL, NULL },
        { "opencode", ".opencode/plugins/cordon.js", NULL, NULL, "{\"decision\":\"allow\",\"tool_input\":",
          "}\n", "{\"decision\":\"deny\",\"reason\":", "}\n", plugin, plugin_end,
          "a running opencode loads it at its next start; `opencode --pure` loads no plugin, and runs "
          "commands "
          "outside" },
};

const struct agent_hook *agent_hook_find(const char *agent)
{
        int i = str_row(hooks, sizeof hooks / sizeof *hooks, agent);
        return i < 0 ? NULL : &hooks[i];
}

/* ---- positions in the text of a JSON document ---- */

/* The first byte of a value of the document that `text` was parsed to. */
static size_t value_start(struct span text, const struct json *v)
{
        size_t at = 0;
        for (unsigned line = 1; line < v->line && at < text.n; at++)
                line += text.p[at] == '\n';

        /* Columns are characters. */
        for (unsigned column = 1; column < v->column && at < text.n; column++)
                for (at++; at < text.n && (text.p[at] & 0xc0) == 0x80;)
                        at++;

        return at;
}

static size_t string_end(struct span text, size_t at)
{
        for (at++; at < text.n && text.p[at] != '"'; at++)
                at += text.p[at] == '\\';
        return at < text.n ? at + 1 : text.n;
}

/* The byte behind the value that starts at `at`. The text is valid JSON. */
static size_t value_end(struct span text, size_t at)
{
        size_t depth = 0;
        do {
                char c = at < text.n ? (char) text.p[at] : '\0';
                if (c == '"') {
                        at = string_end(text, at);
                        continue;
                }
                depth += c == '{' || c == '[';
                depth -= c == '}' || c == ']';
                at++;
        } while (depth > 0 && at < text.n);

        return at < text.n ? at : text.n;
}

/* ---- settings ---- */

/* Ours is known by the words of its command. */
static const char mark[] = " agent hook --call ";

/* Around an entry: in no file, in an object without hooks, in hooks without the event, in a list of entries.
 */
enum place { NEW_FILE, IN_ROOT, IN_HOOKS, IN_EVENT, PLACES };

static void put_around(const struct agent_hook *h, enum place p, struct buf *before, struct buf *after)
{
        switch (p) {
        case NEW_FILE:
                buf_printf(before, "{\n  \"hooks\": {\n    \"%s\": [\n      ", h->event);
                buf_puts(after, "\n    ]\n  }\n}\n");
                return;
        case IN_ROOT:
                buf_printf(before, " \"hooks\": { \"%s\": [ ", h->event);
                buf_puts(after, " ] }");
                return;
        case IN_HOOKS:
                buf_printf(before, " \"%s\": [ ", h->event);
                buf_puts(after, " ]");
                return;
        case IN_EVENT:
                buf_puts(before, " ");
                return;
        case PLACES:
                return;
        }
}

static void put_entry(const struct agent_hook *h, struct buf *out)
{
        buf_printf(out,
                   "{ \"matcher\": \"%s\", \"hooks\": [ { \"type\": \"command\", \"command\": ", h->matcher);
}

static int refuse(const struct agent_hook *h, const char *why, struct err *e)
{
        return err_set(e, ERR_USAGE, 0, "%s: %s", h->file, why);
}

/* The container that an entry goes into, and its place. */
static const struct json *find_place(const struct agent_hook *h, const struct json *root, enum place *ret)
{
        const struct json *all = json_get(root, "hooks");
        const struct json *event = all && all->type == JSON_OBJECT ? json_get(all, h->event) : NULL;
        *ret = event ? IN_EVENT : all ? IN_HOOKS : IN_ROOT;
        return event ? event : all ? all : root;
}

static void put_piece(const struct agent_hook *h, enum place p, const char *command, struct buf *out)
{
        AUTO_BUF(before);
        AUTO_BUF(after);
        put_around(h, p, &before, &after);
        buf_puts(out, buf_str(&before));
        put_entry(h, out);
        buf_json(out, span_str(command));
        buf_puts(out, " } ] }");
        buf_puts(out, after.n ? buf_str(&after) : "");
        out->failed |= before.failed || after.failed;
}

static void put_program(const struct agent_hook *h, const char *command, struct buf *out)
{
        buf_puts(out, h->program);
        buf_json(out, span_str(command));
        buf_puts(out, h->program_end);
}

int agent_hook_add(const struct agent_hook *h, struct span settings, const char *command, struct buf *out,
                   struct err *e)
{
        enum place p = NEW_FILE;
        if (h->program && settings.n > 0)
                return refuse(h, "exists and is not cordon's: move it away first", e);

        if (h->program) {
                put_program(h, command, out);
                return 0;
        }

        if (settings.n == 0) {
                put_piece(h, p, command, out);
                return 0;
        }

        struct json_doc *d = json_parse_data(h->file, settings, e);
        if (!d)
                return -1;

        const struct json *root = json_root(d);
        const struct json *in = root->type == JSON_OBJECT ? find_place(h, root, &p) : NULL;
        bool fits = in && in->type == (p == IN_EVENT ? JSON_ARRAY : JSON_OBJECT);
        size_t at = fits ? value_start(settings, in) + 1 : 0;
        if (fits) {
                buf_add(out, settings.p, at);
                put_piece(h, p, command, out);
                buf_puts(out, in->child ? "," : "");
                buf_add(out, settings.p + at, settings.n - at);
        }

        json_free(d);
        return fits ? 0 : refuse(h, "its hooks do not have the usual form", e);
}

static bool stands(struct span text, size_t at, struct span what)
{
        return at <= text.n && text.n - at >= what.n && memcmp(text.p + at, what.p, what.n) == 0;
}

/* The start of our entry; text.n: none. */
static size_t find_entry(const struct agent_hook *h, struct span text)
{
        AUTO_BUF(entry);
        put_entry(h, &entry);
        for (size_t at = 0; at < text.n; at++) {
                if (!stands(text, at, buf_span(&entry)))
                        continue;
                size_t value = at + entry.n, end = value_end(text, value);
                if (memmem(text.p + value, end - value, mark, sizeof mark - 1))
                        return at;
        }

        return text.n;
}

/* Is it ours, whatever its command? */
static bool is_program(const struct agent_hook *h, struct span text)
{
        struct span start = span_str(h->program), end = span_str(h->program_end);
        return stands(text, 0, start) && text.n >= start.n + end.n && stands(text, text.n - end.n, end) &&
               value_end(text, start.n) == text.n - end.n;
}

int agent_hook_remove(const struct agent_hook *h, struct span settings, struct buf *out)
{
        if (h->program)
                return is_program(h, settings) ? 2 : 0;

        size_t at = find_entry(h, settings), end = at < settings.n ? value_end(settings, at) : 0;
        if (at == settings.n)
                return 0;

        for (enum place p = NEW_FILE; p < PLACES; p++) {
                AUTO_BUF(before);
                AUTO_BUF(after);
                put_around(h, p, &before, &after);
                if (at < before.n || !stands(settings, at - before.n, buf_span(&before)) ||
                    !stands(settings, end, buf_span(&after)))
                        continue;
                if (p == NEW_FILE && before.n == at && end + after.n == settings.n)
                        return 2;
                if (p == NEW_FILE)
                        continue;
                at -= before.n;
                end += after.n;
                break;
        }

        end += end < settings.n && settings.p[end] == ',';
        buf_add(out, settings.p, at);
        buf_add(out, settings.p + end, settings.n - end);
        return 1;
}

/* ---- calls ---- */

static const struct json *command_of(const struct json_doc *d)
{
        const struct json *input =
                json_root(d)->type == JSON_OBJECT ? json_get(json_root(d), "tool_input") : NULL;
        const struct json *command = input && input->type == JSON_OBJECT ? json_get(input, "command") : NULL;
        return command && command->type == JSON_STRING && !memchr(command->str, '\0', command->len) ? command
                                                                                                    : NULL;
}

int agent_hook_command(struct span call, struct buf *ret, struct err *e)
{
        struct json_doc *d = json_parse_data("the call", call, e);
        const struct json *command = d ? command_of(d) : NULL;
        if (command)
                buf_add(ret, command->str, command->len);
        json_free(d);
        return command ? 0 : !d ? -1 : err_set(e, ERR_USAGE, 0, "the call has no command");
}

int agent_hook_answer(const struct agent_hook *h, struct span call, const char *command, struct buf *out,
                      struct err *e)
{
        struct json_doc *d = json_parse_data("the call", call, e);
        const struct json *old = d ? command_of(d) : NULL;
        if (!old) {
                json_free(d);
                return err_set(e, ERR_USAGE, 0, "the call has no command");
        }

        size_t input = value_start(call, json_get(json_root(d), "tool_input"));
        size_t at = value_start(call, old), end = value_end(call, at);
        buf_puts(out, h->before);
        buf_add(out, call.p + input, at - input);
        buf_json(out, span_str(command));
        buf_add(out, call.p + end, value_end(call, input) - end);
        buf_puts(out, h->after);
        json_free(d);
        return 0;
}

void agent_hook_deny(const struct agent_hook *h, const char *why, struct buf *out)
{
        buf_puts(out, h->deny);
        buf_json(out, span_str(why));
        buf_puts(out, h->deny_end);
}
