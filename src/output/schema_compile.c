/* SPDX-License-Identifier: MIT */
/* output/schema_compile.c - from the JSON of a schema to a list of checks in the order of enum key_kind. What
 * is wrong with a schema is found here, before any document is checked. Pure. */
#include "output/schema_internal.h"

#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct making {
        struct schema *s;
        struct node *n;
        struct key *keys;
        size_t count;
        struct err *e;
};

static const struct json *get_keyword(const struct making *m, const char *keyword)
{
        const struct keyword *k = schema_keyword(keyword);
        return k->vocabulary & m->n->resource->vocabularies ? json_get(m->n->json, keyword) : NULL;
}

static struct node *compile_child(struct making *m, const struct json *at)
{
        struct node *n = schema_node(m->s, m->n->resource->doc, at, m->n->resource);
        if (!n)
                (void) schema_no_memory(m->e);
        return n;
}

static int bad_value(struct making *m, const struct json *value, const char *wanted)
{
        return schema_fail(m->s, value, m->e, "`%.40s` must be %s", value->key, wanted);
}

static struct key *key_add(struct making *m, enum key_kind kind, const struct json *value)
{
        struct key *k = &m->keys[m->count++];
        *k = (struct key){ .kind = kind, .value = value };
        return k;
}

/* ---- values of keywords ---- */

static bool is_number(const struct json *v) { return v->type == JSON_INT || v->type == JSON_NUMBER; }

static int make_decimal(struct making *m, struct key *k)
{
        if (!is_number(k->value))
                return bad_value(m, k->value, "a number");

        k->decimal = decimal_of(k->value);
        if (k->kind == KEY_MULTIPLE && (k->decimal.n == 0 || k->decimal.negative))
                return bad_value(m, k->value, "above 0");
        if (k->kind == KEY_MULTIPLE && k->decimal.n > DECIMAL_FACTOR_DIGITS)
                return bad_value(m, k->value, "a number of at most 18 digits");
        return 0;
}

static int read_count(struct making *m, const struct json *v, uint64_t *ret)
{
        struct decimal d = is_number(v) ? decimal_of(v) : (struct decimal){ .negative = true };
        return decimal_to_u64(&d, ret) < 0 ? bad_value(m, v, "a whole number from 0 on") : 0;
}

static int make_count(struct making *m, struct key *k) { return read_count(m, k->value, &k->number); }

static unsigned type_bits(const struct json *name)
{
        static const struct {
                const char *name;
                unsigned bits;
        } rows[] = { { "null", 1u << JSON_NULL },
                     { "boolean", 1u << JSON_TRUE | 1u << JSON_FALSE },
                     { "number", 1u << JSON_NUMBER | 1u << JSON_INT },
                     { "integer", 1u << JSON_INT },
                     { "string", 1u << JSON_STRING },
                     { "array", 1u << JSON_ARRAY },
                     { "object", 1u << JSON_OBJECT } };
        for (size_t i = 0; name->type == JSON_STRING && i < COUNT(rows); i++)
                if (strcmp(rows[i].name, name->str) == 0)
                        return rows[i].bits;
        return 0;
}

static int make_type(struct making *m, struct key *k)
{
        bool list = k->value->type == JSON_ARRAY;
        for (const struct json *t = list ? k->value->child : k->value; t; t = list ? t->next : NULL) {
                unsigned bits = type_bits(t);
                if (!bits)
                        return bad_value(m, k->value,
                                         "null, boolean, number, integer, string, array or object");
                k->number |= bits;
        }

        return list && !k->value->child ? bad_value(m, k->value, "a type, or a list of types") : 0;
}

static int make_names(struct making *m, struct key *k)
{
        for (const struct json *x = k->value->child; x; x = x->next)
                if (x->type != JSON_STRING)
                        return bad_value(m, k->value, "a list of strings");
        return k->value->type == JSON_ARRAY ? 0 : bad_value(m, k->value, "a list of strings");
}

static int make_name_lists(struct making *m, struct key *k)
{
        if (k->value->type != JSON_OBJECT)
                return bad_value(m, k->value, "an object of lists of strings");
        for (const struct json *x = k->value->child; x; x = x->next) {
                struct key list = { .value = x };
                if (make_names(m, &list) < 0)
                        return -1;
        }
        return 0;
}

static int make_enum(struct making *m, struct key *k)
{
        return k->value->type == JSON_ARRAY ? 0 : bad_value(m, k->value, "a list");
}

static int make_nothing(struct making *m, struct key *k)
{
        (void) m;
        (void) k;
        return 0;
}

