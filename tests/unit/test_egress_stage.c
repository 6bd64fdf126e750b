/* SPDX-License-Identifier: MIT */
/* Stages, places, recorded answers and which door is taken. */
#include "test_egress_common.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: api.test\r\n\r\n"
#define SECRET    "sk_R3alSecretValue01"
#define HOLDER    "sk_PLACEHOLDERaaaabb"
#define SPAN(s)                                                                                              \
        {                                                                                                    \
                (const uint8_t *) (s), sizeof(s) - 1                                                         \
        }

static const struct http_credential live_key = { "key",        GRANT_HEADER, "X-Key",           "", "",
                                                 SPAN(SECRET), SPAN(HOLDER), POLICY_STAGE_LIVE, 0,  0 };
static const struct http_credential test_key = { "key",        GRANT_HEADER, "X-Key",           "", "",
                                                 SPAN(SECRET), SPAN(HOLDER), POLICY_STAGE_TEST, 0,  0 };

static const char policy[] = "use none\nnet @api/v1/** GET POST with key\nnet @api/free GET\n";
static const char places[] = "# where to\nplace api live http://api.test/\n"
                             "place api test http://stage.test:8080/mirror/api/\n";

static struct http_rules *rules_of(struct http_rules_in *in, struct err *e)
{
        *e = (struct err){ 0 };
        return http_rules_new(in, e);
}

static void test_stage__live_credentials_stay_out_of_test_and_mock(void)
{
        struct err e;
        struct checked_policy *c = load(policy);
        for (enum policy_stage s = 0; s < POLICY_STAGE__COUNT; s++) {
                struct http_rules_in in = {
                        .policy = c, .stage = s, .credentials = &live_key, .credential_count = 1
                };
                struct http_rules *r = rules_of(&in, &e);
                CHECK_INT(r != NULL, s == POLICY_STAGE_LIVE);
                if (!r)
                        CHECK(strstr(e.what, "does not load in the stage"));
                http_rules_free(r);
                in.credentials = &test_key;
                r = rules_of(&in, &e);
                CHECK(r != NULL);
                http_rules_free(r);
        }
        policy_checked_free(c);
}

static void test_stage__a_door_without_its_credential_does_not_load(void)
{
        struct err e;
        struct checked_policy *c = load(policy);
        struct http_rules_in in = { .policy = c, .stage = POLICY_STAGE_TEST };
        CHECK(rules_of(&in, &e) == NULL);
        CHECK_STR(e.hint, "cordon vault add key");
        struct http_credential other = test_key;
        other.name = "other";
        in.credentials = &other;
        in.credential_count = 1;
        CHECK(rules_of(&in, &e) == NULL); /* another one is none */
        in.stage = POLICY_STAGE_MOCK;
        struct http_rules *r = rules_of(&in, &e);
        CHECK(r != NULL); /* nothing is sent */
        http_rules_free(r);
        struct http_credential bad = test_key;
        bad.placeholder = bad.secret;
        in = (struct http_rules_in){
                .policy = c, .stage = POLICY_STAGE_TEST, .credentials = &bad, .credential_count = 1
        };
        CHECK(rules_of(&in, &e) == NULL);
        policy_checked_free(c);
}

