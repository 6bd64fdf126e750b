/* SPDX-License-Identifier: MIT */
/* Schemas: cases of our own, documents and schemas that are made to take long, and the required part of the
 * public JSON-Schema-Test-Suite for draft 2020-12: Debian's copy, or the one that $CORDON_SCHEMA_SUITE names.
 */
#include "base/buf.h"
#include "base/fd.h"
#include "harness.h"
#include "output/schema.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static int check(const char *schema, const char *data, struct err *e)
{
        *e = (struct err){ 0 };
        struct schema *s = schema_new("s", span_str(schema), NULL, 0, SCHEMA_FORMATS, e);
        struct json_doc *d = s ? json_parse_data("d", span_str(data), e) : NULL;
        int r = !s || !d ? -2 : schema_check(s, d, SCHEMA_STEPS, e);
        json_free(d);
        schema_free(s);
        return r;
}

static void test_schema__a_document_fits_or_does_not(void)
{
        static const struct {
                const char *schema, *data;
                int want;
        } rows[] = {
                { "true", "1", 0 },
                { "false", "1", -1 },
                { "{}", "{\"a\":[]}", 0 },
                { "{\"type\":\"integer\"}", "1.0", 0 },
                { "{\"type\":\"integer\"}", "1e2", 0 },
                { "{\"type\":\"integer\"}", "1.5", -1 },
                { "{\"type\":\"integer\"}", "123456789012345678901234567890", 0 },
                { "{\"multipleOf\":0.01}", "19.99", 0 },
                { "{\"multipleOf\":0.01}", "19.999", -1 },
                { "{\"multipleOf\":0.0001}", "0.00751", -1 },
                { "{\"multipleOf\":3}", "1e400", -1 },
                { "{\"multipleOf\":5}", "1e400", 0 },
                { "{\"maximum\":0.1}", "0.1000000000000000000000000001", -1 },
                { "{\"const\":1}", "1.0", 0 },
                { "{\"const\":-0}", "0", 0 },
                { "{\"const\":{\"a\":1,\"b\":[2]}}", "{\"b\":[2.0],\"a\":1}", 0 },
                { "{\"maxLength\":2}", "\"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\"", 0 },
                { "{\"pattern\":\"^\\\\p{L}+$\"}", "\"\xc3\xa9t\xc3\xa9\"", 0 },
                { "{\"pattern\":\"^[0-9]{4}$\"}", "\"2026\\n\"", -1 },
                { "{\"format\":\"date\"}", "\"2024-02-29\"", 0 },
                { "{\"format\":\"date\"}", "\"2023-02-29\"", -1 },
                { "{\"format\":\"date-time\"}", "\"2026-11-17T23:59:60Z\"", 0 },
                { "{\"format\":\"ipv6\"}", "\"::ffff:1.2.3.4\"", 0 },
                { "{\"format\":\"ipv6\"}", "\"1::2::3\"", -1 },
                { "{\"format\":\"uuid\"}", "\"2eb8aa08-aa98-11ea-b4aa-73b441d16380\"", 0 },
                { "{\"format\":\"email\"}", "\"a..b@example.com\"", -1 },
                { "{\"format\":\"wine\"}", "\"anything\"", 0 },
                { "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}},\"required\":[\"a\"],"
                  "\"unevaluatedProperties\":false,\"$defs\":{\"n\":{\"type\":\"number\"}}}",
                  "{\"a\":1}", 0 },
                { "{\"properties\":{\"a\":true},\"unevaluatedProperties\":false}", "{\"a\":1,\"b\":2}", -1 },
                { "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}", "{\"type\":\"string\"}", 0 },
                { "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}", "{\"type\":\"strng\"}", -1 },
                { "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}",
                  "{\"properties\":{\"a\":{\"minLength\":-1}}}", -1 },
                /* schemas that do not load */
                { "{\"type\":\"strng\"}", "1", -2 },
                { "{\"$ref\":\"#/nowhere\"}", "1", -2 },
                { "{\"$ref\":\"https://example.com/other.json\"}", "1", -2 },
                { "{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}", "1", -2 },
                { "{\"pattern\":\"(a)\\\\1\"}", "1", -2 },
                { "{\"pattern\":\"(?=a)b\"}", "1", -2 },
                { "{\"minLength\":-1}", "1", -2 },
                { "{\"multipleOf\":0}", "1", -2 },
                { "{\"items\":[]}", "1", -2 },
                { "7", "1", -2 },
        };
        struct err e;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                int got = check(rows[i].schema, rows[i].data, &e);
                if (got != rows[i].want)
                        printf("# %s with %s: %s\n", rows[i].schema, rows[i].data, e.what);
                CHECK_INT(got, rows[i].want);
        }
}

