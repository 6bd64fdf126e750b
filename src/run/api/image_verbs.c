/* SPDX-License-Identifier: MIT */
/* run/api/image_verbs.c - cordon_image_*: the store of images, for people and programs. */
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

struct refs_of {
        const char *key;
        struct buf *out;
        bool json, any;
};

static void put_ref(void *ctx, const struct image_ref *r)
{
        struct refs_of *f = ctx;
        char inert[256];
        if (strcmp(r->key, f->key) != 0)
                return;

        buf_puts(f->out, !f->any ? "" : f->json ? "," : ", ");
        if (f->json)
                buf_json(f->out, span_str(r->text));
        else
                buf_puts(f->out, str_inert(span_str(r->text), inert, sizeof inert));

        f->any = true;
}

/* Is no box using it? */
static bool is_used(const struct image_store *s, const char *key)
{
        AUTO_FD(fd, image_meta_open(s, key));
        return fd >= 0 && image_is_locked(fd);
}

static struct json_doc *read_meta(const struct image_store *s, const char *key)
{
        struct err none;
        char *text = malloc(IMAGE_META_MAX);
        AUTO_FD(fd, image_meta_open(s, key));
        ssize_t n = text && fd >= 0 ? fd_read_all(fd, text, IMAGE_META_MAX) : -1;
        struct json_doc *d = n < 0 ? NULL : json_parse("meta.json", span_of(text, (size_t) n), &none);
        if (d && json_root(d)->type != JSON_OBJECT) {
                json_free(d);
                d = NULL;
        }

        free(text);
        return d;
}

static const char *const flattened[] = { "owners", "setid", "devices", "fifos", "xattrs", "left_out" };

static void put_json(const struct image_store *s, const char *key, const struct json *m, struct buf *out)
{
        struct refs_of f = { .key = key, .out = out, .json = true };
        buf_printf(out,
                   "{\"id\":\"sha256:%s\",\"bytes\":%lld,\"entries\":%lld,\"layers\":%lld,\"added\":%lld",
                   key, (long long) json_int(m, "bytes"), (long long) json_int(m, "entries"),
                   (long long) json_int(m, "layers"), (long long) json_int(m, "added"));
        buf_member(out, "config", json_str(m, "config"));
        buf_printf(out, ",\"in_use\":%s,\"flattened\":{", is_used(s, key) ? "true" : "false");
        for (size_t i = 0; i < sizeof flattened / sizeof *flattened; i++)
                buf_printf(out, "%s\"%s\":%lld", i ? "," : "", flattened[i],
                           (long long) json_int(m, flattened[i]));

        buf_puts(out, "},\"from\":[");
        image_refs_each(s, false, put_ref, &f);
        buf_puts(out, "]}");
}

static void put_line(const struct image_store *s, const char *key, const struct json *m, struct buf *out)
{
        uint64_t megabytes = ((uint64_t) json_int(m, "bytes") + (1 << 20) - 1) >> 20;
        struct refs_of f = { .key = key, .out = out };
        buf_printf(out, "sha256:%.12s %6lluM %7lld files  %s", key, (unsigned long long) megabytes,
                   (long long) json_int(m, "entries"), is_used(s, key) ? "in use  " : "");
        image_refs_each(s, false, put_ref, &f);
        buf_putc(out, '\n');
}

/* What of the archive is not in the tree as it was. */
static void put_flattened(const struct json *m, struct buf *out)
{
        static const char *const words[] = { "files of other owners are yours",
                                             "set-id or sticky bits are left out",
                                             "devices are left out",
                                             "FIFOs are left out",
                                             "extended attributes are left out",
                                             "entries below /dev, /proc and /sys are left out" };
        for (size_t i = 0; i < sizeof flattened / sizeof *flattened; i++)
                if (json_int(m, flattened[i]))
                        buf_printf(out, "  %lld %s\n", (long long) json_int(m, flattened[i]), words[i]);
}

char *cordon_image_list(const cordon_context *cx, int json, cordon_error *pe)
{
        struct image_store s;
        struct buf out = { 0 };
        size_t n;
        if (image_store_open(cx, &s, to_err(pe)) < 0)
                return NULL;

        char(*keys)[65] = image_keys(&s, &n);
        buf_puts(&out, json ? "[" : "");
        for (size_t i = 0, shown = 0; i < n; i++) {
                struct json_doc *d = read_meta(&s, keys[i]);
                if (d && json)
                        buf_puts(&out, shown ? "," : "");
                if (d)
                        (json ? put_json : put_line)(&s, keys[i], json_root(d), &out);
                shown += d != NULL;
                json_free(d);
        }

        buf_puts(&out, json ? "]\n" : "");
        free(keys);
        image_store_done(&s);
        return api_give(&out, to_err(pe));
}

