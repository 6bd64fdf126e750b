/* SPDX-License-Identifier: MIT */
/* `where`: values of every type, every spelling that is refused, in words, and the line that would permit it.
 * Each question goes to both evaluators. */
#include "base/arena.h"
#include "test_policy_common.h"

static const char url[] = "net POST https://pay.test/v1/charges?";

static struct checked_policy *with_bounds(const char *bounds)
{
        AUTO_BUF(text);
        buf_printf(&text, "use none\nnet https://pay.test/v1/charges POST where %s\n", bounds);
        return load(buf_str(&text));
}

/* A body of JSON, and a query. */
static struct decision ask_json(const struct checked_policy *c, const char *query, const char *json,
                                struct buf *fault)
{
        static char method[] = "POST", host[] = "pay.test", path[] = "/v1/charges";
        struct arena mem = { 0 };
        struct params p = { 0 };
        struct net_dest to = { .form = NET_URL, .tls = true, .port = 443, .host = host, .path = path };
        struct effect f = { .kind = EFFECT_NET, .method = method, .net = &to, .params = &p };
        policy_params_form(&p, &mem, span_str(query), false);
        if (json && !p.unread)
                policy_params_json(&p, &mem, span_str(json));
        struct decision d = policy_decide(c, &f), r = policy_decide_ref(c, &f);
        CHECK(d.answer == r.answer && d.reason == r.reason && d.door == r.door && d.nearest == r.nearest);
        if (d.nearest && fault)
                policy_bound_fault(d.nearest, &f, fault);
        arena_done(&mem);
        return d;
}

static void expect(const struct checked_policy *c, const char *query, const char *json, const char *fault)
{
        AUTO_BUF(out);
        struct decision d = ask_json(c, query, json, &out);
        bool good =
                fault ? d.answer == ANSWER_DENY && d.reason == REASON_PARAMETER : d.answer == ANSWER_ALLOW;
        if (!good || strcmp(buf_str(&out), fault ? fault : "") != 0) {
                printf("# ?%s %s: %d, \"%s\"\n", query, json ? json : "", d.answer, buf_str(&out));
                test_failures++;
        }
}

struct value {
        const char *query, *json;
        bool good;
};

static void each(const char *bound, const struct value *v, size_t n)
{
        struct checked_policy *c = with_bounds(bound);
        for (size_t i = 0; c && i < n; i++) {
                AUTO_BUF(out);
                struct decision d = ask_json(c, v[i].query, v[i].json, &out);
                if ((d.answer == ANSWER_ALLOW) != v[i].good)
                        printf("# %s: ?%s %s is %s (%s)\n", bound, v[i].query, v[i].json ? v[i].json : "",
                               v[i].good ? "refused" : "let through", buf_str(&out));
                CHECK((d.answer == ANSWER_ALLOW) == v[i].good);
                CHECK(v[i].good || strncmp(buf_str(&out), "parameter ", 10) == 0);
        }
        CHECK(c != NULL);
        policy_checked_free(c);
}

static void test_bounds__integers(void)
{
        static const struct value values[] = {
                { "a=1", NULL, true },
                { "a=5000", NULL, true },
                { "a=0", NULL, false },
                { "a=5001", NULL, false },
                { "a=-1", NULL, false },
                { "a=", NULL, false },
                { "a", NULL, false },
                { "a=+5", NULL, false },
                { "a=%2B5", NULL, false },
                { "a=05", NULL, false },
                { "a=5.0", NULL, false },
                { "a=5e0", NULL, false },
                { "a=0x5", NULL, false },
                { "a=5%20", NULL, false },
                { "a=%205", NULL, false },
                { "a=5+", NULL, false },
                { "a=5%0a", NULL, false },
                { "a=%35", NULL, true }, /* every server reads a 5 */
                { "a=5,000", NULL, false },
                { "a=1_000", NULL, false },
                { "a=%D9%A5", NULL, false }, /* an Arabic digit */
                { "a=18446744073709551617", NULL, false },
                { "a=4294967297", NULL, false },
                { "a=true", NULL, false },
                { "", "{\"a\":1}", true },
                { "", "{\"a\": 5000 }", true },
                { "", "{\"a\":5001}", false },
                { "", "{\"a\":-1}", false },
                { "", "{\"a\":-0}", false },
                { "", "{\"a\":1.0}", false },
                { "", "{\"a\":1e3}", false },
                { "", "{\"a\":\"5\"}", false },
                { "", "{\"a\":true}", false },
                { "", "{\"a\":null}", false },
                { "", "{\"a\":[5]}", false },
                { "", "{\"a\":{}}", false },
                { "", "{\"a\":{\"b\":5}}", false },
                { "", "{\"a\":18446744073709551617}", false },
                { "", "{\"a\":05}", false },
                { "", "{\"a\":+5}", false },
                { "", "{\"a\":NaN}", false },
                { "", "{}", false },
        };
        each("a=int:1..5000", values, sizeof values / sizeof *values);
        static const struct value edges[] = {
                { "a=9223372036854775807", NULL, true },
                { "a=9223372036854775808", NULL, false },
                { "a=-9223372036854775808", NULL, true },
                { "a=-9223372036854775809", NULL, false },
                { "", "{\"a\":9223372036854775807}", true },
                { "", "{\"a\":9223372036854775808}", false },
                { "", "{\"a\":-9223372036854775808}", true },
                { "", "{\"a\":-9223372036854775809}", false },
                { "a=-0", NULL, false },
                { "a=--1", NULL, false },
                { "a=-", NULL, false },
        };
        each("a=int:..", edges, sizeof edges / sizeof *edges);
        static const struct value down[] = {
                { "a=-5", NULL, true },
                { "a=-9223372036854775808", NULL, true },
                { "a=-4", NULL, false },
                { "", "{\"a\":-5}", true },
        };
        each("a=int:..-5", down, sizeof down / sizeof *down);
        static const struct value up[] = { { "a=7", NULL, true },
                                           { "a=9223372036854775807", NULL, true },
                                           { "a=6", NULL, false } };
        each("a=int:7..", up, sizeof up / sizeof *up);
}

