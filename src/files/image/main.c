/* SPDX-License-Identifier: MIT */
/* files/image/main.c - cordon-unpack: reads one image and writes one tree, in a box of cordon's own with
 * those two doors.
 *
 *     cordon-unpack describe IMAGE            its parts, as JSON
 *     cordon-unpack inflate  FILE DIR         DIR/archive.tar, decompressed
 *     cordon-unpack layers   IMAGE ROOT       standard input: "user NAME", "cwd PATH" and
 *                                             "layer FORM OFFSET SIZE PACKED PLAIN [FILE]", one per line
 *
 * An error is one sentence on standard error, a hint may follow; the status is 1 then. Nothing that it prints
 * is trusted. */
#include "base/fd.h"
#include "base/hash.h"
#include "files/image/unpack/image_unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct job {
        const char *image;
        int root;
        struct tree tree;
        struct unpack_counts counts;
        bool has_user;
        uint32_t uid, gid;
        char user[128];
};

static int describe_image(const char *image, struct err *e)
{
        AUTO_BUF(out);
        struct outer *o = outer_open(image, e);
        int r = o ? manifest_describe(o, &out, e) : -1;
        outer_free(o);
        if (r < 0)
                return -1;

        if (out.failed || fd_write_all(1, buf_str(&out), out.n) < 0)
                return err_set(e, ERR_IO, errno, "writing the description");

        return 0;
}

static int inflate_to(int from, uint64_t size, enum stream_form form, int to, struct err *e)
{
        static char data[262144];
        struct stream *s = stream_new(from, 0, size, form, e);
        ssize_t n = s ? 1 : -1;
        while (n > 0 && (n = stream_get(s, data, sizeof data, e)) > 0)
                if (fd_write_all(to, data, (size_t) n) < 0)
                        n = err_set(e, ERR_IO, errno, "writing the archive: %s", strerror(errno));

        stream_free(s);
        return n < 0 ? -1 : 0;
}

