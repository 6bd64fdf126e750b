/* SPDX-License-Identifier: MIT */
/* output/schema.h - JSON Schema, draft 2020-12: is a document what a schema describes? Bounded in steps,
 * memory and depth. Never fetches: a reference leads into the schema itself, to a document that was handed
 * in with it, or to the metaschema. Pure. */
#pragma once
#include "base/err.h"
#include "base/json.h"

enum {
        SCHEMA_MAX_BYTES = 4 << 20,
        SCHEMA_MAX_FRAMES = 8192, /* schemas that are evaluated inside each other */
};

struct schema_text {
        const char *uri; /* absolute; NULL: only its own $id names it */
        struct span text;
};

enum schema_option {
        SCHEMA_FORMATS = 1 /* `format` is checked, where the format is known; else it is an annotation */
};

struct schema;
/* Reads and compiles a schema. `name` stands for it in errors. `more`: documents that it may refer to. NULL:
 * *e has the reason, with the place. */
struct schema *schema_new(const char *name, struct span text, const struct schema_text *more, size_t n_more,
                          unsigned options, struct err *e);
void schema_free(struct schema *s);

enum { SCHEMA_STEPS = 100000000 }; /* enough for any document that is not made to take long */
/* Is the document valid? 0, or -1 with the reason: the place in the document (a JSON pointer) and the
 * keyword. A document that needs more steps is not valid. */
int schema_check(struct schema *s, const struct json_doc *data, uint64_t steps, struct err *e);

/* Is it a string of this format? True for a format that is not known. */
bool schema_format(struct span format, struct span text);
