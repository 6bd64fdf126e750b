/* SPDX-License-Identifier: MIT */
/* ledger/write/sealer.h - the sealer's parts, only in the program cordon-ledger. */
#pragma once
#include "ledger/write/append.h"

/* sign.c: Ed25519 by libcrypto, keys in the format of Go's note package and C2SP. */
struct key {
        char name[64];
        uint8_t id[4];
        uint8_t secret[32], public[32];
        bool has_secret;
};
/* Reads STATE/ledger/key; creates it, and key.pub, if it does not exist. */
int key_load(int dir, struct key *ret, struct err *e);
/* A rotation in two steps, with the signed checkpoint that names the new key between them. The first stores
 * it as key.next. The second makes it the ledger's key; before that checkpoint exists it is dropped. The next
 * sealer repeats the second step after a kill. */
int key_rotate_begin(int dir, const struct key *old, struct key *ret_new, struct err *e);
int key_rotate_end(int dir, struct err *e);
int key_sign_note(const struct key *k, struct span text, struct buf *ret_line, struct err *e);
/* Parses the next key of a text of "NAME+HASH+BASE64" lines. Returns 1; 0 at the end; -1 if it is not a key.
 */
int key_public_next(struct span *rest, struct key *ret);
/* The key that a checkpoint names as the next. */
bool key_note_next(const struct ledger_note *n, struct key *ret);
/* Returns 1 if the note has a valid signature by this key, -1 for an invalid one by this key, 0 for none. */
int key_check_note(const struct key *k, const struct ledger_note *n);
void key_vkey(const struct key *k, struct buf *out);

/* key_chain.c */
struct key_term {
        struct key key;
        uint64_t from, to; /* sizes of checkpoints that it signs */
};
struct key_chain {
        struct key_term *v;
        size_t n;
};
/* The first key of key.pub, and those that rotations in these notes lead to. Returns -1 without memory. */
int key_chain_follow(struct key_chain *c, struct span keys, struct span notes);
/* Every key, for every size: the caller vouches for them. */
int key_chain_trust(struct key_chain *c, struct span keys);
/* "good"; "bad": a wrong signature; "unknown": none by these keys; "retired": by a key for other sizes;
 * "forked": it names another next key. */
const char *key_chain_judge(const struct key_chain *c, const struct ledger_note *n);
/* The next line of key.pub that is not in the chain. */
bool key_chain_stranger(const struct key_chain *c, struct span *keys, char *ret, size_t cap);
void key_chain_done(struct key_chain *c);

/* sealer.c */
int seal_run(int dir, struct err *e);
int seal_once(int dir, struct err *e);
int seal_rotate(int dir, struct err *e);

/* head_watch.c: detects writes to the ledger. */
enum { NEWS_PAUSE_MS = 100 };
struct news {
        int dir, events;          /* -1 without events; then polls: */
        uint8_t head[HEAD_BYTES]; /* as it was at the last news_take() */
};
struct news news_begin(int dir);
bool news_wait(const struct news *n, int wait_ms); /* until it is so */
void news_take(struct news *n);                    /* from here on */
void news_pause(void);
void news_end(struct news *n);

/* writer.c: serves LEDGER_LINE until its peer closes it. `dir` -1: without a ledger; then every effect is
 * denied. */
int writer_run(int dir, const char *run, const char *box);

/* sealer_jail.c: from here on this process can access only the ledger, and if `seals` the witness next to
 * it. `dir` -1: no file at all. */
int jail_close(int dir, bool seals, struct err *e);
