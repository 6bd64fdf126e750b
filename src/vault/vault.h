/* SPDX-License-Identifier: MIT */
/* vault/vault.h - sealed credentials in the state directory. What is here links no cryptography: names and
 * bindings are read in the clear, secrets are only ever touched by the program cordon-vault, which is started
 * for each piece of work and ends with it.
 *
 *   STATE/vault/key     how the vault's key is protected, and the key, wrapped
 *   STATE/vault/c.NAME  one line of JSON (the binding), a newline, then the sealed secret; the line is
 *                       authenticated with it, so that a binding cannot be changed without the key */
#pragma once
#include "base/buf.h"
#include "base/child.h"
#include "base/err.h"
#include "base/grant.h"
#include "context/context.h"

#include <stdbool.h>
#include <sys/types.h>

#define VAULT_PROGRAM "cordon-vault"

enum { VAULT_TTLS = 3 };

struct vault_meta {
        char name[GRANT_NAME];
        char env[GRANT_NAME];  /* the variable that gets the placeholder; "": none */
        char file[GRANT_TEXT]; /* below the box's home, gets the placeholder in this form; "": none */
        char form[GRANT_FORM];
        char field[GRANT_TEXT], before[GRANT_TEXT], after[GRANT_TEXT];
        uint32_t where; /* enum grant_where */
        uint32_t live;
        int64_t created, expires;
        uint64_t max_uses;
        char scope[GRANT_SCOPE];     /* net doors that it is for, one a line; "": any */
        int64_t ttl_was[VAULT_TTLS]; /* lifetimes before the last rotations, oldest first; 0: for ever */
        unsigned ttl_count;
};

/* Letters, digits, "._-"; does not begin with a dot. */
bool vault_name_ok(const char *name);
/* "Authorization: Bearer {}" into field, before and after. */
int vault_header_read(const char *text, struct vault_meta *m, struct err *e);
/* form.c: the file in which a tool looks for it. `form` NULL: the one that is known for this file. */
int vault_form_read(const char *file, const char *form, struct vault_meta *m, struct err *e);
bool vault_form_ok(const char *file, const char *form);
/* The length of a hole that begins here ({}, {user}, {host}, {host:port}), and what is in it; 0: none. */
size_t vault_form_hole(const char *at, struct span *ret_hole);
const char *vault_where_name(enum grant_where w);
/* One line of JSON, without a newline. */
void vault_meta_print(const struct vault_meta *m, struct buf *out);
int vault_meta_parse(struct span line, struct vault_meta *ret_meta, struct err *e);

/* ---- life.c: lifetimes, and what a vault owes ---- */
int64_t vault_life_most(bool live); /* seconds that a class may live */
int vault_life_judge(const struct vault_meta *m, struct err *e);
/* A rotation: the lifetime begins again; ttl 0: as long as it was. */
void vault_life_renew(struct vault_meta *m, int64_t ttl, int64_t now);
enum vault_debt {
        VAULT_DEBT_LIFETIME = 0, /* longer than its class may live */
        VAULT_DEBT_GROWTH,       /* longer at each of its last three rotations */
        VAULT_DEBT_EXPIRED,
        VAULT_DEBT_UNBOUND, /* for no destination in particular */
        VAULT_DEBT__COUNT
};
bool vault_owes(const struct vault_meta *m, enum vault_debt d, int64_t now);
const char *vault_debt_name(enum vault_debt d);
void vault_debt_print(const struct vault_meta *m, enum vault_debt d, struct buf *out);
void vault_debt_next(const struct vault_meta *m, enum vault_debt d, struct buf *out); /* what to type */

/* ---- scope.c: what a credential is for ---- */
/* Net doors with methods, one a line, into their canonical form. */
int vault_scope_read(const char *lines, char ret_scope[GRANT_SCOPE], struct err *e);
/* May a credential for `scope` be handed out for the doors in `asked`? -1 and the door that is too much. */
int vault_scope_judge(const char *name, const char *scope, const char *asked, struct err *e);
/* May it be handed out for these doors, in this stage and at this time? -1 and why not. */
int vault_may_give(const struct vault_meta *m, bool stage_live, int64_t now, const char *asked,
                   struct err *e);