static void test_bounds__lists(void)
{
        static const struct value values[] = {
                { "c=eur", NULL, true },
                { "c=usd", NULL, true },
                { "c=%65ur", NULL, true },
                { "c=a+b", NULL, true },
                { "c=a%20b", NULL, true },
                { "c=x%7Cy", NULL, true },
                { "c=100%25", NULL, true },
                { "c=EUR", NULL, false },
                { "c=eur%20", NULL, false },
                { "c=eur%0d%0a", NULL, false },
                { "c=eu", NULL, false },
                { "c=eurusd", NULL, false },
                { "c=eur%7Cusd", NULL, false },
                { "c=", NULL, false },
                { "c=eur,usd", NULL, false },
                { "", "{\"c\":\"eur\"}", true },
                { "", "{\"c\":\"\\u0065ur\"}", true },
                { "", "{\"c\":\"EUR\"}", false },
                { "", "{\"c\":[\"eur\"]}", false },
                { "", "{\"c\":1}", false },
                { "", "{\"c\":null}", false },
                { "", "{\"c\":{\"eur\":1}}", false },
        };
        each("\"c=one:eur|usd|a b|x%7Cy|100%25\"", values, sizeof values / sizeof *values);
        /* A list of what looks like numbers or words is one of strings. */
        static const struct value numbers[] = { { "c=1", NULL, true },
                                                { "", "{\"c\":\"1\"}", true },
                                                { "", "{\"c\":1}", false },
                                                { "", "{\"c\":true}", false } };
        each("c=one:1|true", numbers, sizeof numbers / sizeof *numbers);
}

static void test_bounds__texts(void)
{
        static const struct value values[] = {
                { "m=", NULL, true },
                { "m=hello", NULL, true },
                { "m=helloo", NULL, false },
                { "m=%C3%A4%C3%A4x", NULL, true }, /* five bytes */
                { "m=%C3%A4%C3%A4xy", NULL, false },
                { "m=a%09", NULL, false },
                { "m=a%0a", NULL, false },
                { "m=%7f", NULL, false },
                { "m=%C2%85", NULL, false },
                { "m=%C2%A0", NULL, true },
                { "m=%1b[1m", NULL, false },
                { "", "{\"m\":\"hello\"}", true },
                { "", "{\"m\":\"hell\\n\"}", false },
                { "", "{\"m\":\"\\u0001\"}", false },
                { "", "{\"m\":\"\\u0085\"}", false },
                { "", "{\"m\":5}", false },
                { "", "{\"m\":[\"a\"]}", false },
                { "", "{}", true },
                { "", NULL, true },
        };
        each("m?=text:5", values, sizeof values / sizeof *values);
}

static void test_bounds__booleans(void)
{
        static const struct value values[] = {
                { "b=true", NULL, true },      { "b=false", NULL, true },
                { "b=1", NULL, false },        { "b=True", NULL, false },
                { "b=", NULL, false },         { "", "{\"b\":true}", true },
                { "", "{\"b\":false}", true }, { "", "{\"b\":\"true\"}", false },
                { "", "{\"b\":1}", false },    { "", "{\"b\":null}", false },
        };
        each("b=bool", values, sizeof values / sizeof *values);
}

static void test_bounds__amounts(void)
{
        static const struct value values[] = {
                { "a=0.01", NULL, true },          { "a=2500", NULL, true },
                { "a=2500.00", NULL, true },       { "a=98.7", NULL, true },
                { "a=0.0099", NULL, false },       { "a=2500.0001", NULL, false },
                { "a=0.01000", NULL, false }, /* five digits: not every server has them */
                { "a=.5", NULL, false },           { "a=5.", NULL, false },
                { "a=1.2.3", NULL, false },        { "a=05", NULL, false },
                { "a=00.5", NULL, false },         { "a=+5", NULL, false },
                { "a=1e2", NULL, false },          { "a=1,5", NULL, false },
                { "a=-1", NULL, false },           { "a=", NULL, false },
                { "a=123456789012", NULL, false }, { "", "{\"a\":98.7}", true },
                { "", "{\"a\":98}", true },        { "", "{\"a\":98.70}", true },
                { "", "{\"a\":9.87e1}", false },   { "", "{\"a\":2500.01}", false },
                { "", "{\"a\":\"98.7\"}", false }, { "", "{\"a\":[98.7]}", false },
                { "", "{\"a\":null}", false },
        };
        each("a=num:0.01..2500", values, sizeof values / sizeof *values);
        static const struct value below[] = {
                { "a=-0.5", NULL, true }, { "a=-0", NULL, false },  { "a=-0.0", NULL, false },
                { "a=0", NULL, true },    { "a=0.5", NULL, false }, { "a=-99999999999.9999", NULL, true }
        };
        each("a=num:..0.25", below, sizeof below / sizeof *below);
}

static void test_bounds__lines(void)
{
        static const struct value values[] = {
                { "m=a%0ab", NULL, true },
                { "m=a%0d%0ab", NULL, true },
                { "m=a%09b", NULL, true },
                { "m=a%0db", NULL, false },
                { "m=a%0d", NULL, false },
                { "m=%1b[1m", NULL, false },
                { "m=%C2%85", NULL, false },
                { "m=%0b", NULL, false },
                { "m=1234567", NULL, false },
                { "", "{\"m\":\"a\\nb\\n\"}", true },
                { "", "{\"m\":\"a\\u000b\"}", false },
                { "", "{\"m\":[\"a\"]}", false },
        };
        each("m=lines:6", values, sizeof values / sizeof *values);
}

