/* SPDX-License-Identifier: MIT */
/* face/serve/openapi.c - the description of the interface, OpenAPI 3.1: made from the rows by which requests
 * are served (routes.inc, and the forms of their bodies), so that it cannot say anything else. */
#include "face/serve/internal.h"

#include <ctype.h>
#include <string.h>

static const struct {
        const char *name, *members;
} answers[] = {
#define ANSWER(name, members) { name, members },
#include "face/serve/answers.inc"
#undef ANSWER
};

/* [T]: a list; {T}: an object of such; T?: or null; a|b: one of these words; a name with a capital: an
 * answer. */
static void put_type(struct buf *b, const char *type, size_t n)
{
        if (n == 3 && strncmp(type, "any", n) == 0) {
                buf_puts(b, "{}");
        } else if (type[n - 1] == '?') {
                buf_puts(b, "{\"anyOf\":[");
                put_type(b, type, n - 1);
                buf_puts(b, ",{\"type\":\"null\"}]}");
        } else if (*type == '[' || *type == '{') {
                buf_puts(b, *type == '[' ? "{\"type\":\"array\",\"items\":"
                                         : "{\"type\":\"object\",\"additionalProperties\":");
                put_type(b, type + 1, n - 2);
                buf_putc(b, '}');
        } else if (memchr(type, '|', n)) {
                buf_puts(b, "{\"enum\":[\"");
                for (size_t i = 0; i < n; i++)
                        buf_puts(b, type[i] == '|' ? "\",\"" : (const char[]){ type[i], '\0' });
                buf_puts(b, "\"]}");
        } else if (isupper((unsigned char) *type))
                buf_printf(b, "{\"$ref\":\"#/components/schemas/%.*s\"}", (int) n, type);
        else
                buf_printf(b, "{\"type\":\"%.*s\"}", (int) n, type);
}

/* `KEY TYPE` or `KEY TYPE (TEXT)`; a key with ! is always there. */
static void put_member(struct buf *b, struct buf *needed, const char *row, size_t n)
{
        size_t key = strcspn(row, " !"), type = key + 1 + (row[key] == '!'), end = type;
        while (end < n && row[end] != ' ')
                end++;

        if (row[key] == '!')
                buf_printf(needed, "%s\"%.*s\"", needed->n ? "," : "", (int) key, row);
        buf_printf(b, "\"%.*s\":", (int) key, row);
        put_type(b, row + type, end - type);
        if (end == n)
                return;

        b->n--; /* a description is one more member of the type */
        buf_puts(b, b->p[b->n - 1] == '{' ? "\"description\":" : ",\"description\":");
        buf_json(b, (struct span){ (const uint8_t *) row + end + 2, n - end - 3 });
        buf_putc(b, '}');
}

static void put_answer(struct buf *b, const char *name, const char *members)
{
        AUTO_BUF(needed);
        buf_printf(b, "\"%s\":{\"type\":\"object\",\"properties\":{", name);
        for (const char *row = members; *row;) {
                size_t n = strcspn(row, ";");
                put_member(b, &needed, row, n);
                row += n + (row[n] ? 2 : 0);
                buf_puts(b, *row ? "," : "}");
        }

        if (needed.n)
                buf_printf(b, ",\"required\":[%s]", buf_str(&needed));
        buf_putc(b, '}');
}

static void put_form(struct buf *b, const struct body_form *f)
{
        static const char *const types[] = {
                [BODY_TEXT] = "string", [BODY_BYTES] = "string",   [BODY_BOOL] = "boolean",
                [BODY_INT] = "integer", [BODY_WORDS] = "[string]", [BODY_TEXTS] = "{string}"
        };
        AUTO_BUF(needed);
        buf_puts(b, "\"application/json\":{\"schema\":{\"type\":\"object\",\"additionalProperties\":false,"
                    "\"properties\":{");
        for (size_t i = 0; i < f->count; i++) {
                const struct body_row *row = &f->rows[i];
                buf_printf(b, "%s\"%s\":", i ? "," : "", row->key);
                put_type(b, types[row->type], strlen(types[row->type]));
                if (row->needed)
                        buf_printf(&needed, "%s\"%s\"", needed.n ? "," : "", row->key);
        }

        buf_puts(b, "}");
        if (needed.n)
                buf_printf(b, ",\"required\":[%s]", buf_str(&needed));
        buf_puts(b, "}}");
}

static void put_body(struct buf *b, const struct body_form *f)
{
        bool raw = f->is == BODY_RAW || f->is == BODY_RAW_OR_JSON, typed = f->is != BODY_RAW;
        buf_printf(b, ",\"requestBody\":{\"required\":%s,\"content\":{",
                   f->is == BODY_JSON ? "false" : "true");
        if (raw)
                buf_printf(b, "\"application/octet-stream\":{}%s", typed ? "," : "");
        if (typed)
                put_form(b, f);
        buf_puts(b, "}}");
}

