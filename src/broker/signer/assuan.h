/* SPDX-License-Identifier: MIT */
/* broker/signer/assuan.h - the protocol of gpg-agent (Assuan, a line for a request), as far as a box may
 * speak it. Pure: lines in, lines out. */
#pragma once
#include "base/buf.h"

enum { ASSUAN_LINE_MAX = 1000, GRIP_HEX = 40, HASH_HEX = 128, CIPHER_MAX = 16384 };

enum assuan_request {
        ASSUAN_ANSWERED = 0, /* the answer is in `out` */
        ASSUAN_BYE,          /* the same, and the connection ends */
        ASSUAN_SIGN,         /* key, algorithm and hash are set */
        ASSUAN_DECRYPT,      /* key and cipher are set */
        ASSUAN_READ_KEY,     /* key is set: its public part */
        ASSUAN_DENIED        /* the answer is in `out`, *ret_what says what was refused */
};

struct assuan_client {
        char key[GRIP_HEX + 1];
        char algorithm[24], hash[HASH_HEX + 1];
        struct buf cipher; /* still escaped, as it came: D lines without their mark, each with its newline */
        bool inquires;     /* its next lines are the ciphertext */
};

/* Doors of the box: keygrips. */
typedef bool assuan_is_permitted(void *ctx, const char *grip, bool decrypt);
struct assuan_keys {
        assuan_is_permitted *permitted;
        const char *(*at)(void *ctx, size_t i); /* the i-th keygrip of a door; NULL: no more */
        void *ctx;
};

/* A line without its newline. */
enum assuan_request assuan_read(struct assuan_client *c, struct span line, const struct assuan_keys *keys,
                                struct buf *out, const char **ret_what);
void assuan_client_done(struct assuan_client *c);
/* Copies at most `cap` bytes with what would end a line or an argument escaped: for SETKEYDESC. */
void assuan_put_escaped(struct buf *out, const char *text);
