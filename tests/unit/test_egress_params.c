/* SPDX-License-Identifier: MIT */
/* Requests through doors with `where`: what is out of bounds, or could be read in two ways, never reaches the
 * server, not one byte of it; what is within goes on as it came. */
#include "test_egress_common.h"

#define FORM  "application/x-www-form-urlencoded"
#define JSON  "application/json"
#define OK200 "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static const char policy[] =
        "use none\n"
        "net http://api.test/pay POST PUT where amount=int:1..5000 currency=one:eur|usd memo?=text:80\n"
        "net http://api.test/mail POST where to=one:ops@example.org subject=text:120 only\n"
        "net http://api.test/find GET HEAD where q=text:20 n?=int:1..50 only\n"
        "net http://api.test/both POST where amount=int:1..5\n"
        "net http://api.test/both POST where name=text:5 only\n"
        "net http://api.test/free/** POST\n"
        "net http://api.test/free/x POST where amount=int:1..5\n"
        "net http://api.test/plain POST\n";

struct request {
        const char *line; /* "POST /pay" */
        const char *fields;
        const char *body;
        size_t n;
        unsigned chunk; /* bytes of a chunk; 0: by length */
};

static void put(const struct request *q, struct buf *out)
{
        buf_printf(out, "%s HTTP/1.1\r\nHost: api.test\r\n%s", q->line, q->fields);
        if (!q->chunk) {
                buf_printf(out, "Content-Length: %zu\r\n\r\n", q->n);
                buf_add(out, q->body, q->n);
                return;
        }
        buf_puts(out, "Transfer-Encoding: chunked\r\n\r\n");
        for (size_t i = 0; i < q->n;) {
                size_t k = q->chunk < q->n - i ? q->chunk : q->n - i;
                buf_printf(out, "%zx\r\n", k);
                buf_add(out, q->body + i, k);
                buf_puts(out, "\r\n");
                i += k;
        }
        buf_puts(out, "0\r\n\r\n");
}

/* The body as the server gets it, out of length or chunks. */
static void server_body(const struct buf *up, struct buf *out)
{
        struct http_head h;
        struct http_body b;
        struct span rest = buf_span(up), data;
        size_t used;
        if (http_head_request(rest, &h) != HTTP_WHOLE)
                return;
        rest = span_of(rest.p + h.bytes, rest.n - h.bytes);
        http_body_of(&h, &b);
        for (enum body_state s = BODY_MORE; s == BODY_MORE || s == BODY_DATA;) {
                s = http_body_next(&b, rest, &used, &data);
                buf_add(out, data.p, data.n);
                if (s == BODY_MORE && used == 0)
                        return;
                rest = span_of(rest.p + used, rest.n - used);
        }
}

/* The sentence that refuses it, or "" when all of it is at the server. */
static void judged(const char *doors, const struct request *q, size_t cut, char why[300])
{
        struct rig g;
        struct rig_in in = { .policy = doors, .stage = POLICY_STAGE_LIVE };
        AUTO_BUF(text);
        AUTO_BUF(body);
        if (!rig_start(&g, &in))
                return;
        put(q, &text);
        rig_client(&g, buf_span(&text), cut);
        bool denied = g.event_count > 0;
        (void) snprintf(why, 300, "%s", denied ? rig_last(&g)->why : "");
        if (denied) {
                CHECK_INT(g.to_upstream.n, 0);
                CHECK_INT(g.connects, 0);
                CHECK_INT(rig_last(&g)->verdict, HTTP_DENIED);
                CHECK(holds(&g.to_client, rig_last(&g)->why));
        } else {
                server_body(&g.to_upstream, &body);
                CHECK(span_eq(buf_span(&body), span_of(q->body, q->n)));
                CHECK_INT(g.connects, 1);
        }
        rig_end(&g);
}

static void expect_request(const struct request *q, const char *want)
{
        static const size_t cuts[] = { 0, 1, 7 };
        static const unsigned chunks[] = { 0, 1, 5, 100000 };
        for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
                for (size_t k = 0; k < sizeof chunks / sizeof *chunks && (q->n || !k); k++) {
                        char why[300] = "nothing came";
                        struct request r = *q;
                        r.chunk = chunks[k];
                        judged(policy, &r, cuts[i], why);
                        if (strcmp(why, want) != 0)
                                printf("# %s %.80s (chunks of %u, cut %zu): %s\n", q->line, q->body, r.chunk,
                                       cuts[i], why);
                        CHECK_STR(why, want);
                }
        }
}

