/* SPDX-License-Identifier: MIT */
/* Methods that a posted body asks for: each spelling that a framework takes, and none that is only text.
 * Every body goes through whole and a byte at a time. */
#include "test_egress_common.h"

#include <time.h>

#define POST(type, n, body) "POST /x HTTP/1.1\r\nHost: api.test\r\n" type "Content-Length: " n "\r\n\r\n" body

static const char policy[] = "use none\nnet http://api.test/** GET POST PATCH\n";

/* True: all of it reached the server. */
static bool passes(const char *doors, const char *type, const char *body, bool chunked, size_t cut)
{
        struct rig g;
        struct rig_in in = { .policy = doors, .stage = POLICY_STAGE_LIVE };
        AUTO_BUF(request);
        CHECK(rig_start(&g, &in));
        buf_printf(&request, "POST /x HTTP/1.1\r\nHost: api.test\r\n%s%s%s", type ? "Content-Type: " : "",
                   type ? type : "", type ? "\r\n" : "");
        if (chunked)
                buf_printf(&request, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n%s\r\n0\r\n\r\n", strlen(body),
                           body);
        else
                buf_printf(&request, "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
        rig_client(&g, buf_span(&request), cut);
        bool whole =
                g.to_upstream.n && strstr(buf_str(&g.to_upstream), chunked ? "\r\n0\r\n\r\n" : body) != NULL;
        bool refused = strstr(buf_str(&g.to_client), "HTTP/1.1 403") ||
                       strstr(buf_str(&g.to_client), "HTTP/1.1 400");
        CHECK(whole != refused);
        if (refused && g.to_upstream.n)
                CHECK(http_flow_upstream_cut(g.flow)); /* half a request is not taken for the whole */
        rig_end(&g);
        return whole;
}

static const char form[] = "application/x-www-form-urlencoded", json[] = "application/json",
                  parts[] = "multipart/form-data; boundary=xYz",
                  quoted[] = "Multipart/Mixed;a=b; Boundary=\"x Y\"";

#define PART(head, body) "--xYz\r\n" head "\r\n\r\n" body "\r\n--xYz--\r\n"
#define NAME(n)          "Content-Disposition: form-data; name=" n

static const struct {
        const char *type, *body;
        bool passes;
} rows[] = {
        { form, "_method=DELETE", false },
        { form, "a=b&_method=DELETE", false },
        { form, "a=b;_method=delete", false },
        { form, "_method=DELETE&a=b", false },
        { form, "_METHOD=Put", false },
        { form, "%5fmethod=DELETE", false },
        { form, "_met%68od=%44ELETE", false },
        { form, ".method=DELETE", false },
        { form, "+method=DELETE", false },
        { form, "__method=DELETE", false },
        { form, "_method%00x=DELETE", false },
        { form, "_method%00%zz=DELETE", false }, /* to PHP the name ended before */
        { form, "_method%00%=DELETE", false },
        { form, "_method%00%0=DELETE", false },
        { form, "a=%&_method=DELETE", false },
        { form, "_method%=DELETE", true },
        { form, "_method=+DELETE+", false },
        { form, "_method=DELETE%20", false },
        { form, "_method=PATCH&_method=DELETE", false },
        { form, "_method=DEL%zzETE", false },
        { form, "_method=PATC%zH", false },
        { form, "_method=PATC%H", false }, /* what is left without it would pass */
        { form, "_method=a-word-that-is-far-too-long-for-a-method", false },
        { form, "_method=nonsense", false },
        { NULL, "_method=DELETE", false }, /* no type: some take it for a form */
        { NULL, "hello", true },
        { "application/x-www-form-urlencoded; charset=utf-8", "_method=DELETE", false },
        { form, "[_method]=DELETE", false }, /* brackets that a parser of nested names leaves out */
        { form, "_method]=DELETE", false },
        { form, "_method[]=DELETE", false },
        { form, "%5B_method%5D=DELETE", false },
        { form, "\xef\xbb\xbf_method=DELETE", false }, /* a byte order mark, which Express takes off */
        { "text/x-www-form-urlencoded", "_method=DELETE", false }, /* some look for a part of the type only */
        { "application/x-url-encoded", "_method=DELETE", false },
        { "application/x-url-encoded", "_method=nonsense", false },
        { "application/x-www-form-urlencoded, text/plain", "_method=DELETE",
          false }, /* to PHP it ends there */
        { "application/x-www-form-urlencoded text/plain", "_method=DELETE", false },
        { "application/x-www-form-urlencoded; charset=ibm037", "a=b", false }, /* bytes that are no ASCII */
        { "application/x-www-form-urlencoded; charset=utf-8; charset=utf-16", "a=b", false },
        { "application/json; charset=utf-16", "{}", false },
        { "application/json; charset=utf", "{}", false },
        { "application/json; charset=", "{}", false },
        { "application/x-www-form-urlencoded; a=/json", "a=b", false },
        { "application/x-www-form-urlencoded; a=/json", "{\"_method\":\"DELETE\"}", false },
        { "text/plain; a=/json", "{\"_method\":\"DELETE\"}", false },
        { "application/json, text/plain", "{\"_method\":\"DELETE\"}", false },
        { "application/x-www-form-urlencoded; charset=\"UTF-8\"", "a=b", true },
        { "text/plain; charset=utf-16", "a=b", true },
        { form, "_method=PATCH", true }, /* the door permits it */
        { form, "_method=post", true },
        { form, "_method=", true },
        { form, "_method", true },
        { form, "method=DELETE", true },
        { form, "x_method=DELETE", true },
        { form, "_methods=DELETE", true },
        { form, "_m=DELETE", true },
        { form, "_secret=DELETE", true },
        { form, "_met_hod=DELETE", true },
        { form, "_met%09hod=DELETE", true },
        { form, "_met?hod=DELETE", true },
        { form, "_methods[]=DELETE", true },
        { form, "a=_method%3dDELETE", true },
        { form, "a=_method=DELETE", true },
        { form, "text=the+_method+is+DELETE", true },
        { form, "?_method=DELETE", false }, /* URLSearchParams takes it off */
        { form, "_method[0]=DELETE", false },
        { form, "_method[a][b]=DELETE", false },
        { form, "_method[]x=DELETE", false },
        { form, "%09_method%0A=DELETE", false },
        { form, "_method%20=DELETE", false },
        { form, "_method%0D=DELETE", false },
        { form, "a[_method]=DELETE", true },
        { form, "a?_method=DELETE", true },
        { "text/plain", "_method=DELETE", false }, /* Bottle takes every body for a form */
        { "application/octet-stream", "a&_method=delete", false },
        { "application/x-ndjson", "x;_METHOD=%44ELETE;", false },
        { "text/plain", "_method=PATCH", true },
        { "text/plain", "data + '&_method=' + method", true }, /* the text of a program */
        { "text/x-ruby", "x;_method = DELETE if a", true },
        { "text/plain", "_method=DELETE-EVERYTHING-THAT-IS-THERE", true },
        { "text/plain", "_method=DELETE\r\na=b\r\n", true },
        { "text/plain", "_method is DELETE", true },
        { "text/plain", "\"_method\":\"DELETE\"", true },
        { "text/plain", "{\"_method\":\"DELETE\"}", false }, /* and many a script for JSON */
        { "text/plain", "\xef\xbb\xbf {/*\"*/\"a\":1, //\"\n\"_method\":\"DELETE\"}", false },
        { "text/plain", "/*\"*/{\"_method\":\"DELETE\"}", false },
        { "text/plain", "{\"a\":1, //x\"\n\"_method\":\"DELETE\"}", false },
        { "text/plain", "{/*x\"*/\"_method\":\"DELETE\"}", false },
        { "text/plain", "{/**x\"*/\"_method\":\"DELETE\"}", false },
        { "text/plain", "{/*/\"*/\"_method\":\"DELETE\"}", false },
        { "text/plain", "/usr/lib/_method=DELETE", true },
        { "text/css", "{ _method: \"DELETE\" } /* it's */", true },
        { "application/x-json", "{\"_method\":\"DELETE\"}", false }, /* formidable looks for the word only */
        { "application/csp-report", "{\"_method\":\"DELETE\"}", false }, /* JSON to Koa */
        { "application/csp-report", "{\"_method\":\"nonsense\"}", false },
        { NULL, "{\"_method\":\"DELETE\"}", false },
        { form, "{\"_method\":\"DELETE\"}", false },
        { form, "{\"_method\":\"PATCH\"}", true },
        { json, "{\"a\":1,/*\"*/\"_method\":\"DELETE\"/*\"*/}", false }, /* Ruby reads over comments */
        { json, "{\"a\":1,#\"\n\"_method\":\"DELETE\"}", false },
        { json, "{'a':1}", false },
        { json, "{\"a\":\"it's /* here */ #1\"}", true },
        { json, "{\"_method\":[\"PATCH\",\"DELETE\"]}", false },
        { json, "{\"_method\":[\"PATCH\"],\"a\":[\"DELETE\"]}", true },
        { "application/x-www-form-urlencoded, multipart/form-data; boundary=xYz", "a=b", false },
        { json, "{\"_method\":\"DELETE\"}", false },
        { json, " { \"a\" : {\"b\":[1,2]} , \"_method\" : \"delete\" }", false },
        { json, "{\"\\u005fmethod\":\"\\u0044ELETE\"}", false },
        { json, "{\"_method\":\"PATCH\",\"_method\":\"DELETE\"}", false },
        { json, "{\"a\":\"\\\"\",\"_method\":\"PUT\"}", false },
        { "application/vnd.api+json; charset=utf-8", "{\"_method\":\"DELETE\"}", false },
        { "application/vnd.api+json", "{\"_method\":\"nonsense\"}", false },
        { json, "}{\"_method\":\"DELETE\"}", false },    /* a bracket too many closes nothing */
        { json, "{\"a\":\"&_method=DELETE&\"}", false }, /* to those who take every body for a form */
        { json, "{\"a\":\"x;%20%5Fmethod=put;\"}", false },
        { json, "{\"a\":[{\"b\":\"x&_method=DELETE\"}]}", false }, /* however deep, and to the end */
        { json, "_method=DELETE", false },
        { json, "{\"a\":\"&_method=PATCH&\"}", true },
        { json, "{\"a\":\"text/calendar; method=REQUEST; charset=utf-8\"}", true }, /* prose */
        { json, "{\"a\":\"\\u0026_method=DELETE\"}", true },
        { json, "{\"_method\":\"PATCH\"}", true },
        { json, "{\"_method\":null,\"a\":\"DELETE\"}", true },
        { json, "{\"_method\":{\"a\":\"DELETE\"}}", true },
        { json, "{\"a\":{\"_method\":\"DELETE\"}}", true }, /* a member of a member */
        { json, "[{\"_method\":\"DELETE\"}]", true },
        { json, "{\"a\":\"_method\",\"b\":\"DELETE\"}", true },
        { json, "{\"a\":\"\\\"_method\\\":\\\"DELETE\\\"\"}", true },
        { json, "\"_method\":\"DELETE\"", true },
        { json, "{\"_method", true }, /* broken: no server reads it */
        { parts, PART(NAME("\"_method\""), "DELETE"), false },
        { parts, PART(NAME("_method"), "put"), false },
        { parts, PART("content-disposition:form-data;NAME=\"_meth\\od\"", "DELETE"), false },
        { parts, PART("Content-Disposition: form-data;\r\n name=\"_method\"", "DELETE"), false },
        { parts, PART("Content-Disposition: form-data; name*=UTF-8''%5fmethod", "DELETE"), false },
        { parts, PART(NAME("\"a\"; name=\"_method\""), "DELETE"), false },
        { parts, PART("X: y\r\n" NAME("\"_method\"") "\r\nContent-Type: text/plain", "DELETE"), false },
        { parts, "--xYz\n" NAME("\"_method\"") "\n\nDELETE\n--xYz--", false },
        { parts, "--xYz\r\n" NAME("\"_method\"") "\r\n\r\nDELETE", false }, /* no end */
        { parts, PART(NAME("\"_method\""), "DEL\r\nETE"), false },
        { parts, PART(NAME("\"_method\""), "PAT\r\nCH"), false },
        { parts, PART(NAME("\"a\""), "x") "--xYz\r\n" NAME("\"_method\"") "\r\n\r\nDELETE\r\n--xYz--\r\n",
          false },
        { quoted, "--x Y\r\n" NAME("\"_method\"") "\r\n\r\nDELETE\r\n--x Y--\r\n", false },
        { quoted, "--x Y\r\n" NAME("\"a\"") "\r\n\r\nDELETE\r\n--x Y--\r\n", true },
        { "multipart/form-data", PART(NAME("\"a\""), "x"), false }, /* where do they end? */
        { "multipart/form-data", "x", false },
        { "multipart/form-data; boundary=other; boundary=xYz", "x", false },
        { "multipart/form-data; boundary =other; boundary=xYz", "x", false },
        { "multipart/form-data; boundary=\"x;Yz\"", "x", false },
        { "multipart/form-data; boundary=other; boundary=xYz", PART(NAME("\"_method\""), "DELETE"), false },
        { "multipart/form-data; boundary =other; boundary=xYz",
          "--other\r\n" NAME("\"_method\"") "\r\n\r\nDELETE\r\n--other--\r\n", false },
        { "multipart/form-data; xboundary=other; boundary=xYz", PART(NAME("\"_method\""), "DELETE"), false },
        { "multipart/related; boundary=xYz; type=\"application/json\"", PART(NAME("\"a\""), "{}"), true },
        { "multipart/related; boundary=xYz; type=\"application/json\"", PART(NAME("\"_method\""), "DELETE"),
          false },
        { "multipart/form-data; boundary=xYz; a=/json", " {\"_method\":\"DELETE\"}", false },
        { "multipart/form-data; xboundary=xYz", PART(NAME("\"a\""), "x"), false },
        { "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk",
          "------WebKitFormBoundary7MA4YWxk\r\n" NAME(
                  "\"a\"") "\r\n\r\nx\r\n------WebKitFormBoundary7MA4YWxk--\r\n",
          true },
        { "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk",
          "------WebKitFormBoundary7MA4YWxk\r\n" NAME(
                  "\"_method\"") "\r\n\r\nDELETE\r\n------WebKitFormBoundary7MA4YWxk--\r\n",
          false },
        { "multipart/form-data; boundary=\"a;boundary=xYz\"", PART(NAME("\"a\""), "x"), false },
        { "multipart/form-data; boundary=xYz charset=utf-8", PART(NAME("\"a\""), "x"), true },
        { "multipart/form-data; boundary=\"xYz", PART(NAME("\"a\""), "x"), false },
        { "multipart/form-data; boundary=aboundary=xYz", PART(NAME("\"a\""), "x"), false },
        { parts, PART(NAME("\"a\"; filename=\"my name*.txt\""), "x"), true },
        { parts, PART(NAME("\"a\"; name*0=_met"), "x"), false },
        { "application/connect+json", "{\"a\":1}", true },
        { "application/connect+json", "{\"_method\":\"DELETE\"}", false },
        { "text/plain", "a;\n_method = method;\n", true },
        { "text/plain", "_method=DELETE", false },
        { "multipart/form-data; boundary=\"x\\Yz\"", PART(NAME("\"_method\""), "DELETE"), false },
        { "multipart/form-data; boundary=\"x\\Yz\"", "x", false },
        { parts, PART("Content-Disposition: form-data; a=\"; name=\"; name=\"_method\"", "DELETE"), false },
        { parts, PART("Content-Disposition: form-data; name=\r\n \"_method\"", "DELETE"), false },
        { parts, PART("Content-Disposition: form-data; name*0=_met; name*1=hod", "DELETE"), false },
        { parts, PART(NAME("\"[_method]\""), "DELETE"), false },
        { parts, PART(NAME("'_method'"), "DELETE"), false },       /* PHP knows both quotes */
        { parts, PART(NAME("\"_met\r\nhod\""), "DELETE"), false }, /* PHP: no colon, so it goes on */
        { parts, PART("Content-Disposition: form-data;\r\n\fname=_method; a=:", "DELETE"), false },
        { parts, PART(NAME("_method\v; a=b"), "DELETE"), false },
        { parts, PART("Content-Disposition: form-data;\vname=_method", "DELETE"), false },
        { parts, PART(NAME("\"_method\"\r\n--xYz"), "DELETE"), false }, /* no end of a part inside a head */
        { parts, PART(NAME("\"_method\"\r\n--xYzw: a"), "DELETE"), false },
        { parts, PART("Content-ID: _method", "DELETE"), false }, /* a name to Rack */
        { parts, PART("Content-ID:\r\n _method", "DELETE"), false },
        { parts, PART("Content-Disposition: form-data; n ame=_met\"hod\"", "DELETE"), false }, /* busboy */
        { parts, PART(NAME("\"a\";\tb=c"), "DELETE"), true },
        { parts, PART(NAME("\"a\x01\""), "DELETE"), false },
        { parts, PART("Content-Disposition: form-data; name*=UTF-8''file", "DELETE"), true },
        { parts, PART("X-Content-Disposition: form-data; name=\"_method\"", "DELETE"), false }, /* and this */
        { parts, PART("Content-Disposition: form-data\r\nX; name=\"_method\": a", "DELETE"), false },
        { parts, PART("Content-Disposition: form-data; x,name=_method", "DELETE"), false }, /* formidable */
        { parts, "--xYz\r" NAME("\"_method\"") "\r\rDELETE\r--xYz--\r", false }, /* Werkzeug's lines */
        { parts, "a\r--xYz\r\n" NAME("\"_method\"") "\r\n\r\nDELETE\r\n--xYz--\r\n", false },
        { parts, PART(NAME("_method:a"), "DELETE"), false }, /* to formidable it ends at any sign */
        { parts, PART(NAME("_method[a]"), "DELETE"), false },
        { parts, PART(NAME("\"\"_method\"\""), "DELETE"), false }, /* Tornado takes quotes off twice */
        { parts, PART(NAME("\"<_method>\""), "DELETE"), false },
        { parts, PART(NAME("\"\t_method\""), "DELETE"), false }, /* Django all space */
        { parts, PART(NAME("\" _method \""), "DELETE"), false },
        { parts, NAME("\"_method\"") "\r\n\r\nDELETE\r\n--xYz--\r\n", false }, /* the first part to Django */
        { parts, "--XyZ\r\n" NAME("\"_method\"") "\r\n\r\nDELETE", false },
        { parts, NAME("\"_meth\\od\"") "\r\n\r\nDELETE\r\n--xYz--\r\n", false },
        { parts, "Content-ID: \"_meth\\od\"\r\n\r\nDELETE\r\n--xYz--\r\n", false },
        { parts, "before--xYz\r\n" NAME("\"_method\"") "\r\n\r\nDELETE", false }, /* and to Werkzeug */
        { parts, "---xYz\r\n" NAME("\"_method\"") "\r\n\r\nDELETE", false },
        { parts,
          "--xYz\r\n" NAME("\"a\"") "\r\n\r\nb--xYz\r\n" NAME("\"_method\"") "\r\n\r\nDELETE\r\n--xYz--",
          false },
        { "multipart/form-data; boundary=a--a--b", "x\r\n--a--a--a--b\r\n", false },
        { "multipart/form-data; boundary=a--a--b", "x\r\n--a--a--a--\r\nb--a--a\r\n", true },
        { parts, PART(NAME("=_method"), "DELETE"), false },                        /* PHP */
        { parts, "--xYz" NAME("\"_method\"") "\r\n\r\nDELETE\r\n--xYz--", false }, /* busboy */
        { parts, PART("\r\n" NAME("\"_method\""), "DELETE"), false },              /* Rack and Werkzeug */
        { parts, PART(NAME("\"a\""), "x") NAME("\"_method\"") "\r\n\r\nDELETE", false }, /* Django */
        { parts, "--xYz \t\r\n" NAME("\"a\"") "\r\n\r\nb\r\n--xYz-- \r\n", true },
        { "multipart/mixed; boundary=xYz", "--xYz\r\n\r\nno head\r\n--xYz--", true },
        { parts, "\r\n{\"_method\":\"DELETE\"}", false }, /* in no parts */
        { parts, "\r\n{\"\\u005fmethod\":\"DELETE\"}", false },
        { parts, "{\"\\u005fmethod\":\"DELETE\"}", false },
        { parts, "a=b&_method=DELETE", false },
        { parts, PART(NAME("\"a\""), "{\"_method\":\"DELETE\"}"), true },
        { parts, PART(NAME("\"a_method\""), "DELETE"), true },
        { parts, PART(NAME("\"_method.rb\"; filename=\"_method.rb\""), "DELETE"), true },
        { "x/multipart; boundary=xYz", PART(NAME("\"_method\""), "DELETE"), false },
        { parts, PART(NAME("\"file\"") "\r\nContent-Type: text/plain;\r\n charset=utf-8", "a\rb\r\rc"),
          true },
        { parts, "before\r\n" PART(NAME("\"file\"") "\r\nContent-ID: <a@b>", "a: b") "after", true },
        { parts, PART(NAME("\"_method\""), "PATCH"), true },
        { parts, PART(NAME("\"a\"; filename=\"_method\""), "DELETE"), true },
        { parts, PART(NAME("\"a\"; file_name=\"_method\""), "DELETE"), true },
        { parts, PART(NAME("\"a\"; size=\"_method\""), "DELETE"), true },
        { parts, PART(NAME("_method9"), "DELETE"), true },
        { parts, PART(NAME("\"file\""), "name=\"_method\"\r\n\r\nDELETE"), true }, /* the text of a file */
        { parts, PART(NAME("\"file\""), "--xYa\r\n" NAME("\"_method\"") "\r\n\r\nDELETE"), true },
        { parts, PART(NAME("\"file\""), "--xY\r\n" NAME("\"_method\"") "\r\n\r\nDELETE"),
          true }, /* not the boundary */
};

static void test_form__no_spelling_asks_for_another_method(void)
{
        for (size_t i = 0; i < COUNT(rows); i++)
                for (size_t cut = 0; cut < 3; cut++)
                        for (int chunked = 0; chunked < 2; chunked++) {
                                bool got = passes(policy, rows[i].type, rows[i].body, chunked, cut);
                                if (got != rows[i].passes)
                                        printf("# %s: %s (cut %zu, chunked %d)\n",
                                               rows[i].type ? rows[i].type : "", rows[i].body, cut, chunked);
                                CHECK_INT(got, rows[i].passes);
                        }
}

static void test_form__a_door_for_all_methods_lets_a_form_choose(void)
{
        CHECK(passes("use none\nnet http://api.test/**\n", form, "_method=DELETE", false, 0));
        /* Nobody looks for one in what is not posted, or not there. */
        struct rig g;
        CHECK(rig_start(&g, &(struct rig_in){ .policy = policy, .stage = POLICY_STAGE_LIVE }));
        rig_client(&g, span_str(POST("Content-Type: multipart/form-data\r\n", "0", "")), 0);
        CHECK(holds(&g.to_upstream, "POST /x"));
        rig_end(&g);
        CHECK(rig_start(&g, &(struct rig_in){ .policy = policy, .stage = POLICY_STAGE_LIVE }));
        rig_client(
                &g,
                span_str("PATCH /x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 14\r\n\r\n_method=DELETE"),
                0);
        CHECK(holds(&g.to_upstream, "\r\n\r\n_method=DELETE"));
        rig_end(&g);
        /* Another door permits it, but this request goes through this one. */
        CHECK(!passes("use none\nnet http://api.test/** DELETE\nnet http://api.test/x POST\n", form,
                      "_method=DELETE", false, 0));
}

/* What does not fit is not looked at by halves. */
static void test_form__heads_and_boundaries_that_are_too_long(void)
{
        static const struct {
                size_t length;
                bool boundary, passes;
        } lengths[] = {
                { 199, true, true }, { 200, true, false }, { 900, false, true }, { 1100, false, false }
        };
        for (size_t i = 0; i < COUNT(lengths); i++) {
                char x[1101] = "";
                AUTO_BUF(type);
                AUTO_BUF(body);
                memset(x, 'x', lengths[i].length);
                const char *end = lengths[i].boundary ? x : "end";
                buf_printf(&type, "multipart/form-data; boundary=%s", end);
                buf_printf(&body, "--%s\r\n" NAME("\"%s\"") "\r\n\r\nv\r\n--%s--\r\n", end,
                           lengths[i].boundary ? "a" : x, end);
                CHECK_INT(passes(policy, buf_str(&type), buf_str(&body), false, 0), lengths[i].passes);
        }
}

static double seconds_for(const char *word)
{
        struct rig g;
        CHECK(rig_start(&g, &(struct rig_in){ .policy = policy, .stage = POLICY_STAGE_LIVE }));
        rig_client(
                &g,
                span_str(POST("Content-Type: multipart/form-data; boundary=end\r\n", "9999999", "--end\r\n")),
                0);
        AUTO_BUF(line);
        buf_puts(&line, "x:");
        while (line.n + strlen(word) < 1000)
                buf_puts(&line, word);
        buf_puts(&line, "\r\n");
        clock_t from = clock();
        for (unsigned i = 0; i < 500; i++)
                rig_client(&g, buf_span(&line), 0);
        CHECK(!http_flow_done(g.flow));
        rig_end(&g);
        return (double) (clock() - from) / CLOCKS_PER_SEC;
}

/* Whoever sends them spends a microsecond on each. */
static void test_form__lines_full_of_names_take_no_longer(void)
{
        double plain = seconds_for("abcd="), names = seconds_for("name=");
        if (names >= 10 * plain)
                printf("# %f s, and %f s with names\n", plain, names);
        CHECK(names < 10 * plain);
}

static void test_form__two_types_are_none(void)
{
        struct rig g;
        struct rig_in in = { .policy = policy, .stage = POLICY_STAGE_LIVE };
        CHECK(rig_start(&g, &in));
        rig_client(
                &g,
                span_str(POST("Content-Type: text/plain\r\nContent-Type: application/json\r\n", "2", "{}")),
                0);
        CHECK(strstr(buf_str(&g.to_client), "HTTP/1.1 400"));
        CHECK_INT(g.to_upstream.n, 0);
        rig_end(&g);
}

/* A type that we read and the server does not get: without one, some take the body for a form. */
static void test_form__a_type_that_does_not_arrive(void)
{
        static const char *const fields[] = {
                "Content-Type: text/plain\r\nConnection: content-type\r\n",
                "Content-Type: text/plain\r\nConnection: close, CONTENT-TYPE\r\n",
                "Content_Type: text/plain\r\n",
                "Content.Type: text/plain\r\n",
                "Content-Type: text/plain\r\nConnection: content-encoding\r\nContent-Encoding: gzip\r\n",
        };
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
                struct rig g;
                struct rig_in in = { .policy = policy, .stage = POLICY_STAGE_LIVE };
                char text[400];
                CHECK(rig_start(&g, &in));
                (void) snprintf(text, sizeof text, POST("%s", "14", "_method=DELETE"), fields[i]);
                rig_client(&g, span_str(text), 0);
                CHECK(strstr(buf_str(&g.to_client), "HTTP/1.1 400"));
                CHECK_INT(g.to_upstream.n, 0);
                rig_end(&g);
        }
}

