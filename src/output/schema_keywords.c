/* SPDX-License-Identifier: MIT */
/* output/schema_keywords.c - the keywords of draft 2020-12: where each has subschemas, and its vocabulary. */
#include "base/str.h"
#include "output/schema_internal.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define ANY      VOCABULARY_APPLICATOR
#define CHECKS   VOCABULARY_VALIDATION

const struct keyword *schema_keyword(const char *name)
{
        static const struct keyword rows[] = {
                { "$id", HOLDS_NONE, VOCABULARY_CORE },
                { "$schema", HOLDS_NONE, VOCABULARY_CORE },
                { "$ref", HOLDS_NONE, VOCABULARY_CORE },
                { "$anchor", HOLDS_NONE, VOCABULARY_CORE },
                { "$dynamicRef", HOLDS_NONE, VOCABULARY_CORE },
                { "$dynamicAnchor", HOLDS_NONE, VOCABULARY_CORE },
                { "$vocabulary", HOLDS_NONE, VOCABULARY_CORE },
                { "$comment", HOLDS_NONE, VOCABULARY_CORE },
                { "$defs", HOLDS_MAP, VOCABULARY_CORE },
                { "definitions", HOLDS_MAP, VOCABULARY_CORE }, /* the old name of $defs, in wide use */
                { "prefixItems", HOLDS_LIST, ANY },
                { "items", HOLDS_SCHEMA, ANY },
                { "contains", HOLDS_SCHEMA, ANY },
                { "additionalProperties", HOLDS_SCHEMA, ANY },
                { "properties", HOLDS_MAP, ANY },
                { "patternProperties", HOLDS_MAP, ANY },
                { "dependentSchemas", HOLDS_MAP, ANY },
                { "propertyNames", HOLDS_SCHEMA, ANY },
                { "if", HOLDS_SCHEMA, ANY },
                { "then", HOLDS_SCHEMA, ANY },
                { "else", HOLDS_SCHEMA, ANY },
                { "allOf", HOLDS_LIST, ANY },
                { "anyOf", HOLDS_LIST, ANY },
                { "oneOf", HOLDS_LIST, ANY },
                { "not", HOLDS_SCHEMA, ANY },
                { "unevaluatedItems", HOLDS_SCHEMA, VOCABULARY_UNEVALUATED },
                { "unevaluatedProperties", HOLDS_SCHEMA, VOCABULARY_UNEVALUATED },
                { "type", HOLDS_NONE, CHECKS },
                { "const", HOLDS_NONE, CHECKS },
                { "enum", HOLDS_NONE, CHECKS },
                { "multipleOf", HOLDS_NONE, CHECKS },
                { "maximum", HOLDS_NONE, CHECKS },
                { "exclusiveMaximum", HOLDS_NONE, CHECKS },
                { "minimum", HOLDS_NONE, CHECKS },
                { "exclusiveMinimum", HOLDS_NONE, CHECKS },
                { "maxLength", HOLDS_NONE, CHECKS },
                { "minLength", HOLDS_NONE, CHECKS },
                { "pattern", HOLDS_NONE, CHECKS },
                { "maxItems", HOLDS_NONE, CHECKS },
                { "minItems", HOLDS_NONE, CHECKS },
                { "uniqueItems", HOLDS_NONE, CHECKS },
                { "maxContains", HOLDS_NONE, CHECKS },
                { "minContains", HOLDS_NONE, CHECKS },
                { "maxProperties", HOLDS_NONE, CHECKS },
                { "minProperties", HOLDS_NONE, CHECKS },
                { "required", HOLDS_NONE, CHECKS },
                { "dependentRequired", HOLDS_NONE, CHECKS },
                { "format", HOLDS_NONE, VOCABULARY_FORMAT },
                { "title", HOLDS_NONE, VOCABULARY_NOTES },
                { "description", HOLDS_NONE, VOCABULARY_NOTES },
                { "default", HOLDS_NONE, VOCABULARY_NOTES },
                { "deprecated", HOLDS_NONE, VOCABULARY_NOTES },
                { "readOnly", HOLDS_NONE, VOCABULARY_NOTES },
                { "writeOnly", HOLDS_NONE, VOCABULARY_NOTES },
                { "examples", HOLDS_NONE, VOCABULARY_NOTES },
                { "contentEncoding", HOLDS_NONE, VOCABULARY_NOTES },
                { "contentMediaType", HOLDS_NONE, VOCABULARY_NOTES },
                { "contentSchema", HOLDS_SCHEMA, VOCABULARY_NOTES },
        };

        int i = str_row(rows, COUNT(rows), name);
        return i < 0 ? NULL : &rows[i];
}
