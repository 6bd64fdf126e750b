/* SPDX-License-Identifier: MIT */
/* run/api/api_heads.c - the heads of tenants' ledgers, kept in the ledger of their host. */
#include "base/fd.h"
#include "ledger/ledger.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { PLACE_BYTES = 4200 };

/* Seals what no checkpoint covers yet. A ledger that cannot be sealed keeps its last one. */
static void seal_ledger(const struct cordon_context *cx, const char *place)
{
        struct err ignored;
        AUTO_BUF(out);
        (void) ledger_helper_do(cx, "seal-once", place, span_str(""), &out, &ignored);
}

/* 1 with the note in *ret; 0: it has no ledger yet, or none that is sealed. */
static int newest_note(const struct cordon_context *cx, const cordon_head *h, struct buf *text,
                       struct ledger_note *ret, struct err *e)
{
        char place[PLACE_BYTES];
        int n = snprintf(place, sizeof place, "%s/ledger", h->state);
        AUTO_FD(dir,
                n > 0 && (size_t) n < sizeof place ? open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
        if (dir < 0)
                return 0;

        if (h->seal)
                seal_ledger(cx, place);
        int r = ledger_note_last(dir, text, ret);
        return r < 0 ? err_set(e, ERR_IO, errno, "the checkpoints of the tenant %.64s cannot be read: %s",
                               h->tenant, strerror(errno))
                     : r;
}

/* Buffers the record of one tenant. */
static int add_head(struct ledger *l, const struct cordon_context *cx, const cordon_head *h, const char *when,
                    struct err *e)
{
        AUTO_BUF(text);
        AUTO_BUF(note);
        struct ledger_note last;
        struct ledger_record r = ledger_record_of(LEDGER_HEAD, LEDGER_OUTCOME);
        bool dropped = strcmp(when, "dropped") == 0;
        int got = dropped ? 1 : newest_note(cx, h, &text, &last, e);
        if (got <= 0)
                return got;

        r.target = h->tenant;
        r.result = when;
        ledger_more_text(&r, "state", h->state);
        if (!dropped) {
                buf_add(&note, last.whole.p, last.whole.n);
                r.count = (int64_t) last.size;
                ledger_more_text(&r, "checkpoint", buf_str(&note));
        }
        return note.failed ? err_set(e, ERR_MEMORY, 0, "no memory for a head")
                           : ledger_append(l, &r, false, NULL, e);
}

int cordon_heads_add(const cordon_context *cx, const cordon_head *v, size_t n, const char *when,
                     cordon_error *pe)
{
        struct err *e = to_err(pe);
        if (n == 0)
                return 0;

        struct ledger *l = api_log_as(cx, "head", e);
        if (!l)
                return -1;

        int r = 0;
        size_t mark = ledger_mark(l);
        for (size_t i = 0; i < n && r == 0; i++)
                r = add_head(l, cx, &v[i], when, e);
        if (r == 0)
                r = ledger_commit(l, mark, e);
        else
                ledger_forget(l, mark);
        ledger_wake_sealer(l);
        ledger_close(l);
        return r;
}
