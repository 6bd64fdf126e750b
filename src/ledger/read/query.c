/* SPDX-License-Identifier: MIT */
/* ledger/read/query.c - selects records, and formats each as a line. Pure. */
#include "base/str.h"
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

static void put_time(struct buf *out, int64_t us)
{
        char text[TEXT_TIME];
        buf_printf(out, "%s.%03dZ", text_time(us, 'T', text), (int) (us / 1000 % 1000));
}

/* "money, person" of its list. */
static void put_touched(struct buf *out, struct span list)
{
        struct span one;
        for (unsigned i = 0; i < LEDGER_TOUCH__COUNT && (one = ledger_element(list, i)).n; i++) {
                buf_puts(out, i ? ", " : "");
                text_put(out, one, 16);
        }
}

/* A short description of any kind of record. */
static void put_what(struct buf *out, const struct ledger_view *v)
{
        if (v->door.n) {
                buf_putc(out, ' ');
                text_put(out, v->door, 80);
        }

        if (v->target.n && !(v->door.n > v->target.n &&
                             memcmp(v->door.p + v->door.n - v->target.n, v->target.p, v->target.n) == 0)) {
                buf_putc(out, ' ');
                text_put(out, v->target, 160);
        }

        if (v->bytes >= 0)
                buf_printf(out, " %lld bytes", (long long) v->bytes);

        if (v->count > 1)
                buf_printf(out, " %lld times", (long long) v->count);

        if (v->result.n) {
                buf_puts(out, ": ");
                text_put(out, v->result, 120);
        }

        if (v->reach.n && !span_is(v->reach, "self")) {
                buf_puts(out, " [reaches ");
                text_put(out, v->reach, 16);
                buf_putc(out, ']');
        }

        if (v->touches.n) {
                buf_puts(out, " [touches ");
                put_touched(out, v->touches);
                buf_putc(out, ']');
        }

        text_marks(out, v);
}

void ledger_line(const struct ledger_view *v, struct buf *out)
{
        put_time(out, v->time_us);
        buf_puts(out, "  ");
        if (v->ledger.n) {
                text_put(out, v->ledger, LEDGER_NAME_MAX);
                buf_puts(out, "  ");
        }

        text_put(out, v->id, LEDGER_ID_MAX);
        buf_puts(out, "  ");
        text_put(out, v->kind, 24);
        if (!span_eq(v->phase, v->kind)) {
                buf_putc(out, ' ');
                text_put(out, v->phase, 24);
        }

        put_what(out, v);
}

/* Decodes the code point at *p, and moves *p past it; 0xfffd for invalid bytes. */
static uint32_t take_code(const uint8_t **p, const uint8_t *end)
{
        unsigned more = **p >= 0xf0 ? 3 : **p >= 0xe0 ? 2 : **p >= 0xc0 ? 1 : 0;
        struct span one = span_of(*p, more + 1);
        if ((size_t) (end - *p) <= more || !str_is_utf8(one)) {
                ++*p;
                return 0xfffd;
        }

        uint32_t c = more ? **p & (0x3fu >> more) : **p;
        for (unsigned k = 1; k <= more; k++)
                c = c << 6 | ((*p)[k] & 0x3fu);

        *p += more + 1;
        return c;
}

/* The same JSON in plain ASCII: a record of a foreign ledger cannot affect a terminal either. */
static void put_ascii(struct span json, struct buf *out)
{
        const uint8_t *end = json.p + json.n;
        for (const uint8_t *p = json.p; p < end;) {
                uint32_t c = *p < 0x7f ? *p++ : take_code(&p, end);
                if (c < 0x7f)
                        buf_putc(out, (char) c);
                else if (c < 0x10000)
                        buf_printf(out, "\\u%04x", c);
                else
                        buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
        }
}

void ledger_json(const struct ledger_view *v, struct buf *out)
{
        if (v->ledger.n) {
                buf_puts(out, "{\"ledger\":");
                buf_json(out, v->ledger);
                buf_puts(out, v->lost_cause ? ",\"lost_cause\":true" : "");
                buf_puts(out, v->in_circle ? ",\"in_circle\":true" : "");
                buf_puts(out, ",\"record\":");
        }

        if (v->ledger.n)
                put_ascii(v->json, out);
        else
                buf_add(out, v->json.p, v->json.n);

        buf_puts(out, v->ledger.n ? "}" : "");
}

