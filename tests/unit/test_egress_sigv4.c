/* SPDX-License-Identifier: MIT */
/* Signatures of AWS: the examples of its documentation, and requests that are signed anew or refused. */
#include "test_egress_common.h"

#include "base/hash.h"

#define HOLDER_ID "AKIAPLACEHOLDER00001"
#define KEY       "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define LONG_KEY  "AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
#define LONG_HELD "AKIAPLACEHOLDER00001:placeholderplaceholderplaceholderplaceho"
#define EMPTY     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define AUTH(region, service)                                                                                \
        "Authorization: AWS4-HMAC-SHA256 Credential=" HOLDER_ID "/20260101/" region "/" service              \
        "/aws4_request, SignedHeaders=host;x-amz-date, Signature=0123456789abcdef\r\n"
#define HEAD(line, fields) line " HTTP/1.1\r\nHost: s3.us-west-2.amazonaws.com\r\n" fields "\r\n"
_Static_assert(sizeof LONG_KEY == sizeof LONG_HELD, "one length");

enum { AUG_30_2015 = 1440938160, MAY_24_2013 = 1369353600 };

static void test_sigv4__signs_as_the_documentation_has_it(void)
{
        static const struct {
                const char *key, *head, *body, *region, *service;
                int64_t now;
                const char *names, *signature;
        } rows[] = {
                { KEY, "GET / HTTP/1.1\r\nHost: example.amazonaws.com\r\n\r\n", "", "us-east-1", "service",
                  AUG_30_2015, "host;x-amz-date",
                  "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31" },
                { KEY,
                  "GET /?Param2=value2&Param1=value1 HTTP/1.1\r\nHost: example.amazonaws.com\r\nAccept: "
                  "*/*\r\n\r\n",
                  "", "us-east-1", "service", AUG_30_2015, "host;x-amz-date",
                  "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500" },
                { KEY, "POST / HTTP/1.1\r\nHost: example.amazonaws.com\r\n\r\n", "", "us-east-1", "service",
                  AUG_30_2015, "host;x-amz-date",
                  "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b" },
                { KEY,
                  "POST / HTTP/1.1\r\nHost: example.amazonaws.com\r\ncontent-type:  "
                  "application/x-www-form-urlencoded\r\nContent-Length: 13\r\n\r\n",
                  "Param1=value1", "us-east-1", "service", AUG_30_2015, "content-type;host;x-amz-date",
                  "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a" },
                { KEY,
                  "GET /?Action=ListUsers&Version=2010-05-08 HTTP/1.1\r\nHost: "
                  "iam.amazonaws.com\r\nContent-Type: application/x-www-form-urlencoded;  "
                  "charset=utf-8\r\n\r\n",
                  "", "us-east-1", "iam", AUG_30_2015, "content-type;host;x-amz-date",
                  "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7" },
                { KEY, "GET /example%20space/ HTTP/1.1\r\nHost: example.amazonaws.com\r\n\r\n", "",
                  "us-east-1", "service", AUG_30_2015, "host;x-amz-date",
                  "446b817944c553435b35e813c261ff4e161fff982d1bacdef1c87f6785dd1662" },
                { LONG_KEY, "GET /?lifecycle HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\n\r\n", "",
                  "us-east-1", "s3", MAY_24_2013, "host;x-amz-content-sha256;x-amz-date",
                  "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543" },
                { LONG_KEY,
                  "GET /?prefix=J&&max-keys=2 HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\n\r\n", "",
                  "us-east-1", "s3", MAY_24_2013, "host;x-amz-content-sha256;x-amz-date",
                  "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7" },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct sigv4 s = { .sends_payload = strcmp(rows[i].service, "s3") == 0 };
                struct fifo head = { 0 };
                struct grant_key key;
                AUTO_BUF(end);
                (void) snprintf(s.region, sizeof s.region, "%s", rows[i].region);
                (void) snprintf(s.service, sizeof s.service, "%s", rows[i].service);
                sha256_hex(span_str(rows[i].body), s.payload);
                fifo_text(&head, rows[i].head);
                CHECK(grant_key_split(span_str(rows[i].key), &key));
                sigv4_sign(&s, &key, rows[i].now, &head);
                buf_printf(&end, "/aws4_request, SignedHeaders=%s, Signature=%s\r\n\r\n", rows[i].names,
                           rows[i].signature);
                fifo_add(&head, "", 1);
                const char *at = strstr((const char *) fifo_all(&head).p, "/aws4_request");
                CHECK_STR(at ? at : "", buf_str(&end));
                CHECK(!head.failed);
                fifo_done(&head);
        }
}

