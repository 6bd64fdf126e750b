/* SPDX-License-Identifier: MIT */
/* Whole exchanges without TLS: what goes up, what comes down, what is told. */
#include "test_egress_common.h"
#include "test_egress_credentials.h"

#define GET(path)   "GET " path " HTTP/1.1\r\nHost: api.test\r\n\r\n"
#define OK(body, n) "HTTP/1.1 200 OK\r\nContent-Length: " n "\r\n\r\n" body

static const char policy[] = "use none\n"
                             "net http://api.test/pub/** GET HEAD POST\n"
                             "net http://api.test/one GET\n"
                             "net http://api.test/ws WEBSOCKET\n"
                             "net http://api.test/any/**\n"
                             "net http://api.test/key/** GET POST with key\n"
                             "net http://api.test/basic GET with pass\n"
                             "net http://api.test/query GET with param\n"
                             "net http://api.test/body POST with field\n"
                             "net http://other.test/** GET POST\n";

static const struct rig_in plain = { .policy = policy,
                                     .credentials = credentials,
                                     .credential_count = COUNT(credentials),
                                     .stage = POLICY_STAGE_LIVE };

static void test_flow__a_request_and_its_answer_in_any_pieces(void)
{
        static const char up[] =
                "POST /pub/a%62?x=1 HTTP/1.1\r\nHost: API.test\r\nContent-Length: 5\r\nX-A: b\r\n"
                "Connection: keep-alive, X-Drop\r\nX-Drop: 1\r\n\r\nhello";
        static const char down[] =
                "HTTP/1.1 201 Made\r\nContent-Length: 3\r\nX-C: d\r\nKeep-Alive: 5\r\n\r\nyes";
        for (size_t cut = 0; cut < 60; cut += cut < 4 ? 1 : 7) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(up), cut);
                rig_upstream(&g, span_str(down), cut);
                CHECK_STR(buf_str(&g.to_upstream), "POST /pub/ab?x=1 HTTP/1.1\r\nHost: api.test\r\nX-A: "
                                                   "b\r\nAccept-Encoding: identity\r\n"
                                                   "Content-Length: 5\r\n\r\nhello");
                CHECK_STR(buf_str(&g.to_client),
                          "HTTP/1.1 201 Made\r\nX-C: d\r\nContent-Length: 3\r\n\r\nyes");
                CHECK_STR(g.target, "api.test:80");
                CHECK_INT(g.event_count, 1);
                CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
                CHECK_STR(rig_last(&g)->path, "/pub/ab");
                CHECK_INT(rig_last(&g)->status, 201);
                CHECK_INT(rig_last(&g)->sent, 5);
                CHECK_INT(rig_last(&g)->received, 3);
                CHECK(!http_flow_done(g.flow));
                rig_end(&g);
        }
}

/* A short secret with signs is longer in a form than the placeholder that the length was counted of. */
static void test_flow__a_short_secret_in_a_form(void)
{
        static const struct http_credential pin = { "pin",
                                                    GRANT_BODY,
                                                    "",
                                                    "",
                                                    "",
                                                    { (const uint8_t *) "a&b=c\"d%", 8 },
                                                    { (const uint8_t *) "pQ7rS2tU", 8 },
                                                    POLICY_STAGE_TEST,
                                                    0,
                                                    0 };
        static const struct {
                const char *type, *body, *up;
        } rows[] = {
                { "application/x-www-form-urlencoded", "pin=pQ7rS2tU&x=1",
                  "Transfer-Encoding: chunked\r\n\r\n18\r\npin=a%26b%3Dc%22d%25&x=1\r\n0\r\n\r\n" },
                { "application/json", "{\"pin\":\"pQ7rS2tU\"}",
                  "Transfer-Encoding: chunked\r\n\r\n13\r\n{\"pin\":\"a&b=c\\\"d%\"}\r\n0\r\n\r\n" },
                { "application/x+json; charset=utf-8", "{\"pin\":\"pQ7rS2tU\"}",
                  "Transfer-Encoding: chunked\r\n\r\n13\r\n{\"pin\":\"a&b=c\\\"d%\"}\r\n0\r\n\r\n" },
                { "text/plain", "pQ7rS2tU", "Content-Length: 8\r\n\r\na&b=c\"d%" },
                { "application/x-www-form-urlencoded", "", "Content-Length: 0\r\n\r\n" },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct rig g;
                struct rig_in in = { .policy = "use none\nnet http://api.test/** POST with pin\n",
                                     .credentials = &pin,
                                     .credential_count = 1,
                                     .stage = POLICY_STAGE_LIVE };
                AUTO_BUF(text);
                if (!rig_start(&g, &in))
                        return;
                buf_printf(&text,
                           "POST /x HTTP/1.1\r\nHost: api.test\r\nContent-Type: %s\r\nContent-Length: "
                           "%zu\r\n\r\n%s",
                           rows[i].type, strlen(rows[i].body), rows[i].body);
                rig_client(&g, buf_span(&text), 0);
                const char *up = strstr(buf_str(&g.to_upstream), "identity\r\n");
                CHECK_STR(up ? up + 10 : "", rows[i].up);
                rig_end(&g);
        }
}

