/* SPDX-License-Identifier: MIT */
/* ledger/write/sealer.h - the sealer's parts; only the program cordon-ledger has them. */
#pragma once
#include "ledger/write/append.h"

/* sign.c: Ed25519 by libcrypto, keys as Go's note package and C2SP write them down. */
struct key {
        char name[64];
        uint8_t id[4];
        uint8_t secret[32], public[32];
        bool has_secret;
};
/* Reads STATE/ledger/key; makes it, and key.pub, when there is none. */
int key_load(int dir, struct key *ret, struct err *e);
/* Makes a new key in the old one's place and gives both; key.pub keeps every public key. */
int key_rotate(int dir, struct key *ret_old, struct key *ret_new, struct err *e);
int key_sign_note(const struct key *k, struct span text, struct buf *ret_line, struct err *e);
/* The next key of a text of "NAME+HASH+BASE64" lines. 1, 0 none is left, -1 not a key. */
int key_public_next(struct span *rest, struct key *ret);
/* Is one of the note's signatures by this key, and right? -1: by this key and wrong; 0: not by this key. */
int key_check_note(const struct key *k, const struct ledger_note *n);
void key_vkey(const struct key *k, struct buf *out);

/* sealer.c */
int seal_run(int dir, struct err *e);
int seal_once(int dir, struct err *e);
int seal_rotate(int dir, struct err *e);

/* head_watch.c: has somebody written to the ledger since? */
enum { NEWS_PAUSE_MS = 100 };
struct news {
        int dir, events;          /* events: -1, and then: */
        uint8_t head[HEAD_BYTES]; /* as it was when all was taken */
};
struct news news_begin(int dir);
bool news_wait(const struct news *n, int wait_ms); /* until it is so */
void news_take(struct news *n);                    /* from here on */
void news_pause(void);
void news_end(struct news *n);

/* writer.c: serves LEDGER_LINE until its other end closes. `dir` -1: there is no ledger, and nobody may
 * leave. */
int writer_run(int dir, const char *run, const char *box);

/* sealer_jail.c: from here on this process has the ledger, and the witness beside it where `seals`, and
 * nothing else. `dir` -1: no file at all. */
int jail_close(int dir, bool seals, struct err *e);
