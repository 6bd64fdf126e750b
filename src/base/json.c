/* SPDX-License-Identifier: MIT */
/* base/json.c - the strict JSON reader. One allocation holds the whole tree: every value except the root
 * follows a '[', a ',' or a ':', so counting those bounds the number of nodes in advance. Never: recurses
 * deeper than JSON_MAX_DEPTH, keeps a pointer into the input. */
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>

enum { MEMBERS_MAX = 1024 }; /* of one object: duplicate keys are searched pair by pair */

/* The bounds of a document. */
struct bounds {
        unsigned depth, members;
        bool nul;
};
static const struct bounds of_input = { JSON_MAX_DEPTH, MEMBERS_MAX, false };
static const struct bounds of_data = { JSON_DATA_DEPTH, JSON_DATA_MEMBERS, true };

/* One member in the index of a document of data. */
struct entry {
        const struct json *object, *member;
};

struct json_doc {
        struct json *nodes;
        char *chars;
        size_t n_nodes, n_chars;
        struct entry *index; /* a hash table of all members; NULL: members are searched one by one */
        size_t mask;
};

struct scan {
        const char *file;
        const uint8_t *p, *end;
        unsigned line, column;
        unsigned depth;
        bool checks; /* check only: nodes are freed again after use */
        const struct bounds *bounds;
        struct json_doc *d;
        struct err *e;
};

static int fail_scan(struct scan *s, const char *what)
{
        return err_set(s->e, ERR_POLICY, 0, "%s:%u:%u: %s", s->file, s->line, s->column, what);
}

static void step_scan(struct scan *s)
{
        if (*s->p == '\n') {
                s->line++;
                s->column = 1;
        } else if ((*s->p & 0xc0) != 0x80) {
                s->column++;
        }

        s->p++;
}

static bool at(const struct scan *s, char c) { return s->p < s->end && *s->p == (uint8_t) c; }

static void skip_space(struct scan *s)
{
        while (at(s, ' ') || at(s, '\t') || at(s, '\n') || at(s, '\r'))
                step_scan(s);
}

static int take_char(struct scan *s, char c, const char *what)
{
        skip_space(s);
        if (!at(s, c))
                return fail_scan(s, what);
        step_scan(s);
        return 0;
}

static void put_byte(struct scan *s, uint32_t c) { s->d->chars[s->d->n_chars++] = (char) c; }

static int hex4(struct scan *s, uint32_t *ret_value)
{
        uint32_t v = 0;
        for (int i = 0; i < 4; i++) {
                if (s->p >= s->end)
                        return fail_scan(s, "the text ends inside \\u");
                int digit = str_hex(*s->p);
                if (digit < 0)
                        return fail_scan(s, "\\u needs four hexadecimal digits");
                v = v << 4 | (uint32_t) digit;
                step_scan(s);
        }

        *ret_value = v;
        return 0;
}

static int escape_unicode(struct scan *s)
{
        uint32_t v = 0, low = 0;
        if (hex4(s, &v) < 0)
                return -1;

        if (v == 0 && !s->bounds->nul)
                return fail_scan(s, "a NUL cannot stand in a string");

        if (v >= 0xdc00 && v < 0xe000)
                return fail_scan(s, "half a surrogate pair");

        if (v >= 0xd800 && v < 0xdc00) {
                if (s->end - s->p < 2 || s->p[0] != '\\' || s->p[1] != 'u')
                        return fail_scan(s, "half a surrogate pair");
                step_scan(s);
                step_scan(s);
                if (hex4(s, &low) < 0)
                        return -1;
                if (low < 0xdc00 || low >= 0xe000)
                        return fail_scan(s, "half a surrogate pair");
                v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
        }

        char bytes[4]; /* at most three for six of input ("\uXXXX"), four for twelve */
        for (size_t i = 0, n = str_from_char(v, bytes); i < n; i++)
                put_byte(s, (uint8_t) bytes[i]);
        return 0;
}