static int inflate_file(const char *file, const char *dir, struct err *e)
{
        uint8_t first[4];
        struct stat st;
        AUTO_FD(from, open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        AUTO_FD(at, open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        AUTO_FD(to, at < 0 ? -1
                           : openat(at, "archive.tar", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                    0600));
        ssize_t n = from < 0 || to < 0 || fstat(from, &st) < 0 ? -1 : pread(from, first, sizeof first, 0);
        if (n < 0)
                return err_set(e, ERR_IO, errno, "opening the archive: %s", strerror(errno));
        return inflate_to(from, (uint64_t) st.st_size, stream_form_of(first, (size_t) n), to, e);
}

/* A layer's line, after its word. */
struct layer_line {
        char form[8], packed[65], plain[65], file[256];
        uint64_t offset, size;
};

static int open_layer(const struct job *j, const struct layer_line *l)
{
        char path[UNPACK_PATH];
        int n = l->file[0] ? snprintf(path, sizeof path, "%s/%s", j->image, l->file)
                           : snprintf(path, sizeof path, "%s", j->image);
        return n > 0 && (size_t) n < sizeof path ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                                                 : -1;
}

static int do_layer(struct job *j, const struct layer_line *l, struct err *e)
{
        char packed[65], plain[65];
        enum stream_form form = strcmp(l->form, "gzip") == 0   ? STREAM_GZIP
                                : strcmp(l->form, "zstd") == 0 ? STREAM_ZSTD
                                                               : STREAM_PLAIN;
        AUTO_FD(fd, open_layer(j, l));
        if (fd < 0)
                return err_set(e, ERR_IO, errno, "opening a layer: %s", strerror(errno));

        struct stream *s = stream_new(fd, l->offset, l->size, form, e);
        if (!s)
                return -1;

        struct unpack_source in = { .get = stream_get, .ctx = s };
        int r = layer_apply(in, &j->tree, &j->counts, e);
        if (r == 0)
                r = stream_end(s, packed, plain, e);

        stream_free(s);
        if (r == 0 && (strcmp(packed, l->packed) != 0 || strcmp(plain, l->plain) != 0))
                r = err_set(e, ERR_DOOR, 0,
                            "a layer does not have the digest that the image states: %.16s..., not %.16s...",
                            plain, l->plain);
        return r;
}

static bool next_word(const char **at, char *to, size_t cap)
{
        size_t n = strcspn(*at, " ");
        bool fits = n > 0 && n < cap;
        (void) snprintf(to, cap, "%.*s", (int) n, *at);
        *at += n + ((*at)[n] == ' ');
        return fits;
}

static bool next_number(const char **at, uint64_t *ret)
{
        char word[24], *end;
        errno = 0;
        bool fits = next_word(at, word, sizeof word);
        *ret = strtoull(word, &end, 10);
        return fits && errno == 0 && *end == '\0';
}

static bool parse_layer(const char *line, struct layer_line *l)
{
        static const char mark[] = "layer ";
        const char *at = line + sizeof mark - 1;
        if (strncmp(line, mark, sizeof mark - 1) != 0 || !next_word(&at, l->form, sizeof l->form) ||
            !next_number(&at, &l->offset) || !next_number(&at, &l->size) ||
            !next_word(&at, l->packed, sizeof l->packed) || !next_word(&at, l->plain, sizeof l->plain))
                return false;
        return !*at || next_word(&at, l->file, sizeof l->file); /* none: the archive itself */
}

static int do_line(struct job *j, const char *line, struct err *e)
{
        struct layer_line l = { 0 };
        if (strncmp(line, "user ", 5) == 0)
                return (size_t) snprintf(j->user, sizeof j->user, "%s", line + 5) < sizeof j->user ? 0 : -1;

        if (strncmp(line, "cwd /", 5) == 0) /* engines make it if it is missing */
                return tree_open(&j->tree, line + 5, true, e) < 0 ? -1 : 0;

        return parse_layer(line, &l) ? do_layer(j, &l, e)
                                     : err_set(e, ERR_USAGE, 0, "a line is not understood");
}

static void tell_counts(const struct job *j, struct buf *out)
{
        const struct unpack_counts *c = &j->counts;
        const struct {
                const char *name;
                uint64_t value;
        } rows[] = { { "entries", c->entries }, { "bytes", c->bytes },      { "devices", c->devices },
                     { "fifos", c->fifos },     { "setid", c->setid },      { "owners", c->owners },
                     { "xattrs", c->xattrs },   { "left_out", c->left_out } };
        buf_printf(out, "{\"user\":%s", j->has_user ? "true" : "false");
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                buf_printf(out, ",\"%s\":%llu", rows[i].name, (unsigned long long) rows[i].value);
        buf_printf(out, ",\"uid\":%u,\"gid\":%u}\n", j->uid, j->gid);
}

static int do_lines(struct job *j, struct err *e)
{
        char *line = NULL;
        size_t cap = 0;
        ssize_t n;
        int r = 0;
        while (r == 0 && (n = getline(&line, &cap, stdin)) > 0) {
                line[strcspn(line, "\n")] = '\0';
                r = do_line(j, line, e);
        }

        free(line);
        return r;
}

static int unpack_layers(const char *image, const char *dir, struct err *e)
{
        AUTO_BUF(out);
        struct job j = { .image = image, .root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) };
        if (j.root < 0)
                return err_set(e, ERR_IO, errno, "opening the tree: %s", strerror(errno));

        (void) umask(0);
        (void) hash_use_hardware();
        tree_begin(&j.tree, j.root);
        if (do_lines(&j, e) < 0)
                return -1;

        j.has_user = j.user[0] && accounts_find(j.root, j.user, &j.uid, &j.gid) == 0;
        if (j.user[0] && !j.has_user)
                return err_set(e, ERR_DOOR, 0,
                               "the image's user \"%.100s\" is neither an id nor one of its accounts",
                               j.user);

        tell_counts(&j, &out);
        return out.failed || fd_write_all(1, buf_str(&out), out.n) < 0
                       ? err_set(e, ERR_IO, errno, "writing the counts")
                       : 0;
}

int main(int argc, char **argv)
{
        struct err e = { 0 };
        int r = argc == 3 && strcmp(argv[1], "describe") == 0  ? describe_image(argv[2], &e)
                : argc == 4 && strcmp(argv[1], "inflate") == 0 ? inflate_file(argv[2], argv[3], &e)
                : argc == 4 && strcmp(argv[1], "layers") == 0
                        ? unpack_layers(argv[2], argv[3], &e)
                        : err_set(&e, ERR_USAGE, 0,
                                  "cordon starts this program; it has no options of its own");
        if (r == 0)
                return 0;

        (void) dprintf(2, "%s\n%s\n", e.what, e.hint);
        return 1;
}