static void test_flow__one_link_serves_many_requests(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        for (int i = 0; i < 5; i++) {
                rig_client(&g, span_str(GET("/one")), 0);
                rig_upstream(&g, span_str(OK("ok", "2")), 0);
        }
        CHECK_INT(g.connects, 1);
        CHECK_INT(g.event_count, 5);
        rig_client(&g, span_str(GET("/pub/1") GET("/pub/2")), 0); /* two at once: one after the other */
        CHECK(holds(&g.to_upstream, "/pub/1") && !holds(&g.to_upstream, "/pub/2"));
        rig_upstream(&g, span_str(OK("ok", "2")), 0);
        CHECK(holds(&g.to_upstream, "/pub/2"));
        rig_upstream(&g, span_str(OK("ok", "2")), 0);
        rig_client(&g,
                   span_str("POST /pub/3 HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "1\r\na\r\n0\r\n\r\n" GET("/pub/4")),
                   0);
        rig_upstream(&g, span_str(OK("ok", "2")), 0);
        CHECK(holds(&g.to_upstream, "/pub/4"));
        rig_upstream(&g, span_str(OK("ok", "2")), 0);
        CHECK_INT(g.event_count, 9);
        CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
        rig_end(&g);
}

/* Servers that know who asks by the connection must not take one door's requests for another's. */
static void test_flow__a_link_is_one_credentials_or_nobodys(void)
{
        static const char *const paths[] = { GET("/key/a"), GET("/key/b"), GET("/one"),
                                             GET("/one"),   GET("/query"), GET("/key/c") };
        static const unsigned connects[] = { 1, 1, 2, 2, 3, 4 };
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        for (size_t i = 0; i < COUNT(paths); i++) {
                rig_client(&g, span_str(paths[i]), 0);
                rig_upstream(&g, span_str(OK("ok", "2")), 0);
                CHECK_INT(g.connects, connects[i]);
                CHECK_INT(g.event_count, i + 1);
        }
        rig_end(&g);
}

static void test_flow__an_idle_link_that_closes_is_made_again(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str(GET("/one")), 0);
        rig_upstream(&g, span_str(OK("a", "1")), 0);
        http_flow_upstream_closed(g.flow);
        rig_client(&g, span_str(GET("/one")), 0);
        CHECK_INT(g.connects, 2);
        rig_upstream(&g, span_str(OK("b", "1")), 0);
        rig_client(&g, span_str(GET("/one")), 0); /* on the open link, which closes before it answers */
        http_flow_upstream_closed(g.flow);
        rig_move(&g);
        CHECK_INT(g.connects, 3);
        rig_upstream(&g, span_str(OK("c", "1")), 0);
        CHECK_INT(g.event_count, 3);
        CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
        rig_client(&g, span_str("HEAD /pub/x HTTP/1.1\r\nHost: api.test\r\n\r\n"), 0);
        http_flow_upstream_closed(g.flow);
        rig_move(&g);
        CHECK_INT(g.connects, 4);
        rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"), 0);
        /* A body, or a POST, is never sent twice. */
        rig_client(&g, span_str("GET /pub/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 1\r\n\r\na"), 0);
        http_flow_upstream_closed(g.flow);
        rig_move(&g);
        CHECK_INT(g.connects, 4);
        CHECK_INT(rig_last(&g)->verdict, HTTP_BROKEN);
        rig_end(&g);
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str(GET("/one")), 0);
        rig_upstream(&g, span_str(OK("a", "1")), 0);
        rig_client(&g, span_str("POST /pub/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 0\r\n\r\n"), 0);
        http_flow_upstream_closed(g.flow);
        rig_move(&g);
        CHECK_INT(g.connects, 1);
        CHECK_INT(rig_last(&g)->verdict, HTTP_BROKEN);
        CHECK(holds(&g.to_client, "502 Bad Gateway"));
        rig_end(&g);
}

/* A person has approved it once. */
static void test_flow__what_was_approved_is_not_sent_twice(void)
{
        static const char *const policies[] = { "use none\nnet http://api.test/** GET\n",
                                                "use none\nnet http://api.test/** GET ask\n" };
        for (size_t i = 0; i < COUNT(policies); i++) {
                struct rig g;
                const struct rig_in in = { .policy = policies[i], .stage = POLICY_STAGE_LIVE };
                if (!rig_start(&g, &in))
                        return;
                rig_client(&g, span_str(GET("/one")), 0);
                rig_upstream(&g, span_str(OK("a", "1")), 0);
                rig_client(&g, span_str(GET("/one")), 0);
                http_flow_upstream_closed(g.flow);
                rig_move(&g);
                CHECK_INT(g.connects, i == 0 ? 2 : 1);
                CHECK_INT(g.event_count, i == 0 ? 1 : 2);
                rig_end(&g);
        }
}

static void test_flow__a_link_that_the_server_will_close_is_not_used_again(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str(GET("/one")), 0);
        rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na"), 0);
        CHECK(!http_flow_done(g.flow));
        rig_client(&g, span_str(GET("/one")), 0);
        CHECK_INT(g.connects, 2);
        rig_end(&g);
}

struct refused {
        const char *request, *status;
        enum effect_reason reason;
};

static void test_flow__requests_that_no_door_covers(void)
{
        static const struct refused rows[] = {
                { GET("/"), "403", REASON_URL_PATH },
                { GET("/one/"), "403", REASON_URL_PATH },
                { GET("/one/two"), "403", REASON_URL_PATH },
                { GET("/ONE"), "403", REASON_URL_PATH },
                { GET("/pub"), "403", REASON_URL_PATH },
                { "DELETE /pub/x HTTP/1.1\r\nHost: api.test\r\n\r\n", "403", REASON_METHOD },
                { "POST /one HTTP/1.1\r\nHost: api.test\r\nContent-Length: 3\r\n\r\nabc", "403",
                  REASON_METHOD },
                { GET("/pub/../one"), "421", REASON_PATH_MALFORMED },
                { GET("/pub/%2e%2e/one"), "421", REASON_PATH_MALFORMED },
                { "GET /one HTTP/1.1\r\nHost: other.test\r\n\r\n", "421", REASON_HOST_HEADER },
                { "GET http://other.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n", "421", REASON_TARGET_OTHER },
                { "CONNECT api.test:80 HTTP/1.1\r\nHost: api.test\r\n\r\n", "501", REASON_METHOD_UNKNOWN },
                { "TRACE /any/x HTTP/1.1\r\nHost: api.test\r\n\r\n", "501", REASON_METHOD_UNKNOWN },
                { "WEBSOCKET /ws HTTP/1.1\r\nHost: api.test\r\n\r\n", "501", REASON_METHOD_UNKNOWN },
                { "get /one HTTP/1.1\r\nHost: api.test\r\n\r\n", "501", REASON_METHOD_UNKNOWN },
                { "OPTIONS * HTTP/1.1\r\nHost: api.test\r\n\r\n", "421", REASON_TARGET },
                { "GET /ws HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                  "Sec-WebSocket-Key: x\r\nContent-Length: 0\r\n\r\n",
                  "501", REASON_WEBSOCKET },
                { "GET /any/x HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                  "Sec-WebSocket-Key: x\r\n\r\n",
                  "403", REASON_METHOD },
                { "GET /ws HTTP/1.1\r\nHost: api.test\r\n\r\n", "403", REASON_METHOD },
                { "POST /pub/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 1\r\nTransfer-Encoding: "
                  "chunked\r\n\r\n",
                  "400", REASON_LENGTH_AND_CODING },
                { "PRI * HTTP/2.0\r\n\r\nSN\r\n\r\n", "505", REASON_HTTP_VERSION },
                { "GET /ws HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"
                  "Sec-WebSocket-Key: abc\r\n\r\n",
                  "403", REASON_METHOD },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX-HTTP-Method-Override: DELETE\r\n\r\n", "400",
                  REASON_METHOD_HEADER },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nx_http_method: PUT\r\n\r\n", "400",
                  REASON_METHOD_HEADER },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX-HTTP-Method-Override: GET, PUT\r\n\r\n", "400",
                  REASON_METHOD_HEADER },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX.HTTP~Method_Override: PUT\r\n\r\n", "400",
                  REASON_METHOD_HEADER },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX-Method-Override: \r\n\r\n", "400",
                  REASON_METHOD_HEADER },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX-Original-URL: /one\r\n\r\n", "400",
                  REASON_PATH_HEADER },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX_Envoy_Original-Path: /one\r\n\r\n", "400",
                  REASON_PATH_HEADER },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX-Forwarded-Uri: /one\r\n\r\n", "400",
                  REASON_PATH_HEADER },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX-Replaced-Path: /one\r\n\r\n", "400",
                  REASON_PATH_HEADER },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX-Rewrite-Url: /pub/x\r\n\r\n", "400",
                  REASON_PATH_HEADER },
                { GET("/pub/x?a=1&_Method=delete"), "400", REASON_METHOD_PARAMETER },
                { GET("/pub/x?%5Fmetho%64=delete"), "400", REASON_METHOD_PARAMETER },
                { GET("/pub/x?a;%20_method=delete"), "400", REASON_METHOD_PARAMETER },
                { GET("/pub/x??_method=delete"), "400", REASON_METHOD_PARAMETER },
                { GET("/pub/x?_method[0]=delete"), "400", REASON_METHOD_PARAMETER },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nCookie: a=b; _method=PUT\r\n\r\n", "400",
                  REASON_METHOD_COOKIE },
                { GET("/pub/x?.method=delete"), "400", REASON_METHOD_PARAMETER },
                { GET("/pub/x?[_method]=delete"), "400", REASON_METHOD_PARAMETER },
                { GET("/pub/x?%5B_method%5D=delete"), "400", REASON_METHOD_PARAMETER },
                { GET("/pub/x?_method]=delete"), "400", REASON_METHOD_PARAMETER },
                { GET("/pub/x?_method=GET"), "400", REASON_METHOD_PARAMETER },
                { GET("/pub%2fx"), "403", REASON_ESCAPED_SLASH },
                { GET("/pub%2Fa%2Fb"), "403", REASON_ESCAPED_SLASH },
                { GET("%2fpub/x"), "421", REASON_TARGET },
                { GET("/pub/x%2f..%2fy"), "421", REASON_PATH_MALFORMED },
                { GET("/pub/..%2fone"), "421", REASON_PATH_MALFORMED },
                { GET("/pub/x%2f%2fy"), "421", REASON_PATH_MALFORMED },
                { GET("/pub/x%252fy"), "421", REASON_PATH_MALFORMED },
                { GET("/pub/x%5c..%5cone"), "421", REASON_PATH_MALFORMED },
                { GET("/other%2fx"), "403", REASON_URL_PATH },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct rig g;
                char status[40];
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(rows[i].request), 0);
                (void) snprintf(status, sizeof status, "HTTP/1.1 %s ", rows[i].status);
                if (!holds(&g.to_client, status) || !holds(&g.to_client, effect_reason_text(rows[i].reason)))
                        printf("# row %zu: %s\n", i, buf_str(&g.to_client));
                CHECK(holds(&g.to_client, status));
                CHECK(holds(&g.to_client, effect_reason_text(rows[i].reason)));
                CHECK_INT(g.connects, 0);
                CHECK_INT(g.event_count, 1);
                CHECK_INT(rig_last(&g)->verdict, HTTP_DENIED);
                CHECK_INT(rig_last(&g)->reason, rows[i].reason);
                rig_end(&g);
        }
}

