/* SPDX-License-Identifier: MIT */
/* broker/vault/vault.h - sealed credentials in the state directory. This library links no cryptography: names
 * and bindings are stored in the clear; only the program cordon-vault, which is started for each task,
 * handles secrets.
 *
 *     STATE/vault/key     how the vault's key is protected, and the key, wrapped
 *     STATE/vault/c.NAME  one line of JSON (the binding), a newline, then the sealed secret; the line is
 *                         authenticated with it, so that a binding cannot be changed without the key
 */
#pragma once
#include "base/buf.h"
#include "base/child.h"
#include "base/context/context.h"
#include "base/err.h"
#include "base/grant.h"

#include <stdbool.h>
#include <sys/types.h>

#define VAULT_PROGRAM "cordon-vault"

enum { VAULT_TTLS = 3 };

struct vault_meta {
        char name[GRANT_NAME];
        char env[GRANT_NAME];  /* the variable that gets the placeholder; "": none; of a key of AWS: A:B:C */
        char file[GRANT_TEXT]; /* below the box's home; gets the placeholder in this format; "": none */
        char form[GRANT_FORM];
        char field[GRANT_TEXT], before[GRANT_TEXT], after[GRANT_TEXT];
        uint32_t where; /* enum grant_where */
        uint32_t live;
        int64_t created, expires;
        uint64_t max_uses;
        char scope[GRANT_SCOPE];     /* the net doors that it is for, one per line; "": any */
        int64_t ttl_was[VAULT_TTLS]; /* lifetimes before the last rotations, oldest first; 0: unlimited */
        unsigned ttl_count;
};

/* Letters, digits, "._-"; does not begin with a dot. */
bool vault_name_ok(const char *name);
/* "Authorization: Bearer {}" into field, before and after. */
int vault_header_read(const char *text, struct vault_meta *m, struct err *e);
/* The variables in which tools look for a key of AWS. */
#define VAULT_AWS_VARIABLES "AWS_ACCESS_KEY_ID:AWS_SECRET_ACCESS_KEY:AWS_SESSION_TOKEN"
/* aws_key.c: rewrites a key of AWS as ID:SECRET or ID:SECRET:TOKEN, from that form or from a text that names
 * its parts, as `aws configure export-credentials` and ~/.aws/credentials do. Returns its length, or -1:
 * there is none, or there are two. */
ssize_t vault_aws_key(struct span text, char *ret, size_t cap);
/* form.c: the file in which a tool looks for it. `form` NULL: the known format of this file. */
int vault_form_read(const char *file, const char *form, struct vault_meta *m, struct err *e);
bool vault_form_ok(const char *file, const char *form);
/* Returns the length of a placeholder field that begins here ({}, {user}, {host}, {host:port}), and its
 * name; 0: none. */
size_t vault_form_hole(const char *at, struct span *ret_hole);
const char *vault_where_name(enum grant_where w);
/* One line of JSON, without a newline. */
void vault_meta_print(const struct vault_meta *m, struct buf *out);
int vault_meta_parse(struct span line, struct vault_meta *ret_meta, struct err *e);

/* ---- life.c: lifetimes and audit ---- */
int64_t vault_life_most(bool live); /* maximum lifetime of a class, in seconds */
int vault_life_judge(const struct vault_meta *m, struct err *e);
/* Rotates: the lifetime begins again; ttl 0: unchanged. */
void vault_life_renew(struct vault_meta *m, int64_t ttl, int64_t now);
enum vault_debt {
        VAULT_DEBT_LIFETIME = 0, /* longer than its class allows */
        VAULT_DEBT_GROWTH,       /* longer at each of its last three rotations */
        VAULT_DEBT_EXPIRED,
        VAULT_DEBT_UNBOUND, /* without a particular destination */
        VAULT_DEBT__COUNT
};
bool vault_owes(const struct vault_meta *m, enum vault_debt d, int64_t now);
const char *vault_debt_name(enum vault_debt d);
void vault_debt_print(const struct vault_meta *m, enum vault_debt d, struct buf *out);
void vault_debt_next(const struct vault_meta *m, enum vault_debt d, struct buf *out); /* what to type */

/* ---- scope_read.c, scope.c: the scope of a credential ---- */
/* Converts net doors with methods, one per line, into canonical form. */
int vault_scope_read(const char *lines, char ret_scope[GRANT_SCOPE], struct err *e);
/* Checks whether a credential for `scope` may be released for the doors in `asked`. Returns -1 on error,
 * with the offending door in *e. */
int vault_scope_judge(const char *name, const char *scope, const char *asked, struct err *e);
/* Checks whether it may be released for these doors, in this stage and at this time. Returns -1 on error
 * with *e set. */
