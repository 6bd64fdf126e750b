/* SPDX-License-Identifier: MIT */
/* face/serve/json_body.c - JSON bodies: a member that is unknown or has another type is an error, never
 * another meaning. The members of each route stand in routes.c. */
#include "face/serve/internal.h"

#include "base/err.h"
#include "base/str.h"

#include <string.h>

static bool is_text(const struct json *v) { return v->type == JSON_STRING && strlen(v->str) == v->len; }

static bool is_words(const struct json *v)
{
        for (const struct json *w = v->child; w; w = w->next)
                if (!is_text(w))
                        return false;
        return v->type == JSON_ARRAY;
}

static bool is_texts(const struct json *v)
{
        for (const struct json *w = v->child; w; w = w->next)
                if (!is_text(w))
                        return false;
        return v->type == JSON_OBJECT;
}

static bool has_type(const struct body_row *row, const struct json *v)
{
        switch (row->type) {
        case BODY_TEXT:
                return is_text(v) && v->len > 0;
        case BODY_BYTES:
                return v->type == JSON_STRING;
        case BODY_BOOL:
                return v->type == JSON_TRUE || v->type == JSON_FALSE;
        case BODY_INT:
                return v->type == JSON_INT && v->integer >= row->least && v->integer <= row->most;
        case BODY_WORDS:
                return is_words(v);
        case BODY_TEXTS:
                return is_texts(v);
        }
        return false;
}

static int refuse_type(const struct body_row *row, struct err *e)
{
        static const char *const names[] = { [BODY_TEXT] =
                                                     "a string with at least one character, without NUL",
                                             [BODY_BYTES] = "one string",
                                             [BODY_BOOL] = "true or false",
                                             [BODY_WORDS] = "a list of strings without NUL",
                                             [BODY_TEXTS] = "an object of strings without NUL" };
        if (row->type != BODY_INT)
                return err_set(e, ERR_USAGE, 0, "`%s` is %s", row->key, names[row->type]);
        return err_set(e, ERR_USAGE, 0, "`%s` is a whole number, %lld to %lld", row->key,
                       (long long) row->least, (long long) row->most);
}

static int refuse_name(const struct body_form *f, const char *key, struct err *e)
{
        AUTO_BUF(names);
        const char *nearest = NULL;
        for (size_t i = 0; i < f->count; i++) {
                str_nearer(key, f->rows[i].key, &nearest);
                buf_printf(&names, "%s%s", i ? ", " : "", f->rows[i].key);
        }

        (void) err_set(e, ERR_USAGE, 0, "there is no member `%.64s`", key);
        if (nearest)
                return err_hint(e, "did you mean `%s`?", nearest);
        return err_hint(e, "it has: %s; see /v1/openapi.json", f->count ? buf_str(&names) : "none");
}

int body_check(const struct json *o, const struct body_form *f, struct err *e)
{
        if (o && o->type != JSON_OBJECT)
                return err_set(e, ERR_USAGE, 0, "it is not a JSON object");

        for (const struct json *m = o ? o->child : NULL; m; m = m->next) {
                size_t i = 0;
                while (i < f->count && strcmp(f->rows[i].key, m->key) != 0)
                        i++;
                if (i == f->count)
                        return refuse_name(f, m->key, e);
                if (!has_type(&f->rows[i], m))
                        return refuse_type(&f->rows[i], e);
        }

        for (size_t i = 0; i < f->count; i++)
                if (f->rows[i].needed && !(o && json_get(o, f->rows[i].key)))
                        return err_set(e, ERR_USAGE, 0, "`%s` is missing", f->rows[i].key);
        return 0;
}
