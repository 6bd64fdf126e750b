/* SPDX-License-Identifier: MIT */
/* broker/egress/http/fixture.c - recorded exchanges: one JSON object a line.
 *
 *   {"method":"GET","url":"https://host/path?query","status":200,"headers":[["Content-Type","text/plain"]],
 *    "body":"text"}            or "body_base64":"...", if the body is not plain text
 *
 * Several answers to one request are given in their order; the last one then stays. Never: holds a secret
 * (they are scrubbed before a line is made). */
#include "base/base64.h"
#include "broker/egress/http/http_internal.h"

#include "base/json.h"
#include "base/str.h"

#include <stdlib.h>

enum { FIXTURES_MAX = ANSWERS_MAX_LINES + 1, PARAMETERS_MAX = 64 };

struct http_fixtures {
        struct arena mem;
        struct fixture *v;
        size_t n, cap;
};

static int fail_fixture(struct err *e, const char *file, unsigned line, const char *what)
{
        return err_set(e, ERR_IO, 0, "%s:%u: %s", file, line, what);
}

static bool clean_name(const char *s)
{
        for (; *s; s++)
                if ((uint8_t) *s < 0x20 || *s == 0x7f)
                        return false;
        return true;
}

/* Framing is ours: a recorded length or coding would contradict it. */
static bool own_field(const char *name)
{
        struct span s = span_str(name);
        return http_name_is(s, "content-length") || http_name_is(s, "transfer-encoding") ||
               http_name_is(s, "connection");
}

static int read_headers(const struct json *list, struct arena *mem, struct span *ret)
{
        struct fifo text = { 0 };
        int bad = list && list->type != JSON_ARRAY ? -1 : 0;
        for (const struct json *pair = list && !bad ? list->child : NULL; pair && !bad; pair = pair->next) {
                const struct json *name = pair->type == JSON_ARRAY ? pair->child : NULL;
                const struct json *value = name ? name->next : NULL;
                if (!value || value->next || name->type != JSON_STRING || value->type != JSON_STRING ||
                    !clean_name(name->str) || !clean_name(value->str) || !name->str[0] ||
                    strpbrk(name->str, ": \t")) {
                        bad = -1;
                        break;
                }
                if (!own_field(name->str)) {
                        fifo_text(&text, name->str);
                        fifo_text(&text, ": ");
                        fifo_text(&text, value->str);
                        fifo_text(&text, "\r\n");
                }
        }

        char *copy = arena_copy(mem, fifo_all(&text));
        *ret = span_of(copy, text.n);
        bad = bad || text.failed || !copy ? -1 : 0;
        fifo_done(&text);
        return bad;
}

static int read_body(const struct json *o, struct arena *mem, struct span *ret)
{
        const struct json *plain = json_get(o, "body"), *coded = json_get(o, "body_base64");
        if ((plain && coded) || (plain && plain->type != JSON_STRING) ||
            (coded && coded->type != JSON_STRING))
                return -1;

        if (!coded || coded->len == 0) {
                char *copy = arena_copy(mem, plain ? span_of(plain->str, plain->len) : span_str(""));
                *ret = span_of(copy, plain ? plain->len : 0);
                return copy ? 0 : -1;
        }

        uint8_t *bytes = arena_alloc(mem, coded->len);
        ssize_t n = bytes ? base64_read(span_of(coded->str, coded->len), bytes, coded->len) : -1;
        *ret = span_of(bytes, n > 0 ? (size_t) n : 0);
        return n < 0 ? -1 : 0;
}

/* Answers are found by the exact text of the URL: a URL in another form would never match. */
static bool as_asked(const char *url)
{
        bool tls = strncmp(url, "https://", 8) == 0, address;
        const char *rest = tls ? url + 8 : strncmp(url, "http://", 7) == 0 ? url + 7 : "", *why;
        size_t n = strcspn(rest, "/?#"), host = n;
        char canonical[256];

        if (rest[n] != '/' || strchr(rest, '#'))
                return false;

        for (size_t i = n; i > 0 && rest[i - 1] != ']' && host == n; i--)
                if (rest[i - 1] == ':')
                        host = i - 1;

        struct span port = span_of(rest + host, n - host);
        if (port.n == 1 || span_is(port, tls ? ":443" : ":80"))
                return false;

        return policy_host(span_of(rest, host), canonical, &address, &why) == 0 &&
               (rest[0] == '[' || span_is(span_of(rest, host), canonical));
}

static int read_one(struct http_fixtures *x, const struct json *o)
{
        const char *method = json_str(o, "method"), *url = json_str(o, "url");
        const struct json *status = json_get(o, "status");
        struct fixture f = { 0 };

        if (o->type != JSON_OBJECT || !method || !url || !status || status->type != JSON_INT ||
            status->integer < 200 || status->integer > 999 || x->n == x->cap)
                return -1;

        f.method = arena_str(&x->mem, method);
        f.url = arena_str(&x->mem, url);
        f.status = (unsigned) status->integer;
        if (!f.method || !f.url || read_headers(json_get(o, "headers"), &x->mem, &f.headers) < 0 ||
            read_body(o, &x->mem, &f.body) < 0)
                return -1;

        x->v[x->n++] = f;
        return 0;
}