static void expect(const char *line, const char *type, const char *body, const char *want)
{
        char fields[200];
        (void) snprintf(fields, sizeof fields, "%s%s%s", type[0] ? "Content-Type: " : "", type,
                        type[0] ? "\r\n" : "");
        struct request q = { line, fields, body, strlen(body), 0 };
        expect_request(&q, want);
}

static void test_params__within_bounds_goes_on_as_it_came(void)
{
        expect("POST /pay", FORM, "amount=5000&currency=eur", "");
        expect("POST /pay", FORM, "currency=usd&x=1&memo=a+b%20c&amount=1", "");
        expect("POST /pay?amount=7", FORM, "currency=eur", "");
        expect("POST /pay?amount=7&currency=eur", "", "", "");
        expect("PUT /pay", JSON, "{\"amount\":5,\"currency\":\"eur\"}", "");
        expect("POST /pay", JSON "; charset=utf-8", " {\"currency\":\"eur\",\n\"amount\" : 5}\r\n", "");
        expect("POST /pay", "application/vnd.pay+json;charset=\"UTF-8\"",
               "{\"currency\":\"eur\",\"amount\":5}", "");
        expect("POST /mail", FORM, "to=ops%40example.org&subject=hi", "");
        expect("GET /find?q=cats&n=50", "", "", "");
        expect("HEAD /find?q=", "", "", "");
        expect("POST /both", FORM, "amount=5&name=toolong", "");
        expect("POST /both", FORM, "name=short", "");
}

