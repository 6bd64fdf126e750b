/* SPDX-License-Identifier: MIT */
/* ledger/read/stream_sort.c - an external merge sort: sorted runs of one buffer each go to a file without a
 * name, and are merged as they are read. Memory: one buffer, and a small one for each run. */
#include "base/fd.h"
#include "ledger/read/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

enum { BUFFER = 1 << 20, RUN_BUFFER = 1 << 12, RUNS_MAX = 1 << 12 };

struct run {
        uint64_t next, end; /* entries in the file */
        struct entry *buffer;
        size_t at, n;
};

struct sorter {
        int file;
        struct entry *buffer;
        size_t at, n;
        uint64_t written;
        struct run *runs;
        size_t run_count;
        uint32_t *heap; /* runs by their first entry */
        size_t heap_n;
        struct entry *pages; /* the buffers of all runs */
        bool reading;
};

static int compare_entries(const void *pa, const void *pb)
{
        const struct entry *a = pa, *b = pb;
        if (a->key != b->key)
                return a->key < b->key ? -1 : 1;
        if (a->use != b->use)
                return a->use < b->use ? -1 : 1;
        if (a->ledger != b->ledger)
                return a->ledger < b->ledger ? -1 : 1;
        return a->index < b->index ? -1 : a->index > b->index;
}

struct sorter *sorter_new(const char *place, struct err *e)
{
        struct sorter *s = calloc(1, sizeof *s);
        if (s) {
                s->file = open(place, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
                s->buffer = malloc(BUFFER * sizeof *s->buffer);
                s->runs = calloc(RUNS_MAX, sizeof *s->runs);
                s->heap = calloc(RUNS_MAX, sizeof *s->heap);
        }

        if (s && s->file >= 0 && s->buffer && s->runs && s->heap)
                return s;

        if (s && s->file < 0)
                (void) err_set(e, ERR_IO, errno, "no temporary file can be made in %.100s: %s", place,
                               strerror(errno));
        else
                (void) err_set(e, ERR_MEMORY, 0, "no memory to sort records");

        sorter_free(s);
        return NULL;
}

void sorter_free(struct sorter *s)
{
        if (!s)
                return;

        fd_close(&s->file);
        free(s->buffer);
        free(s->pages);
        free(s->runs);
        free(s->heap);
        free(s);
}

/* ---- writing ---- */

static int write_run(struct sorter *s, struct err *e)
{
        if (s->run_count == RUNS_MAX)
                return err_set(e, ERR_USAGE, 0, "these ledgers have too many records to be merged at once");

        qsort(s->buffer, s->n, sizeof *s->buffer, compare_entries);
        const uint8_t *p = (const uint8_t *) s->buffer;
        size_t bytes = s->n * sizeof *s->buffer;
        for (size_t done = 0; done < bytes;) {
                ssize_t n = write(s->file, p + done, bytes - done);
                if (n < 0 && errno != EINTR)
                        return err_set(e, ERR_IO, errno, "a temporary file cannot be written: %s",
                                       strerror(errno));
                done += n > 0 ? (size_t) n : 0;
        }

        s->runs[s->run_count++] = (struct run){ .next = s->written, .end = s->written + s->n };
        s->written += s->n;
        s->n = 0;
        return 0;
}

int sorter_add(struct sorter *s, const struct entry *x, struct err *e)
{
        if (s->n == BUFFER && write_run(s, e) < 0)
                return -1;
        s->buffer[s->n++] = *x;
        return 0;
}

/* ---- reading ---- */

static const struct entry *first_of(const struct sorter *s, uint32_t r)
{
        return &s->runs[r].buffer[s->runs[r].at];
}

/* False if the run is used up. */
static bool refill_run(struct sorter *s, struct run *r)
{
        if (r->at < r->n)
                return true;

        size_t want = r->end - r->next < RUN_BUFFER ? (size_t) (r->end - r->next) : RUN_BUFFER;
        ssize_t n = want ? pread(s->file, r->buffer, want * sizeof *r->buffer,
                                 (off_t) (r->next * sizeof *r->buffer))
                         : 0;
        r->at = 0;
        r->n = n > 0 ? (size_t) n / sizeof *r->buffer : 0;
        r->next += r->n;
        return r->n > 0;
}

static void sink_run(struct sorter *s, size_t i)
{
        uint32_t node = s->heap[i];
        for (size_t k; (k = 2 * i + 1) < s->heap_n; i = k) {
                k += k + 1 < s->heap_n &&
                     compare_entries(first_of(s, s->heap[k + 1]), first_of(s, s->heap[k])) < 0;
                if (compare_entries(first_of(s, s->heap[k]), first_of(s, node)) >= 0)
                        break;
                s->heap[i] = s->heap[k];
        }

        s->heap[i] = node;
}

/* Entries that fit into one buffer are sorted there. */
static int begin_merge(struct sorter *s, struct err *e)
{
        s->reading = true;
        if (s->run_count == 0) {
                qsort(s->buffer, s->n, sizeof *s->buffer, compare_entries);
                return 0;
        }

        if (s->n > 0 && write_run(s, e) < 0)
                return -1;

        s->pages = calloc(s->run_count, RUN_BUFFER * sizeof *s->pages);
        if (!s->pages)
                return err_set(e, ERR_MEMORY, 0, "no memory to sort records");

        for (uint32_t r = 0; r < s->run_count; r++) {
                s->runs[r].buffer = s->pages + (size_t) r * RUN_BUFFER;
                if (refill_run(s, &s->runs[r]))
                        s->heap[s->heap_n++] = r;
        }

        for (size_t i = s->heap_n; i-- > 0;)
                sink_run(s, i);

        return 0;
}

int sorter_next(struct sorter *s, struct entry *ret, struct err *e)
{
        if (!s->reading && begin_merge(s, e) < 0)
                return -1;

        if (s->run_count == 0) {
                if (s->at == s->n)
                        return 0;
                *ret = s->buffer[s->at++];
                return 1;
        }

        if (s->heap_n == 0)
                return 0;

        struct run *r = &s->runs[s->heap[0]];
        *ret = r->buffer[r->at++];
        if (!refill_run(s, r)) {
                if (r->next < r->end)
                        return err_set(e, ERR_IO, errno, "a temporary file cannot be read");
                s->heap[0] = s->heap[--s->heap_n];
        }

        if (s->heap_n > 0)
                sink_run(s, 0);

        return 1;
}
