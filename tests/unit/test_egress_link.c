/* SPDX-License-Identifier: MIT */
/* The one link upstream: which requests may share it, and what a server can take for a second request. */
#include "test_egress_common.h"
#include "test_egress_credentials.h"

#define GET(path)   "GET " path " HTTP/1.1\r\nHost: api.test\r\n\r\n"
#define OK(body, n) "HTTP/1.1 200 OK\r\nContent-Length: " n "\r\n\r\n" body
#define HIDDEN      "DELETE /elsewhere HTTP/1.1\r\nHost: a\r\n\r\n"
#define LENGTH(m)   m " /x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 39\r\n\r\n" HIDDEN
#define CHUNKS(m)                                                                                            \
        m " /x HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n27\r\n" HIDDEN "\r\n0\r\n\r"  \
          "\n"
_Static_assert(sizeof HIDDEN - 1 == 39, "as the lengths say");

static const struct rig_in plain = {
        .policy = "use none\n"
                  "net http://api.test/** COPY DELETE GET HEAD MOVE OPTIONS PATCH POST PUT UNLOCK\n"
                  "net http://api.test/key/** GET POST with key\n"
                  "net http://other.test/** GET POST\n",
        .credentials = credentials,
        .credential_count = COUNT(credentials),
        .stage = POLICY_STAGE_LIVE
};

/* Python's http.server and others leave the body of such a request unread, and read it as the next. */
static void test_link__a_body_that_a_server_may_leave_unread_is_the_last(void)
{
        static const char *const requests[] = {
                LENGTH("GET"),
                CHUNKS("GET"),
                LENGTH("HEAD"),
                LENGTH("DELETE"),
                CHUNKS("DELETE"),
                LENGTH("OPTIONS"),
                LENGTH("COPY"),
                LENGTH("UNLOCK"),
                "GET /x HTTP/1.0\r\nHost: api.test\r\nConnection: keep-alive\r\n"
                "Content-Length: 39\r\n\r\n" HIDDEN
        };
        for (size_t i = 0; i < COUNT(requests); i++) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(requests[i]), 0);
                CHECK(holds(&g.to_upstream, "\r\nConnection: close\r\n"));
                CHECK(holds(&g.to_upstream, HIDDEN));
                rig_upstream(&g, span_str(i == 2 ? OK("", "2") : OK("ok", "2")), 0);
                rig_upstream(&g, span_str(OK("answer to the hidden one", "24")), 0);
                CHECK(!holds(&g.to_client, "hidden"));
                rig_client(&g, span_str(GET("/key/next")), 0);
                CHECK_INT(g.connects, 2);
                CHECK(!holds(&g.to_client, "hidden"));
                rig_end(&g);
        }
}

static void test_link__other_requests_share_it(void)
{
        static const char *const requests[] = {
                LENGTH("POST"), CHUNKS("PUT"), LENGTH("PATCH"),
                "GET /x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 0\r\n\r\n"
        };
        for (size_t i = 0; i < COUNT(requests); i++) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(requests[i]), 0);
                CHECK(!holds(&g.to_upstream, "Connection:"));
                rig_upstream(&g, span_str(OK("ok", "2")), 0);
                rig_client(&g, span_str(GET("/next")), 0);
                CHECK_INT(g.connects, 1);
                rig_end(&g);
        }
}

static void test_link__a_body_that_was_found_fault_with_may_be_unread(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str(LENGTH("POST")), 0);
        rig_upstream(&g, span_str("HTTP/1.1 404 Not\r\nContent-Length: 2\r\n\r\nno"), 0);
        rig_client(&g, span_str(GET("/next")), 0);
        CHECK_INT(g.connects, 2);
        rig_upstream(&g, span_str("HTTP/1.1 404 Not\r\nContent-Length: 2\r\n\r\nno"), 0);
        rig_client(&g, span_str(GET("/next")), 0); /* without a body nothing can be left */
        CHECK_INT(g.connects, 2);
        rig_end(&g);
}

/* java's HttpClient and curl --http2 offer it with every request in the clear. */
static void test_link__an_offer_of_another_protocol_is_ignored(void)
{
        static const char *const offers[] = {
                "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n",
                "Upgrade: h2c\r\n", "Connection: upgrade\r\n", "Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n"
        };
        for (size_t i = 0; i < COUNT(offers); i++) {
                struct rig g;
                char request[300];
                if (!rig_start(&g, &plain))
                        return;
                (void) snprintf(request, sizeof request, "GET /x HTTP/1.1\r\nHost: api.test\r\n%s\r\n",
                                offers[i]);
                rig_client(&g, span_str(request), 0);
                CHECK_STR(buf_str(&g.to_upstream),
                          "GET /x HTTP/1.1\r\nHost: api.test\r\nAccept-Encoding: identity\r\n\r\n");
                rig_upstream(&g, span_str(OK("ok", "2")), 0);
                CHECK(holds(&g.to_client, "200 OK") && !http_flow_done(g.flow));
                rig_end(&g);
        }
}

static void test_link__a_range_is_dropped_only_where_a_credential_goes(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        rig_client(&g, span_str("GET /x HTTP/1.1\r\nHost: api.test\r\nRange: bytes=0-1\r\n\r\n"), 0);
        CHECK(!holds(&g.to_upstream, "Range"));
        rig_flow(&g, "other.test", 80);
        rig_client(&g,
                   span_str("GET /x HTTP/1.1\r\nHost: other.test\r\nRange: bytes=0-1\r\nIf-Range: a\r\n\r\n"),
                   0);
        CHECK(holds(&g.to_upstream, "\r\nRange: bytes=0-1\r\nIf-Range: a\r\n"));
        rig_end(&g);
}

/* An agent that read its own environment sends it along with each request from then on. */
static void test_link__a_placeholder_in_a_body_passes_to_its_own_host(void)
{
        static const char *const requests[] = {
                "POST /key/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 42\r\n\r\ndata=" HOLDER "&x",
                "POST /x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 42\r\n\r\ndata=" HOLDER "&x",
        };
        for (size_t i = 0; i < COUNT(requests); i++)
                for (size_t cut = 0; cut < 9; cut++) {
                        struct rig g;
                        if (!rig_start(&g, &plain))
                                return;
                        rig_client(&g, span_str(requests[i]), cut);
                        CHECK(holds(&g.to_upstream, "data=" HOLDER "&x"));
                        rig_upstream(&g, span_str(OK("ok", "2")), 0);
                        CHECK(!rig_last(&g)->abused);
                        CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
                        rig_end(&g);
                }
}

static void test_link__an_address_that_is_refused_is_forbidden(void)
{
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        http_flow_from_client(g.flow, span_str(GET("/x")));
        http_flow_upstream_refused(g.flow, REASON_GUARDED_ADDRESS, "loopback, 127.0.0.1");
        struct span out = http_flow_to_client(g.flow);
        CHECK(out.n && memmem(out.p, out.n, "403 Forbidden", 13));
        CHECK_INT(rig_last(&g)->verdict, HTTP_DENIED);
        rig_end(&g);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_link__a_body_that_a_server_may_leave_unread_is_the_last),
                CASE(test_link__other_requests_share_it),
                CASE(test_link__a_body_that_was_found_fault_with_may_be_unread),
                CASE(test_link__an_offer_of_another_protocol_is_ignored),
                CASE(test_link__a_range_is_dropped_only_where_a_credential_goes),
                CASE(test_link__a_placeholder_in_a_body_passes_to_its_own_host),
                CASE(test_link__an_address_that_is_refused_is_forbidden),
        };
        return test_main(cases, COUNT(cases));
}
