/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_search.c - looks for canaries and misplaced placeholders in what leaves, whichever
 * way the client packed it. Bytes that cannot be searched do not leave; all others leave as they came. Pure.
 */
#include "broker/egress/http/http_internal.h"

enum { GROWTH_MAX = 256, GROWTH_FREE = 1 << 20 }; /* a bomb costs more to search than to send */

static enum effect_reason search_fault(struct http_search *s, const char *text)
{
        s->fault = text;
        return REASON_BODY_PACKED;
}

/* A body of AWS in signed chunks is plain. */
static bool is_chunks_of_aws(const struct http_head *h)
{
        const struct http_field *c = http_field_find(h, "content-encoding", NULL);
        return c && http_name_is(http_trim(c->value), "aws-chunked") &&
               !http_field_find(h, "content-encoding", c);
}

enum effect_reason http_search_begin(struct http_search *s, const struct http_flow *f, bool shown)
{
        const struct http_rules *r = f->r;
        enum unpack_kind kind = UNPACK_NONE;
        bool searched = r->in.credential_count > 0 || r->in.canaries;
        *s = (struct http_search){ .r = r,
                                   .fine = http_rules_credentials_at(r, f->to.host),
                                   .look = { .set = r->placeholders, .verbatim = true },
                                   .watch = { .set = r->in.canaries, .verbatim = true } };
        if (!searched && !shown)
                return REASON_NONE;

        if (!http_sight_begin(&s->sight, &f->head) || !http_sight_query(f->url.query))
                return search_fault(s, "its messages may be compressed");

        if (!http_unpack_kind(&f->head, &kind) && !is_chunks_of_aws(&f->head))
                return search_fault(s, "twice, or in another way than gzip, deflate, br or zstd");

        s->unpack = kind == UNPACK_NONE ? NULL : unpack_new(kind);
        return kind == UNPACK_NONE || s->unpack ? REASON_NONE
                                                : search_fault(s, "this build cannot unpack it");
}

static enum effect_reason look_at(struct http_search *s, struct span in, bool end, struct fifo *out)
{
        if (!http_sight_pass(&s->sight, in))
                return search_fault(s, "a message or part in it is");

        scrub_pass(&s->watch, in, end, NULL);
        if (s->watch.found)
                return REASON_CANARY;

        scrub_pass(&s->look, in, end, out);
        s->abused = s->look.found & ~s->fine;
        return s->abused ? REASON_PLACEHOLDER_IN_BODY : REASON_NONE;
}

static enum effect_reason look_into(struct http_search *s, struct span in, bool end)
{
        enum effect_reason why = REASON_NONE;
        enum unpack_state state = UNPACK_MORE;
        for (size_t at = 0; !why && (at < in.n || state == UNPACK_FULL);) {
                size_t used;
                struct span data;
                state = unpack_pass(s->unpack, span_of(in.p + at, in.n - at), &used, &data);
                at += used;
                s->in += used;
                s->out += data.n;
                if (state == UNPACK_BAD)
                        return search_fault(s, "it is damaged, or something follows its end");
                if (s->out > GROWTH_FREE + GROWTH_MAX * s->in)
                        return search_fault(s, "it grows to more than 256 times its size");
                why = look_at(s, data, false, NULL);
        }

        return why || !end ? why : look_at(s, (struct span){ 0 }, true, NULL);
}

enum effect_reason http_search_pass(struct http_search *s, struct span in, bool end, struct fifo *out)
{
        if (!s->unpack)
                return look_at(s, in, end, out);

        enum effect_reason why = look_into(s, in, end);
        if (!why && out)
                fifo_span(out, in);
        return why;
}

void http_search_done(struct http_search *s)
{
        unpack_free(s->unpack);
        scrub_done(&s->look);
        scrub_done(&s->watch);
        *s = (struct http_search){ 0 };
}
