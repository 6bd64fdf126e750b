/* SPDX-License-Identifier: MIT */
/* A request that must wait for leave: nothing of it goes out before, whatever client and server do meanwhile.
 */
#include "test_egress_common.h"

#define POST(path) "POST " path " HTTP/1.1\r\nHost: api.test\r\nContent-Length: 5\r\n\r\nhello"
#define GET(path)  "GET " path " HTTP/1.1\r\nHost: api.test\r\n\r\n"
#define OK         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static struct {
        enum http_leave answer;
        unsigned asked;
        char last[80];
} gate;

static enum http_leave at_gate(void *ctx, const struct http_event *e, enum effect_reason *ret_why,
                               const char **ret_detail)
{
        (void) ctx;
        gate.asked++;
        (void) snprintf(gate.last, sizeof gate.last, "%s %s to %s", e->method, e->path, e->to_host);
        *ret_why = REASON_LEDGER;
        *ret_detail = "the ledger is full";
        return gate.answer;
}

static bool start(struct rig *g, enum http_leave answer)
{
        struct rig_in in = { .policy = "use none\nnet http://api.test/** GET POST\n",
                             .stage = POLICY_STAGE_LIVE };
        if (!rig_start(g, &in))
                return false;
        struct http_peer peer = { .host = "api.test", .port = 80 };
        struct http_callbacks cb = { .ctx = g, .on_request = rig_event, .leave = at_gate };
        http_flow_free(g->flow);
        g->flow = http_flow_new(g->rules, &peer, &cb);
        gate.answer = answer;
        gate.asked = 0;
        return true;
}

static void leave(struct rig *g, bool leaves)
{
        http_flow_leave(g->flow, leaves, REASON_LEDGER, "the ledger is full");
        rig_move(g);
}

static void test_leave__nothing_goes_out_before(void)
{
        struct rig g;
        for (size_t cut = 0; cut < sizeof POST("/x"); cut++) {
                if (!start(&g, HTTP_WAITS))
                        return;
                rig_client(&g, span_str(POST("/x")), cut);
                CHECK_INT(gate.asked, 1);
                CHECK_STR(gate.last, "POST /x to api.test");
                CHECK_INT(g.connects, 0);
                CHECK_INT(g.to_upstream.n, 0);
                leave(&g, true);
                CHECK_INT(g.connects, 1);
                CHECK(holds(&g.to_upstream, "POST /x HTTP/1.1\r\n") &&
                      holds(&g.to_upstream, "\r\n\r\nhello"));
                rig_upstream(&g, span_str(OK), 0);
                CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
                rig_end(&g);
        }
}

static void test_leave__refused_it_is_answered_and_told(void)
{
        struct rig g;
        for (int later = 0; later < 2; later++) {
                if (!start(&g, later ? HTTP_WAITS : HTTP_STAYS))
                        return;
                rig_client(&g, span_str(POST("/x")), 0);
                if (later)
                        leave(&g, false);
                CHECK(holds(&g.to_client, "HTTP/1.1 503 ") && holds(&g.to_client, "the ledger is full"));
                CHECK_INT(g.connects, 0);
                CHECK_INT(g.event_count, 1);
                CHECK_INT(rig_last(&g)->verdict, HTTP_DENIED);
                CHECK(http_flow_done(g.flow));
                rig_end(&g);
        }
}

static void test_leave__a_client_that_has_said_all_still_gets_its_answer(void)
{
        struct rig g;
        if (!start(&g, HTTP_WAITS))
                return;
        rig_client(&g, span_str(POST("/x")), 0);
        http_flow_client_closed(g.flow);
        CHECK(!http_flow_done(g.flow));
        leave(&g, true);
        rig_upstream(&g, span_str(OK), 0);
        CHECK(holds(&g.to_client, "ok"));
        rig_end(&g);
        if (!start(&g, HTTP_WAITS)) /* one that left in the middle of its body does not */
                return;
        rig_client(&g, span_of(POST("/x"), sizeof POST("/x") - 3), 0);
        http_flow_client_closed(g.flow);
        leave(&g, true);
        CHECK_INT(rig_last(&g)->verdict, HTTP_BROKEN);
        CHECK(http_flow_done(g.flow));
        rig_end(&g);
}

