/* SPDX-License-Identifier: MIT */
/* base/grant.h - one credential as the vault sends it to the broker of one box: a record of fixed size over
 * a pipe that the keeper made and never reads. Both programs are of the same build. */
#pragma once
#include "base/span.h"

#include <stdint.h>

enum {
        GRANT_SECRET_MIN = 8, /* a shorter secret could not be distinguished from ordinary text */
        GRANT_SECRET_MAX = 4096,
        GRANT_TEXT = 128,
        GRANT_FORM = 512,
        GRANT_SCOPE = 1024, /* what a credential is for */
        GRANT_ASKED = 4096, /* the doors of a run that name it */
        GRANT_NAME = 64,
        GRANTS_MAX = 64
};

/* Where the secret goes in a request. */
enum grant_where {
        GRANT_NOWHERE = 0,
        GRANT_HEADER, /* field: its name */
        GRANT_QUERY,  /* field: the parameter */
        GRANT_BASIC,  /* field: the user name; the secret is the password */
        GRANT_BODY,   /* replaces the placeholder in the body */
        GRANT_SIGV4,  /* signs requests to AWS; the secret is a struct grant_key */
        GRANT_WHERE__COUNT
};

/* A key of AWS, which is stored as ID:SECRET or ID:SECRET:TOKEN. */
struct grant_key {
        struct span id, secret, token; /* token.n 0: none, the key is not a temporary one */
};
bool grant_key_split(struct span text, struct grant_key *ret);
enum { GRANT_WORDS = 3 };
/* The parts of a secret, or of its placeholder, that are looked for in texts; returns their count. */
size_t grant_words(enum grant_where where, struct span secret, struct span ret[GRANT_WORDS]);

struct grant {
        uint32_t size;   /* of this record; a mismatch (another build) is refused */
        uint16_t where;  /* enum grant_where */
        uint16_t live;   /* class: 1 live, 0 test */
        uint32_t length; /* of secret and placeholder */
        uint32_t spare;
        int64_t expires;   /* unix seconds; 0: never */
        uint64_t max_uses; /* per run; 0: unlimited */
        char name[GRANT_NAME];
        char field[GRANT_TEXT], before[GRANT_TEXT], after[GRANT_TEXT];
        char scope[GRANT_ASKED]; /* the doors it may be used at, one per line, from policy_net_scope() */
        uint8_t secret[GRANT_SECRET_MAX], placeholder[GRANT_SECRET_MAX];
};

/* The same secret for cordon-output, which searches output for it: in a file in memory that the keeper passes
 * on and never reads. */
struct grant_word {
        uint32_t size, length;
        char name[GRANT_NAME];
        uint8_t secret[GRANT_SECRET_MAX];
};