/* A server that undoes the coding would read what we cannot. */
static void test_form__a_coded_form_is_refused(void)
{
        static const struct {
                const char *doors, *fields;
                bool passes;
        } coded[] = {
                { policy, "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", false },
                { policy, "Content-Type: application/json\r\ncontent_encoding: x-gzip\r\n", false },
                { policy, "Content-Encoding: deflate\r\n", false },
                { policy, "Content-Type: ;charset=utf-8\r\nContent-Encoding: gzip\r\n", false },
                { policy, "Content-Type: multipart/form-data; boundary=x\r\nContent-Encoding: br\r\n",
                  false },
                { policy, "Content-Type: application/x-www-form-urlencoded\r\nContent-Encoding: new\r\n",
                  false },
                { policy, "Content-Type: application/json\r\nContent-Encoding: identity, gzip\r\n", false },
                { policy,
                  "Content-Type: application/json\r\nContent-Encoding: identity\r\nContent-Encoding: "
                  "zstd\r\n",
                  false },
                { policy, "Content-Type: application/json\r\nContent-Encoding: Identity\r\n", true },
                { policy, "Content-Type: application/json\r\nContent-Encoding:\r\n", true },
                { policy, "Content-Type: application/x-git-upload-pack-request\r\nContent-Encoding: gzip\r\n",
                  true },
                { policy, "Content-Type: application/x-protobuf\r\nContent-Encoding: gzip\r\n", true },
                { "use none\nnet http://api.test/**\n",
                  "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", true },
        };
        for (size_t i = 0; i < COUNT(coded); i++) {
                struct rig g;
                struct rig_in in = { .policy = coded[i].doors, .stage = POLICY_STAGE_LIVE };
                AUTO_BUF(request);
                CHECK(rig_start(&g, &in));
                buf_printf(&request,
                           "POST /x HTTP/1.1\r\nHost: api.test\r\n%sContent-Length: 2\r\n\r\n\x1f\x8b",
                           coded[i].fields);
                rig_client(&g, buf_span(&request), 0);
                if ((g.to_upstream.n > 0) != coded[i].passes)
                        printf("# %s\n", coded[i].fields);
                CHECK_INT(g.to_upstream.n > 0, coded[i].passes);
                CHECK_INT(strstr(buf_str(&g.to_client), "HTTP/1.1 400") != NULL, !coded[i].passes);
                rig_end(&g);
        }
}