/* A name is looked for in Connection, by way of a buffer. */
static void test_flow__a_long_name_of_a_header_is_no_hop(void)
{
        static const size_t lengths[] = { 62, 63, 64, 65, 200, 2000 };
        for (size_t i = 0; i < COUNT(lengths); i++) {
                struct rig g;
                AUTO_BUF(name);
                AUTO_BUF(request);
                if (!rig_start(&g, &plain))
                        return;
                while (name.n < lengths[i])
                        buf_putc(&name, 'x');
                buf_printf(&request, "GET /pub/x HTTP/1.1\r\nHost: api.test\r\n%s: y\r\n\r\n",
                           buf_str(&name));
                rig_client(&g, buf_span(&request), 0);
                CHECK(holds(&g.to_upstream, buf_str(&name)));
                rig_end(&g);
        }
}

/* npm writes @scope%2Fname: below a double star both readings of it are the same door. */
static void test_flow__an_escaped_slash_goes_as_it_came(void)
{
        static const struct {
                const char *asked, *sent;
        } rows[] = {
                { GET("/pub/@scope%2fname?x=%2F"), "GET /pub/@scope%2Fname?x=%2F HTTP/1.1\r\n" },
                { GET("/pub/a/b%2Fc/d"), "GET /pub/a/b%2Fc/d HTTP/1.1\r\n" },
                { GET("/pub/a%2fb/%63%2fd"), "GET /pub/a%2Fb/c%2Fd HTTP/1.1\r\n" },
                { GET("/pub/x%2f"), "GET /pub/x%2F HTTP/1.1\r\n" },
                { "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX-HTTP-Method-Override: get\r\nX-Forwarded-Host: "
                  "evil.test\r\nForwarded: host=evil.test\r\nX_Host: evil.test\r\n\r\n",
                  "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX-HTTP-Method-Override: get\r\n" },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(rows[i].asked), 0);
                if (!holds(&g.to_upstream, rows[i].sent))
                        printf("# row %zu: %s\n", i, buf_str(&g.to_upstream));
                CHECK(holds(&g.to_upstream, rows[i].sent));
                CHECK(!holds(&g.to_upstream, "evil"));
                rig_end(&g);
        }
}

#define MOVE(to) "MOVE /dav/a HTTP/1.1\r\nHost: api.test\r\n" to "\r\n"

/* WebDAV: where a file goes to stands in a header. */
static void test_flow__the_door_covers_where_a_move_goes(void)
{
        static const char doors[] =
                "net http://api.test/dav/** GET MOVE COPY\nnet http://api.test/pub/** MOVE\n";
        static const struct {
                const char *asked;
                bool leaves;
        } rows[] = {
                { MOVE("Destination: http://api.test/dav/b/c\r\n"), true },
                { MOVE("Destination: /dav/b\r\n"), true },
                { MOVE("Destination: http://api.test/etc/b\r\n"), false },
                { MOVE("Destination: /pub/b\r\n"), false }, /* another door: perhaps with other powers */
                { MOVE("Destination: http://evil.test/dav/b\r\n"), false },
                { MOVE("Destination: /dav/../etc\r\n"), false },
                { MOVE("Destination: /dav/..%2fetc\r\n"), false },
                { MOVE("Destination: /dav/b\r\nDestination: /etc/b\r\n"), false },
                { MOVE("Destination:\r\n"), false },
                { MOVE(""), true }, /* the server will say what it lacks */
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct rig g;
                if (!rig_start(&g, &(struct rig_in){ .policy = doors, .stage = POLICY_STAGE_LIVE }))
                        return;
                rig_client(&g, span_str(rows[i].asked), 0);
                if ((g.connects == 1) != rows[i].leaves)
                        printf("# row %zu: %s\n", i, buf_str(&g.to_client));
                CHECK_INT(g.connects, rows[i].leaves);
                CHECK(rows[i].leaves || holds(&g.to_client, "Destination"));
                rig_end(&g);
        }
}

