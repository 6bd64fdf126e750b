/* SPDX-License-Identifier: MIT */
/* selftest/claims_file.c - claims as files: signed by the ledger (FILE.proof shows that a record with the
 * file's digest is under a signed checkpoint), valid for a day, and compared with others of other hosts or
 * days. A file that comes from elsewhere is hostile text. */
#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "selftest/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MOST = 4 << 20, RECORD_MOST = 16384 };

void claims_time(int64_t s, char ret[32])
{
        time_t t = (time_t) s;
        struct tm tm;
        if (!gmtime_r(&t, &tm) || strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
                ret[0] = '\0';
}

/* ---- signing ---- */

int claims_sign(const char *file, const struct buf *json)
{
        char digest[72] = "sha256:", path[4096], id[64];
        cordon_error e = { 0 };
        sha256_hex(buf_span(json), digest + 7);
        if (snprintf(path, sizeof path, "%s.proof", file) >= (int) sizeof path)
                return cli_usage("--sign: the name is too long");

        if (cli_new_file_may(file, "name another") || cli_new_file_may(path, "name another"))
                return EXIT_CORDON;

        if (cordon_audit_add(cli_context(),
                             &(cordon_audit_record){
                                     .what = "claims", .result = "signed", .digest = digest, .debt = -1 },
                             id, &e) < 0)
                return cli_error(&e);

        char *proof = cordon_log(cli_context(), CORDON_LOG_PROOF, id, &e);
        if (!proof)
                return cli_error(&e);

        int status = cli_new_file(file, 0644, buf_span(json), "name another");
        if (status == 0)
                status = cli_new_file(path, 0644, span_str(proof), "name another");
        cordon_free(proof);
        if (status == 0)
                cli_note("written: %s and %s", file, path);
        return status;
}

/* ---- reading ---- */

struct claims_file {
        const char *name;
        struct buf text;
        struct json_doc *doc;
        const char *standing; /* in words */
        bool bad;             /* a signature that does not fit */
};

/* A missing file is an empty one if it may miss. */
static int slurp(const char *path, bool may_miss, struct buf *out)
{
        char part[1 << 14];
        ssize_t n = 0;
        if (may_miss && access(path, F_OK) < 0)
                return 0;

        AUTO_FD(fd, cli_open_input(NULL, path));
        while (fd >= 0 && out->n < FILE_MOST && (n = read(fd, part, sizeof part)) > 0)
                buf_add(out, part, (size_t) n);
        return fd < 0 ? EXIT_CORDON : n < 0 || out->failed ? cli_problem("%s cannot be read", path) : 0;
}

/* Does the record that is proved name these bytes? */
static bool proof_names(const struct buf *proof, const struct buf *text)
{
        char want[100], record[RECORD_MOST + 1];
        char hex[65];
        const char *at = strstr(buf_str(proof), "\nextra ");
        size_t n = at ? strcspn(at + 7, "\n") : 0;
        ssize_t got = at ? base64_read(span_of(at + 7, n), (uint8_t *) record, RECORD_MOST) : -1;
        if (got <= 0)
                return false;

        record[got] = '\0';
        sha256_hex(buf_span(text), hex);
        (void) snprintf(want, sizeof want, "\"digest\":\"sha256:%s\"", hex);
        return strlen(record) == (size_t) got && strstr(record, want) && strstr(record, "\"kind\":\"audit\"");
}

static void judge_signature(struct claims_file *c, const struct buf *proof, const char *key)
{
        cordon_error e = { 0 };
        int ok = 0;
        char *said =
                proof->n ? cordon_verify_proof(cli_context(), buf_str(proof), proof->n, key, &ok, &e) : NULL;
        cordon_free(said);
        c->bad = proof->n > 0 && !(ok && proof_names(proof, &c->text));
        c->standing = proof->n == 0 ? "not signed" : c->bad ? "THE SIGNATURE DOES NOT FIT" : "signed";
}

static int load(struct claims_file *c, const char *key)
{
        char path[4096];
        struct err e = { 0 };
        AUTO_BUF(proof);
        if (slurp(c->name, false, &c->text) ||
            snprintf(path, sizeof path, "%s.proof", c->name) >= (int) sizeof path ||
            slurp(path, true, &proof))
                return EXIT_CORDON;

        c->doc = json_parse(c->name, buf_span(&c->text), &e);
        if (!c->doc || !json_get(json_root(c->doc), "residual"))
                return cli_problem("%s is not what `cordon selftest claims --json` prints", c->name);

        judge_signature(c, &proof, key);
        return 0;
}

/* ---- comparing ---- */

static const char *text_of(const struct json *o, const char *key)
{
        const struct json *j = o ? json_get(o, key) : NULL;
        return j && (j->type == JSON_STRING || j->type == JSON_INT) ? j->str : "";
}

static const struct json *list_of(const struct claims_file *c, const char *key)
{
        const struct json *j = json_get(json_root(c->doc), key);
        return j && j->type == JSON_ARRAY ? j->child : NULL;
}

static bool has_text(const struct json *list, const char *text)
{
        for (; list; list = list->next)
                if (list->type == JSON_STRING && strcmp(list->str, text) == 0)
                        return true;
        return false;
}

static void put_inert(struct buf *o, const char *text)
{
        char shown[600];
        buf_puts(o, str_inert(span_str(text), shown, sizeof shown));
}

/* Lines of one and not of the other, with a sign. */
static unsigned diff_list(const struct claims_file *a, const struct claims_file *b, const char *key,
                          char sign, struct buf *o)
{
        unsigned n = 0;
        for (const struct json *j = list_of(a, key); j; j = j->next)
                if (j->type == JSON_STRING && !has_text(list_of(b, key), j->str)) {
                        buf_printf(o, "%c %s: ", sign, key);
                        put_inert(o, j->str);
                        buf_putc(o, '\n');
                        n++;
                }
        return n;
}

static const struct json *class_of(const struct claims_file *c, const char *name)
{
        const struct json *j = list_of(c, "hardened_against");
        while (j && strcmp(text_of(j, "class"), name) != 0)
                j = j->next;
        return j;
}

static unsigned diff_classes(const struct claims_file *a, const struct claims_file *b, struct buf *o)
{
        static const char *const keys[] = { "held",         "total",       "escaped", "granted",
                                            "not_promised", "cannot_tell", "status" };
        unsigned n = 0;
        for (const struct json *y = list_of(b, "hardened_against"); y; y = y->next) {
                const struct json *x = class_of(a, text_of(y, "class"));
                for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
                        const char *was = text_of(x, keys[k]), *is = text_of(y, keys[k]);
                        if (strcmp(was, is) == 0)
                                continue;
                        buf_puts(o, "  ");
                        put_inert(o, text_of(y, "class"));
                        buf_printf(o, ": %s ", keys[k]);
                        put_inert(o, was[0] ? was : "missing");
                        buf_puts(o, " -> ");
                        put_inert(o, is[0] ? is : "missing");
                        buf_putc(o, '\n');
                        n++;
                }
        }
        return n;
}

