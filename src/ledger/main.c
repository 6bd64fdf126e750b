/* SPDX-License-Identifier: MIT */
/* ledger/main.c - cordon-ledger, the sealer: the only program that holds the ledger's key and links
 * libcrypto. Started by keepers in the background and by `cordon ledger verify` and `cordon ledger`; not a
 * command for users.
 *
 *     write DIR RUN BOX intents of a run's broker, over descriptor 3, and their causes, over 4 (writer.c)
 *     seal DIR          tiles and checkpoints until two seconds after the last write
 *     seal-once DIR     one checkpoint over the whole ledger
 *     rotate DIR        a new key
 *     check KEYS        notes on standard input, one line "SIZE good|bad|unknown|retired|forked" for each,
 *                       then "key NAME+HASH" for each key that no rotation in them leads to; KEYS is key.pub
 *     trust KEYS        the same, with all keys of the file trusted
 */
#include "base/fd.h"
#include "base/hash.h"
#include "ledger/write/sealer.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int read_all(int fd, struct buf *out)
{
        char chunk[65536];
        ssize_t n;
        while ((n = read(fd, chunk, sizeof chunk)) > 0)
                buf_add(out, chunk, (size_t) n);
        return n < 0 || out->failed ? -1 : 0;
}

/* One line for each note, and one for each key that does not belong to the ledger. */
static int put_verdicts(const struct key_chain *c, struct span keys, struct span notes)
{
        struct ledger_note n;
        char stranger[128];
        int r;
        while ((r = ledger_note_next(notes, &n, &notes)) == 1)
                (void) printf("%llu %s\n", (unsigned long long) n.size, key_chain_judge(c, &n));

        if (r < 0)
                (void) printf("0 bad\n");

        while (key_chain_stranger(c, &keys, stranger, sizeof stranger))
                (void) printf("key %s\n", stranger);

        return fflush(stdout) == 0 ? 0 : -1;
}

static int check_note(const char *file, bool trust, struct err *e)
{
        AUTO_BUF(keys);
        AUTO_BUF(notes);
        struct key_chain c = { 0 };
        int fd = fd_open_named(AT_FDCWD, file, O_RDONLY);
        if (fd < 0 || read_all(fd, &keys) < 0 || read_all(0, &notes) < 0)
                return err_set(e, ERR_IO, 0, "the keys or the notes cannot be read");

        if (jail_close(-1, false, e) < 0)
                return -1;

        int r = trust ? key_chain_trust(&c, buf_span(&keys))
                      : key_chain_follow(&c, buf_span(&keys), buf_span(&notes));
        r = r < 0 ? err_set(e, ERR_MEMORY, 0, "no memory for the keys")
                  : put_verdicts(&c, buf_span(&keys), buf_span(&notes));
        key_chain_done(&c);
        return r;
}

static int in_dir(const char *place, int (*work)(int dir, struct err *e), struct err *e)
{
        int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return err_set(e, ERR_IO, 0, "%s has no ledger", place);
        return jail_close(dir, true, e) < 0 ? -1 : work(dir, e);
}

static int write_for(const char *place, const char *run, const char *box, struct err *e)
{
        /* Closes the descriptors that the caller's program left open. */
        (void) syscall(SYS_close_range, LEDGER_CAUSES_LINE + 1U, ~0U, 0U);
        int dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return jail_close(dir, false, e) < 0 ? -1 : writer_run(dir, run, box);
}

static int do_verb(int argc, char **argv, struct err *e)
{
        static const struct {
                const char *name;
                int (*work)(int dir, struct err *e);
        } verbs[] = { { "seal", seal_run }, { "seal-once", seal_once }, { "rotate", seal_rotate } };

        for (size_t i = 0; argc == 3 && i < sizeof verbs / sizeof *verbs; i++)
                if (strcmp(argv[1], verbs[i].name) == 0)
                        return in_dir(argv[2], verbs[i].work, e);

        if (argc == 3 && (strcmp(argv[1], "check") == 0 || strcmp(argv[1], "trust") == 0))
                return check_note(argv[2], argv[1][0] == 't', e);

        if (argc == 5 && strcmp(argv[1], "write") == 0)
                return write_for(argv[2], argv[3], argv[4], e);

        return err_set(
                e, ERR_USAGE, 0,
                "usage: cordon-ledger seal|seal-once|rotate DIR, write DIR RUN BOX, or check|trust KEYS");
}

int main(int argc, char **argv)
{
        struct err e = { 0 };
        (void) umask(077);
        (void) signal(SIGXFSZ, SIG_IGN); /* a write beyond RLIMIT_FSIZE fails, and is reported */
        (void) hash_use_hardware();

        /* No configuration file, which the jail would deny: the used parts of libcrypto need none. */
        (void) OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
        int r = do_verb(argc, argv, &e);
        if (r < 0)
                (void) fprintf(stderr, "cordon-ledger: error: %s\n", e.what);

        return r < 0;
}