static void test_schema__a_failure_names_the_place_and_the_keyword(void)
{
        struct err e;
        CHECK_INT(check("{\"properties\":{\"a/b\":{\"items\":{\"type\":\"number\"}}}}",
                        "{\"x\":0,\n \"a/b\":[1, 2, \"three\"]}", &e),
                  -1);
        CHECK_STR(e.what, "2:15: /a~1b/2 does not fit `type` of the schema");
}

static void repeat(struct buf *b, const char *text, size_t n)
{
        for (size_t i = 0; i < n; i++)
                buf_puts(b, text);
}

static void test_schema__nothing_takes_longer_than_its_steps(void)
{
        struct err e;
        CHECK_INT(check("{\"$ref\":\"#\"}", "1", &e), -1); /* a loop */
        CHECK_INT(check("{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1", &e), -1);
        AUTO_BUF(bomb); /* 2^40 evaluations */
        buf_puts(&bomb, "{\"$defs\":{\"0\":true");
        for (int i = 1; i < 40; i++)
                buf_printf(&bomb, ",\"%d\":{\"allOf\":[{\"$ref\":\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"}]}",
                           i, i - 1, i - 1);
        buf_puts(&bomb, "},\"$ref\":\"#/$defs/39\"}");
        CHECK_INT(check(buf_str(&bomb), "1", &e), -1);
        CHECK(strstr(e.what, "too many steps"));
        AUTO_BUF(text); /* the classic of slow regular expressions */
        buf_puts(&text, "\"");
        repeat(&text, "a", 50000);
        buf_puts(&text, "!\"");
        CHECK_INT(check("{\"pattern\":\"^(a+)+$\"}", buf_str(&text), &e), -1);
        CHECK_INT(check("{\"pattern\":\"^(((((a{100}){100}){100})))$\"}", "1", &e), -2);
        CHECK_INT(check("{\"pattern\":\"(((()){1000}){1000}){1000}\"}", "1", &e), -2);
        AUTO_BUF(same); /* uniqueItems is not quadratic */
        buf_puts(&same, "[");
        for (int i = 0; i < 100000; i++)
                buf_printf(&same, "%d,", i);
        buf_puts(&same, "-1]");
        CHECK_INT(check("{\"uniqueItems\":true}", buf_str(&same), &e), 0);
        AUTO_BUF(deep);
        repeat(&deep, "[", 200);
        CHECK_INT(check("true", buf_str(&deep), &e), -2);
}

/* ---- the public suite ---- */

/* In libtest-json-schema-acceptance-perl. */
static const char debian[] = "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance";

struct suite {
        struct schema_text remotes[256];
        size_t n_remotes;
        unsigned passed, failed;
};

static char *read_file(const char *path, size_t *ret_n)
{
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC));
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0)
                return NULL;
        char *p = malloc((size_t) st.st_size + 1);
        ssize_t n = p ? fd_read_all(fd, p, (size_t) st.st_size) : -1;
        *ret_n = n < 0 ? 0 : (size_t) n;
        return p;
}

static void load_remotes(struct suite *s, const char *dir, const char *uri)
{
        DIR *d = opendir(dir);
        for (struct dirent *x; d && (x = readdir(d));) {
                char path[4096], name[4096];
                (void) snprintf(path, sizeof path, "%s/%s", dir, x->d_name);
                (void) snprintf(name, sizeof name, "%s/%s", uri, x->d_name);
                size_t n = strlen(x->d_name), bytes;
                if (x->d_type == DT_DIR && x->d_name[0] != '.')
                        load_remotes(s, path, name);
                else if (n > 5 && strcmp(x->d_name + n - 5, ".json") == 0 && s->n_remotes < 256) {
                        char *text = read_file(path, &bytes);
                        s->remotes[s->n_remotes++] =
                                (struct schema_text){ strdup(name), span_of(text, bytes) };
                }
        }
        if (d)
                (void) closedir(d);
}

static void forget(struct schema_text *t)
{
        free((void *) (uintptr_t) t->uri);
        free((void *) (uintptr_t) t->text.p);
}

