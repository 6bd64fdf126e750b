/* SPDX-License-Identifier: MIT */
/* run/api/api_apply_ask.c - an apply of an overlay whose `edit` doors have `ask`: shows a person the entries
 * and the beginning of the diff, and hands the approved digest to the apply. */
#include "base/json.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <stdlib.h>
#include <string.h>

enum { DIFF_SHOWN = 4096 };

struct head { /* of the diff */
        struct buf text;
        size_t bytes;
};

static void take_head(void *ctx, const void *p, size_t n)
{
        struct head *h = ctx;
        size_t room = h->text.n < DIFF_SHOWN ? DIFF_SHOWN - h->text.n : 0;
        buf_add(&h->text, p, n < room ? n : room);
        h->bytes += n;
}

static void put_inert_lines(struct buf *out, struct span text)
{
        char line[4 * DIFF_SHOWN + 1];
        for (size_t at = 0; at < text.n;) {
                const uint8_t *end = memchr(text.p + at, '\n', text.n - at);
                size_t n = end ? (size_t) (end - text.p) - at : text.n - at;
                buf_printf(out, "%s\n", str_inert(span_of(text.p + at, n), line, sizeof line));
                at += n + 1;
        }
}

static void put_head(const struct work_question *q, const struct head *h, struct buf *out)
{
        buf_putc(out, '\n');
        put_inert_lines(out, buf_span(&h->text));
        if (h->bytes > h->text.n)
                buf_printf(out, "(%zu bytes more of the diff: cordon diff %s)\n", h->bytes - h->text.n,
                           q->run);
}

static int put_diff(const struct work_question *q, const struct work_apply *a, struct buf *out, struct err *e)
{
        struct head h = { 0 };
        size_t n = 0, count;
        const char **paths = calloc(q->entries + 1, sizeof *paths);
        for (size_t at = 0; paths && at < q->paths.n && n < q->entries; at += strlen(paths[n++]) + 1)
                paths[n] = q->paths.p + at;

        const struct work_look look = {
                .cx = a->cx, .run = q->run, .paths = paths, .bare = true, .out = take_head, .out_ctx = &h
        };
        int r = !paths   ? err_set(e, ERR_MEMORY, 0, "no memory for the diff")
                : n == 0 ? 0
                         : work_diff(&look, &count, e);
        put_head(q, &h, out);
        out->failed |= h.text.failed;
        buf_done(&h.text);
        free(paths);
        return r;
}

static int put_shown(const struct work_question *q, const struct work_apply *a, struct buf *out,
                     struct err *e)
{
        char to[1024];
        buf_printf(out, "apply %zu %s", q->entries, q->entries == 1 ? "change" : "changes");
        if (q->flagged)
                buf_printf(out, " (%zu flagged)", q->flagged);

        buf_printf(out, " of the run %s", q->run);
        if (a->to)
                buf_printf(out, " to %s", str_inert(span_str(a->to), to, sizeof to));

        buf_putc(out, '\n');
        buf_add(out, q->text.p, q->text.n);
        buf_printf(out, "digest sha256:%s\n", q->digest);
        if (put_diff(q, a, out, e) < 0)
                return -1;
        return out->failed ? err_set(e, ERR_MEMORY, 0, "no memory for the changes") : 0;
}

/* ---- in a loop of the caller's ---- */

char *cordon_work_question(const cordon_context *cx, const cordon_work_apply_options *o, cordon_error *e)
{
        AUTO_BUF(out);
        AUTO_BUF(shown);
        struct work_question q = { 0 };
        const struct work_apply a = { .cx = cx,
                                      .run = o->run,
                                      .paths = o->paths,
                                      .but = o->all_but,
                                      .flagged = o->include_flagged != 0,
                                      .kinds = o->flagged,
                                      .to = o->to };
        int r = work_question(&a, &q, to_err(e));
        if (r == 0 && q.digest[0])
                r = put_shown(&q, &a, &shown, to_err(e));
        if (r == 0 && q.digest[0]) {
                buf_printf(&out, "{\"flagged\":%s", q.flagged ? "true" : "false");
                buf_member(&out, "run", q.run);
                buf_member(&out, "box", q.box);
                buf_member(&out, "policy", q.policy);
                buf_member(&out, "doors", buf_str(&q.asks));
                buf_member(&out, "digest", q.digest);
                buf_member(&out, "shown", buf_str(&shown));
                buf_member(&out, "people", buf_str(&q.people));
                if (o->to)
                        buf_member(&out, "to", o->to);
                buf_putc(&out, '}');
        }

        work_question_done(&q);
        return r < 0 ? NULL : api_give(&out, to_err(e));
}

