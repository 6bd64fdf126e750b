/* SPDX-License-Identifier: MIT */
/* ledger/read/verify.c - verifies the ledger in one pass over the frames:
 *
 *     - frames: length, checksum, and the order of segments;
 *     - records: canonical, unique ids, the logical clock only forward;
 *     - tiles: each leaf's hash as it was when sealed, which shows *which* record was changed;
 *     - checkpoints: the root at every size that was ever signed, here, by the witness, or given; signatures;
 *     - meaning: intents without outcome, runs without end, payloads pruned with and without a record of it;
 *     - of a host: the ledgers of tenants whose heads it has (tenant_heads.c).
 *
 * Errors are findings; unfinished work is only counted. Running out of memory is an error, never a ledger
 * without findings.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "ledger/write/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>

enum { FINDINGS_MAX = 100, VERSIONS_MAX = 8 };

struct version { /* of records: their number, and when the first was written */
        int64_t v, since_us;
        uint64_t records;
};

struct remembered {
        size_t turn; /* its place among the notes */
        uint64_t size;
        uint8_t root[LEDGER_HASH];
        const char *where;
};

struct table { /* ids, by hash: enough to find a duplicate or a partner */
        uint64_t *slots;
        size_t cap, count;
        bool failed; /* out of memory for all of them */
};

struct verify {
        const struct cordon_context *cx;  /* finds cordon-ledger, which checks signatures */
        struct ledger_heads *heads;       /* of tenants; NULL: they are not looked at */
        struct buf keys, notes, findings; /* notes: all checkpoints, one after the other */
        struct remembered *points;
        size_t point_count, point_next;
        struct ledger_tree tree;
        struct span tiles;
        struct table ids, intents, runs;
        struct pruned pruned;
        char pruned_all[LEDGER_DIGEST +
                        4]; /* by the newest record of them; "": none, or a pruning began later */
        uint64_t pruned_told, intents_open, outcomes, runs_open, gaps;
        uint64_t sealed;
        struct version versions[VERSIONS_MAX], strange; /* strange: with unknown fields */
        unsigned version_count;
        uint64_t version_more;   /* records of further versions */
        int64_t clock, first_us; /* first_us: of the first record */
        unsigned bad;
        bool tile_told;
        uint64_t points_differ, points_beyond; /* checkpoints that do not match: the first is reported */
        bool failed;                           /* out of memory to check all of it */
};

__attribute__((format(printf, 2, 3))) static void find(struct verify *v, const char *fmt, ...)
{
        char text[512];
        va_list ap;
        va_start(ap, fmt);
        (void) vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        if (v->bad++ >= FINDINGS_MAX)
                return;

        buf_puts(&v->findings, text);
        buf_putc(&v->findings, '\n');
}

/* ---- sets of ids ---- */

static uint64_t hash_of(struct span s)
{
        uint64_t h = ledger_hash(s);
        return h > 1 ? h : 2; /* 0: empty, 1: taken out */
}

static bool table_grow(struct table *t)
{
        struct table bigger = { .cap = t->cap ? t->cap * 2 : 4096, .failed = t->failed };
        bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
        if (!bigger.slots)
                return false;

        for (size_t i = 0; i < t->cap; i++) {
                if (t->slots[i] <= 1)
                        continue;
                size_t at = t->slots[i] & (bigger.cap - 1);
                while (bigger.slots[at])
                        at = (at + 1) & (bigger.cap - 1);
                bigger.slots[at] = t->slots[i];
                bigger.count++;
        }

        free(t->slots);
        *t = bigger;
        return true;
}

/* Returns false if it was there before. */
static bool table_add(struct table *t, struct span id)
{
        uint64_t h = hash_of(id);
        if (t->count * 2 >= t->cap && !table_grow(t)) {
                t->failed = true;
                return true;
        }

        size_t at = h & (t->cap - 1);
        for (; t->slots[at]; at = (at + 1) & (t->cap - 1))
                if (t->slots[at] == h)
                        return false;

        t->slots[at] = h;
        t->count++;
        return true;
}

