/* SPDX-License-Identifier: MIT */
/* Fields and parameters that name another resource, method or host than the request line: a table of them,
 * and of the doors behind which they may pass. */
#include "test_egress_common.h"
#include "test_egress_credentials.h"

static const char doors[] = "net http://s3.test/in/** GET PUT with key\n"
                            "net http://s3.test/out/** PUT with key\n"
                            "net http://s3.test/seen/** GET with key\n"
                            "net http://s3.test/plain/** GET\n"
                            "net http://s3.test/asked/** GET with key ask\n"
                            "net http://s3.test/mail/** GET with key label private:mail\n"
                            "net http://s3.test/bound GET with key where a=int:1..5\n"
                            "net http://s3.test/v1/me/box/** GET PUT with key\n"
                            "net http://s3.test/dav/** GET PUT DELETE with key\n"
                            "net http://b.s3.test/in/** GET PUT with key\n"
                            "net http://c.s3.test/** GET with key\n"
                            "net http://store.test/in/** GET PUT with key\n"
                            "net http://store.test/out/** PUT with key\n"
                            "net http://api.test/** GET with key\n";

/* One request with a field; NULL reason: it leaves. */
struct row {
        const char *host, *line, *field;
        enum effect_reason reason;
        const char *permit; /* or NULL */
};