/* Of a list every item is judged; an empty one is a missing one. */
static void test_bounds__lists_of_values(void)
{
        static const struct value values[] = {
                { "to=a", NULL, true },
                { "to=a&to=b", NULL, true },
                { "to=a&x=1&to=a", NULL, true },
                { "to=a&to=c", NULL, false },
                { "to=c&to=a", NULL, false },
                { "to=a&to=b&to=a", NULL, false },
                { "to=a,b", NULL, false },
                { "to[]=a", NULL, false },
                { "to[]=a&to[]=b", NULL, false },
                { "to=a&to[]=b", NULL, false },
                { "to=a&TO=b", NULL, false },
                { "to[0]=a", NULL, false },
                { "to=", NULL, false },
                { "to", NULL, false },
                { "", NULL, false },
                { "to=a", "{\"to\":[\"b\"]}", false },
                { "", "{\"to\":[\"a\"]}", true },
                { "", "{\"to\":[\"b\",\"a\"]}", true },
                { "", "{\"to\":[\"b\",\"a\",\"a\"]}", false },
                { "", "{\"to\":[\"a\",\"c\"]}", false },
                { "", "{\"to\":[\"a\",[\"b\"]]}", false },
                { "", "{\"to\":[[\"a\"]]}", false },
                { "", "{\"to\":[\"a\",{\"b\":\"a\"}]}", false },
                { "", "{\"to\":[\"a\",null]}", false },
                { "", "{\"to\":[\"a\",1]}", false },
                { "", "{\"to\":[]}", false },
                { "", "{\"to\":\"a\"}", false },
                { "", "{\"to\":null}", false },
                { "", "{\"to\":{\"0\":\"a\"}}", false },
                { "", "{\"to\":[\"a\"],\"to[]\":[\"c\"]}", false },
        };
        each("to=list:2:one:a|b", values, sizeof values / sizeof *values);
        static const struct value optional[] = {
                { "", NULL, true },
                { "", "{\"to\":[]}", true },
                { "", "{\"to\":[3,1.5]}", true },
                { "", "{\"to\":[3,9]}", false },
                { "", "{\"to\":[\"3\"]}", false },
                { "to=1.5&to=3", NULL, true },
        };
        each("to?=list:2:num:1..5", optional, sizeof optional / sizeof *optional);

        /* One more than the longest list is seen, and no more. */
        AUTO_BUF(many);
        struct checked_policy *c = with_bounds("to=list:64:int:1..1");
        for (int i = 0; i < 3000; i++) {
                AUTO_BUF(body);
                buf_printf(&many, "%s1", i ? "," : "{\"to\":[");
                if (i != 63 && i != 64 && i != 2999)
                        continue;
                buf_printf(&body, "%s]}", buf_str(&many));
                CHECK(ask_json(c, "", buf_str(&body), NULL).answer == (i == 63 ? ANSWER_ALLOW : ANSWER_DENY));
        }
        policy_checked_free(c);
}

/* `none`: the parameter is missing, in every spelling. */
static void test_bounds__none(void)
{
        static const struct value values[] = {
                { "to=a", NULL, true },
                { "", "{\"to\":\"a\"}", true },
                { "to=a&bcc=x", NULL, false },
                { "to=a&bcc=", NULL, false },
                { "to=a&Bcc=x", NULL, false },
                { "to=a&bcc[]=x", NULL, false },
                { "to=a&bcc.x=1", NULL, false },
                { "to=a", "{\"bcc\":null}", false },
                { "to=a", "{\"bcc\":[]}", false },
                { "to=a", "{\"bcc\":{}}", false },
                { "to=a&cc=x", NULL, true },
        };
        each("to=one:a bcc=none", values, sizeof values / sizeof *values);
        each("bcc=none in body to=one:a", values, sizeof values / sizeof *values);
}

/* Each of these is the parameter to some server; only the plain name, once, is it to all of them. */
static void test_bounds__other_spellings_are_refused(void)
{
        static const char *const spellings[] = {
                "amount",    "%61mount",     "Amount",      "AMOUNT",       "amount[]",  "amount%5B%5D",
                "amount[0]", "amount[x]",    "amount[x][]", "+amount",      "%20amount", "amount%20",
                "amount+",   "_amount",      "!amount",     "amount.",      ".amount",   "[amount]",
                "amount]",   "amount[",      "a.mount",     "a_mount",      "a-mount",   "a[mount]",
                "a[0]mount", "amount.0",     "amount.x",    "amo%C5%BFunt", "am%01ount", "am%11ount",
                "~amount",   "%7Bamount%7D", "amount%7F",   "amount%09",    "$amount",   "@amount",
                "amount:",   "\"amount\"",   "amount[0][]", "%5Bamount%5D",
        };
        struct checked_policy *c = with_bounds("amount=int:1..5000 akey?=int:1..5 sum?=int:1..5");
        for (size_t i = 0; c && i < sizeof spellings / sizeof *spellings; i++) {
                char query[200];
                AUTO_BUF(out);
                (void) snprintf(query, sizeof query, "amount=5&%s=6", spellings[i]);
                bool other = strcmp(spellings[i], "amo%C5%BFunt") == 0; /* the long s of another name */
                struct decision d = ask_json(c, query, NULL, &out);
                if ((d.answer == ANSWER_ALLOW) != other)
                        printf("# ?%s\n", query);
                CHECK((d.answer == ANSWER_ALLOW) == other);
                CHECK(other || strncmp(buf_str(&out), "parameter amount ", 17) == 0);
        }
        if (c) {
                expect(c, "amount=5&a%E2%84%AAey=9", NULL,
                       "parameter akey is spelled \"a\xe2\x84\xaa"
                       "ey\", which not every server takes for it");
                expect(c, "amount=5&%C5%BFum=9", NULL,
                       "parameter sum is spelled \"\xc5\xbfum\", which not every server takes for it");
                expect(c, "amount=5&amounts=6&amount2=7&mount=8&x_amount=9&0.amount=9", NULL, NULL);
                expect(c, "Amount=5", NULL,
                       "parameter amount is spelled \"Amount\", which not every server takes for it");
        }
        policy_checked_free(c);
}

/* Names of characters beyond ASCII that are another name's once case, width or marks are gone; and names that
 * are decoded, or looked up, twice. */
