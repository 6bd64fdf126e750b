/* SPDX-License-Identifier: MIT */
/* ledger/write/append.c - appends records. Writers are independent processes that may be killed between any
 * two instructions, so all shared state is in files:
 *
 *     lock the head -> is the segment as long as the head states? else recover.c
 *     -> write the frames after it -> write the head -> unlock
 *     -> (durable) flush the segment to the disk, without the lock
 *
 * A kill between the two writes leaves whole frames that the next writer counts; a kill inside the first
 * leaves a torn one that it truncates. Never: rewrites a byte of a whole frame, waits for another writer
 * unless requested.
 */
#include "ledger/write/append.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { KEPT_MAX = 256 << 10, DURABLE_WAIT_MS = 2000, HARDWARE_FROM = 1000 };

struct kept { /* one buffered record: front, digits of the clock, back */
        uint32_t front, back;
        uint64_t clock_seen;
};

static const char head_magic[8] = { 'c', 'o', 'r', 'd', 'o', 'n', 'H', '1' };

void head_put(uint8_t bytes[HEAD_BYTES], const struct head *h)
{
        memset(bytes, 0, HEAD_BYTES);
        memcpy(bytes, head_magic, sizeof head_magic);
        put_u32(bytes + 8, h->seq);
        put_u64(bytes + 16, h->count);
        put_u64(bytes + 24, h->clock);
        put_u64(bytes + 32, h->end);
        memcpy(bytes + 40, h->boot, 36);
        put_u32(bytes + 76, crc32c(0, bytes, 76));
}

int head_get(struct span bytes, struct head *ret)
{
        if (bytes.n != HEAD_BYTES || memcmp(bytes.p, head_magic, sizeof head_magic) != 0 ||
            get_u32(bytes.p + 76) != crc32c(0, bytes.p, 76))
                return -1;

        *ret = (struct head){ .seq = get_u32(bytes.p + 8),
                              .count = get_u64(bytes.p + 16),
                              .clock = get_u64(bytes.p + 24),
                              .end = get_u64(bytes.p + 32) };

        memcpy(ret->boot, bytes.p + 40, 36);
        return 0;
}

/* ---- opening ---- */

struct ledger *ledger_open_at(int dir, const char *run, const char *source, struct err *e)
{
        AUTO_FD(own, fcntl(dir, F_DUPFD_CLOEXEC, 3));
        AUTO_FD(head, openat(dir, "head", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        struct ledger *l = own >= 0 && head >= 0 ? calloc(1, sizeof *l) : NULL;
        if (!l) {
                (void) ledger_cannot(e, "opening its head");
                return NULL;
        }

        l->dir = TAKE_FD(own);
        l->head = TAKE_FD(head);
        l->segment = -1;
        (void) snprintf(l->run, sizeof l->run, "%s", run);
        (void) snprintf(l->source, sizeof l->source, "%s", source ? source : "");
        ledger_boot_id(l->boot);
        return l;
}

struct ledger *ledger_open(const struct cordon_context *cx, const char *run, const char *source,
                           struct err *e)
{
        AUTO_FD(dir, ledger_dir_open(cx, true, e));
        struct ledger *l = dir < 0 ? NULL : ledger_open_at(dir, run, source, e);
        if (l)
                l->cx = cx;

        return l;
}

/* ---- the lock ---- */

static int lock_ledger(struct ledger *l, unsigned wait_ms)
{
        struct flock f = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        uint64_t began = clock_mono_ns();
        for (long pause = 20000;; pause = pause < 1000000 ? pause * 2 : pause) {
                if (fcntl(l->head, F_OFD_SETLK, &f) == 0)
                        return 0;
                if (errno != EAGAIN && errno != EACCES)
                        return -1;
                if (clock_mono_ns() - began >= wait_ms * UINT64_C(1000000)) {
                        errno = EBUSY;
                        return -1;
                }
                struct timespec t = { 0, pause };
                (void) nanosleep(&t, NULL);
        }
}

static void unlock_head(struct ledger *l)
{
        struct flock f = { .l_type = F_UNLCK, .l_whence = SEEK_SET };
        (void) fcntl(l->head, F_OFD_SETLK, &f);
}

static int keep_record(struct ledger *l, const struct ledger_record *r, const char *id, struct err *e);

/* ---- writing, under the lock ---- */

static int find_end(struct ledger *l, struct head *ret, struct err *e)
{
        uint8_t bytes[HEAD_BYTES];
        struct stat st;
        struct head h = { 0 };
        ssize_t n = pread(l->head, bytes, sizeof bytes, 0);
        bool known = n >= 0 && head_get(span_of(bytes, (size_t) n), &h) == 0;
        bool fits = known && strncmp(h.boot, l->boot, sizeof h.boot) == 0 && segment_open(l, h.seq, e) == 0 &&
                    fstat(l->segment, &st) == 0 && (uint64_t) st.st_size == h.end &&
                    segment_is_last(l, h.seq);

        *ret = h;

        return fits ? 0 : ledger_recover(l, known ? &h : NULL, ret, e);
}

static void put_frame(struct buf *out, const char *front, const struct kept *k, uint64_t clock)
{
        char digits[24];
        int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long) clock);
        size_t at = out->n;

