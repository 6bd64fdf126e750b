/* SPDX-License-Identifier: MIT */
/* broker/http1/request_reader.c - reads requests. What two programs could read in two ways is refused
 * (http1/), as is a path that could name anything but what it says. Pure. */
#include "base/str.h"
#include "broker/http1/http1.h"

#include <string.h>
#include <strings.h>

static const char *const methods[] = {
        [METHOD_GET] = "GET", [METHOD_POST] = "POST", [METHOD_PUT] = "PUT", [METHOD_DELETE] = "DELETE"
};
_Static_assert(sizeof methods / sizeof *methods == METHOD__COUNT, "each method has a name");

static enum request_state bad_request(struct request_reader *q, unsigned status, const char *why)
{
        q->stage = READ_FAILED;
        q->status = status;
        q->why = why;
        return REQUEST_BAD;
}

void request_add(struct request_reader *q, const void *p, size_t n) { buf_add(&q->in, p, n); }

/* ---- the target ---- */

/* One character, perhaps as %XX; -1: malformed. */
static int decoded_char(struct span s, size_t *at)
{
        uint8_t c = s.p[(*at)++];
        if (c != '%')
                return c > 0x20 && c < 0x7f ? c : -1;

        int high = *at + 2 <= s.n ? str_hex(s.p[*at]) : -1, low = high < 0 ? -1 : str_hex(s.p[*at + 1]);
        *at += 2;
        return low < 0 ? -1 : high << 4 | low;
}

/* An escaped slash would be a separator for one reader and none for another. */
static bool decode_path(struct span s, bool form, char *ret, size_t cap)
{
        size_t n = 0;
        for (size_t at = 0; at < s.n;) {
                bool escaped = s.p[at] == '%';
                int c = form && s.p[at] == '+' ? (at++, ' ') : decoded_char(s, &at);
                if (c <= 0 || n + 1 >= cap || (!form && (c < 0x20 || c == 0x7f || (escaped && c == '/'))))
                        return false;
                ret[n++] = (char) c;
        }

        ret[n] = '\0';
        return str_is_utf8(span_of(ret, n));
}

static bool is_clean(const char *path)
{
        if (path[0] != '/')
                return false;

        for (const char *p = path; *p;) {
                const char *end = strchrnul(p + 1, '/');
                size_t n = (size_t) (end - p - 1);
                bool last = *end == '\0';
                if ((n == 0 && !(last && p == path)) || (n == 1 && p[1] == '.') ||
                    (n == 2 && p[1] == '.' && p[2] == '.'))
                        return false;
                p = end;
        }

        return true;
}

static bool take_target(struct http_request *r, struct span t)
{
        const uint8_t *mark = memchr(t.p, '?', t.n);
        struct span path = span_of(t.p, mark ? (size_t) (mark - t.p) : t.n);
        struct span query = mark ? span_of(mark + 1, t.n - path.n - 1) : (struct span){ 0 };
        if (query.n >= sizeof r->query || (query.n && memchr(query.p, '\0', query.n)))
                return false;

        if (query.n)
                memcpy(r->query, query.p, query.n);
        r->query[query.n] = '\0';
        return decode_path(path, false, r->path, sizeof r->path) && is_clean(r->path);
}

bool request_param(const struct http_request *r, const char *name, char *ret, size_t cap)
{
        size_t n = strlen(name);
        for (const char *p = r->query; *p;) {
                const char *end = strchrnul(p, '&');
                if (strncmp(p, name, n) == 0 && p[n] == '=')
                        return decode_path(span_of(p + n + 1, (size_t) (end - p) - n - 1), true, ret, cap);
                p = *end ? end + 1 : end;
        }

        return false;
}

bool request_has(const struct http_request *r, const char *name)
{
        size_t n = strlen(name);
        for (const char *p = r->query; *p;) {
                const char *end = strchrnul(p, '&');
                if (strncmp(p, name, n) == 0 && (p[n] == '=' || p + n == end))
                        return true;
                p = *end ? end + 1 : end;
        }

        return false;
}

bool request_is_word(const char *text, size_t max)
{
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
        size_t n = strspn(text, allowed);
        return n > 0 && n <= max && text[n] == '\0';
}

/* ---- the head ---- */

/* One field at most once. */
static bool take_text(const struct http_head *h, const char *name, char ret[REQUEST_TEXT_MAX])
{
        const struct http_field *f = http_field_find(h, name, NULL);
        ret[0] = '\0';
        if (!f)
                return true;

        if (f->value.n >= REQUEST_TEXT_MAX || http_field_find(h, name, f))
                return false;

        memcpy(ret, f->value.p, f->value.n);
        ret[f->value.n] = '\0';
        return true;
}

