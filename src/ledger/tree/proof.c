/* SPDX-License-Identifier: MIT */
/* ledger/tree/proof.c - proves that one record is in the ledger, to a reader who has only the public key:
 * the text format of C2SP's tlog-proof, whose `extra` line carries the record itself. */
#include "base/fd.h"
#include "base/str.h"
#include "ledger/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char first_line[] = "c2sp.org/tlog-proof@v1";

static int find_record(const struct ledger_log *l, const char *id, struct ledger_view *ret,
                       uint64_t *ret_index, struct err *e)
{
        for (struct ledger_walk w = { .log = l }; ledger_next(&w, ret);)
                if (span_is(ret->id, id)) {
                        *ret_index = w.at - 1;
                        return 0;
                }

        (void) err_set(e, ERR_GONE, 0, "the ledger has no record %.60s", id);
        return err_hint(e, "`cordon ledger` lists the ids");
}

static int put_proof(int dir, const struct ledger_view *v, uint64_t index, struct buf *out, struct err *e)
{
        AUTO_BUF(text);
        struct ledger_note n;
        struct tiles t;
        struct ledger_proof p;
        uint8_t leaf[LEDGER_HASH];

        if (ledger_note_last(dir, &text, &n) != 1 || index >= n.size)
                return err_set(e, ERR_IO, 0, "the record is not sealed yet");

        if (tiles_open(dir, false, &t, e) < 0)
                return -1;

        int r = ledger_prove_inclusion(tiles_read, &t, index, n.size, &p);
        tiles_close(&t);
        ledger_leaf_hash(v->json, leaf);
        if (r < 0 || !ledger_check_inclusion(leaf, index, n.size, &p, n.root)) {
                (void) err_set(e, ERR_IO, EUCLEAN, "the ledger does not prove this record any more");
                return err_hint(e, "`cordon ledger verify` shows what was changed");
        }

        buf_printf(out, "%s\nextra ", first_line);
        base64_put(v->json, out);
        buf_printf(out, "\nindex %llu\n", (unsigned long long) index);
        for (unsigned i = 0; i < p.count; i++) {
                base64_put(span_of(p.hash[i], LEDGER_HASH), out);
                buf_putc(out, '\n');
        }

        buf_putc(out, '\n');
        buf_add(out, n.whole.p, n.whole.n);
        return 0;
}

int ledger_proof_make(const struct cordon_context *cx, int dir, const char *id, struct buf *out,
                      struct err *e)
{
        struct ledger_view v;
        uint64_t index = 0, sealed = 0;
        char place[4096];
        struct ledger_log *l = ledger_log_open(dir, e);
        int r = l ? find_record(l, id, &v, &index, e) : -1;
        if (r == 0 && ledger_sealed_size(dir, &sealed) < 0)
                r = err_set(e, ERR_IO, errno, "the checkpoints cannot be read: %s", strerror(errno));

        if (r == 0 && index >= sealed)
                r = ledger_place(cx, place, sizeof place, e) < 0
                            ? -1
                            : ledger_helper_do(cx, "seal-once", place, span_of("", 0), NULL, e);

        if (r == 0)
                r = put_proof(dir, &v, index, out, e);

        ledger_log_free(l);
        return r;
}

/* ---- checking ---- */

struct parsed {
        uint8_t record[LEDGER_RECORD_MAX];
        size_t record_len;
        uint64_t index;
        struct ledger_proof proof;
        struct ledger_note note;
};

static int parse_proof(struct span text, struct parsed *p)
{
        struct span l, rest;
        if (!ledger_note_line(&text, &l) || !span_is(l, first_line) || !ledger_note_line(&text, &l) ||
            !span_starts(l, "extra "))
                return -1;

        ssize_t n = base64_read(span_of(l.p + 6, l.n - 6), p->record, sizeof p->record);
        if (n <= 0 || !ledger_note_line(&text, &l) || !span_starts(l, "index ") ||
            str_to_u64(span_of(l.p + 6, l.n - 6), &p->index) < 0)
                return -1;

        p->record_len = (size_t) n;
        for (p->proof.count = 0; ledger_note_line(&text, &l) && l.n > 0; p->proof.count++)
                if (p->proof.count == 63 ||
                    base64_read(l, p->proof.hash[p->proof.count], LEDGER_HASH) != LEDGER_HASH)
                        return -1;

        return l.n == 0 && ledger_note_next(text, &p->note, &rest) == 1 && rest.n == 0 ? 0 : -1;
}

/* With a file all of its keys are trusted, else the keys of this user's own ledger. */
static int is_signed(const struct cordon_context *cx, struct span note, const char *keyfile, bool *ret,
                     struct err *e)
{
        AUTO_BUF(keys);
        AUTO_BUF(answer);
        AUTO_FD(dir, keyfile ? -1 : ledger_dir_open(cx, false, e));
        if (keyfile ? ledger_helper_do(cx, "trust", keyfile, note, &answer, e) < 0
                    : dir < 0 || ledger_keys_judge(cx, dir, note, &keys, &answer, e) < 0)
                return -1;

        const char *verdict = strchr(buf_str(&answer), ' '); /* on the first note */
        *ret = verdict && strncmp(verdict, " good\n", 6) == 0;
        return 0;
}

int ledger_proof_check(const struct cordon_context *cx, struct span text, const char *keyfile,
                       struct buf *out, bool *ret_ok, struct err *e)
{
        struct parsed *p = calloc(1, sizeof *p);
        struct ledger_view v;
        uint8_t leaf[LEDGER_HASH];

        *ret_ok = false;

        if (!p)
                return err_set(e, ERR_MEMORY, 0, "no memory for the proof");

        if (parse_proof(text, p) < 0) {
                free(p);
                return err_set(e, ERR_USAGE, 0, "not a proof in the format c2sp.org/tlog-proof@v1");
        }

        struct span record = span_of(p->record, p->record_len);
        ledger_leaf_hash(record, leaf);
        bool is_in = ledger_check_inclusion(leaf, p->index, p->note.size, &p->proof, p->note.root);
        bool good = false;
        int r = is_in ? is_signed(cx, p->note.whole, keyfile, &good, e) : 0;
        if (r == 0) {
                *ret_ok = good && is_in;
                char origin[128]; /* untrusted text */
                buf_printf(out, "%s: record %llu of %llu in %s\n", *ret_ok ? "proved" : "NOT PROVED",
                           (unsigned long long) p->index, (unsigned long long) p->note.size,
                           str_inert(p->note.origin, origin, sizeof origin));
                if (is_in && !good)
                        buf_puts(out, keyfile ? "the checkpoint is not signed by a key that you gave\n"
                                              : "the checkpoint is not signed by a key of this ledger\n");
                if (!is_in)
                        buf_puts(out, "the record is not the one that the checkpoint covers\n");
                if (*ret_ok && ledger_view_parse(record, &v) == 0) {
                        ledger_line(&v, out);
                        buf_putc(out, '\n');
                }
        }

        free(p);
        return r;
}
