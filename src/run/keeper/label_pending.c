/* SPDX-License-Identifier: MIT */
/* run/keeper/label_pending.c - a keeper that is killed stamps nothing of what its run wrote. So what is to be
 * stamped lies in STATE/labels/pending/RUN, locked while the keeper lives, and the next process that looks at
 * labels does it:
 *
 *   SECONDS NUL NANOSECONDS NUL LABEL NUL DOOR NUL DOOR NUL ... */
#include "base/buf.h"
#include "base/fd.h"
#include "base/store/store.h"
#include "effect/stamp/stamp.h"
#include "run/keeper/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { BYTES_MAX = 1 << 20 };

static int open_dir(const struct cordon_context *cx, struct err *e)
{
        AUTO_FD(state, store_open(cx, e));
        AUTO_FD(labels, state < 0 ? -1 : store_dir(state, "labels", e));
        return labels < 0 ? -1 : store_dir(labels, "pending", e);
}

static bool put_places(const struct box *b, struct buf *out)
{
        size_t n;
        bool any = false;
        char text[LABEL_TEXT_MAX], real[PATH_MAX];
        const struct door *d = policy_doors(b->c.policy, &n);
        buf_printf(out, "%lld%c%ld%c%s%c", (long long) b->since.tv_sec, 0, b->since.tv_nsec, 0,
                   label_text(&b->run.r.label, text), 0);
        for (size_t i = 0; i < n; i++)
                if (d[i].kind == DOOR_WRITE && realpath(d[i].path, real)) {
                        buf_add(out, real, strlen(real) + 1);
                        any = true;
                }
        return any;
}

int keeper_label_pending(struct box *b, struct err *e)
{
        AUTO_BUF(text);
        if (b->session || label_is_empty(&b->run.r.label) || (b->c.park && !b->ordered) ||
            !put_places(b, &text))
                return 0;

        AUTO_FD(dir, open_dir(b->c.cx, e));
        if (dir < 0)
                return -1;

        if (b->pending < 0)
                b->pending = openat(dir, keeper_run(&b->run),
                                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (text.failed || b->pending < 0 || flock(b->pending, LOCK_EX | LOCK_NB) < 0 ||
            ftruncate(b->pending, 0) < 0 || lseek(b->pending, 0, SEEK_SET) < 0 ||
            fd_write_all(b->pending, text.p, text.n) < 0 || fdatasync(b->pending) < 0)
                return err_set(e, ERR_IO, errno, "what is to be labelled at the end cannot be noted: %s",
                               strerror(errno));
        return 0;
}

void keeper_label_stamped(struct box *b)
{
        struct err ignored;
        if (b->pending < 0)
                return;

        AUTO_FD(dir, open_dir(b->c.cx, &ignored));
        (void) unlinkat(dir, keeper_run(&b->run), 0);
        fd_close(&b->pending);
}

/* ---- of keepers that were killed ---- */

static const char *next_text(struct span *rest)
{
        const char *text = (const char *) rest->p;
        const uint8_t *end = rest->n ? memchr(rest->p, 0, rest->n) : NULL;
        if (!end)
                return NULL;

        *rest = span_of(end + 1, rest->n - (size_t) (end + 1 - rest->p));
        return text;
}

static void stamp_noted(struct span all, const char *state)
{
        const char *s = next_text(&all), *ns = next_text(&all), *label = next_text(&all);
        if (!s || !ns || !label)
                return; /* killed before it was whole: nothing ran yet */

        struct label l = label_of(label);
        struct timespec since = { .tv_sec = strtoll(s, NULL, 10), .tv_nsec = strtol(ns, NULL, 10) };
        struct stamp_written *w = stamp_written_new(&l, since, state);
        for (const char *door; w && (door = next_text(&all));)
                stamp_written_add(w, door);
        while (w && stamp_written_step(w))
                ;
        stamp_written_free(w);
}

static void settle_note(int dir, const char *name, const char *state)
{
        AUTO_FD(fd, openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (name[0] == '.' || fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
                return;

        char *text = malloc(BYTES_MAX);
        ssize_t n = text ? fd_read_all(fd, text, BYTES_MAX) : -1;
        if (n >= 0) {
                stamp_noted(span_of(text, (size_t) n), state);
                (void) unlinkat(dir, name, 0);
        }
        free(text);
}

void box_label_settle(const struct cordon_context *cx)
{
        char state[STORE_PATH_MAX], path[PATH_MAX];
        struct err ignored;
        if (store_path(cx, state, &ignored) < 0)
                return;

        (void) snprintf(path, sizeof path, "%s/labels/pending", state);
        DIR *dir = opendir(path);
        for (const struct dirent *d; dir && (d = readdir(dir));)
                settle_note(dirfd(dir), d->d_name, state);
        if (dir)
                (void) closedir(dir);
}
