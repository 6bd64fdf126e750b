/* SPDX-License-Identifier: MIT */
/* output/schema_internal.h - the compiled form of a schema. */
#pragma once
#include "base/arena.h"
#include "output/decimal.h"
#include "output/regex.h"
#include "output/schema.h"

/* Where a keyword has subschemas. */
enum key_holds { HOLDS_NONE = 0, HOLDS_SCHEMA, HOLDS_LIST, HOLDS_MAP };
enum vocabulary {
        VOCABULARY_CORE = 1,
        VOCABULARY_APPLICATOR = 2,
        VOCABULARY_UNEVALUATED = 4,
        VOCABULARY_VALIDATION = 8,
        VOCABULARY_FORMAT = 16,
        VOCABULARY_NOTES = 32,
        VOCABULARY_ALL = 63
};

/* In the order in which they are evaluated: cheap ones first, those that need annotations last. */
enum key_kind {
        KEY_TYPE = 0,
        KEY_CONST,
        KEY_ENUM,
        KEY_MULTIPLE,
        KEY_MAXIMUM,
        KEY_EXCLUSIVE_MAXIMUM,
        KEY_MINIMUM,
        KEY_EXCLUSIVE_MINIMUM,
        KEY_MAX_LENGTH,
        KEY_MIN_LENGTH,
        KEY_MAX_ITEMS,
        KEY_MIN_ITEMS,
        KEY_MAX_PROPERTIES,
        KEY_MIN_PROPERTIES,
        KEY_REQUIRED,
        KEY_DEPENDENT_REQUIRED,
        KEY_PATTERN,
        KEY_FORMAT,
        KEY_UNIQUE,
        KEY_REF,
        KEY_DYNAMIC_REF,
        KEY_ALL_OF,
        KEY_ANY_OF,
        KEY_ONE_OF,
        KEY_NOT,
        KEY_IF,
        KEY_DEPENDENT_SCHEMAS,
        KEY_ARRAY, /* prefixItems, items */
        KEY_CONTAINS,
        KEY_OBJECT, /* properties, patternProperties, additionalProperties */
        KEY_PROPERTY_NAMES,
        KEY_UNEVALUATED_ITEMS,
        KEY_UNEVALUATED_PROPERTIES,
        KEY__COUNT
};

struct document {
        struct json_doc *doc;
        struct node **nodes;         /* by json_index(): the compiled schema there */
        struct resource **resources; /* the same: its resource, if it is at a place for schemas */
        struct document *next;
};

struct resource {
        const char *uri;
        struct document *doc;
        const struct json *root;
        unsigned vocabularies; /* 0: not read yet */
        bool used;
        struct anchor *anchors;
        struct resource *next;
};

struct anchor {
        struct span name;
        const struct json *at;
        bool dynamic;
        struct anchor *next;
};

struct pattern_schema {
        struct regex *regex;
        struct node *schema;
};

struct key {
        enum key_kind kind;
        const struct json *value; /* of the keyword */
        uint64_t number, most;    /* lengths and counts; TYPE: bits */
        struct decimal decimal;
        struct regex *regex;
        struct node *schema, *yes, *no; /* one subschema; IF: then and else */
        struct node **list;             /* several, `n` */
        size_t n;
        const struct json *names;        /* OBJECT: `properties` */
        struct pattern_schema *patterns; /* OBJECT, `n` */
        struct span anchor;              /* DYNAMIC_REF: its name, if it moves */
};

/* One compiled schema. */
struct node {
        const struct json *json;
        struct resource *resource;
        struct key *keys;
        size_t n_keys;
        bool compiled, is_false;
        struct node *queue; /* to be compiled next */
};

struct regex_link { /* all of them, to be freed */
        struct regex *regex;
        struct regex_link *next;
};

struct frame;
struct schema {
        struct arena mem;
        const char *name;
        unsigned options;
        struct document *documents;
        struct resource *resources;
        struct node *root;
        struct node *queue;
        struct regex_link *regexes;
        bool moves;  /* has a $dynamicRef */
        bool tracks; /* has unevaluatedItems or unevaluatedProperties */
        const char *unknown;
        struct frame *frames;
};

struct keyword {
        const char *name;
        enum key_holds holds;
        unsigned vocabulary;
};
const struct keyword *schema_keyword(const char *name);
/* Where in the text of the schema: FILE:LINE:COL. */
int schema_fail(const struct schema *s, const struct json *at, struct err *e, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
int schema_no_memory(struct err *e);

/* schema_load.c */
struct document *schema_load(struct schema *s, const char *uri, struct span text, struct err *e);
/* The compiled schema at a place; compiled later, by the queue. */
struct node *schema_node(struct schema *s, struct document *d, const struct json *at, struct resource *r);
/* The target of a reference; *ret_anchor: if it is a dynamic anchor, its name. */
struct node *schema_refer(struct schema *s, const struct node *from, const struct json *ref,
                          struct span *ret_anchor, struct err *e);
int schema_vocabularies(struct schema *s, struct resource *r, struct err *e);

/* schema_compile.c */
int schema_compile(struct schema *s, struct node *n, struct err *e);

/* schema_meta.c: the documents of the metaschema. */
struct buf;
bool schema_meta(size_t i, struct buf *out); /* false: no more */
extern const char schema_dialect[];

/* value.c: values of two documents. *steps is taken from; false if it is used up. */
struct value_pair {
        const struct json_doc *a, *b;
        uint64_t *steps;
};
bool value_equal(const struct value_pair *in, const struct json *a, const struct json *b);
uint64_t value_hash(const struct json *v, uint64_t *steps);
size_t value_count(const struct json *v); /* of its elements or members */
