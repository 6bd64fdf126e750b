/* SPDX-License-Identifier: MIT */
/* effect/stamp/stamp_file.c - the index of labels as a file: read whole, replaced whole, under a lock. */
#include "base/buf.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/store/store.h"
#include "base/str.h"
#include "base/vec.h"
#include "effect/stamp/stamp_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES_MAX = 64 << 20, PIPES_MAX = 4096 };
static const char index_name[] = "index", next_name[] = "index.next", dir_name[] = "labels";

/* ---- reading ---- */

static int make_room(struct stamp_index *x, struct err *e)
{
        if (x->n >= STAMPS_MAX) {
                (void) err_set(e, ERR_IO, 0, "more than %d files have labels", STAMPS_MAX);
                return err_hint(e, "stamp a directory instead: `cordon label add DIR LABEL`");
        }

        return vec_room((void **) &x->v, x->n, &x->cap, sizeof *x->v) < 0
                       ? err_set(e, ERR_MEMORY, 0, "no memory for the labels of files")
                       : 0;
}

static bool is_pipe(const char *path) { return span_starts(span_str(path), stamp_pipe_prefix); }
static bool is_place(const char *path) { return path && (path[0] == '/' || is_pipe(path)); }

static int take_line(struct stamp_index *x, struct span line, struct err *e)
{
        struct json_doc *d = json_parse("labels", line, e);
        const struct json *o = d ? json_root(d) : NULL;
        const char *path = json_str(o, "path"), *label = json_str(o, "label");
        const char *run = json_str(o, "run");
        struct stamp s = { .path = is_place(path) && label ? strdup(path) : NULL };
        if (s.path) {
                s.dev = json_int(o, "dev");
                s.ino = json_int(o, "ino");
                s.born_ns = json_int(o, "born");
                s.label = label_of(label);
                (void) snprintf(s.run, sizeof s.run, "%s", run ? run : "");
        }

        json_free(d);
        if (!s.path || make_room(x, e) < 0) {
                free(s.path);
                return err_set(e, ERR_IO, 0,
                               "the index of labels is damaged, so no label of a file is known");
        }

        x->v[x->n++] = s;
        return 0;
}

static int take_text(struct stamp_index *x, const char *text, size_t n, struct err *e)
{
        for (struct span rest = span_of(text, n); rest.n > 0;) {
                struct span line = span_cut(&rest, '\n');
                if (line.n > 0 && take_line(x, line, e) < 0)
                        return -1;
        }
        return 0;
}

/* The state directory that the caller names belongs to another account, which keeps no label of ours. */
static bool is_anothers(const char *path)
{
        char state[STORE_PATH_MAX];
        struct stat st;
        size_t n = str_parent(path, str_parent(path, strlen(path)));
        (void) snprintf(state, sizeof state, "%.*s", (int) n, path);
        return stat(state, &st) < 0 ? errno == EACCES : st.st_uid != geteuid();
}

static int read_at(const char *path, struct stamp_index *ret, struct err *e)
{
        struct stat st;
        AUTO_FD(fd, open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
        *ret = (struct stamp_index){ 0 };
        if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || (errno == EACCES && is_anothers(path))))
                return 0;

        if (fd < 0 || fstat(fd, &st) < 0)
                return err_set(e, ERR_IO, errno, "the index of labels %s: %s", path, strerror(errno));

        if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_size > BYTES_MAX)
                return err_set(e, ERR_IO, 0, "%s is not an index of labels of this user", path);

        size_t n = (size_t) st.st_size;
        char *text = malloc(n + 1);
        int r = text && fd_read_all(fd, text, n) == (ssize_t) n
                        ? take_text(ret, text, n, e)
                        : err_set(e, ERR_IO, errno, "the index of labels cannot be read");
        free(text);
        if (r < 0) {
                stamp_done(ret);
                return err_hint(e, "restore or remove %s; without it every file counts as unlabelled", path);
        }
        return 0;
}

