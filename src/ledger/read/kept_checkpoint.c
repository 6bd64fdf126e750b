/* SPDX-License-Identifier: MIT */
/* ledger/read/kept_checkpoint.c - holds the ledger of a host against the checkpoint that was kept of it, and
 * keeps its newest one. The kept file is written anew only if the ledger fits the old one, so a host that was
 * rolled back stays found. */
#include "base/fd.h"
#include "base/str.h"
#include "ledger/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void say_verdict(struct ledger_collected *c, enum ledger_verdict verdict, const char *why)
{
        c->verdict = verdict;
        (void) str_inert(span_str(why), c->why, sizeof c->why);
}

/* The last note of a text; an empty span if it has none. */
static struct ledger_note last_note(struct span text)
{
        struct ledger_note n, last = { 0 };
        while (ledger_note_next(text, &n, &text) == 1)
                last = n;
        return last;
}

static int keep_note(int dir, const char *host, struct span note, struct err *e)
{
        char temporary[NAME_MAX + 8];
        (void) snprintf(temporary, sizeof temporary, ".%s.new", host);
        AUTO_FD(fd, openat(dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || write(fd, note.p, note.n) != (ssize_t) note.n || fsync(fd) < 0 ||
            renameat(dir, temporary, dir, host) < 0)
                return err_set(e, ERR_IO, errno, "the checkpoint of %.60s cannot be kept: %s", host,
                               strerror(errno));
        return 0;
}

static int hold_against(const struct cordon_context *cx, int ledger, const struct buf *kept,
                        struct ledger_collected *c, struct err *e)
{
        AUTO_BUF(report);
        AUTO_BUF(notes);
        bool ok = false;
        uint64_t before = last_note(buf_span(kept)).size;
        if (ledger_slurp(ledger, "checkpoints", &notes) == 0)
                c->records = last_note(buf_span(&notes)).size;

        if (c->records < before) {
                (void) snprintf(c->why, sizeof c->why, "%llu records were sealed, and now %llu are",
                                (unsigned long long) before, (unsigned long long) c->records);
                c->verdict = LEDGER_ROLLED_BACK;
                return 0;
        }

        struct err why = { 0 };
        if (ledger_verify(cx, ledger, buf_str(kept), true, &report, &ok, &why) < 0)
                return say_verdict(c, LEDGER_CHANGED, why.what), 0;

        if (!ok) {
                c->verdict = LEDGER_CHANGED;
                ledger_first_finding(&report, c->why, sizeof c->why);
                return 0;
        }

        c->verdict = LEDGER_FITS;
        c->added = c->records - before;
        struct ledger_note newest = last_note(buf_span(&notes));
        (void) str_inert(newest.origin, c->ledger, sizeof c->ledger);
        return newest.whole.n > 0 && (c->added > 0 || before == 0)
                       ? keep_note(c->kept, c->host, newest.whole, e)
                       : 0;
}

/* The last part; a slash at the end is no part. */
static void name_of(const char *path, char *ret, size_t cap)
{
        size_t end = strlen(path), from;
        while (end > 0 && path[end - 1] == '/')
                end--;

        for (from = end; from > 0 && path[from - 1] != '/';)
                from--;

        (void) snprintf(ret, cap, "%.*s", (int) (end - from), path + from);
}

/* A file name: one word, not hidden, and not cut. */
static bool is_name(const char *name)
{
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+@";
        size_t n = strspn(name, allowed);
        return n > 0 && n < LEDGER_HOST_MAX - 1 && name[n] == '\0' && name[0] != '.';
}

int ledger_collect(const struct cordon_context *cx, int kept, const char *path, struct ledger_collected *ret,
                   struct err *e)
{
        AUTO_BUF(text);
        struct err why = { 0 };
        *ret = (struct ledger_collected){ .kept = kept, .verdict = LEDGER_MISSING };
        name_of(path, ret->host, sizeof ret->host);
        if (!is_name(ret->host)) {
                (void) err_set(e, ERR_USAGE, 0, "%.100s does not end in the name of a host", path);
                return err_hint(e, "name each ledger's directory after its host: ledgers/node17");
        }

        if (ledger_slurp(kept, ret->host, &text) < 0)
                return err_set(e, ERR_IO, errno, "the checkpoint kept of %.60s cannot be read", ret->host);

        if (text.n > 0 && last_note(buf_span(&text)).whole.n == 0)
                return err_set(e, ERR_IO, 0, "the file kept of %.60s is not a checkpoint", ret->host);

        AUTO_FD(ledger, ledger_open_dir(path, &why));
        if (ledger < 0)
                return say_verdict(ret, LEDGER_MISSING, why.what), 0;

        return hold_against(cx, ledger, &text, ret, e);
}
