/* SPDX-License-Identifier: MIT */
/* broker/egress/http/swap.c - removes the client's own credentials from a request and injects the credential
 * that the door names. Never: puts a secret in any position but that of its binding. Pure. */
#include "base/str.h"
#include "broker/egress/http/http_internal.h"

static const struct http_word credential_headers[] = {
        HTTP_WORD("apikey"),        HTTP_WORD("private-token"),   HTTP_WORD("x-session-token"),
        HTTP_WORD("cookie"),        HTTP_WORD("x-figma-token"),   HTTP_WORD("x-honeycomb-team"),
        HTTP_WORD("api-key"),       HTTP_WORD("x-nomad-token"),   HTTP_WORD("x-octopus-apikey"),
        HTTP_WORD("cookie2"),       HTTP_WORD("x-sentry-auth"),   HTTP_WORD("x-algolia-api-key"),
        HTTP_WORD("x-token"),       HTTP_WORD("x-vault-token"),   HTTP_WORD("dd-application-key"),
        HTTP_WORD("x-apikey"),      HTTP_WORD("authentication"),  HTTP_WORD("x-ms-authorization"),
        HTTP_WORD("job-token"),     HTTP_WORD("x-access-token"),  HTTP_WORD("proxy-authorization"),
        HTTP_WORD("x-api-key"),     HTTP_WORD("x-consul-token"),  HTTP_WORD("x-discourse-api-key"),
        HTTP_WORD("dd-api-key"),    HTTP_WORD("x-github-token"),  HTTP_WORD("x-amz-security-token"),
        HTTP_WORD("x-auth-key"),    HTTP_WORD("x-gitlab-token"),  HTTP_WORD("x-shopify-access-token"),
        HTTP_WORD("deploy-token"),  HTTP_WORD("x-goog-api-key"),  HTTP_WORD("x-forwarded-access-token"),
        HTTP_WORD("x-auth-email"),  HTTP_WORD("x-rapidapi-key"),  HTTP_WORD("ocp-apim-subscription-key"),
        HTTP_WORD("x-auth-token"),  HTTP_WORD("x-authorization"), HTTP_WORD("x-ms-token-aad-access-token"),
        HTTP_WORD("x-plex-token"),  HTTP_WORD("x-functions-key"), HTTP_WORD("x-goog-iam-authorization-token"),
        HTTP_WORD("authorization"), HTTP_WORD("x-jfrog-art-api"),
};
static const struct http_word credential_tails[] = { HTTP_WORD("-api-key"),       HTTP_WORD("-apikey"),
                                                     HTTP_WORD("-auth-token"),    HTTP_WORD("-access-token"),
                                                     HTTP_WORD("-session-token"), HTTP_WORD("-access-key"),
                                                     HTTP_WORD("-secret") };
/* Parts of a signature that is made anew. */
static const struct http_word signature_headers[] = { HTTP_WORD("x-amz-date"),
                                                      HTTP_WORD("x-amz-content-sha256"),
                                                      HTTP_WORD("x-amz-region-set"),
                                                      HTTP_WORD("x-amz-s3session-token") };
static const struct http_word credential_query[] = {
        HTTP_WORD("jwt"),       HTTP_WORD("signature"),     HTTP_WORD("session_token"),
        HTTP_WORD("sig"),       HTTP_WORD("access_key"),    HTTP_WORD("awsaccesskeyid"),
        HTTP_WORD("token"),     HTTP_WORD("auth_token"),    HTTP_WORD("googleaccessid"),
        HTTP_WORD("apikey"),    HTTP_WORD("accesstoken"),   HTTP_WORD("x-amz-signature"),
        HTTP_WORD("api-key"),   HTTP_WORD("oauth_token"),   HTTP_WORD("x-amz-credential"),
        HTTP_WORD("api_key"),   HTTP_WORD("access_token"),  HTTP_WORD("x-goog-signature"),
        HTTP_WORD("id_token"),  HTTP_WORD("client_secret"), HTTP_WORD("x-goog-credential"),
        HTTP_WORD("password"),  HTTP_WORD("private_token"), HTTP_WORD("x-amz-security-token"),
        HTTP_WORD("job_token"), HTTP_WORD("refresh_token"),
};

static bool is_credential_header(struct span name)
{
        if (http_name_in(name, credential_headers, COUNT(credential_headers)))
                return true;

        for (size_t i = 0; i < COUNT(credential_tails); i++) {
                size_t n = credential_tails[i].n;
                if (name.n > n && http_name_is(span_of(name.p + name.n - n, n), credential_tails[i].text))
                        return true;
        }

        return false;
}

bool swap_is_credential_query(struct span name)
{
        return http_name_in(name, credential_query, COUNT(credential_query));
}

bool swap_strips(struct span name, const struct http_credential *cred)
{
        if (!cred)
                return false;
        if (cred->where == GRANT_HEADER && http_name_is(name, cred->field))
                return true;
        if (cred->where == GRANT_SIGV4 && http_name_in(name, signature_headers, COUNT(signature_headers)))
                return true;
        return is_credential_header(name);
}