static int make_format(struct making *m, struct key *k)
{
        if (k->value->type != JSON_STRING)
                return bad_value(m, k->value, "a string");
        m->count -= !(m->s->options & SCHEMA_FORMATS); /* an annotation */
        return 0;
}

static int make_unique(struct making *m, struct key *k)
{
        if (k->value->type != JSON_TRUE && k->value->type != JSON_FALSE)
                return bad_value(m, k->value, "true or false");
        m->count -= k->value->type == JSON_FALSE;
        return 0;
}

static struct regex *make_regex(struct making *m, const struct json *at, struct span pattern)
{
        const char *why = "out of memory";
        struct regex_link *link = arena_alloc(&m->s->mem, sizeof *link);
        struct regex *r = link ? regex_new(pattern, &why) : NULL;
        if (!r) {
                (void) schema_fail(m->s, at, m->e, "the regular expression cannot be used: %s", why);
                return NULL;
        }

        *link = (struct regex_link){ r, m->s->regexes };
        m->s->regexes = link;
        return r;
}

static int make_pattern(struct making *m, struct key *k)
{
        if (k->value->type != JSON_STRING)
                return bad_value(m, k->value, "a string");
        k->regex = make_regex(m, k->value, span_of(k->value->str, k->value->len));
        return k->regex ? 0 : -1;
}

/* ---- subschemas ---- */

static int make_schema(struct making *m, struct key *k)
{
        k->schema = compile_child(m, k->value);
        return k->schema ? 0 : -1;
}

static int make_list(struct making *m, struct key *k)
{
        if (k->value->type != JSON_ARRAY || !k->value->child)
                return bad_value(m, k->value, "a list of schemas");

        k->list = arena_alloc(&m->s->mem, value_count(k->value) * sizeof(struct node *));
        if (!k->list)
                return schema_no_memory(m->e);

        for (const struct json *x = k->value->child; x; x = x->next)
                if (!(k->list[k->n++] = compile_child(m, x)))
                        return -1;
        return 0;
}

static int make_map(struct making *m, struct key *k)
{
        if (k->value->type != JSON_OBJECT)
                return bad_value(m, k->value, "an object of schemas");
        for (const struct json *x = k->value->child; x; x = x->next)
                if (!compile_child(m, x))
                        return -1;
        return 0;
}

static int make_ref(struct making *m, struct key *k)
{
        k->schema = schema_refer(m->s, m->n, k->value, &k->anchor, m->e);
        return k->schema ? 0 : -1;
}

/* Which anchor it leads to depends on the way in which it is reached: see compile_all(). */
static int make_dynamic(struct making *m, struct key *k)
{
        m->s->moves = true;
        return make_ref(m, k);
}

static int make_if(struct making *m, struct key *k)
{
        const struct json *yes = get_keyword(m, "then"), *no = get_keyword(m, "else");
        if ((yes && !(k->yes = compile_child(m, yes))) || (no && !(k->no = compile_child(m, no))))
                return -1;
        return make_schema(m, k);
}

static int make_contains(struct making *m, struct key *k)
{
        const struct json *least = get_keyword(m, "minContains"), *most = get_keyword(m, "maxContains");
        k->number = 1;
        k->most = UINT64_MAX;
        if ((least && read_count(m, least, &k->number) < 0) || (most && read_count(m, most, &k->most) < 0))
                return -1;
        return make_schema(m, k);
}

static int make_unevaluated(struct making *m, struct key *k)
{
        m->s->tracks = true;
        return make_schema(m, k);
}

/* ---- keywords ---- */

