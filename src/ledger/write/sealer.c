/* SPDX-License-Identifier: MIT */
/* ledger/write/sealer.c - the sealer's work: hash new records into the tiles, sign a checkpoint, wait for
 * more.
 *
 * Order of one seal: segment flushed -> tiles written and flushed -> checkpoint appended and flushed -> copy
 * for the witness. If it is killed anywhere, the next sealer truncates the tiles to the last checkpoint and
 * continues.
 */
#include "ledger/write/sealer.h"
#include "base/fd.h"
#include "base/store/store.h"
#include "ledger/write/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { SETTLES_MS = 20 };

struct settled { /* the end of the last settled frame, which no writer truncates again */
        uint32_t seq;
        uint64_t end;
};

struct sealer {
        int dir;
        struct settled settled;
        uint64_t covered; /* by the last checkpoint: settled, whatever the head states */
        struct key key;
        struct tiles tiles;
        struct ledger_tree tree;
        struct scan_place at; /* of the next record to hash */
        struct err *e;
        bool failed;
};

static struct settled size_now(int dir)
{
        char path[32];
        struct stat st;
        int64_t last = ledger_last_segment(dir);
        if (last <= 0)
                return (struct settled){ 0 };

        segment_path((uint32_t) last, path);
        if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return (struct settled){ 0 };

        return (struct settled){ (uint32_t) last, (uint64_t) st.st_size };
}

static bool head_now(int head, struct settled *ret)
{
        uint8_t bytes[HEAD_BYTES];
        struct head h = { 0 };
        ssize_t n = pread(head, bytes, sizeof bytes, 0);
        bool known = n >= 0 && head_get(span_of(bytes, (size_t) n), &h) == 0;
        *ret = (struct settled){ h.seq, h.end };
        return known;
}

/* A writer without room for all of its records truncates even those that were written completely. So only
 * records that existed while no writer was active are sealed: a killed writer truncates nothing, and the
 * next one counts what it left. While a writer holds the head for long, the head's own position is used.
 *
 * Returns the head, locked, if the segment is longer than the head states: the next writer truncates a torn
 * end and writes there, so it has to wait until that part is read. Else returns -1.
 */
static int find_settled(struct sealer *s)
{
        const struct timespec pause = { 0, 1000000 };
        struct flock f = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
        struct settled told;
        AUTO_FD(head, openat(s->dir, "head", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));

        for (int i = 0; i < SETTLES_MS; i++) {
                if (head < 0 || fcntl(head, F_OFD_SETLK, &f) == 0) {
                        s->settled = size_now(s->dir);
                        bool fits = head >= 0 && head_now(head, &told) && told.seq == s->settled.seq &&
                                    told.end == s->settled.end;
                        return fits ? -1 : TAKE_FD(head);
                }
                (void) nanosleep(&pause, NULL);
        }

        (void) head_now(head, &s->settled);
        return -1;
}

static int each_leaf(void *ctx, const struct scan_place *at, const struct frame *f)
{
        struct sealer *s = ctx;
        uint8_t leaf[LEDGER_HASH];
        if (at->index < s->tree.size)
                return 0; /* on the way to the position of the last sealer */

        bool settled = at->seq < s->settled.seq ||
                       (at->seq == s->settled.seq && at->offset + f->size <= s->settled.end);
        if (at->index >= s->covered && !settled)
                return 1;

        frame_leaf(f, leaf);
        if (tiles_add(&s->tiles, at->index, leaf, s->e) < 0) {
                s->failed = true;
                return 1;
        }

        ledger_tree_add(&s->tree, leaf);
        return 0;
}

static int resume_chain(struct sealer *s)
{
        AUTO_BUF(text);
        struct ledger_note n;
        uint8_t root[LEDGER_HASH];

        /* New records must continue the last checkpoint. */
        int found = ledger_note_last(s->dir, &text, &n);
        if (found < 0)
                return err_set(s->e, ERR_IO, errno, "the ledger's checkpoints cannot be read");

        s->tree = (struct ledger_tree){ 0 };
        if (found == 0)
                return tiles_cut(&s->tiles, 0, s->e);

        if (tiles_edge(&s->tiles, n.size, &s->tree) == 0) {
                ledger_tree_root(&s->tree, root);
                if (memcmp(root, n.root, sizeof root) == 0)
                        return tiles_cut(&s->tiles, n.size, s->e);
        }

        /* Tiles are only a copy: rebuilt from the records, they must give the same root. */
        s->tree = (struct ledger_tree){ 0 };
        if (tiles_cut(&s->tiles, 0, s->e) < 0)
                return -1;

        struct scan_place at = { 0 };
        s->covered = n.size; /* nothing is settled yet: go no further */
        (void) ledger_scan(s->dir, &at, each_leaf, s);
        if (s->failed)
                return -1;

        if (s->tree.size < n.size)
                return err_set(s->e, ERR_IO, EUCLEAN,
                               "the ledger is damaged: records that a checkpoint covers are missing");

        ledger_tree_root(&s->tree, root);
        s->at = at;
        if (memcmp(root, n.root, sizeof root) != 0)
                return err_set(s->e, ERR_IO, EUCLEAN,
                               "the ledger is damaged: records do not match the last checkpoint");

        return 0;
}