/* PHP without a php.ini has cookies in $_REQUEST, where they come last and win. */
static void test_params__a_cookie_is_no_parameter(void)
{
        static const char why[] = "parameter amount stands in a cookie too, which some servers take for it";
        static const struct {
                const char *fields, *why;
        } rows[] = {
                { "Cookie: amount=9999\r\n", why },
                { "Cookie: a=b; amount=7\r\n", why },
                { "Cookie: a=\";\tAmount=7\"\r\n", why },
                { "Cookie: a;amount\r\n", why },
                { "Cookie: am%6funt[]=7\r\n", why },
                { "Cookie: a=b\r\ncookie: amount=7\r\n", why },
                { "Cookie: a=amount; b=x&amount=9; ;=; amounts=1\r\n", "" },
                { "X-Cookie: amount=7\r\n", "" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct request q = { "POST /pay?amount=7&currency=eur", rows[i].fields, "", 0, 0 };
                expect_request(&q, rows[i].why);
        }
        struct request only = { "GET /find?q=cats", "Cookie: session=1\r\n", "", 0, 0 };
        expect_request(&only, "");
}

static void test_params__an_escaped_question_in_the_path(void)
{
        static const char doors[] = "use none\nnet http://api.test/p/** POST where amount=int:1..5\n"
                                    "net http://api.test/o/** POST\n";
        static const struct {
                const char *line, *why;
        } rows[] = {
                { "POST /p/x?amount=5", "" },
                { "POST /p/x%3famount=9?amount=5", "parameter amount cannot be read: an escaped ? or # in "
                                                   "the path begins a query or ends it for some "
                                                   "servers" },
                { "POST /p/x%23?amount=5", "parameter amount cannot be read: an escaped ? or # in the path "
                                           "begins a query or ends it for some "
                                           "servers" },
                { "POST /o/c%23%3F", "" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char why[300];
                struct request q = { rows[i].line, "", "", 0, 0 };
                judged(doors, &q, 0, why);
                CHECK_STR(why, rows[i].why);
        }
}

static void test_params__what_is_out_of_bounds_stays(void)
{
        expect("POST /pay", FORM, "amount=9000&currency=eur",
               "parameter amount is 9000, and the door permits 1 to 5000");
        expect("POST /pay", JSON, "{\"amount\":9000,\"currency\":\"eur\"}",
               "parameter amount is 9000, and the door permits 1 to 5000");
        expect("POST /pay", JSON, "{\"amount\":\"50\",\"currency\":\"eur\"}",
               "parameter amount is the string \"50\", and the door permits 1 to 5000");
        expect("POST /pay", FORM, "amount=50&currency=chf",
               "parameter currency is \"chf\", and the door permits eur or usd");
        expect("POST /pay", FORM, "currency=eur",
               "parameter amount is missing, and the door permits 1 to 5000");
        expect("POST /pay", "", "", "parameter amount is missing, and the door permits 1 to 5000");
        expect("POST /pay", FORM, "amount=5&amount=6&currency=eur",
               "parameter amount stands in the request twice");
        expect("POST /pay?amount=5", FORM, "amount=6&currency=eur",
               "parameter amount stands in the request twice");
        expect("POST /pay?amount=5", JSON, "{\"amount\":6,\"currency\":\"eur\"}",
               "parameter amount stands in the request twice");
        expect("POST /pay?amount=5&currency=eur", FORM, "Amount[]=6",
               "parameter amount is spelled \"Amount[]\", which not every server takes for it");
        expect("POST /pay", JSON, "{\"amount\":{\"value\":5},\"currency\":\"eur\"}",
               "parameter amount has parts, \"amount.value\", and the door permits 1 to 5000");
        expect("POST /mail", FORM, "to=ops@example.org&subject=hi&bcc=eve@example.org",
               "parameter bcc is not among those that the door permits (`only`)");
        expect("GET /find?q=cats&n=51", "", "", "parameter n is 51, and the door permits 1 to 50");
        expect("GET /find", FORM, "q=cats&n=51", "parameter n is 51, and the door permits 1 to 50");
        expect("POST /both", FORM, "amount=6&name=toolong",
               "parameter amount is 6, and the door permits 1 to 5");
        expect("POST /pay", FORM, "amount=5&currency=eur&memo=%1b%5d0;owned",
               "parameter amount cannot be read: a semicolon parts parameters for some servers, and not for "
               "others");
        expect("POST /pay", FORM, "amount=5&currency=%1b%5d0%3bx",
               "parameter currency is \"\\x1b]0;x\", and the door permits eur or usd");
}

static void test_params__a_body_that_cannot_be_read_exactly_stays(void)
{
        static const char good[] = "{\"amount\":5,\"currency\":\"eur\"}";
        static const char form[] = "amount=5&currency=eur";
        static const char other[] =
                "parameter amount cannot be read: the body is neither a plain form nor JSON, both in "
                "UTF-8";
        static const char *const types[] = {
                "multipart/form-data; boundary=x",
                "text/plain",
                "text/json",
                "application/xml",
                "application/json; charset=utf-16",
                "application/json; charset=iso-8859-1",
                "application/json; charset=utf-8; charset=utf-16",
                "application/json; charset=utf-8; x=y",
                "application/json; x=y",
                "application/json;",
                "application/json, text/plain",
                "application/json text/plain",
                "application/x, text/x+json",
                "application/x,y+json",
                "application/x y+json",
                "application/x-www-form-urlencoded; charset=ibm037",
                "application/x-www-form-urlencoded; charset=utf-7",
                "application/+json",
                "application/jsonp",
                "image/svg+json",
                "application/ndjson",
                "*/*",
        };
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
                expect("POST /pay", types[i], strstr(types[i], "urlencoded") ? form : good, other);
        expect("POST /pay", "", good, "parameter amount cannot be read: the body does not say what it is");
        static const char *const fields[][2] = {
                { "Content-Type: " JSON "\r\nContent-Encoding: gzip\r\n",
                  "the compressed body can be read in two ways" },
                { "Content-Type: " JSON "\r\nContent-Encoding: gzip, br\r\n",
                  "the body is compressed in a way that is not read" },
                { "Content-Type: " JSON "\r\nContent-Type: " FORM "\r\n",
                  "the request has two Content-Type headers" },
        };
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
                char want[200];
                struct request q = { "POST /pay", fields[i][0], good, sizeof good - 1, 0 };
                (void) snprintf(want, sizeof want, "parameter amount cannot be read: %s", fields[i][1]);
                expect_request(&q, want);
        }
        expect("POST /pay", JSON, "{\"amount\":5,\"currency\":\"eur\"} {}",
               "parameter amount cannot be read: the body is not one exact JSON object (body:1:31: something "
               "is left over "
               "after the value)");
        expect("POST /pay", JSON, "{\"amount\":5,\"currency\":\"eur\",\"currency\":\"chf\"}",
               "parameter amount cannot be read: the body is not one exact JSON object (body:1:30: the key "
               "\"currency\" "
               "stands here twice)");
        expect("POST /pay", JSON, "[]",
               "parameter amount cannot be read: the body is JSON, and not an object");
        expect("POST /pay", JSON, form,
               "parameter amount cannot be read: the body is not one exact JSON object (body:1:1: not a JSON "
               "value)");
        expect("POST /pay?amount=5&currency=eur", FORM, " {\"amount\":9000}",
               "parameter amount cannot be read: the body is said to be a form, and begins as JSON");
        struct request nul = { "POST /pay", "Content-Type: " FORM "\r\n", "amount=5&currency=eur\0", 22, 0 };
        expect_request(&nul, "parameter amount cannot be read: a name or value is not UTF-8, or holds a NUL");
}

/* One body, two readings: each of these is within bounds as it is said to be read, and to a server that reads
 * it otherwise it is not. */
static void test_params__a_body_of_two_readings_stays(void)
{
        static const char again[] = "parameter amount stands in the body again where that is read as a form";
        static const char *const shadows[] = {
                "&amount=9000&",       "&AMOUNT=9000",      ";amount=9000;",    "&%61mount=9000&",
                "&amount[]=9000&",     "&amount%00=9000&",  "&%20amount=9000&", "&x=1&amount[a]=9000",
                "&\u00e9=1&amount=1&", "&%ffamount=9000&z",
        };
        for (size_t i = 0; i < sizeof shadows / sizeof *shadows; i++) {
                char body[200];
                (void) snprintf(body, sizeof body, "{\"amount\":5,\"currency\":\"eur\",\"x\":\"%s\"}",
                                shadows[i]);
                expect("POST /pay", JSON, body, again);
                expect("POST /pay", "application/x-www-form-urlencoded+json", body, again);
        }
        expect("POST /pay", JSON, "{\"amount\":5,\"currency\":\"eur\",\"x\":\"a=1&b=2&amounts=3;c &amp;\"}",
               "");
        expect("POST /pay", JSON, "{\"amount\":5,\"currency\":\"eur\",\"x\":\"\\u0026amount=9\"}", "");
        expect("POST /mail", JSON,
               "{\"to\":\"ops@example.org\",\"subject\":\"see http://x.test/?a=1&b=2 & more\"}", "");
        static const char *const fronts[] = { "\xef\xbb\xbf", "\v", "\f\x1f", "\xc2\xa0", "\xe2\x80\x83 " };
        for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
                char body[200];
                (void) snprintf(body, sizeof body, "%s{\"a\":\"&amount=5&currency=eur&\",\"amount\":9000}",
                                fronts[i]);
                expect("POST /pay", FORM, body,
                       "parameter amount cannot be read: the body is said to be a form, and begins as JSON");
        }
        static const char *const fields[] = {
                "Content-Type: " JSON "\r\nConnection: content-type\r\n",
                "Content-Type: " JSON "\r\nConnection: keep-alive, Content-Type\r\n",
                "Content-Type: " FORM "\r\nConnection: x\r\nConnection: content-type,\r\n",
                "Content_Type: " JSON "\r\n",
                "Content-Type: " JSON "\r\nContent_Encoding: identity\r\n",
        };
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
                struct request q = { "POST /pay", fields[i], "{\"amount\":5,\"currency\":\"eur\"}", 29, 0 };
                expect_request(&q, "Connection lists a header that frames the body");
        }
}

