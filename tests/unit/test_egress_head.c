/* SPDX-License-Identifier: MIT */
/* Heads, targets and bodies: what is read, and every form that two readers could take in two ways. */
#include "test_egress_common.h"

#define S(text) text, sizeof(text) - 1
#define H       "Host: api.test\r\n"

struct row {
        const char *bytes;
        size_t n;
        unsigned answer; /* 0: must be read */
};

static void check_requests(const struct row *rows, size_t count)
{
        static struct http_head h;
        for (size_t i = 0; i < count; i++) {
                enum http_read r = http_head_request(span_of(rows[i].bytes, rows[i].n), &h);
                bool right = rows[i].answer ? r == HTTP_BAD && h.answer == rows[i].answer : r == HTTP_WHOLE;
                if (!right) {
                        char shown[200];
                        printf("# row %zu: %s: %d %u %s\n", i,
                               str_inert(span_of(rows[i].bytes, rows[i].n), shown, sizeof shown), r,
                               r == HTTP_BAD ? h.answer : 0, effect_reason_text(h.why));
                }
                CHECK(right);
        }
}

static void test_head__plain_requests_are_read(void)
{
        static const struct row rows[] = {
                { S("GET / HTTP/1.1\r\n" H "\r\n"), 0 },
                { S("GET / HTTP/1.0\r\n" H "\r\n"), 0 },
                { S("POST /x?y=z HTTP/1.1\r\nhOsT:\tapi.test \r\nContent-Length: 12\r\n\r\n"), 0 },
                { S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: Chunked\r\n\r\n"), 0 },
                { S("GET / HTTP/1.1\r\n" H "X-Empty:\r\n\r\n"), 0 },
                { S("GET / HTTP/1.1\r\n" H "X-High: \xc3\xa9\r\n\r\n"), 0 },
                { S("PUT / HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 0\r\n\r\n"), 0 },
                { S("GET / HTTP/1.1\r\n" H "\r\nGET /more HTTP/1.1\r\n"), 0 },
        };
        check_requests(rows, COUNT(rows));
}

static void test_head__what_has_two_readings_is_refused(void)
{
        static const struct row rows[] = {
                { S("GET / HTTP/1.1\n" H "\r\n"), 400 },
                { S("GET / HTTP/1.1\r\nHost: api.test\n\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "X: a\rb\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "X: a\r\n folded\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "X: a\r\n\tfolded\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n X: a\r\n" H "\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "X : a\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "X\t: a\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H ": a\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "no colon\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "no-colon\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "X{Y: a\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "X\x80Y: a\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "X: a\0b\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "X\0Y: b\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "X: a\x7f\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "X: a\x0b\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H H "\r\n"), 400 },
                { S("GET / HTTP/1.1\r\n" H "Host: evil.test\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Content-Length: 1\r\nContent-Length: 1\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Content-Length: 1\r\nContent_Length: 2\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Content-Length: 1, 1\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Content-Length: +1\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Content-Length: -1\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Content-Length: 01\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Content-Length: 0x1\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Content-Length: 1 1\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Content-Length:\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Content-Length: 99999999999999999999\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nContent_Length: 5\r\n\r\n"), 400 },
                { S("POST / HTTP/1.1\r\n" H
                    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
                  400 },
                { S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip, chunked\r\n\r\n"), 501 },
                { S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, identity\r\n\r\n"), 501 },
                { S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: xchunked\r\n\r\n"), 501 },
                /* as long as the right word */
                { S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: deflate\r\n\r\n"), 501 },
                { S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunkee\r\n\r\n"), 501 },
                { S("GET / HTTP/1.1\r\n" H "Expect: 200-continue\r\n\r\n"), 417 },
                { S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: \"chunked\"\r\n\r\n"), 501 },
                { S("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked;q=1\r\n\r\n"), 501 },
                { S("POST / HTTP/1.1\r\n" H "Transfer-Encoding:\r\n\r\n"), 501 },
                { S("POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n\r\n"), 501 },
                { S("GET / HTTP/1.1\r\n" H "Expect: something\r\n\r\n"), 417 },
                { S("GET /a b HTTP/1.1\r\n" H "\r\n"), 505 },
                { S("GET  / HTTP/1.1\r\n" H "\r\n"), 505 },
                { S("GET / HTTP/1.1 \r\n" H "\r\n"), 505 },
                { S("GET /\r\n" H "\r\n"), 400 },
                { S("GET\t/\tHTTP/1.1\r\n" H "\r\n"), 400 },
                { S("G(T / HTTP/1.1\r\n" H "\r\n"), 400 },
                { S(" GET / HTTP/1.1\r\n" H "\r\n"), 505 },
                { S("GET / http/1.1\r\n" H "\r\n"), 505 },
                { S("GET / HTTP/1.2\r\n" H "\r\n"), 505 },
                { S("GET / HTTP/01.1\r\n" H "\r\n"), 505 },
                { S("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505 },
                { S("\r\nGET / HTTP/1.1\r\n" H "\r\n"), 400 },
                { S("\nGET / HTTP/1.1\r\n" H "\r\n"), 400 },
        };
        check_requests(rows, COUNT(rows));
}

static void test_head__sizes_are_bounded(void)
{
        static struct http_head h;
        AUTO_BUF(b);
        buf_puts(&b, "GET / HTTP/1.1\r\n" H);
        for (int i = 0; i < HTTP_FIELDS_MAX; i++)
                buf_printf(&b, "X-%d: y\r\n", i);
        buf_puts(&b, "\r\n");
        CHECK_INT(http_head_request(buf_span(&b), &h), HTTP_BAD);
        CHECK_INT(h.answer, 431);
        AUTO_BUF(c);
        buf_puts(&c, "GET / HTTP/1.1\r\n" H "X: ");
        while (c.n <= HTTP_HEAD_MAX)
                buf_puts(&c, "aaaaaaaaaaaaaaaa");
        CHECK_INT(http_head_request(buf_span(&c), &h), HTTP_BAD);
        CHECK_INT(h.answer, 431);
}

/* Else 200 headers are held against thousands of names, in each request and answer. */
static void test_head__connection_names_few_headers(void)
{
        static struct http_head h;
        for (unsigned n = 64; n <= 65; n++) {
                AUTO_BUF(b);
                buf_puts(&b, "GET / HTTP/1.1\r\n" H "Connection: close");
                for (unsigned i = 1; i < n; i++)
                        buf_puts(&b, i % 2 ? ",x" : "\r\nConnection: x");
                buf_puts(&b, "\r\n\r\n");
                CHECK_INT(http_head_request(buf_span(&b), &h), n == 64 ? HTTP_WHOLE : HTTP_BAD);
        }
}

static void test_head__a_head_in_any_pieces_waits_for_its_end(void)
{
        static struct http_head h;
        static const char text[] = "POST /x HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\n";
        for (size_t n = 0; n < sizeof text - 1; n++)
                CHECK_INT(http_head_request(span_of(text, n), &h), HTTP_MORE);
        CHECK_INT(http_head_request(span_str(text), &h), HTTP_WHOLE);
        CHECK_INT(h.bytes, sizeof text - 1);
        CHECK_INT(h.length, 3);
}

static void test_head__answers_are_read_as_strictly(void)
{
        static const struct row rows[] = {
                { S("HTTP/1.1 200 OK\r\n\r\n"), 0 },
                { S("HTTP/1.1 200\r\n\r\n"), 0 },
                { S("HTTP/1.1 200 \r\n\r\n"), 0 },
                { S("HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n"), 0 },
                { S("HTTP/1.1 200 OK\n\r\n\r\n"), 502 },
                { S("HTTP/1.1  200 OK\r\n\r\n"), 502 },
                { S("HTTP/1.1-200 OK\r\n\r\n"), 502 },
                { S("HTTP/1.1 20 OK\r\n\r\n"), 502 },
                { S("HTTP/1.1 2000 OK\r\n\r\n"), 502 },
                { S("HTTP/1.1 099 OK\r\n\r\n"), 502 },
                { S("HTTP/1.1 000 OK\r\n\r\n"), 502 },
                { S("HTTP/1.1 600 OK\r\n\r\n"), 0 }, /* LinkedIn says 999 */
                { S("HTTP/1.1 999 Request denied\r\n\r\n"), 0 },
                { S("HTTP/2 200 OK\r\n\r\n"), 502 },
                { S("ICY 200 OK\r\n\r\n"), 502 },
                { S("HTTP/1.1 200 O\0K\r\n\r\n"), 502 },
                { S("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), 502 },
                { S("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), 502 },
                { S("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"), 502 },
                { S("HTTP/1.1 200 OK\r\nTransfer-Encoding: deflate\r\n\r\n"), 502 },
                { S("HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n"), 502 },
        };
        static struct http_head h;
        for (size_t i = 0; i < COUNT(rows); i++) {
                enum http_read r = http_head_response(span_of(rows[i].bytes, rows[i].n), &h);
                if ((r == HTTP_BAD ? 502u : 0) != rows[i].answer)
                        printf("# row %zu: %s\n", i, effect_reason_text(h.why));
                CHECK_INT(r == HTTP_BAD ? 502 : 0, rows[i].answer);
        }
}

/* ---- targets ---- */

static const struct http_peer peer = { .host = "api.test", .port = 80 };

static const char *read_target(const char *target, const char *host, const struct http_peer *p, bool tls)
{
        static struct http_head h;
        static struct http_url u;
        static char text[4096];
        enum effect_reason why = REASON_NONE;
        AUTO_BUF(b);
        buf_printf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, host);
        if (http_head_request(buf_span(&b), &h) != HTTP_WHOLE)
                return "unread";
        if (http_target_read(&h, p, tls, &u, &why) < 0)
                return NULL;
        (void) snprintf(text, sizeof text, "%s", u.path);
        return text;
}

static void test_target__one_canonical_path_or_none(void)
{
        static const struct {
                const char *target, *path; /* NULL: refused */
        } rows[] = {
                { "/", "/" },
                { "/a/b?c=/../d", "/a/b" },
                { "/%61%2d%7E", "/a-~" },
                { "/%c3%a9", "/%C3%A9" },
                { "/a%20b", "/a%20b" },
                { "/A", "/A" },
                { "/a/", "/a/" },
                { "http://api.test/x", "/x" },
                { "http://API.test.:80/x", "/x" },
                { "http://api.test", "/" },
                { "/a/../b", NULL },
                { "/..", NULL },
                { "/a/./b", NULL },
                { "/%2e%2e/b", NULL },
                { "/.%2e/b", NULL },
                { "//a", NULL },
                { "/a//b", NULL },
                { "/a%2fb", "/a/b" }, /* judged as a slash; what the door must be is the flow's to say */
                { "/a%2Fb", "/a/b" },
                { "/a%2f..", NULL },
                { "/a%2f%2fb", NULL },
                { "/a%5cb", NULL },
                { "/a\\b", NULL },
                { "/a%00b", NULL },
                { "/a%0ab", NULL },
                { "/a%252fb", NULL },
                { "/a%25", NULL },
                { "/a;b", NULL },
                { "/a%3bb", NULL },
                { "/a%", NULL },
                { "/a%2", NULL },
                { "/a%zz", NULL },
                { "/a%g1%80%80%80", NULL },
                { "/a%1g", NULL },
                { "/a%ff", NULL },
                { "/a%c0%af", NULL },
                { "/a#b", NULL },
                { "/a?b#c", NULL },
                { "/a?b%00c", NULL },
                { "/a?b=1000", "/a" },
                { "/\xc3\xa9", NULL },
                { "/a*", "/a%2A" }, /* either spelling is judged, and sent, as the escape */
                { "/a%2a", "/a%2A" },
                { "/**", "/%2A%2A" },
                { "/a[1]|b^c`{d}", "/a%5B1%5D%7Cb%5Ec%60%7Bd%7D" },
                { "/a%5b1%5d%7cb%5ec%60%7bd%7d", "/a%5B1%5D%7Cb%5Ec%60%7Bd%7D" },
                { "/a\"<b>", "/a%22%3Cb%3E" },
                { "/a%2f*[", "/a/%2A%5B" },
                { "/a?b=\\`\"<>|^", "/a" },
                { "*", NULL },
                { "a", NULL },
                { "?", NULL },
                { "api.test:80", NULL },
                { "https://api.test/x", NULL },
                { "HTTP://api.test/x", NULL },
                { "http://evil.test/x", NULL },
                { "http://api.test:81/x", NULL },
                { "http://user@api.test/x", NULL },
                { "http://api.test@evil.test/x", NULL },
                { "http://api.test?x", NULL },
                { "http:///x", NULL },
                { "ftp://api.test/x", NULL },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                const char *got = read_target(rows[i].target, "api.test", &peer, false);
                if (!got != !rows[i].path)
                        printf("# %s: %s\n", rows[i].target, got ? got : "refused");
                CHECK(!got == !rows[i].path);
                if (got && rows[i].path)
                        CHECK_STR(got, rows[i].path);
        }
}

/* A head is longer than the buffers that a path is read into. */
static void test_target__paths_are_bounded(void)
{
        static const struct {
                const char *part;
                size_t count;
                bool ok;
        } rows[] = {
                { "/aaaaaaa", HTTP_PATH_MAX / 8 - 1,
                  true }, /* with the slash before, one byte is left for the end */
                { "/aaaaaaa", HTTP_PATH_MAX / 8, false },
                { "/aaaaaaa", 2 * HTTP_PATH_MAX / 8, false },
                { "%2fa", 60, true }, /* of each slash it is kept whether it was escaped */
                { "%2fa", 200, false },
                { "/a", 400, true },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                AUTO_BUF(path);
                buf_printf(&path, "/x");
                for (size_t k = 0; k < rows[i].count; k++)
                        buf_printf(&path, "%s", rows[i].part);
                bool got = read_target(buf_str(&path), "api.test", &peer, false) != NULL;
                if (got != rows[i].ok)
                        printf("# %zu times %s: %s\n", rows[i].count, rows[i].part, got ? "read" : "refused");
                CHECK(got == rows[i].ok);
        }
}

static void test_target__host_must_be_the_peer(void)
{
        static const struct {
                const char *host;
                bool ok;
        } rows[] = {
                { "api.test", true },      { "API.TEST", true },        { "api.test.", true },
                { "api.test:80", true },   { "api.test:8080", false },  { "api.test:", false },
                { "api.test:080", false }, { "evil.test", false },      { "api.test.evil.test", false },
                { "a@api.test", false },   { "api.test:80:80", false }, { "api.test, evil.test", false },
                { "api.test/x", false },   { "*.test", false },         { "", false },
                { "127.0.0.1", false },    { "api%2etest", false },     { "[::1]", false },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                bool got = read_target("/", rows[i].host, &peer, false) != NULL;
                if (got != rows[i].ok)
                        printf("# %s\n", rows[i].host);
                CHECK_INT(got, rows[i].ok);
        }
        const struct http_peer six = { .host = "2001:db8::7", .is_address = true, .port = 443 };
        CHECK(read_target("/", "[2001:db8::7]", &six, true) != NULL);
        CHECK(read_target("/", "[2001:0db8:0::7]:443", &six, true) != NULL);
        CHECK(read_target("/", "[2001:db8::8]", &six, true) == NULL);
        CHECK(read_target("/", "[2001:db8::7]", &six, false) == NULL);
}

/* ---- bodies ---- */

/* The body, or NULL: refused, or not whole. */
static const char *read_body(struct span in, size_t cut, size_t *ret_left)
{
        static char text[4096];
        struct http_body b;
        size_t n = 0, have = 0;
        http_body_init(&b, BODY_CHUNKED, 0);
        for (size_t at = 0; at < in.n || have < in.n;) {
                have = have + cut < in.n ? have + cut : in.n;
                for (;;) {
                        size_t used;
                        struct span data;
                        enum body_state s = http_body_next(&b, span_of(in.p + at, have - at), &used, &data);
                        at += used;
                        if (s == BODY_BAD)
                                return NULL;
                        if (data.n)
                                memcpy(text + n, data.p, data.n);
                        n += data.n;
                        if (s == BODY_END) {
                                text[n] = '\0';
                                *ret_left = in.n - at;
                                return text;
                        }
                        if (s == BODY_MORE)
                                break;
                }
                if (have == in.n)
                        break;
        }
        return NULL;
}

static void test_body__chunks_in_any_pieces(void)
{
        static const struct {
                const char *bytes;
                size_t n;
                const char *body; /* NULL: refused or unfinished */
                size_t left;
        } rows[] = {
                { S("0\r\n\r\n"), "", 0 },
                { S("5\r\nhello\r\n0\r\n\r\n"), "hello", 0 },
                { S("5\r\nhello\r\n1\r\n!\r\n0\r\n\r\nGET /"), "hello!", 5 },
                { S("A\r\n0123456789\r\n00\r\n\r\n"), "0123456789", 0 },
                { S("1\r\nx\r\n0\r\nTrailer: y\r\nOther: z\r\n\r\n"), "x", 0 },
                { S("5\r\nhello"), NULL, 0 },
                { S("5\nhello\n0\n\n"), NULL, 0 },
                { S("5\r\nhello!\r\n0\r\n\r\n"), NULL, 0 },
                { S("5;ext=1\r\nhello\r\n0\r\n\r\n"), NULL, 0 },
                { S("5 \r\nhello\r\n0\r\n\r\n"), NULL, 0 },
                { S(" 5\r\nhello\r\n0\r\n\r\n"), NULL, 0 },
                { S("0x5\r\nhello\r\n0\r\n\r\n"), NULL, 0 },
                { S("+5\r\nhello\r\n0\r\n\r\n"), NULL, 0 },
                { S("-5\r\nhello\r\n0\r\n\r\n"), NULL, 0 },
                { S("\r\nhello\r\n0\r\n\r\n"), NULL, 0 },
                { S("g\r\n"), NULL, 0 },
                { S("5\r\r\nhello\r\n0\r\n\r\n"), NULL, 0 },
                { S("5\r\nhello\r0\r\n\r\n"), NULL, 0 },
                { S("0\r\nX: \0\r\n\r\n"), NULL, 0 },
                { S("0\r\nX\n\r\n"), NULL, 0 },
                { S("10000000000000000\r\nx"), NULL, 0 },
                { S("ffffffffffffffff\r\nx"), NULL, 0 },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                for (size_t cut = 1; cut <= rows[i].n; cut++) {
                        size_t left = 0;
                        const char *got = read_body(span_of(rows[i].bytes, rows[i].n), cut, &left);
                        if (!got != !rows[i].body)
                                printf("# row %zu cut %zu: %s\n", i, cut, got ? got : "refused");
                        CHECK(!got == !rows[i].body);
                        if (got && rows[i].body)
                                CHECK_STR(got, rows[i].body);
                        if (got && cut == rows[i].n)
                                CHECK_INT(left, rows[i].left);
                }
        }
}

/* Lawful, though hardly used; some servers fill the line with blanks. */
static void test_body__what_stands_behind_a_size_in_an_answer(void)
{
        AUTO_BUF(longest);
        AUTO_BUF(longer);
        buf_puts(&longest, "2;");
        for (unsigned i = 0; i < HTTP_EXTENSION_MAX; i++)
                buf_putc(&longest, 'e');
        buf_printf(&longer, "%se\r\nok\r\n0\r\n\r\n", buf_str(&longest));
        buf_puts(&longest, "\r\nok\r\n0\r\n\r\n");
        const struct {
                const char *bytes;
                bool fine;
        } rows[] = {
                { "2;a=b\r\nok\r\n0;last\r\n\r\n", true },
                { "2  \r\nok\r\n0 \t\r\n\r\n", true },
                { "2 ; a=\"q\"\r\nok\r\n0\r\n\r\n", true },
                { "2;\r\nok\r\n0\r\n\r\n", true },
                { buf_str(&longest), true },
                { buf_str(&longer), false },
                { "2;a\nok\r\n0\r\n\r\n", false },
                { "2;a\r\rok\r\n0\r\n\r\n", false },
                { "2;a\001\r\nok\r\n0\r\n\r\n", false },
                { ";a\r\nok\r\n0\r\n\r\n", false },
                { " 2\r\nok\r\n0\r\n\r\n", false },
                { "2x\r\nok\r\n0\r\n\r\n", false },
        };
        for (size_t i = 0; i < COUNT(rows); i++)
                for (unsigned strict = 0; strict < 2; strict++) {
                        struct http_body b;
                        struct span in = span_str(rows[i].bytes), data;
                        size_t used, ok = 0;
                        enum body_state s = BODY_MORE;
                        http_body_init(&b, BODY_CHUNKED, 0);
                        b.extensions = !strict;
                        for (size_t at = 0; at < in.n && (s == BODY_MORE || s == BODY_DATA); at += used) {
                                s = http_body_next(&b, span_of(in.p + at, 1), &used,
                                                   &data); /* byte by byte */
                                ok += data.n;
                        }
                        bool fine = s == BODY_END && ok == 2;
                        if (fine != (rows[i].fine && !strict))
                                printf("# row %zu, strict %u: %d\n", i, strict, fine);
                        CHECK_INT(fine, rows[i].fine && !strict);
                }
}

static void test_body__trailers_are_bounded(void)
{
        size_t left;
        AUTO_BUF(b);
        buf_puts(&b, "0\r\n");
        while (b.n <= HTTP_TRAILER_MAX + 16)
                buf_puts(&b, "X: yyyyyyyyyyyyyyyyyyyyyyyy\r\n");
        buf_puts(&b, "\r\n");
        CHECK(read_body(buf_span(&b), b.n, &left) == NULL);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_head__plain_requests_are_read),
                CASE(test_head__what_has_two_readings_is_refused),
                CASE(test_head__sizes_are_bounded),
                CASE(test_head__connection_names_few_headers),
                CASE(test_head__a_head_in_any_pieces_waits_for_its_end),
                CASE(test_head__answers_are_read_as_strictly),
                CASE(test_target__one_canonical_path_or_none),
                CASE(test_target__paths_are_bounded),
                CASE(test_target__host_must_be_the_peer),
                CASE(test_body__chunks_in_any_pieces),
                CASE(test_body__what_stands_behind_a_size_in_an_answer),
                CASE(test_body__trailers_are_bounded),
        };
        return test_main(cases, COUNT(cases));
}
