/* SPDX-License-Identifier: MIT */
/* ledger/read/ledger_keys.c - which keys a ledger has, and whether they signed a checkpoint: cordon-ledger
 * answers, which has libcrypto. */
#include "base/fd.h"
#include "ledger/internal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

int ledger_keys_ask(const struct cordon_context *cx, struct span keys, struct span notes,
                    struct buf *ret_answer, struct err *e)
{
        char path[64];
        AUTO_FD(file, memfd_create("keys", MFD_CLOEXEC));
        if (file < 0 || fd_write_all(file, keys.p, keys.n) < 0)
                return err_set(e, ERR_IO, errno, "no memory files: %s", strerror(errno));

        (void) snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), file);
        return ledger_helper_do(cx, "check", path, notes, ret_answer, e);
}

int ledger_keys_judge(const struct cordon_context *cx, int dir, struct span note, struct buf *ret_keys,
                      struct buf *ret_answer, struct err *e)
{
        AUTO_BUF(notes);
        buf_add(&notes, note.p, note.n);
        buf_putc(&notes, '\n');
        if (ledger_slurp(dir, "key.pub", ret_keys) < 0 || ledger_slurp(dir, "checkpoints", &notes) < 0)
                return err_set(e, ERR_IO, errno, "the ledger's keys cannot be read: %s", strerror(errno));

        return ledger_keys_ask(cx, buf_span(ret_keys), buf_span(&notes), ret_answer, e);
}

int ledger_keys(const struct cordon_context *cx, int dir, struct buf *out, struct err *e)
{
        AUTO_BUF(answer);
        if (ledger_keys_judge(cx, dir, span_of("", 0), out, &answer, e) < 0)
                return -1;

        const char *stranger = strstr(buf_str(&answer), "key ");
        if (!stranger)
                return 0;

        (void) err_set(e, ERR_IO, EUCLEAN, "key.pub has %.*s: no key before it signed a rotation to it",
                       (int) strcspn(stranger + 4, "\n"), stranger + 4);
        return err_hint(e, "`cordon ledger verify` shows what was changed");
}