/* Those that stand for one check. */
static const struct simple {
        const char *name;
        enum key_kind kind;
        int (*make)(struct making *m, struct key *k);
} simples[] = {
        { "type", KEY_TYPE, make_type },
        { "const", KEY_CONST, make_nothing },
        { "enum", KEY_ENUM, make_enum },
        { "multipleOf", KEY_MULTIPLE, make_decimal },
        { "maximum", KEY_MAXIMUM, make_decimal },
        { "exclusiveMaximum", KEY_EXCLUSIVE_MAXIMUM, make_decimal },
        { "minimum", KEY_MINIMUM, make_decimal },
        { "exclusiveMinimum", KEY_EXCLUSIVE_MINIMUM, make_decimal },
        { "maxLength", KEY_MAX_LENGTH, make_count },
        { "minLength", KEY_MIN_LENGTH, make_count },
        { "maxItems", KEY_MAX_ITEMS, make_count },
        { "minItems", KEY_MIN_ITEMS, make_count },
        { "maxProperties", KEY_MAX_PROPERTIES, make_count },
        { "minProperties", KEY_MIN_PROPERTIES, make_count },
        { "required", KEY_REQUIRED, make_names },
        { "dependentRequired", KEY_DEPENDENT_REQUIRED, make_name_lists },
        { "pattern", KEY_PATTERN, make_pattern },
        { "format", KEY_FORMAT, make_format },
        { "uniqueItems", KEY_UNIQUE, make_unique },
        { "$ref", KEY_REF, make_ref },
        { "$dynamicRef", KEY_DYNAMIC_REF, make_dynamic },
        { "allOf", KEY_ALL_OF, make_list },
        { "anyOf", KEY_ANY_OF, make_list },
        { "oneOf", KEY_ONE_OF, make_list },
        { "not", KEY_NOT, make_schema },
        { "if", KEY_IF, make_if },
        { "dependentSchemas", KEY_DEPENDENT_SCHEMAS, make_map },
        { "contains", KEY_CONTAINS, make_contains },
        { "propertyNames", KEY_PROPERTY_NAMES, make_schema },
        { "unevaluatedItems", KEY_UNEVALUATED_ITEMS, make_unevaluated },
        { "unevaluatedProperties", KEY_UNEVALUATED_PROPERTIES, make_unevaluated },
};

/* ---- prefixItems and items; properties, patternProperties and additionalProperties ---- */

static int make_array(struct making *m)
{
        const struct json *prefix = get_keyword(m, "prefixItems"), *items = get_keyword(m, "items");
        if (!prefix && !items)
                return 0;

        struct key *k = key_add(m, KEY_ARRAY, items ? items : prefix);
        if (items && !(k->schema = compile_child(m, items)))
                return -1;

        k->value = prefix ? prefix : items;
        return prefix ? make_list(m, k) : 0;
}

static int make_patterns(struct making *m, struct key *k, const struct json *patterns)
{
        if (patterns->type != JSON_OBJECT)
                return bad_value(m, patterns, "an object of schemas");

        k->patterns = arena_alloc(&m->s->mem, (value_count(patterns) + 1) * sizeof *k->patterns);
        if (!k->patterns)
                return schema_no_memory(m->e);

        for (const struct json *x = patterns->child; x; x = x->next, k->n++) {
                k->patterns[k->n].regex = make_regex(m, x, span_of(x->key, x->key_len));
                k->patterns[k->n].schema = compile_child(m, x);
                if (!k->patterns[k->n].regex || !k->patterns[k->n].schema)
                        return -1;
        }

        return 0;
}

static int make_object(struct making *m)
{
        const struct json *names = get_keyword(m, "properties"),
                          *patterns = get_keyword(m, "patternProperties"),
                          *others = get_keyword(m, "additionalProperties");
        if (!names && !patterns && !others)
                return 0;

        struct key *k = key_add(m, KEY_OBJECT, names);
        if (names && make_map(m, k) < 0)
                return -1;

        k->names = names;
        if (patterns && make_patterns(m, k, patterns) < 0)
                return -1;

        k->value = others ? others : patterns ? patterns : names;
        return others && !(k->schema = compile_child(m, others)) ? -1 : 0;
}

static int by_kind(const void *a, const void *b)
{
        return (int) ((const struct key *) a)->kind - (int) ((const struct key *) b)->kind;
}

int schema_compile(struct schema *s, struct node *n, struct err *e)
{
        struct key keys[KEY__COUNT];
        struct making m = { .s = s, .n = n, .keys = keys, .e = e };
        n->compiled = true;
        n->is_false = n->json->type == JSON_FALSE;
        if (n->is_false || n->json->type == JSON_TRUE)
                return 0;

        if (n->json->type != JSON_OBJECT)
                return schema_fail(s, n->json, e, "a schema must be an object, true or false");

        if (schema_vocabularies(s, n->resource, e) < 0)
                return -1;

        for (size_t i = 0; i < COUNT(simples); i++) {
                const struct json *value = get_keyword(&m, simples[i].name);
                if (value && simples[i].make(&m, key_add(&m, simples[i].kind, value)) < 0)
                        return -1;
        }

        if (make_array(&m) < 0 || make_object(&m) < 0)
                return -1;

        qsort(keys, m.count, sizeof *keys, by_kind);
        n->keys = arena_alloc(&s->mem, (m.count + 1) * sizeof *keys);
        if (!n->keys)
                return schema_no_memory(e);

        memcpy(n->keys, keys, m.count * sizeof *keys);
        n->n_keys = m.count;
        return 0;
}
