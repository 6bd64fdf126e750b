/* SPDX-License-Identifier: MIT */
/* run/api/api_label_verbs.c - cordon_label_*: labels of files, for faces. */
#include "base/fd.h"
#include "base/hash.h"
#include "base/store/store.h"
#include "base/str.h"
#include "effect/stamp/stamp.h"
#include "ledger/ledger.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- show ---- */

static const struct stamp *stamp_at(const struct stamp_index *x, const char *path)
{
        for (size_t i = 0; i < x->n; i++)
                if (strcmp(x->v[i].path, path) == 0)
                        return &x->v[i];
        return NULL;
}

static void show_one(const struct stamp_index *x, const char *path, bool json, struct buf *out)
{
        char *real = realpath(path, NULL), text[LABEL_TEXT_MAX], shown[4096];
        const char *where = real ? real : path;
        const struct stamp *s = stamp_at(x, where);
        struct label l = stamp_label(x, where);
        (void) label_text(&l, text);
        if (json) {
                buf_puts(out, out->n > 1 ? ",{\"path\":" : "{\"path\":");
                buf_json(out, span_str(where));
                buf_member(out, "labels", text);
                buf_member(out, "run", s ? s->run : "");
                buf_putc(out, '}');
        } else {
                buf_printf(out, "%s: %s%s%s\n", str_inert(span_str(where), shown, sizeof shown),
                           text[0] ? text : "no label", s && s->run[0] ? ", from run " : "", s ? s->run : "");
        }
        free(real);
}

char *cordon_label_show(const cordon_context *cx, const char *const *paths, int json, cordon_error *e)
{
        struct stamp_index x;
        AUTO_BUF(out);
        box_label_settle(cx);
        if (stamp_read(cx, &x, to_err(e)) < 0)
                return NULL;

        for (size_t i = 0; paths && paths[i]; i++)
                if (access(paths[i], F_OK) < 0 && errno == ENOENT && !stamp_at(&x, paths[i])) {
                        (void) err_set(to_err(e), ERR_USAGE, ENOENT, "%s does not exist", paths[i]);
                        stamp_done(&x);
                        return NULL;
                }

        if (json)
                buf_putc(&out, '[');
        for (size_t i = 0; paths && paths[i]; i++)
                show_one(&x, paths[i], json, &out);
        for (size_t i = 0; !paths && i < x.n; i++)
                show_one(&x, x.v[i].path, json, &out);
        if (json)
                buf_puts(&out, "]\n");

        stamp_done(&x);
        return api_give(&out, to_err(e));
}

/* ---- stamp, drop ---- */

struct act {
        const char *path, *result, *labels, *reason;
};

static void digest_of(const char *path, char ret[72])
{
        char block[65536];
        struct sha256 s;
        AUTO_FD(fd, open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        ssize_t n = -1;
        ret[0] = '\0';
        sha256_init(&s);
        while (fd >= 0 && (n = read(fd, block, sizeof block)) > 0)
                sha256_add(&s, block, (size_t) n);
        if (n != 0)
                return; /* a directory, or it cannot be read */
        memcpy(ret, "sha256:", sizeof "sha256:");
        sha256_end_hex(&s, ret + strlen("sha256:"));
}

/* Durable before the index changes. */
static int record_act(const cordon_context *cx, const struct act *a, struct err *e)
{
        char run[32], digest[72];
        uint64_t chance;
        if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
                return err_set(e, ERR_IO, errno, "no random number for the ledger");

        (void) snprintf(run, sizeof run, "label-%016llx", (unsigned long long) chance);
        struct ledger *l = ledger_open(cx, run, "i", e);
        if (!l)
                return -1;

        digest_of(a->path, digest);
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_HUMAN);
        r.result = a->result;
        r.target = a->path;
        r.digest = digest[0] ? digest : NULL;
        ledger_more_text(&r, "labels", a->labels);
        ledger_more_text(&r, "reason", a->reason);
        ledger_more_number(&r, "uid", geteuid());
        int done = ledger_append(l, &r, true, NULL, e);
        ledger_close(l);
        return done;
}

