/* SPDX-License-Identifier: MIT */
/* run/api/image_parts.c - the parts of an image as cordon-unpack described them. The description is not
 * trusted: each part's digest is computed here from its bytes, which are not looked at otherwise, and the
 * image's key is made of these. An archive that took over the reader could still only name parts, and gets
 * the key of their bytes. */
#include "run/api/image_parts.h"

#include "base/fd.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_hex(const char *s) { return strspn(s, "0123456789abcdef") == 64 && s[64] == '\0'; }

static bool take_text(const struct json *o, const char *key, char *to, size_t cap)
{
        const struct json *v = o && o->type == JSON_OBJECT ? json_get(o, key) : NULL;
        return v && v->type == JSON_STRING && (size_t) snprintf(to, cap, "%s", v->str) < cap;
}

static bool take_number(const struct json *o, const char *key, uint64_t *ret)
{
        const struct json *v = o && o->type == JSON_OBJECT ? json_get(o, key) : NULL;
        *ret = v && v->type == JSON_INT && v->integer >= 0 ? (uint64_t) v->integer : 0;
        return v && v->type == JSON_INT && v->integer >= 0;
}

/* A file's name becomes a part of a line for the unpacker: blobs have plain ones. */
static bool name_is_plain(const char *s)
{
        return s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/")] == '\0';
}

static bool take_part(const struct json *o, struct image_part *p)
{
        return take_text(o, "file", p->file, sizeof p->file) && name_is_plain(p->file) &&
               take_number(o, "offset", &p->offset) && take_number(o, "size", &p->size) &&
               take_text(o, "sha256", p->stated, sizeof p->stated) && (!p->stated[0] || is_hex(p->stated));
}

static bool take_layer(const struct json *o, struct image_part *p)
{
        static const char *const forms[] = { "plain", "gzip", "zstd" };
        if (!take_part(o, p) || !take_text(o, "form", p->form, sizeof p->form) ||
            !take_text(o, "plain", p->plain, sizeof p->plain) || !is_hex(p->plain))
                return false;

        return str_row(forms, sizeof forms / sizeof *forms, p->form) >= 0;
}

/* One that could not be a path, a digest, an option or a name with a transport; others are left out. */
static bool is_tag(const char *s)
{
        static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
        const char *colon = strrchr(s, ':');
        return strchr(first, s[0]) && s[0] && colon && colon[1] && !strchr(colon, '/') && !strstr(s, "//") &&
               strncmp(s, "sha256:", 7) != 0 &&
               s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:")] == '\0';
}

static void take_tags(const struct json *list, struct image_parts_list *l)
{
        for (const struct json *v = list && list->type == JSON_ARRAY ? list->child : NULL;
             v && l->tag_count < IMAGE_TAGS_MAX; v = v->next)
                if (v->type == JSON_STRING && strlen(v->str) < sizeof l->tags[0] && is_tag(v->str))
                        (void) snprintf(l->tags[l->tag_count++], sizeof l->tags[0], "%s", v->str);
}

static bool take_all(const struct json *root, struct image_parts_list *l)
{
        const struct json *layers = root->type == JSON_OBJECT ? json_get(root, "layers") : NULL;
        if (!layers || layers->type != JSON_ARRAY || !take_part(json_get(root, "config"), &l->v[0]))
                return false;

        l->n = 1;
        for (const struct json *v = layers->child; v; v = v->next)
                if (l->n == IMAGE_PARTS_MAX || !take_layer(v, &l->v[l->n++]))
                        return false;

        take_tags(json_get(root, "tags"), l);
        return true;
}

int image_parts_read(struct span text, struct image_parts_list *ret, struct err *e)
{
        struct json_doc *d = json_parse("description", text, e);
        *ret = (struct image_parts_list){ 0 };
        bool whole = d && take_all(json_root(d), ret);
        json_free(d);
        return whole ? 0 : err_set(e, ERR_DOOR, 0, "the image's description is not understood");
}