static const struct row rows[] = {
        /* a bucket of a store, whose buckets are in the path */
        { "s3.test", "PUT /in/a", "x-amz-copy-source: /in/b", REASON_NONE, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: in/b?versionId=3", REASON_NONE, NULL },
        { "s3.test", "PUT /out/a", "X-Amz-Copy-Source: seen/b", REASON_NONE, NULL },
        { "s3.test", "PUT /in/a", "x-goog-copy-source: seen/b", REASON_NONE, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: /secret/b", REASON_SOURCE_HEADER,
          "net http://s3.test/secret/b GET with key" },
        { "s3.test", "PUT /in/a", "x_amz_copy_source: /secret/b", REASON_SOURCE_HEADER, NULL },
        { "s3.test", "PUT /in/a", "X.Amz~Copy_Source: /secret/b", REASON_SOURCE_HEADER, NULL },
        { "s3.test", "PUT /in/a", "x-oss-copy-source: /secret/b", REASON_SOURCE_HEADER, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: in/b\r\nx-amz-copy-source: secret/b",
          REASON_SOURCE_HEADER, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: /out/b", REASON_SOURCE_HEADER, NULL },   /* PUT alone */
        { "s3.test", "PUT /in/a", "x-amz-copy-source: /plain/b", REASON_SOURCE_HEADER, NULL }, /* no key */
        { "s3.test", "PUT /in/a", "x-amz-copy-source: /asked/b", REASON_SOURCE_HEADER, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: /mail/b", REASON_SOURCE_HEADER, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: /bound?a=3", REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: in%2Fb", REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: in/b%2Fc", REASON_SOURCE_HEADER, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: in/../secret/b", REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: in/%2e%2e/secret/b", REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: in/a+b", REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: arn:aws:s3:us-east-1:1:accesspoint/x/object/b",
          REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source:", REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source: /", REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /in/a", "x-amz-copy-source-range: bytes=0-1", REASON_NONE, NULL },
        /* ... or in the host */
        { "b.s3.test", "PUT /in/a", "x-amz-copy-source: b/in/b", REASON_NONE, NULL },
        { "b.s3.test", "PUT /in/a", "x-amz-copy-source: c/any", REASON_NONE, NULL },
        { "b.s3.test", "PUT /in/a", "x-amz-copy-source: in/secret", REASON_SOURCE_HEADER,
          "net http://in.s3.test/secret GET with key" },
        { "b.s3.test", "PUT /in/a", "x-amz-copy-source: b/secret", REASON_SOURCE_HEADER, NULL },
        /* ... or that is not known */
        { "store.test", "PUT /in/a", "x-amz-copy-source: in/b", REASON_SOURCE_UNCLEAR, NULL },
        { "store.test", "PUT /in/a", "x-vendor-copy-source: in/b", REASON_SOURCE_UNCLEAR, NULL },
        { "store.test", "PUT /in/a", "x-vendor-rename-source: in/b", REASON_SOURCE_UNCLEAR, NULL },
        { "store.test", "PUT /in/a", "x-cos-copy-source: store.test/in/b", REASON_SOURCE_UNCLEAR, NULL },
        /* a URL */
        { "store.test", "PUT /in/a", "x-ms-copy-source: http://store.test/in/b?sv=1", REASON_NONE, NULL },
        { "store.test", "PUT /in/a", "x-ms-copy-source: http://api.test/b", REASON_NONE, NULL },
        { "store.test", "PUT /in/a", "x-ms-copy-source: http://store.test/secret", REASON_SOURCE_HEADER,
          "net http://store.test/secret GET with key" },
        { "store.test", "PUT /in/a", "x-ms-copy-source: https://store.test/in/b", REASON_SOURCE_HEADER,
          "net https://store.test/in/b GET with key" },
        { "store.test", "PUT /in/a", "x-ms-copy-source: http://store.test:81/in/b", REASON_SOURCE_HEADER,
          "net http://store.test:81/in/b GET with key" },
        { "store.test", "PUT /in/a", "x-ms-copy-source: http://u@store.test/in/b", REASON_SOURCE_UNCLEAR,
          NULL },
        { "store.test", "PUT /in/a", "x-ms-copy-source: //store.test/in/b", REASON_SOURCE_UNCLEAR, NULL },
        { "store.test", "PUT /in/a", "x-ms-source-if-match: x", REASON_NONE, NULL },
        /* what moves away is deleted there */
        { "s3.test", "PUT /dav/a", "x-ms-rename-source: /dav/b", REASON_NONE, NULL },
        { "s3.test", "PUT /dav/a", "x-ms-rename-source: /in/b", REASON_SOURCE_HEADER, NULL },
        { "s3.test", "PUT /dav/a", "x-ms-file-rename-source: http://s3.test/in/b", REASON_SOURCE_HEADER,
          NULL },
        /* a container of an account */
        { "s3.test", "PUT /v1/me/box/a", "X-Copy-From: /box/b", REASON_NONE, NULL },
        { "s3.test", "PUT /v1/me/box/a", "X-Copy-From: other/b", REASON_SOURCE_HEADER,
          "net http://s3.test/v1/me/other/b GET with key" },
        { "s3.test", "PUT /v1/me/box/a", "X-Copy-From: box/b\r\nX-Copy-From-Account: you",
          REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /v1/me/box/a", "X-Object-Manifest: other/b", REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /v1/me/box/a", "X-Symlink-Target: other/b", REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /in/a", "x-oss-callback: e30=", REASON_SOURCE_UNCLEAR, NULL },
        /* conditions on others */
        { "s3.test", "PUT /out/a", "If: (<t>)", REASON_NONE, NULL },
        { "s3.test", "PUT /out/a", "If: </out/a> (<t> [\"e\"])", REASON_NONE, NULL },
        { "s3.test", "PUT /out/a", "If: <http://s3.test/seen/b> (<t>)", REASON_NONE, NULL },
        { "s3.test", "PUT /out/a", "If: </out/a> (<t>) </secret> ([\"e\"])", REASON_SOURCE_HEADER, NULL },
        { "s3.test", "PUT /out/a", "If: <secret", REASON_SOURCE_UNCLEAR, NULL },
        /* another method, another path */
        { "api.test", "GET /a", "X-HTTP-Method-Override: get", REASON_NONE, NULL },
        { "api.test", "GET /a", "X-HTTP-Method-Override: PUT", REASON_METHOD_HEADER, NULL },
        { "api.test", "GET /a", "X-Forwarded-Method: PUT", REASON_METHOD_HEADER, NULL },
        { "api.test", "GET /a", "X-Original-Method: PUT", REASON_METHOD_HEADER, NULL },
        { "api.test", "GET /a", "X-Forwarded-Prefix: /admin", REASON_PATH_HEADER, NULL },
        { "api.test", "GET /a", "X-Sendfile-Type: x-accel-redirect", REASON_PATH_HEADER, NULL },
        { "api.test", "GET /a", "X-Accel-Mapping: /=/admin/", REASON_PATH_HEADER, NULL },
        { "api.test", "GET /a", "X-Forwarded-For: 10.0.0.1", REASON_NONE, NULL },
        /* parameters */
        { "s3.test", "PUT /in/a?x-amz-copy-source=in/b", "A: b", REASON_SOURCE_UNCLEAR, NULL },
        { "s3.test", "PUT /in/a?c&X-Ms-Copy%2dSource=in/b", "A: b", REASON_SOURCE_UNCLEAR, NULL },
        { "api.test", "GET /a?X-HTTP-Method-Override=PUT", "A: b", REASON_METHOD_PARAMETER, NULL },
        { "api.test", "GET /a?x-rewrite-url=/b", "A: b", REASON_SOURCE_UNCLEAR, NULL },
        { "api.test",
          "GET /a?%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20"
          "%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20_method=a",
          "A: b", REASON_METHOD_PARAMETER, NULL },
        { "api.test", "GET /a?destination=/b&if=c&x-id=GetObject", "A: b", REASON_NONE, NULL },
};

static void test_named__a_second_resource_is_behind_a_door_too(void)
{
        for (size_t i = 0; i < COUNT(rows); i++) {
                const struct row *w = &rows[i];
                struct rig g;
                AUTO_BUF(request);
                if (!rig_start(&g, &(struct rig_in){ .policy = doors,
                                                     .credentials = credentials,
                                                     .credential_count = COUNT(credentials),
                                                     .host = w->host,
                                                     .stage = POLICY_STAGE_LIVE }))
                        return;
                buf_printf(&request, "%s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", w->line, w->host, w->field);
                rig_client(&g, buf_span(&request), 0);
                enum effect_reason why = g.event_count ? rig_last(&g)->reason : REASON_NONE;
                if (why != w->reason)
                        printf("# row %zu: %s, %s\n", i, w->field, effect_reason_name(why));
                CHECK_INT(why, w->reason);
                CHECK_INT(g.connects, w->reason == REASON_NONE);
                if (w->permit)
                        CHECK_STR(rig_last(&g)->permit, w->permit);
                rig_end(&g);
        }
}

/* A host that a field names never gets through, and the request does. */
static void test_named__a_second_host_is_dropped(void)
{
        static const char *const names[] = { "Forwarded",       "Proxy",  "X-Forwarded-Host",  "X-Host",
                                             "X-Original-Host", "x_host", "X-Forwarded-Server" };
        for (size_t i = 0; i < COUNT(names); i++) {
                struct rig g;
                AUTO_BUF(request);
                if (!rig_start(&g, &(struct rig_in){ .policy = "net http://api.test/** GET\n",
                                                     .stage = POLICY_STAGE_LIVE }))
                        return;
                buf_printf(&request, "GET /a HTTP/1.1\r\nHost: api.test\r\n%s: evil.test\r\n\r\n", names[i]);
                rig_client(&g, buf_span(&request), 0);
                CHECK_INT(g.connects, 1);
                CHECK(!holds(&g.to_upstream, "evil.test"));
                rig_end(&g);
        }
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_named__a_second_resource_is_behind_a_door_too),
                CASE(test_named__a_second_host_is_dropped),
        };
        return test_main(cases, COUNT(cases));
}