struct cordon_question {
        struct json_doc *doc; /* owns the texts */
        struct box_apply ask;
        struct box *desk;
};

static const char *text_of(const struct cordon_question *q, const char *key)
{
        return json_str(json_root(q->doc), key);
}

/* As work_question() has them. */
static void add_people(struct gate_people *p, const char *numbers)
{
        for (size_t n; *numbers; numbers += n + (numbers[n] == ',')) {
                uint64_t person;
                n = strcspn(numbers, ",");
                if (str_to_u64(span_of(numbers, n), &person) == 0)
                        gate_people_add(p, person);
                else
                        p->n = UINT8_MAX; /* more than there is room for: everybody */
        }
}

static int read_question(struct cordon_question *q, const char *text, struct err *e)
{
        q->doc = json_parse("question", span_str(text), e);
        if (!q->doc)
                return -1;

        const struct json *flagged =
                json_root(q->doc)->type == JSON_OBJECT ? json_get(json_root(q->doc), "flagged") : NULL;
        if (!flagged)
                return err_set(e, ERR_USAGE, 0, "this is not a question of cordon_work_question()");

        q->ask.run = text_of(q, "run");
        q->ask.box = text_of(q, "box");
        q->ask.policy = text_of(q, "policy");
        q->ask.doors = text_of(q, "doors");
        q->ask.digest = text_of(q, "digest");
        q->ask.shown = text_of(q, "shown");
        q->ask.to = text_of(q, "to");
        const char *people = text_of(q, "people");
        add_people(&q->ask.askers, people && people[0] ? people : "*"); /* unknown: everybody */
        q->ask.flagged = flagged->type != JSON_FALSE;
        bool whole =
                q->ask.run && q->ask.box && q->ask.policy && q->ask.doors && q->ask.digest && q->ask.shown;
        return whole ? 0 : err_set(e, ERR_USAGE, 0, "this is not a question of cordon_work_question()");
}

cordon_question *cordon_question_open(const cordon_context *cx, const char *text, const char *const *people,
                                      cordon_error *e)
{
        struct cordon_question *q = calloc(1, sizeof *q);
        if (!q) {
                (void) err_set(to_err(e), ERR_MEMORY, 0, "no memory for a question");
                return NULL;
        }

        q->ask.cx = cx;
        for (; people && *people; people++)
                box_people_add(&q->ask.askers, *people);
        if (read_question(q, text, to_err(e)) == 0 && (q->desk = box_apply_open(&q->ask, to_err(e))))
                return q;

        cordon_question_free(q);
        return NULL;
}

int cordon_question_fd(const cordon_question *q) { return box_apply_fd(q->desk); }

int cordon_question_step(cordon_question *q, cordon_error *e) { return box_apply_step(q->desk, to_err(e)); }

const char *cordon_question_digest(const cordon_question *q) { return q->ask.digest; }

char *cordon_question_gate(cordon_question *q, const cordon_person *who, const char *request, cordon_error *e)
{
        return api_gate_request(q->desk, who, request, to_err(e));
}

void cordon_question_free(cordon_question *q)
{
        if (!q)
                return;

        box_apply_free(q->desk);
        json_free(q->doc);
        free(q);
}

/* ---- waiting here ---- */

int api_apply_ask(struct work_question *q, struct work_apply *a, const cordon_work_apply_options *o, bool off,
                  struct err *e)
{
        AUTO_BUF(shown);
        if (work_question(a, q, e) < 0)
                return -1;

        if (!q->digest[0])
                return 0;

        if (put_shown(q, a, &shown, e) < 0)
                return -1;

        struct box_apply ask = { .cx = a->cx,
                                 .run = q->run,
                                 .box = q->box,
                                 .policy = q->policy,
                                 .doors = buf_str(&q->asks),
                                 .to = a->to,
                                 .digest = q->digest,
                                 .shown = buf_str(&shown),
                                 .flagged = q->flagged > 0,
                                 .no_ledger = off,
                                 .on_held = { o->held, o->held_ctx } };
        add_people(&ask.askers, buf_str(&q->people));
        if (box_apply_ask(&ask, e) < 0)
                return -1;

        a->run = q->run;
        a->approved = q->digest;
        return 0;
}