static void test_stage__a_place_leads_where_the_stage_says(void)
{
        struct rig g;
        struct rig_in in = { .policy = policy,
                             .places = places,
                             .credentials = &test_key,
                             .credential_count = 1,
                             .stage = POLICY_STAGE_LIVE };
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(GET("/v1/x?q=1")), 0);
        CHECK_STR(g.target, "api.test:80");
        CHECK(holds(&g.to_upstream, "GET /v1/x?q=1 HTTP/1.1\r\nHost: api.test\r\n"));
        CHECK(holds(&g.to_upstream, "X-Key: " SECRET "\r\n"));
        rig_end(&g);
        in.stage = POLICY_STAGE_TEST;
        if (!rig_start(&g, &in))
                return;
        CHECK(http_rules_cover(g.rules, "api.test", 80));
        CHECK(http_rules_cover(g.rules, "stage.test", 8080));
        CHECK(!http_rules_cover(g.rules, "stage.test", 80));
        rig_client(&g, span_str(GET("/v1/x?q=1")), 0);
        CHECK_STR(g.target, "stage.test:8080");
        CHECK(holds(&g.to_upstream, "GET /mirror/api/v1/x?q=1 HTTP/1.1\r\nHost: stage.test:8080\r\n"));
        rig_upstream(&g,
                     span_str("HTTP/1.1 201 Made\r\nLocation: /mirror/api/v1/y\r\nContent-Location: "
                              "/mirror/api/v1/z\r\nContent-Length: 0\r\n\r\n"),
                     0);
        CHECK(holds(&g.to_client, "\r\nLocation: /v1/y\r\nContent-Location: /v1/z\r\n"));
        CHECK_INT(g.records.n, 0);        /* nobody asked for them */
        rig_flow(&g, "stage.test", 8080); /* by its own name the same */
        rig_client(&g, span_str("GET /mirror/api/v1/x HTTP/1.1\r\nHost: stage.test:8080\r\n\r\n"), 0);
        CHECK(holds(&g.to_upstream, "GET /mirror/api/v1/x HTTP/1.1\r\nHost: stage.test:8080\r\n"));
        rig_flow(&g, "stage.test", 8080);
        rig_client(&g, span_str("GET /v1/x HTTP/1.1\r\nHost: stage.test:8080\r\n\r\n"), 0);
        CHECK(holds(&g.to_client, "403"));
        rig_end(&g);
}

static void test_rules__whose_requests_are_seen(void)
{
        static const struct {
                const char *host;
                uint16_t port;
                bool seen;
        } rows[] = {
                { "a.test", 443, true },    { "a.test", 80, false },    { "b.test", 443, false },
                { "x.w.test", 80, true },   { "y.x.w.test", 80, true }, { "w.test", 80, false },
                { "xyw.test", 80, false },  { "x.w.test", 443, false }, { "raw.test", 443, false },
                { "x.a.test", 443, false }, { "x.v.test", 80, false },
        };
        struct rig g;
        struct rig_in in = { .policy = "use none\nnet https://a.test/x GET\nnet http://*.w.test/**\n"
                                       "net raw.test:443\n",
                             .stage = POLICY_STAGE_LIVE };
        if (!rig_start(&g, &in))
                return;
        for (size_t i = 0; i < COUNT(rows); i++) {
                if (http_rules_cover(g.rules, rows[i].host, rows[i].port) != rows[i].seen)
                        printf("# %s:%u\n", rows[i].host, rows[i].port);
                CHECK_INT(http_rules_cover(g.rules, rows[i].host, rows[i].port), rows[i].seen);
        }
        rig_end(&g);
}

/* Whom it is sent to is whom it was asked of: a number stays one, and is verified as one. */
static void test_judge__a_number_stays_a_number(void)
{
        static struct http_judgement j;
        const struct http_peer peer = { .host = "192.0.2.7", .is_address = true, .port = 8443 };
        const struct http_verdict_in in = { .peer = &peer, .tls = true, .method = "GET", .path = "/x" };
        struct rig g;
        if (!rig_start(&g, &(struct rig_in){ .policy = "use none\nnet https://192.0.2.7:8443/** GET\n",
                                             .stage = POLICY_STAGE_LIVE }))
                return;
        http_judge(g.rules, &in, &j);
        CHECK(j.allowed && j.is_address && j.tls);
        CHECK_INT(j.port, 8443);
        CHECK_STR(j.host, "192.0.2.7");
        rig_end(&g);
}

static void test_stage__a_place_without_a_line_leads_nowhere(void)
{
        struct rig g;
        struct rig_in in = { .policy = "use none\nnet @api/** GET\n",
                             .places = "place api live http://api.test/\n",
                             .stage = POLICY_STAGE_TEST };
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(GET("/x")), 0);
        CHECK_INT(rig_last(&g)->reason, REASON_PLACE_NOWHERE);
        CHECK_INT(g.connects, 0);
        rig_end(&g);
}

