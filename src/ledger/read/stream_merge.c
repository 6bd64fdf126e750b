/* SPDX-License-Identifier: MIT */
/* ledger/read/stream_merge.c - merges any number of records of up to a thousand ledgers into one order, in
 * bounded memory.
 *
 *     1. Each ledger is verified, and its records are noted with the causes that they name (stream_causes.c).
 *     2. Of the next records of all ledgers, the oldest by its wall clock comes first, unless it waits for a
 * cause in another ledger that did not come yet: then the next oldest. Each ledger keeps the order in which
 * it was written.
 *
 * If all wait for each other, the oldest comes and is marked: its causes are in a circle, by forgery or
 * broken clocks. Equal bytes and pipes, which `cordon ledger trace` also follows, do not count here.
 */
#include "base/fd.h"
#include "base/hash.h"
#include "ledger/read/stream.h"

#include <fcntl.h>
#include <stdlib.h>

struct head {
        char name[LEDGER_NAME_MAX];
        const char *path;
        int dir;
        struct stream stream;
        struct ledger_view view; /* of the next record */
        int64_t key;             /* its time, never less than before it in this ledger */
        uint64_t index, count;   /* its index; the records that were noted */
        uint64_t cause;          /* the number of the next cause of this ledger */
        unsigned blocker;        /* the ledger that it waits for */
        bool over, blocked;
};

struct merge {
        const struct cordon_context *cx;
        struct head *heads;
        struct causes *causes;
        unsigned count;
        unsigned *heap;
        size_t heap_n;
        struct ledger_merged sum;
};

/* ---- opening ---- */

static int by_name(const void *pa, const void *pb)
{
        const struct head *a = pa, *b = pb;
        return strcmp(a->name, b->name);
}

static int open_all(struct merge *m, const char *const *paths, struct err *e)
{
        struct ledger_opened *o = calloc(m->count, sizeof *o);
        int r = o ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for the ledgers");
        for (unsigned k = 0; r == 0 && k < m->count; k++) {
                m->heads[k].path = paths[k];
                m->heads[k].dir = ledger_open_foreign(m->cx, paths[k], &o[k], e);
                r = m->heads[k].dir < 0 ? -1 : 0;
        }

        for (unsigned k = 0; r == 0 && k < m->count; k++)
                ledger_name_unique(o, m->count, k, m->heads[k].name);

        free(o);
        if (r < 0)
                return -1;

        qsort(m->heads, m->count, sizeof *m->heads, by_name); /* the same for any order of arguments */
        for (unsigned k = 1; k < m->count; k++)
                if (strcmp(m->heads[k - 1].name, m->heads[k].name) == 0)
                        return err_set(e, ERR_USAGE, 0, "the ledger %.80s is given twice", m->heads[k].name);

        return 0;
}

static int rewind_stream(struct head *h, struct err *e)
{
        stream_close(&h->stream);
        if (stream_open(&h->stream, fcntl(h->dir, F_DUPFD_CLOEXEC, 3)) == 0)
                return 0;
        return err_set(e, ERR_IO, errno, "the ledger %.100s cannot be read", h->path);
}

static int ledger_changed(const struct head *h, struct err *e)
{
        return err_set(e, ERR_IO, 0, "the ledger %.100s changed while it was read", h->path);
}

static int note_one(struct merge *m, unsigned k, struct err *e)
{
        struct head *h = &m->heads[k];
        struct span bytes;
        struct ledger_view v;
        int more = rewind_stream(h, e);
        while (more == 0 && (more = stream_next(&h->stream, &bytes)) > 0) {
                uint64_t index = h->stream.index - 1;
                more = bytes.p && ledger_view_parse(bytes, &v) == 0 ? causes_note(m->causes, k, index, &v, e)
                                                                    : 0;
                if (more < 0)
                        return -1;
        }

        h->count = h->stream.index;
        return more < 0 ? ledger_changed(h, e) : rewind_stream(h, e);
}

/* ---- order ---- */

static bool head_before(const struct merge *m, unsigned a, unsigned b)
{
        return m->heads[a].key != m->heads[b].key ? m->heads[a].key < m->heads[b].key : a < b;
}

static void heap_add(struct merge *m, unsigned node)
{
        size_t i = m->heap_n++;
        for (; i > 0 && head_before(m, node, m->heap[(i - 1) / 2]); i = (i - 1) / 2)
                m->heap[i] = m->heap[(i - 1) / 2];
        m->heap[i] = node;
}

static unsigned heap_take(struct merge *m)
{
        unsigned top = m->heap[0], last = m->heap[--m->heap_n];
        size_t i = 0;
        for (size_t k; (k = 2 * i + 1) < m->heap_n; i = k) {
                k += k + 1 < m->heap_n && head_before(m, m->heap[k + 1], m->heap[k]);
                if (!head_before(m, m->heap[k], last))
                        break;
                m->heap[i] = m->heap[k];
        }

        if (m->heap_n > 0)
                m->heap[i] = last;

        return top;
}