int stamp_read(const struct cordon_context *cx, struct stamp_index *ret, struct err *e)
{
        char state[STORE_PATH_MAX], path[STORE_PATH_MAX + 32];
        struct err ignored;
        *ret = (struct stamp_index){ 0 };
        if (store_path(cx, state, &ignored) < 0)
                return 0; /* without a state nothing was ever stamped */
        (void) snprintf(path, sizeof path, "%s/%s/%s", state, dir_name, index_name);
        return read_at(path, ret, e);
}

uint64_t stamp_version(const struct cordon_context *cx)
{
        char state[STORE_PATH_MAX], path[STORE_PATH_MAX + 32];
        struct err ignored;
        struct stat st;
        if (store_path(cx, state, &ignored) < 0)
                return 0;
        (void) snprintf(path, sizeof path, "%s/%s/%s", state, dir_name, index_name);
        if (lstat(path, &st) < 0)
                return 0;
        return (uint64_t) st.st_ino ^
               ((uint64_t) st.st_mtim.tv_sec * 1000000000u + (uint64_t) st.st_mtim.tv_nsec);
}

void stamp_done(struct stamp_index *x)
{
        for (size_t i = 0; i < x->n; i++)
                free(x->v[i].path);
        free(x->v);
        *x = (struct stamp_index){ 0 };
}

/* ---- writing ---- */

static void put_stamp(const struct stamp *s, struct buf *out)
{
        char text[LABEL_TEXT_MAX];
        buf_puts(out, "{\"path\":");
        buf_json(out, span_str(s->path));
        buf_printf(out, ",\"dev\":%lld,\"ino\":%lld,\"born\":%lld", (long long) s->dev, (long long) s->ino,
                   (long long) s->born_ns);
        buf_member(out, "label", label_text(&s->label, text));
        buf_member(out, "run", s->run);
        buf_puts(out, "}\n");
}

/* Pipes of another boot are gone; of this one the newest are kept. */
static void forget_pipes(struct stamp_index *x)
{
        char boot[40] = "";
        size_t kept = 0;
        for (size_t i = x->n; i-- > 0;) {
                if (!is_pipe(x->v[i].path))
                        continue;
                if (!boot[0])
                        (void) fd_get(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof boot);
                const char *of = strchr(x->v[i].path, '@');
                if (++kept > PIPES_MAX || !of || strcmp(of + 1, boot) != 0)
                        x->v[i].label = (struct label){ 0 };
        }
}