/* A door by URL to a server that a place stands for: the stage holds for it too. */
static void test_stage__a_url_that_a_place_stands_for_goes_where_the_stage_says(void)
{
        struct rig g;
        struct rig_in in = { .policy = "use none\nnet http://api.test/** GET\n",
                             .places = places,
                             .stage = POLICY_STAGE_TEST };
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(GET("/v1/x?q=1")), 0);
        CHECK_STR(g.target, "stage.test:8080");
        CHECK(holds(&g.to_upstream, "GET /mirror/api/v1/x?q=1 HTTP/1.1\r\nHost: stage.test:8080\r\n"));
        rig_end(&g);
        in.stage = POLICY_STAGE_LIVE;
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(GET("/v1/x")), 0);
        CHECK_STR(g.target, "api.test:80");
        rig_end(&g);
        in.stage = POLICY_STAGE_TEST; /* the live server of a place is not to be had in another stage */
        in.places = "place api live http://api.test/\n";
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(GET("/v1/x")), 0);
        CHECK_INT(rig_last(&g)->reason, REASON_PLACE_NOWHERE);
        CHECK_INT(g.connects, 0);
        rig_end(&g);
        in.places = "place all live http://api.test/\nplace all test http://a.test/\n"
                    "place v1 live http://api.test/v1/\nplace v1 test http://b.test/\n";
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(GET("/v1/x")), 0); /* the innermost */
        CHECK_STR(g.target, "b.test:80");
        CHECK(holds(&g.to_upstream, "GET /x HTTP/1.1"));
        rig_end(&g);
}

static const char fixtures[] =
        "{\"method\":\"GET\",\"url\":\"http://api.test/v1/x?a=1\",\"status\":200,"
        "\"headers\":[[\"Content-Type\",\"text/plain\"],[\"Content-Length\",\"99\"]],\"body\":\"first\"}\n"
        "{\"method\":\"GET\",\"url\":\"http://api.test/v1/x?a=1\",\"status\":404,\"body_base64\":\"AP8=\"}\n"
        "\n"
        "{\"method\":\"POST\",\"url\":\"http://api.test/v1/x\",\"status\":204}\n";

static void test_mock__answers_come_from_fixtures_alone(void)
{
        struct rig g;
        struct rig_in in = {
                .policy = policy, .places = places, .fixtures = fixtures, .stage = POLICY_STAGE_MOCK
        };
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(GET("/v1/x?a=1")), 0);
        CHECK(holds(&g.to_client, "HTTP/1.1 200 "));
        CHECK(holds(&g.to_client,
                    "Content-Type: text/plain\r\nContent-Length: 5\r\nX-Cordon: mock\r\n\r\nfirst"));
        CHECK(!holds(&g.to_client, "99"));
        CHECK_INT(rig_last(&g)->verdict, HTTP_MOCKED);
        for (int i = 0; i < 2; i++) { /* the second, and again: the last one stays */
                rig_client(&g, span_str(GET("/v1/x?a=1&access_token=mine")), 0);
                CHECK_INT(rig_last(&g)->status, 404);
                CHECK_INT(rig_last(&g)->received, 2);
        }
        rig_client(&g, span_str("POST /v1/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 3\r\n\r\nabc"), 1);
        CHECK_INT(rig_last(&g)->status, 204);
        CHECK_INT(rig_last(&g)->sent, 3);
        CHECK(holds(&g.to_client, "HTTP/1.1 204 Answer\r\nX-Cordon: mock\r\n\r\n"));
        rig_client(&g, span_str(GET("/v1/other")), 0);
        CHECK_INT(rig_last(&g)->verdict, HTTP_DENIED);
        CHECK_INT(rig_last(&g)->reason, REASON_NOT_RECORDED);
        rig_client(&g, span_str(GET("/forbidden")), 0); /* the policy is the policy */
        CHECK(holds(&g.to_client, "path not allowed by the door"));
        CHECK_INT(g.connects, 0);
        rig_end(&g);
}

