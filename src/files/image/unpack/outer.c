/* SPDX-License-Identifier: MIT */
/* files/image/unpack/outer.c - the files of an image as it was saved: entries of one archive, or files of an
 * OCI layout. Names come from hostile manifests: a layout's are checked and opened without following a link.
 */
#include "base/fd.h"
#include "base/str.h"
#include "files/image/unpack/image_unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct outer_file {
        char name[256];
        char link[256]; /* of a symlink: a layer that is that of another image */
        uint64_t offset, size;
};

struct outer {
        int fd;
        bool layout; /* fd is its directory */
        struct outer_file *files;
        size_t count;
};

struct position {
        int fd;
        uint64_t at, size;
};

static ssize_t get_bytes(void *ctx, void *p, size_t n, struct err *e)
{
        struct position *x = ctx;
        size_t got = 0;
        while (got < n) {
                ssize_t k = pread(x->fd, (char *) p + got, n - got, (off_t) (x->at + got));
                if (k < 0)
                        return err_set(e, ERR_IO, errno, "reading the archive: %s", strerror(errno));
                if (k == 0)
                        break;
                got += (size_t) k;
        }

        x->at += got;
        return (ssize_t) got;
}

static int skip_bytes(void *ctx, uint64_t n, struct err *e)
{
        struct position *x = ctx;
        if (n > x->size || x->at > x->size - n)
                return err_set(e, ERR_DOOR, 0, "the archive is broken: it ends in the middle");
        x->at += n;
        return 0;
}

/* "a/b" and "../c/d" in "x/y": "x/c/d". False: it leads out. */
static bool join_link(const char *name, const char *link, char to[256])
{
        char joined[600], clean[600];
        const char *slash = strrchr(name, '/');
        int dir = slash && link[0] != '/' ? (int) (slash - name) : 0;
        int n = snprintf(joined, sizeof joined, "/%.*s/%s", dir, name, link);
        return n > 0 && (size_t) n < sizeof joined && path_join("/", joined, clean, sizeof clean) &&
               (size_t) snprintf(to, 256, "%s", clean + 1) < 256;
}

static int add_file(struct outer *o, const struct tar_entry *f, uint64_t at, struct err *e)
{
        struct entry_name n;
        char name[UNPACK_PATH + 256];
        if ((f->type != TAR_FILE && f->type != TAR_SYMLINK) || entry_name_judge(f->name, &n) != ENTRY_KEPT)
                return 0;

        if (o->count == UNPACK_OUTER)
                return err_set(e, ERR_LIMIT, 0, "the archive has more than %d files", UNPACK_OUTER);

        (void) snprintf(name, sizeof name, "%s%s%s", n.parent, n.parent[0] ? "/" : "", n.last);
        struct outer_file *to = &o->files[o->count];
        *to = (struct outer_file){ .offset = at, .size = f->size };
        if ((size_t) snprintf(to->name, sizeof to->name, "%s", name) >= sizeof to->name ||
            (f->type == TAR_SYMLINK && !join_link(name, f->link, to->link)))
                return 0; /* not a file of an image */

        o->count++;
        return 0;
}

static int list_archive(struct outer *o, uint64_t size, struct err *e)
{
        struct position at = { .fd = o->fd, .size = size };
        struct tar_reader *t = calloc(1, sizeof *t);
        struct tar_entry f;
        int r = -1;
        o->files = calloc(UNPACK_OUTER, sizeof *o->files);
        if (!t || !o->files) {
                free(t);
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the archive");
        }

        t->in = (struct unpack_source){ get_bytes, skip_bytes, &at };
        while ((r = tar_next(t, &f, e)) > 0)
                if (f.size > size - at.at || add_file(o, &f, at.at, e) < 0) {
                        r = f.size > size - at.at
                                    ? err_set(e, ERR_DOOR, 0, "the archive is broken: it ends in the middle")
                                    : -1;
                        break;
                }

        free(t);
        return r;
}

struct outer *outer_open(const char *path, struct err *e)
{
        struct stat st;
        struct outer *o = calloc(1, sizeof *o);
        if (!o) {
                (void) err_set(e, ERR_MEMORY, ENOMEM, "no memory for the archive");
                return NULL;
        }

