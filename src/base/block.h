/* SPDX-License-Identifier: MIT */
/* base/block.h - serializes structs with pointers into one position-independent block of memory.
 *
 *     head: magic, version, layout, kind, length, digest
 *     the root struct, then the data its fields point to, in the order of their table, each at the next
 *     free offset
 *
 * A pointer is stored as an offset from the head, 0 for NULL; padding is zero, so equal structs make equal
 * blocks. A reader accepts only the arrangement that the writer makes: every offset is the next one, every
 * text ends inside, every number is in its range, and no bytes are left over.
 */
#pragma once
#include "base/buf.h"
#include "base/err.h"

enum block_form {
        BLOCK_NUMBER = 0, /* unsigned, of `size` bytes, `times` of them, each at most `most` */
        BLOCK_TEXT,       /* const char *; `most` 1: may be NULL */
        BLOCK_TEXTS,      /* const char **, ends with NULL */
        BLOCK_LIST        /* an array of `of`, and its length in a size_t at `count_at` */
};

struct block_field {
        enum block_form form;
        size_t at, size, times;
        uint64_t most;
        const struct block_type *of;
        size_t count_at;
};

struct block_type {
        size_t size;
        const struct block_field *fields;
        size_t field_count;
        uint32_t kind, version; /* of a root */
};

#define BLOCK_SIZE(T, f) sizeof(((T *) 0)->f)
#define BLOCK_UPTO(T, f, limit)                                                                              \
        {                                                                                                    \
                .form = BLOCK_NUMBER, .at = offsetof(T, f), .size = BLOCK_SIZE(T, f), .times = 1,            \
                .most = (limit)                                                                              \
        }
#define BLOCK_ANY(T, f)  BLOCK_UPTO(T, f, UINT64_MAX)
#define BLOCK_BOOL(T, f) BLOCK_UPTO(T, f, 1)
#define BLOCK_MANY(T, f, limit)                                                                              \
        {                                                                                                    \
                .form = BLOCK_NUMBER, .at = offsetof(T, f), .size = BLOCK_SIZE(T, f[0]),                     \
                .times = BLOCK_SIZE(T, f) / BLOCK_SIZE(T, f[0]), .most = (limit)                             \
        }
#define BLOCK_STRING(T, f, nullable)                                                                         \
        {                                                                                                    \
                .form = BLOCK_TEXT, .at = offsetof(T, f), .most = (nullable)                                 \
        }
#define BLOCK_STRINGS(T, f)                                                                                  \
        {                                                                                                    \
                .form = BLOCK_TEXTS, .at = offsetof(T, f)                                                    \
        }
#define BLOCK_ARRAY(T, f, count, type)                                                                       \
        {                                                                                                    \
                .form = BLOCK_LIST, .at = offsetof(T, f), .of = &(type), .count_at = offsetof(T, count)      \
        }
#define BLOCK_FIELDS(table) .fields = (table), .field_count = sizeof(table) / sizeof *(table)

/* Appends the block of *root at a multiple of 8. Sets out->failed if an allocation fails. */
void block_seal(const struct block_type *t, const void *root, struct buf *out);
/* Computes the SHA-256 of a block, excluding its digest field; the second function stores it in the block. */
void block_digest(struct span block, uint8_t ret_digest[32]);
void block_stamp(uint8_t *block, size_t n);
/* Checks the block at the beginning of p, turns its offsets into pointers, and returns the root and the
 * length of the block. The digest of a stamped block must match. On error the contents of p are undefined. */
int block_open(const struct block_type *t, void *p, size_t n, const void **ret_root, size_t *ret_length,
               struct err *e);