static void test_flow__after_a_refusal_the_connection_goes_on(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str(GET("/no") GET("/one")), 0);
        CHECK(holds(&g.to_client, "403 Forbidden"));
        CHECK(holds(&g.to_upstream, "GET /one"));
        CHECK(!holds(&g.to_upstream, "/no"));
        rig_upstream(&g, span_str(OK("a", "1")), 0);
        rig_client(&g, span_str("GET /one\r\n\r\n"), 0); /* what cannot be read is not told of as the last */
        CHECK_INT(g.event_count, 3);
        CHECK_STR(rig_last(&g)->path, "");
        rig_end(&g);
        /* But not behind a body that nobody read. */
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g,
                   span_str("POST /no HTTP/1.1\r\nHost: api.test\r\nContent-Length: 40\r\n\r\n" GET("/one")),
                   0);
        CHECK(holds(&g.to_client, "\r\nConnection: close\r\n"));
        CHECK(http_flow_done(g.flow));
        CHECK_INT(g.connects, 0);
        rig_end(&g);
}

/* ---- credentials ---- */

static void test_swap__the_secret_goes_in_at_its_door_only(void)
{
        static const struct {
                const char *request, *up;
        } rows[] = {
                { "GET /key/a HTTP/1.1\r\nHost: api.test\r\nAuthorization: Bearer " HOLDER "\r\n\r\n",
                  "Authorization: Bearer " SECRET "\r\n" },
                { GET("/key/a"), "Authorization: Bearer " SECRET "\r\n" },
                { GET("/basic"), "Authorization: Basic cm9ib3Q6cGFzcy13b3JkLXJlYWwtMQ==\r\n\r\n" },
                { GET("/query?a=1&key=mine&b=2"),
                  "GET /query?a=1&b=2&key=param%2Freal%26value HTTP/1.1\r\n" },
                { GET("/query"), "GET /query?key=param%2Freal%26value HTTP/1.1\r\n" },
                { "POST /body HTTP/1.1\r\nHost: api.test\r\nContent-Length: 26\r\n\r\n{\"k\": \"" FIELD_HOLDER
                  "\" }",
                  "{\"k\": \"" FIELD_SECRET "\" }" },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                for (size_t cut = 0; cut < 12; cut += 5) {
                        struct rig g;
                        if (!rig_start(&g, &plain))
                                return;
                        rig_client(&g, span_str(rows[i].request), cut);
                        if (!holds(&g.to_upstream, rows[i].up))
                                printf("# row %zu: %s%s\n", i, buf_str(&g.to_upstream),
                                       buf_str(&g.to_client));
                        CHECK(holds(&g.to_upstream, rows[i].up));
                        CHECK(!holds(&g.to_upstream, HOLDER) && !holds(&g.to_upstream, FIELD_HOLDER));
                        rig_end(&g);
                }
        }
}

static void test_swap__what_the_client_brings_is_stripped(void)
{
        static const char *const fields[] = {
                "Authorization: Bearer attacker",
                "authorization: Basic YTpi",
                "Proxy-Authorization: x",
                "Cookie: session=attacker",
                "X-Api-Key: attacker",
                "x_api_key: attacker",
                "X-Auth-Token: attacker",
                "PRIVATE-TOKEN: attacker",
                "X-Vendor-Api-Key: attacker",
                "Api-Key: attacker",
                "X-Amz-Security-Token: attacker",
                "Range: bytes=0-1",
                "X-Shop-Access-Token: attacker",
        };
        for (size_t i = 0; i < COUNT(fields); i++) {
                struct rig g;
                AUTO_BUF(request);
                if (!rig_start(&g, &plain))
                        return;
                buf_printf(&request,
                           "GET /key/a?access_token=attacker&q=1;apikey=attacker&%%61pi_key=attacker "
                           "HTTP/1.1\r\n"
                           "Host: api.test\r\n%s\r\nX-Some-Other-Header: kept\r\n\r\n",
                           fields[i]);
                rig_client(&g, buf_span(&request), 0);
                if (holds(&g.to_upstream, "attacker") || holds(&g.to_upstream, "bytes=0-1"))
                        printf("# %s: %s\n", fields[i], buf_str(&g.to_upstream));
                CHECK(!holds(&g.to_upstream, "attacker") && !holds(&g.to_upstream, "bytes=0-1"));
                CHECK(holds(&g.to_upstream, "GET /key/a?q=1 HTTP/1.1\r\n"));
                CHECK(holds(&g.to_upstream, "X-Some-Other-Header: kept\r\n"));
                CHECK(holds(&g.to_upstream, "Authorization: Bearer " SECRET "\r\n"));
                rig_end(&g);
        }
        static const char *const params[] = { "token=attacker",          "id_token=attacker",
                                              "Signature=attacker",      "password=attacker",
                                              "AWSAccessKeyId=attacker", "key=AIzaattacker",
                                              "%6Bey=AIzaattacker",      "key=%41Izaattacker",
                                              "%74oken=attacker" };
        for (size_t i = 0; i < COUNT(params); i++) {
                struct rig g;
                AUTO_BUF(request);
                if (!rig_start(&g, &plain))
                        return;
                buf_printf(&request,
                           "GET /key/a?%s&key=colour-of-it%%21&tokens=2&q=%%41 HTTP/1.1\r\nHost: "
                           "api.test\r\n\r\n",
                           params[i]);
                rig_client(&g, buf_span(&request), 0);
                if (!holds(&g.to_upstream, "GET /key/a?key=colour-of-it%21&tokens=2&q=%41 HTTP/1.1\r\n"))
                        printf("# %s: %s\n", params[i], buf_str(&g.to_upstream));
                CHECK(holds(&g.to_upstream, "GET /key/a?key=colour-of-it%21&tokens=2&q=%41 HTTP/1.1\r\n"));
                rig_end(&g);
        }
}

/* Also behind a door without one: the server may know the secret from another request. */
static void test_swap__no_range_cuts_a_secret(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g,
                   span_str("GET /pub/a HTTP/1.1\r\nHost: api.test\r\nRange: bytes=0-1\r\nIf-Range: x\r\n"
                            "Accept-Encoding: br\r\nX-Other: kept\r\n\r\n"),
                   0);
        CHECK(holds(&g.to_upstream, "X-Other: kept\r\n"));
        CHECK(holds(&g.to_upstream, "Accept-Encoding: identity\r\n"));
        CHECK(!holds(&g.to_upstream, "ange: ") && !holds(&g.to_upstream, "br\r\n"));
        rig_end(&g);
}