static int flush_segment(const struct sealer *s)
{
        char path[32];
        segment_path(s->at.seq, path);
        AUTO_FD(fd, openat(s->dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        return fd >= 0 && fdatasync(fd) == 0
                       ? 0
                       : err_set(s->e, ERR_IO, errno, "the ledger cannot be flushed: %s", strerror(errno));
}

/* Removes a last note torn by a kill before adding the next. */
static int append_note(int dir, struct span note, struct err *e)
{
        AUTO_FD(fd, openat(dir, "checkpoints", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        AUTO_BUF(text);
        struct ledger_note n;
        struct span rest;

        if (fd < 0 || ledger_slurp(dir, "checkpoints", &text) < 0)
                return err_set(e, ERR_IO, errno, "the ledger's checkpoints cannot be written: %s",
                               strerror(errno));

        off_t end = 0;
        for (rest = buf_span(&text); ledger_note_next(rest, &n, &rest) == 1;)
                end = (off_t) (rest.p - (const uint8_t *) text.p);

        if (ftruncate(fd, end) < 0 || lseek(fd, end, SEEK_SET) < 0 ||
            (end > 0 && fd_write_all(fd, "\n", 1) < 0) || fd_write_all(fd, note.p, note.n) < 0 ||
            fdatasync(fd) < 0)
                return err_set(e, ERR_IO, errno, "the ledger's checkpoints cannot be written: %s",
                               strerror(errno));

        return 0;
}

/* A ledger moved aside is still used while a box that began with it runs; the witness belongs to another
 * ledger. */
static bool is_aside(int dir, int up)
{
        struct stat own, named;
        return fstat(dir, &own) < 0 || fstatat(up, "ledger", &named, AT_SYMLINK_NOFOLLOW) < 0 ||
               own.st_dev != named.st_dev || own.st_ino != named.st_ino;
}

/* A copy outside the ledger's own directory: it exposes a ledger that was replaced by an old copy. */
static void update_witness(int dir, struct span note)
{
        struct err ignored;
        AUTO_FD(up, openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
        AUTO_FD(witness, up < 0 || is_aside(dir, up) ? -1 : store_dir(up, "witness", &ignored));
        AUTO_FD(fd, witness < 0 ? -1
                                : openat(witness, "new",
                                         O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));

        if (fd >= 0 && fd_write_all(fd, note.p, note.n) == 0)
                (void) renameat(witness, "new", witness, "checkpoint");
}

/* `next`: the key that signs from here on. */
static int sign_checkpoint(struct sealer *s, const struct key *next)
{
        AUTO_BUF(note);
        uint8_t root[LEDGER_HASH];
        ledger_tree_root(&s->tree, root);
        buf_printf(&note, "%s\n%llu\n", s->key.name, (unsigned long long) s->tree.size);
        base64_put(span_of(root, sizeof root), &note);
        buf_putc(&note, '\n');
        if (next) {
                buf_puts(&note, LEDGER_NEXT_KEY);
                key_vkey(next, &note);
        }

        size_t text = note.n;
        buf_putc(&note, '\n');
        if (key_sign_note(&s->key, span_of(note.p, text), &note, s->e) < 0 ||
            (next && key_sign_note(next, span_of(note.p, text), &note, s->e) < 0) || note.failed)
                return -1;

        if (append_note(s->dir, buf_span(&note), s->e) < 0)
                return -1;

        update_witness(s->dir, buf_span(&note));
        return 0;
}

/* Returns 1 if it sealed, 0 if nothing was new, -1 on error. */
static int seal_head(struct sealer *s, const struct key *next)
{
        uint64_t before = s->tree.size, sealed;
        if (ledger_sealed_size(s->dir, &sealed) < 0)
                return err_set(s->e, ERR_IO, errno, "the ledger's checkpoints cannot be read");

        AUTO_FD(still, find_settled(s));
        if (ledger_scan(s->dir, &s->at, each_leaf, s) >= SCAN_BAD) {
                s->at = (struct scan_place){ 0 }; /* a segment was pruned meanwhile: its frames have moved */
                (void) ledger_scan(s->dir, &s->at, each_leaf, s);
        }

        fd_close(&still);
        if (s->failed)
                return -1;

        if (s->tree.size == before && s->tree.size == sealed && !next)
                return 0;

        if (s->tree.size == 0 && !next)
                return 0;

        if ((s->tree.size > 0 && flush_segment(s) < 0) || tiles_flush(&s->tiles, s->e) < 0 ||
            sign_checkpoint(s, next) < 0)
                return -1;

        return 1;
}

static int sealer_open(int dir, struct sealer *s, struct err *e)
{
        *s = (struct sealer){ .dir = dir, .e = e };
        for (int i = 0; i < 8; i++)
                s->tiles.fd[i] = -1;

        s->tiles.dir = -1;
        if (key_rotate_end(dir, e) < 0 || key_load(dir, &s->key, e) < 0 ||
            tiles_open(dir, true, &s->tiles, e) < 0)
                return -1;

        return resume_chain(s);
}

/* One sealer at a time. The lock ends with the process. */
static int take_turn(int dir)
{
        struct flock f = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        AUTO_FD(fd, openat(dir, "sealer", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || fcntl(fd, F_OFD_SETLK, &f) < 0)
                return -1;
        return TAKE_FD(fd);
}

/* Waits for another active sealer to end. */
static int await_turn(int dir, struct err *e)
{
        const struct timespec pause = { 0, 10000000 };
        for (int i = 0; i < 500; i++) {
                int turn = take_turn(dir);
                if (turn >= 0)
                        return turn;
                (void) nanosleep(&pause, NULL);
        }

        return err_set(e, ERR_IO, EBUSY, "another sealer does not end");
}

int seal_once(int dir, struct err *e)
{
        struct sealer s;
        AUTO_FD(turn, await_turn(dir, e));
        if (turn < 0)
                return -1;

        int r = sealer_open(dir, &s, e);
        if (r == 0)
                r = seal_head(&s, NULL) < 0 ? -1 : 0;

        tiles_close(&s.tiles);
        return r;
}

static int record_rotation(int dir, const struct key *k, struct err *e)
{
        AUTO_BUF(vkey);
        char run[32];
        key_vkey(k, &vkey);
        vkey.p[vkey.n - 1] = '\0';
        (void) snprintf(run, sizeof run, "key-%02x%02x%02x%02x", k->id[0], k->id[1], k->id[2], k->id[3]);
        struct ledger *l = ledger_open_at(dir, run, "", e);
        struct ledger_record r = ledger_record_of(LEDGER_KEY, LEDGER_HUMAN);
        r.target = vkey.p;
        r.result = "a new key";
        int bad = l ? ledger_append(l, &r, true, NULL, e) : -1;
        ledger_close(l);
        return bad;
}

/* The old key signs which key is the next: nothing else makes a key count. The record of it is for readers.
 */
int seal_rotate(int dir, struct err *e)
{
        struct sealer s;
        struct key next = { 0 };
        AUTO_FD(turn, await_turn(dir, e));
        if (turn < 0)
                return -1;

        int bad = sealer_open(dir, &s, e) < 0 || key_rotate_begin(dir, &s.key, &next, e) < 0 ||
                                  seal_head(&s, &next) < 0 || key_rotate_end(dir, e) < 0 ||
                                  record_rotation(dir, &next, e) < 0
                          ? -1
                          : 0;
        s.key = next;
        if (bad == 0)
                bad = seal_head(&s, NULL) < 0 ? -1 : 0;
        tiles_close(&s.tiles);
        return bad;
}

static bool is_gone(int dir)
{
        struct stat st;
        return fstat(dir, &st) < 0 || st.st_nlink == 0;
}

/* Waits for a write, or until the linger time is over. */
static bool wait_for_more(struct news *n)
{
        if (is_gone(n->dir) || !news_wait(n, SEAL_LINGER_MS) || is_gone(n->dir))
                return false;
        news_pause(); /* writes in this time are sealed together */
        news_take(n);
        return true;
}

/* One turn. Returns 0 if nothing was written for the linger time, 1 if another sealer is at work. */
static int seal_a_turn(struct news *n, struct err *e)
{
        struct sealer s;
        AUTO_FD(turn, take_turn(n->dir));
        if (turn < 0)
                return 1;

        int r = sealer_open(n->dir, &s, e);
        while (r == 0) {
                if (seal_head(&s, NULL) < 0)
                        r = -1;
                else if (!wait_for_more(n))
                        break;
        }

        tiles_close(&s.tiles);
        return r;
}

/* A writer that finds the lock taken starts no sealer. So this process must also seal what was written while
 * it was exiting with the lock held. */
int seal_run(int dir, struct err *e)
{
        struct news n = news_begin(dir);
        int r;
        do
                r = seal_a_turn(&n, e);

        while (r == 0 && !is_gone(dir) && news_wait(&n, 0));
        news_end(&n);
        return r < 0 ? -1 : 0;
}
