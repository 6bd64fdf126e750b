/* SPDX-License-Identifier: MIT */
/* face/serve/routes.c - the table of paths, and which row a request means. Pure. */
#include "face/serve/resources.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { SMALL = 64 * 1024, RUN_BODY = 4 << 20, FILE_BODY = REQUEST_BODY_MAX };

/* ---- bodies ---- */

enum { DAY_S = 86400, YEARS_S = 10 * 365 * DAY_S };
static const struct body_row run_rows[] = {
        { .key = "argv", .type = BODY_WORDS, .needed = true },
        { .key = "policy", .type = BODY_TEXT },
        { .key = "lines", .type = BODY_BYTES },
        { .key = "session", .type = BODY_TEXT },
        { .key = "stdin", .type = BODY_BYTES },
        { .key = "stdin_base64", .type = BODY_BYTES },
        { .key = "output", .type = BODY_TEXT },
        { .key = "cwd", .type = BODY_TEXT },
        { .key = "env", .type = BODY_TEXTS },
        { .key = "labels", .type = BODY_TEXTS },
        { .key = "timeout", .type = BODY_INT, .least = 1, .most = DAY_S },
        { .key = "wait", .type = BODY_BOOL },
};
static const struct body_row answer_rows[] = {
        { .key = "digest", .type = BODY_TEXT, .needed = true },
        { .key = "answer", .type = BODY_TEXT, .needed = true },
        { .key = "reason", .type = BODY_TEXT },
        { .key = "challenge", .type = BODY_TEXT },
        { .key = "uses", .type = BODY_INT, .least = INT64_MIN, .most = INT64_MAX }, /* the gate has bounds */
        { .key = "for_s", .type = BODY_INT, .least = INT64_MIN, .most = INT64_MAX },
};
static const struct body_row credential_rows[] = {
        { .key = "secret", .type = BODY_TEXT, .needed = true },
        { .key = "scope", .type = BODY_TEXT },
        { .key = "ttl", .type = BODY_INT, .least = 1, .most = YEARS_S },
        { .key = "rotate", .type = BODY_BOOL },
        { .key = "env", .type = BODY_TEXT },
        { .key = "header", .type = BODY_TEXT },
        { .key = "query", .type = BODY_TEXT },
        { .key = "basic", .type = BODY_TEXT },
        { .key = "sigv4", .type = BODY_BOOL },
        { .key = "test", .type = BODY_BOOL },
};
static const struct body_row rollback_rows[] = {
        { .key = "version", .type = BODY_INT, .least = 1, .most = 1 << 30 }
};
static const struct body_row tenant_rows[] = { { .key = "name", .type = BODY_TEXT, .needed = true } };
static const struct body_row token_rows[] = {
        { .key = "tenant", .type = BODY_TEXT },
        { .key = "scopes", .type = BODY_WORDS },
        { .key = "person", .type = BODY_TEXT },
        { .key = "groups", .type = BODY_TEXT },
        { .key = "expires_s", .type = BODY_INT, .least = 1, .most = 366 * DAY_S },
};
static const struct body_row session_rows[] = { { .key = "policy", .type = BODY_TEXT } };
static const struct body_row once_rows[] = { { .key = "once", .type = BODY_TEXT, .needed = true } };
static const struct body_row apply_rows[] = { { .key = "flagged", .type = BODY_BOOL } };
static const struct body_row image_rows[] = { { .key = "file", .type = BODY_TEXT, .needed = true } };

#define ROWS(a) (a), sizeof(a) / sizeof *(a)
static const struct body_form empty_form = { BODY_JSON, SMALL, NULL, 0 },
                              raw_form = { BODY_RAW, SMALL, NULL, 0 },
                              file_form = { BODY_RAW, FILE_BODY, NULL, 0 },
                              run_form = { BODY_TYPED, RUN_BODY, ROWS(run_rows) },
                              answer_form = { BODY_TYPED, SMALL, ROWS(answer_rows) },
                              credential_form = { BODY_SECRET, SMALL, ROWS(credential_rows) },
                              image_form = { BODY_RAW_OR_JSON, FILE_BODY, ROWS(image_rows) },
                              rollback_form = { BODY_JSON, SMALL, ROWS(rollback_rows) },
                              new_tenant_form = { BODY_TYPED, SMALL, ROWS(tenant_rows) },
                              token_form = { BODY_TYPED, SMALL, ROWS(token_rows) },
                              session_form = { BODY_JSON, SMALL, ROWS(session_rows) },
                              apply_form = { BODY_JSON, SMALL, ROWS(apply_rows) },
                              once_form = { BODY_SECRET, SMALL, ROWS(once_rows) };

/* ---- paths ---- */

static serve_handler get_openapi;

#define ROUTE(m, path, scope, form, time, handler, params, gives, does)                                      \
        { METHOD_##m, path, scope, form, ROUTE_##time, handler, #handler, params, gives, does },
static const struct route table[] = {
#include "face/serve/routes.inc"
};
#undef ROUTE

static void get_openapi(struct serve_call *c, struct reply *r)
{
        (void) c;
        put_openapi(&r->body, table, sizeof table / sizeof *table);
        r->status = 200;
        r->type = "application/json";
}

const struct route *routes(size_t *ret_count)
{
        *ret_count = sizeof table / sizeof *table;
        return table;
}

/* The path of a row against that of a request; {id} takes one segment, {path} all that is left. */
static bool matches(const char *row, const char *path, char ret_arg[REQUEST_PATH_MAX])
{
        ret_arg[0] = '\0';
        while (*row && *path) {
                if (*row != '{') {
                        if (*row++ != *path++)
                                return false;
                        continue;
                }

                size_t n = strncmp(row, "{path}", 6) == 0 ? strlen(path) : strcspn(path, "/");
                if (n == 0)
                        return false;
                memcpy(ret_arg, path, n);
                ret_arg[n] = '\0';
                path += n;
                row = strchr(row, '}') + 1;
        }

        return *row == '\0' && *path == '\0';
}

const struct route *route_find(enum http_method m, const char *path, char ret_arg[REQUEST_PATH_MAX],
                               unsigned *ret_status)
{
        *ret_status = 404;
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                if (!matches(table[i].path, path, ret_arg))
                        continue;
                if (table[i].method == m)
                        return &table[i];
                *ret_status = 405;
        }

        ret_arg[0] = '\0';
        return NULL;
}

static bool is_among(const char *list, const char *name, size_t n)
{
        for (const char *p = list; *p; p += strspn(p, " ")) {
                size_t len = strcspn(p, " ");
                if (len == n && strncmp(p, name, n) == 0)
                        return true;
                p += len;
        }
        return false;
}

bool route_takes(const struct route *route, const char *query, char *ret_unknown, size_t cap)
{
        if (route->scope == SCOPE_NONE)
                return true;

        for (const char *p = query; *p;) {
                size_t n = strcspn(p, "=&");
                if (isupper((unsigned char) *p) || !is_among(route->params, p, n)) {
                        (void) snprintf(ret_unknown, cap, "%.*s", n < cap ? (int) n : (int) cap - 1, p);
                        return false;
                }
                p += strcspn(p, "&");
                p += *p == '&';
        }
        return true;
}