static void test_bounds__wide_spellings_are_refused(void)
{
        static const struct {
                const char *query, *name;
        } rows[] = {
                { "l%C4%B1mit=9", "limit" },
                { "lim%C4%B0t=9", "limit" },
                { "pa%C3%9F=9", "pass" },
                { "PA%E1%BA%9E=9", "pass" },
                { "%EF%AC%81le=9", "file" },
                { "o%EF%AC%80er=9", "offer" },
                { "mu%EF%AC%86=9", "must" },
                { "%C7%B0ob=9", "job" },
                { "ke%C5%89=9", "ken" },
                { "%EF%BD%8Cimit=9", "limit" },
                { "%EF%BC%AC%EF%BD%89mit=9", "limit" },
                { "%C2%A0limit=9", "limit" },
                { "limit%EF%BB%BF=9", "limit" },
                { "li%E2%80%8Bmit=9", "limit" },
                { "limi%CC%87t=9", "limit" },
                { "__proto__[limit]=9", "limit" },
                { "__proto__.limit=9", "limit" },
                { "[__proto__][limit]=9", "limit" },
        };
        struct checked_policy *c =
                with_bounds("limit?=int:1..5 pass?=int:1..5 file?=int:1..5 offer?=int:1..5 "
                            "must?=int:1..5 job?=int:1..5 ken?=int:1..5");
        for (size_t i = 0; c && i < sizeof rows / sizeof *rows; i++) {
                char want[60];
                AUTO_BUF(out);
                struct decision d = ask_json(c, rows[i].query, NULL, &out);
                (void) snprintf(want, sizeof want, "parameter %s is spelled ", rows[i].name);
                if (d.answer == ANSWER_ALLOW || strncmp(buf_str(&out), want, strlen(want)) != 0)
                        printf("# ?%s: %s\n", rows[i].query, buf_str(&out));
                CHECK(d.answer != ANSWER_ALLOW && strncmp(buf_str(&out), want, strlen(want)) == 0);
        }
        if (c) {
                expect(c, "lim%E5%88%B6it=9", NULL, NULL);
                expect(c, "%E9%99%90%E5%88%B6=9&l%C3%ADmite=9&proto.limit=9&x__proto__.limit=9", NULL, NULL);
                expect(c, "", "{\"__proto__\":{\"limit\":9}}",
                       "parameter limit is spelled \"__proto__.limit\", which not every server takes for it");
                expect(c, "%256Cimit=9", NULL,
                       "parameter file cannot be read: a name is escaped twice, and some servers take off "
                       "both");
        }
        policy_checked_free(c);
}

/* Too many is not too little memory: `cordon why` would give up instead of answering. */
static void test_bounds__too_many_are_unread(void)
{
        struct arena mem = { 0 };
        struct params form = { 0 }, json = { 0 };
        AUTO_BUF(a);
        AUTO_BUF(b);
        buf_puts(&b, "{\"a\":1");
        for (int i = 0; i < PARAMS_MAX; i++) {
                buf_printf(&a, "a%d=1&", i);
                buf_printf(&b, ",\"a%d\":1", i);
        }
        buf_puts(&a, "a=1");
        buf_puts(&b, "}");
        policy_params_form(&form, &mem, buf_span(&a), false);
        policy_params_json(&json, &mem, buf_span(&b));
        CHECK_STR(form.unread, "the request has more than 512 parameters");
        CHECK_STR(json.unread, "the request has more than 512 parameters");
        CHECK(!form.failed && !json.failed);
        arena_done(&mem);
}

static void test_bounds__all_places_are_one(void)
{
        static const char twice[] = "parameter amount stands in the request twice";
        struct checked_policy *c = with_bounds("amount=int:1..5000 card.number?=text:20 memo?=text:9");
        if (!c) {
                CHECK(c != NULL);
                return;
        }
        expect(c, "amount=5", "{\"memo\":\"a\"}", NULL);
        expect(c, "amount=5", "{\"amount\":5}", twice);
        expect(c, "amount=5&amount=5", NULL, twice);
        expect(c, "amount=5", "{\"Amount\":5}",
               "parameter amount is spelled \"Amount\", which not every server takes for it");
        expect(c, "", "{\"amount\":5,\"amount[]\":6}",
               "parameter amount is spelled \"amount[]\", which not every server takes for it");
        expect(c, "", "{\"amount\":5,\"card\":{\"number\":\"4\"}}", NULL);
        expect(c, "", "{\"amount\":5,\"card\":{\"number\":4}}",
               "parameter card.number is 4, and the door permits text of 20 bytes at most");
        expect(c, "", "{\"amount\":5,\"card.number\":\"4\"}",
               "parameter card.number is spelled \"card.number\", which not every server takes for it");
        expect(c, "amount=5&card.number=4", NULL, NULL);
        expect(c, "amount=5&card[number]=4", NULL,
               "parameter card.number is spelled \"card[number]\", which not every server takes for it");
        expect(c, "amount=5&card_number=4", NULL,
               "parameter card.number is spelled \"card_number\", which not every server takes for it");
        expect(c, "amount=5&card=4", NULL, "parameter card.number has no place: \"card\" is 4");
        expect(c, "", "{\"amount\":5,\"card\":[{\"number\":\"4\"}]}",
               "parameter card.number has no place: \"card\" is an array");
        expect(c, "", "{\"amount\":5,\"card\":null}", "parameter card.number has no place: \"card\" is null");
        expect(c, "", "{\"amount\":5,\"card\":{\"number\":\"4\",\"cvc\":\"1\"},\"x\":[1,{\"amount\":6}]}",
               NULL);
        expect(c, "", "{\"amount\":[5]}", "parameter amount is an array, and the door permits 1 to 5000");
        expect(c, "", "{\"amount\":{\"x\":5}}",
               "parameter amount has parts, \"amount.x\", and the door permits 1 to 5000");
        policy_checked_free(c);
}

/* An `in` is said of the bounds before it, back to another one. */
static void test_bounds__a_place_of_their_own(void)
{
        struct checked_policy *c = with_bounds("amount=int:1..5 memo?=text:9 in body page?=int:1..9 in query "
                                               "any?=bool");
        if (!c) {
                CHECK(c != NULL);
                return;
        }
        expect(c, "page=2", "{\"amount\":5,\"memo\":\"a\"}", NULL);
        expect(c, "any=true", "{\"amount\":5}", NULL);
        expect(c, "", "{\"amount\":5,\"any\":true}", NULL);
        expect(c, "amount=5", NULL,
               "parameter amount stands in the query, and the door permits 1 to 5 in the body");
        expect(c, "memo=a", "{\"amount\":5}",
               "parameter memo stands in the query, and the door permits text of 9 bytes at most in the "
               "body");
        expect(c, "", "{\"amount\":5,\"page\":2}",
               "parameter page stands in the body, and the door permits 1 to 9 in the query");
        expect(c, "amount=5", "{\"amount\":5}", "parameter amount stands in the request twice");
        expect(c, "page=2", NULL, "parameter amount is missing, and the door permits 1 to 5 in the body");
        policy_checked_free(c);
}