static int read_escape(struct scan *s)
{
        static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
        step_scan(s);
        if (s->p >= s->end)
                return fail_scan(s, "the text ends inside a string");

        if (*s->p == 'u') {
                step_scan(s);
                return escape_unicode(s);
        }

        const char *k = *s->p ? strchr(from, *s->p) : NULL;
        if (!k)
                return fail_scan(s, "no such escape");

        put_byte(s, (uint8_t) to[k - from]);
        step_scan(s);
        return 0;
}

static int read_string(struct scan *s, const char **ret_str, size_t *ret_len)
{
        char *start = s->d->chars + s->d->n_chars;
        step_scan(s);
        while (s->p < s->end && *s->p != '"') {
                if (*s->p < 0x20)
                        return fail_scan(s, "a control character must be written as an escape");
                if (*s->p == '\\') {
                        if (read_escape(s) < 0)
                                return -1;
                        continue;
                }
                put_byte(s, *s->p);
                step_scan(s);
        }

        if (s->p >= s->end)
                return fail_scan(s, "the text ends inside a string");

        step_scan(s);
        *ret_len = (size_t) (s->d->chars + s->d->n_chars - start);
        put_byte(s, '\0');
        *ret_str = start;
        return 0;
}

static size_t count_digits(const struct scan *s, size_t i)
{
        size_t n = 0;
        while (s->p + i + n < s->end && s->p[i + n] >= '0' && s->p[i + n] <= '9')
                n++;
        return n;
}

static bool byte_is(const struct scan *s, size_t i, const char *set)
{
        return s->p + i < s->end && s->p[i] != '\0' && strchr(set, s->p[i]);
}

/* Returns its length by the grammar, or 0; sets *ret_integer if it has neither fraction nor exponent. */
static size_t number_len(const struct scan *s, bool *ret_integer)
{
        size_t i = at(s, '-'), k = count_digits(s, i);
        if (k == 0 || (k > 1 && s->p[i] == '0'))
                return 0;

        i += k;
        *ret_integer = true;
        if (byte_is(s, i, ".")) {
                *ret_integer = false;
                if ((k = count_digits(s, i + 1)) == 0)
                        return 0;
                i += 1 + k;
        }

        if (byte_is(s, i, "eE")) {
                *ret_integer = false;
                i += byte_is(s, i + 1, "+-") ? 2 : 1;
                if ((k = count_digits(s, i)) == 0)
                        return 0;
                i += k;
        }

        return i;
}

static int read_number(struct scan *s, struct json *v)
{
        bool integer = false;
        size_t n = number_len(s, &integer);
        if (n == 0)
                return fail_scan(s, "not a JSON value");

        v->str = s->d->chars + s->d->n_chars;
        v->len = n;
        for (size_t i = 0; i < n; i++) {
                put_byte(s, *s->p);
                step_scan(s);
        }

        put_byte(s, '\0');
        errno = 0;
        v->integer = integer ? strtoll(v->str, NULL, 10) : 0;
        v->type = integer && errno == 0 ? JSON_INT : JSON_NUMBER;
        return 0;
}

static int read_literal(struct scan *s, struct json *v)
{
        static const struct {
                const char *word;
                enum json_type type;
        } words[] = { { "null", JSON_NULL }, { "false", JSON_FALSE }, { "true", JSON_TRUE } };

        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
                if (!span_starts(span_of(s->p, (size_t) (s->end - s->p)), words[i].word))
                        continue;
                v->type = words[i].type;
                for (size_t k = strlen(words[i].word); k > 0; k--)
                        step_scan(s);
                return 0;
        }

        return read_number(s, v);
}

static int read_value(struct scan *s, struct json *v);

static struct json *new_node(struct scan *s)
{
        struct json *v = &s->d->nodes[s->d->n_nodes++];
        skip_space(s);
        *v = (struct json){ .line = s->line, .column = s->column };
        return v;
}

/* Frees everything allocated after these. */
static void let_go(const struct scan *s, size_t nodes, size_t chars)
{
        s->d->n_nodes = nodes;
        s->d->n_chars = chars;
}