/* 64 KiB are held, and not one byte more. */
static void test_params__the_longest_body(void)
{
        AUTO_BUF(body);
        buf_puts(&body, "amount=5&currency=eur&x=");
        while (body.n < HTTP_HELD_MAX)
                buf_putc(&body, 'y');
        for (int chunked = 0; chunked < 2; chunked++) {
                char why[300];
                struct request q = { "POST /pay", "Content-Type: " FORM "\r\n", body.p, HTTP_HELD_MAX,
                                     chunked ? 4000 : 0 };
                judged(policy, &q, 1500, why);
                CHECK_STR(why, "");
        }
        buf_putc(&body, 'y');
        for (int chunked = 0; chunked < 2; chunked++) {
                char why[300];
                struct request q = { "POST /pay", "Content-Type: " FORM "\r\n", body.p, body.n,
                                     chunked ? 4000 : 0 };
                judged(policy, &q, 1500, why);
                CHECK_STR(why, "parameter amount cannot be read: the body is longer than 64 KiB");
        }
        while (body.n < 300000) /* what another door permits without bounds goes through, however long */
                buf_printf(&body, "z%zu", body.n);
        for (unsigned chunk = 0; chunk < 9000; chunk += 4000) {
                char why[300];
                struct request q = { "POST /free/x", "Content-Type: " FORM "\r\n", body.p, body.n, chunk };
                judged(policy, &q, 1500, why);
                CHECK_STR(why, "");
        }
}