static bool table_take(struct table *t, struct span id)
{
        uint64_t h = hash_of(id);
        for (size_t at = t->cap ? h & (t->cap - 1) : 0; t->cap && t->slots[at]; at = (at + 1) & (t->cap - 1))
                if (t->slots[at] == h) {
                        t->slots[at] = 1;
                        return true;
                }

        return false;
}

/* ---- checkpoints ---- */

static void remember_hash(struct verify *v, struct span text, const char *where)
{
        struct ledger_note n;
        int r;
        while ((r = ledger_note_next(text, &n, &text)) == 1) {
                struct remembered *more = realloc(v->points, (v->point_count + 1) * sizeof *more);
                v->failed |= !more;
                if (!more)
                        return;
                v->points = more;
                more[v->point_count] =
                        (struct remembered){ .turn = v->point_count, .size = n.size, .where = where };
                memcpy(more[v->point_count++].root, n.root, LEDGER_HASH);
                buf_add(&v->notes, n.whole.p, n.whole.n);
                buf_putc(&v->notes, '\n');
        }

        v->failed |= v->notes.failed;
        if (r < 0)
                find(v, "%s: not a checkpoint", where);
}

static int by_turn(const void *pa, const void *pb)
{
        const struct remembered *a = pa, *b = pb;
        return (a->turn > b->turn) - (a->turn < b->turn);
}

static int by_size(const void *pa, const void *pb)
{
        const struct remembered *a = pa, *b = pb;
        return (a->size > b->size) - (a->size < b->size);
}

static void check_points(struct verify *v)
{
        uint8_t root[LEDGER_HASH];
        bool made = false;
        for (; v->point_next < v->point_count && v->points[v->point_next].size == v->tree.size;
             v->point_next++) {
                if (!made)
                        ledger_tree_root(&v->tree, root);
                made = true;
                if (memcmp(root, v->points[v->point_next].root, sizeof root) != 0 && v->points_differ++ == 0)
                        find(v, "%s: the first %llu records are not those that it was signed for",
                             v->points[v->point_next].where, (unsigned long long) v->tree.size);
        }
}

/* Returns false if the line is not of this checkpoint. */
static bool judge_checkpoint(struct verify *v, const struct remembered *p, const char *line)
{
        static const struct {
                const char *word, *text;
        } verdicts[] = { { "good", NULL },
                         { "bad", "has a wrong signature" },
                         { "unknown", "has no known signature" },
                         { "retired", "is signed by a key that another had replaced" },
                         { "forked", "names a next key, and another checkpoint names another" } };
        char *word;
        unsigned long long size = strtoull(line, &word, 10);
        for (size_t i = 0; word != line && size == p->size && i < sizeof verdicts / sizeof *verdicts; i++)
                if (strncmp(word + 1, verdicts[i].word, strcspn(word + 1, "\n")) == 0) {
                        if (verdicts[i].text)
                                find(v, "%s: the checkpoint of %llu records %s", p->where, size,
                                     verdicts[i].text);
                        return true;
                }

        return false;
}

/* A key counts by a rotation that the key before it signed; a line in key.pub makes none. */
static void check_signatures(struct verify *v, struct err *e)
{
        AUTO_BUF(answer);
        size_t told = 0;

        if (v->point_count == 0)
                return;

        if (v->keys.n == 0) {
                find(v, "key.pub is missing: no signature can be checked");
                return;
        }

        if (ledger_keys_ask(v->cx, buf_span(&v->keys), buf_span(&v->notes), &answer, e) < 0) {
                find(v, "the signatures could not be checked: %s", e->what);
                return;
        }

        v->failed |= answer.failed;
        qsort(v->points, v->point_count, sizeof *v->points, by_turn);
        for (const char *at = buf_str(&answer), *end; (end = strchr(at, '\n')); at = end + 1)
                if (strncmp(at, "key ", 4) == 0)
                        find(v, "key.pub has %.*s: no key before it signed a rotation to it",
                             (int) (end - at - 4), at + 4);
                else if (told < v->point_count)
                        told += judge_checkpoint(v, &v->points[told], at);

        if (told < v->point_count)
                find(v, "not every signature was checked");
}

/* ---- records ---- */

static void count_one(struct version *x, const struct ledger_view *r)
{
        x->since_us = x->records++ == 0 || r->time_us < x->since_us ? r->time_us : x->since_us;
}