int vault_may_give(const struct vault_meta *m, bool stage_live, int64_t now, const char *asked,
                   struct err *e);

/* ---- the directory ---- */
int vault_dir(const struct cordon_context *cx, struct err *e); /* created if missing */
int vault_list(const struct cordon_context *cx, void (*each)(void *ctx, const struct vault_meta *m),
               void *ctx, struct err *e);
int vault_remove(const struct cordon_context *cx, const char *name, struct err *e);
/* Reads the binding of one entry; creates nothing. Returns -1 if the vault or the entry does not exist. */
int vault_meta_peek(const struct cordon_context *cx, const char *name, struct vault_meta *ret_meta,
                    struct err *e);
/* The binding of one entry. */
int vault_meta_load(int dir, const char *name, struct vault_meta *ret_meta, struct err *e);

/* ---- tasks for cordon-vault ---- */
enum vault_op { VAULT_NOTHING = 0, VAULT_ADD, VAULT_ROTATE, VAULT_SCOPE, VAULT_GIVE, VAULT_OP__COUNT };
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
        VAULT_FD_PASSPHRASE,
        VAULT_FD_WORDS
};

struct vault_request { /* no secret in it */
        uint32_t op;
        uint32_t protect;          /* ADD to an empty vault; else ignored */
        uint32_t has_passphrase;   /* a descriptor delivers it; else ask on the terminal */
        struct vault_meta meta;    /* ADD, ROTATE (the name, and a new scope) */
        char from_env[GRANT_NAME]; /* this variable holds the secret, not descriptor 0 */
        char key_file[1024];
        int64_t ttl_s;       /* ROTATE: a new lifetime; 0: unchanged */
        uint32_t stage_live; /* GIVE: the stage is live */
        uint32_t count;      /* GIVE */
        char policy[80]; /* GIVE: the digest of the box's policy, from which its placeholders are derived */
        char names[GRANTS_MAX][GRANT_NAME];
        char asked[GRANTS_MAX][GRANT_ASKED]; /* the doors that name it: policy_net_scope(), one per line */
};

/* request_form.c: a request as a stream of messages, the first without names and `asked`, then one for each
 * name. Decoding returns 0, or -1 if `in` is not exactly that; it is checked as far as lengths go. */
void vault_request_encode(const struct vault_request *q, struct buf *out);
int vault_request_decode(struct span in, struct vault_request *ret);

/* One placeholder, for the keeper: the part that the box may see. */
struct vault_told {
        char name[GRANT_NAME];
        char env[GRANT_NAME];
        char file[GRANT_TEXT], form[GRANT_FORM], user[GRANT_TEXT];
        char placeholder[GRANT_SECRET_MAX + 1];
};

/* ADD and ROTATE. `secret` is read to its end (-1 with from_env); `passphrase` may be -1. */
int vault_work(const struct cordon_context *cx, struct vault_request *q, int secret, int passphrase,
               struct err *e);
/* GIVE, which never blocks: starts cordon-vault, which writes secrets to `grants` (the write end of the
 * broker's pipe) and `words`; this process never reads them. */
struct vault_giving {
        struct child child; /* wait for its end */
        int report, told;
};
#define VAULT_NOT_GIVING ((struct vault_giving){ .child = CHILD_NONE, .report = -1, .told = -1 })
/* `words`: a file in memory that gets each as a struct grant_word, for cordon-output. */
struct vault_lines {
        int grants, words, passphrase; /* passphrase: or -1 */
};
int vault_give(const struct cordon_context *cx, struct vault_request *q, const struct vault_lines *to,
               struct vault_giving *ret, struct err *e);
/* Returns 1 if it has ended, with its placeholders; 0 if not yet; -1 if it released nothing that a broker
 * could use. */
int vault_given(struct vault_giving *g, struct vault_told *ret_told, size_t count, struct err *e);
/* Kills it if it still runs. */
void vault_giving_end(struct vault_giving *g);
/* The default path of a key file. */
int vault_default_key_file(const struct cordon_context *cx, char *ret_path, size_t cap, struct err *e);

/* The head of STATE/vault/key, which states in the clear how the key is protected. */
enum { VAULT_KEY_PROTECT_AT = 8, VAULT_KEY_PATH_AT = 40, VAULT_KEY_PATH = 1024 };
/* The key file of the vault, valid or not; of one that is yet to be made, the default. Returns -1 if it is
 * not protected by a file. */
int vault_key_file(const struct cordon_context *cx, char ret_path[VAULT_KEY_PATH]);
