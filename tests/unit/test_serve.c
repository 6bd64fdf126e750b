/* SPDX-License-Identifier: MIT */
/* tests/unit/test_serve.c - the pure parts of the HTTP side: requests, routes, tokens, budgets, turns, and
 * the door lines that a request may have. */
#include "base/context/context.h"
#include "base/hash.h"
#include "face/serve/internal.h"
#include "face/serve/tenant_identity.h"
#include "face/serve/tenant_versions.h"
#include "harness.h"
#include "run/pool/demand.h"
#include "run/pool/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_ROW(cond, row)                                                                                 \
        do {                                                                                                 \
                if (!(cond)) {                                                                               \
                        printf("# %s:%d: %.40s: not true: %s\n", __FILE__, __LINE__, row, #cond);            \
                        test_failures++;                                                                     \
                }                                                                                            \
        } while (0)

/* ---- requests ---- */

static unsigned read_status(const char *text, struct request_reader *q)
{
        *q = (struct request_reader){ 0 };
        request_add(q, text, strlen(text));
        enum request_state s = request_step(q);
        if (s == REQUEST_HEADED) {
                request_accept(q, 64);
                s = request_step(q);
        }
        return s == REQUEST_BAD ? q->status : s == REQUEST_WHOLE ? 200 : 0;
}

static unsigned status_for(const char *text)
{
        struct request_reader q;
        unsigned status = read_status(text, &q);
        request_done(&q);
        return status;
}

static void test_request__reads_what_it_says(void)
{
        struct request_reader q;
        CHECK(read_status("POST /v1/runs/a%20b?x=1&y=a%2Fb+c HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
                          "Bearer t\r\n"
                          "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}rest",
                          &q) == 200);
        char value[16];
        CHECK(q.r.method == METHOD_POST && strcmp(q.r.path, "/v1/runs/a b") == 0 &&
              strcmp(q.r.token, "t") == 0);
        CHECK(request_param(&q.r, "y", value, sizeof value) && strcmp(value, "a/b c") == 0);
        CHECK(!request_param(&q.r, "z", value, sizeof value) && q.r.json && q.body.n == 2 && q.in.n == 4);
        request_done(&q);
}

static void test_request__refuses_what_is_read_in_two_ways(void)
{
        static const struct {
                const char *text;
                unsigned status;
        } rows[] = {
                { "GET /a HTTP/1.1\r\n\r\n", 400 },
                { "GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400 },
                { "GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
                { "GET /../a HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
                { "GET /a/%2e%2e/b HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
                { "GET /a%2fb HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
                { "GET /a%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
                { "GET /a%ff HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
                { "GET //a HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
                { "GET /a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
                { "GET /a%4 HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
                { "GET /a HTTP/1.1\r\nHost: a\r\nAuthorization: Basic eA==\r\n\r\n", 400 },
                { "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                  400 },
                { "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 65\r\n\r\n", 413 },
                { "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n41\r\n"
                  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n",
                  413 },
                { "GET /a HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n", 400 },
                { "GET / HTTP/1.1\nHost: a\n\n", 400 },
                { "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505 },
                { "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 200 },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                CHECK_ROW(status_for(rows[i].text) == rows[i].status, rows[i].text);
}

/* ---- routes ---- */

static void test_routes__each_row_is_found_by_its_own_path(void)
{
        size_t n;
        const struct route *rows = routes(&n);
        for (size_t i = 0; i < n; i++) {
                char path[256] = "", arg[REQUEST_PATH_MAX];
                unsigned status;
                for (const char *p = rows[i].path; *p; p++) {
                        bool hole = *p == '{';
                        size_t at = strlen(path);
                        (void) snprintf(path + at, sizeof path - at, hole ? "x" : "%c", *p);
                        p = hole ? strchr(p, '}') : p;
                }
                CHECK_ROW(route_find(rows[i].method, path, arg, &status) == &rows[i], rows[i].path);
                bool once =
                        strcmp(rows[i].name, "post_once") == 0; /* the address of `serve page` is its token */
                CHECK_ROW(rows[i].handle && (rows[i].scope || rows[i].method == METHOD_GET || once),
                          rows[i].path);
        }
}

/* Each row is described, and nothing else is. */
static void test_routes__are_those_of_the_description(void)
{
        static const char *const names[] = { "", "get", "post", "put", "delete" };
        struct err e;
        char path[4096];
        size_t n, described = 0;
        const struct route *rows = routes(&n);
        AUTO_BUF(text);
        put_openapi(&text, rows, n);
        struct json_doc *d = json_parse_data("openapi.json", buf_span(&text), &e);
        CHECK(d);
        const struct json *paths = d ? json_get(json_root(d), "paths") : NULL;
        for (size_t i = 0; paths && i < n; i++) {
                const struct json *p = json_get(paths, rows[i].path);
                const struct json *m = p ? json_get(p, names[rows[i].method]) : NULL;
                CHECK_ROW(m, rows[i].path);
                CHECK_ROW(m && (json_get(m, "x-scopes") != NULL) == (rows[i].scope != SCOPE_NONE),
                          rows[i].path);
                const struct json *taken = m ? json_get(m, "parameters") : NULL;
                for (const struct json *x = taken ? taken->child : NULL; x; x = x->next)
                        CHECK_ROW(strcmp(json_get(x, "in")->str, "query") != 0 ||
                                          route_takes(&rows[i], json_get(x, "name")->str, path, sizeof path),
                                  rows[i].path);
        }
        for (const struct json *p = paths ? paths->child : NULL; p; p = p->next)
                for (const struct json *m = p->child; m; m = m->next)
                        described++;
        CHECK(described == n);
        json_free(d);
}

static void test_routes__parameters_are_those_of_the_row(void)
{
        char unknown[64], arg[REQUEST_PATH_MAX];
        unsigned status;
        const struct route *r = route_find(METHOD_GET, "/v1/ledger", arg, &status);
        CHECK(route_takes(r, "", unknown, sizeof unknown) &&
              route_takes(r, "run=x&last=1&since", unknown, sizeof unknown));
        CHECK(!route_takes(r, "last=1&lats=2", unknown, sizeof unknown) && strcmp(unknown, "lats") == 0);
        CHECK(!route_takes(r, "las=1", unknown, sizeof unknown) && !route_takes(r, "=1", unknown, 4));
        CHECK(route_takes(route_find(METHOD_GET, "/", arg, &status), "x=1", unknown, sizeof unknown));
        CHECK(!route_takes(route_find(METHOD_GET, "/v1/runs", arg, &status), "x=1", unknown, sizeof unknown));
}

static void test_routes__unknown_paths_and_methods(void)
{
        char arg[REQUEST_PATH_MAX];
        unsigned status;
        CHECK(!route_find(METHOD_GET, "/v1/run", arg, &status) && status == 404);
        CHECK(!route_find(METHOD_PUT, "/v1/runs", arg, &status) && status == 405);
        CHECK(!route_find(METHOD_GET, "/v1/runs/x/y", arg, &status) && status == 404);
        CHECK(!route_find(METHOD_OTHER, "/v1/health", arg, &status) && status == 405);
}

static void test_host__only_names_of_this_server(void)
{
        static const char *const others[] = { "boxes.example.org", NULL };
        CHECK(host_is_ours("localhost:81", 81, others) && host_is_ours("127.0.0.1:81", 81, others));
        CHECK(host_is_ours("Boxes.example.org", 81, others) && host_is_ours("localhost", 0, others));
        CHECK(!host_is_ours("localhost:82", 81, others) && !host_is_ours("localhost", 81, others));
        CHECK(!host_is_ours("evil.example", 81, others) &&
              !host_is_ours("localhost.evil.example:81", 81, others));
        CHECK(!host_is_ours("", 0, others));
}

/* ---- tokens ---- */

#define LINE(tenant, scopes, expires)                                                                        \
        "{\"id\":\"1\",\"tenant\":\"" tenant "\",\"scopes\":[" scopes "],\"created\":1,\"expires\":" expires \
        ",\"sha256\":\""

static const char *behind = ""; /* what follows in the file */

static bool token_counts(const char *form, const char *text, int64_t now)
{
        char digest[65], file[512];
        struct tokens t = { 0 };
        struct err e;
        sha256_hex(span_str("right"), digest);
        (void) snprintf(file, sizeof file, "%s%s\"}\n%s", form, digest, behind);
        bool good = tokens_read(span_str(file), &t, &e) == 0 && tokens_check(&t, text, now) != NULL;
        tokens_done(&t);
        return good;
}

static void test_tokens__only_the_right_one_in_time(void)
{
        CHECK(token_counts(LINE("a", "\"run\"", "100"), "right", 99));
        CHECK(!token_counts(LINE("a", "\"run\"", "100"), "right", 100));
        CHECK(!token_counts(LINE("a", "\"run\"", "100"), "righ", 99) &&
              !token_counts(LINE("a", "\"run\"", "100"), "", 9));
        CHECK(!token_counts(LINE("../a", "\"run\"", "100"), "right", 9));
        CHECK(!token_counts(LINE("a", "\"admin\"", "100"), "right", 9) &&
              !token_counts(LINE("", "\"run\"", "100"), "right", 9));
        CHECK(token_counts(LINE("", "\"admin\"", "100"), "right", 9) &&
              !token_counts(LINE("a", "\"x\"", "100"), "right", 9));
        behind = "x\n";
        CHECK(!token_counts(LINE("a", "\"run\"", "100"), "right", 9));
        behind = "";
}

/* ---- budgets and turns ---- */

static void test_budget__takes_from_all_above_or_none(void)
{
        struct budget host = { .limit = { 3 } }, a = { .above = &host, .limit = { 2 } },
                      b = { .above = &host, .limit = { 9 } };
        CHECK(budget_take(&a, BUDGET_RUNS, 2) && !budget_take(&a, BUDGET_RUNS, 1) &&
              budget_lacks(&a, BUDGET_RUNS, 1) == &a);
        CHECK(budget_take(&b, BUDGET_RUNS, 1) && budget_lacks(&b, BUDGET_RUNS, 1) == &host &&
              b.used[BUDGET_RUNS] == 1);
        budget_give(&a, BUDGET_RUNS, 1);
        CHECK(budget_take(&b, BUDGET_RUNS, 1) && host.used[BUDGET_RUNS] == 3 && a.used[BUDGET_RUNS] == 1);
        CHECK(!budget_take(&b, BUDGET_RUNS, UINT64_MAX));

        struct budget box = { .above = &a, .limit = { 1 } };
        budget_give(&b, BUDGET_RUNS, 1);
        CHECK(budget_take(&box, BUDGET_RUNS, 1) && budget_lacks(&box, BUDGET_RUNS, 1) == &box &&
              a.used[BUDGET_RUNS] == 2 && host.used[BUDGET_RUNS] == 3);
        budget_give(&box, BUDGET_RUNS, 1);
        CHECK(a.used[BUDGET_RUNS] == 1 && host.used[BUDGET_RUNS] == 2 && !box.used[BUDGET_RUNS]);
}

static void test_bucket__gives_its_rate_and_no_more(void)
{
        struct bucket b = { .per_s = 10, .most = 10, .micro = 10000000, .at_ns = 1 };
        unsigned taken = 0;
        for (uint64_t ms = 0; ms < 3000; ms++)
                taken += bucket_take(&b, 1 + ms * 1000000) == 0;
        CHECK(taken >= 39 && taken <= 40);
        CHECK(bucket_take(&b, 1 + 2999ull * 1000000) > 0);
        b = (struct bucket){ .per_s = 1, .most = 1, .micro = 500000000, .at_ns = 1 };
        CHECK(bucket_take(&b, 5000) == 0 && bucket_take(&b, 9000) > 0);
}

static void test_fair__shares_follow_weights_whoever_floods(void)
{
        struct fair_queue a = { .weight = 1 }, b = { .weight = 3 }, c = { .weight = 1 };
        struct fair_queue *v[] = { &a, &b, &c };
        size_t at = 0, got[3] = { 0 };
        a.waiting = b.waiting = true;
        for (unsigned i = 0; i < 400; i++)
                got[fair_next(v, 3, &at)]++;
        CHECK(got[0] == 100 && got[1] == 300 && got[2] == 0);
        c.waiting = true;
        a.waiting = b.waiting = false;
        CHECK(fair_next(v, 3, &at) == 2);
        c.waiting = false;
        CHECK(fair_next(v, 3, &at) == SIZE_MAX && fair_next(v, 0, &at) == SIZE_MAX);
}

/* ---- lines of a request ---- */

static void test_lines__name_nothing_of_the_host(void)
{
        static const char *const good[] = { "", "use base/system\nread {work}\n",
                                            "net example.org:443\nlimit time 5s\n",
                                            "# remark\n\nrun python3\n", "root sha256:0123456789ab\n" };
        static const char *const bad[] = { "read /etc/passwd",
                                           "read {work}/link",
                                           "read {home}",
                                           "use ./own",
                                           "use /etc/passwd",
                                           "root /",
                                           "root name",
                                           "root sha256:../../../x",
                                           "root sha256:0123456789ab x",
                                           "sock /run/x",
                                           "net @place/x",
                                           "net https://x/ as json(/etc/passwd)",
                                           "read {work} \\\n",
                                           "{\"box\":\"x\"}",
                                           "in x",
                                           "wall none",
                                           "use base/system own",
                                           "write {work}\nlisten 80",
                                           "read {work} except x",
                                           "use none\r\nread /" };
        struct lines_refusal why;
        for (size_t i = 0; i < sizeof good / sizeof *good; i++)
                CHECK_ROW(tenant_lines_allowed(good[i], strlen(good[i]), &why), good[i]);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                CHECK_ROW(!tenant_lines_allowed(bad[i], strlen(bad[i]), &why), bad[i]);

        static const char misspelled[] = "use base/system\n\n  reed {work}\n";
        CHECK(!tenant_lines_allowed(misspelled, sizeof misspelled - 1, &why));
        CHECK(why.line == 3 && why.column == 3 && why.nearest && strcmp(why.nearest, "read") == 0);
}

static void test_versions__back_is_to_what_was_used(void)
{
        struct versions v = {
                .v = { 1, 2, 3, 4 }, .n = 4, .current = 4, .used = { 1, 2, 1, 4 }, .used_n = 4
        };
        CHECK(versions_before(&v) == 1); /* 2 was gone back from, 3 was never used */
        v.current = 0;                   /* a text of the operator's */
        CHECK(versions_before(&v) == 4);
        v = (struct versions){ .v = { 3, 4 }, .n = 2, .current = 4, .used = { 1, 4 }, .used_n = 2 };
        CHECK(versions_before(&v) == 0); /* 1 is not kept any more */
}

static void test_versions__a_canary_rule_is_whole_or_none(void)
{
        static const char *const bad[] = { "",
                                           "[]",
                                           "{}",
                                           "{\"version\":1,\"share\":10}",
                                           "{\"version\":1,\"share\":101,\"bound\":1}",
                                           "{\"version\":0,\"share\":1,\"bound\":1}",
                                           "{\"version\":-1,\"share\":1,\"bound\":1}" };
        struct canary_rule r;
        CHECK(canary_rule_read(span_str("{\"version\":3,\"share\":10,\"bound\":2}"), &r) && r.version == 3 &&
              r.share == 10 && r.bound == 2);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                CHECK_ROW(!canary_rule_read(span_str(bad[i]), &r) && r.version == 0, bad[i]);
}

/* ---- tenants ---- */

/* What is parked for one tenant has a key that no other makes, though all else is the same. */
static void test_tenant__keys_of_parked_boxes_are_its_own(void)
{
        const struct plan p = { .box = "b", .wall = WALL_NAMESPACE };
        struct pool_recipe r = { .plan = &p, .policy = "", .places = "", .digest = "", .tenant = "" };
        uint8_t none[POOL_KEY], a[POOL_KEY], b[POOL_KEY], again[POOL_KEY];
        cordon_context *cx = cordon_context_new((char *[]){ NULL });
        CHECK(pool_key(&r, none) == 0);
        cordon_context_tenant(cx, &(cordon_tenant){ .secret = { 1 } });
        r.tenant = cx->tenant.tag;
        CHECK(pool_key(&r, a) == 0 && pool_key(&r, again) == 0 && memcmp(a, again, sizeof a) == 0);
        cordon_context_tenant(cx, &(cordon_tenant){ .secret = { 2 } });
        CHECK(pool_key(&r, b) == 0 && memcmp(a, b, sizeof a) != 0 && memcmp(a, none, sizeof a) != 0);
        r.id_first = 1;
        CHECK(pool_key(&r, a) == 0 && memcmp(a, b, sizeof a) != 0);
        cordon_context_free(cx);
}

static void test_tenant__an_identity_is_whole_or_none(void)
{
#define SECRET "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
        static const char *const bad[] = { "",
                                           SECRET "\n",
                                           SECRET " 0\n",
                                           SECRET " 2040000001\n",
                                           SECRET " 2147483647\n",
                                           SECRET " 2040000000",
                                           "x" SECRET " 2040000000\n",
                                           SECRET " -1\n",
                                           SECRET " 99999999999999999999\n" };
        cordon_tenant t = { 0 };
        CHECK(tenant_identity_read(span_str(SECRET " 2040065536\n"), &t) && t.first_id == 2040065536u &&
              t.id_count == TENANT_IDS && t.secret[1] == 0x11 && t.secret[31] == 0xff);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                CHECK_ROW(!tenant_identity_read(span_str(bad[i]), &t), bad[i]);
}

static void test_fair__one_that_shares_nothing_runs_alone(void)
{
        struct fair_queue a = { .running = 1 }, b = { .alone = true }, c = { .weight = 1 };
        struct fair_queue *v[] = { &a, &b, &c };
        CHECK(fair_may_start(v, 3, 0) && !fair_may_start(v, 3, 1) && fair_may_start(v, 3, 2));
        a.running = 0;
        CHECK(fair_may_start(v, 3, 1));
        b.running = 1;
        CHECK(!fair_may_start(v, 3, 0) && fair_may_start(v, 3, 1) && !fair_may_start(v, 3, 2));
}

static void test_demand__grows_into_the_room_and_shrinks_to_the_least(void)
{
        CHECK_INT(demand_more(2, 30), 4);
        CHECK_INT(demand_more(4, 1), 5);
        CHECK_INT(demand_more(8, 0), 8);
        CHECK_INT(demand_less(16, 10, 2), 11);
        CHECK_INT(demand_less(16, 0, 2), 16);
        CHECK_INT(demand_less(3, 3, 2), 2);
        CHECK_INT(demand_less(1, 1, 2), 1);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_request__reads_what_it_says),
                CASE(test_request__refuses_what_is_read_in_two_ways),
                CASE(test_routes__each_row_is_found_by_its_own_path),
                CASE(test_routes__are_those_of_the_description),
                CASE(test_routes__parameters_are_those_of_the_row),
                CASE(test_routes__unknown_paths_and_methods),
                CASE(test_host__only_names_of_this_server),
                CASE(test_tokens__only_the_right_one_in_time),
                CASE(test_budget__takes_from_all_above_or_none),
                CASE(test_bucket__gives_its_rate_and_no_more),
                CASE(test_fair__shares_follow_weights_whoever_floods),
                CASE(test_lines__name_nothing_of_the_host),
                CASE(test_tenant__keys_of_parked_boxes_are_its_own),
                CASE(test_tenant__an_identity_is_whole_or_none),
                CASE(test_fair__one_that_shares_nothing_runs_alone),
                CASE(test_versions__back_is_to_what_was_used),
                CASE(test_demand__grows_into_the_room_and_shrinks_to_the_least),
                CASE(test_versions__a_canary_rule_is_whole_or_none),
        };
        return test_main(cases, sizeof cases / sizeof *cases);
}