/* A box may ask for it on 512 connections at once. */
static void test_mock__a_long_answer_waits_for_who_takes_it(void)
{
        enum { LONG = 1 << 20 };
        struct rig g;
        AUTO_BUF(line);
        buf_puts(&line, "{\"method\":\"GET\",\"url\":\"http://api.test/long\",\"status\":200,\"body\":\"");
        for (unsigned i = 0; i < LONG / 16; i++)
                buf_puts(&line, "sixteen letters.");
        buf_puts(&line, "\"}\n");
        struct rig_in in = { .policy = "use none\nnet http://api.test/** GET\n",
                             .fixtures = buf_str(&line),
                             .stage = POLICY_STAGE_MOCK };
        if (!rig_start(&g, &in))
                return;
        static const char two[] = GET("/long") GET("/none");
        http_flow_from_client(g.flow, span_of(two, sizeof two - 1));
        CHECK(http_flow_to_client(g.flow).n <= 2 * HTTP_BUFFER);
        CHECK_INT(g.event_count, 0);
        rig_move(&g);
        CHECK_INT(g.event_count, 2);
        CHECK_INT(g.event[0].verdict, HTTP_MOCKED);
        CHECK_INT(g.event[0].received, LONG);
        const char *body = strstr(buf_str(&g.to_client), "\r\n\r\n");
        CHECK(body && strncmp(body + 4 + LONG, "HTTP/1.1 403", 12) == 0);
        rig_end(&g);
}

static void test_mock__without_fixtures_nothing_is_answered(void)
{
        struct rig g;
        struct rig_in in = { .policy = policy, .places = places, .stage = POLICY_STAGE_MOCK };
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(GET("/free")), 0);
        CHECK_INT(rig_last(&g)->verdict, HTTP_DENIED);
        CHECK_INT(g.connects, 0);
        rig_end(&g);
}

static void test_record__what_is_recorded_can_be_mocked_and_holds_no_secret(void)
{
        struct rig g;
        struct rig_in in = { .policy = policy,
                             .places = places,
                             .credentials = &test_key,
                             .credential_count = 1,
                             .stage = POLICY_STAGE_TEST,
                             .record = true };
        if (!rig_start(&g, &in))
                return;
        rig_client(&g,
                   span_str("GET /v1/x?api_key=zzzzzzzz&a=1 HTTP/1.1\r\nHost: api.test\r\nX-Key: " HOLDER
                            "\r\n\r\n"),
                   0);
        rig_upstream(&g,
                     span_str("HTTP/1.1 200 OK\r\nContent-Type: x/y\r\nX-Echo: " SECRET
                              "\r\nSet-Cookie: a=b\r\n"
                              "Transfer-Encoding: chunked\r\n\r\n1a\r\n\xff<\"" SECRET ">\r\n\r\n0\r\n\r\n"),
                     3);
        CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
        CHECK(holds(&g.records, "\"url\":\"http://api.test/v1/x?a=1\""));
        CHECK(!holds(&g.records, "R3al") && !holds(&g.records, "PLACEHOLDER") && !holds(&g.records, "zzzz") &&
              !holds(&g.records, "Set-Cookie"));
        AUTO_BUF(lines);
        buf_add(&lines, g.records.p, g.records.n);
        rig_end(&g);
        struct rig_in again = {
                .policy = policy, .places = places, .fixtures = buf_str(&lines), .stage = POLICY_STAGE_MOCK
        };
        if (!rig_start(&g, &again))
                return;
        rig_client(&g, span_str(GET("/v1/x?a=1")), 0);
        CHECK(holds(&g.to_client, "X-Echo: ********************\r\n"));
        CHECK(holds(&g.to_client, "\xff<\"********************>\r\n"));
        rig_end(&g);
}

static void test_swap__what_stands_around_a_secret(void)
{
        static const struct {
                enum grant_where where;
                const char *up;
        } rows[] = { { GRANT_HEADER, "\r\nk: tok \"" SECRET "\"\r\n" },
                     { GRANT_QUERY, "GET /v1/x?k=tok%20%22" SECRET "%22 HTTP/1.1\r\n" } };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct http_credential c = test_key;
                struct rig g;
                struct rig_in in = { .policy = policy,
                                     .places = places,
                                     .credentials = &c,
                                     .credential_count = 1,
                                     .stage = POLICY_STAGE_LIVE };
                c.where = rows[i].where;
                c.field = "k";
                c.before = "tok \"";
                c.after = "\"";
                if (!rig_start(&g, &in))
                        return;
                rig_client(&g, span_str(GET("/v1/x")), 0);
                CHECK(holds(&g.to_upstream, rows[i].up));
                rig_end(&g);
        }
}