/* Every place where a placeholder must not stand; nothing may go up, and it is told. */
static void test_swap__a_placeholder_elsewhere_is_refused(void)
{
        static const char *const requests[] = {
                GET("/pub/" HOLDER),
                GET("/pub/x?t=" HOLDER),
                GET("/pub/x?access_token=" HOLDER),
                "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nAuthorization: Bearer " HOLDER "\r\n\r\n",
                "GET /pub/x HTTP/1.1\r\nHost: api.test\r\nX-Other: a" HOLDER "b\r\n\r\n",
                "GET /pub/x HTTP/1.1\r\nHost: api.test\r\n" HOLDER ": x\r\n\r\n",
                "GET /key/x HTTP/1.1\r\nHost: api.test\r\nX-Other: " HOLDER "\r\n\r\n",
                GET("/key/" HOLDER),
                GET("/key/x?y=" HOLDER),
                "GET /key/x HTTP/1.1\r\nHost: api.test\r\nAuthorization: Bearer " PASS_HOLDER "\r\n\r\n",
                "GET /basic HTTP/1.1\r\nHost: api.test\r\nAuthorization: Bearer " HOLDER "\r\n\r\n",
                /* base64 of "x:" and the placeholder, and the placeholder in capitals and in %XX */
                ("GET /pub/x HTTP/1.1\r\nHost: api.test\r\nAuthorization: Basic "
                 "eDpnaHBfUExBQ0VIT0xERVJhYWFhYmJiYmNjY2NkZGRkZWVlZQ==\r\n\r\n"),
                "GET /pub/x?p=param%2ffake%26value HTTP/1.1\r\nHost: api.test\r\n\r\n",
        };
        for (size_t i = 0; i < COUNT(requests); i++) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(requests[i]), 0);
                if (!rig_last(&g)->abused)
                        printf("# row %zu: %s\n", i, buf_str(&g.to_upstream));
                CHECK_INT(g.connects, 0);
                CHECK(rig_last(&g)->abused);
                CHECK_INT(rig_last(&g)->verdict, HTTP_DENIED);
                CHECK(holds(&g.to_client, "403"));
                rig_end(&g);
        }
}

static void test_swap__a_placeholder_in_a_body_elsewhere_ends_the_request(void)
{
        static const char chunks[] =
                "POST /pub/x HTTP/1.1\r\nHost: other.test\r\nTransfer-Encoding: chunked\r\n\r\n"
                "14\r\nabcghp_PLACEHOLDERaa\r\n12\r\naabbbbccccddddeeee\r\n0\r\n\r\n";
        static const char sized[] = "POST /pub/x HTTP/1.1\r\nHost: other.test\r\nContent-Length: 42\r\n\r\n"
                                    "data=" HOLDER "&x";
        const char *const all[] = { chunks, sized };
        for (size_t i = 0; i < COUNT(all); i++) {
                for (size_t cut = 0; cut < 9; cut++) {
                        struct rig g;
                        if (!rig_start(&g, &plain))
                                return;
                        rig_flow(&g, "other.test", 80);
                        rig_client(&g, span_str(all[i]), cut);
                        CHECK(rig_last(&g)->abused);
                        CHECK(http_flow_done(g.flow));
                        CHECK(holds(&g.to_client, "403"));
                        CHECK(!holds(&g.to_upstream, "\r\n0\r\n\r\n"));
                        CHECK(http_flow_upstream_cut(g.flow)); /* half a request must not look whole */
                        rig_end(&g);
                }
        }
}

static void test_swap__uses_and_lifetime_end(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        for (int i = 0; i < 3; i++) {
                rig_client(&g, span_str(GET("/basic")), 0);
                if (i < 2)
                        rig_upstream(&g, span_str(OK("", "0")), 0);
        }
        CHECK_INT(rig_last(&g)->verdict, HTTP_DENIED);
        CHECK_INT(rig_last(&g)->reason, REASON_CREDENTIAL_USED_UP);
        http_rules_clock(g.rules, 1800000000);
        rig_client(&g, span_str(GET("/query")), 0);
        CHECK_INT(rig_last(&g)->reason, REASON_CREDENTIAL_EXPIRED);
        rig_end(&g);
}

/* ---- secrets that come back ---- */

/* The answer as a client reads it: chunks put together, so that a secret cannot hide between them. */
static void read_answer(const struct buf *wire, struct buf *out)
{
        const char *end = strstr(buf_str(wire), "\r\n\r\n");
        size_t at = end ? (size_t) (end + 4 - wire->p) : wire->n;
        buf_add(out, wire->p, at);
        struct http_body b;
        http_body_init(&b, holds(wire, "Transfer-Encoding: chunked") ? BODY_CHUNKED : BODY_UNTIL_CLOSE, 0);
        for (;;) {
                size_t used;
                struct span data;
                enum body_state s = http_body_next(&b, span_of(wire->p + at, wire->n - at), &used, &data);
                at += used;
                buf_add(out, data.p, data.n);
                if (s != BODY_DATA)
                        return;
        }
}

static void answer_with(const char *answer, size_t cut, bool close, const char *want, bool want_scrubbed)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str(GET("/key/a")), 0);
        rig_upstream(&g, span_str(answer), cut);
        if (close) {
                http_flow_upstream_closed(g.flow);
                if (!http_flow_done(g.flow) || http_flow_to_client(g.flow).n)
                        rig_move(&g);
        }
        AUTO_BUF(seen);
        read_answer(&g.to_client, &seen);
        bool leak = holds(&seen, "R3alSecret") || holds(&seen, "r3alsecret") ||
                    holds(&seen, "UjNhbFNlY3Jld") || holds(&seen, "5233616c536563726574");
        if (leak || (want && !holds(&seen, want)))
                printf("# cut %zu: %s\n", cut, buf_str(&seen));
        CHECK(!leak);
        if (want)
                CHECK(holds(&seen, want));
        CHECK_INT(rig_last(&g)->scrubbed, want_scrubbed);
        rig_end(&g);
}

static void test_scrub__answers_in_every_framing_and_cut(void)
{
        static const char sized[] = "HTTP/1.1 200 OK\r\nContent-Length: 49\r\n\r\nyou sent " SECRET " once";
        static const char chunked[] =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                "8\r\nxghp_R3a\r\n1\r\nl\r\n1b\r\nSecretValue0123456789abcdef\r\n0\r\n\r\n";
        static const char closed[] = "HTTP/1.1 500 No\r\n\r\nerror: " SECRET;
        static const char head[] =
                "HTTP/1.1 302 " SECRET "\r\nLocation: http://evil.test/?t=" SECRET
                "\r\nX-Hex: 6768705f5233616c53656372657456616c7565303132333435363738396162636465"
                "66\r\nSet-Cookie: s=1\r\nContent-Length: 0\r\n\r\n";
        static const char basic[] = "HTTP/1.1 401 No\r\nContent-Length: 64\r\n\r\nBasic "
                                    "cm9ib3Q6Z2hwX1IzYWxTZWNyZXRWYWx1ZTAxMjM0NTY3ODlhYmNkZWY=..";
        for (size_t cut = 0; cut < 40; cut++) {
                answer_with(sized, cut, false, "you sent *********************************** once", true);
                answer_with(chunked, cut, false, "x****", true);
                answer_with(closed, cut, true, "error: ****", true);
                answer_with(head, cut, false, "Location: http://evil.test/?t=****", true);
                answer_with(basic, cut, false, "Basic ", true);
        }
}