/* ---- query ---- */

/* A parameter `key` is mostly the name of a thing, and must pass. A Google API key, which counts beside the
 * header that we send, looks like this; no client has to escape its first letters. */
static bool is_google_key(struct span param, struct span name)
{
        const uint8_t *is = memchr(param.p, '=', param.n);
        struct span value = is ? span_of(is + 1, param.n - (size_t) (is + 1 - param.p)) : span_of(param.p, 0);
        return http_name_is(name, "key") &&
               (span_starts(value, "AIza") || memchr(value.p, '%', value.n < 10 ? value.n : 10));
}

static bool query_strips(struct span param, const struct http_credential *cred)
{
        uint8_t text[128];
        struct span name = http_param_name(param, text, sizeof text);
        return swap_is_credential_query(name) || is_google_key(param, name) ||
               (cred->where == GRANT_QUERY && http_name_is(name, cred->field));
}

bool swap_is_presigned(struct span query)
{
        static const struct http_word names[] = { HTTP_WORD("x-amz-algorithm"), HTTP_WORD("x-amz-credential"),
                                                  HTTP_WORD("x-amz-signature"),
                                                  HTTP_WORD("x-amz-security-token"),
                                                  HTTP_WORD("awsaccesskeyid") };
        struct span param;
        for (size_t at = 0; http_next_param(query, &at, &param);) {
                uint8_t text[128];
                if (http_name_in(http_param_name(param, text, sizeof text), names, COUNT(names)))
                        return true;
        }

        return false;
}

/* Characters that need no escape in a query and in a form. */
static bool is_plain(uint8_t c)
{
        return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c && strchr("-._~", c));
}