static void test_bounds__unread_is_refused(void)
{
        static const struct value values[] = {
                { "amount=5;x=1", NULL, false },
                { "amount=5&x=1;y=2", NULL, false },
                { "amount=5&x=%", NULL, false },
                { "amount=5&x=%4", NULL, false },
                { "amount=5&x=%u0041", NULL, false },
                { "amount=5&x=%ff", NULL, false },
                { "amount=5&x=%c0%80", NULL, false },
                { "amount=5&x=%ed%a0%80", NULL, false },
                { "amount=5&%00=1", NULL, false },
                { "amount=5&x=a%00b", NULL, false },
                { "amount=5&&&x", NULL, true },
                { "&amount=5&", NULL, true },
                { "amount=5&=&=x", NULL, true },
                { "amount=5&x=a=b", NULL, true },
                { "", "", false },
                { "", "[]", false },
                { "", "[{\"amount\":5}]", false },
                { "", "\"amount\"", false },
                { "", "5", false },
                { "", "{\"amount\":5}{}", false },
                { "", "{\"amount\":5} x", false },
                { "", "{\"amount\":5}\n", true },
                { "", "\xef\xbb\xbf{\"amount\":5}", false },
                { "", "{\"amount\":5,\"amount\":5}", false },
                { "", "{\"amount\":5,\"x\":1,\"x\":2}", false },
                { "", "{\"amount\":5,\"x\":{\"y\":1,\"y\":2}}", false },
                { "", "{\"amount\":5,\"am\\u006funt\":5}", false },
                { "", "{\"am\\u006funt\":5}", true },
                { "", "{\"amount\":5,}", false },
                { "", "{'amount':5}", false },
                { "", "{amount:5}", false },
                { "", "{\"amount\":5/**/}", false },
                { "", "{\"amount\":5,\"x\":\"\\ud800\"}", false },
                { "", "{\"amount\":5,\"x\":\"\\u0000\"}", false },
                { "", "{\"amount\":5,\"x\":\"\xff\"}", false },
                { "", "{\"amount\":5", false },
        };
        each("amount=int:1..5000", values, sizeof values / sizeof *values);
        struct checked_policy *c = with_bounds("amount=int:1..5000");
        AUTO_BUF(deep);
        AUTO_BUF(deeper);
        AUTO_BUF(many);
        for (int i = 0; i < 31; i++)
                buf_puts(&deep, i ? "[" : "{\"amount\":5,\"x\":[");
        for (int i = 0; i < 31; i++)
                buf_puts(&deep, "]");
        buf_puts(&deep, "}");
        buf_printf(&deeper, "{\"amount\":5,\"x\":[%s]}", buf_str(&deep));
        buf_puts(&many, "amount=5");
        for (int i = 0; i < 511; i++)
                buf_printf(&many, "&x%d=", i);
        if (c) {
                expect(c, "", buf_str(&deep), NULL);
                CHECK_INT(ask_json(c, "", buf_str(&deeper), NULL).answer, ANSWER_DENY);
                expect(c, buf_str(&many), NULL, NULL);
                AUTO_BUF(name);
                while (name.n < 1024)
                        buf_putc(&name, 'n');
                AUTO_BUF(body);
                buf_printf(&body, "{\"amount\":5,\"%s\":1}", buf_str(&name));
                expect(c, "", buf_str(&body), NULL);
                buf_puts(&name, "n");
                buf_done(&body);
                buf_printf(&body, "{\"amount\":5,\"%s\":1}", buf_str(&name));
                expect(c, "", buf_str(&body),
                       "parameter amount cannot be read: a name is longer than 1024 bytes");
                buf_done(&body);
                buf_printf(&body, "{\"amount\":5,\"%.*s\":{\"%.*s\":{\"x\":[]}}}", 600, name.p, 600, name.p);
                expect(c, "", buf_str(&body),
                       "parameter amount cannot be read: a name is longer than 1024 bytes");
                buf_puts(&many, "&y=");
                expect(c, buf_str(&many), NULL,
                       "parameter amount cannot be read: the request has more than 512 parameters");
        }
        CHECK(c != NULL);
        policy_checked_free(c);
}

static void test_bounds__only(void)
{
        struct checked_policy *c = with_bounds("to=one:ops@example.org subject?=text:120 only");
        if (c) {
                expect(c, "to=ops@example.org", NULL, NULL);
                expect(c, "to=ops%40example.org&subject=x", NULL, NULL);
                expect(c, "to=ops@example.org&bcc=eve@example.org", NULL,
                       "parameter bcc is not among those that the door permits (`only`)");
                expect(c, "to=ops@example.org", "{\"bcc\":\"eve\"}",
                       "parameter bcc is not among those that the door permits (`only`)");
                expect(c, "", "{\"to\":\"ops@example.org\",\"x\":{\"y\":{}}}",
                       "parameter x.y is not among those that the door permits (`only`)");
                expect(c, "to=ops@example.org&=", NULL,
                       "parameter  is not among those that the door permits (`only`)");
                expect(c, "to=ops@example.org&b%1b%5B31m=1", NULL,
                       "parameter b\\x1b[31m is not among those that the door permits (`only`)");
        }
        CHECK(c != NULL);
        policy_checked_free(c);
}

static void test_bounds__words_name_value_and_bound(void)
{
        struct checked_policy *c = with_bounds(
                "amount=int:1..5000 currency=one:eur|usd memo?=text:4 up?=int:3.. down?=int:..3 ok?=bool "
                "to?=list:2:one:a|b cents?=num:..2.5 more?=num:0.5.. body?=lines:3 bcc=none");
        if (c) {
                expect(c, "amount=5&currency=eur&to=a&to=c", NULL,
                       "parameter to is \"c\", and the door permits a list of at most 2, each a or b");
                expect(c, "amount=5&currency=eur&to=a&to=b&to=c", NULL,
                       "parameter to has more than 2 items, and the door permits a list of at most 2, each a "
                       "or b");
                expect(c, "amount=5&currency=eur", "{\"to\":\"a\"}",
                       "parameter to is the string \"a\", and the door permits a list of at most 2, each a "
                       "or b");
                expect(c, "amount=5&currency=eur&cents=2.51", NULL,
                       "parameter cents is \"2.51\", and the door permits numbers up to 2.5");
                expect(c, "amount=5&currency=eur&more=0.4", NULL,
                       "parameter more is \"0.4\", and the door permits numbers from 0.5 on");
                expect(c, "amount=5&currency=eur&body=a%0Ab%0A", NULL,
                       "parameter body has 4 bytes, and the door permits lines of text, 3 bytes at most");
                expect(c, "amount=5&currency=eur&bcc=x", NULL,
                       "parameter bcc is \"x\", and the door permits none");
                expect(c, "amount=9000&currency=eur", NULL,
                       "parameter amount is 9000, and the door permits 1 to 5000");
                expect(c, "amount=9e3&currency=eur", NULL,
                       "parameter amount is \"9e3\", and the door permits 1 to 5000");
                expect(c, "", "{\"amount\":\"5\",\"currency\":\"eur\"}",
                       "parameter amount is the string \"5\", and the door permits 1 to 5000");
                expect(c, "currency=eur", NULL,
                       "parameter amount is missing, and the door permits 1 to 5000");
                expect(c, "amount=5&currency=chf", NULL,
                       "parameter currency is \"chf\", and the door permits eur or usd");
                expect(c, "amount=5&currency=eur&memo=12345", NULL,
                       "parameter memo has 5 bytes, and the door permits text of 4 bytes at most");
                expect(c, "amount=5&currency=eur&memo=%1b", NULL,
                       "parameter memo is \"\\x1b\", and the door permits text of 4 bytes at most");
                expect(c, "amount=5&currency=eur&up=2", NULL,
                       "parameter up is 2, and the door permits integers from 3 on");
                expect(c, "amount=5&currency=eur&down=4", NULL,
                       "parameter down is 4, and the door permits integers up to 3");
                expect(c, "amount=5&currency=eur&ok=yes", NULL,
                       "parameter ok is \"yes\", and the door permits true or false");
                expect(c,
                       "currency=eur&amount="
                       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                       "a",
                       NULL,
                       "parameter amount is "
                       "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\", and the door "
                       "permits 1 to 5000");
        }
        CHECK(c != NULL);
        policy_checked_free(c);
}

