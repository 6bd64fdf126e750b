/* SPDX-License-Identifier: MIT */
/* output/schema.c - a schema from its text: the document, those it may refer to, and all that is reachable
 * compiled. Pure. */
#include "base/buf.h"
#include "output/schema_internal.h"

#include <stdio.h>
#include <stdlib.h>

static const char own_uri[] = "cordon://schema/";

static int load_meta(struct schema *s, struct err *e)
{
        for (size_t i = 0;; i++) {
                AUTO_BUF(text);
                if (!schema_meta(i, &text))
                        return 0;
                if (text.failed)
                        return schema_no_memory(e);
                if (!schema_load(s, "cordon://meta/", buf_span(&text), e))
                        return -1;
        }
}

static int load_more(struct schema *s, const struct schema_text *more, size_t n, struct err *e)
{
        for (size_t i = 0; i < n; i++) {
                char uri[64];
                (void) snprintf(uri, sizeof uri, "cordon://more/%zu", i);
                if (!schema_load(s, more[i].uri ? more[i].uri : uri, more[i].text, e))
                        return -1;
        }
        return 0;
}

static int compile_queue(struct schema *s, struct err *e)
{
        while (s->queue) {
                struct node *n = s->queue;
                s->queue = n->queue;
                n->resource->used = true;
                if (!n->compiled && schema_compile(s, n, e) < 0)
                        return -1;
        }
        return 0;
}

/* A $dynamicRef may lead to a dynamic anchor of any resource that is in use. */
static int queue_anchors(struct schema *s, struct err *e)
{
        for (struct resource *r = s->resources; r; r = r->next)
                for (const struct anchor *a = r->used ? r->anchors : NULL; a; a = a->next)
                        if (a->dynamic && !schema_node(s, r->doc, a->at, r))
                                return schema_no_memory(e);
        return 0;
}

static int compile_all(struct schema *s, struct err *e)
{
        do {
                if (compile_queue(s, e) < 0 || (s->moves && queue_anchors(s, e) < 0))
                        return -1;
        } while (s->queue);
        return 0;
}

static int make_schema(struct schema *s, struct span text, const struct schema_text *more, size_t n_more,
                       struct err *e)
{
        struct document *d = schema_load(s, own_uri, text, e);
        if (!d || load_more(s, more, n_more, e) < 0 || load_meta(s, e) < 0)
                return -1;

        struct resource *r = d->resources[0];
        s->root = schema_node(s, d, json_root(d->doc), r);
        return s->root ? compile_all(s, e) : schema_no_memory(e);
}

struct schema *schema_new(const char *name, struct span text, const struct schema_text *more, size_t n_more,
                          unsigned options, struct err *e)
{
        struct schema *s = calloc(1, sizeof *s);
        if (!s) {
                (void) schema_no_memory(e);
                return NULL;
        }

        s->options = options;
        s->name = arena_str(&s->mem, name);
        if (!s->name ? schema_no_memory(e) : make_schema(s, text, more, n_more, e)) {
                schema_free(s);
                return NULL;
        }

        return s;
}

void schema_free(struct schema *s)
{
        if (!s)
                return;

        for (struct document *d = s->documents; d; d = d->next)
                json_free(d->doc);
        for (struct regex_link *l = s->regexes; l; l = l->next)
                regex_free(l->regex);
        free(s->frames);
        arena_done(&s->mem);
        free(s);
}