static void test_record__a_url_holds_no_secret_of_its_query(void)
{
        static const struct http_credential in_query = {
                "key", GRANT_QUERY, "k", "", "", SPAN(SECRET), SPAN(HOLDER), POLICY_STAGE_TEST, 0, 0
        };
        struct rig g;
        struct rig_in in = { .policy = policy,
                             .places = places,
                             .credentials = &in_query,
                             .credential_count = 1,
                             .stage = POLICY_STAGE_TEST,
                             .record = true };
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(GET("/v1/x?a=1&k=" HOLDER)), 0);
        rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), 0);
        CHECK(holds(&g.to_upstream, "?a=1&k=" SECRET));
        CHECK(holds(&g.records, "\"url\":\"http://api.test/v1/x?a=1\""));
        CHECK(!holds(&g.records, SECRET));
        rig_end(&g);
}

static void test_record__what_is_too_long_or_broken_is_left_out(void)
{
        struct rig g;
        static char block[16384];
        memset(block, 'x', sizeof block);
        struct rig_in in = { .policy = policy,
                             .places = places,
                             .credentials = &test_key,
                             .credential_count = 1,
                             .stage = POLICY_STAGE_TEST,
                             .record = true };
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(GET("/free")), 0);
        rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Length: 1600000\r\n\r\n"), 0);
        for (size_t n = 0; n < 1600000; n += sizeof block)
                rig_upstream(&g, span_of(block, 1600000 - n < sizeof block ? 1600000 - n : sizeof block), 0);
        CHECK_INT(rig_last(&g)->received, 1600000);
        rig_client(&g, span_str(GET("/free")), 0);
        rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"), 0);
        http_flow_upstream_closed(g.flow);
        CHECK_INT(rig_last(&g)->verdict, HTTP_BROKEN);
        CHECK_INT(g.records.n, 0);
        rig_end(&g);
}

static void test_fixtures__bad_lines_are_named(void)
{
        static const char *const bad[] = {
                "x",
                "[]",
                "{}",
                "{\"method\":\"GET\",\"url\":\"http://u/\"}",
                "{\"method\":\"GET\",\"url\":\"http://u/\",\"status\":101}",
                "{\"method\":\"GET\",\"url\":\"http://u/\",\"status\":\"200\"}",
                "{\"method\":\"GET\",\"url\":\"http://u/\",\"status\":200,\"headers\":{}}",
                "{\"method\":\"GET\",\"url\":\"http://u/\",\"status\":200,\"headers\":[[\"a\"]]}",
                "{\"method\":\"GET\",\"url\":\"http://u/"
                "\",\"status\":200,\"headers\":[[\"a\",\"b\\r\\nc\"]]}",
                "{\"method\":\"GET\",\"url\":\"http://u/\",\"status\":200,\"headers\":[[\"a:\",\"b\"]]}",
                "{\"method\":\"GET\",\"url\":\"http://u/"
                "\",\"status\":200,\"body\":\"a\",\"body_base64\":\"\"}",
                "{\"method\":\"GET\",\"url\":\"http://u/\",\"status\":200,\"body_base64\":\"a\"}",
                "{\"method\":\"GET\",\"url\":\"HTTP://web.test/a\",\"status\":200}",
                "{\"method\":\"GET\",\"url\":\"http://WEB.test/a\",\"status\":200}",
                "{\"method\":\"GET\",\"url\":\"http://web.test:80/a\",\"status\":200}",
                "{\"method\":\"GET\",\"url\":\"https://web.test:443/a\",\"status\":200}",
                "{\"method\":\"GET\",\"url\":\"https://web.test\",\"status\":200}",
                "{\"method\":\"GET\",\"url\":\"web.test/a\",\"status\":200}",
                "{\"method\":\"GET\",\"url\":\"http://web.test/a#b\",\"status\":200}",
                "{\"method\":\"GET\",\"url\":\"http://web.test:/a\",\"status\":200}",
                "{\"method\":\"GET\",\"url\":\"http://web.test./a\",\"status\":200}",
                "{\"method\":\"GET\",\"url\":\"http://0x7f.1/a\",\"status\":200}",
                "{\"method\":\"GET\",\"url\":\"http://u@web.test/a\",\"status\":200}",
                "{\"method\":\"GET\",\"url\":\"ftp://web.test/a\",\"status\":200}",
        };
        for (size_t i = 0; i < COUNT(bad); i++) {
                struct err e = { 0 };
                AUTO_BUF(text);
                buf_printf(&text, "\n%s\n", bad[i]);
                struct http_fixtures *x = http_fixtures_parse("f", buf_span(&text), &e);
                if (x)
                        printf("# taken: %s\n", bad[i]);
                CHECK(!x);
                CHECK(strncmp(e.what, "f:2: ", 5) == 0);
                http_fixtures_free(x);
        }
}