/* A server that encodes what it was sent, in hex and in base64 at each offset: the password as it came, which
 * is with its user in base64 already, and the parameter with its escapes. */
static void test_scrub__what_was_sent_is_found_encoded_once_more(void)
{
        static const char *const encoded[] = {
                "636d3969623351366347467a6379313362334a6b4c584a6c595777744d513d3d",
                "QmFzaWMgY205aWIzUTZjR0Z6Y3kxM2IzSmtMWEpsWVd3dE1RPT15eXk=",
                "eEJhc2ljIGNtOWliM1E2Y0dGemN5MTNiM0prTFhKbFlXd3RNUT09eXl5",
                "eHhCYXNpYyBjbTlpYjNRNmNHRnpjeTEzYjNKa0xYSmxZV3d0TVE9PXl5eQ==",
                "706172616d2532467265616c25323676616c7565",
                "L2E/a2V5PXBhcmFtJTJGcmVhbCUyNnZhbHVlIEhUVFA="
        };
        for (size_t i = 0; i < COUNT(encoded); i++) {
                AUTO_BUF(answer);
                struct rig g;
                buf_printf(&answer, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(encoded[i]),
                           encoded[i]);
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(GET("/key/a")), 0);
                rig_upstream(&g, buf_span(&answer), 7);
                CHECK(holds(&g.to_client, "********************"));
                CHECK(rig_last(&g)->scrubbed);
                rig_end(&g);
        }
}

static void test_scrub__answers_that_break_off_let_nothing_out(void)
{
        /* In the middle of the secret: too few bytes, an unfinished chunk, garbage for a chunk, then close.
         */
        static const char *const answers[] = {
                "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nyou sent ghp_R3alSecretVal",
                ("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nyou sent " SECRET),
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\nghp_R3alSecretVal",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11\r\nghp_R3alSecretVal\r\nXX\r\n",
                "HTTP/1.1 200 OK\r\n\r\nghp_R3alSecretVal",
        };
        for (size_t i = 0; i < COUNT(answers); i++)
                for (size_t cut = 0; cut < 30; cut++)
                        answer_with(answers[i], cut, true, "200 OK", true);
}

static void test_scrub__a_secret_in_what_is_no_answer_is_not_shown(void)
{
        static const char *const answers[] = {
                "HTTP/1.1 200 OK\r\nX: " SECRET "\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                SECRET " is no status line\r\n\r\n",
                "HTTP/1.1 103 Early Hints\r\nLink: " SECRET "\r\n\r\n",
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: " SECRET "\r\n\r\n",
        };
        for (size_t i = 0; i < COUNT(answers); i++)
                answer_with(answers[i], 0, true, "502", false);
}

/* What cannot be read in two ways goes on, however odd; what could is told in words. */
static void test_flow__odd_answers(void)
{
        AUTO_BUF(many);
        AUTO_BUF(more);
        AUTO_BUF(wait);
        AUTO_BUF(longer);
        buf_puts(&many, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n");
        for (int i = 1; i < 256; i++)
                buf_printf(&many, "Set-Cookie: c%d=1\r\n", i);
        buf_printf(&more, "%sX: y\r\n\r\na", buf_str(&many));
        buf_puts(&many, "\r\na");
        for (int i = 0; i < 16; i++)
                buf_puts(&wait, "HTTP/1.1 103 Early\r\n\r\n");
        buf_printf(&longer, "%sHTTP/1.1 103 Early\r\n\r\n" OK("a", "1"), buf_str(&wait));
        buf_puts(&wait, OK("a", "1"));
        const struct {
                const char *answer, *want;
                unsigned status;
        } rows[] = {
                { "HTTP/1.1 999 Request denied\r\nContent-Length: 2\r\n\r\nno",
                  "HTTP/1.1 999 Request denied\r\n", 999 },
                { "HTTP/1.1 600 \r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
                  "HTTP/1.1 600 \r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 600 },
                { buf_str(&many), "Set-Cookie: c255=1\r\n", 200 },
                { buf_str(&more), "cordon: malformed response: more than 256 header lines", 502 },
                { "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
                  "cordon: malformed response: line does not end in CR LF", 502 },
                { buf_str(&wait), OK("a", "1"), 200 },
                { buf_str(&longer), "cordon: only 1xx responses from the server", 502 },
                { "HTTP/1.1 099 OK\r\n\r\n", "cordon: malformed response: malformed status line", 502 },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(GET("/pub/x")), 0);
                rig_upstream(&g, span_str(rows[i].answer), 0);
                if (!holds(&g.to_client, rows[i].want))
                        printf("# %.200s\n", buf_str(&g.to_client));
                CHECK(holds(&g.to_client, rows[i].want));
                CHECK_INT(rig_last(&g)->status, rows[i].status);
                rig_end(&g);
        }
}

static void test_scrub__answers_that_cannot_be_unpacked_are_refused(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str("GET /pub/x HTTP/1.1\r\nHost: api.test\r\nAccept-Encoding: gzip, br\r\n\r\n"),
                   0);
        CHECK(holds(&g.to_upstream, "Accept-Encoding: identity\r\n") && !holds(&g.to_upstream, "gzip"));
        rig_upstream(
                &g,
                span_str("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\n\x1f\x8b.."),
                0);
        CHECK(holds(&g.to_client, "502") && holds(&g.to_client, "compressed"));
        CHECK(http_flow_done(g.flow));
        rig_end(&g);
        /* Where the box has no credential, compression is nobody's business. */
        struct rig_in bare = { .policy = "use none\nnet http://api.test/**\n", .stage = POLICY_STAGE_LIVE };
        if (!rig_start(&g, &bare))
                return;
        rig_client(&g, span_str("GET /x HTTP/1.1\r\nHost: api.test\r\nAccept-Encoding: gzip\r\n\r\n"), 0);
        CHECK_STR(buf_str(&g.to_upstream),
                  "GET /x HTTP/1.1\r\nHost: api.test\r\nAccept-Encoding: gzip\r\n\r\n");
        rig_upstream(&g,
                     span_str("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nETag: x\r\nContent-Length: "
                              "2\r\n\r\n\x1f\x8b"),
                     0);
        CHECK(holds(&g.to_client, "200 OK\r\nContent-Encoding: gzip\r\nETag: x\r\n"));
        rig_end(&g);
}

/* ---- answers ---- */

