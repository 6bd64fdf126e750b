/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_sign.c - requests through a door whose credential is a key of AWS. The client signs
 * with its placeholder, and of that signature only the region, the service and the hash of the body are read:
 * a server takes a signature for itself alone, and compares the hash. Decides what cannot be signed anew.
 * Pure.
 */
#include "base/hash.h"
#include "broker/egress/http/http_internal.h"

#include <stdio.h>

static const struct http_credential *key_of(const struct http_flow *f)
{
        const struct http_credential *c = f->to.credential;
        return c && c->where == GRANT_SIGV4 ? c : NULL;
}

/* ---- region and service ---- */

/* Small letters, digits and hyphens. */
static bool copy_word(struct span s, char ret[SIGV4_SCOPE])
{
        for (size_t i = 0; i < s.n; i++)
                if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-'))
                        return false;

        if (s.n == 0 || s.n >= SIGV4_SCOPE)
                return false;

        memcpy(ret, s.p, s.n);
        ret[s.n] = '\0';
        return true;
}

/* The last part of a text, and the text before it. */
static struct span cut_last(struct span *s, uint8_t mark)
{
        const uint8_t *at = s->n ? memrchr(s->p, mark, s->n) : NULL;
        size_t n = at ? (size_t) (at - s->p) : 0;
        struct span last = at ? span_of(at + 1, s->n - n - 1) : *s;
        s->n = n;
        return last;
}

/* Credential=ID/DATE/REGION/SERVICE/aws4_request of the client's own signature. */
static bool scope_of_client(struct span value, struct sigv4 *s)
{
        static const char word[] = "Credential=";
        const uint8_t *at = memmem(value.p, value.n, word, sizeof word - 1);
        if (!at)
                return false;

        at += sizeof word - 1;
        struct span scope = span_of(at, value.n - (size_t) (at - value.p));
        const uint8_t *end = memchr(scope.p, ',', scope.n);
        scope.n = end ? (size_t) (end - scope.p) : scope.n;
        return span_is(http_trim(cut_last(&scope, '/')), "aws4_request") &&
               copy_word(cut_last(&scope, '/'), s->service) && copy_word(cut_last(&scope, '/'), s->region);
}

/* SERVICE.REGION.amazonaws.com, perhaps with more in front; services without a region are in the first. */
static bool scope_of_host(const char *host, struct sigv4 *s)
{
        static const char *const tails[] = { ".amazonaws.com", ".amazonaws.com.cn" };
        struct span name = span_str(host);
        bool ours = false;
        for (size_t i = 0; i < COUNT(tails) && !ours; i++) {
                ours = span_ends(name, tails[i]);
                name.n -= ours ? strlen(tails[i]) : 0;
        }

        struct span last = cut_last(&name, '.');
        bool region = memchr(last.p, '-', last.n) && last.n && last.p[last.n - 1] >= '0' &&
                      last.p[last.n - 1] <= '9';
        struct span service = region ? cut_last(&name, '.') : last;
        if (span_is(service, "dualstack"))
                service = cut_last(&name, '.');

        return ours && copy_word(region ? last : span_str("us-east-1"), s->region) &&
               copy_word(service, s->service);
}

static enum effect_reason read_scope(const struct http_flow *f, struct sigv4 *s)
{
        const struct http_field *a = http_field_find(&f->head, "authorization", NULL);
        bool signs = a && span_starts(a->value, "AWS4-");
        if (signs && !span_starts(a->value, "AWS4-HMAC-SHA256 "))
                return REASON_SIGV4_ALGORITHM;

        return (signs && scope_of_client(a->value, s)) || (!signs && scope_of_host(f->to.host, s))
                       ? REASON_NONE
                       : REASON_SIGV4_SCOPE;
}

/* ---- the hash of the body ---- */

static bool is_hash(struct span s)
{
        for (size_t i = 0; i < s.n; i++)
                if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
                        return false;
        return s.n == 64;
}

static bool is_s3(const struct sigv4 *s) { return strncmp(s->service, "s3", 2) == 0; }

/* The client's word for the body, which the server holds against it; or nothing. */
static struct span declared_hash(const struct http_flow *f)
{
        const struct http_field *d = http_field_find(&f->head, "x-amz-content-sha256", NULL);
        bool taken = d && (is_hash(d->value) || span_is(d->value, "UNSIGNED-PAYLOAD") ||
                           span_is(d->value, "STREAMING-UNSIGNED-PAYLOAD-TRAILER"));
        return taken ? d->value : (struct span){ 0 };
}

/* In chunks that the client has signed, each with the placeholder. */
static bool is_chunk_signed(const struct http_flow *f)
{
        const struct http_field *d = http_field_find(&f->head, "x-amz-content-sha256", NULL);
        return d && !declared_hash(f).n && span_starts(d->value, "STREAMING-");
}

static bool has_body(const struct http_flow *f) { return f->head.chunked || f->head.length > 0; }

/* Over TLS S3 takes a body without its hash. */
static bool needs_body(const struct http_flow *f, const struct sigv4 *s)
{
        return has_body(f) && !declared_hash(f).n && !is_chunk_signed(f) && !(is_s3(s) && f->to.tls);
}

bool http_sign_holds(const struct http_flow *f)
{
        struct sigv4 s = { .sends_payload = false };
        return f->to.allowed && key_of(f) && !read_scope(f, &s) && needs_body(f, &s);
}

static enum effect_reason read_payload(const struct http_flow *f, struct sigv4 *s)
{
        struct span word = declared_hash(f);
        s->sends_payload = word.n || is_s3(s);
        if (is_chunk_signed(f))
                return REASON_SIGV4_CHUNKS;

        if (needs_body(f, s) && !f->x.whole)
                return REASON_SIGV4_LENGTH;

        if (word.n)
                (void) snprintf(s->payload, sizeof s->payload, "%.*s", (int) word.n, (const char *) word.p);
        else if (has_body(f) && !f->x.whole)
                (void) snprintf(s->payload, sizeof s->payload, "UNSIGNED-PAYLOAD");
        else
                sha256_hex(fifo_all(&f->x.held), s->payload);

        return REASON_NONE;
}

enum effect_reason http_sign_read(struct http_flow *f)
{
        struct sigv4 *s = &f->x.sign;
        if (!key_of(f))
                return REASON_NONE;

        if (swap_is_presigned(f->url.query))
                return REASON_SIGV4_PRESIGNED;

        enum effect_reason why = read_scope(f, s);
        return why ? why : read_payload(f, s);
}

void http_sign(struct http_flow *f)
{
        const struct http_credential *c = key_of(f);
        struct grant_key key;
        if (c && grant_key_split(c->secret, &key))
                sigv4_sign(&f->x.sign, &key, f->r->now, &f->x.head);
}
