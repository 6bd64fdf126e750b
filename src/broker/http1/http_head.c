/* SPDX-License-Identifier: MIT */
/* broker/http1/http_head.c - the strict parser of request and response heads. Input that two programs could
 * parse in two ways is rejected: bare line ends, folded lines, two lengths, a length and a coding, spaces
 * around names. Never: repairs. Pure. */
#include "broker/http1/http1.h"

#include "base/str.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static enum http_read bad_head(struct http_head *h, unsigned answer, enum effect_reason why)
{
        h->answer = answer;
        h->why = why;
        return HTTP_BAD;
}

static char lower(uint8_t c) { return (char) (c >= 'A' && c <= 'Z' ? c | 0x20 : c); }

/* token characters of RFC 9110 */
static bool is_token(struct span s)
{
        for (size_t i = 0; i < s.n; i++) {
                uint8_t c = s.p[i];
                bool letter = (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
                if (!letter && (c == 0 || !strchr("!#$%&'*+-.^_`|~", c)))
                        return false;
        }

        return s.n > 0;
}

static bool equal_fold(struct span a, const char *b)
{
        if (a.n != strlen(b))
                return false;
        for (size_t i = 0; i < a.n; i++)
                if (lower(a.p[i]) != lower((uint8_t) b[i]))
                        return false;
        return true;
}

/* CGI's variables have '_' for '-', and in lighttpd and old Apaches for every other character as well. */
static char fold_char(uint8_t c)
{
        char l = lower(c);
        return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') ? l : '-';
}

bool http_name_same(struct span name, const char *want)
{
        size_t i = 0;
        while (i < name.n && fold_char(name.p[i]) == fold_char((uint8_t) want[i]))
                i++;
        return i == name.n;
}

bool http_name_in(struct span name, const struct http_word *list, size_t count)
{
        for (size_t i = 0; i < count; i++)
                if (list[i].n == name.n && http_name_is(name, list[i].text))
                        return true;
        return false;
}

const struct http_field *http_field_find(const struct http_head *h, const char *name,
                                         const struct http_field *after)
{
        for (const struct http_field *f = after ? after + 1 : h->field; f < h->field + h->field_count; f++)
                if (http_name_is(f->name, name))
                        return f;
        return NULL;
}

struct span http_trim(struct span s)
{
        while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
                s = span_of(s.p + 1, s.n - 1);
        while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
                s.n--;
        return s;
}

bool http_next_element(struct span list, size_t *at, struct span *ret)
{
        if (*at > list.n)
                return false;

        const uint8_t *comma = *at < list.n ? memchr(list.p + *at, ',', list.n - *at) : NULL;
        size_t end = comma ? (size_t) (comma - list.p) : list.n;
        *ret = http_trim(span_of(list.p + *at, end - *at));
        *at = end + 1;
        return true;
}

bool http_has_token(const struct http_head *h, const char *name, const char *token)
{
        for (const struct http_field *f = NULL; (f = http_field_find(h, name, f));) {
                struct span e;
                for (size_t at = 0; http_next_element(f->value, &at, &e);)
                        if (equal_fold(e, token))
                                return true;
        }

        return false;
}

static const struct http_word hop_names[] = {
        HTTP_WORD("connection"),
        HTTP_WORD("keep-alive"),
        HTTP_WORD("proxy-connection"),
        HTTP_WORD("te"),
        HTTP_WORD("trailer"),
        HTTP_WORD("transfer-encoding"),
        HTTP_WORD("upgrade"),
        HTTP_WORD("proxy-authenticate"),
        HTTP_WORD("proxy-authorization"),
        HTTP_WORD("proxy-authentication-info"),
        HTTP_WORD("http2-settings"),
        HTTP_WORD("expect"),
        HTTP_WORD("content-length"),
};

bool http_is_hop(const struct http_head *h, struct span name)
{
        char text[64];
        if (http_name_in(name, hop_names, COUNT(hop_names)))
                return true;

        if (name.n >= sizeof text)
                return false;

        memcpy(text, name.p, name.n);
        text[name.n] = '\0';
        return http_has_token(h, "connection", text);
}

/* ---- lines ---- */

/* The line at `at` without its CRLF; false: incomplete, or a bare CR or LF. */
static bool head_line(struct span in, size_t at, struct span *ret)
{
        const uint8_t *lf = memchr(in.p + at, '\n', in.n - at);
        if (!lf || lf == in.p + at || lf[-1] != '\r')
                return false;
        *ret = span_of(in.p + at, (size_t) (lf - 1 - (in.p + at)));
        return ret->n == 0 || !memchr(ret->p, '\r', ret->n);
}

static bool clean_value(struct span v)
{
        for (size_t i = 0; i < v.n; i++)
                if ((v.p[i] < 0x20 && v.p[i] != '\t') || v.p[i] == 0x7f)
                        return false;
        return true;
}

_Static_assert(HTTP_FIELDS_MAX == 256, "as it is said below");
static enum http_read read_field(struct http_head *h, struct span l)
{
        if (l.p[0] == ' ' || l.p[0] == '\t')
                return bad_head(h, 400, REASON_HEADER_FOLDED);

        if (h->field_count == HTTP_FIELDS_MAX)
                return bad_head(h, 431, REASON_HEADER_COUNT);

        const uint8_t *colon = memchr(l.p, ':', l.n);
        struct span name = span_of(l.p, colon ? (size_t) (colon - l.p) : l.n);
        if (!colon || !is_token(name))
                return bad_head(h, 400, REASON_HEADER_NAME);

        struct span value = http_trim(span_of(colon + 1, l.n - name.n - 1));
        if (!clean_value(value))
                return bad_head(h, 400, REASON_HEADER_BYTE);

        h->field[h->field_count++] = (struct http_field){ name, value };
        return HTTP_WHOLE;
}

static enum http_read read_fields(struct span in, size_t at, struct http_head *h)
{
        for (;;) {
                struct span l;
                if (!head_line(in, at, &l))
                        return bad_head(h, 400, REASON_LINE_END);
                at += l.n + 2;
                if (l.n == 0)
                        break;
                if (read_field(h, l) == HTTP_BAD)
                        return HTTP_BAD;
        }

        h->bytes = at;
        return HTTP_WHOLE;
}

bool http_trailer_read(struct span lines, struct http_head *h)
{
        h->field_count = 0;
        for (size_t at = 0; at < lines.n;) {
                struct span l;
                if (!head_line(lines, at, &l) || l.n == 0 || read_field(h, l) == HTTP_BAD)
                        return false;
                at += l.n + 2;
        }

        return true;
}

/* ---- framing ---- */

/* Each field is compared with each of these names; no client needs more. */
enum { HOPS_MAX = 64 };
static bool has_many_hops(const struct http_head *h)
{
        size_t n = 0;
        for (const struct http_field *f = NULL; (f = http_field_find(h, "connection", f));) {
                struct span e;
                for (size_t at = 0; n <= HOPS_MAX && http_next_element(f->value, &at, &e);)
                        n++;
        }

        return n > HOPS_MAX;
}

static enum http_read read_framing(struct http_head *h)
{
        const struct http_field *te = http_field_find(h, "transfer-encoding", NULL);
        const struct http_field *cl = http_field_find(h, "content-length", NULL);
        if (te && cl)
                return bad_head(h, 400, REASON_LENGTH_AND_CODING);

        if ((te && http_field_find(h, "transfer-encoding", te)) ||
            (cl && http_field_find(h, "content-length", cl)))
                return bad_head(h, 400, REASON_LENGTH_TWICE);

        if (te && (h->http10 || !equal_fold(te->value, "chunked")))
                return bad_head(h, 501, REASON_CODING);

        if (cl && str_to_u64(cl->value, &h->length) < 0)
                return bad_head(h, 400, REASON_LENGTH);

        if (has_many_hops(h))
                return bad_head(h, 400, REASON_CONNECTION_NAMES);

        h->chunked = te != NULL;
        h->has_length = cl != NULL;
        h->close = http_has_token(h, "connection", "close") ||
                   (h->http10 && !http_has_token(h, "connection", "keep-alive"));
        h->upgrade =
                http_field_find(h, "upgrade", NULL) != NULL || http_has_token(h, "connection", "upgrade");
        return HTTP_WHOLE;
}

static bool head_version(struct span v, bool *ret_http10)
{
        *ret_http10 = span_is(v, "HTTP/1.0");
        return *ret_http10 || span_is(v, "HTTP/1.1");
}

/* The first line, when all of the head is here. */
static enum http_read begin_head(struct span in, struct http_head *h, struct span *ret_line)
{
        h->field_count = 0;
        h->http10 = h->chunked = h->has_length = h->close = h->upgrade = h->expect_continue = false;
        h->status = 0;
        h->length = 0;
        h->method = h->target = h->reason = (struct span){ 0 };
        h->why = REASON_NONE;
        const uint8_t *lf = in.n ? memchr(in.p, '\n', in.n) : NULL;
        if (lf && (lf == in.p || lf[-1] != '\r'))
                return bad_head(h, 400, REASON_LINE_END);

        const uint8_t *end = in.n ? memmem(in.p, in.n, "\r\n\r\n", 4) : NULL;
        if ((end ? (size_t) (end - in.p) : in.n) > HTTP_HEAD_MAX)
                return bad_head(h, 431, REASON_HEAD_TOO_LONG);

        if (!end)
                return HTTP_MORE;

        return head_line(in, 0, ret_line) ? HTTP_WHOLE : bad_head(h, 400, REASON_LINE_END);
}

static bool is_content(struct span name)
{
        static const char word[] = "content-";
        return name.n >= sizeof word - 1 && http_name_same(span_of(name.p, sizeof word - 1), word);
}

static bool is_spelled_out(struct span name)
{
        for (size_t i = 0; i < name.n; i++)
                if (fold_char(name.p[i]) == '-' && name.p[i] != '-')
                        return false;
        return true;
}

/* Content-Type and its like decide how a body is parsed, here and by the server, so both must see them: a
 * field that Connection names ends at this hop, and Content_Type is dropped by half of all servers. Some
 * servers treat a body without a type as a form. */
static bool hides_body(const struct http_head *h)
{
        for (const struct http_field *f = NULL; (f = http_field_find(h, "connection", f));) {
                struct span e;
                for (size_t at = 0; http_next_element(f->value, &at, &e);)
                        if (is_content(e))
                                return true;
        }

        for (size_t i = 0; i < h->field_count; i++)
                if (is_content(h->field[i].name) && !is_spelled_out(h->field[i].name))
                        return true;

        return false;
}

enum http_read http_head_request(struct span in, struct http_head *h)
{
        struct span l;
        enum http_read r = begin_head(in, h, &l);
        if (r != HTTP_WHOLE)
                return r;

        const uint8_t *a = memchr(l.p, ' ', l.n);
        const uint8_t *b = a ? memchr(a + 1, ' ', l.n - (size_t) (a + 1 - l.p)) : NULL;
        if (!b)
                return bad_head(h, 400, REASON_REQUEST_LINE);

        h->method = span_of(l.p, (size_t) (a - l.p));
        h->target = span_of(a + 1, (size_t) (b - a - 1));
        if (!head_version(span_of(b + 1, l.n - (size_t) (b + 1 - l.p)), &h->http10))
                return bad_head(h, 505, REASON_HTTP_VERSION);

        if (!is_token(h->method) || h->method.n > 32 || h->target.n == 0)
                return bad_head(h, 400, REASON_REQUEST_LINE);

        if (read_fields(in, l.n + 2, h) == HTTP_BAD || read_framing(h) == HTTP_BAD)
                return HTTP_BAD;

        if (hides_body(h))
                return bad_head(h, 400, REASON_BODY_UNCLEAR);

        const struct http_field *host = http_field_find(h, "host", NULL);
        if (!host || http_field_find(h, "host", host))
                return bad_head(h, 400, REASON_HOST_COUNT);

        const struct http_field *expect = http_field_find(h, "expect", NULL);
        if (expect && (h->http10 || !equal_fold(expect->value, "100-continue")))
                return bad_head(h, 417, REASON_EXPECTATION);

        h->expect_continue = expect != NULL;
        return HTTP_WHOLE;
}

enum http_read http_head_response(struct span in, struct http_head *h)
{
        struct span l;
        enum http_read r = begin_head(in, h, &l);
        uint64_t status;

        if (r != HTTP_WHOLE)
                return r;

        if (l.n < 12 || l.p[8] != ' ' || (l.n > 12 && l.p[12] != ' ') ||
            !head_version(span_of(l.p, 8), &h->http10) || str_to_u64(span_of(l.p + 9, 3), &status) < 0 ||
            status < 100) /* a status beyond 599 means nothing to a proxy, and some servers send it */
                return bad_head(h, 502, REASON_STATUS_LINE);

        h->status = (unsigned) status;
        h->reason = l.n > 13 ? span_of(l.p + 13, l.n - 13) : (struct span){ 0 };
        if (!clean_value(h->reason))
                return bad_head(h, 502, REASON_STATUS_BYTE);

        if (read_fields(in, l.n + 2, h) == HTTP_BAD || read_framing(h) == HTTP_BAD) {
                h->answer = 502;
                return HTTP_BAD;
        }

        return HTTP_WHOLE;
}