/* Of several doors one is enough. */
static void test_bounds__union(void)
{
        struct checked_policy *c =
                load("use none\n"
                     "net https://pay.test/v1/charges POST where amount=int:1..50\n"
                     "net https://pay.test/v1/charges POST where amount=int:100..200 only\n"
                     "net https://pay.test/v1/charges GET\n");
        if (c) {
                expect(c, "amount=50&x=1", NULL, NULL);
                expect(c, "amount=100", NULL, NULL);
                expect(c, "amount=100&x=1", NULL, "parameter amount is 100, and the door permits 1 to 50");
                CHECK_ALLOW(c, "net GET https://pay.test/v1/charges?amount=9");
                CHECK_ALLOW(c, "net https://pay.test/v1/charges?amount=9 GET");
                CHECK_DENY(c, "net PUT https://pay.test/v1/charges?amount=9", REASON_METHOD);
                CHECK_DENY(c, "net POST https://pay.test/v1/charge?amount=9", REASON_URL_PATH);
        }
        CHECK(c != NULL);
        policy_checked_free(c);
}

/* Doors are one where they are the same in everything: each of these is a door beside the first. */
static void test_bounds__what_differs_is_another_door(void)
{
        static const char *const bounds[] = { "a=int:1..5",        "a=int:1..6",      "a=int:0..5",
                                              "a?=int:1..5",       "b=int:1..5",      "a=text:5",
                                              "a=one:x|y",         "a=one:x|z",       "a=one:x|y|z",
                                              "a=int:1..5 b=bool", "a=int:1..5 only", "a=list:1:int:1..5",
                                              "a=list:2:int:1..5", "a=num:1..5",      "a=num:1..5.5",
                                              "a=lines:5",         "a=none" };
        for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
                for (size_t k = 0; k <= i; k++) {
                        AUTO_BUF(text);
                        size_t n = 0;
                        buf_printf(&text, "use none\nnet https://pay.test/x POST where %s\n", bounds[i]);
                        buf_printf(&text, "net https://pay.test/x POST where %s\n", bounds[k]);
                        struct checked_policy *c = load(buf_str(&text));
                        CHECK(c && policy_doors(c, &n));
                        if (n != (i == k ? 1 : 2))
                                printf("# %s, %s\n", bounds[i], bounds[k]);
                        CHECK_INT(n, i == k ? 1 : 2);
                        policy_checked_free(c);
                }
}

/* The line that is told permits the request, and what it permits is wide by no more than that. */
static void check_permit(const char *door, const char *query, const char *want)
{
        AUTO_BUF(text);
        AUTO_BUF(line);
        struct effect f;
        struct err e;
        struct checked_policy *c = with_bounds(door);
        buf_printf(&text, "%s%s", url, query);
        if (!c || policy_effect_parse(buf_str(&text), &fixed_context, &f, &e) < 0) {
                CHECK(false);
                policy_checked_free(c);
                return;
        }
        struct decision d = policy_decide(c, &f);
        policy_smallest_line(&f, &d, &line);
        CHECK_STR(buf_str(&line), want);
        if (want[0]) {
                AUTO_BUF(more);
                buf_printf(&more, "use none\n%s\n", want);
                struct checked_policy *wider = load(buf_str(&more));
                CHECK(wider && policy_decide(wider, &f).answer == ANSWER_ALLOW);
                policy_checked_free(wider);
        }
        policy_effect_done(&f);
        policy_checked_free(c);
}

static void test_bounds__the_line_that_would_permit_it(void)
{
#define LINE "net https://pay.test/v1/charges POST where "
        check_permit("a=int:1..50", "a=90", LINE "a=int:1..90");
        check_permit("a=int:1..50", "a=-3", LINE "a=int:-3..50");
        check_permit("a=int:1..50", "", LINE "a?=int:1..50");
        check_permit("a=one:x|y", "a=z", LINE "a=one:x|y|z");
        check_permit("a=one:x|y", "a=b+%7C", LINE "\"a=one:x|y|b %7C\"");
        check_permit("a=text:3", "a=abcd", LINE "a=text:4");
        check_permit("a=int:1..50 b=one:x", "a=90&b=y", LINE "a=int:1..90 b=one:x|y");
        check_permit("a=int:1..50 only", "a=5&b=y", LINE "a=int:1..50 b=text:1 only");
        check_permit("a=int:1..50 only", "a=5&b=", LINE "a=int:1..50 b=text:1 only");
        check_permit("a=int:1..50 b?=bool in body", "a=5", LINE "b?=bool in body a=int:1..50");
        check_permit("a=int:1..50 in body", "a=60", LINE "a=int:1..60");
        check_permit("a=num:1..2.5", "a=98.70", LINE "a=num:1..98.7");
        check_permit("a=num:1..2.5", "a=-0.0001", LINE "a=num:-0.0001..2.5");
        check_permit("a=text:3", "a=x%0a", LINE "a=lines:3");
        check_permit("a=text:3", "a=x%0ayz", LINE "a=lines:4");
        check_permit("a=lines:1", "a=x%0a", LINE "a=lines:2");
        check_permit("a=list:1:one:x", "a=x&a=y", LINE "a=list:2:one:x|y");
        check_permit("a=list:1:one:x", "a=z&a=y&a=x", LINE "a=list:3:one:x|z|y");
        check_permit("a=list:2:int:1..5", "a=7&a=-1", LINE "a=list:2:int:-1..7");
        check_permit("a=int:1..5 only", "a=5&b=x%0ay", LINE "a=int:1..5 b=lines:3 only");
        check_permit("a=none", "a=5", "");
        check_permit("a=none in body", "a=5", "");
        check_permit("a=int:1..50", "a=x", ""); /* ambiguous or of another type: no bound takes it */
        check_permit("a=int:1..50", "a=1&a=2", "");
        check_permit("a=int:1..50", "A=1", "");
        check_permit("a=int:1..50", "a=1;b=2", "");
        check_permit("a=one:x", "a=%0a", "");
        check_permit("a=int:1..50 only", "a=1&b[]=2", "");
}

