/* SPDX-License-Identifier: MIT */
/* broker/egress/http/sigv4.c - signs a request as AWS has it (Signature Version 4): the canonical form of its
 * head and the hash of its body, with a key that holds for one day, region and service. Pure. */
#include "base/date.h"
#include "base/hash.h"
#include "base/str.h"
#include "broker/egress/http/http_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

enum { DIGEST = 32, HASH_BLOCK = 64, FIELDS = HTTP_FIELDS_MAX + 8 };

/* ---- HMAC-SHA-256 ---- */

/* The keys here are shorter than a block, but for a secret that a user has made longer. */
static void hmac_text(struct span key, struct span text, uint8_t ret[DIGEST])
{
        uint8_t block[HASH_BLOCK] = { 0 }, pad[HASH_BLOCK];
        struct sha256 s;
        sha256_init(&s);
        sha256_add(&s, key.p, key.n);
        if (key.n > sizeof block)
                sha256_end(&s, block);
        else
                memcpy(block, key.p, key.n);

        uint8_t inner[DIGEST];
        for (size_t i = 0; i < sizeof pad; i++)
                pad[i] = block[i] ^ 0x36;
        sha256_init(&s);
        sha256_add(&s, pad, sizeof pad);
        sha256_add(&s, text.p, text.n);
        sha256_end(&s, inner);

        for (size_t i = 0; i < sizeof pad; i++)
                pad[i] = block[i] ^ 0x5c;
        sha256_init(&s);
        sha256_add(&s, pad, sizeof pad);
        sha256_add(&s, inner, sizeof inner);
        sha256_end(&s, ret);
        explicit_bzero(block, sizeof block);
        explicit_bzero(pad, sizeof pad);
        explicit_bzero(&s, sizeof s);
}

/* ---- URIs ---- */

