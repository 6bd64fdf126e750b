/* SPDX-License-Identifier: MIT */
/* face/serve/resource_images.c - images of a tenant, the roots of its boxes: `root sha256:...` in a policy.
 * An archive is a stranger's: it is unpacked in a box, into the tenant's own store. */
#include "base/err.h"
#include "base/fd.h"
#include "base/json.h"
#include "face/serve/resources.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

enum { IMAGES_MAX = 32, PATH_BYTES = 4400 };
static const uint64_t ARCHIVE_MAX = 4ull << 30;

void get_images(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        char *list = cordon_image_list(tenant_context(c->tenant), 1, &e);
        if (!list) {
                reply_error(r, status_of(&e), &e);
                return;
        }

        list[strcspn(list, "\n")] = '\0';
        buf_printf(&r->body, "{\"images\":%s}", list);
        cordon_free(list);
        reply_json(r, 200);
}

/* ---- an archive comes in ---- */

/* The tenant's directory for what comes in: one at a time, and what a killed one left is removed. */
static int open_uploads(const struct serve_call *c)
{
        int own[2];
        tenant_descriptors(c->tenant, own);
        if (mkdirat(own[0], "uploads", 0700) < 0 && errno != EEXIST)
                return -1;

        AUTO_FD(dir,
                fd_open2(own[0], "uploads", O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
        if (dir < 0 || flock(dir, LOCK_EX) < 0)
                return -1;

        int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = copy < 0 ? NULL : fdopendir(copy);
        for (struct dirent *x; d && (x = readdir(d));)
                (void) unlinkat(dir, x->d_name, 0);
        if (d)
                (void) closedir(d);
        return TAKE_FD(dir);
}

/* A file of the tenant's, which a box may be changing: a copy of it is read. */
static int copy_file(const struct serve_call *c, const char *path, int to)
{
        struct stat st;
        AUTO_FD(fd, fd_open2(tenant_root(c->tenant), path, O_RDONLY | O_NONBLOCK | O_NOCTTY,
                             RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS));
        if (fd < 0 || fstat(fd, &st) < 0)
                return -1;

        errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
        if (!S_ISREG(st.st_mode) || (uint64_t) st.st_size > ARCHIVE_MAX)
                return -1;

        for (uint64_t left = (uint64_t) st.st_size; left;) {
                ssize_t n = sendfile(to, fd, NULL, left < 1 << 30 ? (size_t) left : 1 << 30);
                if (n <= 0)
                        return n < 0 && errno == EINTR ? 0 : -1;
                left -= (uint64_t) n;
        }
        return 0;
}

/* The file that {"file":PATH} names, or the body itself. */
static int bring(struct serve_call *c, int to, struct reply *r)
{
        if (!c->json) {
                if (fd_write_all(to, c->body.p, c->body.n) == 0)
                        return 0;
                reply_problem(r, 500, "io", strerror(errno), NULL);
                return -1;
        }

        int copied = copy_file(c, json_str(c->json, "file"), to);
        if (copied < 0)
                reply_problem(r, errno == ENOENT || errno == ENOTDIR ? 404 : 422, "file", strerror(errno),
                              "PUT /v1/files/PATH stores one");
        return copied;
}

static size_t count_images(const struct serve_call *c)
{
        size_t n = 0;
        struct err ignored;
        cordon_error e;
        char *list = cordon_image_list(tenant_context(c->tenant), 1, &e);
        struct json_doc *d = list ? json_parse_data("list", span_str(list), &ignored) : NULL;
        for (const struct json *x = d ? json_root(d)->child : NULL; x; x = x->next)
                n++;
        json_free(d);
        cordon_free(list);
        return n;
}

/* The library's own words name a path of the host, which is not the tenant's to know. */
static void refuse(const cordon_error *e, struct reply *r)
{
        bool full = e->sys == ENOSPC || e->sys == EDQUOT;
        reply_problem(r, full ? 503 : 422, "image",
                      full ? "the disk is full" : "the archive is not an image that can be unpacked",
                      "an archive is what `docker save` or `podman save` writes, or an OCI layout in a tar");
}

void post_image(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        char name[RANDOM_NAME], below[RANDOM_NAME + 16], path[PATH_BYTES];
        if (count_images(c) >= IMAGES_MAX) {
                reply_problem(r, 409, "limit", "the tenant has as many images as it may",
                              "DELETE /v1/images/ID removes one");
                return;
        }

        AUTO_FD(dir, open_uploads(c));
        AUTO_FD(fd, dir < 0 || random_name("u", name) < 0
                            ? -1
                            : openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0) {
                reply_problem(r, 500, "io", "the archive cannot be stored", NULL);
                return;
        }

        (void) snprintf(below, sizeof below, "uploads/%s", name);
        tenant_path(c->tenant, below, path, sizeof path);
        char *entry = bring(c, fd, r) == 0 ? cordon_image_add(tenant_context(c->tenant), path, 1, &e) : NULL;
        (void) unlinkat(dir, name, 0);
        if (!entry) {
                if (!r->status)
                        refuse(&e, r);
                return;
        }

        struct err ignored;
        struct json_doc *d = json_parse_data("entry", span_str(entry), &ignored);
        const char *id = d ? json_str(json_root(d), "id") : NULL;
        buf_putc(&r->body, '{');
        buf_member(&r->body, "id", id ? id : "");
        AUTO_BUF(line);
        buf_printf(&line, "root %s", id ? id : "");
        buf_member(&r->body, "line", buf_str(&line));
        buf_putc(&r->body, '}');
        json_free(d);
        cordon_free(entry);
        reply_json(r, 201);
}

/* By its id alone: other names would be paths of the host. */
static bool is_image_id(const char *text)
{
        const char *hex = strncmp(text, "sha256:", 7) == 0 ? text + 7 : text;
        size_t n = strspn(hex, "0123456789abcdef");
        return n >= 12 && n <= 64 && hex[n] == '\0';
}

void delete_image(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        if (!is_image_id(c->arg)) {
                reply_problem(r, 404, "image", "image not found", "GET /v1/images lists them");
                return;
        }

        if (cordon_image_remove(tenant_context(c->tenant), c->arg, &e) < 0) {
                bool used = e.sys == EBUSY, absent = e.sys == ENOENT;
                reply_problem(r,
                              used     ? 409
                              : absent ? 404
                                       : status_of(&e),
                              "image", e.what,
                              used ? "DELETE /v1/runs/ID ends a run" : "GET /v1/images lists them");
                return;
        }
        buf_puts(&r->body, "{}");
        reply_json(r, 200);
}