static void check_bounds_refused(const char *bounds, const char *what, const char *hint)
{
        AUTO_BUF(text);
        struct err e;
        buf_printf(&text, "use none\nnet https://pay.test/v1 %s\n", bounds);
        struct checked_policy *c = load_in("t", buf_span(&text), &fixed_context, &e);
        CHECK(!c);
        CHECK_STR(e.what, what);
        CHECK_STR(e.hint, hint);
        policy_checked_free(c);
}

static void test_bounds__load_errors(void)
{
        check_bounds_refused("where", "t:2:1: the bound after `where` is missing",
                             "use `net DEST [METHOD...] [with NAME] [cap N] [reach WHOM] [touches WHAT...] "
                             "[where BOUND...] [as TYPE] [ask ...]`");
        check_bounds_refused("where only", "t:2:31: \"only\": no bound",
                             "use NAME=TYPE, NAME?=TYPE where it may be missing");
        check_bounds_refused("where amount", "t:2:31: \"amount\": no bound",
                             "use NAME=TYPE, NAME?=TYPE where it may be missing");
        check_bounds_refused("where a=int:1..5 a=int:1..6", "t:2:42: \"a=int:1..6\": duplicate parameter",
                             "");
        check_bounds_refused(
                "where a=int:1..5 A=int:1..6",
                "t:2:42: \"A=int:1..6\": some servers treat this as another parameter of the line",
                "use the one spelling that the server has");
        check_bounds_refused("where a=int:1..5 a.b=int:1..6",
                             "t:2:42: \"a.b=int:1..6\": one parameter contains the other",
                             "use the inner one");
        check_bounds_refused("where a=int:5..1", "t:2:31: \"a=int:5..1\": empty range",
                             "put the smaller number first");
        check_bounds_refused("where a=int:1-5",
                             "t:2:31: \"a=int:1-5\": the range is missing, or does not start with an integer",
                             "use int:MIN..MAX; either end may be left out");
        check_bounds_refused(
                "where a=int:01..5",
                "t:2:31: \"a=int:01..5\": an end of the range is not a plain decimal integer of 64 bits",
                "use int:MIN..MAX; either end may be left out");
        check_bounds_refused(
                "where a=int:1..9223372036854775808",
                "t:2:31: \"a=int:1..9223372036854775808\": an end of the range is not a plain decimal "
                "integer of 64 "
                "bits",
                "use int:MIN..MAX; either end may be left out");
        check_bounds_refused(
                "where a=int", "t:2:31: \"a=int\": incomplete type",
                "use int:MIN..MAX, num:MIN..MAX, one:A|B, text:MAX, lines:MAX, bool, none or list:MAX:TYPE");
        check_bounds_refused("where a=inte:1..5", "t:2:31: \"a=inte:1..5\": unknown parameter type",
                             "did you mean \"int\"?");
        check_bounds_refused(
                "where a=regex:x", "t:2:31: \"a=regex:x\": unknown parameter type",
                "use int:MIN..MAX, num:MIN..MAX, one:A|B, text:MAX, lines:MAX, bool, none or list:MAX:TYPE");
        check_bounds_refused("where a=one:", "t:2:31: \"a=one:\": an empty value in the list", "use one:A|B");
        check_bounds_refused("where a=one:x|x", "t:2:31: \"a=one:x|x\": a value is named twice", "");
        check_bounds_refused("where a=one:x|%zz",
                             "t:2:31: \"a=one:x|%zz\": % must be followed by two hexadecimal digits",
                             "use %25 for %");
        check_bounds_refused("where a=one:%0a",
                             "t:2:31: \"a=one:%0a\": a value is not UTF-8, or holds a control character", "");
        check_bounds_refused("where a=one:%00",
                             "t:2:31: \"a=one:%00\": a value is not UTF-8, or holds a control character", "");
        check_bounds_refused("where a=text:0",
                             "t:2:31: \"a=text:0\": the length must be a number of bytes from 1 to 65536",
                             "use text:80");
        check_bounds_refused(
                "where a=bool:x", "t:2:31: \"a=bool:x\": nothing follows this type",
                "use int:MIN..MAX, num:MIN..MAX, one:A|B, text:MAX, lines:MAX, bool, none or list:MAX:TYPE");
        check_bounds_refused("where a=num:1..5e3",
                             "t:2:31: \"a=num:1..5e3\": invalid range: at most 11 digits before and 4 after "
                             "the decimal point",
                             "use num:MIN..MAX, as num:0.01..2500; either end may be left out");
        check_bounds_refused("where a=num:5",
                             "t:2:31: \"a=num:5\": the range is missing, or does not start with a number",
                             "use num:MIN..MAX, as num:0.01..2500; either end may be left out");
        check_bounds_refused("where a=lines:0",
                             "t:2:31: \"a=lines:0\": the length must be a number of bytes from 1 to 65536",
                             "use lines:4000");
        check_bounds_refused("where a?=none",
                             "t:2:31: \"a?=none\": `none` means that the parameter is missing",
                             "use NAME=none");
        static const char *const lists[] = { "a=list:one:x", "a=list:0:bool", "a=list:65:bool", "a=list:3" };
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
                AUTO_BUF(bound);
                AUTO_BUF(what);
                buf_printf(&bound, "where %s", lists[i]);
                buf_printf(
                        &what,
                        "t:2:31: \"%s\": the number of items must be from 1 to 64, and their type follow it",
                        lists[i]);
                check_bounds_refused(buf_str(&bound), buf_str(&what), "use list:5:one:A|B");
        }
        check_bounds_refused("where a=list:3:none",
                             "t:2:31: \"a=list:3:none\": `none` means that the parameter is missing",
                             "use NAME=none");
        check_bounds_refused("where a=list:3:list:3:bool",
                             "t:2:31: \"a=list:3:list:3:bool\": unknown parameter type",
                             "did you mean \"list\"?");
        check_bounds_refused("where a=lst:3:bool", "t:2:31: \"a=lst:3:bool\": unknown parameter type",
                             "did you mean \"list\"?");
        check_bounds_refused("where a[]=bool", "t:2:31: \"a[]=bool\": invalid parameter name",
                             "letters, digits, _ and -; a.b for the member b of a");
        check_bounds_refused("where a..b=bool", "t:2:31: \"a..b=bool\": invalid parameter name",
                             "letters, digits, _ and -; a.b for the member b of a");
        check_bounds_refused("where 0=bool", "t:2:31: \"0=bool\": invalid parameter name",
                             "letters, digits, _ and -; a.b for the member b of a");
        check_bounds_refused("where a=bool where b=bool", "t:2:44: duplicate `where`", "");
        check_bounds_refused("where a=bool WEBSOCKET", "t:2:5: `where` cannot see into a WebSocket",
                             "give WEBSOCKET a line of its own");
        check_bounds_refused("where a=bool in bodi", "t:2:41: \"bodi\": must be body or query",
                             "did you mean \"body\"?");
        check_bounds_refused("where a=bool in header", "t:2:41: \"header\": must be body or query",
                             "use `in body` or `in query`");
        check_bounds_refused("where a=bool in body in query", "t:2:46: `in` must follow a parameter",
                             "use NAME=TYPE ... in body, or in query");
        check_bounds_refused("where in body", "t:2:31: \"in\": no bound",
                             "use NAME=TYPE, NAME?=TYPE where it may be missing");
        check_bounds_refused("where a=bool onyl",
                             "t:2:38: \"onyl\" is neither a method nor `with`, `cap`, `reach`, `touches`, "
                             "`where`, `as`, `label`, `accepts`, `declassify`, `ask` or `until`",
                             "did you mean \"only\"?");
        struct err e;
        struct checked_policy *c =
                load_in("t", span_str("use none\nnet pay.test:443 where a=bool\n"), &fixed_context, &e);
        CHECK(!c);
        CHECK_STR(e.what, "t:2:24: parameters are not visible in a raw connection");
        CHECK_STR(e.hint, "use https://host/path instead of host:port");
        c = load_in("t", span_str("{\"doors\":[{\"net\":\"https://a.test/\",\"where\":[]}]}"), &fixed_context,
                    &e);
        CHECK(!c && strstr(e.what, "an empty list is no restriction"));
        c = load_in("t", span_str("{\"doors\":[{\"read\":\"/a\",\"where\":[\"a=bool\"]}]}"), &fixed_context,
                    &e);
        CHECK(!c && strstr(e.what, "unknown key \"where\""));
}

