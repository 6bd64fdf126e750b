/* SPDX-License-Identifier: MIT */
/* face/mcp/wrap_accept.c - `cordon mcp accept`: what a server offers that was not accepted, for a person to
 * read.
 */
#include "face/mcp/wrap.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

static void put_line(struct buf *out, const char *mark, const struct json *tool)
{
        AUTO_BUF(text);
        uint64_t cuts;
        size_t n = 0;
        if (!tool)
                return;

        wrap_put_sorted(&text, tool);
        char *inert = cordon_inert(text.p, text.n, &n, &cuts);
        buf_printf(out, "%s ", mark);
        buf_add(out, inert, inert ? n : 0);
        buf_putc(out, '\n');
        cordon_free(inert);
}

/* A text that tells a model what to do is named beside the change. */
static void put_finding(const cordon_context *cx, struct buf *out, const char *name, const char *text)
{
        if (text && wrap_commands_model(cx, text))
                buf_printf(out, "! %s: this text tells the model what to do\n", name);
}

static void put_changes(const cordon_context *cx, const struct wrap_pins *before,
                        const struct wrap_pins *after, struct buf *out)
{
        const struct json *tools = json_of(json_root(after->doc), "tools", JSON_ARRAY);
        const char *instructions = json_str(json_root(after->doc), "instructions");
        for (const struct json *t = tools ? tools->child : NULL; t; t = t->next) {
                if (wrap_pins_judge(before, t) == PIN_SAME || !json_str(t, "name"))
                        continue;
                put_line(out, "-", wrap_pins_find(before, json_str(t, "name")));
                put_line(out, "+", t);
                put_finding(cx, out, wrap_tool_name_ok(json_str(t, "name")) ? json_str(t, "name") : "a tool",
                            json_str(t, "description"));
        }
        if (instructions && !wrap_pins_instructions(before, instructions)) {
                put_line(out, "-", before->doc ? json_get(json_root(before->doc), "instructions") : NULL);
                put_line(out, "+", json_get(json_root(after->doc), "instructions"));
                put_finding(cx, out, "instructions", instructions);
        }
}

static int accept_it(const cordon_context *cx, const char *name, const char *fresh, const char *text,
                     cordon_error *e)
{
        return cordon_pins_write(cx, name, text, e) < 0 || cordon_pins_write(cx, fresh, NULL, e) < 0 ? -1 : 0;
}

char *mcp_wrap_changes(const cordon_context *cx, const char *name,
                       int (*agree)(const char *shown, cordon_error *e), cordon_error *e)
{
        char fresh[80];
        (void) snprintf(fresh, sizeof fresh, "%s.new", name);
        char *old = cordon_pins_read(cx, name, e), *now = old ? cordon_pins_read(cx, fresh, e) : NULL;
        struct wrap_pins before = { 0 }, after = { 0 };
        AUTO_BUF(out);
        char *text = NULL;
        if (now && now[0] == '\0')
                (void) err_set((struct err *) e, ERR_GONE, 0, "nothing of %s waits to be accepted", name);
        else if (now && wrap_pins_load(&after, now) < 0)
                (void) err_set((struct err *) e, ERR_IO, 0, "what %s offers cannot be read", name);
        else if (now) {
                (void) wrap_pins_load(&before, old);
                put_changes(cx, &before, &after, &out);
                buf_putc(&out, '\0');
                if (out.failed)
                        (void) err_set((struct err *) e, ERR_MEMORY, 0, "no memory for the changes");
                else if (!agree || (agree(out.p, e) == 0 && accept_it(cx, name, fresh, now, e) == 0)) {
                        text = out.p;
                        out.p = NULL;
                }
        }
        wrap_pins_done(&before);
        wrap_pins_done(&after);
        cordon_free(old);
        cordon_free(now);
        return text;
}