static char *real_of(const char *path, struct err *e)
{
        char *real = realpath(path, NULL);
        if (!real)
                (void) err_set(e, ERR_USAGE, errno, "%s: %s", path, strerror(errno));
        return real;
}

/* What is gone has the name that it had. */
static char *real_or_gone(const char *path, struct err *e)
{
        struct stat st;
        return path[0] == '/' && lstat(path, &st) < 0 && errno == ENOENT ? strdup(path) : real_of(path, e);
}

static int read_labels(const char *text, struct label *ret, struct err *e)
{
        if (label_parse(span_str(text), ret) == 0 && !ret->all && !label_is_empty(ret))
                return 0;
        (void) err_set(e, ERR_USAGE, 0, "\"%.80s\" is not a label", text);
        return err_hint(e, "use private:NAME, untrusted, or both");
}

int cordon_label_stamp(const cordon_context *cx, const char *path, const char *labels, cordon_error *e)
{
        struct label l;
        char text[LABEL_TEXT_MAX];
        char *real = labels && read_labels(labels, &l, to_err(e)) < 0 ? NULL : real_of(path, to_err(e));
        if (!real || !labels) {
                int kept = real ? stamp_keep(cx, real, to_err(e)) : -1;
                free(real);
                return kept;
        }

        const struct act a = { real, "stamped", label_text(&l, text), "" };
        int r = record_act(cx, &a, to_err(e)) < 0 ? -1 : stamp_add(cx, real, &l, "", to_err(e));
        if (r == 0)
                box_label_tell(cx);
        free(real);
        return r;
}

/* A label that comes from a directory above is dropped there. */
static int check_drop(const cordon_context *cx, const char *real, const struct label *l, struct err *e)
{
        struct stamp_index x;
        if (stamp_read(cx, &x, e) < 0)
                return -1;

        struct label own = stamp_own(&x, real), all = stamp_label(&x, real);
        stamp_done(&x);
        if (label_within(l, &own))
                return 0;

        if (!label_within(l, &all))
                return err_set(e, ERR_USAGE, 0, "%s does not have this label", real);
        (void) err_set(e, ERR_USAGE, 0, "%s has this label from another path above or below it", real);
        return err_hint(e, "`cordon label show` lists them");
}

/* A directory's label is that of all below it, which may bear it itself. */
static int drop_below(const cordon_context *cx, const char *dir, const struct label *l, struct err *e)
{
        char state[STORE_PATH_MAX];
        struct err ignored;
        struct stamp_written *w = stamp_unwritten_new(l, store_path(cx, state, &ignored) < 0 ? NULL : state);
        if (!w)
                return err_set(e, ERR_MEMORY, 0, "no memory to drop the label below %s", dir);

        stamp_written_add(w, dir);
        while (stamp_written_step(w))
                ;
        const struct stamp_left *left = stamp_written_left(w);
        int r = left->count == 0
                        ? 0
                        : err_set(e, ERR_IO, 0, "%u files keep the label, as %s", left->count, left->first);
        stamp_written_free(w);
        return r;
}

int cordon_label_drop(const cordon_context *cx, const char *path, const char *labels, const char *reason,
                      cordon_error *e)
{
        struct label l;
        char text[LABEL_TEXT_MAX];
        if (!reason || !reason[0]) {
                (void) err_set(to_err(e), ERR_USAGE, 0, "--reason is required to drop a label");
                return err_hint(to_err(e), "--reason TEXT, which is recorded");
        }

        if (!box_person_is_here()) {
                (void) err_set(to_err(e), ERR_USAGE, 0, "labels can be dropped only at a terminal");
                return err_hint(to_err(e), "type the command at a terminal, outside every box");
        }

        char *real = read_labels(labels, &l, to_err(e)) < 0 ? NULL : real_or_gone(path, to_err(e));
        if (!real)
                return -1;

        const struct act a = { real, "dropped", label_text(&l, text), reason };
        box_label_settle(cx);
        int r = check_drop(cx, real, &l, to_err(e)) < 0 || record_act(cx, &a, to_err(e)) < 0
                        ? -1
                        : stamp_drop(cx, real, &l, to_err(e));
        if (r == 0)
                r = drop_below(cx, real, &l, to_err(e));
        free(real);
        return r;
}
