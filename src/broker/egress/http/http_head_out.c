/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_head_out.c - heads as they are sent on, rewritten from the parsed fields: nothing
 * that a second parser could read differently survives. */
#include "broker/egress/http/http_internal.h"

#include <stdio.h>

/* The URLs of a server of another stage are rewritten into those that the box knows, which requests the live
 * ones: else the first redirect would lead out of the place. */
static bool is_server(const struct policy_place_url *u, const char *host, uint16_t port, bool tls)
{
        return u->tls == tls && u->port == port && strcmp(u->host, host) == 0;
}

struct http_moved http_moved(const struct http_rules *r, const struct http_peer *peer, bool tls,
                             const struct http_judgement *to)
{
        struct http_moved best = { 0 };
        const char *name;
        for (size_t i = 0; (name = policy_place_name(r->in.places, i)); i++) {
                const struct policy_place_url *a = policy_place_asked(r->in.places, name, r->in.stage),
                                              *t = policy_place_target(r->in.places, name, r->in.stage);
                if (!a || !t || a == t || !is_server(a, peer->host, peer->port, tls) ||
                    !is_server(t, to->host, to->port, to->tls) ||
                    strncmp(to->path, t->path, strlen(t->path)) != 0)
                        continue;
                if (!best.target || strlen(t->path) > strlen(best.target->path))
                        best = (struct http_moved){ a, t };
        }

        return best;
}

static void put_base(const struct policy_place_url *u, struct fifo *out)
{
        char origin[HTTP_ORIGIN_MAX];
        fifo_text(out, http_origin(u->tls, u->host, u->port, origin));
        fifo_text(out, u->path);
}

void http_put_moved(const struct http_moved *m, struct span value, struct fifo *out)
{
        struct fifo base = { 0 };
        size_t path = m->target ? strlen(m->target->path) : 0;
        if (m->target)
                put_base(m->target, &base);

        bool whole = m->target && value.n >= base.n && memcmp(value.p, base.p + base.at, base.n) == 0;
        bool local = m->target && !whole && span_starts(value, m->target->path) && !span_starts(value, "//");
        if (whole)
                put_base(m->asked, out);
        else if (local)
                fifo_text(out, m->asked->path);

        size_t skip = whole ? base.n : local ? path : 0;
        fifo_add(out, value.p + skip, value.n - skip);
        out->failed = out->failed || base.failed;
        fifo_done(&base);
}

static void put_field(const struct http_field *f, struct fifo *out)
{
        fifo_span(out, f->name);
        fifo_text(out, ": ");
        fifo_span(out, f->value);
        fifo_text(out, "\r\n");
}

static void put_host(const struct http_judgement *to, struct fifo *out)
{
        char origin[HTTP_ORIGIN_MAX];
        fifo_text(out, "Host: ");
        fifo_text(out, http_origin(to->tls, to->host, to->port, origin) +
                               strlen(to->tls ? "https://" : "http://"));
        fifo_text(out, "\r\n");
}

void http_put_length(uint64_t n, struct fifo *out)
{
        fifo_printf(out, "Content-Length: %llu\r\n", (unsigned long long) n);
}

/* Compressed, or cut by a range into pieces too small to know, a secret that is sent back would not be seen.
 */
static bool hides_secrets(const struct http_sent *s, struct span name)
{
        return (s->identity && http_asks_packed(name)) ||
               (s->whole && (http_name_is(name, "range") || http_name_is(name, "if-range")));
}

static bool request_field_passes(const struct http_sent *s, struct span name)
{
        if (http_is_hop(s->head, name) || http_name_is(name, "host") || swap_strips(name, s->to->credential))
                return false;
        if (http_names_other_host(name) || hides_secrets(s, name))
                return false;
        return !http_name_is(name, "sec-websocket-extensions"); /* compressed frames could not be scrubbed */
}

