/* SPDX-License-Identifier: MIT */
/* files/work/show/line_diff.c - unified diffs of two texts: Myers' greedy algorithm over lines, after common
 * lines at both ends are set aside. Memory is bounded: beyond the bound the whole middle is one
 * replacement, which is longer but correct. Pure. */
#include "base/vec.h"
#include "files/work/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
        CONTEXT = 3,
        EDITS_MAX = 2000,
        LINES_MAX = 8 << 20 /* of one text: a text of empty lines would take 24 times as much */
};

struct line {
        const uint8_t *p;
        size_t n; /* with its newline, if it has one */
        uint64_t hash;
};

struct text {
        struct line *v;
        size_t n;
};

struct edit { /* `a` lines from `at_a` are replaced by `b` lines from `at_b` */
        size_t at_a, a, at_b, b;
};

struct edits {
        struct edit *v;
        size_t n, cap;
        bool failed;
};

bool is_binary(struct span s) { return s.n > 0 && memchr(s.p, 0, s.n < 8000 ? s.n : 8000); }

static size_t count_lines(struct span s)
{
        size_t count = 0;
        for (size_t i = 0; i < s.n; i++)
                count += s.p[i] == '\n';
        return count + (s.n > 0 && s.p[s.n - 1] != '\n');
}

static bool has_too_many(struct span a, struct span b)
{
        return count_lines(a) > LINES_MAX || count_lines(b) > LINES_MAX;
}

static bool split_lines(struct span s, struct text *ret)
{
        ret->v = calloc(count_lines(s) + 1, sizeof *ret->v);
        ret->n = 0;
        for (size_t at = 0; ret->v && at < s.n;) {
                const uint8_t *nl = memchr(s.p + at, '\n', s.n - at);
                struct line l = { s.p + at, nl ? (size_t) (nl - s.p) + 1 - at : s.n - at,
                                  1469598103934665603u };
                for (size_t i = 0; i < l.n; i++)
                        l.hash = (l.hash ^ l.p[i]) * 1099511628211u;
                ret->v[ret->n++] = l;
                at += l.n;
        }

        return ret->v != NULL;
}

static bool same_line(const struct line *a, const struct line *b)
{
        return a->hash == b->hash && a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}

static void add_edit(struct edits *e, struct edit x)
{
        struct edit *last = e->n ? &e->v[e->n - 1] : NULL;
        if (last && last->at_a + last->a == x.at_a && last->at_b + last->b == x.at_b) {
                last->a += x.a;
                last->b += x.b;
                return;
        }

        if (vec_room((void **) &e->v, e->n, &e->cap, sizeof *e->v) < 0) {
                e->failed = true;
                return;
        }

        e->v[e->n++] = x;
}

struct myers {
        const struct line *a, *b;
        long n, m;
        int *trace[EDITS_MAX + 1]; /* the furthest x for each diagonal, after d edits: -d..d */
};

/* Returns the number of edits that are enough, or -1: more than EDITS_MAX. */
static long search_forward(struct myers *y)
{
        for (long d = 0; d <= EDITS_MAX; d++) {
                int *v = y->trace[d] = malloc((size_t) (2 * d + 1) * sizeof *v);
                const int *u = d ? y->trace[d - 1] : NULL;
                if (!v)
                        return -1;
                for (long k = -d; k <= d; k += 2) {
                        long x = 0;
                        if (d > 0 && (k == -d || (k != d && u[k - 1 + d - 1] < u[k + 1 + d - 1])))
                                x = u[k + 1 + d - 1];
                        else if (d > 0)
                                x = u[k - 1 + d - 1] + 1;
                        while (x < y->n && x - k < y->m && x - k >= 0 && same_line(&y->a[x], &y->b[x - k]))
                                x++;
                        v[k + d] = (int) x;
                        if (k + 1 <= d)
                                v[k + d + 1] = -1;
                        if (x >= y->n && x - k >= y->m)
                                return d;
                }
        }

        return -1;
}

/* Back from the end: one edit for each step, last first. */
static void trace_backward(const struct myers *y, long d, struct edits *out, size_t skip)
{
        struct edit *list = calloc((size_t) d + 1, sizeof *list);
        long x = y->n, count = 0, at = y->m;
        if (!list) {
                out->failed = true;
                return;
        }

        for (; d > 0; d--) {
                const int *u = y->trace[d - 1];
                long k = x - at;
                bool down = k == -d || (k != d && u[k - 1 + d - 1] < u[k + 1 + d - 1]);
                long from_k = down ? k + 1 : k - 1, from_x = u[from_k + d - 1], from_y = from_x - from_k;
                list[count++] = (struct edit){ (size_t) from_x + skip, !down, (size_t) from_y + skip, down };
                x = from_x;
                at = from_y;
        }

        while (count > 0)
                add_edit(out, list[--count]);

        free(list);
}