static void put_head(const struct claims_file *c, char sign, const char *now, struct buf *o)
{
        static const char *const keys[] = { "host", "version", "kernel", "wall", "time" };
        const struct json *root = json_root(c->doc);
        buf_printf(o, "%c ", sign);
        put_inert(o, c->name);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                buf_puts(o, i ? ", " : ": ");
                put_inert(o, text_of(root, keys[i]));
        }
        const char *end = text_of(root, "valid_until");
        buf_printf(o, "; %s, %s\n", c->standing, !end[0] || strcmp(end, now) < 0 ? "expired" : "not expired");
}

static int compare(const struct claims_file *a, const struct claims_file *b)
{
        char now[32];
        AUTO_BUF(o);
        claims_time(clock_wall_s(), now);
        put_head(a, '-', now, &o);
        put_head(b, '+', now, &o);
        unsigned n = diff_classes(a, b, &o);
        n += diff_list(a, b, "layers", '-', &o) + diff_list(b, a, "layers", '+', &o);
        n += diff_list(a, b, "residual", '-', &o) + diff_list(b, a, "residual", '+', &o);
        if (n == 0)
                buf_puts(&o, "the same claims\n");

        int status = cli_put(&o);
        return status ? status : a->bad || b->bad || n > 0;
}

int claims_diff(const char *old, const char *new, const char *key)
{
        struct claims_file a = { .name = old }, b = { .name = new };
        int status = load(&a, key);
        if (status == 0)
                status = load(&b, key);
        if (status == 0)
                status = compare(&a, &b);
        json_free(a.doc);
        json_free(b.doc);
        buf_done(&a.text);
        buf_done(&b.text);
        return status;
}
