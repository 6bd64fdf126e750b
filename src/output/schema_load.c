/* SPDX-License-Identifier: MIT */
/* output/schema_load.c - finds what a schema names: resources ($id), anchors, references. A name counts only
 * where a schema can stand: an "$id" in an enum is data. Pure. */
#include "base/vec.h"
#include "output/schema_internal.h"
#include "output/uri.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int schema_no_memory(struct err *e) { return err_set(e, ERR_MEMORY, 0, "out of memory"); }

int schema_fail(const struct schema *s, const struct json *at, struct err *e, const char *fmt, ...)
{
        char what[200];
        va_list ap;
        va_start(ap, fmt);
        (void) vsnprintf(what, sizeof what, fmt, ap);
        va_end(ap);
        return err_set(e, ERR_POLICY, 0, "%s:%u:%u: %s", s->name, at->line, at->column, what);
}

static struct resource *find_resource(const struct schema *s, const char *uri)
{
        for (struct resource *r = s->resources; r; r = r->next)
                if (strcmp(r->uri, uri) == 0)
                        return r;
        return NULL;
}

static struct resource *resource_new(struct schema *s, struct document *d, const char *uri,
                                     const struct json *root)
{
        struct resource *r = arena_alloc(&s->mem, sizeof *r);
        if (r) {
                *r = (struct resource){ .uri = uri, .doc = d, .root = root, .next = s->resources };
                s->resources = r;
        }
        return r;
}

/* ---- the names in one document ---- */

struct place {
        const struct json *at;
        struct resource *resource;
};

struct walk {
        struct schema *s;
        struct document *d;
        struct place *todo;
        size_t n, cap;
        struct err *e;
};

static int walk_later(struct walk *w, const struct json *at, struct resource *r)
{
        if (vec_room((void **) &w->todo, w->n, &w->cap, sizeof *w->todo) < 0)
                return schema_no_memory(w->e);

        w->todo[w->n++] = (struct place){ at, r };
        return 0;
}

static int add_anchor(struct walk *w, struct resource *r, const struct json *schema, const char *keyword,
                      bool dynamic)
{
        const struct json *name = json_get(schema, keyword);
        if (!name)
                return 0;

        if (name->type != JSON_STRING)
                return schema_fail(w->s, name, w->e, "`%s` must be a string", keyword);

        struct anchor *a = arena_alloc(&w->s->mem, sizeof *a);
        if (!a)
                return schema_no_memory(w->e);

        *a = (struct anchor){ span_of(name->str, name->len), schema, dynamic, r->anchors };
        r->anchors = a;
        return 0;
}

/* A schema with an $id begins a new resource. */
static int enter_resource(struct walk *w, const struct json *schema, struct resource **resource)
{
        const struct json *id = json_get(schema, "$id");
        struct span fragment;
        if (!id)
                return 0;

        if (id->type != JSON_STRING)
                return schema_fail(w->s, id, w->e, "`$id` must be a string");

        const char *uri = uri_resolve(&w->s->mem, (*resource)->uri, span_of(id->str, id->len), &fragment);
        if (!uri || fragment.n > 0)
                return schema_fail(w->s, id, w->e, "`$id` must be a URI without a fragment");

        if ((*resource)->root == schema && !find_resource(w->s, uri)) {
                struct resource *own = resource_new(w->s, w->d, uri, schema);
                if (!own)
                        return schema_no_memory(w->e);
                *resource = own;
                return 0;
        }

        struct resource *known = find_resource(w->s, uri);
        if (known && known->root != schema)
                return schema_fail(w->s, id, w->e, "two schemas have this `$id`");

        *resource = known ? known : resource_new(w->s, w->d, uri, schema);
        return *resource ? 0 : schema_no_memory(w->e);
}

static int walk_children(struct walk *w, const struct json *schema, struct resource *r)
{
        for (const struct json *m = schema->child; m; m = m->next) {
                const struct keyword *k = schema_keyword(m->key);
                if (!k && !w->s->unknown && !w->s->documents->next)
                        w->s->unknown = m->key;
                if (!k || k->holds == HOLDS_NONE)
                        continue;
                bool one = k->holds == HOLDS_SCHEMA;
                if (one && walk_later(w, m, r) < 0)
                        return -1;
                for (const struct json *x = one ? NULL : m->child; x; x = x->next)
                        if (walk_later(w, x, r) < 0)
                                return -1;
        }

        return 0;
}