        o->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        int r = o->fd < 0 || fstat(o->fd, &st) < 0
                        ? err_set(e, ERR_IO, errno, "opening the image: %s", strerror(errno))
                        : 0;
        o->layout = r == 0 && S_ISDIR(st.st_mode);
        if (r == 0 && !o->layout)
                r = S_ISREG(st.st_mode)
                            ? list_archive(o, (uint64_t) st.st_size, e)
                            : err_set(e, ERR_DOOR, 0, "the image is neither a file nor a directory");

        if (r == 0)
                return o;

        outer_free(o);
        return NULL;
}

void outer_free(struct outer *o)
{
        if (!o)
                return;
        fd_close(&o->fd);
        free(o->files);
        free(o);
}

static const struct outer_file *find_file(const struct outer *o, const char *name)
{
        for (size_t i = o->count; i > 0; i--) /* the last of a name holds */
                if (strcmp(o->files[i - 1].name, name) == 0)
                        return &o->files[i - 1];
        return NULL;
}

/* Component by component: "blobs/sha256/HEX", and no symlink on the way. */
static int open_in_layout(const struct outer *o, const char *name)
{
        struct entry_name n;
        if (entry_name_judge(name, &n) != ENTRY_KEPT)
                return -1;

        AUTO_FD(dir, fcntl(o->fd, F_DUPFD_CLOEXEC, 3));
        for (char *at = n.parent; dir >= 0 && *at;) {
                size_t k = strcspn(at, "/");
                bool more = at[k] == '/';
                at[k] = '\0';
                int next = openat(dir, at, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                (void) close(dir);
                dir = next;
                at += k + more;
        }

        return dir < 0 ? -1 : openat(dir, n.last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

bool outer_find(const struct outer *o, const char *name, struct outer_region *ret)
{
        struct stat st;
        if (o->layout) {
                AUTO_FD(fd, open_in_layout(o, name));
                if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                        return false;
                *ret = (struct outer_region){ .size = (uint64_t) st.st_size };
                return (size_t) snprintf(ret->file, sizeof ret->file, "%s", name) < sizeof ret->file;
        }

        const struct outer_file *f = find_file(o, name);
        if (f && f->link[0])
                f = find_file(o, f->link);

        if (!f || f->link[0])
                return false;

        *ret = (struct outer_region){ .offset = f->offset, .size = f->size };
        return true;
}

static ssize_t read_region(const struct outer *o, const struct outer_region *r, void *p, size_t n)
{
        AUTO_FD(own, r->file[0] ? open_in_layout(o, r->file) : -1);
        int fd = r->file[0] ? own : o->fd;
        size_t got = 0;
        while (fd >= 0 && got < n) {
                ssize_t k = pread(fd, (char *) p + got, n - got, (off_t) (r->offset + got));
                if (k <= 0)
                        break;
                got += (size_t) k;
        }

        return fd < 0 ? -1 : (ssize_t) got;
}

size_t outer_peek(const struct outer *o, const struct outer_region *r, uint8_t *p, size_t n)
{
        ssize_t k = read_region(o, r, p, r->size < n ? (size_t) r->size : n);
        return k < 0 ? 0 : (size_t) k;
}

char *outer_read(const struct outer *o, const char *name, size_t *ret_n, char ret_sha256[65], struct err *e)
{
        struct outer_region r;
        if (!outer_find(o, name, &r)) {
                (void) err_set(e, ERR_DOOR, 0, "the image has no %.200s", name);
                return NULL;
        }

        if (r.size > UNPACK_JSON) {
                (void) err_set(e, ERR_LIMIT, 0, "%.200s is larger than %d MB", name, UNPACK_JSON >> 20);
                return NULL;
        }

        char *text = malloc((size_t) r.size + 1);
        if (!text || read_region(o, &r, text, (size_t) r.size) != (ssize_t) r.size) {
                free(text);
                (void) err_set(e, ERR_IO, errno, "reading %.200s", name);
                return NULL;
        }

        text[r.size] = '\0';
        *ret_n = (size_t) r.size;
        sha256_hex(span_of(text, r.size), ret_sha256);
        return text;
}
