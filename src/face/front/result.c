/* SPDX-License-Identifier: MIT */
/* face/front/result.c - the result of a run, as clients are told it. */
#include "base/base64.h"
#include "face/front/front.h"

const char *http_end(const cordon_result *r, const struct http_told *t)
{
        return t->timed_out ? "limit" : t->cancelled ? "cancelled" : cordon_end_name(r->end);
}

bool http_tells(const cordon_denial *d, int minor)
{
        return d->minor <= minor && cordon_denial_is_near(d->code, d->reason);
}

static void put_text(struct buf *out, const char *key, const struct buf *text, bool raw, uint64_t *cuts)
{
        uint64_t cut = 0;
        size_t n = 0;
        buf_key(out, key);
        if (raw) {
                buf_putc(out, '"');
                base64_put(span_of(buf_str(text), text->n), out);
                buf_putc(out, '"');
                return;
        }

        char *inert = cordon_inert(text->p, text->n, &n, &cut);
        buf_json(out, span_of(inert ? inert : "", inert ? n : 0));
        cordon_free(inert);
        *cuts += cut;
}

static void put_blocked(const cordon_result *r, const struct http_told *t, struct buf *out)
{
        size_t put = 0;
        buf_member_json(out, "blocked", "[");
        for (size_t i = 0; i < r->denial_count && put < t->most; i++) {
                const cordon_denial *d = &r->denials[i];
                if (!http_tells(d, t->minor))
                        continue;

                put++;
                buf_member_json(out, NULL, "{");
                buf_member(out, "effect", d->what);
                buf_member(out, "code", d->code);
                buf_member(out, "reason", d->reason);
                buf_member(out, "why", d->why);
                if (d->permit[0])
                        buf_member(out, "permit", d->permit);
                buf_member_int(out, "count", d->count);
                buf_putc(out, '}');
        }
        buf_putc(out, ']');
}

void http_put_error(const cordon_error *e, const char *hint, struct buf *out)
{
        buf_member_json(out, "error", "{");
        buf_member(out, "code", cordon_error_name(e->code));
        buf_member(out, "message", e->what);
        if (hint[0])
                buf_member(out, "hint", hint);
        buf_putc(out, '}');
}

void http_put_result(const cordon_result *r, const struct buf text[2], const struct http_told *t,
                     struct buf *out)
{
        uint64_t cuts = 0;
        const char *limit = t->timed_out ? t->clock : r->limit;
        if (limit[0])
                buf_member(out, "limit", limit);
        put_text(out, "stdout", &text[0], t->raw, &cuts);
        put_text(out, "stderr", &text[1], t->raw, &cuts);
        buf_member_bool(out, "truncated", t->cut || r->output_truncated);
        buf_member_int(out, "cut", (long long) cuts);
        put_blocked(r, t, out);
        if (r->error)
                http_put_error(r->error, t->hint, out);
}