        buf_add(out, "\0\0\0\0\0\0\0", FRAME_HEAD);
        buf_add(out, front, k->front);
        buf_add(out, digits, (size_t) n);
        buf_add(out, front + k->front, k->back);
        if (!out->failed)
                frame_head((uint8_t *) out->p + at, out->p + at + FRAME_HEAD, out->n - at - FRAME_HEAD,
                           false);
}

/* Turns the whole buffer into frames; advances the head in memory. */
static int put_frames(struct ledger *l, struct buf *out, struct head *h, struct err *e)
{
        for (size_t at = 0; at < l->kept.n;) {
                struct kept k;
                memcpy(&k, l->kept.p + at, sizeof k);
                h->clock = (h->clock > k.clock_seen ? h->clock : k.clock_seen) + 1;
                h->count++;
                put_frame(out, l->kept.p + at + sizeof k, &k, h->clock);
                at += sizeof k + k.front + k.back;
        }

        return out->failed ? err_set(e, ERR_MEMORY, 0, "no memory for the ledger") : 0;
}

/* A write that does not fit leaves the segment unchanged. */
static int write_frames(struct ledger *l, const struct buf *out, struct head *h, struct err *e)
{
        for (size_t done = 0; done < out->n;) {
                ssize_t n = pwrite(l->segment, out->p + done, out->n - done, (off_t) (h->end + done));
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0) {
                        (void) ledger_cannot(e, "adding a record");
                        (void) !ftruncate(l->segment, (off_t) h->end);
                        return -1;
                }
                done += (size_t) n;
        }

        h->end += out->n;
        return 0;
}

static int write_head(struct ledger *l, struct head *h, struct err *e)
{
        uint8_t bytes[HEAD_BYTES];
        memcpy(h->boot, l->boot, sizeof h->boot);
        head_put(bytes, h);
        return pwrite(l->head, bytes, sizeof bytes, 0) == HEAD_BYTES ? 0
                                                                     : ledger_cannot(e, "writing its head");
}

/* The id that the next record will get. */
static void next_id(const struct ledger *l, char ret_id[LEDGER_ID_MAX])
{
        (void) snprintf(ret_id, LEDGER_ID_MAX, "%s.%s%u", l->run, l->source, l->next + 1);
}

/* Records the bytes that a recovery truncated, before anything else. Does not touch the buffer: a caller may
 * hold a mark in it, and drop the records after it. */
static int record_loss(struct ledger *l, struct buf *out, struct head *h, struct err *e)
{
        struct buf kept = l->kept;
        char id[LEDGER_ID_MAX];
        struct ledger_record r = ledger_record_of(LEDGER_GAP, LEDGER_CLAIM);

        r.bytes = l->lost;
        r.result = "bytes that no flush had covered were lost";
        l->kept = (struct buf){ 0 };
        next_id(l, id);
        (void) snprintf(id + strlen(id), sizeof id - strlen(id), "-gap");
        int bad = keep_record(l, &r, id, e) < 0 || put_frames(l, out, h, e) < 0 ? -1 : 0;
        buf_done(&l->kept);
        l->kept = kept;
        return bad;
}

static int append_locked(struct ledger *l, struct err *e)
{
        struct head h;
        AUTO_BUF(out);
        if (find_end(l, &h, e) < 0)
                return -1;

        bool full = h.seq > 0 && h.end + l->kept.n > SEGMENT_MAX;

        /* Durable records in the new segment depend on everything in the old one. */
        if (full && fdatasync(l->segment) < 0)
                return ledger_cannot(e, "flushing a segment to the disk");

        if ((h.seq == 0 || full) && segment_make(l, &h, e) < 0)
                return -1;

        const off_t before = (off_t) h.end;
        if ((l->lost > 0 && record_loss(l, &out, &h, e) < 0) || put_frames(l, &out, &h, e) < 0 ||
            write_frames(l, &out, &h, e) < 0)
                return -1;

        if (write_head(l, &h, e) < 0) { /* else the next writer would count these frames */
                (void) !ftruncate(l->segment, before);
                return -1;
        }

        l->lost = 0;
        return 0;
}

int ledger_roll(struct ledger *l, struct err *e)
{
        struct head h;
        if (lock_ledger(l, DURABLE_WAIT_MS) < 0)
                return ledger_cannot(e, "locking it");
        int r = find_end(l, &h, e) < 0 || segment_make(l, &h, e) < 0 || write_head(l, &h, e) < 0 ? -1 : 0;
        unlock_head(l);
        return r;
}

