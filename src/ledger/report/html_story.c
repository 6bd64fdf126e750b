/* SPDX-License-Identifier: MIT */
/* ledger/report/html_story.c - one run as a picture, as the page of `cordon serve` draws it: what came in,
 * the box, what it did or tried, what was stopped at the wall, and a line of time. Links lead to rows of the
 * table: no script. Pure. */
#include "ledger/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
        SIDE_MAX = 14,
        PROGRAMS_MAX = 6,
        GAP = 54,
        WIDTH = 1100,
        IN_W = 290,
        BOX_X = 340,
        BOX_W = 370,
        OUT_X = 760
};

struct item {
        struct ledger_view v;
        uint64_t at;
        size_t program;
        int y;
};
struct story {
        struct buf *out;
        struct item ins[SIDE_MAX], outs[SIDE_MAX];
        size_t in_count, out_count, left_out;
        struct span programs[PROGRAMS_MAX];
        size_t program_count;
        int height;
};

void html_text(struct buf *out, struct span escaped, size_t most)
{
        char shown[1024];
        (void) text_inert(escaped, shown, most < sizeof shown ? most : sizeof shown);
        for (const char *c = shown; *c; c++) {
                static const char special[] = "<>&\"'";
                static const char *const names[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&#39;" };
                const char *k = strchr(special, *c);
                if (k)
                        buf_puts(out, names[k - special]);
                else
                        buf_putc(out, *c);
        }
}

/* ---- who is in it ---- */

static bool is_denied(const struct ledger_view *v) { return span_is(v->phase, "denied"); }
static bool is_gate(const struct ledger_view *v) { return span_is(v->kind, "gate"); }

/* The order of effects, those that were stopped first; -1: it is none. A question is in its answer. */
static int rank(const struct ledger_view *v)
{
        if (span_is(v->kind, "start") || span_is(v->kind, "end") || span_is(v->kind, "view") ||
            span_is(v->phase, "intent") || span_is(v->phase, "claim") ||
            (is_denied(v) &&
             ledger_member(v->more, "minor").n > 0)) /* programs get over it: the table has it */
                return -1;
        return is_denied(v) ? 0 : is_gate(v) ? 1 : span_is(v->kind, "output") ? 3 : 2;
}

static size_t program_of(struct story *s, const struct ledger_view *v)
{
        struct span name = ledger_member(v->more, "program");
        for (size_t i = 0; i < s->program_count; i++)
                if (span_eq(s->programs[i], name))
                        return i;
        if (name.n == 0 || s->program_count == PROGRAMS_MAX)
                return 0;

        s->programs[s->program_count] = name;
        return s->program_count++;
}

static void add(struct item *side, size_t *count, const struct ledger_view *v, uint64_t at)
{
        if (*count < SIDE_MAX)
                side[(*count)++] = (struct item){ .v = *v, .at = at };
}

static void gather(struct story *s, const struct log_run *of)
{
        struct ledger_view v;
        size_t effects = 0;
        s->programs[s->program_count++] = of->start.target;
        for (struct ledger_walk w = of->first; ledger_next(&w, &v);)
                if (span_is(v.phase, "claim") && !is_gate(&v))
                        add(s->ins, &s->in_count, &v, w.at - 1);
        for (int r = 0; r < 4; r++)
                for (struct ledger_walk w = of->first; ledger_next(&w, &v);)
                        if (rank(&v) == r) {
                                effects++;
                                add(s->outs, &s->out_count, &v, w.at - 1);
                        }

        s->left_out = effects - s->out_count;
        for (size_t i = 0; i < s->out_count; i++)
                s->outs[i].program = program_of(s, &s->outs[i].v);
        size_t most = s->in_count > s->out_count ? s->in_count : s->out_count;
        s->height = (int) (most > 3 ? most : 3) * GAP;
}

static void place(const struct story *s, struct item *side, size_t count)
{
        for (size_t i = 0; i < count; i++)
                side[i].y = 28 + (s->height - (int) count * GAP) / 2 + (int) i * GAP + 22;
}

/* ---- drawn ---- */

static const char *class_of(const struct ledger_view *v)
{
        return is_denied(v) ? "deny" : is_gate(v) ? "ask" : "";
}
static int pill_x(const struct story *s, size_t i)
{
        return s->program_count == 1 ? BOX_X + BOX_W / 2 - 45 : i ? BOX_X + BOX_W - 120 : BOX_X + 30;
}
static int pill_y(const struct story *s, size_t i)
{
        return i ? 28 + s->height * (int) i / (int) s->program_count : 28 + s->height / 2;
}

static void put_way(struct story *s, const char *class, const int from[2], const int to[2])
{
        int middle = (from[0] + to[0]) / 2;
        buf_printf(s->out, "<path class=\"way %s\" d=\"M%d %dC%d %d %d %d %d %d\"/>\n", class, from[0],
                   from[1], middle, from[1], middle, to[1], to[0], to[1]);
}

static void put_sub(struct story *s, const struct ledger_view *v)
{
        struct span reason = ledger_member(v->more, "reason");
        buf_puts(s->out, is_denied(v) ? "blocked" : "");
        buf_puts(s->out, is_denied(v) && reason.n ? ": " : "");
        if (is_denied(v))
                html_text(s->out, reason, 30);
        else
                html_text(s->out, v->result.n ? v->result : v->kind, 30);
        if (v->bytes > 0)
                buf_printf(s->out, ", %lld bytes", (long long) v->bytes);
}

static void put_item(struct story *s, const struct item *x, int left, int wall)
{
        buf_printf(s->out, "<a href=\"#r%llu\"><g class=\"nd %s\"><title>", (unsigned long long) x->at,
                   class_of(&x->v));
        html_text(s->out, x->v.target.n ? x->v.target : x->v.door, 300);
        buf_printf(s->out,
                   "</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"44\" rx=\"6\"/><text x=\"%d\" "
                   "y=\"%d\">",
                   left, x->y - 22, IN_W + (left ? 40 : 0), left + 12, x->y - 4);
        html_text(s->out, x->v.target.n ? x->v.target : x->v.door.n ? x->v.door : x->v.kind, left ? 42 : 36);
        buf_printf(s->out, "</text><text class=\"sub\" x=\"%d\" y=\"%d\">", left + 12, x->y + 13);
        put_sub(s, &x->v);
        buf_puts(s->out, "</text></g></a>\n");
        if (is_denied(&x->v))
                buf_printf(s->out, "<rect class=\"wall\" x=\"%d\" y=\"%d\" width=\"6\" height=\"18\"/>\n",
                           wall - 3, x->y - 9);
        else
                buf_printf(s->out, "<circle class=\"hole %s\" cx=\"%d\" cy=\"%d\" r=\"4.5\"/>\n",
                           class_of(&x->v), wall, x->y);
}

static void put_ways(struct story *s)
{
        int first[2] = { pill_x(s, 0), pill_y(s, 0) };
        for (size_t i = 0; i < s->in_count; i++)
                put_way(s, "", (int[2]){ IN_W, s->ins[i].y }, first);
        for (size_t i = 1; i < s->program_count; i++)
                put_way(s, "", (int[2]){ first[0] + 90, first[1] }, (int[2]){ pill_x(s, i), pill_y(s, i) });
        for (size_t i = 0; i < s->out_count; i++) {
                const struct item *x = &s->outs[i];
                int to = is_denied(&x->v) ? BOX_X + BOX_W : OUT_X;
                put_way(s, class_of(&x->v), (int[2]){ pill_x(s, x->program) + 90, pill_y(s, x->program) },
                        (int[2]){ to, x->y });
        }
}

static void put_programs(struct story *s)
{
        for (size_t i = 0; i < s->program_count; i++) {
                int x = pill_x(s, i), y = pill_y(s, i);
                buf_printf(s->out,
                           "<g class=\"nd\"><rect x=\"%d\" y=\"%d\" width=\"90\" height=\"28\" rx=\"14\"/>"
                           "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                           x, y - 14, x + 45, y + 4);
                html_text(s->out, s->programs[i], 12);
                buf_puts(s->out, "</text></g>\n");
        }
}

static void put_picture(struct story *s, const struct log_run *of)
{
        buf_printf(s->out,
                   "<div class=\"graph\"><svg class=\"story\" xmlns=\"http://www.w3.org/2000/svg\" "
                   "role=\"group\" "
                   "aria-label=\"What came in, the box, and what it did\" width=\"%d\" height=\"%d\" "
                   "viewBox=\"-8 0 "
                   "%d %d\">\n<rect class=\"box\" x=\"%d\" y=\"20\" width=\"%d\" height=\"%d\" rx=\"10\"/>"
                   "<text class=\"hd\" x=\"0\" y=\"13\">What came in</text><text class=\"hd\" x=\"%d\" "
                   "y=\"13\">The box: ",
                   WIDTH + 16, s->height + 44, WIDTH + 16, s->height + 44, BOX_X, BOX_W, s->height + 12,
                   BOX_X);
        html_text(s->out, of->start.box, 40);
        buf_printf(s->out, "</text><text class=\"hd\" x=\"%d\" y=\"13\">What it did or tried</text>\n",
                   OUT_X);
        put_ways(s);
        put_programs(s);
        for (size_t i = 0; i < s->in_count; i++)
                put_item(s, &s->ins[i], 0, BOX_X);
        for (size_t i = 0; i < s->out_count; i++)
                put_item(s, &s->outs[i], OUT_X, BOX_X + BOX_W);
        buf_puts(s->out, "</svg></div>\n");
        if (s->left_out)
                buf_printf(s->out, "<p>%zu more effects are in the table.</p>\n", s->left_out);
}

/* ---- the line of time: a lane for each kind ---- */

static void put_events(struct story *s, const struct log_run *of, const struct item *side, size_t count)
{
        double all = of->end_us > of->begin_us ? (double) (of->end_us - of->begin_us) : 1;
        for (size_t i = 0; i < count; i++) {
                const struct ledger_view *v = &side[i].v;
                int x = 84 + (int) ((double) (v->time_us - of->begin_us) / all * (WIDTH - 100));
                int lane = side == s->ins ? 0 : is_denied(v) ? 2 : 1;
                buf_printf(s->out,
                           "<a href=\"#r%llu\"><circle class=\"ev %s\" cx=\"%d\" cy=\"%d\" r=\"5\"><title>",
                           (unsigned long long) side[i].at,
                           lane == 2 ? "deny"
                           : lane    ? "did"
                                     : "",
                           x, 18 + 26 * lane);
                html_text(s->out, v->target.n ? v->target : v->door, 300);
                buf_puts(s->out, "</title></circle></a>\n");
        }
}

static void put_time(struct story *s, const struct log_run *of)
{
        static const char *const lanes[] = { "In", "Out", "Blocked" };
        buf_printf(s->out,
                   "<div class=\"graph\"><svg class=\"story\" xmlns=\"http://www.w3.org/2000/svg\" "
                   "role=\"group\" "
                   "aria-label=\"Line of time\" width=\"%d\" height=\"104\" viewBox=\"-8 0 %d 104\">\n",
                   WIDTH + 16, WIDTH + 16);
        for (int i = 0; i < 3; i++)
                buf_printf(s->out,
                           "<text class=\"hd\" x=\"0\" y=\"%d\">%s</text><path class=\"way\" d=\"M80 "
                           "%dH%d\"/>\n",
                           22 + 26 * i, lanes[i], 31 + 26 * i, WIDTH);
        buf_printf(s->out,
                   "<text class=\"sub\" x=\"84\" y=\"100\">0</text><text class=\"sub\" x=\"%d\" y=\"100\" "
                   "text-anchor=\"end\">%.3f s</text>\n",
                   WIDTH, (double) (of->end_us - of->begin_us) / 1e6);
        put_events(s, of, s->ins, s->in_count);
        put_events(s, of, s->outs, s->out_count);
        buf_puts(s->out, "</svg></div>\n");
}

void html_story(const struct log_run *of, struct buf *out)
{
        struct story *s = calloc(1, sizeof *s);
        if (!s) {
                out->failed = true;
                return;
        }

        s->out = out;
        gather(s, of);
        place(s, s->ins, s->in_count);
        place(s, s->outs, s->out_count);
        put_picture(s, of);
        put_time(s, of);
        free(s);
}