/* ---- the directory ---- */
int vault_dir(const struct cordon_context *cx, struct err *e); /* made where it is missing */
int vault_list(const struct cordon_context *cx, void (*each)(void *ctx, const struct vault_meta *m),
               void *ctx, struct err *e);
int vault_remove(const struct cordon_context *cx, const char *name, struct err *e);
/* The binding of one entry, of a vault that is there; nothing is made. -1: it is not. */
int vault_meta_peek(const struct cordon_context *cx, const char *name, struct vault_meta *ret_meta,
                    struct err *e);
/* The binding of one entry. */
int vault_meta_load(int dir, const char *name, struct vault_meta *ret_meta, struct err *e);

/* ---- work for cordon-vault ---- */
enum vault_op { VAULT_NOTHING = 0, VAULT_ADD, VAULT_ROTATE, VAULT_GIVE, VAULT_OP__COUNT };
enum vault_protect {
        VAULT_PROTECT_DEFAULT = 0,
        VAULT_BY_FILE,
        VAULT_BY_PASSPHRASE,
        VAULT_BY_KEYRING,
        VAULT_PROTECT__COUNT
};
const char *vault_protect_name(enum vault_protect p);

/* Its descriptors at the start: 0 the secret (ADD, ROTATE); the others as named. */
enum {
        VAULT_FD_REQUEST = 3,
        VAULT_FD_DIR,
        VAULT_FD_REPORT,
        VAULT_FD_TOLD,
        VAULT_FD_GRANTS,
        VAULT_FD_PASSPHRASE
};

struct vault_request { /* of fixed size; no secret in it */
        uint32_t size;
        uint32_t op;
        uint32_t protect;          /* ADD to an empty vault; else as it is */
        uint32_t has_passphrase;   /* there is a descriptor for it; else the terminal is asked */
        struct vault_meta meta;    /* ADD, ROTATE (the name, and another scope) */
        char from_env[GRANT_NAME]; /* the secret is in this variable, not in descriptor 0 */
        char key_file[1024];
        int64_t ttl_s;       /* ROTATE: another lifetime; 0: as it was */
        uint32_t stage_live; /* GIVE: the stage is live */
        uint32_t count;      /* GIVE */
        char policy[80];     /* GIVE: the digest of the box's policy, which its placeholders are made for */
        char names[GRANTS_MAX][GRANT_NAME];
        char asked[GRANTS_MAX][GRANT_ASKED]; /* the doors that name it: policy_net_scope(), one a line */
};

/* One placeholder, for the keeper: what the box may see. */
struct vault_told {
        char name[GRANT_NAME];
        char env[GRANT_NAME];
        char file[GRANT_TEXT], form[GRANT_FORM], user[GRANT_TEXT];
        char placeholder[GRANT_SECRET_MAX + 1];
};

/* ADD and ROTATE. `secret` is read to its end (-1 with from_env); `passphrase` may be -1. */
int vault_work(const struct cordon_context *cx, struct vault_request *q, int secret, int passphrase,
               struct err *e);
/* GIVE, which never waits: cordon-vault is started, and writes secrets to `grants` (the writing end of the
 * broker's pipe), which are never seen here. */
struct vault_giving {
        struct child child; /* whose end is to be waited for */
        int report, told;
};
#define VAULT_NOT_GIVING ((struct vault_giving){ .child = CHILD_NONE, .report = -1, .told = -1 })
int vault_give(const struct cordon_context *cx, struct vault_request *q, int grants, int passphrase,
               struct vault_giving *ret, struct err *e);
/* 1: it has ended, and these are its placeholders; 0: not yet; -1: nothing was given that a broker could use.
 */
int vault_given(struct vault_giving *g, struct vault_told *ret_told, size_t count, struct err *e);
/* Ends it, if it still runs. */
void vault_giving_end(struct vault_giving *g);
/* Where a key file goes when none is named. */
int vault_default_key_file(const struct cordon_context *cx, char *ret_path, size_t cap, struct err *e);

/* How STATE/vault/key begins, which says in the clear what protects it. */
enum { VAULT_KEY_PROTECT_AT = 8, VAULT_KEY_PATH_AT = 40, VAULT_KEY_PATH = 1024 };
/* The key file of the vault that is there, whether or not it is any good. -1: no file protects it. */
int vault_key_file(const struct cordon_context *cx, char ret_path[VAULT_KEY_PATH]);
