/* SPDX-License-Identifier: MIT */
/* HTTP/2 as a coding of HTTP/1.1: a link and a front that face each other carry messages through unchanged,
 * and a client whose frames are written by hand gets nothing past the front that HTTP/1.1 could not have. */
#include "test_egress_common.h"

struct pair { /* a client's link, and the front that serves it */
        struct http2_link *link;
        struct http2_front *front;
        struct fifo plain, answer, up, down;
};

static void pair_start(struct pair *p)
{
        *p = (struct pair){ .link = http2_link_new(false), .front = http2_front_new(false) };
        CHECK(p->link && p->front);
}

static void pair_end(struct pair *p)
{
        http2_front_close(p->front);
        http2_front_free(p->front);
        http2_link_free(p->link);
        fifo_done(&p->plain);
        fifo_done(&p->answer);
        fifo_done(&p->up);
        fifo_done(&p->down);
}

/* Moves frames both ways until none are left. */
static void pair_move(struct pair *p)
{
        for (bool more = true; more;) {
                CHECK(http2_link_send(p->link, &p->plain, &p->up));
                http2_front_feed(p->front, fifo_all(&p->up));
                more = p->up.n > 0;
                fifo_drop(&p->up, p->up.n);
                http2_front_send(p->front, &p->down, HTTP_BUFFER);
                (void) http2_link_feed(p->link, fifo_all(&p->down), &p->answer);
                more = more || p->down.n > 0;
                fifo_drop(&p->down, p->down.n);
        }
}

static void take_all(struct http2_stream *s, struct buf *out)
{
        char bytes[512];
        for (size_t n; (n = http2_stream_take(s, bytes, sizeof bytes));)
                buf_add(out, bytes, n);
}

static void give_all(struct pair *p, struct http2_stream *s, struct span answer)
{
        for (unsigned tries = 0; answer.n && tries < 10000; tries++) {
                size_t n = http2_stream_give(s, answer);
                answer = span_of(answer.p + n, answer.n - n);
                pair_move(p);
        }
        CHECK_INT(answer.n, 0);
}

static void test_http2__a_request_and_its_answer_keep_their_form(void)
{
        static const struct {
                const char *request, *arrives, *answer, *returns;
        } rows[] = {
                { "GET /a?b=1 HTTP/1.1\r\nHost: a.test\r\nX-One: 1\r\nCookie: a=1; b=2\r\n\r\n",
                  "GET /a?b=1 HTTP/1.1\r\nhost: a.test\r\nx-one: 1\r\ncookie: a=1; b=2\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Two: 2\r\n\r\nok",
                  "content-length: 2\r\nx-two: 2\r\n" },
                { "POST /p HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc",
                  "POST /p HTTP/1.1\r\nhost: a.test\r\ncontent-length: 3\r\n\r\nabc",
                  "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", "404" },
                { "HEAD /h HTTP/1.1\r\nHost: a.test\r\n\r\n", "HEAD /h HTTP/1.1\r\nhost: a.test\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", "content-length: 7" },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct pair p;
                AUTO_BUF(got);
                pair_start(&p);
                fifo_text(&p.plain, rows[i].request);
                pair_move(&p);
                struct http2_stream *s = http2_front_accept(p.front);
                CHECK(s && http2_stream_waits(s));
                if (s) {
                        take_all(s, &got);
                        CHECK_STR(buf_str(&got), rows[i].arrives);
                        give_all(&p, s, span_str(rows[i].answer));
                        CHECK(http2_stream_answered(s));
                        http2_stream_let_go(s);
                        pair_move(&p);
                }
                fifo_add(&p.answer, "", 1);
                CHECK(strstr((const char *) fifo_all(&p.answer).p, rows[i].returns));
                CHECK_INT(http2_front_malformed(p.front), 0);
                pair_end(&p);
        }
}