/* In two pieces, at every place; of each piece's own. */
static void test_params__cut_anywhere(void)
{
        static const struct {
                const char *body, *why;
        } rows[] = { { "{\"amount\":5,\"currency\":\"eur\"}", "" },
                     { "{\"amount\":5001,\"currency\":\"eur\"}",
                       "parameter amount is 5001, and the door permits 1 to 5000" } };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                for (unsigned chunk = 0; chunk < 8; chunk++) {
                        AUTO_BUF(text);
                        struct request q = { "POST /pay", "Content-Type: " JSON "\r\n", rows[i].body,
                                             strlen(rows[i].body), chunk };
                        put(&q, &text);
                        for (size_t at = 1; at < text.n; at++) {
                                struct rig g;
                                struct rig_in in = { .policy = policy, .stage = POLICY_STAGE_LIVE };
                                AUTO_BUF(body);
                                if (!rig_start(&g, &in))
                                        return;
                                rig_client(&g, span_of(text.p, at), 0);
                                CHECK_INT(g.to_upstream.n, 0); /* nothing before the last byte */
                                CHECK_INT(g.event_count, 0);
                                rig_client(&g, span_of(text.p + at, text.n - at), 0);
                                CHECK_STR(g.event_count ? rig_last(&g)->why : "", rows[i].why);
                                server_body(&g.to_upstream, &body);
                                CHECK(span_is(buf_span(&body), rows[i].why[0] ? "" : rows[i].body));
                                rig_end(&g);
                        }
                }
        }
}

/* Doors with bounds elsewhere hold no body back that goes through a door without. */
static void test_params__without_bounds_a_body_does_not_wait(void)
{
        struct rig g;
        if (!rig_start(&g, &(struct rig_in){ .policy = policy, .stage = POLICY_STAGE_LIVE }))
                return;
        rig_client(&g, span_str("POST /plain HTTP/1.1\r\nHost: api.test\r\nContent-Length: 4\r\n\r\nab"), 0);
        CHECK(holds(&g.to_upstream, "POST /plain") && holds(&g.to_upstream, "\r\n\r\nab"));
        rig_end(&g);
        if (!rig_start(&g, &(struct rig_in){ .policy = policy, .stage = POLICY_STAGE_LIVE }))
                return;
        rig_client(&g,
                   span_str("POST /pay HTTP/1.1\r\nHost: api.test\r\nContent-Type: " FORM
                            "\r\nContent-Length: 21\r\n\r\namount=5&"),
                   0);
        CHECK_INT(g.connects, 0);
        CHECK_INT(g.to_client.n, 0); /* nobody asked whether to go on */
        rig_end(&g);
}

static void test_params__the_client_is_told_to_go_on_once(void)
{
        struct rig g;
        struct rig_in in = { .policy = policy, .stage = POLICY_STAGE_LIVE };
        static const char head[] = "POST /pay HTTP/1.1\r\nHost: api.test\r\nContent-Type: " FORM
                                   "\r\nExpect: 100-continue\r\nContent-Length: 21\r\n\r\n";
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(head), 0);
        CHECK_STR(buf_str(&g.to_client), "HTTP/1.1 100 Continue\r\n\r\n");
        CHECK_INT(g.to_upstream.n, 0);
        rig_client(&g, span_str("amount=5&currency=eur"), 3);
        CHECK_STR(buf_str(&g.to_client), "HTTP/1.1 100 Continue\r\n\r\n");
        CHECK(holds(&g.to_upstream, "\r\n\r\namount=5&currency=eur"));
        CHECK(!holds(&g.to_upstream, "100-continue"));
        rig_upstream(&g, span_str(OK200), 0);
        CHECK(holds(&g.to_client, "200 OK") && rig_last(&g)->verdict == HTTP_ALLOWED);
        CHECK_INT(rig_last(&g)->sent, 21);
        rig_end(&g);
}