/* ---- one target, and the parties reached ---- */

static bool is_target(struct span escaped, const char *want)
{
        char plain[2048];
        size_t n = strlen(want);
        (void) ledger_plain(escaped, plain, sizeof plain);
        return n > 0 && want[n - 1] == '*' ? strncmp(plain, want, n - 1) == 0 : strcmp(plain, want) == 0;
}

void ledger_field(const struct ledger_log *l, const char *target, bool json, struct buf *out)
{
        struct ledger_view v;
        for (struct ledger_walk w = { .log = l }; ledger_next(&w, &v);)
                if (is_target(v.target, target)) {
                        (json ? ledger_json : ledger_line)(&v, out);
                        buf_putc(out, '\n');
                }
}

struct reached {
        struct span reach, target, touches, ledger;
        uint64_t effects;
        int64_t last_us;
};

static unsigned reach_rank(struct span s)
{
        for (unsigned i = LEDGER_REACH__COUNT; i-- > 0;)
                if (span_is(s, ledger_reach_name(i)))
                        return i;
        return 0;
}

static int widest_first(const void *pa, const void *pb)
{
        const struct reached *a = pa, *b = pb;
        unsigned ra = reach_rank(a->reach), rb = reach_rank(b->reach);
        return ra != rb ? (ra < rb) - (ra > rb) : (a->effects < b->effects) - (a->effects > b->effects);
}

enum { ROWS_MAX = 4096, SLOTS = 2 * ROWS_MAX };
_Static_assert((SLOTS & (SLOTS - 1)) == 0 && ROWS_MAX < UINT16_MAX,
               "a slot is found by a mask, and holds a row");

struct reached_table {
        struct reached rows[ROWS_MAX];
        size_t n;
        uint16_t slots[SLOTS]; /* by hash: the row, plus one; 0: none. Half of them stay free */
};

static uint64_t row_hash(const struct ledger_view *v)
{
        return ((ledger_hash(v->target) * 31 + ledger_hash(v->touches)) * 31 + ledger_hash(v->reach)) * 31 +
               ledger_hash(v->ledger);
}

/* Returns its row, possibly new; NULL if the table of targets is full. */
static struct reached *row_of(struct reached_table *t, const struct ledger_view *v)
{
        uint16_t *slot;
        for (size_t k = row_hash(v);; k++) {
                slot = &t->slots[k & (SLOTS - 1)];
                struct reached *r = *slot ? &t->rows[*slot - 1] : NULL;
                if (!r)
                        break;
                if (span_eq(r->target, v->target) && span_eq(r->reach, v->reach) &&
                    span_eq(r->touches, v->touches) && span_eq(r->ledger, v->ledger))
                        return r;
        }

        if (t->n == ROWS_MAX)
                return NULL;

        t->rows[t->n++] = (struct reached){
                .reach = v->reach, .target = v->target, .touches = v->touches, .ledger = v->ledger
        };

        *slot = (uint16_t) t->n;
        return &t->rows[t->n - 1];
}

static bool reached_add(struct reached_table *t, const struct ledger_view *v)
{
        struct reached *r = row_of(t, v);
        if (!r)
                return false;
        r->effects += v->count > 0 ? (uint64_t) v->count : 1;
        r->last_us = v->time_us;
        return true;
}

/* Effects that happened or may have: not denials, not failures before any byte left, and not intents with an
 * outcome, which counts instead. One intent may have several. */
static bool counts_bytes(const struct ledger_view *v)
{
        bool reaches = (v->reach.n && !span_is(v->reach, "self")) || v->touches.n;
        bool over = span_is(v->phase, "intent") && !v->unknown;
        return reaches && !span_is(v->phase, "denied") && !over && !came_to_nothing(v);
}

