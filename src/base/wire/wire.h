/* SPDX-License-Identifier: MIT */
/* base/wire/wire.h - messages between cordon's own processes, each with at most one file descriptor.
 *
 * A message has a form: a type, a version, and a list of fields of the struct that holds it in memory. On
 * the wire it is
 *
 *     type u16, version u16, length of the rest u32, then the fields in order, little-endian;
 *     a text is its length u16 and its bytes, without NUL; an array of bytes is all of them
 *
 * with no bytes left over: each message has one encoding. The transport carries the descriptor, not the
 * message. SOCK_SEQPACKET keeps the message boundaries.
 */
#pragma once
#include "base/span.h"

#include <stddef.h>
#include <stdint.h>

enum wire_kind { WIRE_U8 = 1, WIRE_U16, WIRE_U32, WIRE_U64, WIRE_TEXT, WIRE_RAW };
struct wire_field {
        uint8_t kind; /* enum wire_kind */
        uint16_t at;  /* offset in the struct */
        uint16_t cap; /* TEXT: size of the array, with the NUL; RAW: size of the array */
};
struct wire_form {
        uint16_t type, version, count;
        uint32_t size; /* of the struct */
        const struct wire_field *fields;
};
/* A field of a struct; the width of a number follows from its type. */
#define WIRE_NUMBER(s, m)                                                                                    \
        {                                                                                                    \
                sizeof(((s *) 0)->m) == 1   ? WIRE_U8                                                        \
                : sizeof(((s *) 0)->m) == 2 ? WIRE_U16                                                       \
                : sizeof(((s *) 0)->m) == 4 ? WIRE_U32                                                       \
                                            : WIRE_U64,                                                      \
                        offsetof(s, m), 0                                                                    \
        }
#define WIRE_STRING(s, m)                                                                                    \
        {                                                                                                    \
                WIRE_TEXT, offsetof(s, m), sizeof(((s *) 0)->m)                                              \
        }
#define WIRE_BYTES(s, m)                                                                                     \
        {                                                                                                    \
                WIRE_RAW, offsetof(s, m), sizeof(((s *) 0)->m)                                               \
        }
#define WIRE_FORM(type_, version_, s, f)                                                                     \
        {                                                                                                    \
                .type = (type_), .version = (version_), .size = sizeof(s), .count = sizeof(f) / sizeof *(f), \
                .fields = (f)                                                                                \
        }

/* One number for each form. */
enum wire_type {
        WIRE_EGRESS_ORDER = 1,
        WIRE_EGRESS_MESSAGE,
        WIRE_LEDGER_ASK,
        WIRE_LEDGER_ANSWER,
        WIRE_WALL_ORDER,
        WIRE_WALL_BIRTH,
        WIRE_REGISTRY_ASK,
        WIRE_JANITOR_ORDER,
        WIRE_RESOLVE_ASK,
        WIRE_RESOLVE_ANSWER,
        WIRE_VAULT_REQUEST,
        WIRE_VAULT_WANTED,
        WIRE_HOST_CALL,
        WIRE_HOST_RESULT,
        WIRE_EGRESS_HELD,
        WIRE_EGRESS_GATE,
        WIRE_SESSION_JOINED,
        WIRE_OUTPUT_ASK,
        WIRE_OUTPUT_LINE,
        WIRE_SIGNER_ORDER,
        WIRE_SIGNER_MESSAGE,
        WIRE_LEDGER_CAUSES,
        WIRE_WALL_MESSAGE = 32 /* and its word */
};

enum { WIRE_HEAD = 8, WIRE_MAX = 4096 };

/* wire_form.c: pure. Returns the length in `out`, or 0 if it exceeds `cap`. A text without NUL ends with its
 * array. */
size_t wire_encode(const struct wire_form *f, const void *message, uint8_t *out, size_t cap);
/* Returns 0, or -1 if `in` is not exactly one message of this form; then *ret is unchanged. */
int wire_decode(const struct wire_form *f, struct span in, void *ret);
/* Cuts the first message off a stream of them; returns it, or an empty span if it is not whole. */
struct span wire_cut(struct span *in);

/* Whether this descriptor is an end of such a pair. */
bool wire_is_end(int fd);
/* Makes a socket pair, both ends close-on-exec. Returns 0, or -1 with errno. */
int wire_pair(int ret_ends[2]);
/* Returns 0, or -1 with errno. `pass` is a descriptor to send, or -1. */
int wire_put(int fd, const struct wire_form *f, const void *message, int pass);
/* The same without blocking: drops the message if the peer's queue is full. */
int wire_put_now(int fd, const struct wire_form *f, const void *message);
/* Returns 1 for a whole message, 0 if the peer has closed, -1 with errno (EPROTO: another message, or more
 * than one descriptor). `ret_pass` receives a descriptor (close-on-exec) or -1; NULL: a descriptor is an
 * error. */
int wire_take(int fd, const struct wire_form *f, void *ret, int *ret_pass);
/* The same for a message of any of several forms of one struct; *ret_which is the index of its form. */
int wire_take_any(int fd, const struct wire_form *forms, size_t count, void *ret, size_t *ret_which,
                  int *ret_pass);

/* The transport below: bytes as they are, without a form. */
int wire_send(int fd, const void *p, size_t n, int pass);
/* Like wire_take(), for exactly `n` bytes. */
int wire_recv(int fd, void *p, size_t n, int *ret_pass);