/* Names before values, however the two are escaped; one name twice; an object's name in any spelling. */
static void test_sigv4__has_one_form_of_what_means_the_same(void)
{
        static const struct {
                const char *a, *b;
        } rows[] = {
                { "GET /k?a=2&a-b=1&a=1 HTTP/1.1\r\nHost: h\r\n\r\n",
                  "GET /k?%61=1&a=2&a%2Db=1 HTTP/1.1\r\nHost: h\r\n\r\n" },
                { "GET /k?flag HTTP/1.1\r\nHost: h\r\n\r\n", "GET /k?flag= HTTP/1.1\r\nHost: h\r\n\r\n" },
                { "GET /a(b)/%7Ec HTTP/1.1\r\nHost: h\r\n\r\n",
                  "GET /a%28b%29/~c HTTP/1.1\r\nHost: h\r\n\r\n" },
                { "GET / HTTP/1.1\r\nHost: h\r\nx-amz-meta-a: 1\r\nX-Amz-Meta-A: 2\r\n\r\n",
                  "GET / HTTP/1.1\r\nX-AMZ-META-A: 1,2\r\nHost:   h\r\n\r\n" },
                { "GET / HTTP/1.1\r\nHost: h\r\nX-Amz-Acl: a  b\r\n\r\n",
                  "GET / HTTP/1.1\r\nHost: h\r\nX-Other: 1\r\nX-Amz-Acl: a b\r\n\r\n" },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                const char *const heads[] = { rows[i].a, rows[i].b };
                char signature[2][65] = { "", "" };
                for (size_t k = 0; k < 2; k++) {
                        struct sigv4 s = { "us-east-1", "s3", EMPTY, true };
                        struct fifo head = { 0 };
                        struct grant_key key;
                        fifo_text(&head, heads[k]);
                        CHECK(grant_key_split(span_str(LONG_KEY), &key));
                        sigv4_sign(&s, &key, MAY_24_2013, &head);
                        fifo_add(&head, "", 1);
                        const char *at = strstr((const char *) fifo_all(&head).p, "Signature=");
                        (void) snprintf(signature[k], sizeof signature[k], "%.64s", at ? at + 10 : "");
                        fifo_done(&head);
                }
                CHECK_INT(strlen(signature[0]), 64);
                CHECK_STR(signature[0], signature[1]);
        }
}

/* ---- whole requests ---- */

static const struct http_credential aws = { "aws",
                                            GRANT_SIGV4,
                                            "",
                                            "",
                                            "",
                                            { (const uint8_t *) LONG_KEY, sizeof LONG_KEY - 1 },
                                            { (const uint8_t *) LONG_HELD, sizeof LONG_HELD - 1 },
                                            POLICY_STAGE_TEST,
                                            0,
                                            0 };
static const struct rig_in signing = { .policy = "use none\n"
                                                 "net http://s3.us-west-2.amazonaws.com/** with aws\n"
                                                 "net http://minio.test/** with aws\n"
                                                 "net http://other.test/**\n",
                                       .host = "s3.us-west-2.amazonaws.com",
                                       .credentials = &aws,
                                       .credential_count = 1,
                                       .stage = POLICY_STAGE_LIVE };

