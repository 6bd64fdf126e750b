/* SPDX-License-Identifier: MIT */
/* ledger/read/many_ledgers.c - reads ledgers from given directories as one log. They may be foreign: each is
 * verified first, and refused if it does not match its signatures. Reads only. */
#include "base/fd.h"
#include "base/str.h"
#include "ledger/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

int ledger_open_dir(const char *path, struct err *e)
{
        AUTO_FD(dir, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (dir < 0)
                return err_set(e, ERR_GONE, errno, "the ledger %.100s cannot be read: %s", path,
                               strerror(errno));

        AUTO_FD(inside, openat(dir, "ledger", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        AUTO_FD(segments, openat(inside >= 0 ? inside : dir, "segments",
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (segments < 0) {
                (void) err_set(e, ERR_GONE, errno, "%.100s has no ledger", path);
                return err_hint(
                        e, "name a state directory, or the ledger in it, with its key.pub and checkpoints");
        }

        return inside >= 0 ? TAKE_FD(inside) : TAKE_FD(dir);
}

/* NAME+HASH+..., the first line: a later key has the same name. */
static int read_name(int dir, const char *path, struct ledger_opened *ret, struct err *e)
{
        AUTO_BUF(keys);
        if (ledger_slurp(dir, "key.pub", &keys) < 0)
                return err_set(e, ERR_IO, errno, "key.pub of the ledger %.100s cannot be read", path);

        const char *text = buf_str(&keys);
        size_t n = strcspn(text, "+\n");
        if (n == 0 || text[n] != '+' || strcspn(text + n + 1, "+\n") != 8) {
                (void) err_set(e, ERR_GONE, 0, "the ledger %.100s has no key that names it", path);
                return err_hint(e, "the sealer makes it within a second of a run; copy key.pub together with "
                                   "the ledger");
        }

        (void) snprintf(ret->key, sizeof ret->key, "+%.8s", text + n + 1);
        (void) str_inert(span_of(text, n), ret->name, sizeof ret->name);
        return 0;
}

static int check_ledger(const struct cordon_context *cx, int dir, const char *path, struct err *e)
{
        AUTO_BUF(out);
        bool ok = false;
        uint64_t sealed = 0;
        if (ledger_sealed_size(dir, &sealed) == 0 && sealed == 0) {
                (void) err_set(e, ERR_GONE, 0, "the ledger %.100s has no checkpoint: nothing vouches for it",
                               path);
                return err_hint(e, "the sealer signs one within a second of a run; copy checkpoints together "
                                   "with the ledger");
        }

        if (ledger_verify(cx, dir, "", true, &out, &ok, e) < 0)
                return err_in(e, "the ledger %.100s", path);

        if (ok)
                return 0;

        char shown[400];
        ledger_first_finding(&out, shown, sizeof shown);
        (void) err_set(e, ERR_IO, EUCLEAN, "the ledger %.60s is not what was signed: %s", path, shown);
        return err_hint(e,
                        "it can be looked at alone: let CORDON_STATE name it for `cordon ledger verify` and "
                        "`cordon ledger`");
}

int ledger_open_foreign(const struct cordon_context *cx, const char *path, struct ledger_opened *ret,
                        struct err *e)
{
        AUTO_FD(dir, ledger_open_dir(path, e));
        if (dir < 0 || ledger_dir_check(dir, e) < 0 || check_ledger(cx, dir, path, e) < 0 ||
            read_name(dir, path, ret, e) < 0)
                return -1;
        return TAKE_FD(dir);
}

static struct ledger_log *open_one(const struct cordon_context *cx, const char *path,
                                   struct ledger_opened *ret, struct err *e)
{
        AUTO_FD(dir, ledger_open_foreign(cx, path, ret, e));
        return dir < 0 ? NULL : ledger_log_open(dir, e);
}

void ledger_name_unique(const struct ledger_opened *o, size_t count, size_t i, char ret[LEDGER_NAME_MAX])
{
        bool same = false;
        for (size_t k = 0; k < count; k++)
                same |= i != k && strcmp(o[i].name, o[k].name) == 0;

        (void) snprintf(ret, LEDGER_NAME_MAX, "%.*s%s", LEDGER_NAME_PART, o[i].name, same ? o[i].key : "");
}

struct ledger_log *ledger_log_several(const struct cordon_context *cx, const char *const *paths, size_t count,
                                      struct err *e)
{
        struct ledger_opened o[LEDGERS_MAX];
        struct ledger_log *logs[LEDGERS_MAX] = { NULL };
        char full[LEDGERS_MAX][LEDGER_NAME_MAX];
        const char *names[LEDGERS_MAX];
        size_t n = 0;

        if (count > LEDGERS_MAX) {
                (void) err_set(e, ERR_USAGE, 0, "up to %d ledgers can be read at once", LEDGERS_MAX);
                return NULL;
        }

        while (n < count && (logs[n] = open_one(cx, paths[n], &o[n], e)))
                n++;

        if (n == count) {
                for (size_t i = 0; i < count; i++) {
                        ledger_name_unique(o, count, i, full[i]);
                        names[i] = full[i];
                }
                return ledger_log_merge(logs, names, count, e);
        }

        while (n > 0)
                ledger_log_free(logs[--n]);

        return NULL;
}