void http_put_request(const struct http_sent *s, struct fifo *out)
{
        const struct http_head *h = s->head;
        fifo_span(out, h->method);
        fifo_text(out, " ");
        http_put_path(s->to->path, s->url->escaped, out);
        swap_query(s->url->query, s->to->credential, true, out);
        fifo_text(out, " HTTP/1.1\r\n");
        put_host(s->to, out);
        for (size_t i = 0; i < h->field_count; i++)
                if (request_field_passes(s, h->field[i].name))
                        put_field(&h->field[i], out);

        if (s->identity)
                fifo_text(out, "Accept-Encoding: identity\r\n");

        if (s->to->credential)
                swap_header(s->to->credential, out);

        if (h->chunked || s->chunked)
                fifo_text(out, "Transfer-Encoding: chunked\r\n");
        else if (h->has_length)
                http_put_length(h->length, out);

        if (s->websocket)
                fifo_text(out, "Connection: Upgrade\r\nUpgrade: websocket\r\n");

        if (s->close)
                fifo_text(out, "Connection: close\r\n");

        fifo_text(out, "\r\n");
}

/* Fields that describe the bytes of a body, and do not hold for the bytes that come out of it. */
static const struct http_word of_packed[] = { HTTP_WORD("content-encoding"), HTTP_WORD("content-md5"),
                                              HTTP_WORD("digest"),           HTTP_WORD("content-digest"),
                                              HTTP_WORD("repr-digest"),      HTTP_WORD("accept-ranges") };

static bool answer_field_passes(const struct http_answered *a, struct span name)
{
        /* A session that the credential opened is a credential too. */
        if (a->with_credential && (http_name_is(name, "set-cookie") || http_name_is(name, "set-cookie2")))
                return false;
        if (a->unpacked && http_name_in(name, of_packed, COUNT(of_packed)))
                return false;
        return !http_is_hop(a->head, name) && !http_name_is(name, "alt-svc"); /* no other way than this one */
}

static void put_scrubbed(struct span text, const struct http_rules *r, struct fifo *out, uint64_t *found)
{
        struct scrub s = { .set = r->secrets };
        scrub_pass(&s, text, true, out);
        *found |= s.found;
        scrub_done(&s);
}

static void put_value(const struct http_answered *a, const struct http_field *f, struct fifo *out,
                      uint64_t *found)
{
        struct fifo moved = { 0 };
        bool url = http_name_is(f->name, "location") || http_name_is(f->name, "content-location");
        if (url)
                http_put_moved(&a->moved, f->value, &moved);

        put_scrubbed(url ? fifo_all(&moved) : f->value, a->rules, out, found);
        out->failed = out->failed || moved.failed;
        fifo_done(&moved);
}

void http_put_answer_fields(const struct http_answered *a, struct fifo *out, uint64_t *found)
{
        for (size_t i = 0; i < a->head->field_count; i++) {
                const struct http_field *f = &a->head->field[i];
                if (!answer_field_passes(a, f->name))
                        continue;
                put_scrubbed(f->name, a->rules, out, found);
                fifo_text(out, ": ");
                if (a->unpacked && http_name_is(f->name, "etag") && !span_starts(f->value, "W/"))
                        fifo_text(out, "W/"); /* the same to read, and not the same bytes */
                put_value(a, f, out, found);
                fifo_text(out, "\r\n");
        }

        if (a->websocket)
                fifo_text(out, "Connection: Upgrade\r\nUpgrade: websocket\r\n");
}

const char *http_reason(unsigned status)
{
        static const struct {
                unsigned status;
                const char *reason;
        } reasons[] = { { 400, "Bad Request" },
                        { 403, "Forbidden" },
                        { 417, "Expectation Failed" },
                        { 421, "Misdirected Request" },
                        { 431, "Request Header Fields Too Large" },
                        { 501, "Not Implemented" },
                        { 502, "Bad Gateway" },
                        { 503, "Service Unavailable" },
                        { 505, "HTTP Version Not Supported" } };

        for (size_t i = 0; i < COUNT(reasons); i++)
                if (reasons[i].status == status)
                        return reasons[i].reason;

        return "Answer";
}

void http_put_error(unsigned status, const char *why, bool close, bool head_only, struct fifo *out)
{
        char text[512];
        int n = snprintf(text, sizeof text, "cordon: %s\n", why);
        if (n < 0 || (size_t) n >= sizeof text)
                n = (int) strlen(text);

        fifo_printf(out,
                    "HTTP/1.1 %u %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"
                    "X-Cordon: refused\r\n%s\r\n",
                    status, http_reason(status), n, close ? "Connection: close\r\n" : "");
        if (!head_only)
                fifo_add(out, text, (size_t) n);
}
