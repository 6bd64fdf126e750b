/* SPDX-License-Identifier: MIT */
/* face/mcp/answers.c - the answers of tools. */
#include "face/mcp/answers.h"

#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 2000, DAY_S = 86400, HOUR_S = 3600 };

/* ---- views of the policy ---- */

/* JSON of the library may have several lines, and a message has one. */
static void put_one_line(struct buf *out, const char *json)
{
        for (; *json; json++)
                buf_putc(out, *json == '\n' ? ' ' : *json);
}

static int answer_why(struct mcp_server *s, struct mcp_call *c, const struct json *args, cordon_error *e)
{
        AUTO_BUF(out);
        int allowed = 0;
        char *text = cordon_policy_why(s->o->policy, json_str(args, "effect"), CORDON_WHY_JSON_INSIDE,
                                       &allowed, e);
        if (!text)
                return -1;

        buf_printf(&out, "{\"allowed\":%s,\"decision\":", allowed ? "true" : "false");
        put_one_line(&out, text);
        buf_puts(&out, ",\"next_steps\":[]}");
        cordon_free(text);
        mcp_call_end(s, c, false, &out);
        return 0;
}

static int answer_doors(struct mcp_server *s, struct mcp_call *c, cordon_error *e)
{
        AUTO_BUF(out);
        char *text = cordon_policy_view(s->o->policy, CORDON_VIEW_DOORS_JSON, e);
        if (!text)
                return -1;

        buf_puts(&out, "{\"doors\":");
        put_one_line(&out, text);
        buf_puts(&out, ",\"next_steps\":[]}");
        cordon_free(text);
        mcp_call_end(s, c, false, &out);
        return 0;
}

/* ---- changes ---- */

static void collect_text(void *ctx, const void *data, size_t len)
{
        struct buf *b = ctx;
        size_t room = b->n < MCP_DIFF_MAX ? MCP_DIFF_MAX - b->n : 0;
        buf_add(b, data, len < room ? len : room);
}

static int answer_diff(struct mcp_server *s, struct mcp_call *c, cordon_error *e)
{
        AUTO_BUF(text);
        AUTO_BUF(out);
        size_t entries = 0, n = 0;
        uint64_t cuts;
        if (c->session) {
                (void) err_set((struct err *) e, ERR_USAGE, 0, "the session still runs");
                return err_hint((struct err *) e,
                                "end it with session_end, then call diff again with the same handle");
        }

        cordon_work_diff_options o = { .run = c->run, .out = collect_text, .out_ctx = &text };
        if (cordon_work_diff(s->o->cx, &o, &entries, e) < 0)
                return -1;

        char *inert = cordon_inert(text.p, text.n, &n, &cuts);
        buf_puts(&out, "{\"diff\":");
        buf_json(&out, span_of(inert ? inert : "", n));
        buf_printf(&out, ",\"changes\":%zu,\"truncated\":%s,\"next_steps\":[]}", entries,
                   text.n >= MCP_DIFF_MAX ? "true" : "false");
        cordon_free(inert);
        mcp_call_end_checked(s, c, false, &out);
        return 0;
}

int mcp_answer_now(struct mcp_server *s, struct mcp_call *c, const struct json *args, cordon_error *e)
{
        enum mcp_tool_id id = mcp_tool_id(c->tool);
        return id == TOOL_WHY     ? answer_why(s, c, args, e)
               : id == TOOL_DOORS ? answer_doors(s, c, e)
                                  : answer_diff(s, c, e);
}

/* ---- sessions ---- */

static unsigned long long seconds_of(const char *text, unsigned otherwise)
{
        uint64_t ms;
        return text && str_to_ms(span_str(text), &ms) == 0 ? ms / 1000 : otherwise;
}

void mcp_answer_session(struct mcp_server *s, struct mcp_call *c)
{
        AUTO_BUF(out);
        buf_putc(&out, '{');
        buf_member(&out, "session", c->session->handle);
        buf_printf(&out, ",\"idle_seconds\":%llu,\"seconds\":%llu,\"next_steps\":[]}",
                   seconds_of(s->o->session_idle, HOUR_S), seconds_of(s->o->session_time, DAY_S));
        mcp_call_end(s, c, false, &out);
}

