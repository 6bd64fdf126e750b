/* SPDX-License-Identifier: MIT */
/* ledger/write/sign.c - the ledger's key and its signatures.
 *
 *   key      PRIVATE+KEY+NAME+HASH+base64(0x01 || seed)     mode 0600
 *   key.pub  NAME+HASH+base64(0x01 || public key)           one line per key, the newest last
 *   key.next like key, during a rotation
 *   HASH     first 4 bytes of SHA-256(NAME || "\n" || 0x01 || public key), in hexadecimal
 *
 * A signature line is "- NAME base64(HASH || signature)" with an em dash; it covers the note's text. */
#include "base/fd.h"
#include "base/hash.h"
#include "base/str.h"
#include "ledger/write/sealer.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { ALGORITHM_ED25519 = 1 };
static const char prefix[] = "PRIVATE+KEY+";
#define DASH "\xe2\x80\x94 "

static void key_hash(struct key *k)
{
        static const uint8_t separator[] = { '\n', ALGORITHM_ED25519 };
        uint8_t h[32];
        struct sha256 s;

        sha256_init(&s);
        sha256_add(&s, k->name, strlen(k->name));
        sha256_add(&s, separator, sizeof separator);
        sha256_add(&s, k->public, 32);
        sha256_end(&s, h);
        memcpy(k->id, h, 4);
}

static int derive_public(struct key *k, struct err *e)
{
        size_t n = 32;
        EVP_PKEY *p = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, k->secret, 32);
        int ok = p && EVP_PKEY_get_raw_public_key(p, k->public, &n) == 1;
        EVP_PKEY_free(p);
        k->has_secret = true;
        key_hash(k);
        return ok ? 0 : err_set(e, ERR_INTERNAL, 0, "the ledger's key cannot be used");
}

static void put_key(const struct key *k, const uint8_t bytes[32], struct buf *out)
{
        uint8_t tagged[33] = { ALGORITHM_ED25519 };
        memcpy(tagged + 1, bytes, 32);
        buf_printf(out, "%s+%02x%02x%02x%02x+", k->name, k->id[0], k->id[1], k->id[2], k->id[3]);
        base64_put(span_of(tagged, sizeof tagged), out);
        OPENSSL_cleanse(tagged, sizeof tagged);
        buf_putc(out, '\n');
}

void key_vkey(const struct key *k, struct buf *out) { put_key(k, k->public, out); }

/* NAME+HASH+BASE64 */
static int parse_key(struct span line, struct key *ret, uint8_t bytes[32])
{
        char text[256];
        uint8_t tagged[40];
        if (line.n == 0 || line.n >= sizeof text)
                return -1;

        memcpy(text, line.p, line.n);
        text[line.n] = '\0';
        char *hash = strchr(text, '+'), *data = hash ? strchr(hash + 1, '+') : NULL;
        if (!data || data - hash != 9 || hash == text || (size_t) (hash - text) >= sizeof ret->name)
                return -1;

        *hash = '\0';
        if (base64_read(span_str(data + 1), tagged, sizeof tagged) != 33 || tagged[0] != ALGORITHM_ED25519)
                return -1;

        *ret = (struct key){ 0 };
        memcpy(ret->name, text, strlen(text) + 1);
        for (int i = 0; i < 4; i++)
                ret->id[i] = (uint8_t) strtoul((char[]){ hash[1 + 2 * i], hash[2 + 2 * i], 0 }, NULL, 16);

        memcpy(bytes, tagged + 1, 32);
        OPENSSL_cleanse(tagged, sizeof tagged);
        OPENSSL_cleanse(text, sizeof text);
        return 0;
}

int key_public_next(struct span *rest, struct key *ret)
{
        while (rest->n > 0 && rest->p[0] == '\n')
                *rest = span_of(rest->p + 1, rest->n - 1);

        if (rest->n == 0)
                return 0;

        uint8_t public[32], told[4];
        int bad = parse_key(span_cut(rest, '\n'), ret, public);
        if (bad < 0)
                return -1;

        memcpy(ret->public, public, 32);
        memcpy(told, ret->id, 4);
        key_hash(ret);
        return memcmp(told, ret->id, 4) == 0 ? 1 : -1;
}

bool key_note_next(const struct ledger_note *n, struct key *ret)
{
        struct span rest = n->next;
        return rest.n > 0 && key_public_next(&rest, ret) == 1;
}