/* One refused as a whole does not end the connection, and the next ones are theirs. */
static void test_params__requests_behind_each_other(void)
{
        struct rig g;
        struct rig_in in = { .policy = policy, .stage = POLICY_STAGE_LIVE };
        AUTO_BUF(text);
        static const char *const bodies[] = { "amount=1&currency=eur", "amount=9000&currency=eur",
                                              "amount=3&currency=usd" };
        for (int i = 0; i < 3; i++) {
                struct request q = { "POST /pay", "Content-Type: " FORM "\r\n", bodies[i], strlen(bodies[i]),
                                     i == 2 ? 4 : 0 };
                put(&q, &text);
        }
        struct request last = { "POST /plain", "Content-Type: text/plain\r\n", "bytes", 5, 0 };
        put(&last, &text);
        for (size_t cut = 0; cut < 40; cut += 13) {
                if (!rig_start(&g, &in))
                        return;
                rig_client(&g, buf_span(&text), cut);
                rig_upstream(&g, span_str(OK200), 0);
                rig_upstream(&g, span_str(OK200), 0);
                rig_upstream(&g, span_str(OK200), 0);
                CHECK_INT(g.event_count, 4);
                CHECK_INT(g.event[0].verdict, HTTP_ALLOWED);
                CHECK_INT(g.event[1].verdict, HTTP_DENIED);
                CHECK_INT(g.event[2].verdict, HTTP_ALLOWED);
                CHECK_INT(g.event[3].verdict, HTTP_ALLOWED);
                CHECK(holds(&g.to_upstream, bodies[0]) && !holds(&g.to_upstream, "9000") &&
                      holds(&g.to_upstream, "\r\n\r\nbytes"));
                CHECK(holds(&g.to_client, "HTTP/1.1 403") && !http_flow_done(g.flow));
                CHECK_INT(g.connects, 1);
                rig_end(&g);
        }
}