static void count_version(struct verify *v, const struct ledger_view *r)
{
        unsigned i = 0;
        while (i < v->version_count && v->versions[i].v != r->v)
                i++;

        if (i == VERSIONS_MAX) {
                v->version_more++;
        } else {
                v->versions[i].v = r->v;
                v->version_count += i == v->version_count;
                count_one(&v->versions[i], r);
        }

        if (r->strange)
                count_one(&v->strange, r);
}

/* A record that is not sealed may be anybody's: it excuses nothing. */
static void check_excuse(struct verify *v, const struct ledger_view *r, bool sealed)
{
        if (span_is(r->kind, "prune") && sealed) {
                bool over = span_is(r->phase, "outcome");
                v->pruned_told += !over && r->count > 0 ? (uint64_t) r->count : 0;
                v->pruned_all[0] = '\0';
                if (over)
                        (void) ledger_plain(r->digest, v->pruned_all, sizeof v->pruned_all);
        } else if (span_is(r->kind, "head") && v->heads && (sealed || !span_is(r->result, "dropped"))) {
                v->failed |= ledger_heads_add(v->heads, r) < 0;
        }
}

static void check_meaning(struct verify *v, const struct ledger_view *r)
{
        if (span_is(r->phase, "intent")) {
                v->intents_open++;
                (void) table_add(&v->intents, r->id);
        } else if (span_is(r->phase, "outcome") || span_is(r->phase, "denied")) {
                struct span parent;
                for (unsigned i = 0; (parent = ledger_element(r->parents, i)).n > 0; i++)
                        if (table_take(&v->intents, parent)) {
                                v->intents_open--;
                                v->outcomes++;
                        }
        }

        if (span_is(r->kind, "start")) {
                v->runs_open++;
                (void) table_add(&v->runs, r->run);
        } else if (span_is(r->kind, "end") && table_take(&v->runs, r->run)) {
                v->runs_open--;
        } else if (span_is(r->kind, "gap") && r->bytes > 0) { /* without one: a ledger was moved aside */
                v->gaps++;
        }
}

static void check_record(struct verify *v, const struct scan_place *at, const struct frame *f)
{
        struct ledger_view r;
        if (f->pruned) {
                pruned_add(&v->pruned, at->index);
                return;
        }

        if (ledger_view_parse(f->payload, &r) < 0) {
                find(v, "record %llu (segment %u, byte %llu) is not a canonical record",
                     (unsigned long long) at->index, at->seq, (unsigned long long) at->offset);
                return;
        }

        if (!table_add(&v->ids, r.id))
                find(v, "record %llu has the id %.*s, which another has", (unsigned long long) at->index,
                     (int) r.id.n, (const char *) r.id.p);

        if (r.clock <= v->clock)
                find(v, "record %llu, %.*s, stands out of order", (unsigned long long) at->index,
                     (int) r.id.n, (const char *) r.id.p);

        v->clock = r.clock > v->clock ? r.clock : v->clock;
        v->first_us = v->first_us ? v->first_us : r.time_us;
        check_meaning(v, &r);
        check_excuse(v, &r, at->index < v->sealed);
        count_version(v, &r);
}

static int check_frame(void *ctx, const struct scan_place *at, const struct frame *f)
{
        struct verify *v = ctx;
        uint8_t leaf[LEDGER_HASH];
        check_points(v);
        frame_leaf(f, leaf);
        if ((at->index + 1) * LEDGER_HASH <= v->tiles.n && !v->tile_told &&
            memcmp(leaf, v->tiles.p + at->index * LEDGER_HASH, LEDGER_HASH) != 0) {
                struct ledger_view r;
                bool named = !f->pruned && ledger_view_parse(f->payload, &r) == 0;
                find(v, "record %llu%s%.*s is not what was sealed (segment %u, byte %llu)",
                     (unsigned long long) at->index, named ? ", " : "", named ? (int) r.id.n : 0,
                     named ? (const char *) r.id.p : "", at->seq, (unsigned long long) at->offset);
                v->tile_told = true; /* the rest follows from it */
        }

        ledger_tree_add(&v->tree, leaf);
        check_record(v, at, f);
        return 0;
}