static bool is_unreserved(uint8_t c) { return isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~'; }

/* Escaped once, as the bytes that `s` stands for, or, unless `plain`, as the bytes that it is. */
static void put_uri(struct span s, bool plain, const char *keep, struct fifo *out)
{
        for (size_t at = 0; at < s.n;) {
                uint8_t c = plain ? http_plain_byte(s, &at) : s.p[at++];
                if (is_unreserved(c) || (c && strchr(keep, c)))
                        fifo_add(out, &c, 1);
                else
                        fifo_printf(out, "%%%02X", c);
        }
}

/* ---- the query ---- */

struct pair { /* of the escaped text */
        const struct fifo *text;
        size_t at, name, value;
};

static int by_pair(const void *a, const void *b)
{
        const struct pair *x = a, *y = b;
        const uint8_t *p = x->text->p + x->text->at + x->at, *q = y->text->p + y->text->at + y->at;
        size_t n = x->name < y->name ? x->name : y->name, v = x->value < y->value ? x->value : y->value;
        int order = memcmp(p, q, n);
        if (order || x->name != y->name)
                return order ? order : x->name < y->name ? -1 : 1;

        order = memcmp(p + x->name, q + y->name, v);
        return order ? order : (x->value > y->value) - (x->value < y->value);
}

/* One parameter: its name and its value, escaped. */
static struct pair put_pair(struct span param, struct fifo *text)
{
        const uint8_t *is = memchr(param.p, '=', param.n);
        size_t n = is ? (size_t) (is - param.p) : param.n;
        struct pair r = { text, text->n, 0, 0 };
        put_uri(span_of(param.p, n), true, "", text);
        r.name = text->n - r.at;
        if (is)
                put_uri(span_of(is + 1, param.n - n - 1), true, "", text);
        r.value = text->n - r.at - r.name;
        return r;
}

static void put_query(struct span query, struct fifo *out)
{
        struct fifo text = { 0 };
        size_t count = 0, most = 1;
        for (size_t i = 0; i < query.n; i++)
                most += query.p[i] == '&';

        struct pair *v = calloc(most, sizeof *v);
        while (v && query.n > 0) {
                struct span param = span_cut(&query, '&');
                if (param.n)
                        v[count++] = put_pair(param, &text);
        }

        out->failed = out->failed || !v || text.failed;
        if (!out->failed)
                qsort(v, count, sizeof *v, by_pair);
        for (size_t i = 0; !out->failed && i < count; i++) {
                const uint8_t *p = text.p + text.at + v[i].at;
                fifo_text(out, i ? "&" : "");
                fifo_add(out, p, v[i].name);
                fifo_text(out, "=");
                fifo_add(out, p + v[i].name, v[i].value);
        }

        free(v);
        fifo_done(&text);
}

/* ---- the head ---- */

struct canonical {
        struct span method, path, query;
        struct http_field field[FIELDS]; /* those that are signed, by their names */
        size_t count;
};

static bool is_signed(struct span name)
{
        static const char front[] = "x-amz-";
        return http_name_is(name, "host") || http_name_is(name, "content-type") ||
               http_name_is(name, "content-md5") ||
               (name.n >= sizeof front - 1 &&
                strncasecmp((const char *) name.p, front, sizeof front - 1) == 0);
}

static int by_name(const void *a, const void *b)
{
        const struct http_field *x = a, *y = b;
        size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
        int order = strncasecmp((const char *) x->name.p, (const char *) y->name.p, n);
        if (order || x->name.n != y->name.n)
                return order ? order : x->name.n < y->name.n ? -1 : 1;

        return x->name.p < y->name.p ? -1 : 1; /* of one name: as they are sent */
}

static bool same_name(struct span a, struct span b)
{
        return a.n == b.n && strncasecmp((const char *) a.p, (const char *) b.p, a.n) == 0;
}

/* The next line without its CR LF; *at moves behind it. */
static struct span next_line(struct span s, size_t *at)
{
        const uint8_t *end = *at < s.n ? memchr(s.p + *at, '\r', s.n - *at) : NULL;
        struct span line = span_of(s.p + *at, end ? (size_t) (end - s.p) - *at : 0);
        *at += line.n + 2;
        return line;
}

/* Reads a head that we wrote: one space between the words of its first line, no folded lines. */
static void read_head(struct span head, struct canonical *c)
{
        size_t at = 0;
        struct span line = next_line(head, &at);
        c->method = span_cut(&line, ' ');
        c->query = span_cut(&line, ' ');
        c->path = span_cut(&c->query, '?');
        while ((line = next_line(head, &at)).n) {
                const uint8_t *colon = memchr(line.p, ':', line.n);
                size_t n = colon ? (size_t) (colon - line.p) : line.n;
                if (!colon || !is_signed(span_of(line.p, n)) || c->count == FIELDS)
                        continue;
                c->field[c->count++] = (struct http_field){ span_of(line.p, n),
                                                            http_trim(span_of(colon + 1, line.n - n - 1)) };
        }

        qsort(c->field, c->count, sizeof *c->field, by_name);
}

static void put_lower(struct span s, struct fifo *out)
{
        for (size_t i = 0; i < s.n; i++) {
                uint8_t c = (uint8_t) tolower(s.p[i]);
                fifo_add(out, &c, 1);
        }
}

/* Each run of spaces counts as one. */
static void put_value(struct span s, struct fifo *out)
{
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] != ' ' || s.p[i - 1] != ' ')
                        fifo_add(out, &s.p[i], 1);
}

static void put_signed_names(const struct canonical *c, struct fifo *out)
{
        for (size_t i = 0; i < c->count; i++) {
                if (i && same_name(c->field[i].name, c->field[i - 1].name))
                        continue;
                fifo_text(out, i ? ";" : "");
                put_lower(c->field[i].name, out);
        }
}

static void put_fields(const struct canonical *c, struct fifo *out)
{
        for (size_t i = 0; i < c->count; i++) {
                bool again = i && same_name(c->field[i].name, c->field[i - 1].name);
                if (again) {
                        fifo_text(out, ",");
                } else {
                        fifo_text(out, i ? "\n" : "");
                        put_lower(c->field[i].name, out);
                        fifo_text(out, ":");
                }
                put_value(c->field[i].value, out);
        }
}

