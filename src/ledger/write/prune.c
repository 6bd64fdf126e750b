/* SPDX-License-Identifier: MIT */
/* ledger/write/prune.c - removes payloads by kind and age. A pruned frame keeps its leaf hash, so the tree,
 * every checkpoint and every other proof stay valid; its content is gone.
 *
 * The record of the pruning is sealed before the first payload is removed: `cordon ledger verify` accepts no
 * missing payload without such a record. A second one, at the end, has the digest of the indexes of all
 * payloads that are gone, so that none can go in the place of another. The last segment is closed first,
 * because writers use it. One process at a time: a killed one leaves at most a temporary file that the next
 * one overwrites.
 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/store/store.h"
#include "ledger/write/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

struct prune {
        const char *kind;
        int64_t before_us;
        uint64_t count;
        struct buf *out; /* the segment being rewritten; NULL: only count */
        uint32_t seq;
        bool touched;
};

/* Never prunes what verification itself needs: starts, ends, keys, heads of tenants and the records of
 * pruning. */
static bool frame_goes(const struct prune *p, const struct frame *f)
{
        static const char *const kept[] = { "start", "end", "key", "prune", "gap", "head" };
        struct ledger_view v;
        if (f->pruned || ledger_view_parse(f->payload, &v) < 0 || v.time_us >= p->before_us ||
            (p->kind && !span_is(v.kind, p->kind)) || span_is(v.phase, "intent"))
                return false;

        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
                if (span_is(v.kind, kept[i]))
                        return false;

        return true;
}

static int count_one(void *ctx, const struct scan_place *at, const struct frame *f)
{
        struct prune *p = ctx;
        (void) at;
        p->count += frame_goes(p, f);
        return 0;
}

static int rewrite_one(void *ctx, const struct scan_place *at, const struct frame *f)
{
        struct prune *p = ctx;
        uint8_t head[FRAME_HEAD], leaf[LEDGER_HASH];
        if (at->seq != p->seq)
                return 1;

        if (!frame_goes(p, f)) {
                buf_add(p->out, f->payload.p - FRAME_HEAD, f->size);
                return 0;
        }

        ledger_leaf_hash(f->payload, leaf);
        frame_head(head, leaf, sizeof leaf, true);
        buf_add(p->out, head, sizeof head);
        buf_add(p->out, leaf, sizeof leaf);
        p->touched = true;
        return 0;
}

static int replace_segment(int dir, uint32_t seq, const struct segment_head *h, const struct buf *frames,
                           struct err *e)
{
        uint8_t head[SEGMENT_HEAD];
        char name[16];
        AUTO_FD(segments, store_dir(dir, "segments", e));
        if (segments < 0)
                return -1;