static void reached_print(const struct reached *r, bool json, struct buf *out)
{
        if (json) {
                buf_putc(out, '{');
                if (r->ledger.n) {
                        buf_puts(out, "\"ledger\":");
                        buf_json(out, r->ledger);
                        buf_putc(out, ',');
                }
                buf_printf(out,
                           "\"reach\":\"%.*s\",\"target\":\"%.*s\",\"touches\":%.*s,\"effects\":%llu,"
                           "\"last\":%lld}\n",
                           (int) r->reach.n, (const char *) r->reach.p, (int) r->target.n,
                           (const char *) (r->target.p ? r->target.p : (const uint8_t *) ""),
                           r->touches.n ? (int) r->touches.n : 2,
                           r->touches.n ? (const char *) r->touches.p : "[]", (unsigned long long) r->effects,
                           (long long) r->last_us);
                return;
        }

        size_t before = out->n;
        text_put(out, r->reach, 16);
        for (size_t n = out->n - before; n < 7; n++)
                buf_putc(out, ' ');

        buf_printf(out, " %6llu  ", (unsigned long long) r->effects);
        put_time(out, r->last_us);
        buf_puts(out, "  ");
        if (r->ledger.n) {
                text_put(out, r->ledger, LEDGER_NAME_MAX);
                buf_puts(out, "  ");
        }

        text_put(out, r->target, 160);
        if (r->touches.n) {
                buf_puts(out, "  touches ");
                put_touched(out, r->touches);
        }

        buf_putc(out, '\n');
}

void ledger_reached(const struct ledger_log *l, bool json, struct buf *out)
{
        struct reached_table *t = calloc(1, sizeof *t);
        bool all = true;
        if (!t) {
                out->failed = true; /* an empty list would mean that no party was reached */
                return;
        }

        struct ledger_view v;
        for (struct ledger_walk w = { .log = l }; ledger_next(&w, &v);)
                if (counts_bytes(&v))
                        all &= reached_add(t, &v);

        size_t n = t->n;
        if (n > 0)
                qsort(t->rows, n, sizeof *t->rows, widest_first);

        if (!json)
                buf_puts(out, n ? "REACH   EFFECTS LAST                      TARGET\n"
                                : "no effects beyond this host\n");

        for (size_t i = 0; i < n; i++)
                reached_print(&t->rows[i], json, out);

        if (!all)
                buf_printf(out,
                           json ? "{\"more\":true}\n"
                                : "There are more than %d targets: the rest is not listed.\n",
                           ROWS_MAX);

        free(t);
}

/* ---- runs ---- */

/* The name of a box nearest to a mistyped one; "": none. */
static void nearest_box(const struct ledger_log *l, const char *which, char ret[80])
{
        unsigned best = STR_TOO_FAR;
        char name[80];
        struct ledger_view v;

        ret[0] = '\0';
        for (struct ledger_walk w = { .log = l, .at = l->count, .kind = "start" }; ledger_prev(&w, &v);) {
                if (v.box.n >= sizeof name)
                        continue;
                unsigned d = str_far(which, ledger_plain(v.box, name, sizeof name));
                if (d < best) {
                        best = d;
                        (void) snprintf(ret, 80, "%s", name);
                }
        }
}

static int no_run(const struct ledger_log *l, const char *which, struct err *e)
{
        char near[80], shown[80];
        nearest_box(l, which, near);
        if (which[0] == '\0')
                (void) err_set(e, ERR_GONE, 0, "the ledger has no run yet");
        else
                (void) err_set(e, ERR_GONE, 0, "the ledger has no run %.60s", which);

        if (near[0] && which[0])
                return err_hint(e, "did you mean %s?", str_inert(span_str(near), shown, sizeof shown));

        return err_hint(e, "`cordon ledger --kind start` lists the runs");
}

int ledger_find_run(const struct ledger_log *l, const char *which, char ret_run[LEDGER_ID_MAX], struct err *e)
{
        size_t n = strlen(which);
        unsigned matches = 0;
        struct ledger_view v;
        ret_run[0] = '\0';
        for (struct ledger_walk w = { .log = l, .at = l->count, .kind = "start" }; ledger_prev(&w, &v);) {
                bool exact = span_is(v.run, which), named = n == 0 || span_is(v.box, which);
                if (v.run.n >= LEDGER_ID_MAX || (!exact && !named && !span_starts(v.run, which)))
                        continue;
                if (matches++ == 0 || exact)
                        (void) ledger_plain(v.run, ret_run, LEDGER_ID_MAX);
                if (exact || named)
                        return 0;
        }

        if (matches == 1)
                return 0;

        if (matches == 0)
                return no_run(l, which, e);

        (void) err_set(e, ERR_USAGE, 0, "%u runs begin with %.60s: give more of the id", matches, which);
        return err_hint(e, "`cordon ledger --kind start` lists the runs");
}
