/* SPDX-License-Identifier: MIT */
/* broker/vault/main.c - cordon-vault: seals a credential, or unseals those that one box needs and sends them
 * to its broker. Started by cordon for one task, with descriptors and a request (vault.h). No secret is in
 * argv, and only if the user keeps the secret in a variable is it in the environment. Not dumpable, no core
 * dump, locked in memory if the limits allow, wiped at the end. */
#include "base/clock.h"
#include "base/fd.h"
#include "broker/vault/vault_seal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { ENTRY_MAX = 4096 + GRANT_SECRET_MAX + SEAL_NONCE + SEAL_TAG };

struct work {
        struct vault_request q;
        uint8_t key[SEAL_KEY];
        uint8_t secret[GRANT_SECRET_MAX + 2];
        size_t length;
        uint8_t random[GRANT_SECRET_MAX];
        uint8_t entry[ENTRY_MAX];
        struct grant grant;
        struct grant_word word;
        struct vault_told told;
};

/* ---- reading the secret ---- */

static int bad_secret(ssize_t n, struct err *e)
{
        (void) (n == 0 ? err_set(e, ERR_USAGE, ENODATA, "empty secret")
                       : err_set(e, ERR_USAGE, 0,
                                 "the secret must be one line of %d to %d visible ASCII characters",
                                 GRANT_SECRET_MIN, GRANT_SECRET_MAX));
        return err_hint(e, "pipe it in: `pass show token | cordon vault add NAME`");
}

static int bad_key(struct err *e)
{
        (void) err_set(e, ERR_USAGE, 0, "this is not one key of AWS: ID:SECRET or ID:SECRET:TOKEN");
        return err_hint(e, "--from-command 'aws configure export-credentials', or pipe it in");
}

/* The forms of a key that tools print become one. */
static ssize_t read_key(struct work *w, ssize_t n)
{
        char *line = (char *) w->entry;
        ssize_t k = vault_aws_key(span_of(w->secret, (size_t) n), line, sizeof w->secret);
        if (k > 0)
                memcpy(w->secret, line, (size_t) k);
        explicit_bzero(w->entry, sizeof w->entry);
        return k;
}

static int read_secret(struct work *w, enum grant_where where, struct err *e)
{
        ssize_t n;
        if (w->q.from_env[0]) {
                char *v = getenv(w->q.from_env);
                if (!v)
                        return err_set(e, ERR_USAGE, 0, "the variable %s is not set", w->q.from_env);
                size_t k = strlen(v);
                n = k < sizeof w->secret ? (ssize_t) k : -1;
                if (n > 0)
                        memcpy(w->secret, v, k);
                explicit_bzero(v, k);
        } else if (isatty(0)) {
                n = ask_passphrase(-1,
                                   where == GRANT_SIGV4 ? "the key, ID:SECRET (not shown): "
                                                        : "the secret (not shown): ",
                                   (char *) w->secret, sizeof w->secret, e);
        } else {
                n = fd_read_all(0, w->secret, sizeof w->secret);
        }

        while (n > 0 && (w->secret[n - 1] == '\n' || w->secret[n - 1] == '\r'))
                n--;

        if (n > 0 && where == GRANT_SIGV4 && (n = read_key(w, n)) < 0)
                return bad_key(e);

        if (n < GRANT_SECRET_MIN || n > GRANT_SECRET_MAX)
                return bad_secret(n, e);

        for (ssize_t i = 0; i < n; i++)
                if (w->secret[i] <= 0x20 || w->secret[i] >= 0x7f)
                        return bad_secret(n, e);

        w->length = (size_t) n;
        return 0;
}

/* ---- entries ---- */

static int exchange_files(const char *a, const char *b, unsigned flags)
{
        return renameat2(VAULT_FD_DIR, a, VAULT_FD_DIR, b, flags);
}

/* Replaces only an existing entry: one removed while its next secret was read stays removed. Does not report
 * success for data that cannot be flushed to disk: then it swaps the names back, and the old secret is kept.
 */