static int read_line(struct http_fixtures *x, const char *file, unsigned number, struct span line,
                     struct err *e)
{
        struct err why = { 0 };
        if (line.n == 0)
                return 0;

        struct json_doc *d = json_parse(file, line, &why);
        int bad = !d || read_one(x, json_root(d)) < 0;
        json_free(d);
        if (bad)
                return fail_fixture(e, file, number,
                                    "not a recorded exchange (method, url, status, headers, body)");

        if (as_asked(x->v[x->n - 1].url))
                return 0;

        (void) fail_fixture(e, file, number, "no box asks for a URL that is written so");
        return err_hint(e, "as https://host/path?query: small letters, no :443, nothing behind #");
}

struct http_fixtures *http_fixtures_parse(const char *file, struct span text, struct err *e)
{
        size_t lines = 1;
        for (size_t i = 0; i < text.n; i++)
                lines += text.p[i] == '\n';

        struct http_fixtures *x = lines <= FIXTURES_MAX ? calloc(1, sizeof *x) : NULL;
        if (x)
                x->v = calloc(x->cap = lines, sizeof *x->v);

        if (!x || !x->v) {
                http_fixtures_free(x);
                (void) fail_fixture(e, file, 1, "too many recorded exchanges");
                return NULL;
        }

        for (unsigned number = 1; text.n > 0; number++)
                if (read_line(x, file, number, span_cut(&text, '\n'), e) < 0) {
                        http_fixtures_free(x);
                        return NULL;
                }

        return x;
}

void http_fixtures_free(struct http_fixtures *x)
{
        if (!x)
                return;
        arena_done(&x->mem);
        free(x->v);
        free(x);
}

struct fixture *fixture_find(struct http_fixtures *x, const struct fixture_key *key)
{
        struct fixture *last = NULL;
        for (size_t i = 0; x && i < x->n; i++) {
                struct fixture *f = &x->v[i];
                if (strcmp(f->method, key->method) != 0 || !span_is(key->url, f->url))
                        continue;
                last = f;
                if (!f->used)
                        break;
        }

        if (last)
                last->used = true;

        return last;
}

/* The URL without its parameter number `skip`; false: it has none of that number. */
static bool url_without(struct span url, size_t skip, struct fifo *out)
{
        const uint8_t *mark = memchr(url.p, '?', url.n);
        size_t at = mark ? (size_t) (mark - url.p) : url.n, number = 0;
        const char *sep = "?";
        bool left_out = false;

        fifo_add(out, url.p, at);
        while (at < url.n) {
                size_t from = at + 1;
                const uint8_t *end = memchr(url.p + from, '&', url.n - from);
                at = end ? (size_t) (end - url.p) : url.n;
                if (number++ == skip) {
                        left_out = true;
                        continue;
                }
                fifo_text(out, sep);
                fifo_add(out, url.p + from, at - from);
                sep = "&";
        }

        return left_out && !out->failed;
}

struct fixture *fixture_find_bound(struct http_fixtures *x, const struct fixture_key *key)
{
        struct fixture *found = fixture_find(x, key);
        for (size_t i = 0; !found && i < PARAMETERS_MAX; i++) {
                struct fifo url = { 0 };
                bool there = url_without(key->url, i, &url);
                const struct fixture_key shorter = { key->method, fifo_all(&url) };
                found = there ? fixture_find(x, &shorter) : NULL;
                fifo_done(&url);
                if (!there)
                        break;
        }

        return found;
}

static void put_headers(struct span lines, struct buf *out)
{
        const char *sep = "";
        while (lines.n > 0) {
                struct span value = span_cut(&lines, '\n'), name = span_cut(&value, ':');
                if (value.n < 2)
                        continue;
                buf_printf(out, "%s[", sep);
                buf_json(out, name);
                buf_putc(out, ',');
                buf_json(out, span_of(value.p + 1, value.n - 2)); /* between the space and the CR */
                buf_putc(out, ']');
                sep = ",";
        }
}

void fixture_print(const struct fixture_key *key, unsigned status, struct span headers, struct span body,
                   struct fifo *out)
{
        AUTO_BUF(line);
        buf_puts(&line, "{\"method\":");
        buf_json(&line, span_str(key->method));
        buf_puts(&line, ",\"url\":");
        buf_json(&line, key->url);
        buf_printf(&line, ",\"status\":%u,\"headers\":[", status);
        put_headers(headers, &line);
        if (str_is_utf8(body)) {
                buf_puts(&line, "],\"body\":");
                buf_json(&line, body);
        } else {
                buf_puts(&line, "],\"body_base64\":\"");
                base64_put(body, &line);
                buf_putc(&line, '"');
        }
        buf_puts(&line, "}\n");
        fifo_span(out, buf_span(&line));
        out->failed = out->failed || line.failed;
}
