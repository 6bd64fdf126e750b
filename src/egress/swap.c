/* SPDX-License-Identifier: MIT */
/* egress/swap.c - takes out of a request what the client brought as a credential and puts in the one that the
 * door names. Never: puts a secret anywhere but where its binding says. Pure. */
#include "egress/http_internal.h"

static const char *const credential_headers[] = {
        "authorization",
        "authentication",
        "x-authorization",
        "proxy-authorization",
        "cookie",
        "cookie2",
        "x-api-key",
        "api-key",
        "apikey",
        "x-apikey",
        "x-token",
        "x-auth-token",
        "x-auth-key",
        "x-auth-email",
        "x-access-token",
        "x-session-token",
        "x-goog-api-key",
        "x-goog-iam-authorization-token",
        "x-amz-security-token",
        "private-token",
        "job-token",
        "deploy-token",
        "x-gitlab-token",
        "x-github-token",
        "x-vault-token",
        "x-figma-token",
        "x-shopify-access-token",
        "x-functions-key",
        "x-rapidapi-key",
        "ocp-apim-subscription-key",
        "dd-api-key",
        "dd-application-key",
        "x-algolia-api-key",
        "x-ms-authorization",
        "x-ms-token-aad-access-token",
        "x-consul-token",
        "x-nomad-token",
        "x-jfrog-art-api",
        "x-octopus-apikey",
        "x-honeycomb-team",
        "x-sentry-auth",
        "x-plex-token",
        "x-discourse-api-key",
        "x-forwarded-access-token",
};
static const char *const credential_tails[] = { "-api-key",      "-apikey",        "-auth-token",
                                                "-access-token", "-session-token", "-access-key",
                                                "-secret" };
static const char *const credential_query[] = {
        "access_token",
        "api_key",
        "api-key",
        "apikey",
        "auth_token",
        "oauth_token",
        "private_token",
        "job_token",
        "x-amz-credential",
        "x-amz-signature",
        "x-amz-security-token",
        "x-goog-credential",
        "x-goog-signature",
        "sig",
        "client_secret",
};

bool swap_is_credential_header(struct span name)
{
        for (size_t i = 0; i < COUNT(credential_headers); i++)
                if (http_name_is(name, credential_headers[i]))
                        return true;
        for (size_t i = 0; i < COUNT(credential_tails); i++) {
                size_t n = strlen(credential_tails[i]);
                if (name.n > n && http_name_is(span_of(name.p + name.n - n, n), credential_tails[i]))
                        return true;
        }
        return false;
}

bool swap_is_credential_query(struct span name)
{
        for (size_t i = 0; i < COUNT(credential_query); i++)
                if (http_name_is(name, credential_query[i]))
                        return true;
        return false;
}

bool swap_strips(struct span name, const struct http_credential *cred)
{
        if (!cred)
                return false;
        if (cred->where == HTTP_IN_HEADER && http_name_is(name, cred->field))
                return true;
        /* A range would cut a secret that is sent back into pieces too small to know. */
        return http_name_is(name, "range") || http_name_is(name, "if-range") ||
               swap_is_credential_header(name);
}

/* ---- query ---- */