static void test_place__only_what_lies_in_it_is_written_back(void)
{
        static const struct policy_place_url live = { .tls = true,
                                                      .port = 443,
                                                      .host = "api.test",
                                                      .path = "/v9/" },
                                             stage = { .port = 8000, .host = "s.test", .path = "/mirror/" };
        const struct http_moved moved = { &live, &stage }, none = { 0 };
        static const char *const rows[][2] = {
                { "http://s.test:8000/mirror/a?b=c#d", "https://api.test/v9/a?b=c#d" },
                { "http://s.test:8000/mirror/", "https://api.test/v9/" },
                { "/mirror/a", "/v9/a" },
                { "/mirror", "/mirror" },
                { "/other/mirror/a", "/other/mirror/a" },
                { "//s.test:8000/mirror/a", "//s.test:8000/mirror/a" },
                { "http://s.test:8000/other", "http://s.test:8000/other" },
                { "https://s.test:8000/mirror/a", "https://s.test:8000/mirror/a" },
                { "http://s.test/mirror/a", "http://s.test/mirror/a" },
                { "http://s.test:8000.evil.test/mirror/a", "http://s.test:8000.evil.test/mirror/a" },
                { "http://evil.test/?http://s.test:8000/mirror/",
                  "http://evil.test/?http://s.test:8000/mirror/" },
                { "a/b", "a/b" },
                { "", "" },
        };
        for (size_t i = 0; i < COUNT(rows); i++)
                for (unsigned moves = 0; moves < 2; moves++) {
                        struct fifo out = { 0 };
                        const char *want = rows[i][moves];
                        http_put_moved(moves ? &moved : &none, span_str(rows[i][0]), &out);
                        if (!span_is(fifo_all(&out), want))
                                printf("# %s: %.*s\n", rows[i][0], (int) out.n,
                                       (const char *) out.p + out.at);
                        CHECK(out.n == strlen(want) && (out.n == 0 || span_is(fifo_all(&out), want)));
                        fifo_done(&out);
                }
}

static void test_fixture__every_url_that_a_box_asks_for(void)
{
        static const char *const urls[] = { "http://web.test/",       "https://web.test/a?b=c&d",
                                            "http://web.test:8080/",  "http://127.0.0.1:8080/x",
                                            "http://[2001:db8::7]/x", "https://[::1]:8443/x",
                                            "http://web.test:443/",   "https://xn--bcher-kva.de/%C3" };
        for (size_t i = 0; i < COUNT(urls); i++) {
                struct err e = { 0 };
                AUTO_BUF(text);
                buf_printf(&text, "{\"method\":\"GET\",\"url\":\"%s\",\"status\":200}", urls[i]);
                struct http_fixtures *x = http_fixtures_parse("f", buf_span(&text), &e);
                if (!x)
                        printf("# %s: %s\n", urls[i], e.what);
                CHECK(x != NULL);
                http_fixtures_free(x);
        }
}