static void test_sigv4__a_request_is_signed_anew(void)
{
        static const struct {
                const char *request, *scope, *payload;
        } rows[] = {
                { HEAD("GET /b/k", AUTH("eu-central-1", "s3")), "/eu-central-1/s3/aws4_request", EMPTY },
                { HEAD("GET /b/k", ""), "/us-west-2/s3/aws4_request", EMPTY },
                { HEAD("GET /b/k", "Authorization: AWS " HOLDER_ID ":x\r\n"), "/us-west-2/s3/aws4_request",
                  EMPTY },
                { HEAD("PUT /b/k", AUTH("us-west-2", "s3") "X-Amz-Content-Sha256: UNSIGNED-PAYLOAD\r\n"
                                                           "Content-Length: 2\r\n") "hi",
                  "/us-west-2/s3/aws4_request", "UNSIGNED-PAYLOAD" },
                { HEAD("PUT /b/k", AUTH("us-west-2", "s3") "X-Amz-Content-Sha256: " EMPTY "\r\n"
                                                           "Content-Length: 2\r\n") "hi",
                  "/us-west-2/s3/aws4_request", EMPTY },
                { HEAD("PUT /b/k", "Content-Length: 2\r\n") "hi", "/us-west-2/s3/aws4_request",
                  "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4" },
                { HEAD("PUT /b/k", "Transfer-Encoding: chunked\r\n") "1\r\nh\r\n1\r\ni\r\n0\r\n\r\n",
                  "/us-west-2/s3/aws4_request",
                  "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4" },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                for (size_t cut = 0; cut < 8; cut += 7) {
                        struct rig g;
                        if (!rig_start(&g, &signing))
                                return;
                        rig_client(&g, span_str(rows[i].request), cut);
                        rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), 0);
                        CHECK_INT(g.event_count, 1);
                        CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
                        CHECK(holds(&g.to_upstream, "Credential=AKIAIOSFODNN7EXAMPLE/"));
                        CHECK(holds(&g.to_upstream, rows[i].scope));
                        AUTO_BUF(payload);
                        buf_printf(&payload, "\r\nX-Amz-Content-Sha256: %s\r\n", rows[i].payload);
                        CHECK(holds(&g.to_upstream, buf_str(&payload)));
                        CHECK(!holds(&g.to_upstream, HOLDER_ID));
                        CHECK(!holds(&g.to_upstream, "wJalr"));
                        rig_end(&g);
                }
        }
}

static void test_sigv4__what_cannot_be_signed_is_refused(void)
{
        static const struct {
                const char *request;
                enum effect_reason why;
        } rows[] = {
                { HEAD("GET /k?X-Amz-Signature=00&X-Amz-Credential=a", ""), REASON_SIGV4_PRESIGNED },
                { HEAD("GET /k?a=1;x-amz-%61lgorithm=AWS4-HMAC-SHA256", ""), REASON_SIGV4_PRESIGNED },
                { HEAD("GET /k?AWSAccessKeyId=a&Signature=b&Expires=1", ""), REASON_SIGV4_PRESIGNED },
                { HEAD("GET /k", "Authorization: AWS4-ECDSA-P256-SHA256 Credential=a/b/s3/aws4_request\r\n"),
                  REASON_SIGV4_ALGORITHM },
                { HEAD("GET /k", AUTH("us-west-2/..", "s3")), REASON_SIGV4_SCOPE },
                { HEAD("GET /k", AUTH("us west", "s3")), REASON_SIGV4_SCOPE },
                { HEAD("GET /k", AUTH("us-west-2", "S3")), REASON_SIGV4_SCOPE },
                { HEAD("GET /k", "Authorization: AWS4-HMAC-SHA256 Signature=0\r\n"), REASON_SIGV4_SCOPE },
                { HEAD("PUT /k", AUTH("us-west-2", "s3") "Content-Length: 9\r\nX-Amz-Content-Sha256: "
                                                         "STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\n"),
                  REASON_SIGV4_CHUNKS },
                { HEAD("PUT /k", AUTH("us-west-2", "s3") "Content-Length: 4194305\r\n"),
                  REASON_SIGV4_LENGTH },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct rig g;
                if (!rig_start(&g, &signing))
                        return;
                rig_client(&g, span_str(rows[i].request), 0);
                CHECK_INT(g.event_count, 1);
                CHECK_INT(rig_last(&g)->verdict, HTTP_DENIED);
                CHECK_INT(rig_last(&g)->reason, rows[i].why);
                CHECK_INT(g.to_upstream.n, 0);
                rig_end(&g);
        }
}