static int hex(uint8_t c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The name of a parameter without its escapes, cut at `cap`. */
static struct span plain_name(struct span param, uint8_t *to, size_t cap)
{
        size_t n = 0;
        for (size_t i = 0; i < param.n && param.p[i] != '=' && n < cap; i++) {
                int a = i + 2 < param.n ? hex(param.p[i + 1]) : -1,
                    b = i + 2 < param.n ? hex(param.p[i + 2]) : -1;
                if (param.p[i] == '%' && a >= 0 && b >= 0) {
                        to[n++] = (uint8_t) (a << 4 | b);
                        i += 2;
                } else {
                        to[n++] = param.p[i];
                }
        }
        return span_of(to, n);
}

static bool query_strips(struct span param, const struct http_credential *cred)
{
        uint8_t text[128];
        struct span name = plain_name(param, text, sizeof text);
        return swap_is_credential_query(name) ||
               (cred->where == HTTP_IN_QUERY && http_name_is(name, cred->field));
}

static bool next_param(struct span query, size_t *at, struct span *ret)
{
        if (*at >= query.n)
                return false;
        size_t n = 0;
        /* Some servers also part parameters at ';'. */
        while (*at + n < query.n && query.p[*at + n] != '&' && query.p[*at + n] != ';')
                n++;
        *ret = span_of(query.p + *at, n);
        *at += n + 1;
        return true;
}

static void put_escaped(struct span s, struct fifo *out)
{
        for (size_t i = 0; i < s.n; i++) {
                uint8_t c = s.p[i];
                bool plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
                             (c && strchr("-._~", c));
                if (plain)
                        fifo_add(out, &c, 1);
                else
                        fifo_printf(out, "%%%02X", c);
        }
}

void swap_query(struct span query, const struct http_credential *cred, bool inject, struct fifo *out)
{
        if (!cred) {
                if (query.p)
                        fifo_text(out, "?");
                fifo_span(out, query);
                return;
        }
        const char *sep = "?";
        struct span param;
        for (size_t at = 0; next_param(query, &at, &param);) {
                if (query_strips(param, cred))
                        continue;
                fifo_text(out, sep);
                fifo_span(out, param);
                sep = "&";
        }
        if (!inject || cred->where != HTTP_IN_QUERY)
                return;
        fifo_text(out, sep);
        put_escaped(span_str(cred->field), out);
        fifo_text(out, "=");
        put_escaped(span_str(cred->before), out);
        put_escaped(cred->secret, out);
        put_escaped(span_str(cred->after), out);
}

/* ---- header ---- */

static void put_basic(const struct http_credential *cred, struct fifo *out)
{
        struct fifo plain = { 0 };
        fifo_text(&plain, cred->field);
        fifo_text(&plain, ":");
        fifo_span(&plain, cred->secret);
        fifo_text(out, "Authorization: Basic ");
        http_base64(fifo_all(&plain), out);
        fifo_text(out, "\r\n");
        out->failed = out->failed || plain.failed;
        fifo_done(&plain);
}

void swap_header(const struct http_credential *cred, struct fifo *out)
{
        if (cred->where == HTTP_IN_BASIC) {
                put_basic(cred, out);
        } else if (cred->where == HTTP_IN_HEADER) {
                fifo_text(out, cred->field);
                fifo_text(out, ": ");
                fifo_text(out, cred->before);
                fifo_span(out, cred->secret);
                fifo_text(out, cred->after);
                fifo_text(out, "\r\n");
        }
}

/* ---- placeholders that stand where they must not ---- */

static uint64_t bit_of(const struct http_rules *r, const struct http_credential *c)
{
        return c ? UINT64_C(1) << (c - r->in.credentials) : 0;
}

static uint64_t misplaced_query(const struct http_rules *r, struct span query,
                                const struct http_credential *bound)
{
        uint64_t bad = 0;
        struct span param;
        for (size_t at = 0; next_param(query, &at, &param);) {
                uint64_t found = scrub_find(r->placeholders, param);
                bad |= bound && query_strips(param, bound) ? found & ~bit_of(r, bound) : found;
        }
        return bad;
}

uint64_t swap_misplaced(const struct http_rules *r, const struct http_head *h, const struct http_url *u,
                        const struct http_credential *bound)
{
        uint64_t bad = scrub_find(r->placeholders, span_str(u->path)) | misplaced_query(r, u->query, bound);
        for (size_t i = 0; i < h->field_count; i++) {
                const struct http_field *f = &h->field[i];
                uint64_t found = scrub_find(r->placeholders, f->value);
                bad |= swap_strips(f->name, bound) ? found & ~bit_of(r, bound) : found;
                bad |= scrub_find(r->placeholders, f->name);
        }
        return bad;
}

/* ---- bodies ---- */

/* The longest end of `s` that could begin `word`. */
static size_t overlap(struct span s, struct span word)
{
        size_t n = s.n < word.n - 1 ? s.n : word.n - 1;
        while (n && memcmp(s.p + s.n - n, word.p, n) != 0)
                n--;
        return n;
}

void swap_pass(struct swap *s, struct span in, bool end, struct fifo *out)
{
        fifo_span(&s->held, in);
        for (;;) {
                struct span all = fifo_all(&s->held);
                const uint8_t *hit = all.n ? memmem(all.p, all.n, s->from.p, s->from.n) : NULL;
                size_t n = hit ? (size_t) (hit - all.p) : all.n - (end ? 0 : overlap(all, s->from));
                fifo_add(out, all.p, n);
                if (hit)
                        fifo_span(out, s->to);
                fifo_drop(&s->held, hit ? n + s->from.n : n);
                if (!hit)
                        break;
        }
        out->failed = out->failed || s->held.failed;
}

void swap_done(struct swap *s) { fifo_done(&s->held); }