/* More than a window, both ways: it opens again as bytes are taken, and nothing is lost or doubled. */
static void test_http2__long_bodies_pass_whole(void)
{
        enum { BYTES = 5 * HTTP2_BUFFER + 77 };
        static uint8_t body[BYTES];
        struct pair p;
        AUTO_BUF(got);
        AUTO_BUF(head);
        for (size_t i = 0; i < BYTES; i++)
                body[i] = (uint8_t) (i * 7 + i / 251);
        pair_start(&p);
        fifo_text(&p.plain, "PUT /big HTTP/1.1\r\nHost: a.test\r\nContent-Length: 327757\r\n\r\n");
        _Static_assert(BYTES == 327757, "as the head says");
        fifo_add(&p.plain, body, BYTES);
        pair_move(&p);
        struct http2_stream *s = http2_front_accept(p.front);
        CHECK(s != NULL);
        for (size_t before = 1; s && before != got.n;) {
                before = got.n;
                take_all(s, &got);
                pair_move(&p);
        }
        CHECK(got.n > BYTES && memcmp(got.p + got.n - BYTES, body, BYTES) == 0);
        if (s) {
                give_all(&p, s, span_str("HTTP/1.1 200 OK\r\nContent-Length: 327757\r\n\r\n"));
                give_all(&p, s, span_of(body, BYTES));
                CHECK(http2_stream_answered(s));
                http2_stream_let_go(s);
                pair_move(&p);
        }
        struct span all = fifo_all(&p.answer);
        buf_add(&head, all.p, all.n > BYTES ? all.n - BYTES : 0);
        CHECK(strstr(buf_str(&head), " 200"));
        CHECK(all.n > BYTES && memcmp(all.p + all.n - BYTES, body, BYTES) == 0);
        pair_end(&p);
}

