/* SPDX-License-Identifier: MIT */
/* broker/vault/vault_seal.c - AES-256-GCM with a random nonce; the plain text stored next to it is
 * authenticated as well. */
#include "broker/vault/vault_seal.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

int seal_random(void *to, size_t n) { return n <= INT_MAX && RAND_bytes(to, (int) n) == 1 ? 0 : -1; }

enum { DERIVED = 32, CONTEXT_MAX = 512 };

int seal_derive(const uint8_t key[SEAL_KEY], struct span context, uint8_t *to, size_t n)
{
        uint8_t in[CONTEXT_MAX + 4], block[DERIVED];
        unsigned made = 0;
        if (context.n > CONTEXT_MAX)
                return -1;

        memcpy(in + 4, context.p, context.n);
        for (size_t at = 0, i = 1; at < n; at += DERIVED, i++) {
                for (unsigned k = 0; k < 4; k++)
                        in[k] = (uint8_t) (i >> (24 - 8 * k));
                if (!HMAC(EVP_sha256(), key, SEAL_KEY, in, context.n + 4, block, &made) || made != DERIVED)
                        return -1;
                memcpy(to + at, block, n - at < DERIVED ? n - at : DERIVED);
        }

        explicit_bzero(block, sizeof block);
        return 0;
}

int seal_close(const uint8_t key[SEAL_KEY], struct span context, struct span plain, uint8_t *ret_box)
{
        int n = 0, ok = 0;
        EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
        uint8_t *body = ret_box + SEAL_NONCE;
        if (c && seal_random(ret_box, SEAL_NONCE) == 0)
                ok = EVP_EncryptInit_ex(c, EVP_aes_256_gcm(), NULL, key, ret_box) == 1 &&
                     EVP_EncryptUpdate(c, NULL, &n, context.p, (int) context.n) == 1 &&
                     EVP_EncryptUpdate(c, body, &n, plain.p, (int) plain.n) == 1 &&
                     EVP_EncryptFinal_ex(c, body + plain.n, &n) == 1 &&
                     EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, SEAL_TAG, body + plain.n) == 1;

        EVP_CIPHER_CTX_free(c);
        return ok ? 0 : -1;
}

int seal_open(const uint8_t key[SEAL_KEY], struct span context, struct span box, uint8_t *ret_plain)
{
        int n = 0, ok = 0;
        uint8_t tag[SEAL_TAG];
        if (box.n < SEAL_NONCE + SEAL_TAG)
                return -1;

        size_t plain = box.n - SEAL_NONCE - SEAL_TAG;
        memcpy(tag, box.p + box.n - SEAL_TAG, SEAL_TAG);
        EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
        if (c)
                ok = EVP_DecryptInit_ex(c, EVP_aes_256_gcm(), NULL, key, box.p) == 1 &&
                     EVP_DecryptUpdate(c, NULL, &n, context.p, (int) context.n) == 1 &&
                     EVP_DecryptUpdate(c, ret_plain, &n, box.p + SEAL_NONCE, (int) plain) == 1 &&
                     EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, SEAL_TAG, tag) == 1 &&
                     EVP_DecryptFinal_ex(c, ret_plain + plain, &n) == 1;

        EVP_CIPHER_CTX_free(c);
        if (!ok)
                explicit_bzero(ret_plain, plain);

        return ok ? 0 : -1;
}