static int walk_schema(struct walk *w, struct place p)
{
        size_t i = json_index(w->d->doc, p.at);
        if (w->d->resources[i])
                return 0;

        if (p.at->type == JSON_OBJECT) {
                if (enter_resource(w, p.at, &p.resource) < 0 ||
                    add_anchor(w, p.resource, p.at, "$anchor", false) < 0 ||
                    add_anchor(w, p.resource, p.at, "$dynamicAnchor", true) < 0 ||
                    walk_children(w, p.at, p.resource) < 0)
                        return -1;
        }

        w->d->resources[i] = p.resource;
        return 0;
}

static int walk_json(struct schema *s, struct document *d, const struct json *at, struct resource *r,
                     struct err *e)
{
        struct walk w = { .s = s, .d = d, .e = e };
        int bad = walk_later(&w, at, r);
        while (bad == 0 && w.n > 0)
                bad = walk_schema(&w, w.todo[--w.n]);
        free(w.todo);
        return bad;
}

struct document *schema_load(struct schema *s, const char *uri, struct span text, struct err *e)
{
        struct document *d = arena_alloc(&s->mem, sizeof *d);
        if (!d || text.n > SCHEMA_MAX_BYTES) {
                (void) (d ? err_set(e, ERR_POLICY, 0, "%s: the schema is too large", s->name)
                          : schema_no_memory(e));
                return NULL;
        }

        d->doc = json_parse_data(s->name, text, e);
        if (!d->doc)
                return NULL;

        d->next = s->documents;
        s->documents = d;
        d->nodes = arena_alloc(&s->mem, json_count(d->doc) * sizeof(struct node *));
        d->resources = arena_alloc(&s->mem, json_count(d->doc) * sizeof(struct resource *));
        char *own = arena_str(&s->mem, uri);
        struct resource *r = own ? resource_new(s, d, own, json_root(d->doc)) : NULL;
        if (!d->nodes || !d->resources || !r) {
                (void) schema_no_memory(e);
                return NULL;
        }

        return walk_json(s, d, r->root, r, e) < 0 ? NULL : d;
}

/* ---- references ---- */

struct node *schema_node(struct schema *s, struct document *d, const struct json *at, struct resource *r)
{
        struct node **slot = &d->nodes[json_index(d->doc, at)], *known = *slot;
        if (known)
                return known;

        struct resource *own = d->resources[json_index(d->doc, at)];
        struct node *n = arena_alloc(&s->mem, sizeof *n);
        if (!n)
                return NULL;

        *n = (struct node){ .json = at, .resource = own ? own : r, .queue = s->queue };
        s->queue = n;
        return *slot = n;
}

/* One step of a JSON pointer. */
static const struct json *pointer_step(const struct document *d, const struct json *at, struct span token)
{
        if (at->type == JSON_OBJECT)
                return json_member(d->doc, at, token);

        size_t index = 0;
        if (at->type != JSON_ARRAY || token.n == 0 || token.n > 9 || (token.n > 1 && token.p[0] == '0'))
                return NULL;

        for (size_t i = 0; i < token.n; i++) {
                if (token.p[i] < '0' || token.p[i] > '9')
                        return NULL;
                index = index * 10 + (size_t) (token.p[i] - '0');
        }

        const struct json *x = at->child;
        for (; x && index > 0; index--)
                x = x->next;
        return x;
}

/* ~1 is /, ~0 is ~. */
static struct span pointer_token(struct span raw, uint8_t *to)
{
        size_t n = 0;
        for (size_t i = 0; i < raw.n; i++) {
                bool escaped = raw.p[i] == '~' && i + 1 < raw.n;
                to[n++] = escaped ? (raw.p[i + 1] == '1' ? '/' : '~') : raw.p[i];
                i += escaped;
        }
        return span_of(to, n);
}

/* Follows a pointer; *resource becomes that of the place. */
static const struct json *follow_pointer(struct schema *s, struct span pointer, struct resource **resource)
{
        const struct document *d = (*resource)->doc;
        const struct json *at = (*resource)->root;
        uint8_t *token = arena_alloc(&s->mem, pointer.n + 1);
        for (size_t i = 0; token && at && i < pointer.n;) {
                size_t n = 1;
                while (i + n < pointer.n && pointer.p[i + n] != '/')
                        n++;
                at = pointer_step(d, at, pointer_token(span_of(pointer.p + i + 1, n - 1), token));
                if (at && d->resources[json_index(d->doc, at)])
                        *resource = d->resources[json_index(d->doc, at)];
                i += n;
        }

        return token ? at : NULL;
}

