/* SPDX-License-Identifier: MIT */
/* face/serve/token_file.h - bearer tokens. The file has their digests; a token is printed once, when it is
 * made.
 */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

enum {
        TOKEN_ID_MAX = 17,
        TOKEN_NAME_MAX = 65,
        TOKEN_GROUPS_MAX = 256,
        TOKENS_MAX = 4096,
        TOKEN_FILE_MAX = 2 << 20
};

enum serve_scope {
        SCOPE_NONE = 0,         /* no token is needed */
        SCOPE_RUN = 1 << 0,     /* start, see and end runs and sessions */
        SCOPE_READ = 1 << 1,    /* lists, records, changes, metrics */
        SCOPE_FILES = 1 << 2,   /* files in and out */
        SCOPE_APPLY = 1 << 3,   /* apply and discard changes */
        SCOPE_APPROVE = 1 << 4, /* answer questions of boxes */
        SCOPE_VAULT = 1 << 5,   /* add and remove credentials */
        SCOPE_ADMIN = 1 << 6,   /* the host: tenants, metrics of all, drain */
        SCOPE_POLICY = 1 << 7,  /* write policies within the tenant's ceiling, and images */
        SCOPE_OWN = 1 << 8,     /* with approve: also what it asked for itself */
        SCOPE_ANY = (1 << 9) - 1
};
/* The name of one scope, by bit number; NULL: there are no more. */
const char *scope_name(unsigned bit);
unsigned scope_bit(const char *name, size_t n); /* 0: it is not one */
void scopes_put(unsigned set, const char *key, struct buf *out);

/* Made by tokens_read() only: whoever has one has proof that the operator registered it. */
struct token {
        char id[TOKEN_ID_MAX];
        char tenant[TOKEN_NAME_MAX];   /* "": the host */
        char digest[65];               /* SHA-256 of the token */
        char mark[65];                 /* of the tenant that it was made for: tenant_mark(); "": of none */
        char person[TOKEN_NAME_MAX];   /* who has it; "": nobody else has this one */
        char groups[TOKEN_GROUPS_MAX]; /* of the person: "a,b" */
        unsigned scopes;
        int64_t created, expires;
};
struct tokens {
        struct token *v;
        size_t n;
};

/* The lines of the file. Returns -1 if one is not a token's: then no token counts. Pure. */
int tokens_read(struct span text, struct tokens *ret, struct err *e);
void tokens_done(struct tokens *t);
/* The token with this text that has not expired at `now`; NULL: none. Takes as long for any text. Pure. */
const struct token *tokens_check(const struct tokens *t, const char *text, int64_t now);
/* A word that names a tenant, policy or credential: a letter first, then letters, digits, `_` and `-`. Pure.
 */
bool token_is_name(const char *text);
/* Names with commas. */
bool token_are_names(const char *text);

/* Calls `each` for every file of the directory `below` that is a name with this ending. */
void names_each(int dir, const char *below, const char *ending, void (*each)(void *ctx, const char *name),
                void *ctx);

/* Reads DIR/tokens; a missing file has none. */
int tokens_load(int dir, struct tokens *ret, struct err *e);
/* Hints a command for this directory of the operator. Returns -1. */
int serve_hint(struct err *e, const char *config, const char *command);
/* Opens the operator's directory; refuses one that others own or may write to. `make`: creates it. */
int serve_config_open(const char *path, bool make, struct err *e);