/* Steps over the causes that came already. Returns 1 if the record must wait, 0 if not, -1 on error. */
static int must_wait(struct merge *m, unsigned k, struct err *e)
{
        struct head *h = &m->heads[k];
        struct entry c;
        int more;
        for (; (more = causes_get(m->causes, k, h->cause, &c)) > 0 && c.key <= h->index; h->cause++) {
                if (c.key < h->index)
                        continue;
                if (c.ledger == CAUSE_LOST) {
                        h->view.lost_cause = true;
                        m->sum.lost++;
                        continue;
                }
                const struct head *of = &m->heads[c.ledger];
                if (!of->over && of->index <= c.index) {
                        h->blocker = c.ledger;
                        return 1;
                }
                m->sum.across++;
        }

        return more < 0 ? err_set(e, ERR_IO, errno, "a temporary file cannot be read") : 0;
}

/* The record that comes next joins the heap, or waits. */
static int place_head(struct merge *m, unsigned k, struct err *e)
{
        int wait = must_wait(m, k, e);
        m->heads[k].blocked = wait > 0;
        if (wait == 0)
                heap_add(m, k);
        return wait < 0 ? -1 : 0;
}

/* Reads the next record of this ledger; payloads that were pruned are left out. */
static int advance_head(struct merge *m, unsigned k, struct err *e)
{
        struct head *h = &m->heads[k];
        struct span bytes;
        for (;;) {
                int more = h->stream.index < h->count ? stream_next(&h->stream, &bytes) : 0;
                h->index = more > 0 ? h->stream.index - 1 : h->count;
                if (more < 0 || (more == 0 && h->stream.index < h->count))
                        return ledger_changed(h, e);
                if (more == 0) {
                        h->over = true;
                        return 0;
                }
                if (bytes.p && ledger_view_parse(bytes, &h->view) == 0)
                        break;
        }

        h->view.ledger = span_str(h->name);
        h->key = h->view.time_us > h->key ? h->view.time_us : h->key;
        return place_head(m, k, e);
}

/* A record of ledger k has come: others may have waited for it. */
static int release_record(struct merge *m, unsigned k, struct err *e)
{
        for (unsigned i = 0; i < m->count; i++)
                if (m->heads[i].blocked && m->heads[i].blocker == k && place_head(m, i, e) < 0)
                        return -1;
        return 0;
}

/* All that are left wait for each other: the oldest. */
static bool break_circle(struct merge *m, unsigned *ret)
{
        bool any = false;
        for (unsigned k = 0; k < m->count; k++)
                if (m->heads[k].blocked && (!any || head_before(m, k, *ret))) {
                        *ret = k;
                        any = true;
                }

        if (any) {
                m->heads[*ret].blocked = false;
                m->heads[*ret].view.in_circle = true;
                m->sum.circles++;
        }

        return any;
}

static int merge_all(struct merge *m, ledger_merge_each *each, void *ctx, struct err *e)
{
        for (unsigned k = 0; k < m->count; k++)
                if (advance_head(m, k, e) < 0)
                        return -1;

        for (unsigned k = 0; m->heap_n > 0 || break_circle(m, &k);) {
                if (m->heap_n > 0)
                        k = heap_take(m);
                m->sum.records++;
                if (each(ctx, &m->heads[k].view, e) < 0 || advance_head(m, k, e) < 0 ||
                    release_record(m, k, e) < 0)
                        return -1;
        }

        return 0;
}

static int prepare_merge(struct merge *m, const char *const *paths, size_t count, const char *place_dir,
                         struct err *e)
{
        if (count == 0 || count > LEDGERS_MERGED_MAX)
                return err_set(e, ERR_USAGE, 0, "1 to %d ledgers can be merged", LEDGERS_MERGED_MAX);

        m->count = (unsigned) count;
        m->heads = calloc(count, sizeof *m->heads);
        m->heap = calloc(count, sizeof *m->heap);
        if (!m->heads || !m->heap)
                return err_set(e, ERR_MEMORY, 0, "no memory for the ledgers");

        for (unsigned k = 0; k < m->count; k++)
                m->heads[k].dir = m->heads[k].stream.fd = m->heads[k].stream.dir = -1;

        m->causes = causes_new(place_dir, e);
        return m->causes ? open_all(m, paths, e) : -1;
}

static void merge_done(struct merge *m)
{
        for (unsigned k = 0; m->heads && k < m->count; k++) {
                stream_close(&m->heads[k].stream);
                fd_close(&m->heads[k].dir);
        }

        causes_free(m->causes);
        free(m->heads);
        free(m->heap);
}

int ledger_merge_stream(const struct cordon_context *cx, const char *const *paths, size_t count,
                        const char *place_dir, ledger_merge_each *each, void *ctx, struct ledger_merged *ret,
                        struct err *e)
{
        struct merge m = { .cx = cx };
        (void) hash_use_hardware();
        int r = prepare_merge(&m, paths, count, place_dir, e);
        for (unsigned k = 0; r == 0 && k < m.count; k++)
                r = note_one(&m, k, e);

        if (r == 0 && causes_settle(m.causes, m.count, e) < 0)
                r = -1;

        if (r == 0)
                r = merge_all(&m, each, ctx, e);

        m.sum.ledgers = m.count;
        *ret = m.sum;
        merge_done(&m);
        return r;
}