static void test_form__wide_characters_are_no_json(void)
{
        static const char wide[] = "{\0\"\0_\0m\0\"\0:\0\"\0x\0\"\0}\0";
        struct rig g;
        struct rig_in in = { .policy = policy, .stage = POLICY_STAGE_LIVE };
        CHECK(rig_start(&g, &in));
        rig_client(&g, span_str(POST("Content-Type: application/json\r\n", "22", "")), 0);
        rig_client(&g, span_of(wide, sizeof wide - 1), 0);
        CHECK(strstr(buf_str(&g.to_client), "HTTP/1.1 403"));
        CHECK(http_flow_upstream_cut(g.flow));
        rig_end(&g);
}

static const struct test_case cases[] = {
        CASE(test_form__no_spelling_asks_for_another_method),
        CASE(test_form__a_door_for_all_methods_lets_a_form_choose),
        CASE(test_form__heads_and_boundaries_that_are_too_long),
        CASE(test_form__lines_full_of_names_take_no_longer),
        CASE(test_form__two_types_are_none),
        CASE(test_form__a_type_that_does_not_arrive),
        CASE(test_form__a_coded_form_is_refused),
        CASE(test_form__wide_characters_are_no_json),
};

int main(void) { return test_main(cases, sizeof cases / sizeof *cases); }
