/* SPDX-License-Identifier: MIT */
/* face/mcp/start_run.c - the command of a tool, and its start in a box. All of them run behind the walls, the
 * file tools as well: a path means what it means in the box. */
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "face/mcp/internal.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = MCP_WORDS_MAX + 8 };

struct command {
        const char *argv[WORDS + 1];
        size_t n;
        char path[4096 + 8];
        const char *input; /* NULL: empty */
        size_t input_len;
};

static const char LIST[] = "cd \"$1\" && for f in .* *; do\n"
                           "case $f in . | ..) continue ;; esac\n"
                           "if [ -L \"$f\" ]; then t=symlink\n"
                           "elif [ -d \"$f\" ]; then t=directory\n"
                           "elif [ -f \"$f\" ]; then t=file\n"
                           "elif [ -e \"$f\" ]; then t=other\n"
                           "else continue; fi\n"
                           "printf '%s/%s\\0' \"$t\" \"$f\"\n"
                           "done",
                  WRITE[] = "mkdir -p \"${1%/*}\" && cat >\"$1\"";

static void add_word(struct command *c, const char *word)
{
        if (c->n < WORDS)
                c->argv[c->n++] = word;
}

static void add_words(struct command *c, const struct json *args, const char *key)
{
        const struct json *list = json_of(args, key, JSON_ARRAY);
        for (const struct json *w = list ? list->child : NULL; w; w = w->next)
                add_word(c, w->str);
}

/* A relative path with "./" before it is no option of any program. */
static void add_path(struct command *c, const struct json *args)
{
        const char *path = json_str(args, "path");
        (void) snprintf(c->path, sizeof c->path, "%s%s", path && path[0] == '/' ? "" : "./",
                        path ? path : "");
        add_word(c, c->path);
}

static void add_code(struct command *c, const struct json *args, const char *program, const char *option)
{
        add_word(c, program);
        add_word(c, option);
        add_word(c, json_str(args, "code"));
        add_words(c, args, "args");
}

static void add_script(struct command *c, const struct json *args, const char *script)
{
        add_word(c, "sh");
        add_word(c, "-c");
        add_word(c, script);
        add_word(c, "sh");
        add_path(c, args);
}

static void make_command(const struct mcp_call *call, const struct json *args, struct command *c)
{
        const struct json *input = json_of(args, "stdin", JSON_STRING);
        switch (mcp_tool_id(call->tool)) {
        case TOOL_RUN_COMMAND:
                if (json_str(args, "command")) {
                        add_word(c, "sh");
                        add_word(c, "-c");
                        add_word(c, json_str(args, "command"));
                }
                add_words(c, args, "argv");
                break;
        case TOOL_RUN_JAVASCRIPT:
                add_code(c, args, "node", "-e");
                break;
        case TOOL_RUN_PYTHON:
                add_code(c, args, "python3", "-c");
                break;
        case TOOL_READ_FILE:
                add_word(c, "cat");
                add_path(c, args);
                break;
        case TOOL_LIST_FILES:
                add_script(c, args, LIST);
                break;
        case TOOL_WRITE_FILE:
                add_script(c, args, WRITE);
                input = json_of(args, "content", JSON_STRING);
                break;
        case TOOL_DIFF:
        case TOOL_DOORS:
        case TOOL_PROPOSE_APPLY:
        case TOOL_SESSION_END:
        case TOOL_SESSION_NEW:
        case TOOL_WHY:
        case TOOL__COUNT:
                break;
        }
        c->input = input ? input->str : NULL;
        c->input_len = input ? input->len : 0;
}

/* Progress is told while output arrives, a few times a second. */
static void tell_progress(struct mcp_call *c)
{
        uint64_t now = clock_mono_ns();
        char message[64];
        if (!c->progress || !c->link || c->parked ||
            (c->told && now - c->told_ns < MCP_PROGRESS_MS * 1000000ull))
                return;

        AUTO_BUF(line);
        c->told_ns = now;
        (void) snprintf(message, sizeof message, "%llu bytes of output", (unsigned long long) c->bytes);
        mcp_put_progress(&line, c->progress, ++c->told, message);
        mcp_link_send(c->link, &line);
}

static void on_output(void *ctx, int stream, const void *data, size_t len)
{
        struct mcp_call *c = ctx;
        struct buf *b = &c->text[stream == 2];
        size_t room = b->n < MCP_OUTPUT_MAX ? MCP_OUTPUT_MAX - b->n : 0;
        c->bytes += len;
        c->cut |= len > room;
        buf_add(b, data, len < room ? len : room);
        tell_progress(c);
}

static int start_command(struct mcp_server *s, struct mcp_call *call, const struct command *c,
                         cordon_error *e)
{
        struct err *err = (struct err *) e;
        bool set = call->session ||
                   (cordon_box_set(call->box, CORDON_POOL, "auto") == 0 && mcp_box_set_up(s->o, call->box));
        if (!set || cordon_box_command(call->box, c->argv) < 0)
                return err_set(err, ERR_MEMORY, 0, "no memory for a run");

        call->input = c->input ? fd_memory("stdin", c->input, c->input_len) : -1;
        if (c->input && call->input < 0)
                return err_set(err, ERR_IO, errno, "no room for the input: %s", strerror(errno));

        cordon_box_stdio(call->box, 0, call->input);
        cordon_box_on_output(call->box, on_output, call);
        cordon_box_on_held(call->box, mcp_gate_held, &call->held);
        return cordon_box_start_async(call->box, e);
}

int mcp_call_start_run(struct mcp_server *s, struct mcp_call *call, const struct json *args, cordon_error *e)
{
        const struct json *seconds = json_of(args, "seconds", JSON_INT);
        struct command c = { 0 };
        make_command(call, args, &c);
        call->box = call->session ? cordon_session_run(call->session->box) : cordon_box_new(s->o->policy);
        if (!call->box)
                return err_set((struct err *) e, ERR_MEMORY, 0, "no memory for a run");

        cordon_box_share_checks(call->box, s->checks);
        if (seconds)
                call->deadline_ns = clock_mono_ns() + (uint64_t) seconds->integer * 1000000000u;
        return start_command(s, call, &c, e);
}
