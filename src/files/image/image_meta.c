/* SPDX-License-Identifier: MIT */
/* files/image/image_meta.c - reads meta.json. We wrote it, but its texts are a hostile image's: each is
 * checked before it becomes a default of a box. */
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "files/image/image.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_variable(const char *text)
{
        size_t n = strcspn(text, "=");
        return n > 0 && n < 256 && text[n] == '=';
}

static bool is_any(const char *text)
{
        (void) text;
        return true;
}

/* The texts of a list that are valid, NULL-terminated; NULL: none. */
static const char *const *texts_of(struct image *m, const struct json *list, bool (*valid)(const char *))
{
        const char **v = arena_alloc(&m->mem, (IMAGE_TEXTS_MAX + 1) * sizeof *v);
        size_t n = 0;
        for (const struct json *x = list && list->type == JSON_ARRAY ? list->child : NULL; v && x;
             x = x->next)
                if (n < IMAGE_TEXTS_MAX && x->type == JSON_STRING && valid(x->str))
                        v[n++] = arena_str(&m->mem, x->str);

        return n > 0 ? v : NULL;
}

static uint32_t id_of(const struct json *root, const char *key)
{
        const struct json *v = json_get(root, key);
        return v && v->type == JSON_INT && v->integer >= 0 && v->integer <= INT32_MAX ? (uint32_t) v->integer
                                                                                      : 0;
}

static void fill_image(struct image *m, const struct json *root)
{
        const struct json *cwd = json_get(root, "cwd"), *user = json_get(root, "user");
        char clean[PATH_MAX];
        m->plan.env = texts_of(m, json_get(root, "env"), is_variable);
        m->argv = texts_of(m, json_get(root, "argv"), is_any);
        if (cwd && cwd->type == JSON_STRING && cwd->str[0] == '/' &&
            path_join("/", cwd->str, clean, sizeof clean))
                m->plan.cwd = arena_str(&m->mem, clean);

        m->plan.has_user = user && user->type == JSON_TRUE;
        m->plan.uid = id_of(root, "uid");
        m->plan.gid = id_of(root, "gid");
}

int image_meta_read(int fd, struct image *m, struct err *e)
{
        struct stat st;
        if (fstat(fd, &st) < 0 || st.st_size > IMAGE_META_MAX)
                return err_set(e, ERR_IO, 0, "the image's meta.json is too large");

        char *text = malloc((size_t) st.st_size + 1);
        ssize_t n = text ? fd_read_all(fd, text, (size_t) st.st_size) : -1;
        struct json_doc *d = n < 0 ? NULL : json_parse("meta.json", span_of(text, (size_t) n), e);
        if (d && json_root(d)->type == JSON_OBJECT)
                fill_image(m, json_root(d));

        bool whole = d && !m->mem.failed;
        if (n < 0)
                (void) err_set(e, ERR_IO, 0, "the image's meta.json cannot be read");

        json_free(d);
        free(text);
        return whole ? 0 : -1;
}
