/* SPDX-License-Identifier: MIT */
/* broker/vault/vault_seal.h - inside cordon-vault: the vault's key, sealing, and placeholders. Not for other
 * programs. */
#pragma once
#include "base/span.h"
#include "broker/vault/vault.h"

enum { SEAL_KEY = 32, SEAL_NONCE = 12, SEAL_TAG = 16 };

/* AES-256-GCM. `ret_box` holds SEAL_NONCE + plain.n + SEAL_TAG bytes. */
int seal_close(const uint8_t key[SEAL_KEY], struct span context, struct span plain, uint8_t *ret_box);
/* `ret_plain` holds box.n - SEAL_NONCE - SEAL_TAG bytes. Returns -1 for another key or changed data. */
int seal_open(const uint8_t key[SEAL_KEY], struct span context, struct span box, uint8_t *ret_plain);
int seal_random(void *to, size_t n);
/* HMAC-SHA256 of the context and a counter: bytes that only a holder of the key can make. */
int seal_derive(const uint8_t key[SEAL_KEY], struct span context, uint8_t *to, size_t n);

/* key.c: the vault's key, made at the first `add`. */
struct vault_key_in {
        int dir;
        enum vault_protect protect;
        const char *key_file;
        int passphrase; /* -1: ask on the terminal */
        bool make;      /* create it if it does not exist */
};
int vault_key(const struct vault_key_in *in, uint8_t ret_key[SEAL_KEY], struct err *e);

/* ask.c: reads one line from a descriptor or the terminal, without echo. Returns its length, or -1. */
ssize_t ask_passphrase(int fd, const char *prompt, char *to, size_t cap, struct err *e);

/* shape.c: pure. Same length and shape as the secret, from random bytes (one for each byte). */
void shape_placeholder(struct span secret, const uint8_t *random, uint8_t *ret);
