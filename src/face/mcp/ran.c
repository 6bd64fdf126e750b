/* SPDX-License-Identifier: MIT */
/* face/mcp/ran.c - the result of a run as the answer of a tool. */
#include "face/mcp/internal.h"

#include <string.h>

enum { BLOCKED_MAX = 16 };

static const char *const ends[] = {
        [CORDON_RUNNING] = "running", [CORDON_FAILED] = "failed",     [CORDON_NOT_STARTED] = "not-started",
        [CORDON_EXITED] = "exited",   [CORDON_SIGNALED] = "signaled", [CORDON_LIMIT] = "limit"
};

/* Text of a box, with hidden characters and escape sequences made visible. */
static void put_text(struct buf *out, const char *key, const struct buf *text, uint64_t *cuts)
{
        uint64_t cut = 0;
        size_t n = 0;
        char *inert = cordon_inert(text->p, text->n, &n, &cut);
        buf_printf(out, ",\"%s\":", key);
        buf_json(out, span_of(inert ? inert : "", inert ? n : 0));
        cordon_free(inert);
        *cuts += cut;
}

static void put_blocked(const cordon_denial *d, struct buf *out)
{
        buf_puts(out, "{\"effect\":");
        buf_json(out, span_str(d->what));
        buf_member(out, "reason", d->reason);
        buf_member(out, "why", d->why);
        if (d->permit[0])
                buf_member(out, "permit", d->permit);
        buf_printf(out, ",\"count\":%u}", d->count);
}

/* Those that programs do without are left out of a success; what tells of the host, always. */
static void put_denials(const cordon_result *r, int minor, struct buf *out, struct buf *steps)
{
        const char *comma = "";
        size_t told = 0;
        buf_puts(out, ",\"blocked\":[");
        for (size_t i = 0; i < r->denial_count && told < BLOCKED_MAX; i++) {
                const cordon_denial *d = &r->denials[i];
                if (d->minor > minor || !cordon_denial_is_near(d->code, d->reason))
                        continue;

                buf_puts(out, comma);
                put_blocked(d, out);
                comma = ",";
                if (d->permit[0] && told++ < BLOCKED_MAX) {
                        AUTO_BUF(step);
                        buf_printf(&step, "the person who runs this server can add the door: %s", d->permit);
                        buf_puts(steps, steps->n ? "," : "");
                        buf_json(steps, buf_span(&step));
                }
        }
        buf_putc(out, ']');
}

static void put_error(const cordon_error *e, struct buf *out, struct buf *steps)
{
        buf_puts(out, ",\"error\":{\"code\":");
        buf_json(out, span_str(cordon_error_name(e->code)));
        buf_member(out, "message", e->what);
        if (e->hint[0]) {
                buf_member(out, "hint", e->hint);
                buf_puts(steps, steps->n ? "," : "");
                buf_json(steps, span_str(e->hint));
        }
        buf_putc(out, '}');
}

/* Something waited, and nobody approved it. */
static void put_gates(const cordon_result *r, struct buf *steps)
{
        size_t i = 0;
        while (i < r->denial_count && strncmp(r->denials[i].reason, "gate-", 5) != 0)
                i++;
        if (i == r->denial_count)
                return;

        buf_puts(steps, steps->n ? "," : "");
        buf_json(steps,
                 span_str("a person approves it with `cordon approve` at a terminal, while the call waits"));
}

bool mcp_ran(struct mcp_call *c, struct buf *out)
{
        AUTO_BUF(steps);
        uint64_t cuts = 0;
        const cordon_result *r = cordon_box_result(c->box);
        int status = c->timed_out ? 124 : cordon_result_status(r);
        buf_printf(out, "{\"status\":%d", status);
        buf_member(out, "end", c->timed_out ? "limit" : ends[r->end]);
        if (c->timed_out || r->limit[0])
                buf_member(out, "limit", c->timed_out ? "seconds" : r->limit);

        put_text(out, "stdout", &c->text[0], &cuts);
        put_text(out, "stderr", &c->text[1], &cuts);
        buf_printf(out, ",\"truncated\":%s,\"cut\":%llu", c->cut || r->output_truncated ? "true" : "false",
                   (unsigned long long) cuts);
        buf_member(out, "run", cordon_box_run_id(c->box));
        put_denials(r, status != 0, out, &steps);
        put_gates(r, &steps);
        if (r->error)
                put_error(r->error, out, &steps);
        buf_printf(out, ",\"next_steps\":[%s]}", buf_str(&steps));
        return status != 0;
}