static int put_in_place(const char *temp, const char *name, bool replace)
{
        const unsigned how = replace ? RENAME_EXCHANGE : RENAME_NOREPLACE;
        if (exchange_files(temp, name, how) == 0) {
                if (fsync(VAULT_FD_DIR) == 0) {
                        if (replace)
                                (void) unlinkat(VAULT_FD_DIR, temp, 0);
                        return 0;
                }
                int why = errno;
                (void) exchange_files(name, temp, how);
                errno = why;
                return -1;
        }

        if (!replace || errno != EINVAL) /* the filesystem does not support RENAME_EXCHANGE */
                return -1;

        return faccessat(VAULT_FD_DIR, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ||
                               renameat(VAULT_FD_DIR, temp, VAULT_FD_DIR, name) < 0
                       ? -1
                       : fsync(VAULT_FD_DIR);
}

static int write_entry(const struct work *w, size_t n, bool replace, struct err *e)
{
        char temp[GRANT_NAME + 8], name[GRANT_NAME + 3];
        (void) snprintf(name, sizeof name, "c.%s", w->q.meta.name);
        (void) snprintf(temp, sizeof temp, ".new.%s", w->q.meta.name);
        AUTO_FD(fd, openat(VAULT_FD_DIR, temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd >= 0 && fd_write_all(fd, w->entry, n) == 0 && fsync(fd) == 0 &&
            put_in_place(temp, name, replace) == 0)
                return 0;

        int why = errno;
        (void) unlinkat(VAULT_FD_DIR, temp, 0);
        if (replace && why == ENOENT)
                return err_set(e, ERR_GONE, 0, "the credential %s was removed meanwhile", w->q.meta.name);

        if (why != EEXIST)
                return err_set(e, ERR_IO, why, "the credential %s cannot be stored: %s", w->q.meta.name,
                               strerror(why));

        (void) err_set(e, ERR_USAGE, 0, "credential %s already exists", w->q.meta.name);
        return err_hint(e, "`cordon vault rotate %s` gives it another secret", w->q.meta.name);
}

static int seal_entry(struct work *w, bool replace, struct err *e)
{
        AUTO_BUF(line);
        vault_meta_print(&w->q.meta, &line);
        struct vault_meta check;
        if (line.failed || line.n + 1 > 4096 || vault_meta_parse(buf_span(&line), &check, e) < 0)
                return err_set(e, ERR_USAGE, 0, "this binding cannot be stored");

        memcpy(w->entry, line.p, line.n);
        w->entry[line.n] = '\n';
        if (seal_close(w->key, buf_span(&line), span_of(w->secret, w->length), w->entry + line.n + 1) < 0)
                return err_set(e, ERR_INTERNAL, 0, "sealing failed");

        return write_entry(w, line.n + 1 + SEAL_NONCE + w->length + SEAL_TAG, replace, e);
}

static int open_entry(struct work *w, const char *name, struct vault_meta *m, struct err *e)
{
        char file[GRANT_NAME + 3];
        if (vault_meta_load(VAULT_FD_DIR, name, m, e) < 0)
                return -1;

        (void) snprintf(file, sizeof file, "c.%s", name);
        AUTO_FD(fd, openat(VAULT_FD_DIR, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        ssize_t n = fd < 0 ? -1 : fd_read_all(fd, w->entry, sizeof w->entry);
        const uint8_t *end = n > 0 ? memchr(w->entry, '\n', (size_t) n) : NULL;
        size_t head = end ? (size_t) (end - w->entry) : 0, box = end ? (size_t) n - head - 1 : 0;
        if (box < SEAL_NONCE + SEAL_TAG + GRANT_SECRET_MIN ||
            box > SEAL_NONCE + SEAL_TAG + GRANT_SECRET_MAX ||
            seal_open(w->key, span_of(w->entry, head), span_of(end + 1, box), w->secret) < 0) {
                (void) err_set(e, ERR_IO, 0, "cannot decrypt credential %s: modified, or wrong key", name);
                return err_hint(e, "cordon vault rm %s, then add it again", name);
        }

        w->length = box - SEAL_NONCE - SEAL_TAG;

        /* An earlier read may have been of another file: only these bytes opened the secret. */
        if (vault_meta_parse(span_of(w->entry, head), m, e) < 0 || strcmp(m->name, name) != 0)
                return err_set(e, ERR_IO, 0, "the entry of the credential %s is damaged", name);

        return 0;
}

/* ---- operations ---- */

static int do_add(struct work *w, struct err *e)
{
        int64_t asked = w->q.meta.created;
        w->q.meta.created = clock_wall_s();
        if (asked) /* the lifetime is as requested, whatever the clock is here */
                w->q.meta.expires += w->q.meta.created - asked;
        w->q.meta.ttl_count = 0;
        return vault_life_judge(&w->q.meta, e) < 0 ||
                               read_secret(w, (enum grant_where) w->q.meta.where, e) < 0
                       ? -1
                       : seal_entry(w, false, e);
}

static int do_rotate(struct work *w, struct err *e)
{
        struct vault_meta m;
        if (open_entry(w, w->q.meta.name, &m, e) < 0)
                return -1;

        vault_life_renew(&m, w->q.ttl_s, clock_wall_s());
        if (w->q.meta.scope[0])
                memcpy(m.scope, w->q.meta.scope, sizeof m.scope);

        if (vault_life_judge(&m, e) < 0 || read_secret(w, (enum grant_where) m.where, e) < 0)
                return -1;

        w->q.meta = m;
        return seal_entry(w, true, e);
}

/* Only what it is for: the secret and its time to live stay. */
static int do_scope(struct work *w, struct err *e)
{
        struct vault_meta m;
        if (open_entry(w, w->q.meta.name, &m, e) < 0)
                return -1;

        memcpy(m.scope, w->q.meta.scope, sizeof m.scope);
        w->q.meta = m;
        return vault_life_judge(&m, e) < 0 ? -1 : seal_entry(w, true, e);
}

/* The same for the same policy and credential, so that tools that cache a placeholder keep working; in
 * another vault, and to any process without the vault's key, they are random. */
static int placeholder_bytes(struct work *w, const char *name)
{
        char context[sizeof w->q.policy + GRANT_NAME + 16];
        int n = snprintf(context, sizeof context, "placeholder\n%s\n%s", w->q.policy, name);
        return n < 0 || w->q.policy[0] == '\0'
                       ? -1
                       : seal_derive(w->key, span_of(context, (size_t) n), w->random, w->length);
}

/* Each part of a key of AWS has its own shape, and the colons stay. */
static void check_shape(struct work *w, enum grant_where where)
{
        struct span all = span_of(w->secret, w->length);
        struct grant_key k;
        memcpy(w->grant.placeholder, all.p, all.n);
        if (where != GRANT_SIGV4 || !grant_key_split(all, &k))
                k = (struct grant_key){ .secret = all };

        const struct span part[] = { k.id, k.secret, k.token };
        for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
                size_t at = part[i].n ? (size_t) (part[i].p - all.p) : 0;
                if (part[i].n)
                        shape_placeholder(part[i], w->random + at, w->grant.placeholder + at);
        }
}

/* Sends the words that cordon-output looks for. */
static int give_words(struct work *w, enum grant_where where, const char *name)
{
        struct span word[GRANT_WORDS];
        size_t count = grant_words(where, span_of(w->secret, w->length), word);
        for (size_t i = 0; i < count; i++) {
                w->word = (struct grant_word){ .size = sizeof w->word, .length = (uint32_t) word[i].n };
                (void) snprintf(w->word.name, sizeof w->word.name, "%s", name);
                memcpy(w->word.secret, word[i].p, word[i].n);
                if (fd_write_all(VAULT_FD_WORDS, &w->word, sizeof w->word) < 0)
                        return -1;
        }

        return 0;
}

/* Checks the requested doors against the credential's scope before releasing it. The binding is
 * authenticated: it has just opened the secret. */
static int give_one(struct work *w, const char *name, const char *asked, struct err *e)
{
        struct vault_meta m;
        struct grant *g = &w->grant;
        if (open_entry(w, name, &m, e) < 0 ||
            vault_may_give(&m, w->q.stage_live, clock_wall_s(), asked, e) < 0)
                return -1;

        *g = (struct grant){ .size = sizeof *g,
                             .where = (uint16_t) m.where,
                             .live = (uint16_t) m.live,
                             .length = (uint32_t) w->length,
                             .expires = m.expires,
                             .max_uses = m.max_uses };

        memcpy(g->name, m.name, sizeof g->name);
        memcpy(g->field, m.field, sizeof g->field);
        memcpy(g->before, m.before, sizeof g->before);
        memcpy(g->after, m.after, sizeof g->after);
        memcpy(g->scope, asked, sizeof g->scope);
        memcpy(g->secret, w->secret, w->length);
        if (placeholder_bytes(w, m.name) < 0)
                return err_set(e, ERR_INTERNAL, 0, "no bytes for a placeholder");

        check_shape(w, (enum grant_where) m.where);
        w->told = (struct vault_told){ 0 };
        memcpy(w->told.name, m.name, sizeof w->told.name);
        memcpy(w->told.env, m.env, sizeof w->told.env);
        memcpy(w->told.file, m.file, sizeof w->told.file);
        memcpy(w->told.form, m.form, sizeof w->told.form);
        if (m.where == GRANT_BASIC)
                memcpy(w->told.user, m.field, sizeof w->told.user);

        memcpy(w->told.placeholder, g->placeholder, w->length);
        if (fd_write_all(VAULT_FD_GRANTS, g, sizeof *g) < 0 ||
            give_words(w, (enum grant_where) m.where, m.name) < 0 ||
            fd_write_all(VAULT_FD_TOLD, &w->told, sizeof w->told) < 0)
                return err_set(e, ERR_IO, errno, "the broker did not take the credential %s", name);

        return 0;
}

static int do_give(struct work *w, struct err *e)
{
        for (uint32_t i = 0; i < w->q.count; i++)
                if (give_one(w, w->q.names[i], w->q.asked[i], e) < 0)
                        return -1;

        return 0;
}

/* One writer at a time; removes what a killed one left half-written. */
static int hold_directory(struct err *e)
{
        if (flock(VAULT_FD_DIR, LOCK_EX) < 0)
                return err_set(e, ERR_IO, errno, "the vault cannot be locked: %s", strerror(errno));

        int again = openat(VAULT_FD_DIR, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = again < 0 ? NULL : fdopendir(again);
        for (struct dirent *x; d && (x = readdir(d));)
                if (strncmp(x->d_name, ".new.", 5) == 0 || strcmp(x->d_name, ".key") == 0)
                        (void) unlinkat(VAULT_FD_DIR, x->d_name, 0);

        if (d)
                (void) closedir(d);

        return 0;
}

/* It fits into what would hold the struct and a head for each message. */
static int read_request(struct vault_request *ret)
{
        enum { ROOM = sizeof *ret + (GRANTS_MAX + 1) * 64 };
        uint8_t *bytes = malloc(ROOM);
        ssize_t n = bytes ? fd_read_all(VAULT_FD_REQUEST, bytes, ROOM) : -1;
        int r = n < 0 ? -1 : vault_request_decode(span_of(bytes, (size_t) n), ret);
        free(bytes);
        return r;
}

static int do_work(struct work *w, struct err *e)
{
        static int (*const ops[])(struct work *, struct err *) = { [VAULT_ADD] = do_add,
                                                                   [VAULT_ROTATE] = do_rotate,
                                                                   [VAULT_SCOPE] = do_scope,
                                                                   [VAULT_GIVE] = do_give };

        if (read_request(&w->q) < 0 || w->q.op == VAULT_NOTHING || w->q.op >= VAULT_OP__COUNT ||
            w->q.protect >= VAULT_PROTECT__COUNT)
                return err_set(e, ERR_INTERNAL, 0, "this cordon-vault belongs to another cordon");

        struct vault_key_in in = { .dir = VAULT_FD_DIR,
                                   .protect = (enum vault_protect) w->q.protect,
                                   .key_file = w->q.key_file,
                                   .passphrase = w->q.has_passphrase ? VAULT_FD_PASSPHRASE : -1,
                                   .make = w->q.op == VAULT_ADD };
        if (w->q.op != VAULT_GIVE && hold_directory(e) < 0)
                return -1;

        if (vault_key(&in, w->key, e) == 0)
                return ops[w->q.op](w, e);

        const char *first = w->q.op == VAULT_GIVE ? w->q.names[0] : w->q.meta.name;
        return e->code == ERR_GONE ? err_hint(e, "`cordon vault add %.63s` makes the first", first) : -1;
}

static bool was_started_right(void)
{
        struct stat st;
        return fcntl(VAULT_FD_REPORT, F_GETFL) >= 0 && fstat(VAULT_FD_DIR, &st) == 0 && S_ISDIR(st.st_mode);
}

int main(void)
{
        struct rlimit none = { 0, 0 };
        struct err e = { 0 };
        if (!was_started_right()) {
                (void) fputs("cordon: error: cordon-vault is started by cordon itself\n"
                             "cordon: hint: cordon vault add NAME\n",
                             stderr);
                return 125;
        }

        (void) umask(077);
        (void) signal(SIGXFSZ, SIG_IGN); /* a write beyond RLIMIT_FSIZE fails, and is reported */
        if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || setrlimit(RLIMIT_CORE, &none) < 0)
                return 125;

        (void) OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
        struct work *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (w == MAP_FAILED)
                return 125;

        (void) mlock(w, sizeof *w); /* a small limit is not a reason to refuse: swap is not the threat */
        (void) madvise(w, sizeof *w, MADV_DONTDUMP);
        int bad = do_work(w, &e);
        explicit_bzero(w, sizeof *w);
        if (bad && e.code == ERR_NONE)
                (void) err_set(&e, ERR_INTERNAL, 0, "cordon-vault failed without a reason");

        (void) fd_write_all(VAULT_FD_REPORT, &e, sizeof e);
        return bad ? 1 : 0;
}