/* False: the whole middle is one edit. */
static bool find_edits(const struct text *a, const struct text *b, struct edits *out)
{
        size_t head = 0, tail = 0;
        while (head < a->n && head < b->n && same_line(&a->v[head], &b->v[head]))
                head++;

        while (tail < a->n - head && tail < b->n - head &&
               same_line(&a->v[a->n - 1 - tail], &b->v[b->n - 1 - tail]))
                tail++;

        size_t n = a->n - head - tail, m = b->n - head - tail;
        if (n == 0 && m == 0)
                return true;

        if (n == 0 || m == 0) {
                add_edit(out, (struct edit){ head, n, head, m });
                return true;
        }

        struct myers *y = calloc(1, sizeof *y);
        long d = -1;
        if (y) {
                y->a = a->v + head;
                y->b = b->v + head;
                y->n = (long) n;
                y->m = (long) m;
                d = n < 1 << 30 && m < 1 << 30 ? search_forward(y) : -1;
        }

        if (d >= 0)
                trace_backward(y, d, out, head);
        else
                add_edit(out, (struct edit){ head, n, head, m });

        for (size_t i = 0; y && i <= EDITS_MAX; i++)
                free(y->trace[i]);

        free(y);
        return d >= 0;
}

static void put_line(struct buf *out, char mark, const struct line *l)
{
        buf_putc(out, mark);
        buf_add(out, l->p, l->n);
        if (l->n == 0 || l->p[l->n - 1] != '\n')
                buf_puts(out, "\n\\ No newline at end of file\n");
}

static void put_range(struct buf *out, char mark, size_t from, size_t n)
{
        /* A range of no lines names the line before it. */
        buf_printf(out, n == 1 ? "%c%zu" : "%c%zu,%zu", mark, n ? from + 1 : from, n);
}

/* Edits `first`..`last` are close enough for one hunk. */
static void put_hunk(struct buf *out, const struct text *a, const struct text *b, const struct edit *v,
                     size_t count)
{
        size_t from_a = v[0].at_a > CONTEXT ? v[0].at_a - CONTEXT : 0;
        size_t from_b = v[0].at_b - (v[0].at_a - from_a);
        const struct edit *z = &v[count - 1];
        size_t end_a = z->at_a + z->a + CONTEXT < a->n ? z->at_a + z->a + CONTEXT : a->n;
        size_t end_b = z->at_b + z->b + (end_a - z->at_a - z->a);

        buf_puts(out, "@@ ");
        put_range(out, '-', from_a, end_a - from_a);
        buf_putc(out, ' ');
        put_range(out, '+', from_b, end_b - from_b);
        buf_puts(out, " @@\n");
        size_t at = from_a;
        for (size_t i = 0; i < count; i++) {
                for (; at < v[i].at_a; at++)
                        put_line(out, ' ', &a->v[at]);
                for (size_t k = 0; k < v[i].a; k++)
                        put_line(out, '-', &a->v[v[i].at_a + k]);
                for (size_t k = 0; k < v[i].b; k++)
                        put_line(out, '+', &b->v[v[i].at_b + k]);
                at = v[i].at_a + v[i].a;
        }

        for (; at < end_a; at++)
                put_line(out, ' ', &a->v[at]);
}

static void put_all(struct buf *out, const struct text *a, const struct text *b, const struct edits *e)
{
        for (size_t i = 0; i < e->n;) {
                size_t k = i + 1;
                while (k < e->n && e->v[k].at_a - (e->v[k - 1].at_a + e->v[k - 1].a) <= 2 * CONTEXT)
                        k++;
                put_hunk(out, a, b, &e->v[i], k - i);
                i = k;
        }
}

static void put_each(struct buf *out, char mark, struct span s)
{
        for (size_t at = 0; at < s.n;) {
                const uint8_t *nl = memchr(s.p + at, '\n', s.n - at);
                struct line l = { s.p + at, nl ? (size_t) (nl - s.p) + 1 - at : s.n - at, 0 };
                put_line(out, mark, &l);
                at += l.n;
        }
}

/* All of the one for all of the other. */
static void replace_all(struct span a, struct span b, struct buf *out)
{
        buf_puts(out, "@@ ");
        put_range(out, '-', 0, count_lines(a));
        buf_putc(out, ' ');
        put_range(out, '+', 0, count_lines(b));
        buf_puts(out, " @@\n");
        put_each(out, '-', a);
        put_each(out, '+', b);
}

bool lines_diff(struct span a, struct span b, struct buf *out)
{
        if (has_too_many(a, b)) {
                if (!span_eq(a, b))
                        replace_all(a, b, out);
                return a.n == 0 || b.n == 0 || span_eq(a, b);
        }

        struct text x = { 0 }, y = { 0 };
        struct edits e = { 0 };
        bool whole = false;
        if (split_lines(a, &x) && split_lines(b, &y)) {
                whole = find_edits(&x, &y, &e);
                put_all(out, &x, &y, &e);
        } else {
                out->failed = true;
        }

        out->failed |= e.failed;
        free(e.v);
        free(x.v);
        free(y.v);
        return whole;
}

void lines_count(struct span a, struct span b, size_t *ret_added, size_t *ret_removed)
{
        struct text x = { 0 }, y = { 0 };
        struct edits e = { 0 };
        *ret_added = *ret_removed = 0;
        if (has_too_many(a, b)) {
                *ret_added = span_eq(a, b) ? 0 : count_lines(b);
                *ret_removed = span_eq(a, b) ? 0 : count_lines(a);
                return;
        }

        if (split_lines(a, &x) && split_lines(b, &y))
                (void) find_edits(&x, &y, &e);

        for (size_t i = 0; i < e.n; i++) {
                *ret_added += e.v[i].b;
                *ret_removed += e.v[i].a;
        }

        free(e.v);
        free(x.v);
        free(y.v);
}