static void test_leave__an_answer_that_comes_too_late_means_nothing(void)
{
        struct rig g;
        if (!start(&g, HTTP_WAITS))
                return;
        leave(&g, true); /* nobody asked */
        CHECK_INT(g.connects, 0);
        rig_client(&g, span_str(POST("/x")), 0);
        http_flow_cut(g.flow, REASON_EXPIRED);
        rig_move(&g);
        CHECK(holds(&g.to_client, "HTTP/1.1 503 "));
        leave(&g, true);
        CHECK_INT(g.connects, 0);
        CHECK_INT(g.to_upstream.n, 0);
        rig_end(&g);
}

/* On a link that is open: bytes that the server sends before it was asked answer nothing. */
static void test_leave__the_next_request_on_a_link_waits_too(void)
{
        struct rig g;
        if (!start(&g, HTTP_LEAVES))
                return;
        rig_client(&g, span_str(GET("/first")), 0);
        rig_upstream(&g, span_str(OK), 0);
        gate.answer = HTTP_WAITS;
        buf_done(&g.to_upstream);
        buf_done(&g.to_client);
        rig_client(&g, span_str(POST("/second") POST("/third")), 0);
        CHECK_INT(gate.asked, 2);
        CHECK_INT(g.to_upstream.n, 0);
        rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"), 0);
        CHECK_INT(g.to_client.n, 0);
        leave(&g, true);
        CHECK_INT(gate.asked, 2); /* the third waits its turn */
        CHECK_INT(g.connects, 2); /* the link that talks out of turn is left */
        CHECK(holds(&g.to_upstream, "/second") && !holds(&g.to_upstream, "/third"));
        rig_upstream(&g, span_str(OK), 0);
        CHECK_INT(gate.asked, 3);
        CHECK(!holds(&g.to_upstream, "/third"));
        leave(&g, true);
        CHECK(holds(&g.to_upstream, "/third"));
        rig_end(&g);
}

static void test_leave__a_link_that_closes_meanwhile_is_made_anew(void)
{
        struct rig g;
        if (!start(&g, HTTP_LEAVES))
                return;
        rig_client(&g, span_str(GET("/first")), 0);
        rig_upstream(&g, span_str(OK), 0);
        gate.answer = HTTP_WAITS;
        rig_client(&g, span_str(POST("/second")), 0);
        http_flow_upstream_closed(g.flow);
        CHECK(!http_flow_done(g.flow));
        leave(&g, true);
        CHECK_INT(g.connects, 2);
        CHECK(holds(&g.to_upstream, "/second"));
        rig_end(&g);
}

static void test_leave__a_body_waits_outside_in_bounded_room(void)
{
        struct rig g;
        static char much[HTTP_BUFFER];
        if (!start(&g, HTTP_WAITS))
                return;
        rig_client(&g, span_str("POST /x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 1000000\r\n\r\n"), 0);
        while (http_flow_client_room(g.flow) > 0)
                rig_client(&g, span_of(much, http_flow_client_room(g.flow)), 0);
        CHECK_INT(g.to_upstream.n, 0);
        leave(&g, true);
        CHECK(g.to_upstream.n >= HTTP_BUFFER);
        rig_end(&g);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_leave__nothing_goes_out_before),
                CASE(test_leave__refused_it_is_answered_and_told),
                CASE(test_leave__a_client_that_has_said_all_still_gets_its_answer),
                CASE(test_leave__an_answer_that_comes_too_late_means_nothing),
                CASE(test_leave__the_next_request_on_a_link_waits_too),
                CASE(test_leave__a_link_that_closes_meanwhile_is_made_anew),
                CASE(test_leave__a_body_waits_outside_in_bounded_room),
        };
        return test_main(cases, COUNT(cases));
}