static const struct anchor *find_anchor(const struct resource *r, struct span name)
{
        for (const struct anchor *a = r->anchors; a; a = a->next)
                if (span_eq(a->name, name))
                        return a;
        return NULL;
}

struct node *schema_refer(struct schema *s, const struct node *from, const struct json *ref,
                          struct span *ret_anchor, struct err *e)
{
        struct span fragment = { 0 };
        *ret_anchor = (struct span){ 0 };
        const char *uri = ref->type == JSON_STRING ? uri_resolve(&s->mem, from->resource->uri,
                                                                 span_of(ref->str, ref->len), &fragment)
                                                   : NULL;
        struct resource *r = uri ? find_resource(s, uri) : NULL;
        if (r) /* by its own $id, if it has one */
                r = r->doc->resources[json_index(r->doc->doc, r->root)];

        const struct json *at = r ? r->root : NULL;
        const struct anchor *a = r && fragment.n && fragment.p[0] != '/' ? find_anchor(r, fragment) : NULL;
        if (a)
                at = a->at;
        else if (r && fragment.n)
                at = fragment.p[0] == '/' ? follow_pointer(s, fragment, &r) : NULL;

        if (!at) {
                (void) schema_fail(s, ref, e, "`%s` leads nowhere", ref->key);
                (void) err_hint(e,
                                "it may name a part of this file, or of the metaschema: nothing is fetched");
                return NULL;
        }

        if (a && a->dynamic)
                *ret_anchor = a->name;

        if (walk_json(s, r->doc, at, r, e) < 0)
                return NULL;

        struct node *n = schema_node(s, r->doc, at, r);
        if (!n)
                (void) schema_no_memory(e);
        return n;
}

/* ---- vocabularies ---- */

static unsigned vocabulary_of(const char *uri)
{
        static const struct {
                const char *name;
                unsigned bit;
        } rows[] = { { "core", VOCABULARY_CORE },
                     { "applicator", VOCABULARY_APPLICATOR },
                     { "unevaluated", VOCABULARY_UNEVALUATED },
                     { "validation", VOCABULARY_VALIDATION },
                     { "format-annotation", VOCABULARY_FORMAT },
                     { "format-assertion", VOCABULARY_FORMAT },
                     { "meta-data", VOCABULARY_NOTES },
                     { "content", VOCABULARY_NOTES } };
        static const char prefix[] = "https://json-schema.org/draft/2020-12/vocab/";
        size_t n = strlen(prefix);
        for (size_t i = 0; strncmp(uri, prefix, n) == 0 && i < sizeof rows / sizeof *rows; i++)
                if (strcmp(uri + n, rows[i].name) == 0)
                        return rows[i].bit;
        return 0;
}

static int read_vocabulary(struct schema *s, const struct json *list, unsigned *ret, struct err *e)
{
        *ret = VOCABULARY_CORE;
        for (const struct json *v = list->child; v; v = v->next) {
                unsigned bit = vocabulary_of(v->key);
                if (!bit && v->type != JSON_FALSE)
                        return schema_fail(s, v, e, "the schema requires a vocabulary that is not known");
                *ret |= bit;
        }
        return 0;
}

/* The $schema of the resource decides: keywords of vocabularies that its metaschema does not name are
 * ignored. */
int schema_vocabularies(struct schema *s, struct resource *r, struct err *e)
{
        const struct json *dialect = json_get(r->root, "$schema");
        struct span fragment;
        if (r->vocabularies)
                return 0;

        r->vocabularies = VOCABULARY_ALL;
        if (!dialect) {
                const struct resource *outer = r->doc->resources[0]; /* an embedded one speaks that dialect */
                if (outer && outer != r && outer->vocabularies)
                        r->vocabularies = outer->vocabularies;
                return 0;
        }

        const char *uri =
                dialect->type == JSON_STRING
                        ? uri_resolve(&s->mem, r->uri, span_of(dialect->str, dialect->len), &fragment)
                        : NULL;
        if (uri && strcmp(uri, schema_dialect) == 0)
                return 0;

        const struct resource *meta = uri ? find_resource(s, uri) : NULL;
        if (!meta) {
                (void) schema_fail(s, dialect, e, "`$schema` names a dialect that is not known");
                return err_hint(e, "the dialect is %s", schema_dialect);
        }

        const struct json *list = json_get(meta->root, "$vocabulary");
        return list ? read_vocabulary(s, list, &r->vocabularies, e) : 0;
}
