/* SPDX-License-Identifier: MIT */
/* effect/label/label_capacity.c - how much a value can say that is valid under a JSON Schema: booleans,
 * enums, bounded integers, dates, and objects and arrays of them. A free string can hold any instruction, so
 * it has no bound, and neither has a keyword that is not in the table below. */
#include "base/json.h"
#include "effect/label/label.h"

enum { DEPTH_MAX = 16, DATE_BITS = 22 /* 0000-01-01 to 9999-12-31 */ };

/* Keywords that say nothing about values, or are read by the function of their type. */
static bool is_known(const char *key)
{
        static const char *const known[] = { "type",     "enum",     "const",      "minimum",  "maximum",
                                             "format",   "items",    "maxItems",   "minItems", "properties",
                                             "required", "$schema",  "$id",        "title",    "description",
                                             "examples", "$comment", "deprecated", "default",  "maxLength",
                                             "minLength" };
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (strcmp(key, known[i]) == 0)
                        return true;
        return strcmp(key, "additionalProperties") == 0;
}

static int bits_for(uint64_t values)
{
        int bits = 0;
        while (bits < 63 && (UINT64_C(1) << bits) < values)
                bits++;
        return bits;
}

static int sum(int a, int b) { return a < 0 || b < 0 || a + b > LABEL_BITS_MAX ? -1 : a + b; }

static int of_enum(const struct json *list)
{
        uint64_t n = 0;
        if (list->type != JSON_ARRAY)
                return -1;
        for (const struct json *v = list->child; v; v = v->next)
                n++;
        return n ? bits_for(n) : -1;
}

static int of_integer(const struct json *s)
{
        const struct json *least = json_get(s, "minimum"), *most = json_get(s, "maximum");
        if (!least || !most || least->type != JSON_INT || most->type != JSON_INT ||
            least->integer > most->integer)
                return -1;

        uint64_t range = (uint64_t) most->integer - (uint64_t) least->integer;
        return range >> 62 ? -1 : bits_for(range + 1);
}

static int schema_capacity(const struct json *s, unsigned depth);

/* How many there are says something as well. */
static int of_array(const struct json *s, unsigned depth)
{
        const struct json *most = json_get(s, "maxItems"), *items = json_get(s, "items");
        if (!most || most->type != JSON_INT || most->integer < 0 || most->integer > LABEL_BITS_MAX || !items)
                return -1;

        int one = schema_capacity(items, depth + 1), total = bits_for((uint64_t) most->integer + 1);
        for (int64_t i = 0; i < most->integer && total >= 0; i++)
                total = sum(total, one);
        return total;
}

static bool is_required(const struct json *s, const char *key)
{
        const struct json *list = json_get(s, "required");
        for (const struct json *v = list && list->type == JSON_ARRAY ? list->child : NULL; v; v = v->next)
                if (v->type == JSON_STRING && strcmp(v->str, key) == 0)
                        return true;
        return false;
}

/* The order of members is not data: the value is written anew. */
static int of_object(const struct json *s, unsigned depth)
{
        const struct json *others = json_get(s, "additionalProperties"), *props = json_get(s, "properties");
        int total = 0;
        if (!others || others->type != JSON_FALSE || (props && props->type != JSON_OBJECT))
                return -1;

        for (const struct json *p = props ? props->child : NULL; p; p = p->next)
                total = sum(total, sum(schema_capacity(p, depth + 1), !is_required(s, p->key)));
        return total;
}

static int of_string(const struct json *s)
{
        const struct json *format = json_get(s, "format");
        bool date = format && format->type == JSON_STRING && strcmp(format->str, "date") == 0;
        return date ? DATE_BITS : -1;
}

static int of_type(const struct json *s, const char *type, unsigned depth)
{
        if (strcmp(type, "boolean") == 0)
                return 1;
        if (strcmp(type, "null") == 0)
                return 0;
        if (strcmp(type, "integer") == 0)
                return of_integer(s);
        if (strcmp(type, "string") == 0)
                return of_string(s);
        if (strcmp(type, "array") == 0)
                return of_array(s, depth);
        return strcmp(type, "object") == 0 ? of_object(s, depth) : -1;
}

static int schema_capacity(const struct json *s, unsigned depth)
{
        if (s->type != JSON_OBJECT || depth > DEPTH_MAX)
                return -1;

        for (const struct json *v = s->child; v; v = v->next)
                if (!is_known(v->key))
                        return -1;

        const struct json *type = json_get(s, "type"), *list = json_get(s, "enum");
        if (json_get(s, "const"))
                return 0;

        if (list)
                return of_enum(list);

        return type && type->type == JSON_STRING ? of_type(s, type->str, depth) : -1;
}

int label_capacity(const struct json *schema) { return schema_capacity(schema, 0); }
