/* SPDX-License-Identifier: MIT */
/* base/json.h - a strict JSON reader (RFC 8259) for untrusted bytes: UTF-8 only, bounded depth, no duplicate
 * keys, no NUL in strings, exact integers, no trailing bytes. The tree is one arena; free it once. */
#pragma once
#include "base/err.h"
#include "base/span.h"

enum json_type {
        JSON_NULL = 0,
        JSON_FALSE,
        JSON_TRUE,
        JSON_INT,
        JSON_NUMBER,
        JSON_STRING,
        JSON_ARRAY,
        JSON_OBJECT
};

struct json {
        enum json_type type;
        unsigned line, column; /* its position, 1-based */
        const char *key;       /* if it is a member of an object */
        size_t key_len;
        const char *str; /* STRING: NUL-terminated, unescaped; NUMBER and INT: as written */
        size_t len;
        int64_t integer;          /* INT */
        const struct json *child; /* first element or member */
        const struct json *next;  /* next sibling */
};

struct json_doc;
/* `file` names the source in errors ("FILE:LINE:COL: ..."). */
struct json_doc *json_parse(const char *file, struct span text, struct err *e);
/* Checks whether json_parse() accepts the text. Uses at most the size of the text plus two megabytes of
 * memory. */
int json_check(const char *file, struct span text, struct err *e);
const struct json *json_root(const struct json_doc *d);
void json_free(struct json_doc *d);
/* Returns a member of an object, or NULL. */
const struct json *json_get(const struct json *object, const char *key);
/* A member as a value: NULL, "", 0 or false if it is missing or of another type. A string with a NUL in it is
 * of another type. */
const char *json_str(const struct json *object, const char *key);
const char *json_text(const struct json *object, const char *key);
int64_t json_int(const struct json *object, const char *key);
bool json_is_true(const struct json *object, const char *key);
const struct json *json_of(const struct json *object, const char *key, enum json_type type);
int64_t json_int_or(const struct json *object, const char *key, int64_t otherwise);

/* The same reader for data that programs exchange: deeper, objects with more members, and NUL as \u0000 in
 * strings and keys. */
struct json_doc *json_parse_data(const char *file, struct span text, struct err *e);
/* A member of an object of such a document, in constant time; or NULL. */
const struct json *json_member(const struct json_doc *d, const struct json *object, struct span key);
/* The number of its values, and the place of one among them. */
size_t json_count(const struct json_doc *d);
size_t json_index(const struct json_doc *d, const struct json *v);