static int cannot_sign(struct err *e, const char *what)
{
        return err_set(e, ERR_IO, errno, "the ledger's %s cannot be written: %s", what, strerror(errno));
}

/* All or nothing, and never with a wrong mode. */
static int replace_file(int dir, const char *name, mode_t mode, struct span text, struct err *e)
{
        char fresh[32];
        (void) snprintf(fresh, sizeof fresh, "%s.new", name);
        (void) unlinkat(dir, fresh, 0);
        AUTO_FD(fd, openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
        if (fd < 0 || fd_write_all(fd, text.p, text.n) < 0 || fsync(fd) < 0 ||
            renameat(dir, fresh, dir, name) < 0 || fsync(dir) < 0)
                return cannot_sign(e, name);

        return 0;
}

static int key_make(struct key *k, const char *name, struct err *e)
{
        *k = (struct key){ 0 };
        (void) snprintf(k->name, sizeof k->name, "%s", name);
        if (getrandom(k->secret, sizeof k->secret, 0) != (ssize_t) sizeof k->secret)
                return err_set(e, ERR_HOST, errno, "no random bytes for the ledger's key");
        return derive_public(k, e);
}

static int store_public(int dir, const struct key *k, struct err *e)
{
        AUTO_BUF(public);
        AUTO_BUF(line);
        if (ledger_slurp(dir, "key.pub", &public) < 0)
                return cannot_sign(e, "key.pub");

        key_vkey(k, &line);
        if (strstr(buf_str(&public), buf_str(&line)))
                return 0;

        buf_add(&public, line.p, line.n);
        return replace_file(dir, "key.pub", 0644, buf_span(&public), e);
}

static int store_secret(int dir, const char *name, const struct key *k, struct err *e)
{
        AUTO_BUF(secret);
        buf_puts(&secret, prefix);
        put_key(k, k->secret, &secret);
        int r = replace_file(dir, name, 0600, buf_span(&secret), e);
        OPENSSL_cleanse(secret.p, secret.n);
        return r;
}

static int first_key(int dir, struct key *ret, struct err *e)
{
        AUTO_BUF(public);
        uint8_t r[6];
        char name[64];
        if (ledger_slurp(dir, "key.pub", &public) < 0)
                return cannot_sign(e, "key.pub");

        if (public.n > 0) { /* a copy, or the key is lost: another would count for nothing */
                (void) err_set(e, ERR_IO, ENOENT, "the ledger's key is missing: nothing more can be sealed");
                return err_hint(e, "`cordon ledger restart` puts the ledger aside and begins another");
        }

        if (getrandom(r, sizeof r, 0) != (ssize_t) sizeof r)
                return err_set(e, ERR_HOST, errno, "no random bytes for the ledger's name");

        (void) snprintf(name, sizeof name, "cordon.local/%02x%02x%02x%02x%02x%02x", r[0], r[1], r[2], r[3],
                        r[4], r[5]);

        /* The public key first: a checkpoint is never signed by a key that is not in key.pub. */
        return key_make(ret, name, e) < 0 || store_public(dir, ret, e) < 0 ||
                               store_secret(dir, "key", ret, e) < 0
                       ? -1
                       : 0;
}

/* Returns 1, or 0 if the file does not exist. */
static int read_secret(int dir, const char *name, struct key *ret, struct err *e)
{
        AUTO_BUF(text);
        struct stat st;
        if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0
                                       : err_set(e, ERR_IO, errno, "the ledger's key cannot be read: %s",
                                                 strerror(errno));

        if (!S_ISREG(st.st_mode) || st.st_mode & 077 || st.st_uid != geteuid()) {
                (void) err_set(e, ERR_IO, EPERM, "others can read the ledger's key");
                return err_hint(e, "chmod 600 it, then `cordon ledger rotate-key`: what it signed from now "
                                   "on proves nothing");
        }

        if (ledger_slurp(dir, name, &text) < 0 || !span_starts(buf_span(&text), prefix))
                return err_set(e, ERR_IO, 0, "the ledger's key is not one");

        size_t n = strcspn(text.p, "\n");
        uint8_t seed[32];
        int bad = parse_key(span_of(text.p + strlen(prefix), n - strlen(prefix)), ret, seed);
        if (bad == 0)
                memcpy(ret->secret, seed, sizeof seed);

        OPENSSL_cleanse(seed, sizeof seed);
        OPENSSL_cleanse(text.p, text.n);
        return bad < 0                     ? err_set(e, ERR_IO, 0, "the ledger's key is not one")
               : derive_public(ret, e) < 0 ? -1
                                           : 1;
}

int key_load(int dir, struct key *ret, struct err *e)
{
        int r = read_secret(dir, "key", ret, e);
        return r == 0 ? first_key(dir, ret, e) : r < 0 ? -1 : 0;
}

/* ---- rotation ---- */

int key_rotate_begin(int dir, const struct key *old, struct key *ret_new, struct err *e)
{
        return key_make(ret_new, old->name, e) < 0 || store_secret(dir, "key.next", ret_new, e) < 0 ? -1 : 0;
}

/* A key.next that no checkpoint names is a rotation that was killed at its beginning, or not ours. */
static bool is_named(int dir, const struct key *by, const struct key *next)
{
        AUTO_BUF(text);
        struct ledger_note n;
        struct key k;
        if (ledger_slurp(dir, "checkpoints", &text) < 0)
                return false;

        for (struct span rest = buf_span(&text); ledger_note_next(rest, &n, &rest) == 1;)
                if (key_note_next(&n, &k) && memcmp(k.public, next->public, sizeof k.public) == 0 &&
                    strcmp(k.name, next->name) == 0 && key_check_note(by, &n) == 1)
                        return true;

        return false;
}

int key_rotate_end(int dir, struct err *e)
{
        struct err ignored;
        struct key old, next;
        struct stat st;
        if (fstatat(dir, "key.next", &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
                return 0;

        if (read_secret(dir, "key", &old, &ignored) != 1 ||
            read_secret(dir, "key.next", &next, &ignored) != 1 || !is_named(dir, &old, &next))
                return unlinkat(dir, "key.next", 0) < 0 ? cannot_sign(e, "key.next") : 0;

        if (store_public(dir, &next, e) < 0)
                return -1;

        return renameat(dir, "key.next", dir, "key") < 0 || fsync(dir) < 0 ? cannot_sign(e, "key") : 0;
}

int key_sign_note(const struct key *k, struct span text, struct buf *out, struct err *e)
{
        uint8_t signature[4 + 64];
        size_t n = 64;
        EVP_PKEY *p = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, k->secret, 32);
        EVP_MD_CTX *c = EVP_MD_CTX_new();
        int ok = p && c && EVP_DigestSignInit(c, NULL, NULL, NULL, p) == 1 &&
                 EVP_DigestSign(c, signature + 4, &n, text.p, text.n) == 1 && n == 64;
        EVP_MD_CTX_free(c);
        EVP_PKEY_free(p);
        if (!ok)
                return err_set(e, ERR_INTERNAL, 0, "signing failed");

        memcpy(signature, k->id, 4);
        buf_printf(out, DASH "%s ", k->name);
        base64_put(span_of(signature, sizeof signature), out);
        buf_putc(out, '\n');
        return 0;
}

static bool is_right(const struct key *k, struct span text, const uint8_t signature[64])
{
        EVP_PKEY *p = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, k->public, 32);
        EVP_MD_CTX *c = EVP_MD_CTX_new();
        bool ok = p && c && EVP_DigestVerifyInit(c, NULL, NULL, NULL, p) == 1 &&
                  EVP_DigestVerify(c, signature, 64, text.p, text.n) == 1;
        EVP_MD_CTX_free(c);
        EVP_PKEY_free(p);
        return ok;
}

int key_check_note(const struct key *k, const struct ledger_note *n)
{
        struct span rest = n->signatures;
        size_t name = strlen(k->name), front = strlen(DASH);
        while (rest.n > 0) {
                struct span line = span_cut(&rest, '\n');
                uint8_t bytes[80];
                if (line.n > front + name + 1 && memcmp(line.p + front, k->name, name) == 0 &&
                    line.p[front + name] == ' ' &&
                    base64_read(span_of(line.p + front + name + 1, line.n - front - name - 1), bytes,
                                sizeof bytes) == 68 &&
                    memcmp(bytes, k->id, 4) == 0)
                        return is_right(k, n->text, bytes + 4) ? 1 : -1;
        }

        return 0;
}