int ledger_flush(struct ledger *l, unsigned wait_ms, struct err *e)
{
        if (l->kept.n == 0)
                return 0;

        if (lock_ledger(l, wait_ms) < 0) {
                if (errno == EBUSY)
                        return err_set(e, ERR_IO, EBUSY,
                                       "the ledger cannot be written: another writer holds it");
                return ledger_cannot(e, "locking it");
        }

        int r = append_locked(l, e);
        unlock_head(l);
        if (r == 0)
                l->kept.n = 0;

        return r;
}

void ledger_tick(struct ledger *l)
{
        struct err ignored; /* it is retried, and the last failure is reported */
        if (l->kept.n > 0 && clock_mono_ns() - l->oldest_ns >= LEDGER_COMMIT_MS * UINT64_C(1000000) / 2)
                (void) ledger_flush(l, 0, &ignored);
}

bool ledger_waits(const struct ledger *l) { return l->kept.n > 0; }

/* ---- records ---- */

static int64_t clock_us(clockid_t c)
{
        struct timespec t;
        (void) clock_gettime(c, &t);
        return (int64_t) t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int keep_record(struct ledger *l, const struct ledger_record *r, const char *id, struct err *e)
{
        AUTO_BUF(front);
        AUTO_BUF(back);
        struct record_stamp s = { .id = id,
                                  .run = l->run,
                                  .time_us = clock_us(CLOCK_REALTIME),
                                  .mono_us = clock_us(CLOCK_MONOTONIC) };

        struct ledger_record clean = *r;
        secrets_clean(&l->secrets, &clean);
        if (record_encode(&clean, &s, &front, &back, e) < 0)
                return -1;

        struct kept k = { (uint32_t) front.n, (uint32_t) back.n, r->clock_seen };
        if (l->kept.n == 0)
                l->oldest_ns = clock_mono_ns();

        size_t before = l->kept.n;
        buf_add(&l->kept, &k, sizeof k);
        buf_add(&l->kept, front.p, front.n);
        buf_add(&l->kept, back.p, back.n);
        if (!l->kept.failed)
                return 0;

        l->kept.n = before;
        l->kept.failed = false;
        return err_set(e, ERR_MEMORY, 0, "no memory for a record");
}

size_t ledger_mark(const struct ledger *l) { return l->kept.n; }
void ledger_forget(struct ledger *l, size_t mark) { l->kept.n = mark < l->kept.n ? mark : l->kept.n; }
bool ledger_unsure(const struct ledger *l) { return l->unsure; }

/* Also flushes the earlier records of this process: on the disk as in time, a cause precedes its effect.
 * Does not retry after a failed flush: the kernel may have dropped the dirty pages, and would then report
 * success. */
int ledger_commit(struct ledger *l, size_t mark, struct err *e)
{
        if (l->unsure || ledger_flush(l, DURABLE_WAIT_MS, e) < 0) {
                ledger_forget(l, mark); /* not recorded: the effect is denied */
                return l->unsure ? err_set(e, ERR_IO, EIO,
                                           "the ledger cannot be written: a flush to its disk failed")
                                 : -1;
        }

        if (l->segment < 0 || fdatasync(l->segment) == 0)
                return 0;

        l->unsure = true;
        return ledger_cannot(e, "flushing it to the disk");
}

int ledger_append(struct ledger *l, const struct ledger_record *r, bool durable, char ret_id[LEDGER_ID_MAX],
                  struct err *e)
{
        char id[LEDGER_ID_MAX];
        struct err ignored;
        size_t before = l->kept.n;

        if (r->name)
                (void) snprintf(id, sizeof id, "%s.%s", l->run, r->name);
        else
                next_id(l, id);

        if (keep_record(l, r, id, e) < 0)
                return -1;

        if (durable && ledger_commit(l, before, e) < 0)
                return -1;

        l->next += r->name == NULL;
        if (l->next == HARDWARE_FROM)
                (void) hash_use_hardware();

        if (ret_id)
                memcpy(ret_id, id, sizeof id);

        if (l->kept.n > KEPT_MAX)
                (void) ledger_flush(l, 0, &ignored);

        return 0;
}

void ledger_close(struct ledger *l)
{
        struct err ignored;
        if (!l)
                return;

        (void) ledger_flush(l, 100, &ignored);
        fd_close(&l->segment);
        fd_close(&l->head);
        fd_close(&l->dir);
        buf_done(&l->kept);
        secrets_free(&l->secrets);
        free(l);
}

void ledger_give_up(struct ledger *l)
{
        l->kept.n = 0;
        ledger_close(l);
}