static void test_params__a_refusal_says_what_would_permit_it(void)
{
        struct rig g;
        struct rig_in in = { .policy = policy, .stage = POLICY_STAGE_LIVE };
        static const struct {
                const char *body, *permit;
        } rows[] = {
                { "amount=9000&currency=eur", "net http://api.test/pay POST where amount=int:1..9000 "
                                              "currency=one:eur|usd memo?=text:80" },
                { "amount=5&currency=eur&amount=5", "" },
                { "amount=5&currency=%E2%80%AExyz", "" }, /* turned round, as no policy may hold it */
                { "amount=5&currency=a%EF%BB%BF", "" },
                { "amount=5&currency=eur;", "" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                AUTO_BUF(text);
                struct request q = { "POST /pay", "Content-Type: " FORM "\r\n", rows[i].body,
                                     strlen(rows[i].body), 0 };
                if (!rig_start(&g, &in))
                        return;
                put(&q, &text);
                rig_client(&g, buf_span(&text), 0);
                CHECK_INT(rig_last(&g)->reason, REASON_PARAMETER);
                CHECK_STR(rig_last(&g)->permit, rows[i].permit);
                CHECK_INT(rig_last(&g)->status, 403);
                rig_end(&g);
        }
}

/* What else may end a request does so before anything leaves, too. */
static void test_params__other_rules_still_hold(void)
{
        static const char both[] = "use none\nnet http://api.test/pay POST where amount=int:1..5\n"
                                   "net http://api.test/pay PATCH\n";
        struct request q = { "POST /pay", "X-HTTP-Method-Override: PUT\r\nContent-Type: " FORM "\r\n",
                             "amount=5", 8, 0 };
        char why[300];
        judged(both, &q, 0, why);
        CHECK_STR(why, "header overrides the method");
        q = (struct request){ "DELETE /pay", "Content-Type: " FORM "\r\n", "amount=5", 8, 0 };
        judged(both, &q, 0, why);
        CHECK_STR(why, "method not allowed by the door");
}

#define SECRET "sk_live_R3alSecretValue012345"
#define HOLDER "sk_live_PLACEHOLDERaaaabbbbcc"

static const struct http_credential keys[] = {
        { "key",
          GRANT_HEADER,
          "Authorization",
          "Bearer ",
          "",
          { (const uint8_t *) SECRET, sizeof SECRET - 1 },
          { (const uint8_t *) HOLDER, sizeof HOLDER - 1 },
          POLICY_STAGE_TEST,
          0,
          0 },
        { "field",
          GRANT_BODY,
          "",
          "",
          "",
          { (const uint8_t *) "field-real-value", 16 },
          { (const uint8_t *) "field-fake-value", 16 },
          POLICY_STAGE_TEST,
          0,
          0 },
};

static void test_params__no_credential_is_shown(void)
{
        static const char doors[] =
                "use none\n"
                "net http://api.test/h POST with key where amount=int:1..5\n"
                "net http://api.test/b POST with field where amount=int:1..5 pass?=text:16\n"
                "net http://api.test/q GET where n=int:1..5 access_token?=text:3\n";
        static const struct {
                const char *line, *body, *why, *up;
        } rows[] = {
                { "POST /h", "amount=5", NULL, "Authorization: Bearer " SECRET },
                { "POST /h", "amount=5&x=" HOLDER, NULL, "x=" HOLDER }, /* worth nothing at its own host */
                { "POST /h", "amount=" HOLDER,
                  "parameter amount is something that is not shown, and the door permits 1 to 5", NULL },
                { "POST /h", "amount[" HOLDER "]=1",
                  "parameter amount has parts, \"(not shown)\", and the door permits 1 to 5", NULL },
                { "POST /h", "{\"" HOLDER "\":1,\"" HOLDER "\":1}",
                  "parameter amount cannot be read: the body cannot be read in one way only", NULL },
                { "POST /b", "amount=5&pass=field-fake-value", NULL,
                  "\r\n\r\namount=5&pass=field-real-value" },
                { "POST /b", "amount=field-fake-value",
                  "parameter amount is something that is not shown, and the door permits 1 to 5", NULL },
                { "GET /q?n=5&access_token=abcdefgh", "",
                  "parameter access_token has 8 bytes, and the door permits text of 3 bytes at most", NULL },
                { "GET /q?n=5&access_token=%1b", "",
                  "parameter access_token is something that is not shown, and the door permits text of 3 "
                  "bytes at "
                  "most",
                  NULL },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct rig g;
                struct rig_in in = { .policy = doors,
                                     .stage = POLICY_STAGE_LIVE,
                                     .credentials = keys,
                                     .credential_count = 2 };
                AUTO_BUF(text);
                struct request q = { rows[i].line,
                                     rows[i].body[0] == '{' ? "Content-Type: " JSON "\r\n"
                                                            : "Content-Type: " FORM "\r\n",
                                     rows[i].body, strlen(rows[i].body), 0 };
                if (!rig_start(&g, &in))
                        return;
                put(&q, &text);
                rig_client(&g, buf_span(&text), 0);
                CHECK_STR(g.event_count ? rig_last(&g)->why : "", rows[i].why ? rows[i].why : "");
                CHECK(rows[i].up ? holds(&g.to_upstream, rows[i].up) : g.to_upstream.n == 0);
                CHECK(!holds(&g.to_client, "PLACEHOLDER") && !holds(&g.to_client, "fake"));
                CHECK_STR(rig_last(&g)->permit, "");
                rig_end(&g);
        }
}

static void test_params__bounds_hold_in_every_stage(void)
{
        static const char doors[] = "use none\nnet @pay/charges POST where amount=int:1..5\n";
        static const char places[] =
                "place pay live http://api.test/v1/\nplace pay test http://try.test/t/\n";
        static const char fixtures[] = "{\"method\":\"POST\",\"url\":\"http://api.test/v1/"
                                       "charges\",\"status\":201,\"body\":\"made\"}\n";
        for (enum policy_stage stage = POLICY_STAGE_MOCK; stage < POLICY_STAGE__COUNT; stage++) {
                for (int good = 0; good < 2; good++) {
                        struct rig g;
                        struct rig_in in = {
                                .policy = doors, .places = places, .fixtures = fixtures, .stage = stage
                        };
                        AUTO_BUF(text);
                        struct request q = { "POST /v1/charges", "Content-Type: " FORM "\r\n",
                                             good ? "amount=5" : "amount=6", 8, 3 };
                        if (!rig_start(&g, &in))
                                return;
                        put(&q, &text);
                        rig_client(&g, buf_span(&text), 1);
                        CHECK_INT(g.connects, good && stage != POLICY_STAGE_MOCK);
                        if (!good) {
                                CHECK_STR(rig_last(&g)->why,
                                          "parameter amount is 6, and the door permits 1 to 5");
                                CHECK_STR(rig_last(&g)->permit,
                                          "net @pay/charges POST where amount=int:1..6");
                        } else if (stage == POLICY_STAGE_MOCK) {
                                CHECK(holds(&g.to_client, "201") && holds(&g.to_client, "made"));
                        } else {
                                CHECK_STR(g.target,
                                          stage == POLICY_STAGE_LIVE ? "api.test:80" : "try.test:80");
                        }
                        rig_end(&g);
                }
        }
}

static void test_params__a_client_that_breaks_off_leaves_nothing(void)
{
        struct rig g;
        struct rig_in in = { .policy = policy, .stage = POLICY_STAGE_LIVE };
        AUTO_BUF(text);
        struct request q = { "POST /pay", "Content-Type: " FORM "\r\n", "amount=5&currency=eur", 21, 0 };
        put(&q, &text);
        for (size_t at = text.n - 21; at < text.n; at++) {
                if (!rig_start(&g, &in))
                        return;
                rig_client(&g, span_of(text.p, at), 0);
                http_flow_client_closed(g.flow);
                rig_move(&g);
                CHECK_INT(g.connects, 0);
                CHECK(http_flow_done(g.flow));
                rig_end(&g);
        }
}

static size_t asked_held;
static bool may_not(void *ctx, const struct door *door, enum effect_reason *ret_why)
{
        (void) door;
        asked_held = http_flow_held(((struct rig *) ctx)->flow);
        *ret_why = REASON_CAP_HOUR;
        return false;
}

/* Who keeps the books is asked once, about a request that is within bounds, and knows what was read of it. */
static void test_params__the_books_are_asked_afterwards(void)
{
        struct rig g;
        struct rig_in in = { .policy = policy, .stage = POLICY_STAGE_LIVE };
        struct http_peer peer = { .host = "api.test", .port = 80 };
        struct http_callbacks cb = { .ctx = &g, .on_request = rig_event, .may = may_not };
        static const char *const bodies[] = { "amount=6000&currency=eur", "amount=5&currency=eur" };
        for (int i = 0; i < 2; i++) {
                AUTO_BUF(text);
                struct request q = { "POST /pay", "Content-Type: " FORM "\r\n", bodies[i], strlen(bodies[i]),
                                     0 };
                if (!rig_start(&g, &in))
                        return;
                http_flow_free(g.flow);
                g.flow = http_flow_new(g.rules, &peer, &cb);
                asked_held = 0;
                put(&q, &text);
                rig_client(&g, buf_span(&text), 0);
                CHECK_INT(asked_held, i ? text.n : 0);
                CHECK(holds(&g.to_client, i ? "hourly `cap`" : "parameter amount"));
                CHECK_INT(g.connects, 0);
                rig_end(&g);
        }
}

static const struct test_case cases[] = {
        CASE(test_params__within_bounds_goes_on_as_it_came),
        CASE(test_params__what_is_out_of_bounds_stays),
        CASE(test_params__a_cookie_is_no_parameter),
        CASE(test_params__an_escaped_question_in_the_path),
        CASE(test_params__a_body_that_cannot_be_read_exactly_stays),
        CASE(test_params__a_body_of_two_readings_stays),
        CASE(test_params__the_longest_body),
        CASE(test_params__cut_anywhere),
        CASE(test_params__without_bounds_a_body_does_not_wait),
        CASE(test_params__the_client_is_told_to_go_on_once),
        CASE(test_params__requests_behind_each_other),
        CASE(test_params__a_refusal_says_what_would_permit_it),
        CASE(test_params__other_rules_still_hold),
        CASE(test_params__no_credential_is_shown),
        CASE(test_params__bounds_hold_in_every_stage),
        CASE(test_params__a_client_that_breaks_off_leaves_nothing),
        CASE(test_params__the_books_are_asked_afterwards),
};

int main(void) { return test_main(cases, sizeof cases / sizeof *cases); }
