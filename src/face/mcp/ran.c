/* SPDX-License-Identifier: MIT */
/* face/mcp/ran.c - the result of a run as the answer of a tool. */
#include "face/mcp/internal.h"

#include <string.h>

enum { BLOCKED_MAX = 16 };

static void put_steps(const cordon_result *r, int minor, struct buf *out)
{
        AUTO_BUF(step);
        size_t told = 0;
        bool gates = false;
        for (size_t i = 0; i < r->denial_count; i++) {
                const cordon_denial *d = &r->denials[i];
                gates |= strncmp(d->reason, "gate-", 5) == 0;
                if (!d->permit[0] || !http_tells(d, minor) || told++ >= BLOCKED_MAX)
                        continue;

                step.n = 0;
                buf_printf(&step, "the person who runs this server can add the door: %s", d->permit);
                buf_member(out, NULL, buf_str(&step));
        }

        if (gates) /* something waited, and nobody approved it */
                buf_member(out, NULL,
                           "a person approves it with `cordon approve` at a terminal, while the call waits");
        if (r->error && r->error->hint[0])
                buf_member(out, NULL, r->error->hint);
}

/* Denials that programs do without are left out of a success. */
bool mcp_ran(struct mcp_call *c, struct buf *out)
{
        const cordon_result *r = cordon_box_result(c->box);
        int status = c->timed_out ? 124 : cordon_result_status(r);
        const struct http_told t = { .timed_out = c->timed_out,
                                     .clock = "seconds",
                                     .cut = c->cut,
                                     .minor = status != 0,
                                     .most = BLOCKED_MAX,
                                     .hint = r->error ? r->error->hint : "" };
        buf_putc(out, '{');
        buf_member_int(out, "status", status);
        buf_member(out, "end", http_end(r, &t));
        http_put_result(r, c->text, &t, out);
        buf_member(out, "run", cordon_box_run_id(c->box));
        buf_member_json(out, "next_steps", "[");
        put_steps(r, t.minor, out);
        buf_puts(out, "]}");
        return status != 0;
}
