/* SPDX-License-Identifier: MIT */
/* serve/json_body.c - members of a JSON body. Pure. */
#include "serve/internal.h"

#include <string.h>

const struct json *body_member(const struct json *object, const char *key, enum json_type type)
{
        const struct json *v = object && object->type == JSON_OBJECT ? json_get(object, key) : NULL;
        return v && v->type == type ? v : NULL;
}

const char *body_text(const struct json *object, const char *key)
{
        const struct json *v = body_member(object, key, JSON_STRING);
        return v && strlen(v->str) == v->len ? v->str : NULL;
}