static void test_answer__framing(void)
{
        static const struct {
                const char *request, *answer, *want;
                bool close, done;
        } rows[] = {
                { "HEAD /pub/x HTTP/1.1\r\nHost: api.test\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", false, false },
                { "HEAD /pub/x HTTP/1.1\r\nHost: api.test\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
                  "HTTP/1.1 200 OK\r\n\r\n", false, false },
                { "HEAD /pub/x HTTP/1.1\r\nHost: api.test\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, false },
                { GET("/one"), "HTTP/1.1 204 No\r\n\r\n", "HTTP/1.1 204 No\r\n\r\n", false, false },
                { GET("/one"), "HTTP/1.1 304 Not\r\nContent-Length: 7\r\n\r\n",
                  "HTTP/1.1 304 Not\r\nContent-Length: 7\r\n\r\n", false, false },
                { GET("/one"), "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\nX: y\r\n\r\n" OK("k", "1"),
                  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nk", false, false },
                { GET("/one"), "HTTP/1.1 200 OK\r\n\r\nuntil close",
                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nuntil close\r\n0\r\n\r\n", true,
                  false },
                { "GET /one HTTP/1.0\r\nHost: api.test\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nold",
                  "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nold", true, true },
                { "GET /one HTTP/1.0\r\nHost: api.test\r\nConnection: keep-alive\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nold\r\n0\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nold", false, true },
                { "GET /one HTTP/1.0\r\nHost: api.test\r\nConnection: keep-alive\r\n\r\n", OK("k", "1"),
                  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\nk", false, false },
                { "GET /one HTTP/1.0\r\nHost: api.test\r\n\r\n", OK("k", "1"),
                  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nk", false, true },
                { "GET /one HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n", OK("k", "1"),
                  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nk", false, true },
                { GET("/one"),
                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\nAlt-Svc: h3\r\nUpgrade: "
                  "h2c\r\n\r\n"
                  "2\r\nab\r\n0\r\nX: y\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", false, false },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(rows[i].request), 0);
                rig_upstream(&g, span_str(rows[i].answer), 0);
                if (rows[i].close) {
                        http_flow_upstream_closed(g.flow);
                        rig_move(&g);
                }
                CHECK_STR(buf_str(&g.to_client), rows[i].want);
                CHECK_INT(http_flow_done(g.flow), rows[i].done);
                CHECK_INT(g.event_count, 1);
                rig_end(&g);
        }
}

static void test_answer__bytes_nobody_asked_for_do_not_answer_the_next_request(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str(GET("/one")), 0);
        rig_upstream(&g, span_str(OK("a", "1") OK("poison", "6")), 0);
        rig_client(&g, span_str(GET("/one")), 0);
        CHECK_INT(g.connects, 2);
        CHECK(!holds(&g.to_client, "poison"));
        rig_end(&g);
}

static void test_answer__a_server_out_of_reach_is_told(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        g.refuse_connect = true;
        rig_client(&g, span_str(GET("/one")), 0);
        CHECK(holds(&g.to_client, "502") && holds(&g.to_client, "server unreachable"));
        CHECK_INT(rig_last(&g)->verdict, HTTP_BROKEN);
        rig_end(&g);
}

static void test_answer__early_answers_end_the_connection(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str("POST /pub/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 9\r\n\r\nabc"), 0);
        rig_upstream(&g, span_str("HTTP/1.1 413 Too\r\nContent-Length: 0\r\n\r\n"), 0);
        CHECK(holds(&g.to_client, "413"));
        CHECK(http_flow_done(g.flow));
        rig_end(&g);
}

static void test_flow__expectations_are_met_here(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g,
                   span_str("POST /pub/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 2\r\n"
                            "Expect: 100-continue\r\n\r\n"),
                   0);
        CHECK_STR(buf_str(&g.to_client), "HTTP/1.1 100 Continue\r\n\r\n");
        CHECK(!holds(&g.to_upstream, "Expect"));
        rig_end(&g);
}

static void test_flow__websocket_by_name_only(void)
{
        static const char ask[] =
                "GET /ws HTTP/1.1\r\nHost: api.test\r\nConnection: keep-alive, Upgrade\r\n"
                "Upgrade: websocket\r\nSec-WebSocket-Key: abc\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n";
        static const char yes[] =
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Accept: def\r\n\r\n";
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str(ask), 0);
        CHECK(holds(&g.to_upstream, "Connection: Upgrade\r\nUpgrade: websocket\r\n"));
        CHECK(!holds(&g.to_upstream, "deflate"));
        rig_upstream(&g, span_str(yes), 0);
        CHECK(holds(&g.to_client, "101 Switching Protocols") &&
              holds(&g.to_client, "Sec-WebSocket-Accept: def") &&
              holds(&g.to_client, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
        rig_client(&g, span_str("\x81\x05frame"), 0);
        rig_upstream(&g, span_str("\x81\x24" SECRET "!"), 0);
        CHECK(holds(&g.to_upstream, "\x81\x05frame"));
        CHECK(!holds(&g.to_client, "R3alSecret") && holds(&g.to_client, "*****!"));
        http_flow_client_closed(g.flow);
        CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
        CHECK_INT(rig_last(&g)->status, 101);
        rig_end(&g);
        /* Cut off, it gets no second head: that would be a frame of the server's. */
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str(ask), 0);
        rig_upstream(&g, span_str(yes), 0);
        http_flow_cut(g.flow, REASON_EXPIRED);
        rig_move(&g);
        CHECK(holds(&g.to_client, "101 Switching") && !holds(&g.to_client, "the time is over"));
        rig_end(&g);
        /* A 101 that nobody asked for. */
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str(GET("/one")), 0);
        rig_upstream(&g, span_str(yes), 0);
        CHECK(holds(&g.to_client, "502"));
        rig_end(&g);
}

/* One frame of a server: a byte of type, the length, the payload. */
static void put_frame(struct buf *b, const char *payload)
{
        size_t n = strlen(payload);
        buf_putc(b, (char) 0x81);
        if (n < 126) {
                buf_putc(b, (char) n);
        } else {
                buf_putc(b, 126);
                buf_putc(b, (char) (n >> 8));
                buf_putc(b, (char) n);
        }
        buf_add(b, payload, n);
}

static void test_flow__websocket_frames_do_not_wait_for_the_next(void)
{
        static const char ask[] = "GET /ws HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\n"
                                  "Upgrade: websocket\r\nSec-WebSocket-Key: abc\r\n\r\n";
        static const char yes[] = "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n";
        char longer[400];
        memset(longer, 'x', sizeof longer);
        memcpy(longer + 350, SECRET, sizeof SECRET);
        const char *const payloads[] = {
                "ends like a secret: ghp", "", "g", longer, "<" SECRET ">", "%", "last"
        };
        for (size_t cut = 0; cut < 9; cut++) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(ask), 0);
                rig_upstream(&g, span_str(yes), 0);
                for (size_t i = 0; i < COUNT(payloads); i++) {
                        AUTO_BUF(frame);
                        put_frame(&frame, payloads[i]);
                        size_t before = g.to_client.n;
                        rig_upstream(&g, buf_span(&frame), cut);
                        CHECK_INT(g.to_client.n - before, frame.n); /* all of it, now */
                }
                CHECK(!holds(&g.to_client, "R3alSecret"));
                CHECK(holds(&g.to_client, "<*****") && holds(&g.to_client, "ghp"));
                rig_end(&g);
        }
}

