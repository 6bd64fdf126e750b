/* SPDX-License-Identifier: MIT */
/* files/work/apply/outcome.c - the result of an apply, an undo or a discard as one JSON object, also when
 * nothing was done. Uses the names of `diff --json` and `diff --list --json`. */
#include "files/work/internal.h"

static const char *state_after(const struct layer *l)
{
        static const char *const states[] = {
                [LAYER_OPEN] = "killed", [LAYER_SEALED] = "waiting", [LAYER_APPLIED] = "applied"
        };
        return states[l->state];
}

/* `state`: of the overlay, afterwards; NULL: its own. */
static void put_head(struct buf *out, const struct layer *l, const char *end, const char *state)
{
        buf_puts(out, "{\"version\":1");
        buf_member(out, "run", l ? l->run : NULL);
        buf_member(out, "box", l && l->box ? l->box : "");
        buf_puts(out, ",\"doors\":[");
        for (size_t i = 0; l && i < l->door_count; i++) {
                buf_puts(out, i ? ",{" : "{");
                json_path(out, "host", l->doors[i].host);
                buf_putc(out, '}');
        }

        buf_putc(out, ']');
        buf_member(out, "end", end);
        buf_member(out, "state", !l ? NULL : state ? state : state_after(l));
}

static int put_end(struct buf *out, int r, work_sink *sink, void *ctx, struct err *e)
{
        buf_member_json(out, "error", r < 0 ? "{" : "null");
        if (r < 0) {
                buf_member(out, "code", err_code_name((enum err_code) e->code));
                buf_member_int(out, "errno", e->sys);
                buf_member(out, "what", e->what);
                buf_member(out, "hint", e->hint);
                buf_putc(out, '}');
        }

        buf_putc(out, '}');
        if (out->failed)
                return r < 0 ? r : err_set(e, ERR_MEMORY, 0, "out of memory for the report");

        if (sink)
                sink(ctx, out->p, out->n);

        return r;
}

static void put_entry(struct buf *out, const struct entry *x, bool applied)
{
        buf_member_json(out, NULL, "{");
        buf_member_int(out, "door", x->door);
        json_path(out, "path", x->path);
        json_changes(out, x->what);
        json_flags(out, x->flags);
        json_apart(out, x->apart);
        buf_member_bool(out, "applied", applied);
        buf_member(out, "held", x->held);
        buf_member(out, "conflict", x->chosen ? x->conflict : NULL);
        buf_putc(out, '}');
}

int outcome_apply(const struct work_apply *a, const struct layer *l, const struct entries *v,
                  const struct work_outcome *got, int r, struct err *e)
{
        AUTO_BUF(out);
        bool done = r == 0 && got->applied > 0;
        put_head(&out, l,
                 r < 0            ? "failed"
                 : got->conflicts ? "refused"
                 : got->applied   ? "applied"
                 : got->held      ? "held back"
                                  : "nothing",
                 NULL);
        if (a->to)
                json_path(&out, "to", a->to);
        else
                buf_member(&out, "to", NULL);

        buf_printf(&out, ",\"applied\":%zu,\"held\":%zu,\"conflicts\":%zu,\"entries\":[",
                   done ? got->applied : 0, got->held, got->conflicts);
        for (size_t i = 0; i < v->n; i++)
                if (v->v[i].chosen || v->v[i].held)
                        put_entry(&out, &v->v[i], done && v->v[i].chosen);

        buf_putc(&out, ']');
        return put_end(&out, r, a->out, a->out_ctx, e);
}

static unsigned what_of(char kind)
{
        return kind == OP_PUT ? WHAT_ADDED : kind == OP_TAKE ? WHAT_DELETED : WHAT_CONTENT;
}

int outcome_undo(const struct work_undo *u, const struct layer *l, const struct journal *j,
                 const struct work_outcome *got, int r, struct err *e)
{
        AUTO_BUF(out);
        bool done = r == 0 && got->conflicts == 0;
        put_head(&out, l, r < 0 ? "failed" : done ? "taken back" : "refused", NULL);
        buf_printf(&out, ",\"undone\":%zu,\"conflicts\":%zu,\"entries\":[", done ? got->applied : 0,
                   got->conflicts);
        for (size_t i = 0; j && i < j->n; i++) {
                const struct op *o = &j->ops[i];
                if (o->again)
                        continue;
                buf_member_json(&out, NULL, "{");
                buf_member_int(&out, "door", o->door);
                json_path(&out, "path", o->path);
                json_changes(&out, what_of(o->kind));
                buf_member_bool(&out, "undone", done);
                buf_member(&out, "conflict", o->conflict);
                buf_putc(&out, '}');
        }

        buf_putc(&out, ']');
        return put_end(&out, r, u->out, u->out_ctx, e);
}

int outcome_discard(const struct work_undo *u, const struct layer *l, int r, struct err *e)
{
        AUTO_BUF(out);
        put_head(&out, l, r < 0 ? "failed" : "discarded", r == 0 ? "gone" : r == 2 ? "kept" : NULL);
        return put_end(&out, r, u->out, u->out_ctx, e);
}