static void put_param(struct buf *b, const char *name, size_t n, const char *in)
{
        bool path = *in == 'p';
        buf_printf(b, "%s{\"name\":\"%.*s\",\"in\":\"%s\",\"required\":%s,\"schema\":{\"type\":\"string\"}}",
                   b->n ? "," : "", (int) n, name, in, path ? "true" : "false");
}

static void put_params(struct buf *b, const struct route *r)
{
        AUTO_BUF(list);
        const char *hole = strchr(r->path, '{');
        if (hole)
                put_param(&list, hole + 1, strcspn(hole, "}") - 1, "path");
        for (const char *p = r->params; *p; p += strspn(p, " ")) {
                size_t n = strcspn(p, " ");
                put_param(&list, p, n, isupper((unsigned char) *p) ? "header" : "query");
                p += n;
        }

        if (list.n)
                buf_printf(b, ",\"parameters\":[%s]", buf_str(&list));
}

static const struct {
        const char *kind, *type;
} bytes[] = { { "html", "text/html" },
              { "text", "text/plain" },
              { "events", "text/event-stream" },
              { "bytes", "application/octet-stream" } };

static void put_content(struct buf *b, const char *kind, size_t n)
{
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
                if (strlen(bytes[i].kind) == n && strncmp(bytes[i].kind, kind, n) == 0) {
                        buf_printf(b, "\"%s\":{\"schema\":{\"type\":\"string\"}}", bytes[i].type);
                        return;
                }

        buf_puts(b, "\"application/json\":{\"schema\":");
        put_type(b, kind, n);
        buf_putc(b, '}');
}

/* Rows of one status stand next to each other: one answer, of several types. */
static void put_responses(struct buf *b, const struct route *r)
{
        static const char problem[] = "\"default\":{\"description\":\"an error, with a hint\",\"content\":{"
                                      "\"application/problem+json\":{\"schema\":{\"$ref\":"
                                      "\"#/components/schemas/Problem\"}}}}";
        const char *status = NULL;
        buf_puts(b, ",\"responses\":{");
        for (const char *p = r->gives; *p; p += strspn(p, ", ")) {
                if (status && strncmp(status, p, 3) == 0)
                        buf_putc(b, ',');
                else
                        buf_printf(b, "%s\"%.3s\":{\"description\":\"%s\",\"content\":{", status ? "}}," : "",
                                   p, *p == '2' ? "done" : "not done");
                size_t n = strcspn(p + 4, ",");
                put_content(b, p + 4, n);
                status = p;
                p += 4 + n;
        }
        buf_printf(b, "}},%s}", problem);
}

static void put_scopes(struct buf *b, enum serve_scope scope)
{
        if (scope == SCOPE_NONE) {
                buf_puts(b, ",\"security\":[]");
                return;
        }

        scopes_put(scope, "x-scopes", b);
}

static void put_route(struct buf *b, const struct route *r)
{
        static const char *const methods[] = { "", "get", "post", "put", "delete" };
        buf_printf(b, "\"%s\":{\"operationId\":\"%s\",\"summary\":", methods[r->method], r->name);
        buf_json(b, span_of(r->does, strlen(r->does)));
        put_params(b, r);
        if (r->body)
                put_body(b, r->body);
        put_responses(b, r);
        put_scopes(b, r->scope);
        if (strstr(r->gives, "events") && r->method == METHOD_GET)
                buf_puts(b, ",\"x-stream\":true");
        buf_putc(b, '}');
}

void put_openapi(struct buf *b, const struct route *rows, size_t count)
{
        buf_puts(b,
                 "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"cordon serve\",\"version\":\"1\",\"summary\":"
                 "\"runs in boxes, for many tenants\",\"license\":{\"name\":\"MIT\",\"identifier\":\"MIT\"}},"
                 "\"servers\":[{\"url\":\"http://localhost\"}],\"security\":[{\"token\":[]}],\"paths\":{");
        for (size_t i = 0; i < count; i++) {
                bool same = i > 0 && strcmp(rows[i].path, rows[i - 1].path) == 0;
                buf_printf(b, i == 0 ? "" : same ? "," : "},");
                if (!same)
                        buf_printf(b, "\"%s\":{", rows[i].path);
                put_route(b, &rows[i]);
        }

        buf_puts(b,
                 "}},\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\","
                 "\"description\":\"made by: cordon serve token new --tenant NAME\"}},\"schemas\":{");
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
                buf_puts(b, i ? "," : "");
                put_answer(b, answers[i].name, answers[i].members);
        }
        buf_puts(b, "}}}\n");
}