        segment_head_put(head, h);
        segment_name(seq, name);
        AUTO_FD(fd, openat(segments, "pruned", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || frames->failed || fd_write_all(fd, head, sizeof head) < 0 ||
            fd_write_all(fd, frames->p, frames->n) < 0 || fsync(fd) < 0 ||
            renameat(segments, "pruned", segments, name) < 0 || fsync(segments) < 0)
                return err_set(e, ERR_IO, errno, "the segment %s cannot be written: %s", name,
                               strerror(errno));

        return 0;
}

static int prune_segment(int dir, const struct prune *p, struct scan_place *at, struct err *e)
{
        AUTO_BUF(frames);
        char name[16], path[32];
        uint8_t bytes[SEGMENT_HEAD];
        struct segment_head h;

        segment_name(at->seq, name);
        segment_path(at->seq, path);
        AUTO_FD(fd, openat(dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (fd < 0 || pread(fd, bytes, sizeof bytes, 0) != SEGMENT_HEAD ||
            segment_head_get(span_of(bytes, sizeof bytes), &h) < 0)
                return err_set(e, ERR_IO, EUCLEAN, "the segment %s cannot be read", name);

        struct prune one = { .kind = p->kind, .before_us = p->before_us, .out = &frames, .seq = at->seq };
        enum scan_end end = ledger_scan(dir, at, rewrite_one, &one);
        if (end >= SCAN_BAD)
                return err_set(e, ERR_IO, EUCLEAN, "the segment %s is damaged: nothing of it was pruned",
                               name);

        return one.touched ? replace_segment(dir, one.seq, &h, &frames, e) : 0;
}

/* Flushes the buffer before this; after it, no writer uses the segments that will be rewritten. */
static int close_last_segment(struct ledger *l, struct err *e)
{
        struct err ignored;
        return ledger_roll(l, e) < 0 ? -1 : (ledger_flush(l, 100, &ignored), 0);
}

/* Two at once would write the same temporary file, which each renames to a segment, and the one that began
 * earlier would restore what the other removed. */
static int take_turn(int dir, struct err *e)
{
        AUTO_FD(segments, store_dir(dir, "segments", e));
        if (segments < 0)
                return -1;

        if (flock(segments, LOCK_EX | LOCK_NB) == 0)
                return TAKE_FD(segments);

        if (errno != EWOULDBLOCK)
                return err_set(e, ERR_IO, errno, "the segments cannot be locked: %s", strerror(errno));

        (void) err_set(e, ERR_IO, EBUSY,
                       "another `cordon ledger prune` or `verify` is at work: nothing was pruned");
        return err_hint(e, "try again when it has ended");
}

/* Waits until all that is written is sealed. A ledger that never was, for lack of a sealer, is pruned
 * without.
 */
static int await_seal(struct ledger *l, struct err *e)
{
        enum { TRIES = 100 };
        const struct timespec pause = { 0, 100000000 };
        AUTO_BUF(bytes);
        struct head h;
        uint64_t sealed = 0;
        if (ledger_slurp(l->dir, "head", &bytes) < 0 || head_get(buf_span(&bytes), &h) < 0)
                return ledger_cannot(e, "reading its head");

        for (int i = 0; i < TRIES && l->cx; i++) {
                ledger_wake_sealer(l);
                (void) nanosleep(&pause, NULL);
                if (ledger_sealed_size(l->dir, &sealed) == 0 && sealed >= h.count)
                        return 0;
        }

        return sealed == 0 ? 0
                           : err_set(e, ERR_IO, ETIMEDOUT,
                                     "the pruning was recorded, but not sealed: nothing was pruned");
}

static int add_index(void *ctx, const struct scan_place *at, const struct frame *f)
{
        if (f->pruned)
                pruned_add(ctx, at->index);
        return 0;
}

static int record_end(struct ledger *l, struct err *e)
{
        struct pruned all;
        struct scan_place at = { 0 };
        char digest[LEDGER_DIGEST];
        pruned_init(&all);
        if (ledger_scan(l->dir, &at, add_index, &all) >= SCAN_BAD)
                return err_set(e, ERR_IO, EUCLEAN, "the ledger was damaged while it was pruned");

        struct ledger_record r = ledger_record_of(LEDGER_PRUNE, LEDGER_OUTCOME);
        r.count = (int64_t) all.count;
        pruned_digest(&all, digest);
        r.digest = digest;
        r.result = "all that are gone";
        return ledger_append(l, &r, true, NULL, e);
}

static int prune_frames(struct ledger *l, const char *kind, int64_t before_us, uint64_t *ret_count,
                        struct err *e)
{
        struct prune p = { .kind = kind, .before_us = before_us };
        struct scan_place at = { 0 };
        if (ledger_scan(l->dir, &at, count_one, &p) >= SCAN_BAD) {
                (void) err_set(e, ERR_IO, EUCLEAN, "the ledger is damaged: nothing was pruned");
                return err_hint(e, "`cordon ledger verify` shows where");
        }

        *ret_count = p.count;
        if (p.count == 0)
                return 0;

        struct ledger_record r = ledger_record_of(LEDGER_PRUNE, LEDGER_HUMAN);
        r.count = (int64_t) p.count;
        r.target = kind ? kind : "every kind";
        ledger_more_number(&r, "before", before_us);
        int64_t last = ledger_last_segment(l->dir);
        if (ledger_append(l, &r, true, NULL, e) < 0 || close_last_segment(l, e) < 0 || await_seal(l, e) < 0)
                return -1;

        at = (struct scan_place){ .seq = 1 };
        for (int64_t seq = 1; seq <= last; seq++) {
                uint64_t index = at.index;
                at = (struct scan_place){ .seq = (uint32_t) seq, .index = index };
                if (prune_segment(l->dir, &p, &at, e) < 0)
                        return -1;
        }

        return record_end(l, e);
}

int ledger_prune(struct ledger *l, const char *kind, int64_t before_us, uint64_t *ret_count, struct err *e)
{
        AUTO_FD(turn, take_turn(l->dir, e));
        if (turn < 0)
                return -1;
        int r = prune_frames(l, kind, before_us, ret_count, e);
        (void) flock(turn, LOCK_UN); /* explicitly: a child may hold a copy of the descriptor */
        return r;
}

/* The witness moves with the old ledger: its checkpoints are not of the new one. It is moved first, because
 * one left by a kill in between would accuse the new ledger of losing records, while the old one gets
 * another with its next checkpoint; and again at the end, because that may have just happened. */
static int put_aside(const char *place, const char *aside, struct err *e)
{
        AUTO_FD(old, open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        bool bad = old < 0 || (renameat(old, "../witness/checkpoint", old, "witness") < 0 &&
                               errno != ENOENT && errno != ENOTDIR);
        if (bad || rename(place, aside) < 0) {
                int sys = errno;
                if (!bad)
                        (void) renameat(old, "witness", old, "../witness/checkpoint");
                return err_set(e, ERR_IO, sys, "the ledger cannot be put aside: %s", strerror(sys));
        }

        (void) renameat(old, "../witness/checkpoint", old, "witness");
        return 0;
}

int ledger_restart(const struct cordon_context *cx, struct buf *ret_where, struct err *e)
{
        char place[4096], aside[4200];
        if (ledger_place(cx, place, sizeof place, e) < 0)
                return -1;

        (void) snprintf(aside, sizeof aside, "%s-%lld", place, (long long) clock_wall_s());
        if (put_aside(place, aside, e) < 0)
                return -1;

        struct ledger *l = ledger_open(cx, "restart", "", e);
        struct ledger_record r = ledger_record_of(LEDGER_GAP, LEDGER_HUMAN);
        r.target = aside;
        r.result = "the ledger before this one was put aside";
        int bad = l ? ledger_append(l, &r, true, NULL, e) : -1;
        ledger_close(l);
        buf_printf(ret_where, "%s\n", aside);
        return bad ? err_hint(e, "the ledger before is %s; the next run begins another", aside) : 0;
}
