/* SPDX-License-Identifier: MIT */
/* face/mcp/checked_results.c - results through cordon-output. Never: passes on what was not checked. */
#include "base/json.h"
#include "base/str.h"
#include "face/mcp/checked.h"

#include <stdio.h>
#include <string.h>

/* The names of these are cordon's own; those of the others are words of the box. */
static bool has_own_name(const char *kind)
{
        static const char *const kinds[] = { "secret", "canary", "secret-pattern", "injection" };
        return str_row(kinds, sizeof kinds / sizeof *kinds, kind) >= 0;
}

static void take_finding(const struct json *x, struct mcp_checked *c)
{
        const char *kind = json_str(x, "kind"), *name = json_str(x, "name");
        const struct json *count = json_get(x, "count");
        if (!kind || !count || count->type != JSON_INT)
                return;

        buf_member_json(&c->findings, NULL, "{");
        buf_member(&c->findings, "kind", kind);
        if (name && has_own_name(kind))
                buf_member(&c->findings, "name", name);
        buf_printf(&c->findings, ",\"count\":%lld}", (long long) count->integer);
        c->found += (uint64_t) count->integer;
}

/* For a person each kind once, with the sum of its counts. */
static void tell_kinds(const struct json *first, struct buf *out)
{
        for (const struct json *x = first; x; x = x->next) {
                const char *kind = json_str(x, "kind");
                const struct json *same = first;
                int64_t sum = 0;
                while (kind && same != x &&
                       (!json_str(same, "kind") || strcmp(json_str(same, "kind"), kind) != 0))
                        same = same->next;
                if (!kind || same != x)
                        continue;

                for (; same; same = same->next)
                        sum += json_str(same, "kind") && strcmp(json_str(same, "kind"), kind) == 0
                                       ? json_int_or(same, "count", 0)
                                       : 0;
                buf_printf(out, "%s%s", out->n ? ", " : "", kind);
                if (sum > 1)
                        buf_printf(out, " (%lld times)", (long long) sum);
        }
}

static void take_report(const char *report, struct mcp_checked *c)
{
        struct err ignored;
        struct json_doc *d = report ? json_parse_data("report", span_str(report), &ignored) : NULL;
        const struct json *root = d ? json_root(d) : NULL;
        const struct json *list = root ? json_get(root, "findings") : NULL;
        const char *digest = root ? json_str(root, "sha256") : NULL;
        for (const struct json *x = list && list->type == JSON_ARRAY ? list->child : NULL; x; x = x->next)
                take_finding(x, c);
        if (list && list->type == JSON_ARRAY)
                tell_kinds(list->child, &c->told);
        c->canary = root && json_get(root, "canary");
        (void) snprintf(c->sha256, sizeof c->sha256, "%s", digest ? digest : "");
        json_free(d);
}

static const cordon_check as_json = { .as = "json", .links = 1 };

void mcp_check_ahead(cordon_box *b) { cordon_box_check_ahead(b, &as_json); }

int mcp_check(const cordon_context *cx, const cordon_box *b, struct span json, struct mcp_checked *ret)
{
        cordon_error e = { 0 };
        char *report = NULL;
        *ret = (struct mcp_checked){ 0 };
        int r = b ? cordon_box_check(b, &as_json, json.p, json.n, &ret->json, &ret->len, &report, &e)
                  : cordon_check_bytes(cx, &as_json, json.p, json.n, &ret->json, &ret->len, &report, &e);
        take_report(report, ret);
        cordon_free(report);
        if (r < 0)
                (void) snprintf(ret->why, sizeof ret->why, "%.250s", e.what);
        return r;
}

void mcp_checked_done(struct mcp_checked *c)
{
        cordon_free(c->json);
        buf_done(&c->findings);
        buf_done(&c->told);
}

void mcp_put_checked(struct buf *out, const struct mcp_checked *c, const char *labels)
{
        buf_puts(out, "\"labels\":[\"untrusted\"");
        for (const char *at = labels; *at;) {
                size_t n = strcspn(at, " ");
                if (n > 0 && !span_is(span_of(at, n), "untrusted")) {
                        buf_putc(out, ',');
                        buf_json(out, span_of(at, n));
                }
                at += n + (at[n] == ' ');
        }
        buf_printf(out, "],\"findings\":[%s]", buf_str(&c->findings));
        buf_member(out, "sha256", c->sha256);
}
