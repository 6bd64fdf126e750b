/* SPDX-License-Identifier: MIT */
/* The places file: where @name leads in each stage. */
#include "test_policy_common.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void test_places__each_stage_has_its_url(void)
{
        struct err e;
        struct policy_places *p =
                policy_places_parse("places",
                                    span_str("# comment\n"
                                             "place api live https://API.example.com/\n"
                                             "place @api test http://stage.example.com:8080/v1/\n"
                                             "\n"
                                             "place only test https://[2001:db8::1]/\n"),
                                    &e);
        CHECK(p != NULL);
        const struct policy_place_url *u = policy_place_target(p, "api", POLICY_STAGE_LIVE);
        CHECK(u && u->tls && u->port == 443);
        CHECK_STR(u->host, "api.example.com");
        CHECK(policy_place_asked(p, "api", POLICY_STAGE_TEST) == u);
        u = policy_place_target(p, "api", POLICY_STAGE_TEST);
        CHECK(u && !u->tls && u->port == 8080);
        CHECK_STR(u->path, "/v1/");
        CHECK(policy_place_target(p, "api", POLICY_STAGE_MOCK) == NULL);
        CHECK(policy_place_asked(p, "api", POLICY_STAGE_MOCK) != NULL);
        CHECK(policy_place_asked(p, "only", POLICY_STAGE_TEST)->is_address);
        CHECK(policy_place_asked(p, "only", POLICY_STAGE_LIVE) == NULL);
        CHECK(policy_place_asked(p, "none", POLICY_STAGE_LIVE) == NULL);
        CHECK_STR(policy_place_name(p, 1), "only");
        CHECK(policy_place_name(p, 2) == NULL);
        CHECK(policy_place_name(NULL, 0) == NULL);
        policy_places_free(p);
}

static void test_places__bad_lines_say_where(void)
{
        static const struct {
                const char *line, *what;
        } rows[] = {
                { "plaice a live https://a.test/", "p:2:1: unknown word \"plaice\"" },
                { "place a live", "p:2:1: use `place NAME STAGE URL`, and `label LABEL...` behind it" },
                { "place a live https://a.test/ more",
                  "p:2:30: behind the URL of a place stands nothing but `label LABEL...`" },
                { "place a live https://a.test/ label",
                  "p:2:30: behind the URL of a place stands nothing but `label LABEL...`" },
                { "place a live https://a.test/ label private:*",
                  "p:2:36: `label` takes private:NAME or untrusted, not private:*" },
                { "place A live https://a.test/", "p:2:7: invalid place name \"A\"" },
                { "place a prod https://a.test/", "p:2:9: \"prod\" is not a stage" },
                { "place a mock https://a.test/",
                  "p:2:9: places cannot have a mock URL; stage mock connects to nothing" },
                { "place a live a.test:443", "p:2:14: \"a.test:443\" is not where a place can lead" },
                { "place a live https://*.a.test/",
                  "p:2:14: \"https://*.a.test/\" is not where a place can lead" },
                { "place a live https://a.test/**",
                  "p:2:14: \"https://a.test/**\" is not where a place can lead" },
                { "place a live https://a.test/x",
                  "p:2:14: \"https://a.test/x\" is not where a place can lead" },
                { "place a live https://u@a.test/",
                  "p:2:14: \"https://u@a.test/\": a URL cannot carry a user name" },
                { "place one live https://b.test/", "p:2:1: the place one has its live URL already" },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct err e = { 0 };
                char text[256];
                (void) snprintf(text, sizeof text, "place one live https://a.test/\n%s\n", rows[i].line);
                struct policy_places *p = policy_places_parse("p", span_str(text), &e);
                CHECK(!p);
                CHECK_STR(e.what, rows[i].what);
                policy_places_free(p);
        }
}

/* Doors by the place's name, by a URL in it or above it, and doors that move bytes; in every stage. */
static void test_places__doors_have_their_label(void)
{
        static const struct {
                const char *door, *label;
        } rows[] = {
                { "net @mail/** GET", "private:mail untrusted" },
                { "net @mail/** GET label private:own", "private:mail private:own untrusted" },
                { "net @other/** GET", "" },
                { "net https://a.test/in/x GET", "private:mail untrusted" },
                { "net https://a.test/** GET", "private:mail untrusted" },
                { "net https://a.test/out/** GET", "" },
                { "net a.test:443", "private:mail untrusted" },
                { "net a.test:444", "" },
                { "net *.stage.test:80", "untrusted private:mail" },
                { "net *.test.test:80", "" },
        };
        struct err e = { 0 };
        struct policy_places *p =
                policy_places_parse("p",
                                    span_str("place mail live https://a.test/in/ label private:mail\n"
                                             "place mail test http://b.stage.test/ label untrusted\n"
                                             "place other live https://c.test/\n"),
                                    &e);
        CHECK(p);
        for (size_t i = 0; p && i < COUNT(rows); i++) {
                struct policy *lines = policy_new();
                const struct policy_context context = { .now = 1 };
                const struct policy_staged staged = { p, POLICY_STAGE_TEST };
                CHECK_INT(policy_add_text(lines, "t", span_str(rows[i].door), &e), 0);
                struct checked_policy *c = policy_check(lines, &context, &e);
                CHECK(c && policy_label_places(c, &staged, &e) == 0 &&
                      policy_label_places(c, &staged, &e) == 0);
                struct label got = policy_label_most(c), want = label_of(rows[i].label);
                CHECK(label_equal(&got, &want));
                policy_checked_free(c);
                policy_free(lines);
        }
        policy_places_free(p);
}