/* S3 takes the path as the name of an object; other services take it as text that is escaped once more. */
static void put_canonical(const struct sigv4 *s, const struct canonical *c, struct fifo *out)
{
        fifo_span(out, c->method);
        fifo_text(out, "\n");
        put_uri(c->path, strncmp(s->service, "s3", 2) == 0, "/", out);
        fifo_text(out, "\n");
        put_query(c->query, out);
        fifo_text(out, "\n");
        put_fields(c, out);
        fifo_text(out, "\n\n");
        put_signed_names(c, out);
        fifo_text(out, "\n");
        fifo_text(out, s->payload);
}

/* ---- the signature ---- */

static void derive_key(const struct sigv4 *s, struct span secret, struct span day, uint8_t ret[DIGEST])
{
        uint8_t first[4 + GRANT_SECRET_MAX] = "AWS4";
        memcpy(first + 4, secret.p, secret.n);
        hmac_text(span_of(first, 4 + secret.n), day, ret);
        hmac_text(span_of(ret, DIGEST), span_str(s->region), ret);
        hmac_text(span_of(ret, DIGEST), span_str(s->service), ret);
        hmac_text(span_of(ret, DIGEST), span_str("aws4_request"), ret);
        explicit_bzero(first, sizeof first);
}

static void put_signature(const struct sigv4 *s, struct span secret, const char *date,
                          const struct fifo *canonical, struct fifo *out)
{
        char hash[65];
        uint8_t key[DIGEST], signature[DIGEST];
        struct fifo text = { 0 };
        sha256_hex(fifo_all(canonical), hash);
        fifo_printf(&text, "AWS4-HMAC-SHA256\n%s\n%.8s/%s/%s/aws4_request\n%s", date, date, s->region,
                    s->service, hash);
        derive_key(s, secret, span_of(date, 8), key);
        hmac_text(span_of(key, sizeof key), fifo_all(&text), signature);
        for (size_t i = 0; i < sizeof signature; i++)
                fifo_printf(out, "%02x", signature[i]);

        out->failed = out->failed || text.failed || canonical->failed;
        explicit_bzero(key, sizeof key);
        fifo_done(&text);
}

static void put_own_fields(const struct sigv4 *s, const struct grant_key *key, const char *date,
                           struct fifo *out)
{
        fifo_printf(out, "X-Amz-Date: %s\r\n", date);
        if (s->sends_payload)
                fifo_printf(out, "X-Amz-Content-Sha256: %s\r\n", s->payload);
        if (key->token.n) {
                fifo_text(out, "X-Amz-Security-Token: ");
                fifo_span(out, key->token);
                fifo_text(out, "\r\n");
        }
}

void sigv4_sign(const struct sigv4 *s, const struct grant_key *key, int64_t now, struct fifo *head)
{
        static const char end[] = "\r\n";
        char date[32];
        struct canonical c = { .count = 0 };
        struct fifo text = { 0 };
        if (head->failed || head->n < sizeof end - 1) {
                head->failed = true;
                return;
        }

        (void) date_stamp(now, date); /* libc's would read the time zone, which the filter kills */
        head->n -= sizeof end - 1;    /* the empty line comes last again */
        put_own_fields(s, key, date, head);
        struct span all = fifo_all(head);
        if (head->failed || !all.p)
                return;

        read_head(all, &c);
        put_canonical(s, &c, &text);
        struct fifo line = { 0 };
        fifo_text(&line, "Authorization: AWS4-HMAC-SHA256 Credential=");
        fifo_span(&line, key->id);
        fifo_printf(&line, "/%.8s/%s/%s/aws4_request, SignedHeaders=", date, s->region, s->service);
        put_signed_names(&c, &line);
        fifo_text(&line, ", Signature=");
        put_signature(s, key->secret, date, &text, &line);
        fifo_span(head, fifo_all(&line));
        fifo_text(head, "\r\n\r\n");
        head->failed = head->failed || line.failed;
        fifo_done(&line);
        fifo_done(&text);
}