/* Lines and JSON are one policy, whatever the order they were written in. */
static void test_bounds__forms(void)
{
        static const char lines[] = "box b\nuse none\n"
                                    "net https://a.test/** where \"z=one:b c|a%7C\" in query w=bool "
                                    "y?=int:..5 in body x.y=bool only "
                                    "POST cap 5/h\n";
        static const char json[] =
                "{\"box\":\"b\",\"use\":[],\"doors\":[{\"net\":\"https://a.test/**\",\"cap\":\"5/h\","
                "\"methods\":[\"POST\"],\"where\":[\"y?=int:..5\",\"w=bool\",\"in body\",\"z=one:a%7C|b "
                "c\",\"in query\",\"x.y=bool\",\"only\"]}]}";
        struct checked_policy *a = load(lines), *b = load(json);
        CHECK(a && b);
        if (a && b) {
                AUTO_BUF(show);
                AUTO_BUF(canonical);
                AUTO_BUF(words);
                CHECK_STR(policy_digest(a), policy_digest(b));
                policy_show(a, &show);
                CHECK(strstr(buf_str(&show), "net https://a.test/** POST cap 5/h where w=bool y?=int:..5 in "
                                             "body \"z=one:a%7C|b c\" in query x.y=bool only\n"));
                policy_canonical_json(a, &canonical);
                CHECK(strstr(buf_str(&canonical),
                             "\"where\":[\"w=bool\",\"y?=int:..5\",\"in body\",\"z=one:a%7C|b c\",\"in "
                             "query\",\"x.y=bool\",\"only\"]"));
                struct checked_policy *again = load(buf_str(&canonical));
                CHECK(again && strcmp(policy_digest(again), policy_digest(a)) == 0);
                policy_checked_free(again);
                policy_doors_text(a, NULL, true, &words);
                CHECK(strstr(buf_str(&words),
                             "- What it asks for at https://a.test/** is bound: w is true or false in the "
                             "body; y is integers up to 5 in the body, or not there; z is a| or b c in the "
                             "query; x.y is true or false; no other parameter passes.\n"));
        }
        policy_checked_free(a);
        policy_checked_free(b);
}

static const struct test_case cases[] = {
        CASE(test_bounds__integers),
        CASE(test_bounds__lists),
        CASE(test_bounds__texts),
        CASE(test_bounds__booleans),
        CASE(test_bounds__amounts),
        CASE(test_bounds__lines),
        CASE(test_bounds__lists_of_values),
        CASE(test_bounds__none),
        CASE(test_bounds__other_spellings_are_refused),
        CASE(test_bounds__wide_spellings_are_refused),
        CASE(test_bounds__too_many_are_unread),
        CASE(test_bounds__all_places_are_one),
        CASE(test_bounds__a_place_of_their_own),
        CASE(test_bounds__unread_is_refused),
        CASE(test_bounds__only),
        CASE(test_bounds__words_name_value_and_bound),
        CASE(test_bounds__union),
        CASE(test_bounds__what_differs_is_another_door),
        CASE(test_bounds__the_line_that_would_permit_it),
        CASE(test_bounds__load_errors),
        CASE(test_bounds__forms),
};

int main(void) { return test_main(cases, sizeof cases / sizeof *cases); }