static int replace_index(int dir, struct stamp_index *x, struct err *e)
{
        AUTO_BUF(text);
        forget_pipes(x);
        for (size_t i = 0; i < x->n; i++)
                if (!label_is_empty(&x->v[i].label))
                        put_stamp(&x->v[i], &text);

        AUTO_FD(fd, openat(dir, next_name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (text.failed || fd < 0 || fd_write_all(fd, text.p, text.n) < 0 || fdatasync(fd) < 0 ||
            renameat(dir, next_name, dir, index_name) < 0)
                return err_set(e, ERR_IO, errno, "the index of labels cannot be written: %s",
                               strerror(errno));
        return 0;
}

/* The index, for one change. Holds the lock until *ret_dir is closed. */
static int begin_change(const struct cordon_context *cx, int *ret_dir, struct stamp_index *ret, struct err *e)
{
        AUTO_FD(state, store_open(cx, e));
        AUTO_FD(dir, state < 0 ? -1 : store_dir(state, dir_name, e));
        if (dir < 0)
                return -1;

        if (flock(dir, LOCK_EX) < 0)
                return err_set(e, ERR_IO, errno, "the index of labels cannot be locked");

        if (stamp_read(cx, ret, e) < 0)
                return -1;

        *ret_dir = TAKE_FD(dir);
        return 0;
}

/* A name that is not UTF-8 has no JSON: its directory is stamped. */
static void utf8_path(const char *path, char ret[PATH_MAX])
{
        (void) snprintf(ret, PATH_MAX, "%s", path);
        for (size_t n = strlen(ret); n > 1 && !str_is_utf8(span_str(ret)); n = strlen(ret))
                ret[str_parent(ret, n) ? str_parent(ret, n) : 1] = '\0';
}

/* `at`: where the file is found now, if it has no name yet. */
static int add_row(struct stamp_index *x, const char *path, const char *at, const struct label *l,
                   const char *run, struct err *e)
{
        size_t i = 0;
        while (i < x->n && strcmp(x->v[i].path, path) != 0)
                i++;

        if (i == x->n) {
                char *copy = make_room(x, e) < 0 ? NULL : strdup(path);
                if (!copy)
                        return -1;
                x->v[x->n++] = (struct stamp){ .path = copy };
        }

        struct stamp *s = &x->v[i];
        label_join(&s->label, l);
        if (!is_pipe(path)) /* whose number may be another pipe's after the next boot */
                stamp_identify(at, s);
        (void) snprintf(s->run, sizeof s->run, "%s", run);
        return 0;
}

static int add_at(const struct cordon_context *cx, const char *clean, const char *at, const struct label *l,
                  const char *run, struct err *e)
{
        struct stamp_index x;
        AUTO_FD(dir, -1);
        if (begin_change(cx, &dir, &x, e) < 0)
                return -1;

        struct label indexed = is_pipe(clean) ? stamp_named(&x, clean) : stamp_indexed(&x, at);
        struct label file = is_pipe(clean) ? indexed : stamp_same_file(&x, at);
        bool known = label_within(l, &file); /* not by the name of a file that was replaced */
        int r = known ? 0 : add_row(&x, clean, at, l, run, e) < 0 ? -1 : replace_index(dir, &x, e);
        stamp_done(&x);
        label_join(&indexed, l);
        if (r == 0 && !known && !is_pipe(clean))
                (void) stamp_change_attribute(at, &indexed, false); /* a convenience: the index has it */
        return r;
}

int stamp_add(const struct cordon_context *cx, const char *path, const struct label *l, const char *run,
              struct err *e)
{
        char clean[PATH_MAX];
        utf8_path(path, clean);
        return add_at(cx, clean, clean, l, run, e);
}

static bool has_no_name(int fd)
{
        struct stat st;
        return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

int stamp_keep(const struct cordon_context *cx, const char *path, struct err *e)
{
        struct stamp_index x;
        if (stamp_read(cx, &x, e) < 0)
                return -1;

        struct label own = stamp_own(&x, path);
        stamp_done(&x);
        return label_is_empty(&own) ? 0 : stamp_add(cx, path, &own, "", e);
}

int stamp_add_file(const struct cordon_context *cx, int fd, const struct label *l, const char *run,
                   struct err *e)
{
        char path[PATH_MAX], clean[PATH_MAX], at[32];
        if (!stamp_place(fd, path))
                return 1;

        utf8_path(path, clean);
        (void) snprintf(at, sizeof at, "/proc/self/fd/%d", fd);
        /* The attribute stays with it until it has a name: then stamp_keep() writes that into the index. */
        return has_no_name(fd) && stamp_change_attribute(at, l, false) ? 0 : add_at(cx, clean, at, l, run, e);
}

int stamp_drop(const struct cordon_context *cx, const char *path, const struct label *what, struct err *e)
{
        struct stamp_index x;
        AUTO_FD(dir, -1);
        if (begin_change(cx, &dir, &x, e) < 0)
                return -1;

        struct stamp here;
        stamp_identify(path, &here);
        for (size_t i = 0; i < x.n; i++)
                if (strcmp(x.v[i].path, path) == 0 || stamp_is_same_file(&x.v[i], &here))
                        label_drop(&x.v[i].label, what);

        int r = replace_index(dir, &x, e);
        stamp_done(&x);
        if (r == 0)
                (void) stamp_change_attribute(path, what, true);
        return r;
}

void stamp_forget(const struct cordon_context *cx, const char *path)
{
        struct stamp_index x;
        struct err none;
        const struct label all = label_worst();
        bool known = false;
        if (stamp_read(cx, &x, &none) < 0)
                return;

        for (size_t i = 0; i < x.n; i++)
                known |= strcmp(x.v[i].path, path) == 0;
        stamp_done(&x);
        if (known)
                (void) stamp_drop(cx, path, &all, &none);
}
