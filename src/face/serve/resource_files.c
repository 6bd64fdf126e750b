/* SPDX-License-Identifier: MIT */
/* face/serve/resource_files.c - the tenant's files, {work} of its policies. Boxes may have written there: no
 * symlink is followed, and nothing but files and directories is opened. */
#include "base/err.h"
#include "base/fd.h"
#include "face/serve/resources.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 32 << 20, LIST_MAX = 10000 };

static int open_below(int dir, const char *path, uint64_t flags)
{
        return fd_open2(dir, path, flags | O_NONBLOCK | O_NOCTTY,
                        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

/* Errors of the kernel, as a client may know them. */
static void fail(struct reply *r, const char *doing)
{
        bool absent = errno == ENOENT || errno == ENOTDIR;
        bool escapes = errno == ELOOP || errno == EXDEV, named = errno == ENAMETOOLONG;
        bool full = errno == ENOSPC || errno == EDQUOT;
        AUTO_BUF(text);
        buf_printf(&text, "%s: %s", doing, escapes ? "a symlink is in the way" : strerror(errno));
        reply_problem(r,
                      absent                                                     ? 404
                      : named                                                    ? 400
                      : full                                                     ? 507
                      : escapes                                                  ? 403
                      : errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST ? 409
                                                                                 : 500,
                      "file", buf_str(&text), NULL);
}

/* ---- list ---- */

static void put_entry(int dir, const char *name, struct buf *out)
{
        struct stat st;
        if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return;

        const char *kind = S_ISREG(st.st_mode)   ? "file"
                           : S_ISDIR(st.st_mode) ? "directory"
                           : S_ISLNK(st.st_mode) ? "symlink"
                                                 : "other";
        buf_member_json(out, NULL, "{");
        buf_member(out, "name", name);
        buf_member(out, "kind", kind);
        buf_member_int(out, "bytes", st.st_size);
        buf_member_int(out, "changed", st.st_mtim.tv_sec);
        buf_putc(out, '}');
}

static void list(int fd, struct reply *r)
{
        unsigned n = 0;
        DIR *d = fdopendir(fd);
        if (!d) {
                (void) close(fd);
                fail(r, "list");
                return;
        }

        buf_puts(&r->body, "{\"entries\":[");
        for (struct dirent *x; n < LIST_MAX && (x = readdir(d));)
                if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0 && ++n)
                        put_entry(dirfd(d), x->d_name, &r->body);
        buf_printf(&r->body, "],\"truncated\":%s}", n == LIST_MAX ? "true" : "false");
        (void) closedir(d);
        reply_json(r, 200);
}

void get_files(struct serve_call *c, struct reply *r)
{
        int fd = open_below(tenant_root(c->tenant), ".", O_RDONLY | O_DIRECTORY);
        if (fd < 0)
                fail(r, "list");
        else
                list(fd, r);
}

/* ---- one ---- */

static void give(int fd, const struct stat *st, struct reply *r)
{
        if (st->st_size > FILE_MAX) {
                reply_problem(r, 413, "file", "the file is too long for one answer", NULL);
                return;
        }

        char *room = buf_room(&r->body, (size_t) st->st_size);
        ssize_t n = room || st->st_size == 0 ? fd_read_all(fd, room, (size_t) st->st_size) : -1;
        if (n < 0) {
                fail(r, "read");
                return;
        }
        r->body.n = (size_t) n;
        r->status = 200;
        r->type = "application/octet-stream";
        (void) snprintf(r->extra, sizeof r->extra, "Content-Disposition: attachment\r\n");
}

void get_file(struct serve_call *c, struct reply *r)
{
        struct stat st;
        AUTO_FD(fd, open_below(tenant_root(c->tenant), c->arg, O_RDONLY));
        if (fd < 0 || fstat(fd, &st) < 0)
                fail(r, "open");
        else if (S_ISDIR(st.st_mode))
                list(TAKE_FD(fd), r);
        else if (S_ISREG(st.st_mode))
                give(fd, &st, r);
        else
                reply_problem(r, 409, "file", "this is neither a file nor a directory", NULL);
}

/* The directory of a path, made if it is missing; *ret_name: what is left. */
static int open_parent(int root, const char *path, const char **ret_name)
{
        AUTO_FD(dir, fcntl(root, F_DUPFD_CLOEXEC, 3));
        for (const char *slash; dir >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
                char name[NAME_MAX + 1];
                size_t n = (size_t) (slash - path);
                if (n >= sizeof name) {
                        errno = ENAMETOOLONG;
                        return -1;
                }
                memcpy(name, path, n);
                name[n] = '\0';
                if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
                        return -1;

                int below = open_below(dir, name, O_RDONLY | O_DIRECTORY);
                fd_close(&dir);
                dir = below;
        }

        *ret_name = path;
        return TAKE_FD(dir);
}

/* A whole new file in place of the old one: what has the old one open does not see half of it. */
void put_file(struct serve_call *c, struct reply *r)
{
        const char *name = NULL;
        char id[RANDOM_NAME], temporary[RANDOM_NAME + 16];
        struct stat st;
        AUTO_FD(dir, open_parent(tenant_root(c->tenant), c->arg, &name));
        if (dir >= 0 && strlen(name) > NAME_MAX) {
                fd_close(&dir);
                errno = ENAMETOOLONG;
        }
        if (dir < 0 || random_name("f", id) < 0) {
                fail(r, "write");
                return;
        }

        (void) snprintf(temporary, sizeof temporary, ".%s.new", id);
        bool is_new = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0;
        mode_t mode = !is_new && S_ISREG(st.st_mode) ? st.st_mode & 0777 : 0600;
        AUTO_FD(fd, openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
        if (fd < 0 || fd_write_all(fd, c->body.p, c->body.n) < 0 || fchmod(fd, mode) < 0 ||
            renameat(dir, temporary, dir, name) < 0) {
                fail(r, "write");
                (void) unlinkat(dir, temporary, 0);
                return;
        }

        buf_printf(&r->body, "{\"bytes\":%zu}", c->body.n);
        reply_json(r, is_new ? 201 : 200);
}

void delete_file(struct serve_call *c, struct reply *r)
{
        const char *name = strrchr(c->arg, '/');
        char above[REQUEST_PATH_MAX] = ".";
        if (name)
                (void) snprintf(above, sizeof above, "%.*s", (int) (name - c->arg), c->arg);
        name = name ? name + 1 : c->arg;
        AUTO_FD(dir, open_below(tenant_root(c->tenant), above, O_RDONLY | O_DIRECTORY));
        if (dir < 0 ||
            (unlinkat(dir, name, 0) < 0 && (errno != EISDIR || unlinkat(dir, name, AT_REMOVEDIR) < 0))) {
                fail(r, "remove");
                return;
        }

        buf_puts(&r->body, "{}");
        reply_json(r, 200);
}
