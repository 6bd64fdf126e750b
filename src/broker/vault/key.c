/* SPDX-License-Identifier: MIT */
/* broker/vault/key.c - the vault's key: 32 random bytes, wrapped by another key that comes from a passphrase
 * (scrypt), a file outside the state directory, or the kernel's user keyring.
 *
 * STATE/vault/key: struct key_file below; its part before `nonce` is authenticated with the wrapped key.
 */
#include "base/fd.h"
#include "broker/vault/vault_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <openssl/evp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct key_file {
        char magic[8];
        uint32_t protect, log_n, r, p;
        uint8_t salt[16];
        char path[VAULT_KEY_PATH]; /* of the key file */
        uint8_t box[SEAL_NONCE + SEAL_KEY + SEAL_TAG];
};
_Static_assert(offsetof(struct key_file, protect) == VAULT_KEY_PROTECT_AT &&
                       offsetof(struct key_file, path) == VAULT_KEY_PATH_AT,
               "broker/vault/entries.c reads these members by their offsets");

static const char magic[8] = { 'c', 'o', 'r', 'd', 'o', 'n', 'v', '1' };
enum { SCRYPT_LOG_N = 16, SCRYPT_R = 8, SCRYPT_P = 1, SCRYPT_MEMORY = 128 << 20, PASSPHRASE_MIN = 8 };

static int damaged_key(struct err *e)
{
        (void) err_set(e, ERR_IO, 0, "cannot open the vault: wrong key, or its files were modified");
        return err_hint(e, "check the passphrase or the key file");
}

/* ---- the wrapping key ---- */

static int derive_seal(const void *p, size_t n, const struct key_file *k, uint8_t ret[SEAL_KEY])
{
        if (k->log_n < 10 || k->log_n > 20 || k->r != SCRYPT_R || k->p != SCRYPT_P)
                return -1;
        return EVP_PBE_scrypt(p, n, k->salt, sizeof k->salt, UINT64_C(1) << k->log_n, k->r, k->p,
                              SCRYPT_MEMORY * 2ul, ret, SEAL_KEY) == 1
                       ? 0
                       : -1;
}

static int by_passphrase(const struct vault_key_in *in, const struct key_file *k, bool make,
                         uint8_t ret[SEAL_KEY], struct err *e)
{
        char first[1024], again[1024];
        int bad = -1;
        ssize_t n = ask_passphrase(in->passphrase,
                                   make ? "new passphrase of the vault: " : "passphrase of the vault: ",
                                   first, sizeof first, e),
                m = n;

        if (n > 0 && make && in->passphrase < 0)
                m = ask_passphrase(-1, "once more: ", again, sizeof again, e);

        if (n > 0 && make && n < PASSPHRASE_MIN)
                (void) err_set(e, ERR_USAGE, 0, "passphrase must have at least %d characters",
                               PASSPHRASE_MIN);
        else if (n > 0 && make && in->passphrase < 0 && (m != n || memcmp(first, again, (size_t) n) != 0))
                (void) err_set(e, ERR_USAGE, 0, "the two passphrases differ");
        else if (n > 0)
                bad = derive_seal(first, (size_t) n, k, ret) < 0 ? damaged_key(e) : 0;

        explicit_bzero(first, sizeof first);
        explicit_bzero(again, sizeof again);
        return bad;
}

static int make_key_file(const char *path, struct err *e)
{
        uint8_t bytes[SEAL_KEY];
        char dir[1024];
        (void) snprintf(dir, sizeof dir, "%s", path);
        for (char *s = strchr(dir + 1, '/'); s; s = strchr(s + 1, '/')) {
                *s = '\0';
                (void) mkdir(dir, 0700);
                *s = '/';
        }

        /* All or nothing: half a key, from a full disk or a kill, would look like a broken one. */
        char temp[1024 + 8];
        (void) snprintf(temp, sizeof temp, "%s.new", path);
        (void) unlink(temp);
        AUTO_FD(fd, open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        int bad = fd < 0 || seal_random(bytes, sizeof bytes) < 0 ||
                  fd_write_all(fd, bytes, sizeof bytes) < 0 || fsync(fd) < 0 ||
                  renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE) < 0;
        int why = errno;
        explicit_bzero(bytes, sizeof bytes);
        if (!bad)
                return 0;

        if (fd >= 0)
                (void) unlink(temp);

        (void) err_set(e, ERR_IO, why, "the vault's key file %s cannot be made: %s", path, strerror(why));
        return err_hint(e, "name another: --key-file FILE");
}