static void put_escaped(struct span s, struct fifo *out)
{
        for (size_t i = 0; i < s.n; i++) {
                if (is_plain(s.p[i]))
                        fifo_add(out, &s.p[i], 1);
                else
                        fifo_printf(out, "%%%02X", s.p[i]);
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
        for (size_t at = 0; http_next_param(query, &at, &param);) {
                if (query_strips(param, cred))
                        continue;
                fifo_text(out, sep);
                fifo_span(out, param);
                sep = "&";
        }

        if (!inject || cred->where != GRANT_QUERY)
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
        fifo_base64(out, fifo_all(&plain));
        out->failed = out->failed || plain.failed;
        fifo_done(&plain);
}

void swap_as_sent(const struct http_credential *cred, struct fifo *out)
{
        if (cred->where == GRANT_BASIC)
                put_basic(cred, out);

        if (cred->where == GRANT_QUERY)
                put_escaped(cred->secret, out);

        while (cred->where == GRANT_BASIC && out->n && out->p[out->at + out->n - 1] == '=')
                out->n--; /* not everybody keeps it */

        if (out->n == cred->secret.n) /* nothing had to be escaped */
                fifo_drop(out, out->n);
}

void swap_header(const struct http_credential *cred, struct fifo *out)
{
        if (cred->where == GRANT_BASIC) {
                fifo_text(out, "Authorization: Basic ");
                put_basic(cred, out);
                fifo_text(out, "\r\n");
        } else if (cred->where == GRANT_HEADER) {
                fifo_text(out, cred->field);
                fifo_text(out, ": ");
                fifo_text(out, cred->before);
                fifo_span(out, cred->secret);
                fifo_text(out, cred->after);
                fifo_text(out, "\r\n");
        }
}

/* ---- placeholders in wrong positions ---- */

static uint64_t bit_of(const struct http_rules *r, const struct http_credential *c)
{
        return c ? UINT64_C(1) << (c - r->in.credentials) : 0;
}

static uint64_t misplaced_query(const struct http_rules *r, struct span query,
                                const struct http_credential *bound)
{
        uint64_t bad = 0;
        struct span param;
        for (size_t at = 0; http_next_param(query, &at, &param);) {
                uint64_t found = secret_words_find(r->placeholders, param);
                bad |= bound && query_strips(param, bound) ? found & ~bit_of(r, bound) : found;
        }

        return bad;
}

uint64_t swap_misplaced(const struct http_rules *r, const struct http_head *h, const struct http_url *u,
                        const struct http_credential *bound)
{
        uint64_t bad =
                secret_words_find(r->placeholders, span_str(u->path)) | misplaced_query(r, u->query, bound);
        for (size_t i = 0; i < h->field_count; i++) {
                const struct http_field *f = &h->field[i];
                uint64_t found = secret_words_find(r->placeholders, f->value);
                bad |= swap_strips(f->name, bound) ? found & ~bit_of(r, bound) : found;
                bad |= secret_words_find(r->placeholders, f->name);
        }

        return bad;
}

/* ---- bodies ---- */

static bool is_escaped(uint8_t c) { return c == '"' || c == '\\' || c == '/'; }

enum spelling { NOT_SPELLED = 0, SPELLED_PLAIN, SPELLED_HEX, SPELLED_ESCAPED, SPELLED_PERHAPS };

/* How the beginning of `s` encodes one byte: as it is, as forms do (%2F) or as JSON does (\/). PERHAPS: the
 * next bytes decide; none follow after the `end`. */
static enum spelling spelling_of(struct span s, uint8_t c, bool end)
{
        if (s.n == 0)
                return end ? NOT_SPELLED : SPELLED_PERHAPS;

        bool hex = s.p[0] == '%' && (s.n < 2 || str_hex(s.p[1]) == c >> 4) &&
                   (s.n < 3 || str_hex(s.p[2]) == (c & 15));
        if (hex && (s.n >= 3 || !end))
                return s.n >= 3 ? SPELLED_HEX : SPELLED_PERHAPS;

        bool escaped = s.p[0] == '\\' && is_escaped(c) && (s.n < 2 || s.p[1] == c);
        if (escaped && (s.n >= 2 || !end))
                return s.n >= 2 ? SPELLED_ESCAPED : SPELLED_PERHAPS;

        return s.p[0] == c ? SPELLED_PLAIN : NOT_SPELLED;
}

static const size_t spelled_bytes[] = { [SPELLED_PLAIN] = 1, [SPELLED_HEX] = 3, [SPELLED_ESCAPED] = 2 };

/* How many bytes at the beginning of `s` spell `word`; 0: they do not. */
static size_t spells_word(struct span s, struct span word, bool end, bool *ret_perhaps)
{
        size_t at = 0;
        for (size_t i = 0; i < word.n; i++) {
                enum spelling how = spelling_of(span_of(s.p + at, s.n - at), word.p[i], end);
                *ret_perhaps = how == SPELLED_PERHAPS;
                if (how == NOT_SPELLED || how == SPELLED_PERHAPS)
                        return 0;
                at += spelled_bytes[how];
        }

        return at;
}

enum swap_field swap_field_of(const struct http_head *h)
{
        const struct http_field *t = http_field_find(h, "content-type", NULL);
        struct span type = t ? t->value : (struct span){ 0 };
        const uint8_t *end = type.n ? memchr(type.p, ';', type.n) : NULL;

        type = http_trim(span_of(type.p, end ? (size_t) (end - type.p) : type.n));
        if (http_name_is(type, "application/x-www-form-urlencoded"))
                return SWAP_IN_FORM;

        struct span tail = type.n > 5 ? span_of(type.p + type.n - 5, 5) : type;
        return http_name_is(tail, "/json") || http_name_is(tail, "+json") ? SWAP_IN_JSON : SWAP_AS_IT_IS;
}

/* A byte of the secret that cannot be encoded as the placeholder's was. If both are the same, the client knew
 * how to encode it. */
static enum spelling spelled_anew(const struct swap *s, size_t i)
{
        uint8_t c = s->to.p[i];
        if (c == s->from.p[i])
                return SPELLED_PLAIN;
        if (s->field == SWAP_IN_FORM && !is_plain(c))
                return SPELLED_HEX;
        return s->field == SWAP_IN_JSON && (c == '"' || c == '\\') ? SPELLED_ESCAPED : SPELLED_PLAIN;
}

bool swap_grows(const struct swap *s)
{
        for (size_t i = 0; i < s->from.n; i++)
                if (spelled_anew(s, i) != SPELLED_PLAIN)
                        return true;
        return false;
}

/* The secret, encoded as the client encoded the placeholder. A long secret differs from it in letters and
 * digits only, and has the same length; a short one also has punctuation in place of letters, which is
 * escaped as the field requires. */
static void put_spelled(const struct swap *s, struct span as, struct fifo *out)
{
        size_t at = 0;
        for (size_t i = 0; i < s->from.n; i++) {
                enum spelling was = spelling_of(span_of(as.p + at, as.n - at), s->from.p[i], true);
                enum spelling how = was == SPELLED_PLAIN ? spelled_anew(s, i) : was;
                if (how == SPELLED_HEX)
                        fifo_printf(out, "%%%02X", s->to.p[i]);
                else if (how == SPELLED_ESCAPED)
                        fifo_printf(out, "\\%c", s->to.p[i]);
                else
                        fifo_add(out, &s->to.p[i], 1);
                at += spelled_bytes[was];
        }
}

void swap_pass(struct swap *s, struct span in, bool end, struct fifo *out)
{
        fifo_span(&s->held, in);
        struct span all = fifo_all(&s->held);
        size_t at = 0, done = 0;
        bool perhaps = false;
        while (at < all.n && !perhaps) {
                size_t n = spells_word(span_of(all.p + at, all.n - at), s->from, end, &perhaps);
                if (n > 0) {
                        fifo_add(out, all.p + done, at - done);
                        put_spelled(s, span_of(all.p + at, n), out);
                        done = at + n;
                }
                if (!perhaps)
                        at += n > 0 ? n : 1;
        }

        if (at > done)
                fifo_add(out, all.p + done, at - done);

        fifo_drop(&s->held, at);
        out->failed = out->failed || s->held.failed;
}

void swap_done(struct swap *s) { fifo_done(&s->held); }