static void test_stages__names(void)
{
        enum policy_stage s = POLICY_STAGE_LIVE;
        CHECK_INT(policy_stage_find("mock", &s), 0);
        CHECK_INT(s, POLICY_STAGE_MOCK);
        CHECK_INT(policy_stage_find("LIVE", &s), -1);
        CHECK_INT(policy_stage_find("", &s), -1);
        CHECK_STR(policy_stage_name(POLICY_STAGE_TEST), "test");
}

static void test_stages__test_has_only_what_a_place_names(void)
{
        static const char file[] =
                "place api live https://api.test/v1/\nplace api test http://stage.test:81/m/\n";
        static const struct {
                const char *door;
                bool has;
        } rows[] = {
                { "https://api.test/v1/** GET", true },
                { "https://api.test/v1/x GET", true },
                { "https://api.test/** GET", true },
                { "https://api.test/v2/** GET", false },
                { "https://api.test/ GET", false },
                { "http://api.test/v1/** GET", false },
                { "https://api.test:444/v1/**", false },
                { "https://*.test.example/**", false },
                { "https://other.test/v1/**", false },
                { "http://stage.test:81/m/x GET", true },
                { "http://stage.test:81/n/x GET", false },
                { "stage.test:81", true },
                { "stage.test:80", false },
                { "api.test:443", false },
                { "*.stage.test:81", false },
                { "@api/x GET", true },
        };
        struct err e;
        struct policy_places *p = policy_places_parse("places", span_str(file), &e);
        for (size_t i = 0; p && i < COUNT(rows); i++) {
                char text[100];
                size_t n;
                (void) snprintf(text, sizeof text, "use none\nnet %s\n", rows[i].door);
                struct checked_policy *c = load(text);
                const struct door *d = policy_doors(c, &n);
                for (enum policy_stage s = 0; s < POLICY_STAGE__COUNT; s++) {
                        const struct policy_staged staged = { p, s };
                        bool want = s != POLICY_STAGE_TEST || rows[i].has;
                        if (policy_stage_has_door(&staged, &d[0].net) != want)
                                printf("# %s\n", rows[i].door);
                        CHECK_INT(policy_stage_has_door(&staged, &d[0].net), want);
                }
                policy_checked_free(c);
        }
        policy_places_free(p);
}

static void test_websocket__only_where_it_is_named(void)
{
        struct checked_policy *c = load("use none\nnet https://a.test/x\nnet https://a.test/ws WEBSOCKET\n");
        CHECK_ALLOW(c, "net GET https://a.test/x");
        CHECK_DENY(c, "net WEBSOCKET https://a.test/x", REASON_METHOD);
        CHECK_ALLOW(c, "net WEBSOCKET https://a.test/ws");
        CHECK_DENY(c, "net GET https://a.test/ws", REASON_METHOD);
        policy_checked_free(c);
}

/* wss: is https: with WEBSOCKET and no other method, in lines and in effects. */
static void test_websocket__has_urls_of_its_own(void)
{
        struct checked_policy *a = load("use none\nnet wss://a.test/ws\nnet ws://a.test:81/**\n"),
                              *b = load("use none\nnet https://a.test/ws WEBSOCKET\n"
                                        "net http://a.test:81/** WEBSOCKET\n");
        CHECK_STR(policy_digest(a), policy_digest(b));
        CHECK_ALLOW(a, "net wss://a.test/ws");
        CHECK_ALLOW(a, "net WEBSOCKET wss://a.test/ws");
        CHECK_ALLOW(a, "net WEBSOCKET https://a.test/ws");
        CHECK_ALLOW(a, "net ws://a.test:81/x?y=1");
        CHECK_DENY(a, "net ws://a.test/ws", REASON_PORT);
        CHECK_DENY(a, "net GET https://a.test/ws", REASON_METHOD);
        policy_checked_free(a);
        policy_checked_free(b);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_places__each_stage_has_its_url),
                CASE(test_places__bad_lines_say_where),
                CASE(test_places__doors_have_their_label),
                CASE(test_stages__names),
                CASE(test_stages__test_has_only_what_a_place_names),
                CASE(test_websocket__only_where_it_is_named),
                CASE(test_websocket__has_urls_of_its_own),
        };
        return test_main(cases, COUNT(cases));
}