static int read_array(struct scan *s, struct json *v)
{
        const struct json **link = &v->child;
        v->type = JSON_ARRAY;
        step_scan(s);
        skip_space(s);
        if (at(s, ']')) {
                step_scan(s);
                return 0;
        }

        for (;;) {
                const size_t nodes = s->d->n_nodes, chars = s->d->n_chars;
                struct json *x = new_node(s);
                if (read_value(s, x) < 0)
                        return -1;
                if (s->checks) {
                        let_go(s, nodes, chars);
                } else {
                        *link = x;
                        link = &x->next;
                }
                skip_space(s);
                if (!at(s, ','))
                        return take_char(s, ']', "',' or ']' must follow");
                step_scan(s);
        }
}

/* ---- the index of members ---- */

static size_t hash_of(const struct json *object, struct span key)
{
        uint64_t h = 14695981039346656037u ^ (uint64_t) (uintptr_t) object * 0x9e3779b97f4a7c15u;
        for (size_t i = 0; i < key.n; i++)
                h = (h ^ key.p[i]) * 1099511628211u;
        return (size_t) (h ^ h >> 29);
}

static struct entry *slot_of(const struct json_doc *d, const struct json *object, struct span key)
{
        for (size_t at = hash_of(object, key);; at++) {
                struct entry *slot = &d->index[at & d->mask];
                const struct json *m = slot->member;
                if (!m || (slot->object == object && span_eq(span_of(m->key, m->key_len), key)))
                        return slot;
        }
}

const struct json *json_member(const struct json_doc *d, const struct json *object, struct span key)
{
        return d->index ? slot_of(d, object, key)->member : NULL;
}

static bool has_member(const struct scan *s, const struct json *object, const char *key, size_t len)
{
        return s->d->index ? json_member(s->d, object, span_of(key, len)) != NULL
                           : json_get(object, key) != NULL;
}

static int read_member(struct scan *s, struct json *object, const struct json ***link)
{
        const char *key;
        size_t len;
        skip_space(s);
        unsigned line = s->line, column = s->column;
        if (!at(s, '"'))
                return fail_scan(s, "a key in double quotes must follow");

        if (read_string(s, &key, &len) < 0)
                return -1;

        if (has_member(s, object, key, len)) {
                char shown[65];
                return err_set(s->e, ERR_POLICY, 0, "%s:%u:%u: the key \"%s\" stands here twice", s->file,
                               line, column, str_inert(span_of(key, len), shown, sizeof shown));
        }

        if (take_char(s, ':', "':' must follow a key") < 0)
                return -1;

        struct json *x = new_node(s);
        const size_t nodes = s->d->n_nodes, chars = s->d->n_chars;
        if (read_value(s, x) < 0)
                return -1;

        if (s->checks)
                let_go(s, nodes, chars); /* keeps its key, to detect duplicates */

        x->key = key;
        x->key_len = len;
        **link = x;
        *link = &x->next;
        if (s->d->index)
                *slot_of(s->d, object, span_of(key, len)) = (struct entry){ object, x };

        return 0;
}

static int read_object(struct scan *s, struct json *v)
{
        const struct json **link = &v->child;
        v->type = JSON_OBJECT;
        step_scan(s);
        skip_space(s);
        if (at(s, '}')) {
                step_scan(s);
                return 0;
        }

        for (unsigned count = 0;; count++) {
                if (count == s->bounds->members)
                        return fail_scan(s, "too many keys in one object");
                if (read_member(s, v, &link) < 0)
                        return -1;
                skip_space(s);
                if (!at(s, ','))
                        return take_char(s, '}', "',' or '}' must follow");
                step_scan(s);
        }
}

static int read_value(struct scan *s, struct json *v)
{
        if (s->p >= s->end)
                return fail_scan(s, "the text ends where a value must stand");

        if (*s->p == '"') {
                v->type = JSON_STRING;
                return read_string(s, &v->str, &v->len);
        }

        if (*s->p != '[' && *s->p != '{')
                return read_literal(s, v);

        if (s->depth == s->bounds->depth)
                return fail_scan(s, "nested too deep");

        s->depth++;
        int r = *s->p == '[' ? read_array(s, v) : read_object(s, v);
        s->depth--;
        return r;
}

static int read_whole(struct scan *s)
{
        struct json *root = new_node(s);
        if (read_value(s, root) < 0)
                return -1;
        skip_space(s);
        return s->p == s->end ? 0 : fail_scan(s, "something is left over after the value");
}