/* The limit holds for bodies without a length too, and up to it a body is held and passes whole. */
static void test_sigv4__long_bodies(void)
{
        static const char head[] = HEAD("PUT /k", "Transfer-Encoding: chunked\r\n");
        static char piece[32768];
        memset(piece, 'x', sizeof piece);
        for (int over = 0; over < 2; over++) {
                struct rig g;
                if (!rig_start(&g, &signing))
                        return;
                rig_client(&g, span_str(head), 0);
                for (size_t n = 0; n < HTTP_SIGNED_MAX / sizeof piece + (size_t) over; n++) {
                        rig_client(&g, span_str("8000\r\n"), 0);
                        rig_client(&g, span_of(piece, sizeof piece), 0);
                        rig_client(&g, span_str("\r\n"), 0);
                }
                rig_client(&g, span_str("0\r\n\r\n"), 0);
                rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), 0);
                CHECK_INT(rig_last(&g)->reason, over ? REASON_SIGV4_LENGTH : REASON_NONE);
                CHECK(over ? g.to_upstream.n == 0 : g.to_upstream.n > HTTP_SIGNED_MAX);
                rig_end(&g);
        }
}

static void test_sigv4__a_host_that_is_not_of_aws_is_signed_for_as_the_client_says(void)
{
        struct rig_in in = signing;
        in.host = "minio.test";
        struct rig g;
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str("GET /b HTTP/1.1\r\nHost: minio.test\r\n" AUTH("home", "s3") "\r\n"), 0);
        CHECK(holds(&g.to_upstream, "/home/s3/aws4_request"));
        rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), 0);
        rig_client(&g, span_str("GET /b HTTP/1.1\r\nHost: minio.test\r\n\r\n"), 0);
        CHECK_INT(rig_last(&g)->reason, REASON_SIGV4_SCOPE);
        rig_end(&g);
}

/* The key does not come back, and the placeholder does not go elsewhere. */
static void test_sigv4__no_part_of_a_key_passes(void)
{
        static const char *const parts[] = { "AKIAIOSFODNN7EXAMPLE",
                                             "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };
        for (size_t i = 0; i < COUNT(parts); i++) {
                struct rig g;
                if (!rig_start(&g, &signing))
                        return;
                AUTO_BUF(answer);
                buf_printf(&answer, "HTTP/1.1 403 No\r\nContent-Length: %zu\r\n\r\n<%s>",
                           strlen(parts[i]) + 2, parts[i]);
                rig_client(&g, span_str(HEAD("GET /k", "")), 0);
                rig_upstream(&g, buf_span(&answer), 0);
                CHECK(!holds(&g.to_client, parts[i]));
                CHECK(rig_last(&g)->scrubbed);
                rig_end(&g);
        }

        struct rig_in in = signing;
        in.host = "other.test";
        struct rig g;
        if (!rig_start(&g, &in))
                return;
        rig_client(&g, span_str("GET /b HTTP/1.1\r\nHost: other.test\r\n" AUTH("home", "s3") "\r\n"), 0);
        CHECK_INT(rig_last(&g)->reason, REASON_PLACEHOLDER);
        CHECK_INT(g.to_upstream.n, 0);
        rig_end(&g);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_sigv4__signs_as_the_documentation_has_it),
                CASE(test_sigv4__has_one_form_of_what_means_the_same),
                CASE(test_sigv4__a_request_is_signed_anew),
                CASE(test_sigv4__what_cannot_be_signed_is_refused),
                CASE(test_sigv4__long_bodies),
                CASE(test_sigv4__a_host_that_is_not_of_aws_is_signed_for_as_the_client_says),
                CASE(test_sigv4__no_part_of_a_key_passes),
        };
        return test_main(cases, COUNT(cases));
}
