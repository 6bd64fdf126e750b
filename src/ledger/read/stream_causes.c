/* SPDX-License-Identifier: MIT */
/* ledger/read/stream_causes.c - which records have a cause in another ledger, for any number of records.
 *
 * Every record is an entry with the hash of its id, and of its trace span; every cause that it names, of
 * another run or by its trace context, is an entry with the hash of that. Sorted by hash, causes stand beside
 * the records that they name. Those in another ledger are sorted once more, by the records that wait for
 * them. Hashes are keyed: a ledger cannot make others collide.
 */
#include "base/fd.h"
#include "ledger/read/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

enum { BATCH = 256, LEDGERS = 1 << 10 };

struct causes {
        struct sorter *ids, *waits;
        int file; /* the sorted waits */
        uint64_t begin[LEDGERS + 1];
        struct waits {
                uint64_t from;
                size_t n;
                struct entry *at;
        } cached[LEDGERS];
};

struct causes *causes_new(const char *place, struct err *e)
{
        struct causes *c = calloc(1, sizeof *c);
        if (!c) {
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the causes of records");
                return NULL;
        }

        c->file = open(place, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        c->ids = sorter_new(place, e);
        c->waits = c->ids ? sorter_new(place, e) : NULL;
        if (c->waits && c->file >= 0)
                return c;

        causes_free(c);
        return NULL;
}

void causes_free(struct causes *c)
{
        if (!c)
                return;

        for (unsigned k = 0; k < LEDGERS; k++)
                free(c->cached[k].at);

        sorter_free(c->ids);
        sorter_free(c->waits);
        fd_close(&c->file);
        free(c);
}

/* ---- noting ---- */

static struct span span_part(struct span traceparent)
{
        return traceparent.n == 55 ? span_of(traceparent.p + 36, 16) : span_of(NULL, 0);
}

static bool is_of_run(struct span id, struct span run)
{
        return id.n > run.n && id.p[run.n] == '.' && memcmp(id.p, run.p, run.n) == 0;
}

static int add_entry(struct causes *c, struct span text, struct entry x, struct err *e)
{
        if (text.n == 0)
                return 0;
        x.key = ledger_hash(text);
        return sorter_add(c->ids, &x, e);
}

int causes_note(struct causes *c, unsigned ledger, uint64_t index, const struct ledger_view *v, struct err *e)
{
        struct entry own = { .index = (uint32_t) index, .ledger = (uint16_t) ledger }, use = own;
        struct span parent;
        use.use = 1;
        if (index > UINT32_MAX)
                return err_set(e, ERR_USAGE, 0, "a ledger has too many records to be merged");

        if (add_entry(c, v->id, own, e) < 0 ||
            (v->trace.n > 0 && (add_entry(c, span_part(ledger_member(v->trace, "out")), own, e) < 0 ||
                                add_entry(c, span_part(ledger_member(v->trace, "in")), use, e) < 0)))
                return -1;

        for (unsigned n = 0; v->parents.n > 2 && (parent = ledger_element(v->parents, n)).n > 0; n++)
                if (!is_of_run(parent, v->run) && add_entry(c, parent, use, e) < 0)
                        return -1;

        return 0;
}

/* ---- joining ---- */

/* The records with one hash. */
struct group {
        uint64_t key;
        bool any;
        struct entry first;
        uint64_t in[LEDGERS / 64]; /* a bit for each ledger that has it */
};

static void begin_group(struct group *g, uint64_t key)
{
        memset(g, 0, sizeof *g);
        g->key = key;
}

static int add_use(struct causes *c, const struct group *g, const struct entry *x, struct err *e)
{
        if (g->in[x->ledger / 64] >> (x->ledger % 64) & 1)
                return 0; /* its own ledger has it: before it, as it was written */

        struct entry wait = { .key = (uint64_t) x->ledger << 32 | x->index,
                              .index = g->any ? g->first.index : 0,
                              .ledger = g->any ? g->first.ledger : (uint16_t) CAUSE_LOST };
        return sorter_add(c->waits, &wait, e);
}

static int join_causes(struct causes *c, struct err *e)
{
        struct group g;
        struct entry x;
        int more;
        begin_group(&g, 0);
        while ((more = sorter_next(c->ids, &x, e)) > 0) {
                if (x.key != g.key)
                        begin_group(&g, x.key);
                if (x.use) {
                        if (add_use(c, &g, &x, e) < 0)
                                return -1;
                        continue;
                }
                if (!g.any)
                        g.first = x;
                g.any = true;
                g.in[x.ledger / 64] |= UINT64_C(1) << (x.ledger % 64);
        }

        return more;
}

static int write_waits(struct causes *c, unsigned ledgers, struct err *e)
{
        struct entry batch[BATCH];
        uint64_t count = 0;
        size_t n = 0;
        int more;
        do {
                more = sorter_next(c->waits, &batch[n], e);
                if (more > 0) {
                        unsigned ledger = (unsigned) (batch[n].key >> 32);
                        c->begin[ledger + 1] = ++count;
                        batch[n++].key &= UINT32_MAX;
                }
                if (n == BATCH || (more == 0 && n > 0)) {
                        if (write(c->file, batch, n * sizeof *batch) != (ssize_t) (n * sizeof *batch))
                                return err_set(e, ERR_IO, errno, "a temporary file cannot be written");
                        n = 0;
                }
        } while (more > 0);

        for (unsigned k = 0; k < ledgers; k++)
                if (c->begin[k + 1] < c->begin[k])
                        c->begin[k + 1] = c->begin[k];

        return more;
}

int causes_settle(struct causes *c, unsigned ledgers, struct err *e)
{
        int r = join_causes(c, e) < 0 ? -1 : write_waits(c, ledgers, e);
        sorter_free(c->ids);
        sorter_free(c->waits);
        c->ids = c->waits = NULL;
        return r;
}

int causes_get(struct causes *c, unsigned ledger, uint64_t n, struct entry *ret)
{
        struct waits *w = &c->cached[ledger];
        uint64_t at = c->begin[ledger] + n;
        if (at >= c->begin[ledger + 1])
                return 0;

        if (!w->at && !(w->at = malloc(BATCH * sizeof *w->at)))
                return -1;

        if (at < w->from || at >= w->from + w->n) {
                ssize_t got = pread(c->file, w->at, BATCH * sizeof *w->at, (off_t) (at * sizeof *w->at));
                if (got < (ssize_t) sizeof *w->at)
                        return -1;
                w->from = at;
                w->n = (size_t) got / sizeof *w->at;
        }

        *ret = w->at[at - w->from];
        return 1;
}