static bool make_absolute(const char *ref, char ret[PATH_MAX])
{
        char here[PATH_MAX];
        bool path = ref[0] == '/' || ref[0] == '.' || access(ref, F_OK) == 0;
        if (!path)
                return (size_t) snprintf(ret, PATH_MAX, "%s", ref) < PATH_MAX;
        return getcwd(here, sizeof here) && path_join(here, ref, ret, PATH_MAX);
}

static int refuse_tree(const char *ref, struct err *e)
{
        (void) err_set(e, ERR_USAGE, 0, "%s is a directory with an unpacked root", ref);
        return err_hint(e, "it needs no store: cordon run --image %s", ref);
}

char *cordon_image_add(const cordon_context *cx, const char *ref, int json, cordon_error *pe)
{
        struct err *e = to_err(pe);
        struct image_store s;
        AUTO_BUF(out);
        char path[PATH_MAX], key[65];
        if (!ref[0] || ref[0] == '-' || !make_absolute(ref, path)) {
                (void) err_set(e, ERR_USAGE, 0, "that does not name an image");
                return NULL;
        }

        if (api_is_tree(path)) {
                (void) refuse_tree(path, e);
                return NULL;
        }

        if (image_store_open(cx, &s, e) < 0)
                return NULL;

        int r = api_image_add(cx, &s, path, true, key, e);
        struct json_doc *d = r < 0 ? NULL : read_meta(&s, key);
        if (d) {
                (json ? put_json : put_line)(&s, key, json_root(d), &out);
                json ? buf_putc(&out, '\n') : put_flattened(json_root(d), &out);
        } else if (r == 0)
                r = err_set(e, ERR_IO, 0, "the image's meta.json cannot be read");

        json_free(d);
        image_store_done(&s);
        return r < 0 ? NULL : api_give(&out, e);
}

/* ---- removal ---- */

static void ignore_ref(void *ctx, const struct image_ref *r)
{
        (void) ctx;
        (void) r;
}

static int remove_under_lock(const struct image_store *s, const char *key, struct err *e)
{
        int r = image_remove(s, key, e);
        if (r > 0)
                image_refs_each(s, true, ignore_ref, NULL);

        if (r != 0)
                return r < 0 ? -1 : 0;

        (void) err_set(e, ERR_DOOR, EBUSY, "a box uses the image %.12s", key);
        return err_hint(e, "`cordon ps` lists boxes; `cordon stop` ends one");
}

int cordon_image_remove(const cordon_context *cx, const char *which, cordon_error *pe)
{
        struct err *e = to_err(pe);
        struct image_store s;
        char path[PATH_MAX], key[65];
        if (image_store_open(cx, &s, e) < 0)
                return -1;

        bool found = api_image_key(&s, which, key) || image_find(&s, which, key) ||
                     (make_absolute(which, path) && image_ref_get(&s, path, key));
        AUTO_FD(lock, found ? image_store_lock(&s, e) : -1);
        int r = !found ? err_set(e, ERR_DOOR, ENOENT, "the store has no image %s", which) : -1;
        if (!found)
                (void) err_hint(e, "`cordon image ls` lists them");
        else if (lock >= 0)
                r = remove_under_lock(&s, key, e);

        image_store_done(&s);
        return r;
}

struct wanted {
        char (*keys)[65];
        bool *led_to;
        size_t n;
};

static void note_wanted(void *ctx, const struct image_ref *r)
{
        struct wanted *w = ctx;
        for (size_t i = 0; i < w->n; i++)
                if (strcmp(w->keys[i], r->key) == 0)
                        w->led_to[i] = true;
}

int cordon_image_prune(const cordon_context *cx, int all, uint64_t *ret_count, cordon_error *pe)
{
        struct err *e = to_err(pe);
        struct image_store s;
        struct wanted w = { 0 };
        *ret_count = 0;
        if (image_store_open(cx, &s, e) < 0)
                return -1;

        AUTO_FD(lock, image_store_lock(&s, e));
        int r = lock < 0 ? -1 : 0;
        w.keys = image_keys(&s, &w.n);
        w.led_to = calloc(w.n + 1, sizeof *w.led_to);
        if (r == 0 && w.led_to && !all)
                image_refs_each(&s, true, note_wanted, &w);

        for (size_t i = 0; r == 0 && w.led_to && i < w.n; i++) {
                int gone = w.led_to[i] ? 0 : image_remove(&s, w.keys[i], e);
                *ret_count += gone > 0;
                r = gone < 0 ? -1 : 0;
        }

        free(w.keys);
        free(w.led_to);
        image_store_done(&s);
        return r;
}