static int open_part(int dir, const char *image, const struct image_part *p)
{
        return p->file[0]
                       ? fd_open2(dir, p->file, O_RDONLY | O_NONBLOCK, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)
                       : open(image, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static int hash_part(int fd, struct image_part *p, struct err *e)
{
        char data[65536];
        struct sha256 s;
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || p->size > (uint64_t) st.st_size ||
            p->offset > (uint64_t) st.st_size - p->size)
                return err_set(e, ERR_DOOR, 0, "a part of the image is missing");

        sha256_init(&s);
        for (uint64_t at = 0; at < p->size;) {
                size_t want = p->size - at < sizeof data ? (size_t) (p->size - at) : sizeof data;
                ssize_t n = pread(fd, data, want, (off_t) (p->offset + at));
                if (n <= 0)
                        return err_set(e, ERR_IO, errno, "reading the image");
                sha256_add(&s, data, (size_t) n);
                at += (uint64_t) n;
        }

        sha256_end_hex(&s, p->packed);
        if (p->stated[0] && strcmp(p->stated, p->packed) != 0)
                return err_set(e, ERR_DOOR, 0,
                               "a part of the image has the digest %.16s..., and its manifest says %.16s...",
                               p->packed, p->stated);
        return 0;
}

int image_parts_key(const char *image, struct image_parts_list *l, char ret_key[65], struct err *e)
{
        AUTO_BUF(text);
        AUTO_FD(dir, open(image, O_PATH | O_CLOEXEC));
        (void) hash_use_hardware();
        buf_puts(&text, "cordon image 1\n"); /* another number if trees are made in another way */
        for (size_t i = 0; i < l->n; i++) {
                AUTO_FD(fd, open_part(dir, image, &l->v[i]));
                if (hash_part(fd, &l->v[i], e) < 0)
                        return -1;
                buf_printf(&text, "%s %s\n", l->v[i].packed, l->v[i].plain);
        }

        if (text.failed)
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the image's key");

        sha256_hex(buf_span(&text), ret_key);
        return 0;
}

/* The value of a default, or "" if it is not a text of one line that fits. */
static void take_default(const struct json *defaults, const char *key, char *to, size_t cap)
{
        if (!take_text(defaults, key, to, cap) || strchr(to, '\n'))
                to[0] = '\0';
}

/* Read again, and compared with the digest that is in the key: so one key has one set of defaults. */
struct json_doc *image_parts_config(const char *image, struct image_parts_list *l, struct err *e)
{
        const struct image_part *p = &l->v[0];
        char sha256[65] = "";
        AUTO_FD(dir, open(image, O_PATH | O_CLOEXEC));
        AUTO_FD(fd, open_part(dir, image, p));
        char *text = p->size <= IMAGE_CONFIG_MAX ? malloc((size_t) p->size + 1) : NULL;
        ssize_t n = text && fd >= 0 ? pread(fd, text, (size_t) p->size, (off_t) p->offset) : -1;
        if (n >= 0)
                sha256_hex(span_of(text, (size_t) n), sha256);

        struct json_doc *d = NULL;
        if (strcmp(sha256, p->packed) == 0)
                d = json_parse("the image's configuration", span_of(text, (size_t) n), e);
        else
                (void) err_set(e, ERR_DOOR, 0, "the image's configuration changed, or is too large");

        free(text);
        if (d && json_root(d)->type == JSON_OBJECT) {
                const struct json *defaults = json_get(json_root(d), "config");
                take_default(defaults, "User", l->user, sizeof l->user);
                take_default(defaults, "WorkingDir", l->cwd, sizeof l->cwd);
        }

        return d;
}

void image_parts_lines(const struct image_parts_list *l, struct buf *out)
{
        for (size_t i = 1; i < l->n; i++) {
                const struct image_part *p = &l->v[i];
                buf_printf(out, "layer %s %llu %llu %s %s %s\n", p->form, (unsigned long long) p->offset,
                           (unsigned long long) p->size, p->packed, p->plain, p->file);
        }

        if (l->cwd[0] == '/')
                buf_printf(out, "cwd %s\n", l->cwd);

        if (l->user[0])
                buf_printf(out, "user %s\n", l->user);
}
