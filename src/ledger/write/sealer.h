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
/* Replaces the key with a new one and returns both; key.pub keeps every public key. */
int key_rotate(int dir, struct key *ret_old, struct key *ret_new, struct err *e);
int key_sign_note(const struct key *k, struct span text, struct buf *ret_line, struct err *e);
/* Parses the next key of a text of "NAME+HASH+BASE64" lines. Returns 1; 0 at the end; -1 if it is not a key.
 */
int key_public_next(struct span *rest, struct key *ret);
/* Returns 1 if the note has a valid signature by this key, -1 for an invalid one by this key, 0 for none. */
int key_check_note(const struct key *k, const struct ledger_note *n);
void key_vkey(const struct key *k, struct buf *out);

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