static struct json_doc *doc_new(struct span text, size_t most)
{
        size_t nodes = 1;
        for (size_t i = 0; i < text.n && nodes < most; i++)
                nodes += text.p[i] == '[' || text.p[i] == ',' || text.p[i] == ':';

        struct json_doc *d = calloc(1, sizeof *d);
        if (!d)
                return NULL;

        d->nodes = calloc(nodes, sizeof *d->nodes);
        d->chars = malloc(text.n + 1);
        if (!d->nodes || !d->chars) {
                json_free(d);
                return NULL;
        }

        return d;
}

/* Half full at most: every member follows a ':'. */
static int make_index(struct json_doc *d, struct span text)
{
        size_t members = 1, size = 16;
        for (size_t i = 0; i < text.n; i++)
                members += text.p[i] == ':';

        while (size < 2 * members)
                size *= 2;

        d->index = calloc(size, sizeof *d->index);
        d->mask = size - 1;
        return d->index ? 0 : -1;
}

static struct json_doc *parse_text(const char *file, struct span text, bool checks,
                                   const struct bounds *bounds, struct err *e)
{
        /* For each open object its members, for each open array the element being read. */
        const size_t held = 1 + JSON_MAX_DEPTH * (size_t) MEMBERS_MAX;
        if (!str_is_utf8(text)) {
                (void) err_set(e, ERR_POLICY, 0, "%s:1:1: not UTF-8, or a NUL inside", file);
                return NULL;
        }

        struct json_doc *d = doc_new(text, checks ? held : SIZE_MAX);
        if (!d || (bounds == &of_data && make_index(d, text) < 0)) {
                json_free(d);
                (void) err_set(e, ERR_MEMORY, ENOMEM, "no memory for the JSON of %s", file);
                return NULL;
        }

        struct scan s = { .file = file,
                          .p = text.p,
                          .end = text.p + text.n,
                          .line = 1,
                          .column = 1,
                          .checks = checks,
                          .bounds = bounds,
                          .d = d,
                          .e = e };
        if (read_whole(&s) < 0) {
                json_free(d);
                return NULL;
        }

        return d;
}

struct json_doc *json_parse(const char *file, struct span text, struct err *e)
{
        return parse_text(file, text, false, &of_input, e);
}

struct json_doc *json_parse_data(const char *file, struct span text, struct err *e)
{
        return parse_text(file, text, false, &of_data, e);
}

size_t json_count(const struct json_doc *d) { return d->n_nodes; }

size_t json_index(const struct json_doc *d, const struct json *v) { return (size_t) (v - d->nodes); }

int json_check(const char *file, struct span text, struct err *e)
{
        struct json_doc *d = parse_text(file, text, true, &of_input, e);
        if (!d)
                return -1;
        json_free(d);
        return 0;
}

const struct json *json_root(const struct json_doc *d) { return d->nodes; }

void json_free(struct json_doc *d)
{
        if (!d)
                return;
        free(d->nodes);
        free(d->chars);
        free(d->index);
        free(d);
}

const struct json *json_get(const struct json *object, const char *key)
{
        if (!object || object->type != JSON_OBJECT)
                return NULL;
        for (const struct json *x = object->child; x; x = x->next)
                if (strcmp(x->key, key) == 0)
                        return x;
        return NULL;
}

const struct json *json_of(const struct json *object, const char *key, enum json_type type)
{
        const struct json *v = json_get(object, key);
        return v && v->type == type ? v : NULL;
}

const char *json_str(const struct json *object, const char *key)
{
        const struct json *v = json_of(object, key, JSON_STRING);
        return v && strlen(v->str) == v->len ? v->str : NULL;
}

const char *json_text(const struct json *object, const char *key)
{
        const char *text = json_str(object, key);
        return text ? text : "";
}

int64_t json_int(const struct json *object, const char *key) { return json_int_or(object, key, 0); }

bool json_is_true(const struct json *object, const char *key)
{
        const struct json *v = json_get(object, key);
        return v && v->type == JSON_TRUE;
}

int64_t json_int_or(const struct json *object, const char *key, int64_t otherwise)
{
        const struct json *v = json_of(object, key, JSON_INT);
        return v ? v->integer : otherwise;
}
