/* SPDX-License-Identifier: MIT */
/* ledger/write/append.h - a writer's state, shared by append.c and recover.c. */
#pragma once
#include "ledger/internal.h"

/* "cordonH1", u32 segment, u32 0, u64 records in all, u64 logical clock, u64 end of the last frame, boot id
 * (36 bytes), u32 CRC-32C. Little-endian. */
enum { HEAD_BYTES = 80 };
struct head {
        uint32_t seq;
        uint64_t count, clock, end;
        char boot[36];
};
void head_put(uint8_t bytes[HEAD_BYTES], const struct head *h);
int head_get(struct span bytes, struct head *ret);

/* record_secrets.c: the secrets that no record of one ledger may contain. */
struct ledger_secrets {
        struct secret *v;
        size_t n;
};
int secrets_add(struct ledger_secrets *all, const void *p, size_t n); /* as ledger_secret_add() */
/* Replaces every text with a secret in it. */
void secrets_clean(const struct ledger_secrets *all, struct ledger_record *r);
void secrets_free(struct ledger_secrets *all);

struct ledger {
        const struct cordon_context
                *cx; /* the caller; NULL: opened by its directory, and no sealer is started */
        int dir, head, segment;
        uint32_t segment_seq;
        char run[LEDGER_ID_MAX - 16], source[8], boot[40];
        unsigned next;
        struct buf kept;
        uint64_t oldest_ns;
        bool unsure;       /* a flush to the disk failed: nothing written here counts as durable */
        uint64_t woken_ns; /* when a sealer was last known to run; 0: never */
        int64_t lost;      /* bytes that a recovery truncated, not recorded yet */
        struct ledger_secrets secrets;
};

/* Closes the last segment: the next record begins a new one. */
int ledger_roll(struct ledger *l, struct err *e);
/* segment.c. Sets *e from errno; returns -1. */
int ledger_cannot(struct err *e, const char *doing);
int segment_open(struct ledger *l, uint32_t seq, struct err *e);
int segment_make(struct ledger *l, struct head *h, struct err *e);
/* True if no segment has the next number. False if that cannot be determined. */
bool segment_is_last(const struct ledger *l, uint32_t seq);
/* recover.c */
/* Under the lock: finds the end of the last whole frame and truncates what a killed writer left after it.
 * `known` is the content of the head, or NULL if it is invalid. */
int ledger_recover(struct ledger *l, const struct head *known, struct head *ret, struct err *e);
