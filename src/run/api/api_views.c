/* SPDX-License-Identifier: MIT */
/* run/api/api_views.c - a checked policy as its reader wants it: doors, lines, JSON, notes, and beside
 * another one.
 */
#include "base/str.h"
#include "run/api/internal.h"

#include <errno.h>
#include <stdio.h>

/* -1 with the reason for which a start with these doors would be refused, by the same decider; nothing is
 * started and nothing made. */
static int would_start(cordon_policy *p, struct err *e)
{
        struct dry_box d;
        int r = api_dry_box(p, &d, e);
        api_dry_done(&d);
        return r;
}

struct notes_out {
        struct buf *out;
        bool json;
        unsigned count;
};

static void note_text(void *ctx, const struct policy_note *t)
{
        struct notes_out *o = ctx;
        char at[256];
        if (!o->json) {
                buf_printf(o->out, "%s: %s: %s\n", policy_place(&t->at, at, sizeof at), t->code, t->text);
                return;
        }

        buf_printf(o->out, "%s{\"code\":\"%s\",\"level\":\"%c\",\"file\":", o->count++ ? "," : "", t->code,
                   t->level);
        buf_json(o->out, span_str(t->at.file));
        buf_printf(o->out, ",\"line\":%u,\"column\":%u,\"text\":", t->at.line, t->at.column);
        buf_json(o->out, span_str(t->text));
        buf_putc(o->out, '}');
}

/* A cause that stops the start on every host is an error of the policy. A cause that stops it only here and
 * now is a note: a policy may be written for another host, or before its files exist. */
static int note_start(cordon_policy *p, struct notes_out *o, struct err *e)
{
        struct err why = { 0 };
        struct policy_note n = { .level = 'W', .code = "W133", .at = { .file = "this host" } };
        if (would_start(p, &why) == 0)
                return 0;

        if (why.code != ERR_DOOR && why.code != ERR_HOST) {
                *e = why;
                return -1;
        }

        if (why.code == ERR_HOST && !wall_has(policy_wall(p->checked), WALL_OWN_ROOT))
                return 0; /* W132 reported it, with the line */

        char text[sizeof n.text];
        (void) snprintf(text, sizeof text, "this box cannot start on this host: %s%s%s", why.what,
                        why.hint[0] ? "; " : "", why.hint);
        (void) str_inert(span_str(text), n.text, sizeof n.text);
        note_text(o, &n);
        return 0;
}

/* The box starts, and every request to such a place is denied: its destinations in other stages do not help.
 */
static bool leads_nowhere(const struct policy_staged *s, const char *place)
{
        return s->stage != POLICY_STAGE_MOCK && policy_place_asked(s->places, place, s->stage) &&
               !policy_place_target(s->places, place, s->stage);
}

static void note_nowhere(const cordon_policy *p, struct notes_out *o)
{
        const struct policy_staged *s = api_staged(p);
        const char *stage = policy_stage_name(s ? s->stage : POLICY_STAGE_LIVE);

        for (const struct door *d = NULL; (d = policy_door_next(p->checked, d));) {
                struct policy_note t = { .level = 'W', .code = "W139", .at = d->at };
                const char *place = d->net.host;
                if (d->kind != DOOR_NET || d->net.form != NET_PLACE || (s && !leads_nowhere(s, place)))
                        continue;
                if (s)
                        (void) snprintf(
                                t.text, sizeof t.text,
                                "@%.60s leads nowhere in the stage %s, so every request to it is refused: "
                                "`place %.60s %s https://HOST/` in the places file says where",
                                place, stage, place, stage);
                else
                        (void) snprintf(
                                t.text, sizeof t.text,
                                "this box starts only with a places file that has a line `place %.60s live "
                                "https://HOST/`: check it with --places FILE",
                                place);
                note_text(o, &t);
        }
}

static int notes_text(cordon_policy *p, struct buf *out, bool json, struct err *e)
{
        size_t n;
        struct notes_out o = { out, json, 0 };
        const struct checked_policy *c = p->checked;
        const struct policy_note *notes = policy_notes(c, &n);

        if (json)
                buf_putc(out, '[');

        for (size_t i = 0; i < n; i++)
                note_text(&o, &notes[i]);

        note_nowhere(p, &o);
        enum policy_stage stage = p->has_stage ? p->staged.stage : POLICY_STAGE_LIVE;
        if (api_vault_notes(p->cx, c, stage, note_text, &o, e) < 0 || note_start(p, &o, e) < 0)
                return -1;

        if (json)
                buf_puts(out, "]\n");

        return 0;
}

char *cordon_policy_view(cordon_policy *p, cordon_view view, cordon_error *e)
{
        AUTO_BUF(out);
        if (cordon_policy_check(p, e) < 0)
                return NULL;

        switch (view) {
        case CORDON_VIEW_DOORS:
        case CORDON_VIEW_DOORS_ALL:
                policy_doors_text(p->checked, api_staged(p), view == CORDON_VIEW_DOORS_ALL, &out);
                break;
        case CORDON_VIEW_DOORS_JSON:
                policy_doors_json(p->checked, api_staged(p), &out);
                break;
        case CORDON_VIEW_LINES:
                policy_show(p->checked, &out);
                break;
        case CORDON_VIEW_JSON:
                policy_json(p->checked, &out);
                break;
        case CORDON_VIEW_CANONICAL:
                policy_canonical_json(p->checked, &out);
                break;
        case CORDON_VIEW_DIGEST:
                out.failed = !policy_digest(p->checked)[0];
                buf_printf(&out, "%s\n", policy_digest(p->checked));
                break;
        case CORDON_VIEW_NOTES:
                if (notes_text(p, &out, false, to_err(e)) < 0)
                        return NULL;
                break;
        case CORDON_VIEW_NOTES_JSON:
                if (notes_text(p, &out, true, to_err(e)) < 0)
                        return NULL;
                break;
        }
        return api_give(&out, to_err(e));
}

char *cordon_plan(cordon_policy *const *boxes, size_t count, int json, cordon_error *e)
{
        AUTO_BUF(out);
        const struct checked_policy *c[POLICY_PLAN_MAX];
        for (size_t i = 0; i < count && i < POLICY_PLAN_MAX; i++) {
                if (cordon_policy_check(boxes[i], e) < 0)
                        return NULL;
                c[i] = boxes[i]->checked;
        }

        if (count == 0 || count > POLICY_PLAN_MAX) {
                (void) err_set(to_err(e), ERR_USAGE, 0, "a plan has 1 to %d boxes", POLICY_PLAN_MAX);
                return NULL;
        }

        policy_plan(c, count, json != 0, &out);
        return api_give(&out, to_err(e));
}

char *cordon_policy_diff(cordon_policy *a, cordon_policy *b, int *ret_order, cordon_error *e)
{
        AUTO_BUF(out);
        if (cordon_policy_check(a, e) < 0 || cordon_policy_check(b, e) < 0)
                return NULL;
        *ret_order = (int) policy_diff(a->checked, b->checked, &out);
        return api_give(&out, to_err(e));
}