static void test_judge__the_most_particular_door_is_taken(void)
{
        static const struct http_credential both[] = {
                { "a", GRANT_HEADER, "X-A", "", "", SPAN("a-secret-1"), SPAN("a-holder-1"), POLICY_STAGE_TEST,
                  0, 0 },
                { "b", GRANT_HEADER, "X-B", "", "", SPAN("b-secret-1"), SPAN("b-holder-1"), POLICY_STAGE_TEST,
                  0, 0 },
        };
        static const char doors[] = "use none\nnet api.test:80\nnet http://api.test/** GET with a\n"
                                    "net http://api.test/open/** GET\nnet http://api.test/open/b GET with b\n"
                                    "net http://*.other.test/open/c GET with b\n";
        static const struct {
                const char *request, *credential;
        } rows[] = {
                { GET("/x"), "a" },
                { GET("/open/x"), "" },
                { GET("/open/b"), "b" },
                { GET("/open/b/c"), "" },
                { GET("/open/c"), "" },                              /* another host's */
                { "PUT /x HTTP/1.1\r\nHost: api.test\r\n\r\n", "" }, /* by the raw door */
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct rig g;
                struct rig_in in = { .policy = doors,
                                     .credentials = both,
                                     .credential_count = 2,
                                     .stage = POLICY_STAGE_LIVE };
                if (!rig_start(&g, &in))
                        return;
                rig_client(&g, span_str(rows[i].request), 0);
                rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), 0);
                CHECK_STR(rig_last(&g)->credential, rows[i].credential);
                CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
                rig_end(&g);
        }
        struct rig g;
        struct rig_in in = { .policy = doors,
                             .credentials = both,
                             .credential_count = 2,
                             .stage = POLICY_STAGE_LIVE,
                             .host = "x.other.test" };
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str("GET /open/c HTTP/1.1\r\nHost: x.other.test\r\n\r\n"), 0);
        CHECK(holds(&g.to_upstream, "X-B: b-secret-1\r\n"));
        rig_end(&g);
}

static void test_judge__a_door_closes_when_its_time_is_over(void)
{
        struct rig g;
        struct rig_in in = { .policy = "use none\nnet http://api.test/** GET until 2027-01-01\n",
                             .stage = POLICY_STAGE_LIVE };
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str(GET("/x")), 0);
        CHECK_INT(g.connects, 1);
        rig_flow(&g, "api.test", 80);
        http_rules_clock(g.rules, 1900000000);
        rig_client(&g, span_str(GET("/x")), 0);
        CHECK_INT(g.connects, 0);
        CHECK(holds(&g.to_client, effect_reason_text(REASON_EXPIRED)));
        rig_end(&g);
}

static bool never(void *ctx, const struct door *door, enum effect_reason *ret_why)
{
        (void) ctx;
        *ret_why = door->net.cap[NET_CAP_BYTES] ? REASON_CAP : REASON_CAP_HOUR;
        return false;
}

static void test_judge__caps_are_asked(void)
{
        struct rig g;
        struct rig_in in = { .policy = "use none\nnet http://api.test/** GET cap 1M\n",
                             .stage = POLICY_STAGE_LIVE };
        if (!rig_start(&g, &in))
                return;
        struct http_peer peer = { .host = "api.test", .port = 80 };
        struct http_callbacks cb = { .ctx = &g, .on_request = rig_event, .may = never };
        http_flow_free(g.flow);
        g.flow = http_flow_new(g.rules, &peer, &cb);
        rig_client(&g, span_str(GET("/x")), 0);
        CHECK(holds(&g.to_client, effect_reason_text(REASON_CAP)));
        CHECK_INT(g.connects, 0);
        rig_end(&g);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_stage__live_credentials_stay_out_of_test_and_mock),
                CASE(test_stage__a_door_without_its_credential_does_not_load),
                CASE(test_stage__a_place_leads_where_the_stage_says),
                CASE(test_rules__whose_requests_are_seen),
                CASE(test_judge__a_number_stays_a_number),
                CASE(test_stage__a_place_without_a_line_leads_nowhere),
                CASE(test_stage__a_url_that_a_place_stands_for_goes_where_the_stage_says),
                CASE(test_mock__answers_come_from_fixtures_alone),
                CASE(test_mock__a_long_answer_waits_for_who_takes_it),
                CASE(test_mock__without_fixtures_nothing_is_answered),
                CASE(test_record__what_is_recorded_can_be_mocked_and_holds_no_secret),
                CASE(test_swap__what_stands_around_a_secret),
                CASE(test_record__a_url_holds_no_secret_of_its_query),
                CASE(test_record__what_is_too_long_or_broken_is_left_out),
                CASE(test_fixtures__bad_lines_are_named),
                CASE(test_place__only_what_lies_in_it_is_written_back),
                CASE(test_fixture__every_url_that_a_box_asks_for),
                CASE(test_judge__the_most_particular_door_is_taken),
                CASE(test_judge__a_door_closes_when_its_time_is_over),
                CASE(test_judge__caps_are_asked),
        };
        return test_main(cases, COUNT(cases));
}