/* The sealer signs within a second of the first record. */
static bool is_fresh(const struct verify *v)
{
        enum { GRACE_S = 10 };
        int64_t age_us = clock_wall_s() * 1000000 - v->first_us;
        return age_us < GRACE_S * INT64_C(1000000) && age_us > -GRACE_S * INT64_C(1000000);
}

static void check_end(struct verify *v, enum scan_end end, const struct scan_place *at)
{
        static const char *const how[] = {
                [SCAN_BAD] = "a frame is not what was written",
                [SCAN_HEAD] = "the segment is missing or its head is not what was written",
                [SCAN_UNREADABLE] = "the segment cannot be read"
        };

        check_points(v);
        for (size_t i = 0; i < v->point_count; i++)
                if (strcmp(v->points[i].where, "witness") == 0 && v->points[i].size > v->sealed)
                        find(v, "witness: signed for %llu records; the ledger has lost that checkpoint",
                             (unsigned long long) v->points[i].size);

        if (end >= SCAN_BAD)
                find(v, "segment %u, byte %llu (record %llu): %s", at->seq, (unsigned long long) at->offset,
                     (unsigned long long) at->index, how[end]);

        for (; v->point_next < v->point_count; v->point_next++)
                if (v->points_beyond++ == 0)
                        find(v, "%s: it was signed for %llu records, and only %llu can be read",
                             v->points[v->point_next].where,
                             (unsigned long long) v->points[v->point_next].size,
                             (unsigned long long) v->tree.size);

        if (v->points_differ + v->points_beyond > 2)
                find(v, "%llu checkpoints in all do not match for the reasons above",
                     (unsigned long long) v->points_differ + v->points_beyond);

        char digest[LEDGER_DIGEST];
        pruned_digest(&v->pruned, digest);
        if (v->sealed == 0 && v->tree.size > 0 && !is_fresh(v))
                find(v,
                     "no checkpoint covers any of the %llu records: they were never sealed, or their "
                     "checkpoints were removed",
                     (unsigned long long) v->tree.size);

        if (v->pruned.count > v->pruned_told)
                find(v, "%llu payloads are gone, and pruning is recorded for %llu",
                     (unsigned long long) v->pruned.count, (unsigned long long) v->pruned_told);
        else if (v->pruned_all[0] && strcmp(v->pruned_all, digest) != 0)
                find(v, "other payloads are gone than those that were pruned");

        if (v->tiles.n / LEDGER_HASH > v->tree.size)
                find(v, "%llu records were sealed, but only %llu exist",
                     (unsigned long long) (v->tiles.n / LEDGER_HASH), (unsigned long long) v->tree.size);
}