static void put_json(struct buf *b, const struct json *v)
{
        static const char *const words[] = { "null", "false", "true" };
        if (v->type <= JSON_TRUE)
                buf_puts(b, words[v->type]);
        else if (v->type == JSON_STRING)
                buf_json(b, span_of(v->str, v->len));
        else if (v->type <= JSON_NUMBER)
                buf_add(b, v->str, v->len);
        if (v->type < JSON_ARRAY)
                return;
        buf_putc(b, v->type == JSON_ARRAY ? '[' : '{');
        for (const struct json *x = v->child; x; x = x->next) {
                if (v->type == JSON_OBJECT) {
                        buf_json(b, span_of(x->key, x->key_len));
                        buf_putc(b, ':');
                }
                put_json(b, x);
                buf_puts(b, x->next ? "," : "");
        }
        buf_putc(b, v->type == JSON_ARRAY ? ']' : '}');
}

static void run_group(struct suite *s, const char *file, const struct json *group)
{
        struct err e = { 0 };
        AUTO_BUF(text);
        put_json(&text, json_get(group, "schema"));
        struct schema *schema = schema_new(file, buf_span(&text), s->remotes, s->n_remotes, 0, &e);
        for (const struct json *t = json_get(group, "tests")->child; t; t = t->next) {
                AUTO_BUF(data);
                put_json(&data, json_get(t, "data"));
                struct json_doc *d = json_parse_data("data", buf_span(&data), &e);
                bool want = json_get(t, "valid")->type == JSON_TRUE;
                bool ok = schema && d && (schema_check(schema, d, SCHEMA_STEPS, &e) == 0) == want;
                s->passed += ok;
                s->failed += !ok;
                if (!ok)
                        printf("# %s: %s: %s (%s)\n", file, json_get(group, "description")->str,
                               json_get(t, "description")->str, e.what);
                json_free(d);
        }
        schema_free(schema);
}

static void test_schema__the_public_suite_passes(void)
{
        static struct suite s;
        const char *root = getenv("CORDON_SCHEMA_SUITE");
        char dir[4096];
        if (!root)
                root = debian;
        if (access(root, R_OK) < 0)
                SKIP("about 1,300 cases: libtest-json-schema-acceptance-perl is not installed");
        (void) snprintf(dir, sizeof dir, "%s/remotes", root);
        load_remotes(&s, dir, "http://localhost:1234");
        size_t kept = 0; /* those of other drafts have other dialects, and some an $id of "#name" */
        for (size_t i = 0; i < s.n_remotes; i++) {
                struct err e;
                struct schema *alone = schema_new("remote", s.remotes[i].text, NULL, 0, 0, &e);
                bool other = strstr(s.remotes[i].uri, "1234/draft") || strstr(s.remotes[i].uri, "1234/v1");
                if (strstr(s.remotes[i].uri, "/draft2020-12/") || (alone && !other))
                        s.remotes[kept++] = s.remotes[i];
                else
                        forget(&s.remotes[i]);
                schema_free(alone);
        }
        s.n_remotes = kept;
        (void) snprintf(dir, sizeof dir, "%s/tests/draft2020-12", root);
        DIR *d = opendir(dir);
        CHECK(d != NULL);
        for (struct dirent *x; d && (x = readdir(d));) {
                char path[8192];
                size_t n = 0;
                (void) snprintf(path, sizeof path, "%s/%s", dir, x->d_name);
                char *text = x->d_type == DT_REG ? read_file(path, &n) : NULL;
                struct err e;
                struct json_doc *doc = text ? json_parse_data(x->d_name, span_of(text, n), &e) : NULL;
                CHECK(doc || !text);
                for (const struct json *g = doc ? json_root(doc)->child : NULL; g; g = g->next)
                        run_group(&s, x->d_name, g);
                json_free(doc);
                free(text);
        }
        if (d)
                (void) closedir(d);
        for (size_t i = 0; i < s.n_remotes; i++)
                forget(&s.remotes[i]);
        printf("# JSON-Schema-Test-Suite, draft 2020-12, required: %u of %u\n", s.passed,
               s.passed + s.failed);
        CHECK(s.passed > 1000);
        CHECK_INT(s.failed, 0);
}

static const struct test_case cases[] = {
        CASE(test_schema__a_document_fits_or_does_not),
        CASE(test_schema__a_failure_names_the_place_and_the_keyword),
        CASE(test_schema__nothing_takes_longer_than_its_steps),
        CASE(test_schema__the_public_suite_passes),
};
TEST_MAIN(cases)