/* An answer that breaks off must not look whole. */
static void test_http2__half_an_answer_resets_its_stream(void)
{
        struct pair p;
        AUTO_BUF(got);
        pair_start(&p);
        fifo_text(&p.plain, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
        pair_move(&p);
        struct http2_stream *s = http2_front_accept(p.front);
        CHECK(s != NULL);
        if (s) {
                take_all(s, &got);
                give_all(&p, s, span_str("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nha\r\n"));
                http2_stream_let_go(s);
        }
        bool goes_on = true;
        for (unsigned i = 0; i < 4; i++) {
                http2_front_send(p.front, &p.down, HTTP_BUFFER);
                goes_on = http2_link_feed(p.link, fifo_all(&p.down), &p.answer);
                fifo_drop(&p.down, p.down.n);
        }
        fifo_add(&p.answer, "", 1);
        CHECK(!strstr((const char *) fifo_all(&p.answer).p, "\r\n0\r\n\r\n"));
        CHECK(!goes_on || http2_link_is_stale(p.link));
        pair_end(&p);
}

/* ---- frames by hand ---- */

enum { DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, PING = 6, WINDOW_UPDATE = 8, CONTINUATION = 9 };
enum { END_STREAM = 1, END_HEADERS = 4 };

static void frame(struct buf *out, unsigned type, unsigned flags, uint32_t stream, struct span payload)
{
        const uint8_t head[] = { (uint8_t) (payload.n >> 16),
                                 (uint8_t) (payload.n >> 8),
                                 (uint8_t) payload.n,
                                 (uint8_t) type,
                                 (uint8_t) flags,
                                 (uint8_t) (stream >> 24),
                                 (uint8_t) (stream >> 16),
                                 (uint8_t) (stream >> 8),
                                 (uint8_t) stream };
        buf_add(out, head, sizeof head);
        buf_add(out, payload.p, payload.n);
}

/* A literal field of HPACK, not indexed; both shorter than 127 bytes. */
static void field(struct buf *out, const char *name, const char *value)
{
        const uint8_t lengths[] = { (uint8_t) strlen(name), (uint8_t) strlen(value) };
        buf_add(out, "\0", 1);
        buf_add(out, &lengths[0], 1);
        buf_puts(out, name);
        buf_add(out, &lengths[1], 1);
        buf_puts(out, value);
}

static void usual(struct buf *out, const char *method, const char *path)
{
        field(out, ":method", method);
        field(out, ":scheme", "http");
        field(out, ":authority", "a.test");
        field(out, ":path", path);
}

static struct http2_front *greeted(void)
{
        struct http2_front *c = http2_front_new(false);
        AUTO_BUF(hello);
        buf_puts(&hello, HTTP2_PREFACE);
        frame(&hello, SETTINGS, 0, 0, span_of("", 0));
        CHECK(c != NULL);
        http2_front_feed(c, buf_span(&hello));
        return c;
}

static void drop_output(struct http2_front *c)
{
        struct fifo out = { 0 };
        http2_front_send(c, &out, HTTP2_WINDOW);
        fifo_done(&out);
}

/* What the strict parser of HTTP/1.1 makes of the first stream; HTTP_MORE: none came. */
static enum http_read parsed(struct http2_front *c)
{
        static struct http_head h;
        AUTO_BUF(got);
        struct http2_stream *s = http2_front_accept(c);
        if (!s)
                return HTTP_MORE;
        take_all(s, &got);
        enum http_read r = http_head_request(buf_span(&got), &h);
        http2_stream_let_go(s);
        return r;
}

static void test_http2__no_field_becomes_a_second_line(void)
{
        static const struct {
                const char *name, *value;
        } rows[] = {
                { "x", "a\r\nHost: b" },
                { "x\r\ny", "a" },
                { "x", "a\nb" },
                { "x y", "a" },
                { "X-Upper", "a" },
                { "x:y", "a" },
                { "", "a" },
                { ":path", "/other" },
                { ":unknown", "a" },
                { ":method", "GET" },
                { "connection", "close" },
                { "x", "a\x01" },
                { "transfer-encoding", "chunked" },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct http2_front *c = greeted();
                AUTO_BUF(head);
                AUTO_BUF(all);
                usual(&head, "GET", "/");
                field(&head, rows[i].name, rows[i].value);
                frame(&all, HEADERS, END_HEADERS | END_STREAM, 1, buf_span(&head));
                http2_front_feed(c, buf_span(&all));
                drop_output(c);
                CHECK(parsed(c) != HTTP_WHOLE);
                CHECK(http2_front_malformed(c) > 0);
                http2_front_free(c);
        }
}

/* A path or authority that is no token of a request line. */
static void test_http2__no_pseudo_header_becomes_a_second_word(void)
{
        static const char *const paths[] = { "/a b", "/a\r\nX: y", "", "/\x7f", "/ HTTP/1.1" };
        for (size_t i = 0; i < COUNT(paths); i++) {
                struct http2_front *c = greeted();
                AUTO_BUF(head);
                AUTO_BUF(all);
                usual(&head, "GET", paths[i]);
                frame(&all, HEADERS, END_HEADERS | END_STREAM, 1, buf_span(&head));
                http2_front_feed(c, buf_span(&all));
                drop_output(c);
                CHECK(parsed(c) != HTTP_WHOLE);
                http2_front_free(c);
        }
}

/* Two hosts reach the parser as two, which it refuses. */
static void test_http2__two_hosts_stay_two(void)
{
        struct http2_front *c = greeted();
        AUTO_BUF(head);
        AUTO_BUF(all);
        usual(&head, "GET", "/");
        field(&head, "host", "b.test");
        frame(&all, HEADERS, END_HEADERS | END_STREAM, 1, buf_span(&head));
        http2_front_feed(c, buf_span(&all));
        drop_output(c);
        CHECK(parsed(c) != HTTP_WHOLE);
        http2_front_free(c);
}

static void test_http2__a_body_that_lies_about_its_length_is_reset(void)
{
        for (int more = 0; more < 2; more++) {
                struct http2_front *c = greeted();
                AUTO_BUF(head);
                AUTO_BUF(all);
                usual(&head, "POST", "/");
                field(&head, "content-length", "3");
                frame(&all, HEADERS, END_HEADERS, 1, buf_span(&head));
                frame(&all, DATA, END_STREAM, 1, span_str(more ? "abcd" : "ab"));
                http2_front_feed(c, buf_span(&all));
                drop_output(c);
                CHECK(http2_front_malformed(c) > 0);
                struct http2_stream *s = http2_front_accept(c);
                CHECK(!s || http2_stream_is_lost(s));
                if (s)
                        http2_stream_let_go(s);
                http2_front_free(c);
        }
}

/* Streams that are opened and given up end the connection, and cost nothing that is not freed. */
static void test_http2__rapid_resets_end_it(void)
{
        struct http2_front *c = greeted();
        static const uint8_t cancel[] = { 0, 0, 0, 8 };
        uint32_t id = 1;
        for (; id < 2000 && !http2_front_over(c); id += 2) {
                AUTO_BUF(head);
                AUTO_BUF(all);
                usual(&head, "GET", "/");
                frame(&all, HEADERS, END_HEADERS | END_STREAM, id, buf_span(&head));
                frame(&all, RST_STREAM, 0, id, span_of(cancel, sizeof cancel));
                http2_front_feed(c, buf_span(&all));
                drop_output(c);
                CHECK(!http2_front_accept(c));
        }
        CHECK(id / 2 >= HTTP2_RESETS_MAX && id / 2 < HTTP2_RESETS_MAX + 5);
        http2_front_free(c);
}

static void test_http2__no_more_streams_at_once_than_announced(void)
{
        struct http2_front *c = greeted();
        unsigned accepted = 0;
        for (uint32_t id = 1; id < 2 * (HTTP2_STREAMS_MAX + 10); id += 2) {
                AUTO_BUF(head);
                AUTO_BUF(all);
                usual(&head, "GET", "/");
                frame(&all, HEADERS, END_HEADERS | END_STREAM, id, buf_span(&head));
                http2_front_feed(c, buf_span(&all));
        }
        struct http2_stream *s[HTTP2_STREAMS_MAX + 10];
        while (accepted < COUNT(s) && (s[accepted] = http2_front_accept(c)))
                accepted++;
        CHECK_INT(accepted, HTTP2_STREAMS_MAX);
        for (unsigned i = 0; i < accepted; i++)
                http2_stream_let_go(s[i]);
        drop_output(c);
        http2_front_free(c);
}

/* A client that sends beyond the window that it was given breaks the protocol; one that is not read waits. */
static void test_http2__a_stream_that_is_not_read_holds_no_more_than_its_window(void)
{
        static uint8_t piece[16384];
        struct http2_front *c = greeted();
        AUTO_BUF(head);
        AUTO_BUF(all);
        drop_output(c);
        usual(&head, "POST", "/");
        frame(&all, HEADERS, END_HEADERS, 1, buf_span(&head));
        frame(&all, SETTINGS, 1, 0, span_of("", 0)); /* our settings are known to it */
        for (size_t n = 0; n < HTTP2_BUFFER; n += sizeof piece)
                frame(&all, DATA, 0, 1, span_of(piece, sizeof piece));
        http2_front_feed(c, buf_span(&all));
        drop_output(c);
        CHECK_INT(http2_front_malformed(c), 0);
        struct http2_stream *s = http2_front_accept(c);
        CHECK(s && !http2_stream_is_lost(s));
        AUTO_BUF(over);
        frame(&over, DATA, 0, 1, span_of(piece, 1));
        http2_front_feed(c, buf_span(&over));
        drop_output(c);
        CHECK(!s || http2_stream_is_lost(s) || http2_front_over(c));
        if (s)
                http2_stream_let_go(s);
        http2_front_free(c);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_http2__a_request_and_its_answer_keep_their_form),
                CASE(test_http2__long_bodies_pass_whole),
                CASE(test_http2__half_an_answer_resets_its_stream),
                CASE(test_http2__no_field_becomes_a_second_line),
                CASE(test_http2__no_pseudo_header_becomes_a_second_word),
                CASE(test_http2__two_hosts_stay_two),
                CASE(test_http2__a_body_that_lies_about_its_length_is_reset),
                CASE(test_http2__rapid_resets_end_it),
                CASE(test_http2__no_more_streams_at_once_than_announced),
                CASE(test_http2__a_stream_that_is_not_read_holds_no_more_than_its_window),
        };
        return test_main(cases, COUNT(cases));
}