static void map_tiles(struct verify *v, int dir)
{
        AUTO_FD(fd, openat(dir, "tiles/0", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (fd >= 0) /* a sealer that resumes after a kill truncates them */
                (void) ledger_copy(fd, 0, &v->tiles);
}

/* The count known to the last writer of this boot. (After a loss of power the head may be ahead of the
 * disk.) */
static uint64_t known_count(int dir)
{
        AUTO_BUF(bytes);
        struct head h;
        char boot[40];

        ledger_boot_id(boot);
        if (ledger_slurp(dir, "head", &bytes) < 0 || head_get(buf_span(&bytes), &h) < 0)
                return 0;

        return strncmp(h.boot, boot, sizeof h.boot) == 0 ? h.count : 0;
}

/* ---- the report ---- */

static void put_day(struct buf *out, int64_t us)
{
        char text[TEXT_TIME];
        if (text_time(us, 'T', text)[0])
                buf_printf(out, "%sZ", text);
        else
                buf_putc(out, '?');
}

static void versions_json(const struct verify *v, struct buf *out)
{
        buf_puts(out, ",\"versions\":[");
        for (unsigned i = 0; i < v->version_count; i++)
                buf_printf(out, "%s{\"v\":%lld,\"records\":%llu,\"since\":%lld}", i ? "," : "",
                           (long long) v->versions[i].v, (unsigned long long) v->versions[i].records,
                           (long long) v->versions[i].since_us);

        buf_printf(out, "],\"known_version\":%d,\"unknown_fields\":%llu", LEDGER_RECORD_VERSION,
                   (unsigned long long) v->strange.records);
        if (v->strange.records)
                buf_printf(out, ",\"unknown_fields_since\":%lld", (long long) v->strange.since_us);
}

static void versions_text(const struct verify *v, struct buf *out)
{
        for (unsigned i = 0; i < v->version_count; i++) {
                const struct version *x = &v->versions[i];
                buf_printf(out, "%llu record%s of version %lld since ", (unsigned long long) x->records,
                           x->records == 1 ? "" : "s", (long long) x->v);
                put_day(out, x->since_us);
                buf_puts(out, x->v > LEDGER_RECORD_VERSION ? ", which is later than this program\n" : "\n");
        }

        if (v->version_more)
                buf_printf(out, "%llu of yet other versions\n", (unsigned long long) v->version_more);

        if (v->strange.records == 0)
                return;

        buf_printf(out, "%llu record%s fields that this program does not know, since ",
                   (unsigned long long) v->strange.records, v->strange.records == 1 ? " has" : "s have");
        put_day(out, v->strange.since_us);
        buf_puts(out, "; they are kept\n");
}

static void report_json(const struct verify *v, struct buf *out)
{
        buf_printf(out,
                   "{\"ok\":%s,\"records\":%llu,\"sealed\":%llu,\"checkpoints\":%zu,\"unknown\":%llu,"
                   "\"answered\":%llu,"
                   "\"unfinished_runs\":%llu,\"pruned\":%llu,\"gaps\":%llu",
                   v->bad ? "false" : "true", (unsigned long long) v->tree.size,
                   (unsigned long long) v->sealed, v->point_count, (unsigned long long) v->intents_open,
                   (unsigned long long) v->outcomes, (unsigned long long) v->runs_open,
                   (unsigned long long) v->pruned.count, (unsigned long long) v->gaps);
        versions_json(v, out);
        ledger_heads_put(v->heads, true, out);
        buf_puts(out, ",\"findings\":[");
        const char *at = buf_str(&v->findings);
        for (bool first = true; *at; first = false) {
                size_t n = strcspn(at, "\n");
                if (!first)
                        buf_putc(out, ',');
                buf_json(out, span_of(at, n));
                at += n + 1;
        }

        buf_puts(out, "]}\n");
}

static void report_text(const struct verify *v, struct buf *out)
{
        const struct {
                uint64_t n;
                const char *one, *many;
        } counts[] = {
                { v->tree.size > v->sealed ? v->tree.size - v->sealed : 0,
                  "record is not sealed yet: only its checksum protects it",
                  "records are not sealed yet: only their checksums protect them" },
                { v->intents_open, "intent has no outcome: whether that effect happened is unknown",
                  "intents have no outcome: whether those effects happened is unknown" },
                { v->runs_open, "run has no end: it is running, or its keeper was killed",
                  "runs have no end: they are running, or their keeper was killed" },
                { v->pruned.count, "payload was pruned; its hash is there",
                  "payloads were pruned; their hashes are kept" },
                { v->gaps, "time bytes that were not flushed yet were lost in a crash",
                  "times bytes that were not flushed yet were lost in a crash" },
        };

        buf_printf(out, "%llu record%s, %llu of them under %zu checkpoint%s\n",
                   (unsigned long long) v->tree.size, v->tree.size == 1 ? "" : "s",
                   (unsigned long long) v->sealed, v->point_count, v->point_count == 1 ? "" : "s");
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
                if (counts[i].n)
                        buf_printf(out, "%llu %s\n", (unsigned long long) counts[i].n,
                                   counts[i].n == 1 ? counts[i].one : counts[i].many);

        versions_text(v, out);
        ledger_heads_put(v->heads, false, out);
        char shown[600];
        for (const char *at = buf_str(&v->findings); *at;) {
                size_t n = strcspn(at, "\n");
                buf_printf(out, "ALTERED: %s\n", str_inert(span_of(at, n), shown, sizeof shown));
                at += n + 1;
        }

        buf_puts(out, v->bad ? "" : "nothing that is sealed was changed, removed, reordered or added\n");
}

static void verify_done(struct verify *v)
{
        if (v->tiles.p)
                (void) munmap((void *) (uintptr_t) v->tiles.p, v->tiles.n);

        free(v->points);
        free(v->ids.slots);
        free(v->intents.slots);
        free(v->runs.slots);
        buf_done(&v->keys);
        buf_done(&v->notes);
        buf_done(&v->findings);
}

/* A sealer may be making the first key and checkpoint: keys are read before notes, which name later ones, and
 * again if there were none. */
static int read_notes(struct verify *v, int dir, struct buf *ret_notes)
{
        return ledger_slurp(dir, "key.pub", &v->keys) < 0 ||
                               ledger_slurp(dir, "checkpoints", ret_notes) < 0 ||
                               ledger_sealed_size(dir, &v->sealed) < 0 ||
                               (v->keys.n == 0 && ledger_slurp(dir, "key.pub", &v->keys) < 0)
                       ? -1
                       : 0;
}

static int gather_ledger(struct verify *v, int dir, const struct ledger_given *given)
{
        AUTO_BUF(notes);
        AUTO_BUF(witness);
        AUTO_FD(up, openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (read_notes(v, dir, &notes) < 0 ||
            (up >= 0 && ledger_slurp(up, "witness/checkpoint", &witness) < 0))
                return -1;

        remember_hash(v, buf_span(&notes), "checkpoint");
        remember_hash(v, buf_span(&witness), "witness");
        remember_hash(v, span_str(given->notes), given->name);
        if (v->point_count > 0)
                qsort(v->points, v->point_count, sizeof *v->points, by_size);

        return 0;
}

static void find_head(void *ctx, const char *text) { find(ctx, "%s", text); }

static int verify_ledger(struct verify *v, int dir, const struct ledger_given *given, bool json,
                         struct buf *out, bool *ret_ok, struct err *e)
{
        struct scan_place at = { 0 };
        (void) hash_use_hardware();
        if (gather_ledger(v, dir, given) < 0)
                return err_set(e, ERR_IO, errno, "the checkpoints cannot be read: %s", strerror(errno));

        map_tiles(v, dir);
        uint64_t known = known_count(dir); /* first: writers may be at work */
        enum scan_end end = ledger_scan(dir, &at, check_frame, v);
        check_end(v, end, &at);
        if (known > v->tree.size)
                find(v, "%llu records were written, but only %llu exist", (unsigned long long) known,
                     (unsigned long long) v->tree.size);

        check_signatures(v, e);
        if (v->heads)
                v->heads->check(v->cx, v->heads, find_head, v);
        if (json)
                report_json(v, out);
        else
                report_text(v, out);

        bool whole =
                !v->failed && !v->ids.failed && !v->intents.failed && !v->runs.failed && !v->findings.failed;
        *ret_ok = whole && v->bad == 0;
        return whole ? 0 : err_set(e, ERR_MEMORY, 0, "no memory to verify all of the ledger");
}

int ledger_verify_with(const struct cordon_context *cx, int dir, const struct ledger_given *given,
                       struct ledger_heads *heads, bool json, struct buf *out, bool *ret_ok, struct err *e)
{
        struct verify v = { .cx = cx, .heads = heads };
        AUTO_FD(still, openat(dir, "segments", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (still >= 0)
                (void) flock(still, LOCK_SH); /* waits for one who prunes */

        pruned_init(&v.pruned);
        int r = verify_ledger(&v, dir, given, json, out, ret_ok, e);
        verify_done(&v);
        return r;
}

int ledger_verify(const struct cordon_context *cx, int dir, const char *extra, bool json, struct buf *out,
                  bool *ret_ok, struct err *e)
{
        const struct ledger_given given = { extra, "the checkpoint given" };
        return ledger_verify_with(cx, dir, &given, NULL, json, out, ret_ok, e);
}

void ledger_first_finding(const struct buf *report, char *ret, size_t cap)
{
        struct err ignored;
        struct json_doc *doc = json_parse("verify", buf_span(report), &ignored);
        const struct json *all = doc ? json_get(json_root(doc), "findings") : NULL;
        const struct json *first = all ? all->child : NULL;
        (void) str_inert(first ? span_of(first->str, first->len) : span_str("it does not verify"), ret, cap);
        json_free(doc);
}
