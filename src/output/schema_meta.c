/* SPDX-License-Identifier: MIT */
/* output/schema_meta.c - the metaschema of draft 2020-12, by its specification, so that a schema can refer to
 * it without a network. Titles, comments and defaults are left out. A ' stands for ", an @ for the address
 * that all of them share. */
#include "base/buf.h"
#include "output/schema_internal.h"

#define AT "https://json-schema.org/draft/2020-12/"
const char schema_dialect[] = AT "schema";

/* Each follows {'$schema': ..., '$dynamicAnchor': 'meta', 'type': ['object', 'boolean'], */
static const struct {
        const char *name, *rest;
} texts[] = {
        { "schema",
          "'$vocabulary':{'@vocab/core':true,'@vocab/applicator':true,'@vocab/unevaluated':true,"
          "'@vocab/validation':true,'@vocab/meta-data':true,'@vocab/format-annotation':true,"
          "'@vocab/content':true},"
          "'allOf':[{'$ref':'meta/core'},{'$ref':'meta/applicator'},{'$ref':'meta/unevaluated'},"
          "{'$ref':'meta/validation'},{'$ref':'meta/meta-data'},{'$ref':'meta/format-annotation'},"
          "{'$ref':'meta/content'}],"
          "'properties':{'definitions':{'type':'object','additionalProperties':{'$dynamicRef':'#meta'}}}}" },
        { "meta/core", "'properties':{'$id':{'$ref':'#/$defs/reference','pattern':'^[^#]*#?$'},"
                       "'$schema':{'$ref':'#/$defs/uri'},'$ref':{'$ref':'#/$defs/reference'},"
                       "'$anchor':{'$ref':'#/$defs/anchor'},'$dynamicRef':{'$ref':'#/$defs/reference'},"
                       "'$dynamicAnchor':{'$ref':'#/$defs/anchor'},"
                       "'$vocabulary':{'type':'object','propertyNames':{'$ref':'#/$defs/uri'},"
                       "'additionalProperties':{'type':'boolean'}},'$comment':{'type':'string'},"
                       "'$defs':{'type':'object','additionalProperties':{'$dynamicRef':'#meta'}}},"
                       "'$defs':{'anchor':{'type':'string','pattern':'^[A-Za-z_][-A-Za-z0-9._]*$'},"
                       "'uri':{'type':'string','format':'uri'},"
                       "'reference':{'type':'string','format':'uri-reference'}}}" },
        { "meta/applicator",
          "'properties':{'prefixItems':{'$ref':'#/$defs/list'},'items':{'$dynamicRef':'#meta'},"
          "'contains':{'$dynamicRef':'#meta'},'additionalProperties':{'$dynamicRef':'#meta'},"
          "'properties':{'$ref':'#/$defs/map'},"
          "'patternProperties':{'$ref':'#/$defs/map','propertyNames':{'format':'regex'}},"
          "'dependentSchemas':{'$ref':'#/$defs/map'},'propertyNames':{'$dynamicRef':'#meta'},"
          "'if':{'$dynamicRef':'#meta'},'then':{'$dynamicRef':'#meta'},'else':{'$dynamicRef':'#meta'},"
          "'allOf':{'$ref':'#/$defs/list'},'anyOf':{'$ref':'#/$defs/list'},"
          "'oneOf':{'$ref':'#/$defs/list'},'not':{'$dynamicRef':'#meta'}},"
          "'$defs':{'list':{'type':'array','minItems':1,'items':{'$dynamicRef':'#meta'}},"
          "'map':{'type':'object','additionalProperties':{'$dynamicRef':'#meta'}}}}" },
        { "meta/unevaluated", "'properties':{'unevaluatedItems':{'$dynamicRef':'#meta'},"
                              "'unevaluatedProperties':{'$dynamicRef':'#meta'}}}" },
        { "meta/validation",
          "'properties':{'type':{'anyOf':[{'$ref':'#/$defs/type'},{'type':'array','minItems':1,"
          "'uniqueItems':true,'items':{'$ref':'#/$defs/type'}}]},'const':true,'enum':{'type':'array'},"
          "'multipleOf':{'type':'number','exclusiveMinimum':0},'maximum':{'type':'number'},"
          "'exclusiveMaximum':{'type':'number'},'minimum':{'type':'number'},"
          "'exclusiveMinimum':{'type':'number'},'maxLength':{'$ref':'#/$defs/count'},"
          "'minLength':{'$ref':'#/$defs/count'},'pattern':{'type':'string','format':'regex'},"
          "'maxItems':{'$ref':'#/$defs/count'},'minItems':{'$ref':'#/$defs/count'},"
          "'uniqueItems':{'type':'boolean'},'maxContains':{'$ref':'#/$defs/count'},"
          "'minContains':{'$ref':'#/$defs/count'},'maxProperties':{'$ref':'#/$defs/count'},"
          "'minProperties':{'$ref':'#/$defs/count'},'required':{'$ref':'#/$defs/names'},"
          "'dependentRequired':{'type':'object','additionalProperties':{'$ref':'#/$defs/names'}}},"
          "'$defs':{'count':{'type':'integer','minimum':0},"
          "'type':{'enum':['array','boolean','integer','null','number','object','string']},"
          "'names':{'type':'array','items':{'type':'string'},'uniqueItems':true}}}" },
        { "meta/meta-data",
          "'properties':{'title':{'type':'string'},'description':{'type':'string'},"
          "'deprecated':{'type':'boolean'},'readOnly':{'type':'boolean'},'writeOnly':{'type':'boolean'},"
          "'examples':{'type':'array'}}}" },
        { "meta/format-annotation", "'properties':{'format':{'type':'string'}}}" },
        { "meta/content",
          "'properties':{'contentEncoding':{'type':'string'},'contentMediaType':{'type':'string'},"
          "'contentSchema':{'$dynamicRef':'#meta'}}}" },
};

bool schema_meta(size_t i, struct buf *out)
{
        if (i >= sizeof texts / sizeof *texts)
                return false;

        buf_printf(out,
                   "{\"$schema\":\"" AT "schema\",\"$id\":\"" AT "%s\",\"$dynamicAnchor\":\"meta\","
                   "\"type\":[\"object\",\"boolean\"],",
                   texts[i].name);
        for (const char *p = texts[i].rest; *p; p++) {
                if (*p == '@')
                        buf_puts(out, AT);
                else
                        buf_putc(out, *p == '\'' ? '"' : *p);
        }

        return true;
}