void mcp_answer_ended(struct mcp_server *s, struct mcp_call *c)
{
        AUTO_BUF(out);
        const cordon_result *r = cordon_box_result(c->session->box);
        buf_putc(&out, '{');
        buf_member(&out, "run", cordon_box_run_id(c->session->box));
        buf_printf(&out, ",\"changes\":%zu,\"next_steps\":[", r->work_entries);
        if (r->work_entries) {
                AUTO_BUF(step);
                buf_printf(&step, "a person can review and apply the changes: cordon diff %s", r->work);
                buf_json(&out, buf_span(&step));
        }
        buf_puts(&out, "]}");
        mcp_call_end(s, c, false, &out);
}

/* ---- runs ---- */

static void answer_content(struct mcp_server *s, struct mcp_call *c)
{
        AUTO_BUF(out);
        size_t n = 0;
        uint64_t cuts = 0;
        char *inert = cordon_inert(c->text[0].p, c->text[0].n, &n, &cuts);
        buf_puts(&out, "{\"content\":");
        buf_json(&out, span_of(inert ? inert : "", n));
        buf_printf(&out, ",\"truncated\":%s,\"cut\":%llu,\"next_steps\":[]}", c->cut ? "true" : "false",
                   (unsigned long long) cuts);
        cordon_free(inert);
        mcp_call_end_checked(s, c, false, &out);
}

static const char *name_of(const char *line)
{
        const char *slash = strchr(line, '/');
        return slash ? slash + 1 : line;
}

static int by_name(const void *a, const void *b)
{
        return strcmp(name_of(*(const char *const *) a), name_of(*(const char *const *) b));
}

/* "TYPE/NAME", each with a NUL. Anything else that a box prints is left out. */
static size_t split_names(const struct buf *text, const char **ret)
{
        size_t n = 0;
        const char *p = text->p, *end = p + text->n;
        for (const char *stop; p && p < end && n < FILES_MAX && (stop = memchr(p, '\0', (size_t) (end - p)));
             p = stop + 1)
                if (strchr(p, '/'))
                        ret[n++] = p;
        qsort(ret, n, sizeof *ret, by_name);
        return n;
}

static void answer_list(struct mcp_server *s, struct mcp_call *c)
{
        AUTO_BUF(out);
        const char *names[FILES_MAX] = { NULL };
        size_t n = split_names(&c->text[0], names);
        buf_puts(&out, "{\"files\":[");
        for (size_t i = 0; i < n; i++) {
                char inert[1100];
                const char *name = name_of(names[i]);
                buf_member_json(&out, NULL, "{");
                buf_member(&out, "name", str_inert(span_str(name), inert, sizeof inert));
                buf_key(&out, "type");
                buf_json(&out, span_of(names[i], (size_t) (name - names[i] - 1)));
                buf_putc(&out, '}');
        }
        buf_printf(&out, "],\"truncated\":%s,\"next_steps\":[]}",
                   c->cut || n == FILES_MAX ? "true" : "false");
        mcp_call_end_checked(s, c, false, &out);
}

static void answer_written(struct mcp_server *s, struct mcp_call *c)
{
        struct err ignored;
        AUTO_BUF(out);
        struct json_doc *d = json_parse_data("arguments", span_str(c->args), &ignored);
        const struct json *content = d ? json_of(json_root(d), "content", JSON_STRING) : NULL;
        buf_printf(&out, "{\"bytes\":%zu,\"next_steps\":[]}", content ? content->len : 0);
        json_free(d);
        mcp_call_end(s, c, false, &out);
}

void mcp_answer_run(struct mcp_server *s, struct mcp_call *c)
{
        AUTO_BUF(out);
        enum mcp_tool_id id = mcp_tool_id(c->tool);
        bool failed = mcp_ran(c, &out);
        if (!failed && id == TOOL_READ_FILE) {
                answer_content(s, c);
                return;
        }
        if (!failed && id == TOOL_LIST_FILES) {
                answer_list(s, c);
                return;
        }
        if (!failed && id == TOOL_WRITE_FILE) {
                answer_written(s, c);
                return;
        }
        mcp_call_end_checked(s, c, failed, &out);
}