static void test_flow__it_can_be_cut_and_closed_at_any_time(void)
{
        static const char up[] = "POST /pub/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 5\r\n\r\nhello";
        static const char down[] = OK("yes", "3");
        for (size_t a = 0; a <= sizeof up - 1; a++) {
                for (int how = 0; how < 3; how++) {
                        struct rig g;
                        if (!rig_start(&g, &plain))
                                return;
                        rig_client(&g, span_of(up, a), 0);
                        if (a == sizeof up - 1)
                                rig_upstream(&g, span_of(down, 20), 0);
                        if (how == 0)
                                http_flow_client_closed(g.flow);
                        else if (how == 1)
                                http_flow_cut(g.flow, REASON_EXPIRED);
                        else
                                http_flow_upstream_closed(g.flow);
                        rig_move(&g);
                        if (how == 1)
                                CHECK(http_flow_done(g.flow));
                        CHECK(g.event_count <= 1);
                        rig_end(&g);
                }
        }
}

static void test_flow__a_client_that_left_is_waited_for_no_more(void)
{
        static const struct {
                const char *up, *down; /* before it left */
                unsigned events;
                enum http_verdict verdict;
                const char *why;
        } rows[] = {
                { "GET /pub/x HTTP/1.1\r\nHo", "", 0, HTTP_DENIED, "" },
                { GET("/pub/x"), "", 1, HTTP_BROKEN, "client disconnected before the response" },
                { GET("/pub/x"), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", 1, HTTP_ALLOWED,
                  "client disconnected during the response" },
                { GET("/pub/x"), OK("yes", "3"), 1, HTTP_ALLOWED, "" },
                { "POST /pub/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 5\r\n\r\nhe", "", 1, HTTP_BROKEN,
                  "incomplete request" },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(rows[i].up), 0);
                CHECK(http_flow_has_left(g.flow) == (rows[i].events == 1));
                rig_upstream(&g, span_str(rows[i].down), 0);
                http_flow_client_closed(g.flow); /* one half, as it seems */
                http_flow_client_left(g.flow);
                CHECK(http_flow_done(g.flow));
                CHECK_INT(g.event_count, rows[i].events);
                if (rows[i].events) {
                        CHECK_INT(rig_last(&g)->verdict, rows[i].verdict);
                        CHECK_STR(rig_last(&g)->why, rows[i].why);
                }
                rig_end(&g);
        }
}

static void test_flow__memory_is_bounded(void)
{
        struct rig g;
        static uint8_t block[8192];
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str("POST /pub/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 99999999\r\n\r\n"),
                   0);
        size_t total = 0;
        while (http_flow_client_room(g.flow) >= sizeof block && total < (1u << 20)) {
                http_flow_from_client(g.flow, span_of(block, sizeof block)); /* nobody takes what goes up */
                total += sizeof block;
        }
        CHECK(total <= HTTP_BUFFER);
        rig_move(&g);
        CHECK(http_flow_client_room(g.flow) > 0);
        rig_end(&g);
}

/* A refusal is several times as long as what it refuses, and an answer that was recorded thousands of times.
 */
static void test_flow__who_does_not_read_is_not_answered(void)
{
        static const char one[] = GET("/none");
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        size_t asked = 0, most = 0;
        while (http_flow_client_room(g.flow) >= sizeof one - 1 && asked < 100000) {
                http_flow_from_client(g.flow,
                                      span_of(one, sizeof one - 1)); /* nobody takes what comes down */
                asked++;
                size_t n = http_flow_to_client(g.flow).n;
                most = n > most ? n : most;
        }
        CHECK(asked < 100000);
        CHECK(most < 2 * HTTP_BUFFER);
        rig_move(&g);
        size_t answered = 0;
        for (const char *p = buf_str(&g.to_client); (p = strstr(p, "HTTP/1.1 403")); p++)
                answered++;
        CHECK_INT(answered, asked); /* each, once it is taken */
        CHECK(http_flow_client_room(g.flow) == HTTP_BUFFER);
        rig_end(&g);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_flow__a_request_and_its_answer_in_any_pieces),
                CASE(test_flow__one_link_serves_many_requests),
                CASE(test_flow__a_short_secret_in_a_form),
                CASE(test_flow__a_link_is_one_credentials_or_nobodys),
                CASE(test_flow__an_idle_link_that_closes_is_made_again),
                CASE(test_flow__what_was_approved_is_not_sent_twice),
                CASE(test_flow__a_link_that_the_server_will_close_is_not_used_again),
                CASE(test_flow__requests_that_no_door_covers),
                CASE(test_flow__a_long_name_of_a_header_is_no_hop),
                CASE(test_flow__an_escaped_slash_goes_as_it_came),
                CASE(test_flow__the_door_covers_where_a_move_goes),
                CASE(test_flow__after_a_refusal_the_connection_goes_on),
                CASE(test_swap__the_secret_goes_in_at_its_door_only),
                CASE(test_swap__what_the_client_brings_is_stripped),
                CASE(test_swap__no_range_cuts_a_secret),
                CASE(test_swap__a_placeholder_elsewhere_is_refused),
                CASE(test_swap__a_placeholder_in_a_body_elsewhere_ends_the_request),
                CASE(test_swap__uses_and_lifetime_end),
                CASE(test_scrub__answers_in_every_framing_and_cut),
                CASE(test_scrub__what_was_sent_is_found_encoded_once_more),
                CASE(test_scrub__answers_that_break_off_let_nothing_out),
                CASE(test_scrub__a_secret_in_what_is_no_answer_is_not_shown),
                CASE(test_flow__odd_answers),
                CASE(test_scrub__answers_that_cannot_be_unpacked_are_refused),
                CASE(test_answer__framing),
                CASE(test_answer__bytes_nobody_asked_for_do_not_answer_the_next_request),
                CASE(test_answer__a_server_out_of_reach_is_told),
                CASE(test_answer__early_answers_end_the_connection),
                CASE(test_flow__expectations_are_met_here),
                CASE(test_flow__websocket_by_name_only),
                CASE(test_flow__websocket_frames_do_not_wait_for_the_next),
                CASE(test_flow__it_can_be_cut_and_closed_at_any_time),
                CASE(test_flow__a_client_that_left_is_waited_for_no_more),
                CASE(test_flow__memory_is_bounded),
                CASE(test_flow__who_does_not_read_is_not_answered),
        };
        return test_main(cases, COUNT(cases));
}
