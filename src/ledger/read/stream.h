/* SPDX-License-Identifier: MIT */
/* ledger/read/stream.h - shared by the files that merge ledgers of any size: a ledger is read from its files
 * as it was written, with a window of its bytes in memory, and what must be sorted is sorted on the disk. */
#pragma once
#include "ledger/internal.h"

/* stream_read.c: one ledger, record after record. */
struct stream {
        int dir, fd;       /* the ledger, and the segment that is read; -1: none */
        uint32_t seq;      /* its number */
        int64_t last;      /* the last segment's */
        uint64_t index;    /* of the next record */
        uint64_t offset;   /* of the window's end in the segment */
        uint8_t *window;   /* bytes that were read */
        size_t at, n, cap; /* the next frame, the end, the size */
};
/* Takes over `dir`. Returns 0, or -1 if out of memory. */
int stream_open(struct stream *s, int dir);
void stream_close(struct stream *s);
/* The next record: 1, with its bytes until the next call (an empty span: pruned); 0: no more; -1: unreadable.
 */
int stream_next(struct stream *s, struct span *ret);

/* stream_sort.c: sorts any number of entries with a bounded buffer and a file without a name. */
struct entry {
        uint64_t key;
        uint32_t index;
        uint16_t ledger, use;
};
struct sorter;
/* `place` is a directory on a disk. */
struct sorter *sorter_new(const char *place, struct err *e);
void sorter_free(struct sorter *s);
int sorter_add(struct sorter *s, const struct entry *x, struct err *e);
/* After the last one: entries in order (key, use, ledger, index). 1: *ret is the next; 0: no more; -1: an
 * error. */
int sorter_next(struct sorter *s, struct entry *ret, struct err *e);

/* stream_causes.c: which records wait for a record of another ledger. */
enum { CAUSE_LOST = UINT16_MAX };
struct causes;
struct causes *causes_new(const char *place, struct err *e);
void causes_free(struct causes *c);
/* Each record, once. */
int causes_note(struct causes *c, unsigned ledger, uint64_t index, const struct ledger_view *v,
                struct err *e);
/* After the last record. */
int causes_settle(struct causes *c, unsigned ledgers, struct err *e);
/* The n-th cause of this ledger's records, in their order: `key` is the index of the effect in it, ledger and
 * index are the cause's (CAUSE_LOST: no ledger has it). 1; 0: no more; -1: an error. */
int causes_get(struct causes *c, unsigned ledger, uint64_t n, struct entry *ret);