static int by_file(const struct key_file *k, bool make, uint8_t ret[SEAL_KEY], struct err *e)
{
        uint8_t bytes[4096];
        struct stat st;
        if (make && access(k->path, F_OK) < 0 && errno == ENOENT && make_key_file(k->path, e) < 0)
                return -1;

        AUTO_FD(fd, open(k->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
            st.st_mode & 077) {
                (void) err_set(e, ERR_IO, errno, "the vault's key file %s cannot be used", k->path);
                return err_hint(e, "it must be your file and closed to others (chmod 600)");
        }

        ssize_t n = fd_read_all(fd, bytes, sizeof bytes);
        int bad = n < SEAL_KEY || n == sizeof bytes || derive_seal(bytes, (size_t) n, k, ret) < 0;
        explicit_bzero(bytes, sizeof bytes);
        return bad ? err_set(e, ERR_IO, 0,
                             "the vault's key file %s is not a key: it must have 32 to 4095 bytes", k->path)
                   : 0;
}

static int by_keyring(const struct key_file *k, bool make, uint8_t ret[SEAL_KEY], struct err *e)
{
        char name[64] = "cordon:vault:";
        for (size_t i = 0; i < 8; i++)
                (void) snprintf(name + 13 + 2 * i, 3, "%02x", k->salt[i]);

        if (make) {
                uint8_t bytes[SEAL_KEY];
                long id = seal_random(bytes, sizeof bytes) < 0 ? -1
                                                               : syscall(SYS_add_key, "user", name, bytes,
                                                                         sizeof bytes, KEY_SPEC_USER_KEYRING);
                explicit_bzero(bytes, sizeof bytes);
                /* The owner may view, read and search it; no other user has access. */
                if (id >= 0)
                        (void) syscall(SYS_keyctl, KEYCTL_SETPERM, id, 0x3f0b0000ul);
        }

        long id = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", name, 0);
        long n = id < 0 ? -1 : syscall(SYS_keyctl, KEYCTL_READ, id, ret, SEAL_KEY);
        if (n == SEAL_KEY)
                return 0;

        (void) err_set(e, ERR_HOST, errno, "the vault's key is not in the kernel's keyring of this user: %s",
                       strerror(errno));
        return err_hint(
                e, "the keyring is cleared at reboot; for a permanent key use --protect passphrase or file");
}

static int wrapping_key(const struct vault_key_in *in, const struct key_file *k, bool make,
                        uint8_t ret[SEAL_KEY], struct err *e)
{
        switch ((enum vault_protect) k->protect) {
        case VAULT_BY_PASSPHRASE:
                return by_passphrase(in, k, make, ret, e);
        case VAULT_BY_FILE:
                return by_file(k, make, ret, e);
        case VAULT_BY_KEYRING:
                return by_keyring(k, make, ret, e);
        case VAULT_PROTECT_DEFAULT:
        case VAULT_PROTECT__COUNT:
                break;
        }
        return damaged_key(e);
}

/* ---- the file ---- */

static struct span context_of(const struct key_file *k) { return span_of(k, offsetof(struct key_file, box)); }

static int store_key(int dir, const struct key_file *k, struct err *e)
{
        AUTO_FD(fd, openat(dir, ".key", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || fd_write_all(fd, k, sizeof *k) < 0 || fsync(fd) < 0 ||
            renameat2(dir, ".key", dir, "key", RENAME_NOREPLACE) < 0 || fsync(dir) < 0) {
                (void) err_set(e, ERR_IO, errno, "the vault's key cannot be stored: %s", strerror(errno));
                (void) unlinkat(dir, ".key", 0);
                return -1;
        }

        return 0;
}

static int make_key(const struct vault_key_in *in, uint8_t ret[SEAL_KEY], struct err *e)
{
        struct key_file k = { .protect = in->protect ? in->protect : VAULT_BY_FILE,
                              .log_n = SCRYPT_LOG_N,
                              .r = SCRYPT_R,
                              .p = SCRYPT_P };
        uint8_t wrap[SEAL_KEY];
        memcpy(k.magic, magic, sizeof k.magic);
        if (k.protect == VAULT_BY_FILE)
                (void) snprintf(k.path, sizeof k.path, "%s", in->key_file);

        if (k.protect != VAULT_BY_PASSPHRASE) /* 32 random bytes need no stretching */
                k.log_n = 10;

        if (seal_random(k.salt, sizeof k.salt) < 0 || seal_random(ret, SEAL_KEY) < 0)
                return err_set(e, ERR_INTERNAL, 0, "no random bytes");

        if (wrapping_key(in, &k, true, wrap, e) < 0)
                return -1;

        int bad = seal_close(wrap, context_of(&k), span_of(ret, SEAL_KEY), k.box) < 0
                          ? damaged_key(e)
                          : store_key(in->dir, &k, e);
        explicit_bzero(wrap, sizeof wrap);
        return bad;
}

int vault_key(const struct vault_key_in *in, uint8_t ret_key[SEAL_KEY], struct err *e)
{
        struct key_file k;
        uint8_t wrap[SEAL_KEY];
        AUTO_FD(fd, openat(in->dir, "key", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (fd < 0 && errno == ENOENT && in->make)
                return make_key(in, ret_key, e);

        if (fd < 0 || fd_read_all(fd, &k, sizeof k) != sizeof k ||
            memcmp(k.magic, magic, sizeof magic) != 0 || k.path[sizeof k.path - 1])
                return fd < 0 && errno == ENOENT ? err_set(e, ERR_GONE, 0, "the vault is empty")
                                                 : damaged_key(e);

        if (in->protect && in->protect != k.protect) {
                (void) err_set(e, ERR_USAGE, 0, "the vault is protected by %s already",
                               vault_protect_name((enum vault_protect) k.protect));
                return err_hint(e, "leave --protect away");
        }

        if (wrapping_key(in, &k, false, wrap, e) < 0)
                return -1;

        int bad = seal_open(wrap, context_of(&k), span_of(k.box, sizeof k.box), ret_key) < 0 ? damaged_key(e)
                                                                                             : 0;
        explicit_bzero(wrap, sizeof wrap);
        return bad;
}