static bool take_token(const struct http_head *h, struct http_request *r)
{
        char text[REQUEST_TEXT_MAX];
        if (!take_text(h, "authorization", text))
                return false;

        r->token[0] = '\0';
        if (strncasecmp(text, "bearer ", 7) == 0)
                memcpy(r->token, text + 7, strlen(text + 7) + 1);
        return text[0] == '\0' || r->token[0] != '\0';
}

static bool take_fields(const struct http_head *h, struct http_request *r)
{
        const struct {
                const char *name;
                char *to;
        } texts[] = { { "host", r->host },
                      { "origin", r->origin },
                      { "idempotency-key", r->key },
                      { "x-request-id", r->id },
                      { "last-event-id", r->after },
                      { "range", r->range },
                      { "traceparent", r->trace },
                      { "mcp-protocol-version", r->mcp_version },
                      { "mcp-method", r->mcp_method },
                      { "mcp-name", r->mcp_name },
                      { "mcp-session-id", r->mcp_session } };
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                if (!take_text(h, texts[i].name, texts[i].to))
                        return false;

        char type[REQUEST_TEXT_MAX];
        if (!take_text(h, "content-type", type))
                return false;

        r->json = strncasecmp(type, "application/json", 16) == 0 && (type[16] == '\0' || type[16] == ';');
        r->events = http_has_token(h, "accept", "text/event-stream");
        r->async = http_has_token(h, "prefer", "respond-async");
        return take_token(h, r);
}

static enum http_method method_of(struct span m)
{
        for (enum http_method i = METHOD_GET; i < METHOD__COUNT; i++)
                if (span_is(m, methods[i]))
                        return i;
        return METHOD_OTHER;
}

static enum request_state read_head(struct request_reader *q)
{
        struct http_head h;
        struct http_request *r = &q->r;
        enum http_read got = http_head_request(buf_span(&q->in), &h);
        if (q->in.failed)
                return bad_request(q, 503, "out of memory");

        if (got != HTTP_WHOLE)
                return got == HTTP_MORE ? REQUEST_MORE : bad_request(q, h.answer, effect_reason_text(h.why));

        if (h.upgrade)
                return bad_request(q, 400, "this server does not upgrade connections");

        if (!take_target(r, h.target))
                return bad_request(q, 400, "the path is malformed");

        if (!take_fields(&h, r))
                return bad_request(q, 400, "a header field is given twice, too long or malformed");

        r->method = method_of(h.method);
        r->close = h.close;
        r->length = h.chunked ? UINT64_MAX : h.length;
        http_body_of(&h, &q->left);
        q->expects = h.expect_continue;
        buf_drop(&q->in, h.bytes);
        q->body.n = 0;
        q->stage = READ_ACCEPT;
        return REQUEST_HEADED;
}

void request_accept(struct request_reader *q, size_t body_max)
{
        q->body_max = body_max;
        q->stage = READ_BODY;
}

/* ---- the body ---- */

static enum request_state read_body(struct request_reader *q)
{
        size_t at = 0;
        enum body_state s = BODY_MORE;
        if (q->r.length != UINT64_MAX && q->r.length > q->body_max)
                return bad_request(q, 413, "the body is too long");

        do {
                size_t used = 0;
                struct span data = { 0 };
                s = http_body_next(&q->left, span_of(q->in.n ? q->in.p + at : NULL, q->in.n - at), &used,
                                   &data);
                at += used;
                if (s == BODY_BAD)
                        return bad_request(q, 400, effect_reason_text(q->left.why));

                if (s == BODY_DATA && data.n > q->body_max - q->body.n)
                        return bad_request(q, 413, "the body is too long");

                if (s == BODY_DATA)
                        buf_add(&q->body, data.p, data.n);
        } while (s == BODY_DATA);

        buf_drop(&q->in, at);
        if (q->body.failed)
                return bad_request(q, 503, "out of memory");

        q->stage = s == BODY_END ? READ_DONE : READ_BODY;
        return s == BODY_END ? REQUEST_WHOLE : REQUEST_MORE;
}

enum request_state request_step(struct request_reader *q)
{
        switch (q->stage) {
        case READ_HEAD:
                return read_head(q);
        case READ_ACCEPT:
                return REQUEST_HEADED;
        case READ_BODY:
                return read_body(q);
        case READ_DONE:
                return REQUEST_WHOLE;
        case READ_FAILED:
                break;
        }
        return REQUEST_BAD;
}

void request_next(struct request_reader *q)
{
        q->stage = READ_HEAD;
        q->expects = false;
        q->body.n = 0;
}

void request_done(struct request_reader *q)
{
        buf_done(&q->in);
        buf_done(&q->body);
}
