/* SPDX-License-Identifier: MIT */
/* broker/egress/http/scrub.c - replaces secrets in a stream by stars, byte for byte, wherever the stream is
 * cut, so that lengths stay right. The search: base/secret_words.c. Pure. */
#include "broker/egress/http/http_internal.h"

static void put_starred(struct scrub *s, struct span from, size_t stars, struct fifo *out)
{
        static const char row[] = "****************************************************************";
        if (!out)
                return;

        if (s->verbatim)
                from.n += stars, stars = 0;

        fifo_span(out, from);
        for (; stars; stars -= stars < sizeof row - 1 ? stars : sizeof row - 1)
                fifo_add(out, row, stars < sizeof row - 1 ? stars : sizeof row - 1);
}

/* How much of `in` is decided. */
static size_t scan_text(struct scrub *s, struct span in, bool end, struct fifo *out)
{
        struct secret_hit h = { 0 };
        size_t from = 0;

        if (in.n == 0)
                return 0;

        while (secret_words_next(s->set, in, from, end, !s->verbatim, &h)) {
                s->found |= UINT64_C(1) << h.word;
                put_starred(s, span_of(in.p + from, h.at - from), h.n, out);
                from = h.at + h.n;
        }

        put_starred(s, span_of(in.p + from, h.at - from), 0, out);
        return h.at;
}

void scrub_pass(struct scrub *s, struct span in, bool end, struct fifo *out)
{
        if (!s->set) {
                if (out)
                        fifo_span(out, in);
                return;
        }

        if (s->held.n == 0) {
                size_t n = scan_text(s, in, end, out);
                if (n < in.n)
                        fifo_add(&s->held, in.p + n, in.n - n);
        } else {
                fifo_span(&s->held, in);
                fifo_drop(&s->held, scan_text(s, fifo_all(&s->held), end, out));
        }

        if (s->held.failed && out)
                out->failed = true; /* bytes that could not be held cannot be checked */
}

void scrub_done(struct scrub *s) { fifo_done(&s->held); }

static bool words_fit(const struct span *words, const uint8_t *owner, size_t count)
{
        if (count > (owner ? SCRUB_WORDS_MAX : GRANTS_MAX))
                return false;

        for (size_t i = 0; i < count; i++)
                if (words[i].n < GRANT_SECRET_MIN || words[i].n > SCRUB_WORD_MAX ||
                    (owner && owner[i] >= GRANTS_MAX))
                        return false;

        return true;
}

struct secret_words *scrub_set_of(const struct span *words, const uint8_t *owner, size_t count)
{
        return words_fit(words, owner, count) ? secret_words_new(words, owner, count) : NULL;
}
